#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Makes the manual page of `etwas` of what the command says of itself: `etwas --help` by help2man, and the
# help of each of its commands as it stands.
#
# usage: man.sh ETWAS PAGE

set -eu
etwas=$1 page=$2
include=$(mktemp)
trap 'rm -f "$include"' EXIT

# Text as it stands, between .nf and .fi.
verbatim() {
    printf '.nf\n'
    sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^[.']/\\\\\&&/"
    printf '.fi\n'
}

{
    printf '[=SYNOPSIS]\n.B etwas\n\\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIFILE\\fR...]\n'
    printf '[=DESCRIPTION]\n'
    "$etwas" --help | sed '/^Examples:$/,$d' | verbatim
    printf '[=EXAMPLES]\n'
    "$etwas" --help | sed '1,/^Examples:$/d' | verbatim
    for command in dump stat schema spans report convert diff why advise recover record clocks; do
        printf '\n[etwas %s]\n' "$command"
        "$etwas" "$command" --help | verbatim
    done
} >"$include"
help2man --no-info --section=1 --name='look into event traces, and examine clocks' \
    --include="$include" --output="$page" "$etwas"
