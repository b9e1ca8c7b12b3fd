#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs a command with a window manager on the present display, so that windows take the key focus.
openbox >/dev/null 2>&1 &
manager=$!
"$@"
code=$?
kill "$manager" 2>/dev/null
exit "$code"
