#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# What systemd says of the unit of a session, as the system's manager and as a user's; and that the
# command line in it is one that etwas-host takes.
#
# usage: unit_test.sh UNIT ETWAS_HOST

set -euo pipefail
unit=$1 host=$2

if ! command -v systemd-analyze >/dev/null; then
    echo "skipped: there is no systemd-analyze"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# Installed it lies on systemd's path; here it is named.
sed "s|^ExecStart=etwas-host |ExecStart=$host |" "$unit" >"$work/etwas@.service"
grep -qF "ExecStart=$host " "$work/etwas@.service" || fail "the unit does not start etwas-host"
for manager in --system --user; do
    # Of other units of the machine it complains, too.
    XDG_RUNTIME_DIR=$work HOME=$work systemd-analyze "$manager" --man=no verify \
        "$work/etwas@shop.service" \
        >"$work/said" 2>&1 || { cat "$work/said"; fail "systemd-analyze $manager verify"; }
    ! grep -F 'etwas@' "$work/said" || fail "systemd-analyze $manager verify complains"
    echo "ok: $manager"
done

# As systemd makes it of the line, until the session runs.
line=$(sed -n "s|^ExecStart=etwas-host ||p" "$unit")
read -ra words <<<"${line//%i/shop-$$}"
mkdir -m 700 "$work/run" "$work/etwas"
echo "FileName = $work/shop.etl" >"$work/etwas/shop-$$.autologger"
chmod 600 "$work/etwas/shop-$$.autologger"
env -u ETWAS_SHARED XDG_CONFIG_HOME="$work" ETWAS_RUNTIME_DIR="$work/run" "$host" "${words[@]}" \
    >"$work/out" 2>&1 &
process=$!
until grep -q ': runs in process' "$work/out"; do
    if ! kill -0 "$process" 2>/dev/null; then
        cat "$work/out"
        if grep -q 'restartable sequences\|not supported' "$work/out"; then
            echo "skipped: sessions are not shared here"
            exit 77
        fi
        fail "etwas-host does not take ${words[*]}"
    fi
    sleep 0.05
done
kill "$process"
wait "$process" || fail "etwas-host ends with $?"
[[ -s $work/shop.etl ]] || fail "there is no log file"
echo "ok: etwas-host ${words[*]}"
