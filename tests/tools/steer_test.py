#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas start`, and the program etwas-host.

usage: steer_test.py PATH_OF_ETWAS PATH_OF_ETWAS_HOST TEST_CLASS
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time

from tool_case import OPEN, USAGE, ToolTest, main

MODERN_NAME = "Etwas.Tests.Steer"
COMMANDS = ("start",)


def await_true(condition):
    """Until it is, or the test's own limit comes."""
    for _ in range(10_000):
        if condition():
            return True
        time.sleep(0.01)
    return False


class SteerTest(ToolTest):
    host = ""

    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.folder, "a.etl")
        self.name = f"steer-{os.getpid()}-{self._testMethodName[5:35]}"  # by which its hosts are found
        # Where the user's processes meet: a room of this test's own.
        os.mkdir(os.path.join(self.folder, "run"), 0o700)
        self.environment = {**os.environ, "ETWAS_SHARED": "1", "ETWAS_RUNTIME_DIR": os.path.join(self.folder, "run")}

    def run_any(self, *arguments, **options):
        options.setdefault("env", self.environment)
        return super().run_any(*arguments, **options)

    def pids_of_host(self):
        """Of hosts that this test has started in the background, by their command lines."""
        found = []
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{process}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if words[0] == b"etwas-host" and any(word.startswith(self.name.encode()) for word in words):
                found.append(int(process))
        return found

    def end_hosts(self):
        for process in self.pids_of_host():
            os.kill(process, signal.SIGTERM)
        self.assertTrue(await_true(lambda: not self.pids_of_host()))

    def start(self, *arguments, name=None, expect=0):
        self.addCleanup(self.end_hosts)
        return self.run_etwas("start", name or self.name, *arguments, expect=expect, cwd=self.folder, close_fds=False)


class Arguments(SteerTest):
    def test_each_command_has_help_of_80_columns_that_names_its_options(self):
        options = {"start": ("--output", "--enable", "--clock", "--buffering", "--circular", "--newfile", "--append",
                             "--compressed", "--realtime", "--mode", "--buffer-size", "--minimum", "--maximum",
                             "--flush", "--max-size")}
        for command in COMMANDS:
            out, error = self.run_etwas(command, "--help")
            self.assertTrue(out.startswith(f"usage: etwas {command}"))
            self.assertEqual(error, "")
            self.assertLessEqual(max(map(len, out.splitlines())), 80)
            for option in options[command]:
                self.assertIn(option, out)
        out = subprocess.run([self.host, "--help"], check=True, capture_output=True, text=True).stdout
        self.assertTrue(out.startswith("usage: etwas-host "))
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        for option in options["start"]:
            self.assertIn(option, out)

    def test_what_is_wrong_with_a_command_line_is_told(self):
        for arguments, said in (
                ("start -o f", "which session?"), ("start -o f x y", "one session at a time"), ("start x", "to which file (-o)"),
                ("start -o f --clock sundial x", "--clock takes qpc, system or tsc, not 'sundial'"),
                ("start -o f --buffer-size 3 x", "--buffer-size takes a number from 4 to 16384, not '3'"),
                ("start -o f --circular x", "how large may the file be"), ("start -o f --mode circular x", "--mode takes the bits"),
                ("start -o f --minimum 9 --maximum 8 x", "--maximum is less than --minimum"),
                ("start -o f -e A:x x", "--enable takes PROVIDER[:KEYWORDS[:LEVEL]]"),
                ("start -o f " + "-e A " * 65 + "x", "at most 64 providers")):
            command, *rest = arguments.split()
            with self.subTest(arguments=arguments):
                out, error = self.run_etwas(command, *rest, expect=USAGE, cwd=self.folder)
                self.assertEqual(out, "")
                self.assertTrue(error.startswith(f"etwas {command}: "), error)
                self.assertIn(said, error)
                self.assertTrue(error.endswith(f"See 'etwas {command} --help'.\n"), error)
        for command in COMMANDS:
            _, error = self.run_etwas(command, "--frob", expect=USAGE)
            self.assertIn("frob", error)
            self.assertIn(f"See 'etwas {command} --help'.", error)
        self.assertEqual(os.listdir(self.folder), ["run"])


