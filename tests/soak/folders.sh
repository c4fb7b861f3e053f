#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# The soak of several programs with log files, pools and runtime folder on one file system after
# another: tmpfs, ext4, overlay and, by hand, one that is full now and then. Mounts are made in a
# private namespace.
#
# usage: folders.sh PATH_OF_ETWAS_SOAK_PROGRAMS SECONDS_OF_EACH [full]
#
# full is run by hand.
#
# Exit code: 0 when every account was exact, 77 where mounts are not granted.

set -euo pipefail
program=$1 seconds=$2 full=${3:-}

if [[ -z ${ETWAS_SOAK_ALONE:-} ]]; then
    if [[ $(id -u) -ne 0 ]] || ! unshare --mount true; then
        echo "skipped: mounts in a private namespace are not granted"
        exit 77
    fi
    ETWAS_SOAK_ALONE=1 exec unshare --mount "$0" "$@"
fi
mount --make-rprivate /
work=$(mktemp -d /tmp/etwas-soak-folders-XXXXXX)
# What killed sessions leave stays until the end, some 10 MB a minute.
mount -t tmpfs -o size=1g tmpfs "$work"
trap 'umount -l "$work"; rmdir "$work"' EXIT
cd "$work"
mkdir tmpfs ext4 overlay lower upper inner full

soak() {
    local name=$1
    shift
    printf '%s: ' "$name"
    "$program" --seconds "$seconds" --folder "$work/$name" "$@"
}

soak tmpfs
truncate -s 768M image
if mkfs.ext4 -q image && mount -o loop image ext4; then
    soak ext4
    umount ext4
    rm image
else
    echo "note: ext4 was left out, since there is no loop device"
fi
if mount -t overlay -o "lowerdir=$work/lower,upperdir=$work/upper,workdir=$work/inner" overlay \
    overlay; then
    soak overlay
else
    echo "note: overlay was left out, since it cannot be mounted"
fi
if [[ $full == full ]]; then
    mount -t tmpfs -o size=256m tmpfs full
    soak full --full
fi
