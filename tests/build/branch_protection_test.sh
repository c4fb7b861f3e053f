#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# The assembler files keep a library's branch protection: each object, also that of the file which
# is empty on this architecture, says that it has it, and the function begins with what an indirect
# branch must meet.
#
# usage: branch_protection_test.sh RUNTIME_FOLDER C_COMPILER x86_64|aarch64

set -euo pipefail
runtime=$1 compiler=$2 architecture=$3

if [[ $architecture == x86_64 ]]; then
    option=-fcf-protection=full expected='IBT, SHSTK' first=endbr64 prefix=''
else
    option=-mbranch-protection=standard expected='BTI, PAC' first=bti prefix=aarch64-linux-gnu-
fi
if [[ $(uname -m) != "$architecture" ]]; then
    compiler=${prefix:-x86_64-linux-gnu-}gcc
else
    prefix=''
fi
if ! command -v "$compiler" >/dev/null; then
    echo "skipped: there is no $compiler"
    exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for source in "$runtime"/platform/*.S; do
    "$compiler" $option -DETWAS_WITH_RSEQ=1 -I"$runtime" -c "$source" -o "$work/object.o"
    if ! "${prefix}readelf" -n "$work/object.o" | grep -q "$expected"; then
        echo "FAILED: ${source##*/}, built with $option, has no property $expected" >&2
        exit 1
    fi
    [[ $source == *"$architecture"* ]] || continue
    begin=$("${prefix}objdump" -d "$work/object.o" | sed -n '/<etwas_rseq_run>:/{n;p}')
    if [[ $begin != *"$first"* ]]; then
        echo "FAILED: etwas_rseq_run begins with '$begin', not $first" >&2
        exit 1
    fi
done
echo "ok: $expected, $first"
