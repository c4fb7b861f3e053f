#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas record`: a program with the kernel recorded around it.

usage: record_test.py PATH_OF_ETWAS TEST_CLASS
"""

import json
import os
import signal
import subprocess
import sys
import time

from tool_case import OPEN, USAGE, ToolTest, main


class Record(ToolTest):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.folder, "k.etl")

    def record(self, *arguments, **options):
        run = subprocess.run([self.etwas, "record", "-o", self.path, *arguments], stderr=subprocess.PIPE, check=False,
                             timeout=100, **options)
        if run.returncode == OPEN and b"cannot record" in run.stderr:
            self.assertGreater(len(run.stderr.splitlines()), 1)
            self.assertFalse(os.path.exists(self.path))
            self.skipTest(run.stderr.decode())
        return run

    def events(self, name):
        out, _ = self.run_etwas("dump", "--json", self.path)
        events = [json.loads(line) for line in out.splitlines()]
        return [event for event in events if event["event"].endswith(name)]

    def test_the_program_is_in_the_trace_from_its_start_to_its_end(self):
        run = self.record("--kernel", "process,THREAD,no_sysconfig", "--", "sh", "-c", "echo $$; exit 3",
                          stdout=subprocess.PIPE)
        self.assertEqual(run.returncode, 3)
        process = int(run.stdout)
        self.assertRegex(run.stderr.decode(), rf"\A{self.path}: [\d,]+ events, [\d,]+ lost\n([\d,]+ of them in the kernel.*\n)?\Z")
        for name in ("Process/Start", "Process/End", "Thread/Start", "Thread/End"):
            found = [event for event in self.events(name) if event["fields"]["ProcessId"] == process]
            self.assertEqual(len(found), 1, name)
        ended, = [event for event in self.events("Process/End") if event["fields"]["ProcessId"] == process]
        self.assertIn(ended["fields"]["ExitStatus"], (0, 3))  # 0: it may not be known

    def test_a_signal_that_ends_the_program_is_told(self):
        run = self.record("-k", "process,no_sysconfig", "sh", "-c", "kill -KILL $$")
        self.assertEqual(run.returncode, 128 + signal.SIGKILL)

    def test_a_program_that_is_not_there_costs_no_file(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("kept")
        for program, code in (("/does/not/exist", 127), ("etwas-has-none", 127), ("", 127), ("/etc/passwd", 126),
                              ("/etc", 126)):
            run = subprocess.run([self.etwas, "record", "-o", self.path, program], stderr=subprocess.PIPE, check=False,
                                 timeout=100)
            self.assertEqual(run.returncode, code, program)
            self.assertIn(f"cannot run '{program}'".encode(), run.stderr)
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "kept")
        tried = os.path.join(self.folder, "tried")
        os.mkdir(tried)
        os.symlink("/bin/true", os.path.join(tried, "etwas-has-one"))
        run = self.record("-k", "process,no_sysconfig", "etwas-has-one",
                          env={**os.environ, "PATH": f"/nowhere:{tried}"})
        self.assertEqual(run.returncode, 0)

    def test_stacks_follow_the_events_that_are_to_have_them(self):
        run = self.record("-k", "cswitch,no_sysconfig", "-s", "cswitch", "-c", "tsc", "sleep", "0.1")
        self.assertEqual(run.returncode, 0)
        self.assertGreater(len(self.events("StackWalk/Stack")), 0)

    def test_a_name_stands_for_all_events_of_its_flag(self):
        self.record("-k", "EVENT_TRACE_FLAG_virtual_alloc,no_sysconfig", "-s", "systemcall,virtual_alloc,network_tcpip", "true")
        self.assertGreater(len(self.events("StackWalk/Stack")), 0)
        run = self.record("-k", "cswitch", "-s", "cswitch,image_load", "true")
        self.assertEqual(run.returncode, USAGE)

    def test_stacks_of_a_group_are_of_who_makes_it(self):
        with open("/proc/mounts", encoding="utf-8") as mounts:
            places = [line.split()[1] for line in mounts if line.split()[2] in ("cgroup", "cgroup2")]
        if not places:
            self.skipTest("no control groups are mounted")
        group = f"{places[0]}/etwas-record-{os.getpid()}"
        run = self.record("-k", "job,no_sysconfig", "-s", "job,dbgprint", "sh", "-c", f"mkdir {group} && rmdir {group}")
        self.assertIn(b"no stacks of dbgprint: no flag of -k has such events\n", run.stderr)
        self.assertNotIn(b"no stacks of job", run.stderr)
        if run.returncode != 0:
            self.skipTest("no control group may be made")
        self.assertGreater(len(self.events("Job/Create")), 0)
        self.assertGreater(len(self.events("StackWalk/Stack")), 1)

    def test_the_name_that_is_wrong_is_told(self):
        for names, said in (("process,,thread", b"-k has an empty name\n"), ("process,", b"-k has an empty name\n"),
                            ("proces,thread", b"'proces' is not something that -k takes\n")):
            run = subprocess.run([self.etwas, "record", "-o", self.path, "-k", names, "true"], stderr=subprocess.PIPE,
                                 check=False, timeout=100)
            self.assertEqual(run.returncode, USAGE)
            self.assertIn(said, run.stderr)

    def test_a_process_is_waited_for_and_an_interrupt_ends_it_well(self):
        self.record("-k", "process,no_sysconfig", "true")
        os.unlink(self.path)
        with subprocess.Popen(["sleep", "100"]) as sleeper:
            with subprocess.Popen([self.etwas, "record", "-o", self.path, "-k", "process,no_sysconfig", "-p",
                                   str(sleeper.pid)], stderr=subprocess.PIPE) as recorder:
                while not os.path.exists(self.path) or os.path.getsize(self.path) == 0:
                    time.sleep(0.01)
                sleeper.terminate()
                sleeper.wait()
                _, said = recorder.communicate(timeout=100)
                self.assertEqual(recorder.returncode, 0)
                self.assertIn(b" events, ", said)
        with subprocess.Popen([self.etwas, "record", "-o", self.path, "-k", "process", "-p", str(os.getpid())],
                              stderr=subprocess.PIPE) as recorder:
            time.sleep(0.5)
            recorder.send_signal(signal.SIGINT)
            _, said = recorder.communicate(timeout=100)
            self.assertEqual(recorder.returncode, 0)
            self.assertIn(b" events, ", said)
        self.assertGreater(len(self.events("Process/DCStart")), 0)

    def test_a_wrong_call_runs_nothing(self):
        marker = os.path.join(self.folder, "ran")
        for arguments in (["-k", "proces", "touch", marker], ["-k", "", "touch", marker], ["-s", "thread", "touch", marker],
                          ["-c", "sundial", "touch", marker], ["-p", "1", "touch", marker], ["-p", "0"], ["-p", "x"], [],
                          ["--frequency", "9", "touch", marker]):
            run = subprocess.run([self.etwas, "record", "-o", self.path, *arguments], stderr=subprocess.PIPE, check=False,
                                 timeout=100)
            self.assertEqual(run.returncode, USAGE, arguments)
            self.assertIn(b"See 'etwas record --help'.", run.stderr)
        run = subprocess.run([self.etwas, "record", "-o", self.path, "-p", "2147483646"], stderr=subprocess.PIPE,
                             check=False, timeout=100)
        self.assertEqual(run.returncode, OPEN)
        self.assertFalse(os.path.exists(marker) or os.path.exists(self.path))


if __name__ == "__main__":
    sys.exit(main())
