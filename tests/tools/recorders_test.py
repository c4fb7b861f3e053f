#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""One trigger, every process: snapshots of all recorders of a user at one moment.

usage: recorders_test.py PATH_OF_ETWAS PATH_OF_ETWAS_HOST PATH_OF_RECORDERS_WORK TEST_CLASS
"""

import collections
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

from steer_test import SteerTest, await_true
from tool_case import DAMAGED, FAILED, OUTPUT, main

PROVIDER, CLASS = "0a6e4c11-52d7-4d0b-9a3c-601f2b77850e", "0a6e4c12-52d7-4d0b-9a3c-601f2b77850e"
ERROR_NOT_SUPPORTED = 50


class Recorders(SteerTest):
    def setUp(self):
        super().setUp()
        self.to = os.path.join(self.folder, "to")

    def program(self, shared="0"):
        """A process; it does not take part by itself."""
        environment = {**self.environment, "ETWAS_SHARED": shared}
        process = subprocess.Popen([self.work], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   text=True, env=environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.kill)
        return process

    def tell(self, process, line, expect=0):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        answer = int(process.stdout.readline())
        if expect is not None:
            self.assertEqual(answer, expect, line)
        return answer

    def recorder(self, *lines, shared="0"):
        process = self.program(shared)
        for line in lines:
            self.tell(process, line)
        return process

    def dead(self, name, events):
        """Leaves a crash-safe recorder behind. Returns its process's number."""
        process = self.recorder(f"crash {name}", f"log {events}")
        process.send_signal(signal.SIGKILL)
        process.wait()
        return process.pid

    def events(self, *arguments):
        """Those that the programs logged, in the order in which they are shown."""
        out, _ = self.run_etwas("dump", "--json", *arguments)
        return [e for e in map(json.loads, out.splitlines())
                if e["event_class_id"] in (PROVIDER, CLASS)]

    def counts(self, *arguments):
        """Of events, by process; and that they are all in the order of time, and none is missing or
        there twice."""
        events = self.events(*arguments)
        times = [event["time"] for event in events]
        self.assertEqual(times, sorted(times))
        numbers = collections.defaultdict(list)
        for event in events:
            numbers[event["pid"]].append(event["payload"])
        for found in numbers.values():
            self.assertEqual(found, sorted(found, key=lambda payload: bytes.fromhex(payload)[::-1]))
            self.assertEqual(len(found), len(set(found)))
        return {process: len(found) for process, found in numbers.items()}

    def account(self, folder):
        """The window as options of dump, and what became of each file."""
        with open(os.path.join(folder, "recorders.txt"), encoding="utf-8") as file:
            window, *lines = file.read().splitlines()
        word, *options = shlex.split(window)
        self.assertEqual(word, "window")
        return options, dict(line.split(": ") for line in lines)

    def etl_files(self, folder):
        return sorted(name for name in os.listdir(folder) if name.endswith(".etl"))


