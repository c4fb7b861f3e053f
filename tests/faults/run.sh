#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Seeds faults in the restartable protocol, one at a time, in a copy of the sources, and sees whether the
# tests find them: each named test passes without the fault and fails, crashes or hangs with it.
#
# usage: run.sh [FAULT...]        nothing: those whose stamp does not stand (tests/stamps.sh)
# Exits with 77 where the process has no restartable sequences, or the machine only one processor.
set -euo pipefail

folder=$(cd "$(dirname "$0")" && pwd)
source_tree=$(cd "$folder/../.." && pwd)
fault_py=$folder/fault.py
. "$folder/../stamps.sh"
limit_s=60

if [[ ${GLIBC_TUNABLES:-} == *rseq=0* || $(uname -m) != x86_64 || $(nproc) -lt 2 ]]; then
    echo "skipped: no restartable sequences here, or one processor only"
    exit 77
fi

# What a verdict depends on: the fault, how it is looked for, and the sources of both sides.
digest() { # fault
    local sources
    mapfile -t sources < <("$fault_py" --sources "$1")
    "$fault_py" --show "$1" | stamps_digest "$folder/run.sh" "${sources[@]/#/$source_tree/}"
}

mapfile -t all < <("$fault_py" --list)
faults=("$@")
lines=""
for fault in "${all[@]}"; do
    stamp="fault/$fault $(digest "$fault")"
    lines+=$stamp$'\n'
    # shellcheck disable=SC2086 # a stamp is two words
    (($# != 0)) || stamps_stand $stamp || faults+=("$fault")
done
# Without names all of them, searched or stamped, have passed in the end.
keep_stamps() {
    (($# != 0)) || stamps_keep fault/ <<<"${lines%$'\n'}"
}
(($# != 0)) || echo "note: faults: ${#faults[@]} searched, $((${#all[@]} - ${#faults[@]})) stamped"
if ((${#faults[@]} == 0)); then
    keep_stamps
    exit 0
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/etwas-faults-XXXXXX")
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir "$tree"
cp -r "$source_tree"/{CMakeLists.txt,README.md,LICENSE,packaging,runtime,include,tests} "$tree"

mapfile -t tests < <(for fault in "${faults[@]}"; do "$fault_py" --tests "$fault"; done | sort -u)
mapfile -t programs < <(printf '%s\n' "${tests[@]}" | cut -d' ' -f1 | sort -u)

build() {
    cmake --build "$work/build" --target "${programs[@]}" >"$work/build.log" 2>&1 ||
        { cat "$work/build.log"; echo "the build failed"; exit 1; }
}

# A name that no test has would select none, and pass.
run_test() { # program test
    timeout --kill-after=5 "$limit_s" "$work/build/tests/buffer/$1" "$2" >"$work/test.log" 2>&1 &&
        grep -q '  PASSED  \] 1 test' "$work/test.log"
}

cmake -S "$tree" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DETWAS_BUILD_BENCH=OFF \
    -DETWAS_BUILD_TOOLS=OFF -DETWAS_BUILD_EXAMPLES=OFF \
    -DCMAKE_C_FLAGS="-Wno-unused-parameter -Wno-unused-variable -Wno-unused-function" >"$work/build.log" 2>&1 ||
    { cat "$work/build.log"; exit 1; }
build
for test in "${tests[@]}"; do
    read -r program name <<<"$test"
    if ! run_test "$program" "$name"; then
        if grep -q SKIPPED "$work/test.log"; then
            echo "skipped: no restartable sequences here"
            exit 77
        fi
        cat "$work/test.log"
        echo "$test fails without any fault"
        exit 1
    fi
done

missed=0
for fault in "${faults[@]}"; do
    rm -rf "$work/right" && cp -r "$tree/runtime" "$work/right"
    "$fault_py" "$fault" "$tree"
    build
    while read -r program name; do
        if run_test "$program" "$name"; then
            echo "$fault: not found by $program $name"
            missed=1
        else
            reason=$(grep -am1 'ERROR' "$work/test.log" | tr -s ' ' || true)
            echo "$fault: found by $program $name ${reason:+($reason)}"
        fi
    done < <("$fault_py" --tests "$fault")
    # The right sources again, newer than the objects of the wrong ones.
    for file in $(cd "$work/right" && diff -rq . "$tree/runtime" | sed -n 's/^Files \.\/\(.*\) and .*/\1/p'); do
        cp "$work/right/$file" "$tree/runtime/$file"
    done
done
((missed != 0)) || keep_stamps "$@"
exit "$missed"
