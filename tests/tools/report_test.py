# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas report`: everything over time, beside what the other commands say of the same files.

usage: report_test.py PATH_OF_ETWAS TEST_CLASS
"""

import collections
import json
import random
import struct

import etl_build as etl
from etl_build import READY, kernel_loss, ready, switch, thread_event
from spans_test import CHECKPOINT, END, START, T, Made, order
from tool_case import BLUE, DAMAGED, FAILED, HEAP, NO, RED, ToolTest, main

HOSTILE = ("</script><script>document.title='owned'</script>", "<img src=x onerror=alert(1)>",
           "\u2028\u2029", "]]>&amp;\"'\\", "\x1b[2J\x07\x00"[:-1], "<!--<script>", "\u202e",
           "\U0001f600")


def allocation(ticks, address, size, *frames, kind=10, third=None):
    """A call of heaptrace with its stack."""
    words = struct.pack("<QQ", size, address) + (struct.pack("<Q", third) if third is not None
                                                 else b"")
    return etl.classic(HEAP, T + ticks, kind=kind, version=1,
                       payload=words + struct.pack(f"<H{len(frames)}Q", len(frames), *frames))


def free(ticks, address):
    return etl.classic(HEAP, T + ticks, kind=14, version=1,
                       payload=struct.pack("<QQH", 0, address, 0))


class ReportTest(ToolTest):
    def file(self, *per_processor, name="r.etl", session="session", **options):
        """A file of one stream for each processor, from 0."""
        buffers = [(processor, records[at:at + 50]) for processor, records
                   in enumerate(per_processor)
                   for at in range(0, len(records), 50)]
        return self.write(name, etl.trace(buffers, processors=max(len(per_processor), 1),
                                          name=session, **options))

    def report(self, *paths, **options):
        out, _ = self.run_etwas("report", "--json", *paths, **options)
        return json.loads(out, parse_constant=self.fail)

    def one(self, command, *arguments, **options):
        return json.loads(self.run_etwas(*command.split(), "--json", *arguments, **options)[0])

    def assert_within(self, part, whole):
        """Each number and text of the one is in the other."""
        for key, value in part.items():
            if not key.endswith("over_time") and key not in ("tree_events", "tree_events_left_out",
                                                             "file_number"):
                self.assertEqual(value, whole[key], key)


class Same(ReportTest):
    """Sums over time are what the commands say that count at once."""

    def test_events_by_name_and_processor(self):
        chance = random.Random(1)
        names = [f"E{i}" for i in range(40)]
        per_processor, counts = [], collections.Counter()
        for processor in range(3):
            ticks, records = 0, []
            for _ in range(300):
                ticks += chance.choice((1, 5, 10_000))
                name = names[min(int(chance.expovariate(0.2)), 39)]
                counts["P/" + name] += 1
                records.append(etl.tl_event(RED, T + ticks, "P", name))
            per_processor.append(records)
        path = self.file(*per_processor)
        told, stat = self.report(path), self.stat_json(path)[0]
        self.assert_within(told["files"][0], stat)
        self.assertEqual(told["files"][0]["file"], path)
        self.assert_within(told["sessions"][0] | {"sources": None},
                           self.one("stat --prove", path, expect=NO) | {"sources": None})
        self.assertEqual([(p["cpu"], p["events"], p["payload_bytes"])
                          for p in told["by_cpu"]],
                         [(p["cpu"], p["events"], p["payload_bytes"])
                          for p in stat["by_cpu"]])
        self.assertEqual([sum(p["over_time"]) for p in told["by_cpu"]], [300] * 3)
        shown = {name["event"]: name["events"] for name in told["by_event"]}
        self.assertEqual(len(shown), 24)
        self.assertEqual(shown, {name: counts[name] for name in shown})
        self.assertGreaterEqual(min(shown.values()), max(counts[name] for name in counts
                                                         if name not in shown))
        self.assertEqual([sum(name["over_time"]) for name in told["by_event"]],
                         list(shown.values()))
        rest = 900 - sum(shown.values())
        self.assertEqual((told["other_kinds"], told["other_events"],
                          sum(told["other_over_time"])),
                         (len(counts) - 24, rest, rest))
        self.assertTrue(all(len(name["over_time"]) == told["axis"]["columns"]
                            for name in told["by_event"]))

    def test_a_column_has_the_events_of_its_time(self):
        ticks = [0, 1, 100, 100, 959, 959, 959]  # 96 us in columns of 200 ns
        told = self.report(self.file([etl.classic(RED, T + t) for t in ticks]))
        axis = told["axis"]
        self.assertEqual((axis["columns"], axis["column_duration"], axis["duration"]),
                         (480, 200, 95_900))
        self.assertEqual(axis["start_time"], "2026-01-01T00:00:00.000000100Z")
        expected = [0] * 480
        for t in ticks:
            expected[t * 100 // 200] += 1
        self.assertEqual(told["by_event"][0]["over_time"], expected)
        self.assertEqual([(p["first_since_start"], p["last_since_start"]) for p in told["by_cpu"]],
                         [(0, 95_900)])

    def test_kinds_of_several_files_are_one_by_name(self):
        paths = [self.file([etl.tl_event(RED, T + i, "P", "E")] * 3
                           + [etl.tl_event(BLUE, T + 9, "P", "E")] * 2, name=f"{i}.etl",
                           session=f"{i}") for i in range(2)]
        told = self.report(*paths)
        self.assertEqual([(name["event"], name["events"]) for name in told["by_event"]],
                         [("P/E", 10)])
        self.assertEqual([file["file"] for file in told["files"]], paths)
        self.assertEqual([(p["file_number"], p["events"]) for p in told["by_cpu"]],
                         [(0, 5), (1, 5)])

    def test_spans_by_class_and_over_time(self):
        for seed in range(5):
            made = Made(seed, 600)
            path = self.file(made.records)
            told, spans = self.report(path), self.one("spans --slowest 10", path)
            self.assert_within({key: told["spans"][key] for key in ("started", "ended", "open",
                                                                    "covered_duration",
                                                                    "replaced")}, spans)
            self.assertEqual(len(told["spans"]["classes"]), told["spans"]["class_count"])
            for mine, its in zip(told["spans"]["classes"], spans["classes"], strict=True):
                self.assert_within(mine, its)
                self.check_over_time(told, mine, made)
            self.assertEqual(len(told["slowest"]), len(spans["slowest"]))
            for mine, its in zip(told["slowest"], spans["slowest"], strict=True):
                self.assert_within(mine, its)

    def check_over_time(self, told, mine, made):
        edges, over = told["spans"]["cell_edges"], mine["over_time"]
        self.assertEqual((edges[0], edges[1], edges[-1]), (0, 20, 1 << 40))
        columns = collections.defaultdict(list)
        begin = min(span["start"] for span in made.all.values())
        for number in made.ended(mine["event_class_id"]):
            column = (made.all[number]["end"] - begin) * 100 // told["axis"]["column_duration"]
            columns[column].append(made.duration(number) * 100)
        self.assertEqual(over["count"], [len(columns[c]) for c in range(told["axis"]["columns"])])
        for column, durations in columns.items():
            if not durations:
                continue
            self.assertEqual((over["min"][column], over["max"][column]),
                             (min(durations), max(durations)))
            median = sorted(durations)[(len(durations) + 1) // 2 - 1]
            self.assertLessEqual(abs(over["p50"][column] - median), median / 1000)
            first, *cells = over["cells"][column]
            expected = [sum(edges[c] <= d < edges[c + 1] for d in durations)
                        for c in range(len(edges) - 1)]
            self.assertEqual([0] * first + cells + [0] * (len(expected) - first - len(cells)),
                             expected)

    def test_the_slowest_have_their_events(self):
        inside = {"parent": 1, "parent_guid": RED}
        records = [order(START, 0, 1), order(START, 10, 2, **inside), order(START, 12, 3, **inside),
                   order(START, 14, 4, parent=2, parent_guid=RED), order(CHECKPOINT, 20, 3),
                   order(CHECKPOINT, 25, 1), *(order(END, 26 + number, number)
                                               for number in (4, 3, 2)), order(END, 50, 1)]
        records = sorted(records, key=lambda record: record[16:24][::-1])
        told = self.report(self.file(records))["slowest"][0]
        spans = told["spans"]
        self.assertEqual([(span["instance"], span["depth"]) for span in spans],
                         [(1, 0), (2, 1), (4, 2), (3, 1)])
        self.assertEqual([(spans[e["span"]]["instance"], e["since_start"], e["tid"], e["event"])
                          for e in told["tree_events"]],
                         [(1, 0, 21, f"{RED}/1"), (2, 1000, 21, f"{RED}/1"),
                          (3, 1200, 21, f"{RED}/1"), (4, 1400, 21, f"{RED}/1"),
                          (3, 2000, 21, f"{RED}/8"), (1, 2500, 21, f"{RED}/8"),
                          (2, 2800, 21, f"{RED}/2"),
                          (3, 2900, 21, f"{RED}/2"), (4, 3000, 21, f"{RED}/2"),
                          (1, 5000, 21, f"{RED}/2")])
        self.assertEqual([span["events"] for span in spans], [1, 0, 0, 1])

    def test_processors_and_processes(self):
        chance = random.Random(2)
        running, ticks, records = 0, 0, [thread_event(3, T, 20 + t, 100 + t) for t in range(15)]
        for _ in range(400):
            ticks += chance.choice((1, 7, 100))
            new = chance.choice([0, *(100 + t for t in range(15) if 100 + t != running)])
            if chance.random() < 0.3 and new:
                records.append(ready(T + ticks, new))
            records.append(switch(T + ticks + 1, running, new, chance.choice((READY, 5))))
            running, ticks = new, ticks + 1
        path = self.file(records)
        told, stat = self.report(path)["cpu"][0], self.one("stat --cpu-time", path)
        self.assert_within({k: v for k, v in told.items()
                            if k not in ("cpus", "processes", "process_count")}, stat)
        self.assertEqual((told["process_count"], len(told["processes"])),
                         (len(stat["processes"]), 10))
        for mine, its in zip(told["cpus"], stat["cpus"], strict=True):
            self.assert_within(mine, its)
            self.assertEqual(sum(mine["busy_over_time"]), its["busy_time"])
        for mine, its in zip(told["processes"], stat["processes"]):
            self.assert_within(mine, its)
            self.assertEqual(sum(mine["running_over_time"]), its["running_time"])
        self.assertEqual(sum(told["other_processes_over_time"]),
                         sum(p["running_time"] for p in stat["processes"][10:]))
        self.assertEqual(sum(told["ready_over_time"]),
                         sum(p["ready_time"] for p in stat["processes"]))
        column = self.report(path)["axis"]["column_duration"]
        self.assertLessEqual(max(told["cpus"][0]["busy_over_time"]), column)

    def test_the_heap_by_stack(self):
        chance = random.Random(3)
        records, live, ticks = [], {}, 0
        for i in range(1, 500):
            ticks += chance.choice((1, 50))
            if live and chance.random() < 0.4:
                address = chance.choice(sorted(live))
                records.append(free(ticks, address))
                del live[address]
            else:
                live[i * 4096] = chance.randrange(1, 5000)
                records.append(allocation(ticks, i * 4096, live[i * 4096],
                                          0x1000 + chance.randrange(60), 0x2000))
        path = self.file(records)
        told, stat = self.report(path)["heap"][0], self.one("stat --heap -n 40", path)
        self.assert_within(told, {**stat, "stacks": told["stacks"]})
        self.assertEqual(len(told["stacks"]), 40)
        for i, (mine, its) in enumerate(zip(told["stacks"], stat["stacks"], strict=True)):
            self.assert_within(mine, its)
            self.assertEqual("live_over_time" in mine, i < 6)
            if i < 6:
                self.assertEqual(mine["live_over_time"][-1], its["live_bytes"])
        self.assertEqual(told["live_over_time"][-1], sum(live.values()))

    def test_losses_by_cause_and_processor_when_they_were(self):
        path = self.file([etl.classic(RED, T), kernel_loss(T + 500, T + 400, 7),
                          kernel_loss(T + 510, T + 505, 2)],
                         [etl.classic(RED, T), kernel_loss(T + 900, T, 5),
                          etl.classic(RED, T + 1000)])
        told = self.report(path)
        self.assertEqual([(loss["cpu"], loss["count"], sum(loss["over_time"]))
                          for loss in told["losses"]],
                         [(0, 9, 9), (1, 5, 5)])
        column = told["axis"]["column_duration"]
        self.assertEqual(told["losses"][1]["over_time"][900 * 100 // column], 5)

    def test_what_the_session_lost_is_spread_over_the_time_between_two_looks(self):
        own = [etl.totals(lost_events=1010), etl.loss(T + 100, T + 300, 1000, 1),
               etl.loss(T + 900, T + 900, 4, 1), etl.loss(T - 50, T + 5000, 6,
                                                          cause=etl.WRITE_ERROR)]
        path = self.file([etl.classic(RED, T + ticks) for ticks in (0, 800, 1000)], own=own)
        told = self.report(path)
        self.assertEqual([(loss["source"], loss["cause"], loss.get("cpu"), loss["count"],
                           sum(loss["over_time"]))
                          for loss in told["losses"]],
                         [("session", "no_free_buffer", 1, 1004, 1004),
                          ("session", "write_error", None, 6, 6)])
        column = told["axis"]["column_duration"]
        lost = told["losses"][0]["over_time"]
        begin, middle, end = (ticks * 100 // column for ticks in (100, 200, 300))
        self.assertEqual(sum(lost[:begin] + lost[end + 1:900 * 100 // column]), 0)
        self.assertAlmostEqual(sum(lost[begin:middle]), 500, delta=10)
        self.assertEqual(lost[900 * 100 // column], 4)
        window = self.report("--from", "+0.00005", path)
        self.assertEqual([(loss["count"], sum(loss["over_time"])) for loss in window["losses"]],
                         [(1004, 4), (6, 6)])

    def test_every_key_is_documented(self):
        path = self.file([order(START, 0), order(CHECKPOINT, 1), order(END, 2),
                          kernel_loss(T + 2, T, 1), thread_event(3, T + 2, 20, 21),
                          switch(T + 3, 0, 21), switch(T + 9, 21, 0),
                          allocation(10, 4096, 7, 0x1000)])
        told = self.report(path)
        self.assertTrue(all(told[key] for key in ("cpu", "heap", "slowest", "losses", "by_event")))
        self.assert_keys_documented("(report|stat|spans)", told)


class Narrowed(ReportTest):
    """By `--from`, `--until` and `--where`."""
    OF_THE_TRACE = ("files", "sessions")
    OF_THE_PART = ("axis", "by_event", "other_kinds", "other_events", "other_over_time",
                   "by_cpu", "other_cpus", "spans", "slowest")

    def trace(self, seed):
        """Spans on one processor, other events on the next, calls of heaptrace and switches on the
        last."""
        made = Made(seed, 300)
        ticks = sorted(made.random.randrange(made.end) for _ in range(200))
        named = [etl.tl_event(RED, T + at, "P", f"E{at % 40}") for at in ticks]
        rest = [record for n, at in enumerate(ticks[:40]) for record in
                (allocation(at, 4096 * (n + 1), 10, 0x1000),
                 switch(T + at, 0 if n % 2 else 9, 9 if n % 2 else 0))]
        return made, self.file(made.records, named, rest)

    def times(self, path, chance):
        whole = self.dump_json(path)
        first, last = sorted(chance.sample(range(len(whole)), 2))
        return whole[first]["time"], whole[last]["time"]

    def test_of_a_window_it_says_what_it_says_of_a_file_that_has_nothing_else(self):
        for seed in range(8):
            made, path = self.trace(seed)
            begin, end = self.times(path, made.random)
            cut = self.write("cut.etl", b"")
            window = ("--from", begin, "--until", end)
            self.run_etwas("convert", "--to", "etl", "--output", cut, *window, path)
            whole, told, alone = (self.report(path), self.report(*window, path),
                                  self.report(*window, cut))
            for processor in told["by_cpu"] + alone["by_cpu"]:
                processor.pop("cpu")  # a file made of another one may say none
            for key in self.OF_THE_PART:
                self.assertEqual(told[key], alone[key], key)
            for key in self.OF_THE_TRACE:
                self.assertEqual(told[key], whole[key], key)
            self.assertTrue(whole["cpu"] and whole["heap"])
            self.assertEqual((told["cpu"], told["heap"]), ([], []))
            self.assertEqual(told["selection"]["events"], alone["files"][0]["events"])
            self.assertEqual([told["selection"][key][:27] for key in ("start_time", "end_time")],
                             [begin[:27], end[:27]])

    def test_by_a_filter_it_counts_what_stat_and_spans_count(self):
        for seed, where in enumerate(("event == 'P/E3' || duration > 100us", "opcode == 2",
                                      "instance > 100", "pid == 1")):
            made, path = self.trace(seed)
            begin, _ = self.times(path, made.random)
            for window in ((), ("--from", begin)):
                told, whole = self.report("--where", where, *window,
                                          path), self.report(*window, path)
                stat, spans = (self.one(command, "--where", where, *window, path)
                               for command in ("stat", "spans --slowest 10"))
                self.assertEqual((told["selection"]["events"], told["selection"]["condition"]),
                                 (stat["events"], where))
                self.assertEqual(sum(sum(p["over_time"]) for p in told["by_cpu"]),
                                 stat["events"])
                self.assertEqual([p["events"] for p in told["by_cpu"]],
                                 [p["events"] for p in stat["by_cpu"]])
                self.assertEqual(sum(n["events"] for n in told["by_event"])
                                 + told["other_events"], stat["events"])
                self.assertEqual([sum(n["over_time"]) for n in told["by_event"]],
                                 [n["events"] for n in told["by_event"]])
                for mine, its in zip(told["spans"]["classes"], spans["classes"], strict=True):
                    self.assert_within(mine, its)
                    self.assertEqual(sum(mine["over_time"]["count"]) if its["count"] else 0,
                                     its["count"])
                for mine, its in zip(told["slowest"], spans["slowest"], strict=True):
                    self.assert_within(mine, its)
                for key in ("axis", "cpu", "heap", *self.OF_THE_TRACE):
                    self.assertEqual(told[key], whole[key], key)

    def test_losses_are_of_the_whole_trace_and_drawn_in_the_window(self):
        path = self.file([etl.classic(RED, T), kernel_loss(T + 500, T + 400, 7),
                          kernel_loss(T + 700, T + 600, 2), etl.classic(RED, T + 900)])
        for window, inside in (((), 9), (("--from", "+0.00006"), 2), (("--until", "-0.00003"), 7),
                               (("--from", "+0.00008"), 0)):
            loss, = self.report(*window, path)["losses"]
            self.assertEqual((loss["count"], sum(loss["over_time"])), (9, inside))


class Bad(ReportTest):
    def test_a_file_without_events_and_one_with_a_single_event(self):
        told = self.report(self.file([]))
        self.assertEqual((told["axis"]["columns"], told["axis"]["start_time"], told["by_event"]),
                         (0, None, []))
        told = self.report(self.file([order(START, 0)]))
        self.assertEqual((told["axis"]["columns"], told["by_event"][0]["over_time"]), (1, [1]))

    def test_damage_is_reported_when_it_was(self):
        records = [etl.classic(RED, T + 1000 * i) for i in range(400)]
        data = bytearray(etl.trace([(0, records[at:at + 100]) for at in range(0, 400, 100)]))
        at = etl.BUFFER_BYTES * 3 + 72 + 50 * 48  # in the third buffer of events
        data[at:at + 2] = b"\xff\xff"
        path = self.write("d.etl", data)
        told, stat = self.report(path, expect=DAMAGED), self.stat_json(path, expect=DAMAGED)[0]
        self.assert_within(told["files"][0], stat)
        self.assertEqual(sum(loss["count"] for loss in told["losses"]), stat["damage_count"])
        self.assertEqual(sum(loss["bytes_skipped"] for loss in told["losses"]),
                         stat["bytes_skipped"])
        self.assertEqual(sum(told["by_event"][0]["over_time"]), stat["events"])
        for cut in range(0, len(data), 997):
            self.run_json("report", "--json", self.write("c.etl", data[:cut]))

    def test_absurd_times_do_not_break_it(self):
        chance = random.Random(4)
        for seed in range(20):
            stamps = sorted(chance.choice((-1 << 63, -1, 0, 1, T, 1 << 40, 1 << 62, (1 << 63) - 1))
                            for _ in range(20))
            records = [chance.choice((order(START, s - T, i % 4), order(END, s - T, i % 4),
                                      switch(s, i % 3, (i + 1) % 3)))
                       for i, s in enumerate(stamps)]
            path = self.file(records, name=f"{seed}.etl")
            for told in self.run_json("report", "--json", path):
                self.assertEqual(sum(sum(name["over_time"]) for name in told["by_event"]),
                                 told["files"][0]["events"])

    def test_hostile_names_stay_names(self):
        records = [etl.self_describing(RED, T + i, name.encode(), name.encode(),
                                       etl.tl_field("f", etl.ANSI), name.encode() + b"\0",
                                       opcode=kind, activity=str(RED))
                   for i, name in enumerate(HOSTILE) for kind in (START, END)]
        records.append(etl.self_describing(RED, T + 99, b"\xff\xfe\xed\xa0\x80", b"\xc0\xaf"))
        told = self.report(self.file(records, name="h<script>.etl",
                                     session="</script>"))
        self.assertEqual(sum(name["events"] for name in told["by_event"]), 2 * len(HOSTILE) + 1)
        shown = {name["event"] for name in told["by_event"]}
        self.assertLessEqual({f"{name}/{name}/{kind}" for name in HOSTILE
                              for kind in ("Start", "Stop")}, shown)

    def test_what_is_wrong_with_the_call_or_the_files(self):
        path = self.file([order(START, 0)])
        for arguments, word in ((["--json"], "which file"), ([path], "--html or --json"),
                                (["--json"] + [path] * 1001, "at most 1000")):
            self.assertIn(word, self.run_etwas("report", *arguments, expect=FAILED)[1])
        out, error = self.run_etwas("report", "--json", path, path + "x", expect=FAILED)
        self.assertEqual(len(json.loads(out)["files"]), 1)
        for wrong in (["--from", "+2", "--until", "+1"], ["--until", "noon"],
                      ["--where", "duration >"]):
            self.assertIn("report", self.run_etwas("report", "--json", *wrong, path,
                                                   expect=FAILED)[1])
        self.assertIn("r.etlx", error)
        self.assertEqual(self.run_etwas("report", "--json", path + "x", expect=FAILED)[0], "")


if __name__ == "__main__":
    main()
