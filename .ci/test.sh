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

# The files of a room, or every second one from the first (1) or the second (2) on.
room() {
    local files=(tests/"$1"/test_*.py)
    [[ -z ${2:-} ]] || mapfile -t files < <(printf '%s\n' "${files[@]}" | awk "NR % 2 == $2 % 2")
    GEO_OLM_LANE=$1${2:-} bash .ci/pytest.sh "$1" -q "${files[@]}"
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
# Two lanes for two cores; what one says is kept until the other has ended.
said=$(mktemp) lost=$(mktemp)
(
    failed=()
    step 'tests/unit' room unit
    step 'tests/qgis, first half' room qgis 1
    printf '%s\n' "${failed[@]}" >"$lost"
) >"$said" 2>&1 &
beside=$!
step 'tests/qgis, second half' room qgis 2
step 'tests/ui' room ui
wait "$beside"
cat "$said"
mapfile -t -O "${#failed[@]}" failed < <(grep . "$lost")
rm -f "$said" "$lost"
if ((${#failed[@]})); then
    printf 'failed: %s\n' "${failed[*]}"
    exit 1
fi
echo 'all steps passed'
