#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Builds the library, its tests, tools and examples for aarch64 on another machine: with Debian's
# cross compiler, and Debian's arm64 packages unpacked into build/aarch64/sysroot.
#
# usage: tests/aarch64/cross.sh [TARGET...]      (nothing: all of them)
#
# The result lies in build/aarch64/build; ETWAS_AARCH64_DIR names another folder than build/aarch64.
# boot.sh runs it.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(realpath -m "${ETWAS_AARCH64_DIR:-$root/build/aarch64}")

"$root/.ci/packages" build tests aarch64

"$root/tests/aarch64/unpack.sh" "$work/sysroot" \
    libck-dev libck0 libjemalloc-dev libjemalloc2 libexpat1-dev libexpat1 libcmocka-dev libcmocka0 \
    libdw-dev libdw1 libelf-dev libelf1 zlib1g-dev zlib1g liblzma-dev liblzma5 libbz2-1.0

# As optimised as the default build, for its warnings; nobody debugs here, so without what debuggers
# read.
cmake -S "$root" -B "$work/build" -G Ninja \
    -DCMAKE_TOOLCHAIN_FILE="$root/tests/aarch64/toolchain.cmake" -DETWAS_SYSROOT="$work/sysroot" \
    -DETWAS_BUILD_BENCH=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=ON \
    -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -DNDEBUG"
targets=()
[[ $# -eq 0 ]] || targets=(--target "$@")
cmake --build "$work/build" "${targets[@]}"

# Only the loader's relative relocations may touch the library, none of them its instructions.
if aarch64-linux-gnu-readelf -d "$work"/build/runtime/libetwas*.so | grep TEXTREL; then
    echo "FAILURE: the shared library has relocations in its text" >&2
    exit 1
fi
echo "SUCCESS: built for aarch64 in $work/build"
