#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# tests/stamps.sh: what a stamp depends on, when it stands, and what is kept of a run.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../stamps.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stamps_file=$work/stamps
unset ETWAS_SEARCH_ALL

check() { # what must be true, in words, and a command
    local words=$1
    shift
    if ! "$@"; then
        echo "not so: $words"
        cat "$stamps_file"
        exit 1
    fi
}
differ() { [[ $1 != "$2" ]]; }
fails() { ! "$@"; }
kept() { [[ $(grep -v '^#' "$stamps_file") == "$1" ]]; }

printf 'one' >"$work/a"
printf 'one' >"$work/b"
first=$(stamps_digest "$work/a" <<<flags)
check "a digest is of 32 digits" [ ${#first} -eq 32 ]
check "the same gives the same" [ "$first" = "$(stamps_digest "$work/a" <<<flags)" ]
check "another text gives another" differ "$first" "$(stamps_digest "$work/a" <<<flagz)"
check "a file of another name gives another" differ "$first" "$(stamps_digest "$work/b" <<<flags)"
printf 'two' >"$work/a"
check "a changed file gives another" differ "$first" "$(stamps_digest "$work/a" <<<flags)"
check "a missing file has none" fails stamps_digest "$work/c" <<<flags >"$work/out" 2>&1

check "without the file no stamp stands" fails stamps_stand m/a 1
printf '# comment\nm/a 1\nm/b 2\nn/a 3\n' >"$stamps_file"
check "a stamp stands" stamps_stand m/a 1
check "one of another digest does not" fails stamps_stand m/a 2
check "part of a digest does not stand for it" fails stamps_stand m/a ''
export ETWAS_SEARCH_ALL=1
check "nothing stands when all is searched" fails stamps_stand m/a 1
unset ETWAS_SEARCH_ALL

said=$(stamps_keep m/ <<<$'m/b 2\nm/a 1')
check "stamps that stand change nothing" [ -z "$said" ]
said=$(stamps_keep m/ <<<$'m/c 5\nm/b 4')
check "new stamps are told" grep -q 'commit tests/stamps' <<<"$said"
check "those of the run replace all of its prefix, in order" kept $'m/b 4\nm/c 5\nn/a 3'
check "comments stay" grep -qx '# comment' "$stamps_file"

for each in {1..20}; do
    stamps_keep "p$each/" <<<"p$each/x 1" >/dev/null &
done
wait
check "runs that end together lose none" [ "$(grep -c '^p' "$stamps_file")" = 20 ]
echo "stamps are kept, and stand, as they should"
