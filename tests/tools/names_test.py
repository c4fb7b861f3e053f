# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Events by name: what `etwas dump` shows of traces that describe their events.

usage: names_test.py PATH_OF_ETWAS TEST_CLASS
"""

import struct
import sys
import uuid

import etl_build as etl
from etl_build import (ANSI, DOUBLE, GUID, HEX64, INT32, INT64, OUT_STRING, STRUCT, UINT16, UINT32,
                       UINT64, UINT8, UNICODE)
from tool_case import BLUE, EVENT, HEAP, RED, TIME, TITLE, NamesTest, heap_events, main


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
        # Two threads take turns of two events, on processors that make them share what is kept of
        # such columns.
        origins = [("0", "10", "10001"), ("1", "10", "10000")]
        for first in (0, 1):  # either the first or the second of a turn is at the end
            turns = [(stamp + first) // 2 % 2 for stamp in range(26_000)]
            per_buffer = [(odd, [etl.classic(HEAP, 1_000_001 + stamp, thread=int(origins[odd][2]))
                                 for stamp in range(at, at + 200) if turns[stamp] == odd])
                          for at in range(0, len(turns), 200) for odd in (0, 1)]
            out, _ = self.run_etwas("dump", "--all", "--columns", "cpu,pid,tid",
                                    self.write("a.etl", etl.trace(per_buffer)))
            self.assertGreater(len(out), 512 * 1024)
            shown = [tuple(line.split()) for line in out.splitlines()[2:]]
            self.assertTrue(shown == [origins[odd] for odd in turns])

    def test_a_description_holds_from_where_it_stands_the_first_for_the_events_before_it_too(self):
        first, second = ([(name, UINT32, 0)] for name in ("old", "new"))
        event = [etl.classic(HEAP, 1_000_000 + i, kind=10, payload=struct.pack("<I", i))
                 for i in range(5)]
        path = self.trace(event[0], etl.event_info(1_000_001, HEAP, 10, "heap", "", "malloc",
                                                   first), *event[1:3],
                          etl.event_info(1_000_003, HEAP, 10, "heap", "", "malloc", second),
                          event[4])
        self.assertEqual(self.fields(path), [
            "heap/malloc old=0", "heap/malloc old=1", "heap/malloc old=2", "heap/malloc new=4"])

    def part(self, number, *events):
        return self.trace(*events, name=f"{number}.etl", mode=8, own=[etl.totals(number)])

    def test_what_a_file_does_not_describe_another_given_does(self):
        def event(stamp):
            return etl.classic(HEAP, stamp, kind=10, payload=struct.pack("<I", stamp % 10))
        early = self.part(1, event(1_000_001))
        middle = self.part(2, event(1_000_012))
        last = self.part(3, event(1_000_023), etl.event_info(1_000_024, HEAP, 10, "heap", "",
                                                             "malloc", [("n", UINT32, 0)]))
        self.assertEqual(self.fields(last, early, middle), ["heap/malloc n=1", "heap/malloc n=2",
                                                            "heap/malloc n=3"])
        self.assertEqual(self.fields(early, middle), [f"{HEAP}/10 payload=01000000",
                                                      f"{HEAP}/10 payload=02000000"])
        for option in ([], ["--where", "opcode == 10"]):
            out, _ = self.run_etwas("stat", *option, early, last)
            self.assertEqual(out.count("\nheap/malloc "), 2)
        other = self.write("other.etl", etl.trace([(0, [event(1_000_005)])], name="another", mode=8,
                                                  own=[etl.totals(1)]))
        self.assertEqual(self.fields(other, last), ["heap/malloc n=5", "heap/malloc n=3"])

    def test_what_a_part_of_a_set_describes_itself_counts_for_it(self):
        def description(stamp, name, version=0):
            return etl.event_info(stamp, HEAP, 10, "heap", "", "malloc", [(name, UINT32, 0)],
                                  version=version)
        def event(stamp, version=0):
            record = bytearray(etl.classic(HEAP, stamp, kind=10,
                                           payload=struct.pack("<I", stamp % 10)))
            record[6] = version
            return bytes(record)
        early = self.part(1, event(1_000_001), description(1_000_002, "old"),
                          event(1_000_003, version=1))
        late = self.part(2, description(1_000_002, "new"), event(1_000_014),
                         description(1_000_015, "newer", version=1))
        self.assertEqual(self.fields(early, late), ["heap/malloc old=1", "heap/malloc newer=3",
                                                    "heap/malloc new=4"])

    def test_fields_are_written_by_their_types(self):
        fields = (etl.tl_field("n", INT32) + etl.tl_field("h", HEX64) + etl.tl_field("t", UNICODE)
                  + etl.tl_field("f", DOUBLE) + etl.tl_field("g", GUID)
                  + etl.tl_field("b", UINT8, 3)
                  + etl.tl_field("e", ANSI))
        payload = (struct.pack("<iQ", -5, 0xABC) + etl.utf16('a "b"\n\\') + struct.pack("<d", 1.5)
                   + uuid.UUID(RED).bytes_le + b"\x01\0")
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", fields, payload))
        self.assertEqual(self.fields(path), [
            rf'P/E n=-5 h=0xABC t="a \"b\"\n\\" f=1.5 g={{{RED}}} b=true e=""'])

    def test_a_name_with_blanks_stands_in_backticks_as_an_expression_wants_it(self):
        names = ("a + b", "a b\x1b", "c`d e", "plain")
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E",
                                       b"".join(etl.tl_field(n, UINT8) for n in names), bytes(4)))
        line, = self.fields(path)
        self.assertEqual(line, r"P/E `a + b`=0 `a b\x1b`=0 c`d\x20e=0 plain=0")
        self.assertEqual(self.fields("--where", "`a + b` == 0", path), [line])

    def test_what_its_schema_calls_nothing_to_read_is_only_in_json_and_columns(self):
        fields = (etl.tl_field("a", UINT8, 1) + etl.tl_field("b", UINT8)
                  + etl.tl_field("c", UINT8, 1, count=2)
                  + etl.tl_field("s", STRUCT, 1) + etl.tl_field("d", UINT8, 1))
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", fields, bytes(5)),
                          etl.tl_event(RED, 1_000_002, "P", "F", etl.tl_field("a", UINT8, 1),
                                       bytes(1)))
        self.assertEqual(self.fields(path), ["P/E b=0 c=[0, 0] s={}", "P/F -"])
        self.assertEqual(self.objects(path)[0]["fields"], {"a": 0, "b": 0, "c": [0, 0],
                                                           "s": {"d": 0}})
        self.assertEqual(self.lines("--columns", "a", "--where", "a == 0", path), ["0", "0"])

    def test_structs_and_arrays_show_what_is_in_them(self):
        fields = (etl.tl_field("p", STRUCT, 2) + etl.tl_field("x", UINT8)
                  + etl.tl_field("q", STRUCT, 1)
                  + etl.tl_field("y", UINT8) + etl.tl_field("list", UINT16, listed=True)
                  + etl.tl_field("two", UINT8, count=2) + etl.tl_field("none", UINT8, listed=True)
                  + etl.tl_field("s", STRUCT, 1, listed=True) + etl.tl_field("z", UINT8)
                  + etl.tl_field("text", UINT16, OUT_STRING, listed=True)
                  + etl.tl_field("names", ANSI, count=2))
        payload = (b"\x01\x02" + struct.pack("<HHHH", 3, 7, 8, 9) + b"\x0a\x0b" + b"\0\0"
                   + b"\x02\0\x21\x22"
                   + struct.pack("<H", 3) + 'a"\U0001F600'.encode("utf-16-le")[:6] + b"u\0v w\0")
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", fields, payload))
        self.assertEqual(self.fields(path), [
            r'P/E p={x=1 q={y=2}} list=[7, 8, 9] two=[10, 11] none=[] s=[{z=33}, {z=34}] '
            'text="a\\"\ufffd" (not UTF-16: 610022003DD8) names=["u", "v w"]'])
        event, = self.objects(path)
        self.assertEqual(event["fields"], {
            "p": {"x": 1, "q": {"y": 2}}, "list": [7, 8, 9], "two": [10, 11], "none": [],
            "s": [{"z": 33}, {"z": 34}], "text": 'a"\ufffd', "names": ["u", "v w"]})

    def test_self_describing_events_of_one_name_have_their_opcode_behind_it(self):
        path = self.trace(*(etl.tl_event(RED, 1_000_001 + opcode, "P", "E", opcode=opcode)
                            for opcode in (0, 1, 2, 9)))
        self.assertEqual(self.fields(path), ["P/E -", "P/E/Start -", "P/E/Stop -", "P/E/9 -"])
        self.assertEqual([(o["event"], o["opcode"]) for o in self.objects(path)],
                         [("P/E", 0), ("P/E/Start", 1), ("P/E/Stop", 2), ("P/E/9", 9)])
        self.assertEqual(len(self.fields("--where", 'name == "E"', path)), 4)

    def test_a_truncated_payload_shows_whole_fields_and_what_is_missing_and_is_reported_once(self):
        fields = etl.tl_field("a", UINT32) + etl.tl_field("b", UINT64) + etl.tl_field("c", UINT8)
        short = struct.pack("<I", 7) + b"\x01\x02\xff"
        path = self.trace(*(etl.tl_event(RED, 1_000_001 + i, "P", "E", fields, short)
                            for i in range(3)))
        self.assertEqual(self.fields(path), ["P/E a=7 b=(truncated: 0102ff)"] * 3)
        _, error = self.run_etwas("dump", path)
        self.assertEqual(
            error, f"etwas dump: {path}: P/E at {TIME}: its schema contradicts its payload: "
                   "of 7 bytes, 'b' begins at byte 4 and ends behind the last (told once)\n")
        event = self.objects(path)[0]
        self.assertEqual((event["fields"], event["truncated"], event["rest"]),
                         ({"a": 7}, "b", "0102ff"))

    def test_what_makes_no_sense_is_reported_once_for_each_kind_of_event_with_its_place(self):
        senseless = etl.tl_field("p", STRUCT, 2)  # its members are not there
        cut = etl.classic(etl.METADATA_CLASS, 1_000_004, kind=32, payload=b"\x05" * 20)
        path = self.trace(*(etl.tl_event(RED, 1_000_001 + i, "P", name, senseless)
                            for i, name in enumerate("EEF")),
                          cut, cut)
        self.assertEqual(self.fields(path)[:3], [f"P/{name} p={{?=(not described)}}"
                                                 for name in "EEF"])
        how = ("how '?' is read its description does not say in a way that is known: what is left "
               "from byte 0 on is not decoded")
        self.assertEqual(self.run_etwas("dump", "--all", path)[1].splitlines(), [
            f"etwas dump: {path}: P/E at {TIME}: {how} (told once)",
            f"etwas dump: {path}: P/F at {TIME.replace('100Z', '300Z')}: {how} (told once)",
            f"etwas dump: {path}: {etl.METADATA_CLASS}/32 at {TIME.replace('100Z', '400Z')}: "
            "what it says of other events makes no sense (told once)"])

    def test_fields_of_another_version_are_marked(self):
        def event(stamp, version, payload):
            record = bytearray(etl.classic(RED, stamp, payload=payload))
            record[6:8] = struct.pack("<H", version)
            return bytes(record)
        names = [etl.event_info(1_000_001 + version, RED, 1, "P", "", "E",
                                [("a", UINT8, 0), ("b", UINT8, 0)][:version], version=version)
                 for version in (0, 1, 2)]
        path = self.trace(*names, event(1_000_011, 2, b"\x01\x02"),
                          event(1_000_012, 3, b"\x03\x04\x05"), event(1_000_013, 9, b"\x06"),
                          event(1_000_014, 9, b""))
        self.assertEqual(self.fields(path), [
            "P/E a=1 b=2", "P/E a=3 b=4 (1 more byte: 05) (version 3 decoded as 2)",
            "P/E a=6 (version 9 decoded as 1)", "P/E (version 9 decoded as 0)"])
        self.assertEqual([o.get("decoded_as_version") for o in self.objects(path)], [None, 2, 1, 0])

    def test_of_an_unknown_version_of_what_is_built_in_what_all_have_is_shown_and_marked(self):
        def irq(stamp, version, payload):
            record = bytearray(etl.classic("01853a65-418f-4f36-aefc-dc0f1d2fd235", stamp, kind=21,
                                           payload=payload))
            record[6:8] = struct.pack("<H", version)
            return bytes(record)
        affinity = struct.pack("<Q", 3)
        number = struct.pack("<HHIIH", 1, 0, 16, 0, 0)
        path = self.trace(irq(1_000_001, 3, affinity + number),
                          irq(1_000_002, 9, affinity + number), irq(1_000_003, 9, b"\x01"))
        event, unknown = ("MSNT_SystemTrace/SystemConfig/IRQ ",
                          "9 is not known: only what all known ones have in common)")
        self.assertEqual(self.fields(path), [
            event + 'IRQAffinity=0x3 IRQGroup=1 Reserved=0 IRQNum=16 DeviceDescriptionLen=0 '
            'DeviceDescription=""',
            event + f"IRQAffinity=0x3 (14 more bytes: {number.hex()}) (version {unknown}",
            event + f"IRQAffinity=(truncated: 01) (version {unknown}"])
        self.assertNotIn("contradicts", self.run_etwas("dump", path)[1])
        self.assertEqual([o.get("decoded_as_version", "known") for o in self.objects(path)],
                         ["known", None, None])

    def test_bytes_behind_the_last_field_are_shown_and_are_nothing_wrong(self):
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", etl.tl_field("a", UINT8),
                                       b"\x01\x02\x03"),
                          etl.tl_event(RED, 1_000_002, "P", "F", b"", b"\x04"))
        self.assertEqual(self.fields(path), ["P/E a=1 (2 more bytes: 0203)",
                                             "P/F (1 more byte: 04)"])
        self.assertEqual(self.run_etwas("dump", path)[1], "")
        event = self.objects(path)[0]
        self.assertEqual((event["fields"], event["rest"]), ({"a": 1}, "0203"))
        self.assertNotIn("truncated", event)

    def test_an_event_that_nothing_describes_stays_readable_with_its_ids(self):
        path = self.trace(etl.classic(RED, 1_000_001, kind=7, payload=b"\x01\xab"),
                          etl.classic(RED, 1_000_002), etl.described(BLUE, 1_000_003, 65535, 200),
                          etl.message(7, 0x02, uuid.UUID(RED).bytes_le, b"\x05"),
                          etl.message(8, 0x04, struct.pack("<I", 5)), etl.message(9, 0),
                          etl.classic("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c", 1_000_004, kind=99))
        self.assertEqual(self.fields(path)[:6], [
            f"{RED}/7 payload=01ab", f"{RED}/1 -", f"{BLUE}/#65535 -",
            f"{RED}/message:7 payload=05", "component:5/message:8 -", "message:9 -"])
        self.assertEqual(self.fields(path)[6].split("/")[0], "Thread")
        self.assertEqual(self.objects(path)[0]["payload"], "01ab")

    def test_a_string_of_a_provider_without_a_name_says_whose_it_is(self):
        event = etl.described(BLUE, 1_000_001, 0, 0, payload=etl.utf16("hello"), flags=0x0004)
        path = self.trace(event, *(etl.described(RED, 1_000_002 + i, 0, 0, payload=payload,
                                                 flags=0x0004)
                                   for i, payload in enumerate((etl.utf16("ho"), b"h\0o", b""))))
        self.assertEqual(self.fields(path), [f'{BLUE}/#0 String="hello"', f'{RED}/#0 String="ho"',
                                             f'{RED}/#0 String="h" (1 more byte: 6f)',
                                             f'{RED}/#0 String=""'])

    def test_an_event_that_nothing_describes_has_its_providers_name_if_other_events_say_it(self):
        path = self.trace(etl.classic(HEAP, 1_000_000, kind=99, payload=b"\x05"),
                          etl.described(RED, 1_000_001, 7, 0), *heap_events(),
                          etl.tl_event(RED, 1_000_300, "P", "E"))
        self.assertEqual(self.fields(path)[:2], ["heap/99 payload=05", "P/#7 -"])
        self.assertEqual(self.objects(path)[0]["provider"], "heap")
        self.assertEqual(self.fields(path, "--where", 'provider == "heap" && opcode == 99'),
                         ["heap/99 payload=05"])
        self.assertEqual(len(self.lines(path, "--hex", "--where", 'provider == "P"')), 1)
        out, _ = self.run_etwas("stat", path)
        self.assertIn("\nheap/99 ", out)
        self.assertIn("\nP/#7 ", out)

    def test_a_message_is_shown_by_its_format(self):
        guid = uuid.UUID(RED).bytes_le
        path = self.trace(etl.message(7, 0x02, guid, struct.pack("<i", -5) + b'a "b"\x1b\0'),
                          etl.message(8, 0x02, guid, b"\x01"),
                          etl.message_format(1_000_001, RED, 7, "took %d of %s\n"))
        self.assertEqual(self.fields(path), [rf'{RED}/message:7 "took -5 of a \"b\"\x1b\n"',
                                             f"{RED}/message:8 payload=01"])
        first, second = self.objects(path)
        self.assertEqual((first["message"], first["message_id"]), ('took -5 of a "b"\x1b\n', 7))
        self.assertNotIn("payload", first)
        self.assertEqual(second["payload"], "01")
        out, _ = self.run_etwas("dump", "--all", "--csv", "--columns", "fields", path)
        rows = out.split("\r\n")
        self.assertEqual(rows[-3], r'"took -5 of a ""b""\x1b\x0a"')

    def test_what_a_message_s_text_has_not_of_its_payload_is_shown(self):
        guid = uuid.UUID(RED).bytes_le
        path = self.trace(etl.message(7, 0x02, guid, b"\1\0\0\0\2\3"),
                          etl.message(7, 0x02, guid, b"\1\0\0\0"),
                          etl.message(8, 0x02, guid, b"\1\0\0\0\2\3"),
                          etl.message(8, 0x02, guid, b"\1\0\0\0\2"),
                          etl.message(8, 0x02, guid, b"\1\0\0\0"),
                          etl.message_format(1_000_001, RED, 7, "%d and %u"),
                          etl.message_format(1_000_001, RED, 8, "%d"))
        shown = ['"1 and …" (truncated: 0203)', '"1 and …" (truncated)', '"1" (2 more bytes: 0203)',
                 '"1" (1 more byte: 02)', '"1"']
        self.assertEqual([line.split(" ", 1)[1] for line in self.fields(path)], shown)
        self.assertEqual(self.lines("--columns", "message", path)[1:], ['"1 and …"'] * 2
                         + ['"1"'] * 3)
        out, error = self.run_etwas("dump", "--all", "--csv", "--columns", "fields", path)
        self.assertEqual(out.split("\r\n")[2:-1], [text.replace('"', "") for text in shown])
        self.assertEqual(error.replace(TIME, "").count("told once"), 1)
        self.assertIn(f"{RED}/message:7 at ", error)
        self.assertIn(
            ": its format contradicts its payload: of 6 bytes, 'argument 2' begins at byte 4 and "
            "ends behind the "
            "last (told once)\n", error)
        self.assertEqual([(o["message"], o.get("truncated"), o.get("rest"))
                          for o in self.objects(path)], [
                              ("1 and …", "argument 2", "0203"), ("1 and …", "argument 2", ""),
                              ("1", None, "0203"), ("1", None, "02"),
                              ("1", None, None)])

    def test_a_schema_without_sense_is_reported_once_and_its_events_are_shown_as_bytes(self):
        good = bytearray(etl.tl_event(RED, 1_000_001, "P", "E", etl.tl_field("a", UINT32),
                                      b"\x01\0\0\0"))
        at = good.index(b"\0E\0a\0\x08") - 2
        good[at:at + 2] = b"\xff\xff"  # more than there is
        path = self.trace(bytes(good), bytes(good))
        self.assertEqual(self.fields(path), ["P/E payload=01000000"] * 2)
        _, error = self.run_etwas("dump", path)
        self.assertEqual(
            error,
            f"etwas dump: {path}: P/E at {TIME}: what describes it makes no sense (told once)\n")

    def test_times_have_nine_digits_and_those_that_the_clock_has(self):
        event = etl.tl_event(RED, 1_000_000 + 123_456_789, "P", "E")
        path = self.trace(event, frequency=1_000_000_000)
        self.assertEqual(self.lines(path)[0].split()[0], "2026-01-01T00:00:00.123456789Z")
        self.assertEqual(self.objects(path)[0]["time"], "2026-01-01T00:00:00.123456789Z")
        self.assertEqual(self.lines("--hex", path)[0].split()[0], "2026-01-01T00:00:00.123456700Z")
        self.assertEqual(self.lines(self.trace(event, name="b.etl"))[0].split()[0],
                         "2026-01-01T00:00:12.345678900Z")


class Json(NamesTest):
    def test_fields_have_types_and_names_stand_apart(self):
        self.assertEqual(self.objects(self.trace(*heap_events()))[3], {
            "time": "2026-01-01T00:00:00.000010000Z", "cpu": 0, "pid": 10, "tid": 11,
            "event_class_id": HEAP, "provider": "heap", "event": "heap/Call/free", "opcode": 14,
            "level": 4, "version": 0, "instance": 9, **EVENT,
            "fields": {"address": 0x7F99DA8080, "reason": "at exit"}})

    def test_names_that_come_again_are_told_apart(self):
        fields = etl.tl_field("a", UINT8) + etl.tl_field("b", UINT8) + etl.tl_field(
            "a", UINT8) + etl.tl_field("a", UINT8)
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", fields, bytes([1, 2, 3, 4])))
        out, _ = self.run_etwas("dump", "--json", path)
        self.assertIn('"fields":{"a":1,"b":2,"a_2":3,"a_3":4}', out)
        self.assertEqual(self.fields(path), ["P/E a=1 b=2 a=3 a=4"])

    def test_numbers_are_whole_and_what_json_has_no_number_for_is_its_name(self):
        fields = etl.tl_field("u", UINT64) + etl.tl_field("i", INT64) + etl.tl_field("f", DOUBLE,
                                                                                     count=3)
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", fields, struct.pack(
            "<Qqddd", 2**64 - 1, -2**63, 0.1, float("inf"), float("nan"))))
        self.assertEqual(self.objects(path)[0]["fields"],
                         {"u": str(2**64 - 1), "i": str(-2**63), "f": [0.1, "Infinity", "NaN"]})

    def test_a_decoded_event_keeps_the_items_that_do_not_describe_it(self):
        event, = self.objects(self.trace(etl.tl_event(RED, 1_000_001, "P", "E")))
        self.assertNotIn("extended", event)
        self.assertNotIn("payload", event)
        self.assertEqual((event["provider"], event["event"], event["fields"]), ("P", "P/E", {}))


if __name__ == "__main__":
    sys.exit(main())
