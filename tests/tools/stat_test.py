# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas stat`: what a file holds, and what its clocks did.

usage: stat_test.py PATH_OF_ETWAS TEST_CLASS
"""

import json
import os
import struct
import sys
import uuid

import etl_build as etl
from tool_case import BLUE, DAMAGED, FAILED, FINE, HEAP, RED, ToolTest, main


class Stat(ToolTest):
    def test_counts_are_by_processor_and_by_class_most_frequent_first(self):
        path = self.write("a.etl", etl.trace([
            (2, [etl.classic(RED, 1_000_001 + i, kind=9, payload=bytes(4)) for i in range(3)]),
            (0, [etl.instance(BLUE, 1_000_001 + i, i + 1, payload=bytes(10)) for i in range(5)]),
            (2, [etl.described(RED, 1_000_100, 9, 0), etl.classic(RED, 11_000_000, kind=8)]),
        ]))
        stat, = self.stat_json(path)
        self.assertEqual((stat["events"], stat["payload_bytes"], stat["header_events"]),
                         (10, 62, 1))
        self.assertEqual(stat["by_cpu"], [
            {"cpu": 0, "events": 5, "payload_bytes": 50},
            {"cpu": 2, "events": 5, "payload_bytes": 12}])
        self.assertEqual(stat["by_event"][:2], [
            {"event_class_id": BLUE, "opcode": 1, "events": 5, "payload_bytes": 50},
            {"event_class_id": RED, "opcode": 9, "events": 3, "payload_bytes": 12}])
        self.assertCountEqual(stat["by_event"][2:], [
            {"event_class_id": RED, "opcode": 8, "events": 1, "payload_bytes": 0},
            {"event_class_id": RED, "opcode": 0, "event_id": 9, "events": 1, "payload_bytes": 0}])
        self.assertEqual((stat["first_time"], stat["last_time"]),
                         ("2026-01-01T00:00:00.000000100Z", "2026-01-01T00:00:01.000000000Z"))
        self.assertEqual((stat["duration"], stat["rate"]), (2_000_000_000, 5))

    def test_a_file_large_enough_for_several_threads_is_counted_as_by_one(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one processor")
        buffers = [(i % 3, [etl.classic(BLUE if n % 7 else RED, 1_000_001 + 40 * i + n, kind=n % 5
                                        + i // 500, payload=bytes(300 + n)) for n in range(20)])
                   for i in range(2200)]
        for i, stamp in ((3, 1_000_001), (2100, 1_084_001)):  # in the first part and in the last
            guid, kind, name = ((RED, 4, "Pour"), (BLUE, 1, "Stir"))[i == 3]
            buffers[i] = (buffers[i][0], [etl.event_info(stamp, guid, kind, "Paint", "", name, []),
                                          *buffers[i][1][:18]])
        data = bytearray(etl.trace(buffers))
        self.assertGreater(len(data), 2 * (8 << 20))
        for sound in (True, False):
            if not sound:
                for at in (3, 1500, 2199):
                    data[at * etl.BUFFER_BYTES + 72 + 2] = 0x77  # a record
                # a buffer's header
                data[1700 * etl.BUFFER_BYTES:1700 * etl.BUFFER_BYTES + 8] = b"\xff" * 8
            path = self.write("a.etl", data)
            expect = FINE if sound else DAMAGED
            several, _ = self.run_etwas("stat", "--json", path, expect=expect)
            one, _ = self.run_etwas("stat", "--json", path, expect=expect,
                                    preexec_fn=lambda: os.sched_setaffinity(
                                        0, {min(os.sched_getaffinity(0))}))
            self.assertEqual(several, one)
            self.assertIn("Paint/Pour", one)
            self.assertIn("Paint/Stir", one)

    def test_a_window_has_the_events_that_dump_shows_between_its_ends(self):
        described = etl.event_info(1_000_001, RED, 1, "Paint", "", "Pour", [])
        buffers = [(0, [described])] + [
            (i % 3, [etl.classic(RED if n % 2 else BLUE, 1_000_002 + 100 * i + 3 * n,
                                 payload=bytes(n)) for n in range(20)])
            for i in range(40)]
        for own in ((), (etl.totals(),)):
            for end in (0, 1 << 60):  # when buffers were collected: before all, or much later
                data = bytearray(etl.trace(buffers, own=own, processors=3))
                for at in range(len(buffers)):
                    stamp = end if end else 1_000_002 + 100 * at
                    struct.pack_into("<q", data, (at + 1) * etl.BUFFER_BYTES + 16, stamp)
                path = self.write("a.etl", data)
                whole = [event for event in self.dump_json(path)
                         if event["event_class_id"] in (RED, BLUE)]
                for first, last in ((0, 1), (5, 400), (399, 403), (600, 799), (0, 799)):
                    window = ("--from", whole[first]["time"], "--until", whole[last]["time"])
                    inside = [event for event in whole if window[1] <= event["time"] <= window[3]]
                    self.assertEqual([event for event in self.dump_json(*window, path)
                                      if event["event_class_id"] in (RED, BLUE)], inside)
                    stat, = self.stat_json(*window, path)
                    self.assertEqual((stat["events"], stat["session"], stat["log_file"]),
                                     (len(inside), "session", "x.etl"))
                    self.assertEqual((stat["first_time"], stat["last_time"]),
                                     (inside[0]["time"], inside[-1]["time"]))
                    self.assertTrue(last == 1 or "Paint/Pour" in json.dumps(stat))

    def test_a_window_is_found_by_the_index_that_was_asked_for(self):
        buffers = [(i % 3, [etl.classic(BLUE, 1_000_002 + 100 * i + 3 * n) for n in range(20)])
                   for i in range(40)]
        data = bytearray(etl.trace(buffers, own=(etl.totals(),), processors=3))
        for at in range(len(buffers)):
            struct.pack_into("<q", data, (at + 1) * etl.BUFFER_BYTES + 16, 1_000_100 + 100 * at)
        path = self.write("a.etl", data)
        index = path + ".index"
        window = ("--from", "+0.0001", "--until", "+0.0002", path)
        without = self.run_etwas("dump", *window)
        self.assertGreater(without[0].count("\n"), 5)
        self.assertFalse(os.path.exists(index))
        self.run_etwas("stat", "--index", path)
        self.assertEqual(os.path.getsize(index), 56 + 40 * 176)
        self.assertEqual(self.run_etwas("dump", *window), without)
        os.utime(path, (1, 1))
        out, errors = self.run_etwas("dump", *window)
        self.assertEqual(out, without[0])
        self.assertIn("a.etl: its index is not used", errors)
        self.assertEqual(self.run_etwas("dump", path)[1], "")
        os.unlink(index)
        foreign = self.write("b.etl", etl.trace(buffers, processors=3))
        _, errors = self.run_etwas("stat", "--index", foreign, expect=FAILED)
        self.assertIn("no index of", errors)
        self.assertEqual(sorted(os.listdir(os.path.dirname(foreign))), ["a.etl", "b.etl"])
        self.run_etwas("stat", "--prove", "--index", path, expect=FAILED)

    def test_what_a_view_cannot_choose_is_refused_with_what_does(self):
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, 1_000_001)])]))
        for way, options, said in (
                ("--cpu-time", ("--from", "+1"), "'etwas convert --to etl --from TIME --until TIME "
                 "-o PART.etl FILE' cuts a part out"),
                ("--cpu-time", ("--where", "pid == 1"), "--pid, --process and --tid choose them"),
                ("--cpu-time", ("--cpu", "0"), "Its first table has each processor"),
                ("--prove", ("--until", "+1"), "--prove is about all events of a session"),
                ("--prove", ("--pid", "1"), "'etwas stat' alone counts what they choose")):
            _, error = self.run_etwas("stat", way, *options, path, expect=FAILED)
            self.assertIn(said, error)
        # What the message says to do is a thing that can be done.
        self.run_etwas("convert", "--to", "etl", "--from", "+0", "--until", "+1", "-o",
                       os.path.join(self.folder, "part.etl"), path)

    def test_a_window_ends_behind_its_beginning(self):
        path = self.write("a.etl", etl.trace([(0, [])]))
        for command in ("stat", "dump"):
            self.run_etwas(command, "--from", "2026-01-02", "--until", "2026-01-01", path,
                           expect=FAILED)
            self.run_etwas(command, "--from", "yesterday", path, expect=FAILED)

    def test_the_session_is_described(self):
        path = self.write("a.etl", etl.trace([(0, [])], name="séance"))
        stat, = self.stat_json(path)
        self.assertEqual(
            {key: stat[key] for key in ("session", "log_file", "modes", "buffers",
                                        "buffers_written", "buffer_bytes", "clock",
                                        "clock_hz", "machine_cpus", "start_time",
                                        "end_time", "file_bytes", "damaged", "unfinished")},
            {"session": "séance", "log_file": "x.etl", "modes": ["sequential"], "buffers": 2,
             "buffers_written": 2, "buffer_bytes": etl.BUFFER_BYTES,
             "clock": "performance counter", "clock_hz": etl.PERF_FREQUENCY,
             "machine_cpus": 4, "start_time": "2026-01-01T00:00:00.000000000Z",
             "end_time": "2026-01-01T00:00:02.000000000Z", "file_bytes": 2 * etl.BUFFER_BYTES,
             "damaged": False, "unfinished": False})
        out, _ = self.run_etwas("stat", path)
        for text in ("session       séance\n", "covers        2.000000000 s"):
            self.assertIn(text, out)
        verbose, _ = self.run_etwas("stat", "--verbose", path)
        self.assertTrue(verbose.startswith(out))
        for line in ("log file      x.etl", "mode          sequential (0x1)",
                     "clock         performance counter, 10,000,000 ticks a second",
                     "started       2026-01-01T00:00:00.000000000Z"):
            self.assertIn(f"\n  {line}\n", verbose)
            self.assertNotIn(line, out)
        for view in ("--cpu-time", "--hot", "--heap", "--prove"):
            self.run_etwas("stat", "-v", view, path, expect=FAILED)

    def test_times_of_events_have_nine_digits(self):
        stamps = (etl.FIRST_STAMP + 123_456_789, etl.FIRST_STAMP + 123_456_891)
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, stamp) for stamp in stamps])],
                                             frequency=1_000_000_000, finished=False))
        first, last = "2026-01-01T00:00:00.123456789Z", "2026-01-01T00:00:00.123456891Z"
        counts, = self.stat_json(path)
        self.assertEqual((counts["first_time"], counts["last_time"], counts["covered_end_time"]),
                         (first, last, last))
        for options in ((), ("--pid", "10")):
            out, _ = self.run_etwas("stat", *options, path)
            self.assertIn(f"  covers        0.123456891 s, from the session's start to the last "
                          f"event\n  first event   {first}\n  last event    {last}\n", out)

    def test_what_matters_comes_first(self):
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, 6_000_000)])]))
        out, _ = self.run_etwas("stat", path)
        whole, time, kinds, processors = out.split("\n\n")
        self.assertEqual([[line.split(None, 1)[0] for line in part.splitlines()]
                          for part in (whole, time)],
                         [[path, "damage", "lost"], ["session", "covers", "first", "last", "events",
                                                     "payload", "file"]])
        self.assertEqual([part.split() for part in (kinds, processors)],
                         [["event", "events", "events/second", "payload", f"{RED}/1", "1", "0.50",
                           "0", "B"],
                          ["processor", "events", "events/second", "payload", "0", "1", "0.50",
                           "0", "B"]])

    def test_damage_and_loss_come_first(self):
        path = self.write("a.etl", etl.trace([(0, [])]))
        out, _ = self.run_etwas("stat", path)
        self.assertEqual([line.split(None, 1) for line in out.splitlines()[1:3]],
                         [["damage", "none"], ["lost", "no events, no buffers"]])
        data = bytearray(etl.trace([(0, [etl.classic(RED, 1_000_001 + n)]) for n in range(3)],
                                   events_lost=1, finished=False))
        data[2 * etl.BUFFER_BYTES:2 * etl.BUFFER_BYTES + 8] = b"\xff" * 8
        path = self.write("b.etl", data)
        out, _ = self.run_etwas("stat", path, expect=DAMAGED)
        words = [line.split()[0] for line in out.splitlines()[1:] if line]
        self.assertEqual([w for w in words if w.isupper()], ["DAMAGED", "LOST", "UNFINISHED"])
        self.assertLess(words.index("UNFINISHED"), words.index("session"))

    def test_losses_are_reported_by_cause_with_their_times(self):
        own = [etl.totals(lost_events=20), etl.loss(2_000_000, 3_000_000, 5, 1),
               etl.loss(4_000_000, 5_000_000, 6, 2), etl.loss(4_000_000, 5_000_000, 7,
                                                              cause=etl.WRITE_ERROR)]
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, 6_000_000)])], own=own))
        out, _ = self.run_etwas("stat", path)
        lines = [line.strip() for line in out.splitlines()]
        at = lines.index("LOST          20 events and 0 buffers while recording")
        self.assertEqual(lines[at + 1:at + 3],
                         ["11 of them: no free buffer, from 2026-01-01T00:00:00.100000000Z to "
                          "2026-01-01T00:00:00.400000000Z",
                          "7 of them: write error, from 2026-01-01T00:00:00.300000000Z to "
                          "2026-01-01T00:00:00.400000000Z"])
        stat, = self.stat_json(path)
        self.assertEqual(stat["events"], 1)
        self.assertEqual([(loss["start_time"][20:], loss["end_time"][20:], loss["cause"],
                           loss.get("cpu"), loss["events"])
                          for loss in stat["losses"]],
                         [("100000000Z", "200000000Z", "no_free_buffer", 1, 5),
                          ("300000000Z", "400000000Z", "no_free_buffer", 2, 6),
                          ("300000000Z", "400000000Z", "write_error", None, 7)])

    def test_an_unfinished_session_is_reported_and_is_no_damage(self):
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, 6_000_000)])], finished=False))
        stat, = self.stat_json(path)
        self.assertEqual((stat["unfinished"], stat["end_time"], stat["damaged"]),
                         (True, None, False))
        self.assertEqual((stat["duration"], stat["rate"]), (500_000_000, 2))

    def test_rates_of_what_came_last_are_counted_from_its_first_event(self):
        events = [(0, [etl.classic(RED, stamp) for stamp in (11_000_000, 16_000_000)])]
        for options in ({"mode": 0x400}, {"own": [etl.totals(2)]},
                        {"mode": 2, "own": [etl.totals(overwritten_buffers=3)]}):
            path = self.write("a.etl", etl.trace(events, **options))
            stat, = self.stat_json(path)
            self.assertEqual((stat["duration"], stat["rate"]), (1_000_000_000, 2), options)
            out, _ = self.run_etwas("stat", path)
            self.assertIn("1.000000000 s, from the first event to the session's end\n", out)
        for options in ({"mode": 2}, {"own": [etl.totals(1)]}):
            stat, = self.stat_json(self.write("a.etl", etl.trace(events, **options)))
            self.assertEqual(stat["duration"], 2_000_000_000, options)

    def test_records_of_images_are_no_events_in_a_trace_of_etwas(self):
        images = [etl.classic(guid, etl.FIRST_STAMP, kind=kind, payload=bytes(60))
                  for guid, kind in (
                      ("2cb15d1d-5fc1-11d2-abe1-00a0c911f518", 3),
                      ("b3e675d7-2554-4f18-830b-2762732560de", 36))]
        events = [(0, images), (0, [etl.classic(RED, stamp) for stamp in (11_000_000, 16_000_000)])]
        for own, wanted in (([etl.clock_record()], (2, 3, 10 ** 9)), ([], (4, 1, 2 * 10 ** 9))):
            stat, = self.stat_json(self.write("a.etl", etl.trace(events, mode=0x400, own=own)))
            self.assertEqual((stat["events"], stat["header_events"], stat["duration"]), wanted)

    def test_a_heap_without_stacks_says_what_records_them(self):
        calls = [etl.classic(HEAP, 1_000_001 + i, kind=10,
                             payload=struct.pack("<QQ", 37, 0x1000 * i)) for i in (1, 2)]
        for events, amount in ((calls, "74 bytes in 2 blocks"),
                               ([etl.classic(RED, 1_000_001)], "0 bytes in 0 blocks")):
            out, _ = self.run_etwas("stat", "--heap", self.write("a.etl", etl.trace([(0, events)])))
            self.assertIn(f"  allocated     {amount}\n", out)
            self.assertIn("\n  no stacks     'heaptrace --stacks' records them\n", out)

    def heap(self, *arguments):
        told = json.loads(self.run_etwas("stat", "--heap", "--json", *arguments)[0])
        return told, [told[key] for key in ("allocations", "live_blocks", "frees", "left_out",
                                            "unknown_frees", "replaced_blocks")]

    def test_allocations_are_chosen_whenever_they_are_freed(self):
        def call(stamp, kind, *words, thread=11):
            return etl.classic(HEAP, 1_000_001 + stamp, kind=kind, thread=thread,
                               payload=struct.pack(f"<{len(words)}Q", *words))
        path = self.write("a.etl", etl.trace([(0, [
            call(0, 10, 16, 0x1000), call(1_000_000, 10, 32, 0x2000),
            call(2_000_000, 10, 64, 0x3000, thread=12), call(3_000_000, 14, 0, 0x1000),
            call(4_000_000, 14, 0, 0x2000), call(5_000_000, 12, 128, 0x4000, 0x3000),
            call(6_000_000, 10, 16, 0x1000)])]))
        self.assertEqual(self.heap(path)[1], [5, 2, 3, 0, 0, 0])
        self.assertEqual(self.heap("--from", "+0.05", "--until", "+0.15", path)[1],
                         [1, 0, 1, 4, 0, 0])
        self.assertEqual(self.heap("--tid", "12", path)[1], [1, 0, 1, 4, 0, 0])
        told, counts = self.heap("--from", "+0.5", path)
        self.assertEqual((counts, told["live_bytes"]), ([2, 2, 0, 3, 0, 0], 144))
        self.assertEqual(self.heap("--where", "opcode == 12", path)[1], [1, 1, 0, 4, 0, 0])
        out, _ = self.run_etwas("stat", "--heap", "--tid", "12", path)
        self.assertIn("\n  left out      4 more allocations, by what was chosen\n", out)
        _, error = self.run_etwas("stat", "--heap", "--pid", "99", path)
        self.assertIn("etwas stat: note: no event is as chosen: pid == 99", error)
        _, error = self.run_etwas("stat", "--heap", "--from", "2027-01-01", path)
        self.assertIn("etwas stat: note: no event is in this window; the trace goes from ", error)
        self.assert_keys_documented("stat", told)

    def test_the_stream_beside_the_processors_is_no_processor(self):
        events = [(processor, [etl.classic(RED, 2_000_000)]) for processor in range(3)]
        for noted, processors in ((2, 2), (0, 3), (3, 3), (9, 3)):
            path = self.write("a.etl", etl.trace(events, processors=3,
                                                 own=[etl.clock_record(processors=noted)]))
            stat, = self.stat_json(path)
            self.assertEqual(stat["machine_cpus"], processors)
            self.assertEqual([p["cpu"] for p in stat["by_cpu"]],
                             [0, 1, None if noted == 2 else 2])
            out, _ = self.run_etwas("stat", "--verbose", path)
            self.assertIn(f"{processors} processors at", out)
            self.assertEqual("\nnone: threads without restartable sequences " in out, noted == 2)

    def test_a_hostile_session_name_is_shown_harmless(self):
        path = self.write("a.etl", etl.trace([], name='\x1b]0;x\x07"\udc00\U0001F600'))
        out, _ = self.run_etwas("stat", path)
        self.assertIn(r'\x1b]0;x\x07"\u{dc00}' + "\U0001F600", out)
        self.assertEqual(self.stat_json(path)[0]["session"], '\x1b]0;x\x07"\ufffd\U0001F600')

    def test_more_kinds_of_events_than_are_told_apart_are_still_counted(self):
        kinds = [str(uuid.UUID(int=i + 1)) for i in range(70_000)]
        per_buffer = [(0, [etl.classic(guid, 1_000_001) for guid in kinds[at:at + 150]])
                      for at in range(0, len(kinds), 150)]
        path = self.write("a.etl", etl.trace(per_buffer))
        stat, = self.stat_json(path)
        self.assertEqual(stat["events"], 70_000)
        self.assertEqual((len(stat["by_event"]), stat["other_events"]), (65_536, 4_464))
        out, _ = self.run_etwas("stat", path)
        self.assertIn("more kinds than can be told apart", out)

    def test_each_file_is_shown_by_itself(self):
        first = self.write("a", etl.trace([(0, [etl.classic(RED, 1_000_001)])]))
        second = self.write("b", etl.trace([(1, [etl.classic(BLUE, 1_000_001)] * 2)]))
        self.assertEqual([(s["file"], s["events"]) for s in self.stat_json(first, second)],
                         [(first, 1), (second, 2)])
        out, _ = self.run_etwas("stat", first, second)
        self.assertIn(f"\n\n{second}\n", out)


class Clocks(ToolTest):
    """What `etwas stat` says of a file's clocks."""

    def counter_file(self, **noted):
        """31 s of a TSC 500 ppm faster than calibrated; set back by 90 s; half a minute of
        sleep."""
        clock_snapshots = [etl.clock_snapshot(1_000_000 + n * 3_001_500_000, 7_000_000
                                              + n * 1_000_000_000,
                          etl.START + n * 10_000_050 - (900_000_000 if n > 10 else 0)
                          + (300_000_000 if n > 20 else 0), 30_000_000_000 if n > 20 else 0)
                 for n in range(31)]
        calibration = etl.classic(etl.OWN_CLASS, etl.FIRST_STAMP, kind=0, level=0,
                                  payload=struct.pack("<IIQQqqq", 1, 3, 3, 1, 1_000_000, 0, 0))
        noted = {"requested": 3, "got": 3, "verdict": 1, "reasons": 0x40000101, "stated_by": 3,
                 "stated_hz": 3_001_000_000, "hypervisor": b"KVM\x1bKVM", **noted}
        return self.write("a.etl", etl.trace([(0, [])], clock=3, own=[
            calibration, etl.totals(), etl.clock_record(**noted), *clock_snapshots]))

    def test_the_verdict_and_the_drift_as_recorded_are_reported(self):
        out, _ = self.run_etwas("stat", "--verbose", self.counter_file())
        for line in (
                r"cycle counter doubtful",
                r"              \+ It runs at one rate in all power states",
                r"              - This is a guest, .*", r"              - reason 0x40000000",
                r"its rate      3,000,000,000 Hz within 1\.500 ppm, as calibrated; the "
                r"hypervisor states 3,001,000,000 Hz",
                r"clock source  tsc of the kernel, a guest of KVM\\x1bKVM",
                r"readings      31 clock snapshots in 30\.0 s; times between them are within "
                r"[\d.]+ ns by QPC, within [\d.]+ s by system time",
                r"drift         system time against QPC: \+5\.0000 ppm, give or take .*",
                r"drift         TSC against its calibration: \+500\.0000 ppm, give or take 0\.\d+",
                r"drift         TSC against the stated frequency: \+166\.6111 ppm, .*",
                r"WALL CLOCK    set 1 time, -89\.99\d+ s together",
                r"              -89\.99\d+ s between 2026-01-01T00:00:10\.000050000Z and "
                r"2025-12-31T23:58:41\.000055000Z",
                r"suspended     1 time, 30\.000000000 s together"):
            self.assertRegex(out, rf"(?m)^  {line}$")
        self.assertNotIn("ASKED FOR", out)
        out, _ = self.run_etwas("stat", self.counter_file())
        self.assertNotIn("cycle counter", out)
        self.assertNotIn("drift", out)
        for line in ("WALL CLOCK    set 1 time, ", "suspended     1 time, "):
            self.assertIn(f"\n  {line}", out)

    def test_the_same_is_in_the_json(self):
        stat, = self.stat_json(self.counter_file())
        clocks = stat["clocks"]
        self.assertEqual(clocks["requested"], "processor cycle counter")
        counter = clocks["counter"]
        self.assertEqual([r["bit"] for r in counter["reasons"]], [1, 0x100, 0x40000000])
        self.assertEqual([counter[key] for key in (
            "verdict", "frequency_hz", "frequency_error_ppb", "stated_hz", "stated_by",
            "clocksource", "hypervisor")], ["doubtful", 3_000_000_000, 1500, 3_001_000_000,
                                            "the hypervisor", "tsc", "KVM\x1bKVM"])
        self.assertEqual((clocks["clock_snapshots"], clocks["clock_snapshots_unusable"],
                          clocks["duration"]), (31, 0, 30_000_000_000))
        self.assertAlmostEqual(clocks["tsc_against_calibrated"]["ppm"], 500, 3)
        self.assertAlmostEqual(clocks["tsc_against_stated"]["ppm"], 166.6111, 3)
        self.assertAlmostEqual(clocks["system_against_qpc"]["ppm"], 5, 3)
        self.assertEqual(clocks["system_against_qpc"]["points"], 31)
        self.assertLess(clocks["qpc_error"], 200)
        self.assertGreaterEqual(clocks["system_error"], 89_000_000_000)
        self.assertEqual((clocks["steps"], clocks["suspends"], clocks["suspended_time"]),
                         (1, 1, 30_000_000_000))
        step, = clocks["first_steps"]
        self.assertEqual(clocks["largest_step"], step)
        self.assertEqual(step["before"], "2026-01-01T00:00:10.000050000Z")
        self.assertAlmostEqual(step["step"] / 1e9, -90, 3)

    def test_the_duration_is_what_passed_and_not_what_the_wall_clock_was_set_by(self):
        stat, = self.stat_json(self.counter_file())
        self.assertAlmostEqual(stat["duration"] / 1e9, 2 + 90, 3)  # EndTime is 2 s after StartTime

    def test_every_key_is_documented(self):
        self.assert_keys_documented("stat", self.stat_json(self.counter_file())[0]["clocks"])

    def test_a_session_that_got_another_clock_says_so(self):
        out, _ = self.run_etwas("stat", self.counter_file(requested=1))
        self.assertRegex(out, r"(?m)^  ASKED FOR     performance counter$")

    def test_a_counter_nobody_examined_and_a_file_without_notes_are_told_apart(self):
        path = self.counter_file(verdict=0, reasons=0, stated_by=0, hz=0, stated_hz=0)
        self.assertRegex(self.run_etwas("stat", "-v", path)[0],
                         r"(?m)^  cycle counter not examined$")
        self.assertIsNone(self.stat_json(path)[0]["clocks"]["counter"]["verdict"])
        path = self.counter_file(hz=0)
        self.assertRegex(self.run_etwas("stat", "-v", path)[0],
                         r"(?m)^  cycle counter doubtful, by what the machine says; not measured$")
        self.assertIs(self.stat_json(path)[0]["clocks"]["counter"]["measured"], False)
        path = self.write("b.etl", etl.trace([(0, [])]))
        out, _ = self.run_etwas("stat", "-v", path)
        self.assertRegex(out, r"(?m)^  readings      none: .*$")
        self.assertNotIn("cycle counter", out)
        clocks = self.stat_json(path)[0]["clocks"]
        self.assertEqual([clocks[key] for key in ("requested", "counter", "clock_snapshots",
                                                  "system_error", "system_against_qpc", "steps",
                                                  "largest_step")],
                         [None, None, 0, None, None, 0, None])


if __name__ == "__main__":
    sys.exit(main())
