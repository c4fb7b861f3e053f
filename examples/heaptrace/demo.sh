#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# The main job, from nothing to a trace: installs what is missing, builds, traces every heap call of a
# redis-server under load, checks that each call is accounted for, and shows the trace.
#
# usage: examples/heaptrace/demo.sh [--output FOLDER] [--keep]
#
#   --output FOLDER  where the trace stays: FOLDER/redis.etl (build/demo)
#   --keep           keep the temporary folder too: the server's log, its socket, the benchmark's words
#
# Exit code: 0 when everything is accounted for, 1 when anything failed, 2 for a wrong call.

set -euo pipefail

# Requests of each command. More make the run longer and the trace larger: both grow in proportion.
requests=50000
commands=set,get,incr,lpush,lpop,sadd,hset,zadd

output=
keep=no
while [[ $# -gt 0 ]]; do
    case $1 in
    --output)
        [[ $# -gt 1 ]] || { echo "demo.sh: --output needs a folder" >&2; exit 2; }
        mkdir -p "$2"
        output=$(cd "$2" && pwd)
        shift
        ;;
    --keep) keep=yes ;;
    *)
        echo "usage: examples/heaptrace/demo.sh [--output FOLDER] [--keep]" >&2
        exit 2
        ;;
    esac
    shift
done
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [[ -z $output ]]; then
    mkdir -p build/demo
    output=$PWD/build/demo
fi
trace=$output/redis.etl
counts=$output/redis.counts.json

server=
temporary=$(mktemp -d "${TMPDIR:-/tmp}/heaptrace-demo-XXXXXX")
cleanup() {
    if [[ -n $server ]]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    if [[ $keep == yes ]]; then
        echo "kept: $temporary"
    else
        rm -rf "$temporary"
    fi
}
trap cleanup EXIT

fail() {
    if [[ -s $temporary/server.out ]]; then
        echo "the server's last words:"
        tail -n 20 "$temporary/server.out"
    fi
    echo "FAILURE: $*"
    exit 1
}
trap 'echo "FAILURE: line $LINENO of demo.sh: $BASH_COMMAND"' ERR

# Gives each of the server's threads that serve clients a processor, one after the other.
spread() {
    python3 - "$1" <<'PYTHON'
import os
import sys

folder = f"/proc/{sys.argv[1]}/task"
processors = sorted(os.sched_getaffinity(0))
serving = []
for task in sorted(os.listdir(folder), key=int):
    with open(f"{folder}/{task}/comm", encoding="utf-8") as name:
        if name.read().startswith(("redis-server", "io_thd")):
            serving.append(int(task))
for number, task in enumerate(serving):
    os.sched_setaffinity(task, {processors[number % len(processors)]})
PYTHON
}

step() { printf '\n==== %s ====\n' "$*"; }

step "packages and build"
.ci/packages
cmake --preset default >"$temporary/configure.out" 2>&1 ||
    { cat "$temporary/configure.out"; fail "cmake cannot configure"; }
cmake --build --preset default --target etwas_tool heaptrace >"$temporary/build.out" 2>&1 ||
    { tail -n 40 "$temporary/build.out"; fail "the build"; }
etwas=build/default/tools/etwas
heaptrace=build/default/examples/heaptrace/heaptrace
echo "built: $etwas, $heaptrace"

step "redis-server, traced, under load"
processors=$(nproc)
io_threads=$((processors < 8 ? processors : 8))
socket=$temporary/redis.sock
rm -f "$trace" "$counts"
"$heaptrace" -o "$trace" --counts "$counts" -- \
    redis-server --port 0 --unixsocket "$socket" --dir "$temporary" --save "" --appendonly no \
    --daemonize no --io-threads "$io_threads" --io-threads-do-reads yes \
    >"$temporary/server.out" 2>&1 &
server=$!
for ((tries = 0; tries < 300; tries++)); do
    [[ $(redis-cli -s "$socket" ping 2>/dev/null || true) != PONG ]] || break
    kill -0 "$server" 2>/dev/null || fail "redis-server did not start"
    sleep 0.1
done
((tries < 300)) || fail "redis-server does not answer"
grep -q libheaptrace "/proc/$server/maps" || fail "redis-server runs untraced"
spread "$server"
redis-benchmark -s "$socket" -n "$requests" -c 50 -P 16 --threads "$processors" -d 256 -r 10000 \
    -t "$commands" -q >"$temporary/benchmark.out" 2>&1 ||
    { tail -n 20 "$temporary/benchmark.out"; fail "redis-benchmark"; }
tr '\r' '\n' <"$temporary/benchmark.out" | grep 'requests per second'
redis-cli -s "$socket" shutdown nosave
code=0
wait "$server" || code=$?
server=
((code == 0)) || fail "redis-server ended with $code"

step "etwas stat"
"$etwas" stat "$trace" || fail "the trace is damaged"

step "etwas dump, the first lines"
"$etwas" dump --limit 20 "$trace" | cut -c 1-160

step "accounting"
"$etwas" stat --json "$trace" >"$temporary/stat.json"
python3 examples/heaptrace/account.py "$counts" "$temporary/stat.json" ||
    fail "not every call is accounted for"

echo
echo "trace: $trace"
echo "SUCCESS: a traced redis-server under load, every heap call accounted for"
