#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Runs a private ClickHouse cluster on loopback, in a folder: two shards with two replicas each, and
# ZooKeeper. It ends with the program that started it, however that program ends.
#
# usage: cluster.sh start FOLDER [--shards N] [--replicas N] [--alone] [--tls] [--with PID]
#        cluster.sh stop FOLDER [NAME]       all, or one: SIGTERM, and SIGKILL after a while
#        cluster.sh kill FOLDER NAME         SIGKILL
#        cluster.sh restart FOLDER NAME      stops it if it runs, starts it, waits until it answers
#        cluster.sh settle FOLDER            waits until every replica has what the others have
#        cluster.sh ask FOLDER NAME SQL      what clickhouse-client says there: TabSeparated
#
#   NAME        s1r1, s1r2, s2r1 ... (shard and replica), or zookeeper
#   --alone     one server without ZooKeeper
#   --tls       the addresses are https; FOLDER/tls/ca.pem verifies the servers
#   --with PID  the process whose end stops the cluster (the caller)
#
# FOLDER/cluster.env describes the cluster, as NAME='VALUE' lines for shells:
#
#     FLEET_SERVERS      the servers' names
#     FLEET_SHARD_1 ...  the addresses of a shard's replicas, joined by commas: what --server of
#                        `etwas ship` takes
#     FLEET_HTTP_s1r1 .. one server's address
#     FLEET_CREDENTIALS  the file with user and password, for --credentials
#     FLEET_CA           the file for --ca, or empty
#     FLEET_CLUSTER      the cluster's name in the servers' configuration, or empty
#
# Exit code: 0 on success; 1 on failure, with a message; 2 for a wrong call.

set -euo pipefail
umask 077

user=etwas
patience_s=120 # for an answer; a busy machine takes a while
stop_s=20      # for SIGTERM to take effect; a server that waits for ZooKeeper does not end

fail() {
    echo "cluster.sh: $*" >&2
    exit 1
}

usage() {
    sed -n 's/^# \{0,1\}//; /^usage:/,/^$/p' "${BASH_SOURCE[0]}" >&2
    exit 2
}

# until_true SECONDS COMMAND...
until_true() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.1
    done
}

# shellcheck source=examples/fleet/configuration.bash
source "$(dirname "${BASH_SOURCE[0]}")/configuration.bash"

# Where things are
# ------------------------------------------------------------------------------------------------

declare -A http_port tcp_port interserver_port https_port

server_names() {
    local shard replica
    for ((shard = 1; shard <= shards; shard++)); do
        for ((replica = 1; replica <= replicas; replica++)); do echo "s${shard}r$replica"; done
    done
}

# Assigns consecutive ports, from $first_port on.
lay_out() {
    local next=$first_port name
    zookeeper_port=$((next++))
    for name in $(server_names); do
        http_port[$name]=$((next++))
        tcp_port[$name]=$((next++))
        interserver_port[$name]=$((next++))
        https_port[$name]=$((next++))
    done
}

