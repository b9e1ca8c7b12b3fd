#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the tests of one room: pytest.sh unit|qgis|ui [arguments of pytest, files among them].
# unit runs without QGIS's plugin for pytest; the others under a virtual display with a window
# manager, so that widgets take the key focus. The settings of QGIS lie in pytest's root folder:
# each lane (GEO_OLM_LANE, else the room) has its own, so that two may run at once.
set -euo pipefail
root=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")/..")
cd -- "$root"
. .ci/headless.env
room=$1
shift
export PYTHONDONTWRITEBYTECODE=1
# The system's pyproj looks for its data beside the interpreter, which here is a venv's.
[[ ! -e /usr/share/proj/proj.db ]] || export PROJ_DATA=/usr/share/proj PROJ_LIB=/usr/share/proj
lane=$root/.work/lanes/${GEO_OLM_LANE:-$room}
rm -rf "$lane"
mkdir -p "$lane"
pytest=("$root/.work/venv/bin/pytest" -c tests/pytest.ini --rootdir "$lane" -p no:cacheprovider)
[[ " $*" == *" tests/"* ]] || set -- "tests/$room" "$@"
if [[ $room == unit ]]; then
    exec "${pytest[@]}" -p no:pytest_qgis "$@"
fi
export QT_QPA_PLATFORM=xcb
exec xvfb-run -a -s '-screen 0 1600x1000x24' bash .ci/with_window_manager.sh \
    "${pytest[@]}" "$@"
