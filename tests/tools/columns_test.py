# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The columns of `etwas dump`: which, in what order, and as CSV.

usage: columns_test.py PATH_OF_ETWAS TEST_CLASS
"""

import csv
import io
import os
import struct
import subprocess
import sys
import uuid

import etl_build as etl
from etl_build import ANSI, STRUCT, UINT32, UINT8
from tool_case import BLUE, FAILED, RED, TIME, TITLE, NamesTest, heap_events, main


class Csv(NamesTest):
    def rows(self, *arguments):
        out, _ = self.run_etwas("dump", "--all", "--csv", *arguments)
        self.assertEqual(out.count("\n"), out.count("\r\n"))
        return list(csv.reader(io.StringIO(out, newline=""), strict=True))

    def test_rows_have_the_columns_and_quotes_where_they_are_needed(self):
        fields = etl.tl_field("t", ANSI) + etl.tl_field("n", UINT32)
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", fields, b'a,"b"\r\n\0\x05\0\0\0'),
                          etl.classic(BLUE, 1_000_002))
        rows = self.rows("--columns", "time,event,t,n,fields", path)
        self.assertEqual(rows[0], ["time", "event", "t", "n", "fields"])
        self.assertEqual(rows[2:], [[TIME, "P/E", r'a,"b"\x0d\x0a', "5", r't="a,\"b\"\r\n" n=5'],
                                    [TIME.replace("100Z", "200Z"), f"{BLUE}/1", "", "", ""]])

    def test_without_columns_it_has_those_of_the_text(self):
        rows = self.rows(self.trace(*heap_events()))
        self.assertEqual(rows[0], TITLE[2:].split())
        self.assertEqual(rows[2], [TIME, "0", "10", "11", "heap/Call/malloc",
                                   "size=37 address=0x7F99DA8080"])

    def test_a_cell_of_any_size_is_whole_and_nothing_is_written_to_what_is_read(self):
        name, count = "n" * 200, 4000
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E",
                                       etl.tl_field("s", STRUCT, 1, listed=True)
                                       + etl.tl_field(name, UINT8), struct.pack("<H", count)
                                       + bytes(count)))
        cell = "s=[" + ", ".join(["{" + name + "=0}"] * count) + "]"
        self.assertGreater(len(cell), 700_000)
        with open(self.write("input", b""), "r+b") as given:
            def run(*arguments):
                # Text, for the formats that are none too.
                out = subprocess.run([self.etwas, *arguments, path], stdin=given,
                                     stdout=subprocess.PIPE, check=True).stdout
                self.assertEqual(os.path.getsize(given.name), 0, arguments)
                return out.decode("utf-8", "replace")
            csv.field_size_limit(2 * len(cell))
            for command in (["dump", "--csv"], ["convert", "--to", "csv"]):
                rows = list(csv.reader(io.StringIO(run(*command), newline=""), strict=True))
                self.assertEqual(rows[-1][-1], cell)
            self.assertIn(cell, run("dump"))
            for command in (["dump", "--json"], ["schema"], ["stat"], ["stat", "--json"],
                            *(["convert", "--to", form]
                              for form in ("ndjson", "chrome", "otlp", "perfetto", "folded"))):
                run(*command)


class Columns(NamesTest):
    def test_threads_have_the_names_that_the_kernel_tells(self):
        """One that ended, or whose number another one has, is not called so any more."""
        begin = 1_000_000

        def event(at, thread):
            return etl.instance(RED, begin + at, at, thread=thread)
        path = self.trace(event(1, 21), etl.thread_name(begin + 2, 21, "wörker"), event(3, 21),
                          etl.thread_name(begin + 4, 21, "flusher"), event(5, 21), event(6, 22),
                          etl.thread_event(2, begin + 7, 20, 21), event(8, 21),
                          etl.thread_name(begin + 9, 22, "reader"),
                          etl.thread_event(1, begin + 10, 20, 22), event(11, 22),
                          mode=0x02000000)
        wanted = ("--where", f'event_class == "{RED}"')
        self.assertEqual(self.lines("--columns", "instance,thread", *wanted, path),
                         ["1 -", "3 wörker", "5 flusher", "6 -", "8 -", "11 -"])
        self.assertEqual(self.lines("--columns", "instance", "--where",
                                    f'event_class == "{RED}" && thread == "flusher"', path), ["5"])

    def test_the_class_of_a_parent_is_as_its_own_events_show_it(self):
        """Also where the description comes last; one that nothing describes has its GUID."""
        path = self.trace(
            etl.instance(RED, 1_000_001, 1), etl.instance(BLUE, 1_000_002, 5, 1, RED),
            etl.instance(RED, 1_000_003, 2, 5, BLUE), etl.instance(BLUE, 1_000_004, 6),
            *(etl.event_info(1_000_005, RED, kind, "Shop", "Order", name, [])
              for kind, name in ((1, "Start"), (2, "Stop"))))
        self.assertEqual(
            self.lines("--columns", "event_class,parent_instance,parent_class,instance", path)[1:],
            ["Shop/Order - - 1", f"{BLUE} 1 Shop/Order 5", f"Shop/Order 5 {BLUE} 2",
             f"{BLUE} - - 6"])
        for condition, found in (('parent_class == "Shop/Order"', ["5"]),
                                 ('parent_class == "Order"', ["5"]),
                                 (f'parent_class == "{BLUE}"', ["2"]),
                                 ("!parent_class", ["-", "1", "6"])):
            self.assertEqual(self.lines("--columns", "instance", "--where", condition, path), found,
                             condition)

    def test_every_column_can_be_had_in_any_order(self):
        event = etl.tl_event(RED, 1_000_001, "P", "a/E", etl.tl_field("x", UINT8), b"\x07",
                             opcode=3, level=2, keyword=0x20, activity=BLUE, number=9)
        path = self.trace(event, etl.instance(BLUE, 1_000_002, 5, 4, RED))
        names = ("file,level,keyword,name,provider,event,event_class,provider_id,event_class_id,"
                 "event_id,version,opcode,task,channel,"
                 "activity,"
                 "instance,parent_instance,parent_class_id,payload,payload_bytes,x,cpu,time_error,"
                 "duration")
        first, second = self.lines("--columns", names, path)
        self.assertEqual(first.split(), [path, "2", "0x20", "E", "P", "P/a/E/3", "P/a/E", RED, RED,
                                         "9", "0", "3", "0", "11", BLUE, "-", "-", "-", "07", "1",
                                         "7", "0", "-", "-"])
        self.assertEqual(second.split(),
                         [path, "4", "-", "-", "-", f"{BLUE}/1", BLUE, "-", BLUE, "-",
                                          "0", "1", "-", "-", "-", "5", "4", RED, "-", "0", "-",
                                          "0", "-", "-"])
        out, _ = self.run_etwas("dump", "--columns", names, path)
        self.assertEqual(out.splitlines()[0], "# " + names.replace(",", " "))

    def test_a_related_activity_is_a_column_and_a_key(self):
        item = etl.extended_item(1, uuid.UUID(BLUE).bytes_le, False)
        path = self.trace(*(etl.tl_event(RED, 1_000_001 + i, "P", "E", activity=RED, items=items)
                            for i, items in enumerate((item, etl.extended_item(1, bytes(15), False),
                                                       b""))))
        self.assertEqual(self.lines("--columns", "activity,related_activity", path)[1:],
                         [f"{RED} {BLUE}", f"{RED} -", f"{RED} -"])
        events = self.objects(path)
        self.assertEqual([e.get("related_activity") for e in events], [BLUE, None, None])
        self.assertTrue(all("extended" not in e for e in events[::2]))
        self.assertEqual(events[1]["extended"][0]["type"], 1)
        self.assertEqual(len(self.lines("--where", f'related_activity == "{BLUE}"', path)), 1)

    def test_a_stack_is_a_column_and_an_array(self):
        wide = etl.extended_item(6, struct.pack("<QQQ", 0, 0x7F00AB, 0xFFFFFFFFFFFFFFFF), False)
        narrow = etl.extended_item(5, struct.pack("<QI", 0, 0x1234), False)
        path = self.trace(*(etl.tl_event(RED, 1_000_001 + i, "P", "E", items=items)
                            for i, items
                            in enumerate((wide, narrow, etl.extended_item(6, bytes(8), False),
                                          etl.extended_item(6, bytes(3), False), b""))))
        self.assertEqual(self.lines("--columns", "call_stack", path)[1:],
                         ["0x7F00AB,[cut]", "0x1234", "-", "-", "-"])
        events = self.objects(path)
        self.assertEqual([e.get("call_stack") for e in events],
                         [["0x7F00AB", "[cut]"], ["0x1234"], None, None, None])
        self.assertTrue(all("extended" not in e for e in events))
        self.assertEqual(self.objects("--hex", path)[0]["extended"][0]["type"], 6)
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", etl.tl_field("stack", UINT8),
                                       b"\x07"))
        # a field may be called so
        self.assertEqual(self.fields("--where", "stack == 7", path), ["P/E stack=7"])

    def test_hex_is_a_choice_of_columns_too(self):
        path = self.trace(etl.classic(RED, 1_000_001, payload=b"\x01"))
        names = ("time,cpu,pid,tid,event,opcode,level,instance,parent_instance,parent_class_id,"
                 "payload")
        self.assertEqual(self.run_etwas("dump", "--hex", path),
                         self.run_etwas("dump", "--columns", names, path))

    def test_a_field_that_no_event_has_is_reported(self):
        path = self.trace(*heap_events())
        _, error = self.run_etwas("dump", "--columns", "size,sizee,fields.time,p.x", path)
        self.assertEqual(
            error, "".join(
                f"etwas dump: note: no event has a field '{name}'; 'etwas schema' tells which "
                "there are\n" for name in (
                    "sizee", "time", "p.x")))
        _, error = self.run_etwas("dump", "--columns", "time", "--columns", "pid", path,
                                  expect=FAILED)
        self.assertIn("--columns: it was given before. One list, with commas, takes all", error)

    def test_stamps_in_fields_are_times_as_the_events_own(self):
        path = self.trace(etl.interrupt(1_000_005, 1_000_003), etl.interrupt(1_000_006, 1_000_006),
                          etl.interrupt(1_000_007, 0))
        times = [(TIME.replace("100Z", "500Z"), TIME.replace("100Z", "300Z")),
                 (TIME.replace("100Z", "600Z"),) * 2, (TIME.replace("100Z", "700Z"), "0")]
        self.assertEqual([line.split() for line in self.lines("--columns", "time,InitialTime",
                                                              path)[1:]], [list(t) for t in times])
        self.assertIn(f" InitialTime={times[0][1]} Routine=", self.lines(path)[0])
        self.assertIn("InitialTime=1000003 ", self.lines("--times=raw", path)[0])
        self.assertEqual(self.fields("--where", "InitialTime == 1000003", path),
                         self.fields("--limit", "2", path))
        for clock, key in (((), "time"), (("--times=qpc",), "qpc_time"),
                           (("--times=system",), "system_time")):
            first, same, none = self.objects(*clock, path)
            self.assertEqual([event["fields"]["InitialTime"] for event in (first, same, none)],
                             [1_000_003, 1_000_006, 0])
            self.assertEqual(same["field_times"]["InitialTime"], same[key])
            self.assertNotEqual(first["field_times"]["InitialTime"], first[key])
            self.assertIsNone(none["field_times"]["InitialTime"])
        self.assertNotIn("field_times", self.objects("--times=raw", path)[0])

    def test_a_place_in_a_file_that_is_no_number_is_a_word(self):
        places = (2**64 - 1, 2**64 - 2, 2**64 - 3, 0)
        path = self.trace(*(etl.system(etl.FILE_GROUP, 67, 1_000_001 + i,
                                       struct.pack("<QQQQIIII", at, 0, 0, 0, 11, 1, 0, 0))
                            for i, at in enumerate(places)))
        self.assertEqual(self.lines("--columns", "event,Offset", path),
                         [f"MSNT_SystemTrace/FileIo/Read {at}"
                          for at in ("end", "position", *places[2:])])
        self.assertIn(" Offset=end ", self.lines(path)[0])
        self.assertEqual(self.objects(path)[0]["fields"]["Offset"], str(2**64 - 1))
        self.assertEqual(len(self.lines("--where", f"Offset == {2**64 - 2}", path)), 1)

    def test_the_time_as_recorded_is_a_column_beside_any_other(self):
        path = self.trace(etl.classic(RED, 1_000_005), etl.classic(RED, 1_000_007))
        self.assertEqual(self.lines("--columns", "raw_time,time", path)[1:],
                         [f"1000005 {TIME.replace('100Z', '500Z')}",
                          f"1000007 {TIME.replace('100Z', '700Z')}"])
        self.assertEqual(self.lines("--columns", "raw_time", "--where", "time > 600ns", path),
                         ["1000007"])
        self.assertEqual(self.lines("--columns", "raw_time,time", "--times=raw", path)[1:],
                         ["1000005 1000005", "1000007 1000007"])
        self.assertEqual(self.lines("--columns", "raw_time,time", "--times=qpc",
                                    path)[1].split()[0], "1000005")

    def test_several_values_of_a_column_stand_in_brackets(self):
        fields = etl.tl_field("s", STRUCT, 1, count=2) + etl.tl_field("x", ANSI)
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", fields, b"a\0b\0"))
        self.assertIn('["a", "b"]', self.lines("--columns", "s.x", path))

    def test_wrong_columns_are_refused(self):
        path = self.trace()
        for columns in ("", "time,", "x" * 300, ",".join(["time"] * 65)):
            _, error = self.run_etwas("dump", "--columns", columns, path, expect=FAILED)
            self.assertIn("--columns", error)
        _, error = self.run_etwas("dump", "--json", "--columns", "time", path, expect=FAILED)
        self.assertIn("--columns and --json exclude each other", error)


if __name__ == "__main__":
    sys.exit(main())
