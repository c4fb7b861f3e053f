#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# usage: bench/diff_pairs.sh [PAIRS] [BUILD-FOLDER]
# How often `etwas diff` says that runs of the same program differ, and how often it finds a query that was made 10 %
# slower: PAIRS (40) of five runs of examples/spans.c and five, in turns, by these runs and by blocks of time of the
# first of each; of those that are slower a quarter as many. Ten minutes.
set -euo pipefail

pairs=${1:-40}
build=$(cd "${2:-$(dirname "$0")/../build/default}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Records a pair; the queries of the second side take so many microseconds.
record() {
    for run in 1 2 3 4 5; do
        "$build/examples/spans" "a$run.etl" 200
        "$build/examples/spans" "b$run.etl" "$1"
    done
}

# Prints 1 if what is said of two sides has such a line, else 0.
says() {
    local code=0
    "$build/tools/etwas" diff "${@:2}" >told || code=$?
    [[ $code -eq 0 || $code -eq 6 ]] || exit "$code"
    grep -Eqc "$1" told && echo 1 || echo 0
}

# Of so many pairs, by runs and by blocks, how many have such a line.
count() {
    local by_runs=0 by_blocks=0
    for ((pair = 0; pair < $1; pair++)); do
        record "$2"
        by_runs=$((by_runs + $(says "$3" a?.etl -- b?.etl)))
        by_blocks=$((by_blocks + $(says "$3" a1.etl -- b1.etl)))
    done
    echo "$4: $by_runs of $1 pairs by five runs a side, $by_blocks by blocks of one"
}

count "$pairs" 200 ' differ by ' 'the same program is said to differ'
count $(((pairs + 3) / 4)) 232 '^  typical .* slower$' 'queries of 232 us, not 200, are found'
