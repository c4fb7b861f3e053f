#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Runs a fleet, from installation to the answers. It installs what is missing, builds, and starts
# two shards of two ClickHouse servers with ZooKeeper, and a shop of eight services as eight hosts.
# `etwas ship` sends their events to the servers. Meanwhile a service, a shipper and a server are
# killed. In the end each logged event is stored exactly once.
#
# usage: examples/fleet/demo.sh [--small] [--output FOLDER] [--keep]
#
#   --small          fewer orders
#   --output FOLDER  where the proof and the answers stay: FOLDER/fleet.txt (build/demo)
#   --keep           keep the temporary folder too: the hosts' trace files, the servers' tables
#
# Exit code: 0 when every event has arrived, 1 on failure, 2 for a wrong call.

set -euo pipefail

# Orders that each of three web servers makes, and the pause of each of its four threads after an
# order.
orders=15000
pause_us=1000

# shellcheck disable=SC2034
small=no # this demonstration has a small form
# shellcheck source=examples/demo.bash
source "$(dirname "${BASH_SOURCE[0]}")/../demo.bash" "$@"
if [[ $small == yes ]]; then
    orders=2000
    pause_us=8000
fi
fleet=$temporary/cluster
answers=$output/fleet.txt
server_calls=(stock1 stock2 payment "orders1 --call stock1,stock2 --call payment"
    "orders2 --call stock1,stock2 --call payment")
webs=(web1 web2 web3)
hosts=(stock1 stock2 payment orders1 orders2 "${webs[@]}")

cluster() { examples/fleet/cluster.sh "$1" "$fleet" "${@:2}"; }

# Processes: service[HOST], shipper[HOST].
declare -A service shipper

# start_service HOST OPTION...
start_service() {
    local host=$1 folder=$temporary/$1
    mkdir -p "$folder/spool" "$folder/pools"
    chmod 700 "$folder/pools" # where a killed service leaves its buffers
    ETWAS_RUNTIME_DIR=$folder/pools "$program" "$host" "$temporary" "${@:2}" \
        2>>"$folder/service.out" &
    service[$host]=$!
    started+=($!)
}

# start_shipper HOST OPTION...
start_shipper() {
    local host=$1 folder=$temporary/$1
    "$etwas" ship "${to[@]}" --host "$host" --follow "$folder/spool" --recover --pools \
        "$folder/pools" "${@:2}" \
        2>>"$folder/shipper.out" &
    shipper[$host]=$!
    started+=($!)
}

# Removes a process that has ended from those that the demonstration ends.
forget() {
    local kept=() process
    for process in "${started[@]}"; do
        [[ $process == "$1" ]] || kept+=("$process")
    done
    started=(${kept[@]+"${kept[@]}"})
}

# kill_one PROCESS WHAT
kill_one() {
    kill -KILL "$1" || fail "$2 has ended by itself"
    wait "$1" 2>/dev/null || true
    forget "$1"
    echo "killed: $2 (process $1)"
}

