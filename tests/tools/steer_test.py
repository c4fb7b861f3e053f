#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The commands that start sessions and steer those of other processes, and the program etwas-host.

usage: steer_test.py PATH_OF_ETWAS PATH_OF_ETWAS_HOST PATH_OF_STEER_WORK TEST_CLASS
"""

import contextlib
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from tool_case import DAMAGED, FAILED, OUTPUT, ToolTest, main

MODERN_NAME, MODERN = "Etwas.Tests.Steer", "e878c781-839e-553a-3c52-43f22ec4fa6e"
CLASSIC, CLASS = "3c1d7a40-91e5-4f6a-8b27-5d906e13c45f", "3c1d7a41-91e5-4f6a-8b27-5d906e13c45f"
COMMANDS = ("ps", "start", "stop", "query", "update", "flush", "snapshot", "enable", "disable")


def await_true(condition):
    """Until it is, or the test's own limit comes."""
    for _ in range(10_000):
        if condition():
            return True
        time.sleep(0.01)
    return False


def continue_if_there(process):
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGCONT)


class SteerTest(ToolTest):
    host, work = "", ""
    can_share = False

    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.folder, "a.etl")
        # by which its hosts are found
        self.name = f"steer-{os.getpid()}-{self._testMethodName[5:35]}"
        # Where the user's processes meet: a room of this test's own.
        os.mkdir(os.path.join(self.folder, "run"), 0o700)
        self.environment = {**os.environ, "ETWAS_RUNTIME_DIR": os.path.join(self.folder, "run")}
        self.environment.pop("ETWAS_SHARED", None)

    def run_any(self, *arguments, **options):
        options.setdefault("env", self.environment)
        return super().run_any(*arguments, **options)

    def require_sequences(self):
        """Where there are none, as under ThreadSanitizer, processes share no session."""
        if SteerTest.can_share:
            return
        name = f"{self.name}-tried"
        tried = subprocess.run([self.etwas, "start", "--buffering", name], capture_output=True,
                               text=True, check=False, env=self.environment)
        if "this system has no restartable sequences" in tried.stderr:
            self.skipTest(tried.stderr.partition("': ")[2].strip())
        self.assertEqual((tried.returncode, tried.stderr), (0, ""))
        self.run_etwas("stop", name)
        self.assertTrue(await_true(lambda: not self.pids_of_host()))
        SteerTest.can_share = True

    def pids_of_host(self):
        """Of hosts that this test has started in the background, by their command lines."""
        found = []
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{process}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if words[0] == b"etwas-host" and any(word.startswith(self.name.encode())
                                                 for word in words):
                found.append(int(process))
        return found

    def end_hosts(self):
        for process in self.pids_of_host():
            os.kill(process, signal.SIGTERM)
        self.assertTrue(await_true(lambda: not self.pids_of_host()))

    def entries(self, begins="s."):
        """Of sessions, or lists of providers (p.), in the room: as they were, by path."""
        room = self.environment["ETWAS_RUNTIME_DIR"]
        found = [os.path.join(room, name) for name in os.listdir(room)
                 if name.startswith(begins) and name.endswith(".guids" if begins == "p." else "")
                 and not name.endswith((".sock", ".pool"))]
        return {path: open(path, "rb").read() for path in found}

    def spoil(self, path, at, byte):
        """One byte, in place: its process goes on."""
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(bytes([byte]))

    def start(self, *arguments, name=None, expect=0, **options):
        self.addCleanup(self.end_hosts)
        return self.run_etwas("start", name or self.name, *arguments, expect=expect,
                              cwd=self.folder, close_fds=False, **options)


class Arguments(SteerTest):
    def test_each_command_has_help_of_80_columns_that_names_its_options(self):
        options = {"ps": ("--json",), "stop": (), "query": ("--json", " all\n"), "flush": (),
                   "snapshot": ("-o, --output", "-f, --force", "--all", "--folder", "--last"),
                   "start": ("--autologger", "-o, --output", "-f, --force", "-e, --enable",
                             "--clock", "--buffering", "--circular", "--newfile", "--append",
                             "--compress", "--realtime", "--mode", "--buffer-size",
                             "--min-buffers", "--max-buffers", "--flush", "--max-size"),
                   "update": ("-o, --output", "-f, --force", "--flush", "--max-buffers",
                              "--realtime", "--no-realtime", "--next-file"),
                   "enable": ("--level", "--any", "--all-keywords", "--property", "-p, --pid",
                              "--process", "--event", "--timeout", "--capture-state"),
                   "disable": ("--timeout",)}
        for command in COMMANDS:
            out, error = self.run_etwas(command, "--help")
            self.assertTrue(out.startswith(f"usage: etwas {command}"))
            self.assertEqual(error, "")
            self.assertLessEqual(max(map(len, out.splitlines())), 80)
            self.assertLessEqual(len(out.splitlines()), 40)
            for option in options[command]:
                self.assertIn(option, out)
        out = subprocess.run([self.host, "--help"], check=True, capture_output=True,
                             text=True).stdout
        self.assertTrue(out.startswith("usage: etwas-host "))
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        self.assertIn("see 'etwas start --help'", out)

    def test_what_is_wrong_with_a_command_line_is_reported(self):
        for arguments, said in (
                ("ps x", "it takes no names"), ("stop", "which session?"),
                ("query", "which session, or all?"),
                ("flush", "which session?"),
                ("snapshot -o f", "which session?"),
                ("snapshot -o f x y", "one session at a time"),
                ("update x", "what shall change?"),
                ("update --force --flush 1 x", "--force goes with --output"),
                ("update --next-file --max-buffers 3 x", "--next-file changes nothing else"),
                ("update --realtime --no-realtime x",
                 "--realtime and --no-realtime exclude each other"),
                ("update --max-buffers 0 x",
                 "--max-buffers: '0' is not a whole number from 1 to 4294967295"),
                ("update --flush soon x", "--flush: 'soon' is not a duration such as"),
                ("update --flush 0 x", "--flush: '0' is not a duration such as"),
                ("enable x", "which session, and which provider?"),
                ("disable", "which session, and which provider?"),
                ("enable x {y}", "a provider is a GUID or a name"),
                ("enable x y 5ab7a3c2-1f0e-4d7b-9a31-6e02d48c771g",
                 "a provider is a GUID or a name"),
                ("enable --level loud x y", "--level: 'loud' is not a level"),
                ("enable --any 18446744073709551616 x y",
                 "--any: '18446744073709551616' is not a whole number"),
                ("enable --property sid,sids x y", "--property: 'sid,sids' is not a list"),
                ("enable --property sid, x y", "--property: 'sid,' is not a list"),
                ("enable --pid 1,2,3,4,5,6,7,8,9 x y",
                 "--pid: '1,2,3,4,5,6,7,8,9' is not a list of up to 8 process ids"),
                ("enable -p 1 --pid 2 x y",
                 "--pid: it was given before. One list, with commas, takes all"),
                ("enable --event 1 --event 2 x y", "--event: it was given before."),
                ("start -o - x", "--output: a session cannot write its trace to standard output"),
                ("enable --process a;b x y", "--process: 'a;b' is not a list of programs"),
                ("disable --timeout x x y", "--timeout: 'x' is not a duration"),
                ("enable --event 65536 x y", "--event: '65536' is not a list"),
                ("enable --event a --event 7 x y", "--event: it was given before"),
                ("enable --property group x y*", "a group has no name that a pattern could be for"),
                (f"enable x {'y' * 256}*", "a provider is a GUID or a name"),
                ("start -o f --pid 1 x", "--pid, --process and --event choose of what --enable "
                 "names, and it is missing"),
                ("start -o f --event Sale x", "--pid, --process and --event choose"),
                ("start --autologger x --process y", "--autologger: its file says all"),
                ("enable --timeout -1 x y", "--timeout: '-1' is not a duration"),
                ("enable --exe a x y", "there is no option --exe"),
                ("start -o f", "which session?"), ("start -o f x y", "one session at a time"),
                ("start x", "--output is missing"),
                ("start -o f --clock sundial x",
                 "--clock: 'sundial' is none of qpc, system, tsc"),
                ("start -o f --buffer-size 3 x", "--buffer-size: '3' is not a size such as"),
                ("start -o f --buffer-size 17M x", "--buffer-size: '17M' is not a size such as"),
                ("start -o f --circular x", "--max-size is missing"),
                ("start -o f --mode circular x", "--mode: 'circular' is not a whole number"),
                ("start -o f --min-buffers 9 --max-buffers 8 x",
                 "--max-buffers is less than --min-buffers"),
                ("start --realtime --buffering x",
                 "--buffering and --realtime exclude each other"),
                ("start -o f --circular --newfile --max-size 1 x",
                 "--circular and --newfile exclude each other"),
                ("start -o f --append --realtime --buffer-size 64 x",
                 "--append and --realtime exclude each other"),
                ("start --buffering --force x", "--force goes with --output"),
                ("start -o f -e A:x x",
                 "--enable: 'A:x': 'x' is not KEYWORDS, a number such as 0x8. Of all keywords "
                 "PROVIDER:0:LEVEL chooses a level"),
                ("start -o f -e A:0:wrning x",
                 "--enable: 'A:0:wrning': 'wrning' is not a level: critical, error, warning, "
                 "information, verbose, or a number up to 255"),
                ("start -o f -e A:0x8:info x", "'info' is not a level: critical, error, warning, "
                 "information, verbose"),
                ("start -o f -e {A}:0:3 x", "'{A}' is not a name or GUID of a provider"),
                ("start -o f " + "-e A " * 65 + "x", "--enable: at most 64 providers")):
            command, *rest = arguments.split()
            with self.subTest(arguments=arguments):
                out, error = self.run_etwas(command, *rest, expect=FAILED, cwd=self.folder)
                self.assertEqual(out, "")
                self.assertTrue(error.startswith(f"etwas {command}: "), error)
                self.assertIn(said, error)
                self.assertTrue(error.endswith(f"See 'etwas {command} --help'.\n"), error)
        for command in COMMANDS:
            _, error = self.run_etwas(command, "--frob", expect=FAILED)
            self.assertIn("frob", error)
            self.assertIn(f"See 'etwas {command} --help'.", error)
        self.assertEqual(os.listdir(self.folder), ["run"])

    def test_a_session_that_does_not_run_is_named(self):
        for arguments in (("stop",), ("query",), ("flush",), ("snapshot", "-o", self.path),
                          ("update", "--flush", "5")):
            for name, shown in ((self.name, self.name), ("", ""), ("n" * 5000, "n" * 5000),
                                ("\x1b[2J", r"\x1b[2J"),
                                (b"\xff", r"\xff")):
                _, error = self.run_etwas(*arguments, name, expect=FAILED)
                self.assertRegex(error, rf"\Aetwas {arguments[0]}: '{re.escape(shown)}': no such "
                                 r"session runs that can be seen: 'etwas ps' shows them\..*\n\Z")
        for command in ("enable", "disable"):
            out, error = self.run_etwas(command, self.name, MODERN, expect=FAILED)
            self.assertEqual(out, "")
            self.assertIn(f"etwas {command}: '{self.name}': no such session runs", error)
        _, error = self.run_etwas("query", self.name, "also not", expect=FAILED)
        self.assertEqual(len(error.splitlines()), 2)


