# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""
What a payload and its description can be to each other, in every form of `etwas dump`: what is good
has no mark, and nothing that is odd is without one.

usage: odd_test.py PATH_OF_ETWAS TEST_CLASS
"""

import csv
import io
import struct
import sys
import uuid

import etl_build as etl
from etl_build import ANSI, OUT_STRING, STRUCT, UINT16, UINT8, UNICODE
from tool_case import RED, NamesTest, main

FILETIME, SYSTEMTIME, SID, COUNTED, OUT_BOOLEAN, NO_TYPE = 17, 18, 19, 22, 3, 30


def sid(parts, revision=1):
    return bytes([revision, parts, 0, 0, 0, 0, 0, 5]) + struct.pack("<I", 7) * parts


def wide(text):
    return text.encode("utf-16-le")


# Fields and payload behind a first field `a` of 1 byte; how they are shown; the value in JSON; the
# marks; other members.
GOOD = [
    (etl.tl_field("s", ANSI), b"", 's=""', ""),
    (etl.tl_field("s", UNICODE), b"", 's=""', ""),
    (etl.tl_field("p", STRUCT, 2) + etl.tl_field("x", UNICODE) + etl.tl_field("y", ANSI),
     wide("a\0"), 'p={x="a" y=""}', {"x": "a", "y": ""}),
    (etl.tl_field("s", ANSI), b"no end", 's="no end"', "no end"),
    (etl.tl_field("l", UINT8, count=0), b"", "l=[]", []),
    (etl.tl_field("l", UNICODE, count=0), b"", "l=[]", []),
    (etl.tl_field("l", UINT8, listed=True), b"\0\0", "l=[]", []),
    (etl.tl_field("b", UINT8, OUT_BOOLEAN), b"\1", "b=true", True),
    (etl.tl_field("b", UINT8, OUT_BOOLEAN), b"\0", "b=false", False),
    (etl.tl_field("b", UINT8, OUT_BOOLEAN), b"\xdd", "b=221", 221),
    (etl.tl_field("s", COUNTED), struct.pack("<H", 4) + wide("ab"), 's="ab"', "ab"),
    (etl.tl_field("u", SID), sid(15), "u=S-1-5" + "-7" * 15, "S-1-5" + "-7" * 15),
    (etl.tl_field("t", SYSTEMTIME), struct.pack("<8H", 2024, 2, 4, 29, 23, 59, 59, 999),
     "t=2024-02-29T23:59:59.999", "2024-02-29T23:59:59.999"),
]

ODD = [
    (etl.tl_field("s", COUNTED), struct.pack("<H", 3) + wide("a") + b"\x41", 's="a" (odd byte: 41)',
     "a", "odd byte: 41"),
    (etl.tl_field("s", ANSI), b"caf\xe9\0", 's="caf\ufffd" (not UTF-8: 636166E9)', "caf\ufffd",
     "not UTF-8: 636166E9"),
    (etl.tl_field("s", UNICODE), b"\0\xd8\0\0", 's="\ufffd" (not UTF-16: 00D8)', "\ufffd",
     "not UTF-16: 00D8"),
    (etl.tl_field("u", SID), sid(17), f"u=S-1-5{'-7' * 17} (17 sub-authorities, 15 are allowed)",
     "S-1-5" + "-7" * 17, "17 sub-authorities, 15 are allowed"),
    (etl.tl_field("u", SID), sid(1, 3), "u=S-3-5-7 (revision 3, only 1 is known)", "S-3-5-7",
     "revision 3, only 1 is known"),
    (etl.tl_field("t", SYSTEMTIME), struct.pack("<8H", 2025, 2, 4, 30, 0, 0, 0, 0),
     "t=2025-02-30T00:00:00.000 (no such date)", "2025-02-30T00:00:00.000", "no such date"),
]

# Of a field that cannot be read as it is described: what kind of mark it has.
UNREAD = [
    (etl.tl_field("n", UINT16), b"\7", "n=(truncated: 07)", "truncated"),
    (etl.tl_field("n", UINT16), b"", "n=(truncated)", "truncated"),
    (etl.tl_field("n", NO_TYPE), b"\7\x08", "n=(not described: 0708)", "undescribed"),
    (etl.tl_field("n", NO_TYPE, count=3), b"\7\x08", "n=(not described: 0708)", "undescribed"),
    (etl.tl_field("n", STRUCT, 0), b"", "n=(not described)", "undescribed"),
]


class Shapes(NamesTest):
    def shown(self, fields, payload):
        """The text, the JSON object, the cells of CSV, and what is said on standard error; no signs
        of a file without lines."""
        path = self.trace(etl.tl_event(RED, 1_000_001, "P", "E", etl.tl_field("a", UINT8) + fields,
                                       b"\1" + payload))
        text, = self.fields(path)
        event, = self.objects(path)
        table = list(csv.reader(io.StringIO(self.run_etwas("dump", "--csv", "--columns",
                                                           "event,fields,marks", path)[0])))
        return path, text, event, table[-1], self.run_etwas("dump", path)[1]

    def test_what_is_good_has_no_mark_and_no_word(self):
        for fields, payload, text, value in GOOD:
            with self.subTest(text):
                _, shown, event, cells, error = self.shown(fields, payload)
                self.assertEqual(shown, "P/E a=1 " + text)
                self.assertEqual(list(event["fields"].values())[1], value)
                for key in ("truncated", "undescribed", "rest", "odd", "decoded_as_version"):
                    self.assertNotIn(key, event)
                self.assertEqual((cells[2], error), ("", ""))

    def test_an_odd_value_is_kept_and_marked_in_every_form(self):
        for fields, payload, text, value, odd in ODD:
            with self.subTest(odd):
                path, shown, event, cells, error = self.shown(fields, payload)
                name = text.partition("=")[0]
                self.assertEqual(shown, "P/E a=1 " + text)
                self.assertEqual(event["fields"], {"a": 1, name: value})
                self.assertEqual(event["odd"], [{"field": name, "odd": odd}])
                self.assertEqual(cells[1:], ["a=1 " + text, f"{name} ({odd})"])
                self.assertEqual(self.lines("--columns", name, path)[-1], text.partition("=")[2])
                self.assertEqual(error, "")

    def test_an_element_is_marked_with_its_index_and_more_than_eight_are_counted(self):
        fields = etl.tl_field("p", STRUCT, 1, count=1) + etl.tl_field("l", ANSI, count=10)
        _, text, event, cells, _ = self.shown(fields, b"\xff\0" * 10)
        self.assertEqual(text.count("(not UTF-8: FF)"), 10)
        self.assertEqual(event["odd"][:2], [{"field": "p.l", "odd": "not UTF-8: FF"},
                                            {"field": "p.l", "element": 1, "odd": "not UTF-8: FF"}])
        self.assertEqual((len(event["odd"]), event["odd_values"]), (8, 10))
        self.assertTrue(cells[2].endswith("; 2 more odd values"), cells[2])

    def test_what_cannot_be_read_keeps_the_fields_before_it_and_is_marked_in_every_form(self):
        for fields, payload, text, kind in UNREAD:
            with self.subTest(text):
                path, shown, event, cells, error = self.shown(fields, payload)
                self.assertEqual(shown, "P/E a=1 " + text)
                self.assertEqual((event["fields"], event[kind], event["rest"]),
                                 ({"a": 1}, "n", payload.hex()))
                self.assertEqual(cells[1:], ["a=1 " + text, text.replace("=", " ")])
                self.assertEqual(self.lines("--columns", "n", path)[-1], text[2:])
                self.assertIn("'n' ", error)
                for columns in ("n", "marks"):
                    self.assertEqual(self.run_etwas("dump", "--columns", columns, path)[1], error)

    def test_bytes_behind_the_last_field_are_a_mark_and_nothing_wrong(self):
        path, text, event, cells, error = self.shown(b"", b"\x02\x03")
        self.assertEqual(text, "P/E a=1 (2 more bytes: 0203)")
        self.assertEqual((event["fields"], event["rest"]), ({"a": 1}, "0203"))
        self.assertEqual((cells[2], error), ("(2 more bytes: 0203)", ""))
        self.assertEqual(self.lines("--columns", "a,marks", path)[-1], "1 (2 more bytes: 0203)")

    def test_a_mark_in_a_message_is_one_too(self):
        path = self.trace(etl.message_format(1_000_001, RED, 9, "%d"),
                          etl.message(9, 0x02 | 0x08, uuid.UUID(RED).bytes_le
                                      + struct.pack("<Q", 1_000_002), b"\1\2"))
        event = [o for o in self.objects(path) if "message" in o][0]
        self.assertEqual((event["truncated"], event["rest"]), ("argument 1", "0102"))
        self.assertEqual(self.lines("--columns", "marks", path)[-1],
                         "argument\\x201 (truncated: 0102)")


class Described(NamesTest):
    """The same of what records beside the events, and manifests, describe."""

    def test_event_metadata_of_an_unknown_type_keeps_its_names_and_the_fields_before_it(self):
        info = etl.event_info(1_000_001, RED, 1, "P", "T", "O",
                              [("a", UINT8, 0), ("b", 77, 0), ("c", UINT8, 0)])
        path = self.trace(info, etl.classic(RED, 1_000_002, payload=b"\1\2\3"),
                          etl.classic(RED, 1_000_003, payload=b"\4"))
        self.assertEqual(self.fields(path), ["P/T/O a=1 b=(not described: 0203)",
                                             "P/T/O a=4 b=(not described)"])
        self.assertEqual(self.run_etwas("dump", path)[1].count(
            "how 'b' is read its description does not say"), 1)

    def test_a_manifest_keeps_what_is_known_and_says_what_could_not_be_used(self):
        xml = ("<instrumentationManifest "
               "xmlns='http://schemas.microsoft.com/win/2004/08/events'><instrumentation><events>"
               f"<provider name='Shop' guid='{{{RED}}}'><templates><template tid='t'>"
               "<data name='a' inType='win:UInt8'/>\n<data name='b' "
               "inType='win:Later'/></template></templates>\n"
               "<events><event value='1' version='0' symbol='Sale' template='t'/>\n<event "
               "value='x' symbol='Bad'/></events>"
               "</provider></events></instrumentation></instrumentationManifest>").encode()
        path = self.trace(self.modern(1_000_001, 0xFFFE, struct.pack("<BBBBHH", 1, 1, 0, 0x5B, 1, 0)
                                      + xml, 0xFE, 0xFFFE),
                          self.modern(1_000_002, 1, b"\1\2"))
        self.assertEqual(self.fields(path), ["Shop/Sale a=1 b=(not described: 02)"])
        event, = self.objects(path)
        self.assertEqual((event["fields"], event["undescribed"], event["rest"]),
                         ({"a": 1}, "b", "02"))
        for command in (("dump",), ("stat",), ("schema",), ("report", "--json"),
                        ("convert", "--to", "ndjson"),
                        ("convert", "--to", "csv"),
                        ("diff", path, path, path, path, "--against", path, path, path)):
            _, error = self.run_any(*command, path)
            self.assertIn(f"etwas {command[0]}: {path}: of its manifests could not be used: "
                          "1 element: <event> in line 4\n", error, command)
            self.assertEqual(error.count("could not be used"), 8 if command[0] == "diff" else 1,
                             command)

    def modern(self, stamp, number, payload, opcode=0, task=0):
        return struct.pack("<HBBHHIIq16sHBBBBHQII16s", 80 + len(payload), 0x13, 0xC0, 0, 0, 11, 10,
                           stamp, uuid.UUID(RED).bytes_le, number, 1 if opcode else 0, 0, 0, opcode,
                           task, 0, 0, 0, bytes(16)) + payload


YEAR_NS = 365 * 86400 * 10**9
BEFORE, AFTER = "@before-1677-09-21", "@after-2262-04-11"


class Times(NamesTest):
    """What 64 bits of nanoseconds since 1970 cannot hold is said, and is no time that was not
    there."""

    def of(self, *stamps, **options):
        return self.trace(*(etl.tl_event(RED, stamp, "P", "E") for stamp in stamps),
                          frequency=10**9, **options)

    def test_a_time_that_nanoseconds_cannot_hold_is_said_in_every_form(self):
        late = self.of(1_000_001, 236 * YEAR_NS, 250 * YEAR_NS, 2**63 - 1)
        early = self.of(-2**63, 1_000_001, start=10**13, name="b.etl")  # a day in 1601
        for path, times in ((late, ["2026-01-01T00:00:00.000000001Z",
                                    "2261-11-04T23:59:59.999000000Z", AFTER, AFTER]),
                            (early, [BEFORE, BEFORE])):
            self.assertEqual([line.split()[0] for line in self.lines(path)], times)
            self.assertEqual([o["time"] for o in self.objects(path)], times)
            out, error = self.run_etwas("dump", "--csv", "--columns", "event,time", path)
            self.assertEqual([row[1] for row in csv.reader(io.StringIO(out)) if row[0] == "P/E"],
                             times)
            self.assertIn("etwas dump: note: the times of ", error)
            self.assertIn("--times raw", error)
            self.assertNotIn("note", self.run_etwas("dump", "--times", "raw", path)[1])
        self.assertEqual([line.split()[0] for line in self.lines("--times", "system", late)][2:],
                         ["2275-11-01T23:59:59.999000000Z", "2318-04-12T23:47:16.853775800Z"])

    def test_exports_do_not_take_it_for_a_time(self):
        path = self.of(1_000_001, 250 * YEAR_NS)
        for target, unknown in (("chrome", f'"args":{{"etwas.time":"{AFTER}"}}'),
                                ("ndjson", f'"time":"{AFTER}"'),
                                ("csv", f"{AFTER},"), ("otlp", '"timeUnixNano":"0"')):
            out = f"{self.folder}/{target}"
            self.run_etwas("convert", "--to", target, "-o", out, path)
            with open(out, encoding="utf-8") as file:
                text = file.read()
            self.assertEqual(text.count(unknown), 1, target)
            self.assertIn(AFTER, text)
            self.assertNotIn("2262-04-11T", text)

    def test_dates_in_fields_compare_as_they_are_however_far_they_are(self):
        days = [0, 1, 116_444_736_000_000_000, 2_650_467_743_999_999_999, 2**63 - 1, 2**63,
                2**64 - 1]
        path = self.trace(*(etl.tl_event(RED, 1_000_001 + i, "P", "E", etl.tl_field("t", FILETIME),
                                         struct.pack("<Q", day))
                            for i, day in enumerate(days)))
        shown = ["1601-01-01T00:00:00.0000000", "1601-01-01T00:00:00.0000001",
                 "1970-01-01T00:00:00.0000000", "9999-12-31T23:59:59.9999999",
                 "30828-09-14T02:48:05.4775807", "30828-09-14T02:48:05.4775808",
                 "60056-05-28T05:36:10.9551615"]
        self.assertEqual([o["fields"]["t"] for o in self.objects(path)], shown)
        for where, expected in (("t < '2000-01-01'", shown[:3]), ("t > '2000-01-01'", shown[3:])):
            self.assertEqual(self.lines("--where", where, "--columns", "t", path), expected)


if __name__ == "__main__":
    sys.exit(main())
