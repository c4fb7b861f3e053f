# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
# shellcheck shell=bash
#
# Stamps: a search that passed need not be made again before something changes that it depends on.
# Neither need tests that depend on their inputs alone (stamped.py), and the builds of .ci/run. A
# stamp is a line of tests/stamps, the search's name and a digest of all it depends on, written by
# the run that passed and committed with the change. A stamp that is old or missing only means a
# search.
# ETWAS_SEARCH_ALL=1 (.ci/run --all) searches everything. Sourced by what searches.

stamps_file=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/stamps

# stamps_digest FILE... <TEXT: of a text, and of files with their names.
stamps_digest() {
    local file
    {
        cat
        for file in "$@"; do
            printf '%s\n' "${file##*/}"
            cat "$file" || return 1
        done
    } | sha256sum | cut -c1-32
}

# stamps_stand NAME DIGEST: whether the search need not be made.
stamps_stand() {
    [[ -z ${ETWAS_SEARCH_ALL:-} ]] && grep -qxF "$1 $2" "$stamps_file" 2>/dev/null
}

# stamps_keep PREFIX <LINES: the lines, NAME DIGEST each, replace all whose name begins with PREFIX,
# and those of the same names. Says so when that changes anything.
stamps_keep() {
    local new folder lines
    folder=$(dirname "$stamps_file")
    lines=$(cat)
    if [[ ! -w $folder ]]; then
        echo "note: no stamp is kept: $folder cannot be written"
        return
    fi
    # Several searches end at the same time.
    exec {stamps_lock}<"$folder"
    flock "$stamps_lock"
    new=$(mktemp "$stamps_file.XXXXXX")
    chmod 644 "$new"
    {
        grep '^#' "$stamps_file"
        {
            awk -v prefix="$1" 'NR == FNR { given[$1] = 1; next }
                /^#/ || $1 in given || (prefix != "" && index($1, prefix) == 1) { next }
                { print }' <(printf '%s\n' "$lines") "$stamps_file"
            printf '%s\n' "$lines"
        } | LC_ALL=C sort
    } >"$new"
    if cmp -s "$new" "$stamps_file"; then
        rm "$new"
    else
        mv "$new" "$stamps_file"
        echo "note: the stamps of ${1:-the tests} are old: commit tests/stamps, which this run" \
            "has written"
    fi
    exec {stamps_lock}<&-
}
