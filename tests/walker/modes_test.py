#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The walker on files of every mode: good ones pass, and each rule of a mode broken is noticed."""
import os
import struct
import sys
import tempfile
import unittest
import uuid

import etl_walk
import guids
import modes
from rules_test import LOG, SIZE, START, T0, buffer, good_file, record

OWN = guids.OWN_CLASS.bytes_le
PREALLOCATE = 0x20


def own(kind, payload):
    return struct.pack("<HBBBBHIIq16sII", 48 + len(payload), 0x14, 0xC0, kind, 0, 1, 11, 12, T0,
                       OWN, 0, 0) + payload


def head(count, mode, end=START + 9, totals=(0, 0, 0, 0, 0), max_size=0, clock=1, timer=156250,
         lost=None, session="session"):
    """Buffer 0 of this library: the header, the clock snapshot, the totals."""
    fields = struct.pack("<I4BIIqIIIIIIIIQQ172sIqqqII", SIZE, 10, 0, 1, 5, 19045, 2, end, timer,
                         max_size, mode, count, 1, 8, totals[3] if lost is None else lost, 3000, 0,
                         0, b"", 0, START - 5, 10000000, START, clock, totals[4])
    names = f"{session}\0file.etl\0".encode("utf-16-le")
    first = struct.pack("<HBBHBBIIqII", 2, 2, 0xC0, 32 + len(fields) + len(names), 0, 0, 11, 12, T0,
                        0, 0) + fields + names
    first += b"\0" * (-len(first) % 8)
    clock_snapshot = own(0, struct.pack("<IIQQqqq", 1, clock, 10000000, 1000000000, T0, T0, START))
    return buffer(first + clock_snapshot + own(2, struct.pack("<IIQQQQQ", 1, *totals, 0)), 0, 0, 0,
                  0x21, 4)


def data(number, sequence=None, processor=None, last=False, flags=0x20):
    """Data buffer `number` (1, 2 ...): three records, its own stamps."""
    stamps = [2000 + 10 * number + i for i in range(3)]
    body = b"".join(record(stamp, stamp) for stamp in stamps)
    return buffer(body, stamps[-1], number if sequence is None else sequence,
                  number % 2 if processor is None else processor, flags | last, 0)


def squeeze(plain, records):
    """Data buffer `plain` with its records compressed: bytes, and matches of what repeats 1 to 64
    bytes back."""
    items, at = [], 0
    while at < len(records):
        def length(back):
            end = at
            while end < len(records) and end - at < 9 and records[end] == records[end - back]:
                end += 1
            return end - at
        back = max(range(1, min(at, 64) + 1), key=length, default=0)
        if back and length(back) >= 3:
            items.append(struct.pack("<H", back - 1 << 3 | length(back) - 3))
            at += length(back)
        else:
            items.append(records[at:at + 1])
            at += 1
    stream = b""
    for first in range(0, len(items) + 1, 32):
        some = items[first:first + 32]
        flags = "".join("1" if len(item) == 2 else "0" for item in some).ljust(32, "1")
        stream += struct.pack("<I", int(flags, 2)) + b"".join(some)
    made = bytearray(plain[:72]) + stream
    struct.pack_into("<I", made, 0, len(made))
    made[52] |= modes.PACKED
    return made


def compressed_file(end=START + 9, limit=0):
    """Buffer 0, a compressed buffer, one that is stored as it is, a compressed one."""
    buffers = [head(4 if end != 0 else 1, modes.COMPRESSED | modes.KBYTES, end, max_size=limit)]
    buffers[0][72 + 32 + 6:72 + 32 + 8] = b"\2\0"
    for number in (1, 2, 3):
        plain = data(number, last=number == 3 and end != 0)
        offset, = struct.unpack_from("<I", plain, 48)
        stored = bytearray(plain[:offset])
        struct.pack_into("<I", stored, 0, offset)
        buffers.append(stored if number == 2 else squeeze(plain, bytes(plain[72:offset])))
    return buffers


