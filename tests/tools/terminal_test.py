# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What is shown on a terminal: tables that fit, colours, and what --quiet leaves out.

usage: terminal_test.py PATH_OF_ETWAS TEST_CLASS
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import etl_build as etl
from tool_case import BLUE, DAMAGED, FINE, RED, NamesTest, main

START, END = 1, 2
LONG = "Company-Product-Component/Customer"
RED_ESCAPE, BOLD_ESCAPE = "\033[31m", "\033[1m"


class TerminalTest(NamesTest):
    def run_terminal(self, columns, *arguments, expect=FINE, **environment):
        """What it writes to a terminal that is so wide, of both outputs."""
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        inherited = {name: value for name, value in os.environ.items()
                     if name not in ("COLUMNS", "NO_COLOR")}
        with subprocess.Popen([self.etwas, *arguments], stdin=subprocess.DEVNULL, stdout=follower,
                              stderr=follower,
                              env={**inherited, "TERM": "xterm", **environment}) as run:
            os.close(follower)
            parts = []
            while True:
                try:
                    parts.append(os.read(leader, 1 << 16))
                except OSError:  # the other end is closed
                    break
        os.close(leader)
        self.assertEqual(run.returncode, expect)
        return b"".join(parts).decode().replace("\r\n", "\n")

    def long_names(self, name="a.etl", names=("Order/A", "Order/B")):
        """600 events of each."""
        def buffer(number):
            return [etl.tl_event(RED, 1_000_001 + 10_000 * (20 * number + i), LONG, names[i % 2],
                                 b"", b"") for i in range(20)]
        return self.write(name, etl.trace([(0, buffer(number)) for number in range(60)]))

    def spans(self):
        return self.trace(*(etl.instance(guid, 1_000_001 + ticks, number, kind=kind)
                            for guid, kind, ticks, number in (
                                (RED, START, 0, 1), (BLUE, START, 200, 2), (BLUE, END, 500, 2),
                                (RED, END, 1_000_000, 1), (RED, START, 2_000_000, 3))))


class Tables(TerminalTest):
    def tables(self, text):
        """The parts that an empty line is between, but for the label lines."""
        return [part for part in text.rstrip("\n").split("\n\n") if "\n  damage" not in part
                and "\n  events" not in part]

    def assert_fits(self, text, columns):
        for table in self.tables(text):
            for line in table.splitlines():
                self.assertLessEqual(len(line), columns, table)
                self.assertEqual(line, line.rstrip())

    def test_long_names_are_shortened_in_the_middle(self):
        path = self.long_names()
        out = self.run_terminal(60, "stat", "--color=never", path)
        self.assert_fits(out, 60)
        kinds, _ = self.tables(out)
        title, *rows = kinds.splitlines()
        self.assertRegex(title, r"\Aevent +events  events/second  payload\Z")
        self.assertEqual(len(title), 60)
        for row in rows:
            self.assertRegex(row, r"\ACompany-Prod\S*…\S*mer/Order/[AB] +600 +300 +0 B\Z")
        ascii_out = self.run_terminal(60, "stat", path, LC_ALL="C", NO_COLOR="1")
        self.assertRegex(ascii_out, r"\nCompany-Pro\S+\.\.\S+/Order/A +600 ")
        self.assertTrue(ascii_out.isascii())

    def test_a_terminal_that_is_wide_enough_has_them_whole(self):
        path = self.long_names()
        piped, _ = self.run_etwas("stat", path)
        self.assertEqual(self.run_terminal(200, "stat", "--color=never", path), piped)
        self.assertIn(f"\n{LONG}/Order/A ", piped)

    def test_files_and_pipes_are_not_cut(self):
        path = self.long_names()
        narrow = {**os.environ, "COLUMNS": "40"}
        self.assertEqual(self.run_etwas("stat", path, env=narrow), self.run_etwas("stat", path))

    def test_columns_of_the_environment_count_before_the_terminal(self):
        path = self.long_names()
        out = self.run_terminal(200, "stat", "--color=never", path, COLUMNS="60")
        self.assertEqual(out, self.run_terminal(60, "stat", "--color=never", path))
        for nonsense in ("", "x", "0"):
            self.assertEqual(self.run_terminal(60, "stat", "--color=never", path,
                                               COLUMNS=nonsense), out)

    def test_columns_without_room_follow_in_a_table_of_their_own(self):
        path = self.spans()
        wide, _ = self.run_etwas("spans", path)
        table = wide.split("\n\n")[1]
        for columns in (40, 60, 80, 100, 120):
            out = self.run_terminal(columns, "spans", "--color=never", path)
            self.assert_fits(out.split("\n\n", 1)[1], columns)
            parts = [part.splitlines() for part in self.tables(out)[1:]]
            self.assertEqual(len(parts) > 1, columns < len(table.splitlines()[0]) - len(RED) + 20)
            self.assertEqual([title for part in parts for title in part[0].split()[1:]],
                             table.splitlines()[0].split()[1:])
            for part in parts:
                self.assertEqual(part[0].split()[0], "class")
                self.assertEqual(part[2].split()[0], "itself")
            numbers = " ".join(re.sub(r"^\S+", "", part[1]).strip() for part in parts)
            self.assertEqual(numbers.split(), table.splitlines()[1].split()[1:])

    def test_the_tables_of_all_commands_fit(self):
        path = self.spans()
        for columns in (50, 80):
            for command in (["stat", path], ["spans", "--slowest", "2", path]):
                with self.subTest(command=command[0], columns=columns):
                    out = self.run_terminal(columns, *command, "--color=never")
                    self.assert_fits(out.split("\n\n", 1)[1], columns)
            out = self.run_terminal(columns, "why", "--color=never", path)
            self.assert_fits(out[:out.index(" took ")].rsplit("\n", 1)[0], columns)

    def test_lines_that_are_no_rows_are_shortened_too(self):
        first, second = (self.long_names(name) for name in ("a.etl", "b.etl"))
        out = self.run_terminal(50, "diff", "--color=never", first, "--against", second)
        self.assertRegex(out, r"\nCompany-Product-.*….*: 600 against 600\n")
        self.assert_fits(out.split("\n\n", 1)[1], 50)


