#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# What the build makes of the tables of the commands: manual pages that groff takes without a
# warning, completion that offers what there is, and the page of the reference as it is in docs/.
#
# usage: manual_test.sh FOLDER REFERENCE

set -euo pipefail
folder=$1 reference=$2

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

for page in "$folder"/*.1; do
    for heading in NAME SYNOPSIS DESCRIPTION "EXIT STATUS"; do
        grep -qx "\.SH $heading" "$page" || fail "$page has no $heading"
    done
    if command -v groff >/dev/null; then
        warnings=$(groff -man -ww -Tutf8 -z "$page" 2>&1)
        [[ -z $warnings ]] || fail "$page: $warnings"
    fi
done
pages=("$folder"/*.1)
((${#pages[@]} >= 25)) || fail "there are ${#pages[@]} pages"

# shellcheck disable=SC1091
source "$folder/etwas.bash"
# offers EXPECTED WORD...: fails unless bash offers it for the last of the words.
offers() {
    local expected=$1
    shift
    # shellcheck disable=SC2034
    COMP_WORDS=(etwas "$@") COMP_CWORD=$#
    _etwas
    [[ " ${COMPREPLY[*]} " == *" $expected "* ]] ||
        fail "'etwas $*' offers ${COMPREPLY[*]}, not $expected"
}
offers dump du
offers --where dump --wh
offers qpc record --clock q
offers conditions help con
touch_file=$(mktemp)
offers "$touch_file" stat "${touch_file%?}"
offers "$touch_file" convert --output "${touch_file%?}"
rm "$touch_file"
# As `etwas ps --json` says it.
etwas() {
    echo '{"etwas":"0.1","kind":"session","session":"till"}'
    echo '{"kind":"provider","provider_id":"0","provider":"Shop.Till","enabled_by":[]}'
}
offers till stop ti
offers Shop.Till record --enable Sh
! command -v zsh >/dev/null || zsh -n "$folder/_etwas"
# fish_offers WORD...: what fish offers for the last of them.
fish_offers() {
    fish -c "source $folder/etwas.fish; complete -C 'etwas $*'"
}
if command -v fish >/dev/null; then
    [[ $(fish_offers dump stat --co) == *--columns* ]] || fail "fish offers no option of dump"
    [[ -z $(fish_offers dump stat --hot) ]] || fail "fish offers options of what is no command"
    [[ $(fish_offers help con) == *conditions* ]] || fail "fish offers no guides"
fi

cmp "$folder/commands.md" "$reference" ||
    fail "$reference is not what the tables say: copy $folder/commands.md there"
echo "ok: ${#pages[@]} pages"
