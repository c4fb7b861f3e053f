#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# usage: record.sh GENERATION SUBJECT [SCENE...]
# Builds the library of the commit with that subject, records the scenes of record.c, or these, with
# it, and packs what was written into GENERATION.tar.xz beside this script. See README.md.
set -euo pipefail

generation=$1
subject=$2
here=$(cd "$(dirname "$0")" && pwd)
top=$(git -C "$here" rev-parse --show-toplevel)
commit=$(git -C "$top" log --format='%H %s' | awk -v wanted="$subject" \
    'substr($0, 42) == wanted {print $1}' | tail -1)
[[ -n $commit ]] || { echo "no commit has the subject: $subject" >&2; exit 1; }
work=${TMPDIR:-/tmp}/golden
rm -rf "$work"
mkdir -p "$work/files/pool"
chmod 700 "$work/files/pool"
git -C "$top" archive --prefix=source/ "$commit" | tar x -C "$work"

cmake -S "$work/source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1 \
    -DETWAS_JEMALLOC=OFF \
    -DETWAS_BUILD_TESTS=OFF -DETWAS_BUILD_BENCH=OFF -DETWAS_BUILD_EXAMPLES=OFF \
    -DETWAS_BUILD_TOOLS=OFF >"$work/log"
cmake --build "$work/build" --target etwas_static -j1 >>"$work/log"
cc -O1 -std=gnu17 -D_GNU_SOURCE -DGENERATION="$generation" -I "$work/source/include" \
    "$here"/{record,events}.c \
    -o "$work/record" "$work/build/runtime/libetwas.a" -lck -lpthread -lm

cd "$work/files"
if [[ $# -gt 2 ]]; then
    scenes=("${@:3}")
else
    mapfile -t scenes < <(../record)
fi
for scene in "${scenes[@]}"; do
    echo "$scene"
    ../record "$scene" || [[ $? -eq 137 && $scene =~ unfinished|crash_safe ]]
done
rm -rf pool
tar c --sort=name --owner=root:0 --group=root:0 --mtime=@0 -- *.etl |
    xz -9e >"$here/$generation.tar.xz"
rm -rf "$work"
