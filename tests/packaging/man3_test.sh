#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Each public function has a manual page that groff takes without a warning, and `man -k etwas`
# lists it, as it lists each command.
#
# usage: man3_test.sh MAN3_FOLDER MAN1_FOLDER SOURCE_FOLDER

set -euo pipefail
man3=$1 man1=$2 source=$3

for tool in groff mandb apropos; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: there is no $tool (on Debian: apt-get install groff-base man-db)"
        exit 77
    fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# All of them in one run: those that refer to another are that one.
mapfile -t pages < <(grep -L '^\.so ' "$man3"/*.3)
warnings=$(groff -man -ww -Tutf8 -z "${pages[@]}" 2>&1)
[[ -z $warnings ]] || fail "$warnings"

mkdir -p "$work/man/man1" "$work/man/man3"
cp "$man3"/*.3 "$work/man/man3"
cp "$man1"/*.1 "$source/packaging/etwas-host.1" "$work/man/man1"
mandb --create --quiet --user-db "$work/man" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
apropos --manpath="$work/man" etwas | sed 's/ .*//' | LC_ALL=C sort -u >"$work/listed"

# Labels are etwas_StartTraceA for StartTraceA, and etwas_start for itself; one variable is for the
# copies of the library among themselves, and a pattern stands for GUIDs.
sed -n 's/^ *\(etwas_[A-Za-z0-9_]*\);$/\1/p' "$source"/runtime/*.map |
    grep -vx etwas_serving_copy >"$work/exported"
while read -r label; do
    grep -qxE "$label|${label#etwas_}" "$work/listed" || echo "$label"
done <"$work/exported" >"$work/missing"
for page in "$man3"/*.3 "$man1"/*.1; do
    page=${page##*/}
    grep -qxF "${page%.*}" "$work/listed" || echo "$page"
done >>"$work/missing"
[[ ! -s $work/missing ]] || fail "man -k etwas lacks $(tr '\n' ' ' <"$work/missing")"
(($(wc -l <"$work/exported") >= 150)) || fail "the version scripts have few functions"
echo "ok: ${#pages[@]} pages, $(wc -l <"$work/listed") names"
