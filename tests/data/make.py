#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Makes the trace files of this folder, byte by byte as Windows lays its own out, without etwas'
writer.

usage: make.py [FOLDER]      nothing: this folder

Between them they have every layout that was seen in files of Windows 7 to 11 (32- and 64-bit
headers, sessions' files and relogged ones, plain and compressed, with and without the 16-bit
processor index), and the record types that are documented and were not seen. What they hold is made
up. RECORDS says what a reader must find.
"""
import os
import struct
import sys
import uuid

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, os.pardir, "tools"))
import etl_build as etl  # noqa: E402

# Buffers, compressed ones, and the records of each type; what is in buffer 0 counts too.
RECORDS = {
    "manifest.etl": (5, 0, {"SYSTEM64": 2, "EVENT64": 44, "EVENT32": 5}),
    "tracelogging.etl": (2, 0, {"SYSTEM64": 2, "EVENT64": 5}),
    "merged.etl": (4, 3, {"SYSTEM64": 2, "FULL64": 7, "EVENT64": 60}),
    "narrow.etl": (3, 2, {"SYSTEM32": 4, "COMPACT32": 1, "PERFINFO32": 2, "FULL32": 3,
                          "INSTANCE32": 2, "EVENT32": 20}),
    "windows7.etl": (4, 0, {"SYSTEM64": 1, "EVENT64": 90}),
    "kernel.etl": (4, 0, {"SYSTEM64": 7, "COMPACT64": 2, "PERFINFO64": 43, "FULL64": 2,
                          "INSTANCE64": 2, "MESSAGE": 4}),
}

PROVIDER, CLASS, OTHER = (f"{n}a4d71c2-5b0e-4f63-9d18-20c7e6b5f{n}93" for n in (1, 2, 3))
ACTIVITY, RELATED = (f"{n}0000000-7e2b-4c11-8a60-5d9f31c7b24e" for n in (4, 5))
IMAGE_ID, BUILD_INFO = ("b3e675d7-2554-4f18-830b-2762732560de",
                        "9b79ee91-b5fd-41c0-a243-4248e266e9d0")
START, END = 132_756_555_000_000_000, 132_756_555_098_000_000  # FILETIME
FIRST = 5_000_000_000  # the raw stamp that START is
PROC_INDEX, COMPRESSED, FLUSH_MARKER = 0x20, 0x40, 0x01


def padded(records):
    return b"".join(record.ljust(-(-len(record) // 8) * 8, b"\0") for record in records)


def lz77(data):
    """Compresses as plain LZ77 (MS-XCA): runs of eight bytes that were just there become matches,
    all else literals."""
    items, at = [], 0
    while at < len(data):
        length = 0
        while at >= 8 and at + length < len(data) and length < 9 and data[at + length] == data[
                at + length - 8]:
            length += 1
        if length >= 3:
            items.append(struct.pack("<H", (8 - 1) << 3 | length - 3))
            at += length
        else:
            items.append(data[at:at + 1])
            at += 1
    out = b""
    for first in range(0, len(items), 32):
        group = items[first:first + 32]
        bits = "".join("1" if len(item) == 2 else "0" for item in group).ljust(32, "1")
        out += struct.pack("<I", int(bits, 2)) + b"".join(group)
    return out if len(items) % 32 else out + b"\xff\xff\xff\xff"


class File:
    """A file of one kind of session: its header first, then buffers in the order in which they were
    written."""

    def __init__(self, size=8192, narrow=False, system=(10, 0, 1, 5), build=19045, processors=8,
                 mode=1, frequency=10_000_000, lost=0, session="session",
                 log_file="C:\\traces\\a.etl", legacy=False, own=()):
        self.size, self.narrow, self.legacy, self.mode = size, narrow, legacy, mode
        self.system, self.build, self.processors, self.frequency = bytes(
            system), build, processors, frequency
        self.lost, self.names, self.own, self.data = lost, (session, log_file), list(own), []

    @property
    def is_compressed(self):
        return self.mode & 0x04000000 != 0

    @property
    def is_relogged(self):
        return self.mode & 0x00010000 != 0

    def buffer(self, records, processor, sequence):
        """A data buffer; of a relogged file its stamp is a wall-clock time, of a session's the
        clock when it was closed."""
        body = padded(records)
        end = 72 + len(body)
        assert end <= self.size
        flags = (0 if self.legacy else PROC_INDEX) | (COMPRESSED if self.is_compressed else 0)
        context = struct.pack("<BBH", processor, 8,
                              0x8001) if self.legacy else struct.pack("<HH", processor, 0
                                                                      if self.is_relogged else 0x21)
        stored = lz77(body) if self.is_compressed else body.ljust(self.size - 72, b"\xff")
        self.data.append((flags, struct.pack("<IIIiqqQ", 72 + len(stored), end, end + self.size, 0,
                                             END if self.is_relogged else FIRST + 10**9, sequence,
                                             0) + context + struct.pack("<II", 3, end), stored))

    def log_header(self):
        zone = struct.pack("<i64s16si64s16si", -60, "@tzres.dll,-212".encode("utf-16-le"),
                           struct.pack("<8H", 0, 10, 0, 5, 3, 0, 0, 0), 0,
                           "@tzres.dll,-211".encode("utf-16-le"),
                           struct.pack("<8H", 0, 3, 0, 5, 2, 0, 0, 0), -60)
        timers = (0, 0) if self.is_relogged else (10, 6)
        return (struct.pack("<I4sIIqIIIIIIII", self.size, self.system, self.build, self.processors,
                            END, 156250, 0, self.mode, 1 + len(self.data), 1, 4 if self.narrow
                            else 8, self.lost, 3000)
                + struct.pack("<II" if self.narrow else "<QQ", *timers) + zone
                + struct.pack("<IqqqII", 0, START - 10**12, self.frequency, START, 1, 0))

    def header_buffer(self):
        kind, flags = 1 if self.narrow else 2, FLUSH_MARKER | (0 if self.is_relogged or self.legacy
                                                               else PROC_INDEX)
        payload = self.log_header() + b"".join(etl.utf16(name) for name in self.names)
        records = [struct.pack("<HBBHBBIIqII", 2, kind, 0xC0, 32 + len(payload), 0, 0, 1144, 4472,
                               FIRST, 3, 5) + payload, *self.own]
        body, size = padded(records), self.size
        end = 72 + len(body)
        # Windows 7 counts to the end of the record itself
        offset = 72 + len(body) - (-len(records[-1]) % 8) if self.legacy else end
        if self.is_compressed:
            size = 512
            while size < end:
                size *= 2
        saved, state = (0, 0) if self.legacy else (end, 3)
        head = struct.pack("<IIIiqqQ", size, saved, 0 if self.is_relogged else saved, 0, 0, 0,
                           0) + struct.pack("<HHIIHHQQ", 0, 0, state, offset, flags, 4, 0, 0)
        return (head + body).ljust(size, b"\xff")

    def bytes(self):
        last = len(self.data) - 1
        return self.header_buffer() + b"".join(
            head + struct.pack("<HHQQ", flags | (FLUSH_MARKER if place == last else 0), 0, 0, 0)
            + stored
            for place, (flags, head, stored) in enumerate(self.data))


def event(tick, number=1, items=(), payload=b"", narrow=False, provider=PROVIDER, process=4472,
          thread=1144, activity=None):
    """An EVENT_HEADER record with extended items (type, data) and a payload."""
    extended = b"".join(etl.extended_item(kind, data, place == len(items) - 1)
                        for place, (kind, data) in enumerate(items))
    size = 80 + len(extended) + len(payload)
    return struct.pack("<HBBHHIIq16sHBBBBHQII16s", size, 0x12 if narrow else 0x13, 0xC0, 1 if items
                       else 0, 0, thread, process, FIRST + tick, uuid.UUID(provider).bytes_le,
                       number, 1, 16, 4, 0, 7, 0x8000000000000020, 2, 3,
                       uuid.UUID(activity).bytes_le if activity else bytes(16)) + extended + payload


def classic(tick, guid=CLASS, kind=1, payload=b"", narrow=False, thread=1144, version=2):
    return struct.pack("<HBBBBHIIq16sII", 48 + len(payload), 0x0A if narrow else 0x14, 0xC0, kind,
                       4, version, thread, 4472, FIRST + tick, uuid.UUID(guid).bytes_le, 1,
                       2) + payload


def instance(tick, number, parent, payload, narrow=False):
    return (struct.pack("<HBBBBHIIq16sII", 72 + len(payload), 0x0B if narrow else 0x15, 0xC0, 1, 4,
                        0, 1144, 4472, FIRST + tick, uuid.UUID(CLASS).bytes_le, 0, 0)
            + struct.pack("<II16s", number, parent, uuid.UUID(OTHER).bytes_le if parent
                          else bytes(16)) + payload)


def system(tick, group, kind, payload, version=2, narrow=False):
    return struct.pack("<HBBHBBIIqII", version, 1 if narrow else 2, 0xC0, 32 + len(payload), kind,
                       group, 1144, 4472, FIRST + tick, 3, 5) + payload


def compact(tick, group, kind, payload, narrow=False):
    return struct.pack("<HBBHBBIIq", 2, 3 if narrow else 4, 0xC0, 24 + len(payload), kind, group,
                       1144, 4472, FIRST + tick) + payload


def perfinfo(tick, group, kind, payload, version=2, narrow=False):
    return struct.pack("<HBBHBBq", version, 0x10 if narrow else 0x11, 0xC0, 16 + len(payload), kind,
                       group, FIRST + tick) + payload


PARTITION = system(0, 0, 0x50, bytes(48))  # Windows 10 1903 and later: behind the header


def stack(*frames, narrow=False):
    """A stack of a 32-bit process on a 64-bit system has 64-bit frames, too."""
    return (6, struct.pack(f"<Q{len(frames)}Q", 0, *frames))


def manifest():
    """A circular session of manifest providers, with stacks and related activities, that lost three
    events."""
    file = File(mode=0x8000002, lost=3, session="ManifestSession", own=[PARTITION])
    kinds = ((), ((1, uuid.UUID(RELATED).bytes_le), stack(0x7FF812340010, 0x7FF812345678)),
             (stack(0x7FF812340020, 0xFFFFF80312345678, 0x7FF8),),
             ((12, struct.pack("<H", 8) + b"Made\0\0"),), ((1, uuid.UUID(RELATED).bytes_le),))
    # not in the order of the numbers
    for sequence, processor, first in ((2, 5, 3000), (1, 0, 1000), (4, 0, 5000), (3, 7, 2000)):
        records = [event(first + 10 * i, 100 + i, kinds[i % len(kinds)], etl.utf16("name")
                         + struct.pack("<IQ", i, i * 10**12), activity=ACTIVITY)
                   for i in range(11)]
        if processor == 7:
            records += [event(first + 200 + i, 300, kinds[i], struct.pack("<I", i), narrow=True)
                        for i in range(5)]
        file.buffer(records, processor, sequence)
    return file.bytes()


def tracelogging():
    """Self-describing events: traits first, then the schema."""
    file = File(size=8192, build=19043, session="SelfDescribing", own=[PARTITION])
    traits = (12, struct.pack("<H", 3 + len(b"Example.Maker")) + b"Example.Maker\0")
    fields = [("count", etl.UINT32, struct.pack("<I", 7)),
              ("ratio", etl.DOUBLE, struct.pack("<d", 0.5)),
              ("text", etl.UNICODE, etl.utf16("grün")),
              ("ansi", etl.ANSI, b"plain\0"), ("when", etl.FILETIME, struct.pack("<q", START)),
              ("id", etl.GUID, uuid.UUID(OTHER).bytes_le)]
    records = []
    for i in range(5):
        some = fields[:i + 2]
        schema = b"\0Made\0" + b"".join(etl.tl_field(name, kind) for name, kind, _ in some)
        records.append(event(100 + i, 0,
                             (traits, (11, struct.pack("<H", 2 + len(schema)) + schema)),
                             b"".join(value for *_, value in some)))
    file.buffer(records, 3, 1)
    return file.bytes()


def merged():
    """Compressed, as a relogger writes it: metadata of events, of images and of the build as
    classic events of no thread."""
    file = File(size=0x10000, system=(10, 0, 2, 0), build=22000, processors=12, mode=0x4010001,
                session="Relogger", log_file="[multiple files]", own=[PARTITION])
    none = 0xFFFFFFFF
    described = etl.event_info(0, CLASS, 1, "Maker", "Task", "Made", [("count", etl.UINT32, 0)])
    named = etl.map_info(0, CLASS, "Kinds", [(1, "one"), (2, "two")])
    described, named = (struct.pack("<HBBBBHIIq", len(record), *record[2:6], 0, none, none,
                                    FIRST + 5) + record[24:] for record in (described, named))
    file.buffer([described, named, classic(6, BUILD_INFO, 32, struct.pack("<Q", START)
                                           + etl.utf16("22000.1.amd64fre") + etl.utf16("Windows"),
                                           thread=none),
                 classic(7, IMAGE_ID, 0, struct.pack("<QQII", 0x7FF800000000, 0x1000, 4472, 0)
                         + etl.utf16("a.dll"), thread=none),
                 classic(8, IMAGE_ID, 36, struct.pack("<QI16sI", 0x7FF800000000, 4472,
                                                      uuid.UUID(OTHER).bytes_le, 1) + b"a.pdb\0",
                         thread=none),
                 classic(9, CLASS, 1, struct.pack("<I", 3), version=0),
                 classic(10, CLASS, 1, struct.pack("<I", 4), version=0)], 0, 1)
    for sequence, processor in ((2, 11), (3, 0)):
        file.buffer([event(1000 * sequence + i, 5, (), etl.utf16("the same text again")
                           + struct.pack("<I", i)) for i in range(30)], processor, sequence)
    return file.bytes()


def narrow():
    """A relogged file of a 32-bit system, compressed, with a frequency that is no power of ten."""
    file = File(size=0x10000, narrow=True, system=(10, 0, 2, 0), build=10586, processors=4,
                mode=0x4011001, frequency=3_117_777, session="NarrowSession",
                log_file="RelogggedFile.ETL")
    file.buffer([event(100 + i, 5, (), etl.utf16("C:\\Program Files (x86)\\a.exe")
                       + struct.pack("<I", i), narrow=True) for i in range(20)], 3, 1)
    file.buffer([system(200, 3, 1, struct.pack("<IIIIiI", 0, 4472, 1, 0, 259, 0) + b"a.exe\0"
                        + etl.utf16("a.exe -x"), narrow=True),
                 system(201, 5, 1, bytes(44), 3, narrow=True),
                 system(202, 5, 2, bytes(44), 3, narrow=True),
                 compact(203, 5, 3, bytes(44), narrow=True),
                 perfinfo(204, 5, 36, bytes(24), narrow=True),
                 perfinfo(205, 15, 46, bytes(12), narrow=True),
                 *(classic(206 + i, CLASS, 1 + i, struct.pack("<I", i), narrow=True)
                   for i in range(3)),
                 instance(210, 7, 3, b"child", narrow=True), instance(211, 8, 0, b"", narrow=True)],
                0, 2)
    return file.bytes()


def windows7():
    """Relogged by Windows 7: buffers without a processor index, and a header that ends within a
    word."""
    file = File(system=(6, 1, 1, 5), build=7601, processors=4, mode=0x10001, frequency=1_818_300,
                session="DataCollector", legacy=True)
    for sequence, processor in ((1, 3), (2, 0), (3, 2)):
        file.buffer([event(500 * sequence + i, 2, (), struct.pack("<QHH", i, 80, 443)
                           + etl.utf16("/index.html")) for i in range(30)], processor, sequence)
    return file.bytes()


def kernel():
    """A system logger's, with records without thread, and messages of every shape."""
    file = File(mode=0x2000001, session="NT Kernel Logger",
                own=[system(0, 0, 0x05, struct.pack("<9I", *(8 * [0]), 0x46)), PARTITION])
    file.buffer([perfinfo(10, 0, 0x05, struct.pack("<9I", 0x7, *(7 * [0]), 0x46)),
                 system(11, 3, 3, bytes(40) + b"System\0" + etl.utf16(""), 4),
                 system(12, 5, 3, bytes(72), 3),
                 system(13, 11, 3, bytes(16) + etl.utf16("\\REGISTRY\\MACHINE")),
                 system(14, 0, 0x20, bytes(36)), compact(15, 5, 3, bytes(72)),
                 compact(16, 5, 4, bytes(72))], 1, 1)
    file.buffer([perfinfo(1000 + i, 5, 36, struct.pack("<IIbbBbBbBBII", 1144 + i % 2, 1145 - i % 2,
                                                       8, 8, 0, 0, 0, 0, 5, 0, 0, 0), 4)
                 for i in range(40)]
                + [perfinfo(1100, 15, 46, struct.pack("<QIHH", 0xFFFFF80312345678, 1144, 1, 0)),
                   perfinfo(1100, 24, 32, struct.pack("<qIIQQ", FIRST + 1100, 4472, 1144,
                                                      0xFFFFF80312345678, 0x7FF812340010))], 0, 2)
    file.buffer([classic(2000, CLASS, 10, b"classic"), classic(2001, OTHER, 11, b""),
                 instance(2002, 1, 0, b"parent"), instance(2003, 2, 1, b"child"),
                 etl.message(7, 0x2B, struct.pack("<I16sqII", 1, uuid.UUID(OTHER).bytes_le,
                                                  FIRST + 2004, 1144, 4472), struct.pack("<I", 9)),
                 etl.message(8, 0x0C, struct.pack("<Iq", 77, FIRST + 2005), b"component\0"),
                 etl.message(9, 0x10, struct.pack("<q", FIRST + 2006), b"counter\0"),
                 etl.message(10, 0x20, struct.pack("<II", 1144, 4472), b"without a time\0")], 6, 3)
    return file.bytes()


def files():
    """Name and bytes of each."""
    return {f"{make.__name__}.etl": make() for make in (manifest, tracelogging, merged, narrow,
                                                        windows7, kernel)}


def main(folder):
    for name, data in files().items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else FOLDER)
