#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas record`: a program with the kernel recorded around it.

usage: record_test.py PATH_OF_ETWAS TEST_CLASS
"""

import datetime
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

from tool_case import FAILED, OUTPUT, ToolTest, main


class Record(ToolTest):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.folder, "k.etl")

    def record(self, *arguments, **options):
        there_before = os.path.exists(self.path)
        run = subprocess.run([self.etwas, "record", "-fo", self.path, *arguments],
                             stderr=subprocess.PIPE, check=False, timeout=100, **options)
        if run.returncode == FAILED and b"cannot record" in run.stderr:
            self.assertGreater(len(run.stderr.splitlines()), 1)
            self.assertEqual(os.path.exists(self.path), there_before)
            self.skip_since(run.stderr.decode())
        return run

    def events(self, name):
        out, _ = self.run_etwas("dump", "--json", self.path)
        events = [json.loads(line) for line in out.splitlines()]
        return [event for event in events if event["event"].endswith(name)]

    def test_the_program_is_in_the_trace_from_its_start_to_its_end(self):
        run = self.record("--kernel", "process,THREAD,no_sysconfig", "--", "sh", "-c",
                          "echo $$; exit 3", stdout=subprocess.PIPE)
        self.assertEqual(run.returncode, 3)
        process = int(run.stdout)
        self.assertRegex(run.stderr.decode(),
                         rf"\A{self.path}: [\d,]+ events, [\d,]+ lost\n([\d,]+ of them .*\n)*\Z")
        for name in ("Process/Start", "Process/End", "Thread/Start", "Thread/End"):
            found = [event for event in self.events(name) if event["fields"]["ProcessId"]
                     == process]
            self.assertEqual(len(found), 1, name)
        ended, = [event for event in self.events("Process/End") if event["fields"]["ProcessId"]
                  == process]
        self.assertIn(ended["fields"]["ExitStatus"], (0, 3))  # 0: it may not be known

    def test_what_nobody_asked_for_is_said_to_be_of_the_kernel(self):
        for arguments, said in (((), ", of the kernel; without --enable none of programs"),
                                (("--kernel", "process,no_sysconfig"), "")):
            run = self.record(*arguments, "-f", "--", "true")
            self.assertRegex(run.stderr.decode().splitlines()[0],
                             rf"\A{self.path}: [\d,]+ events, [\d,]+ lost{said}\Z")

    def test_what_it_counts_is_what_stat_counts(self):
        run = self.record("--kernel", "process,image_load,profile,cswitch", "--stack",
                          "cswitch", "--", "sh", "-c", "ls -R /usr/share >/dev/null")
        told = run.stderr.decode().splitlines()[0].removeprefix(f"{self.path}: ")
        stat, = self.stat_json(self.path)
        self.assertEqual(told, f"{stat['events']:,} events, {stat['lost']:,} lost")
        self.assertIn(f"  events        {stat['events']:,} events; ",
                      self.run_etwas("stat", self.path)[0])
        self.assertIn("Image/Load", [kind["event"].rpartition("SystemTrace/")[2]
                                     for kind in stat["by_event"] if "event" in kind])

    def test_why_events_were_lost_is_said_as_stat_says_it(self):
        """Nobody empties the rings while the command is stopped; what else is lost is the
        kernel's."""
        work = ("kill -STOP $PPID; dd if=/dev/zero of=/dev/null bs=1 count=400000 2>/dev/null; "
                "kill -CONT $PPID; sleep 0.2")
        run = self.record("--kernel", "systemcall,dispatcher,interrupt,cswitch,no_sysconfig", "sh",
                          "-c", work)
        told = run.stderr.decode()
        self.assertRegex(
            told, r"\n[\d,]+ of them since the kernel's rings were full: ask for fewer flags or "
            r"stacks\n"
                    r"  without '\w+' there are fewer: \d+ % of all events were \S+\n")
        stat, _ = self.run_etwas("stat", self.path)
        for reason in ("since the kernel's rings were full: ask for fewer flags or stacks",
                       "that the kernel counted and did not hand over, most where processors "
                       "idle: keep these busy", r"(?:a )?context switch.*"):
            self.assertEqual(re.findall(rf"(?m)^(\S+) of them ({reason})$", told),
                             re.findall(rf"(?m)^ {{16}}(\S+) of them ({reason})$", stat))
        self.assertNotIn("of them in the kernel", told)

    def test_in_a_time_namespace_times_are_those_of_the_wall_clock(self):
        """The kernel stamps by the clock of the first namespace; here it is 11.6 days behind the
        process's own."""
        inside = ["unshare", "--time", "--monotonic", "1000000", "--boottime", "1000000", "--fork"]
        try:
            if subprocess.run([*inside, "true"], stderr=subprocess.DEVNULL,
                              check=False).returncode != 0:
                self.skipTest("a time namespace is not granted")
        except FileNotFoundError:
            self.skipTest("there is no unshare")
        began = time.time()
        run = subprocess.run([*inside, self.etwas, "record", "-fo", self.path, "--kernel",
                              "process,cswitch,no_sysconfig", "--", "sh", "-c",
                              "sleep 0.05; sleep 0.05"], stderr=subprocess.PIPE, check=False,
                             timeout=100)
        if run.returncode == FAILED:
            self.skip_since(run.stderr.decode())
        ended = time.time()
        stamps = [event["time"] for event in self.events("Thread/CSwitch")]
        self.assertGreater(len(set(stamps)), len(stamps) // 2)
        for stamp in (min(stamps), max(stamps)):
            at = datetime.datetime.fromisoformat(stamp[:19] + "+00:00").timestamp()
            self.assertTrue(began - 2 < at < ended + 2, (began, stamp, ended))

    def test_a_signal_that_ends_the_program_is_reported(self):
        run = self.record("--kernel", "process,no_sysconfig", "sh", "-c", "kill -KILL $$")
        self.assertEqual(run.returncode, 128 + signal.SIGKILL)

    def test_a_program_that_is_not_there_costs_no_file(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("kept")
        for program, code in (("/does/not/exist", 127), ("etwas-has-none", 127), ("", 127),
                              ("/etc/passwd", 126),
                              ("/etc", 126)):
            run = subprocess.run([self.etwas, "record", "-fo", self.path, program],
                                 stderr=subprocess.PIPE, check=False, timeout=100)
            self.assertEqual(run.returncode, code, program)
            self.assertIn(f"etwas record: {program}: cannot run it".encode(), run.stderr)
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "kept")
        tried = os.path.join(self.folder, "tried")
        os.mkdir(tried)
        os.symlink("/bin/true", os.path.join(tried, "etwas-has-one"))
        run = self.record("--kernel", "process,no_sysconfig", "etwas-has-one",
                          env={**os.environ, "PATH": f"/nowhere:{tried}"})
        self.assertEqual(run.returncode, 0)

    def test_stacks_follow_the_events_that_are_to_have_them(self):
        for clock in ("tsc", "system", "qpc"):
            run = self.record("--kernel", "cswitch,no_sysconfig", "--stack", "cswitch", "--clock",
                              clock, "sleep", "0.1")
            self.assertEqual(run.returncode, 0)
            stacks = self.events("StackWalk/Stack")
            self.assertGreater(len(stacks), 0)
            for stack in stacks:
                self.assertEqual(stack["field_times"]["EventTimeStamp"], stack["time"], clock)

    def test_a_name_stands_for_all_events_of_its_flag(self):
        self.record("--kernel", "EVENT_TRACE_FLAG_virtual_alloc,no_sysconfig", "--stack",
                    "systemcall,virtual_alloc,network_tcpip", "true")
        self.assertGreater(len(self.events("StackWalk/Stack")), 0)
        run = self.record("--kernel", "cswitch", "--stack", "cswitch,image_load", "true")
        self.assertEqual(run.returncode, FAILED)

    def test_stacks_of_a_group_are_of_who_makes_it(self):
        with open("/proc/mounts", encoding="utf-8") as mounts:
            places = [line.split()[1] for line in mounts
                      if line.split()[2] in ("cgroup", "cgroup2")]
        if not places:
            self.skipTest("no control groups are mounted")
        group = f"{places[0]}/etwas-record-{os.getpid()}"
        run = self.record("--kernel", "job,no_sysconfig", "--stack", "job,dbgprint", "sh", "-c",
                          f"mkdir {group} && rmdir {group}")
        self.assertIn(b"--stack: dbgprint has no stacks: no flag of --kernel has such events\n",
                      run.stderr)
        self.assertNotIn(b"job has no stacks", run.stderr)
        if run.returncode != 0:
            self.skipTest("no control group may be made")
        self.assertGreater(len(self.events("Job/Create")), 0)
        self.assertGreater(len(self.events("StackWalk/Stack")), 1)

    def test_what_is_wrong_with_an_option_is_reported(self):
        for arguments, said in ((("--clock", "raw"),
                                 "--clock: 'raw' is none of qpc, system, tsc"),
                                (("--dwarf=7",),
                                 "--dwarf: '7' is not a multiple of 8 bytes up to 32 KiB"),
                                (("-p", "1x"),
                                 "--pid: '1x' is not a list of up to 8 process ids"),
                                (("-p", "1", "-p", "2"),
                                 "--pid: it was given before. One list, with commas, takes all"),
                                (("-e", "x", "--event", "70000"),
                                 "--event: '70000' is not a list of names, and of up to 64 ids up "
                                 "to 65535"),
                                (("--event", "x"), "--event and --process choose of what --enable "
                                 "names, and it is missing"),
                                (("--process", "x", "--kernel", "process"),
                                 "--process: of what the kernel does, --pid chooses the "
                                 "processes")):
            _, error = self.run_etwas("record", "-fo", self.path, *arguments, "true", expect=FAILED)
            self.assertEqual(error, f"etwas record: {said}\nSee 'etwas record --help'.\n")
        _, error = self.run_etwas("record", expect=FAILED)
        self.assertIn("which program? Or --pid LIST", error)

    def test_a_file_that_cannot_be_written_is_named(self):
        self.record("--kernel", "process,no_sysconfig", "true")
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        for path, said in ((self.folder, "it is not a regular file"),
                           (pipe, "it is not a regular file"),
                           ("/does/not/exist", "there is no such folder")):
            _, error = self.run_etwas("record", "-o", path, "--kernel", "process", "true",
                                      expect=FAILED)
            self.assertEqual(error, f"etwas record: {path}: cannot record to it: {said}\n")

    def test_a_process_is_none_that_is_not_there_or_a_thread(self):
        go_on = threading.Event()
        thread = threading.Thread(target=go_on.wait)
        thread.start()
        for process, said in ((thread.native_id, "it is a thread of another one"),
                              (2**22 + 1, "No such process")):
            _, error = self.run_etwas("record", "-fo", self.path, "-p", str(process), expect=FAILED)
            self.assertEqual(error, f"etwas record: process {process}: {said}\n")
        go_on.set()

    def test_stacks_of_programs_want_stacks(self):
        run = self.record("--kernel", "process,no_sysconfig", "--dwarf", "true")
        self.assertIn(b"--dwarf: it has no effect without --stack\n", run.stderr)

    def test_a_disk_that_is_full_is_reported(self):
        command = ('mount -t tmpfs -o size=1m none "$1" || exit 77; exec "$2" record -o "$1/k.etl" '
                   '--kernel systemcall,no_sysconfig '
                   'dd if=/dev/zero of=/dev/null bs=1 count=100000')
        run = subprocess.run(["unshare", "-m", "sh", "-c", command, "sh", self.folder, self.etwas],
                             stderr=subprocess.PIPE, check=False, timeout=100)
        if run.returncode in (1, 77) or run.returncode == FAILED and b"cannot record" in run.stderr:
            self.skip_since(run.stderr.decode())
        self.assertEqual(run.returncode, OUTPUT, run.stderr)
        self.assertIn(b" of them since the file could not be written: the disk is full, or a quota",
                      run.stderr)

    def test_the_name_that_is_wrong_is_reported(self):
        for names, said in (("process,,thread", b"is not a list of names with commas\n"),
                            ("process,", b"is not a list of names with commas\n"),
                            ("proces,thread",
                             b"--kernel: there is no 'proces'. Did you mean process?\n")):
            run = subprocess.run([self.etwas, "record", "-fo", self.path, "--kernel", names,
                                  "true"],
                                 stderr=subprocess.PIPE, check=False, timeout=100)
            self.assertEqual(run.returncode, FAILED)
            self.assertIn(said, run.stderr)

    def test_a_process_is_waited_for_and_an_interrupt_ends_it_well(self):
        self.record("--kernel", "process,no_sysconfig", "true")
        os.unlink(self.path)
        with subprocess.Popen(["sleep", "100"]) as sleeper:
            with subprocess.Popen([self.etwas, "record", "-fo", self.path, "--kernel",
                                   "process,no_sysconfig", "-p", str(sleeper.pid)],
                                  stderr=subprocess.PIPE) as recorder:
                while not os.path.exists(self.path) or os.path.getsize(self.path) == 0:
                    time.sleep(0.01)
                sleeper.terminate()
                sleeper.wait()
                _, said = recorder.communicate(timeout=100)
                self.assertEqual(recorder.returncode, 0)
                self.assertIn(b" events, ", said)
        with subprocess.Popen([self.etwas, "record", "-fo", self.path, "--kernel", "process", "-p",
                               str(os.getpid())],
                              stderr=subprocess.PIPE) as recorder:
            self.await_waiting(recorder.pid)
            recorder.send_signal(signal.SIGINT)
            _, said = recorder.communicate(timeout=100)
            self.assertEqual(recorder.returncode, 0)
            self.assertIn(b" events, ", said)
        self.assertGreater(len(self.events("Process/DCStart")), 0)

    def await_waiting(self, process):
        """Until it waits in poll, as it does once it records."""
        for _ in range(3000):
            with open(f"/proc/{process}/wchan", encoding="utf-8") as file:
                if "poll" in file.read():
                    return
            time.sleep(0.02)
        self.skipTest("the kernel does not say where a process waits")

    def test_one_process_alone_is_recorded(self):
        self.record("--kernel", "process,no_sysconfig", "true")
        os.unlink(self.path)
        with subprocess.Popen(["sh", "-c", "read go; cd /; cd /usr; ls >/dev/null; true"],
                              stdin=subprocess.PIPE) as worker:
            with subprocess.Popen([self.etwas, "record", "-fo", self.path, "-p",
                                   str(worker.pid), "--kernel",
                                   "process,thread,image_load,cswitch,dispatcher,"
                                   "systemcall,profile,file_io_init,no_sysconfig",
                                   "--stack", "systemcall"], stderr=subprocess.PIPE) as recorder:
                self.await_waiting(recorder.pid)
                worker.communicate(b"\n")
                recorder.communicate(timeout=100)
                self.assertEqual(recorder.returncode, 0)
        calls = self.events("PerfInfo/SysClEnter")
        self.assertGreater(len([call for call in calls if call["fields"]["SysCallAddress"]
                                == "chdir"]), 1)
        self.assertEqual({call["pid"] for call in calls}, {worker.pid})
        self.assertEqual({event["fields"]["ProcessId"] for event in self.events("Process/DCStart")},
                         {worker.pid})
        self.assertEqual({event["fields"]["ProcessId"] for event in self.events("Image/DCStart")},
                         {worker.pid})
        for switch in self.events("Thread/CSwitch"):
            self.assertIn(worker.pid, (switch["fields"]["NewThreadId"],
                                       switch["fields"]["OldThreadId"]))
        self.assertGreater(len(self.events("StackWalk/Stack")), 1)
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as idle:
            run = self.record("-p", f"{idle.pid}", "--kernel", "process,systemcall,no_sysconfig",
                              "--", "true")
            idle.communicate(b"")
        self.assertEqual(run.returncode, 0)
        self.assertEqual({event["fields"]["ProcessId"] for event in self.events("Process/DCStart")},
                         {idle.pid})
        proof, _ = self.run_etwas("stat", "--prove", self.path)
        self.assertIn("  proved ", proof)

    def begin(self, *program, **options):
        return subprocess.Popen([self.etwas, "record", "--kernel", "process,no_sysconfig", "-fo",
                                 self.path, "--", *program],
                                stderr=subprocess.PIPE, start_new_session=True, **options)

    def end(self, recorder):
        """What it says; it does not hang."""
        try:
            said = recorder.communicate(timeout=60)[1].decode()
        except subprocess.TimeoutExpired:
            os.killpg(recorder.pid, signal.SIGKILL)
            recorder.communicate()
            self.fail("it goes on")
        if "cannot record" in said:
            self.skip_since(said)
        return said

    def test_a_signal_to_it_alone_is_handed_on(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            runs = os.path.join(self.folder, f"runs{number}")
            with self.begin("sh", "-c", f"ulimit -c 0; : >{runs}; exec sleep 1000") as recorder:
                while recorder.poll() is None and not os.path.exists(runs):
                    time.sleep(0.01)
                recorder.send_signal(number)
                self.end(recorder)
            self.assertEqual(recorder.returncode, 128 + number)
            self.run_etwas("stat", "--prove", self.path)

    def interrupt_after(self, delay_ms):
        """Whether it was so far that there is a file."""
        with self.begin("sleep", "1000") as recorder:
            time.sleep(delay_ms / 1000)
            os.killpg(recorder.pid, signal.SIGINT)  # as a terminal does, to both
            self.end(recorder)
        self.assertIn(recorder.returncode, (-signal.SIGINT, 128 + signal.SIGINT))
        if recorder.returncode < 0:
            return False
        self.run_etwas("stat", "--prove", self.path)
        os.unlink(self.path)
        return True

    def test_an_interrupt_ends_it_whenever_it_comes(self):
        ended = sum(self.interrupt_after(delay_ms) for delay_ms in range(0, 120, 8))
        for delay_ms in (500, 2000, 10000, 30000):  # a busy machine may need so long to begin
            ended += ended == 0 and self.interrupt_after(delay_ms)
        self.assertGreater(ended, 0)

    def test_signals_that_were_ignored_are_so_for_the_program(self):
        def ignore():
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGCHLD):
                signal.signal(number, signal.SIG_IGN)

        run = self.record("--kernel", "process,no_sysconfig", "grep", "SigIgn", "/proc/self/status",
                          stdout=subprocess.PIPE, preexec_fn=ignore)
        self.assertEqual(run.returncode, 0)
        ignored = int(run.stdout.split()[1], 16)
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGCHLD):
            self.assertTrue(ignored & 1 << number - 1, number)

    def test_a_wrong_call_runs_nothing(self):
        marker = os.path.join(self.folder, "ran")
        for arguments in (["--kernel", "proces", "touch", marker],
                          ["--kernel", "", "touch", marker],
                          ["--stack", "thread", "touch", marker],
                          ["--clock", "sundial", "touch", marker],
                          ["-p", "0"], ["-p", "x"], ["-p", "0", "touch", marker], [],
                          ["--event", "7", "touch", marker], ["--process", "x", "touch", marker],
                          ["--kernel", "process", "-e", "a", "--process", "x", "touch", marker],
                          ["--frequency", "9", "touch", marker]):
            run = subprocess.run([self.etwas, "record", "-fo", self.path, *arguments],
                                 stderr=subprocess.PIPE, check=False, timeout=100)
            self.assertEqual(run.returncode, FAILED, arguments)
            self.assertIn(b"See 'etwas record --help'.", run.stderr)
        for program in [], ["touch", marker]:
            run = subprocess.run([self.etwas, "record", "-fo", self.path, "-p", "1,2147483646",
                                  *program], stderr=subprocess.PIPE, check=False, timeout=100)
            self.assertEqual((run.returncode, run.stderr),
                             (FAILED, b"etwas record: process 2147483646: No such process\n"))
        self.assertFalse(os.path.exists(marker) or os.path.exists(self.path))


if __name__ == "__main__":
    sys.exit(main())
