#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Searches the models of the publication protocols with spin, each configuration to its end, and says
# so in one line each. Fails when a good one has an error or is not searched to its end, or when a
# seeded fault is not found. One whose stamp stands (tests/stamps.sh) is not searched. Exit code 77: spin
# or gcc is missing, or the run is one without restartable sequences, which changes nothing here.
#
# usage: run.sh [file|buffering|shared|killed|guests|faults]...      (nothing: all of them)

set -euo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$folder/../stamps.sh"
memory_mb=3500
depth=200000
limit_s=600

# group, what is expected, name, model, flags. README.md says what each is for.
one="-DPROCESSORS=1 -DTOGETHER"
circular="$one -DCIRCULAR -DBUFFERS=3"
killed="$one -DKILL"
parts="$killed -DTIMED -DCAPACITY=2"
recorder="$circular -DKILL -DEVENTS=3"
guests="$one -DVISITS"
shared_live="-DKILL -DLIVE -DBATCHES=1 -DCAPACITY=3 -DEVENTS=1"
shared_gap="-DKILL -DBATCHES=1 -DCAPACITY=3 -DEVENTS_1=1"
reaped_batches="-DDEATHS=1 -DBATCHES=1 -DCAPACITY=3 -DEVENTS=1"
reaped="-DDEATHS=1 -DCAPACITY=2 -DEVENTS_1=1"
batches="-DBATCHES=1 -DCAPACITY=2"
parts_batches="$parts -DBATCHES=1 -DEVENTS_1=1"
abandoning="-DABANDONING $batches -DEVENTS_1=1"
pins="-DCIRCULAR -DBUFFERS=3 $batches -DEVENTS=1"
live="$killed -DLIVE -DEVENTS=3 -DEVENTS_1=0 -DSWITCHES=0"
configurations="
file       good   one-processor        rseq    $one -DFINE -DSWITCHES=2
file       good   one-counter          rseq    $one -DONE_COUNTER -DFINE
file       good   three-buffers        rseq    $one -DBUFFERS=3 -DSWITCHES=2
file       good   signal               rseq    $one -DSIGNALS=1
file       good   sessions             rseq    $one -DSESSIONS=2
file       good   stamps               rseq    $one -DSTAMPS -DCAPACITY=2 -DSWITCHES=2
file       good   system-time          rseq    $one -DSTAMPS -DSYSTEM -DCAPACITY=2 -DSWITCHES=2
file       good   timed-flush          rseq    $one -DTIMED -DCOUNTS -DCAPACITY=2 -DSWITCHES=2
file       good   extra-slot           rseq    $one -DEXTRA=1
file       good   two-processors       rseq    -DEVENTS_1=1
file       good   two-fine             rseq    -DFINE -DEVENTS=1
file       good   two-sessions         rseq    -DSESSIONS=2 -DEVENTS_1=1 -DSWITCHES=0
file       good   batches              rseq    $one -DFINE $batches
file       good   batches-migrating    rseq    $batches -DEVENTS=1
buffering  good   snapshots            rseq    $circular -DEVENTS=3
buffering  good   snapshots-fine       rseq    $circular -DFINE -DCOUNTS
buffering  good   without-snapshots    rseq    $circular -DNO_SNAPSHOTS -DEVENTS_1=3 -DFINE -DSWITCHES=2
buffering  good   two-processors       rseq    -DCIRCULAR -DBUFFERS=3 -DEVENTS_1=1
buffering  good   two-overwriting      rseq    -DCIRCULAR -DBUFFERS=3 -DCOUNTS -DEVENTS=3 -DEVENTS_1=1 -DSWITCHES=0
buffering  good   batches              rseq    $circular -DCOUNTS $batches
buffering  good   oldest-closing       oldest  -DCLAIMERS=1
buffering  good   oldest-searching     oldest  -DCLOSERS=1 -DBUFFERS=2
buffering  good   oldest-nearest       oldest  -DCLAIMERS=1 -DSEARCHES=1 -DNEAREST
shared     good   file                 shared
shared     good   sessions             shared  -DSESSIONS=2 -DEVENTS=1 -DCAPACITY=2 -DSEQUENCES=1
shared     good   abandoning           shared  -DABANDONING -DCAPACITY=2
shared     good   stamps               shared  -DSTAMPS -DCAPACITY=2 -DEVENTS_1=1
shared     good   closing-flush        shared  -DCLOSING -DEVENTS_1=1
shared     good   snapshots            shared  -DCIRCULAR -DCAPACITY=2 -DBUFFERS=3
shared     good   batches              shared  $batches -DEVENTS=1 -DSEQUENCES=1
shared     good   batches-stamps       shared  -DSTAMPS $batches -DEVENTS=1
shared     good   batches-abandoning   shared  $abandoning
killed     good   file                 rseq    $killed
killed     good   refused              rseq    $killed -DFINE -DREFUSALS=1 -DEVENTS_1=1
killed     good   parts                rseq    $parts
killed     good   parts-refused        rseq    $parts -DREFUSALS=1 -DSWITCHES=0
killed     good   three-buffers        rseq    $killed -DTIMED -DBUFFERS=3 -DSWITCHES=0
killed     good   two-processors       rseq    -DKILL -DEVENTS_1=1 -DSWITCHES=0
killed     good   recorder             rseq    $recorder -DEVENTS_1=1
killed     good   two-overwriting      rseq    -DCIRCULAR -DBUFFERS=3 -DKILL -DNO_SNAPSHOTS -DEVENTS=3 -DEVENTS_1=1 -DSWITCHES=0
killed     good   live                 rseq    $live
killed     good   file-searched        rseq    $parts -DSEARCH_FILE
killed     good   shared-file          shared  -DKILL
killed     good   shared-holes         shared  -DKILL -DCAPACITY=2
killed     good   shared-recorder      shared  -DKILL -DCIRCULAR -DCAPACITY=2 -DBUFFERS=3
killed     good   batches              rseq    $parts_batches
killed     good   batches-refused      rseq    $parts_batches -DREFUSALS=1 -DSWITCHES=0
killed     good   batches-recorder     rseq    $recorder $batches -DEVENTS_1=1 -DSWITCHES=0
killed     good   batches-live         rseq    $killed -DLIVE $batches -DEVENTS=1 -DSWITCHES=0
killed     good   shared-batches       shared  $shared_gap
killed     good   shared-batch-pins    shared  -DKILL $pins
killed     good   shared-batches-live  shared  $shared_live
guests     good   visits               rseq    $guests -DFINE -DSWITCHES=2
guests     good   two-visits           rseq    -DVISITS -DEVENTS=1
guests     good   death                rseq    $guests -DDEATHS=1
guests     good   death-fine           rseq    $guests -DDEATHS=1 -DFINE -DSWITCHES=0
guests     good   death-parts          rseq    $guests -DDEATHS=1 -DTIMED -DCAPACITY=2
guests     good   death-recorder       rseq    $circular -DVISITS -DDEATHS=1 -DSWITCHES=0
guests     good   two-deaths           rseq    $guests -DDEATHS=2 -DSWITCHES=0
guests     good   two-processors       rseq    -DVISITS -DDEATHS=1 -DEVENTS_1=1 -DSWITCHES=0
guests     good   unreached            rseq    $one -DUNREACHED -DDEATHS=1
guests     good   reaped               shared  -DDEATHS=1 -DEVENTS=1
guests     good   reaped-holes         shared  $reaped
guests     good   batches              rseq    $guests -DDEATHS=1 $batches -DSWITCHES=0
guests     good   reaped-batches       shared  $reaped_batches
faults     fault  no-membarrier        rseq    $one -DFAULT_NO_FENCE
faults     fault  no-processor-check   rseq    -DEVENTS=1 -DFAULT_NO_PROCESSOR_CHECK
faults     fault  gate-outside         rseq    $one -DFAULT_GATE_OUTSIDE
faults     fault  no-pin               rseq    $circular -DFAULT_NO_PIN
faults     fault  no-ticket            rseq    $circular -DEVENTS=3 -DFAULT_NO_TICKET
faults     fault  no-ticket-writers    rseq    $circular -DNO_SNAPSHOTS -DEVENTS_1=3 -DFINE -DSWITCHES=2 -DFAULT_NO_TICKET
faults     fault  ticket-early         rseq    $circular -DEVENTS=3 -DFAULT_TICKET_EARLY
faults     fault  claim-without-spare  rseq    $one -DBUFFERS=3 -DSWITCHES=2 -DFAULT_CLAIM_WITHOUT_SPARE
faults     fault  newest-after-commit  rseq    $one -DSTAMPS -DCAPACITY=2 -DSWITCHES=2 -DFAULT_NEWEST_AFTER
faults     fault  close-unchecked      rseq    $circular -DNO_SNAPSHOTS -DEVENTS_1=3 -DFINE -DSWITCHES=2 -DFAULT_CLOSE_UNCHECKED
faults     fault  close-left-out       rseq    $circular -DFAULT_CLOSE_LEFT_OUT
faults     fault  snapshot-close       rseq    $circular -DEVENTS=3 -DFAULT_SNAPSHOT_CLOSE
faults     fault  snapshot-old-word    rseq    $circular -DEVENTS=3 -DFAULT_SNAPSHOT_OLD_WORD
faults     fault  snapshot-no-recheck  rseq    $circular -DEVENTS=3 -DFAULT_SNAPSHOT_NO_RECHECK
faults     fault  count-old-word       rseq    $circular -DEVENTS=3 -DCOUNTS -DFAULT_COUNT_OLD_WORD
faults     fault  oldest-one-look      oldest  -DCLAIMERS=1 -DFAULT_ONE_LOOK
faults     fault  oldest-from-the-top  oldest  -DCLOSERS=1 -DFAULT_FROM_THE_TOP
faults     fault  oldest-no-strike     oldest  -DCLAIMERS=1 -DSEARCHES=1 -DNEAREST -DFAULT_NO_STRIKE
faults     fault  oldest-left-unseen   oldest  -DCLAIMERS=1 -DSEARCHES=1 -DNEAREST -DFAULT_NEAREST_ONE_LOOK
faults     fault  progress-early       rseq    $killed -DFAULT_PROGRESS_EARLY
faults     fault  progress-reset       rseq    $parts -DFAULT_PROGRESS_RESET
faults     fault  no-intent            rseq    $killed -DFAULT_NO_INTENT
faults     fault  intent-before-place  rseq    $killed -DFAULT_INTENT_BEFORE_PLACE
faults     fault  header-believed      rseq    $parts -DFAULT_HEADER_BELIEVED
faults     fault  settled-apart        rseq    $killed -DREFUSALS=1 -DFAULT_SETTLED_APART
faults     fault  stop-spare           rseq    $killed -DFAULT_STOP_SPARE
faults     fault  stop-sums            rseq    $killed -DFAULT_STOP_SUMS
faults     fault  end-of-current       rseq    $killed -DFAULT_END_OF_CURRENT
faults     fault  spare-counts         rseq    $killed -DFAULT_SPARE_COUNTS
faults     fault  spare-by-name        rseq    $recorder -DFAULT_SPARE_BY_NAME
faults     fault  pinned-left-out      rseq    $recorder -DFAULT_PINNED_LEFT_OUT
faults     fault  live-words-first     rseq    $live -DFAULT_WORDS_FIRST
faults     fault  live-word-once       rseq    $live -DFAULT_WORD_ONCE
faults     fault  live-owner-once      rseq    $live -DFAULT_OWNER_ONCE
faults     fault  live-progress-first  rseq    $live -DFAULT_PROGRESS_FIRST
faults     fault  guests-not-visited   rseq    -DVISITS -DEVENTS=1 -DFAULT_NOT_VISITED
faults     fault  guests-gate-outside  rseq    $guests -DDEATHS=1 -DFAULT_GATE_OUTSIDE
faults     fault  guests-spare-alone   rseq    $guests -DDEATHS=1 -DFAULT_SPARE_ALONE
faults     fault  guests-claim-store   rseq    -DVISITS -DEVENTS=1 -DSWITCHES=0 -DFAULT_CLAIM_BY_STORE
faults     fault  guests-late-links    rseq    $one -DUNREACHED -DFAULT_LATE_LINKS
faults     fault  guests-no-last-look  rseq    $one -DUNREACHED -DFAULT_NO_LAST_LOOK
faults     fault  reaped-size-late     shared  $reaped -DFAULT_SIZE_LATE
faults     fault  reaped-links-left    shared  $reaped -DFAULT_LINKS_LEFT
faults     fault  shared-no-visitors   shared  -DEVENTS=1 -DFAULT_NO_VISITORS
faults     fault  shared-no-epoch      shared  -DSESSIONS=2 -DEVENTS=1 -DCAPACITY=2 -DFAULT_NO_EPOCH
faults     fault  shared-no-pin        shared  -DCIRCULAR -DCAPACITY=1 -DEVENTS=3 -DFAULT_NO_PIN
faults     fault  shared-half-claimed  shared  -DCIRCULAR -DCAPACITY=2 -DBUFFERS=3 -DFAULT_CLAIM_LOOKS_COMPLETE
faults     fault  shared-no-progress   shared  -DKILL -DFAULT_NO_PROGRESS
faults     fault  shared-size-late     shared  -DKILL -DCAPACITY=2 -DFAULT_SIZE_LATE
faults     fault  shared-pinned        shared  -DKILL -DCIRCULAR -DCAPACITY=2 -DBUFFERS=3 -DFAULT_PINNED_LEFT_OUT
faults     fault  batch-two-commits    rseq    $one $batches -DFAULT_TWO_COMMITS
faults     fault  batch-counts-one     rseq    $one $batches -DFAULT_COMMIT_ONE
faults     fault  batch-lost-one       rseq    $parts_batches -DFAULT_LOST_ONE
faults     fault  batch-room-for-one   rseq    $one -DFINE $batches -DFAULT_ROOM_FOR_ONE
faults     fault  shared-first-early   shared  $shared_gap -DFAULT_FIRST_EARLY
faults     fault  abandon-first-early  shared  $abandoning -DFAULT_FIRST_EARLY
faults     fault  recorded-first-early shared  $pins -DFAULT_FIRST_EARLY
faults     fault  reaped-first-early   shared  $reaped_batches -DFAULT_FIRST_EARLY
faults     fault  shared-first-size    shared  $shared_gap -DFAULT_FIRST_SIZE
faults     fault  reaped-first-size    shared  $reaped_batches -DFAULT_FIRST_SIZE
faults     fault  shared-counts-one    shared  $batches -DEVENTS=1 -DSEQUENCES=1 -DFAULT_COMMIT_ONE
faults     fault  shared-lost-one      shared  $batches -DEVENTS=1 -DSEQUENCES=1 -DFAULT_LOST_ONE
faults     fault  shared-zero-once     shared  $shared_live -DFAULT_ZERO_ONCE
"

