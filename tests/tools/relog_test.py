# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas convert --to etl`: what goes out is what came in, in order, and a file that keeps the
rules.

usage: relog_test.py PATH_OF_ETWAS TEST_CLASS
"""

import json
import os
import random
import resource
import struct
import sys
import uuid

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "walker"))

import etl_build as etl
import etl_walk
import golden_test
from tool_case import (BLUE, DAMAGED, FAILED, FINE, NO, OUTPUT, RED, ToolTest, heap_events,
                       main, windows_files)

METADATA = "bbccf6c1-6cd1-48c4-80ff-839482e37671"
CIRCULAR, RELOGGED, COMPRESSED, SEQUENTIAL = 0x2, 0x10000, 0x04000000, 1
SECOND = etl.PERF_FREQUENCY
EVENTS_LOST, BUFFERS_LOST = 0x2, 0x4
T = etl.FIRST_STAMP + 1


class RelogTest(ToolTest):
    def relog(self, *arguments, expect=FINE, name="out.etl", **options):
        out = os.path.join(self.folder, name)
        self.run_etwas("convert", "--to", "etl", "--force", "--output", out, *arguments,
                       expect=expect, **options)
        return out

    def events(self, *arguments, expect=(FINE, DAMAGED, FAILED)):
        """All that dump shows of them but the log file header's event, and which file they are
        from."""
        out, _ = self.run_any("dump", "--all", "--json", *arguments, expect=expect)
        return [{key: value for key, value in event.items() if key != "file"}
                for event in map(json.loads, out.splitlines())
                if not event["event"].endswith("EventTrace/Header")]

    def stat(self, path):
        return json.loads(self.run_any("stat", "--json", path)[0])

    def walk(self, path):
        """The file keeps the rules that real ones of Windows keep, and our reader finds no
        damage."""
        with open(path, "rb") as file:
            walker = etl_walk.walk_bytes(file.read(), lenient=True)
        self.assertEqual(walker.violations, [])
        return walker

    def assert_same(self, path, *arguments):
        """The same events by two clocks, with their errors, the same losses, and our reader finds
        no damage."""
        before = self.stat(path)
        made = self.relog(*arguments, path, expect=DAMAGED if before["damaged"] else FINE)
        self.walk(made)
        for clock in ((), ("--times=system",)):
            self.assertEqual(self.events(*clock, made, expect=(FINE,)), self.events(*clock, path))
        after = self.stat(made)
        for key in ("lost", "overwritten", "buffers_overwritten", "start_time",
                    "session", "log_file", "clock", "events", "losses"):
            self.assertEqual(after[key], before[key], key)
        self.assertFalse(after["unfinished"])
        return made


class Kept(RelogTest):
    def test_each_event_of_each_version_of_our_format_is_as_it_was(self):
        files = 0
        for generation, name, path in golden_test.unpack(self.folder):
            with self.subTest(generation=generation, file=name):
                self.assert_same(path)
                files += 1
        self.assertGreater(files, 50)

    def test_compressed_they_are_the_same(self):
        for generation, name, path in golden_test.unpack(self.folder):
            if generation == golden_test.generations()[-1]:
                with self.subTest(file=name):
                    walker = self.walk(self.assert_same(path, "--compress"))
                    self.assertTrue(walker.header["mode"] & COMPRESSED)

    def test_files_of_windows_are_as_they_were(self):
        for path in windows_files():
            for option in ((), ("--compress",)):
                with self.subTest(file=os.path.basename(path), option=option):
                    self.assert_same(path, *option)

    def test_what_is_recorded_is_kept_byte_for_byte(self):
        events = [etl.classic(RED, T + 1, payload=bytes(range(251))),
                  etl.instance(RED, T + 2, 7, 3, BLUE, payload=b"x"),
                  etl.message(7, 0x01 | 0x02 | 0x08, struct.pack("<I16sq", 1, bytes(16), T + 3),
                              b"abc"),
                  etl.message(8, 0, payload=b"no stamp"),
                  etl.tl_event(BLUE, T + 4, "P", "E", etl.tl_field("a", etl.UINT8), b"\1"),
                  etl.kernel(5, 36, T + 5, bytes(24)), etl.system(5, 1, T + 6, bytes(70)),
                  etl.described(RED, T + 7, 3, 1, b"four")]
        path = self.write("a.etl", etl.trace([(2, events)]))
        for option in ((), ("--compress",)):
            after = self.walk(self.relog(*option, path)).records
            self.assertEqual([record["raw"] for record in after[1:]], events)
            self.assertEqual({record["cpu"] for record in after[1:]}, {2})

    def test_the_header_says_what_is_true_now(self):
        data = etl.trace([(0, [etl.classic(RED, T)]), (1, [etl.classic(RED, T + 5)])],
                         mode=CIRCULAR, events_lost=5, buffers_lost=2, finished=False)
        header = self.walk(self.relog(self.write("a.etl", data))).header
        self.assertEqual(header["mode"], SEQUENTIAL | RELOGGED)
        self.assertEqual((header["lost"], header["buffers_lost"], header["written"]), (5, 2, 3))
        self.assertEqual((header["boot"], header["start"], header["frequency"], header["clock"],
                          header["processors"]),
                         (etl.START - 1, etl.START, SECOND, 1, 4))
        # The session did not say when it ended: with its newest event.
        self.assertEqual(header["end"], etl.START + 6)

    def test_many_readings_of_the_clocks_stay(self):
        own = [etl.totals(), etl.clock_record(1, 1, processors=4)]
        clock_snapshots = [etl.clock_snapshot(raw, raw, etl.START + i * SECOND, errors_ns=(0, 120),
                                              reason=0 if i == 0 else 2)
                 for i, raw in enumerate(range(etl.FIRST_STAMP, etl.FIRST_STAMP + 400 * 10 ** 9,
                                               10 ** 9))]
        events = [etl.classic(RED, etl.FIRST_STAMP + i) for i in range(0, 400, 7)]
        frequency = {"frequency": 1_000_000_000}
        per_buffer = [(0, clock_snapshots[20 + at:20 + at + 80])
                      for at in range(0, 380, 80)] + [(0, events)]
        path = self.write("a.etl", etl.trace(per_buffer, own=own + clock_snapshots[:20],
                                             **frequency))
        made = self.walk(self.relog(path))
        self.assertEqual(len(made.clock_snapshots), 400)
        self.assertEqual(self.stat(self.relog(path))["clocks"]["clock_snapshots"], 400)

    def test_events_that_only_this_program_knows_are_described(self):
        made = self.relog(self.write("a.etl", etl.trace([(0, [etl.kernel_rung(T, 2, 10, 0)])])))
        told = [r for r in self.walk(made).records if r["raw"][24:40] == uuid.UUID(METADATA)
                .bytes_le]
        self.assertEqual(len(told), 1)
        self.assertIn("Rung\0".encode("utf-16-le"), told[0]["payload"])
        self.assertEqual([e["event"] for e in self.events(made)], ["etwas/Etwas/KernelRung"])

    def test_it_can_be_relogged_again(self):
        path = self.write("a.etl", etl.trace([(0, [etl.kernel_rung(T, 2, 10, 0), *heap_events()])]))
        once = self.relog(path)
        again = self.relog("--compress", once, name="b.etl")
        with open(self.relog(again, name="c.etl"), "rb") as file, open(once, "rb") as first:
            self.assertEqual(file.read(), first.read())


class Ordered(RelogTest):
    def test_events_and_buffers_out_of_order_come_out_in_order(self):
        stamps = list(range(T, T + 3000))
        random.Random(5).shuffle(stamps)
        events = [etl.classic(RED, stamp, payload=struct.pack("<Q", stamp)) for stamp in stamps]
        per_buffer = [(at // 100 % 3, events[at:at + 100]) for at in range(0, 3000, 100)]
        made = self.relog(self.write("a.etl", etl.trace(per_buffer)), expect=DAMAGED)
        walker = self.walk(made)
        self.assertEqual([e["payload"] for e in self.events(made)],
                         [struct.pack("<Q", s).hex() for s in sorted(stamps)])
        self.assertEqual(walker.header["buffers_lost"], 0)

    def test_system_time_that_was_set_back_keeps_its_order(self):
        first = [etl.classic(RED, etl.START + ticks, payload=bytes([i]))
                 for i, ticks in enumerate((5, 9, 2, 3, 11))]
        own = [etl.totals()]
        path = self.write("a.etl", etl.trace([(0, first[:2]), (0, first[2:])], clock=2, own=own))
        made = self.relog(path)
        self.walk(made)
        self.assertEqual(self.events(made), self.events(path))
        self.assertEqual([e["payload"] for e in self.events(made)], ["00", "01", "02", "03", "04"])

    def test_more_than_fits_in_memory_is_sorted_on_disk(self):
        payload = bytes(60_000)
        stamps = list(range(2000))
        # Two halves, of which the second is the older: 120 MB.
        order = stamps[1000:] + stamps[:1000]
        size = 65536
        per_buffer = [(0, [etl.classic(RED, T + stamp, payload=struct.pack("<Q", stamp) + payload)])
                      for stamp in order]
        data = [etl.buffer(records, i + 1, processor, stamp=1 << 60, size=size)
                for i, (processor, records) in enumerate(per_buffer)]
        path = self.write("a.etl", b"".join([etl.header_buffer(len(data) + 1, size=size)] + data))
        made = self.relog(path, expect=FINE)
        with open(made, "rb") as file:
            found = []
            for at in range(size, os.path.getsize(made), size):
                file.seek(at + 72 + 48)
                found.append(struct.unpack("<Q", file.read(8))[0])
        self.assertEqual(found, stamps)
        folder = os.path.join(self.folder, "missing")
        self.relog(path, name="other.etl", expect=OUTPUT, env={**os.environ, "TMPDIR": folder})

    def test_a_gap_is_marked_where_it_was_and_counted(self):
        buffers = [(i % 2, [etl.classic(RED, T + 100 * i + k, payload=bytes(800))
                            for k in range(6)]) for i in range(8)]
        data = bytearray(etl.trace(buffers))
        at = data.index(etl.classic(RED, T + 402, payload=bytes(800)))
        data[at:at + 4] = bytes(4)
        path = self.write("a.etl", bytes(data))
        made = self.assert_same(path)
        walker = etl_walk.walk_bytes(open(made, "rb").read(), lenient=True)
        self.assertEqual(walker.header["buffers_lost"], 1)
        marked = [b["number"] for b in walker.buffers if b["flags"] & (EVENTS_LOST | BUFFERS_LOST)]
        self.assertEqual(len(marked), 2)
        oldest = {number: min(r["stamp"] for r in walker.records if r["buffer"] == number)
                  for number in marked}
        newest = {number: max(r["stamp"] for r in walker.records if r["buffer"] == number)
                  for number in marked}
        self.assertTrue(all(oldest[n] <= T + 600 and newest[n] >= T + 401 for n in marked),
                        (oldest, newest))

    def test_headers_that_cannot_be_are_replaced(self):
        """Of a clock that nobody knows, and with a first record that is longer than its buffer."""
        whole = etl.trace([(0, [etl.classic(RED, T + 5 * n + i, payload=bytes([i]))
                                for i in range(5)]) for n in range(9)])
        for at, value, clock in ((104 + 272, b"\7", 1), (104 + 256, bytes(8), 1),
                                 (72 + 4, b"\xff\xff", 1)):
            with self.subTest(at=at):
                data = bytearray(whole)
                data[at:at + len(value)] = value
                path = self.write("a.etl", bytes(data))
                made = self.relog(path, expect=DAMAGED)
                self.assertEqual(self.walk(made).header["clock"], clock)
                self.assertFalse(self.stat(made)["damaged"])
                shown = [{**event, "time": event["time"][:27]} for event in self.events(made)]
                self.assertEqual(shown, [{**event, "time": event["time"][:27]}
                                         for event in self.events(path)])

    def test_files_cut_anywhere_are_relogged_as_far_as_they_go(self):
        whole = etl.trace([(i % 3, [etl.classic(RED, T + 10 * i + k, payload=bytes(k))
                                    for k in range(9)]) for i in range(5)])
        for length in random.Random(3).sample(range(8192 + 500, len(whole)), 12):
            with self.subTest(length=length):
                self.assert_same(self.write("a.etl", whole[:length]))


class Cut(RelogTest):
    def setUp(self):
        super().setUp()
        self.trace = self.write("a.etl", etl.trace([
            (0, [etl.instance(RED, T + 1000 * i, i + 1, kind=10, payload=struct.pack("<QQ", i, 0))
                 for i in range(50)] +
             [etl.event_info(T + 60_000, RED, 10, "P", "Class", "Call",
                             [("size", etl.UINT64, 0), ("b", etl.UINT64, 0)])])],
            own=[etl.totals(attempted=50, lost_events=0), etl.clock_record(1, 1, processors=4),
                 etl.clock_snapshot(etl.FIRST_STAMP, etl.FIRST_STAMP, etl.START, errors_ns=(0, 120),
                                    reason=0)]))

    def sizes(self, path):
        self.walk(path)
        return [event["fields"]["size"] for event in self.events(path)]

    def test_a_window_of_time_has_its_events_and_what_describes_them(self):
        self.assertEqual(self.sizes(self.relog("--from", "+0.001", "--until", "+0.0019",
                                               self.trace)),
                         list(range(10, 20)))

    def test_a_filter_chooses_by_what_the_events_say(self):
        self.assertEqual(self.sizes(self.relog("--where", "size >= 47", self.trace)), [47, 48, 49])
        os.unlink(self.relog("--where", "1 == 1", self.trace))
        # there is nothing in it
        self.assertFalse(os.path.exists(self.relog("--where", "1 == 2", self.trace, expect=NO)))

    def test_only_the_whole_can_be_proved(self):
        def proof(path, expect):
            out, _ = self.run_etwas("stat", "--prove", "--json", path, expect=expect)
            return json.loads(out)
        self.assertTrue(proof(self.relog(self.trace), FINE)["proved"])
        with open(self.trace, "rb") as file:
            data = bytearray(file.read())
        at = data.index(etl.instance(RED, T + 1000, 2, kind=10, payload=struct.pack("<QQ", 1, 0)))
        data[at:at + 4] = bytes(4)
        for made in (self.relog("--where", "size > 3", self.trace),
                     self.relog(self.write("b.etl", bytes(data)), expect=DAMAGED, name="b.out")):
            self.assertIn("relogged", " ".join(proof(made, NO)["reasons"]))

    def test_what_addresses_mean_stays(self):
        kept = [etl.kernel_symbol(T, 4096, 10, "f"),
                etl.system(0x14, 3, T + 1, bytes(56) + etl.utf16("/bin/a"))]
        path = self.write("b.etl",
                          etl.trace([(0, [*kept, etl.classic(RED, T + 90),
                                          etl.classic(BLUE, T + 91)])]))
        shown = self.events(self.relog("--where", f"event_class_id == '{BLUE}'", path))
        self.assertEqual([event["event"] for event in shown],
                         ["etwas/Etwas/KernelSymbol", "MSNT_SystemTrace/Image/DCStart",
                          f"{BLUE}/1"])


class Merged(RelogTest):
    def merge(self, *files, expect=FINE):
        made = self.relog(*files, expect=expect)
        walker = self.walk(made)
        return made, walker

    def test_processes_of_one_machine_are_one_file_with_their_stamps(self):
        paths = [self.write(f"{n}.etl",
                            etl.trace([(i % 3, [etl.classic(RED, T + 10 * i + n, process=n,
                                                            payload=bytes([i]))
                                                                           for i
                                                in range(i, i + 1)]) for i in range(20)],
                                      events_lost=n + 1,
                                                                    name=f"of {n}"))
                 for n in range(3)]
        made, walker = self.merge(*paths)
        self.assertEqual(self.events(made), self.events(*paths))
        self.assertEqual(self.events("--times=raw", made), self.events("--times=raw", *paths))
        self.assertEqual((walker.header["lost"], walker.header["processors"]), (6, 4))

    def test_when_something_was_lost_stays_where_one_machine_recorded_it(self):
        paths = [self.write(f"{i}.etl", etl.trace([(0, [etl.classic(RED, T + i)])], name=f"of {i}",
                                                  own=[
                                                      etl.totals(lost_events=5 + i, attempted=6
                                                                 + i),
                                                      etl.loss(T + 50 * i, T + 50 * i + 10, 5 + i,
                                                               i)])) for i in range(2)]
        for option in ((), ("--compress",)):
            made = self.relog(*option, *paths)
            self.walk(made)
            self.assertEqual(self.stat(made)["losses"], self.stat(paths[0])["losses"]
                             + self.stat(paths[1])["losses"])
            self.assertEqual(self.stat(made)["lost"], 11)

    def test_processes_that_could_not_log_are_added_up_by_session(self):
        """Each file of a session states all of the session; the reason is that of a file which is
        counted."""
        def file(name, start, unattached):
            return self.write(name, etl.trace([(0, [etl.classic(RED, T + start)])], start=etl.START
                                              + start, name=name, own=[
                                                  etl.totals(attempted=1, unattached=unattached)]))
        paths = [file("a.etl", 0, (1450, 7)), file("b.etl", 0, (1450, 11)),
                 file("c.etl", 5, (5, 4)), file("d.etl", 9, None)]
        for given, code, count in ((paths[:2], 1450, 11), (paths[:3], 5, 15), (paths[3:], 0, 0)):
            told = self.stat(self.relog(*given))
            self.assertEqual((told.get("unattached_total", 0), "unattached_reason" in told),
                             (count, code != 0))
        for line in self.stat(self.relog(*paths[:3])), self.stat(paths[2]):
            self.assertEqual(line["unattached_reason"], "it may not write to the session's buffers")

    def test_parts_of_a_set_become_one_file(self):
        parts = {}
        for generation, name, path in golden_test.unpack(self.folder):
            if name.startswith("part_"):
                parts.setdefault(generation, []).append(path)
        for generation, paths in parts.items():
            with self.subTest(generation=generation):
                made, walker = self.merge(*sorted(paths))
                self.assertEqual(self.events(made), self.events(*sorted(paths)))
                self.assertEqual(walker.totals["part"], 0)

    def test_machines_keep_their_processors_apart_and_their_times(self):
        one = etl.trace([(i, [etl.classic(RED, T + 10 * k + i, payload=b"1") for k in range(5)])
                         for i in range(2)])
        two = bytearray(
            etl.trace([(i, [etl.classic(BLUE, T + 10 * k + 4 + i, payload=b"2") for k in range(5)])
                       for i in range(2)]))
        boot = two.index(struct.pack("<qq", etl.START - 1, SECOND))
        struct.pack_into("<q", two, boot, etl.START - 900 * SECOND)
        paths = [self.write("1.etl", one), self.write("2.etl", bytes(two))]
        made, walker = self.merge(*paths)
        before, after = self.events(*paths), self.events(made)
        for event in before:
            event["cpu"] += 4 if event["event_class_id"] == BLUE else 0
        self.assertEqual(after, before)
        self.assertEqual((walker.header["clock"], walker.header["frequency"],
                          walker.header["processors"]), (1, 10 ** 9, 8))
        raw = self.events("--times=raw", made)
        self.assertEqual(int(raw[0]["raw_time"]), (etl.START + 1 - 116444736000000000) * 100)

    def test_clocks_of_all_files_are_there(self):
        own = [etl.totals(attempted=1), etl.clock_record(1, 1, processors=4)]

        def file(name, first, count):
            clock_snapshots = [etl.clock_snapshot(etl.FIRST_STAMP + i, etl.FIRST_STAMP + i,
                                                  etl.START, reason=0 if i == first else 2,
                                                  errors_ns=(0, 120))
                     for i in range(first, first + count)]
            return self.write(name, etl.trace([(0, [etl.classic(RED, T + first)])], own=own
                                              + clock_snapshots, frequency=10 ** 9, name=name))
        made, walker = self.merge(file("1.etl", 0, 5), file("2.etl", 5, 6))
        self.assertEqual(len(walker.clock_snapshots), 11)
        self.assertTrue(json.loads(self.run_etwas("stat", "--prove", "--json", made)[0])["proved"])


class Refused(RelogTest):
    def setUp(self):
        super().setUp()
        events = [etl.classic(RED, T + i, payload=bytes(900)) for i in range(400)]
        self.trace = self.write("a.etl",
                                etl.trace([(0, events[at:at + 8]) for at in range(0, 400, 8)]))

    def test_an_output_that_cannot_be_written_leaves_nothing(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        self.write("out.etl", b"before")
        path = self.relog(self.trace, expect=OUTPUT, preexec_fn=limit)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"before")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.etl", "out.etl"])

    def test_what_is_no_file_is_reported(self):
        _, error = self.run_etwas("convert", "--to", "etl", self.trace, expect=FAILED)
        self.assertIn("--output", error)
        _, error = self.run_etwas("convert", "--to", "etl", "--output", "/dev/null", self.trace,
                                  expect=OUTPUT)
        self.assertIn("not a file", error)
        _, error = self.run_etwas("convert", "--to", "csv", "--compress", self.trace, expect=FAILED)
        self.assertIn("--compress", error)

    def test_what_is_no_trace_gives_no_file(self):
        self.relog(self.write("b.etl", b"nothing"), expect=FAILED)
        self.assertNotIn("out.etl", os.listdir(self.folder))

    def test_too_many_processors_of_several_machines_are_reported(self):
        paths = []
        for n in range(2):
            data = bytearray(etl.trace([(0, [etl.classic(RED, T)])], processors=1500))
            struct.pack_into("<q", data, data.index(struct.pack("<qq", etl.START - 1, SECOND)),
                             etl.START - 10 * n * SECOND - 1)
            paths.append(self.write(f"{n}.etl", bytes(data)))
        _, error = self.run_etwas("convert", "--to", "etl", "--output",
                                  os.path.join(self.folder, "o"), *paths, expect=FAILED)
        self.assertIn(f"etwas convert: {paths[0]}: by its header its machine has 1500 processors",
                      error)
        # One damaged count: that file is named, wherever it stands.
        for damaged in (0, 1):
            data = bytearray(etl.trace([(0, [etl.classic(RED, T)])], processors=2**31 - 1))
            other = self.write("good.etl", etl.trace([(0, [etl.classic(RED, T)])]))
            given = [other, other]
            given[damaged] = self.write("damaged.etl", bytes(data))
            _, error = self.run_etwas("convert", "--to", "etl", "--output",
                                      os.path.join(self.folder, "o"), *given, expect=FAILED)
            self.assertIn(
                f"etwas convert: {given[damaged]}: by its header its machine has 2147483647 "
                "processors", error)
            self.assertNotIn("o", os.listdir(self.folder))

    def test_a_refusal_names_what_is_at_fault(self):
        """The output, its folder, a temporary file: never one in place of another."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        for form in ("etl", "ctf", "csv", "perfetto", "chrome", "otlp"):
            out = os.path.join(self.folder, f"out.{form}")
            _, error = self.run_etwas("convert", "--to", form, "--output", out, self.trace,
                                      expect=OUTPUT, preexec_fn=limit)
            self.assertIn("temporary file" if form == "perfetto" else out, error, form)
            missing = os.path.join(self.folder, "missing", "out")
            _, error = self.run_etwas("convert", "--to", form, "--output", missing, self.trace,
                                      expect=OUTPUT)
            self.assertIn(missing, error, form)
            _, error = self.run_etwas("convert", "--to", form, "--output", out,
                                      os.path.join(self.folder, "none.etl"), expect=FAILED)
            self.assertIn("none.etl", error, form)
            self.assertNotIn(out, error, form)
            self.assertFalse(os.path.exists(out))


if __name__ == "__main__":
    raise SystemExit(main())
