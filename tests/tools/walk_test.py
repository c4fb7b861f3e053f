# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What a person concludes from the answers of `etwas`: every command that reads traces, with every
kind of input that has less than was asked for. Whatever is empty, partial or uncertain says so, on
standard error or in the answer, with its exit code.

A command is walked by being in COMMANDS; an input by being in the table of `cells`.

usage: walk_test.py PATH_OF_ETWAS TEST_CLASS
"""

import os
import re
import struct
import sys

import etl_build as etl
from tool_case import BLUE, DAMAGED, DATA, FAILED, FINE, NO, RED, ToolTest, main

FORMATS = ("ndjson", "csv", "chrome", "otlp", "folded", "speedscope", "pprof", "perfetto", "etl",
           "ctf")

# The one list. Of each command: its arguments, and which of the kinds of options it takes. "file":
# it makes one.
COMMANDS = [
    ("dump", [], "window where columns"), ("dump", ["--json"], "window where"),
    ("dump", ["--csv"], "window where columns"),
    ("dump", ["--hex"], "window where"), ("dump", ["--symbols"], "window where stacks"),
    ("stat", [], "window where"), ("stat", ["--json"], "window where"),
    ("stat", ["--hot"], "samples"),
    ("stat", ["--hot", "--json"], "samples"), ("stat", ["--cpu-time"], "switches"),
    ("stat", ["--cpu-time", "--json"], "switches"),
    ("stat", ["--heap"], "mallocs"), ("stat", ["--heap", "--json"], "mallocs"),
    ("schema", [], ""), ("schema", ["--json"], ""),
    ("spans", [], "window where class"), ("spans", ["--json"], "window where class"),
    ("spans", ["--csv"], "window where class"),
    ("report", ["--json"], "window where"), ("why", [], "window where class"),
    ("why", ["--json"], "window where class"),
    ("advise", [], "window where"),
    ("advise", ["--json", "--history", "1"], "window where"),
    *(("convert", ["--to", form], "window where file" + (" stacks" if form in ("folded", "pprof")
                                                         else ""))
      for form in FORMATS),
]

WINDOW = (r"note: no event is in this window; the trace goes from 2026-01-01T00:00:00\.\d{9}Z "
          r"until 2026-01-01T00:00:00\.\d{9}Z")
WHERE = r"note: no event is as --where says: .*; 'etwas schema' tells which"
FIELD = r"note: no event has a field 'nobody'; 'etwas schema' tells which"
STACKS = r"note: (no event that is shown has a call stack|there are no stacks of what is asked for)"
LACKING = {"stacks": STACKS, "samples": "note: .*there are no samples",
           "switches": "note: .*there are no context switches",
           "mallocs": "note: .*there are no calls of malloc"}


class Walk(ToolTest):
    def setUp(self):
        super().setUp()
        number = etl.tl_field("n", etl.INT64)
        self.events = [etl.instance(RED, 1_000_100, 1, kind=1),
                       *(etl.tl_event(RED, stamp, "P", "Work", number, struct.pack("<q", 5),
                                      opcode=opcode, activity=BLUE)
                         for stamp, opcode in ((1_500_000, 1), (1_600_000, 2))),
                       etl.instance(RED, 2_000_000, 1, kind=2)]
        self.whole = self.file("whole.etl")
        self.made = 0  # outputs

    def file(self, name, **options):
        return self.write(name, etl.trace([(0, self.events)], **options))

    def walk(self, paths, wants, cell, filters=(), of="", expect=FINE, file_expect=None):
        """
        Each command of the list that takes `of` with these files. `wants` are patterns, each of
        which has to be in what it says on standard error or, for what it says in its answer itself,
        a function of the command and its output.
        """
        walked = 0
        for command, arguments, takes in COMMANDS:
            if of not in takes.split() and of != "":
                continue
            walked += 1
            takes_file = "file" in takes.split()
            out = os.path.join(self.folder, f"out{self.made}")
            self.made += 1
            output = ["--output", out] if takes_file else []
            code = file_expect if takes_file and file_expect is not None else expect
            if takes_file and code in (
                    FINE, DAMAGED) and "stacks" in takes.split() and of != "stacks":
                code = NO if code == FINE else code  # none of these files has stacks
            if cell in ("no events", "Windows") and "speedscope" in arguments:
                code = NO  # which shows spans where there are no stacks
            with self.subTest(cell=cell, command=[command, *arguments]):
                shown, error = self.run_etwas(command, *arguments, *output, *filters, *paths,
                                              expect=code)
                for want in wants:
                    said = want(command, arguments, shown) if callable(want) else None
                    if not said:
                        pattern = want.__doc__ if callable(want) else want
                        self.assertRegex(error, pattern)
                        self.assertRegex(error, f"(?m)^etwas( {command})?: .*({pattern})",
                                         "it does not name the command")
                if expect != FAILED:  # a command that reads twice says twice that it is not there
                    self.assertEqual(error, "".join(line + "\n"
                                                    for line in dict.fromkeys(error.splitlines())),
                                     "said twice")
                if takes_file and code == NO:
                    self.assertFalse(os.path.exists(out), "a file of nothing")
        self.assertGreater(walked, 0)

    def test_nothing_that_matches_is_said_with_a_cure(self):
        for cell, of, filters, want in (
                ("a window after the trace", "window", ["--from", "2027-01-01"], WINDOW),
                ("a window before the trace", "window", ["--from", "2025-01-01", "--until",
                                                         "2025-01-02"], WINDOW),
                ("a gap of the trace", "window", ["--from", "+0.02", "--until", "+0.03"], WINDOW),
                ("a condition", "where", ["--where", "n == 7"], WHERE),
                ("a name of an event", "where", ["--where", "event == 'Wrok'"], WHERE),
                ("a field that nobody has", "where", ["--where", "nobody == 7"], FIELD)):
            self.walk([self.whole], [want], cell, filters, of, file_expect=NO)
        self.walk([self.whole], [FIELD], "a column that nobody has", ["--columns", "time,nobody"],
                  "columns")
        self.walk([self.whole], [r"note: no class is called 'Nobody'"], "a class",
                  ["--class", "Nobody"], "class")
        for of, want in LACKING.items():
            self.walk([self.whole], [want], of, of=of, file_expect=NO)

    def test_a_condition_that_cannot_be_is_an_error_and_makes_nothing(self):
        for expression in ("n == '5'", "n > 5ms", "level == 'x'", "n &", "nobody > 5ms"):
            self.walk([self.whole], [r"--where: "], expression, ["--where", expression], "where",
                      expect=FAILED)

    def test_a_file_without_events_is_said_to_be_one(self):
        path = self.write("empty.etl", etl.trace([]))
        for of in ("window", "where"):
            self.walk([path], [r"note: there are no events of providers in "], "no events", of=of)
        self.assertRegex(self.run_etwas("schema", path)[1],
                         "etwas schema: note: .*nothing in it describes events")

    def test_damage_is_said_and_counts(self):
        data = bytearray(etl.trace([(0, self.events), (0, [etl.classic(RED, 2_100_000)])]))
        data[2 * etl.BUFFER_BYTES + 72 + 3] = 0

        def in_answer(command, arguments, shown):
            """damaged at byte 16456"""
            return command == "stat" and "damaged" in shown
        self.walk([self.write("damaged.etl", bytes(data))], [in_answer], "damaged", expect=DAMAGED)

    def test_what_was_lost_is_said(self):
        def in_answer(command, arguments, shown):
            """7 events and 0 buffers were lost while the trace was recorded"""
            return command == "stat" and re.search(r'(?i)lost["\w:, ]*[^\d]7\b|[^\d]7 .*lost',
                                                   shown)
        self.walk([self.file("lost.etl", events_lost=7)], [in_answer], "lost")

    def test_a_file_that_has_no_end_is_said_to_have_none(self):
        def in_answer(command, arguments, shown):
            """it has no end: its session runs, or was ended by force"""
            return command == "stat" and "unfinished" in shown
        self.walk([self.file("unfinished.etl", finished=False)], [in_answer], "unfinished")

    def test_a_file_that_is_not_there_or_no_trace_is_named(self):
        for path in (os.path.join(self.folder, "none.etl"),
                     self.write("text.etl", b"hello" * 1000)):
            self.walk([path], [re.escape(os.path.basename(path))], "no trace", expect=FAILED)
            # With another one that is: the answer is that of the other one, and says so.
            self.walk([path, self.whole], [re.escape(os.path.basename(path))], "one of two is none",
                      expect=FAILED)

    def test_files_of_two_machines_are_read_and_no_error_is_taken_for_known(self):
        data = bytearray(self.file("other.etl") and open(os.path.join(self.folder, "other.etl"),
                                                         "rb").read())
        boot = data.index(struct.pack("<qq", etl.START - 1, etl.PERF_FREQUENCY))
        struct.pack_into("<q", data, boot, etl.START - 36_000_000_000)
        self.walk([self.whole, self.write("other.etl", bytes(data))], [], "two machines")

    def test_what_is_in_two_files_counts_once_and_is_said(self):
        snapshots = [self.write(f"snapshot{n}.etl", etl.trace([(0, records)], mode=0x400,
                                                              own=[etl.totals()]))
                     for n, records in enumerate((self.events, self.events[:3]))]
        for paths, repeated in ((snapshots, 3), ([self.whole, self.file("copy.etl")], 4)):
            def each_is_reported_alone(command, arguments, shown):
                return command in ("stat", "schema") and all(os.path.basename(path) in shown
                                                             for path in paths)
            each_is_reported_alone.__doc__ = (
                f"note: {repeated} events are in more than one of the files")
            self.walk(paths, [each_is_reported_alone], "overlapping")

    def test_files_of_other_machines_are_read_alone_and_beside_ours(self):
        wide = self.write("wide.etl", etl.trace([(63, self.events)], name="wide", processors=64))
        self.walk([wide], [], "more processors")
        self.walk([self.whole, wide], [], "more processors beside fewer")

    def test_files_of_windows_are_read_alone_and_beside_ours(self):
        sample = os.path.join(DATA, "tracelogging.etl")
        self.walk([sample], [], "Windows")
        self.walk([self.whole, sample], [], "Windows beside ours")

    def test_a_file_of_another_byte_order_is_refused_and_named(self):
        data = open(self.whole, "rb").read()
        words = len(data) // 4
        swapped = self.write("swapped.etl", struct.pack(f">{words}I",
                                                        *struct.unpack(f"<{words}I", data)))
        self.walk([swapped], [r"swapped\.etl"], "another byte order", expect=FAILED)



if __name__ == "__main__":
    sys.exit(main())
