# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Functions that the demonstrations share. Source it with the demonstration's arguments; it is not
# run:
#
#     source examples/demo.bash "$@"      [--output FOLDER] [--keep]
#
# It sets $output and $temporary to folders and changes to the root of the sources. A demonstration
# adds the processes that end with it to `started`. It sets `last_words` to the file in $temporary
# with its server's output, which `fail` prints. A demonstration with a small form sets `small`
# first; --small then sets it to `yes`.

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

# wait_for WHAT COMMAND...: repeats the command until it succeeds; fails with WHAT after half a
# minute.
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
