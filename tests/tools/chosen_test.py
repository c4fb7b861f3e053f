# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Which events a command takes: --pid, --tid, --cpu, --process, --where, --class, --from and
--until mean the same in every command that has them.

usage: chosen_test.py PATH_OF_ETWAS TEST_CLASS
"""

import datetime
import itertools
import json
import os
import sys

import etl_build as etl
from tool_case import BLUE, FAILED, RED, ToolTest, main

NAMES = {100: b"shop", 200: b"bank"}
MS = 10_000  # ticks
SYSTEM_LOGGER = 0x02000000  # its file has events of the kernel, which name processes
ZONE = dict(os.environ, TZ="XXX-05:30")  # of POSIX: five and a half hours before UTC's clock


class Span:
    """Each of another processor and thread than the one before; every second of a process."""

    def __init__(self, number):
        self.number = number
        self.pid = 100 + 100 * (number % 2)
        self.process = NAMES[self.pid].decode()
        self.tid = self.pid + number % 3
        self.cpu = number % 3
        self.class_id = (RED, BLUE)[number % 2]
        self.start = etl.FIRST_STAMP + MS * (number + 1)
        self.end = self.start + MS // 10 * (number + 1)


SPANS = [Span(number) for number in range(6)]
# Options, and which spans they take: all events of one are of one process, thread and processor.
CHOICES = (
    (("--pid", "100"), lambda span: span.pid == 100),
    (("--pid", "100,200"), lambda span: True),
    (("-p", "0xC8"), lambda span: span.pid == 200),
    (("--tid", "101,202"), lambda span: span.tid in (101, 202)),
    (("--cpu", "1"), lambda span: span.cpu == 1),
    (("--cpu", "0,2", "--pid", "200"), lambda span: span.cpu != 1 and span.pid == 200),
    (("--process", "shop"), lambda span: span.pid == 100),
    (("--process", "bank,shop"), lambda span: True),
    (("--process", "bank", "--where", "cpu == 0"), lambda span: span.pid == 200 and span.cpu == 0),
    (("--where", "pid == 100 || tid == 201"), lambda span: span.pid == 100 or span.tid == 201),
)


class ChosenTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.path = self.make("a.etl", SPANS)

    def make(self, name, spans):
        records = [[etl.process_event(3, etl.FIRST_STAMP + 1 + pid, pid, program)
                    for pid, program in NAMES.items()], [], []]
        for span in spans:
            for stamp, kind in ((span.start, 1), (span.end, 2)):
                records[span.cpu].append(etl.instance(span.class_id, stamp, span.number + 1,
                                                      kind=kind, process=span.pid,
                                                      thread=span.tid))
        return self.write(name, etl.trace(list(enumerate(records)), processors=3,
                                          mode=SYSTEM_LOGGER, ended=etl.FIRST_STAMP + 100 * MS))

    def objects(self, *arguments, **options):
        out, _ = self.run_etwas(*arguments, self.path, **options)
        return [json.loads(line) for line in out.splitlines()]

    def numbers(self, *arguments, **options):
        """The numbers of the spans whose events are shown, each twice: its START and its END."""
        shown = [event["instance"] - 1 for event in self.objects("dump", "--json", *arguments,
                                                                 **options)
                 if event["event_class_id"] in (RED, BLUE)]
        self.assertEqual(shown, list(itertools.chain(*((n, n) for n in shown[::2]))))
        return shown[::2]


class Events(ChosenTest):
    def test_every_command_takes_the_same_events(self):
        for options, takes in CHOICES:
            chosen = [span for span in SPANS if takes(span)]
            counts = {guid: sum(span.class_id == guid for span in chosen) for guid in (RED, BLUE)}
            counts = {guid: count for guid, count in counts.items() if count > 0}
            with self.subTest(options=options):
                self.assertEqual(self.numbers(*options), [span.number for span in chosen])
                stat, = self.objects("stat", "--json", *options)
                events = {}
                for row in stat["by_event"]:
                    if row["event_class_id"] in (RED, BLUE):
                        events.setdefault(row["event_class_id"], []).append(row["events"])
                self.assertEqual(events, {guid: [n, n] for guid, n in counts.items()})
                spans, = self.objects("spans", "--json", *options)
                self.assertEqual({row["event_class_id"]: row["count"]
                                  for row in spans["classes"]}, counts)
                report, = self.objects("report", "--json", *options)
                self.assertEqual(report["selection"]["events"],
                                 2 * len(chosen) + self.kernel_events(options))
                why, = self.objects("why", "--json", *options)
                self.assertEqual({row["event_class_id"]: row["count"] for row in why["classes"]},
                                 counts)
                advice, = self.objects("advise", "--json", *options)
                self.assertEqual(advice["events"] - 2 * len(chosen),
                                 self.kernel_events(options))
                out, _ = self.run_etwas("convert", "--to", "ndjson", "-o", "-", *options, self.path)
                self.assertEqual(sum(json.loads(line)["event_class_id"] in (RED, BLUE)
                                     for line in out.splitlines()), 2 * len(chosen))

    def kernel_events(self, options):
        return sum(event["event_class_id"] not in (RED, BLUE)
                   for event in self.objects("dump", "--json", *options))

    def test_diff_compares_what_is_chosen_alone(self):
        slower = [Span(number) for number in range(6)]
        for span in slower:
            span.end += MS // 2 if span.pid == 200 else 0
        other = self.make("b.etl", slower)
        for options, guids in ((("--pid", "100"), {RED}), (("--process", "bank"), {BLUE}),
                               (("--where", "instance > 0"), {RED, BLUE})):
            out, _ = self.run_any("diff", "--json", *options, self.path, "--against", other)
            told = json.loads(out)
            self.assertEqual({row["event_class_id"] for row in told["classes"]}, guids, options)

    def test_what_nothing_is_of_is_said(self):
        for options in (("--pid", "4711"), ("--process", "bakery"), ("--cpu", "7"), ("--tid", "1")):
            for command in ("dump", "stat", "spans", "why", "advise"):
                _, error = self.run_etwas(command, *options, self.path)
                self.assertIn("note: no event is as chosen", error, (command, options))

    def test_what_is_no_list_of_numbers_is_refused(self):
        for name, text in itertools.product(("--pid", "--tid", "--cpu"),
                                            ("", "x", "1,", "1,,2", "-1", "4294967296", "1 2")):
            _, error = self.run_etwas("dump", f"{name}={text}", self.path, expect=FAILED)
            self.assertIn(f"'{text}'", error)

    def test_several_classes_may_be_asked_for(self):
        for text, guids in ((RED, {RED}), (f"{RED},{BLUE}", {RED, BLUE}), (BLUE, {BLUE})):
            for command in ("spans", "why"):
                told, = self.objects(command, "--json", "--class", text)
                self.assertEqual({row["event_class_id"] for row in told["classes"]}, guids)
        _, error = self.run_etwas("spans", "--class", f"{RED},Nobody", self.path)
        self.assertIn("no class is called 'Nobody'", error)


class Processes(ChosenTest):
    """Names of processes are in the file of the kernel's events alone."""

    KERNEL, PROGRAMS = "k.etl", "k.programs.etl"

    def write_kernel(self, name=KERNEL, told=((3, 0, 100, b"shop"), (3, 0, 200, b"bank")),
                     **options):
        events = [etl.process_event(kind, etl.FIRST_STAMP + 1 + ms * MS, pid, program)
                  for kind, ms, pid, program in told]
        return self.write(name, etl.trace([(0, events)], mode=SYSTEM_LOGGER, **options))

    def write_programs(self, name=PROGRAMS):
        """Of shop 2 ms after the beginning, and of bank 4 ms after it."""
        events = [etl.instance(RED, etl.FIRST_STAMP + 2 * MS, 1, process=100),
                  etl.instance(RED, etl.FIRST_STAMP + 4 * MS, 2, process=200)]
        return self.write(name, etl.trace([(0, events)]))

    def processes(self, *arguments):
        """Of each event of the programs, by its number."""
        out, _ = self.run_etwas("dump", "--json", *arguments)
        return {event["instance"]: event.get("process")
                for event in map(json.loads, out.splitlines())
                if event["event_class_id"] == RED}

    def test_files_of_a_call_name_the_processes_of_each_other(self):
        kernel, programs = self.write_kernel("a.etl"), self.write_programs("b.etl")
        self.assertEqual(self.processes(programs), {1: None, 2: None})
        for paths in ((kernel, programs), (programs, kernel)):
            self.assertEqual(self.processes(*paths), {1: "shop", 2: "bank"})
            self.assertEqual(self.processes("--process", "bank", *paths), {2: "bank"})
            out, _ = self.run_etwas("stat", "--json", "--process", "bank", *paths)
            self.assertEqual([row["events"] for told in map(json.loads, out.splitlines())
                              for row in told["by_event"] if row["event_class_id"] == RED], [1])
            for command in ("spans", "why", "report", "advise"):
                _, error = self.run_etwas(command, "--json", "--process", "bank", *paths)
                self.assertNotIn("no event is", error, command)
        _, error = self.run_any("diff", "--process", "bank", programs, "--against", kernel)
        self.assertNotIn("no event is", error)

    def test_the_file_that_record_wrote_beside_names_the_processes(self):
        programs = self.write_programs()
        self.assertEqual(self.processes(programs), {1: None, 2: None})
        self.write_kernel()
        self.assertEqual(self.processes(programs), {1: "shop", 2: "bank"})
        self.assertEqual(self.processes("--process", "shop", programs), {1: "shop"})
        _, error = self.run_etwas("dump", "--process", "shpo", programs)
        self.assertIn("'etwas dump --columns pid,process' shows the names of processes", error)

    def test_names_are_of_one_boot_of_one_machine(self):
        programs = self.write_programs()
        self.write_kernel(booted=etl.START - 20_000_002)  # two seconds earlier
        self.assertEqual(self.processes(programs), {1: None, 2: None})

    def test_an_id_that_was_given_again_is_another_process(self):
        programs = self.write_programs()
        self.write_kernel(told=((3, 0, 100, b"old"), (2, 1, 100, b"old"), (1, 3, 100, b"new"),
                                (3, 0, 200, b"bank"), (2, 1, 200, b"bank"), (1, 3, 200, b"till")))
        self.assertEqual(self.processes(programs), {1: None, 2: "till"})
        # What another file tells last before the event counts.
        before = self.write_kernel("l.etl", told=((1, 2, 200, b"earlier"),))
        self.assertEqual(self.processes(programs, before), {1: None, 2: "till"})

    def test_where_no_process_has_a_name_the_cure_is_said(self):
        programs = self.write_programs()
        for command in ("dump", "stat", "spans", "why", "advise"):
            _, error = self.run_etwas(command, "--process", "shop", programs)
            self.assertIn("no process in the traces has a name: record with --kernel process",
                          error, command)
        self.write_kernel()
        _, error = self.run_etwas("dump", "--process", "bakery", programs)
        self.assertNotIn("has a name", error)


