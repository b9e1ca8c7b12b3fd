#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Opens QGIS with the plugin and the demo project. Without a display: under a virtual one, where
# .ci/start.py asks the demo question, prints the answer and where the picture is, and ends QGIS.
set -euo pipefail
root=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")/..")
cd -- "$root"
headless=1
[[ -z ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]] || headless=0
. .ci/headless.env
qgis=(qgis --nologo --noversioncheck --profiles-path "$QGIS_PROFILES_PATH" --code "$root/.ci/start.py")

if ((!headless)); then
    /usr/bin/python3 .ci/model.py --if-needed "${MODEL:-}" ||
        echo 'QGIS opens without a model; the chat says what to do.' >&2
    exec "${qgis[@]}"
fi
/usr/bin/python3 .ci/model.py --if-needed "${MODEL:-}"
export QT_QPA_PLATFORM=xcb GEO_OLM_PICTURE=$root/.work/pictures/run.png
exec timeout --foreground -k 10 1800 xvfb-run -a -s '-screen 0 1600x1000x24' \
    bash .ci/with_window_manager.sh "${qgis[@]}"