if [[ ${GLIBC_TUNABLES:-} == *glibc.pthread.rseq=0* ]]; then
    echo "skipped: a run without restartable sequences changes nothing about the models"
    exit 77
fi
for tool in spin gcc; do
    if ! command -v $tool >/dev/null; then
        echo "skipped: $tool is not installed (on Debian: apt-get install $tool)"
        exit 77
    fi
done

groups=" ${*:-file buffering shared killed guests faults} "
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# A fault is found early: its verifier is compiled fast rather than made fast.
search() { # expected, model, flags: output in $work/out
    local optimise=-O1
    [[ $1 == good ]] || optimise=-O0
    (
        cd "$work"
        rm -f pan* out
        # shellcheck disable=SC2086 # the flags are several words
        spin -a $3 "$folder/$2.pml" >out 2>&1 &&
            gcc $optimise -w -DSAFETY -DCOLLAPSE -DMEMLIM=$memory_mb -o pan pan.c >>out 2>&1 &&
            timeout $limit_s nice ./pan -m$depth -w22 -b >>out 2>&1
    ) || true
}

verdict() { # expected
    local incomplete='Search not completed|search depth too small|reached -DMEMLIM|out of memory'
    if ! grep -q 'errors: [0-9]' "$work/out"; then
        echo 'FAILED: no result'
    elif [[ $1 == fault ]]; then
        grep -q "assertion violated" "$work/out" && echo rejected || echo 'FAILED: accepted'
    elif ! grep -q 'errors: 0$' "$work/out"; then
        echo 'FAILED: an error'
    elif grep -qE "$incomplete" "$work/out"; then
        echo 'FAILED: not searched to its end'
    else
        echo 'no error'
    fi
}

