#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Builds the release preset, measures and prints the tables. Options go to report.py, for example
#   bench/run.sh clocks    bench/run.sh hot tails    bench/run.sh --quick    bench/run.sh --expect
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/release
cd "$root"
# Sessions belong to one process, unless a part says otherwise.
export ETWAS_SHARED=${ETWAS_SHARED:-0}
cmake --preset release >/dev/null
cmake --build --preset release --target bench/all >/dev/null
exec python3 -B "$root/bench/report.py" --build "$build/bench" \
    --json "$build/bench/etwas_bench.json" "$@"
