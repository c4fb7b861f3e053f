#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Traces one slow request, from installation to the trace. It installs what is missing, builds, and
# starts an nginx with the module and two servers of an upstream. Under load, one of the servers is
# slow for one request, and the worker writes a snapshot by itself, which is shown. Then a worker is
# killed, and the events that it had logged are recovered.
#
# usage: examples/nginx/demo.sh [--output FOLDER] [--keep]
#
#   --output FOLDER  where the traces stay: FOLDER/slow.etl, FOLDER/killed.etl (build/demo)
#   --keep           keep the temporary folder too: the server's configuration, its logs, all
#                    snapshots
#
# Exit code: 0 when the slow request and the killed worker's requests are found, 1 on failure, 2 for
# a wrong call.

set -euo pipefail

load_s=6
limit_ms=200
slow_ms=400

# shellcheck source=examples/demo.bash
source "$(dirname "${BASH_SOURCE[0]}")/../demo.bash" "$@"
last_words=error.log

step "packages and build"
.ci/packages build nginx
build etwas_tool etwas_plain
examples/nginx/build.sh
etwas=build/default/tools/etwas
module=$PWD/build/default/examples/nginx/ngx_http_etwas_module.so
echo "built: $module"

step "nginx with two workers, and an upstream of two servers"
export ETWAS_RUNTIME_DIR=$temporary/pools
lines="etwas on; etwas_crash_safe on; etwas_folder $temporary/snapshots; etwas_pause 100ms;"
lines+=" etwas_slow ${limit_ms}ms;"
port=$(python3 -B examples/nginx/server.py "$temporary" "$module" 2 "$lines")
echo "$lines"
for name in first second; do
    python3 -B examples/nginx/backend.py "$temporary/$name.sock" $slow_ms &
    started+=($!)
done
second=$!
for name in first second; do
    wait_for "the upstream does not answer" curl -sfo /dev/null --unix-socket \
        "$temporary/$name.sock" http://upstream/
done
head -c 1024 /dev/zero | tr '\0' x >"$temporary/www/page.html"
/usr/sbin/nginx -p "$temporary" -c "$temporary/nginx.conf" -e "$temporary/error.log" &
server=$!
started+=("$server")
order() { curl -sf "http://127.0.0.1:$port/orders/$1" >/dev/null; }
wait_for "nginx does not answer" order 0 2>/dev/null

step "load, and one slow answer of the second server"
wrk -t1 -c16 "-d${load_s}s" -s examples/nginx/latency.lua "http://127.0.0.1:$port/page.html" \
    >"$temporary/wrk.out" &
load=$!
for number in {1..10}; do order "$number"; done
kill -USR1 "$second"
for number in {11..20}; do order "$number"; done
# On a busy machine page.html may be slow as well: finds the snapshot that has the order.
snapshot_of_order() {
    while read -r snapshot; do
        "$etwas" dump --where 'name == "Slow"' "$snapshot" | grep 'uri="/orders/' \
            >"$temporary/slow.txt" && return
    done < <(sed -n 's/.*etwas: \(.*\) is written.*/\1/p' "$temporary/error.log")
    return 1
}
wait_for "no worker wrote a snapshot of the slow order" snapshot_of_order
grep 'etwas: slow request.*"GET /orders/' "$temporary/error.log" | grep -o 'etwas: .*'
grep -o "etwas: $snapshot is written" "$temporary/error.log"
cp "$snapshot" "$output/slow.etl"

step "the slow request"
head -n 1 "$temporary/slow.txt"
"$etwas" dump --json --where 'name == "Slow"' "$output/slow.etl" >"$temporary/slow.json"
instance=$(sed -n '/"uri":"\/orders\//{s/.*"instance":\([0-9]*\).*/\1/p;q}' "$temporary/slow.json")
[[ -n $instance ]] || fail "the slow request is not in the snapshot"
echo
echo "all of it, request and phases:"
"$etwas" dump --columns time,event,duration,fields --where "instance == $instance" \
    "$output/slow.etl" |
    tee "$temporary/request.txt"
grep -q 'Upstream.*second.sock' "$temporary/request.txt" ||
    fail "it does not say which server was slow"

step "all requests of the snapshot, and their phases"
"$etwas" why --slowest 1 "$output/slow.etl" | sed -n '1,/^$/p'

step "one worker is killed"
workers() { cat "/proc/$server/task/$server/children"; }
victim=$(workers | cut -d ' ' -f 1)
kill -KILL "$victim"
replaced() { [[ $(workers | wc -w) -eq 2 && " $(workers) " != *" $victim "* ]]; }
wait_for "the worker is not replaced" replaced
order 21 || fail "nginx does not answer"
echo "killed $victim; now there are $(workers)"

step "what it had logged"
"$etwas" recover --list --folder "$ETWAS_RUNTIME_DIR"
"$etwas" recover --all -o "$temporary" --folder "$ETWAS_RUNTIME_DIR" >/dev/null
cp "$temporary"/*-"$victim"-*.etl "$output/killed.etl"
"$etwas" dump --where 'event == "Request/Start"' --columns time,pid,event,fields \
    "$output/killed.etl" >"$temporary/killed.txt"
tail -n 3 "$temporary/killed.txt"
grep -q "$victim .*Request/Start" "$temporary/killed.txt" ||
    fail "the killed worker's requests are not recovered"

step "the load"
wait "$load"
tail -n 1 "$temporary/wrk.out"

echo
echo "snapshot: $output/slow.etl"
echo "recovered: $output/killed.etl"
echo "SUCCESS: the slow request is in the snapshot that its worker wrote, and the killed worker's" \
    "are recovered, by name"