# Chooses ports below the range that Linux uses for outgoing connections, so that a port is still
# free when its server starts again.
find_ports() {
    local tries port count=$((1 + 4 * shards * replicas))
    for ((tries = 0; tries < 100; tries++)); do
        first_port=$((10000 + RANDOM % (22000 - count)))
        for ((port = first_port; port < first_port + count; port++)); do
            ! (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || continue 2
        done
        return
    done
    fail "there are no $count free ports in a row between 10000 and 32000"
}

address() {
    if [[ $tls == yes ]]; then
        echo "https://127.0.0.1:${https_port[$1]}"
    else
        echo "http://127.0.0.1:${http_port[$1]}"
    fi
}

write_environment() {
    local shard name list
    {
        echo "FLEET_SERVERS='$(server_names | paste -sd ' ')'"
        for ((shard = 1; shard <= shards; shard++)); do
            list=
            for name in $(server_names | grep "^s${shard}r"); do
                echo "FLEET_HTTP_$name='$(address "$name")'"
                list+=${list:+,}$(address "$name")
            done
            echo "FLEET_SHARD_$shard='$list'"
        done
        echo "FLEET_CREDENTIALS='$folder/credentials'"
        echo "FLEET_CA='$([[ $tls == no ]] || echo "$folder/tls/ca.pem")'"
        echo "FLEET_CLUSTER='$([[ $zookeeper == no ]] || echo $cluster)'"
    } >"$folder/cluster.env"
}

# Saves what the other commands need to know about the start.
save_start() {
    printf '%s\n' shards="$shards" replicas="$replicas" zookeeper=$zookeeper tls=$tls \
        caller="$caller" \
        first_port=$first_port >"$folder/started.bash"
}

load_start() {
    [[ -f $folder/started.bash ]] || fail "$folder has no cluster"
    # shellcheck disable=SC1091
    source "$folder/started.bash"
    lay_out
    read_secrets
}

check_name() {
    local names
    names=$(server_names | paste -sd ' ')
    [[ $zookeeper == no ]] || names+=" zookeeper"
    [[ " $names " == *" $1 "* ]] || fail "nothing is called '$1' here (there are $names)"
}

# Processes
# --------------------------------------------------------------------------------------------------
# A guard runs one server as its child. It kills the server when the caller has ended, and removes
# the pid file when the server has ended. A guard that is killed takes its server with it.

is_running() { [[ -s $folder/$1/pid ]] && kill -0 "$(<"$folder/$1/pid")" 2>/dev/null; }
has_ended() { ! is_running "$1"; }

end_process() {
    kill "$1" 2>/dev/null || return 0
    process_ended() { ! kill -0 "$process" 2>/dev/null; }
    local process=$1
    until_true $stop_s process_ended || kill -KILL "$1" 2>/dev/null || true
}

guard() {
    local name=$1 server watch
    shift
    setpriv --pdeathsig KILL "$@" &
    server=$!
    echo "$server" >"$folder/$name/pid"
    setpriv --pdeathsig KILL tail --pid="$caller" -f /dev/null &
    watch=$!
    wait -n "$server" "$watch" || true
    kill -KILL "$server" "$watch" 2>/dev/null || true
    rm -f "$folder/$name/pid"
}

start_one() {
    local name=$1
    local -a program
    if [[ $name == zookeeper ]]; then
        program=(java -Xmx128m -XX:+UseSerialGC \
            -cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-nop.jar
            org.apache.zookeeper.server.quorum.QuorumPeerMain "$folder/zookeeper/zoo.cfg")
    else
        program=(clickhouse-server "--config-file=$folder/$name/config.xml")
    fi
    rm -f "$folder/$name/pid"
    guard "$name" "${program[@]}" </dev/null >>"$folder/$name/out.log" 2>&1 &
    until_true $patience_s test -s "$folder/$name/pid" || fail "$name does not start"
}

stop_one() {
    ! is_running "$1" || end_process "$(<"$folder/$1/pid")"
    until_true $patience_s has_ended "$1" || fail "$1 does not end"
}

# ZooKeeper listens before it serves; until it serves, the reply to "srvr" has no mode.
zookeeper_serves() {
    local words
    { exec 9<>"/dev/tcp/127.0.0.1/$zookeeper_port"; } 2>/dev/null || return 1
    printf srvr >&9
    words=$(timeout 5 cat <&9) || true
    exec 9>&-
    [[ $words == *Mode:* ]]
}

answers() {
    if [[ $1 == zookeeper ]]; then
        zookeeper_serves
    else
        [[ $(curl -s --max-time 5 "http://127.0.0.1:${http_port[$1]}/ping") == Ok. ]]
    fi
}

answers_or_ended() { answers "$1" || has_ended "$1"; }

wait_for_one() {
    until_true $patience_s answers_or_ended "$1" ||
        fail "$1 does not answer: $folder/$1/out.log, error.log"
    is_running "$1" || {
        tail -n 20 "$folder/$1/out.log" "$folder/$1/error.log" >&2 2>/dev/null || true
        fail "$1 has ended: $folder/$1/out.log, error.log"
    }
}

ask() {
    clickhouse-client --config-file "$folder/client.xml" --host 127.0.0.1 --port "${tcp_port[$1]}" \
        --multiquery --query "$2"
}

# Commands
# --------------------------------------------------------------------------------------------------

read_options() {
    shards=2 replicas=2 zookeeper=yes tls=no caller=$PPID
    while (($# > 0)); do
        case $1 in
        --alone) shards=1 replicas=1 zookeeper=no ;;
        --tls) tls=yes ;;
        --shards | --replicas | --with)
            [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage
            case $1 in
            --shards) shards=$2 ;;
            --replicas) replicas=$2 ;;
            --with) caller=$2 ;;
            esac
            shift
            ;;
        *) usage ;;
        esac
        shift
    done
    ((shards <= 9 && replicas <= 9)) || fail "nine shards of nine replicas are the most"
}

