#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Makes the manual page of `etwas` of what the command says of itself: `etwas --help` by help2man,
# and the help of each of its commands, and of etwas-host, as it stands.
#
# usage: man.sh ETWAS ETWAS_HOST PAGE

set -eu
etwas=$1 host=$2 page=$3
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
    for command in dump stat schema spans report convert diff why advise recover record clocks \
        ps start stop query tail update flush snapshot enable disable autologger ship; do
        printf '\n[etwas %s]\n' "$command"
        "$etwas" "$command" --help | verbatim
    done
    printf '\n[etwas-host]\n'
    "$host" --help | verbatim
} >"$include"
version=$("$etwas" --version | sed -n "s/^etwas //p")
help2man --no-info --version-string="$version" --section=1 \
    --name='look into event traces, examine clocks, and steer sessions' \
    --include="$include" --output="$page" "$etwas"
