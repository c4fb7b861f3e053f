#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Builds for aarch64 (cross.sh), boots Debian's arm64 kernel in an emulated machine with two
# processors, and runs the tests there. Emulated system, not emulated programs: restartable
# sequences are the kernel's work.
#
# usage: tests/aarch64/boot.sh [--each-instruction] [TEST...]      (nothing: the folders named
# below)
#
# A test is the name ctest knows; a word may hold * for any letters. Those of tests/shipped, which
# are others again, are left out. The emulator takes interrupts only
# at jumps, unless --each-instruction asks for them anywhere, as in a real machine: slower by much.
# ETWAS_TEST_LIMIT_S is the time a test may take. Exit code: 0 when all passed.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(realpath -m "${ETWAS_AARCH64_DIR:-$root/build/aarch64}")
test_limit_s=${ETWAS_TEST_LIMIT_S:-600}

emulator=()
if [[ ${1:-} == --each-instruction ]]; then
    emulator=(-singlestep)
    shift
fi
[[ $# -gt 0 ]] || set -- 'platform_*' 'clock_*' 'buffer_*' 'session_*' 'provider_*' 'flush_*' \
    'file_*' 'realtime_*' sharing_propagate 'autologger_*' 'control_*'

"$root/.ci/packages" build tests aarch64 boot
"$root/tests/aarch64/cross.sh"
"$root/tests/aarch64/unpack.sh" "$work/machine" \
    linux-image-arm64+ busybox-static libc6 libc-bin libgcc-s1 libstdc++6 libck0 libcmocka0 \
    python3.11-minimal libpython3.11-minimal libpython3.11-stdlib zlib1g libexpat1 \
    libdw1 libelf1 liblzma5 libbz2-1.0 dash coreutils

# ---- the machine's files ---------------------------------------------------------------------
image=$work/image
rm -rf "$image"
mkdir -p "$image"/{bin,lib,tests,usr/bin,usr/lib/aarch64-linux-gnu}
cp "$work/machine/bin/busybox" "$image/bin/"
cp "$root/tests/aarch64/init" "$image/init"
cp "$work/machine/bin/dash" "$image/bin/sh" # busybox goes by the name it is called
cp "$work/machine/bin/true" "$image/bin/true"
cp -a "$work"/machine/lib/ld-linux-aarch64.so.1 "$work/machine/lib/aarch64-linux-gnu" "$image/lib/"
cp -a "$work"/machine/usr/lib/aarch64-linux-gnu/*.so* "$image/usr/lib/aarch64-linux-gnu/"
cp -a "$work/machine/usr/lib/locale" "$image/usr/lib/"

# The tests read files back with the walker, at the places that init tells them.
cp -a "$work/machine/usr/bin/python3.11" "$image/usr/bin/"
cp -a "$work/machine/usr/lib/python3.11" "$image/usr/lib/"
mkdir -p "$image/walker" "$image/data"
cp "$root"/tests/walker/*.py "$image/walker/"
cp "$root"/tests/data/*.etl "$image/data/"

for pattern in "$@"; do
    find "$work/build/tests" -maxdepth 2 -path '*/tests/shipped' -prune -o -type f -name \
        "$pattern" -perm -u+x -printf '%p\n' | sort
done | awk '!seen[$0]++' >"$work/programs"
if [[ ! -s $work/programs ]]; then
    echo "tests/aarch64/boot.sh: no test is called $*" >&2
    exit 2
fi
while read -r program; do
    name=$(basename "$program")
    aarch64-linux-gnu-strip -g -o "$image/tests/$name" "$program"
    echo "$name"
done <"$work/programs" >"$image/tests.list"
echo "$test_limit_s" >"$image/limit"
(cd "$image" && find . | cpio --quiet -o -H newc -R 0:0) >"$work/initramfs"

# ---- the machine -----------------------------------------------------------------------------
log=$work/console.log
timeout --foreground $((300 + test_limit_s * $(wc -l <"$work/programs"))) \
    qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on -smp 2 -m 2048 \
    -nographic -no-reboot -nodefaults -serial stdio -net none "${emulator[@]}" \
    -kernel "$(echo "$work"/machine/boot/vmlinuz-*)" -initrd "$work/initramfs" \
    -append "console=ttyAMA0 quiet panic=-1" </dev/null | sed -u 's/\r$//' | tee "$log"

if grep -q '^result: [1-9][0-9]* passed, 0 failed' "$log"; then
    echo "SUCCESS: all tests passed on aarch64"
else
    echo "FAILURE: not everything passed on aarch64 ($log)"
    exit 1
fi