def circular(written, places, finished):
    """What a circular file of so many places holds after so many data buffers."""
    used = min(written, places)
    held = [max(n for n in range(1, written + 1) if (n - 1) % places == p) for p in range(used)]
    gone = written - used
    buffers = [data(n, n - gone if finished else n, last=finished and p == used - 1)
               for p, n in enumerate(held)]
    totals = (0, 3 * gone, gone, 0, 0)
    # In KB, as USE_KBYTES_FOR_SIZE says.
    return [head(used + 1, modes.CIRCULAR | modes.KBYTES, START + 9 if finished else 0, totals,
                 (places + 1) * SIZE // 1024)] + buffers


def walk(buffers, **options):
    return etl_walk.walk_bytes(b"".join(buffers), **options)


class Modes(unittest.TestCase):
    def good(self, buffers, events, **options):
        walker = walk(buffers, **options)
        report = walker.report()
        self.assertEqual(report["violations"], [])
        self.assertEqual(report["events"], events)
        return report

    def bad(self, buffers, word, **options):
        violations = walk(buffers, **options).violations
        self.assertTrue(any(word in v for v in violations), (word, violations))

    def test_a_circular_file_is_good_wherever_it_was_left(self):
        for written in range(1, 17):
            for finished in (True, False):
                with self.subTest(written=written, finished=finished):
                    report = self.good(circular(written, 5, finished), 3 * min(written, 5),
                                       unfinished=not finished)
                    self.assertEqual(report["overwritten_buffers"], max(written - 5, 0))
                    self.assertEqual(report["unfinished"], not finished)

    def test_an_unfinished_file_must_be_asked_for(self):
        self.bad(circular(7, 5, False), "EndTime before StartTime")

    def test_wrong_numbers_in_a_circular_file_are_noticed(self):
        for finished in (True, False):
            for place in range(1, 6):
                for change in (-1, 1, 5, -5, 100):
                    buffers = circular(13, 5, finished)
                    number = struct.unpack_from("<q", buffers[place], 24)[0]
                    struct.pack_into("<q", buffers[place], 24, number + change)
                    self.bad(buffers, "", unfinished=not finished)
            buffers = circular(13, 5, finished)
            buffers[1], buffers[2] = buffers[2], buffers[1]
            self.bad(buffers, "sequence numbers", unfinished=not finished)

    def test_one_torn_buffer_is_left_out_from_the_tear_on_and_two_are_too_many(self):
        old, new = circular(12, 5, False), circular(13, 5, False)
        place = 1 + 12 % 5
        # Both are laid out alike: the padding shows nothing, the stamps do.
        new[place][72 + 56:72 + 3 * 56] = old[place][72 + 56:72 + 3 * 56]
        report = self.good(new, 13, unfinished=True)
        self.assertEqual(report["torn"], 1)
        other = 1 + 11 % 5
        new[other][72 + 56:72 + 3 * 56] = b"\1" * 112
        self.bad(new, "torn buffers", unfinished=True)

    def test_a_record_across_the_edge_where_a_buffer_tears_is_left_out(self):
        body = b"".join(record(2010 + i, i) for i in range(12))
        buffers = [head(1, 0, 0), buffer(body, 2021, 1, 0, 0x20, 0)]
        buffers[1][512:] = bytes(SIZE - 512)  # record 7 lies from 464 to 520
        self.assertEqual(self.good(buffers, 7, unfinished=True)["torn"], 1)

    def test_overwritten_is_only_in_a_circular_file_that_is_full(self):
        buffers = circular(7, 5, True)
        struct.pack_into("<I", buffers[0], LOG + 28, 40)
        self.bad(buffers, "before the file was full")
        self.bad([head(2, 0, totals=(0, 1, 1, 0, 0)), data(1, last=True)], "not circular")

    def test_an_appended_file_has_the_mark_and_logger_of_several_sessions(self):
        buffers = [head(5, modes.APPEND, clock=2)] + [data(n, last=n == 4) for n in range(1, 5)]
        for n in (3, 4):
            struct.pack_into("<H", buffers[n], 42, 9)
        self.good(buffers, 12)
        struct.pack_into("<I", buffers[0], LOG + 32, 0)
        self.bad(buffers, "LoggerId")

    def test_each_session_of_an_appended_file_numbers_its_buffers_from_1(self):
        for sequences in ((1, 2, 3, 4, 5), (1, 2, 3, 1, 2), (1, 1, 1, 2, 1)):
            buffers = [head(6, modes.APPEND, clock=2)]
            buffers += [data(n, s, last=n == 5) for n, s in enumerate(sequences, 1)]
            self.good(buffers, 15)
            self.assertEqual([r["payload"] for r in walk(buffers).records if r["cpu"] == 1 and
                              r["buffer"]], [struct.pack("<I", 2000 + 10 * n + i)
                                             for n in (1, 3, 5) for i in range(3)])
            for n in range(2, 6):
                wrong = [bytearray(b) for b in buffers]
                struct.pack_into("<q", wrong[n], 24, sequences[n - 1] + 5)
                self.bad(list(map(bytes, wrong)), "places")
        self.bad([head(3, 0), data(1, 1), data(2, 1, last=True)], "places")

    def test_system_time_steps_back_inside_a_buffer_of_other_systems_only(self):
        buffers = [head(2, 0, clock=2), data(1, last=True)]
        struct.pack_into("<q", buffers[1], 72 + 16, 2012)
        self.bad(buffers, "stamps decrease")
        foreign = good_file()
        struct.pack_into("<q", foreign[1], 72 + 16, 2002)
        struct.pack_into("<I", foreign[0], LOG + 272, 2)
        self.assertEqual([v for v in walk(foreign, lenient=True).violations if "decrease" in v], [])

    def test_one_stream_records_no_processor(self):
        stream = [data(n, processor=0, last=n == 3) for n in range(1, 4)]
        self.good([head(4, modes.ONE_STREAM)] + stream, 9)
        struct.pack_into("<H", stream[1], 40, 1)
        self.bad([head(4, modes.ONE_STREAM)] + stream, "processor is recorded")

    def test_space_set_aside_ends_an_unfinished_file_and_no_finished_one(self):
        space = [bytearray(SIZE)] * 3
        self.good([head(1, PREALLOCATE, 0), data(1), data(2)] + space, 6, unfinished=True)
        self.bad([head(3, PREALLOCATE), data(1), data(2, last=True)] + space, "size 0")
        self.bad([head(1, PREALLOCATE, 0), data(1), space[0], data(2)], "behind zeroes",
                 unfinished=True)

    def test_the_last_buffer_of_an_unfinished_file_may_be_cut(self):
        whole = b"".join([head(1, 0, 0), data(1), data(2)])
        for cut in (1, SIZE - 71, SIZE - 1):
            walker = etl_walk.walk_bytes(whole[:-cut], unfinished=True)
            self.assertEqual((walker.violations, walker.report()["events"]), ([], 3))
        self.bad([head(4, 0, 0), data(1), data(2)], "BuffersWritten", unfinished=True)

    def test_a_file_longer_than_its_limit_is_noticed(self):
        for mode in (0, 1, PREALLOCATE, modes.NEWFILE, modes.CIRCULAR):
            totals = (1 if mode == modes.NEWFILE else 0, 0, 0, 0, 0)
            buffers = [head(3, mode | modes.KBYTES, max_size=12, totals=totals), data(1),
                       data(2, last=True)]
            self.good(buffers, 6)
            struct.pack_into("<I", buffers[0], LOG + 28, 11)
            self.bad(buffers, "MaximumFileSize")

    def test_buffers_of_a_compressed_file_have_the_size_that_is_left_of_them(self):
        report = self.good(compressed_file(), 9)
        self.assertEqual(report["compressed"], 2)
        self.good(compressed_file(limit=5), 9)
        self.bad(compressed_file(limit=4), "longer than MaximumFileSize")
        wrong = compressed_file()
        wrong[0][72 + 32 + 6:72 + 32 + 8] = b"\1\5"
        self.bad(wrong, "layout version")
        wrong = compressed_file()
        wrong[2] += b"\xff" * 8
        struct.pack_into("<I", wrong[2], 0, len(wrong[2]))
        self.bad(wrong, "size is not the session's")
        wrong = compressed_file()
        wrong[1][90] ^= 0xFF
        self.assertNotEqual(walk(wrong).violations, [])
        self.bad([head(4, 0)] + compressed_file()[1:], "size is not the session's")

    def test_of_an_unfinished_compressed_file_the_last_buffer_may_be_cut(self):
        buffers = compressed_file(end=0)
        self.good(buffers, 9, unfinished=True)
        whole = bytearray(b"".join(buffers))
        for cut in (1, 30, len(buffers[3]) - 1):
            self.good([whole[:-cut]], 6, unfinished=True)
        self.good([whole + b"\0" * 500], 9, unfinished=True)

    def test_totals_and_header_must_agree(self):
        self.good([head(2, 0, totals=(0, 0, 0, 1 << 40, 2), lost=0xFFFFFFFF), data(1, last=True)],
                  3)
        self.bad([head(2, 0, totals=(0, 0, 0, 5, 2), lost=4), data(1, last=True)], "lost_events")
        self.bad([head(2, 0, totals=(3, 0, 0, 0, 0)), data(1, last=True)], "totals: part")
        self.bad([head(2, modes.NEWFILE), data(1, last=True)], "totals: part")
        at = len(bytes(head(2, 0)).split(b"\xff" * 100)[0]) - 96  # the totals record is the last
        for offset, layout, value, word in ((48, "<I", 2, "version"), (4, "<B", 99, "unknown type"),
                                            (6, "<H", 2, "Class.Version"), (4, "<B", 0, "twice"),
                                            (24, "<Q", 0, "totals")):
            buffers = [head(2, 0, totals=(0, 0, 0, 5, 0)), data(1, last=True)]
            struct.pack_into(layout, buffers[0], at + offset, value)
            if word == "totals":  # of another class: an event in buffer 0, and not counted as ours
                self.assertEqual(walk(buffers).report()["own_records"], 1)
            else:
                self.bad(buffers, word)

    def test_processor_times_are_only_where_the_file_says_so(self):
        buffers = [head(2, 0), data(1, last=True)]
        struct.pack_into("<I", buffers[1], 72 + 44, 3)
        self.bad(buffers, "processor times")
        struct.pack_into("<I", buffers[0], LOG + 24, 10000)
        self.good(buffers, 3)
        struct.pack_into("<I", buffers[0], LOG + 24, 10001)
        self.bad(buffers, "TimerResolution")

    def test_numbers_of_other_modes_follow_their_places(self):
        self.bad([head(3, 0), data(2, processor=0), data(1, processor=1, last=True)], "places")
        falling = [head(3, modes.BUFFERING), data(2), data(1, last=True)]
        self.good(falling, 6)
        self.bad([head(3, modes.BUFFERING), data(1), data(2, last=True)], "snapshot")


class Sets(unittest.TestCase):
    def parts(self, count):
        return [b"".join([head(3, modes.NEWFILE, START + 9 + part, (part, 0, 0, part, 0)),
                          data(2 * part, 1), data(2 * part + 1, 2, last=True)])
                for part in range(1, count + 1)]

    def test_parts_in_any_order_are_one_set(self):
        one, two, three = self.parts(3)
        for given in ([one, two, three], [three, one, two], [two, three, one]):
            walkers, report = etl_walk.walk_set(given)
            self.assertEqual(report["violations"], [])
            self.assertEqual([w.totals["part"] for w in walkers], [1, 2, 3])
            self.assertEqual((report["events"], report["events_lost"]), (18, 6))

    def test_a_missing_double_or_foreign_part_is_noticed(self):
        one, two, three = self.parts(3)
        foreign = bytearray(two)
        struct.pack_into("<q", foreign, LOG + 264, START - 1)
        late = b"".join([head(3, modes.NEWFILE, START + 10, (2, 0, 0, 2, 0)), data(1, 1),
                         data(2, 2, last=True)])
        for given, word in (([one, three], "the parts are"), ([one, two, two], "the parts are"),
                            ([one, bytes(foreign), three], "differ in start"),
                            ([one, late, three], "goes back")):
            _, report = etl_walk.walk_set(given)
            self.assertTrue(any(word in v for v in report["violations"]), (word, report))

    def test_the_last_two_parts_may_be_unfinished_where_it_is_asked_for(self):
        for first, good in ((3, True), (2, True), (1, False)):
            parts = [bytearray(part) for part in self.parts(3)]
            for part in parts[first - 1:]:
                struct.pack_into("<q", part, LOG + 16, 0)
            _, report = etl_walk.walk_set(list(map(bytes, parts)), unfinished=True)
            self.assertEqual(report["violations"] == [], good, report)
            self.assertNotEqual(etl_walk.walk_set(list(map(bytes, parts)))[1]["violations"], [])

    def test_expectations_are_checked(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for i, part in enumerate(self.parts(2)):
                paths.append(os.path.join(folder, str(i)))
                with open(paths[-1], "wb") as file:
                    file.write(part)
            with open(os.devnull, "w", encoding="utf-8") as sys.stdout:
                codes = [etl_walk.main(["--set", *paths, "--expect", "events=12", "--expect",
                                        "buffers=6", "--expect", f"events_lost={lost}"])
                         for lost in (3, 4)]
            sys.stdout = sys.__stdout__
            self.assertEqual(codes, [0, 1])


if __name__ == "__main__":
    unittest.main()
