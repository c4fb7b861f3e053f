# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""MESSAGE records, those of TraceMessage, for etl_walk.py."""
import struct

import guids

MARKER = 0x90
SEQUENCE, GUID, COMPONENT, STAMP, OLD_STAMP, SYSTEM, POINTER32, POINTER64 = (1 << i for i
                                                                             in range(8))


def read(body, at, end):
    """The record at `at`, or None. `stamp` is None if it has none. As the other kinds' records; and
    type is the message's number, instance its sequence number (0: none) and its flags, guid a
    component id as its first 4 bytes if it has that, ids the thread and process (or None)."""
    size, zero, marker, number, flags = struct.unpack_from("<HBBHH", body, at)
    if marker != MARKER or zero != 0 or not 8 <= size <= end - at:
        return None
    if (flags & ~0xFF or flags & GUID and flags & COMPONENT or flags & POINTER32
        and flags & POINTER64):
        return None
    raw, next_at = body[at:at + size], 8

    def take(layout):
        nonlocal next_at
        if next_at + struct.calcsize(layout) > size:
            raise ValueError
        values = struct.unpack_from(layout, raw, next_at)
        next_at += struct.calcsize(layout)
        return values

    try:
        sequence = take("<I")[0] if flags & SEQUENCE else 0
        guid = (guids.of(take("<16s")[0]) if flags & GUID else
                guids.of(take("<4s")[0] + bytes(12)) if flags & COMPONENT else guids.NONE)
        stamp = take("<q")[0] if flags & (STAMP | OLD_STAMP) else None
        ids = take("<II") if flags & SYSTEM else None
    except ValueError:
        return None
    return {"name": "MESSAGE", "size": size, "stamp": stamp, "type": number, "guid": guid,
            "instance": (sequence, flags), "parent_guid": guids.NONE, "ids": ids,
            "payload": raw[next_at:], "raw": raw}


def lend_time(record, before, read_record, body, at, end, newest):
    """The time of a record without a stamp: that of the one before in its buffer (or None); of the
    first in a buffer that of the next that has one. In a buffer without any it is settled later."""
    record["stamp"] = before["stamp"] if before else None
    while record["stamp"] is None and at < end:
        following = read_record(body, at, end)
        if following is None:
            break
        record["stamp"], at = following["stamp"], at + (following["size"] + 7 & ~7)
    if record["stamp"] is None or before and before.get("unsettled"):
        record.update(stamp=newest, unsettled=True)


def settle(ordered, start):
    """In buffers without a stamp: the time of the processor's record before."""
    latest = {}
    for record in ordered:
        if record.get("unsettled"):
            record["stamp"] = latest.get(record["cpu"], start)
        latest[record["cpu"]] = record["stamp"]


def ids(record):
    """Two more columns for a message: its process and thread."""
    return record["ids"] or ("-", "-")
