#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Downloads Debian packages for arm64, from the sources this machine's apt knows, and unpacks them
# into a folder. Nothing is installed, and the system's dpkg learns of no other architecture: apt
# works with state of its own in build/aarch64/apt. What was unpacked by an earlier call is kept.
#
# usage: tests/aarch64/unpack.sh FOLDER PACKAGE...
#
# A package written as NAME+ stands for the one package it depends on whose name begins with NAME
# without its last word: linux-image-arm64+ for the newest kernel.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

folder=$1
shift
work=$(realpath -m "${ETWAS_AARCH64_DIR:-$root/build/aarch64}")
state=$work/apt
stamp=$folder/.unpacked

if [[ -f $stamp && $(cat "$stamp") == "$*" ]]; then
    exit 0
fi

mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$work/packages"
: >"$state/status"
: >"$state/extended_states"
cat >"$state/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "";
Acquire::Retries "3";
Dir::State "$state";
Dir::State::status "$state/status";
Dir::Cache "$state/cache";
END
export APT_CONFIG=$state/apt.conf

echo "downloading for arm64: $*"
apt-get -qq update
names=()
for package in "$@"; do
    if [[ $package == *+ ]]; then
        package=${package%+}
        prefix=${package%-*}
        package=$(apt-cache depends "$package" |
            awk -v prefix="$prefix-" '$1 == "Depends:" && index($2, prefix) == 1 { print $2 }')
    fi
    names+=("$package")
done
rm -rf "$folder" "$work/packages"
mkdir -p "$folder" "$work/packages"
(cd "$work/packages" && apt-get -qq download "${names[@]}")
for file in "$work"/packages/*.deb; do
    dpkg-deb -x "$file" "$folder"
done
rm -r "$work/packages"
echo "$*" >"$stamp"
