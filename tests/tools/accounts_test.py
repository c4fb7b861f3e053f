# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What is counted of a trace, and over which time: the same wherever it is said.

usage: accounts_test.py PATH_OF_ETWAS TEST_CLASS
"""

import json

import etl_build as etl
from spans_test import END, START, T, order
from tool_case import BLUE, RED, ToolTest, main

SECOND = etl.PERF_FREQUENCY


class Covered(ToolTest):
    """A recorder's file says what it covers. Two processors: the other one's events go back further than that."""
    FROM, UNTIL = 40 * SECOND, 42 * SECOND  # since the session's start

    def setUp(self):
        super().setUp()
        every = SECOND // 100
        begun = range(self.FROM + every, self.UNTIL, every)
        ticks = range(10 * SECOND, self.UNTIL + SECOND, SECOND // 2)
        here = [order(kind, at + n, at // every + 1) for at in begun for n, kind in enumerate((START, END))]
        self.records = here, [etl.tl_event(BLUE, T + at, "P", "Tick") for at in ticks]
        self.times = [*begun, *(at + 1 for at in begun), *ticks]
        self.inside = self.between(self.FROM, self.UNTIL)
        self.outside = len(self.times) - self.inside

    def between(self, after, until):
        return sum(after < at <= until for at in self.times)

    def file(self, name="w.etl", stamp=etl.FIRST_STAMP, covered=None):
        covered = covered or (T + self.FROM, T + self.UNTIL)
        here, there = self.records
        streams = ([etl.window(stamp, covered), *here], there)
        buffers = [(n, records[at:at + 50]) for n, records in enumerate(streams) for at in range(0, len(records), 50)]
        return self.write(name, etl.trace(buffers, mode=0x400, processors=2, own=[etl.totals()]))

    def one(self, command, *arguments, **options):
        return json.loads(self.run_etwas(*command.split(), "--json", *arguments, **options)[0])

    def test_rates_are_of_the_events_in_the_time_that_the_file_covers(self):
        for stamp in (etl.FIRST_STAMP, T + 10 * SECOND):  # as older versions stamp what they say of the window, and now
            path = self.file(stamp=stamp)
            stat = self.one("stat", path)
            self.assertEqual((stat["events"], stat["events_outside"]), (self.inside + self.outside, self.outside))
            self.assertAlmostEqual(stat["duration_s"], 2, 6)
            self.assertAlmostEqual(stat["events_per_second"], self.inside / 2, 3)
            self.assertIn("2.0000000 s, of which each processor's events are all here", self.run_etwas("stat", path)[0])
            self.assertNotIn("Window", [its.get("name") for its in stat["classes"]])
            spans = self.one("spans", path)
            self.assertAlmostEqual(spans["seconds"], 2, 6)
            self.assertAlmostEqual(spans["classes"][0]["rate"], spans["classes"][0]["count"] / 2, 3)
            report = self.one("report", path)
            self.assertAlmostEqual(report["covered_ns"], 2_000_000_000, delta=100)
            self.assertAlmostEqual(sum(name["events_per_second"] for name in report["names"]), self.inside / 2, 3)
            self.assertEqual(report["files"][0]["events_per_second"], stat["events_per_second"])

    def test_seconds_from_the_beginning_count_from_where_it_covers(self):
        path = self.file()
        for command in ("stat", "report", "dump"):
            self.assertEqual(self.count(command, "--from", "+0", "--to", "-0", path), self.inside, command)
            self.assertEqual(self.count(command, "--from", "+1", path),
                             self.between(self.FROM + SECOND, self.UNTIL + SECOND), command)
        stat = self.one("stat", "--from", "+0.5", path)
        self.assertAlmostEqual(stat["duration_s"], 1.5, 6)
        self.assertAlmostEqual(stat["events_per_second"], (stat["events"] - stat["events_outside"]) / 1.5, 3)

    def count(self, command, *arguments):
        if command == "dump":
            return sum(event["class"] in (RED, BLUE) for event in self.dump_json(*arguments))
        told = self.one(command, *arguments)
        return told["events"] if command == "stat" else told["asked_for"]["events"]

    def test_the_runs_that_are_compared_are_what_the_files_cover(self):
        paths = [self.file(f"{n}.etl") for n in range(4)]
        told = json.loads(self.run_etwas("diff", "--json", *paths, "--", *paths)[0])
        rates = {its["class"]: its["rate"]["a"] for its in told["classes"]}
        self.assertAlmostEqual(rates["P/Tick"], 2)
        self.assertAlmostEqual(rates[RED], 99.5)

    def test_where_no_time_is_covered_there_is_no_rate(self):
        path = self.file(covered=(T + self.FROM, T + self.FROM))
        stat, spans, report = (self.one(command, path) for command in ("stat", "spans", "report"))
        self.assertEqual((stat["duration_s"], stat["events_per_second"], stat["covered_from"]), (None, None, None))
        self.assertEqual((spans["classes"][0]["rate"], spans["classes"][0]["at_once"]), (None, None))
        self.assertEqual((report["covered_ns"], report["names"][0]["events_per_second"]), (0, None))
        self.assertIn("no time of which each processor's events are all here", self.run_etwas("stat", path)[0])

    def test_what_two_files_cover_counts_once(self):
        paths = [self.file("a.etl"), self.file("b.etl", covered=(T + self.FROM + SECOND, T + self.UNTIL + 2 * SECOND))]
        self.assertAlmostEqual(self.one("spans", *paths)["seconds"], 4, 6)
        self.assertAlmostEqual(self.one("report", *paths)["covered_ns"] / 1e9, 4, 6)


if __name__ == "__main__":
    main()
