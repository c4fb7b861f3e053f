#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""A walker that accepts everything proves nothing: a good file, then each rule broken by itself."""
import struct
import sys
import uuid

import etl_walk

SIZE, T0, START = 4096, 1000, 133500000000000000


def record(stamp, number, kind=0x14):
    payload = struct.pack("<I", number)
    extra = struct.pack("<II16s", 7, 8, b"p" * 16) if kind == 0x15 else b""
    header = struct.pack("<HBBBBHIIq16sII", 48 + len(extra) + len(payload), kind, 0xC0, 1, 4, 0,
                         11, 12, stamp, b"g" * 16, 0, 0)
    raw = header + extra + payload
    return raw + b"\0" * (-len(raw) % 8)


def message(flags, fields=b"", payload=b"data!", number=7):
    """A MESSAGE record with these flags; `fields` are what they ask for."""
    raw = struct.pack("<HBBHH", 8 + len(fields + payload), 0, 0x90, number,
                      flags) + fields + payload
    return raw + b"\0" * (-len(raw) % 8)


def buffer(records, stamp, sequence, processor, flags, kind):
    offset = 72 + len(records)
    header = struct.pack("<IIIiqqQHHIIHHQQ", SIZE, offset, offset, 0, stamp, sequence, 0, processor,
                         3, 3, offset, flags, kind, 0, 0)
    return bytearray(header + records + b"\xFF" * (SIZE - offset))


def good_file():
    """Buffer 0, two buffers of processor 1, one of processor 0."""
    fields = struct.pack("<I4BIIqIIIIIIIIQQ172sIqqqII", SIZE, 10, 0, 1, 5, 19045, 2, START + 9,
                         156250, 0, 0, 4, 1, 8, 0, 3000, 0, 0, b"", 0, START - 5, 10000000, START,
                         1, 0)
    names = "session\0file.etl\0".encode("utf-16-le")
    size = 32 + len(fields) + len(names)
    head = struct.pack("<HBBHBBIIqII", 2, 2, 0xC0, size, 0, 0, 11, 12, T0, 0, 0) + fields + names
    head += b"\0" * (-len(head) % 8)
    return [buffer(head, 0, 0, 0, 0x21, 4),
            buffer(record(2000, 1) + record(2001, 2), 2001, 1, 1, 0x20, 0),
            buffer(record(2002, 3, 0x15), 2100, 2, 1, 0x20, 0),
            buffer(record(1500, 4) + record(2050, 5), 2100, 3, 0, 0x21, 0)]


# Optional fields in their order: sequence number, class or component, stamp, thread and process.
SEQUENCE, CLASS, COMPONENT, STAMP, SYSTEM = (struct.pack("<I", 3), b"m" * 16, struct.pack("<I", 5),
                                             struct.pack("<q", 2000), struct.pack("<II", 11, 12))
MESSAGES = {
    "none": (0x00, b"", 0, None, None), "pointers": (0x80, b"", 0, None, None),
    "all with a class": (0x2B, SEQUENCE + CLASS + STAMP + SYSTEM, 3, uuid.UUID(bytes_le=CLASS),
                         (11, 12)),
    "a component": (0x14, COMPONENT + STAMP, 0, uuid.UUID(int=5 << 96), None),
    "who, without a stamp": (0x61, SEQUENCE + SYSTEM, 3, None, (11, 12)),
}
BROKEN_MESSAGES = {
    "class and component": message(0x06, CLASS + COMPONENT), "both pointers": message(0xC0),
    "an unknown flag": message(0x100), "fields past the end": message(0x2B, CLASS, b""),
    "a stamp that goes back": record(2001, 1) + message(0x08, STAMP),
    "a reserved byte": message(0)[:2] + b"\1" + message(0)[3:],
}


def message_file(records):
    """The good file with these records in the first buffer of processor 1."""
    buffers = good_file()
    buffers[1] = buffer(records, 2001, 1, 1, 0x20, 0)
    return b"".join(buffers)


def check_messages():
    failed = []
    for name, (flags, fields, sequence, guid, ids) in MESSAGES.items():
        walker = etl_walk.walk_bytes(message_file(message(flags, fields)))
        got = next(r for r in walker.records if r["name"] == "MESSAGE")
        found = (got["type"], got["instance"], got["guid"], got["ids"], got["payload"])
        right = (7, (sequence, flags), guid or uuid.UUID(int=0), ids, b"data!")
        if walker.violations or found != right:
            failed.append(f"message with {name}: {found}, {walker.violations}")
    # Without a stamp: the time of the record before, or behind it.
    walker = etl_walk.walk_bytes(message_file(message(0) + record(2000, 1) + message(0)))
    times = [r["stamp"] for r in walker.records if r["buffer"] == 1]
    if walker.violations or times != [2000, 2000, 2000]:
        failed.append(f"messages without a stamp: {times}, {walker.violations}")
    buffers = good_file()
    buffers[2] = buffer(message(0) + message(0), 2100, 2, 1, 0x20, 0)
    walker = etl_walk.walk_bytes(b"".join(buffers))
    times = [r["stamp"] for r in walker.records if r["buffer"] == 2]
    if walker.violations or times != [2001, 2001]:
        failed.append(f"a buffer without stamps: {times}, {walker.violations}")
    for name, records in BROKEN_MESSAGES.items():
        if not etl_walk.walk_bytes(message_file(records)).violations:
            failed.append(f"not noticed in a message: {name}")
    return failed


