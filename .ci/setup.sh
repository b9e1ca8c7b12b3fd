#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs QGIS and what the project needs beside it, makes .work/venv and the QGIS profile, and
# writes .ci/headless.env. A second call only compares a stamp.
# With --system: the packages alone.
set -euo pipefail
export PATH=${PATH:-/usr/bin:/bin}:/usr/sbin:/sbin
here=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")")
root=$(dirname -- "$here")
work=$root/.work
python=/usr/bin/python3
packages=(qgis python3-qgis qgis-providers python3-venv python3-pip ca-certificates
          xvfb xauth openbox fonts-dejavu-core fonts-open-sans)

say() { printf 'set-up: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

codename() { . /etc/os-release && printf '%s\n' "${VERSION_CODENAME:-unknown}"; }

mirror() {
    local files=(/etc/apt/sources.list /etc/apt/sources.list.d/*.list)
    { grep -hsE '^deb ' "${files[@]}"; grep -hs '^URIs:' /etc/apt/sources.list.d/*.sources; } |
        grep -oE '[a-z+]+://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' '
}

missing() {
    local name
    for name in "${packages[@]}"; do
        [[ $(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null) == installed ]] ||
            printf '%s\n' "$name"
    done
    dpkg --compare-versions "$(dpkg-query -W -f='${Version}' qgis 2>/dev/null || echo 0)" ge 3.40 ||
        printf 'qgis\npython3-qgis\nqgis-providers\n'
}

add_backports() {
    local list=/etc/apt/sources.list.d/geo-olm-backports.list url
    grep -qsE '^[^#]*bookworm-backports' /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
        /etc/apt/sources.list.d/*.sources && return
    url=$(mirror) || true
    [[ -n $url ]] || die "no Debian mirror found in /etc/apt; add bookworm-backports there and try again."
    say "adding bookworm-backports in $list (it has QGIS 3.40)."
    printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s bookworm-backports main\n' \
        "$url" > "$list"
}

install_packages() {
    local apt=(apt-get -q -y -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3) release=()
    case $(codename) in
        bookworm) add_backports; release=(-t bookworm-backports) ;;
        trixie) ;;
        *) say "this set-up is tried on Debian 12 and 13; going on with what apt offers here." ;;
    esac
    export DEBIAN_FRONTEND=noninteractive
    "${apt[@]}" update >&2 || die "apt-get update failed; look at the lines above, then try again."
    "${apt[@]}" install --no-install-recommends "${release[@]}" "${packages[@]}" >&2 ||
        die "apt-get could not install the packages; look at the lines above, then try again."
}

ensure_packages() {
    local list
    list=$(missing | sort -u | tr '\n' ' ')
    [[ -n $list ]] || return 0
    say "to be installed with apt-get (about 1.5 GB with what they need): $list"
    if [[ $(id -u) == 0 ]]; then
        install_packages
    elif command -v sudo >/dev/null; then
        sudo -p 'set-up: password for sudo (asked once): ' bash "$here/setup.sh" --system
    else
        die "not root and no sudo here: as root, run  bash '$here/setup.sh' --system  then try again."
    fi
}

constraints() {
    case $("$python" -c 'import sys; print(sys.version_info[1])') in
        11) printf '%s\n' "$here/constraints-12.txt" ;;
        *) printf '%s\n' "$here/constraints-13.txt" ;;
    esac
}

venv_stamp() { printf '%s\n' "$root"; "$python" -V; cat "$here/requirements.txt" "$(constraints)"; }

make_venv() {
    venv_stamp | cmp -s - "$work/venv/stamp" && return
    say "making .work/venv"
    rm -rf "$work/venv"
    "$python" -m venv --system-site-packages "$work/venv"
    "$work/venv/bin/python" -m pip install -qq --disable-pip-version-check --retries 5 \
        -r "$here/requirements.txt" -c "$(constraints)" >&2 ||
        die "pip could not install $here/requirements.txt; look at the lines above, then try again."
    venv_stamp > "$work/venv/stamp"
}

make_folders() {
    mkdir -p "$work/plugins" "$work/store/models" "$work/store/server" "$work/home"
    ln -sfn -- "$root" "$work/plugins/geo_olm"
}

enable_plugin() { "$python" "$here/profile.py" "$work/profile"; }

quoted() { printf "'%s'" "${1//\'/\'\\\'\'}"; }

write_environment() {
    local site
    site=$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    cat > "$here/headless.env.part" <<END
# Written by .ci/setup.sh. Use it in a shell:  . .ci/headless.env
export QGIS_PLUGINPATH=$(quoted "$work/plugins")
export QGIS_CUSTOM_CONFIG_PATH=$(quoted "$work/profile")
export QGIS_PROFILES_PATH=$(quoted "$work/profile")
export PYTHONPATH=$(quoted "$site")"\${PYTHONPATH:+:\$PYTHONPATH}"
export GEO_OLM_STORE=$(quoted "$work/store")
export GDAL_PAM_ENABLED=NO
export PATH="\${PATH:-/usr/local/bin:/usr/bin:/bin}"
[ -n "\${HOME:-}" ] || export HOME=$(quoted "$work/home")
export LANG="\${LANG:-C.UTF-8}"
[ -n "\${DISPLAY:-}\${WAYLAND_DISPLAY:-}\${QT_QPA_PLATFORM:-}" ] || export QT_QPA_PLATFORM=offscreen
END
    mv -- "$here/headless.env.part" "$here/headless.env"
}

stamp() {
    printf '%s\n' "$root"
    cat /etc/debian_version "$here/setup.sh" "$here/profile.py" "$here/requirements.txt" "$(constraints)"
}

ready() {
    [[ -x /usr/bin/qgis_process && -x $work/venv/bin/python && -e $here/headless.env ]] &&
        stamp | cmp -s - "$work/setup.stamp"
}

case ${1:-} in
    --system) install_packages; exit ;;
esac
export HOME=${HOME:-$work/home} LANG=${LANG:-C.UTF-8}
mkdir -p "$work" 2>/dev/null && [[ -w $work ]] || die "cannot write in $work; mend its owner, then try again."
exec 9> "$work/setup.lock"
flock 9
if ready; then enable_plugin; exit; fi
ensure_packages
make_venv
make_folders
enable_plugin
write_environment
stamp > "$work/setup.stamp"
say "ready."