class Colors(TerminalTest):
    def damaged(self):
        return self.trace(etl.classic(RED, 1_000_001), events_lost=3)

    def test_headings_are_bold_and_losses_red(self):
        out = self.run_terminal(80, "stat", self.damaged())
        self.assertIn(f"\n  {RED_ESCAPE}LOST         \033[m 3 events and 0 buffers", out)
        self.assertIn(f"\n{BOLD_ESCAPE}event\033[m ", out)
        self.assertIn("\n  damage        none\n", out)

    def test_errors_are_red_lines_of_a_dump(self):
        path = self.trace(*(etl.classic(RED, 1_000_001 + level, kind=9, level=level)
                            for level in range(6)))
        lines = self.run_terminal(80, "dump", path).splitlines()
        self.assertEqual(lines[0], f"{BOLD_ESCAPE}# time cpu pid tid event fields\033[m")
        self.assertEqual([level for level, line in enumerate(lines[1:])
                          if line.startswith(RED_ESCAPE) and line.endswith("\033[m")], [1, 2])
        self.assertEqual([level for level, line in enumerate(lines[1:]) if "\033" in line], [1, 2])

    def test_only_a_terminal_has_them_unless_they_are_asked_for(self):
        path = self.damaged()
        plain, _ = self.run_etwas("stat", path)
        self.assertNotIn("\033", plain)
        for arguments, environment in ((["--color", "never"], {}), ([], {"NO_COLOR": "1"}),
                                       ([], {"TERM": "dumb"})):
            self.assertEqual(self.run_terminal(80, "stat", *arguments, path, **environment), plain)
        shown = self.run_terminal(80, "stat", path)
        self.assertEqual(self.run_terminal(80, "stat", path, NO_COLOR=""), shown)
        self.assertEqual(self.run_etwas("stat", "--color=always", path)[0], shown)
        self.assertEqual(self.run_etwas("stat", "--color=always", path,
                                        env={**os.environ, "NO_COLOR": "1"})[0], shown)

    def test_what_programs_read_has_none(self):
        path = self.damaged()
        for command in (["stat", "--json"], ["dump", "--json"], ["dump", "--csv"]):
            self.assertNotIn("\033", self.run_etwas(*command, "--color=always", path)[0])


class Quiet(TerminalTest):
    def test_notes_are_left_out(self):
        path = self.spans()
        for command in (["dump", "--where", "event_id == 77"], ["dump", "--from", "2030-01-01"],
                        ["stat", "--until", "2020-01-01"], ["stat", "--hot"],
                        ["spans", "--class", "none"], ["why", "--class", "none"],
                        ["convert", "--to", "folded"],
                        ["dump", "--columns", "event,nowhere"]):
            with self.subTest(command=command):
                out, error = self.run_etwas(*command, path)
                self.assertIn("note: ", error)
                self.assertEqual(self.run_etwas(*command, "--quiet", path), (out, ""))
                self.assertEqual(self.run_etwas(*command, "-q", path), (out, ""))

    def test_errors_and_what_is_missing_are_not(self):
        missing = os.path.join(self.folder, "missing.etl")
        data = bytearray(etl.trace([(0, [etl.classic(RED, 1_000_001)])] * 3, events_lost=7))
        data[2 * etl.BUFFER_BYTES:2 * etl.BUFFER_BYTES + 8] = b"\xff" * 8
        path = self.write("damaged.etl", data)
        for arguments, expect in ((("dump", missing), 2), (("dump", path), DAMAGED),
                                  (("spans", path), DAMAGED)):
            out, error = self.run_etwas(*arguments, expect=expect)
            error = "".join(line for line in error.splitlines(True) if ": note: " not in line)
            self.assertNotEqual(error, "")
            self.assertEqual(self.run_etwas(*arguments, "-q", expect=expect), (out, error))


if __name__ == "__main__":
    sys.exit(main())