class All(Recorders):
    def test_a_snapshot_of_all_has_each_that_lets_itself_be_asked_and_those_of_the_dead(self):
        first = self.recorder("start 2 app", "log 50")
        second = self.recorder("start 2 app", "log 70")  # its name is not taken
        hostile = self.recorder("start 2 ../a/b\x1b", "log 5")
        other = self.recorder("start 0 alone", "log 9")
        dead = self.dead("dead", 30)
        self.recorder("crash living", "log 4")  # whose buffers are nobody's to recover
        out, error = self.run_etwas("snapshot", "--all", "--folder", self.to)
        self.assertEqual(error, "")
        names = sorted([f"app-{first.pid}.etl", f"app-{second.pid}.etl",
                        f"_._a_b_-{hostile.pid}.etl", f"dead-{dead}.etl"])
        self.assertEqual(self.etl_files(self.to), names)
        self.assertEqual(sorted(out.splitlines()), sorted(
            f"{self.to}/{name}" + (": recovered" if name.startswith("dead") else "")
            for name in names))
        options, parts = self.account(self.to)
        self.assertEqual(options[0], "--until")
        self.assertEqual(parts, {name: "recovered" if name.startswith("dead") else "taken"
                                 for name in names})
        expected = {first.pid: 50, second.pid: 70, hostile.pid: 5, dead: 30}
        self.assertEqual(self.counts(self.to), expected)
        self.assertEqual(self.counts(*options, self.to), expected)
        for process in (first, second, hostile, other):
            self.tell(process, "log 1")
        self.run_etwas("stat", self.to)
        _, error = self.run_etwas("snapshot", "--all", "--folder", self.to, expect=OUTPUT)
        self.assertIn("there is something in the folder", error)

    def test_snapshots_that_overlap_are_one_trace_in_which_each_event_is_once(self):
        program = self.recorder("start 2 app", "log 50")
        dead = self.dead("dead", 30)
        folders = [os.path.join(self.folder, f"at{n}") for n in range(3)]
        for folder in folders:
            self.run_etwas("snapshot", "--all", "--folder", folder)
            self.tell(program, "log 40")
        _, error = self.run_etwas("dump", *folders)
        self.assertIn(f"{50 + 50 + 40 + 2 * 30} events are in more than one of the files", error)
        self.assertEqual(self.counts(*folders), {program.pid: 130, dead: 30})

    def test_what_a_running_session_says_of_itself_its_snapshots_say_alone_and_together(self):
        for seed in range(3):
            chance, paths = random.Random(seed), []
            program = self.program(shared="1")
            if self.tell(program, f"start 1 app{seed}", expect=None) == ERROR_NOT_SUPPORTED:
                self.skipTest("sessions are not shared here")
            for at in range(3):
                self.tell(program, f"log {chance.randrange(1, 99)}")
                self.tell(program, f"large {chance.randrange(0, 9)}")
                out, _ = self.run_etwas("ps", "--json")
                said, = (one for one in map(json.loads, out.splitlines()) if one.get("session")
                         == f"app{seed}")
                query = tuple(said[key] for key in ("recorded", "lost", "overwritten"))
                folder = os.path.join(self.folder, f"of{seed}at{at}")
                self.run_etwas("snapshot", "--all", "--folder", folder)
                paths.append(os.path.join(folder, f"app{seed}-{program.pid}.etl"))
                stat = json.loads(self.run_etwas("stat", "--json", paths[-1])[0])
                self.assertEqual((stat["events"], stat["lost"], stat["overwritten"]),
                                 query)
            files = json.loads(self.run_etwas("report", "--json", *paths)[0])["files"]
            told = [(file["events"], file["lost"] - file["repeated_lost"],
                     file["overwritten"] - file["repeated_overwritten"])
                    for file in files]
            self.assertEqual(tuple(map(sum, zip(*told))), query)
            self.assertGreater(query[1], 0)

    def test_a_window_leaves_out_buffers_that_are_older_and_is_the_same_in_all(self):
        programs = [self.recorder(f"start 2 app{i}", "log 2000") for i in range(2)]
        time.sleep(1.5)  # so that what comes is younger than the window goes back, and this is not
        for program in programs:
            self.tell(program, "log 10")
        self.run_etwas("snapshot", "--all", "--folder", self.to, "--last", "1.2s")
        whole = os.path.join(self.folder, "whole")
        self.run_etwas("snapshot", "--all", "--folder", whole)
        options, _ = self.account(self.to)
        self.assertEqual(self.counts(*options, self.to), self.counts(*options, whole))
        for program in programs:
            kept = self.counts(self.to).get(program.pid, 0)
            self.assertLess(kept, 1000)
            self.assertEqual(self.counts(whole)[program.pid], 2010)
        # Each file says it of itself, by the same moment.
        out, _ = self.run_etwas("dump", "--all", "--json", self.to)
        windows = [e for e in map(json.loads, out.splitlines()) if e["event"]
                   == "etwas/Etwas/Window"]
        self.assertEqual(len(windows), 2)
        for window in windows:
            fields = window["fields"]
            self.assertEqual(fields["Trigger"], windows[0]["fields"]["Trigger"])
            self.assertEqual(fields["From"], windows[0]["fields"]["From"])
            self.assertEqual(fields["Trigger"] - fields["From"], 1_200_000_000)
            self.assertEqual((fields["Missing"], fields["Number"]), (0, 0))

    def test_who_stands_still_is_named_and_the_others_are_there(self):
        still = self.recorder("start 2 still", "log 20")
        going = self.recorder("start 2 going", "log 30")
        still.send_signal(signal.SIGSTOP)
        self.addCleanup(still.send_signal, signal.SIGCONT)
        out, error = self.run_etwas("snapshot", "--all", "--folder", self.to, expect=FAILED)
        self.assertEqual(out, f"{self.to}/going-{going.pid}.etl\n")
        self.assertIn(f"'still-{still.pid}.etl': its process has not answered in 5 seconds", error)
        self.assertEqual(self.account(self.to)[1], {f"going-{going.pid}.etl": "taken",
                                                    f"still-{still.pid}.etl": "has not answered"})
        self.assertEqual(self.counts(self.to), {going.pid: 30})
        still.send_signal(signal.SIGCONT)
        self.assertTrue(await_true(lambda: len(self.etl_files(self.to)) == 2))
        self.assertTrue(await_true(lambda: self.counts(self.to) == {still.pid: 20, going.pid: 30}))

    def test_what_cannot_be_read_is_named_and_the_others_are_there(self):
        good = self.recorder("start 2 good", "log 5")
        known = self.entries()
        self.recorder("start 2 bad", "log 5")
        entry, = self.entries().keys() - known.keys()
        name = os.path.basename(entry)
        for at, byte, told in ((0, 0, "cannot be read"), (4, 99, "of another release")):
            was = open(entry, "rb").read()[at]
            self.spoil(entry, at, byte)
            to = f"{self.to}{at}"
            out, error = self.run_etwas("snapshot", "--all", "--folder", to, expect=DAMAGED)
            self.assertEqual(out, f"{to}/good-{good.pid}.etl\n")
            self.assertRegex(error, rf"\Aetwas snapshot: '{re.escape(name[:38])}.*{told}")
            self.assertEqual(len(self.account(to)[1]), 2)
            self.spoil(entry, at, was)
        self.run_etwas("snapshot", "--all", "--folder", self.to)
        self.assertEqual(len(self.etl_files(self.to)), 2)

    def test_what_cannot_be_is_reported(self):
        _, error = self.run_etwas("snapshot", "--all", "--folder", self.to, expect=FAILED)
        self.assertIn("no recorder runs", error)
        self.assertFalse(os.path.exists(self.to))
        program = self.program()
        self.tell(program, f"file log {self.path}", expect=ERROR_NOT_SUPPORTED)
        self.tell(program, "start 3 log", expect=87)
        missing = os.path.join(self.folder, "missing", "to")
        _, error = self.run_etwas("snapshot", "--all", "--folder", missing, expect=OUTPUT)
        self.assertIn(missing, error)
        for arguments, said in ((("--all", "x"), "takes no session"),
                                (("--last", "1", "-o", "f", "x"), "go with --all"),
                                (("--all", "--last", "0"), "--last: '0' is not a duration"),
                                (("--all", "--folder", ""), "--folder: a folder has a name")):
            self.assertIn(said, self.run_etwas("snapshot", *arguments, expect=FAILED)[1])

    def test_dead_ones_of_one_name_and_process_are_told_apart(self):
        pid = self.dead("dead", 30)
        (pool,) = [os.path.join(folder, name) for folder, _, names in os.walk(self.folder)
                   for name in names if name.endswith(".pool")]
        for number in (2, 3):
            shutil.copy(pool, f"{pool[:-5]}{number}.pool")
        self.run_etwas("snapshot", "--all", "--folder", self.to)
        self.assertEqual(self.etl_files(self.to), [f"dead-{pid}-2.etl", f"dead-{pid}-3.etl",
                                                   f"dead-{pid}.etl"])

    def test_a_name_is_left_to_others(self):
        self.require_sequences()
        program = self.program()
        self.tell(program, "start 2 hidden")
        _, error = self.run_etwas("query", "hidden", expect=FAILED)
        self.assertIn("no such session runs", error)
        self.run_etwas("start", "--buffering", "hidden", expect=0)
        self.run_etwas("stop", "hidden")

    def test_what_has_ended_is_not_asked(self):
        program = self.recorder("start 2 short", "log 3")
        program.stdin.close()
        program.wait()
        self.run_etwas("snapshot", "--all", "--folder", self.to, expect=FAILED)
        self.assertFalse(os.path.exists(self.to))