start() {
    read_options "$@"
    local tool name
    local -a tools=(clickhouse-server clickhouse-client curl setpriv)
    [[ $zookeeper == no ]] || tools+=(java)
    [[ $tls == no ]] || tools+=(openssl)
    for tool in "${tools[@]}"; do
        [[ -n $(command -v "$tool") ]] || fail "$tool is not installed (.ci/packages fleet)"
    done
    [[ ! -e $folder/started.bash ]] || fail "$folder has a cluster already"

    find_ports
    lay_out
    write_secrets
    [[ $tls == no ]] || write_certificates
    [[ $zookeeper == no ]] || write_zookeeper
    for name in $(server_names); do write_server "$name"; done
    save_start
    trap stop_all EXIT # stops what was started if this function fails
    if [[ $zookeeper == yes ]]; then
        start_one zookeeper
        wait_for_one zookeeper
    fi
    for name in $(server_names); do start_one "$name"; done
    for name in $(server_names); do wait_for_one "$name"; done
    write_environment
    trap - EXIT
}

stop_all() {
    local name
    for name in $(server_names); do stop_one "$name" & done
    wait
    [[ $zookeeper == no ]] || stop_one zookeeper
}

kill_one() {
    is_running "$1" || fail "$1 does not run"
    kill -KILL "$(<"$folder/$1/pid")"
    until_true $patience_s has_ended "$1" || fail "$1 does not end"
}

restart_one() {
    stop_one "$1"
    start_one "$1"
    wait_for_one "$1"
}

# Prints how many entries a replica still has in its queue in ZooKeeper.
left_to_do() {
    local path
    path=$(ask "$1" \
        "select replica_path from system.replicas where concat(database, '.', table) = '$2'")
    ask "$1" "select numChildren from system.zookeeper where name = 'queue' and path = '$path'"
}

# A replica has caught up when it has done everything that is in ZooKeeper's log by now. A replica
# of 18.16 forgets its queue if it starts while ZooKeeper still believes its killed process to be
# alive. "system restart replica" makes it read the queue again.
has_caught_up() {
    {
        ask "$1" "system sync replica $2" &&
            { [[ $(left_to_do "$1" "$2") == 0 ]] ||
                ask "$1" "system restart replica $2; system sync replica $2"; } &&
            [[ $(left_to_do "$1" "$2") == 0 ]]
    } >"$folder/$1/settle.out" 2>&1
}

settle() {
    local name table
    for name in $(server_names); do
        for table in $(ask "$name" "select concat(database, '.', table) from system.replicas"); do
            until_true $patience_s has_caught_up "$name" "$table" ||
                fail "$name does not catch up: $(<"$folder/$name/settle.out")"
        done
    done
}

(($# >= 2)) || usage
command=$1
[[ $command != start ]] || mkdir -p "$2"
folder=$(cd "$2" 2>/dev/null && pwd) || fail "there is no folder '$2'"
[[ $folder != *[\'\<\>\&]* ]] || fail "the folder's name has one of ' < > &: $folder"
shift 2
cluster=etwas
case $command:$# in
start:*) start "$@" ;;
stop:0) load_start && stop_all ;;
settle:0) load_start && settle ;;
stop:1 | kill:1 | restart:1)
    load_start
    check_name "$1"
    "${command}_one" "$1"
    ;;
ask:2)
    load_start
    check_name "$1"
    ask "$1" "$2"
    ;;
*) usage ;;
esac
