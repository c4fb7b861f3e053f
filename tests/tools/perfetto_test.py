# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas convert --to perfetto`: what Perfetto's own trace processor makes of it, beside what our
reader says.

usage: perfetto_test.py PATH_OF_ETWAS FOLDER_FOR_THE_ENGINE TEST_CLASS
"""

import calendar
import fcntl
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import time
import types
import unittest
import uuid

import etl_build as etl
from tool_case import (BLUE, DAMAGED, FINE, HEAP, NO_GUID, RED, ToolTest, heap_events, main,
                       windows_files)

T = 1_000_001
START, END, CHECKPOINT = 1, 2, 8
SHARED = os.environ.get("ETWAS_SHARED_DIR", "/nonexistent")
TRACE_SQL = os.path.join(SHARED, "tools", "trace-sql")
DATA_LOSS = ("traced_buf_trace_writer_packet_loss", "ftrace_cpu_has_data_loss",
             "mismatched_sched_switch_tids")


def engine():
    """The folder of the trace processor, installed once a build; a sentence instead: it cannot be
    had."""
    if "TRACE_SQL_ENGINE" in os.environ:
        return os.environ["TRACE_SQL_ENGINE"], None
    if not os.path.isdir(TRACE_SQL) or shutil.which("npm") is None:
        return None, "there is no trace-sql, or no npm to install its engine"
    folder = sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(os.path.join(folder, "node_modules")):
            for name in ("package.json", "package-lock.json"):
                shutil.copy(os.path.join(TRACE_SQL, name), folder)
            try:
                subprocess.run(["npm", "ci", "--prefix", folder, "--ignore-scripts", "--no-audit",
                                "--no-fund"],
                               check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               timeout=60)
            except (subprocess.SubprocessError, OSError):
                shutil.rmtree(os.path.join(folder, "node_modules"), ignore_errors=True)
                return None, "the trace processor cannot be installed from npm"
    return folder, None


class PerfettoTest(ToolTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder, missing = engine()
        if missing:
            raise unittest.SkipTest(missing)
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trace_processor.mjs")
        cls.processor = subprocess.Popen(
            [os.environ.get("NODE", "node"), "--expose-gc", program,
             os.path.join(TRACE_SQL, "trace-sql.mjs"), folder],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        cls.addClassCleanup(cls.processor.communicate)

    def convert(self, *arguments, expect=FINE):
        path = os.path.join(self.folder, "out.perfetto")
        self.run_etwas("convert", "--to", "perfetto", "--force", "--output", path, *arguments,
                       expect=expect)
        return path

    def ask(self, trace, *statements, losses=False):
        """The rows of each statement; the trace must have loaded without any error counted, but
        losses if there are."""
        wrong = ("select name, value from stats where value > 0 and severity in ('error', "
                 "'data_loss')")
        self.processor.stdin.write(json.dumps([trace, *statements, wrong]) + "\n")
        self.processor.stdin.flush()
        answers = json.loads(self.processor.stdout.readline()
                             or '{"error": "the trace processor has ended"}')
        self.assertNotIn("error", answers)
        *answers, wrong = [[json.loads(row) for row in answer.splitlines()] for answer in answers]
        self.assertEqual([row for row in wrong if not (losses and row["name"] in DATA_LOSS)], [])
        return answers if len(answers) > 1 else answers[0]

    SLICES = """select s.id, s.ts, s.track_id, s.dur, s.name, s.category, s.depth,
            s.parent_id parent, t.name lane, th.tid, p.pid,
        (select group_concat(key || '=' || coalesce(display_value, ''), '|') from
            (select * from args where arg_set_id = s.arg_set_id and key like 'debug.%' order by id))
            args
        from slice s join track t on s.track_id = t.id left join thread_track tt on tt.id = t.id
        left join thread th using (utid) left join process_track pt on pt.id = t.id
        left join process p on p.upid = coalesce(th.upid, pt.upid) order by s.ts, s.id"""

    FLOWS = "select slice_out, slice_in from flow"
    THREADS = ("select tid, pid, t.name, p.name process from thread t left join process p using "
               "(upid) where tid > 0 order by tid")
    COUNTERS = ("select c.ts, c.value, t.name from counter c join track t on t.id = c.track_id "
                "order by c.ts, c.id")

    def load(self, *arguments, expect=FINE, losses=False):
        """What is converted, as the trace processor has it: slices with their annotations as
        `args`, and all else."""
        slices, flows, threads, counters = self.ask(self.convert(*arguments, expect=expect),
                                                    self.SLICES, self.FLOWS, self.THREADS,
                                                    self.COUNTERS, losses=losses)
        for row in slices:
            row["args"] = dict(pair.split("=", 1) for pair in (row["args"] or "")
                               .replace("debug.", "").split("|") if pair)
        return types.SimpleNamespace(slices=slices, flows=flows, threads=threads, counters=counters)

    def reader(self, *arguments, expect=FINE):
        """What our own reader has, but for what it says of the trace itself; `ns` since 1970."""
        out, _ = self.run_etwas("dump", "--json", *arguments, expect=expect)
        events = [json.loads(line) for line in out.splitlines()]
        events = [e for e in events
                  if e["event_class_id"] != "68fdd900-4a3e-11d1-84f4-0000f80464e3"]
        for e in events:
            seconds = calendar.timegm(time.strptime(e["time"][:19], "%Y-%m-%dT%H:%M:%S"))
            e["ns"] = seconds * 10**9 + int(e["time"][20:-1].ljust(9, "0"))
        return events


def order(kind, ticks, number=1, thread=21, parent=0, guid=RED, process=20):
    return etl.instance(guid, T + ticks, number, parent=parent, parent_guid=RED if parent
                        else NO_GUID, kind=kind, process=process, thread=thread)


class Spans(PerfettoTest):
    def spans(self, *events, expect=FINE):
        path = self.write("a.etl", etl.trace([(0, list(events))]))
        loaded = self.load(path, expect=expect, losses=expect == DAMAGED)
        slices = [s for s in loaded.slices if s["lane"] != "losses"]
        first = min(s["ts"] for s in slices)
        self.flows = loaded.flows
        return [((s["ts"] - first) // 100, s["dur"] // 100, int(s["args"].get("instance", 0)),
                 s["lane"] is not None, s["depth"])
                for s in slices], slices

    def arrows(self, slices):
        number = {s["id"]: int(s["args"]["instance"]) for s in slices}
        return sorted((number[f["slice_out"]], number[f["slice_in"]]) for f in self.flows)

    def test_what_is_nested_is_nested_on_the_track_of_its_thread(self):
        told, slices = self.spans(order(START, 0), order(START, 10, 2, parent=1),
                                  order(CHECKPOINT, 15, 2), order(END, 20, 2),
                                  order(START, 20, 3, parent=1), order(END, 25, 3), order(END, 30))
        self.assertEqual(told, [(0, 30, 1, False, 0), (10, 10, 2, False, 1), (15, 0, 2, False, 2),
                                (20, 5, 3, False, 1)])
        self.assertEqual({(s["pid"], s["tid"]) for s in slices}, {(20, 21)})
        self.assertEqual(self.arrows(slices), [])
        self.assertNotIn("parent", slices[1]["args"])

    def test_what_outlives_the_span_around_it_is_on_a_track_of_its_own(self):
        told, slices = self.spans(order(START, 0), order(START, 10, 2, parent=1),
                                  order(START, 12, 3, parent=2), order(END, 14, 3), order(END, 20),
                                  order(END, 30, 2))
        self.assertEqual(told, [(0, 20, 1, False, 0), (10, 20, 2, True, 0), (12, 2, 3, False, 1)])
        self.assertEqual(self.arrows(slices), [(1, 2), (2, 3)])
        self.assertEqual((slices[1]["lane"], slices[1]["pid"], slices[1]["args"]["thread"]),
                         (RED, 20, "21"))

    def test_what_ends_on_another_thread_is_too(self):
        told, slices = self.spans(order(START, 0), order(START, 1, 2), order(END, 5, 1, thread=22),
                                  order(END, 9, 2))
        self.assertEqual(told, [(0, 5, 1, True, 0), (1, 8, 2, False, 0)])
        self.assertEqual(slices[0]["args"]["end_thread"], "22")

    def test_an_arrow_leads_to_each_child_that_is_elsewhere(self):
        children = [order(kind, 10 + number, number, parent=1, thread=30 + number)
                    for number in range(2, 9) for kind in (START, END)]
        _, slices = self.spans(order(START, 0), *children, order(END, 90))
        self.assertEqual(self.arrows(slices), [(1, number) for number in range(2, 9)])

    def test_what_did_not_begin_or_end_says_so(self):
        told, slices = self.spans(order(END, 0, 5), order(START, 10, 6), order(START, 20, 7),
                                  order(START, 30, 6), order(END, 40, 6), order(CHECKPOINT, 50, 9))
        self.assertEqual(told, [(0, 0, 5, False, 0), (10, 20, 6, True, 0), (20, 30, 7, True, 0),
                                (30, 10, 6, False, 0),
                                (50, 0, 9, False, 0)])
        self.assertEqual(slices[0]["args"]["start"], "lost")
        self.assertEqual([s["args"].get("end") for s in slices], [None, "lost", "lost", None, None])

    def test_of_more_than_255_files_each_ends_its_own(self):
        paths = [self.write(f"{n}.etl",
                            etl.trace([(0, [order(START, 1000 * n, n + 1),
                                            order(CHECKPOINT, 1000 * n + 100, n + 1)])]))
                 for n in range(300)]
        loaded = self.load(*paths)
        begun = [s for s in loaded.slices if s["args"].get("end") == "lost"]
        self.assertEqual([s["dur"] for s in begun], [10_000] * len(paths))

    def test_many_at_once_share_as_few_tracks_as_can_be(self):
        events = [order(kind, at, number, thread=21 + kind) for number in range(200)
                  for kind, at in ((START, 10 * number), (END, 10 * number + 45))]
        events.sort(key=lambda event: struct.unpack_from("<q", event, 16))
        path = self.write("a.etl", etl.trace([(0, events[at:at + 50]) for at in range(0, 400, 50)]))
        slices = self.load(path).slices
        self.assertEqual([s["dur"] for s in slices], [4500] * 200)
        self.assertEqual(len({s["track_id"] for s in slices}), 5)

    def test_deeply_nested_ones_are_all_there(self):
        events = [order(START, number, number) for number in range(600)]
        events += [order(END, 2000 - number, number) for number in range(599, -1, -1)]
        path = self.write("a.etl",
                          etl.trace([(0, events[at:at + 50]) for at in range(0, 1200, 50)]))
        slices = self.load(path).slices
        self.assertEqual([(s["dur"] // 100, int(s["args"]["instance"])) for s in slices],
                         [(2000 - 2 * number, number) for number in range(600)])

    def test_a_file_that_goes_back_in_time_spoils_no_other_span(self):
        told, _ = self.spans(order(START, 100, 1), order(START, 50, 2), order(END, 60, 2),
                             order(END, 110, 1), order(START, 120, 3), order(END, 115, 3),
                             order(START, 130, 4), order(END, 140, 4), expect=DAMAGED)
        self.assertEqual(sorted((number, duration) for _, duration, number, _, _ in told),
                         [(1, 10), (2, 10), (3, 0), (4, 10)])

    def test_random_ones_are_those_of_our_own_reader(self):
        chance = random.Random(15)
        events, open_spans, number = [], [], 0
        for ticks in range(0, 60_000, 10):
            thread = chance.randrange(4)
            if open_spans and chance.random() < 0.5:
                own = [s for s in open_spans if s[1] == thread]
                it = own[-1] if own and chance.random() < 0.8 else chance.choice(open_spans)
                open_spans.remove(it)
                if chance.random() < 0.97:
                    events.append((it[1] % 2,
                                   order(END, ticks, it[0], thread=21
                                         + (it[1] if chance.random() < 0.9 else thread))))
            else:
                number += 1
                parent = chance.choice(open_spans)[0] if open_spans and chance.random() < 0.7 else 0
                open_spans.append((number, thread))
                events.append((thread % 2, order(START, ticks, number, thread=21 + thread,
                                                 parent=parent)))
        buffers = [(cpu, [e for c, e in events[at:at + 90] if c == cpu])
                   for at in range(0, len(events), 90) for cpu in (0, 1)]
        path = self.write("a.etl", etl.trace([b for b in buffers if b[1]]))
        begun, expected, parents = {}, {}, {}
        for event in self.reader(path):
            key, ns = event["instance"], event["ns"]
            if event["opcode"] == START:
                begun[key], parents[key] = ns, event.get("parent_instance", 0)
            else:
                expected[key] = ns - begun[key]
        loaded = self.load(path)
        slices = loaded.slices
        self.assertEqual(len(slices), number)
        self.assertEqual({int(s["args"]["instance"]): s["dur"] for s in slices
                          if s["args"].get("end") != "lost"}, expected)
        # Each parent is the slice around, or the other end of an arrow.
        by_id = {s["id"]: s for s in slices}
        arrows = {f["slice_in"]: f["slice_out"] for f in loaded.flows}
        ended = {key: begun[key] + expected.get(key, 10**18) for key in begun}
        for s in slices:
            key = int(s["args"]["instance"])
            parent = parents[key]
            if parent == 0 or ended[parent] < begun[key]:
                continue
            around, at = set(), s
            while at["parent"] is not None:
                at = by_id[at["parent"]]
                around.add(int(at["args"]["instance"]))
            arrow = arrows.get(s["id"])
            self.assertTrue(parent in around or int(by_id[arrow]["args"]["instance"]) == parent,
                            key)


class Activities(PerfettoTest):
    MAKER = "8f31-eebeeed0f101"

    def counted(self, number):
        return f"{number:08x}-0000-0000-{self.MAKER}"

    def activity(self, kind, ticks, activity, number=None, **options):
        field = {} if number is None else {"fields": etl.tl_field("number", 8),
                                           "payload": struct.pack("<I", number)}
        return etl.tl_event(BLUE, T + ticks, "Shop", "Request", activity=activity, opcode=kind,
                            process=20, **field, **options)

    def test_ids_that_a_process_counts_are_numbers_and_others_text(self):
        related = etl.extended_item(1, uuid.UUID(self.counted(17)).bytes_le, False)
        foreign = etl.extended_item(1, uuid.UUID(RED).bytes_le, False)
        first, second, other = self.counted(17), self.counted(
            18), "00000013-0000-0000-aaaa-bbbbbbbbbbbb"
        events = [self.activity(START, 0, first, 5, thread=21),
                  self.activity(START, 10, second, thread=22, items=related),
                  self.activity(START, 20, other, thread=23),
                  self.activity(START, 30, BLUE, thread=24, items=foreign),
                  self.activity(0, 35, second, thread=22),
                  *(self.activity(END, 40 + i, activity, thread=21 + i)
                    for i, activity in enumerate((first, second, other, BLUE)))]
        path = self.convert(self.write("a.etl", etl.trace([(0, events)])))
        loaded = self.load(os.path.join(self.folder, "a.etl"))
        self.assertEqual([(s["tid"], s["dur"], s["args"]["activity"],
                           s["args"].get("related_activity")) for s in loaded.slices],
                         [(21, 4000, "0x11", None), (22, 3100, "0x12", "0x11"),
                          (23, 2200, other, None), (24, 1300, BLUE, RED),
                          (22, 0, "0x12", None)])
        self.assertEqual(len(loaded.flows), 1)
        ((told,),
         _) = self.ask(
             path, "select display_value label from process p join args using (arg_set_id) where "
             "pid = 20", "select 1")
        self.assertEqual(told["label"], f"activity N: NNNNNNNN-0000-0000-{self.MAKER}")

    def test_a_slice_with_a_number_takes_24_bytes_an_event(self):
        def size(count):
            each = [[self.activity(kind, 20 * n + 9 * (kind == END), self.counted(100_000 + n), n
                                   if kind == START else None, thread=21 + n % 4)
                     for kind in (START, END)] for n in range(count)]
            buffers = [(0, sum(each[at:at + 20], [])) for at in range(0, count, 20)]
            return os.path.getsize(self.convert(self.write("a.etl", etl.trace(buffers))))

        self.assertLessEqual(size(3000) - size(1000), 24 * 4000)


class Events(PerfettoTest):
    def check(self, *arguments, expect=FINE, losses=False):
        """Each event is there with its time, its place, its name and its fields."""
        loaded = self.load(*arguments, expect=expect, losses=losses)
        slices = [s for s in loaded.slices if s["lane"] not in ("losses", "lost while recording")]
        events = self.reader(*arguments, expect=expect)
        digits = 100 if all(e["ns"] % 100 == 0 for e in events) else 1  # FILETIME or ns
        offset = events[0]["ns"] - slices[0]["ts"] if digits == 1 else 0
        times = [(s["ts"] + offset) // digits for s in slices], sorted(e["ns"] // digits
                                                                       for e in events)
        self.assertEqual([pair for pair in zip(*times) if pair[0] != pair[1]], [])
        if len({e["ns"] for e in events}) < len(events):
            # which of several at one time comes first, the clock itself knows better than dump
            # shows
            return loaded, slices
        for s, e in zip(slices, events):
            self.assertEqual((s["category"] or "", s["dur"]), (e.get("provider", ""), 0))
            if "provider" in e:
                self.assertTrue(e["event"].endswith(s["name"]) or s["name"].startswith(e["event"]),
                                (s["name"], e["event"]))
            if e.get("pid") and e.get("tid"):
                self.assertEqual((s["pid"], s["tid"]), (e["pid"], e["tid"]))
            for key, value in self.flat(e.get("fields", {})):
                told = s["args"].get(key, "")
                self.assertEqual(str(int(told, 16)) if told.startswith("0x") and value.isdigit()
                                 else told, value, (key, e))
        return loaded, slices

    def flat(self, value, path=""):
        """The annotations that fields of dump become."""
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from self.flat(inner, f"{path}.{key}" if path else key)
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                yield from self.flat(inner, f"{path}[{index}]")
        elif isinstance(value, bool):
            yield path, str(value).lower()
        elif isinstance(value, (int, str)) and "|" not in str(value):
            yield path, str(value)

    def test_fields_have_their_types(self):
        fields = b"".join(etl.tl_field(*f) for f in (
            ("i8", etl.INT8), ("u64", etl.UINT64), ("big", etl.UINT64), ("i64", etl.INT64),
            ("d", etl.DOUBLE), ("f", etl.FLOAT),
            ("yes", etl.UINT32, etl.OUT_BOOLEAN), ("text", etl.ANSI), ("wide", etl.UNICODE),
            ("guid", etl.GUID),
            ("at", etl.POINTER), ("hex", etl.HEX64)))
        payload = (struct.pack("<bQQqdfI", -3, 2**63 - 1, 2**64 - 1, -2**63, 2.5, 1.25, 1) + b"a\0"
                   + etl.utf16("b\u00e9")
                   + bytes(range(16)) + struct.pack("<QQ", 2**64 - 4096, 0xABC))
        fields += (etl.tl_field("list", etl.UINT16, listed=True) + b"both\0"
                   + bytes([etl.STRUCT | 0x80, 2]) + etl.tl_field("x", etl.INT32)
                   + etl.tl_field("y", etl.INT32))
        payload += struct.pack("<HHHii", 2, 7, 8, -1, 9)
        path = self.write("a.etl",
                          etl.trace([(0, [etl.tl_event(BLUE, T, "P", "E", fields, payload)])]))
        self.check(path)
        rows = self.ask(self.convert(path),
                        "select key, value_type type, int_value i, string_value s, real_value r "
                        "from args "
                                            "where key like 'debug.%' order by id")
        told = {r["key"][6:]: (r["type"], r["i"] if r["i"] is not None else r["s"]
                               if r["s"] is not None else r["r"]) for r in rows}
        self.assertEqual({k: told[k] for k in ("i8", "u64", "big", "i64", "d", "yes", "text",
                                               "wide", "at", "list[1]", "both.y")},
                         {"i8": ("int", -3), "u64": ("uint", 2**63 - 1),
                          "big": ("string", str(2**64 - 1)), "i64": ("int", -2**63),
                          "d": ("real", 2.5), "yes": ("bool", 1), "text": ("string", "a"),
                          "wide": ("string", "b\u00e9"), "at": ("pointer", -4096),
                          "list[1]": ("uint", 8), "both.y": ("int", 9)})
        self.assertEqual(told["guid"], ("string", "{03020100-0504-0706-0809-0a0b0c0d0e0f}"))

    def test_events_of_numbers_alone_move_counters(self):
        fields = etl.tl_field("depth",
                              etl.UINT32) + etl.tl_field("load", etl.DOUBLE) + etl.tl_field(
                                  "drift", etl.INT64)
        events = [etl.tl_event(BLUE, T + n, "P", "Queue", fields,
                               struct.pack("<Idq", 3 * n, n / 4, -n), process=20 + n % 2)
                  for n in range(4)]
        events += [etl.tl_event(BLUE, T + 9, "P", "Named", etl.tl_field("size", etl.UINT32)
                                + etl.tl_field("name", etl.ANSI), struct.pack("<I", 5) + b"a\0"),
                   etl.tl_event(BLUE, T + 9, "P", "Where", etl.tl_field("at", etl.HEX64),
                                struct.pack("<Q", 5))]
        loaded, _ = self.check(self.write("a.etl", etl.trace([(0, events)])))
        told = sorted((c["name"], c["ts"], c["value"]) for c in loaded.counters)
        first = told[0][1]
        self.assertEqual([(name, (ts - first) // 100, value) for name, ts, value in told],
                         [(f"Queue.{field}", n, value(n)) for field, value in
                          (("depth", lambda n: 3 * n), ("drift", lambda n: -n),
                           ("load", lambda n: n / 4)) for n in range(4)])

    def test_all_events_of_real_traces_are_there(self):
        for path in windows_files("kernel.etl", "narrow.etl", "AMSITrace.etl", "lxcore_kernel.etl",
                                  "smallEtlFile.etl"):
            with self.subTest(name=os.path.basename(path)):
                self.check(path, losses=True)

    def test_several_files_are_one_time_line(self):
        paths = [self.write(f"{n}.etl",
                            etl.trace([(0, [etl.classic(guid, T + 10 * i + n, process=20 + n)
                                            for i in range(50)])]))
                 for n, guid in enumerate((RED, BLUE))]
        loaded, slices = self.check(*paths)
        self.assertEqual([s["pid"] for s in slices], [20, 21] * 50)
        self.assertEqual({(t["pid"], t["tid"]) for t in loaded.threads if t["tid"] == 11},
                         {(20, 11), (21, 11)})

    def test_processes_have_their_names(self):
        path = self.write("a.etl",
                          etl.trace([(0, [etl.process_event(3, T, 20, b"shop"),
                                          etl.classic(RED, T + 1, process=20, thread=20)])]))
        loaded = self.load(path)
        self.assertIn({"tid": 20, "pid": 20, "name": "shop", "process": "shop"}, loaded.threads)

    def test_an_id_that_is_given_again_is_another_process_and_programs_are_named_in_turn(self):
        events = [etl.process_event(1, T, 20, b"sh"),
                  etl.classic(RED, T + 1, process=20, thread=20),
                  etl.process_event(3, T + 2, 20, b"make", by=20),
                  etl.classic(RED, T + 3, process=20, thread=20),
                  etl.process_event(2, T + 4, 20, b"make"),
                  etl.process_event(1, T + 10, 20, b"other"),
                  etl.classic(RED, T + 11, process=20, thread=20)]
        loaded = self.load(self.write("a.etl", etl.trace([(0, events)])))
        self.assertLessEqual({"other", "sh, make"}, {t["process"] for t in loaded.threads
                                                     if t["tid"] == 20})

    def test_names_from_files_are_harmless(self):
        path = self.write("a.etl",
                          etl.trace([(0, [etl.self_describing(BLUE, T, b"P\xff", b"E\n\x1b[1m")])]))
        (s,) = self.load(path).slices
        self.assertEqual((s["category"], s["name"]), ("P\ufffd", "E\\x0a\\x1b[1m"))

    def test_what_is_asked_for_alone_is_there(self):
        path = self.write("a.etl", etl.trace([(0, heap_events())]))
        self.assertEqual([s["args"]["size"] for s in self.load("--where", "size > 4000", path)
                          .slices], ["4096", "5000"])
        path = self.write("b.etl",
                          etl.trace([(0, [order(START, 0), order(START, 5, 2), order(END, 9, 2),
                                          order(END, 40)])]))
        self.assertEqual([s["dur"] for s in self.load("--where", "duration > 2us", path).slices],
                         [4000])


class Kernel(PerfettoTest):
    """What the kernel did: as a session of ours records it on Linux, and as Windows does."""
    SCHED = ("select ts, dur, cpu, tid, end_state from sched join thread using (utid) order by "
             "cpu, ts")
    STATES = ("select ts, state, tid, waker_utid from thread_state join thread using (utid) where "
              "state = 'R' order by ts")
    SAMPLES = """select ts, tid, pid, cpu, cpu_mode, callsite_id from perf_sample
        join thread using (utid) left join process
        using (upid) order by ts"""
    FRAMES = """select c.id, c.parent_id, f.name, m.name mapping from stack_profile_callsite c
        join stack_profile_frame f on f.id = c.frame_id
        join stack_profile_mapping m on m.id = f.mapping"""
    LINUX = {etl.WAITING: "D", etl.READY: "R", etl.TERMINATED: "X"}
    WINDOWS = {etl.WAITING: "Waiting", etl.READY: "Ready", etl.TERMINATED: "Terminated"}
    SYSTEM = 0x02000001

    def kernel(self, per_processor, is_linux):
        clock_snapshots = [etl.clock_snapshot(T + ticks, 100 * (T + ticks), etl.START + ticks)
                           for ticks in (0, 10**6)] if is_linux else []
        return self.write("k.etl", etl.trace(per_processor, mode=self.SYSTEM, own=clock_snapshots))

    def stack(self, frames, number):
        """The frames of a call stack, innermost first."""
        by_id, names = {f["id"]: f for f in frames}, []
        while number is not None:
            names.append(by_id[number]["name"])
            number = by_id[number]["parent_id"]
        return names

    def test_each_switch_is_where_it_was(self):
        chance = random.Random(7)
        for is_linux, states in ((True, self.LINUX), (False, self.WINDOWS)):
            buffers, expected = [], []
            for cpu in range(3):
                running, ticks, rows = 0, 10 + cpu, []
                switches = []
                for number in range(200):
                    new = chance.choice([t for t in (0, *range(21 + 10 * cpu, 26 + 10 * cpu))
                                         if t != running])
                    state = chance.choice([etl.WAITING, etl.READY,
                                           etl.WAITING]) if running else etl.READY
                    switches.append(etl.switch(T + ticks, running, new, state))
                    if rows:
                        rows[-1] += [100 * ticks, states[state]]
                    rows.append([cpu, new, 100 * ticks])
                    running, ticks = new, ticks + chance.randrange(1, 50)
                expected += [tuple(row) for row in rows if len(row) == 5]
                buffers += [(cpu, switches[at:at + 50]) for at in range(0, 200, 50)]
            rows = self.ask(self.convert(self.kernel(buffers, is_linux)), self.SCHED)
            first = min(row["ts"] for row in rows) - 1000
            told = [(r["cpu"], r["tid"], r["ts"] - first, r["ts"] - first + r["dur"],
                     r["end_state"]) for r in rows if r["dur"] >= 0]
            self.assertEqual(told, expected)

    def test_a_switch_of_a_version_that_is_not_known_is_an_event_alone(self):
        # What becomes of the thread that gives way is not known, and the target has no word for
        # that.
        for version in (3, 4, 9):
            events = [etl.switch(T + 10, 0, 20, version=version),
                      etl.switch(T + 20, 20, 0, version=version)]
            rows, slices = self.ask(self.convert(self.kernel([(0, events)], False)), self.SCHED,
                                    "select name from slice where name like 'Thread/CSwitch%'")
            self.assertEqual((len([row for row in rows if row["tid"] == 20]), len(slices)), (0, 2)
                             if version == 9 else (1, 0))

    def test_who_was_woken_by_whom_is_known(self):
        events = [etl.switch(T + 10, 0, 20), etl.ready(T + 15, 21), etl.switch(T + 20, 20, 21)]
        for is_linux in (True, False):
            path = self.convert(self.kernel([(0, events)], is_linux))
            states, threads = self.ask(path, self.STATES, "select utid, tid from thread")
            ready, = [s for s in states if s["tid"] == 21]
            self.assertEqual({t["utid"]: t["tid"] for t in threads}[ready["waker_utid"]], 20)

    def test_threads_have_the_names_of_their_processes(self):
        events = [etl.switch(T + 10, 0, 21), etl.switch(T + 20, 21, 0),
                  etl.process_event(4, T + 30, 20, b"shop"), etl.thread_event(4, T + 30, 20, 21)]
        loaded = self.load(self.kernel([(0, events)], True))
        self.assertIn({"tid": 21, "pid": 20, "name": "shop", "process": "shop"}, loaded.threads)

    def test_a_loss_is_told_of_its_processor(self):
        events = [etl.switch(T + 10, 0, 20), etl.kernel_loss(T + 30, T + 12),
                  etl.switch(T + 40, 22, 20)]
        path = self.convert(self.kernel([(0, events)], True))
        rows, slices = self.ask(path, "select name, value from stats where "
                                "name = 'ftrace_cpu_has_data_loss' and value > 0",
                                """select s.name, s.dur, t.name lane from slice s
                                join track t on t.id = s.track_id
                                    where t.name like 'losses%'""", losses=True)
        self.assertEqual(len(rows), 1)
        self.assertEqual([(s["name"], s["dur"], s["lane"]) for s in slices],
                         [("1 event lost", 1800, "losses of processor 0")])

    def test_samples_have_their_stacks(self):
        kernel, program = (0xFFFFFFFF81000010, 0xFFFFFFFF81000020), (0x401000, 0x401010)
        events = [etl.thread_event(3, T, 10, 21), etl.sample(T + 31, 21, kernel[0]),
                  etl.stack_walk(T + 32, T + 31, 21, *kernel),
                  etl.stack_walk(T + 33, T + 31, 21, *program), etl.sample(T + 50, 21, program[0])]
        samples, frames, slices = self.ask(self.convert(self.kernel([(0, events)], True)),
                                           self.SAMPLES, self.FRAMES,
                                           "select name from slice where name like 'PerfInfo%' or "
                                           "name like 'Stack%'")
        self.assertEqual([(s["tid"], s["pid"], s["cpu"], s["cpu_mode"]) for s in samples],
                         [(21, 10, 0, "kernel"), (21, 10, 0, "user")])
        self.assertEqual(samples[1]["ts"] - samples[0]["ts"], 1900)
        self.assertEqual([[int(name, 16) for name in self.stack(frames, s["callsite_id"])]
                          for s in samples],
                         [[*kernel, *program], [program[0]]])
        self.assertEqual(slices, [])

    def test_events_have_their_stacks(self):
        frames = (0x401000, 0x401010, 0x401020)
        item = etl.extended_item(6, struct.pack("<4Q", 0, *frames), False)
        path = self.write("a.etl", etl.trace([(0, [etl.tl_event(BLUE, T, "P", "E", items=item)])]))
        slices, told = self.ask(self.convert(path),
                                "select callsite_id callsite from "
                                "__intrinsic_track_event_callstacks", self.FRAMES)
        self.assertEqual([int(name, 16) for name in self.stack(told, slices[0]["callsite"])],
                         list(frames))


class Recorded(PerfettoTest):
    def test_the_kernel_s_own_switches_and_samples_are_all_there(self):
        path = os.path.join(self.folder, "k.etl")
        run = subprocess.run([self.etwas, "record", "--kernel",
                              "process,thread,image_load,cswitch,profile", "--stack", "profile",
                              "-o", path, "--", "sh", "-c", "for i in 1 2 3; do sleep 0.05; done"],
                             stderr=subprocess.PIPE, timeout=100, check=False)
        if run.returncode != FINE:
            self.skip_since(run.stderr.decode())
        out, _ = self.run_etwas("dump", "--times=qpc", "--json", path)
        events = [json.loads(line) for line in out.splitlines()]
        switches = sorted((int(e["qpc_time"]), e["cpu"], e["fields"]["NewThreadId"]) for e in events
                          if e["event"].endswith("/Thread/CSwitch"))
        samples = sorted((int(e["qpc_time"]), e["fields"]["ThreadId"]) for e in events
                         if e["event"].endswith(
                             "/PerfInfo/SampleProfile"))
        self.assertTrue(switches)
        sched, sampled, stacks = self.ask(
            self.convert(path),
            "select ts, cpu, tid from sched join thread using (utid) order by 1, 2",
            "select ts, tid from perf_sample join thread using (utid) order by 1, 2",
            "select count(*) n from perf_sample where callsite_id is null", losses=True)
        self.assertEqual(set((s["ts"], s["cpu"], s["tid"]) for s in sched) ^ set(switches), set())
        self.assertEqual(set((s["ts"], s["tid"]) for s in sampled) ^ set(samples), set())
        self.assertEqual(stacks[0]["n"], 0)


class Heap(PerfettoTest):
    def call(self, ticks, kind, size, address, *frames, moved=0, process=20):
        words = (size, address, moved) if kind == 12 else (size, address)
        return etl.classic(HEAP, T + ticks, kind=kind, version=1, process=process, thread=21,
                           payload=struct.pack(f"<{len(words)}QH{len(frames)}Q", *words,
                                               len(frames), *frames))

    def test_it_is_what_stat_says_of_it(self):
        chance, live, events = random.Random(3), [], []
        for number in range(1000):
            at = number * 400_000  # ticks of 100 ns: 40 s in all, of which dumps are told every ten
            if live and chance.random() < 0.45:
                events.append(self.call(at, 14, 0, live.pop(chance.randrange(len(live)))))
            elif live and chance.random() < 0.1:
                events.append(self.call(at, 12, 500, 0x9000000 + number * 4096, 0x401000,
                                        moved=live.pop()))
                live.append(0x9000000 + number * 4096)
            else:
                events.append(self.call(at, 10, chance.randrange(1, 5000), 0x1000000
                                        + number * 4096, 0x401000 + chance.randrange(5), 0x402000
                                        + chance.randrange(3)))
                live.append(0x1000000 + number * 4096)
        path = self.write("heap.etl",
                          etl.trace([(0, events[at:at + 50]) for at in range(0, 1000, 50)]))
        out, _ = self.run_etwas("stat", "--heap", "--json", path)
        told = json.loads(out)
        trace = self.convert(path)
        stacks, dumps, counters, slices = self.ask(
            trace, """select callsite_id, sum(size) live, sum(count) blocks,
                sum(max(size, 0)) allocated,
                sum(max(count, 0)) allocations
                from heap_profile_allocation group by 1""",
            "select distinct a.ts, heap_name, pid from heap_profile_allocation a "
            "join process using (upid) order by 1",
            "select value from counter c join process_counter_track t on t.id = c.track_id "
            "where t.name = 'heap' order by ts",
            "select count(*) n from slice")
        self.assertEqual(sorted((s["live"], s["blocks"], s["allocated"], s["allocations"])
                                for s in stacks),
                         sorted((s["live_bytes"], s["live_blocks"], s["allocated_bytes"],
                                 s["allocations"]) for s in told["stacks"]))
        self.assertEqual([(d["heap_name"], d["pid"]) for d in dumps], [("malloc", 20)] * 4)
        self.assertEqual(counters[-1]["value"], told["live_bytes"])
        self.assertEqual(slices[0]["n"], 0)

    def test_each_process_has_its_own(self):
        calls = [self.call(0, 10, 100, 0x1000, 0x401000),
                 self.call(1, 10, 10, 0x1000, 0x401000, process=30),
                 self.call(2, 10, 1, 0x2000, 0x401000, 0x402000),
                 self.call(3, 14, 0, 0x1000, process=30)]
        dumps, counters = self.ask(
            self.convert(self.write("heap.etl", etl.trace([(0, calls)]))),
            "select pid, sum(size) live, sum(max(size, 0)) allocated from heap_profile_allocation "
            "join process using (upid) group by 1",
            """select pid, value from counter c join process_counter_track t on t.id = c.track_id
            join process using (upid)
                where t.name = 'heap' order by ts""")
        self.assertEqual([(d["pid"], d["live"], d["allocated"]) for d in dumps],
                         [(20, 101, 101), (30, 0, 10)])
        self.assertEqual({c["pid"]: c["value"] for c in counters}, {20: 101, 30: 0})

    def test_its_calls_are_there_in_a_part_of_the_trace(self):
        path = self.write("heap.etl",
                          etl.trace([(0, [self.call(number, 10, 16, 4096 * (number + 1))
                                          for number in range(9)])]))
        self.assertEqual(len(self.load("--where", "opcode == 10", path).slices), 9)


class Losses(PerfettoTest):
    def test_a_damage_is_between_its_neighbours(self):
        data = bytearray(etl.trace([(0, [order(CHECKPOINT, 10 * i)]) for i in range(3)]))
        at = data.index(order(CHECKPOINT, 10))
        data[at:at + 4] = b"\xff" * 4
        loaded = self.load(self.write("a.etl", bytes(data)), expect=DAMAGED, losses=True)
        first, loss, last = loaded.slices
        self.assertEqual((loss["ts"], loss["dur"], loss["lane"]),
                         (first["ts"], last["ts"] - first["ts"], "losses"))
        self.assertEqual((loss["args"]["cause"], loss["args"]["count"]),
                         ("a record is not valid", "1"))

    def test_what_was_lost_while_recording_is_over_all_of_the_trace(self):
        data = etl.trace([(0, [order(CHECKPOINT, 10 * i) for i in range(3)])],
                         own=[etl.totals(lost_events=7, overwritten_events=9)])
        path = self.convert(self.write("a.etl", data))
        loaded = self.load(os.path.join(self.folder, "a.etl"), losses=True)
        self.assertEqual(sorted((s["name"], s["dur"]) for s in loaded.slices if s["lane"]),
                         [("7 events lost", 2000), ("9 events overwritten", 2000)])
        (stat,) = self.ask(
            path, "select value from stats where name = 'traced_buf_trace_writer_packet_loss'",
            losses=True)
        self.assertEqual(stat["value"], 7)

    def test_what_the_session_lost_is_on_a_track_of_its_processor(self):
        own = [etl.totals(lost_events=20), etl.loss(T + 2, T + 8, 5, 1),
               etl.loss(T + 7, T + 12, 6, 1), etl.loss(T + 7, T + 12, 1, 1, etl.BACKLOG_FULL),
               etl.loss(T + 7, T + 12, 7, cause=etl.WRITE_ERROR)]
        data = etl.trace([(0, [order(CHECKPOINT, 10 * i) for i in range(3)])], own=own)
        loaded = self.load(self.write("a.etl", data), losses=True)
        begin = min(s["ts"] for s in loaded.slices)
        self.assertEqual(sorted((s["lane"], s["name"], s["ts"] - begin, s["dur"],
                                 s["args"]["cause"], s["args"]["count"])
                                for s in loaded.slices if s["lane"]),
                         [("lost", "7 events lost", 700, 500, "write error", "7"),
                          ("lost on processor 1", "1 event lost", 800, 400, "full backlog", "1"),
                          ("lost on processor 1", "5 events lost", 200, 600, "no free buffer", "5"),
                          ("lost on processor 1", "6 events lost", 800, 400, "no free buffer", "6"),
                          ("lost while recording", "1 event lost", 0, 2000,
                           "while the trace was recorded", "1")])

    def test_a_file_cut_anywhere_is_converted_as_far_as_it_goes(self):
        whole = etl.trace([(0, [order(START, 100 * n, n), order(END, 100 * n + 50, n)])
                           for n in range(1, 5)])
        for size in (len(whole) - 100, len(whole) - etl.BUFFER_BYTES - 5, etl.BUFFER_BYTES + 200):
            path = self.write("cut.etl", whole[:size])
            _, error = self.run_any("dump", "--json", path, expect=(FINE, DAMAGED))
            loaded = self.load(path, expect=DAMAGED if error else FINE, losses=True)
            begun = [e for e in self.reader(path, expect=DAMAGED if error else FINE) if e["opcode"]
                     == START]
            self.assertEqual(sum(s["name"] == RED for s in loaded.slices), len(begun))


if __name__ == "__main__":
    raise SystemExit(main())
