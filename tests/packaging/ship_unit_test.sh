#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# What systemd says of the unit of `etwas ship`, of its safety too; and that the file of settings
# that comes with it is one, with every line in it that is a comment for now.
#
# usage: ship_unit_test.sh UNIT SETTINGS ETWAS SHIP_WIRE_WORK

set -euo pipefail
unit=$1 settings=$2 etwas=$3 program=$4

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# Installed the command lies on systemd's path; here it is named.
sed "s|^ExecStart=etwas |ExecStart=$etwas |" "$unit" >"$work/etwas-ship.service"
grep -qF "ExecStart=$etwas ship " "$work/etwas-ship.service" ||
    fail "the unit does not start etwas ship"
if command -v systemd-analyze >/dev/null; then
    XDG_RUNTIME_DIR=$work HOME=$work systemd-analyze --system --man=no verify \
        "$work/etwas-ship.service" \
        >"$work/said" 2>&1 || { cat "$work/said"; fail "systemd-analyze verify"; }
    ! grep -F 'etwas-ship' "$work/said" || fail "systemd-analyze verify complains"
    # From 0 to 100, where 100 may do all.
    systemd-analyze security --no-pager --offline=true --threshold=25 "$work/etwas-ship.service" \
        >"$work/said" ||
        { cat "$work/said"; fail "the service may do too much"; }
    # And as it is edited by the comment in it, which must not let systemd remove what its user has
    # in /dev/shm.
    mkdir "$work/edited"
    { cat "$work/etwas-ship.service"; sed -n 's/^#     //p' "$unit"; } \
        >"$work/edited/etwas-ship.service"
    grep -qx 'User=shop' "$work/edited/etwas-ship.service" ||
        fail "the unit does not say how it is edited"
    systemd-analyze security --no-pager --offline=true --threshold=25 \
        "$work/edited/etwas-ship.service" >"$work/said" ||
        { cat "$work/said"; fail "with a user of its own the service may do too much"; }
    grep -q 'RemoveIPC=.*may leave' "$work/said" ||
        fail "with the service goes what its user has in /dev/shm"
    echo "ok: systemd-analyze"
fi

# As it is, and with all that a user may want of it, it has options alone.
sed 's/^#\([a-z-]*\( = .*\)\?\)$/\1/' "$settings" >"$work/all.conf"
[[ $(grep -c '^[a-z]' "$work/all.conf") -ge 12 ]] || fail "the settings say less than they did"
for file in "$settings" "$work/all.conf"; do
    "$program" -- --config "$file" --server http://127.0.0.1:1 --timeout 1 >"$work/out" \
        2>"$work/said" &&
        [[ $(<"$work/out") == refused ]] || { cat "$work/said"; fail \
            "$file is not what etwas ship reads"; }
done
echo "ok: $settings"