# What is broken: buffer, offset in it, format, value.
LOG = 104
BROKEN = {
    "a buffer's size": (1, 0, "<I", 4088), "size 0": (1, 0, "<I", 0),
    "SavedOffset": (1, 4, "<I", 72), "CurrentOffset": (1, 8, "<I", 80),
    "ReferenceCount": (1, 12, "<i", 1), "TimeStamp too early": (1, 16, "<q", 2000),
    "a sequence number twice": (1, 24, "<q", 2), "a sequence number left out": (3, 24, "<q", 4),
    "the clock field": (1, 32, "<Q", 1), "the processor": (1, 40, "<H", 2),
    "the logger id": (1, 42, "<H", 4), "State": (1, 44, "<I", 2), "Offset": (1, 48, "<I", 176),
    "flags": (1, 52, "<H", 0x21), "no last flag": (3, 52, "<H", 0x20), "type": (1, 54, "<H", 4),
    "reserved": (1, 56, "<Q", 1), "more reserved": (1, 64, "<Q", 1),
    "padding": (1, 4095, "<B", 0), "a gap": (1, 72 + 52, "<B", 1), "a marker": (1, 72, "<I", 0),
    "a record's size": (1, 72, "<H", 47), "stamps in a buffer": (1, 72 + 16, "<q", 2002),
    "stamps across buffers": (2, 72 + 16, "<q", 2000), "a stamp before T0": (3, 72 + 16, "<q", 999),
    "buffer 0's time": (0, 16, "<q", 1), "buffer 0's number": (0, 24, "<q", 5),
    "buffer 0's processor": (0, 40, "<H", 1), "buffer 0's type": (0, 54, "<H", 0),
    "buffer 0's flags": (0, 52, "<H", 0x20), "buffer 0's cursor": (0, 8, "<I", 4096),
    "the first record's version": (0, 72, "<H", 3), "the first record's hook": (0, 78, "<H", 5),
    "BufferSize": (0, LOG, "<I", 8192), "layout version": (0, LOG + 6, "<B", 2),
    "build": (0, LOG + 8, "<I", 0), "NumberOfProcessors": (0, LOG + 12, "<I", 1),
    "EndTime": (0, LOG + 16, "<q", START - 1), "no EndTime": (0, LOG + 16, "<q", 0),
    "TimerResolution": (0, LOG + 24, "<I", 0), "BuffersWritten": (0, LOG + 36, "<I", 5),
    "StartBuffers": (0, LOG + 40, "<I", 2), "PointerSize": (0, LOG + 44, "<I", 4),
    "CpuSpeedInMHz": (0, LOG + 52, "<I", 0), "LoggerName": (0, LOG + 56, "<Q", 1),
    "LogFileName": (0, LOG + 64, "<Q", 1), "the inner padding": (0, LOG + 244, "<I", 1),
    "BootTime": (0, LOG + 248, "<q", START + 1), "PerfFreq": (0, LOG + 256, "<q", 0),
    "StartTime": (0, LOG + 264, "<q", 0), "the clock type": (0, LOG + 272, "<I", 4),
    "the names": (0, LOG + 280 + 14, "<H", 65),
}


def main():
    failed = []
    data = b"".join(good_file())
    walker = etl_walk.walk_bytes(data)
    report = walker.report()
    if report["violations"] or report["events"] != 5 or report["per_processor"] != {"1": 3, "0": 2}:
        failed.append(f"the good file: {report}")
    instance = next(r for r in walker.records if r["name"] == "INSTANCE64")
    if (instance["instance"], instance["payload"]) != ((7, 8), struct.pack("<I", 3)):
        failed.append("the instance record")
    if instance["guid"] != uuid.UUID(bytes_le=b"g" * 16) or instance["type"] != 1:
        failed.append("the instance record's class")
    for name, (number, at, layout, value) in BROKEN.items():
        buffers = good_file()
        struct.pack_into(layout, buffers[number], at, value)
        if not etl_walk.walk_bytes(b"".join(buffers)).violations:
            failed.append(f"not noticed: {name}")
    failed += check_messages()
    for cut in (1, 71, 72, 4096, 4097, len(data) - 1):
        if not etl_walk.walk_bytes(data[:-cut]).violations:
            failed.append(f"not noticed: {cut} bytes cut off")
    print("\n".join(failed) or f"{len(BROKEN) + len(BROKEN_MESSAGES) + 6} broken files noticed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
