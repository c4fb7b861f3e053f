# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The command `etwas` as a user meets it.

usage: tool_test.py PATH_OF_ETWAS TEST_CLASS
"""

import json
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import uuid

import etl_build as etl

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(os.environ.get("ETWAS_SHARED_DIR", "/nonexistent"), "etl-samples")
ETWAS = ""

FINE, USAGE, OPEN, DAMAGED, OUTPUT = range(5)
RED, BLUE = "11111111-2222-3333-4444-555555555555", "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
TITLE = "# time cpu process thread class type level instance parent payload"
NO_GUID = str(uuid.UUID(int=0))


class ToolTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def run_etwas(self, *arguments, expect=FINE, **options):
        options.setdefault("stdout", subprocess.PIPE)
        result = subprocess.run([ETWAS, *arguments], stderr=subprocess.PIPE, check=False,
                                timeout=100, **options)
        self.assertEqual(result.returncode, expect, result.stderr.decode())
        out = (result.stdout or b"").decode("utf-8")  # whatever the file held, this is UTF-8
        return out, result.stderr.decode("utf-8")

    def dump(self, *arguments, expect=FINE):
        """The lines of a dump in columns, not decoded, without the title and the header event."""
        out, _ = self.run_etwas("dump", "--hex", *arguments, expect=expect)
        lines = out.splitlines()
        self.assertEqual(lines[0], TITLE)
        self.assertIn(" EventTrace/Header 0 0 - - ", lines[1])
        return lines[2:]

    def dump_json(self, *arguments, expect=FINE):
        """Likewise with --json."""
        out, _ = self.run_etwas("dump", "--hex", "--json", *arguments, expect=expect)
        events = [json.loads(line) for line in out.splitlines()]
        return [e for e in events if e.get("name") != "EventTrace/Header"]

    def stat_json(self, *arguments, expect=FINE):
        out, _ = self.run_etwas("stat", "--json", *arguments, expect=expect)
        return [json.loads(line) for line in out.splitlines()]


class Usage(ToolTest):
    def test_help_is_on_standard_output_and_documents_every_exit_code(self):
        out, error = self.run_etwas("--help")
        for code in range(5):
            self.assertRegex(out, rf"(?m)^  {code}  \S")
        self.assertEqual(error, "")
        self.assertEqual(self.run_etwas("help"), (out, ""))

    def test_each_command_has_help_that_names_its_options(self):
        for command, options in (("dump", ("--json", "--csv", "--hex", "--columns", "--where", "--clock",
                                            "--raw", "--limit")),
                                 ("stat", ("--json", "--where")), ("schema", ("--json",))):
            out, error = self.run_etwas(command, "--help")
            self.assertTrue(out.startswith(f"usage: etwas {command}"))
            self.assertEqual(error, "")
            for option in options:
                self.assertIn(option, out)

    def test_help_fits_a_terminal_of_80_columns(self):
        for arguments in (["--help"], ["dump", "--help"], ["stat", "--help"], ["schema", "--help"]):
            out, _ = self.run_etwas(*arguments)
            self.assertLessEqual(max(len(line) for line in out.splitlines()), 80)

    def test_every_json_key_is_in_the_help(self):
        events = [etl.instance(RED, 1_000_001, 1), etl.self_describing(BLUE, 1_000_002, b"P", b"E"),
                  etl.message(7, 0x05, struct.pack("<II", 1, 2))]
        path = self.write("a.etl", etl.trace([(0, events)]))
        dump_help, _ = self.run_etwas("dump", "--help")
        out, _ = self.run_etwas("dump", "--json", "--where", "1 == 1 || duration", path)
        for event in [*self.dump_json(path), *map(json.loads, out.splitlines())]:
            for key in event:
                self.assertIn(key, dump_help)
        stat_help, _ = self.run_etwas("stat", "--help")
        for key in self.stat_json(path)[0]:
            self.assertIn(key, stat_help)

    def test_the_version_is_printed(self):
        out, _ = self.run_etwas("--version")
        self.assertRegex(out, r"\Aetwas \d+\.\d+\.\d+\n\Z")

    def test_a_wrong_call_is_told_and_points_to_the_help(self):
        path = self.write("a.etl", etl.trace([]))
        for arguments, word in (([], "which command"), (["frobnicate", path], "frobnicate"),
                                (["dump"], "which file"), (["stat"], "which file"),
                                (["dump", "--frob", path], "frob"),
                                (["stat", "--raw", path], "raw"), (["dump", "--clock"], "clock"),
                                (["dump", "--clock", "tsc", path], "'tsc'"), (["dump", "--limit"], "limit"),
                                (["dump", "--limit", "x", path], "'x'"),
                                (["dump", "--limit", "-1", path], "'-1'"),
                                (["dump", "--limit", "1x", path], "'1x'"),
                                (["dump", "--limit", "9" * 30, path], "999"),
                                (["dump"] + [path] * 65, "at most 64")):
            with self.subTest(arguments=arguments[:3]):
                out, error = self.run_etwas(*arguments, expect=USAGE)
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
                    out, error = self.run_etwas(command, path, expect=OPEN)
                    self.assertEqual(out, "")
                    self.assertIn(path, error)

    def test_a_folder_and_a_pipe_are_refused_without_waiting(self):
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        for path, word in ((self.folder, "a folder"), (pipe, "a readable file")):
            _, error = self.run_etwas("stat", path, expect=OPEN)
            self.assertIn(path, error)
            self.assertIn(word, error)

    def test_the_other_files_are_shown_when_one_cannot_be_opened(self):
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, 1_000_001)])]))
        missing = os.path.join(self.folder, "missing.etl")
        out, error = self.run_etwas("dump", missing, path, expect=OPEN)
        self.assertIn(RED, out)
        self.assertIn("no such file", error)
        out, _ = self.run_etwas("stat", missing, path, expect=OPEN)
        self.assertIn(RED, out)

    def test_a_file_that_cannot_be_opened_weighs_more_than_a_damaged_one(self):
        damaged = self.write("a.etl", etl.trace([(0, [etl.classic(RED, 1_000_001)])])[:-100])
        missing = os.path.join(self.folder, "missing.etl")
        for command in ("dump", "stat"):
            self.run_etwas(command, damaged, expect=DAMAGED)
            self.run_etwas(command, damaged, missing, expect=OPEN)
            self.run_etwas(command, missing, damaged, expect=OPEN)

    def test_an_odd_file_name_cannot_steer_the_terminal(self):
        path = self.write("a\x1b[2J\n\udcff.etl", etl.trace([(0, [])]))
        out, _ = self.run_etwas("stat", path)
        self.assertTrue(out.splitlines()[0].endswith(r"a\x1b[2J\x0a\xff.etl"))
        self.assertTrue(self.stat_json(path)[0]["file"].endswith("a\x1b[2J\n\ufffd.etl"))
        _, error = self.run_etwas("stat", path + "x", expect=OPEN)
        self.assertNotIn("\x1b", error)

    def test_output_that_cannot_be_written_is_told(self):
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, 1_000_001)])]))
        for arguments in (["dump", path], ["dump", "--json", path], ["stat", path], ["--help"],
                          ["--version"]):
            with open("/dev/full", "wb") as full:
                _, error = self.run_etwas(*arguments, expect=OUTPUT, stdout=full)
            self.assertIn("cannot write", error)

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


class Dump(ToolTest):
    def test_an_event_is_a_line_of_ten_columns(self):
        events = [etl.classic(RED, 1_000_001, kind=7, level=2, process=123, thread=456,
                              payload=b"\x01\xab\xff")]
        path = self.write("a.etl", etl.trace([(3, events)]))
        self.assertEqual([line.split() for line in self.dump(path)],
                         [["2026-01-01T00:00:00.0000001Z", "3", "123", "456", RED, "7", "2", "-",
                           "-", "01abff"]])

    def test_an_instance_event_shows_its_number_and_its_parent(self):
        events = [etl.instance(RED, 1_000_001, 5),
                  etl.instance(BLUE, 11_000_000, 4294967295, 5, RED, payload=b"x" * 9)]
        path = self.write("a.etl", etl.trace([(0, events)]))
        first, second = (line.split() for line in self.dump(path))
        self.assertEqual(first[7:], ["5", "-", "-"])
        self.assertEqual(second[0], "2026-01-01T00:00:01.0000000Z")
        self.assertEqual(second[7:], ["4294967295", f"5@{RED}", "78" * 9])
        first, second = self.dump_json(path)
        self.assertEqual(first, {
            "time": "2026-01-01T00:00:00.0000001Z", "processor": 0, "process": 10, "thread": 11,
            "class": RED, "type": 1, "level": 4, "version": 0, "instance": 5,
            "parent_instance": 0, "parent_class": NO_GUID, "payload": ""})
        self.assertEqual((second["parent_instance"], second["parent_class"]), (5, RED))

    def test_a_manifest_event_shows_id_and_opcode_and_unknown_ids_as_such(self):
        path = self.write("a.etl", etl.trace([(0, [etl.described(BLUE, 1_000_001, 65535, 200)])]))
        self.assertEqual(self.dump(path)[0].split()[2:],
                         ["-", "-", BLUE, "#65535/200", "2", "-", "-", "-"])
        self.assertEqual(self.dump_json(path)[0], {
            "time": "2026-01-01T00:00:00.0000001Z", "processor": 0, "process": None,
            "thread": None, "class": BLUE, "type": 200, "level": 2, "version": 1, "id": 65535,
            "channel": 16, "task": 7, "keyword": "0x20", "payload": ""})

    def test_a_message_shows_its_number_and_what_its_flags_say(self):
        stamp = struct.pack("<q", 1_000_001)
        class_guid = uuid.UUID(RED).bytes_le
        events = [etl.message(7, 0xAB, struct.pack("<I", 41) + class_guid + stamp +
                              struct.pack("<II", 11, 10), b"\x01\xff"),
                  etl.message(65535, 0x4C, struct.pack("<I", 5) + stamp), etl.message(0, 0)]
        path = self.write("a.etl", etl.trace([(3, events)]))
        time = "2026-01-01T00:00:00.0000001Z"
        self.assertEqual([line.split() for line in self.dump(path)], [
            [time, "3", "10", "11", RED, "message:7", "-", "41", "-", "01ff"],
            [time, "3", "-", "-", "component:5", "message:65535", "-", "-", "-", "-"],
            [time, "3", "-", "-", "-", "message:0", "-", "-", "-", "-"]])
        common = {"time": time, "processor": 3, "type": 0, "level": 0, "version": 0}
        self.assertEqual(self.dump_json(path), [
            {**common, "process": 10, "thread": 11, "class": RED, "message": 7, "sequence": 41,
             "payload": "01ff"},
            {**common, "process": None, "thread": None, "class": None, "message": 65535,
             "component": 5, "payload": ""},
            {**common, "process": None, "thread": None, "class": None, "message": 0,
             "payload": ""}])

    def test_names_from_the_file_cannot_break_a_line_or_the_terminal(self):
        evil = b"a b\n\x1b[31m\"\\\xff\xe2\x80\xae\xc3\xa9"
        events = [etl.self_describing(RED, 1_000_001, evil, b"E", payload=b"\x2a")]
        path = self.write("a.etl", etl.trace([(0, events)]))
        line, = self.dump(path)
        self.assertEqual(line.split()[4:], [r'a\x20b\x0a\x1b[31m"\\xff\u{202e}é/E', "#0/0", "5",
                                            "-", "-", "2a"])
        event, = self.dump_json(path)
        self.assertEqual(event["name"], 'a b\n\x1b[31m"\\\ufffd\u202eé/E')
        self.assertEqual(event["keyword"], "0x8000000000000000")
        self.assertEqual([item["type"] for item in event["extended"]], [12, 11])
        self.assertIn(evil.hex(), event["extended"][0]["data"])

    def test_a_schema_or_traits_without_a_proper_name_is_no_name(self):
        data = bytearray(etl.self_describing(RED, 1_000_001, b"P", b"E"))
        traits = data.index(b"P\0")
        schema = data.index(b"E\0")
        data[traits - 2:traits + 2] = b"\x04\x00\x00\x00"  # an empty provider name
        data[schema - 3:schema + 2] = b"\x05\x00\x80\x80\x80"  # tag bytes without an end
        path = self.write("a.etl", etl.trace([(0, [bytes(data)])]))
        self.assertEqual(self.dump(path)[0].split()[4], RED)
        self.assertNotIn("name", self.dump_json(path)[0])

    def test_well_known_classes_are_shown_by_name(self):
        events = [etl.classic("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c", 1_000_001, kind=36)]
        path = self.write("a.etl", etl.trace([(0, events)]))
        self.assertEqual(self.dump(path)[0].split()[4:6], ["Thread", "36"])
        self.assertEqual(self.dump_json(path)[0]["name"], "Thread")

    def test_raw_shows_time_as_recorded(self):
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, 7_654_321)])]))
        out, _ = self.run_etwas("dump", "--hex", "--raw", path)
        self.assertEqual([line.split()[0] for line in out.splitlines()[1:]],
                         [str(etl.FIRST_STAMP), "7654321"])
        self.assertEqual(self.dump_json("--raw", path)[0]["raw_time"], 7_654_321)

    def test_an_event_is_shown_by_each_clock_with_its_error(self):
        # QPC in ns, begun at 1,000,000; the wall clock is set forward by an hour after 2 s.
        second = 1_000_000_000
        knots = [etl.knot(1_000_000 + n * second, 1_000_000 + n * second,
                          etl.START + n * 10_000_000 + (36_000_000_000 if n > 2 else 0),
                          errors_ns=(0, 100)) for n in range(6)]
        events = [etl.classic(RED, 1_000_000 + 500_000_000), etl.classic(RED, 1_000_000 + 4_000_000_000)]
        path = self.write("a.etl", etl.trace([(0, events)], frequency=second, own=knots))
        raw, qpc, system = ([e for e in map(json.loads, self.run_etwas(
            "dump", "-xj", f"--clock={clock}", path)[0].splitlines()) if e["class"] == RED]
            for clock in ("raw", "qpc", "system"))
        self.assertEqual([e["raw_time"] for e in raw], [501_000_000, 4_001_000_000])
        self.assertEqual([(e["qpc_ns"], e["error_ns"]) for e in qpc], [(501_000_000, 0), (4_001_000_000, 0)])
        self.assertEqual([e["system_time"] for e in system],
                         ["2026-01-01T00:00:00.5000000Z", "2026-01-01T01:00:04.0000000Z"])
        self.assertEqual([e["time"] for e in self.dump_json(path)],
                         ["2026-01-01T00:00:00.5000000Z", "2026-01-01T00:00:04.0000000Z"])
        for event in system:
            self.assertTrue(100 <= event["error_ns"] <= 1000)
        lines = self.run_etwas("dump", "-x", "--clock", "system", path)[0].splitlines()
        self.assertEqual(lines[0], TITLE.replace("time", "system_time error_ns"))
        self.assertEqual(lines[3].split()[:2], ["2026-01-01T01:00:04.0000000Z", str(system[1]["error_ns"])])
        lines = self.run_etwas("dump", "-x", "--clock", "qpc", path)[0].splitlines()
        self.assertEqual(lines[0], TITLE.replace("time", "qpc_ns error_ns"))
        self.assertEqual(lines[2].split()[:2], ["501000000", "0"])
        self.assertEqual(self.run_etwas("dump", "--clock=raw", path), self.run_etwas("dump", "-r", path))

    def test_an_error_that_the_file_does_not_say_is_shown_as_unknown(self):
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, 11_000_000)])]))
        event, = self.dump_json("--clock=system", path)
        self.assertEqual((event["system_time"], event["error_ns"]), ("2026-01-01T00:00:01.0000000Z", None))
        out, _ = self.run_etwas("dump", "-x", "--clock=system", path)
        self.assertEqual(out.splitlines()[2].split()[1], "-")
        # Of the performance counter itself the header is exact.
        event, = self.dump_json("--clock=qpc", path)
        self.assertEqual((event["qpc_ns"], event["error_ns"]), (1_100_000_000, 0))

    def test_a_limit_shows_exactly_that_many(self):
        events = [etl.classic(RED, 1_000_001 + i) for i in range(100)]
        path = self.write("a.etl", etl.trace([(0, events), (1, events)]))
        for limit, shown in ((0, 0), (1, 1), (150, 150), (201, 201), (1000, 201)):
            out, _ = self.run_etwas("dump", "-j", "-n", str(limit), path)
            self.assertEqual(len(out.splitlines()), shown)

    def test_several_files_come_in_one_time_order(self):
        paths = [self.write(name, etl.trace([(0, [etl.classic(guid, 1_000_000 + t)
                                                  for t in times])]))
                 for name, guid, times in (("a", RED, (1, 4, 5)), ("b", BLUE, (2, 3, 6)))]
        events = self.dump_json(*paths)
        self.assertEqual([e["file"] for e in events], [1, 2, 2, 1, 1, 2])
        self.assertEqual([e["class"] == RED for e in events], [e["file"] == 1 for e in events])
        out, _ = self.run_etwas("dump", "--hex", *paths)
        lines = out.splitlines()
        self.assertEqual(lines[:2], [f"# file {i + 1}: {p}" for i, p in enumerate(paths)])
        self.assertEqual(lines[2], TITLE.replace("# ", "# file "))
        self.assertEqual([line.split()[0] for line in lines[5:]], list("122112"))

    def test_times_that_are_no_dates_are_shown_as_numbers(self):
        far = (1 << 62) + 1_000_000
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, far)])]))
        time, = (line.split()[0] for line in self.dump(path))
        self.assertEqual(time, f"@{etl.START + (1 << 62)}")

    def test_loss_is_told_on_standard_error_and_is_no_damage(self):
        path = self.write("a.etl", etl.trace([(0, [])], events_lost=7, buffers_lost=2))
        _, error = self.run_etwas("dump", path)
        self.assertIn("7 events and 2 buffers were lost", error)


class Stat(ToolTest):
    def test_counts_are_by_processor_and_by_class_most_frequent_first(self):
        path = self.write("a.etl", etl.trace([
            (2, [etl.classic(RED, 1_000_001 + i, kind=9, payload=bytes(4)) for i in range(3)]),
            (0, [etl.instance(BLUE, 1_000_001 + i, i + 1, payload=bytes(10)) for i in range(5)]),
            (2, [etl.described(RED, 1_000_100, 9, 0), etl.classic(RED, 11_000_000, kind=8)]),
        ]))
        stat, = self.stat_json(path)
        self.assertEqual((stat["events"], stat["payload_bytes"], stat["header_events"]), (10, 62, 1))
        self.assertEqual(stat["processors"], [
            {"processor": 0, "events": 5, "payload_bytes": 50},
            {"processor": 2, "events": 5, "payload_bytes": 12}])
        self.assertEqual(stat["classes"][:2], [
            {"class": BLUE, "type": 1, "events": 5, "payload_bytes": 50},
            {"class": RED, "type": 9, "events": 3, "payload_bytes": 12}])
        self.assertCountEqual(stat["classes"][2:], [
            {"class": RED, "type": 8, "events": 1, "payload_bytes": 0},
            {"class": RED, "type": 0, "id": 9, "events": 1, "payload_bytes": 0}])
        self.assertEqual((stat["first_event"], stat["last_event"]),
                         ("2026-01-01T00:00:00.0000001Z", "2026-01-01T00:00:01.0000000Z"))
        self.assertEqual((stat["duration_s"], stat["events_per_second"]), (2.0, 5.0))

    def test_the_session_is_described(self):
        path = self.write("a.etl", etl.trace([(0, [])], name="séance"))
        stat, = self.stat_json(path)
        self.assertEqual(
            {key: stat[key] for key in ("session", "log_file", "mode_names", "buffers",
                                        "buffers_written", "buffer_bytes", "clock",
                                        "clock_frequency", "computer_processors", "started",
                                        "ended", "file_bytes", "damaged", "unfinished")},
            {"session": "séance", "log_file": "x.etl", "mode_names": ["sequential"], "buffers": 2,
             "buffers_written": 2, "buffer_bytes": etl.BUFFER_BYTES,
             "clock": "performance counter", "clock_frequency": etl.PERF_FREQUENCY,
             "computer_processors": 4, "started": "2026-01-01T00:00:00.0000000Z",
             "ended": "2026-01-01T00:00:02.0000000Z", "file_bytes": 2 * etl.BUFFER_BYTES,
             "damaged": False, "unfinished": False})
        out, _ = self.run_etwas("stat", path)
        for text in ("séance", "performance counter, 10,000,000 ticks a second", "2.0000000 s"):
            self.assertIn(text, out)

    def test_damage_and_loss_come_first(self):
        path = self.write("a.etl", etl.trace([(0, [])]))
        out, _ = self.run_etwas("stat", path)
        self.assertEqual([line.split(None, 1) for line in out.splitlines()[1:3]],
                         [["damage", "none"], ["lost", "no events, no buffers"]])
        path = self.write("b.etl", etl.trace([(0, [etl.classic(RED, 1_000_001)])], events_lost=1,
                                             finished=False)[:-8])
        out, _ = self.run_etwas("stat", path, expect=DAMAGED)
        words = [line.split()[0] for line in out.splitlines()[1:] if line]
        self.assertEqual([w for w in words if w.isupper()], ["DAMAGED", "LOST", "UNFINISHED"])
        self.assertLess(words.index("UNFINISHED"), words.index("session"))

    def test_an_unfinished_session_is_told_and_is_no_damage(self):
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, 6_000_000)])], finished=False))
        stat, = self.stat_json(path)
        self.assertEqual((stat["unfinished"], stat["ended"], stat["damaged"]), (True, None, False))
        self.assertEqual((stat["duration_s"], stat["events_per_second"]), (0.5, 2.0))

    def test_rates_of_what_came_last_are_counted_from_its_first_event(self):
        events = [(0, [etl.classic(RED, stamp) for stamp in (11_000_000, 16_000_000)])]
        for options in ({"mode": 0x400}, {"own": [etl.totals(2)]},
                        {"mode": 2, "own": [etl.totals(overwritten_buffers=3)]}):
            path = self.write("a.etl", etl.trace(events, **options))
            stat, = self.stat_json(path)
            self.assertEqual((stat["duration_s"], stat["events_per_second"]), (1.0, 2.0), options)
            out, _ = self.run_etwas("stat", path)
            self.assertIn("1.0000000 s, from the first event\n", out)
        for options in ({"mode": 2}, {"own": [etl.totals(1)]}):
            stat, = self.stat_json(self.write("a.etl", etl.trace(events, **options)))
            self.assertEqual(stat["duration_s"], 2.0, options)

    def test_the_stream_beside_the_processors_is_no_processor(self):
        events = [(processor, [etl.classic(RED, 2_000_000)]) for processor in range(3)]
        for noted, processors in ((2, 2), (0, 3), (3, 3), (9, 3)):
            path = self.write("a.etl", etl.trace(events, processors=3,
                                                 own=[etl.clock_record(processors=noted)]))
            stat, = self.stat_json(path)
            self.assertEqual(stat["computer_processors"], processors)
            self.assertEqual([p["processor"] for p in stat["processors"]],
                             [0, 1, None if noted == 2 else 2])
            out, _ = self.run_etwas("stat", path)
            self.assertIn(f"{processors} processors at", out)
            self.assertEqual("  none: threads without restartable sequences\n" in out, noted == 2)

    def test_a_hostile_session_name_is_shown_harmless(self):
        path = self.write("a.etl", etl.trace([], name='\x1b]0;x\x07"\udc00\U0001F600'))
        out, _ = self.run_etwas("stat", path)
        self.assertIn(r'\x1b]0;x\x07"\u{dc00}' + "\U0001F600", out)
        self.assertEqual(self.stat_json(path)[0]["session"], '\x1b]0;x\x07"\ufffd\U0001F600')

    def test_more_kinds_of_events_than_are_told_apart_are_still_counted(self):
        kinds = [str(uuid.UUID(int=i + 1)) for i in range(70_000)]
        per_buffer = [(0, [etl.classic(guid, 1_000_001) for guid in kinds[at:at + 150]])
                      for at in range(0, len(kinds), 150)]
        path = self.write("a.etl", etl.trace(per_buffer))
        stat, = self.stat_json(path)
        self.assertEqual(stat["events"], 70_000)
        self.assertEqual((len(stat["classes"]), stat["other_class_events"]), (65_536, 4_464))
        out, _ = self.run_etwas("stat", path)
        self.assertIn("more kinds than can be told apart", out)

    def test_each_file_is_shown_by_itself(self):
        first = self.write("a", etl.trace([(0, [etl.classic(RED, 1_000_001)])]))
        second = self.write("b", etl.trace([(1, [etl.classic(BLUE, 1_000_001)] * 2)]))
        self.assertEqual([(s["file"], s["events"]) for s in self.stat_json(first, second)],
                         [(first, 1), (second, 2)])
        out, _ = self.run_etwas("stat", first, second)
        self.assertIn(f"\n\n{second}\n", out)


class Modes(ToolTest):
    def part(self, name, part, events=1, start=etl.START, session="session"):
        data = bytearray(etl.trace([(0, [etl.classic(RED, 1_000_000 + 10 * part + i, kind=part)
                                         for i in range(events)])], mode=8, name=session,
                                   own=[etl.totals(part)]))
        struct.pack_into("<q", data, 104 + 264, start)
        return self.write(name, bytes(data))

    def test_overwritten_is_told_apart_from_lost_and_is_nothing_wrong(self):
        path = self.write("a.etl", etl.trace(
            [(0, [etl.classic(RED, 1_000_001)])], mode=2, events_lost=0xFFFFFFFF,
            own=[etl.totals(0, 1 << 40, 77, 1 << 33, 5)]))
        stat, = self.stat_json(path)
        self.assertEqual([stat[key] for key in ("overwritten_events", "overwritten_buffers",
                                                "events_lost", "buffers_lost", "events")],
                         [1 << 40, 77, 1 << 33, 5, 1])
        out, error = self.run_etwas("stat", path)
        lines = [line.split(None, 1) for line in out.splitlines()[1:4]]
        self.assertEqual([words[0] for words in lines], ["damage", "LOST", "overwritten"])
        self.assertTrue(lines[1][1].startswith("8,589,934,592 events and 5 buffers"))
        self.assertTrue(lines[2][1].startswith("1,099,511,627,776 events and 77 buffers"))
        self.assertEqual(error, "")
        _, error = self.run_etwas("dump", path)
        self.assertIn("8589934592 events and 5 buffers were lost", error)
        self.assertNotIn("overwritten", error)

    def test_a_file_that_keeps_no_totals_overwrote_nothing(self):
        path = self.write("a.etl", etl.trace([(0, [])], mode=2))
        stat, = self.stat_json(path)
        self.assertEqual((stat["overwritten_events"], stat["part"], stat["parts_missing"]), (0, 0, []))
        self.assertNotIn("overwritten", self.run_etwas("stat", path)[0])

    def test_parts_in_any_order_are_dumped_in_one_order(self):
        paths = [self.part(f"{part}.etl", part, events=3) for part in (2, 3, 1)]
        out, _ = self.run_etwas("dump", "--json", *paths)
        events = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([e["type"] for e in events if e["class"] == RED], [1] * 3 + [2] * 3 + [3] * 3)
        self.assertEqual([s["part"] for s in self.stat_json(*paths)], [2, 3, 1])

    def test_missing_parts_of_a_set_are_named(self):
        paths = [self.part(f"{part}.etl", part) for part in (9, 2, 4)]
        other = self.part("other.etl", 1, start=etl.START + 5)
        another = self.part("another.etl", 7, session="another")
        plain = self.write("plain.etl", etl.trace([(0, [])]))
        stats = self.stat_json(*paths, other, another, plain)
        self.assertEqual([s["parts_missing"] for s in stats],
                         [[[1, 1], [3, 3], [5, 8]]] * 3 + [[]] * 3)
        out, _ = self.run_etwas("stat", *paths, other)
        self.assertEqual(out.count("PARTS MISSING 1, 3, 5 to 8 of the new-file set"), 3)
        self.assertIn("9 of a new-file set", out)

    def test_parts_with_hostile_numbers_are_counted_in_runs(self):
        paths = [self.part(f"{part}.etl", part & 0xFF) for part in (3, 200)]
        data = bytearray(open(paths[1], "rb").read())
        at = data.index(struct.pack("<II", 1, 200))
        struct.pack_into("<I", data, at + 4, 0xFFFFFFFF)
        paths[1] = self.write("huge.etl", bytes(data))
        missing = [[1, 2], [4, 0xFFFFFFFE]]
        self.assertEqual([s["parts_missing"] for s in self.stat_json(*paths)], [missing] * 2)
        self.assertEqual([s["parts_missing"] for s in self.stat_json(paths[1])], [[]])

    def test_a_session_without_buffers_per_processor_shows_no_processor(self):
        path = self.write("a.etl", etl.trace([(0x0800, [etl.classic(RED, 1_000_001)])], flags=0,
                                             mode=0x10000000))
        event, = self.dump_json(path)
        self.assertIsNone(event["processor"])
        self.assertEqual(self.dump(path)[0].split()[1], "-")
        stat, = self.stat_json(path)
        self.assertEqual(stat["processors"], [{"processor": None, "events": 1, "payload_bytes": 0}])
        out, _ = self.run_etwas("stat", path)
        self.assertRegex(out, r"(?m)^ +1 +[0-9.]+ +0 B +-$")

    def test_processor_times_are_shown_in_milliseconds_where_there_are_any(self):
        events = [etl.classic(RED, 1_000_001, times=(3, 4)), etl.classic(RED, 1_000_002)]
        for mode, wanted in ((1, {"kernel_ms": 1.5, "user_ms": 2.0}),
                             (0x800, {"processor_ms": ((4 << 32) + 3) / 2})):
            path = self.write("a.etl", etl.trace([(0, events)], mode=mode, tick=5000))
            first, second = self.dump_json(path)
            self.assertEqual({key: first[key] for key in first if key.endswith("_ms")}, wanted)
            self.assertFalse([key for key in second if key.endswith("_ms")])
        dump_help, _ = self.run_etwas("dump", "--help")
        for key in ("kernel_ms", "user_ms", "processor_ms"):
            self.assertIn(key, dump_help)

    def test_a_file_that_goes_on_behind_its_count_is_unfinished(self):
        data = etl.trace([(0, [etl.classic(RED, 1_000_001 + i)]) for i in range(4)], mode=4)
        path = self.write("a.etl", data)
        self.assertFalse(self.stat_json(path)[0]["unfinished"])
        data = bytearray(data)
        struct.pack_into("<I", data, 104 + 36, 3)
        path = self.write("a.etl", bytes(data))
        stat, = self.stat_json(path)
        self.assertEqual((stat["unfinished"], stat["events"], stat["damaged"]), (True, 4, False))


class Clocks(ToolTest):
    """What `etwas stat` says of a file's clocks."""

    def counter_file(self, **noted):
        """31 s of a TSC 500 ppm faster than calibrated; set back by 90 s; half a minute of sleep."""
        knots = [etl.knot(1_000_000 + n * 3_001_500_000, 7_000_000 + n * 1_000_000_000,
                          etl.START + n * 10_000_050 - (900_000_000 if n > 10 else 0)
                          + (300_000_000 if n > 20 else 0), 30_000_000_000 if n > 20 else 0)
                 for n in range(31)]
        calibration = etl.classic(etl.OWN_CLASS, etl.FIRST_STAMP, kind=0, level=0,
                                  payload=struct.pack("<IIQQqqq", 1, 3, 3, 1, 1_000_000, 0, 0))
        noted = {"requested": 3, "got": 3, "verdict": 1, "reasons": 0x40000101, "stated_by": 3,
                 "stated_hz": 3_001_000_000, "hypervisor": b"KVM\x1bKVM", **noted}
        return self.write("a.etl", etl.trace([(0, [])], clock=3, own=[
            calibration, etl.totals(), etl.clock_record(**noted), *knots]))

    def test_the_verdict_and_the_drift_as_recorded_are_told(self):
        out, _ = self.run_etwas("stat", self.counter_file())
        for line in (
                r"cycle counter doubtful", r"              \+ It runs at one rate in all power states",
                r"              - This is a guest, .*", r"              - reason 0x40000000",
                r"its rate      3000000000 Hz within 1\.500 ppm, as calibrated; the hypervisor states "
                r"3001000000 Hz",
                r"clock source  tsc of the kernel, a guest of KVM\\x1bKVM",
                r"knots         31 readings of the clocks in 30\.000 s; times between them are within "
                r"\d+ ns by QPC, within \d+ ns by system time",
                r"drift         system time against QPC: \+5\.0000 ppm, give or take .*",
                r"drift         TSC against its calibration: \+500\.0000 ppm, give or take 0\.\d+",
                r"drift         TSC against the stated frequency: \+166\.6111 ppm, .*",
                r"WALL CLOCK    set 1 time, -89\.99\d+ s together",
                r"              -89\.99\d+ s between 2026-01-01T00:00:10\.0000500Z and "
                r"2025-12-31T23:58:41\.0000550Z",
                r"suspended     1 time, 30\.000000000 s together"):
            self.assertRegex(out, rf"(?m)^  {line}$")
        self.assertNotIn("ASKED FOR", out)

    def test_the_same_is_in_the_json(self):
        stat, = self.stat_json(self.counter_file())
        clocks = stat["clocks"]
        self.assertEqual(clocks["requested"], "processor cycle counter")
        counter = clocks["counter"]
        self.assertEqual([r["bit"] for r in counter["reasons"]], [1, 0x100, 0x40000000])
        self.assertEqual([counter[key] for key in (
            "verdict", "frequency_hz", "frequency_error_ppb", "stated_hz", "stated_by", "clocksource",
            "hypervisor")], ["doubtful", 3_000_000_000, 1500, 3_001_000_000, "the hypervisor", "tsc",
                             "KVM\x1bKVM"])
        self.assertEqual((clocks["knots"], clocks["knots_unusable"], clocks["seconds"]), (31, 0, 30))
        self.assertAlmostEqual(clocks["tsc_against_calibrated"]["ppm"], 500, 3)
        self.assertAlmostEqual(clocks["tsc_against_stated"]["ppm"], 166.6111, 3)
        self.assertAlmostEqual(clocks["system_against_qpc"]["ppm"], 5, 3)
        self.assertEqual(clocks["system_against_qpc"]["points"], 31)
        self.assertLess(clocks["qpc_error_ns"], 200)
        self.assertGreaterEqual(clocks["system_error_ns"], 89_000_000_000)
        self.assertEqual((clocks["steps"], clocks["suspends"], clocks["suspended_ns"]),
                         (1, 1, 30_000_000_000))
        step, = clocks["first_steps"]
        self.assertEqual(clocks["largest_step"], step)
        self.assertEqual(step["before"], "2026-01-01T00:00:10.0000500Z")
        self.assertAlmostEqual(step["step_ns"] / 1e9, -90, 3)

    def test_the_duration_is_what_passed_and_not_what_the_wall_clock_was_set_by(self):
        stat, = self.stat_json(self.counter_file())
        self.assertAlmostEqual(stat["duration_s"], 2 + 90, 3)  # EndTime is 2 s after StartTime

    def test_every_key_is_in_the_help(self):
        stat_help, _ = self.run_etwas("stat", "--help")

        def look(value):
            for key in value if isinstance(value, dict) else ():
                self.assertIn(key, stat_help)
                look(value[key])
            for item in value if isinstance(value, list) else ():
                look(item)
        look(self.stat_json(self.counter_file())[0]["clocks"])

    def test_a_session_that_got_another_clock_says_so(self):
        out, _ = self.run_etwas("stat", self.counter_file(requested=1))
        self.assertRegex(out, r"(?m)^  ASKED FOR     performance counter$")

    def test_a_counter_nobody_examined_and_a_file_without_notes_are_told_apart(self):
        path = self.counter_file(verdict=0, reasons=0, stated_by=0, hz=0, stated_hz=0)
        self.assertRegex(self.run_etwas("stat", path)[0], r"(?m)^  cycle counter not examined$")
        self.assertIsNone(self.stat_json(path)[0]["clocks"]["counter"]["verdict"])
        path = self.counter_file(hz=0)
        self.assertRegex(self.run_etwas("stat", path)[0],
                         r"(?m)^  cycle counter doubtful, by what the machine says; not measured$")
        self.assertIs(self.stat_json(path)[0]["clocks"]["counter"]["measured"], False)
        path = self.write("b.etl", etl.trace([(0, [])]))
        out, _ = self.run_etwas("stat", path)
        self.assertRegex(out, r"(?m)^  knots         none: .*$")
        self.assertNotIn("cycle counter", out)
        clocks = self.stat_json(path)[0]["clocks"]
        self.assertEqual([clocks[key] for key in ("requested", "counter", "knots", "system_error_ns",
                                                  "system_against_qpc", "steps", "largest_step")],
                         [None, None, 0, None, None, 0, None])