class Times(ChosenTest):
    def test_times_of_the_zone_say_their_offset_and_are_the_same_moments(self):
        utc = [event["time"] for event in self.objects("dump", "--json")]
        local = [event["time"] for event in self.objects("dump", "--json", "--times", "local",
                                                         env=ZONE)]
        self.assertTrue(all(text.endswith("+05:30") for text in local), local)

        def moment(text):
            return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")[:26]
                                                   + text.replace("Z", "+00:00")[-6:])
        self.assertEqual([moment(text) for text in local], [moment(text) for text in utc])
        self.assertEqual([text[20:29] for text in local], [text[20:29] for text in utc])

    def test_commands_without_the_option_say_why_and_what_has_it(self):
        for command in ("stat", "spans", "why", "report", "tail"):
            _, error = self.run_etwas(command, "--times", "local", self.path, expect=FAILED)
            self.assertIn(f"etwas {command}: --times: its times are UTC, as --from takes them; "
                          "'etwas dump --times local'", error)
        self.assertIn("Commands show times in UTC", self.run_etwas("help", "times")[0])

    def test_times_since_the_first_event(self):
        events = self.objects("dump", "--json", "--times", "relative")
        self.assertEqual(events[0]["since_start"], 0)
        first = etl.FIRST_STAMP + 101  # of the first process
        self.assertEqual([event["since_start"] for event in events
                          if event["event_class_id"] in (RED, BLUE)],
                         sorted(100 * (stamp - first) for span in SPANS
                                for stamp in (span.start, span.end)))
        out, _ = self.run_etwas("dump", "--times", "relative", "--columns", "time", self.path)
        self.assertEqual(out.splitlines()[0], "# since_start")

    def test_ends_of_a_window_in_every_form(self):
        # The third span begins 3 ms after midnight.
        for text, environment in (
                ("2026-01-01T00:00:00.003Z", None), ("2026-01-01T00:00:00.003", None),
                ("2026-01-01T05:30:00.003+05:30", None), ("2025-12-31T23:00:00.003-01:00", None),
                ("2026-01-01 00:00:00.003", None), ("00:00:00.003", None), ("00:00:00.003", ZONE),
                ("+2.9899ms", None)):
            with self.subTest(text=text):
                options = {"env": environment} if environment else {}
                self.assertEqual(self.numbers("--from", text, **options), [2, 3, 4, 5])
        for text in ("2026-01-01T05:30:00.003", "05:30:00.003"):
            self.assertEqual(self.numbers("--times", "local", "--from", text, env=ZONE),
                             [2, 3, 4, 5], text)
        self.assertEqual(self.numbers("--until", "00:00:00.0029"), [0, 1])
        self.assertEqual(self.numbers("--from", "00:00:00.002", "--until", "00:00:00.0039"), [1, 2])

    def test_what_is_no_time_is_refused(self):
        for text in ("25:00", "00:61", "00:00:00.003+25:00", "2026-13-01", "yesterday", "3", ""):
            _, error = self.run_etwas("dump", f"--from={text}", self.path, expect=FAILED)
            self.assertIn("--from", error)


if __name__ == "__main__":
    sys.exit(main())
