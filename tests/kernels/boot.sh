#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Boots Debian's own kernel in a machine with two processors that has this machine's files, and runs
# tests of the default build there: those of the system logger, for which kernels differ.
#
# usage: tests/kernels/boot.sh [REGEX [CTEST-ARGUMENT...]]      (nothing: the tests of the system
# logger)
#        tests/kernels/boot.sh --run COMMAND                    in build/default
#
# What the tests name is built before (cmake --build --preset default). The machine may write to
# /tmp, a disk of its own, and nowhere else. Where the processor lets machines be nested (vmx or svm
# in /proc/cpuinfo) that takes some minutes, else qemu emulates it, and everything is ten times as
# slow.
#
# ETWAS_KERNEL_PACKAGE names another kernel than linux-image-amd64's, or is a .deb file.
# ETWAS_KERNEL_ARGUMENTS are added to its command line: sysctl.kernel.perf_event_paranoid=2 for what
# Debian's kernels refuse as they come. ETWAS_KERNELS_DIR names another folder than build/kernels.
# Exit code: that of what ran.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(realpath -m "${ETWAS_KERNELS_DIR:-$root/build/kernels}")
if [[ ${1:-} == --run ]]; then
    command=$2
else
    [[ $# -gt 0 ]] || set -- '^(system_|tool_record|tool_perf_counts|prove_|why_)'
    command="ctest --output-on-failure --timeout 600 -R $(printf '%q ' "$@")"
fi

"$root/.ci/packages" build tests boot

# ---- the kernel ------------------------------------------------------------------------------
package=${ETWAS_KERNEL_PACKAGE:-$(apt-cache depends linux-image-amd64 |
    awk '$1 == "Depends:" { print $2; exit }')}
kernel=$work/$(basename "$package" .deb)
if [[ ! -d $kernel ]]; then
    rm -rf "$work/download"
    mkdir -p "$work/download"
    if [[ $package == *.deb ]]; then
        cp "$package" "$work/download"
    else
        (cd "$work/download" && apt-get -qq -o APT::Sandbox::User= download "$package")
    fi
    dpkg-deb -x "$work"/download/*.deb "$work/download/files"
    busybox depmod -b "$work/download/files" "$(ls "$work/download/files/lib/modules")"
    mv "$work/download/files" "$kernel"
    rm -r "$work/download"
fi
modules=lib/modules/$(ls "$kernel/lib/modules")

# ---- the machine's files ---------------------------------------------------------------------
image=$work/image
rm -rf "$image"
mkdir -p "$image/bin" "$image/$modules"
cp "$(command -v busybox)" "$image/bin/"
cp "$root/tests/kernels/init" "$image/init"
cp "$kernel/$modules/modules.dep" "$image/$modules/"
for module in virtio_pci virtio_blk 9pnet_virtio 9p ext4 crc32c_generic loop; do
    (cd "$kernel/$modules" && sed -n "s|^\(.*/$module\.ko[.a-z]*\):|\1|p" modules.dep |
        tr ' ' '\n' | sed '/^$/d' | xargs -r cp --parents -t "$image/$modules")
done
echo "$command" >"$image/command"
echo "$root/build/default" >"$image/folder"
(cd "$image" && find . | cpio --quiet -o -H newc -R 0:0) >"$work/initramfs"
rm -f "$work/disk"
mkdir -p "$root/build/default/Testing" # where the machine puts what ctest writes
truncate -s 4G "$work/disk"
mkfs.ext4 -q "$work/disk"

# ---- the machine -----------------------------------------------------------------------------
accelerator=tcg
if grep -qwE 'vmx|svm' /proc/cpuinfo && [[ -w /dev/kvm ]]; then
    accelerator=kvm
fi
log=$work/console.log
qemu-system-x86_64 -accel "$accelerator" -cpu max -smp 2 -m 4096 \
    -nographic -no-reboot -nodefaults -serial stdio -net none \
    -kernel "$(echo "$kernel"/boot/vmlinuz-*)" -initrd "$work/initramfs" \
    -append "console=ttyS0 quiet panic=-1 ${ETWAS_KERNEL_ARGUMENTS:-}" \
    -virtfs local,path=/,mount_tag=files,security_model=none,readonly=on,multidevs=remap \
    -drive file="$work/disk",format=raw,if=virtio,cache=unsafe </dev/null |
    sed -u 's/\r$//' | tee "$log"
code=$(sed -n 's/^exit code: //p' "$log" | tail -1)
exit "${code:-1}"
