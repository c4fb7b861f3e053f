#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Traces every heap call of a redis-server under load, from installation to the trace. It installs
# what is missing, builds, checks that each call is accounted for, and shows the trace.
#
# usage: examples/heaptrace/demo.sh [--output FOLDER] [--keep]
#
#   --output FOLDER  where the trace stays: FOLDER/redis.etl (build/demo)
#   --keep           keep the temporary folder too: the server's log, its socket, the benchmark's
#                    output
#
# Exit code: 0 when every call is accounted for, 1 on failure, 2 for a wrong call.

set -euo pipefail

# Requests of each command. The run time and the size of the trace grow in proportion.
requests=50000
commands=set,get,incr,lpush,lpop,sadd,hset,zadd

# shellcheck source=examples/demo.bash
source "$(dirname "${BASH_SOURCE[0]}")/../demo.bash" "$@"
last_words=server.out
trace=$output/redis.etl
counts=$output/redis.counts.json

# Pins the server's threads that serve clients to the processors, one after the other.
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

step "packages and build"
.ci/packages
build etwas_tool heaptrace
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
started+=("$server")
answers() {
    kill -0 "$server" 2>/dev/null || fail "redis-server did not start"
    [[ $(redis-cli -s "$socket" ping 2>/dev/null || true) == PONG ]]
}
wait_for "redis-server does not answer" answers
grep -q libheaptrace "/proc/$server/maps" || fail "redis-server runs untraced"
spread "$server"
redis-benchmark -s "$socket" -n "$requests" -c 50 -P 16 --threads "$processors" -d 256 -r 10000 \
    -t "$commands" -q >"$temporary/benchmark.out" 2>&1 ||
    { tail -n 20 "$temporary/benchmark.out"; fail "redis-benchmark"; }
tr '\r' '\n' <"$temporary/benchmark.out" | grep 'requests per second'
redis-cli -s "$socket" shutdown nosave
code=0
wait "$server" || code=$?
started=()
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
