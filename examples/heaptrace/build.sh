#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Traces many processes into one session: a parallel build of a C project. Every compiler, shell and
# make logs its heap calls into a session of another process. Checks that each call of each process
# is recorded or counted as lost.
#
# usage: examples/heaptrace/build.sh [--files N] [--processes N] [--stacks] [--etwas FILE]
# [--heaptrace FILE] [--keep]
#
#   --files N      C files of the project, which is made up (300)
#   --processes N  of them at a time (24)
#   --stacks       with the call stacks; if no event is lost, nearly all of their frames are in
#                  a known program or library
#   --keep         keep the folder: the trace, the counts of each process
#
# Exit code: 0 when everything is accounted for, 1 when anything failed, 2 for a wrong call, 77
# where sessions cannot be shared.

set -euo pipefail

files=300
processes=24
stacks=()
keep=
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
etwas=$root/build/default/tools/etwas
heaptrace=$root/build/default/examples/heaptrace/heaptrace
provider=6d2f3f0a-57f4-4f0c-9f3b-6a7b1c2f8e11
while (($#)); do
    case $1 in
    --files) files=$2; shift 2 ;;
    --processes) processes=$2; shift 2 ;;
    --stacks) stacks=(--stacks=16); shift ;;
    --etwas) etwas=$2; shift 2 ;;
    --heaptrace) heaptrace=$2; shift 2 ;;
    --keep) keep=yes; shift ;;
    *) sed -n '/^# usage/,/^# Exit/p' "$0" >&2; exit 2 ;;
    esac
done

folder=$(mktemp -d "${TMPDIR:-/tmp}/etwas-build.XXXXXX")
export ETWAS_RUNTIME_DIR=$folder/run ETWAS_SHARED=1
mkdir -m 700 "$ETWAS_RUNTIME_DIR"
finish() {
    "$etwas" stop build >/dev/null 2>&1 || true
    if [[ $keep ]]; then echo "kept: $folder"; else rm -rf "$folder"; fi
}
trap finish EXIT

# The project: each file has a few functions, and one program links them all.
mkdir -p "$folder/project" "$folder/counts"
cd "$folder/project"
for ((file = 0; file < files; file++)); do
    {
        printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n'
        for ((function = 0; function < 20; function++)); do
            printf 'int f%d_%d(int *a, int n) { int s = %d; ' "$file" "$function" "$function"
            printf 'for (int i = 0; i < n; i++) s += a[i] * %d; return s; }\n' \
                "$((file + function))"
        done
    } >"part$file.c"
done
echo 'int main(void) { return 0; }' >main.c
cat >Makefile <<'MAKE'
objects := $(patsubst %.c,%.o,$(wildcard *.c))
program: $(objects)
	$(CC) -o $@ $(objects)
%.o: %.c
	@sh -c '$(CC) -O1 -c -o $@ $<'
MAKE

"$etwas" start -fo "$folder/build.etl" --max-buffers 8192 --buffer-size 64 -e "$provider" build || {
    echo "skipped: processes share no session here"
    exit 77
}
"$heaptrace" --shared --follow "${stacks[@]}" --counts "$folder/counts/c" -- make -s -j"$processes"
[[ -x program ]]
"$etwas" stop build

"$etwas" stat --json "$folder/build.etl" >"$folder/stat.json"
"$etwas" stat --prove "$folder/build.etl" >"$folder/prove" || { cat "$folder/prove"; exit 1; }
cat "$folder/prove"
"$etwas" dump --csv -c pid,event_class -w 'provider == "heaptrace"' "$folder/build.etl" |
    sed -n 's/^\([0-9][0-9]*\),.*/\1/p' | sort | uniq -c >"$folder/processes"
python3 -B "$root/examples/heaptrace/account_many.py" "$folder/stat.json" "$folder/processes" \
    "$folder/counts"

if ((${#stacks[@]})); then
    "$etwas" convert --to folded "$folder/build.etl" >"$folder/folded"
    grep -q ';main;' "$folder/folded" || { echo "wrong: nobody has a main"; exit 1; }
    # A stack that cannot be unwound ends at an unknown frame; a few such stacks are accepted.
    if ! grep -q '"lost":[1-9]' "$folder/stat.json" &&
        (($(grep -c '\[unknown\]' "$folder/folded") * 50 > $(wc -l <"$folder/folded"))); then
        echo "wrong: stacks without a program"
        exit 1
    fi
fi