class Trigger(Recorders):
    def test_a_trigger_in_one_program_takes_the_window_of_all(self):
        self.require_sequences()
        self.start("--buffering", "--enable", PROVIDER)
        host, = self.pids_of_host()
        guest = self.recorder("provide", "write 100", shared="1")
        other = self.recorder("start 2 other", "log 50")
        dead = self.dead("dead", 30)
        own = self.recorder("start 2 own", f"arm 1 0 {self.folder}/window-%d/own.etl", "log 70")
        for number in (1, 2):
            folder = os.path.join(self.folder, f"window-{number}")
            self.tell(own, "trigger")
            self.assertTrue(await_true(lambda number=number: self.tell(own, "passed", expect=None)
                                       == 1001 * number))
            self.assertEqual(self.etl_files(folder), sorted(
                [f"{self.name}-{host}.etl", f"other-{other.pid}.etl", f"dead-{dead}.etl",
                 "own.etl"]))
            self.assertEqual(self.counts(folder), {guest.pid: 100, other.pid: 50, dead: 30,
                                                   own.pid: 70})
            self.assertEqual(set(self.account(folder)[1].values()), {"taken", "recovered"})

    def test_a_trigger_that_is_not_passed_on_is_its_recorders_alone(self):
        self.recorder("start 2 other", "log 50")
        own = self.recorder("start 0 own", f"arm 0 0 {self.folder}/own-%d.etl", "log 70", "trigger")
        self.assertTrue(await_true(lambda: self.tell(own, "passed", expect=None) == 1000))
        self.assertEqual(self.etl_files(self.folder), ["own-1.etl"])

    def test_nobody_else_is_no_failure_and_who_stands_still_is_no_success(self):
        own = self.recorder("start 0 own", f"arm 1 0 {self.folder}/window-%d/own.etl", "log 70",
                            "trigger")
        self.assertTrue(await_true(lambda: self.tell(own, "passed", expect=None) == 1001))
        still = self.recorder("start 2 still", "log 20")
        still.send_signal(signal.SIGSTOP)
        self.addCleanup(still.send_signal, signal.SIGCONT)
        self.tell(own, "trigger")
        account = os.path.join(self.folder, "window-2", "recorders.txt")
        self.assertTrue(await_true(lambda: os.path.exists(account)
                                   and os.path.getsize(account) > 0))
        self.assertEqual(self.account(os.path.dirname(account))[1],
                         {f"still-{still.pid}.etl": "has not answered"})
        self.tell(own, "passed", expect=2001)


if __name__ == "__main__":
    SteerTest.host, SteerTest.work = sys.argv[2:4]
    sys.exit(main())
