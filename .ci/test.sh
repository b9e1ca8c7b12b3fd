#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# All checks and tests; each step runs, the failed ones are named at the end. With --long: the
# long forms and the tests with a real model. The set-up must have run.
set -uo pipefail
root=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")/..")
cd -- "$root"
. .ci/headless.env
venv=$root/.work/venv/bin
failed=()
rm -rf tests/.qgis-settings  # what an earlier run of pytest-qgis left

step() {
    local name=$1
    shift
    printf '== %s\n' "$name"
    "$@" || failed+=("$name")
}

types() {
    local part names=()
    for part in plugin/agent plugin/llm plugin/workflow tools/base; do
        [[ ! -e $part && ! -e $part.py ]] || names+=(-p "geo_olm.${part//\//.}")
    done
    MYPYPATH=.work/plugins "$venv/mypy" --strict --cache-dir .work/mypy "${names[@]}"
}

room() {
    compgen -G "tests/$1/test_*.py" >/dev/null || { printf 'no tests in tests/%s yet\n' "$1"; return; }
    bash .ci/pytest.sh "$1" -q
}

export GEO_OLM_LONG=0
if [[ ${1:-} == --long ]]; then
    export GEO_OLM_LONG=1
    /usr/bin/python3 .ci/model.py || exit 1
else
    step format "$venv/ruff" format -q --check .
    step lint "$venv/ruff" check -q --output-format concise .
    step types types
    step metadata /usr/bin/python3 .ci/check_metadata.py
    step package "$venv/python" .ci/package.py --check
fi
# The unit tests need no QGIS and little memory: they run beside the others.
said=$(mktemp)
room unit >"$said" 2>&1 &
beside=$!
for name in qgis ui; do
    step "tests/$name" room "$name"
done
wait "$beside"
passed=$?
printf '== tests/unit\n'
cat "$said"
rm -f "$said"
((passed == 0)) || failed+=(tests/unit)
if ((${#failed[@]})); then
    printf 'failed: %s\n' "${failed[*]}"
    exit 1
fi
echo 'all steps passed'