class Host(SteerTest):
    def setUp(self):
        super().setUp()
        self.require_sequences()

    def run_host(self, *arguments, **options):
        options.setdefault("env", self.environment)
        host = subprocess.Popen([self.host, *arguments, self.name], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, cwd=self.folder, **options)
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
        out, error = self.start("-o", "a.etl", "--clock", "tsc", "--flush", "1000", "-e",
                                MODERN_NAME + ":1:verbose")
        process, = self.pids_of_host()
        self.assertEqual(out, f"{self.name}: runs in process {process}, to {self.path}\n")
        self.assertEqual(
            error, f"etwas start: '{MODERN_NAME}': note: nobody has registered it yet; it is "
            "enabled when a program does. Its GUID is made of the name\n")
        self.assertEqual(os.readlink(f"/proc/{process}/cwd"), "/")
        for descriptor in range(3):
            self.assertEqual(os.readlink(f"/proc/{process}/fd/{descriptor}"), "/dev/null")
        inherited = {os.readlink(f"/proc/{process}/fd/{name}")
                     for name in os.listdir(f"/proc/{process}/fd")}
        self.assertFalse({link for link in inherited if link.startswith("pipe:")
                          or "left open" in link}, inherited)
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        self.assertEqual(fields[4], "0")  # no terminal
        self.assertNotEqual(int(fields[3]), process)  # it leads no session, so it never gets one
        self.end_hosts()
        manager.setblocking(False)
        # it was for the shell that started the command
        self.assertRaises(BlockingIOError, manager.recv, 100)
        stat, = self.stat_json(self.path)
        self.assertEqual((stat["session"], stat["lost"]), (self.name, 0))

    def test_a_limit_on_files_is_named(self):
        _, error = self.start("--buffering", expect=FAILED, restore_signals=False, preexec_fn=(
            lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))))
        self.assertEqual(error, f"etwas start: '{self.name}': no file may be larger than 4 KiB "
                         "(RLIMIT_FSIZE, 'ulimit -f'), or the disk is full\n")

    def test_more_buffers_than_half_of_the_memory_are_refused(self):
        _, error = self.start("--buffering", "--min-buffers", "4G", expect=FAILED)
        self.assertRegex(error, rf"\Aetwas start: '{self.name}': --min-buffers: 4,000,000,000 "
                         r"buffers are 238\.4 TiB, and a session takes half of the memory at "
                         r"most, [\d.]+ [GT]iB\n\Z")

    def test_sizes_and_durations_have_units(self):
        for size, shown in (("3", 3 << 20), ("1.5G", 3 << 29), ("1500K", 1500 << 10)):
            self.start("-fo", "a.etl", "--buffer-size", "8KiB", "--flush", "1.5s", "--max-size",
                       size)
            session = json.loads(self.run_etwas("query", "--json", self.name)[0])
            self.assertEqual(
                (session["buffer_bytes"], session["flush_timer"], session["maximum_file_bytes"]),
                (8192, 1_500_000_000, shown))
            self.assertEqual("size in KiB" in session["modes"], size == "1500K")
            self.run_etwas("stop", self.name)

    def test_a_session_that_cannot_be_started_leaves_nothing(self):
        os.mkdir(os.path.join(self.folder, "folder"))
        os.symlink("elsewhere.etl", os.path.join(self.folder, "link.etl"))
        for arguments, said in ((("-o", "missing/a.etl"), "there is no folder for the file"),
                                (("-o", "link.etl"),
                                 "the file is a symbolic link, which no session follows\n"),
                                (("-o", "folder"), "a folder has the file's name\n"),
                                (("-o", "/dev/null"),
                                 "the file is a device, pipe or socket: a session writes to "
                                 "regular files\n"),
                                (("-o", "a.etl", "--mode", "3", "--max-size", "1"),
                                 "these options do not go together"),
                                (("-o", "a.etl", "--buffer-size", "64", "--append"),
                                 "processes cannot share a session that appends to a file. Leave "
                                 "out"),
                                (("-o", "a.etl", "--newfile", "--max-size", "9"),
                                 "the file's name has not one %d"),
                                (("-o", "a.etl", "--mode", "0x10000000"),
                                 "processes cannot share a session of this mode"),
                                (("-o", "a.etl", "--mode", "0x40"),
                                 "processes cannot share a session of this mode")):
            out, error = self.start(*arguments, expect=FAILED)
            self.assertEqual(out, "")
            subject = (self.name if said.startswith(("these", "processes"))
                       else os.path.join(self.folder, arguments[1]))
            self.assertTrue(error.startswith(f"etwas start: '{subject}': {said}"), error)
            self.assertFalse(self.pids_of_host())
            self.assertFalse(os.path.exists(self.path))
        _, error = self.start("-o", self.path, "-e", "9e814aad-3204-11d2-9a82-006008a86939",
                              expect=FAILED)
        self.assertEqual(
            error, "etwas start: '9e814aad-3204-11d2-9a82-006008a86939': the session does not take "
            "that\n")
        self.assertFalse(self.pids_of_host())

    def test_no_file_that_is_there_is_touched_unless_it_is_forced_and_all_begins(self):
        before = b"a trace " * 100_000
        self.write("a.etl", before)
        self.write("a7.etl", before)
        self.write("b1.etl", before)
        self.start("--buffering")

        def there():
            return sorted(set(os.listdir(self.folder)) - {"run"})

        files = there()

        def check(*arguments, expect=OUTPUT, said="the file is there already. --force replaces it"):
            _, error = self.run_etwas(*arguments, expect=expect, cwd=self.folder)
            self.assertIn(said, error, arguments)
            for name in there():
                with open(os.path.join(self.folder, name), "rb") as file:
                    self.assertEqual(file.read(), before, arguments)
            self.assertEqual(there(), files, arguments)
            self.assertEqual(len(self.pids_of_host()), 1)

        other = f"{self.name}-other"
        check("start", "--newfile", "--max-size", "9", "--force", "-o", "b%d.etl", "-e",
              "9e814aad-3204-11d2-9a82-006008a86939", other, expect=FAILED,
              said="the session does not take that")
        check("update", "-fo", "b1.etl", "--flush", "1500", self.name, expect=FAILED,
              said="its --flush is in whole seconds")
        for mode in ((), ("--circular", "--max-size", "9"), ("--compress",), ("--realtime",),
                     ("--buffering",)):
            check("start", *mode, "-o", "a.etl", other)
        check("start", "--newfile", "--max-size", "9", "-o", "a%d.etl", other)
        check("snapshot", "-o", self.path, self.name)
        check("update", "-o", "a.etl", self.name)
        check("start", "--force", "-o", "a.etl", "-e", "9e814aad-3204-11d2-9a82-006008a86939",
              other, expect=FAILED, said="the session does not take that")
        self.start("--force", "-o", "a.etl", name=other)
        for arguments in (("start", "-o", "a.etl", f"{self.name}-third"),
                          ("start", "-fo", "a.etl", f"{self.name}-third"),
                          ("snapshot", "-fo", "a.etl", self.name),
                          ("convert", "--to", "csv", "-fo", "a.etl", "a7.etl")):
            _, error = self.run_etwas(*arguments, expect=OUTPUT, cwd=self.folder)
            self.assertIn("a session writes this file", error, arguments)
        self.run_etwas("snapshot", "--force", "-o", "a7.etl", self.name, cwd=self.folder)
        self.run_etwas("stop", other, self.name)
        self.assertEqual(there(), files)
        self.assertEqual([self.stat_json(os.path.join(self.folder, name))[0]["session"]
                          for name in ("a.etl", "a7.etl")],
                         [other, self.name])

    def test_what_is_there_stays_until_a_snapshot_is_whole(self):
        before = b"a trace " * 100
        self.write("a.etl", before)
        os.chmod(self.path, 0o640)
        self.addCleanup(self.end_hosts)
        # Its host can write no more: SIGXFSZ is ignored, as Python has it, and stays so.
        self.run_etwas("start", "--buffering", self.name, cwd=self.folder, close_fds=False,
                       restore_signals=False)
        host, = self.pids_of_host()
        resource.prlimit(host, resource.RLIMIT_FSIZE, (4096, 1 << 40))
        _, error = self.run_etwas("snapshot", "-fo", self.path, self.name, expect=FAILED)
        self.assertIn("or a limit is reached, of the file system or of the process that writes",
                      error)
        with open(self.path, "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.etl", "run"])
        resource.prlimit(host, resource.RLIMIT_FSIZE, (1 << 40, 1 << 40))
        self.run_etwas("snapshot", "-fo", self.path, self.name)
        self.assertEqual(self.stat_json(self.path)[0]["session"], self.name)
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o640)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.etl", "run"])

    def test_a_snapshot_into_a_missing_folder_names_the_file(self):
        self.start("--buffering")
        path = os.path.join(self.folder, "missing", "a.etl")
        _, error = self.run_etwas("snapshot", "-o", path, self.name, expect=FAILED)
        self.assertEqual(error, f"etwas snapshot: '{path}': there is no folder for the file\n")

    def test_a_pool_file_that_was_removed_is_said(self):
        kind = subprocess.run(["stat", "-f", "-c", "%T", "/dev/shm"], capture_output=True,
                              text=True, check=False).stdout.strip()
        if kind != "tmpfs" or not os.access("/dev/shm", os.W_OK):
            self.skipTest(
                "/dev/shm is not in memory, where a pool file has to lie that processes share")
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            self.environment["ETWAS_RUNTIME_DIR"] = folder
            self.start("--buffering", "--mode", "0x80000000")
            said = ("somebody has removed its pool file: if its process is killed, nothing is left "
                    "to recover\n")

            def ask(command, *names):
                out, _ = self.run_etwas(command, *names)
                line, = [one for one in map(json.loads,
                                            self.run_etwas(command, "--json",
                                                           *names)[0].splitlines())
                         if one["kind"] == "session"]
                self.assert_keys_documented(command, line)
                return said in out, line.get("pool_removed", False)

            for is_removed in (False, True):
                for arguments in ("ps",), ("query", self.name), ("query", "all"):
                    self.assertEqual(ask(*arguments), (is_removed, is_removed), arguments)
                for name in os.listdir(folder):
                    if name.endswith(".pool"):
                        os.unlink(os.path.join(folder, name))
            self.run_etwas("stop", self.name)
            self.assertTrue(await_true(lambda: not self.pids_of_host()))

    def test_a_session_that_cannot_be_read_is_said_and_the_others_are_shown(self):
        self.require_sequences()
        self.start("--buffering")
        known = self.entries()
        self.start("--buffering", name=self.name + "b")
        entry, = self.entries().keys() - known.keys()
        for at, told in ((0, "what a process says of one is damaged. Restart that process"),
                         (4, "one is of another release, whose own etwas shows it")):
            with open(entry, "rb") as file:
                byte = file.read()[at]
            self.spoil(entry, at, byte ^ 0x40)
            for command in ("ps", "query all"):
                for options in ((), ("--json",)):
                    out, error = self.run_etwas(*command.split(), *options, expect=DAMAGED)
                    self.assertIn(self.name, out)
                    self.assertNotIn(self.name + "b", out)
                    self.assertEqual(
                        error, f"etwas {command.split()[0]}: not every session can be read: "
                        f"{told}\n")
            self.spoil(entry, at, byte)
            _, error = self.run_etwas("ps")
            self.assertEqual(error, "")

    def test_a_runtime_folder_may_be_named_from_where_the_command_was_typed(self):
        self.environment["ETWAS_RUNTIME_DIR"] = "run"
        self.start("--buffering")
        self.assertEqual(len(self.pids_of_host()), 1)
        self.run_etwas("stop", self.name, cwd=self.folder)
        self.assertTrue(await_true(lambda: not self.pids_of_host()))

    def test_a_runtime_folder_that_is_refused_or_missing_is_named_and_not_made(self):
        folder = self.environment["ETWAS_RUNTIME_DIR"]
        os.chmod(folder, 0o755)
        for command in ("ps", "query all", "stop x", "tail x", "start --buffering x"):
            _, error = self.run_etwas(*command.split(), expect=FAILED)
            self.assertEqual(
                error, f"etwas {command.split()[0]}: '{folder}' (ETWAS_RUNTIME_DIR): other "
                "processes cannot be found: the folder where they meet is not this user's alone "
                "('chmod 700'), or cannot be written\n")
        os.rmdir(folder)
        for command in ("ps", "query all", "stop x", "tail x", "snapshot --all --folder x",
                        "enable x y"):
            _, error = self.run_etwas(*command.split(), expect=FAILED)
            self.assertEqual(
                error, f"etwas {command.split()[0]}: '{folder}' (ETWAS_RUNTIME_DIR): other "
                "processes cannot be found: there is no such folder\n")
        self.assertFalse(os.path.exists(folder))
        self.start("--buffering")  # which makes it
        self.run_etwas("stop", self.name)

    def test_where_there_is_no_host_it_is_said(self):
        alone = os.path.join(self.folder, "etwas")
        shutil.copy(self.etwas, alone)
        environment = {**self.environment,
                       "LD_LIBRARY_PATH": os.path.join(os.path.dirname(self.etwas), os.pardir,
                                                       "runtime")}
        run = subprocess.run([alone, "start", "-o", self.path, self.name], capture_output=True,
                             text=True, check=False, env=environment)
        self.assertEqual(run.returncode, FAILED)
        self.assertEqual(run.stderr,
                         f"etwas start: '{self.folder}/etwas-host': it cannot be run: No such "
                         "file or directory\n")
        with open(os.path.join(self.folder, "etwas-host"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexit 0\n")
        os.chmod(file.name, 0o755)
        run = subprocess.run([alone, "start", "-o", self.path, self.name], capture_output=True,
                             text=True, check=False, env=environment)
        self.assertEqual((run.returncode, run.stderr),
                         (FAILED, "etwas start: etwas-host has ended without a word\n"))

    def test_a_service_manager_is_notified_when_it_runs_and_when_it_stops(self):
        for name in (os.path.join(self.folder, "notify"), f"@etwas-{self.name}"):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
                manager.bind(name.replace("@", "\0", 1) if name[0] == "@" else name)
                manager.settimeout(100)
                host = self.run_host("-fo", "a.etl",
                                     env={**self.environment, "NOTIFY_SOCKET": name})
                self.assertEqual(manager.recv(100), b"READY=1")
                self.assertEqual(host.stdout.readline().decode(),
                                 f"{self.name}: runs in process {host.pid}, to {self.path}\n")
                host.send_signal(signal.SIGTERM)
                self.assertEqual(manager.recv(100), b"STOPPING=1")
            out, error = host.communicate(timeout=100)
            self.assertEqual((host.returncode, out.decode(), error),
                             (0, f"{self.name}: has ended, 0 events, 0 lost\n", b""))

    def test_each_of_its_signals_stops_the_session(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            host = self.run_host("-fo", "a.etl")
            host.stdout.readline()
            host.send_signal(number)
            host.communicate(timeout=100)
            self.assertEqual(host.returncode, 0)
            stat, = self.stat_json(self.path)
            self.assertFalse(stat.get("unfinished", False))

    def test_signals_that_come_while_it_starts_are_not_lost(self):
        for _ in range(10):
            host = self.run_host("-fo", "a.etl",
                                 preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK,
                                                                           {signal.SIGTERM}))
            host.send_signal(signal.SIGTERM)
            host.communicate(timeout=100)
            self.assertEqual(host.returncode, 0)
            self.stat_json(self.path)

    def test_who_starts_it_may_be_gone(self):
        """Standard output of etwas-host may have no reader."""
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as closed:
            host = subprocess.Popen([self.host, "--buffering", self.name], stdout=closed,
                                    stderr=subprocess.PIPE, env=self.environment)
        self.addCleanup(host.kill)
        host.send_signal(signal.SIGTERM)
        host.communicate(timeout=100)
        # it may not have come so far as to block it
        self.assertIn(host.returncode, (0, -signal.SIGTERM))


class Steered(SteerTest):
    """A flight recorder and a session with a file, a process with providers, and the commands."""

    def setUp(self):
        super().setUp()
        self.work_process = subprocess.Popen([self.work], stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE, text=True,
                                             env=self.environment)
        self.addCleanup(self.work_process.communicate)
        self.recorder, self.log = f"{self.name}-memory", f"{self.name}-file"
        self.start_sessions()

    def tell(self, line):
        """What the process with the providers prints, and the code behind that."""
        self.work_process.stdin.write(line + "\n")
        self.work_process.stdin.flush()
        out = ""
        while True:
            answer = self.work_process.stdout.readline()
            self.assertNotEqual(answer, "", self.work_process.poll())
            if answer.startswith("= "):
                return out, int(answer[2:])
            out += answer

    def ask_json(self, command):
        return [json.loads(line) for line in self.ask(command).splitlines()]

    def session(self, name):
        return self.ask_json(f"query --json {name}")[0]

    def not_logging(self, name):
        """The processes that cannot log to the session although it enables their provider."""
        return {line["pid"] for line in self.ask_json("ps --json") if line["kind"] == "provider" and
                any(enable["session"] == name and enable.get("unattached")
                    for enable in line["enabled_by"])}

    def counted(self, path):
        """How many events of which of the two providers there are."""
        stat, = self.stat_json(path)
        return {kind["event_class_id"]: kind["events"] for kind in stat["by_event"]
                if kind["event_class_id"] in (MODERN, CLASS)}

    def test_ps_shows_sessions_and_providers(self):
        self.ask(f"enable --level warning --any 0x5 --all-keywords 1 {self.recorder} {MODERN_NAME}")
        self.ask(f"enable {self.log} {CLASSIC}")
        lines = self.ask_json("ps --json")
        sessions = {line["session"]: line for line in lines if line["kind"] == "session"}
        recorder, log = sessions[self.recorder], sessions[self.log]
        for session in recorder, log:
            self.assertEqual((session["pid"], session["process"]),
                             (self.hosts[session["session"]], self.program))
            self.assertEqual((session["lost"], session["recorded"]), (0, 0))
        self.assertEqual((recorder["modes"], recorder["buffer_bytes"]), (["buffering"], 4096))
        self.assertIn("covered_duration", recorder)
        self.assertNotIn("file", recorder)
        self.assertEqual((log["log_file"], log["clock"]), (self.path, "performance counter"))
        self.assertNotIn("covered_duration", log)
        providers = {line["provider_id"]: line for line in lines if line.get("pid")
                     == self.work_process.pid and line["kind"] == "provider"}
        self.assertEqual((providers[MODERN]["registration"], providers[MODERN]["process"]),
                         ("modern", "steer_work"))
        self.assertEqual(providers[MODERN]["enabled_by"],
                         [{"session": self.recorder, "level": 3, "match_any_keyword": "0x5",
                           "match_all_keyword": "0x1",
                           "enable_property": "0x0"}])
        self.assertEqual(providers[CLASSIC]["registration"], "classic")
        self.assertEqual([enable["session"] for enable in providers[CLASSIC]["enabled_by"]],
                         [self.log])
        for line in lines:
            self.assert_keys_documented("ps", line)
        text = self.ask("ps")
        self.assertRegex(
            text, r"(?m)^SESSION +PROCESS +EVENTS +LOST +BUFFERS +CLOCK +MODE +BACK +FILE\n")
        self.assertRegex(
            text, rf"(?m)^{re.escape(self.log)} +{self.hosts[self.log]} {self.program} +0 +0 +\d+  "
            rf"performance counter  sequential +-  {self.path}$")
        self.assertRegex(
            text, rf"(?m)^{self.work_process.pid} steer_work +({MODERN_NAME} )?{MODERN} +modern "
            rf"+{re.escape(self.recorder)} \(level 3, keywords 0x5\)$")

    def test_events_come_while_a_provider_is_enabled(self):
        self.tell("log 10")
        self.assertEqual(self.ask(f"enable {self.log} {MODERN_NAME} {CLASSIC}"),
                         f"{MODERN_NAME}: {MODERN}\n{CLASSIC}: {CLASSIC}\n")
        self.tell("log 20")
        self.ask(f"enable --any 2 {self.log} {MODERN_NAME}")
        self.tell("log 5")
        self.ask(f"disable {self.log} {MODERN_NAME}")
        self.tell("log 3")
        self.ask(f"flush {self.log}")
        written = self.session(self.log)["buffers_written"]
        self.assertIn(f"  written       {written} buffer{'' if written == 1 else 's'}, ",
                      self.ask(f"query {self.log}"))
        self.assertEqual(self.session(self.log)["recorded"], 20 + 20 + 5 + 3)
        self.ask(f"stop {self.log}")
        self.ask(f"stop {self.log}", expect=FAILED)
        self.assertEqual(self.counted(self.path), {MODERN: 20, CLASS: 20 + 5 + 3})

    def test_filters_choose_events_and_processes(self):
        process = self.work_process.pid
        for options, count in ((f"--pid {process}", 1), ("--pid 1", 0),
                               ("--process steer_work,other", 1), ("--process other", 0),
                               ("--event 6,7,8", 1), ("--event 6", 0),
                               (f"--event 7 -p {process} --process Steer_Work", 1)):
            before = self.session(self.recorder)["recorded"]
            self.ask(f"enable {options} {self.recorder} {MODERN}")
            self.tell("log 1")
            self.assertEqual(self.session(self.recorder)["recorded"] - before, count, options)

    def test_a_snapshot_has_what_is_in_memory(self):
        other = os.path.join(self.folder, "now.etl")
        self.ask(f"enable {self.recorder} {MODERN_NAME}")
        self.tell("log 7")
        self.ask(f"snapshot -o {other} {self.recorder}")
        self.assertEqual(self.counted(other), {MODERN: 7})
        self.assertEqual(self.session(self.recorder)["recorded"], 7)
        self.ask(f"snapshot -fo {self.path} {self.recorder}", expect=OUTPUT)  # it is in use
        self.ask(f"snapshot -o {other} {self.log}", expect=FAILED)  # it has a file
        self.ask(f"snapshot -o {self.folder}/missing/a.etl {self.recorder}", expect=FAILED)
        self.ask(f"flush {self.recorder}", expect=FAILED)  # no file was ever named

    def test_stat_says_of_a_snapshot_how_much_was_overwritten_and_since_when_nothing_is(self):
        other = os.path.join(self.folder, "now.etl")
        self.ask(f"enable {self.recorder} {MODERN_NAME}")
        self.tell("log 5000")
        now = self.session(self.recorder)
        self.ask(f"snapshot -o {other} {self.recorder}")
        told, = self.stat_json(other)
        self.assertGreater(now["overwritten"], 0)
        self.assertEqual((told["events"], told["overwritten"]),
                         (now["recorded"], now["overwritten"]))
        self.assertLessEqual(told["covered_start_time"], told["last_time"])
        out, _ = self.run_etwas("stat", other)
        self.assertIn(f"  overwritten   {now['overwritten']:,} events by newer ones, as a flight "
                      "recorder does\n  retained      all events since ", out)
        self.assertRegex(out, r"s, of which each processor's events are all here; [\d,]+ events? "
                              "beside it\n")

    def test_update_changes_what_is_said_and_nothing_else(self):
        other = os.path.join(self.folder, "b.etl")
        before = self.session(self.log)
        self.ask(f"update --flush 2s --max-buffers {before['maximum_buffers'] - 5} {self.log}")
        self.assertEqual(self.session(self.log), {**before, "flush_timer": 2_000_000_000,
                                                  "maximum_buffers": before["maximum_buffers"] - 5})
        self.ask(f"update -o {other} {self.log}")
        self.assertEqual(self.session(self.log)["log_file"], other)
        self.ask(f"update --realtime {self.log}")
        self.assertIn("real time", self.session(self.log)["modes"])
        self.ask(f"update --flush 3000 {self.log}")
        self.assertIn("real time", self.session(self.log)["modes"])
        self.ask(f"update --no-realtime {self.log}")
        self.assertNotIn("real time", self.session(self.log)["modes"])
        now = self.session(self.log)
        for options in ("--flush 1500", "--next-file", f"-o {self.folder}/missing/a.etl"):
            self.ask(f"update {options} {self.log}", expect=FAILED)
        self.ask(f"update -fo {other} {self.log}", expect=OUTPUT)
        self.assertEqual(self.session(self.log), now)

    def test_what_was_done_is_said_with_what_was_recorded_and_lost(self):
        """In the same words for every host of the session; the last counts are those of its end."""
        name, other = f"{self.folder}/n.etl", f"{self.folder}/o.etl"
        self.ask(f"enable {self.recorder} {MODERN_NAME}")
        self.ask(f"enable {self.log} {MODERN_NAME}")
        self.tell("log 1234")

        def check(done, command, session, count, *files):
            told = self.ask(f"{command} {session}").splitlines()
            file = (rf", \S*{os.path.basename(files[0])} \([\d.]+ [KM]iB\)" if files
                    else ", in memory")
            count += ", " if count else ""
            self.assertRegex(told[0], rf"\A{done} {session}: {count}0 lost{file}\Z")
            self.assertEqual(len(told), 1, told)
        check("flushed", "flush", self.log, "1,234 recorded", self.path)
        check("took a snapshot of", f"snapshot -o {name}", self.recorder, "", name)
        check("updated", "update --flush 2000", self.log, "1,234 recorded", self.path)
        check("updated", f"update -o {other}", self.log, "1,234 recorded", other)
        self.tell("log 4000")
        check("stopped", "stop", self.log, "5,234 recorded", other)
        self.assertEqual((self.counted(self.path)[MODERN], self.counted(other)[MODERN]),
                         (1234, 4000))
        check("stopped", "stop", self.recorder, r"[\d,]+ recorded, [\d,]+ overwritten")

    def test_query_says_what_json_says(self):
        self.ask(f"enable {self.recorder} {MODERN_NAME}")
        self.tell("log 1234")
        told, found = self.ask(f"query {self.recorder} {self.log}"), self.session(self.recorder)
        self.assertIn(
            f"{self.recorder}\n  GUID          {found['session_id']}\n  process       "
            f"{self.hosts[self.recorder]} {self.program}\n"
            f"  mode          buffering\n  clock         performance counter\n"
            f"  buffers       {found['buffers']} of 4 KB, ", told)
        self.assertIn(
            f"  events        {found['recorded']:,} recorded, {found['overwritten']:,} "
            "overwritten, 0 lost\n", told)
        self.assertEqual(found["recorded"] + found["overwritten"], 1234)
        self.assertIn(f"\n{self.log}\n", told)
        self.assertIn(f"  file          {self.path}\n", told)
        everything = self.ask_json("query --json all")
        self.assertEqual({self.recorder, self.log}, {session["session"] for session in everything})
        self.ask(f"query {self.recorder} nobody", expect=FAILED)


class Inside(Steered):
    """The commands in a process that has the sessions itself."""

    program = "steer_work"

    def start_sessions(self):
        self.assertEqual(self.tell(f"start {self.recorder} -"), ("", 0))
        self.assertEqual(self.tell(f"start {self.log} {self.path}"), ("", 0))
        self.hosts = dict.fromkeys((self.recorder, self.log), self.work_process.pid)

    def ask(self, command, expect=0):
        out, code = self.tell(f"run {command}")
        self.assertEqual(code, expect, out)
        return out

    def test_a_name_that_could_steer_a_terminal_does_not(self):
        odd = f"{self.name}\x1b[2J\u202e"
        self.assertEqual(self.tell(f"start {odd} -"), ("", 0))
        for command in ("ps", "query all", f"query {odd}"):
            told = self.ask(command)
            self.assertIn(rf"{self.name}\x1b[2J\u{{202e}}", told)
            self.assertNotIn("\x1b", told)
        self.assertIn(odd, [line.get("session") for line in self.ask_json("ps --json")])


class Across(Steered):
    """The commands, sessions in hosts, and providers in a third process."""

    program = "etwas-host"

    def start_sessions(self):
        self.require_sequences()
        self.hosts = {}
        for name, arguments in ((self.recorder, ("--buffering", "--buffer-size", "4")),
                                (self.log, ("-fo", "a.etl"))):
            out, _ = self.start(*arguments, name=name)
            self.hosts[name] = int(re.search(r": runs in process (\d+), ", out)[1])

    def ask(self, command, expect=0):
        return self.run_etwas(*command.split(), expect=expect, cwd=self.folder)[0]

    def test_a_name_that_is_almost_that_of_a_session_is_said(self):
        typed = self.log.replace("-file", "-flie")
        for arguments in (("stop",), ("query",), ("flush",), ("snapshot", "-o", f"{self.path}.x"),
                          ("update", "--flush", "5"), ("tail",)):
            _, error = self.run_etwas(*arguments, typed, expect=FAILED)
            self.assertRegex(error, rf"\Aetwas {arguments[0]}: '{typed}': no such session runs "
                             rf"that can be seen: .*\. Did you mean '{self.log}'\?\n\Z")

    def test_a_name_is_that_of_whoever_has_it(self):
        """A provider may have chosen another GUID than the one that is made of its name."""
        chosen, other = "0000aaaa" + CLASSIC[8:], "0000bbbb" + CLASSIC[8:]
        out, error = self.run_etwas("enable", self.log, "Etwas.Chosen")
        self.assertRegex(out, r"\AEtwas\.Chosen: [-0-9a-f]{36}\n\Z")
        self.assertEqual(
            error, "etwas enable: 'Etwas.Chosen': note: nobody has registered it yet; it is "
            "enabled when a program does. Its GUID is made "
            "of the name\n")
        self.run_etwas("disable", self.log, "Etwas.Chosen")
        self.assertEqual(self.tell("register aaaa Etwas.Chosen"), ("", 0))
        self.assertEqual(self.run_etwas("enable", self.log, "etwas.chosen"),
                         (f"etwas.chosen: {chosen}\n", ""))
        enabled = [line["provider_id"] for line in self.ask_json("ps --json")
                   if line.get("enabled_by")]
        self.assertEqual(enabled, [chosen])
        self.assertEqual(self.tell("register bbbb ETWAS.Chosen"), ("", 0))
        for command in ("enable", "disable"):
            out, error = self.run_etwas(command, self.log, "Etwas.Chosen", MODERN, expect=FAILED)
            self.assertEqual(out, f"{MODERN}: {MODERN}\n")  # the others are
            self.assertRegex(
                error, rf"\Aetwas {command}: 'Etwas\.Chosen': two providers call themselves so, "
                rf"({chosen} and {other}|{other} and {chosen}): which GUID\?\n\Z")
        _, error = self.start("--buffering", "-e", "Etwas.Chosen:1", name=f"{self.name}-two",
                              expect=FAILED)
        self.assertIn("two providers call themselves so", error)
        self.assertEqual(len(self.pids_of_host()), 2)

    def test_a_described_class_gives_its_classic_provider_a_name(self):
        self.assertNotIn("Etwas.Described", self.ask("ps"))
        self.assertEqual(self.tell("describe Etwas.Described"), ("", 0))
        provider, = [line for line in self.ask_json("ps --json")
                     if line.get("provider_id") == CLASSIC]
        self.assertEqual((provider["provider"], provider["registration"]),
                         ("Etwas.Described", "classic"))
        self.assertEqual(self.run_etwas("enable", self.log, "etwas.described"),
                         (f"etwas.described: {CLASSIC}\n", ""))
        self.tell("log 7")
        self.run_etwas("disable", self.log, "Etwas.Described")
        self.tell("log 3")
        self.ask(f"flush {self.log}")
        self.assertEqual(self.counted(self.path), {CLASS: 7})

        other = os.path.join(self.folder, "other.etl")
        self.start("-e", "Etwas.Described", "-fo", other, name=f"{self.name}-other")
        self.tell("log 5")
        self.run_etwas("stop", f"{self.name}-other")
        self.assertEqual(self.counted(other), {CLASS: 5})

    def enabled(self, name):
        """The GUIDs that a session enables, with their levels."""
        return {line["provider_id"]: enable["level"] for line in self.ask_json("ps --json")
                for enable in line.get("enabled_by", ()) if enable["session"] == name}

    def test_a_session_enables_a_provider_of_that_name_and_another_guid_when_it_comes(self):
        path = os.path.join(self.folder, "late.etl")
        name = f"{self.name}-late"
        self.start("-e", "Etwas.Late:0:4", "-fo", path, name=name)
        of_name, = self.enabled(name)
        self.assertEqual(self.tell("describe Etwas.Late"), ("", 0))
        self.assertEqual(self.enabled(name), {of_name: 4, CLASSIC: 4})
        self.tell("log 6")
        # Its name is enabled, whatever is asked of its GUID.
        out, error = self.run_etwas("disable", name, CLASSIC)
        self.assertEqual((out, error), (f"{CLASSIC}: {CLASSIC}\n",
                                        "etwas disable: 'Etwas.Late': note: it is still enabled, "
                                        "by a name or pattern that it fits. 'etwas ps' shows "
                                        "which: disable that\n"))
        self.tell("log 1")
        self.run_etwas("disable", name, "Etwas.Late")
        self.assertEqual(self.enabled(name), {})
        self.tell("log 3")
        self.run_etwas("stop", name)
        self.assertEqual(self.counted(path), {CLASS: 7})

    def test_a_pattern_is_for_providers_that_are_registered_now_and_later(self):
        first, later = "0000aaaa" + CLASSIC[8:], "0000bbbb" + CLASSIC[8:]
        self.tell("register aaaa Etwas.First")
        self.assertEqual(self.run_etwas("enable", "--level", "3", self.log, "etwas.*", "No?e"),
                         (f"Etwas.First: {first}\n",
                          "etwas enable: 'No?e': note: no provider that is registered has such a "
                          "name; those that come are enabled\n"))
        self.tell("register bbbb Etwas.Later")
        self.tell("describe Etwas.Classic")
        of_pattern = self.enabled(self.log)
        for guid in first, later, CLASSIC:
            self.assertEqual(of_pattern.pop(guid), 3)
        self.assertEqual(sorted(of_pattern.values()), [3, 3])  # both patterns
        self.assertRegex(self.ask("ps"), r"(?m)^- +etwas\.\* [-0-9a-f]{36} +not registered +"
                         + re.escape(self.log))
        # What is asked of one itself stands before that, and another pattern that is newer.
        self.run_etwas("enable", "--level", "2", self.log, "Etwas.First")
        self.run_etwas("enable", "--level", "5", self.log, "*.Later")
        self.assertEqual([self.enabled(self.log)[guid] for guid in (first, later, CLASSIC)],
                         [2, 5, 3])
        out, error = self.run_etwas("disable", self.log, "etwas.*")
        self.assertEqual(sorted(out.splitlines()), [
            f"Etwas.Classic: {CLASSIC}", f"Etwas.First: {first}", f"Etwas.Later: {later}"])
        self.assertEqual(error, "etwas disable: 'Etwas.Later': note: it is still enabled, by a "
                         "name or pattern that it fits. 'etwas ps' shows which: disable that\n")
        self.assertNotIn(first, self.enabled(self.log))
        self.assertEqual(self.enabled(self.log)[later], 5)
        self.assertEqual(self.run_etwas("disable", self.log, "etwas.*")[1], error)
        self.run_etwas("disable", self.log, "*.Later", "No?e")
        self.assertEqual(self.enabled(self.log), {})
        self.assertEqual(self.run_etwas("disable", self.log, "x*"),
                         ("", "etwas disable: 'x*': note: it is not enabled in this session\n"))

    def test_events_of_a_classic_provider_are_not_chosen_and_those_of_the_kernel_by_ids(self):
        out, error = self.run_etwas("enable", "--event", "Sale", self.log, CLASSIC)
        self.assertEqual((out, error), (f"{CLASSIC}: {CLASSIC}\n",
                                        f"etwas enable: '{CLASSIC}': note: it is a classic "
                                        "provider, of which --event chooses nothing: all of its "
                                        "events are recorded\n"))
        for option, value, said in (("--event", "a", "events of the kernel are chosen by ids "
                                     "(docs/reference/kernel-events.md)"),
                                    ("--process", "a", "of the kernel's events --pid chooses the "
                                     "processes, and --process does not")):
            _, error = self.run_etwas("enable", option, value, self.log, "SystemProcessProvider",
                                      expect=FAILED)
            self.assertEqual(error, f"etwas enable: 'SystemProcessProvider': {said}\n")

    def test_filters_are_shown_and_named_where_nothing_was_recorded(self):
        self.ask(f"enable --pid 1 --process other {self.recorder} {MODERN_NAME}")
        self.ask(f"enable --event 6,Sale {self.log} {MODERN_NAME}")
        self.tell("log 1")
        text = self.ask("ps")
        self.assertIn(f"{self.recorder} (level 255, keywords 0x0, filtered by --pid, --process)",
                      text)
        self.assertIn(f"{self.log} (level 255, keywords 0x0, filtered by --event)", text)
        found = {enable["session"]: [key for key in enable if key.startswith("filters_")]
                 for line in self.ask_json("ps --json") for enable in line.get("enabled_by", ())}
        self.assertEqual(found, {self.recorder: ["filters_pid", "filters_process"],
                                 self.log: ["filters_event"]})
        for name, filters in ((self.recorder, "--pid, --process"), (self.log, "--event")):
            _, error = self.run_etwas("stop", name)
            self.assertIn(f"  {MODERN_NAME}: 1 process has registered it and logged nothing; a "
                          f"filter may have excluded what it logged: {filters} of 'etwas enable' "
                          "or 'etwas start'\n", error)

    def test_the_name_that_was_typed_is_shown_though_nobody_has_registered_it(self):
        self.run_etwas("enable", self.recorder, "Etwas.Nobody")
        self.assertRegex(self.ask("ps"), r"(?m)^- +Etwas\.Nobody [-0-9a-f]{36} +not registered +"
                         + re.escape(self.recorder))
        _, error = self.run_etwas("stop", self.recorder)
        self.assertIn("  Etwas.Nobody: no process that can be seen has registered it", error)

    def test_a_session_that_is_started_chooses_processes_and_events(self):
        for number, (options, count) in enumerate((
                (("--pid", str(self.work_process.pid), "--event", "7"), 2), (("--pid", "1"), 0),
                (("--process", "other"), 0), (("--event", "6,Sale"), 0))):
            name, path = f"{self.name}-{number}", os.path.join(self.folder, f"{number}.etl")
            self.start("-e", MODERN, *options, "-fo", path, name=name)
            self.tell("log 2")
            self.run_etwas("stop", name)
            self.assertEqual(self.counted(path).get(MODERN, 0), count, options)

    def test_a_process_whose_providers_cannot_be_read_is_said_and_the_others_are_shown(self):
        work = f"/p.{self.work_process.pid}."
        path, whole = next((path, whole) for path, whole in self.entries("p.").items()
                           if work in path)
        before = [line for line in self.ask_json("ps --json") if line["kind"] == "provider"]
        self.assertIn(MODERN, [line["provider_id"] for line in before])
        self.ask(f"enable {self.log} {CLASSIC}")
        for at, told in ((0, "what a process says of one is damaged. Restart that process"),
                         (4, "one is of another release, whose own etwas shows it")):
            self.spoil(path, at, whole[at] ^ 0x40)
            for options in ((), ("--json",)):
                out, error = self.run_etwas("ps", *options, expect=DAMAGED)
                self.assertIn(self.recorder, out)
                self.assertIn(CLASSIC, out)  # a session has it
                self.assertNotIn(MODERN, out)
                self.assertEqual(error, f"etwas ps: not every provider can be read: {told}\n")
            out, error = self.run_etwas("enable", self.log, "Etwas.Odd")
            self.assertEqual(
                error, "etwas enable: 'Etwas.Odd': not every process's providers can be read, and "
                "no other is called so: "
                       "its GUID is made of the name\n")
            self.ask(f"disable {self.log} Etwas.Odd")
            self.spoil(path, at, whole[at])
            _, error = self.run_etwas("ps")
            self.assertEqual(error, "")

    def test_a_host_with_few_descriptors_starts_a_session_that_processes_log_into_or_none(self):
        """Whatever the limit, what is said to be enabled is."""
        started = []
        for limit in range(12, 26):
            name, path = f"{self.name}-{limit}", os.path.join(self.folder, f"{limit}.etl")
            code = subprocess.run(["bash", "-c", f"ulimit -n {limit} && exec \"$@\"", "-",
                                   self.etwas, "start", name, "-o", path, "-e", MODERN],
                                  env=self.environment, capture_output=True, timeout=100,
                                  check=False).returncode
            self.assertIn(code, (0, FAILED))
            if code == 0:
                self.tell("log 7")
                self.run_etwas("stop", name)
                self.assertEqual((limit, self.counted(path).get(MODERN)), (limit, 7))
                started.append(limit)
        self.assertIn(25, started)

    def test_a_host_that_has_no_descriptors_left_says_which_processes_cannot_log(self):
        """They log nothing into it; once others have ended, they do."""
        name, path = f"{self.name}-narrow", os.path.join(self.folder, "narrow.etl")
        subprocess.run(["bash", "-c", "ulimit -n 30 && exec \"$@\"", "-", self.etwas, "start", name,
                        "-o", path, "-e", MODERN],
                       env=self.environment, capture_output=True, timeout=100, check=True)
        programs = []

        def start_program():
            programs.append(subprocess.Popen([self.work], stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE, text=True,
                                             env=self.environment))
            self.addCleanup(programs[-1].communicate)
            self.assertEqual(talk(programs[-1], "log 0"), "= 0\n")

        def talk(program, line):
            program.stdin.write(line + "\n")
            program.stdin.flush()
            return program.stdout.readline()

        def left_out():
            return self.session(name).get("unattached_processes", 0)

        while left_out() == 0:
            start_program()
        start_program()
        self.assertTrue(await_true(lambda: left_out() == 2))
        for command in ("ps", f"query {name}"):
            self.assertIn(
                "2 processes cannot log into it; their events are missing (lost counts what they "
                "could report); the last: the session's "
                "process, or this one, may open too few files (ulimit -n), or 256 processes log "
                "into it\n", self.ask(command))
        self.assertTrue(await_true(lambda: self.not_logging(name)
                                   == {program.pid for program in programs[-2:]}))
        self.assertEqual(self.ask("ps").count(", not attached (see above): not logged to)"), 2)
        programs.pop().communicate()  # while its host has no room
        self.assertTrue(await_true(lambda: left_out() == 1))
        start_program()
        self.assertTrue(await_true(lambda: left_out() == 2))
        for command in ("disable", "enable"):
            self.run_etwas(command, name, MODERN)  # a session's own files come first
        for program in programs:
            self.assertEqual(talk(program, "log 3"), "= 0\n")
        self.run_etwas("update", "--realtime", name)
        _, error = self.run_etwas("tail", name, expect=FAILED)
        self.assertEqual(
            error, f"etwas tail: {name}: there are no more threads, or files that it or its host "
            "may open (ulimit -n)\n")
        for program in programs[:5]:
            program.communicate()
        self.assertTrue(await_true(lambda: left_out() == 0))
        self.assertIn(
            "3 processes could not log into it; their events are missing (lost counts what they "
            "could report); the last: the session", self.ask("ps"))
        for program in programs[5:]:
            self.assertEqual(talk(program, "log 4"), "= 0\n")
        _, error = self.run_etwas("stop", name)
        self.assertIn(
            f"etwas stop: {name}: warning: 3 processes could not log into it; their events are "
            "missing (lost counts", error)
        reason = ("the session's process, or this one, may open too few files (ulimit -n), or 256 "
                  "processes log into it")
        said = ("3 processes could not log into the session; their events are missing (lost "
                f"counts what they could report); the last: {reason}\n")
        for command in (f"stat {path}", f"stat --prove {path}"):
            self.assertIn(f"  MISSING       {said}",
                          self.ask(command).replace("MISSING        ", "MISSING       "))
        for command in (f"stat --json {path}", f"stat --prove --json {path}",
                        f"stat --hot --json {path}"):
            told = json.loads(self.ask(command).splitlines()[0])
            self.assertEqual((told["unattached_total"], told["unattached_reason"]), (3, reason))
        self.assertEqual(self.counted(path), {MODERN: 3 * (len(programs) - 2)
                                              + 4 * (len(programs) - 5)})
        for _ in range(8):
            start_program()
        recording = subprocess.run(["bash", "-c", "ulimit -n 26 && exec \"$@\"", "-", self.etwas,
                                    "record", "-o", f"{path}.recorded", "-e", MODERN, "--", "sleep",
                                    "1"], env=self.environment, capture_output=True, text=True,
                                   timeout=100, check=True)
        self.assertRegex(recording.stderr,
                         r"\netwas record: \d+ processes could not log; their events are missing")

    def test_a_ninth_session_of_a_provider_is_told_of_the_limit(self):
        for number in range(8):
            self.start("--buffering", "--buffer-size", "4", "-e", MODERN,
                       name=f"{self.name}-{number}")
        _, error = self.run_etwas("enable", self.log, MODERN, expect=FAILED)
        self.assertEqual(
            error, f"etwas enable: '{MODERN}': 8 sessions enable it, and no more can ('etwas ps' "
            "lists them); or 1,024 "
                   "providers are enabled, or the session's process may open no more files\n")

    def test_an_answer_that_cannot_be_written_fails_the_command(self):
        out = os.path.join(self.folder, "out.etl")
        for command in (f"update --flush 1000 {self.log}", f"flush {self.log}",
                        f"snapshot {self.recorder} -o {out}", f"query {self.recorder}",
                        f"enable {self.recorder} {MODERN}", f"disable {self.recorder} {MODERN}",
                        "ps", f"stop {self.recorder}"):
            with self.subTest(command), open("/dev/full", "wb") as full:
                _, error = self.run_etwas(*command.split(), expect=OUTPUT, cwd=self.folder,
                                          stdout=full)
                self.assertIn("cannot write the output: No space left on device", error)

    def test_the_file_of_a_recorder_is_for_its_snapshots(self):
        name, path = f"{self.name}-own", f"{self.folder}/own.etl"
        out, _ = self.start("--buffering", "-o", "own.etl", "-e", MODERN, name=name)
        self.assertRegex(out, rf", in memory; snapshots go to {path}\n\Z")
        self.tell("log 5")
        self.assertRegex(self.ask(f"snapshot {name}"),
                         rf"\Atook a snapshot of {name}: 0 lost, own.etl ")
        self.assertEqual(self.counted(path), {MODERN: 5})
        self.ask(f"snapshot {name}", expect=OUTPUT)  # it is there
        self.ask(f"snapshot --force {name}")
        self.assertEqual(self.run_etwas("stop", name)[1], "")
        _, error = self.run_etwas("snapshot", self.recorder, expect=FAILED)
        self.assertEqual(error, f"etwas snapshot: '{self.recorder}': it was started without a file "
                         "for its snapshots: --output names one\n")

    def test_what_goes_with_a_recorder_is_said(self):
        self.ask(f"enable {self.recorder} {MODERN_NAME}")
        self.tell("log 5")
        self.assertEqual(self.run_etwas("stop", self.recorder)[1],
                         f"etwas stop: '{self.recorder}': note: what it had in memory is not "
                         "written; 'etwas snapshot' writes it while it runs\n")

    def test_a_recorder_without_a_file_cannot_be_flushed(self):
        _, error = self.run_etwas("flush", self.recorder, expect=FAILED)
        self.assertEqual(
            error, f"etwas flush: '{self.recorder}': it is a flight recorder without a file; "
            "'etwas snapshot' writes one\n")

    def test_losses_are_said_with_their_cause(self):
        small = f"{self.name}-small"
        self.start("-o", "small.etl", "--buffer-size", "4", "--min-buffers", "2",
                   "--max-buffers", "2", "-e", MODERN, name=small)
        while self.session(small)["lost"] == 0:
            self.tell("log 20000")
        lost = f"{self.session(small)['lost']:,}"
        out, error = self.run_etwas("stop", small, cwd=self.folder)
        self.assertRegex(
            out, rf"\Astopped {small}: [\d,]+ recorded, {lost} lost, small\.etl \([\d.]+ "
            r"[KM]iB\)\n\Z")
        self.assertEqual(
            error, f"etwas stop: {small}: warning: {lost} events lost: there was no free buffer. "
            "More (--max-buffers) or larger ones (--buffer-size) lose less\n")

    def test_what_no_buffer_holds_is_said_to_be_too_large(self):
        narrow = f"{self.name}-narrow"
        self.start("-o", "narrow.etl", "--buffer-size", "4", "-e", MODERN, name=narrow)
        self.tell("large 3")
        out, error = self.run_etwas("stop", narrow, cwd=self.folder)
        self.assertIn("0 recorded, 3 lost, narrow.etl", out)
        self.assertIn(
            f"etwas stop: {narrow}: warning: 3 events lost: they do not fit into a buffer. Larger "
            "ones", error)

    def test_where_nothing_was_recorded_the_reasons_are_said(self):
        out, error = self.run_etwas("flush", "--quiet", self.log)
        self.assertRegex(out, rf"\Aflushed {self.log}: 0 recorded, 0 lost, .*\n\Z")
        self.assertEqual(error, "")
        for command in "flush", "stop":
            _, error = self.run_etwas(command, self.log)
            self.assertIn(
                f"etwas {command}: {self.log}: warning: nothing was recorded: no process that can "
                "be seen has registered "
                "a provider that is enabled in it.\n", error)
        self.ask(f"enable --level error --any 2 {self.recorder} {MODERN_NAME}")
        self.tell("log 5")
        for command in (f"snapshot -o {self.folder}/r.etl", "update --max-buffers 500", "stop"):
            _, error = self.run_etwas(*command.split(), self.recorder)
            self.assertIn(
                f"{self.recorder}: warning: nothing was recorded:\n  {MODERN_NAME}: 1 process has "
                "registered it and logged "
                "nothing, of level 2 or less (without TraceLoggingLevel an event is of level 5), "
                "with keywords of 0x2\n", error)

    def test_where_a_pattern_recorded_nothing_it_is_said_of_whom(self):
        self.ask(f"enable {self.recorder} No*")
        _, error = self.run_etwas("snapshot", "-o", f"{self.folder}/n.etl", self.recorder)
        self.assertIn("warning: nothing was recorded:\n  No*: no process that can be seen has "
                      "registered a provider of such a name; ETWAS_SHARED=0 hides one\n", error)
        self.tell("register aaaa Nobody")
        _, error = self.run_etwas("stop", self.recorder)
        self.assertIn("warning: nothing was recorded:\n  Nobody: 1 process has registered it and "
                      "logged nothing\n", error)

    def test_a_host_ends_with_its_session(self):
        self.ask(f"enable {self.log} {MODERN}")
        self.tell("log 100")
        self.ask(f"stop {self.log} {self.recorder}")
        self.assertTrue(await_true(lambda: not self.pids_of_host()))
        self.assertEqual(self.counted(self.path), {MODERN: 100})
        self.assertEqual(self.ask_json("query --json all"), [])
        self.work_process.communicate()
        self.assertEqual(os.listdir(self.environment["ETWAS_RUNTIME_DIR"]), [])
        self.start_sessions()  # the names are free again

    def test_a_stop_is_answered_though_the_host_ends_with_it(self):
        for number in range(20):
            self.start("--buffering", "--buffer-size", "4", name=f"{self.name}-{number}")
            self.ask(f"stop {self.name}-{number}")

    def test_a_full_file_ends_its_host(self):
        name = f"{self.name}-full"
        path = os.path.join(self.folder, "full.etl")
        out, _ = self.start("-o", "full.etl", "--max-size", "1", "-e", MODERN_NAME, name=name)
        self.assertTrue(out.endswith(f", to {path}, and ends when that has 1 MiB\n"), out)
        while any(line["session"] == name for line in self.ask_json("query --json all")):
            self.tell("log 5000")
        self.assertTrue(await_true(lambda: len(self.pids_of_host()) == 2))
        self.assertGreater(self.counted(path)[MODERN], 5000)
        _, error = self.run_etwas("stop", name, expect=FAILED)
        self.assertIn("One whose file reached --max-size has ended by itself, with a whole file",
                      error)

    def test_a_name_is_of_one_session_of_all_processes(self):
        for name in (self.log, self.log.upper()):
            _, error = self.start("--buffering", name=name, expect=FAILED)
            self.assertEqual(error, f"etwas start: '{name}': a session of this name runs already\n")
        self.assertEqual(len(self.pids_of_host()), 2)

    def test_what_is_enabled_or_disabled_in_vain_is_said(self):
        nobody, said = "0000cccc" + CLASSIC[8:], ("note: nobody has registered it yet; it is "
                                                  "enabled when a program does\n")
        in_vain = "note: it is not enabled in this session\n"
        for command, provider, note in (("disable", nobody, in_vain), ("disable", MODERN, in_vain),
                                        ("enable --capture-state", MODERN, in_vain),
                                        ("enable", nobody, said), ("enable", MODERN, ""),
                                        ("enable --capture-state", MODERN, ""),
                                        ("disable", nobody, ""), ("disable", MODERN, ""),
                                        ("disable", MODERN, in_vain)):
            out, error = self.run_etwas(*command.split(), self.log, provider)
            self.assertEqual((out, error),
                             (f"{provider}: {provider}\n",
                              note and f"etwas {command.split()[0]}: '{provider}': {note}"))
        self.assertEqual(self.run_etwas("disable", "-q", self.log, MODERN)[1], "")
        _, error = self.start("--buffering", "-e", nobody, "-e", MODERN, name=f"{self.name}-two")
        self.assertEqual(error, f"etwas start: '{nobody}': {said}")
        _, error = self.start("--buffering", "-q", "-e", nobody, name=f"{self.name}-quiet")
        self.assertEqual(error, "")

    def test_who_comes_later_is_enabled(self):
        self.ask(f"enable {self.log} {MODERN_NAME}")
        for count in (1, 20):
            with subprocess.Popen([self.work], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True, env=self.environment) as later:
                later.communicate(f"log {count}\n")
        self.ask(f"flush {self.log}")
        self.assertEqual(self.counted(self.path), {MODERN: 21})

    def test_files_are_where_the_command_was_typed(self):
        self.ask(f"enable {self.recorder} {MODERN_NAME}")
        self.tell("log 3")
        self.ask(f"snapshot -o now.etl {self.recorder}")
        self.assertEqual(self.counted(os.path.join(self.folder, "now.etl")), {MODERN: 3})
        self.ask(f"update -o b.etl {self.log}")
        self.assertEqual(self.session(self.log)["log_file"], os.path.join(self.folder, "b.etl"))

    def test_a_host_that_is_stopped_keeps_nobody_from_the_others(self):
        os.kill(self.hosts[self.recorder], signal.SIGSTOP)
        self.addCleanup(continue_if_there, self.hosts[self.recorder])
        process = self.hosts[self.recorder]
        for lines in (self.ask_json("query --json all"), self.ask_json("ps --json"),
                      self.ask_json(f"query --json {self.log} {self.recorder}")):
            found = {line["session"]: line for line in lines if line["kind"] == "session"}
            self.assertEqual(found[self.log]["recorded"], 0)
            self.assertEqual((found[self.recorder]["silent"], found[self.recorder]["pid"]),
                             (True, process))
            self.assertIn("buffering", found[self.recorder]["modes"])
        self.assertIn(f"\n{self.recorder}: its host, process {process}, does not answer\n",
                      self.ask("ps"))
        self.assertIn(f"its host, process {process}, does not answer\n",
                      self.ask(f"query {self.recorder}"))
        self.ask(f"enable {self.log} {MODERN}")
        self.tell("log 5")
        self.assertEqual(self.session(self.log)["recorded"], 5)

    def test_who_stops_a_host_that_stands_still_is_told_so_and_it_ends_later(self):
        process = self.hosts[self.recorder]
        os.kill(process, signal.SIGSTOP)
        self.addCleanup(continue_if_there, process)
        _, error = self.run_etwas("stop", self.recorder, expect=FAILED)
        self.assertEqual(error.splitlines(), [
            f"etwas stop: '{self.recorder}': waits for its host, process {process}, which does not "
            "answer: "
            "is it stopped?",
            f"etwas stop: '{self.recorder}': its process does not answer; it does what was asked "
            "for when it goes on"])
        os.kill(process, signal.SIGCONT)
        self.assertTrue(await_true(lambda: len(self.pids_of_host()) == 1))

    def run_while_the_host_stands_still(self, command):
        """It goes on once the command has said that it waits."""
        process = self.hosts[self.log]
        os.kill(process, signal.SIGSTOP)
        self.addCleanup(continue_if_there, process)
        with subprocess.Popen([self.etwas, command, self.log], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=self.environment,
                              cwd=self.folder) as running:
            self.assertIn("waits for its host", running.stderr.readline())
            os.kill(process, signal.SIGCONT)
            out, _ = running.communicate(timeout=100)
        self.assertEqual(running.returncode, 0)
        return out

    def test_of_a_host_that_answers_late_is_said_what_is_known(self):
        self.ask(f"enable {self.log} {MODERN}")
        self.tell("log 5")
        out = self.run_while_the_host_stands_still("flush")
        self.assertTrue(
            out.startswith(
                f"flushed {self.log}: 5 recorded, 0 lost, {os.path.basename(self.path)} ("), out)
        self.assertEqual(self.run_while_the_host_stands_still("stop"),
                         f"stopped {self.log}: its process did not say in time what was recorded\n")

    def test_a_host_that_is_killed_leaves_the_others(self):
        self.ask(f"enable {self.log} {MODERN_NAME}")
        os.kill(self.hosts[self.recorder], signal.SIGKILL)
        self.assertTrue(await_true(lambda: len(self.pids_of_host()) == 1))
        self.tell("log 3")
        self.assertEqual([line["session"] for line in self.ask_json("query --json all")],
                         [self.log])
        self.ask(f"query {self.recorder}", expect=FAILED)
        self.assertEqual(self.session(self.log)["recorded"], 3)
        self.start("--buffering", name=self.recorder)


if __name__ == "__main__":
    SteerTest.host, SteerTest.work = sys.argv[2:4]
    sys.exit(main())
