# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# What the demonstrations share; read by them, not run. With the demonstration's arguments:
#
#     source examples/demo.bash "$@"      [--output FOLDER] [--keep]
#
# $output and $temporary are folders from then on, and the root of the sources is the current one. A demonstration adds
# to `started` the processes that end with it, and says in `last_words` which file of $temporary tells what its server
# said. One that has a small form sets `small` before, which --small makes `yes`.

demo=${0##*/}

output=
keep=no
while [[ $# -gt 0 ]]; do
    case $1 in
    --output)
        [[ $# -gt 1 ]] || { echo "$demo: --output needs a folder" >&2; exit 2; }
        mkdir -p "$2"
        output=$(cd "$2" && pwd)
        shift
        ;;
    --keep) keep=yes ;;
    *)
        if [[ $1 == --small && -n ${small-} ]]; then
            small=yes
        else
            echo "usage: $0 ${small+[--small] }[--output FOLDER] [--keep]" >&2
            exit 2
        fi
        ;;
    esac
    shift
done
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
if [[ -z $output ]]; then
    mkdir -p build/demo
    output=$PWD/build/demo
fi

started=()
last_words=
temporary=$(mktemp -d "${TMPDIR:-/tmp}/etwas-demo-XXXXXX")
cleanup() {
    for process in ${started[@]+"${started[@]}"}; do
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    if [[ $keep == yes ]]; then
        echo "kept: $temporary"
    else
        rm -rf "$temporary"
    fi
}
trap cleanup EXIT

fail() {
    if [[ -n $last_words && -s $temporary/$last_words ]]; then
        echo "the server's last words:"
        tail -n 20 "$temporary/$last_words"
    fi
    echo "FAILURE: $*"
    exit 1
}
trap 'echo "FAILURE: line $LINENO of $demo: $BASH_COMMAND"' ERR

# wait_for WHAT COMMAND...: until the command succeeds, half a minute at most.
wait_for() {
    local what=$1
    shift
    for ((tries = 0; tries < 300; tries++)); do
        "$@" && return
        sleep 0.1
    done
    fail "$what"
}

step() { printf '\n==== %s ====\n' "$*"; }

# build TARGET...
build() {
    cmake --preset default >"$temporary/configure.out" 2>&1 ||
        { cat "$temporary/configure.out"; fail "cmake cannot configure"; }
    cmake --build --preset default --target "$@" >"$temporary/build.out" 2>&1 ||
        { tail -n 40 "$temporary/build.out"; fail "the build"; }
}
