#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Tries the README's two commands as on a fresh machine: in a folder made by debootstrap (Debian 12,
# minbase) that holds what is committed and nothing else. What a developer's machine has installed
# cannot help there. The summary says which tests were skipped, and for want of what. Needs root,
# debootstrap, and a Debian mirror.
#
# usage: tests/bare.sh [--folder DIR] [--shared] [COMMAND...]
#
#   --folder DIR   where the machine is made; it must not exist, and stays. Default: a temporary
#                  folder, which goes
#   --shared       with ../shared beside the checkout, which more tests read
#   COMMAND        what is tried instead of: 'examples/heaptrace/demo.sh' 'tests/run.sh'
#
# ETWAS_DEBIAN_MIRROR names another mirror than http://deb.debian.org/debian.
# Exit code: 0 when every command passed, 1 when one failed, 2 for a wrong call, 77 where this
# cannot be tried.

set -euo pipefail

usage() {
    sed -n 's/^# usage: /usage: /p' "$0" >&2
    exit 2
}

folder=
shared=no
while [[ $# -gt 0 && $1 == --* ]]; do
    case $1 in
    --folder)
        [[ $# -gt 1 && -n $2 ]] || usage
        [[ ! -e $2 ]] || {
            echo "tests/bare.sh: $2: exists already. Name a folder that does not." >&2
            exit 2
        }
        folder=$(realpath -m "$2")
        shift
        ;;
    --shared) shared=yes ;;
    *) usage ;;
    esac
    shift
done
[[ $# -gt 0 ]] || set -- examples/heaptrace/demo.sh tests/run.sh

cannot() {
    echo "tests/bare.sh: skipped: $*"
    exit 77
}
[[ $(id -u) -eq 0 ]] || cannot "only root can make a machine with debootstrap"
command -v debootstrap >/dev/null ||
    cannot "there is no debootstrap. On Debian: apt-get install debootstrap"

cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ $shared == no || -d ../shared ]] || cannot "there is no ../shared"
if [[ -z $folder ]]; then
    folder=$(mktemp -d /var/tmp/etwas-bare-XXXXXX)
    trap 'rm -rf "$folder"' EXIT
    chmod 755 "$folder" # the root of that machine, which other users pass through
fi
debootstrap --variant=minbase bookworm "$folder" \
    "${ETWAS_DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$folder.log" 2>&1 ||
    { tail -n 20 "$folder.log"; cannot "debootstrap failed"; }
rm "$folder.log"
mkdir -p "$folder/src/etwas"
git archive HEAD | tar -x -C "$folder/src/etwas"
[[ $shared == no ]] || cp -r ../shared "$folder/src/shared"
cp -L /etc/resolv.conf "$folder/etc/resolv.conf"

# try COMMAND: in the folder as root, with mounts that end with it.
try() {
    # shellcheck disable=SC2016 # the inner shell expands them
    unshare --mount bash -euc '
        mount --make-rprivate /
        mount -t proc proc "$1/proc"
        mount --rbind /sys "$1/sys"
        mount --rbind /dev "$1/dev"
        mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm"
        mount -t tmpfs -o mode=755 tmpfs "$1/run"
        exec chroot "$1" env -i HOME=/root \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            ${http_proxy:+http_proxy="$http_proxy"} sh -c "cd /src/etwas && exec $2" </dev/null
    ' bash "$folder" "$1"
}

result=0
for command in "$@"; do
    printf '\n#### on a bare Debian 12: %s ####\n' "$command"
    if try "$command"; then
        printf '#### %s: passed ####\n' "$command"
    else
        printf '#### %s: FAILED ####\n' "$command"
        result=1
    fi
done
exit "$result"
