# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas spans`: how long instances and activities took, in files with known answers.

usage: spans_test.py PATH_OF_ETWAS TEST_CLASS
"""

import csv
import io
import json
import math
import os
import random
import struct
import unittest.mock
import uuid

import etl_build as etl
from tool_case import BLUE, DAMAGED, FAILED, RED, ToolTest, main

T = 1_000_001  # the first event of the files here
START, END, CHECKPOINT = 1, 2, 8
QUANTILES = {"min": 0, "p50": 500, "p90": 900, "p99": 990, "p99_9": 999, "max": 1000}


def order(kind, ticks, number=1, guid=RED, thread=21, **options):
    return etl.instance(guid, T + ticks, number, kind=kind, process=20, thread=thread, **options)


def quantile(values, per_mille):
    return sorted(values)[max(math.ceil(len(values) * per_mille / 1000) - 1, 0)]


def covered(intervals):
    """How long at least one of them lasts."""
    total, until = 0, None
    for begin, end in sorted(intervals):
        if until is None or begin > until:
            total, until = total + end - begin, end
        elif end > until:
            total, until = total + end - until, end
    return total


class SpansTest(ToolTest):
    def file(self, records, name="s.etl"):
        buffers = [records[at:at + 60] for at in range(0, len(records), 60)]
        return self.write(name, etl.trace([(0, buffer) for buffer in buffers]))

    def spans(self, *arguments, **options):
        return json.loads(self.run_etwas("spans", "--json", *arguments, **options)[0])

    def check_quantiles(self, told, values):
        for key, per_mille in QUANTILES.items():
            true = 100 * quantile(values, per_mille)
            self.assertLessEqual(abs(int(told[key]["value"]) - true), int(told[key]["error"]))
            self.assertLessEqual(int(told[key]["error"]), true / 1000)

    def numbers(self, told, key):
        return [its[key] for its in told["classes"]]


class Made:
    """A random history of spans that are inside of each other, and what must be told of it."""

    def __init__(self, seed, events):
        self.random = random.Random(seed)
        self.records, self.all, self.open = [], {}, {}
        self.most, ticks = {RED: 0, BLUE: 0}, 0
        for number in range(1, events):
            ticks += self.random.choice((1, 2, 50, 3000, 10 ** 6))
            kind = self.random.choice((START, END, CHECKPOINT)) if self.open else START
            if kind == START:
                self.begin(number, ticks)
            else:
                number = self.random.choice(sorted(self.open))
                span = self.all[number]
                self.records.append(order(kind, ticks, number, guid=span["guid"],
                                          thread=self.random.randrange(5)))
                span["events"] += kind == CHECKPOINT
                if kind == END:
                    span["end"] = ticks
                    del self.open[number]
        self.end = ticks

    def begin(self, number, ticks):
        guid = self.random.choice((RED, BLUE))
        parent = self.random.choice([0, *sorted(self.open)])
        named = {"parent": parent, "parent_guid": self.all[parent]["guid"]} if parent else {}
        self.records.append(order(START, ticks, number, guid=guid, thread=number, **named))
        self.all[number] = {"guid": guid, "start": ticks, "end": None, "parent": parent,
                            "events": 0}
        self.open[number] = True
        self.most[guid] = max(self.most[guid], sum(self.all[n]["guid"] == guid for n in self.open))

    def children(self, number):
        return [n for n, span in self.all.items() if span["parent"] == number]

    def duration(self, number):
        return self.all[number]["end"] - self.all[number]["start"]

    def itself(self, number):
        end = self.all[number]["end"]
        inside = [(self.all[n]["start"], min(self.all[n]["end"] or end, end))
                  for n in self.children(number)]
        return self.duration(number) - covered(inside)

    def ended(self, guid=None):
        return [n for n, span in self.all.items() if span["end"] is not None
                and guid in (None, span["guid"])]

    def tree(self, number, depth=0):
        """Parents before their children, as they began. A child that outlives its parent is there
        too."""
        yield number, depth
        for child in self.children(number):
            yield from self.tree(child, depth + 1)


class Told(SpansTest):
    def test_any_history_is_reported(self):
        for seed in range(20):
            made = Made(seed, 400)
            told = self.spans(self.file(made.records))
            self.assertEqual((told["started"], told["ended"], told["open"]),
                             (len(made.all), len(made.ended()), len(made.open)))
            self.assertEqual({its["event_class_id"] for its in told["classes"]}, {RED, BLUE})
            for its in told["classes"]:
                ended = made.ended(its["event_class_id"])
                self.assertEqual((its["count"], its["most_at_once"]),
                                 (len(ended), made.most[its["event_class_id"]]))
                self.assertEqual(its["unfinished"], sum(made.all[n]["guid"] == its["event_class_id"]
                                                        for n in made.open))
                self.assertEqual((its["replaced"], its["orphaned"], its["unmatched"]), (0, 0, 0))
                durations = [made.duration(n) for n in ended]
                self.check_quantiles(its["duration"], durations)
                self.check_quantiles(its["self_duration"], [made.itself(n) for n in ended])
                self.assertEqual(its["total_duration"], 100 * sum(durations))
                seconds = told["covered_duration"] / 1e9
                self.assertAlmostEqual(its["at_once"], sum(durations) / 1e7 / seconds, delta=1e-3)
                self.assertAlmostEqual(its["rate"] * seconds, len(ended), delta=0.01)

    def test_rates_are_over_the_time_that_the_file_covers_as_stat_says_it(self):
        # from the session's start, or a snapshot's first event, to the end
        for mode, seconds in ((1, 2.0), (0x400, 1.7)):
            path = self.write("a.etl",
                              etl.trace([(0, [order(START, 2_999_999), order(END, 3_002_500)])],
                                        mode=mode))
            told = self.spans(path)
            self.assertEqual((told["covered_duration"] / 1e9, told["classes"][0]["rate"]),
                             (seconds, round(1 / seconds, 9)))
            self.assertEqual(self.stat_json(path)[0]["duration"] / 1e9, seconds)

    def test_the_slowest_are_shown_with_what_was_inside(self):
        for seed in range(20):
            made = Made(seed, 400)
            path = self.file(made.records)
            roots = sorted((n for n in made.ended() if made.all[n]["parent"] == 0),
                           key=lambda n: (-made.duration(n), n))
            told = self.spans("--slowest", "5", path)
            self.assertEqual([tree["spans"][0]["instance"] for tree in told["slowest"]], roots[:5])
            for tree, root in zip(told["slowest"], roots):
                self.assertEqual([(s["instance"], s["depth"]) for s in tree["spans"]],
                                 list(made.tree(root)))
                self.assertEqual(tree["left_out"], 0)
                for span in tree["spans"]:
                    number, its = span["instance"], made.all[span["instance"]]
                    self.assertEqual(span["since_start"],
                                     100 * (its["start"] - made.all[root]["start"]))
                    self.assertEqual((span["event_class"], span["pid"], span["tid"],
                                      span["events"]),
                                     (its["guid"], 20, number, its["events"]))
                    done = its["end"] is not None
                    self.assertEqual(span["duration"], 100 * made.duration(number) if done
                                     else None)
                    self.assertEqual(span["self_duration"], 100 * made.itself(number) if done
                                     else None)
            # reading twice counts nothing twice
            self.assertEqual(self.spans(path)["classes"], told["classes"])

    def test_values_of_any_size_have_quantiles(self):
        """Each decade up to a year; and what the last of a cell and the first of the next are."""
        ticks = [1, 9, 10, 11, 5119, 5120, 5121, *(10 ** power for power in range(14)),
                 3 * 10 ** 14]
        begins = [order(START, n, number=n + 1) for n in range(len(ticks))]
        ends = [order(END, len(ticks) + took, number=n + 1) for n, took in enumerate(sorted(ticks))]
        durations = [len(ticks) + took - n for n, took in enumerate(sorted(ticks))]
        its, = self.spans(self.file(begins + ends))["classes"]
        self.check_quantiles(its["duration"], durations)


class Chosen(SpansTest):
    RECORDS = [order(START, 0), order(START, 100, 2, guid=BLUE, parent=1, parent_guid=RED),
               order(END, 400, 2, guid=BLUE), order(END, 1000), order(START, 2000, 3),
               order(END, 2300, 3), order(START, 3000, 4), order(START, 3100, 5, guid=BLUE)]

    def test_a_class_is_chosen_by_name_or_guid(self):
        path = self.file(self.RECORDS)
        told = self.spans("--class", RED.upper(), "--slowest", "9", path)
        self.assertEqual((self.numbers(told, "event_class_id"), self.numbers(told, "count")),
                         ([RED], [2]))
        self.assertEqual([[s["instance"] for s in tree["spans"]] for tree in told["slowest"]],
                         [[1, 2], [3]])
        told = self.spans("--class", BLUE, "--slowest", "9", path)  # also those inside of others
        self.assertEqual([[s["instance"] for s in tree["spans"]] for tree in told["slowest"]],
                         [[2]])
        self.assertIn("note: no class is called 'Green'",
                      self.run_etwas("spans", "--class", "Green", path)[1])

    def test_how_many_of_all_are_asked_for_is_said(self):
        path = self.file(self.RECORDS)
        for asked, said in ((("--where", "duration > 50us"), "; 1 of all is asked for"),
                            (("--where", "instance == 3 || instance == 4"),
                             "; 2 of all are asked for"),
                            (("--class", RED, "--where", "opcode == 1"),
                             "; 3 of all are asked for"), ((), "")):
            self.assertEqual(self.run_etwas("spans", *asked, path)[0].splitlines()[0],
                             f"5 spans in 2.000 s, 3 ended, 2 are still open{said}")

    def test_where_chooses_by_either_event(self):
        path = self.file(self.RECORDS)
        told = self.spans("--where", "duration > 50us", path)
        self.assertEqual((self.numbers(told, "event_class_id"), self.numbers(told, "count")),
                         ([RED], [1]))
        told = self.spans("--where", "instance == 3 || instance == 4", path)
        self.assertEqual((self.numbers(told, "count"), self.numbers(told, "unfinished")),
                         ([1], [1]))
        told = self.spans("--where", "opcode == 2", path)
        self.assertEqual((self.numbers(told, "count"), self.numbers(told, "unfinished")),
                         ([2, 1], [0, 0]))
        self.run_etwas("spans", "--where", "duration >", path, expect=FAILED)

    def test_what_is_not_whole_is_counted(self):
        told = self.spans(self.file([
            order(END, 0, 9), order(START, 10, 1), order(START, 20, 1), order(END, 50, 1),
            order(START, 60, 2), order(START, 70, 3, parent=77, parent_guid=BLUE),
            order(END, 80, 3), order(START, 90, 4, parent=2, parent_guid=RED), order(END, 100, 2),
            order(END, 130, 4)]))
        its, = told["classes"]
        self.assertEqual((its["count"], its["unfinished"], its["replaced"], its["orphaned"],
                          its["unmatched"]),
                         (4, 1, 1, 1, 1))
        self.assertEqual((its["duration"]["min"]["value"], its["duration"]["max"]["value"]),
                         (1000, 4000))
        # 2 ends while its child 4 is open: from 60 to 100, of which 10 are the child's.
        self.assertEqual(its["self_duration"]["max"]["value"], 4000)
        self.check_quantiles(its["self_duration"], [30, 10, 30, 40])

    def test_who_is_replaced_covers_its_parent_until_then(self):
        told = self.spans("--class", RED, self.file([
            order(START, 0), *(order(START, at, 7, guid=BLUE, parent=1, parent_guid=RED)
                               for at in (10, 20)),
            order(END, 30, 7, guid=BLUE), order(END, 100)]))
        its, = told["classes"]
        self.assertEqual(its["self_duration"]["max"]["value"], 8000)

    def test_activities_are_spans_too(self):
        related = etl.extended_item(1, uuid.UUID(RED).bytes_le, False)
        told = self.spans("--slowest", "1", self.file([
            etl.tl_event(BLUE, T, "Shop", "Pay", opcode=1, activity=RED, thread=21),
            etl.tl_event(BLUE, T + 10, "Shop", "Ship", opcode=1, activity=BLUE, thread=22,
                         items=related),
            etl.tl_event(BLUE, T + 20, "Shop", "Ship", opcode=0, activity=BLUE, thread=22),
            etl.tl_event(BLUE, T + 30, "Shop", "Ship", opcode=2, activity=BLUE, thread=22),
            etl.tl_event(BLUE, T + 50, "Shop", "Pay", opcode=2, activity=RED, thread=21)]))
        self.assertEqual(self.numbers(told, "event_class"), ["Shop/Pay", "Shop/Ship"])
        self.assertEqual([its["self_duration"]["max"]["value"] for its in told["classes"]],
                         [3000, 2000])
        self.assertEqual([(s["event_class"], s["activity"], s["depth"], s["tid"], s["events"])
                          for s in told["slowest"][0]["spans"]],
                         [("Shop/Pay", RED, 0, 21, 0), ("Shop/Ship", BLUE, 1, 22, 1)])

    def test_a_tree_has_bounds(self):
        children = [order(kind, 2 * n + kind, n + 2, guid=BLUE, parent=1, parent_guid=RED)
                    for n in range(1200) for kind in (START, END)]
        tree, = self.spans("--slowest", "3",
                           self.file([order(START, 0), *children, order(END, 5000)]))["slowest"]
        self.assertEqual((len(tree["spans"]), tree["left_out"]), (1000, 201))


class Window(SpansTest):
    """`--from` and `--until`: as if the trace had no events but those that dump shows between
    them."""

    def events(self, *arguments):
        return [event for event in self.dump_json(*arguments)
                if event["event_class_id"] in (RED, BLUE)]

    def brute(self, events, guid):
        """What there is of one class, event by event: durations in ns of what ended, and counts of
        the rest."""
        opened, told, most = {}, {"durations": [], "orphaned": 0, "unmatched": 0}, 0
        for event in events:
            at = int(event["time"][20:-1].ljust(9, "0")) + 10 ** 9 * int(event["time"][17:19])
            its = (event["event_class_id"], event["instance"])
            if event["opcode"] == START:
                parent = (event.get("parent_class_id"), event.get("parent_instance", 0))
                told["orphaned"] += event["event_class_id"] == guid and parent[
                    1] != 0 and parent not in opened
                opened[its] = at
                most = max(most, sum(name[0] == guid for name in opened))
            elif event["opcode"] == END and event["event_class_id"] == guid:
                told["unmatched"] += its not in opened
                if its in opened:
                    told["durations"].append(at - opened[its])
            if event["opcode"] == END:
                opened.pop(its, None)
        return told | {"unfinished": sum(name[0] == guid for name in opened), "most_at_once": most}

    def check(self, told, inside):
        classes = {its["event_class_id"]: its for its in told["classes"]}
        for guid in (RED, BLUE):
            brute = self.brute(inside, guid)
            if guid not in classes:
                self.assertFalse(any(event["event_class_id"] == guid
                                     and event["opcode"] != CHECKPOINT
                                     for event in inside))
                continue
            its = classes[guid]
            self.assertEqual(its["count"], len(brute["durations"]))
            self.assertEqual(its["total_duration"], sum(brute["durations"]))
            for key in ("unfinished", "orphaned", "unmatched", "most_at_once"):
                self.assertEqual(its[key], brute[key], key)

    def test_what_is_inside_counts_as_dump_shows_it(self):
        for seed in range(15):
            made = Made(seed, 200)
            path = self.file(made.records)
            whole = self.events(path)
            for _ in range(4):
                first, last = sorted(made.random.sample(range(len(whole)), 2))
                window = ("--from", whole[first]["time"], "--until", whole[last]["time"])
                inside = [event for event in whole if window[1] <= event["time"] <= window[3]]
                told = self.spans(*window, path)
                self.check(told, inside)
                self.assertEqual(told["ended"] + told["open"],
                                 sum(event["opcode"] == START for event in inside))

    def test_it_is_as_a_file_that_has_no_other_events(self):
        """Self times, trees and rates too: beside what is cut out as a file of its own, of two
        files together."""
        for seed in range(8):
            made = [Made(seed, 150), Made(seed + 100, 150)]
            paths = [self.file(made[n].records, name=f"{n}.etl") for n in range(2)]
            whole = self.events(*paths)
            first, last = sorted(made[0].random.sample(range(len(whole)), 2))
            window = ("--from", whole[first]["time"], "--until", whole[last]["time"])
            for options in ((), ("--where", "duration > 1us"), ("--class", BLUE)):
                cut = [self.write(f"{n}.cut", b"") for n in range(2)]
                for path, made_file in zip(paths, cut):
                    self.run_etwas("convert", "--to", "etl", "--output", made_file, *window, path)
                told, alone = (self.run_any("spans", "--json", "--slowest", "4", *options, *rest,
                                            expect=(0, FAILED))[0]
                               for rest in ((*window, *paths), (*window, *cut)))
                told, alone = json.loads(told), json.loads(alone)
                self.assertEqual(told.pop("files"), paths)
                alone.pop("files")
                self.assertEqual(told, alone)

    def test_seconds_count_from_the_ends_of_the_trace(self):
        path = self.file([order(START, 0), order(START, 10_000_000, 2), order(END, 20_000_000),
                          order(END, 30_000_000, 2)])
        for window, counts in ((("--from", "+1"), (1, 0, 1)), (("--from", "+1.0000001"), (0, 0, 2)),
                               (("--until", "-1"), (1, 1, 0)),
                               (("--until", "-1.5"), (0, 2, 0)),
                               (("--from", "+0", "--until", "-0"), (2, 0, 0))):
            its, = self.spans(*window, path)["classes"]
            self.assertEqual((its["count"], its["unfinished"], its["unmatched"]), counts)
        head = self.run_etwas("spans", "--from", "+1", path)[0].splitlines()[0]
        self.assertEqual(head, "1 span in 1.000 s, 1 ended, 1 END is unmatched")
        self.assertEqual(self.spans("--from", "2027-01-01", path)["classes"], [])
        for wrong in (["--from", "+2", "--until", "+1"], ["--from", "noon"], ["--until", "+1x"]):
            self.assertIn("spans", self.run_etwas("spans", *wrong, path, expect=FAILED)[1])


class Bound(SpansTest):
    RECORDS = [*[order(START, n, n + 1) for n in range(40)],
               *[order(END, 100 + n, n + 1) for n in range(40)]]

    def test_what_is_too_much_is_left_out_and_counted(self):
        path = self.file(self.RECORDS)
        told = self.spans("--open", "30", path)
        self.assertEqual([told[key] for key in ("started", "ended", "left_out", "unmatched")],
                         [30, 30, 10, 10])
        self.assertEqual((told["classes"][0]["count"], told["classes"][0]["unmatched"]), (30, 10))
        self.assertIn(", 10 were left out: too many are open (--open)",
                      self.run_etwas("spans", "--open", "30", path)[0])
        self.assertEqual(self.spans("--open", "40", path)["left_out"], 0)


class Errors(SpansTest):
    """Of a session by the cycle counter, three ticks a nanosecond, that read its clocks each
    second."""
    MIDDLE = 1_000_000 + 15_000_000_000  # ticks; START is ten microseconds before

    def counter_file(self, first, second, inside=()):
        """A span from the processor `first` to `second`, ten microseconds long, and what is inside
        of it on `first`."""
        clock_snapshots = [etl.clock_snapshot(1_000_000 + n * 3_000_000_000, 7_000_000
                                              + n * 1_000_000_000, etl.START + n * 10_000_000)
                 for n in range(11)]
        calibration = etl.classic(etl.OWN_CLASS, etl.FIRST_STAMP, kind=0, level=0,
                                  payload=struct.pack("<IIQQqqq", 1, 3, 3, 1, 1_000_000, 0, 0))
        events = [etl.instance(RED, self.MIDDLE - 30_000, 1, kind=START, process=20),
                  etl.instance(RED, self.MIDDLE, 1, kind=END, process=20)]
        per_buffer = [(first, [events[0], *inside]), (second, events[1:])]
        return self.write("c.etl", etl.trace(per_buffer, clock=3,
                                             own=[calibration, etl.totals(), etl.clock_record(),
                                                  *clock_snapshots]))

    def error_of_one_time(self, path):
        events, _ = self.run_etwas("dump", "--json", "--times", "qpc", path)
        return json.loads(events.splitlines()[-1])["time_error"]

    def span(self, path):
        return self.spans("--slowest", "1", path)["slowest"][0]["spans"][0]

    def test_what_both_times_are_off_by_cancels(self):
        path = self.counter_file(0, 0)
        span = self.span(path)
        self.assertEqual((span["duration"], span["duration_error"], span["self_duration_error"]),
                         (10_000, 2, 2))
        self.assertGreater(self.error_of_one_time(path), 20)

    def test_a_window_ends_at_the_nanosecond(self):
        path = self.counter_file(0, 0)
        start, end = (event["time"] for event in self.dump_json(path) if event["event_class_id"]
                      == RED)
        for window, counts in ((("--from", start, "--until", end), (1, 0, 0)),
                               (("--from", "+0.000000001"), (0, 0, 1)),
                               (("--until", "-0.000000001"), (0, 1, 0))):
            its, = self.spans(*window, path)["classes"]
            self.assertEqual((its["count"], its["unfinished"], its["unmatched"]), counts)

    def test_two_processors_may_be_as_far_apart_as_a_time_is_off(self):
        path = self.counter_file(0, 1)
        self.assertEqual(self.span(path)["duration_error"], self.error_of_one_time(path))

    def test_the_time_of_its_own_is_as_wrong_as_what_children_cover_too(self):
        child = [etl.instance(BLUE, self.MIDDLE - 20_000 + ticks, 2, kind=kind, process=20,
                              parent=1, parent_guid=RED)
                 for kind, ticks in ((START, 0), (END, 9000))]
        told = {its["event_class_id"]: its
                for its in self.spans(self.counter_file(0, 0, child))["classes"]}
        self.assertEqual([told[guid]["self_duration"]["max"] for guid in (RED, BLUE)],
                         [{"value": 7000, "error": 4}, {"value": 3000, "error": 2}])

    def test_dump_and_why_say_it_too(self):
        path = self.counter_file(0, 0)
        out, _ = self.run_etwas("dump", "--columns", "duration,duration_error", path)
        self.assertEqual(out.splitlines()[-1].split(), ["10000", str(self.error_of_one_time(path))])
        out, _ = self.run_etwas("dump", "--json", "--where", "duration_error < 1ms", path)
        self.assertEqual(json.loads(out)["duration_error"], self.error_of_one_time(path))
        told = json.loads(self.run_etwas("why", "--json", path)[0])["slowest"][0]
        self.assertEqual((told["duration"], told["duration_error"]), (10_000, 2))
        self.assertIn(" took 10.0 µs, give or take 2.00 ns, from ", self.run_etwas("why", path)[0])

    def test_machines_are_one_time_line_by_their_wall_clocks(self):
        """The other one booted a day earlier, so that its performance counter is as far ahead."""
        day = 864_000_000_000
        related = etl.extended_item(1, uuid.UUID(RED).bytes_le, True)
        here = self.write("here.etl", etl.trace([(0, [
            etl.tl_event(BLUE, T, "Shop", "Pay", opcode=1, activity=RED),
            etl.tl_event(BLUE, T + 100, "Shop", "Pay", opcode=2, activity=RED)])]))
        there = etl.trace([(0, [
            etl.tl_event(BLUE, T + day + 20, "Bank", "Book", opcode=1, activity=BLUE,
                         items=related),
            etl.tl_event(BLUE, T + day + 50, "Bank", "Book", opcode=2, activity=BLUE)])])
        for was, becomes in ((etl.FIRST_STAMP, etl.FIRST_STAMP + day),
                             (etl.START - 1, etl.START - 1 - day)):
            there = there.replace(struct.pack("<q", was), struct.pack("<q", becomes))
        told = self.spans("--slowest", "1", here, self.write("there.etl", there))
        self.assertEqual(told["covered_duration"], 2_000_000_000)
        pay, book = told["slowest"][0]["spans"]
        self.assertEqual((pay["self_duration"], pay["duration_error"], book["since_start"],
                          book["duration"],
                          book["duration_error"]),
                         (7000, 0, 2000, 3000, 0))

    def test_a_file_that_does_not_say_has_no_error(self):
        path = self.write("h.etl", etl.trace([(0, Chosen.RECORDS)], clock=3))
        self.assertIsNone(self.spans(path)["classes"][0]["duration"]["max"]["error"])
        self.assertRegex(self.run_etwas("spans", path)[0], r"(?m)  \?$")


class Forms(SpansTest):
    def set_locale(self, name):
        patch = unittest.mock.patch.dict(os.environ, LC_ALL=name)
        patch.start()
        self.addCleanup(patch.stop)

    def test_text(self):
        path = self.file(Chosen.RECORDS)
        out, _ = self.run_etwas("spans", "--slowest", "1", path)
        head, table, tree = out.split("\n\n")
        self.assertEqual(head, "5 spans in 2.000 s, 3 ended, 2 are still open")
        self.assertRegex(table, rf"\n{RED} +2 +\S+ +\S+ +1  +30\.0 µs +30\.0 µs +100 µs .* 0 ns\n")
        self.assertRegex(table, r"\n +itself +30\.0 µs ")
        self.assertRegex(table, r"\n +1 unfinished\n")
        root, child = tree.splitlines()[2:]
        self.assertRegex(root, rf"^{RED} 1 +0 ns +100 µs +70\.0 µs +21  \|={{40}}\|$")
        self.assertRegex(child, rf"^  {BLUE} 2 +10\.0 µs +30\.0 µs +30\.0 µs +21  "
                                r"\| {4}={13} +\|$")

    def test_where_the_locale_has_no_utf_8_microseconds_are_us(self):
        self.set_locale("C")
        out, _ = self.run_etwas("spans", self.file(Chosen.RECORDS))
        self.assertRegex(out, r"\n +itself +30\.0 us ")
        self.assertTrue(out.isascii())

    def test_csv(self):
        path = self.file(Chosen.RECORDS)
        out, _ = self.run_etwas("spans", "--csv", path)
        first, second = csv.DictReader(io.StringIO(out, newline=""))
        told = self.spans("--slowest", "2", path)
        for row, its in zip((first, second), told["classes"]):
            for key in ("event_class", "event_class_id", "count", "most_at_once", "unfinished",
                        "replaced",
                        "orphaned", "unmatched"):
                self.assertEqual(row[key], str(its[key]))
            for kind in ("duration", "self_duration"):
                for key in QUANTILES:
                    self.assertEqual(row[f"{kind}_{key}"], str(its[kind][key]["value"]))
            self.assertEqual((row["duration_error"], row["self_duration_error"]), ("0", "0"))
        out, _ = self.run_etwas("spans", "--csv", "--slowest", "2", path)
        rows = list(csv.DictReader(io.StringIO(out, newline="")))
        self.assertEqual([(row["tree"], row["instance"]) for row in rows],
                         [("1", "1"), ("1", "2"), ("2", "3")])
        for row, span in zip(rows, (span for tree in told["slowest"] for span in tree["spans"])):
            for key in ("depth", "event_class", "pid", "tid", "since_start", "duration",
                        "self_duration",
                        "events"):
                self.assertEqual(row[key], str(span[key]))

    def test_help_names_each_key(self):
        self.assert_keys_documented("spans",
                                    self.spans("--slowest", "1", self.file(Chosen.RECORDS)))

    def test_damage_and_misuse(self):
        whole = self.file(Chosen.RECORDS * 40)
        with open(whole, "rb") as file:
            data = bytearray(file.read())
        data[8192 + 200:8192 + 400] = bytes(200)
        damaged = self.write("d.etl", bytes(data))
        self.run_json("spans", "--json", damaged, expect=(DAMAGED,))
        for content, said in ((b"no trace", "not an event trace"), (b"", "the file is empty")):
            path = self.write("no.etl", content)
            _, error = self.run_etwas("spans", path, expect=FAILED)
            self.assertEqual(error, f"etwas spans: {path}: {said}\n")
        _, error = self.run_etwas("spans", self.write("none.etl", etl.trace([
            (0, [etl.classic(RED, etl.FIRST_STAMP, kind=9)])])))
        self.assertIn("etwas spans: note: no event is a START or a STOP", error)
        for wrong in ([], ["--slowest", "0", whole], ["--slowest", "1001", whole],
                      ["--slowest", "x", whole],
                      ["--open", "0", whole], ["--open", "67108865", whole],
                      ["--json", "--csv", whole], ["--no", whole]):
            self.assertIn("spans", self.run_etwas("spans", *wrong, expect=FAILED)[1])
        self.assertEqual(self.run_etwas("spans", self.file([]))[0].splitlines()[0],
                         "0 spans in 2.000 s")


if __name__ == "__main__":
    main()
