#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Measures what a pool file on a slow disk costs its writers. The disk is an ext4 file system in a
# file. The kernel lets only one hundredth of its limit for all disks be dirty there, as with a slow
# disk. Needs root. Options go to the program, for example
#   bench/places.sh --long      bench/places.sh --only places/folder
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cmake --build "$root/build/release" --target bench/all >/dev/null
image=$(mktemp /var/tmp/etwas-places.XXXXXX)
folder=$(mktemp -d)
device=
leave() {
    umount "$folder" 2>/dev/null || true
    [ -z "$device" ] || losetup -d "$device"
    rm -f "$image"
    rmdir "$folder"
}
trap leave EXIT
truncate -s 1G "$image"
mkfs.ext4 -q "$image"
device=$(losetup -f --show "$image")
mount "$device" "$folder"
limits=/sys/class/bdi/$(cat "/sys/block/${device#/dev/}/dev")
echo 1 >"$limits/max_ratio"
echo 1 >"$limits/strict_limit"
ETWAS_BENCH_DISK=$folder "$root/build/release/bench/etwas_bench_places" "$@"
