# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What is counted of a trace, and over which time: the same wherever it is said.

usage: accounts_test.py PATH_OF_ETWAS TEST_CLASS
"""

import json
import os
import random
import re

import etl_build as etl
from spans_test import END, START, T, order
from tool_case import BLUE, DAMAGED, FINE, RED, ToolTest, main

SECOND = etl.PERF_FREQUENCY


class Covered(ToolTest):
    """A recorder's file says what it covers. Two processors: the other one's events go back further
    than that."""
    FROM, UNTIL = 40 * SECOND, 42 * SECOND  # since the session's start

    def setUp(self):
        super().setUp()
        every = SECOND // 100
        begun = range(self.FROM + every, self.UNTIL, every)
        ticks = range(10 * SECOND, self.UNTIL + SECOND, SECOND // 2)
        here = [order(kind, at + n, at // every + 1) for at in begun
                for n, kind in enumerate((START, END))]
        self.records = here, [etl.tl_event(BLUE, T + at, "P", "Tick") for at in ticks]
        self.times = [*begun, *(at + 1 for at in begun), *ticks]
        self.inside = self.between(self.FROM, self.UNTIL)
        self.outside = len(self.times) - self.inside

    def between(self, after, until):
        return sum(after < at <= until for at in self.times)

    def file(self, name="w.etl", stamp=etl.FIRST_STAMP, covered=None, overwritten=0):
        covered = covered or (T + self.FROM, T + self.UNTIL)
        here, there = self.records
        streams = ([etl.window(stamp, covered), *here], there)
        buffers = [(n, records[at:at + 50]) for n, records in enumerate(streams)
                   for at in range(0, len(records), 50)]
        return self.write(name, etl.trace(buffers, mode=0x400, processors=2, own=[
            etl.totals(overwritten_events=overwritten)]))

    def one(self, command, *arguments, **options):
        return json.loads(self.run_etwas(*command.split(), "--json", *arguments, **options)[0])

    def test_rates_are_of_the_events_in_the_time_that_the_file_covers(self):
        # as older versions stamp what they say of the window, and now
        for stamp in (etl.FIRST_STAMP, T + 10 * SECOND):
            path = self.file(stamp=stamp)
            stat = self.one("stat", path)
            self.assertEqual((stat["events"], stat["events_outside"]),
                             (self.inside + self.outside, self.outside))
            self.assertAlmostEqual(stat["duration"], 2_000_000_000, delta=1000)
            self.assertAlmostEqual(stat["rate"], self.inside / 2, 3)
            self.assertIn("2.000000000 s, of which each processor's events are all here",
                          self.run_etwas("stat", path)[0])
            self.assertNotIn("Window", [its.get("event") for its in stat["by_event"]])
            spans = self.one("spans", path)
            self.assertAlmostEqual(spans["covered_duration"], 2_000_000_000, delta=1000)
            self.assertAlmostEqual(spans["classes"][0]["rate"], spans["classes"][0]["count"] / 2, 3)
            report = self.one("report", path)
            self.assertAlmostEqual(report["covered_duration"], 2_000_000_000, delta=100)
            self.assertAlmostEqual(sum(name["rate"] for name in report["by_event"]),
                                   self.inside / 2, 3)
            self.assertEqual(report["files"][0]["rate"], stat["rate"])

    def test_how_much_was_overwritten_is_said_and_since_when_nothing_is(self):
        out, _ = self.run_etwas("stat", self.file(overwritten=4833))
        self.assertIn("  lost          no events, no buffers\n"
                      "  overwritten   4,833 events by newer ones, as a flight recorder does\n"
                      "  retained      all events since 2026-01-01T00:00:40.000000", out)
        self.assertEqual(self.one("stat", self.file(overwritten=4833))["overwritten"], 4833)
        out, _ = self.run_etwas("stat", self.file())
        for word in ("overwritten", "retained"):
            self.assertNotIn(word, out)

    def test_of_what_did_not_end_it_is_said_where_the_end_may_be_overwritten(self):
        here, there = self.records
        early, late = (order(START, at * SECOND, 999_999) for at in (9, 44))
        for records, said in (([early, *there], True), ([*there, late], False)):
            self.records = here, records
            out, _ = self.run_etwas("spans", self.file())
            self.assertRegex(out, "\n +1 unfinished" +
                             (", 1 END may have been overwritten\n" if said else "\n"))

    def test_seconds_from_the_beginning_count_from_where_it_covers(self):
        path = self.file()
        for command in ("stat", "report", "dump"):
            self.assertEqual(self.count(command, "--from", "+0", "--until", "-0", path),
                             self.inside,
                             command)
            self.assertEqual(self.count(command, "--from", "+1", path),
                             self.between(self.FROM + SECOND, self.UNTIL + SECOND), command)
        stat = self.one("stat", "--from", "+0.5", path)
        self.assertAlmostEqual(stat["duration"], 1_500_000_000, delta=1000)
        self.assertAlmostEqual(stat["rate"], (stat["events"] - stat["events_outside"])
                               / 1.5, 3)

    def test_what_a_damaged_file_covers_ends_with_the_last_time_that_there_is(self):
        path = self.file(covered=(T + self.FROM, 2**63 - 1))
        stat = self.one("stat", path)
        self.assertGreater(int(stat["duration"]), 100 * 365 * 86400 * 10 ** 9)
        self.assertEqual(stat["events_outside"], self.between(0, self.FROM))
        self.assertEqual(self.count("stat", "--from", "+0", path),
                         self.between(self.FROM, self.UNTIL + SECOND))
        self.assertIsNone(self.one("stat", self.file(covered=(2**63 - 2, 2**63 - 1)))["duration"])

    def count(self, command, *arguments):
        if command == "dump":
            return sum(event["event_class_id"] in (RED, BLUE)
                       for event in self.dump_json(*arguments))
        told = self.one(command, *arguments)
        return told["events"] if command == "stat" else told["selection"]["events"]

    def test_the_runs_that_are_compared_are_what_the_files_cover(self):
        paths = [self.file(f"{n}.etl") for n in range(4)]
        told = json.loads(self.run_etwas("diff", "--json", *paths, "--against", *paths)[0])
        rates = {its["event_class"]: its["rate"]["a"] for its in told["classes"]}
        self.assertAlmostEqual(rates["P/Tick"], 2)
        self.assertAlmostEqual(rates[RED], 99.5)

    def test_where_no_time_is_covered_there_is_no_rate(self):
        path = self.file(covered=(T + self.FROM, T + self.FROM))
        stat, spans, report = (self.one(command, path) for command in ("stat", "spans", "report"))
        self.assertEqual((stat["duration"], stat["rate"], stat["covered_start_time"]),
                         (None, None, None))
        self.assertEqual((spans["classes"][0]["rate"], spans["classes"][0]["at_once"]),
                         (None, None))
        self.assertEqual((report["covered_duration"], report["by_event"][0]["rate"]), (0, None))
        self.assertIn("no time of which each processor's events are all here",
                      self.run_etwas("stat", path)[0])

    def test_what_two_files_cover_counts_once(self):
        paths = [self.file("a.etl"),
                 self.file("b.etl", covered=(T + self.FROM + SECOND, T + self.UNTIL + 2 * SECOND))]
        self.assertAlmostEqual(self.one("spans", *paths)["covered_duration"] / 1e9, 4, 6)
        self.assertAlmostEqual(self.one("report", *paths)["covered_duration"] / 1e9, 4, 6)


class Overlapping(ToolTest):
    """Snapshots of one recorder, given together, may have the same records: they count once."""

    def slots(self, chance, coarse):
        """Buffers of three processors with equal stamps within and across them; all differ in what
        they carry."""
        number, slots = 0, []
        for processor in range(3):
            stamp, buffers = T, []
            for _ in range(8):
                records = []
                for _ in range(chance.randrange(5, 60)):
                    number += 1
                    stamp += chance.choice((0, 0, 1, coarse))
                    payload = bytes(4) if chance.random() < 0.3 else number.to_bytes(4, "little")
                    records.append(etl.classic(chance.choice((RED, BLUE)), stamp, payload=payload))
                buffers.append(records)
            slots.append(buffers)
        return slots

    def snapshot(self, chance, slots, name, **options):
        """Of each slot some buffers in a row, the last of which may not have been full yet."""
        kept = []
        for processor, buffers in enumerate(slots):
            first = chance.randrange(len(buffers))
            taken = buffers[first:chance.randrange(first, len(buffers)) + 1]
            taken[-1] = taken[-1][:chance.randrange(1, len(taken[-1]) + 1)]
            kept += [(processor, number + first, records) for number, records in enumerate(taken)]
        described = (0, [etl.event_info(etl.FIRST_STAMP, RED, 2, "Paint", "", "Pour", [])])
        path = self.write(name, etl.trace([described, *((p, records) for p, _, records in kept)],
                                          mode=0x400, processors=3, own=[etl.totals()], **options))
        return path, {(p, number, at): record for p, number, records in kept
                      for at, record in enumerate(records)}

    def is_ours(self, event):
        return event["event_class_id"] in (RED, BLUE)

    def test_each_record_counts_once_and_how_many_did_not_is_said(self):
        for seed in range(12):
            chance = random.Random(seed)
            slots = self.slots(chance, 1 if seed % 2 else 1000)
            made = [self.snapshot(chance, slots, f"{n}.etl")
                    for n in range(chance.choice((2, 2, 3)))]
            paths, union = [path for path, _ in made], {}
            for _, records in made:
                union.update(records)
            repeated = sum(len(records) for _, records in made) - len(union)
            note = ("" if repeated == 0 else "etwas dump: note: 1 event is in" if repeated == 1 else
                    f"etwas dump: note: {repeated} events are in")
            out, errors = self.run_etwas("dump", "--json", *paths)
            events = [event for event in map(json.loads, out.splitlines()) if self.is_ours(event)]
            self.assertEqual(len(events), len(union))
            self.assertEqual(errors[:len(note)], note)
            self.assertEqual("note" in errors, repeated > 0)
            told = sorted((event["cpu"], event["time"], event["event_class_id"], event["payload"])
                          for event in events)
            one = self.write("one.etl",
                             etl.trace([(p, [record])
                                        for (p, _, _), record in sorted(union.items())],
                                       mode=0x400, processors=3, own=[etl.totals()]))
            alone = [event for event in self.dump_json(one) if self.is_ours(event)]
            self.assertEqual(told, sorted((e["cpu"], e["time"], e["event_class_id"], e["payload"])
                                          for e in alone))
            self.assertEqual([event["time"] for event in events],
                             sorted(event["time"] for event in events))
            report = json.loads(self.run_etwas("report", "--json", *paths)[0])
            self.assertEqual((report["selection"]["events"],
                              sum(sum(p["over_time"]) for p in report["by_cpu"])),
                             (len(union), len(union)))
            self.assertEqual(sum(file["repeated_events"] for file in report["files"]), repeated)
            merged = os.path.join(self.folder, f"merged{seed}.etl")
            self.run_etwas("convert", "--to", "etl", "--output", merged, *paths)
            self.assertEqual(self.stat_json(merged)[0]["events"], len(union))

    def telling(self, path, losses, records=(RED,), mode=0x400, part=0, overwritten=0, attempted=0,
                **options):
        """A file that tells of these losses of its session."""
        lost = sum(losses)
        own = [etl.totals(part=part, lost_events=lost, overwritten_events=overwritten,
                          attempted=attempted),
               *(etl.loss(T + 10 * n, T + 10 * n + 5, events, n % 2)
                 for n, events in enumerate(losses))]
        events = [etl.classic(kind, T + 10_000 * n, kind=10) for n, kind in enumerate(records)]
        return self.write(path, etl.trace([(0, events)], mode=mode, own=own, events_lost=lost,
                                          **options))

    def lost_in_all(self, *paths):
        """What each command says that is lost, where it adds up files."""
        said, merged, one = {}, os.path.join(self.folder,
                                             "merged.etl"), self.telling("other.etl", [3],
                                                                         name="other")
        for command in ("spans", "why", "advise"):
            said[command] = json.loads(self.run_any(command, "--json", *paths)[0])["lost"]
        report = json.loads(self.run_any("report", "--json", *paths)[0])
        said["report"] = sum(file["lost"] - file["repeated_lost"]
                             for file in report["files"])
        said["report, by cause"] = (sum(loss["count"] for loss in report["losses"]) +
                                    sum(file["lost_unexplained"] for file in report["files"]))
        self.run_any("convert", "--to", "etl", "--force", "--output", merged, *paths)
        stat, = self.stat_json(merged)
        said["etl"] = stat["lost"]
        said["etl, by cause"] = sum(loss["events"] for loss in stat["losses"])
        lines = self.run_any("convert", "--to", "otlp", *paths)[0].splitlines()
        logs = [log for line in lines for resource in json.loads(line).get("resourceLogs", ())
                for scope in resource["scopeLogs"] for log in scope["logRecords"]]
        said["otlp"] = sum(int(item["value"]["intValue"]) for log in logs
                           for item in log["attributes"]
                           if item["key"] == "etwas.lost")
        page = os.path.join(self.folder, "out.pftrace")
        self.run_any("convert", "--to", "perfetto", "--force", "--output", page, *paths)
        with open(page, "rb") as file:
            said["perfetto"] = sum(int(number) for number in re.findall(rb"(\d+) events lost",
                                                                        file.read()))
        side = [*paths, one, one, one]
        said["diff"] = json.loads(self.run_any("diff", "--json", *side, "--against", *side,
                                               expect=(FINE, 1))[0])["a"]["lost"] - 3
        return said

    def assert_lost(self, count, *paths):
        for order_of in (paths, paths[::-1]):
            for command, said in self.lost_in_all(*order_of).items():
                self.assertEqual(said, count, command)

    def test_what_one_session_lost_counts_once_wherever_it_is_added_up(self):
        first, later = self.telling("1.etl", [5]), self.telling("2.etl", [5, 4], (RED, BLUE))
        self.assert_lost(9, first, later)
        self.assertIn(
            "etwas dump: note: 5 lost or overwritten events are told of by more than one of the "
            "files, which are of one session, and count once",
            self.run_etwas("dump", first, later)[1])
        self.assert_lost(5, first, first)
        self.assertNotIn("told of", self.run_etwas("dump", first)[1])

    def test_what_several_sessions_or_files_of_one_lost_adds_up(self):
        first = self.telling("1.etl", [5])
        for second in (self.telling("2.etl", [5, 4], name="else"),
                       self.telling("2.etl", [5, 4], start=etl.START + 1)):
            self.assert_lost(14, first, second)
            self.assertNotIn("told of", self.run_etwas("dump", first, second)[1])
        # by UpdateTrace
        files = [self.telling(f"{n}.etl", [5 + n], mode=1, log_file=f"{n}.etl") for n in range(2)]
        self.assert_lost(11, *files)
        parts = [self.telling(f"{n}.etl", [5 + n], mode=8, part=n) for n in (1, 2)]
        self.assert_lost(13, *parts)
        self.assert_lost(13, *parts, parts[0])

    def test_copies_of_one_file_tell_of_what_is_overwritten_missing_and_attempted_once(self):
        early = self.telling("early.etl", [4], overwritten=1, mode=2, attempted=20, finished=False)
        whole = self.telling("whole.etl", [5], (RED, BLUE), overwritten=2, mode=2, attempted=10)
        copy = self.write("copy.etl", open(whole, "rb").read())
        for paths in ((whole, copy), (early, whole, copy), (copy, early, whole)):
            report = json.loads(self.run_any("report", "--json", *paths)[0])
            self.assertEqual(sum(file["overwritten"] - file["repeated_overwritten"]
                                 for file in report["files"]), 2)
        report = json.loads(self.run_any("report", "--json", whole, copy)[0])
        self.assertEqual(sum(file["missing"] for file in report["files"]), 1)
        session, = report["sessions"]
        self.assertEqual([session[key] for key in ("attempted", "in_files", "overwritten", "lost")],
                         [10, 2, 2, 5])

    def test_records_of_other_sessions_are_others_however_alike_they_are(self):
        records = [(0, [etl.classic(RED, T + n) for n in range(20)])]
        first = self.write("a.etl", etl.trace(records))
        for options in ({"name": "other"}, {"start": etl.START + 1},
                        {"first": etl.FIRST_STAMP - 1}):
            second = self.write("b.etl", etl.trace(records, **options))
            out, errors = self.run_etwas("dump", "--json", first, second)
            self.assertEqual(sum(json.loads(line)["event_class_id"] == RED
                                 for line in out.splitlines()), 40,
                             options)
            self.assertEqual(errors, "")
        again, _ = self.run_etwas("dump", "--json", first, first)
        self.assertEqual(sum(json.loads(line)["event_class_id"] == RED
                             for line in again.splitlines()), 20)


class Losses(ToolTest):
    """What is lost, and what is missing."""

    def one(self, command, *arguments, **options):
        return json.loads(self.run_etwas(*command.split(), "--json", *arguments, **options)[0])

    def numbers(self, out, word):
        return sum(int(line.split()[0].replace(",", "")) for line in out.splitlines()
                   if word in line)

    def test_the_causes_add_up_to_what_was_lost(self):
        for told, lost in (((), 9), ((5, 6), 11), ((5, 6), 51), ((70_000, 791), 70_831)):
            own = [etl.totals(lost_events=lost), *(etl.loss(T + n, T + n + 5, events, n)
                                                   for n, events in enumerate(told))]
            path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, T)])], own=own))
            stat, = self.stat_json(path)
            self.assertEqual(stat["lost"], lost)
            self.assertEqual(sum(loss["events"] for loss in stat["losses"])
                             + stat["lost_unexplained"],
                             lost)
            out, _ = self.run_etwas("stat", path)
            self.assertEqual(self.numbers(out, " of them"), lost)
            report = self.one("report", path)
            self.assertEqual(sum(loss["count"] for loss in report["losses"])
                             + report["files"][0]["lost_unexplained"], lost)

    def test_what_was_recorded_and_is_not_there_is_missing_and_not_lost(self):
        buffers = [(n % 2, [etl.classic(RED, T + 100 * n + i) for i in range(20)])
                   for n in range(10)]
        for lost, overwritten, broken in ((0, 0, ()), (0, 0, (4,)), (7, 30, (2, 9))):
            data = bytearray(etl.trace(buffers, mode=2 if overwritten else 1, own=[etl.totals(
                lost_events=lost, overwritten_events=overwritten,
                overwritten_buffers=overwritten // 20, attempted=200 + lost + overwritten)]))
            for number in broken:
                data[number * etl.BUFFER_BYTES:number * etl.BUFFER_BYTES + 8] = b"\xff" * 8
            path = self.write("a.etl", data)
            expect = DAMAGED if broken else FINE
            stat, = self.stat_json(path, expect=expect)
            self.assertEqual((stat["lost"], stat["missing"]),
                             (lost, 20 * len(broken)))
            self.assertEqual(stat["events"] + stat["missing"] + lost + overwritten,
                             200 + lost + overwritten)
            out, _ = self.run_etwas("stat", path, expect=expect)
            self.assertEqual(f"  MISSING       {20 * len(broken)} events that" in out, bool(broken))
            report = self.one("report", path, expect=expect)
            self.assertEqual(report["files"][0]["missing"], 20 * len(broken))
            part, _ = self.run_any("stat", "--json", "--from", "+0", path)
            self.assertIsNone(json.loads(part)["missing"])

    def test_a_processors_time_is_busy_idle_or_not_known_and_each_is_reported_over_time(self):
        switches = [etl.switch(T + 1000 * n, 20 * (n % 2), 20 * (1 - n % 2)) for n in range(20)
                    if n not in (7, 8, 13)]
        path = self.write("a.etl",
                          etl.trace([(0, [*switches[:7],
                                          etl.kernel_loss(T + 8500, T + 6500, 33_766),
                                          *switches[7:]])]))
        for processor in self.one("report", path)["cpu"][0]["cpus"]:
            self.assertGreater(processor["unknown_time"], 0)
            self.assertEqual(sum(processor["unknown_over_time"]), processor["unknown_time"])
            self.assertEqual(sum(processor["busy_over_time"]), processor["busy_time"])
            both = [busy + unknown for busy, unknown in zip(processor["busy_over_time"],
                                                            processor["unknown_over_time"])]
            self.assertLessEqual(max(both), self.one("report", path)["axis"]["column_duration"])


class Stepped(ToolTest):
    """A wall clock that stamps and that is set within a span: the duration is wrong by the step at
    least, and says so."""

    def duration(self, start, end, clock_snapshots):
        own = [etl.totals(), etl.clock_record(requested=2, got=2),
               *(etl.clock_snapshot(etl.START + at, 100 * at, etl.START + at)
                 for at in clock_snapshots)]
        records = [etl.tl_event(RED, etl.START + at, "P", "Work", opcode=opcode, activity=BLUE)
                   for at, opcode in ((start, 1), (end, 2))]
        path = self.write("a.etl", etl.trace([(0, [record]) for record in records], clock=2,
                                             first=etl.START, own=own))
        told = json.loads(self.run_any("spans", "--json", path)[0])["classes"][0]["duration"]["max"]
        return told["value"], told["error"]

    def test_what_goes_back_within_a_span_is_a_step(self):
        hour = 3600 * SECOND
        for clock_snapshots in ((0, SECOND), (0, SECOND, 2 * SECOND), (0,)):
            ns, error_ns = self.duration(SECOND // 2, SECOND // 2 - hour, clock_snapshots)
            self.assertEqual(ns, 0)
            self.assertTrue(error_ns is None or error_ns >= 100 * hour, (clock_snapshots, error_ns))

    def test_what_passed_after_the_last_clock_snapshot_may_all_be_a_step(self):
        hour = 3600 * SECOND
        for clock_snapshots in ((0, SECOND), (0, SECOND, 2 * SECOND)):
            ns, error_ns = self.duration(SECOND // 2, SECOND // 2 + hour, clock_snapshots)
            self.assertAlmostEqual(ns, 100 * hour, delta=10_000_000)
            self.assertTrue(error_ns is None or error_ns >= 100 * (hour - 2 * SECOND),
                            (clock_snapshots, error_ns))
        # between clock snapshots that agree
        ns, error_ns = self.duration(SECOND // 2, SECOND, (0, 2 * SECOND, 4 * SECOND))
        self.assertLess(error_ns, 10_000_000)


    def said(self, records, clock_snapshots=(0, 2 * SECOND)):
        """What a span took and how far that may be off, by each command that says it."""
        own = [etl.totals(), etl.clock_record(requested=2, got=2),
               *(etl.clock_snapshot(etl.START + at, 100 * at, etl.START + at)
                 for at in clock_snapshots)]
        path = self.write("a.etl", etl.trace([(0, [record]) for record in records], clock=2,
                                             first=etl.START, own=own))
        span = json.loads(self.run_any("spans", "--json", path)[0])["classes"][0]["duration"]["max"]
        yield span["value"], span["error"]
        shown = map(json.loads, self.run_any("dump", "--json", "--where", "duration >= 0",
                                             path)[0].splitlines())
        event, = [event for event in shown if "duration" in event]
        yield event["duration"], event["duration_error"]

    def test_what_goes_back_within_a_thread_is_a_step_in_each_span_around_it(self):
        step, start, end = SECOND // 2, SECOND, SECOND + SECOND // 10

        def work(at, opcode, thread=11):
            return etl.tl_event(RED, etl.START + at, "P", "Work", opcode=opcode, activity=BLUE,
                                thread=thread)

        def tick(at, thread=11):
            return etl.tl_event(RED, etl.START + at, "P", "Tick", thread=thread)
        steps = (tick(start + 10), tick(start + 10 - step))
        for records, seen in (
                ((work(start, 1), *steps, work(end, 2)), step),
                ((work(start, 1), *steps, work(end, 2, 12)), step),
                # another thread's events show it
                ((work(start, 1, 12), *steps, work(end, 2, 12)), step),
                ((work(start, 1), tick(start + 10, 12), *steps, tick(start + 20 - step, 12),
                  work(end, 2)), step),
                ((work(start, 1), *steps, *steps, work(end, 2)), 2 * step),
                ((*steps, work(start, 1), work(end, 2)), 0),  # before
                # of two threads
                ((work(start, 1), tick(start + 10), tick(start + 10 - step, 12), work(end, 2)), 0)):
            for ns, error_ns in self.said(records):
                self.assertAlmostEqual(ns, 100 * (end - start), delta=1000)
                self.assertLessEqual(100 * seen, error_ns)
                self.assertLess(error_ns, 100 * seen + 10_000_000)


class Same(ToolTest):
    """Each account that is shown several times is the same: as text, as JSON, in a report, on its
    page, and as it was made."""

    def session(self, chance):
        """A file of a random session, and what is true of it."""
        streams = [[etl.classic(chance.choice((RED, BLUE)), T + chance.randrange(10) + 100 * n
                                + processor, payload=bytes(chance.randrange(40)))
                    for n in range(chance.randrange(1, 200))]
                   for processor in range(chance.randrange(1, 4))]
        buffers = [(processor, records[at:at + 20]) for processor, records in enumerate(streams)
                   for at in range(0, len(records), 20)]
        losses = [(chance.randrange(1, 1000), chance.choice((etl.NO_BUFFER, etl.WRITE_ERROR)))
                  for _ in range(chance.randrange(4))]
        lost = sum(events for events, _ in losses) + chance.choice((0, 0, 7))
        overwritten = chance.choice((0, 0, 40))
        broken = [n for n in range(len(buffers)) if chance.random() < 0.1]
        recorded = sum(len(records) for records in streams)
        data = bytearray(etl.trace(buffers, mode=2 if overwritten else 1, processors=len(streams),
                                   events_lost=lost, own=[
                                       etl.totals(lost_events=lost, overwritten_events=overwritten,
                                                  overwritten_buffers=overwritten // 20,
                                                  attempted=recorded + lost + overwritten),
                                       *(etl.loss(T + n, T + n + 9, events, n % len(streams), cause)
                                         for n, (events, cause) in enumerate(losses))]))
        for number in broken:
            data[(number + 1) * etl.BUFFER_BYTES:(number + 1) * etl.BUFFER_BYTES + 8] = b"\xff" * 8
        missing = sum(len(buffers[number][1]) for number in broken)
        return bytes(data), {"attempted": recorded + lost + overwritten, "events": recorded
                             - missing, "lost": lost, "overwritten": overwritten,
                             "missing": missing, "untold": lost
                             - sum(events for events, _ in losses)}

    def number(self, text, label, word):
        found = re.search(rf"^  {label} .*?([\d,]+) {word}", text, re.M)
        return int(found.group(1).replace(",", "")) if found else 0

    def said_as_text(self, path):
        text, _ = self.run_any("stat", path)
        untold = re.search(r"([\d,]+) of them: why and when", text)
        return {"events": self.number(text, "events", "event"),
                "lost": self.number(text, "LOST", "event"),
                "overwritten": self.number(text, "overwritten", "event"),
                "missing": self.number(text, "MISSING", "event"),
                "untold": int(untold.group(1).replace(",", "")) if untold else 0}, text

    def test_of_random_sessions(self):
        for seed in range(25):
            chance = random.Random(seed)
            data, truth = self.session(chance)
            path = self.write("s.etl", data)
            self.assertEqual(truth["attempted"],
                             sum(truth[key] for key in ("events", "lost", "overwritten",
                                                        "missing")))
            stat, report, spans, prove = (json.loads(self.run_any(*command, "--json", path)[0])
                                          for command in (["stat"], ["report"], ["spans"],
                                                          ["stat", "--prove"]))
            text, words = self.said_as_text(path)
            self.assertEqual(text, {key: truth[key] for key in text}, seed)
            for file in (stat, report["files"][0]):
                self.assertEqual({"events": file["events"], "lost": file["lost"],
                                  "overwritten": file["overwritten"],
                                  "missing": file["missing"], "untold": file["lost_unexplained"]},
                                 text, seed)
            self.assertEqual([prove[key] for key in ("attempted", "in_files", "overwritten",
                                                     "lost")],
                             [truth[key] for key in ("attempted", "events", "overwritten", "lost")])
            self.assertEqual(spans["lost"], truth["lost"])
            header, *shown = map(json.loads, self.run_any("dump", "--all", "--json",
                                                                    path)[0].splitlines())
            self.assertEqual(header["fields"]["EventsLost"], truth["lost"])
            shown = [event for event in shown if event["event_class_id"] in (RED, BLUE)]
            self.assertEqual(len(shown), truth["events"])
            for part in ("by_cpu", "by_event"):
                self.assertEqual(sum(one["events"] for one in stat[part]), truth["events"])
            self.assertEqual(sum(sum(one["over_time"]) for one in report["by_cpu"]),
                             truth["events"])
            self.assertEqual(sum(one["events"] for one in report["by_event"])
                             + report["other_events"], truth["events"])
            self.assertEqual(stat["damage_count"], report["files"][0]["damage_count"])
            self.check_rates(stat, report, spans, words)

    def test_of_random_sessions_that_are_relogged_or_overlap(self):
        for seed in range(12):
            data, truth = self.session(random.Random(seed))
            path, copy = self.write("s.etl", data), self.write("copy.etl", data)
            merged = os.path.join(self.folder, f"merged{seed}.etl")
            self.run_any("convert", "--to", "etl", "--output", merged, path)
            for stat in (self.stat_json(merged)[0],
                         json.loads(self.run_any("report", "--json", merged)[0])["files"][0]):
                self.assertEqual([stat[key] for key in ("events", "lost",
                                                        "overwritten")],
                                 [truth[key] for key in ("events", "lost", "overwritten")], seed)
            both = json.loads(self.run_any("report", "--json", path, copy)[0])
            self.assertEqual(both["selection"]["events"], truth["events"], seed)
            for key in ("events", "repeated_events"):
                self.assertEqual(sum(file[key] for file in both["files"]), truth["events"],
                                 (seed, key))
            self.assertEqual(sum(sum(one["over_time"]) for one in both["by_cpu"]),
                             truth["events"], seed)
            self.assertEqual(sum(one["events"] for one in both["by_event"])
                             + both["other_events"], truth["events"], seed)
            again = os.path.join(self.folder, f"again{seed}.etl")
            self.run_any("convert", "--to", "etl", "--output", again, path, copy)
            self.assertEqual(self.stat_json(again)[0]["events"], truth["events"], seed)

    def snapshots(self, chance):
        """Of one random session at several moments, each with all that it has lost so far; and what
        is true of all together."""
        streams = range(chance.randrange(1, 4))
        slots = [[[etl.classic(chance.choice((RED, BLUE)), T + 10_000 * number + 100 * n + p,
                               payload=bytes(chance.randrange(40)))
                   for n in range(chance.randrange(1, 20))] for number in range(6)]
                 for p in streams]
        losses, paths, seen = [], [], {}
        for moment in range(chance.randrange(2, 5)):
            losses += [(chance.randrange(1, 1000), chance.choice((etl.NO_BUFFER, etl.WRITE_ERROR)))
                       for _ in range(chance.randrange(3))]
            untold = chance.choice((0, 0, 7)) if moment == 0 else untold
            lost = sum(events for events, _ in losses) + untold
            held = [(p, number, slots[p][number]) for p in streams
                    for number in range(moment, chance.randrange(moment + 1, 7))]
            seen.update({(p, number): len(records) for p, number, records in held})
            paths.append(self.write(f"at{moment}.etl", etl.trace(
                [(p, records) for p, _, records in held], mode=0x400, processors=len(streams),
                events_lost=lost, own=[etl.totals(lost_events=lost),
                                       *(etl.loss(T + n, T + n + 9, events, n % len(streams), cause)
                                         for n, (events, cause) in enumerate(losses))])))
        chance.shuffle(paths)
        return paths, sum(seen.values()), lost, untold

    def test_of_random_snapshots_of_one_session_together(self):
        for seed in range(15):
            paths, events, lost, untold = self.snapshots(random.Random(seed))
            report, spans, why, advise = (json.loads(self.run_any(command, "--json", *paths)[0])
                                          for command in ("report", "spans", "why", "advise"))
            merged = os.path.join(self.folder, f"together{seed}.etl")
            self.run_any("convert", "--to", "etl", "--output", merged, *paths)
            stat, = self.stat_json(merged)
            files = report["files"]
            self.assertEqual([sum(file["events"] for file in files),
                              sum(sum(one["over_time"]) for one in report["by_cpu"]),
                              stat["events"]], [events] * 3, seed)
            self.assertEqual([sum(file["lost"] - file["repeated_lost"]
                                  for file in files), spans["lost"],
                              why["lost"], advise["lost"], stat["lost"]],
                             [lost] * 5, seed)
            self.assertEqual([sum(loss["count"] for loss in report["losses"]),
                              sum(loss["events"] for loss in stat["losses"])],
                             [lost - untold] * 2, seed)
            self.assertEqual([sum(file["lost_unexplained"] for file in files),
                              stat["lost_unexplained"]],
                             [untold] * 2, seed)

    def check_rates(self, stat, report, spans, words):
        rate = report["other_rate"] if report["other_events"] else 0
        rate += sum(name["rate"] for name in report["by_event"])
        self.assertEqual(stat["duration"], spans["covered_duration"])
        self.assertEqual(report["covered_duration"], stat["duration"])
        self.assertAlmostEqual(rate, stat["rate"], 3)
        self.assertEqual(stat["rate"], report["files"][0]["rate"])
        if stat["events"]:
            self.assertAlmostEqual(stat["events"] * 1e9 / stat["duration"], stat["rate"], 3)
        self.assertIn(f"  covers        {stat['duration'] / 1e9:.9f} s, ", words)

    def test_the_page_has_what_json_has(self):
        data, _ = self.session(random.Random(3))
        path, page = self.write("s.etl", data), os.path.join(self.folder, "page.html")
        out, _ = self.run_any("report", "--json", path)
        _, errors = self.run_any("report", "--html", "-o", page, path)
        if "without d3" in errors:
            self.skipTest("it was built without d3")
        with open(page, encoding="utf-8") as file:
            found, = re.findall(r'<script type="application/json" id="data">(.*?)</script>',
                                file.read(), re.S)
        self.assertEqual(json.loads(found), json.loads(out))


if __name__ == "__main__":
    main()