# What a verdict depends on: the model with these flags, without comments and the width of its spaces,
# how it is searched, and by what.
digest() { # model, flags
    local text
    # shellcheck disable=SC2086 # the flags are several words
    text=$(gcc -E -P -x c $2 "$folder/$1.pml" | tr -s '[:space:]' ' ') || return 1
    stamps_digest <<<"$(spin -V) $memory_mb $depth $(declare -f search verdict) $text"
}

printf '%-10s %-6s %-20s %10s %7s  %s\n' group kind configuration states seconds verdict
declare -A searched stamped lines
while read -r group expected name model flags; do
    [[ -n $group && $groups == *" $group "* ]] || continue
    stamp="model/$group/$name $(digest "$model" "$flags")"
    lines[$group]+=$stamp$'\n'
    # shellcheck disable=SC2086 # a stamp is two words
    if stamps_stand $stamp; then
        stamped[$group]=$((${stamped[$group]:-0} + 1))
        printf '%-10s %-6s %-20s %10s %7s  %s\n' "$group" "$expected" "$name" - - stamped
        continue
    fi
    searched[$group]=$((${searched[$group]:-0} + 1))
    begin=$EPOCHSECONDS
    search "$expected" "$model" "$flags"
    states=$(sed -nE 's/^ *([0-9.e+]+) states, stored.*/\1/p' "$work/out")
    result=$(verdict "$expected")
    printf '%-10s %-6s %-20s %10s %7d  %s\n' "$group" "$expected" "$name" "${states:--}" \
        $((EPOCHSECONDS - begin)) "$result"
    if [[ $result == FAILED* ]]; then
        failed=1
        sed 's/^/    /' "$work/out" | tail -n 25
    fi
done <<<"$configurations"

for group in "${!lines[@]}"; do
    echo "note: model/$group: ${searched[$group]:-0} searched, ${stamped[$group]:-0} stamped"
    [[ $failed == 1 ]] || stamps_keep "model/$group/" <<<"${lines[$group]%$'\n'}"
done
exit $failed
