#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Builds the release preset and prints the table. Options go to report.py: bench/run.sh --repetitions 100
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/release
cd "$root"
cmake --preset release >/dev/null
cmake --build --preset release --target etwas_bench >/dev/null
exec python3 "$root/bench/report.py" --json "$build/bench/etwas_bench.json" "$@" \
    "$build/bench/etwas_bench"