class Damage(ToolTest):
    def setUp(self):
        super().setUp()
        self.per_buffer = [(i % 2, [etl.classic(RED, 1_000_001 + 100 * i + j, payload=bytes(16))
                                    for j in range(50)]) for i in range(6)]
        self.good = etl.trace(self.per_buffer)

    def check(self, data, events):
        """Both commands agree, say where the damage is, and exit with 3."""
        path = self.write("damaged.etl", data)
        self.assertEqual(len(self.dump_json(path, expect=DAMAGED)), events)
        stat, = self.stat_json(path, expect=DAMAGED)
        self.assertEqual((stat["events"], stat["damaged"]), (events, True))
        self.assertGreaterEqual(stat["damage_count"], 1)
        self.assertEqual(len(stat["damages"]), min(stat["damage_count"], 20))
        out, _ = self.run_etwas("stat", path, expect=DAMAGED)
        self.assertRegex(out.splitlines()[1], r"^  DAMAGED +in \d+ place")
        _, error = self.run_etwas("dump", path, expect=DAMAGED)
        self.assertRegex(error, r"damaged\.etl: damaged at byte \d+: ")
        return stat

    def test_a_file_cut_between_buffers_or_in_one_shows_what_is_there(self):
        stat = self.check(self.good[:-1], 300)
        self.assertIn(stat["damages"][0]["offset"] // etl.BUFFER_BYTES, (6, 7))
        self.check(self.good[:-etl.BUFFER_BYTES // 2 - etl.BUFFER_BYTES], 250)

    def test_a_damaged_buffer_costs_no_other_buffer(self):
        data = bytearray(self.good)
        data[3 * etl.BUFFER_BYTES:4 * etl.BUFFER_BYTES] = bytes([0x5A]) * etl.BUFFER_BYTES
        stat = self.check(bytes(data), 250)
        self.assertIn(3 * etl.BUFFER_BYTES, [d["offset"] for d in stat["damages"]])

    def test_a_damaged_record_costs_only_the_rest_of_its_buffer(self):
        data = bytearray(self.good)
        at = 2 * etl.BUFFER_BYTES + 72 + 10 * 64  # the eleventh record of buffer 2
        data[at:at + 2] = b"\x01\x00"  # its size
        stat = self.check(bytes(data), 260)
        self.assertEqual(stat["damages"][0]["offset"], at)
        self.assertEqual(stat["damages"][0]["bytes_skipped"], 40 * 64)

    def test_any_number_of_damages_is_counted_and_the_first_are_listed(self):
        data = bytearray(etl.trace([(0, [etl.classic(RED, 1_000_001 + i)]) for i in range(30)]))
        for i in range(1, 31):
            data[i * etl.BUFFER_BYTES + 72 + 3] = 0x00  # the marker of its record
        stat = self.check(bytes(data), 0)
        self.assertEqual((stat["damage_count"], len(stat["damages"])), (30, 20))
        _, error = self.run_etwas("dump", os.path.join(self.folder, "damaged.etl"), expect=DAMAGED)
        self.assertIn("10 more places", error)
        self.assertEqual(len(error.splitlines()), 21)

    def test_no_cut_and_no_flipped_bit_crashes_it_or_spoils_its_json(self):
        header = range(0, 1024, 7)
        record = range(etl.BUFFER_BYTES, etl.BUFFER_BYTES + 200, 3)
        for at in [*header, *record]:
            data = bytearray(self.good)
            data[at] ^= 1 << at % 8
            self.any_outcome(bytes(data))
        for at in range(0, len(self.good), 1999):
            self.any_outcome(self.good[:at])

    def any_outcome(self, data):
        path = self.write("flipped.etl", data)
        result = subprocess.run([ETWAS, "dump", "--json", path], capture_output=True, check=False,
                                timeout=100)
        self.assertIn(result.returncode, (FINE, OPEN, DAMAGED), result.stderr)
        for line in result.stdout.decode("utf-8").splitlines():
            json.loads(line)


class Samples(ToolTest):
    # Records of the Evidence table in the description of the format.
    RECORDS = {"AMSITrace.etl": 21, "lxcore_kernel.etl": 4, "gcevents.etl": 71,
               "primitive-types.etl": 7, "SelfDescribingSingleEvent.etl": 23, "smallEtlFile.etl": 2}

    def setUp(self):
        if not os.path.isdir(SAMPLES):
            self.skipTest(f"{SAMPLES} is not there")
        super().setUp()

    def sample(self, name):
        path = os.path.join(SAMPLES, name)
        if not os.path.exists(path):
            self.skipTest(f"{path} is not there")
        return path

    def test_the_records_of_real_traces_are_all_there_and_undamaged(self):
        for name, records in self.RECORDS.items():
            with self.subTest(name=name):
                path = self.sample(name)
                out, _ = self.run_etwas("dump", "--json", path)
                self.assertEqual(len([json.loads(line) for line in out.splitlines()]), records)
                out, _ = self.run_etwas("dump", path)
                self.assertEqual(len(out.splitlines()), records + 1)
                stat, = self.stat_json(path)
                self.assertEqual(stat["events"] + stat["header_events"], records)
                self.assertEqual(sum(p["events"] for p in stat["processors"]), stat["events"])
                self.assertEqual(sum(c["events"] for c in stat["classes"]), stat["events"])
                self.assertEqual(stat["damages"], [])

    def test_every_record_is_the_one_an_independent_walker_finds(self):
        walker = os.path.join(HERE, os.pardir, "walker", "etl_walk.py")
        for name in self.RECORDS:
            with self.subTest(name=name):
                path = self.sample(name)
                walked = subprocess.run([sys.executable, "-B", walker, "--lenient", "--payloads", path],
                                        stdout=subprocess.PIPE, check=True).stdout.decode()
                *lines, report = walked.splitlines()
                out, _ = self.run_etwas("dump", "--hex", "--json", "--raw", path)
                events = [json.loads(line) for line in out.splitlines()]
                self.assertEqual(len(events), len(lines) + json.loads(report)["header_records"])
                events = events[len(events) - len(lines):]
                # The walker goes by processor; within one, both keep the file's order.
                events.sort(key=lambda e: e["processor"])
                for event, line in zip(events, lines):
                    cpu, stamp, _, kind, guid, _, _, _, payload = line.split("\t")
                    self.assertEqual((event["processor"], event["raw_time"], event["type"]),
                                     (int(cpu), int(stamp), int(kind)))
                    if guid != NO_GUID:  # a kernel event has only a group
                        self.assertEqual(event["class"], guid)
                    # The walker leaves extended items before the payload.
                    self.assertTrue(payload.endswith(event["payload"]))

    def test_what_a_real_session_lost_is_told_first(self):
        out, _ = self.run_etwas("stat", self.sample("AMSITrace.etl"))
        self.assertEqual(out.splitlines()[2].split(),
                         ["LOST", "3", "events", "and", "0", "buffers", "while", "recording"])

    def test_names_and_times_of_a_real_trace_are_right(self):
        stat, = self.stat_json(self.sample("gcevents.etl"))
        self.assertEqual((stat["session"], stat["log_file"], stat["mode_names"]),
                         ("PerfViewSession", r"C:\Dev\runtime\CoreLab\PerfViewData.etl",
                          ["circular", "independent session"]))
        event = self.dump_json(self.sample("primitive-types.etl"))[1]
        self.assertEqual((event["name"], event["time"]),
                         ("solar_system/PrimitiveTypesTest", "2021-09-09T14:59:35.8001567Z"))


class Memory(ToolTest):
    def test_a_file_of_4_gb_needs_less_than_64_mb(self):
        size, count = 256 * 1024, 16384
        path = os.path.join(self.folder, "big.etl")
        with open(path, "wb") as file:  # sparse: only the beginning of each buffer is written
            file.write(etl.header_buffer(count, size=size))
            for i in range(1, count):
                records = [etl.classic(RED, 1_000_000 + i, payload=struct.pack("<Q", i))]
                file.seek(i * size)
                file.write(etl.buffer(records, i, i % 4, stamp=1_000_000 + i, size=size)[:256])
            file.truncate(count * size)
        stat, = self.stat_json(path)
        self.assertEqual((stat["file_bytes"], stat["events"]), (1 << 32, count - 1))
        self.assertEqual(len(self.dump_json(path)), count - 1)
        # The same as a circular file that nobody finished: it is looked through for tears.
        with open(path, "r+b") as file:
            file.write(etl.header_buffer(count, size=size, mode=2, finished=False))
        stat, = self.stat_json(path)
        self.assertEqual((stat["events"], stat["damaged"]), (count - 1, False))
        peak_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(peak_kb, 64 * 1024)


def main():
    global ETWAS
    ETWAS = sys.argv[1]
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(globals()[sys.argv[2]])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if not result.wasSuccessful():
        return 1
    return 77 if len(result.skipped) == result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
