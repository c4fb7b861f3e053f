#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Walks an .etl file and checks every field against the format, without any of etwas' own code.

usage: etl_walk.py [--lenient] [--unfinished] [--set] [--payloads] [--expect KEY=NUMBER]... FILE...

Prints one JSON object and exits 0 when the file keeps every rule, else 1 with the rules it breaks
under "violations". --payloads prints before it a line for each record, tab-separated: processor,
stamp, header type, type, class GUID, instance id, parent id, parent GUID, payload in hex; each
processor's records in the order of their buffers. Of a MESSAGE: its number for the type, sequence
number and flags for the ids, and thread and process id behind the payload.

--lenient      asks only what real Windows files keep
--unfinished   the session never ended: EndTime may be 0, the header may count fewer buffers than
               there are, the last may be cut or followed by space not used yet, and one buffer may
               be torn; what is older in it is left out
--set          the files are all parts of one new-file set, given in any order: each keeps the
               rules,
               together they are complete, and each processor's time goes on from part to part
--expect       the report must say so: of buffers, events, events_lost, buffers_lost,
               overwritten_events, overwritten_buffers, part; of a set the sums
"""
import argparse
import gc
import json
import struct
import sys
from collections import Counter

import guids
import clock_snapshots
import losses
import messages
import metadata
import modes
from lz77 import decompress

# name, header bytes, does the size lie in the second word, where the stamp is
TYPES = {
    0x01: ("SYSTEM32", 32, True, 16), 0x02: ("SYSTEM64", 32, True, 16),
    0x03: ("COMPACT32", 24, True, 16), 0x04: ("COMPACT64", 24, True, 16),
    0x0A: ("FULL32", 48, False, 16), 0x14: ("FULL64", 48, False, 16),
    0x0B: ("INSTANCE32", 72, False, 16), 0x15: ("INSTANCE64", 72, False, 16),
    0x10: ("PERFINFO32", 16, True, 8), 0x11: ("PERFINFO64", 16, True, 8),
    0x12: ("EVENT32", 80, False, 16), 0x13: ("EVENT64", 80, False, 16),
}
ACCOUNTS = 13  # the last of the types beyond metadata.FORMAT that are events
SECTOR = 512  # a write that was interrupted ends at the edge of one
SUMS = ("buffers", "events", "own_records", "header_records", "events_lost", "buffers_lost",
        "overwritten_events", "overwritten_buffers", "torn")
BUFFER_FIELDS = ("size", "saved", "current", "references", "stamp", "sequence", "clock",
                 "processor", "logger", "state", "offset", "flags", "type", "r0", "r1")


class Walker:
    def __init__(self, data, lenient, unfinished=False):
        self.data, self.lenient, self.violations = data, lenient, []
        self.buffers, self.records, self.header = [], [], {}
        self.totals, self.torn, self.may_be_unfinished = dict(modes.NO_TOTALS), [], unfinished
        self.clock_snapshots, self.described = [], []

    @property
    def unfinished(self):
        return self.may_be_unfinished and self.header.get("end") == 0

    @staticmethod
    def is_own(record):
        return record["guid"] is guids.OWN_CLASS and not metadata.FORMAT <= record[
            "type"] <= metadata.MISSING

    def is_event(self, record):
        return record["buffer"] != 0 and not (
            record["guid"] is guids.OWN_CLASS and record["type"] not in range(metadata.FORMAT + 1,
                                                                              ACCOUNTS + 1) or
            record["guid"] in guids.NO_EVENTS and modes.is_of_this_library(self))

    def own(self):
        return [r for r in self.records if self.is_own(r)]

    def check(self, kept, rule, strict_only=False):
        if not kept and not (strict_only and self.lenient):
            self.violations.append(rule)

    def strict(self, kept, rule):
        self.check(kept, rule, True)

    def walk(self):
        at = 0
        while at < len(self.data):
            cut = len(self.data) - at < modes.least_size(self, at)
            if self.unfinished and (cut or not any(self.data[at:at + 4])):
                # Cut, or space not used yet: up to the end.
                return self.check(cut or not any(self.data[at:]), f"buffers behind zeroes at {at}")
            if len(self.data) - at < 72:
                return self.check(False, f"{len(self.data) - at} bytes left at {at}")
            buffer = dict(zip(BUFFER_FIELDS, struct.unpack_from("<IIIiqqQHHIIHHQQ", self.data, at)))
            name = f"buffer {len(self.buffers)}"
            if not 72 <= buffer["size"] <= len(self.data) - at:
                return self.check(False, f"{name}: size {buffer['size']} at {at}")
            body = self.data[at + 72:at + buffer["size"]]
            if buffer["flags"] & 0x40:
                try:
                    body = decompress(body, buffer["offset"] - 72)
                except (ValueError, IndexError, struct.error) as error:
                    self.check(self.unfinished, f"{name}: does not decompress: {error}")
                    self.torn.append(len(self.buffers))
                    buffer.update(offset=72, saved=72)
                    body = b""
            self.walk_buffer(name, buffer, body)
            at += buffer["size"]
        return None

    def walk_buffer(self, name, buffer, body):
        number, end = len(self.buffers), buffer["offset"] - 72
        buffer["cpu"] = buffer["processor"] & (0x7FF if buffer["flags"] & 0x20 else 0xFF)
        buffer["number"] = number
        self.buffers.append(buffer)
        if not 0 <= end <= len(body):
            return self.check(False, f"{name}: Offset {buffer['offset']}")
        at, stamps, torn = 0, [], False
        while at < end:
            record = self.read_record(body, at, end)
            if record is not None and record["stamp"] is None:
                messages.lend_time(record, self.records[-1] if stamps else None, self.read_record,
                                   body, at, end, buffer["stamp"])
            torn = record is None or self.unfinished and number > 0 and (
                record["stamp"] > buffer["stamp"] or stamps and record["stamp"] < stamps[-1])
            if torn and self.unfinished and number > 0:
                self.tear(number, at + 72)
                return None
            if record is None:
                return self.check(False, f"{name}: no record at {at + 72}")
            record["at"] = at + 72
            record.update(buffer=number, cpu=buffer["cpu"], sequence=buffer["sequence"])
            self.records.append(record)
            stamps.append(record["stamp"])
            rounded = at + (record["size"] + 7 & ~7)
            if any(body[at + record["size"]:rounded]):
                self.strict(False, f"{name}: gap at {at + 72}")
            at = rounded
        self.strict(at == end, f"{name}: records end at {at + 72}, Offset is {end + 72}")
        self.check(stamps == sorted(stamps) or self.header.get("clock") == 2 and
                   not modes.is_of_this_library(self), f"{name}: stamps decrease")
        if not buffer["flags"] & 0x40:
            padded = set(body[end:]) <= {0xFF}
            if not padded and self.unfinished and number > 0:
                at = next(i for i in range(end, len(body)) if body[i] != 0xFF)
                self.tear(number, at + 72)
            else:
                # Clock snapshots are written before the header that counts them in.
                self.check(padded or self.may_be_unfinished and number == 0,
                           f"{name}: padding is not 0xFF", number == 0)
        if number == 0:
            self.read_log_header(body)
        else:
            self.strict(not stamps or buffer["stamp"] >= max(stamps), f"{name}: TimeStamp early")
        return None

    def tear(self, number, at):
        """Nothing at this place of the buffer is its own. The tear is at a sector's edge: a record
        across the last one before may be half of each."""
        self.torn.append(number)
        edge = (number * self.header["size"] + at) // SECTOR * SECTOR - number * self.header["size"]
        last = self.records[-1] if self.records else None
        if last and last["buffer"] == number and last["at"] < edge < last["at"] + last["size"]:
            self.records.pop()

    @staticmethod
    def read_record(body, at, end):
        if end - at < 8:
            return None
        first, second = struct.unpack_from("<II", body, at)
        if first >> 24 == messages.MARKER:
            return messages.read(body, at, end)
        if first >> 24 != 0xC0 or first >> 16 & 0xFF not in TYPES:
            return None
        name, header, second_word, stamp_at = TYPES[first >> 16 & 0xFF]
        size = (second if second_word else first) & 0xFFFF
        if not header <= size <= end - at:
            return None
        raw = body[at:at + size]
        record = {"name": name, "size": size, "stamp": struct.unpack_from("<q", raw, stamp_at)[0],
                  "type": raw[45] if header == 80 else raw[6] if second_word else raw[4],
                  "guid": guids.of(raw[24:40]) if header >= 48 else guids.NONE,
                  "instance": (0, 0), "parent_guid": guids.NONE, "payload": raw[header:],
                  "raw": raw}
        if header == 72:
            record["instance"] = struct.unpack_from("<II", raw, 48)
            record["parent_guid"] = guids.of(raw[56:72])
        return record

    def read_log_header(self, body):
        first = self.records[0] if self.records else {"name": ""}
        wide = first["name"] == "SYSTEM64"
        size = 280 if wide else 272
        if not first["name"].startswith("SYSTEM") or len(first["payload"]) < size + 4:
            return self.check(False, "buffer 0: no log file header")
        names = ("size", "os", "os_minor", "major", "minor", "build", "processors", "end", "timer",
                 "max_size", "mode", "written", "start_buffers", "pointer", "lost", "mhz",
                 "p0", "p1", "zone", "pad", "boot", "frequency", "start", "clock", "buffers_lost")
        layout = "<I4BIIqIIIIIIII%s172sIqqqII" % ("QQ" if wide else "II")
        h = self.header = dict(zip(names, struct.unpack_from(layout, first["payload"])))
        tail = first["payload"][size:].decode("utf-16-le", "replace").split("\0")
        h["session"], h["file"] = (tail + ["", ""])[:2]
        self.check(first["raw"][6:8] == b"\0\0", "first record: hook is not 0")
        self.strict(len(tail) == 3 and tail[2] == "", "names: not two terminated strings")
        self.check(h["pointer"] == (8 if wide else 4), "PointerSize is not that of the record")
        self.strict(first["raw"][:4] == b"\2\0\2\xC0", "first record: not SYSTEM64 version 2")
        version = (2, 0) if h["mode"] & modes.COMPRESSED else (1, 5)
        self.strict((h["major"], h["minor"]) == version, f"layout version is not {version}")
        self.strict(h["start_buffers"] == 1, "StartBuffers is not 1")
        self.strict(h["p0"] == h["p1"] == h["pad"] == 0, "name pointers or padding not 0")
        self.check(h["clock"] in (1, 2, 3), "ReservedFlags is no clock")
        for field in ("build", "processors", "timer", "mhz", "boot", "frequency", "start", "os"):
            self.check(h[field] > 0, f"log header: {field} is not positive")
        self.check(self.unfinished or h["end"] >= h["start"], "EndTime before StartTime")
        self.strict(h["boot"] <= h["start"], "BootTime after StartTime")
        for record in self.records[1:]:
            self.check(record["stamp"] == first["stamp"], "buffer 0: stamps differ")
            if not record["name"].startswith("PERFINFO"):
                self.check(record["raw"][8:16] == first["raw"][8:16], "buffer 0: ids differ")
        return None

    def check_buffers(self):
        h, count = self.header, len(self.buffers)
        if not h:
            return self.check(False, "no log file header")
        self.totals = modes.read_totals(self)
        for rule in (clock_snapshots.check, losses.check, metadata.check, modes.numbers,
                     modes.written, modes.size, modes.totals, modes.times):
            rule(self)
        self.check(len(self.torn) <= 1, f"torn buffers: {self.torn}")
        for b in self.buffers:
            n, head = f"buffer {b['number']}", b["number"] == 0
            modes.flags(self, b)
            self.check(b["cpu"] < h["processors"], f"{n}: processor {b['cpu']}")
            self.check(b["type"] == (4 if head else 0), f"{n}: type {b['type']}")
            self.check(b["references"] == 0, f"{n}: ReferenceCount")
            self.check(head or b["saved"] == b["offset"], f"{n}: SavedOffset")
            self.strict(modes.has_size(self, b), f"{n}: size is not the session's")
            self.strict(b["saved"] == b["offset"] and b["offset"] % 8 == 0, f"{n}: Offset")
            self.strict(b["current"] == b["offset"] if head else b["current"] >= b["offset"],
                        f"{n}: CurrentOffset")
            self.strict(b["clock"] == b["r0"] == b["r1"] == 0, f"{n}: reserved fields")
            self.strict(b["state"] == 3, f"{n}: State")
        b = self.buffers[0]
        self.check(b["stamp"] == 0 and b["sequence"] == 0 and b["cpu"] == 0, "buffer 0: fields")
        t0 = self.records[0]["stamp"]
        self.strict(h["clock"] == 2 or all(r["stamp"] >= t0 for r in self.records), "before T0")
        # System time may step back, in our files between buffers only; the other clocks never do
        # (I8).
        session = modes.sessions(self)
        ordered = sorted(self.records,
                         key=lambda r: (r["cpu"], session[r["buffer"]], r["sequence"]))
        messages.settle(ordered, t0)
        for before, after in zip(ordered, ordered[1:]) if h["clock"] != 2 else ():
            if before["stamp"] > after["stamp"] and before["cpu"] == after["cpu"]:
                self.check(False,
                           f"processor {after['cpu']}: time goes back in buffer {after['buffer']}")
        self.records = ordered
        return None

    def report(self):
        own = self.own()
        head = [r for r in self.records if r["buffer"] == 0 and r["guid"] is not guids.OWN_CLASS]
        data = [r for r in self.records if self.is_event(r)]
        return {"buffers": len(self.buffers),
                "compressed": sum(1 for b in self.buffers if b["flags"] & 0x40),
                "events": len(data), "header_records": len(head), "own_records": len(own),
                "per_type": Counter(r["name"] for r in data),
                "header_per_type": Counter(r["name"] for r in head),
                "per_processor": Counter(str(r["cpu"]) for r in data),
                "events_lost": max(self.header.get("lost", 0), self.totals["lost_events"]),
                "buffers_lost": max(self.header.get("buffers_lost", 0),
                                    self.totals["lost_buffers"]),
                "overwritten_events": self.totals["overwritten_events"],
                "overwritten_buffers": self.totals["overwritten_buffers"],
                "part": self.totals["part"], "unfinished": self.unfinished,
                "clock_snapshots": len(self.clock_snapshots), "clock_snapshot_buffers":
                len({k["buffer"] for k in self.clock_snapshots} - {0}),
                "described": len(self.described), "metadata_buffers":
                len({r["buffer"] for r in self.described}), "torn": len(self.torn),
                "clock": self.header.get("clock"), "frequency": self.header.get("frequency"),
                "session": self.header.get("session"), "file": self.header.get("file"),
                "violations": self.violations}


def walk_bytes(data, lenient=False, unfinished=False):
    walker = Walker(data, lenient, unfinished)
    walker.walk()
    walker.check_buffers()
    return walker


def walk_set(files, lenient=False, unfinished=False):
    """Walkers of the parts, in their order, and one report for all."""
    walkers = sorted((walk_bytes(data, lenient, unfinished) for data in files),
                     key=lambda w: w.totals["part"])
    reports = [w.report() for w in walkers]
    report = {key: sum(r[key] for r in reports) for key in SUMS}
    report["part"] = len(walkers)
    report["violations"] = [f"part {w.totals['part']}: {v}" for w in walkers for v in w.violations]
    report["violations"] += modes.check_set(walkers)
    return walkers, report


def print_payloads(walker):
    lines = []
    for r in walker.records:
        if walker.is_event(r):
            first, second = r["instance"]
            line = (f"{r['cpu']}\t{r['stamp']}\t{r['name']}\t{r['type']}\t{guids.text(r['guid'])}\t"
                    f"{first}\t{second}\t{guids.text(r['parent_guid'])}\t{r['payload'].hex()}")
            if r["name"] == "MESSAGE":
                line += "\t{}\t{}".format(*messages.ids(r))
            lines.append(line + "\n")
    sys.stdout.writelines(lines)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    for option in ("--lenient", "--unfinished", "--set", "--payloads"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("--expect", action="append", default=[])
    parser.add_argument("files", nargs="+")
    chosen = parser.parse_args(arguments)
    chosen.expect = dict(e.split("=") for e in chosen.expect)
    if not chosen.set and len(chosen.files) > 1:
        parser.error("several files are parts of a set")
    return chosen


def main(arguments):
    # nothing here is circular, and collecting would look at every record again and again
    gc.disable()
    chosen = parse_arguments(arguments)
    files = []
    for path in chosen.files:
        with open(path, "rb") as file:
            files.append(file.read())
    if chosen.set:
        walkers, report = walk_set(files, chosen.lenient, chosen.unfinished)
    else:
        walkers = [walk_bytes(files[0], chosen.lenient, chosen.unfinished)]
        report = walkers[0].report()
    for key, value in chosen.expect.items():
        if report[key] != int(value):
            report["violations"].append(f"{key}: {report[key]}, expected {value}")
    if chosen.payloads:
        for walker in walkers:
            print_payloads(walker)
    print(json.dumps(report))
    return 1 if report["violations"] else 0


def run():
    # Where Python does not buffer, each print is a system call, and of one that the system cuts
    # short (the process was stopped in it) the rest is dropped.
    with open(sys.stdout.fileno(), "w", encoding="utf-8", closefd=False) as sys.stdout:
        code = main(sys.argv[1:])
    sys.exit(code)


if __name__ == "__main__":
    run()
