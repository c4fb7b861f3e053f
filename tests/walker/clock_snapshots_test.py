#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The walker on files with clock snapshots: good ones pass, and each rule of theirs broken is
noticed."""
import struct
import unittest

import modes
from modes_test import OWN, data, own, walk
from rules_test import SIZE, START, T0, buffer

STARTED, OPENED, RUNNING, ENDED = range(4)
PLACES = 64


def clock_snapshot(number, reason=RUNNING, stamp=T0, **changed):
    """A clock snapshot of QPC: number n is n µs after the start."""
    fields = {"version": 1, "reason": reason, "raw": T0 + number * 1000, "qpc": T0 + number * 1000,
              "filetime": START + number * 10, "suspended": 7, "qpc_error": 0,
              "filetime_error": 150}
    fields.update(changed)
    payload = struct.pack("<IIqqqqII", *fields.values())
    return struct.pack("<HBBBBHIIq16sII", 96, 0x14, 0xC0, 1, 0, 1, 11, 12, stamp, OWN, 0,
                       0) + payload


def clock(requested=1, got=1, verdict=0, hz=0, stated_hz=0, stated_by=0, processors=0, text=b"tsc"):
    return own(3, struct.pack("<6IQQII32s16s", 1, requested, got, verdict, 0, stated_by, hz,
                              stated_hz, 0, processors, text, b""))


def ends(*middle):
    return [clock_snapshot(0, STARTED)] + list(middle) + [clock_snapshot(1000, ENDED)]


def loss(events, cause=1, processor=0, since=T0, until=T0 + 5, version=1):
    return own(16, struct.pack("<IIIIQqq", version, cause, processor, 0, events, since, until))


def head(count, clock_snapshots, of_clock=None, mode=0, end=START + 10000, max_size=0, lost=0):
    names = "session\0file.etl\0".encode("utf-16-le")
    fields = struct.pack("<I4BIIqIIIIIIIIQQ172sIqqqII", SIZE, 10, 0, 1, 5, 19045, 2, end, 156250,
                         max_size, mode, count, 1, 8, lost, 3000, 0, 0, b"", 0, START - 5, 10000000,
                         START, 1, 0)
    first = struct.pack("<HBBHBBIIqII", 2, 2, 0xC0, 32 + len(fields) + len(names), 0, 0, 11, 12, T0,
                        0, 0) + fields + names
    first += b"\0" * (-len(first) % 8)
    body = first + own(0, struct.pack("<IIQQqqq", 1, 1, 10 ** 7, 10 ** 9, T0, T0, START))
    body += own(2, struct.pack("<IIQQQQQ", 1, 0, 0, 0, lost, 0, 0)) + (of_clock
                                                                       or clock()) + b"".join(
                                                                           clock_snapshots)
    return buffer(body, 0, 0, 0, 0x21, 4)


def moved(number, first, last=False, processor=0, stamp=T0, clock_snapshots=None):
    """A clock snapshot buffer of 8, as data buffer `number`."""
    body = b"".join(clock_snapshots or [clock_snapshot(n, stamp=stamp)
                                        for n in range(first, first + 8)])
    return buffer(body, stamp, number, processor, 0x20 | last, 0)


class ClockSnapshots(unittest.TestCase):
    def good(self, buffers, clock_snapshots, **options):
        walker = walk(buffers, **options)
        self.assertEqual(walker.report()["violations"], [])
        self.assertEqual(walker.report()["clock_snapshots"], clock_snapshots)

    def bad(self, buffers, word, **options):
        violations = walk(buffers, **options).violations
        self.assertTrue(any(word in v for v in violations), (word, violations))

    def bad_clock_snapshots(self, clock_snapshots, word):
        self.bad([head(2, clock_snapshots), data(1, last=True)], word)

    def test_good_files(self):
        self.good([head(2, ends()), data(1, last=True)], 2)
        self.good([head(2, ends(clock_snapshot(3), clock_snapshot(4))), data(1, last=True)], 4)
        self.good([head(2, ends(clock_snapshot(3), clock_snapshot(4, OPENED), clock_snapshot(5))),
                   data(1, last=True)], 5)
        self.good([head(3, ends(clock_snapshot(20))), moved(1, 5), data(2, processor=0, last=True)],
                  11)
        self.good([head(2, [clock_snapshot(0, STARTED), clock_snapshot(3)], end=0), data(1)], 2,
                  unfinished=True)
        twice = [head(3, [clock_snapshot(0, STARTED), clock_snapshot(5), clock_snapshot(20)],
                      end=0), moved(1, 5), data(2)]
        self.good(twice, 11, unfinished=True)

    def test_ends(self):
        self.bad_clock_snapshots([clock_snapshot(0, STARTED)], "the end")
        self.bad_clock_snapshots([clock_snapshot(1), clock_snapshot(1000, ENDED)], "no start")
        self.bad_clock_snapshots([], "none")
        self.bad_clock_snapshots(ends(clock_snapshot(500, ENDED)), "the end")
        self.bad_clock_snapshots(ends(clock_snapshot(4, OPENED), clock_snapshot(5, OPENED)),
                                 "begun twice")
        self.bad_clock_snapshots(ends(clock_snapshot(4, STARTED)), "several sessions")
        self.bad_clock_snapshots([clock_snapshot(0, STARTED, qpc=T0 + 5, raw=T0 + 5),
                                  clock_snapshot(9, ENDED)], "not T0")
        self.bad_clock_snapshots([clock_snapshot(0, STARTED, filetime=START + 5),
                                  clock_snapshot(9, ENDED)], "not StartTime")
        self.bad([head(2, ends(), end=0), data(1)], "the end", unfinished=True)

    def test_order_and_values(self):
        self.bad_clock_snapshots(ends(clock_snapshot(4), clock_snapshot(3)), "not in order")
        self.bad_clock_snapshots(ends(clock_snapshot(4), clock_snapshot(4)), "not in order")
        self.bad_clock_snapshots(ends(clock_snapshot(4, raw=T0)), "goes back")
        self.bad_clock_snapshots(ends(clock_snapshot(4, raw=T0 + 4001)), "raw stamp")
        self.bad_clock_snapshots(ends(clock_snapshot(4, qpc_error=1)), "own clock")
        self.bad_clock_snapshots(ends(clock_snapshot(4, filetime_error=0)), "too good")
        self.bad_clock_snapshots(ends(clock_snapshot(4, version=2)), "version or reason")
        self.bad_clock_snapshots(ends(clock_snapshot(4, reason=4)), "version or reason")

    def test_clock_snapshot_buffers(self):
        clock_snapshots = ends(clock_snapshot(20))
        rest = data(2, processor=0, last=True)
        self.bad([head(3, clock_snapshots), moved(1, 5, processor=1), rest], "not of processor 0")
        self.bad([head(3, clock_snapshots),
                  moved(1, 5, clock_snapshots=[clock_snapshot(5), clock_snapshot(6)]), rest], "few")
        self.bad([head(3, clock_snapshots), moved(1, 15), rest], "in two places")
        self.bad([head(3, clock_snapshots),
                  moved(1, 5, clock_snapshots=[clock_snapshot(n, OPENED) for n in range(5, 13)]),
                  rest],
                 "not running ones")
        self.bad([head(4, ends(clock_snapshot(40))), moved(1, 15), moved(2, 5), data(3, last=True)],
                 "not in order")
        late = moved(2, 5, last=True, stamp=3000)
        self.good([head(3, clock_snapshots), data(1, processor=0), late], 11)
        early = moved(2, 5, last=True)
        self.bad([head(3, clock_snapshots), data(1, processor=0), early], "time goes back")
        mixed = buffer(clock_snapshot(5) + own(2, struct.pack("<IIQQQQQ", 1, 0, 0, 0, 0, 0, 0)), T0,
                       1, 0, 0x20, 0)
        self.bad([head(3, clock_snapshots), mixed, rest], "outside buffer 0")

    def test_clock_snapshot_buffers_of_small_files(self):
        kb = (PLACES + 1) * SIZE // 1024
        for size, word in ((kb, None), (kb - 1, "small file")):
            buffers = [head(3, ends(clock_snapshot(20)), mode=modes.KBYTES, max_size=size),
                       moved(1, 5), data(2, processor=0, last=True)]
            if word:
                self.bad(buffers, word)
            else:
                self.good(buffers, 11)
        many = [head(5, ends(clock_snapshot(90)), mode=modes.KBYTES, max_size=kb)]
        many += [moved(n, 10 * n) for n in range(1, 4)] + [data(4, processor=0, last=True)]
        self.bad(many, "many")

    def test_losses_lie_behind_the_clock_snapshots(self):
        losses = [loss(3), loss(4, 3, 0xFFFFFFFF)]
        self.good([head(2, ends() + losses, lost=7), data(1, last=True)], 2)
        self.bad([head(2, losses + ends(), lost=7), data(1, last=True)], "in the order")
        self.bad([head(2, ends() + losses, lost=6), data(1, last=True)], "more than")
        for wrong, word in ((loss(0), "of nothing"), (loss(1, 10), "cause"),
                            (loss(1, processor=2), "processor"),
                            (loss(1, since=T0 + 6), "no time"), (loss(1, version=2), "version")):
            self.bad([head(2, ends() + [wrong], lost=7), data(1, last=True)], word)

    def test_the_clock(self):
        for wrong, word in ((clock(got=2), "not the header's"),
                            (clock(requested=3), "as requested"),
                            (clock(verdict=3), "verdict"), (clock(stated_hz=5), "stated by nobody"),
                            (clock(processors=3), "processors"),
                            (clock(text=b"x" * 32), "without an end")):
            self.bad([head(2, ends(), wrong), data(1, last=True)], word)


if __name__ == "__main__":
    unittest.main()
