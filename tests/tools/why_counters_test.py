# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas why` where there is no switch of the kernel: what threads counted themselves, and the
processors of their events, in files with known answers.

usage: why_counters_test.py PATH_OF_ETWAS [PATH_OF_COUNTED_WORK] TEST_CLASS
"""

import os
import subprocess
import sys
import uuid

import etl_build as etl
from etl_build import switch
from tool_case import BLUE, RED, main
from why_test import CHECKPOINT, END, START, WhyTest, at, order


class Counters(WhyTest):
    """What threads counted themselves, where there is no switch of the kernel."""

    def counted(self, kind, ticks, *values, **options):
        """values: ran and waited, in ticks; then times given away, taken away, faults without a
        disk and with one."""
        ran, waited, given, taken, minor, major = values
        return etl.thread_counters(at(ticks), RED, kind, (ran * 100, waited * 100, 10, 20, given,
                                                          taken, minor, major),
                                   **{"number": 1, **options})

    def slowest(self, *program, processors=1):
        streams = program if processors > 1 else [program]
        path = self.write("p.etl", etl.trace(list(enumerate(streams)), processors=processors))
        told = self.why(path)
        return told, told["slowest"][0], self.run_etwas("why", path)[0]

    def test_what_is_left_of_the_time_between_is_blocked(self):
        told, its, text = self.slowest(
            order(START, 100), self.counted(START, 110, 5000, 70, 3, 1, 9, 2),
            order(CHECKPOINT, 300), self.counted(END, 1090, 5400, 170, 8, 2, 19, 5),
            order(END, 1100))
        self.assertEqual(self.times(its), (1000, 400, 100, 480, 20))
        self.assertEqual((its["times_by"], its["page_faults"], its["preemptions"]),
                         ("counters", 13, 1))
        self.assertEqual((its["counters"]["known"], its["counters"]["voluntary_switches"],
                          its["counters"]["minor_faults"]), (7, 5, 10))
        self.assertEqual(its["cpu_changes"], 0)
        self.assertEqual((told["counted"], told["classes"][0]["counted"], told["kernel_access"]),
                         (1, 1, 0))
        self.assertEqual(self.times(told["classes"][0]), self.times(its))
        self.assertIn(
            "\n  By the counters of the thread itself, since there is no context switch of it:\n"
            "  40.0 µs (40 %) it ran, with page faults: 10 without a disk, 3 that had to wait for "
            "one.\n"
            "  10.0 µs (10 %) it was ready and had no processor; it was preempted 1 time.\n"
            "  48.0 µs (48 %) it was blocked, 5 times; on what is not known.\n"
            "  2.00 µs (2 %) is not known.\n", text)
        self.assertIn(
            "\nThere are no context switches of the kernel: where the time went is by the threads' "
            "own "
            "counters, of what has them.\n", text)

    def test_who_never_gave_its_processor_away_was_not_blocked(self):
        _, its, _ = self.slowest(order(START, 0), self.counted(START, 0, 0, 0, 3, 0, 0, 0),
                                 self.counted(END, 1000, 900, 50, 3, 9, 0, 0), order(END, 1000))
        self.assertEqual(self.times(its), (1000, 900, 50, 0, 50))

    def test_what_is_not_known_is_not_made_up(self):
        for known, times in ((1, (1000, 400, 0, 0, 600)), (3, (1000, 400, 0, 0, 600)),
                             (7, (1000, 400, 0, 600, 0)),
                             (6, (1000, 0, 0, 0, 1000)), (0, (1000, 0, 0, 0, 1000))):
            _, its, _ = self.slowest(order(START, 0), self.counted(START, 0, 0, 0, 0, 0, 0, 0,
                                                                   known=known),
                                     self.counted(END, 1000, 400, 0, 1, 0, 0, 0), order(END, 1000))
            self.assertEqual(self.times(its), times, known)

    def test_counters_that_go_back_or_are_another_threads_say_nothing(self):
        begin, end = self.counted(START, 0, 500, 0, 0, 0, 0, 0), self.counted(END, 1000, 900, 0, 1,
                                                                              0, 0, 0)
        for inside in ([self.counted(START, 0, 500, 0, 2, 0, 0, 0), end], [end], [begin],
                       [begin, self.counted(END, 1000, 900, 0, 1, 0, 0, 0, thread=22)],
                       [begin, order(CHECKPOINT, 500, thread=22), end],
                       [begin, self.counted(END, 1000, 900, 0, 1, 0, 0, 0, number=2)],
                       [begin, self.counted(END, 1000, 900, 0, 1, 0, 0, 0, process=30)]):
            _, its, text = self.slowest(order(START, 0), *inside, order(END, 1000))
            self.assertEqual((self.times(its), its["times_by"]), ((1000, 0, 0, 0, 1000), "nothing"))
            self.assertIn(": where the time went is not known. 'etwas record", text)

    def test_more_than_the_duration_is_cut(self):
        _, its, _ = self.slowest(order(START, 0), self.counted(START, 0, 0, 0, 0, 0, 0, 0),
                                 self.counted(END, 1000, 700, 2**40, 1, 0, 0, 0), order(END, 1000))
        self.assertEqual(self.times(its), (1000, 700, 300, 0, 0))

    def test_activities_are_counted_too(self):
        activity = str(uuid.UUID(int=77))
        _, its, _ = self.slowest(
            etl.tl_event(BLUE, at(0), "shop", "Order", opcode=1, activity=activity, process=20,
                         thread=21),
            etl.thread_counters(at(0), BLUE, START, (0,) * 8, activity=activity),
            etl.thread_counters(at(1000), BLUE, END, (60000,) + (0,) * 7, activity=activity),
            etl.tl_event(BLUE, at(1000), "shop", "Order", opcode=2, activity=activity, process=20,
                         thread=21))
        self.assertEqual((self.times(its), its["times_by"]), ((1000, 600, 0, 0, 400), "counters"))

    def test_what_switches_say_comes_first(self):
        program = [order(START, 100), self.counted(START, 100, 0, 0, 0, 0, 0, 0),
                   self.counted(END, 1000, 100, 800, 1, 0, 0, 0), order(END, 1000)]
        told = self.why(*self.files([[switch(at(0), 0, 21), switch(at(300), 21, 0),
                                      switch(at(400), 0, 21), switch(at(2000), 21, 0)]], program))
        its, = told["slowest"]
        self.assertEqual((self.times(its), its["times_by"], told["counted"]),
                         ((900, 800, 0, 100, 0), "switches", 0))

    def test_the_processors_of_its_events_say_how_often_it_changed_them(self):
        for end, changes in ((1, 1), (0, 2)):
            streams = [[order(START, 0)], [order(CHECKPOINT, 500)]]
            streams[end].append(order(END, 1000))
            _, its, text = self.slowest(*streams, processors=2)
            self.assertEqual(its["cpu_changes"], changes)
            self.assertIn(
                f"\n  It changed processor {changes} time{'s' if changes > 1 else ''} at least.\n",
                text)
        _, its, text = self.slowest(order(START, 0), self.counted(START, 0, 0, 0, 0, 0, 0, 0,
                                                                  processor=3), order(END, 9))
        self.assertEqual(its["cpu_changes"], 2)

    def test_the_rung_is_reported(self):
        for rung, error, told in ((2, 0, "The kernel's events are of process 20 alone.\n"),
                                  (3, 13, "The kernel refused its events (Permission denied): of "
                                   "process 20 is told what "
                                          "there was at the beginning and in the end.\n")):
            found, _, text = self.slowest(etl.kernel_rung(at(0), rung, 20, error), order(START, 0),
                                          order(END, 1000))
            self.assertEqual(found["kernel_access"], rung)
            self.assertIn(told, text)


class Program(WhyTest):
    """A program whose instances do what is known, without any event of the kernel."""
    program = ""

    def test_each_instance_is_explained_by_its_own_counters(self):
        path = os.path.join(self.folder, "p.etl")
        subprocess.run([self.program, path], check=True, timeout=100)
        told = self.why("--slowest", "1", path)
        its = {its["event_class"]: its for its in told["classes"]}
        self.assertEqual((told["kernel_events"], told["counted"], told["lost"]),
                         (False, 4, 0))
        self.assertEqual([its[name]["counted"] for name in ("work/Spin", "work/Sleep", "work/Touch",
                                                            "work/Unmarked")],
                         [1, 2, 1, 0])  # one of Sleep is around that of Spin
        self.assertGreaterEqual(its["work/Spin"]["running_time"], 20_000_000)
        self.assertGreaterEqual(its["work/Sleep"]["blocked_time"], 30_000_000)
        self.assertGreaterEqual(its["work/Sleep"]["running_time"], its["work/Spin"]["running_time"])
        self.assertGreaterEqual(its["work/Touch"]["page_faults"], 100)
        self.assertEqual(its["work/Unmarked"]["unknown_time"], its["work/Unmarked"]["duration"])
        out, _ = self.run_etwas("dump", "--all", path)
        self.assertEqual(out.count("etwas/Etwas/ThreadCounters"), 8)
        self.assertRegex(
            out, r"etwas/Etwas/ThreadCounters .* Known=0x7 Class=\S+ .* RunNs=\d+ WaitNs=\d+ .* "
            r"MinorFaults=\d+ ")
        self.assertIn("etwas/Etwas/ThreadCounters", self.run_etwas("stat", path)[0])
        self.run_etwas("stat", "--prove", path)


if __name__ == "__main__":
    if len(sys.argv) > 3:
        Program.program = sys.argv[2]
    sys.exit(main())
