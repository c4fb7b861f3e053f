# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""How `etwas` is called, and the files that it is given.

usage: usage_test.py PATH_OF_ETWAS TEST_CLASS
"""

import json
import os
import re
import signal
import struct
import sys

import etl_build as etl
from tool_case import BLUE, DAMAGED, FAILED, OUTPUT, RED, ToolTest, main


class Usage(ToolTest):
    def commands(self):
        """The names of all commands, by the list of them."""
        out, _ = self.run_etwas("help")
        listed, _, _ = out.partition("\nHelp:\n")
        return re.findall(r"(?m)^  (\w+) ", listed)

    def test_the_commands_are_listed_with_and_without_asking(self):
        out, error = self.run_etwas("help")
        self.assertEqual(error, "")
        for arguments in ([], ["--help"], ["-h"]):
            self.assertEqual(self.run_etwas(*arguments), (out, ""))
        self.assertTrue(out.startswith("usage: etwas COMMAND "))
        self.assertGreater(len(self.commands()), 20)
        for guide in ("columns", "conditions", "times"):
            self.assertIn(f"\n  {guide} ", out)
            self.assertGreater(len(self.run_etwas("help", guide)[0].splitlines()), 5)

    def test_each_command_has_a_short_help_that_names_its_options(self):
        shown = {}
        for command in self.commands():
            with self.subTest(command=command):
                out, error = self.run_etwas(command, "--help")
                self.assertTrue(out.startswith(f"usage: etwas {command}"))
                self.assertIn("\nExamples:\n  ", out)
                self.assertLessEqual(len(out.splitlines()), 40)
                self.assertEqual(error, "")
                for same in (["help", command], [command, "-h"]):
                    self.assertEqual(self.run_etwas(*same), (out, ""))
                shown[command] = re.findall(r"(?m)^ +(?:-\w, )?(--[\w-]+)", out)
        for command, options in (("dump", "json csv hex columns where times limit symbols"),
                                 ("stat", "json where from until index cpu hot heap prove"),
                                 ("schema", "json"),
                                 ("spans", "class where from until slowest open json csv"),
                                 ("report", "html json output from until where"),
                                 ("convert", "to output where from until compress"),
                                 ("diff", "class from until confidence effect json"),
                                 ("why", "class instance slowest from until json"),
                                 ("advise", "history late disk replay json"),
                                 ("record", "kernel enable output pid"),
                                 ("ship", "server follow session once")):
            self.assertLessEqual({f"--{option}" for option in options.split()},
                                 set(shown[command]), command)

    def test_help_fits_a_terminal_of_80_columns(self):
        for arguments in ([], ["columns"], ["conditions"], ["times"], *([name] for name in
                                                                        self.commands())):
            out, _ = self.run_etwas("help", *arguments)
            self.assertLessEqual(max(len(line) for line in out.splitlines()), 80, arguments)

    def test_every_json_key_is_documented(self):
        events = [etl.instance(RED, 1_000_001, 1), etl.self_describing(BLUE, 1_000_002, b"P", b"E"),
                  etl.message(7, 0x05, struct.pack("<II", 1, 2))]
        path = self.write("a.etl", etl.trace([(0, events)]))
        out, _ = self.run_etwas("dump", "--json", "--where", "1 == 1 || duration", path)
        for event in [*self.dump_json(path), *map(json.loads, out.splitlines())]:
            self.assert_keys_documented("dump", dict.fromkeys(event))
        self.assert_keys_documented("stat", self.stat_json(path))

    def test_no_number_is_made_of_nothing_and_no_force_is_passed_over(self):
        path = self.write("a.etl", etl.trace([]))
        behind = {"diff": (path, "--against", path), "record": ("true",),
                  "convert": ("--to", "csv", path), "ps": (), "clocks": (), "recover": (),
                  "ship": ("--server", "http://127.0.0.1:1", path), "enable": ("s", "p"),
                  "disable": ("s", "p"),
                  **dict.fromkeys(("start", "stop", "flush", "update", "snapshot", "tail"), ("s",))}
        found = 0
        for command in ("dump", "stat", "spans", "why", "advise", "report", *behind):
            told, _ = self.run_etwas(command, "--help")
            for option in re.findall(
                    r"(?m)^ +(?:-\w, )?(--[\w-]+) (?:N|K|PERCENT|SIZE|DURATION|PID|LEVEL)\b", told):
                with self.subTest(command=command, option=option):
                    _, error = self.run_etwas(command, f"{option}=", *behind.get(command, (path,)),
                                              expect=FAILED)
                    self.assertRegex(error, f"{option}: '' is not ")
                    found += 1
        self.assertGreater(found, 15)
        for command in (("convert", "--to", "csv", path), ("report", "--json", path), ("clocks",),
                        ("start", "--buffering", "s"),
                        ("update", "--flush", "9", "s"), ("recover", path)):
            _, error = self.run_etwas(command[0], "--force", *command[1:], expect=FAILED)
            self.assertRegex(error, "--force:? (it )?goes with|no option --force")

    def test_the_version_is_printed(self):
        out, _ = self.run_etwas("--version")
        version, *parts = out.splitlines()
        self.assertRegex(version, r"\Aetwas \d+\.\d+\.\d+\Z")
        for part in parts:
            self.assertRegex(
                part, r"\Awith \S+: [^.]+\Z|\Awithout \S+: [^.]+\. On Debian install \S+ and build "
                r"it again\Z|"
                      r"\Alibcurl is not installed: ")
        names = [part.split()[1].rstrip(":") for part in parts]
        self.assertEqual(names[:5], ["libcurl", "zlib", "libdw", "libstdc++", "jansson"])

    def test_a_wrong_call_is_reported_and_points_to_the_help(self):
        path = self.write("a.etl", etl.trace([]))
        for arguments, word in ((["frobnicate", path], "frobnicate"),
                                (["dmup", path], "Did you mean dump?"),
                                (["help", "dmup"], "Did you mean dump?"),
                                (["dump"], "which file"), (["stat"], "which file"),
                                (["dump", "--frob", path], "frob"),
                                (["stat", "--times=raw", path], "--times: its times are UTC"),
                                (["dump", "--limt", "1", path], "Did you mean --limit?"),
                                (["dump", "--c", path],
                                 "--c is the beginning of --cpu, --columns, --csv, --color\n"),
                                (["dump", "--he", path],
                                 "--he is the beginning of --hex, --help\n"),
                                (["dump", "--color", "red", path],
                                 "'red' is none of auto, always, never"),
                                (["record", "-o", "-", "true"],
                                 "cannot write its trace to standard output. Name a file"),
                                (["recover", "-o", "-", path],
                                 "cannot write its trace to standard output. Name a file"),
                                (["dump", "-y", path], "no option -y"),
                                (["dump", "--hex=1", path], "--hex takes no value"),
                                (["dump", "--times"], "--times needs a value: KIND"),
                                (["dump", "--times", "tsc", path], "'tsc'"),
                                (["dump", "--times", "sytem", path], "Did you mean system?"),
                                (["dump", "--json", "--csv", path],
                                 "--json and --csv exclude each other"),
                                (["dump", "-n"], "--limit needs a value: N"),
                                (["dump", "--limit", "x", path], "'x'"),
                                (["dump", "--limit", "-1", path], "'-1'"),
                                (["dump", "--limit", "1x", path], "'1x'"),
                                (["dump", "--limit", "9" * 30, path], "999"),
                                (["dump"] + [path] * 1001, "at most 1000")):
            with self.subTest(arguments=arguments[:3]):
                out, error = self.run_etwas(*arguments, expect=FAILED)
                self.assertEqual(out, "")
                self.assertIn(word, error)
                self.assertIn("--help", error)


class Files(ToolTest):
    def test_what_is_not_a_trace_is_refused_by_name(self):
        good = etl.trace([(0, [etl.classic(RED, 1_000_001)])])
        wrong = {
            "missing": None, "empty": b"", "text": b"hello, world\n" * 10_000,
            "zeros": bytes(100_000), "ones": b"\xff" * 100_000, "short": good[:71],
            "cut": good[:200],
        }
        for name, data in wrong.items():
            path = os.path.join(self.folder, name)
            if data is not None:
                self.write(name, data)
            for command in ("dump", "stat"):
                with self.subTest(name=name, command=command):
                    out, error = self.run_etwas(command, path, expect=FAILED)
                    self.assertEqual(out, "")
                    self.assertIn(path, error)
        self.assertEqual(self.run_etwas("dump", "", expect=FAILED)[1],
                         "etwas dump: '': not the name of a readable file\n")

    def test_a_folder_and_a_pipe_are_refused_without_waiting(self):
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        for path, word in ((self.folder, "a folder"), (pipe, "a readable file")):
            _, error = self.run_etwas("stat", path, expect=FAILED)
            self.assertIn(path, error)
            self.assertIn(word, error)

    def test_the_other_files_are_shown_when_one_cannot_be_opened(self):
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, 1_000_001)])]))
        missing = os.path.join(self.folder, "missing.etl")
        out, error = self.run_etwas("dump", missing, path, expect=FAILED)
        self.assertIn(RED, out)
        self.assertIn("no such file", error)
        out, _ = self.run_etwas("stat", missing, path, expect=FAILED)
        self.assertIn(RED, out)

    def test_a_file_that_cannot_be_opened_weighs_more_than_a_damaged_one(self):
        damaged = self.write("a.etl", etl.trace([(0, [etl.classic(RED, 1_000_001)])])[:-100])
        missing = os.path.join(self.folder, "missing.etl")
        for command in ("dump", "stat"):
            self.run_etwas(command, damaged, expect=DAMAGED)
            self.run_etwas(command, damaged, missing, expect=FAILED)
            self.run_etwas(command, missing, damaged, expect=FAILED)

    def test_an_odd_file_name_cannot_steer_the_terminal(self):
        path = self.write("a\x1b[2J\n\udcff.etl", etl.trace([(0, [])]))
        out, _ = self.run_etwas("stat", path)
        self.assertTrue(out.splitlines()[0].endswith(r"a\x1b[2J\x0a\xff.etl"))
        self.assertTrue(self.stat_json(path)[0]["file"].endswith("a\x1b[2J\n\ufffd.etl"))
        _, error = self.run_etwas("stat", path + "x", expect=FAILED)
        self.assertNotIn("\x1b", error)

    def test_output_that_cannot_be_written_is_reported(self):
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, 1_000_001)])]))
        for arguments in (["dump", path], ["dump", "--json", path], ["stat", path], ["--help"], [],
                          ["--version"]):
            with open("/dev/full", "wb") as full:
                _, error = self.run_etwas(*arguments, expect=OUTPUT, stdout=full)
            self.assertIn("cannot write", error)

    def test_output_that_may_not_grow_is_reported(self):
        import resource
        events = [etl.classic(RED, 1_000_001 + i) for i in range(1000)]
        path = self.write("a.etl",
                          etl.trace([(0, events[at:at + 50]) for at in range(0, 1000, 50)]))
        page = os.path.join(self.folder, "page.html")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        for arguments in (["dump", path], ["dump", "--json", path],
                          ["convert", "--to", "chrome", path],
                          ["report", "--html", "-o", page, path]):
            with open(os.path.join(self.folder, "out"), "wb") as out:
                _, error = self.run_etwas(*arguments, expect=OUTPUT, stdout=out, preexec_fn=limit)
            self.assertRegex(error, "cannot write .*too large for its limit .RLIMIT_FSIZE, 'ulimit")
        self.assertFalse(os.path.exists(page))

    def test_a_closed_pipe_ends_it_quietly(self):
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, 1_000_001)])]))
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as closed:
            # Python ignores SIGPIPE and its children would too.
            _, error = self.run_etwas("dump", path, expect=-signal.SIGPIPE, stdout=closed)
            self.assertEqual(error, "")
            _, error = self.run_etwas("dump", path, expect=OUTPUT, stdout=closed,
                                      restore_signals=False)
            self.assertEqual(error, "")


if __name__ == "__main__":
    sys.exit(main())
