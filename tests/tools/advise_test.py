# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Which buffers `etwas advise` says that a session needs, of traces whose rates are known; and the
replay of them.

usage: advise_test.py PATH_OF_ETWAS TEST_CLASS
"""

import json
import os
import struct
import sys

import etl_build as etl
from tool_case import DAMAGED, FAILED, FINE, RED, ToolTest, main

RECORD_BYTES = 1000
TICKS_A_MS = 10_000


class Advising(ToolTest):
    def trace(self, times_of, name="a.etl", **options):
        """A file with events of RECORD_BYTES at these milliseconds of each processor."""
        buffers = []
        for processor, times in times_of.items():
            events = [etl.classic(RED, 1_000_001 + round(ms * TICKS_A_MS),
                                  payload=bytes(RECORD_BYTES - 48))
                      for ms in times]
            buffers += [(processor, events[at:at + 8]) for at in range(0, len(events), 8)]
        return self.write(name, etl.trace(buffers, **options))

    def advise(self, *arguments, expect=FINE):
        out, _ = self.run_etwas("advise", "--json", *arguments, expect=expect)
        return json.loads(out)


class Recorder(Advising):
    # 8 records in a buffer of 8 KB: that which is overwritten when the next begins had its last
    # record 8 * buffers - 7 ms before.
    def steady(self):
        return self.trace({0: range(4000)})

    def test_it_finds_the_least_that_hold_the_history_and_says_what_half_lacks(self):
        path = self.steady()
        told = self.advise("--history", "1", "--buffer-size", "8", "--margin", "0", path)
        self.assertEqual((told["least_buffers"], told["minimum_buffers"], told["maximum_buffers"]),
                         (126, 126, 126))
        self.assertEqual(told["memory_bytes"], 126 * 8192)
        self.assertTrue(told["enough"])
        self.assertFalse(told["extrapolated"])
        self.assertAlmostEqual(told["advised"]["holds"], 1_001_000_000)
        self.assertEqual((told["advised"]["missing_events"], told["advised"]["short"]), (0, 0))
        half = told["half"]
        self.assertEqual(half["minimum_buffers"], 63)
        self.assertAlmostEqual(half["holds"], 497_000_000)
        self.assertEqual((half["wanted_events"], half["missing_events"]), (1000, 503))

    def test_of_given_buffers_it_says_what_they_hold(self):
        path = self.steady()
        for buffers, held, enough in ((126, 1.001, True), (125, 0.993, False), (20, 0.153, False)):
            told = self.advise("--history", "1", "--buffer-size", "8", "--buffers", str(buffers),
                               path)
            self.assertAlmostEqual(told["advised"]["holds"] / 1e9, held)
            self.assertEqual(told["enough"], enough)
            # Each claim overwrites 8: from the first that finds no unused buffer.
            self.assertEqual(told["advised"]["overwritten"], 8 * (500 - buffers))
        told = self.advise("--history", "1", "--buffer-size", "8", "--buffers", "500", path)
        self.assertIsNone(told["advised"]["holds"])

    def test_the_margin_is_added_and_a_session_has_two_buffers_a_processor_and_two_more(self):
        told = self.advise("--history", "1", "--buffer-size", "8", "--margin", "50", self.steady())
        self.assertEqual((told["least_buffers"], told["minimum_buffers"]), (126, 189))
        told = self.advise("--history", "0.01", self.trace({0: range(100)}, processors=6))
        self.assertEqual((told["floor_buffers"], told["minimum_buffers"]), (14, 14))

    def test_what_it_chooses_holds_the_history_of_bursts_on_some_of_the_processors(self):
        times = [*range(0, 5000, 10), *(2000 + i / 20 for i in range(10_000)),
                 *range(2500, 5000, 10)]
        path = self.trace({0: sorted(times), 2: range(0, 5000, 10), 3: range(0, 5000, 7)})
        for history in (0.1, 0.7, 2):
            told = self.advise("--history", str(history), path)
            self.assertTrue(told["enough"])
            self.assertTrue(told["advised"]["holds"] is None
                            or told["advised"]["holds"] >= history * 10 ** 9)
        told = self.advise("--history", "2", "--buffers", str(told["least_buffers"] // 3), path)
        self.assertLess(told["advised"]["holds"], 2 * 10 ** 9)

    def test_more_buffers_never_hold_less_where_a_processor_logs_little(self):
        # A buffer of processor 1 is current for two seconds, while processor 0 fills 140.
        path = self.trace({0: [i / 2 for i in range(20_000)], 1: range(0, 10_000, 70)})
        arguments = ["--history", "1", "--buffer-size", "32", path]
        held = [self.advise("--buffers", str(buffers), *arguments)["advised"]["holds"]
                for buffers in range(60, 90)]
        self.assertEqual(held, sorted(held))
        told = self.advise("--margin", "0", *arguments)
        self.assertTrue(told["enough"])
        self.assertGreaterEqual(told["advised"]["holds"], 10 ** 9)
        self.assertFalse(self.advise("--buffers", str(told["least_buffers"] - 1),
                                     *arguments)["enough"])

    def test_a_trace_shorter_than_the_history_is_taken_to_go_on(self):
        path = self.steady()
        told = self.advise("--history", "40", "--margin", "0", path)
        self.assertTrue(told["extrapolated"])
        self.assertGreaterEqual(told["memory_bytes"], 40_000_000)
        self.assertLess(told["memory_bytes"], 60_000_000)
        self.assertIn("GUESSED", self.run_etwas("advise", "--history", "40", path)[0])

    def test_rates_are_told_of_all_and_of_each_processor(self):
        path = self.trace({0: range(2000), 3: [*range(0, 1000, 10),
                                               *(1000 + i / 10 for i in range(1000))]})
        told = self.advise("--history", "1", path)
        self.assertEqual((told["events"], told["bytes"], told["largest_record"]),
                         (3100, 3_100_000, 1000))
        self.assertEqual([(p["cpu"], p["events"]) for p in told["cpus"]],
                         [(0, 2000), (3, 1100)])
        self.assertAlmostEqual(told["cpus"][0]["burst_bytes_per_second"], 1e6)
        self.assertAlmostEqual(told["cpus"][1]["burst_bytes_per_second"], 1e7)
        self.assertAlmostEqual(told["burst_at"], 10 ** 9)
        self.assertAlmostEqual(told["cpus"][1]["burst_duration_per_buffer"],
                               (told["buffer_bytes"] - 72) * 100, delta=1)

    def test_a_session_with_one_slot_has_no_processors(self):
        told = self.advise("--history", "1", self.trace({0: range(2000), 3: range(2000)},
                                                        mode=0x10000001))
        self.assertEqual([p["cpu"] for p in told["cpus"]], [None])
        self.assertEqual(told["floor_buffers"], 2)


class File(Advising):
    # 65 records in a buffer of 64 KB: 1,000 at once are 16 buffers, and the flusher comes too late
    # for all of them.
    def burst(self):
        return self.trace({0: [*(i / 100 for i in range(1000)), *range(1000, 3000, 10)]})

    def test_a_burst_that_the_flusher_sleeps_through_needs_a_buffer_for_all_of_it(self):
        told = self.advise("--margin", "0", "--buffer-size", "64", "--late", "100", self.burst())
        self.assertEqual((told["least_buffers"], told["maximum_buffers"]), (16, 16))
        self.assertEqual((told["advised"]["lost"], told["advised"]["most_in_use"]), (0, 16))
        half = told["half"]
        self.assertEqual((half["maximum_buffers"], half["lost"]), (8, 1000 - 8 * 65))
        self.assertAlmostEqual(half["first_lost_at"], 8 * 65 * 10_000)

    def test_a_flusher_that_comes_at_once_needs_fewer_and_a_slow_disk_more(self):
        path = self.burst()
        needed = [self.advise("--late", late, "--disk", disk, path)["least_buffers"]
                  for late, disk in (("0", "100000"), ("0", "20"), ("0", "1"))]
        self.assertEqual(needed, sorted(needed))
        self.assertEqual(needed[0], 8)
        self.assertEqual(needed[2], 16)

    def test_the_minimum_is_for_all_but_the_busiest_hundredth(self):
        # 300 of 100,000 come at once.
        times = sorted([*(i / 10 for i in range(100_000)), *(5000 + i / 1000 for i in range(300))])
        told = self.advise("--margin", "0", self.trace({0: times}))
        self.assertLess(told["minimum_buffers"], told["maximum_buffers"])
        self.assertEqual(told["advised"]["lost"], 0)

    def test_timed_flushes_cost_the_disk_a_part_of_each_current_buffer(self):
        path = self.trace({p: range(0, 3000, 5) for p in range(4)})
        quiet = self.advise("--disk", "2", path)
        busy = self.advise("--disk", "2", "--flush", "10ms", path)
        self.assertEqual(busy["flush_timer"], 10_000_000)
        self.assertGreater(busy["least_buffers"], quiet["least_buffers"])

    def test_buffers_that_are_too_few_for_a_slow_disk_are_reported(self):
        path = self.trace({0: range(4000)})
        out, _ = self.run_etwas("advise", "--buffers", "8", "--disk", "0.001", path)
        self.assertIn("TOO FEW", out)

    def test_what_was_lost_when_it_was_recorded_is_said(self):
        path = self.trace({0: range(400)}, own=[etl.totals(lost_events=7, overwritten_events=9)],
                          events_lost=7)
        told = self.advise(path)
        self.assertEqual((told["lost"], told["overwritten"]), (7, 9))
        out, _ = self.run_etwas("advise", path)
        self.assertIn("7 events while it was recorded", out)
        self.assertIn("9 events by newer ones", out)

    def test_that_the_session_kept_classes_apart_is_said(self):
        times = {0: range(400), 2: range(100)}
        # two rows of slots: of no class, and of one
        clock = etl.clock_record(processors=2 | 2 << 16)
        path = self.trace(times, own=[clock], processors=6)
        self.assertTrue(self.advise(path)["retention_classes"])
        out, _ = self.run_etwas("advise", path)
        self.assertIn("kept apart in the session", out)
        path = self.trace(times, own=[etl.clock_record(processors=2)], processors=3)
        self.assertFalse(self.advise(path)["retention_classes"])
        out, _ = self.run_etwas("advise", path)
        self.assertNotIn("kept apart", out)

    def test_several_files_are_one_trace(self):
        first = self.trace({0: range(1000)}, "1.etl")
        second = self.trace({0: range(1000, 2000)}, "2.etl")
        told = self.advise(first, second)
        self.assertEqual((told["files"], told["events"], round(told["duration"] / 1e9, 3)),
                         (2, 2000, 1.999))


class Forms(Advising):
    def test_every_json_key_is_in_the_help(self):
        path = self.trace({0: range(100)})
        self.assert_keys_documented("advise", self.advise("--history", "1", path))
        self.assert_keys_documented("advise", self.advise(path))

    def test_what_to_write_into_the_program_is_there_with_the_figures(self):
        path = self.trace({0: range(4000)})
        told = self.advise("--history", "1", path)
        out, _ = self.run_etwas("advise", "--history", "1", path)
        self.assertIn("EVENT_TRACE_BUFFERING_MODE", out)
        for line in (f".minimum_buffers = {told['minimum_buffers']}",
                     f"MinimumBuffers = {told['minimum_buffers']};",
                     f".buffer_size_kb = {told['buffer_bytes'] // 1024}",
                     f"BufferSize = {told['buffer_bytes'] // 1024};",
                     f"MaximumBuffers = {told['maximum_buffers']};"):
            self.assertIn(line, out)
        out, _ = self.run_etwas("advise", path)
        self.assertNotIn("EVENT_TRACE_BUFFERING_MODE", out)

    def test_a_wrong_call_is_reported(self):
        path = self.trace({0: range(100)})
        for arguments, word in (([], "which file"), (["--history", "0", path], "--history"),
                                (["--history", "nan", path], "nan"),
                                (["--history", "1e30", path], "1e30"),
                                (["--late", "-1", path], "--late"),
                                (["--disk", "0", path], "--disk"),
                                (["--buffer-size", "3", path], "--buffer-size"),
                                (["--buffers", "4,3", path], "--buffers"),
                                (["--buffers", "0", path], "--buffers"),
                                (["--buffers", "99999999999999999999", path], "--buffers"),
                                (["--history", "1", "--buffers", "3,4", path], "one number"),
                                (["--replay=0", path], "--replay"),
                                ([path] * 1001, "at most 1000")):
            with self.subTest(arguments=arguments[:2]):
                out, error = self.run_etwas("advise", *arguments, expect=FAILED)
                self.assertEqual(out, "")
                self.assertIn(word, error)

    def test_a_trace_without_events_and_what_is_no_trace(self):
        out, error = self.run_etwas("advise", self.write("a.etl", etl.trace([])))
        self.assertEqual(out, "")
        self.assertRegex(error, "there are no events of providers in .*a.etl\n")
        self.run_etwas("advise", self.write("b.etl", b"hello" * 1000), expect=FAILED)
        self.run_etwas("advise", os.path.join(self.folder, "missing"), expect=FAILED)

    def test_events_of_impossible_times_processors_and_sizes(self):
        ends = [1, 2, 2**62, 2**63 - 1, -2**63, -1, 2**40]
        strange = etl.trace([(65535, [etl.classic(RED, stamp) for stamp in sorted(ends)]),
                             (7, [etl.message(1, 0)] * 900),
                             (0, [etl.classic(RED, stamp) for stamp in ends])], processors=2**32
                            - 1, frequency=1)
        path = self.write("a.etl", strange)
        for arguments in (["--history", "1"], ["--history", "1000000000"], [], ["--flush", "1ms"],
                          ["--disk", "0.001"],
                          ["--late", "3600000"], ["--buffers", "1"],
                          ["--history", "1", "--buffers", "1"],
                          ["--buffer-size", "4"]):
            with self.subTest(arguments=arguments):
                self.run_json("advise", "--json", *arguments, path)
                self.run_any("advise", *arguments, path, expect=(FINE, DAMAGED))

    def test_no_flipped_bit_crashes_it_or_spoils_its_json(self):
        with open(self.trace({0: range(30), 1: range(0, 30, 3)}), "rb") as file:
            good = file.read()
        for at in [*range(0, 600, 13), *range(etl.BUFFER_BYTES, etl.BUFFER_BYTES + 2200, 19)]:
            data = bytearray(good)
            data[at] ^= 1 << at % 8
            path = self.write("flipped.etl", bytes(data))
            self.run_json("advise", "--json", "--history", "0.01", path)
            self.run_json("advise", "--json", path)


class Replay(Advising):
    def test_a_flight_recorder_with_the_advised_sizes_holds_the_history_and_with_half_does_not(
            self):
        path = self.trace({0: range(4000)})
        options = ["--history", "1", "--buffer-size", "8", "--replay=10"]
        told = self.advise(*options, path)
        replay = told["replay"]
        self.assertIsNone(replay["failed"])
        self.assertEqual((replay["events"], replay["lost"], replay["threads"]), (4000, 0, 1))
        self.assertGreaterEqual(replay["minimum_buffers"], told["minimum_buffers"])
        if replay["holds"] is not None:
            self.assertGreaterEqual(replay["holds"], 10 ** 9)
            self.assertGreaterEqual(replay["holds_at_end"], 10 ** 9)
        self.assert_keys_documented("advise", told)
        half = self.advise("--buffers", str(told["half"]["minimum_buffers"]), *options, path)
        # what this machine's sessions have at least
        if half["replay"]["minimum_buffers"] == half["minimum_buffers"]:
            self.assertLess(half["replay"]["holds_at_end"], 10 ** 9)

    def test_a_file_with_the_advised_sizes_loses_nothing(self):
        path = self.trace({p: range(1500) for p in range(3)})
        told = self.advise("--late", "3000", "--replay=3", path)
        replay = told["replay"]
        self.assertIsNone(replay["failed"])
        self.assertEqual((replay["events"], replay["lost"]), (4500, 0))
        self.assertLessEqual(replay["threads"], 3)
        self.assertEqual(replay["buffer_bytes"], told["buffer_bytes"])
        out, _ = self.run_etwas("advise", "--late", "3000", "--replay=3", path)
        self.assertIn("0 of 4,500 events", out)

    def test_sizes_that_a_session_cannot_have_are_reported(self):
        path = self.trace({0: range(200)})
        arguments = ["--buffers", "1", "--replay=10", path]
        told = self.advise(*arguments)
        self.assertEqual(told["minimum_buffers"], 1)
        self.assertGreaterEqual(told["replay"]["minimum_buffers"], 2)
        self.assertIn("OTHER SIZES", self.run_etwas("advise", *arguments)[0])

    def test_records_of_all_sizes_are_logged_again(self):
        events = [etl.classic(RED, 1_000_001 + size, payload=bytes(size))
                  for size in range(0, 1500, 7)]
        events += [etl.message(1, 2, struct.pack("<16x"), bytes(size)) for size in range(16)]
        path = self.write("a.etl",
                          etl.trace([(0, events[at:at + 5]) for at in range(0, len(events), 5)]))
        replay = self.advise("--replay", path)["replay"]
        self.assertEqual((replay["failed"], replay["events"], replay["lost"]),
                         (None, len(events), 0))

    def test_a_damaged_stamp_or_count_makes_it_neither_endless_nor_large(self):
        times = [*range(200), 10 * 365 * 86400 * 1000]
        path = self.trace({0: times})
        out, error = self.run_etwas("advise", "--json", "--replay", path, expect=FAILED)
        self.assertIn(f"etwas advise: {path}: no replay: it would take more than a day", error)
        self.assertIn("more than a day", json.loads(out)["replay"]["failed"])
        for processors, expect in ((0x7FFF, DAMAGED), (8193, DAMAGED), (8192, FINE)):
            path = self.trace({0: range(100)}, own=[etl.clock_record(processors=processors)],
                              processors=processors)
            told, error = self.run_etwas("advise", "--json", "--replay=100", path, expect=expect)
            told = json.loads(told)
            self.assertEqual(
                error.startswith(
                    f"etwas advise: {path}: damaged: it says that its machine has {processors:d} "
                    "proc"),
                expect == DAMAGED)
            self.assertEqual(told["minimum_buffers"] >= 8192, expect == FINE)
            replay = told["replay"]
            self.assertIsNone(replay["failed"])
            self.assertEqual((replay["events"], replay["lost"]), (100, 0))
            self.assertLess(replay["minimum_buffers"], 1024)

    def test_it_leaves_no_files_and_says_where_it_has_no_place_for_them(self):
        path = self.trace({0: range(400)})
        folder = os.path.join(self.folder, "place")
        os.mkdir(folder)
        environment = {**os.environ, "TMPDIR": folder}
        self.run_etwas("advise", "--history", "0.1", "--buffers", "12", "--buffer-size", "8",
                       "--replay", path, env=environment)
        self.run_etwas("advise", "--replay", path, env=environment)
        self.assertEqual(os.listdir(folder), [])
        environment["TMPDIR"] = os.path.join(folder, "missing")
        out, error = self.run_etwas("advise", "--json", "--replay", path, env=environment,
                                    expect=FAILED)
        self.assertIn("TMPDIR", error)
        self.assertIn("TMPDIR", json.loads(out)["replay"]["failed"])


if __name__ == "__main__":
    sys.exit(main())
