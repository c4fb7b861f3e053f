#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Installs a build into a folder of its own, moves that folder, and builds and runs small programs
# against it: with find_package and with pkg-config, shared and static each. The installed
# command, where there is one, must find its library in the moved folder too. Before that, what was
# installed is uninstalled.
#
# usage: install_test.sh BUILD_FOLDER VERSION C_COMPILER [SANITIZERS]

set -euo pipefail

build=$1 version=$2 compiler=$3 sanitizers=${4:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

flags=()
[[ -z $sanitizers ]] || flags=("-fsanitize=$sanitizers")

expect_version() {
    local printed
    printed=$("$@")
    if [[ $printed != "$version" ]]; then
        echo "FAILED: '$*' printed '$printed', not '$version'" >&2
        exit 1
    fi
    echo "ok: $*"
}

# What is installed can be removed again, all of it.
cmake --install "$build" --prefix "$work/removed" >"$work/log" 2>&1
if ! grep -qF "LD_LIBRARY_PATH=$work/removed/" "$work/log" ||
    ! grep -qF "PATH=$work/removed/bin:\$PATH" "$work/log"; then
    echo "FAILED: nothing says what a prefix outside /usr/local needs" >&2
    exit 1
fi
cmake --build "$build" --target uninstall >/dev/null
left=$(find "$work/removed" ! -type d -o -name etwas)
if [[ -n $left ]]; then
    echo "FAILED: uninstall leaves $left" >&2
    exit 1
fi

cmake --install "$build" --prefix "$work/first" >/dev/null 2>&1
mv "$work/first" "$work/moved"
prefix=$work/moved

cmake -S "$here/consumer" -B "$work/consumer" -G Ninja -DCMAKE_C_COMPILER="$compiler" \
    -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="${flags[*]}" -DEXPECTED_VERSION="$version"
cmake --build "$work/consumer"
for target in etwas plain etwas_static clocks clocks_static tdh tdh_static; do
    expect_version "$work/consumer/$target"
done

pc=$(find "$prefix" -name etwas.pc)
export PKG_CONFIG_PATH=${pc%/*}
libraries=${PKG_CONFIG_PATH%/pkgconfig}

# With pkg-config: link_shared SOURCE MODULE..., and link_static, which gives the archives by their
# paths, so that the linker cannot prefer the shared libraries beside them.
link_shared() {
    local options
    read -ra options <<<"$(pkg-config --cflags --libs "${@:2}")"
    "$compiler" "${flags[@]}" "$here/consumer/$1" -o "$work/$2" "${options[@]}"
    LD_LIBRARY_PATH=$libraries expect_version "$work/$2"
}
link_static() {
    local options
    read -ra options <<<"$(pkg-config --static --cflags --libs "${@:2}" |
        sed -E 's/-l(etwas[a-z-]*)/-l:lib\1.a/g')"
    "$compiler" "${flags[@]}" "$here/consumer/$1" -o "$work/$2-static" "${options[@]}"
    expect_version "$work/$2-static"
}
link_shared consumer.c etwas
link_shared consumer.c etwas-plain
link_shared clocks.c etwas-clocks
link_shared tdh.c etwas-tdh
link_static consumer.c etwas
link_static clocks.c etwas-clocks
link_static tdh.c etwas-tdh
# By hand, as README.md says.
"$compiler" "${flags[@]}" -I"$prefix/include" "$here/consumer/tdh.c" -o "$work/by-hand" \
    -L"$libraries" -l:libetwas-tdh.a \
    -l:libetwas.a -lexpat -lck -pthread -Wl,-z,nodelete
expect_version "$work/by-hand"

# Until 1.0 each minor version has a soname of its own.
[[ $version == 0.* ]] && abi=${version%.*} || abi=${version%%.*}
for library in "$libraries"/libetwas*.so; do
    soname=$(objdump -p "$library" | awk '$1 == "SONAME" { print $2 }')
    if [[ $soname != "${library##*/}.$abi" || ! -e $libraries/$soname ]]; then
        echo "FAILED: the soname of $library is '$soname', not '${library##*/}.$abi'" >&2
        exit 1
    fi
    echo "ok: soname $soname"
done

if [[ -x $prefix/bin/etwas ]]; then
    "$prefix/bin/etwas" --version
    # It finds the program of a session beside it, and that its library.
    mkdir -m 700 "$work/run"
    unset ETWAS_SHARED # as a user has it
    export ETWAS_RUNTIME_DIR=$work/run
    runs=$("$prefix/bin/etwas" start --buffering installed 2>&1) ||
        [[ $runs == *"this system has no restartable sequences"* ]]
    if [[ $runs == "installed: runs in process "*", in memory" ]]; then
        "$prefix/bin/etwas" stop installed
    fi
    echo "ok: $runs"
fi

if grep -rlF "$work/first" "$prefix" --include='*.pc' --include='*.cmake'; then
    echo "FAILED: these files name the prefix they were installed to" >&2
    exit 1
fi