class Host(SteerTest):
    def run_host(self, *arguments, **options):
        options.setdefault("env", self.environment)
        host = subprocess.Popen([self.host, *arguments, self.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                cwd=self.folder, **options)
        self.addCleanup(host.wait)
        self.addCleanup(host.kill)
        return host

    def test_a_session_in_the_background_is_of_a_process_without_terminal_and_ends_well(self):
        left_open = os.open(self.write("left open", b""), os.O_RDONLY)
        self.addCleanup(os.close, left_open)
        os.set_inheritable(left_open, True)
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.bind(os.path.join(self.folder, "notify"))
        self.environment["NOTIFY_SOCKET"] = manager.getsockname()
        out, error = self.start("-o", "a.etl", "--clock", "tsc", "--flush", "1000", "-e", MODERN_NAME + ":1:verbose")
        process, = self.pids_of_host()
        self.assertEqual((out, error), (f"{self.name}: runs in process {process}, to {self.path}\n", ""))
        self.assertEqual(os.readlink(f"/proc/{process}/cwd"), "/")
        for descriptor in range(3):
            self.assertEqual(os.readlink(f"/proc/{process}/fd/{descriptor}"), "/dev/null")
        inherited = {os.readlink(f"/proc/{process}/fd/{name}") for name in os.listdir(f"/proc/{process}/fd")}
        self.assertFalse({link for link in inherited if link.startswith("pipe:") or "left open" in link}, inherited)
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        self.assertEqual(fields[4], "0")  # no terminal
        self.assertNotEqual(int(fields[3]), process)  # it leads no session, so it never gets one
        self.end_hosts()
        manager.setblocking(False)
        self.assertRaises(BlockingIOError, manager.recv, 100)  # it was for whoever typed the command
        stat, = self.stat_json(self.path)
        self.assertEqual((stat["session"], stat["events_lost"]), (self.name, 0))

    def test_a_session_that_cannot_be_started_leaves_nothing(self):
        os.mkdir(os.path.join(self.folder, "folder"))
        for arguments, said in ((("-o", "missing/a.etl"), "there is no folder for the file"),
                                (("-o", "a.etl", "--buffering", "--circular", "--max-size", "1"), "these options do not go together"),
                                (("-o", "a.etl", "--realtime", "--append"), "these options do not go together"),
                                (("-o", "a.etl", "--newfile", "--max-size", "9"), "the file's name has not one %d"),
                                (("-o", "a.etl", "--mode", "0x40"), "it does not have what is asked for")):
            out, error = self.start(*arguments, expect=OPEN)
            self.assertEqual(out, "")
            self.assertTrue(error.startswith(f"etwas start: '{self.name}': {said}"), error)
            self.assertFalse(self.pids_of_host())
            self.assertFalse(os.path.exists(self.path))
        _, error = self.start("-o", self.path, "-e", "9e814aad-3204-11d2-9a82-006008a86939", expect=OPEN)
        self.assertEqual(error, "etwas start: '9e814aad-3204-11d2-9a82-006008a86939': the session does not take that\n")
        self.assertFalse(self.pids_of_host())

    def test_where_there_is_no_host_it_is_said(self):
        alone = os.path.join(self.folder, "etwas")
        shutil.copy(self.etwas, alone)
        run = subprocess.run([alone, "start", "-o", self.path, self.name], capture_output=True, text=True, check=False,
                             env=self.environment)
        self.assertEqual(run.returncode, OPEN)
        self.assertEqual(run.stderr, f"etwas start: cannot run '{self.folder}/etwas-host': No such file or directory\n")
        with open(os.path.join(self.folder, "etwas-host"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexit 0\n")
        os.chmod(file.name, 0o755)
        run = subprocess.run([alone, "start", "-o", self.path, self.name], capture_output=True, text=True, check=False,
                             env=self.environment)
        self.assertEqual((run.returncode, run.stderr), (OPEN, "etwas start: etwas-host has ended without a word\n"))

    def test_a_service_manager_is_told_when_it_runs_and_when_it_stops(self):
        for name in (os.path.join(self.folder, "notify"), f"@etwas-{self.name}"):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
                manager.bind(name.replace("@", "\0", 1) if name[0] == "@" else name)
                manager.settimeout(100)
                host = self.run_host("-o", "a.etl", env={**self.environment, "NOTIFY_SOCKET": name})
                self.assertEqual(manager.recv(100), b"READY=1")
                self.assertEqual(host.stdout.readline().decode(), f"{self.name}: runs in process {host.pid}, to {self.path}\n")
                host.send_signal(signal.SIGTERM)
                self.assertEqual(manager.recv(100), b"STOPPING=1")
            out, error = host.communicate(timeout=100)
            self.assertEqual((host.returncode, out.decode(), error), (0, f"{self.name}: has ended, 0 events, 0 lost\n", b""))

    def test_each_of_its_signals_stops_the_session(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            host = self.run_host("-o", "a.etl")
            host.stdout.readline()
            host.send_signal(number)
            host.communicate(timeout=100)
            self.assertEqual(host.returncode, 0)
            stat, = self.stat_json(self.path)
            self.assertFalse(stat.get("unfinished", False))

    def test_signals_that_come_while_it_starts_are_not_lost(self):
        for _ in range(10):
            host = self.run_host("-o", "a.etl", preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM}))
            host.send_signal(signal.SIGTERM)
            host.communicate(timeout=100)
            self.assertEqual(host.returncode, 0)
            self.stat_json(self.path)

    def test_who_starts_it_may_be_gone(self):
        """Standard output of etwas-host may have no reader."""
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as closed:
            host = subprocess.Popen([self.host, "--buffering", self.name], stdout=closed, stderr=subprocess.PIPE, env=self.environment)
        self.addCleanup(host.kill)
        host.send_signal(signal.SIGTERM)
        host.communicate(timeout=100)
        self.assertIn(host.returncode, (0, -signal.SIGTERM))  # it may not have come so far as to block it


if __name__ == "__main__":
    SteerTest.host = sys.argv[2]
    sys.exit(main())
