#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Installs what is missing, builds, and runs the tests.
#
# usage: tests/run.sh [--all] [PRESET...]      presets: default release asan-ubsan tsan norseq
#
# Without a preset: default. Several run in the order given, all of them, even after a failure;
# while the tests of one wait, the next is built. Tests run beside each other. A few that fail there
# run once more, each alone: what passes then passes, and the summary names it, since what a busy
# machine finds may still be a fault. What needs that in three of the last twenty runs on this
# machine fails. Tests that depend on their inputs alone do not run again on a machine where they
# passed with the same inputs (stamped.py); --all runs them, too.
# Exit code: 0 when everything passed, 1 when anything failed, 2 for a wrong call.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ${1:-} == --all ]]; then
    export ETWAS_SEARCH_ALL=1
    shift
fi
[[ $# -gt 0 ]] || set -- default
for preset in "$@"; do
    case $preset in
    default | release | asan-ubsan | tsan | norseq) ;;
    *)
        echo "tests/run.sh: no preset is called '$preset'" >&2
        echo "usage: tests/run.sh [--all] [default|release|asan-ubsan|tsan|norseq]..." >&2
        exit 2
        ;;
    esac
done

# ThreadSanitizer of gcc 12 and clang 14 refuses to start where the kernel places mappings with more
# random bits than it knows. Prints what to put before a command: nothing, or "setarch -R".
tsan_prefix() {
    local folder plain=yes
    folder=$(mktemp -d)
    echo 'int main(void) { return 0; }' >"$folder/probe.c"
    "${CC:-cc}" -fsanitize=thread "$folder/probe.c" -o "$folder/probe"
    # The places are drawn anew at each start, so one good start proves nothing.
    for _ in {1..20}; do
        "$folder/probe" >/dev/null 2>&1 || plain=no
    done
    if [[ $plain == no ]]; then
        if ! setarch -R "$folder/probe"; then
            rm -r "$folder"
            echo "tests/run.sh: a program built with -fsanitize=thread does not start here," \
                "with or without address randomisation; lower vm.mmap_rnd_bits to 28" >&2
            return 1
        fi
        echo "setarch -R"
    fi
    rm -r "$folder"
}

# The folder and the configuration of a preset's build: norseq tests that of default.
built_as() {
    [[ $1 == norseq ]] && echo default || echo "$1"
}

# Builds what those of its tests need that are to run, and notes which are not.
build_preset() {
    local begun targets
    begun=build/$(built_as "$1")/$1.begun
    cmake --preset "$(built_as "$1")" || return 1
    python3 -B tests/stamped.py begin "$1" >"$begun" || return 1
    read -ra targets < <(sed -n 3p "$begun")
    cmake --build --preset "$1" --target "${targets[@]}"
}

# Tests come first where both need a processor.
build_beside_tests() {
    renice -n 19 "$BASHPID" >/dev/null
    build_preset "$1"
}

# Its tests, once it is built, without those whose stamp stands.
run_preset() {
    local preset=$1 prefix="" results not_run standing again result=0
    if [[ $preset == tsan ]]; then
        prefix=$(tsan_prefix) || return 1
    fi
    results=$PWD/build/$(built_as "$preset")/$preset
    { read -r not_run && read -r standing; } <"$results.begun"
    echo "    not run: $not_run" | tee "$results.not-run"
    # Twice as many as there are processors: a test that waits leaves its processor to another.
    # shellcheck disable=SC2086 # an empty prefix is no word
    if ! $prefix ctest --preset "$preset" --exclude-regex "$standing" --parallel \
        "$(($(nproc) * 2))" \
        --output-junit "$results.xml"; then
        # By name: numbers are others where tests are left out.
        again=$(python3 -B tests/summary.py --few "$results.xml") || return 1
        printf '\n---- once more, alone ----\n'
        # shellcheck disable=SC2086
        $prefix ctest --preset "$preset" --tests-regex "$again" \
            --output-junit "$results-alone.xml" || result=1
    fi
    python3 -B tests/stamped.py keep "$preset" "$results.xml" "$results-alone.xml"
    python3 -B tests/summary.py --often "$preset" "$results.xml" "$results-alone.xml" \
        >"$results.often" || result=1
    return $result
}

.ci/packages build docs tests
[[ " $* " != *" release "* ]] || .ci/packages bench

summary=()
asides=()
result=passed
skipped=0
builder=""
build_log=$(mktemp)
trap 'rm -f "$build_log"' EXIT
while [[ $# -gt 0 ]]; do
    preset=$1
    shift
    printf '\n==== preset %s ====\n' "$preset"
    if [[ -z $builder ]]; then
        build_preset "$preset" && is_built=yes || is_built=no
    else
        wait "$builder" && is_built=yes || is_built=no
        cat "$build_log"
    fi
    builder=""
    results=build/$(built_as "$preset")/$preset
    rm -f "$results.xml" "$results-alone.xml"
    : >"$results.often"
    if [[ $# -gt 0 && $(built_as "$1") != "$(built_as "$preset")" ]]; then
        build_beside_tests "$1" >"$build_log" 2>&1 &
        builder=$!
    fi
    if [[ $is_built == yes ]] && run_preset "$preset"; then
        outcome=ok
    else
        outcome=failed
        result=failed
    fi
    if [[ -f $results.xml ]]; then
        line=$(python3 -B tests/summary.py "$results.xml" "$results-alone.xml" &&
            cat "$results.often" "$results.not-run")
        skipped=$((skipped + $(sed -n '1s/.*, \([0-9]*\) skipped$/\1/p' <<<"$line")))
        asides+=("$preset:" \
            "$(python3 -B tests/summary.py --aside "$results.xml" "$results-alone.xml")")
    else
        line="could not be built or started"
    fi
    summary+=("$(printf '%-11s %-7s %s' "$preset" "$outcome" "$line")")
done

# What failed stands last, where it is seen.
printf '\n==== left out, and noted ====\n'
printf '%s\n' "${asides[@]}"
printf '\n==== summary ====\n'
printf '%s\n' "${summary[@]}"
if [[ $result == passed ]]; then
    echo "SUCCESS: all tests passed; $skipped skipped, for the reasons above"
else
    echo "FAILURE: not everything passed"
    exit 1
fi
