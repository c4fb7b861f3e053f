# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What `etwas` makes of the logging modes: parts, flight recorders, files of one buffer stream.

usage: modes_test.py PATH_OF_ETWAS TEST_CLASS
"""

import json
import struct
import sys

import etl_build as etl
from tool_case import RED, ToolTest, main


class Modes(ToolTest):
    def part(self, name, part, events=1, start=etl.START, session="session"):
        data = bytearray(etl.trace([(0, [etl.classic(RED, 1_000_000 + 10 * part + i, kind=part)
                                         for i in range(events)])], mode=8, name=session,
                                   own=[etl.totals(part)]))
        struct.pack_into("<q", data, 104 + 264, start)
        return self.write(name, bytes(data))

    def test_overwritten_is_told_apart_from_lost_and_is_nothing_wrong(self):
        path = self.write("a.etl", etl.trace(
            [(0, [etl.classic(RED, 1_000_001)])], mode=2, events_lost=0xFFFFFFFF,
            own=[etl.totals(0, 1 << 40, 77, 1 << 33, 5)]))
        stat, = self.stat_json(path)
        self.assertEqual([stat[key] for key in ("overwritten", "buffers_overwritten",
                                                "lost", "buffers_lost", "events")],
                         [1 << 40, 77, 1 << 33, 5, 1])
        out, error = self.run_etwas("stat", path)
        lines = [line.split(None, 1) for line in out.splitlines()[1:5]]
        self.assertEqual([words[0] for words in lines], ["damage", "LOST", "8,589,934,592",
                                                         "overwritten"])
        self.assertTrue(lines[1][1].startswith("8,589,934,592 events and 5 buffers"))
        self.assertTrue(lines[3][1].startswith("1,099,511,627,776 events and 77 buffers"))
        self.assertEqual(error, "")
        _, error = self.run_etwas("dump", path)
        self.assertIn("8589934592 events and 5 buffers were lost", error)
        self.assertNotIn("overwritten", error)

    def test_a_file_that_keeps_no_totals_overwrote_nothing(self):
        path = self.write("a.etl", etl.trace([(0, [])], mode=2))
        stat, = self.stat_json(path)
        self.assertEqual((stat["overwritten"], stat["part"], stat["parts_missing"]),
                         (0, 0, []))
        self.assertNotIn("overwritten", self.run_etwas("stat", path)[0])

    def test_parts_in_any_order_are_dumped_in_one_order(self):
        paths = [self.part(f"{part}.etl", part, events=3) for part in (2, 3, 1)]
        out, _ = self.run_etwas("dump", "--json", *paths)
        events = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([e["opcode"] for e in events if e["event_class_id"] == RED], [1] * 3
                         + [2] * 3
                         + [3] * 3)
        self.assertEqual([s["part"] for s in self.stat_json(*paths)], [2, 3, 1])

    def test_missing_parts_of_a_set_are_named(self):
        paths = [self.part(f"{part}.etl", part) for part in (9, 2, 4)]
        other = self.part("other.etl", 1, start=etl.START + 5)
        another = self.part("another.etl", 7, session="another")
        plain = self.write("plain.etl", etl.trace([(0, [])]))
        stats = self.stat_json(*paths, other, another, plain)
        self.assertEqual([s["parts_missing"] for s in stats],
                         [[[1, 1], [3, 3], [5, 8]]] * 3 + [[]] * 3)
        out, _ = self.run_etwas("stat", *paths, other)
        self.assertEqual(out.count("PARTS MISSING 1, 3, 5 to 8 of the new-file set"), 3)
        self.assertIn("9 of a new-file set", out)

    def test_parts_with_hostile_numbers_are_counted_in_runs(self):
        paths = [self.part(f"{part}.etl", part & 0xFF) for part in (3, 200)]
        data = bytearray(open(paths[1], "rb").read())
        at = data.index(struct.pack("<II", 1, 200))
        struct.pack_into("<I", data, at + 4, 0xFFFFFFFF)
        paths[1] = self.write("huge.etl", bytes(data))
        missing = [[1, 2], [4, 0xFFFFFFFE]]
        self.assertEqual([s["parts_missing"] for s in self.stat_json(*paths)], [missing] * 2)
        self.assertEqual([s["parts_missing"] for s in self.stat_json(paths[1])], [[]])

    def test_a_session_without_buffers_per_processor_shows_no_processor(self):
        path = self.write("a.etl", etl.trace([(0x0800, [etl.classic(RED, 1_000_001)])], flags=0,
                                             mode=0x10000000))
        event, = self.dump_json(path)
        self.assertNotIn("cpu", event)
        self.assertEqual(self.dump(path)[0].split()[1], "-")
        stat, = self.stat_json(path)
        self.assertEqual(stat["by_cpu"], [{"cpu": None, "events": 1, "payload_bytes": 0}])
        out, _ = self.run_etwas("stat", path)
        self.assertRegex(out, r"(?m)^- +1 +[0-9.]+ +0 B$")

    def test_processor_times_are_shown_where_there_are_any(self):
        events = [etl.classic(RED, 1_000_001, times=(3, 4)), etl.classic(RED, 1_000_002)]
        for mode, wanted in ((1, {"kernel_time": 1_500_000, "user_time": 2_000_000}),
                             (0x800, {"processor_time": ((4 << 32) + 3) * 500_000})):
            path = self.write("a.etl", etl.trace([(0, events)], mode=mode, tick=5000))
            first, second = self.dump_json(path)
            times = ("kernel_time", "user_time", "processor_time")
            self.assertEqual({key: first[key] for key in times if key in first}, wanted)
            self.assertFalse([key for key in times if key in second])
            self.assert_keys_documented("dump", first)

    def test_a_file_that_goes_on_behind_its_count_is_unfinished(self):
        data = etl.trace([(0, [etl.classic(RED, 1_000_001 + i)]) for i in range(4)], mode=4)
        path = self.write("a.etl", data)
        self.assertFalse(self.stat_json(path)[0]["unfinished"])
        data = bytearray(data)
        struct.pack_into("<I", data, 104 + 36, 3)
        path = self.write("a.etl", bytes(data))
        stat, = self.stat_json(path)
        self.assertEqual((stat["unfinished"], stat["events"], stat["damaged"]), (True, 4, False))


if __name__ == "__main__":
    sys.exit(main())
