#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The command `etwas tail`: events of a session in one process, from providers in another, shown by
a third as they come.

usage: tail_test.py PATH_OF_ETWAS PATH_OF_ETWAS_HOST PATH_OF_STEER_WORK TEST_CLASS
"""

import json
import os
import signal
import subprocess
import sys

from steer_test import FAILED, MODERN, SteerTest, await_true, main


class Tail(SteerTest):
    def setUp(self):
        super().setUp()
        self.require_sequences()
        self.start("--realtime", "--flush", "5")
        self.work_process = subprocess.Popen([self.work], stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE, text=True,
                                             env=self.environment)
        self.addCleanup(self.work_process.communicate)
        self.log(0)  # it has its provider now
        self.run_etwas("enable", self.name, MODERN)

    def log(self, count):
        self.work_process.stdin.write(f"log {count}\n")
        self.work_process.stdin.flush()
        self.assertEqual(self.work_process.stdout.readline(), "= 0\n")

    def tail(self, *arguments):
        process = subprocess.Popen([self.etwas, "tail", *arguments, self.name], text=True,
                                   env=self.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def await_host(self):
        self.assertTrue(await_true(lambda: not self.pids_of_host()))

    def end(self, process, expect=0):
        out, error = process.communicate(timeout=100)
        self.assertEqual(process.returncode, expect, error)
        return out, error

    def test_events_are_shown_as_they_come_until_the_session_ends(self):
        self.log(2)  # nobody is there yet
        tail = self.tail("--json")
        events = [json.loads(tail.stdout.readline()) for _ in range(2)]
        self.log(3)
        events += [json.loads(tail.stdout.readline()) for _ in range(3)]
        self.log(1)
        self.run_etwas("stop", self.name)
        out, error = self.end(tail)
        events += [json.loads(line) for line in out.splitlines()]
        self.assertEqual(error, "")
        self.assertEqual([event["payload"] for event in events],
                         [f"{number:02x}00000000000000" for number in (0, 1, 0, 1, 2, 0)])
        self.assertEqual({(event["event_class_id"], event["event_id"], event["pid"])
                          for event in events},
                         {(MODERN, 7, self.work_process.pid)})
        self.assertEqual(sorted(event["time"] for event in events),
                         [event["time"] for event in events])

    def test_columns_conditions_and_a_limit(self):
        tail = self.tail("--columns", "pid,event_id", "--where", "event_id == 7 && level == 4",
                         "--limit",
                         "3")
        self.assertEqual(tail.stdout.readline(), "# pid event_id\n")
        self.log(5)
        out, _ = self.end(tail)
        self.assertEqual([line.split() for line in out.splitlines()],
                         [[str(self.work_process.pid), "7"]] * 3)

    def test_a_signal_ends_it_and_the_session_goes_on(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            tail = self.tail("--columns", "event_id")
            self.log(1)
            self.assertEqual([tail.stdout.readline() for _ in range(2)], ["# event_id\n", "7\n"])
            tail.send_signal(number)
            self.assertEqual(self.end(tail), ("", ""))
        self.run_etwas("stop", self.name)

    def test_a_host_that_is_killed_is_reported(self):
        tail = self.tail("--columns", "event_id")
        self.log(1)
        self.assertEqual([tail.stdout.readline() for _ in range(2)], ["# event_id\n", "7\n"])
        host, = self.pids_of_host()
        os.kill(host, signal.SIGKILL)
        _, error = self.end(tail, expect=FAILED)
        self.assertEqual(error, f"etwas tail: {self.name}: the process that hosts it is gone\n")
        self.await_host()

    def test_what_cannot_be_consumed_is_reported(self):
        _, error = self.run_etwas("tail", "no such", expect=FAILED)
        self.assertIn("etwas tail: 'no such': no such session runs that can be seen", error)
        self.start("--buffering", name=f"{self.name}-memory")
        _, error = self.run_etwas("tail", f"{self.name}-memory", expect=FAILED)
        self.assertIn("it is not in real time", error)
        for arguments, told in (((), "which session?"), (("a", "b"), "one session"),
                                (("--limit", "x", "a"), "--limit"),
                                (("--json", "--columns", "event_id", "a"),
                                 "--columns and --json exclude each other")):
            _, error = self.run_etwas("tail", *arguments, expect=FAILED)
            self.assertTrue(error.startswith("etwas tail: "), error)
            self.assertIn(told, error)

    def test_help_is_of_80_columns(self):
        out, _ = self.run_etwas("tail", "--help")
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        for option in "--where", "--limit", "--columns", "--json":
            self.assertIn(option, out)


if __name__ == "__main__":
    SteerTest.host, SteerTest.work = sys.argv[2:4]
    sys.exit(main())
