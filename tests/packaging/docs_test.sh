#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# doxygen makes the API reference without a warning, and every exported function is described in it.
#
# usage: docs_test.sh BUILD_FOLDER RUNTIME_FOLDER

set -euo pipefail
build=$1 runtime=$2

if [[ ! -f $build/Doxyfile ]]; then
    echo "skipped: there is no doxygen"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{ cat "$build/Doxyfile" && echo "OUTPUT_DIRECTORY = $work"; } >"$work/Doxyfile"
doxygen "$work/Doxyfile"

# Labels are etwas_StartTraceA for StartTraceA, and etwas_start for itself; one variable is for the
# copies of the library among themselves.
missing=$(sed -n -e 's/^ *\(etwas_[A-Za-z0-9_]*\);$/\1/p' \
    -e 's/^ETWAS_WELL_KNOWN_GUID(\(.*\));/etwas_\1/p' \
    "$runtime"/*.map "$runtime"/../include/etwas/*.h |
    grep -vx etwas_serving_copy | while read -r label; do
        grep -qE "memname\">.*\b(${label}|${label#etwas_})\b" "$work"/html/*_8h.html ||
            echo "$label"
    done)
if [[ -n $missing ]]; then
    echo "FAILED: the reference lacks" $missing >&2
    exit 1
fi
echo "ok: $(find "$work/html" -name '*.html' | wc -l) pages without a warning"
