#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Makes the Debian packages: exports what is committed into a folder of its own, puts
# packaging/debian there, and has dpkg-buildpackage build it.
#
# usage: packaging/deb.sh [--as-is] [FOLDER]
#
#   --as-is    exports the files as they stand, not as they are committed. So it is where there is
#              no git, too
#   FOLDER     where the packages are put. Default: build/deb
#
# Needs what `.ci/packages build deb` installs. The packages, *.buildinfo, *.changes and build.log
# are in the folder afterwards; packages of the same version that were there are replaced.

set -euo pipefail

usage() {
    sed -n 's/^# usage: /usage: /p' "$0" >&2
    exit 2
}

as_is=no
if [[ ${1:-} == --as-is ]]; then
    as_is=yes
    shift
fi
[[ $# -le 1 && ${1:-} != -* ]] || usage
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=${1:-$top/build/deb}

for tool in dpkg-buildpackage dh; do
    command -v "$tool" >/dev/null || {
        echo "packaging/deb.sh: there is no $tool: .ci/packages build deb installs it" >&2
        exit 1
    }
done
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
version=$(dpkg-parsechangelog -l "$top/packaging/debian/changelog" -S Version)
tree=$folder/etwas-${version%-*}
rm -rf "$tree" "$folder"/*_"${version}"_*.{deb,ddeb,buildinfo,changes}
mkdir "$tree"

# Files that are deleted and not yet committed are in git's list, too.
as_they_stand() {
    cd "$top"
    if git rev-parse --git-dir >/dev/null 2>&1; then
        git ls-files -z --cached --others --exclude-standard |
            while IFS= read -r -d '' file; do
                [[ ! -e $file && ! -L $file ]] || printf '%s\0' "$file"
            done | tar -c --null --files-from -
    else
        tar -c --exclude=./build --exclude=__pycache__ .
    fi
}
if [[ $as_is == no ]] && git -C "$top" rev-parse --git-dir >/dev/null 2>&1; then
    git -C "$top" archive HEAD
else
    as_they_stand
fi | tar -x -C "$tree"
cp -r "$tree/packaging/debian" "$tree/debian"

# debhelper gives the build a home of its own; the compiler's cache stays where it is.
if [[ -z ${CCACHE_DIR:-} ]] && command -v ccache >/dev/null; then
    CCACHE_DIR=$(ccache --get-config cache_dir)
    export CCACHE_DIR
fi
cd "$tree"
DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS:-parallel=$(nproc)} \
    dpkg-buildpackage --build=binary --no-sign >"$folder/build.log" 2>&1 || {
    tail -n 50 "$folder/build.log" >&2
    echo "packaging/deb.sh: the build failed: $folder/build.log" >&2
    exit 1
}
cd "$folder"
rm -rf "$tree"
printf '%s\n' "$folder"/*_"${version}"_*.deb
