# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Counts the samples in a file of `perf record`, and those for which the kernel had no room."""

import collections
import struct

Account = collections.namedtuple("Account", "recorded lost")

# linux/perf_event.h
LOST, SAMPLE, LOST_SAMPLES = 2, 9, 13


def account_of(path):
    """Newer perf repeats all losses at the end, by event; that sum is then the complete one."""
    with open(path, "rb") as file:
        content = file.read()
    magic, at, size = struct.unpack_from("<8s32x2Q", content)
    if magic != b"PERFILE2":
        raise ValueError(f"{path} is no file of perf record's")
    header, number = struct.Struct("<IHH"), struct.Struct("<Q")
    samples = lost = lost_samples = 0
    end = at + size
    while at < end:
        kind, _, length = header.unpack_from(content, at)
        if length < header.size:
            raise ValueError(f"{path} is damaged")
        if kind == SAMPLE:
            samples += 1
        elif kind == LOST:
            lost += number.unpack_from(content, at + 16)[0]
        elif kind == LOST_SAMPLES:
            lost_samples += number.unpack_from(content, at + 8)[0]
        at += length
    return Account(samples, max(lost, lost_samples))
