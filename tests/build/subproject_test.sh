#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# What a project gets that contains etwas: optimised objects although it names no build type, its
# own flags for assembler files too, no warnings that are errors, and nothing installed that it did
# not ask for.
#
# usage: subproject_test.sh SOURCE_FOLDER C_COMPILER

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# configure NAME OPTION...: the host's project, whose compile commands are in $work/NAME then.
configure() {
    local name=$1
    shift
    env -u CFLAGS -u CMAKE_BUILD_TYPE cmake -S "$here/subproject" -B "$work/$name" -G Ninja \
        -DETWAS_FOLDER="$source" -DCMAKE_C_COMPILER="$compiler" \
        -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@" >/dev/null
    commands=$(grep '"command": .*/runtime/' "$work/$name/compile_commands.json")
}
source=$1 compiler=$2

configure plain
[[ $(grep -vc -e ' -O2 ' <<<"$commands") == 0 ]] ||
    fail "without a build type not all is compiled with -O2"
! grep -q -e -Werror <<<"$commands" || fail "warnings are errors"

cmake --install "$work/plain" --prefix "$work/prefix" >/dev/null
installed=$(cd "$work/prefix" && find . -type f)
[[ $installed == ./share/host/CMakeLists.txt ]] || fail "installed with the host: $installed"

configure own -DCMAKE_C_FLAGS='-O1 -DHOST_FLAG'
! grep -q -e ' -O2 ' <<<"$commands" || fail "the host's -O1 is overruled"
[[ $(grep -vc -e -DHOST_FLAG <<<"$commands") == 0 ]] ||
    fail "not all has the host's flags, assembler files too"

configure typed -DCMAKE_BUILD_TYPE=Debug
! grep -q -e ' -O2 ' <<<"$commands" || fail "the host's build type is overruled"

configure asked -DETWAS_INSTALL=ON
grep -rqs libetwas.so "$work/asked/etwas/cmake_install.cmake" ||
    fail "not installed although it is asked for"

grep -q -e /runtime/sharing/ <<<"$commands" ||
    fail "sessions of many processes are left out unasked"
configure alone -DETWAS_SHARING=OFF
! grep -q -e /runtime/sharing/ -e /runtime/registry/ <<<"$commands" ||
    fail "sessions of many processes are built in all the same"
echo "ok: optimised, the host's flags, nothing installed unasked"
