# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas stat --cpu-time`: processor time by context switches, of files with known answers and of
the kernel's.

usage: cpu_test.py PATH_OF_ETWAS [PATH_OF_CPU_LOAD] TEST_CLASS
"""

import csv
import io
import json
import os
import subprocess
import sys

import etl_build as etl
from etl_build import READY, TERMINATED, kernel_loss, ready, switch, thread_event
from tool_case import DAMAGED, FAILED, RED, ToolTest, main

T = 1_000_001  # the first event of the files here
HERE, GONE = 3, 4  # rundown at the beginning and at the end


def at(ticks):
    """So many times 100 ns after the first event."""
    return T + ticks


class CpuTest(ToolTest):
    def trace(self, *per_processor, name="a.etl", processors=None, **options):
        """A file with a buffer for each processor, from 0."""
        return self.write(name, etl.trace(list(enumerate(per_processor)),
                                          processors=processors or len(per_processor), **options))

    def cpu(self, path, **options):
        """What is said of a file, and its threads by their ids."""
        out, _ = self.run_etwas("stat", "--cpu-time", "--json", path, **options)
        told = json.loads(out)
        return told, {thread["tid"]: thread for process in told["processes"]
                      for thread in process["threads"]}

    def times(self, counted):
        """Of a thread, in ticks: running, ready, waiting, unknown."""
        return tuple(counted[key] // 100 for key in ("running_time", "ready_time", "waiting_time",
                                                     "unknown_time"))

    def processor_times(self, told):
        return [tuple(processor[key] // 100 for key in ("busy_time", "idle_time", "unknown_time"))
                for processor in told["cpus"]]


class Switches(CpuTest):
    def test_time_is_counted_from_switch_to_switch(self):
        path = self.trace([
            etl.classic(RED, at(0)),
            switch(at(100), 0, 21), switch(at(400), 21, 22, READY), switch(at(600), 22, 21),
            switch(at(650), 21, 0), etl.classic(RED, at(1000))])
        told, threads = self.cpu(path)
        self.assertEqual(self.times(threads[21]), (350, 200, 450, 0))
        self.assertEqual(self.times(threads[22]), (200, 0, 800, 0))
        self.assertEqual([(threads[t]["switches_in"], threads[t]["preemptions"]) for t in (21, 22)],
                         [(2, 1), (1, 0)])
        self.assertEqual(self.processor_times(told), [(550, 450, 0)])
        self.assertEqual((told["duration"], told["switches"], told["ready_known"]),
                         (100_000, 4, False))

    def test_who_is_woken_is_ready_until_it_comes(self):
        path = self.trace([
            switch(at(0), 21, 0), ready(at(300), 21), ready(at(310), 21), switch(at(350), 0, 21),
            ready(at(400), 21), switch(at(500), 21, 0), etl.classic(RED, at(700))])
        told, threads = self.cpu(path)
        self.assertEqual(self.times(threads[21]), (150, 50, 500, 0))
        self.assertTrue(told["ready_known"])

    def test_who_runs_another_program_goes_on_as_the_first_thread(self):
        told, threads = self.cpu(self.trace([
            thread_event(1, at(0), 20, 20), thread_event(1, at(0), 20, 21), switch(at(100), 0, 21),
            thread_event(2, at(200), 20, 20), thread_event(2, at(300), 20, 21, by=20),
            thread_event(1, at(300), 20, 20, by=20), switch(at(500), 20, 0),
            etl.classic(RED, at(600))]))
        self.assertEqual(self.times(threads[21]), (200, 0, 100, 0))
        self.assertEqual(self.times(threads[20]), (200, 0, 100, 0))
        self.assertEqual(self.processor_times(told), [(400, 200, 0)])

    def names(self, told):
        """How long each process ran, in ticks, by its id and name."""
        return sorted((process["pid"], process.get("process"), process["running_time"] // 100)
                      for process in told["processes"])

    def test_each_time_is_of_the_name_of_its_time(self):
        told, _ = self.cpu(self.trace([
            etl.process_event(3, at(0), 20, b"sh"), thread_event(3, at(0), 20, 20),
            switch(at(100), 0, 20), etl.process_event(3, at(250), 20, b"make", by=20),
            etl.process_event(3, at(400), 20, b"cc", by=20), switch(at(500), 20, 0),
            switch(at(600), 0, 20), switch(at(650), 20, 0),
            etl.process_event(4, at(700), 20, b"cc")]))
        self.assertEqual(self.names(told), [(20, "cc", 150), (20, "make", 150), (20, "sh", 150)])
        self.assertEqual(self.processor_times(told), [(450, 250, 0)])

    def test_an_id_that_is_given_again_is_another_process(self):
        events = []
        for i, name in enumerate((b"one", b"two", b"one")):
            start = 100 * i
            events += [etl.process_event(1, at(start), 20, b"sh"),
                       thread_event(1, at(start), 20, 20), switch(at(start + 10), 0, 20),
                       etl.process_event(3, at(start + 20), 20, name, by=20),
                       thread_event(2, at(start + 50 + i), 20, 20, by=20),
                       etl.process_event(2, at(start + 50 + i), 20, name),
                       switch(at(start + 60 + i), 20, 0, etl.TERMINATED)]
        told, _ = self.cpu(self.trace(events))
        self.assertEqual(self.names(told), [(20, "one", 40), (20, "one", 42), (20, "sh", 10),
                                            (20, "sh", 10), (20, "sh", 10),
                                            (20, "two", 41)])

    def test_who_runs_another_program_where_nothing_was_seen_yet_always_ran(self):
        told, _ = self.cpu(self.trace([
            etl.process_event(3, at(0), 20, b"sh"), thread_event(3, at(0), 20, 20),
            etl.process_event(3, at(200), 20, b"make", by=20), switch(at(500), 20, 0),
            etl.classic(RED, at(600))]))
        self.assertEqual(self.names(told), [(20, "make", 300), (20, "sh", 200)])
        self.assertEqual(self.processor_times(told), [(500, 100, 0)])

    def test_a_thread_that_moves_runs_on_one_processor_at_a_time(self):
        told, threads = self.cpu(self.trace(
            [etl.classic(RED, at(0)), switch(at(100), 0, 21), switch(at(300), 21, 0, READY),
             etl.classic(RED, at(900))],
            [switch(at(500), 0, 21), switch(at(600), 21, 0)]))
        self.assertEqual(self.times(threads[21]), (300, 200, 400, 0))
        self.assertEqual(self.processor_times(told), [(200, 700, 0), (100, 800, 0)])

    def test_who_ran_at_the_ends_ran_from_the_first_event_and_to_the_last(self):
        path = self.trace([etl.classic(RED, at(0)), switch(at(200), 21, 22),
                           etl.classic(RED, at(500))])
        told, threads = self.cpu(path)
        self.assertEqual((self.times(threads[21])[0], self.times(threads[22])[0]), (200, 300))
        self.assertEqual([(threads[t]["ran_at_begin"], threads[t]["ran_at_end"]) for t in (21, 22)],
                         [(True, False), (False, True)])
        self.assertEqual(self.processor_times(told), [(500, 0, 0)])
        out, _ = self.run_etwas("stat", "--cpu-time", path)
        self.assertIn(
            "\n  at the ends   1 thread ran when the trace began, counted from its first event; 1 "
            "when it "
            "ended, to its last\n", out)

    def test_a_missing_switch_makes_unknown_what_was_since_the_one_before(self):
        # Between 200 and 600 thread 21 gave way to somebody, and 22 came.
        told, threads = self.cpu(self.trace([
            switch(at(0), 22, 0), switch(at(200), 0, 21), switch(at(600), 22, 0),
            switch(at(700), 0, 21), switch(at(800), 21, 0), etl.classic(RED, at(1000))]))
        self.assertEqual(self.times(threads[21]), (100, 0, 400, 500))
        self.assertEqual(self.times(threads[22]), (0, 0, 600, 400))
        self.assertEqual(self.processor_times(told), [(100, 500, 400)])
        self.assertEqual(told["cpus"][0]["gaps"], 1)

    def test_a_thread_whose_own_switches_never_arrive_is_unknown_while_it_was_there(self):
        # Thread 21 comes at 100 and 500; that it gives way at 200 and 600 is not told, nor counted
        # as lost.
        told, threads = self.cpu(self.trace([
            switch(at(0), 22, 0), switch(at(100), 0, 21), switch(at(300), 0, 22),
            switch(at(400), 22, 0), switch(at(500), 0, 21), switch(at(700), 0, 22),
            switch(at(800), 22, 0), etl.classic(RED, at(900))]))
        self.assertEqual(self.times(threads[21]), (0, 0, 100, 800))
        self.assertEqual(self.processor_times(told), [(200, 300, 400)])
        self.assertEqual(told["cpus"][0]["gaps"], 2)

    def test_a_version_that_is_not_known_says_what_all_known_ones_do(self):
        # Of a switch both threads, but not what becomes of the one that gives way; of a thread
        # nothing: they disagree.
        for version in (2, 3, 4, 5, 9):
            told, threads = self.cpu(self.trace([
                thread_event(3, at(0), 20, 21, version=min(version, 4)),
                thread_event(3, at(0), 99, 21, version=9), switch(at(100), 0, 21, version=version),
                switch(at(300), 21, 22, READY, version=version),
                switch(at(600), 22, 21, TERMINATED, version=version),
                switch(at(700), 21, 0, version=version), etl.classic(RED, at(1000))],
                                                name=f"{version}.etl"))
            is_known = version < 5
            self.assertEqual(threads[21]["pid"] if "pid" in threads[21] else
                             [p["pid"] for p in told["processes"]
                              if threads[21] in p["threads"]][0], 20)
            self.assertEqual(self.times(threads[21]), (300, 300, 400, 0) if is_known
                             else (300, 0, 100, 600))
            self.assertEqual(self.processor_times(told), [(600, 400, 0)])
            self.assertEqual(threads[21]["preemptions"], int(is_known))

    def test_who_was_ready_where_a_switch_is_missing_may_have_run(self):
        events = [switch(at(0), 0, 21), switch(at(100), 21, 22, READY), switch(at(400), 23, 24),
                  switch(at(500), 24, 21), switch(at(600), 21, 24, READY), switch(at(700), 24, 21),
                  etl.classic(RED, at(800))]
        _, threads = self.cpu(self.trace(events))
        self.assertEqual(self.times(threads[21]), (300, 100, 0, 400))

    def test_who_waited_while_a_switch_was_missing_anywhere_may_have_run(self):
        told, threads = self.cpu(self.trace(
            [switch(at(0), 21, 0), switch(at(600), 0, 21), switch(at(700), 21, 0),
             switch(at(900), 0, 21)],
            [switch(at(100), 0, 22), switch(at(400), 23, 0), switch(at(450), 0, 22),
             switch(at(1000), 22, 0)]))
        self.assertEqual(self.times(threads[21]), (200, 0, 500, 300))
        self.assertEqual([processor["gaps"] for processor in told["cpus"]], [0, 1])

    def test_the_file_says_where_switches_may_be_missing(self):
        told, threads = self.cpu(self.trace(
            [switch(at(0), 21, 0), switch(at(600), 0, 21), switch(at(700), 21, 0),
             switch(at(900), 0, 21)],
            [switch(at(50), 22, 23), switch(at(100), 23, 22), kernel_loss(at(400), at(300)),
             switch(at(500), 22, 23), switch(at(650), 23, 0), switch(at(1000), 0, 24)]))
        # What was recorded until 300 and from 400 on is whole: 22 ran until the one, and since the
        # other.
        self.assertEqual(self.times(threads[21]), (200, 0, 700, 100))
        self.assertEqual(self.times(threads[22]), (350, 0, 550, 100))
        self.assertEqual(self.times(threads[23]), (200, 0, 700, 100))
        self.assertEqual(self.processor_times(told), [(200, 800, 0), (550, 350, 100)])
        self.assertEqual([processor["gaps"] for processor in told["cpus"]], [0, 1])

    def test_a_processor_that_was_off_was_not_idle(self):
        path = self.trace(
            [etl.classic(RED, at(0)), switch(at(100), 21, 22), etl.classic(RED, at(1000))],
            [switch(at(200), 23, 0), kernel_loss(at(500), at(200), 0),
             kernel_loss(at(700), at(500), 0), switch(at(800), 0, 23)],
            [switch(at(200), 24, 0), kernel_loss(at(500), at(200), 0)],
            [kernel_loss(at(600), 0, 0), switch(at(610), 25, 0)])
        told, _ = self.cpu(path)
        self.assertEqual(self.processor_times(told), [(1000, 0, 0), (400, 100, 500), (200, 0, 800),
                                                      (10, 390, 600)])
        out, _ = self.run_etwas("stat", "--json", path)
        gaps = json.loads(out)["not_recorded"]
        self.assertEqual([(gap["cpu"], gap["start_time"] is None) for gap in gaps],
                         [(1, False), (2, False), (3, True)])
        out, _ = self.run_etwas("stat", path)
        self.assertEqual(out.count("  UNKNOWN       processor "), 3)
        self.assertIn(
            "  UNKNOWN       processor 3 was off, or not recorded, from the beginning to ", out)

    def test_who_cannot_have_run_since_a_loss_came_unseen(self):
        # 21 gave way elsewhere at 600, so that it did not run here since 400.
        told, threads = self.cpu(self.trace(
            [switch(at(0), 0, 21), switch(at(600), 21, 0), etl.classic(RED, at(1000))],
            [switch(at(0), 0, 22), kernel_loss(at(400), at(300)), switch(at(800), 21, 0)]))
        self.assertEqual(self.times(threads[21]), (600, 0, 200, 200))
        self.assertEqual(self.times(threads[22]), (300, 0, 0, 700))
        self.assertEqual(self.processor_times(told), [(600, 400, 0), (300, 200, 500)])

    def test_a_loss_without_a_beginning_is_of_all_since_the_switch_before(self):
        told, _ = self.cpu(self.trace([switch(at(0), 0, 22), switch(at(200), 22, 23),
                                       kernel_loss(at(400), 0), switch(at(500), 24, 0),
                                       etl.classic(RED, at(600))]))
        self.assertEqual(self.processor_times(told), [(300, 100, 200)])

    def test_a_loss_at_an_end_makes_unknown_who_ran_there(self):
        loss = [kernel_loss(at(300), at(200))]
        told, threads = self.cpu(self.trace([etl.classic(RED, at(0)), *loss,
                                             switch(at(500), 21, 22), switch(at(600), 22, 23)],
                                            [switch(at(100), 24, 25), *loss]))
        self.assertEqual(self.times(threads[21]), (200, 0, 100, 300))
        self.assertEqual(self.times(threads[25]), (100, 0, 100, 400))
        self.assertEqual(self.processor_times(told), [(300, 0, 300), (200, 0, 400)])
        self.assertEqual([(threads[t]["ran_at_begin"], threads[t]["ran_at_end"]) for t in (23, 25)],
                         [(False, True), (False, False)])

    def test_a_thread_that_comes_while_it_runs_elsewhere_has_left_there_unseen(self):
        told, threads = self.cpu(self.trace(
            [etl.classic(RED, at(0)), switch(at(100), 0, 21), switch(at(900), 0, 22),
             switch(at(1000), 22, 0)],
            [switch(at(500), 0, 21), switch(at(600), 21, 0)]))
        # after 600 it may have run there again
        self.assertEqual(self.times(threads[21]), (100, 0, 200, 700))
        self.assertEqual(self.processor_times(told), [(100, 100, 800), (100, 900, 0)])

    def test_the_known_times_of_a_processor_and_the_unknown_one_are_all_of_it(self):
        told, _ = self.cpu(self.trace([switch(at(0), 1, 2), switch(at(70), 3, 4),
                                       switch(at(90), 4, 0), switch(at(130), 7, 8),
                                       etl.classic(RED, at(500))], processors=2))
        self.assertEqual([sum(times) for times in self.processor_times(told)], [500, 500])
        self.assertEqual(self.processor_times(told)[1], (0, 0, 500))  # it has no switches

    def test_what_a_file_does_not_have_is_not_made_up(self):
        events = [etl.classic(RED, at(0)), switch(at(200), 21, 22), switch(at(300), 22, 23),
                  etl.classic(RED, at(500))]
        told, threads = self.cpu(self.trace(events, mode=0x400))  # a snapshot
        self.assertEqual((told["begins_late"], self.processor_times(told)), (True, [(300, 0, 200)]))
        self.assertEqual([self.times(threads[t]) for t in (22, 23)],
                         [(100, 0, 200, 0), (200, 0, 0, 0)])
        self.assertNotIn(21, threads)  # what it did is not known
        told, threads = self.cpu(self.trace(events, finished=False))
        self.assertEqual((told["ends_early"], self.processor_times(told)), (True, [(300, 0, 200)]))
        self.assertEqual(self.times(threads[23]), (0, 0, 300, 200))
        self.assertFalse(threads[23]["ran_at_end"])

    def test_damage_makes_the_end_unknown(self):
        path = self.write("a.etl",
                          etl.trace([(0, [switch(at(0), 0, 21), switch(at(100), 21, 0)])])[:-8])
        told, _ = self.cpu(path, expect=DAMAGED)
        self.assertEqual((told["damaged"], told["ends_early"]), (True, True))

    def test_threads_are_reported_by_process_with_its_name(self):
        path = self.trace([
            etl.classic(RED, at(0)), etl.process_event(HERE, at(1), 20, b"ba\x1bsh"),
            thread_event(HERE, at(2), 20, 20), thread_event(HERE, at(3), 20, 26),
            thread_event(HERE, at(4), 20, 27), switch(at(100), 0, 26), switch(at(200), 26, 30),
            switch(at(600), 30, 20), switch(at(650), 20, 31), switch(at(660), 31, 0),
            thread_event(GONE, at(700), 30, 30)])
        told, _ = self.cpu(path)
        self.assertEqual([(p["pid"], p.get("process"), [t["tid"] for t in p["threads"]])
                          for p in told["processes"]],
                         [(30, None, [30]), (20, "ba\x1bsh", [26, 20]), (None, None, [31])])
        self.assertEqual((told["processes"][1]["running_time"], told["threads_not_run"]),
                         (15_000, 1))
        out, _ = self.run_etwas("stat", "--cpu-time", path)
        self.assertRegex(
            out, r"(?m)^20 ba\\x1bsh +15\.0 µs .* 2 +0\n  thread 26 .*\n  thread 20 .*\n"
                 r"process not known .*\n  thread 31 .*\n\Z")

    def test_an_id_that_is_given_again_is_another_thread(self):
        told, _ = self.cpu(self.trace([
            etl.classic(RED, at(0)), thread_event(1, at(10), 20, 21), switch(at(20), 0, 21),
            thread_event(2, at(40), 20, 21), switch(at(50), 21, 0, TERMINATED),
            thread_event(1, at(70), 30, 21), switch(at(80), 0, 21), switch(at(100), 21, 0),
            etl.classic(RED, at(200))]))
        self.assertEqual([(p["pid"], self.times(p)) for p in told["processes"]],
                         [(20, (30, 0, 10, 0)), (30, (20, 0, 110, 0))])

    def test_hostile_switches_do_no_harm(self):
        events = [etl.kernel(5, 36, at(0), bytes(23)), etl.kernel(5, 36, at(1), b"\xff" * 24,
                                                                  version=1),
                  etl.kernel(5, 50, at(2), b"\1\0\0"), etl.system(5, 1, at(3), bytes(7)),
                  etl.system(3, 1, at(4), b"\xff" * 30), switch(at(5), 2**32 - 1, 2**32 - 1, 255),
                  switch(at(6), 2**32 - 1, 2**32 - 1, READY),
                  etl.kernel(5, 36, at(7), b"\xff" * 100)]
        told, _ = self.cpu(self.trace(events))
        self.assertEqual(told["switches"], 3)


class Forms(CpuTest):
    def events(self):
        return [thread_event(HERE, at(0), 20, 21), switch(at(100), 0, 21),
                switch(at(300), 21, 0, READY), etl.process_event(HERE, at(400), 20, b'a,"b"')]

    def test_csv_has_a_line_for_each_thread(self):
        paths = [self.trace(self.events(), name=name) for name in ("a.etl", "b.etl")]
        out, _ = self.run_etwas("stat", "--cpu-time", "--csv", *paths)
        lines = list(csv.DictReader(io.StringIO(out, newline="")))
        self.assertEqual([line["file"] for line in lines], paths)
        self.assertEqual(list(lines[0].values())[1:],
                         ["20", 'a,"b"', "21", "20000", "10000", "10000", "0", "1", "1", "false",
                          "false"])
        self.assertEqual(out.count("\r\n"), 3)

    def test_a_file_without_switches_says_what_records_them(self):
        out, _ = self.run_etwas("stat", "--cpu-time", self.trace([etl.classic(RED, at(0))]))
        self.assertIn("\n  switches      0: EVENT_TRACE_FLAG_CSWITCH records them\n", out)
        self.assertNotIn("processor  ", out)

    def test_losses_and_what_is_not_known_are_said(self):
        out, _ = self.run_etwas("stat", "--cpu-time", self.trace(
            [switch(at(0), 0, 21), switch(at(100), 22, 0), etl.classic(RED, at(300))],
            events_lost=7))
        self.assertIn("\n  LOST          7 events and 0 buffers while recording\n", out)
        self.assertIn(
            "\n  NOT KNOWN     10.0 µs of processor time: switches are missing in 1 place\n",
            out)

    def test_threads_are_chosen_and_processors_are_not(self):
        path = self.trace([
            etl.process_event(HERE, at(0), 20, b"one"), etl.process_event(HERE, at(0), 30, b"two"),
            thread_event(HERE, at(0), 20, 21), thread_event(HERE, at(0), 30, 31),
            switch(at(100), 0, 21), switch(at(400), 21, 31), switch(at(600), 31, 0),
            switch(at(700), 0, 22), switch(at(800), 22, 0)])
        whole, _ = self.cpu(path)
        for options, wanted in ((("--pid", "20"), [21]), (("--process", "two"), [31]),
                                (("--process", "one,two", "--tid", "31,22"), [31]),
                                (("--tid", "22,21"), [21, 22])):
            out, _ = self.run_etwas("stat", "--cpu-time", "--json", *options, path)
            told = json.loads(out)
            self.assertEqual(sorted(thread["tid"] for process in told["processes"]
                                    for thread in process["threads"]), wanted, options)
            self.assertEqual((told["left_out"], told["cpus"]), (3 - len(wanted), whole["cpus"]))
            out, _ = self.run_etwas("stat", "--cpu-time", "--csv", *options, path)
            self.assertEqual(len(out.splitlines()), 1 + len(wanted))
        out, error = self.run_etwas("stat", "--cpu-time", "--pid", "99", path)
        self.assertIn("  left out      3 more threads, by what was chosen; the processors are of "
                      "all\n", out)
        self.assertIn("note: no event is as chosen: pid == 99", error)

    def test_every_key_is_documented(self):
        self.assert_keys_documented("stat", self.cpu(self.trace(self.events()))[0])

    def test_what_does_not_go_together_is_refused(self):
        for options in (("--cpu-time", "--where", "event_id == 1"), ("--cpu-time", "--heap"),
                        ("--csv",), ("--cpu-time", "--csv", "--json")):
            self.run_etwas("stat", *options, "a.etl", expect=FAILED)


class Own(CpuTest):
    """A process that recorded itself alone: of each switch there is its own side, and the other one
    is 0."""

    def told(self, *events, **options):
        return self.cpu(self.trace([etl.own_process(at(0), 20), *events], **options))

    def test_what_else_the_processors_did_is_unknown(self):
        told, threads = self.told(switch(at(100), 0, 21), switch(at(300), 21, 0, READY),
                                  switch(at(350), 0, 21), switch(at(400), 21, 0),
                                  switch(at(600), 0, 22), switch(at(1000), 22, 0))
        self.assertEqual((told["own_pid"], told["ready_known"]), (20, False))
        self.assertEqual(self.processor_times(told), [(650, 0, 350)])
        self.assertEqual(self.times(threads[21]), (250, 50, 700, 0))
        self.assertEqual(self.times(threads[22]), (400, 0, 600, 0))
        out, _ = self.run_etwas("stat", "--cpu-time", os.path.join(self.folder, "a.etl"))
        self.assertIn(
            "  process       20 alone was recorded, by itself: what else the processors did is not "
            "known\n", out)
        self.assertIn(" who was woken waits on, since of one process nothing tells of that\n", out)
        self.assertNotIn("NOT KNOWN", out)
        self.assertNotIn("own_pid", self.cpu(self.trace([switch(at(0), 0, 21)]))[0])

    def test_a_thread_ends_without_a_switch(self):
        told, threads = self.told(switch(at(100), 0, 21), thread_event(2, at(300), 20, 21),
                                  switch(at(400), 0, 22), switch(at(500), 22, 0),
                                  switch(at(600), 0, 21), switch(at(700), 21, 0),
                                  thread_event(2, at(750), 20, 21), etl.classic(RED, at(1000)))
        self.assertEqual([p["gaps"] for p in told["cpus"]], [0])
        self.assertEqual(self.processor_times(told), [(400, 0, 600)])
        self.assertEqual(self.times(threads[22]), (100, 0, 900, 0))
        first, second = [t for t in told["processes"][0]["threads"] if t["tid"] == 21]
        self.assertEqual((self.times(first), self.times(second)),
                         ((200, 0, 100, 0), (100, 0, 50, 0)))

    def test_of_a_thread_without_a_switch_nothing_is_known(self):
        told, threads = self.told(thread_event(HERE, at(1), 20, 21),
                                  thread_event(HERE, at(2), 20, 22), switch(at(100), 22, 0),
                                  etl.classic(RED, at(1000)))
        self.assertEqual(self.times(threads[22]), (100, 0, 900, 0))  # it ran when the session began
        self.assertEqual((list(threads), told["threads_not_run"]), ([22], 1))
        out, _ = self.run_etwas("stat", "--cpu-time", os.path.join(self.folder, "a.etl"))
        self.assertIn("  no switch of  1 thread\n", out)


class Accounts(CpuTest):
    """The kernel's own accounts of a run that was recorded."""
    load = ""

    def measure(self, *scope):
        path = os.path.join(self.folder, "k.etl")
        run = subprocess.run([self.load, path, *scope], stdout=subprocess.PIPE, check=False,
                             timeout=100)
        if run.returncode == 77:
            self.skip_since(run.stdout.decode())
        self.assertEqual(run.returncode, 0, run.stdout)
        return json.loads(run.stdout), *self.cpu(path)

    def check(self, known, threads):
        """
        Ours and theirs, all together, and what may lie between them: what the hypervisor took is
        ours alone, what is not known theirs.
        """
        ours = theirs = unknown = 0
        for thread in known["threads"]:
            counted = threads[thread["thread"]]
            running, kernels = counted["running_time"], thread["run_ns"]
            self.assertLessEqual(kernels, (running + counted["unknown_time"]) * 1.02 + 5_000_000)
            self.assertLessEqual(running, kernels * 1.02 + 5_000_000 + known["taken_ns"])
            self.assertGreater(counted["switches_in"], 1)
            ours, theirs, unknown = ours + running, theirs + kernels, unknown + counted[
                "unknown_time"]
        return ours, theirs, unknown + known["taken_ns"]

    def test_a_process_by_itself_has_what_the_kernel_counted(self):
        known, told, threads = self.measure("own")
        if told["lost"] > 0:
            self.skipTest("events are lost on this machine, as it is now")
        self.assertEqual(told["own_pid"], known["process"])
        self.assertEqual(sum(processor["gaps"] for processor in told["cpus"]), 0)
        for thread in known["threads"]:
            counted = threads[thread["thread"]]
            # What a switch itself takes is not in it.
            between = counted["switches_in"] * 2000 + counted["unknown_time"] + 5_000_000
            self.assertLessEqual(thread["run_ns"], counted["running_time"] * 1.02 + between)
            self.assertLessEqual(counted["running_time"], thread["run_ns"] * 1.02 + 5_000_000
                                 + known["taken_ns"])
            self.assertLessEqual(counted["ready_time"], thread["wait_ns"] * 1.02 + between
                                 + known["taken_ns"])

    def test_running_time_is_what_the_kernel_counted_within_2_percent(self):
        for _ in range(4):  # a machine that is left alone needs one
            known, told, threads = self.measure()
            unknown = sum(threads[thread["thread"]]["unknown_time"] for thread in known["threads"])
            if known["taken_ns"] + unknown < 100_000_000:
                break
        else:
            self.skipTest("others take too much of this machine, as it is now")
        ours, theirs, between = self.check(known, threads)
        print(f"ours {ours} ns, the kernel's {theirs} ns; not known or taken {between} ns")
        process, = [p for p in told["processes"] if p["pid"] == known["process"]]
        self.assertLessEqual({thread["thread"] for thread in known["threads"]},
                             {thread["tid"] for thread in process["threads"]})
        self.assertGreater(theirs, 1_000_000_000)
        self.assertLessEqual(abs(ours - theirs), 0.02 * theirs + between)


if __name__ == "__main__":
    Accounts.load = sys.argv[2]
    sys.exit(main())