# ended PROCESS WHAT: waits until the process ends by itself, which must be with code 0.
ended() {
    local code=0
    wait "$1" || code=$?
    forget "$1"
    ((code == 0)) || fail "$2 ended with $code: $(tail -n 3 "$temporary/${2##* }"/*.out)"
}

# answer QUESTION WORD=VALUE...: runs the query below this heading of docs/howto/ask-a-fleet.md,
# with values for its words in capitals.
answer() {
    local query word
    query=$(awk -v heading="### $1" '
        /^#/ { inside = $0 == heading }
        inside && /^    / { print; begun = 1; next }
        begun { exit }' docs/howto/ask-a-fleet.md)
    [[ -n $query ]] || fail "docs/howto/ask-a-fleet.md does not ask: $1"
    for word in "${@:2}"; do query=${query//"${word%%=*}"/"${word#*=}"}; done
    step "$1"
    cluster ask s1r1 "$query format PrettyCompactNoEscapes"
}

step "packages and build"
.ci/packages build fleet
build etwas_tool fleet_service
etwas=build/default/tools/etwas
program=build/default/examples/fleet/service
echo "built: $etwas, $program"

step "two shards of two servers"
cluster start
# shellcheck disable=SC1091
source "$fleet/cluster.env"
to=(--server "$FLEET_SHARD_1" --server "$FLEET_SHARD_2" --credentials "$FLEET_CREDENTIALS")
printf 'shard 1: %s\nshard 2: %s\n' "$FLEET_SHARD_1" "$FLEET_SHARD_2"
"$etwas" ship --ddl "${to[@]}" --cluster "$FLEET_CLUSTER" >"$temporary/tables.sql"
cluster ask s1r1 "$(cat "$temporary/tables.sql")" >"$temporary/tables.out" ||
    fail "the tables cannot be made"
echo "tables: $(cluster ask s1r1 'show tables from etwas' | paste -sd ' ')"

step "eight services, and a shipper for each"
for call in "${server_calls[@]}"; do
    # shellcheck disable=SC2086
    start_service $call
done
for call in "${server_calls[@]}"; do
    wait_for "${call%% *} does not serve" test -S "$temporary/${call%% *}.socket"
done
for web in "${webs[@]}"; do
    start_service "$web" --orders "$orders" --pause "$pause_us" --call orders1,orders2
done
for host in "${hosts[@]}"; do start_shipper "$host"; done
echo "hosts: ${hosts[*]}"
arrived() { (($(cluster ask s1r1 'select count() from etwas.event_all') > 0)); }
wait_for "nothing arrives" arrived

step "three of them are killed"
kill_one "${service[stock2]}" "the service stock2"
kill_one "${shipper[orders1]}" "the shipper of orders1"
cluster kill s2r1
echo "killed: the server s2r1"
sleep 1
start_shipper orders1
cluster restart s2r1
echo "started again: the shipper of orders1, the server s2r1"

step "the orders"
for web in "${webs[@]}"; do ended "${service[$web]}" "the service $web"; done
for host in stock1 payment orders1 orders2; do
    kill "${service[$host]}"
    ended "${service[$host]}" "the service $host"
done
echo "all $((orders * ${#webs[@]})) orders were made"
for host in "${hosts[@]}"; do kill "${shipper[$host]}"; done
for host in "${hosts[@]}"; do
    wait "${shipper[$host]}" || (($? == 1)) ||
        fail "the shipper of $host failed: $(tail -n 3 "$temporary/$host/shipper.out")"
    forget "${shipper[$host]}"
done
for host in "${hosts[@]}"; do start_shipper "$host" --once; done
for host in "${hosts[@]}"; do ended "${shipper[$host]}" "the shipper of $host"; done
cluster settle
echo "what the shippers said:"
cat "$temporary"/*/shipper.out

step "what the services say that they have logged, and what is there"
wrong=0
while read -r host events; do
    read -r begun logged < <(od -An -tu8 "$temporary/$host/counts")
    note=
    [[ $host != stock2 ]] || note=", killed"
    if ((events < logged || events > begun)); then
        note+=", WRONG"
        wrong=1
    fi
    echo "$host: $logged logged, $events there$note"
done < <(cluster ask s1r1 \
    "select host, count() from etwas.event_all where event like 'Shop%'
     group by host order by host")
((wrong == 0)) || fail "not every event is there once"
present=$(cluster ask s1r1 "select uniqExact(host) from etwas.event_all where event like 'Shop%'")
((present == ${#hosts[@]})) || fail "$present of ${#hosts[@]} hosts are there"

day=$(cluster ask s1r1 "select max(day) from etwas.event_all")
slowest=$(cluster ask s1r1 "select activity from etwas.event_all where event like 'Shop.Orders/%'
    group by activity order by max(unix_time) - min(unix_time) desc limit 1")
{
    step "the proof"
    "$etwas" ship --prove "${to[@]}" || fail "not everything is proved to be there"
    answer "How long do calls take, over the fleet?" DAY="$day"
    answer "Which hosts have errors, minute by minute?" DAY="$day"
    answer "What happened to one request, on all hosts?" DAY="$day" ACTIVITY="$slowest"
} | tee "$answers"

echo
echo "proof and answers: $answers"
echo "SUCCESS: eight hosts, a service, a shipper and a server killed, and each event there once"
