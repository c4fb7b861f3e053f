#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas record --enable`: what programs log, from their first event on.

usage: record_programs_test.py PATH_OF_ETWAS PATH_OF_BRIEF_WORK PATH_OF_STEER_WORK
                               PATH_OF_NAMED_WORK TEST_CLASS
"""

import collections
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time

from tool_case import FAILED, OUTPUT, ToolTest, main

NAME, GUID = "Etwas.Tests.Brief", "d8bf0699-d224-53f2-64a6-6fa2702a1434"
MODERN_NAME, MODERN = "Etwas.Tests.Steer", "e878c781-839e-553a-3c52-43f22ec4fa6e"
CLASSIC, CLASS = "3c1d7a40-91e5-4f6a-8b27-5d906e13c45f", "3c1d7a41-91e5-4f6a-8b27-5d906e13c45f"
PLAIN = "5a0c0003-91e5-4f6a-8b27-010203040506"


class Programs(ToolTest):
    brief, steer, named = "", "", ""

    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.folder, "b.etl")
        self.environment = {**os.environ, "ETWAS_RUNTIME_DIR": os.path.join(self.folder, "run")}
        self.environment.pop("ETWAS_SHARED", None)
        os.mkdir(self.environment["ETWAS_RUNTIME_DIR"], 0o700)

    def record(self, *arguments, **options):
        options.setdefault("env", self.environment)
        run = subprocess.run([self.etwas, "record", "-fo", self.path, *arguments],
                             capture_output=True, text=True, check=False, timeout=100, **options)
        if "no restartable sequences" in run.stderr:
            self.assertEqual(run.returncode, FAILED)
            self.skip_since(run.stderr)
        return run

    def events(self, *paths, provider=GUID):
        out, _ = self.run_etwas("dump", "--hex", "--json", *paths)
        return [event for event in map(json.loads, out.splitlines())
                if event["event_class_id"] == provider]

    def numbers(self, *paths):
        return [struct.unpack("<Q", bytes.fromhex(event["payload"]))[0]
                for event in self.events(*paths)]

    def test_a_program_that_lives_for_a_moment_loses_nothing(self):
        for count in range(1, 31):
            run = self.record("-e", NAME, "--", self.brief, str(count))
            events = "event" if count == 1 else "events"
            while run.stderr != f"{self.path}: {count} {events}, 0 lost\n":
                # A busy machine may answer the program too late: then the record says so, and it is
                # tried again.
                said = re.fullmatch(re.escape(f"{self.path}: ")
                                    + r"(\d+) events?, (\d+) lost\n"
                                    r"(\d+) of them before their programs were attached to the "
                                    r"session\n", run.stderr)
                self.assertTrue(said, run.stderr)
                recorded, lost, unattached = map(int, said.groups())
                self.assertEqual((recorded + lost, lost, len(self.numbers(self.path))),
                                 (count, unattached, recorded))
                run = self.record("-e", NAME, "--", self.brief, str(count))
            self.assertEqual(run.returncode, 7)
            self.assertEqual(self.numbers(self.path), list(range(count)))

    def test_only_losses_are_said_if_it_is_quiet(self):
        run = self.record("-q", "-e", NAME, "--", self.brief, "3")
        self.assertTrue(run.stderr == "" or ", 0 lost" not in run.stderr, run.stderr)
        run = self.record("-q", "-e", "Etwas.Tests.Idle", "--", self.brief, "3")
        self.assertEqual(run.stderr, "")

    def test_so_do_the_programs_that_it_starts_or_becomes(self):
        run = self.record("--enable", NAME, "sh", "-c",
                          f"{self.brief} 5; {self.brief} 6 {self.brief} 7; exit 3")
        self.assertEqual((run.returncode, run.stderr),
                         (3, f"{self.path}: 18 events, 0 lost\n"))
        self.assertEqual(self.numbers(self.path), [*range(5), *range(6), *range(7)])
        processes = [event["pid"] for event in self.events(self.path)]
        self.assertEqual(len(set(processes[:5])), 1)
        self.assertEqual(len(set(processes[5:])), 1)
        run = self.record("-e", NAME, "sh", "-c", f"{self.brief} 5; kill -KILL $$")
        self.assertEqual(run.returncode, 128 + signal.SIGKILL)
        self.assertEqual(self.numbers(self.path), list(range(5)))
        self.assertEqual(os.listdir(self.environment["ETWAS_RUNTIME_DIR"]), [])

    def test_a_provider_of_that_name_and_another_guid_is_enabled_when_it_comes(self):
        run = self.record("-e", "Etwas.Late", "--", "sh", "-c",
                          f"printf 'log 3\\ndescribe Etwas.Late\\nlog 5\\n' | {self.steer}")
        self.assertEqual((run.returncode, run.stderr),
                         (0, f"{self.path}: 5 events, 0 lost\n"))
        self.assertEqual(len(self.events(self.path, provider=CLASS)), 5)
        self.expect_the_system(self.path)

    def expect_the_system(self, path):
        """The header has what readers of Windows expect; what is shown is of this machine."""
        processors = os.sysconf("SC_NPROCESSORS_CONF")
        self.assertRegex(self.run_etwas("stat", "-v", path)[0],
                         rf"(?m)^  computer +{processors} processors? at \d+ MHz, 64-bit, "
                         r"system Linux$")
        self.assertEqual(self.stat_json(path)[0]["system"], "Linux")
        header = self.run_etwas("dump", "--all", path)[0].splitlines()[1]
        self.assertIn(f" NumberOfProcessors={processors + 1} ", header)
        self.assertRegex(header, rf" \(recorded on Linux, {processors} processors?: the version is "
                         r"for readers of Windows, and NumberOfProcessors counts streams\)$")

    def named_events(self):
        """How many events of which provider or name there are."""
        out, _ = self.run_etwas("dump", "--csv", "--columns", "event", self.path)
        return collections.Counter(line.removeprefix("Etwas.Tests.")
                                   for line in out.splitlines()[1:])

    def test_a_pattern_is_for_every_provider_of_such_a_name_from_its_first_event_on(self):
        for _ in range(5):
            run = self.record("-e", "etwas.tests.*:0:4", "--", self.named, "2")
            self.assertEqual((run.returncode, run.stderr),
                             (0, f"{self.path}: 12 events, 0 lost\n"
                              f"  'etwas.tests.*' enabled Etwas.Tests.Till (6 events), {PLAIN} "
                              "(4 events), Etwas.Tests.Stock (2 events)\n"))
            self.assertEqual(self.named_events(), {
                "Till/OrderBegin": 2, "Till/OrderEnd": 2, "Till/Sale": 2, "Stock/Refill": 2,
                f"{PLAIN}/#7": 2, f"{PLAIN}/#8": 2})

    def test_what_recorded_nothing_is_said_at_the_end(self):
        run = self.record("-e", "*.T?ll", "-e", "No*:0:4", "-e", "Etwas.Tests.Idle:1:warning",
                          "--", self.named, "1")
        self.assertEqual(run.stderr,
                         f"{self.path}: 3 events, 0 lost\n"
                         "  '*.T?ll' enabled Etwas.Tests.Till (3 events)\n"
                         "  'No*' enabled no provider that recorded something: no process "
                         "registered a provider of such a name, or none logged anything of level 4 "
                         "or less (without TraceLoggingLevel an event is of level 5)\n"
                         "  'Etwas.Tests.Idle' recorded nothing: no process registered it, or none "
                         "logged anything of level 3 or less (without TraceLoggingLevel an event "
                         "is of level 5) with keywords of 0x1\n")
        for arguments, said in (
                (("-e", "Etwas.Tests.Cash"),
                 "'Etwas.Tests.Cash' recorded nothing: no process registered it; ETWAS_SHARED=0 "
                 "hides one"),
                (("-e", "Etwas.Tests.Idle"),
                 "'Etwas.Tests.Idle' recorded nothing: a process registered it and logged nothing"),
                (("-e", "Etwas.Tests.Till:0:critical"),
                 "'Etwas.Tests.Till' recorded nothing: a process registered it and logged nothing "
                 "of level 1 or less (without TraceLoggingLevel an event is of level 5)"),
                (("-e", "Etwas.Tests.Till", "--event", "Nothing"),
                 "'Etwas.Tests.Till' recorded nothing: a process registered it and logged nothing; "
                 "--event may have excluded it"),
                (("-e", "Etwas.Tests.Till", "--process", "other"),
                 "'Etwas.Tests.Till' recorded nothing: no process registered it; ETWAS_SHARED=0 "
                 "hides one; --process may have excluded it")):
            run = self.record(*arguments, "--", self.named, "1")
            self.assertEqual(run.stderr, f"{self.path}: 0 events, 0 lost\n  {said}\n")
        # Whose name the trace does not have may be of either.
        run = self.record("-e", "*.Plain", "-e", "Etwas.Tests.Idle", "--", self.named, "1")
        self.assertEqual(run.stderr.splitlines()[1:], [
            "  '*.Plain' enabled no provider that recorded something: no process registered a "
            "provider of such a name, or none logged anything",
            f"  of providers whose names the trace does not have: {PLAIN} (2 events)"])

    def test_a_provider_that_is_almost_called_so_is_said(self):
        with subprocess.Popen([self.steer], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True, env=self.environment) as other:
            other.stdin.write("describe Etwas.Late\n")
            other.stdin.flush()
            other.stdout.readline()
            for name, meant in (("Etwas.Laet", ". Did you mean Etwas.Late?"),
                                ("Etwas.Tests.Cash", "; ETWAS_SHARED=0 hides one")):
                run = self.record("-e", name, "--", "true")
                self.assertEqual(run.stderr, f"{self.path}: 0 events, 0 lost\n  '{name}' recorded "
                                 f"nothing: no process registered it{meant}\n")
            other.stdin.close()

    def test_events_are_chosen_by_names_and_ids(self):
        for events, wanted in (("Order*", {"Till/OrderBegin": 1, "Till/OrderEnd": 1}),
                               ("?ale,Refill", {"Till/Sale": 1, "Stock/Refill": 1}),
                               ("order*", {}), ("8", {f"{PLAIN}/#8": 1}),
                               ("*", {"Till/OrderBegin": 1, "Till/OrderEnd": 1, "Till/Sale": 1,
                                      "Stock/Refill": 1}),
                               ("7,Sale", {f"{PLAIN}/#7": 1, "Till/Sale": 1})):
            run = self.record("-e", "Etwas.Tests.*", "--event", events, "--", self.named, "1")
            self.assertEqual(run.returncode, 0)
            self.assertEqual(self.named_events(), wanted, events)

    def test_programs_are_chosen_by_name(self):
        for programs, count in (("named_work", 1), ("sh,other", 0), ("sh,NAMED_WORK", 1)):
            self.record("-e", "Etwas.Tests.*", "--event", "Sale", "--process", programs, "--",
                        "sh", "-c", f"{self.named} 1; true")
            self.assertEqual(sum(self.named_events().values()), count, programs)

    def test_a_file_that_cannot_be_written_is_no_success(self):
        for code, expected in ((0, OUTPUT), (3, 3)):
            # From here on: what shares the buffers is larger.
            run = self.record("-e", NAME, "sh", "-c",
                              f"prlimit --pid $PPID --fsize=100000: && {self.brief} 20000; exit "
                              f"{code}")
            self.assertEqual(run.returncode, expected, run.stderr)
            self.assertIn("since the file could not be written: no file may be larger than 97.7 "
                          "KiB (RLIMIT_FSIZE, 'ulimit -f'), or the disk is full, or the disk fails",
                          run.stderr)

    def test_keywords_and_a_level_choose(self):
        for wanted, count in ((f"{NAME}:2", 0), (f"{NAME}::3", 0), (f"{NAME}:1:verbose", 4),
                              (f"{{{GUID}}}:0x1:4", 4)):
            self.record("-e", wanted, self.brief, "4")
            self.assertEqual(len(self.events(self.path)), count, wanted)

    def test_with_the_kernel_there_are_two_files_and_one_time_line(self):
        run = self.record("--kernel", "process,no_sysconfig", "-e", NAME, "--clock",
                          "tsc", self.brief, "9")
        if run.returncode == FAILED and "cannot record" in run.stderr:
            self.skip_since(run.stderr)
        programs = os.path.join(self.folder, "b.programs.etl")
        self.assertEqual(run.returncode, 7)
        self.assertIn(f"\n{programs}: 9 events, 0 lost\n", run.stderr)
        self.assertRegex(run.stderr, rf"(?m)^{self.path}: [\d,]+ events, [\d,]+ lost$")
        self.assertEqual(self.events(self.path), [])
        self.assertEqual(self.numbers(programs), list(range(9)))
        process = self.events(programs)[0]["pid"]
        out, _ = self.run_etwas("dump", "--json", self.path, programs)
        line = []
        for event in map(json.loads, out.splitlines()):
            if event.get("event", "").endswith(("Process/Start", "Process/End")) and event[
                    "fields"]["ProcessId"] == process:
                line.append(event["event"].rpartition("/")[2])
            elif event["event_class_id"] == GUID:
                line.append("own")
        self.assertEqual(line, ["Start", *["own"] * 9, "End"])

    def test_what_cannot_be_recorded_is_not_run(self):
        ran = os.path.join(self.folder, "ran")
        for arguments, said, code in ((("-e", f"{NAME}:x"),
                                       f"--enable: '{NAME}:x': 'x' is not KEYWORDS, a number",
                                       FAILED),
                                      (("-e", NAME) * 65, "there are more than 64 providers",
                                       FAILED),
                                      (("-e", NAME, "-o", "/does/not/exist"),
                                       "there is no such folder", FAILED),
                                      (("-e", "9e814aad-3204-11d2-9a82-006008a86939"),
                                       "the session does not take that", FAILED)):
            run = self.record(*arguments, "touch", ran)
            self.assertEqual(run.returncode, code, run.stderr)
            self.assertIn(said, run.stderr)
        self.assertEqual(os.listdir(self.folder), ["run"])
        run = self.record("-e", NAME, "touch", ran, env={**self.environment, "ETWAS_SHARED": "0"})
        self.assertEqual((run.returncode, run.stderr),
                         (FAILED, "etwas record: other processes cannot be found: "
                          "ETWAS_SHARED is 0\n"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["run"])

    def test_no_file_that_is_there_is_touched_unless_it_is_forced_and_all_begins(self):
        programs = os.path.join(self.folder, "b.programs.etl")
        ran = os.path.join(self.folder, "ran")
        before = b"a trace " * 100_000

        def check(expect, said, *arguments):
            for path in (self.path, programs):
                if not os.path.isdir(path):
                    self.write(os.path.basename(path), before)
            names = sorted(os.listdir(self.folder))
            run = subprocess.run([self.etwas, "record", "-o", self.path, *arguments, "touch", ran],
                                 capture_output=True, text=True, check=False, env=self.environment)
            self.assertEqual((run.returncode, sorted(os.listdir(self.folder))), (expect, names),
                             run.stderr)
            self.assertIn(said, run.stderr)
            with open(self.path, "rb") as file:
                self.assertEqual(file.read(), before)

        kernel = ("--kernel", "process,no_sysconfig")
        there = "the file is there already. --force replaces it"
        for arguments in (kernel, ("-e", NAME), (*kernel, "-e", NAME)):
            check(OUTPUT, there, *arguments)
        # or it is skipped
        self.record("-fo", os.path.join(self.folder, "tried.etl"), "-e", NAME, "true")
        check(FAILED, "the session does not take that", "-f", "-e",
              "9e814aad-3204-11d2-9a82-006008a86939")
        os.unlink(programs)
        os.mkdir(programs)
        # the second session fails, or, without rights, the first
        check(FAILED, "cannot record", "-f", *kernel, "-e", NAME)

    def work(self):
        work = subprocess.Popen([self.steer], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True, env={**self.environment, "ETWAS_SHARED": "1"})
        self.addCleanup(work.communicate)
        work.stdin.write("log 0\n")
        work.stdin.flush()
        self.assertEqual(work.stdout.readline(), "= 0\n")  # its providers are there
        return work

    def await_enabled(self, recorder):
        name = f"etwas record {recorder.pid}"
        while recorder.poll() is None:
            out, _ = self.run_etwas("ps", "--json", env=self.environment)
            for line in map(json.loads, out.splitlines()):
                if any(enable["session"] == name for enable in line.get("enabled_by", ())):
                    return
            time.sleep(0.01)
        self.fail(recorder.communicate())

    def test_it_is_of_some_processes_until_all_of_them_have_ended(self):
        self.record("-e", NAME, self.brief, "1")  # or it is skipped
        one, two, other = self.work(), self.work(), self.work()
        with subprocess.Popen([self.etwas, "record", "-fo", self.path, "-e", MODERN_NAME,
                               "--pid", f"{one.pid},{two.pid}"],
                              stderr=subprocess.PIPE, text=True,
                              env=self.environment) as recorder:
            self.await_enabled(recorder)
            for work in other, one:
                work.communicate("log 5\n")
            self.assertIsNone(recorder.poll())
            two.communicate("log 2\n")
            _, said = recorder.communicate(timeout=100)
            self.assertEqual((recorder.returncode, said),
                             (0, f"{self.path}: 7 events, 0 lost\n"))
        processes = [event["pid"] for event in self.events(self.path, provider=MODERN)]
        self.assertEqual(collections.Counter(processes), {one.pid: 5, two.pid: 2})

    def test_beside_a_program_it_is_of_these_processes_while_that_runs(self):
        self.record("-e", NAME, self.brief, "1")  # or it is skipped
        work = self.work()
        run = self.record("-e", NAME, "--pid", str(work.pid), "--", self.brief, "9")
        self.assertEqual((run.returncode, run.stderr),
                         (7, f"{self.path}: 0 events, 0 lost\n  '{NAME}' recorded nothing: no "
                             "process registered it; ETWAS_SHARED=0 hides one; --pid may have "
                             "excluded it\n"))


if __name__ == "__main__":
    Programs.brief, Programs.steer, Programs.named = sys.argv[2:5]
    del sys.argv[2:5]
    sys.exit(main())
