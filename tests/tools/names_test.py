# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Events by name: what `etwas dump`, `stat` and `schema` show of traces that describe their events.

usage: names_test.py PATH_OF_ETWAS TEST_CLASS
"""

import csv
import io
import json
import struct
import sys
import unittest
import uuid

import etl_build as etl
import tool_test
from tool_test import BLUE, DAMAGED, FINE, OPEN, RED, USAGE, ToolTest

HEAP = "a3c81b52-0e9d-4b7e-8d46-2f5c90d7e6b4"
TITLE = "# time cpu process thread event fields"
TIME = "2026-01-01T00:00:00.0000001Z"
UINT8, UINT16, INT32, UINT32, INT64, UINT64, DOUBLE, GUID, UNICODE, ANSI, HEX64, STRUCT = 4, 6, 7, 8, 9, 10, 12, 15, 1, 2, 21, 24
POINTER, STRING_OUT = 16, 2
WIN32ERROR, HRESULT = 13, 15


def heap_events():
    """A class with two types, an enumeration, and a description that comes last."""
    fields = [("size", UINT64, 0), ("address", POINTER, 0)]
    calls = [etl.instance(HEAP, 1_000_001 + i, i + 1, kind=10, payload=struct.pack("<QQ", size, 0x7F99DA8080))
             for i, size in enumerate((37, 4096, 5000))]
    free = etl.instance(HEAP, 1_000_100, 9, kind=14, payload=struct.pack("<QI", 0x7F99DA8080, 2))
    names = [etl.event_info(1_000_200, HEAP, 10, "heap", "Call", "malloc", fields),
             etl.event_info(1_000_201, HEAP, 14, "heap", "Call", "free",
                            [("address", POINTER, 0), ("reason", UINT32, 0, "Reason")]),
             etl.map_info(1_000_202, HEAP, "Reason", [(1, "asked "), (2, "at exit ")])]
    return [*calls, free, *names]


class NamesTest(ToolTest):
    def trace(self, *events, name="a.etl", **options):
        return self.write(name, etl.trace([(0, list(events))], **options))

    def lines(self, *arguments, expect=FINE):
        """What stands behind the time of each event, without the title and the header event."""
        out, _ = self.run_etwas("dump", *arguments, expect=expect)
        lines = out.splitlines()
        self.assertTrue(lines[0].startswith("# "), lines[0])
        return [line for line in lines[1:] if "EventTrace/" not in line]

    def fields(self, *arguments, expect=FINE):
        """The events and their fields alone."""
        return self.lines("--columns", "event,fields", *arguments, expect=expect)

    def objects(self, *arguments, expect=FINE):
        out, _ = self.run_etwas("dump", "--json", *arguments, expect=expect)
        return [o for o in map(json.loads, out.splitlines()) if not o.get("event", "").startswith("EventTrace")
                and o["class"] != "68fdd900-4a3e-11d1-84f4-0000f80464e3"]


class Text(NamesTest):
    def test_a_described_class_is_shown_by_name_though_its_description_comes_last(self):
        path = self.trace(*heap_events())
        out, error = self.run_etwas("dump", path)
        self.assertEqual(error, "")
        self.assertEqual(out.splitlines()[0], TITLE)
        self.assertEqual(self.lines(path)[0].split(), [
            TIME, "0", "10", "11", "heap/Call/malloc", "size=37", "address=0x7F99DA8080"])
        self.assertEqual(self.fields(path)[3], "heap/Call/free address=0x7F99DA8080 reason=at exit")
        self.assertEqual(len(self.lines(path)), 4)  # what describes is not shown
        self.assertEqual(len(self.lines("--hex", path)), 7)

    def test_lines_are_whole_where_the_buffer_of_the_output_ends(self):
        # Two threads take turns of two events, on processors that make them share what is kept of such columns.
        origins = [("0", "10", "10001"), ("1", "10", "10000")]
        for first in (0, 1):  # either the first or the second of a turn is at the end
            turns = [(stamp + first) // 2 % 2 for stamp in range(26_000)]
            per_buffer = [(odd, [etl.classic(HEAP, 1_000_001 + stamp, thread=int(origins[odd][2]))
                                 for stamp in range(at, at + 200) if turns[stamp] == odd])
                          for at in range(0, len(turns), 200) for odd in (0, 1)]
            out, _ = self.run_etwas("dump", "--columns", "cpu,process,thread",
                                    self.write("a.etl", etl.trace(per_buffer)))
            self.assertGreater(len(out), 512 * 1024)
            shown = [tuple(line.split()) for line in out.splitlines()[2:]]
            self.assertTrue(shown == [origins[odd] for odd in turns])

    def test_a_description_holds_from_where_it_stands_the_first_for_the_events_before_it_too(self):
        first, second = ([(name, UINT32, 0)] for name in ("old", "new"))
        event = [etl.classic(HEAP, 1_000_000 + i, kind=10, payload=struct.pack("<I", i)) for i in range(5)]
        path = self.trace(event[0], etl.event_info(1_000_001, HEAP, 10, "heap", "", "malloc", first), *event[1:3],
                          etl.event_info(1_000_003, HEAP, 10, "heap", "", "malloc", second), event[4])
        self.assertEqual(self.fields(path), [
            "heap/malloc old=0", "heap/malloc old=1", "heap/malloc old=2", "heap/malloc new=4"])

    def test_fields_are_written_by_their_types(self):
        fields = (etl.tl_field("n", INT32) + etl.tl_field("h", HEX64) + etl.tl_field("t", UNICODE)
                  + etl.tl_field("f", DOUBLE) + etl.tl_field("g", GUID) + etl.tl_field("b", UINT8, 3)
                  + etl.tl_field("e", ANSI))
        payload = (struct.pack("<iQ", -5, 0xABC) + etl.utf16('a "b"\n\\') + struct.pack("<d", 1.5)
                   + uuid.UUID(RED).bytes_le + b"\x01\0")
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", fields, payload))
        self.assertEqual(self.fields(path), [
            rf'P/E n=-5 h=0xABC t="a \"b\"\n\\" f=1.5 g={{{RED}}} b=true e=""'])

    def test_structs_and_arrays_show_what_is_in_them(self):
        fields = (etl.tl_field("p", STRUCT, 2) + etl.tl_field("x", UINT8) + etl.tl_field("q", STRUCT, 1)
                  + etl.tl_field("y", UINT8) + etl.tl_field("list", UINT16, listed=True)
                  + etl.tl_field("two", UINT8, count=2) + etl.tl_field("none", UINT8, listed=True)
                  + etl.tl_field("s", STRUCT, 1, listed=True) + etl.tl_field("z", UINT8)
                  + etl.tl_field("text", UINT16, STRING_OUT, listed=True) + etl.tl_field("names", ANSI, count=2))
        payload = (b"\x01\x02" + struct.pack("<HHHH", 3, 7, 8, 9) + b"\x0a\x0b" + b"\0\0" + b"\x02\0\x21\x22"
                   + struct.pack("<H", 3) + 'a"\U0001F600'.encode("utf-16-le")[:6] + b"u\0v w\0")
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", fields, payload))
        self.assertEqual(self.fields(path), [
            r'P/E p={x=1 q={y=2}} list=[7, 8, 9] two=[10, 11] none=[] s=[{z=33}, {z=34}] '
            'text="a\\"\ufffd" names=["u", "v w"]'])
        event, = self.objects(path)
        self.assertEqual(event["fields"], {
            "p": {"x": 1, "q": {"y": 2}}, "list": [7, 8, 9], "two": [10, 11], "none": [],
            "s": [{"z": 33}, {"z": 34}], "text": 'a"\ufffd', "names": ["u", "v w"]})

    def test_self_describing_events_of_one_name_have_their_opcode_behind_it(self):
        path = self.trace(*(etl.tl_event(RED, 1_000_001 + opcode, "P", "E", opcode=opcode) for opcode in (0, 1, 2, 9)))
        self.assertEqual(self.fields(path), ["P/E -", "P/E/Start -", "P/E/Stop -", "P/E/9 -"])
        self.assertEqual([(o["event"], o["type"]) for o in self.objects(path)], [("E", 0), ("E", 1), ("E", 2), ("E", 9)])
        self.assertEqual(len(self.fields("--where", 'name == "E"', path)), 4)

    def test_a_truncated_payload_shows_whole_fields_and_what_is_missing_and_is_told_once(self):
        fields = etl.tl_field("a", UINT32) + etl.tl_field("b", UINT64) + etl.tl_field("c", UINT8)
        short = struct.pack("<I", 7) + b"\x01\x02\xff"
        path = self.trace(*(etl.tl_event(RED, 1_000_001 + i, "P", "E", fields, short) for i in range(3)))
        self.assertEqual(self.fields(path), ["P/E a=7 b=(truncated: 0102ff)"] * 3)
        _, error = self.run_etwas("dump", path)
        self.assertEqual(error, f"etwas: {path}: P/E at {TIME}: its schema contradicts its payload: "
                                "of 7 bytes, 'b' begins at byte 4 and ends behind the last (told once)\n")
        event = self.objects(path)[0]
        self.assertEqual((event["fields"], event["truncated"], event["rest"]), ({"a": 7}, "b", "0102ff"))

    def test_what_makes_no_sense_is_told_once_for_each_kind_of_event_with_its_place(self):
        senseless = etl.tl_field("p", STRUCT, 2)  # its members are not there
        cut = etl.classic(etl.METADATA_CLASS, 1_000_004, kind=32, payload=b"\x05" * 20)
        path = self.trace(*(etl.tl_event(RED, 1_000_001 + i, "P", name, senseless) for i, name in enumerate("EEF")),
                          cut, cut)
        self.assertEqual(self.fields(path)[:3], ["P/E -", "P/E -", "P/F -"])
        self.assertEqual(self.run_etwas("dump", path)[1].splitlines(), [
            f"etwas: {path}: P/E at {TIME}: what describes it makes no sense (told once)",
            f"etwas: {path}: P/F at {TIME.replace('1Z', '3Z')}: what describes it makes no sense (told once)",
            f"etwas: {path}: {etl.METADATA_CLASS}/32 at {TIME.replace('1Z', '4Z')}: "
            "what it says of other events makes no sense (told once)"])

    def test_bytes_behind_the_last_field_are_shown_and_are_nothing_wrong(self):
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", etl.tl_field("a", UINT8), b"\x01\x02\x03"),
                          etl.tl_event(RED, 1_000_002, "P", "F", b"", b"\x04"))
        self.assertEqual(self.fields(path), ["P/E a=1 (2 more bytes: 0203)", "P/F (1 more byte: 04)"])
        self.assertEqual(self.run_etwas("dump", path)[1], "")
        event = self.objects(path)[0]
        self.assertEqual((event["fields"], event["rest"]), ({"a": 1}, "0203"))
        self.assertNotIn("truncated", event)

    def test_an_event_that_nothing_describes_stays_readable_with_its_ids(self):
        path = self.trace(etl.classic(RED, 1_000_001, kind=7, payload=b"\x01\xab"), etl.classic(RED, 1_000_002),
                          etl.described(BLUE, 1_000_003, 65535, 200),
                          etl.message(7, 0x02, uuid.UUID(RED).bytes_le, b"\x05"),
                          etl.message(8, 0x04, struct.pack("<I", 5)), etl.message(9, 0),
                          etl.classic("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c", 1_000_004, kind=99))
        self.assertEqual(self.fields(path)[:6], [
            f"{RED}/7 payload=01ab", f"{RED}/1 -", f"{BLUE}/#65535 -", f"{RED}/message:7 payload=05",
            "component:5/message:8 -", "message:9 -"])
        self.assertEqual(self.fields(path)[6].split("/")[0], "Thread")
        self.assertEqual(self.objects(path)[0]["payload"], "01ab")

    def test_a_string_of_a_provider_without_a_name_says_whose_it_is(self):
        event = etl.described(BLUE, 1_000_001, 0, 0, payload=etl.utf16("hello"), flags=0x0004)
        path = self.trace(event, etl.described(RED, 1_000_002, 0, 0, payload=etl.utf16("ho"), flags=0x0004))
        self.assertEqual(self.fields(path), [f'{BLUE}/#0 String="hello"', f'{RED}/#0 String="ho"'])

    def test_an_event_that_nothing_describes_has_its_providers_name_if_other_events_say_it(self):
        path = self.trace(etl.classic(HEAP, 1_000_000, kind=99, payload=b"\x05"),
                          etl.described(RED, 1_000_001, 7, 0), *heap_events(),
                          etl.tl_event(RED, 1_000_300, "P", "E"))
        self.assertEqual(self.fields(path)[:2], ["heap/99 payload=05", "P/#7 -"])
        self.assertEqual(self.objects(path)[0]["provider"], "heap")
        self.assertEqual(self.fields(path, "--where", 'provider == "heap" && type == 99'), ["heap/99 payload=05"])
        self.assertEqual(len(self.lines(path, "--hex", "--where", 'provider == "P"')), 1)
        out, _ = self.run_etwas("stat", path)
        self.assertIn("heap/99\n", out)
        self.assertIn("P/#7\n", out)

    def test_a_message_is_shown_by_its_format(self):
        guid = uuid.UUID(RED).bytes_le
        path = self.trace(etl.message(7, 0x02, guid, struct.pack("<i", -5) + b'a "b"\x1b\0'),
                          etl.message(8, 0x02, guid, b"\x01"),
                          etl.message_format(1_000_001, RED, 7, "took %d of %s\n"))
        self.assertEqual(self.fields(path), [rf'{RED}/message:7 "took -5 of a \"b\"\x1b\n"',
                                             f"{RED}/message:8 payload=01"])
        first, second = self.objects(path)
        self.assertEqual((first["text"], first["message"]), ('took -5 of a "b"\x1b\n', 7))
        self.assertNotIn("payload", first)
        self.assertEqual(second["payload"], "01")
        rows = self.run_etwas("dump", "--csv", "--columns", "fields", path)[0].split("\r\n")
        self.assertEqual(rows[-3], r'"took -5 of a ""b""\x1b\x0a"')

    def test_what_a_message_s_text_has_not_of_its_payload_is_shown(self):
        guid = uuid.UUID(RED).bytes_le
        path = self.trace(etl.message(7, 0x02, guid, b"\1\0\0\0\2\3"), etl.message(7, 0x02, guid, b"\1\0\0\0"),
                          etl.message(8, 0x02, guid, b"\1\0\0\0\2\3"), etl.message(8, 0x02, guid, b"\1\0\0\0\2"),
                          etl.message(8, 0x02, guid, b"\1\0\0\0"), etl.message_format(1_000_001, RED, 7, "%d and %u"),
                          etl.message_format(1_000_001, RED, 8, "%d"))
        shown = ['"1 and …" (truncated: 0203)', '"1 and …" (truncated)', '"1" (2 more bytes: 0203)', '"1" (1 more byte: 02)',
                 '"1"']
        self.assertEqual([line.split(" ", 1)[1] for line in self.fields(path)], shown)
        self.assertEqual(self.lines("--columns", "text", path)[1:], ['"1 and …"'] * 2 + ['"1"'] * 3)
        out, error = self.run_etwas("dump", "--csv", "--columns", "fields", path)
        self.assertEqual(out.split("\r\n")[2:-1], [text.replace('"', "") for text in shown])
        self.assertEqual(error.replace(TIME, "").count("told once"), 1)
        self.assertIn(f"{RED}/message:7 at ", error)
        self.assertIn(": its format contradicts its payload: of 6 bytes, 'argument 2' begins at byte 4 and ends behind the "
                      "last (told once)\n", error)
        self.assertEqual([(o["text"], o.get("truncated"), o.get("rest")) for o in self.objects(path)], [
            ("1 and …", "argument 2", "0203"), ("1 and …", "argument 2", ""), ("1", None, "0203"), ("1", None, "02"),
            ("1", None, None)])

    def test_a_schema_without_sense_is_told_once_and_its_events_are_shown_as_bytes(self):
        good = bytearray(etl.tl_event(RED, 1_000_001, "P", "E", etl.tl_field("a", UINT32), b"\x01\0\0\0"))
        at = good.index(b"a\0\x08")
        good[at + 2] = 0x1F  # no type
        path = self.trace(bytes(good), bytes(good))
        self.assertEqual(self.fields(path), ["P/E payload=01000000"] * 2)
        _, error = self.run_etwas("dump", path)
        self.assertEqual(error, f"etwas: {path}: P/E at {TIME}: what describes it makes no sense (told once)\n")

    def test_no_control_character_of_names_and_payloads_gets_to_the_terminal(self):
        evil = "\x1b]0;x\x07\r\n\t\x7f\x9b\u202e"
        fields = etl.tl_field(evil, UNICODE) + etl.tl_field("b", ANSI) + etl.tl_field("u", ANSI, 35)
        path = self.trace(etl.tl_event(RED, 1_000_001, evil, evil, fields,
                                       etl.utf16(evil) + b"\x1b[2J\xff\0" + evil.encode() + b"\0"),
                          etl.event_info(1_000_002, HEAP, 10, evil, evil, evil, [(evil, UINT32, 0, evil)]),
                          etl.map_info(1_000_002, HEAP, evil, [(1, evil)]),
                          etl.classic(HEAP, 1_000_003, kind=10, payload=struct.pack("<I", 1)))
        allowed = {"--csv": "\r\n"}
        for arguments in (["dump"], ["dump", "--csv"], ["dump", "--json"], ["dump", "--hex"], ["stat"],
                          ["stat", "--json"], ["schema"], ["schema", "--json"],
                          ["dump", "--columns", "name,provider,event,fields,u"]):
            out, error = self.run_etwas(*arguments, path)
            for character in out + error:
                if character not in allowed.get(arguments[-1], "\n"):
                    self.assertGreaterEqual(ord(character), 0x20, (arguments, out))
                    self.assertNotIn(character, "\x7f\x9b\u202e", (arguments, out))
        self.assertIn(r'\u{202e}="\x1b]0;x\x07\r\n\t', self.fields(path)[0])
        self.assertEqual(self.objects(path)[0]["fields"][evil], evil)

    def test_times_have_nine_digits_where_the_clock_has_nanoseconds(self):
        event = etl.tl_event(RED, 1_000_000 + 123_456_789, "P", "E")
        path = self.trace(event, frequency=1_000_000_000)
        self.assertEqual(self.lines(path)[0].split()[0], "2026-01-01T00:00:00.123456789Z")
        self.assertEqual(self.objects(path)[0]["time"], "2026-01-01T00:00:00.123456789Z")
        self.assertEqual(self.lines("--hex", path)[0].split()[0], "2026-01-01T00:00:00.1234567Z")
        self.assertEqual(self.lines(self.trace(event, name="b.etl"))[0].split()[0], "2026-01-01T00:00:12.3456789Z")

    def test_no_flipped_bit_of_what_describes_events_crashes_it_or_spoils_its_json(self):
        good = etl.trace([(0, [*heap_events(), etl.tl_event(
            RED, 1_000_300, "P", "E", etl.tl_field("p", STRUCT, 1) + etl.tl_field("list", ANSI, listed=True),
            b"\x02\0a\0b\0")])])
        end = good.index(b"\xff" * 64, etl.BUFFER_BYTES)
        for at in range(etl.BUFFER_BYTES + 72, end, 5):
            data = bytearray(good)
            data[at] ^= 1 << at // 5 % 8
            path = self.write("flipped.etl", bytes(data))
            for arguments in (["dump", "--json", "--where", "size > 1 || list == \"a\" || !p.list"],
                              ["schema", "--json"]):
                result = tool_test.subprocess.run([tool_test.ETWAS, *arguments, path], capture_output=True,
                                                  check=False, timeout=100)
                self.assertIn(result.returncode, (FINE, OPEN, DAMAGED), (at, result.stderr))
                for line in result.stdout.decode("utf-8").splitlines():
                    json.loads(line)


class Json(NamesTest):
    def test_fields_have_types_and_names_stand_apart(self):
        self.assertEqual(self.objects(self.trace(*heap_events()))[3], {
            "time": "2026-01-01T00:00:00.0000100Z", "processor": 0, "process": 10, "thread": 11, "class": HEAP,
            "provider": "heap", "event": "Call/free", "type": 14, "level": 4, "version": 0, "instance": 9,
            "parent_instance": 0, "parent_class": tool_test.NO_GUID,
            "fields": {"address": 0x7F99DA8080, "reason": "at exit"}})

    def test_names_that_come_again_are_told_apart(self):
        fields = etl.tl_field("a", UINT8) + etl.tl_field("b", UINT8) + etl.tl_field("a", UINT8) + etl.tl_field("a", UINT8)
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", fields, bytes([1, 2, 3, 4])))
        out, _ = self.run_etwas("dump", "--json", path)
        self.assertIn('"fields":{"a":1,"b":2,"a#2":3,"a#3":4}', out)
        self.assertEqual(self.fields(path), ["P/E a=1 b=2 a=3 a=4"])

    def test_numbers_are_whole_and_what_json_cannot_say_is_null(self):
        fields = etl.tl_field("u", UINT64) + etl.tl_field("i", INT64) + etl.tl_field("f", DOUBLE, count=3)
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", fields, struct.pack(
            "<Qqddd", 2**64 - 1, -2**63, 0.1, float("inf"), float("nan"))))
        self.assertEqual(self.objects(path)[0]["fields"],
                         {"u": 2**64 - 1, "i": -2**63, "f": [0.1, None, None]})

    def test_a_decoded_event_keeps_the_items_that_do_not_describe_it(self):
        event, = self.objects(self.trace(etl.tl_event(RED, 1_000_001, "P", "E")))
        self.assertNotIn("extended", event)
        self.assertNotIn("payload", event)
        self.assertEqual((event["provider"], event["event"], event["fields"]), ("P", "E", {}))


class Csv(NamesTest):
    def rows(self, *arguments):
        out, _ = self.run_etwas("dump", "--csv", *arguments)
        self.assertEqual(out.count("\n"), out.count("\r\n"))
        return list(csv.reader(io.StringIO(out, newline=""), strict=True))

    def test_rows_have_the_columns_and_quotes_where_they_are_needed(self):
        fields = etl.tl_field("t", ANSI) + etl.tl_field("n", UINT32)
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", fields, b'a,"b"\r\n\0\x05\0\0\0'),
                          etl.classic(BLUE, 1_000_002))
        rows = self.rows("--columns", "time,event,t,n,fields", path)
        self.assertEqual(rows[0], ["time", "event", "t", "n", "fields"])
        self.assertEqual(rows[2:], [[TIME, "P/E", r'a,"b"\x0d\x0a', "5", r't="a,\"b\"\r\n" n=5'],
                                    [TIME.replace("1Z", "2Z"), f"{BLUE}/1", "", "", ""]])

    def test_without_columns_it_has_those_of_the_text(self):
        rows = self.rows(self.trace(*heap_events()))
        self.assertEqual(rows[0], TITLE[2:].split())
        self.assertEqual(rows[2], [TIME, "0", "10", "11", "heap/Call/malloc", "size=37 address=0x7F99DA8080"])


class Columns(NamesTest):
    def test_every_column_can_be_had_in_any_order(self):
        event = etl.tl_event(RED, 1_000_001, "P", "a/E", etl.tl_field("x", UINT8), b"\x07", opcode=3, level=2,
                             keyword=0x20, activity=BLUE, number=9)
        path = self.trace(event, etl.instance(BLUE, 1_000_002, 5, 4, RED))
        names = ("file,level,keyword,name,provider,event,class,type,id,version,opcode,task,channel,activity,"
                 "instance,parent,payload,x,cpu,error_ns,duration")
        first, second = self.lines("--columns", names, path)
        self.assertEqual(first.split(), ["1", "2", "0x20", "E", "P", "P/a/E/3", "P/a/E", "#9/3", "9", "0", "3", "0",
                                         "11", BLUE, "-", "-", "07", "7", "0", "-", "-"])
        self.assertEqual(second.split(), ["1", "4", "-", "-", "-", f"{BLUE}/1", BLUE, "1", "-", "0", "1", "-", "-",
                                          "-", "5", f"4@{RED}", "-", "-", "0", "-", "-"])
        out, _ = self.run_etwas("dump", "--columns", names, path)
        self.assertEqual(out.splitlines()[0], "# " + names.replace(",", " "))

    def test_a_stack_is_a_column_and_an_array(self):
        wide = etl.extended_item(6, struct.pack("<QQQ", 0, 0x7F00AB, 0xFFFFFFFFFFFFFFFF), False)
        narrow = etl.extended_item(5, struct.pack("<QI", 0, 0x1234), False)
        path = self.trace(*(etl.tl_event(RED, 1_000_001 + i, "P", "E", items=items)
                            for i, items in enumerate((wide, narrow, etl.extended_item(6, bytes(8), False),
                                                       etl.extended_item(6, bytes(3), False), b""))))
        self.assertEqual(self.lines("--columns", "call_stack", path)[1:],
                         ["0x7F00AB,0xFFFFFFFFFFFFFFFF", "0x1234", "-", "-", "-"])
        events = self.objects(path)
        self.assertEqual([e.get("call_stack") for e in events],
                         [["0x7F00AB", "0xFFFFFFFFFFFFFFFF"], ["0x1234"], None, None, None])
        self.assertTrue(all("extended" not in e for e in events))
        self.assertEqual(self.objects("--hex", path)[0]["extended"][0]["type"], 6)
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", etl.tl_field("stack", UINT8), b"\x07"))
        self.assertEqual(self.fields("--where", "stack == 7", path), ["P/E stack=7"])  # a field may be called so

    def test_hex_is_a_choice_of_columns_too(self):
        path = self.trace(etl.classic(RED, 1_000_001, payload=b"\x01"))
        names = "time,cpu,process,thread,class,type,level,instance,parent,payload"
        self.assertEqual(self.run_etwas("dump", "--hex", path), self.run_etwas("dump", "--columns", names, path))

    def test_a_field_that_no_event_has_is_told(self):
        path = self.trace(*heap_events())
        _, error = self.run_etwas("dump", "--columns", "size,sizee,fields.time,p.x", path)
        self.assertEqual(error, "".join(f"etwas: no event has a field '{name}'\n" for name in (
            "sizee", "time", "p.x")))

    def test_several_values_of_a_column_stand_in_brackets(self):
        fields = etl.tl_field("s", STRUCT, 1, count=2) + etl.tl_field("x", ANSI)
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", fields, b"a\0b\0"))
        self.assertIn('["a", "b"]', self.lines("--columns", "s.x", path))

    def test_wrong_columns_are_refused(self):
        path = self.trace()
        for columns in ("", "time,", "x" * 300, ",".join(["time"] * 65)):
            _, error = self.run_etwas("dump", "--columns", columns, path, expect=USAGE)
            self.assertIn("--columns", error)
        _, error = self.run_etwas("dump", "--json", "--columns", "time", path, expect=USAGE)
        self.assertIn("--columns does not go with --json", error)


class Where(NamesTest):
    def setUp(self):
        super().setUp()
        fields = (etl.tl_field("n", INT64) + etl.tl_field("t", ANSI) + etl.tl_field("f", DOUBLE)
                  + etl.tl_field("list", UINT16, listed=True) + etl.tl_field("p", STRUCT, 1) + etl.tl_field("x", UINT8)
                  + etl.tl_field("Raw Name", UINT8) + etl.tl_field("time", UINT8) + etl.tl_field("g", GUID))

        def payload(n, text, number, listed, x):
            return (struct.pack("<q", n) + text.encode() + b"\0" + struct.pack("<dH", number, len(listed))
                    + struct.pack(f"<{len(listed)}H", *listed) + bytes([x, x + 1, x + 2]) + uuid.UUID(BLUE).bytes_le)
        self.path = self.trace(
            etl.tl_event(RED, 1_000_001, "P", "GC/Start", fields, payload(-5, "/tmp/a", 1.5, [1, 2], 10), level=2,
                         keyword=0x21, process=77, thread=78, number=4, activity=BLUE),
            etl.tl_event(RED, 11_000_000, "P", "GC/Stop", fields, payload(4096, "", 0.0, [], 20)),
            etl.classic(BLUE, 21_000_000, kind=9))

    def matching(self, expression):
        """Numbers of the events that match: 1, 2 and 3."""
        keys = {"GC/Start": 1, "GC/Stop": 2}
        return [keys.get(o.get("event"), 3) for o in self.objects("--where", expression, self.path)]

    def check(self, cases):
        for expression, wanted in cases:
            with self.subTest(expression=expression):
                self.assertEqual(self.matching(expression), wanted)

    def test_numbers_compare_as_numbers(self):
        self.check([("n == -5", [1]), ("n != -5", [2]), ("n < 0", [1]), ("n >= 4096", [2]), ("n > 4095.5", [2]),
                    ("n > 4k", [2]), ("n >= 4Ki", [2]), ("n == 0x1000", [2]), ("-5 == n", [1]), ("n < f", [1]),
                    ("f == 1.5", [1]), ("f <= 18446744073709551615", [1, 2]), ("n < 18446744073709551615", [1, 2]),
                    ("n > -9223372036854775808", [1, 2]), ("1 == 1", [1, 2, 3]), ("x == 10", [])])

    def test_texts_compare_as_texts(self):
        self.check([('t == "/tmp/a"', [1]), ('t != "/tmp/a"', [2]), ('t contains "tmp"', [1]), ('t =~ "^/t.p"', [1]),
                    ("t == ''", [2]), ('t < "0"', [1, 2]), ('t == "\\x2ftmp/a"', [1]), ('t =~ "x"', []),
                    ('t == 5', []), (f'g == "{BLUE}"', [1, 2]), (f'g == "{{{BLUE.upper()}}}"', [1, 2])])

    def test_signs_bind_as_in_c(self):
        self.check([("n == -5 || n == 4096 && 1 == 2", [1]), ("(n == -5 || n == 4096) && 1 == 2", []),
                    ("!(n == -5)", [2, 3]), ("!n == 5", [1, 2, 3]), ("!!(n<0)", [1]), ("n<0&&n<0||n<0", [1])])

    def test_a_name_alone_is_neither_0_nor_empty(self):
        self.check([("n", [1, 2]), ("t", [1]), ("f", [1]), ("list", [1]), ("!t", [2, 3]), ("none", []),
                    ("keyword", [1])])

    def test_any_value_of_several_will_do(self):
        self.check([("list == 2", [1]), ("list != 2", [1]), ("!(list == 2)", [2, 3]), ("list > 1 && list < 2", [1])])

    def test_members_and_odd_names_are_fields(self):
        self.check([("p.x == 20", [2]), ("`Raw Name` == 11", [1]), ("fields.time == 12", [1]), ("`p`.`x` == 10", [1]),
                    ("fields.p.x == 10", [1]), ("`time` == 22", [2])])

    def test_bits_are_looked_at(self):
        self.check([("keyword & 0x20", [1]), ("keyword & 2", []), ("keyword & 0x21 == 0x21", [1]),
                    ("n & 0x1000", [1, 2]), ("t & 1", []), ("f & 1", [])])

    def test_properties_are_known_by_name(self):
        self.check([("level == 2", [1]), ("process == 77 && thread == 78", [1]), ("cpu == 0", [1, 2, 3]),
                    ("processor > 0", []), ('provider == "P"', [1, 2]), ('event == "GC/Stop"', [2]),
                    ('name == "Stop"', [2]), ("id == 4", [1]), ("type == 9", [3]), ("opcode == 9", [3]),
                    (f'class == "{RED}"', [1, 2]), (f'activity == "{BLUE}"', [1]), ("channel == 11", [1, 2]),
                    ("version == 0 && task == 0", [1, 2]), ("instance", []), ("parent", [])])

    def test_times_compare_with_dates_and_with_the_session_s_start(self):
        self.check([('time >= "2026-01-01T00:00:01"', [2, 3]), ('time == "2026-01-01T00:00:01Z"', [2]),
                    ('time < "2026-01-01 00:00"', []), ('time > "2025-12-31"', [1, 2, 3]),
                    ('time <= "2026-01-01T00:00:00.0000001Z"', [1]), ("time < 1s", [1]), ("time >= 1s", [2, 3]),
                    ("time == 100ns", [1]), ("time > 1500ms && time < 2.5s", [3])])
        for clock in ("raw", "qpc", "system"):
            out, _ = self.run_etwas("dump", "-j", "--clock", clock, "-w", 'time == "2026-01-01T00:00:01Z"', self.path)
            self.assertEqual(len(out.splitlines()), 1, clock)

    def test_the_duration_is_that_of_an_instance_or_activity(self):
        events = [etl.instance(RED, 1_000_000, 1, kind=1), etl.instance(RED, 1_000_010, 2, kind=1),
                  etl.instance(BLUE, 1_000_020, 1, kind=2), etl.instance(RED, 1_050_000, 1, kind=3),
                  etl.instance(RED, 1_100_000, 1, kind=2), etl.instance(RED, 1_100_010, 1, kind=2),
                  etl.tl_event(RED, 1_200_000, "P", "E", opcode=1, activity=BLUE),
                  etl.tl_event(RED, 1_200_000, "P", "E", opcode=2, activity=RED),
                  etl.tl_event(RED, 1_230_000, "P", "E", opcode=2, activity=BLUE),
                  etl.instance(RED, 1_300_010, 2, kind=2)]
        path = self.trace(*events, name="b.etl")
        for clock in ([], ["--clock=qpc"]):
            self.assertEqual([o["duration_ns"] for o in self.objects(*clock, "-w", "duration", path)],
                             [10_000_000, 3_000_000, 30_000_000])
        self.assertEqual([o["instance"] for o in self.objects("-w", "duration > 12.5ms", path)], [2])
        self.assertEqual(self.lines("--columns", "duration", path).count("3000000"), 1)

    def test_a_hundred_thousand_open_instances_are_matched(self):
        starts = [etl.instance(RED, 1_000_000 + i, i + 1, kind=1) for i in range(30_000)]
        ends = [etl.instance(RED, 2_000_000 + 2 * i, i + 1, kind=2) for i in range(30_000)]
        events = starts + ends
        path = self.write("b.etl", etl.trace([(0, events[at:at + 100]) for at in range(0, len(events), 100)]))
        self.assertEqual([o["duration_ns"] for o in self.objects("-w", "duration", path)],
                         [100 * (1_000_000 + i) for i in range(30_000)])

    def test_an_enumeration_compares_by_name_and_by_number(self):
        path = self.trace(*heap_events())
        self.assertEqual(len(self.objects("-w", 'reason == "at exit"', path)), 1)
        self.assertEqual(len(self.objects("-w", "reason == 2 && name == 'free'", path)), 1)
        self.assertEqual(len(self.objects("-w", "size > 4096 && name == \"malloc\"", path)), 1)

    def test_an_error_compares_by_name_and_by_number(self):
        fields = etl.tl_field("w", UINT32, out=WIN32ERROR) + etl.tl_field("h", UINT32, out=HRESULT)
        path = self.trace(*(etl.tl_event(RED, 1_000_001, "P", "E", fields, struct.pack("<II", code, 0x80070000 + code))
                            for code in (5, 6, 123456)))
        for expression, wanted in (('w == "ERROR_ACCESS_DENIED"', 1), ("w == 5", 1), ('h == "E_HANDLE"', 1),
                                   ('w contains "INVALID_HANDLE"', 1), ('w == "123456"', 1), ("w == 123456", 1),
                                   ('w != "ERROR_ACCESS_DENIED"', 2)):
            self.assertEqual(len(self.objects("-w", expression, path)), wanted, expression)

    def test_a_message_is_chosen_by_its_text(self):
        guid = uuid.UUID(RED).bytes_le
        path = self.trace(*(etl.message(7, 0x02, guid, struct.pack("<i", n) + b"a\0") for n in (5, 50, 500)),
                          etl.message(8, 0x02, guid, b"\x01"),
                          etl.message_format(1_000_001, RED, 7, "took %d of %s\n"))
        for expression, wanted in (('text contains "took 5"', 3), ('text =~ "took 50+ of"', 2), ("!text", 1),
                                   (r'text == "took 500 of a\n"', 1), ('text contains "took 5" && id == 7', 3)):
            self.assertEqual(len(self.objects("-w", expression, path)), wanted, expression)
            stat, = self.stat_json("--where", expression, path)
            self.assertEqual(stat["events"], wanted, expression)
        self.assertEqual(self.lines("--columns", "id,text", path)[-2:], [r'7 "took 500 of a\n"', "8 -"])

    def test_dates_and_guids_of_fields_compare_as_such(self):
        fields = etl.tl_field("when", 17) + etl.tl_field("day", 18) + etl.tl_field("g", GUID)
        payload = (struct.pack("<Q", 132756731757990000) + struct.pack("<8H", 2021, 9, 4, 9, 14, 59, 35, 799)
                   + uuid.UUID(RED).bytes_le)
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", fields, payload), name="b.etl")
        for expression, wanted in (('when == "2021-09-09T14:59:35.799"', 1), ('day == "2021-09-09 14:59:35.799Z"', 1),
                                   ("when == day", 1), ('when > "2021-09-10"', 0), ('day < "2021-09-09T15:00"', 1),
                                   ("time > when", 1), (f'g == "{RED.upper()}"', 1), ("class == g", 1)):
            self.assertEqual(len(self.objects("-w", expression, path)), wanted, expression)

    def test_what_may_have_been_meant_is_said(self):
        for expression, error in (("x == 20", "no event has a field 'x', but 'p.x'"),
                                  ("N == 1", "no event has a field 'N', but 'n'"),
                                  ("`raw name`", "no event has a field 'raw name', but 'Raw Name'"),
                                  ("name == Start", "no event has a field 'Start'; a string stands in quotes"),
                                  ("none == 1", "no event has a field 'none'")):
            self.assertEqual(self.run_etwas("dump", "-w", expression, self.path)[1], f"etwas: {error}\n")
        self.assertEqual(self.run_etwas("dump", "-C", "x", self.path)[1], "etwas: no event has a field 'x', but 'p.x'\n")

    def test_two_expressions_are_one_too_many(self):
        for command in ("dump", "stat"):
            _, error = self.run_etwas(command, "-w", "n", "--where", "t", self.path, expect=USAGE)
            self.assertIn("--where is given twice: && joins two", error)

    def test_stat_counts_what_matches(self):
        stat, = self.stat_json("--where", "n < 0", self.path)
        self.assertEqual((stat["events"], len(stat["classes"])), (1, 1))
        self.assertEqual(self.run_etwas("stat", "-w", "none == 1", self.path)[1], "etwas: no event has a field 'none'\n")

    def test_what_is_wrong_is_said_with_its_place(self):
        for expression, message, place, length in (
                ("", "expected a name, a number, a string, ! or (", 0, 1),
                ("size >", "expected a name, a number or a string to compare with", 6, 1),
                ("size > && n", "expected a name, a number or a string to compare with", 7, 2),
                ("(n == 1", "expected && or || or )", 7, 1), ("n == 1)", "expected && or ||, or the end", 6, 1),
                ("n = 1", "one = means nothing: == compares", 2, 1), ("n | 1", "one | means nothing: || is 'or'", 2, 1),
                ("n # 1", "this means nothing here", 2, 1), ('t == "a', "the string has no end", 5, 1),
                ('t == "\\q"', "no such escape", 6, 2), ("`a == 1", "the name has no end", 0, 1),
                ("a. == 1", "expected the name of a member", 2, 1), ("n > 5q", "no such unit", 5, 1),
                ("n > 0x", "0x without a digit", 4, 2), ("n > 0xg", "0x without a digit", 4, 2),
                ("n > 0x1g", "not a hexadecimal digit", 7, 1), ("n > 99999999999999999999", "the number does not fit", 4, 20),
                ("n > 99999999999999G", "the number does not fit", 4, 15), ('t =~ "("', "not an extended regular", 5, 3),
                ("t =~ n", "=~ takes a regular expression as a string", 5, 1),
                ("t contains 5", "contains takes a string", 11, 1), ('time > "soon"', "not a time", 7, 6),
                ('time > "2026-13-01"', "not a time", 7, 12), ("payload == 1", "this cannot be compared", 0, 7),
                ("n & m", "expected the bits", 4, 1), ("5 & 1", "& goes with the name", 2, 1),
                ("é == 1 |", "one |", 8, 1), ("(" * 65 + "n", "too deep", 64, 1), ("!" * 65 + "n", "too deep", 64, 1),
                (" || ".join(["n"] * 300), "the expression has too many parts", None, None),
                (" || ".join(f"n{i}" for i in range(80)), "there are too many different fields", None, None)):
            with self.subTest(expression=expression):
                for command in ("dump", "stat"):
                    out, error = self.run_etwas(command, "--where", expression, self.path, expect=USAGE)
                    lines = error.splitlines()
                    self.assertEqual(out, "")
                    self.assertIn(f"etwas {command}: --where: {message}", lines[0])
                    self.assertEqual(lines[1], "  " + expression)
                    if place is not None:
                        column = len(expression.encode()[:place].decode()) if expression.isascii() else place - 1
                        self.assertEqual(lines[2].replace("é", "e"), "  " + " " * column + "^" + "~" * (length - 1))


class Stat(NamesTest):
    def test_events_are_counted_by_name_with_numbers_for_people(self):
        path = self.trace(*heap_events(), etl.classic(RED, 1_000_300, kind=3), etl.described(BLUE, 1_000_301, 9, 0))
        out, _ = self.run_etwas("stat", self.trace(etl.message(9, 2, uuid.UUID(BLUE).bytes_le), name="message.etl"))
        self.assertRegex(out, rf"0 B  {BLUE}/message:9$")
        out, _ = self.run_etwas("stat", path)
        table = [line.split() for line in out.splitlines()[-5:]]
        self.assertEqual(table[1], ["3", "1.50", "48", "B", "heap/Call/malloc"])
        self.assertIn(["1", "0.50", "12", "B", "heap/Call/free"], table)
        self.assertIn(["1", "0.50", "0", "B", f"{RED}/3"], table)
        self.assertIn(["1", "0.50", "0", "B", f"{BLUE}/#9"], table)
        self.assertRegex(out, r"(?m)^  events +6 events; 3\.00 a second$")
        self.assertRegex(out, r"(?m)^  file +16\.4 kB; 8\.19 kB/s$")
        stat, = self.stat_json(path)
        self.assertEqual((stat["events"], stat["header_events"]), (6, 4))
        self.assertEqual(stat["classes"][0], {"class": HEAP, "name": "heap/Call/malloc", "type": 10, "events": 3,
                                              "payload_bytes": 48})

    def test_large_numbers_have_separators_and_units(self):
        size, count = 1 << 20, 8
        records = [etl.classic(RED, 1_000_001 + i, payload=bytes(40)) for i in range(11_000)]
        path = self.write("big.etl", etl.header_buffer(count + 1, size=size) + b"".join(
            etl.buffer(records, i + 1, i % 4, stamp=1 << 60, size=size) for i in range(count)))
        out, _ = self.run_etwas("stat", path)
        self.assertRegex(out, r"(?m)^  events +88,000 events; 44,000 a second$")
        self.assertRegex(out, r"(?m)^  payload +3\.52 MB, 40\.0 bytes an event$")
        self.assertRegex(out, r"(?m)^  file +9\.44 MB; 4\.72 MB/s$")
        self.assertRegex(out, rf"(?m)^ +88,000 +44,000 +3\.52 MB  {RED}/1$")


class Schema(NamesTest):
    def test_every_described_event_is_listed_with_its_fields(self):
        path = self.trace(*heap_events(), etl.tl_event(
            RED, 1_000_300, "Point", "Moved", etl.tl_field("p", STRUCT, 2, count=2) + etl.tl_field("x", INT32)
            + etl.tl_field("y", UINT8, 3) + etl.tl_field("list", UINT16, listed=True), bytes(12)))
        out, error = self.run_etwas("schema", path)
        self.assertEqual(error, "")
        for lines in (
                [f"heap  {HEAP}"],
                ["  Call/malloc  type 10", "    size     UInt64", "    address  Pointer"],
                ["  Call/free  type 14", "    address  Pointer", "    reason   UInt32  { 1 asked, 2 at exit }"],
                [f"Point  {RED}", "  Moved", "    p     struct[2]", "      x  Int32", "      y  UInt8 as Boolean",
                 "    list  UInt16[]"]):
            self.assertIn("\n" + "\n".join(lines) + "\n", out)
        self.assertTrue(out.startswith(f"{path}\n\nPoint  {RED}\n"), out)
        self.assertIn(f"\n\nheap  {HEAP}\n", out)
        self.assertNotIn("EventTrace", out)
        self.assertNotIn("Nothing", out)

    def test_the_start_and_the_stop_of_an_activity_are_told_apart(self):
        path = self.trace(*(etl.tl_event(RED, 1_000_300 + i, "Shop", "Order", etl.tl_field("x", INT32), bytes(4),
                                         opcode=i, number=7 * i) for i in (0, 1, 2)))
        out, _ = self.run_etwas("schema", path)
        for line in ("  Order", "  Order/Start  id 7", "  Order/Stop  id 14"):
            self.assertIn(f"\n{line}\n    x  Int32\n", out)
        out, _ = self.run_etwas("stat", path)
        for line in ("  Shop/Order", "  Shop/Order/Start", "  Shop/Order/Stop"):
            self.assertIn(f" 4 B{line}\n", out)

    def test_events_that_nothing_describes_are_counted(self):
        guid = uuid.UUID(BLUE).bytes_le
        described = [*heap_events(), etl.message(7, 2, guid, b""), etl.message_format(1_000_300, BLUE, 7, "text")]
        for events, line in (([etl.classic(RED, 1_000_400)], "Nothing describes 1 event; 'etwas stat' lists their kinds."),
                             ([etl.classic(RED, 1_000_400 + i) for i in range(9)] + [etl.message(8, 2, guid, b"")],
                              "Nothing describes 10 events; 'etwas stat' lists their kinds."), ([], "")):
            out, error = self.run_etwas("schema", self.trace(*described, *events))
            self.assertEqual((out.splitlines()[-1] if line else "", error), (line, ""))
            self.assertEqual("Nothing" in out, line != "")
            self.assertNotIn("Nothing", self.run_etwas("schema", "-j", self.trace(*described, *events))[0])

    def test_the_same_is_had_as_json(self):
        path = self.trace(*heap_events())
        out, _ = self.run_etwas("schema", "--json", path)
        free, = (o for o in map(json.loads, out.splitlines()) if o["event"] == "Call/free")
        self.assertEqual(free, {
            "file": path, "provider": "heap", "event": "Call/free", "class": HEAP, "source": "classic", "id": 0,
            "type": 14, "level": 4, "version": 0, "keyword": "0x0", "fields": [
                {"name": "address", "type": "Pointer"},
                {"name": "reason", "type": "UInt32", "values": [[1, "asked"], [2, "at exit"]]}]})
        help_text, _ = self.run_etwas("schema", "--help")
        for key in free:
            self.assertIn(key, help_text)

    def test_it_is_called_as_the_others_are(self):
        for arguments, word in ((["schema"], "which file"), (["schema", "--frob"], "frob")):
            _, error = self.run_etwas(*arguments, expect=USAGE)
            self.assertIn(word, error)
            self.assertIn("etwas schema --help", error)
        self.run_etwas("schema", "/nonexistent", expect=OPEN)
        path = self.write("cut.etl", etl.trace([(0, heap_events())])[:-4])
        out, error = self.run_etwas("schema", path, expect=DAMAGED)
        self.assertIn("Call/malloc", out)
        self.assertIn("damaged at byte", error)


def main():
    tool_test.ETWAS = sys.argv[1]
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(globals()[sys.argv[2]])
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
