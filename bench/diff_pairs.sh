#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# usage: bench/diff_pairs.sh [spans | heaptrace] [PAIRS] [BUILD-FOLDER]
# Counts how often `etwas diff` reports a difference between runs of the same program, and how often
# it finds a change. A pair is five runs and five, in turn. It is compared by these runs, and by
# blocks of time of the first of each. There are PAIRS (40) of the same program, and a quarter as
# many with the change. Takes ten minutes for spans, two for heaptrace.
#
#   spans      runs of examples/spans.c; the change is a query that takes 10 % longer
#   heaptrace  the heap calls of a redis-server under the load of examples/heaptrace/demo.sh, made
#              shorter; the change is a node for each entry of a list, which takes a quarter
#              more of realloc
set -euo pipefail

what=${1:-spans}
pairs=${2:-40}
build=$(cd "${3:-$(dirname "$0")/../build/default}" && pwd)
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server" || true; rm -rf "$work"' EXIT
cd "$work"

run_spans() {
    "$build/examples/spans" "$1" "$2"
}

run_heaptrace() {
    "$build/examples/heaptrace/heaptrace" -o "$1" -- redis-server --port 0 --unixsocket \
        "$work/socket" --dir "$work" \
        --save "" --appendonly no --daemonize no --list-max-listpack-size "$2" >server.out 2>&1 &
    server=$!
    until [[ $(redis-cli -s socket ping 2>/dev/null || true) == PONG ]]; do
        kill -0 "$server" 2>/dev/null || { cat server.out; exit 1; }
        sleep 0.02
    done
    redis-benchmark -s socket -n 5000 -c 50 -P 16 -d 256 -r 10000 \
        -t set,get,incr,lpush,lpop,sadd,hset,zadd -q >client.out
    redis-cli -s socket shutdown nosave
    wait "$server"
    server=
}

# The argument of a run on the first side, that of the changed program on the second side, and the
# line that reports the change.
case $what in
spans) same=200 other=232 found='^  typical .* slower$' ;;
heaptrace) same=-2 other=1 found='^  rate .* more frequent$' ;;
*)
    echo "usage: $0 [spans | heaptrace] [PAIRS] [BUILD-FOLDER]" >&2
    exit 2
    ;;
esac

# says LINE ARGUMENT...: prints 1 if `etwas diff` prints such a line, else 0.
says() {
    local code=0
    "$build/tools/etwas" diff "${@:2}" >told || code=$?
    [[ $code -eq 0 || $code -eq 1 ]] || exit "$code"
    grep -Eqc "$1" told && echo 1 || echo 0
}

# count PAIRS SECOND LINE TITLE: counts the pairs for which such a line is printed, by runs and by
# blocks.
count() {
    local by_runs=0 by_blocks=0
    for ((pair = 0; pair < $1; pair++)); do
        for run in 1 2 3 4 5; do
            "run_$what" "a$run.etl" "$same"
            "run_$what" "b$run.etl" "$2"
        done
        by_runs=$((by_runs + $(says "$3" a?.etl --against b?.etl)))
        by_blocks=$((by_blocks + $(says "$3" a1.etl --against b1.etl)))
    done
    echo "$4: $by_runs of $1 pairs by five runs a side, $by_blocks by blocks of one"
}

count "$pairs" "$same" ' differ by ' 'the same program is said to differ'
count $(((pairs + 3) / 4)) "$other" "$found" 'what changed is found'
