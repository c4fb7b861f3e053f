# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Which events `--where` chooses.

usage: where_events_test.py PATH_OF_ETWAS TEST_CLASS
"""

import csv
import io
import json
import os
import struct
import sys
import uuid

import etl_build as etl
from etl_build import (ANSI, DOUBLE, GUID, INT64, OUT_HRESULT, OUT_WIN32ERROR, STRUCT, UINT16,
                       UINT32, UINT8)
from tool_case import BLUE, DAMAGED, FAILED, FINE, RED, NamesTest, heap_events, main


class Where(NamesTest):
    def setUp(self):
        super().setUp()
        fields = (etl.tl_field("n", INT64) + etl.tl_field("t", ANSI) + etl.tl_field("f", DOUBLE)
                  + etl.tl_field("list", UINT16, listed=True) + etl.tl_field("p", STRUCT, 1)
                  + etl.tl_field("x", UINT8)
                  + etl.tl_field("Raw Name", UINT8) + etl.tl_field("time", UINT8)
                  + etl.tl_field("g", GUID))

        def payload(n, text, number, listed, x):
            return (struct.pack("<q", n) + text.encode() + b"\0"
                    + struct.pack("<dH", number, len(listed))
                    + struct.pack(f"<{len(listed)}H", *listed) + bytes([x, x + 1, x + 2])
                    + uuid.UUID(BLUE).bytes_le)
        self.path = self.trace(
            etl.tl_event(RED, 1_000_001, "P", "GC/Start", fields,
                         payload(-5, "/tmp/a", 1.5, [1, 2], 10), level=2, keyword=0x21, process=77,
                         thread=78, number=4, activity=BLUE),
            etl.tl_event(RED, 11_000_000, "P", "GC/Stop", fields, payload(4096, "", 0.0, [], 20)),
            etl.classic(BLUE, 21_000_000, kind=9))

    def matching(self, expression):
        """Numbers of the events that match: 1, 2 and 3."""
        keys = {"P/GC/Start": 1, "P/GC/Stop": 2}
        return [keys.get(o.get("event"), 3) for o in self.objects("--where", expression, self.path)]

    def check(self, cases):
        for expression, wanted in cases:
            with self.subTest(expression=expression):
                self.assertEqual(self.matching(expression), wanted)

    def test_numbers_compare_as_numbers(self):
        self.check([("n == -5", [1]), ("n != -5", [2]), ("n < 0", [1]), ("n >= 4096", [2]),
                    ("n > 4095.5", [2]),
                    ("n > 4k", [2]), ("n >= 4Ki", [2]), ("n == 0x1000", [2]), ("-5 == n", [1]),
                    ("n < f", [1]),
                    ("f == 1.5", [1]), ("f <= 18446744073709551615", [1, 2]),
                    ("n < 18446744073709551615", [1, 2]),
                    ("n > -9223372036854775808", [1, 2]), ("1 == 1", [1, 2, 3]), ("x == 10", [])])

    def test_texts_compare_as_texts(self):
        self.check([('t == "/tmp/a"', [1]), ('t != "/tmp/a"', [2]), ('t contains "tmp"', [1]),
                    ('t =~ "^/t.p"', [1]),
                    ("t == ''", [2]), ('t < "0"', [1, 2]), ('t == "\\x2ftmp/a"', [1]),
                    ('t =~ "x"', []),
                    (f'g == "{BLUE}"', [1, 2]), (f'g == "{{{BLUE.upper()}}}"', [1, 2])])

    def test_signs_bind_as_in_c(self):
        self.check([("n == -5 || n == 4096 && 1 == 2", [1]), ("(n == -5 || n == 4096) && 1 == 2",
                                                              []),
                    ("!(n == -5)", [2, 3]), ("!n == 5", [1, 2, 3]), ("!!(n<0)", [1]),
                    ("n<0&&n<0||n<0", [1])])

    def test_a_name_alone_is_neither_0_nor_empty(self):
        self.check([("n", [1, 2]), ("t", [1]), ("f", [1]), ("list", [1]), ("!t", [2, 3]),
                    ("none", []),
                    ("keyword", [1])])

    def test_any_value_of_several_will_do(self):
        self.check([("list == 2", [1]), ("list != 2", [1]), ("!(list == 2)", [2, 3]),
                    ("list > 1 && list < 2", [1])])

    def test_members_and_odd_names_are_fields(self):
        self.check([("p.x == 20", [2]), ("`Raw Name` == 11", [1]), ("fields.time == 12", [1]),
                    ("`p`.`x` == 10", [1]),
                    ("fields.p.x == 10", [1]), ("`time` == 22", [2])])

    def test_bits_are_looked_at(self):
        self.check([("keyword & 0x20", [1]), ("keyword & 2", []), ("keyword & 0x21 == 0x21", [1]),
                    ("n & 0x1000", [1, 2])])

    def test_properties_are_known_by_name(self):
        self.check([("level == 2", [1]), ("pid == 77 && tid == 78", [1]),
                    ("cpu == 0", [1, 2, 3]),
                    ("cpu > 0", []), ('provider == "P"', [1, 2]), ('event == "GC/Stop"', [2]),
                    ('name == "Stop"', [2]), ("event_id == 4", [1]), ("opcode == 9", [3]),
                    ("payload_bytes > 0", [1, 2]),
                    (f'event_class_id == "{RED}"', [1, 2]),
                    (f'provider_id == "{RED}"', [1, 2]), (f'activity == "{BLUE}"', [1]),
                    ("channel == 11", [1, 2]),
                    ("version == 0 && task == 0", [1, 2]), ("instance", []),
                    ("parent_instance", [])])

    def test_an_event_is_known_by_its_whole_name_or_its_last_parts_and_its_class_by_its_name(self):
        path = self.trace(*(etl.tl_event(RED, 1_000_001 + i, "Shop", "Order", opcode=i)
                            for i in (0, 1, 2, 9)),
                          etl.tl_event(RED, 1_000_100, "Shop", "Bill"),
                          etl.classic(BLUE, 1_000_200, kind=7))
        for expression, wanted in (
                ('event == "Shop/Order/Start"', [1]), ('event == "Order/Start"', [1]),
                ('event == "Start"', [1]),
                ('"Order/9" == event', [9]), ('event == "Order"', [0]),
                ('event == "Shop/Order"', [0]),
                ('event == "Bill/0"', []), ('event != "Start"', [0, 2, 9, "Bill", 7]),
                (f'event == "{BLUE}/7"', [7]),
                ('event == "7"', [7]), ('event_class == "Order"', [0, 1, 2, 9]),
                ('event_class == "Shop/Order"', [0, 1, 2, 9]),
                ('event_class != "Order"', ["Bill", 7]), (f'event_class == "{BLUE}"', [7]),
                ('event =~ "^Shop/Order/"', [1, 2, 9]),
                ('event =~ "/Order$"', [0]), ('event contains "p/B"', ["Bill"]),
                ('name == "Order"', [0, 1, 2, 9]),
                ('name == "Start"', []), ('event_class == "Start"', [])):
            with self.subTest(expression=expression):
                found = [o["opcode"] if o["event"] != "Shop/Bill" else "Bill"
                         for o in self.objects("--where", expression
                                               + ' && event != "EventTrace/Header"', path)]
                self.assertEqual(found, wanted)

    def test_what_a_column_prints_is_equal_to_itself(self):
        """Of every column that can be compared, of events of every sort."""
        fields = (etl.tl_field("n", INT64) + etl.tl_field("t", ANSI)
                  + etl.tl_field("w", UINT32, out=OUT_WIN32ERROR))
        odd = "\t\u202e\"'\u00e9 \U0001f600"
        path = self.trace(
            *heap_events(),
            *(etl.tl_event(RED, 1_000_250 + i, "My Shop", name, fields, struct.pack("<q", i)
                           + b"a\0" + b"\5\0\0\0", opcode=i, keyword=0x21, activity=BLUE, number=i)
              for i, name in enumerate(("Order", "GC/Order", odd, odd))),
            etl.classic(BLUE, 1_000_300, kind=7), etl.instance(BLUE, 1_000_301, 5, 4, RED),
            etl.tl_event(RED, 1_000_500, odd, "E"))
        texts = ("time", "provider", "provider_id", "event", "event_class", "event_class_id",
                 "name",
                 "activity", "parent_class_id", "t", "w", "reason")
        numbers = ("cpu", "pid", "tid", "event_id", "version", "opcode", "level", "keyword", "task",
                   "channel", "instance", "parent_instance", "payload_bytes", "n", "size",
                   "address")

        def column(name, *arguments):
            out, _ = self.run_etwas("dump", "--csv", "-c", name, *arguments, path)
            return [row[0] if row else "" for row in csv.reader(io.StringIO(out, newline=""))][1:]
        for name in texts + numbers:
            shown = column(name)
            for value in {value for value in shown if value != ""}:
                given = value if name in numbers else '"' + value.replace('"', '\\"') + '"'
                with self.subTest(name=name, value=value):
                    self.assertIn(value, column(name, "-w", f"{name} == {given}"))
                    self.assertNotIn(value, column(name, "-w", f"{name} != {given}"))

    def test_different_types_are_an_error_in_every_command(self):
        out = os.path.join(self.folder, "out")
        for expression, place, length, what in (('n > "5"', 4, 3, "the value is a number"),
                                                ("t == 5", 5, 1, "the value is text"),
                                                ("t & 1", 0, 5, "& takes bits of a whole number"),
                                                ("g == \"none\"", 5, 6, "the value is a GUID"),
                                                ("n == t", 0, 1,
                                                 "the two values are of different types")):
            for command in (["dump"], ["dump", "--json"], ["stat"], ["stat", "--json"],
                            ["report", "--json"],
                            *(["convert", "--to", form, "--output", out]
                              for form in ("csv", "etl", "ctf", "perfetto", "folded"))):
                with self.subTest(expression=expression, command=command):
                    shown, error = self.run_etwas(*command, "-w", expression, self.path,
                                                  expect=FAILED)
                    lines = [line for line in error.splitlines() if ": note: " not in line]
                    self.assertIn(f"etwas {command[0]}: --where: of P/GC/Start {what}", lines[0])
                    self.assertEqual(lines[1:], ["  " + expression, "  " + " " * place + "^"
                                                 + "~" * (length - 1)])
                    self.assertTrue(command[0] == "dump" or shown == "")
                    self.assertFalse(os.path.exists(out))
        # Of spans, too; and what is not compared is none.
        span = self.trace(etl.instance(RED, 1_000_000, 1, kind=1, payload=b"\1\0\0\0"),
                          etl.instance(RED, 1_000_100, 1, kind=2, payload=b"\1\0\0\0"),
                          etl.event_info(1_000_200, RED, 1, "P", "T", "Start", [("v", UINT32, 0)]),
                          etl.event_info(1_000_200, RED, 2, "P", "T", "Stop", [("v", UINT32, 0)]),
                          name="b.etl")
        _, error = self.run_etwas("spans", "-w", "v == '1'", span, expect=FAILED)
        self.assertIn("etwas spans: --where: of P/T/Start the value is a number", error)
        self.assertEqual(len(self.objects("-w", 'event == "Start" && n == -5', self.path)), 1)
        self.assertEqual(self.objects("-w", 'level == 9 && n == "a"', self.path), [])

    def test_a_unit_of_time_is_converted_to_that_of_the_field_and_said(self):
        fields = etl.tl_field("took_us", UINT32) + etl.tl_field("took", UINT32)
        path = self.trace(*(etl.tl_event(RED, 1_000_001 + i, "P", "E", fields,
                                         struct.pack("<II", 1000 * i, i)) for i in range(10)),
                          name="b.etl")
        for command in ("dump", "stat"):
            _, error = self.run_etwas(command, "-w", "took_us > 5ms", path)
            self.assertEqual(
                error, f"etwas {command}: note: 5ms is compared as 5000 us, the unit of took_us\n")
        self.assertEqual(len(self.objects("-w", "took_us > 5ms", path)), 4)
        self.assertEqual(len(self.objects("-w", "took_us > 0.0055s && fields.took_us <= 7ms",
                                          path)), 2)
        for expression in ("took > 5ms", "level > 5ms", "fields.took == 1min"):
            _, error = self.run_etwas("dump", "-w", expression, path, expect=FAILED)
            self.assertIn("unit", error)

    def test_a_field_that_a_column_hides_is_said_once(self):
        fields = etl.tl_field("event_id", UINT32) + etl.tl_field("name", ANSI)
        path = self.trace(*(etl.tl_event(RED, 1_000_001 + i, "P", "E", fields, struct.pack("<I", 42)
                                         + b"a\0", number=i)
                            for i in range(3)), name="b.etl")
        for command in ("dump", "stat", "report"):
            arguments = ["--json"] if command == "report" else []
            _, error = self.run_etwas(command, *arguments, "-w", "event_id == 1 || event_id == 2",
                                      path)
            self.assertEqual(
                error, f"etwas {command}: note: the condition compares the column 'event_id', and "
                "events have a field "
                       "that is called so: 'fields.event_id'\n")
        for expression, events in (("fields.event_id == 42", 3), ("`event_id` == 42", 3),
                                   ("event_id == 1 && fields.event_id == 42", 1)):
            out, error = self.run_etwas("dump", "--json", "-w", expression, path)
            self.assertEqual((len(out.splitlines()), error), (events, ""))
        self.assertEqual(self.run_etwas("dump", "-w", "event_id == 1", self.trace(etl.tl_event(
            RED, 1_000_001, "P", "E", number=1), name="c.etl"))[1], "")

    def test_a_condition_that_holds_for_no_event_is_said(self):
        out = os.path.join(self.folder, "out")
        for command in (["dump"], ["stat"], ["report", "--json"], ["convert", "--to", "csv"]):
            _, error = self.run_etwas(*command, "-w", "n == 17", self.path)
            self.assertEqual(
                error, f"etwas {command[0]}: note: no event is as --where says: n == 17; 'etwas "
                "schema' tells "
                       "which events and fields there are\n")
            _, error = self.run_etwas(*command, "-w", "duration > 1s", self.path)
            self.assertIn("duration > 1s; 'etwas spans' tells what has a duration", error)
            _, error = self.run_etwas(*command, "-w", "none == 17", self.path)
            self.assertEqual(
                error, f"etwas {command[0]}: note: no event has a field 'none'; 'etwas schema' "
                "tells which there are\n")

    def test_times_compare_with_dates_and_with_the_session_s_start(self):
        self.check([('time >= "2026-01-01T00:00:01"', [2, 3]),
                    ('time == "2026-01-01T00:00:01Z"', [2]),
                    ('time < "2026-01-01 00:00"', []), ('time > "2025-12-31"', [1, 2, 3]),
                    ('time <= "2026-01-01T00:00:00.0000001Z"', [1]), ("time < 1s", [1]),
                    ("time >= 1s", [2, 3]),
                    ("time == 100ns", [1]), ("time > 1500ms && time < 2.5s", [3])])
        for clock in ("raw", "qpc", "system"):
            out, _ = self.run_etwas("dump", "--json", "--times", clock, "-w",
                                    'time == "2026-01-01T00:00:01Z"', self.path)
            self.assertEqual(len(out.splitlines()), 1, clock)

    def test_a_stamp_before_1970_is_before_every_time_since_the_start(self):
        for frequency, wanted in ((1_000_000_000, [1, 2]), (etl.PERF_FREQUENCY, [1, 2])):
            path = self.trace(etl.tl_event(RED, -2**63, "P", "GC/Start"),
                              etl.tl_event(RED, 1_000_001, "P", "GC/Stop"),
                              etl.tl_event(RED, 2**63 - 1, "P", "GC/Late"), name="b.etl",
                              frequency=frequency)
            keys = {"P/GC/Start": 1, "P/GC/Stop": 2, "P/GC/Late": 3}
            for expression, found in (("time < 2s", wanted), ("time > 2s", [3]),
                                      ("time < -100s", [1]), ("time < '1970-01-01'", [1])):
                out, _ = self.run_any("dump", "--json", "--where", expression, path,
                                      expect=(FINE, DAMAGED))
                events = [json.loads(line) for line in out.splitlines()]
                self.assertEqual([keys[o["event"]] for o in events if o["event_class_id"] == RED],
                                 found,
                                 (frequency, expression))

    def test_the_duration_is_that_of_an_instance_or_activity(self):
        events = [etl.instance(RED, 1_000_000, 1, kind=1), etl.instance(RED, 1_000_010, 2, kind=1),
                  etl.instance(BLUE, 1_000_020, 1, kind=2), etl.instance(RED, 1_050_000, 1, kind=3),
                  etl.instance(RED, 1_100_000, 1, kind=2), etl.instance(RED, 1_100_010, 1, kind=2),
                  etl.tl_event(RED, 1_200_000, "P", "E", opcode=1, activity=BLUE),
                  etl.tl_event(RED, 1_200_000, "P", "E", opcode=2, activity=RED),
                  etl.tl_event(RED, 1_230_000, "P", "E", opcode=2, activity=BLUE),
                  etl.instance(RED, 1_300_010, 2, kind=2)]
        path = self.trace(*events, name="b.etl")
        for clock in ([], ["--times=qpc"]):
            self.assertEqual([o["duration"] for o in self.objects(*clock, "-w", "duration",
                                                                     path)],
                             [10_000_000, 3_000_000, 30_000_000])
        self.assertEqual([o["instance"] for o in self.objects("-w", "duration > 12.5ms", path)],
                         [2])
        self.assertEqual(self.lines("--columns", "duration", path).count("3000000"), 1)

    def test_a_hundred_thousand_open_instances_are_matched(self):
        starts = [etl.instance(RED, 1_000_000 + i, i + 1, kind=1) for i in range(30_000)]
        ends = [etl.instance(RED, 2_000_000 + 2 * i, i + 1, kind=2) for i in range(30_000)]
        events = starts + ends
        path = self.write("b.etl",
                          etl.trace([(0, events[at:at + 100])
                                     for at in range(0, len(events), 100)]))
        self.assertEqual([o["duration"] for o in self.objects("-w", "duration", path)],
                         [100 * (1_000_000 + i) for i in range(30_000)])

    def test_an_enumeration_compares_by_name_and_by_number(self):
        path = self.trace(*heap_events())
        self.assertEqual(len(self.objects("-w", 'reason == "at exit"', path)), 1)
        self.assertEqual(len(self.objects("-w", "reason == 2 && name == 'free'", path)), 1)
        self.assertEqual(len(self.objects("-w", "size > 4096 && name == \"malloc\"", path)), 1)

    def test_an_error_compares_by_name_and_by_number(self):
        fields = etl.tl_field("w", UINT32, out=OUT_WIN32ERROR) + etl.tl_field("h", UINT32,
                                                                              out=OUT_HRESULT)
        path = self.trace(*(etl.tl_event(RED, 1_000_001, "P", "E", fields,
                                         struct.pack("<II", code, 0x80070000 + code))
                            for code in (5, 6, 123456)))
        for expression, wanted in (('w == "ERROR_ACCESS_DENIED"', 1), ("w == 5", 1),
                                   ('h == "E_HANDLE"', 1),
                                   ('w contains "INVALID_HANDLE"', 1), ('w == "123456"', 1),
                                   ("w == 123456", 1),
                                   ('w != "ERROR_ACCESS_DENIED"', 2)):
            self.assertEqual(len(self.objects("-w", expression, path)), wanted, expression)

    def test_a_message_is_chosen_by_its_text(self):
        guid = uuid.UUID(RED).bytes_le
        path = self.trace(*(etl.message(7, 0x02, guid, struct.pack("<i", n) + b"a\0")
                            for n in (5, 50, 500)),
                          etl.message(8, 0x02, guid, b"\x01"),
                          etl.message_format(1_000_001, RED, 7, "took %d of %s\n"))
        for expression, wanted in (('message contains "took 5"', 3),
                                   ('message =~ "took 50+ of"', 2),
                                   ("!message", 1),
                                   (r'message == "took 500 of a\n"', 1),
                                   ('message contains "took 5" && message_id == 7', 3)):
            self.assertEqual(len(self.objects("-w", expression, path)), wanted, expression)
            stat, = self.stat_json("--where", expression, path)
            self.assertEqual(stat["events"], wanted, expression)
        self.assertEqual(self.lines("--columns", "message_id,message", path)[-2:],
                         [r'7 "took 500 of a\n"', "8 -"])

    def test_texts_are_compared_whole_however_long_they_are(self):
        guid = uuid.UUID(RED).bytes_le
        records = [etl.message(7, 0x02, guid, b"\xff" * 60000 + b"\0"),
                   etl.message(7, 0x02, guid, b"a\0"), etl.message_format(1_000_001, RED, 7, "%s")]
        path = self.write("long.etl", etl.header_buffer(2, size=1 << 17)
                          + etl.buffer(records, 1, stamp=1 << 60, size=1 << 17))
        for expression, wanted in (("message == message", 2), ("message != message", 0),
                                   ('"a" == message', 1)):
            self.assertEqual(len(self.objects("-w", expression, path)), wanted, expression)

    def test_dates_and_guids_of_fields_compare_as_such(self):
        fields = etl.tl_field("when", 17) + etl.tl_field("day", 18) + etl.tl_field("g", GUID)
        payload = (struct.pack("<Q", 132756731757990000) + struct.pack("<8H", 2021, 9, 4, 9, 14, 59,
                                                                       35, 799)
                   + uuid.UUID(RED).bytes_le)
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", fields, payload), name="b.etl")
        for expression, wanted in (('when == "2021-09-09T14:59:35.799"', 1),
                                   ('day == "2021-09-09 14:59:35.799Z"', 1),
                                   ("when == day", 1), ('when > "2021-09-10"', 0),
                                   ('day < "2021-09-09T15:00"', 1),
                                   ("time > when", 1), (f'g == "{RED.upper()}"', 1),
                                   ("event_class_id == g", 1)):
            self.assertEqual(len(self.objects("-w", expression, path)), wanted, expression)

    def test_what_may_have_been_meant_is_said(self):
        for expression, error in (("x == 20", "no event has a field 'x', but 'p.x'"),
                                  ("N == 1", "no event has a field 'N', but 'n'"),
                                  ("`raw name`", "no event has a field 'raw name', but 'Raw Name'"),
                                  ("name == Start",
                                   "no event has a field 'Start'; a string stands in quotes"),
                                  ("none == 1",
                                   "no event has a field 'none'; 'etwas schema' tells which there "
                                   "are")):
            self.assertEqual(self.run_etwas("dump", "-w", expression, self.path)[1],
                             f"etwas dump: note: {error}\n")
        self.assertEqual(self.run_etwas("dump", "-c", "x", self.path)[1],
                         "etwas dump: note: no event has a field 'x', but 'p.x'\n")

    def test_two_expressions_are_one_too_many(self):
        for command in ("dump", "stat"):
            _, error = self.run_etwas(command, "-w", "n", "--where", "t", self.path, expect=FAILED)
            self.assertIn("--where is given twice. Join the two by &&", error)

    def test_stat_counts_what_matches(self):
        stat, = self.stat_json("--where", "n < 0", self.path)
        self.assertEqual((stat["events"], len(stat["by_event"])), (1, 1))

    def test_what_is_wrong_is_said_with_its_place(self):
        for expression, message, place, length in (
                ("", "expected a name, a number, a string, ! or (", 0, 1),
                ("size >", "expected a name, a number or a string to compare with", 6, 1),
                ("size > && n", "expected a name, a number or a string to compare with", 7, 2),
                ("(n == 1", "expected && or || or )", 7, 1),
                ("n == 1)", "expected && or ||, or the end", 6, 1),
                ("n = 1", "one = means nothing: == compares", 2, 1),
                ("n | 1", "one | means nothing: || is 'or'", 2, 1),
                ("n # 1", "this means nothing here", 2, 1), ('t == "a', "the string has no end", 5,
                                                             1),
                ('t == "\\q"', "no such escape", 6, 2), ("`a == 1", "the name has no end", 0, 1),
                ("a. == 1", "expected the name of a member", 2, 1),
                ("n > 5q", "no such unit", 5, 1),
                ("n > 0x", "0x without a digit", 4, 2), ("n > 0xg", "0x without a digit", 4, 2),
                ("n > 0x1g", "not a hexadecimal digit", 7, 1),
                ("n > 99999999999999999999", "the number does not fit", 4, 20),
                ("n > 99999999999999G", "the number does not fit", 4, 15),
                ('t =~ "("', "not an extended regular", 5, 3),
                ("t =~ n", "=~ takes a regular expression as a string", 5, 1),
                ("t contains 5", "contains takes a string", 11, 1),
                ('time > "soon"', "not a time", 7, 6),
                ('time > "2026-13-01"', "not a time", 7, 12),
                ("payload == 1", "this cannot be compared", 0, 7),
                ("n & m", "expected the bits", 4, 1), ("5 & 1", "& goes with the name", 2, 1),
                ("é == 1 |", "one |", 8, 1), ("(" * 65 + "n", "too deep", 64, 1),
                ("!" * 65 + "n", "too deep", 64, 1),
                (" || ".join(["n"] * 300), "the expression has too many parts", None, None),
                (" || ".join(f"n{i}" for i in range(80)), "there are too many different fields",
                 None, None)):
            with self.subTest(expression=expression):
                for command in ("dump", "stat"):
                    out, error = self.run_etwas(command, "--where", expression, self.path,
                                                expect=FAILED)
                    lines = error.splitlines()
                    self.assertEqual(out, "")
                    self.assertIn(f"etwas {command}: --where: {message}", lines[0])
                    self.assertEqual(lines[1], "  " + expression)
                    if place is not None:
                        column = len(
                            expression.encode()[
                                :place].decode()) if expression.isascii() else place - 1
                        self.assertEqual(lines[2].replace("é", "e"), "  " + " " * column + "^"
                                         + "~" * (length - 1))


if __name__ == "__main__":
    sys.exit(main())
