# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What `etwas` writes of traces that anyone may have made: nothing steers a terminal, every line of
NDJSON is JSON, every row of CSV has its cells, whatever bytes names and payloads hold.

usage: hostile_test.py PATH_OF_ETWAS TEST_CLASS
"""

import csv
import io
import json
import math
import struct
import sys
import unicodedata
import uuid

import etl_build as etl
from etl_build import ANSI, DOUBLE, FLOAT, INT64, STRUCT, UINT32, UINT64, UNICODE
from tool_case import BLUE, DAMAGED, FAILED, FINE, HEAP, RED, NamesTest, heap_events, main

ALL_BYTES = bytes(range(1, 256)) + b"\0"
TURNS_TEXT = {0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)}


def raw_field(name, kind, out, arity=0):
    """A field of a TraceLogging schema; its name is bytes."""
    return name + b"\0" + bytes([kind | arity | 0x80, out])


def payload_of(kind):
    """All byte values in a payload that the in-type takes as a whole."""
    if kind in (14, 22, 23, 25):
        return struct.pack("<H", 256) + bytes(range(256))
    if kind == UNICODE:
        return b"".join(struct.pack("<H", unit) for unit in range(1, 256)) + b"\0\0"
    return ALL_BYTES


class Reading(NamesTest):
    def files(self, events, name, per_buffer=4):
        """A trace of these events, so many in each of its buffers."""
        return self.write(name, etl.trace([(0, events[at:at + per_buffer])
                                           for at in range(0, len(events), per_buffer)]))

    def check_text(self, text, allowed="\n"):
        bad = [hex(ord(c)) for c in set(text) - set(allowed)
               if unicodedata.category(c) in ("Cc", "Cs") or ord(c) in TURNS_TEXT]
        self.assertEqual(bad, [])

    def check_csv(self, text):
        self.check_text(text, "\r\n")
        self.assertEqual(text.count("\n"), text.count("\r\n"))
        self.assertEqual(text.count("\r"), text.count("\r\n"))
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        return rows

    def unique(self, pairs):
        self.assertEqual(len(dict(pairs)), len(pairs), pairs)
        return dict(pairs)

    def check_json(self, text):
        self.check_text(text)
        return [json.loads(line, parse_constant=self.fail, object_pairs_hook=self.unique)
                for line in text.split("\n")[:-1]]

    def check(self, path, events,
              columns="event,provider,name,event_class,event_class_id,message,fields,f"):
        for arguments, check in ((["dump"], self.check_text), (["dump", "--hex"], self.check_text),
                                 (["dump", "-c", columns], self.check_text),
                                 (["dump", "--csv"], self.check_csv),
                                 (["dump", "--csv", "-c", columns], self.check_csv),
                                 (["dump", "--json"], self.check_json),
                                 (["dump", "--all", "--json", "--hex"], self.check_json),
                                 (["stat"], self.check_text), (["stat", "--json"], self.check_json),
                                 (["schema"], self.check_text),
                                 (["schema", "--json"], self.check_json)):
            with self.subTest(arguments=arguments):
                out, error = self.run_any(*arguments, path, expect=(FINE, DAMAGED))
                seen = check(out)
                if arguments == ["dump", "--all", "--json", "--hex"]:
                    self.assertEqual(len(seen), events + 1)  # and the header
                self.check_text(error)


class Hostile(Reading):
    def test_every_byte_in_every_type_of_a_field(self):
        for arity in (0, 0x20, 0x40):
            events = []
            for kind in range(32):
                for out in [*range(40), 0x7F]:
                    field = raw_field(b"f", kind, out, arity) + (b"\x02\0" if arity == 0x20
                                                                 else b"")
                    payload = (b"\x02\0" if arity == 0x40 else b"") + payload_of(kind) * 2
                    events.append(etl.self_describing(RED, 1_000_001 + len(events), b"P",
                                                      b"E%d.%d" % (kind, out), field, payload))
            self.check(self.files(events, f"a{arity}.etl"), len(events))

    def test_every_type_of_a_described_class(self):
        events = []
        for kind in [*range(27), *range(300, 312)]:
            for out in [*range(40), 300, 301]:
                version = len(events)
                guid = str(uuid.UUID(int=version))
                events.append(etl.event_info(1_000_001, guid, 10, "P", "", "E", [("f", kind, out)]))
                events.append(etl.classic(guid, 1_000_002, kind=10, payload=payload_of(kind)))
        self.check(self.files(events, "a.etl"), len(events))

    def test_every_byte_in_every_name(self):
        names = [ALL_BYTES[at:at + 40].rstrip(b"\0") for at in range(0, 256, 40)]
        names += [b"\xe2\x80\xae", b"\xc2\x9b31m", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b'","x":"',
                  b"a,b\r\n\"c\""]
        events = []
        for name in names:
            fields = raw_field(name, ANSI, 0) + raw_field(name, STRUCT,
                                                          1) + raw_field(name, ANSI, 35)
            payload = name + b"\0" + name + b"\0"
            events.append(etl.self_describing(RED, 1_000_001 + len(events), name, name, fields,
                                              payload))
        self.check(self.files(events, "a.etl", 4), len(events))

    def test_every_unit_of_utf_16(self):
        units = [*range(1, 0x10000)]
        texts = [b"".join(struct.pack("<H", unit) for unit in units[at:at + 3000]) + b"\0\0"
                 for at in range(0, len(units), 3000)]
        fields = raw_field(b"f", UNICODE, 0)
        events = [etl.self_describing(RED, 1_000_001 + i, b"P", b"E", fields, text)
                  for i, text in enumerate(texts)]
        strange = "".join(map(chr, (*range(1, 0x20), *range(0x7F, 0xA0), *TURNS_TEXT, 0xD800,
                                    0xDFFF, 0xFEFF)))
        events += [etl.event_info(1_000_090, BLUE, 10, strange, strange, strange,
                                  [(strange, 8, 0, strange)]),
                   etl.map_info(1_000_091, BLUE, strange, [(1, strange)]),
                   etl.classic(BLUE, 1_000_092, kind=10, payload=b"\1\0\0\0")]
        self.check(self.files(events, "a.etl", 1), len(events))

    def test_every_byte_in_messages(self):
        guid = uuid.UUID(RED).bytes_le
        strange = "".join(map(chr, (*range(1, 0x100), *TURNS_TEXT))).replace("%", "%%")
        events = [etl.message(1, 0x02, guid, ALL_BYTES + ALL_BYTES),
                  etl.message(2, 0x02, guid, payload_of(UNICODE)),
                  etl.message(3, 0x02, guid, struct.pack("<d", math.nan)),
                  etl.message_format(1_000_001, RED, 1, strange + "%s and %s"),
                  etl.message_format(1_000_002, RED, 2, strange + "%S"),
                  etl.message_format(1_000_003, RED, 3, "%f")]
        path = self.files(events, "a.etl", 1)
        self.check(path, len(events))
        out, _ = self.run_etwas("dump", "--json", "-w", "message", path)
        self.assertEqual([o["message_id"] for o in self.check_json(out)], [1, 2, 3])

    def test_names_of_the_file_and_of_the_session(self):
        for name in ("a\x1b[2J\n.etl", "b\u202e\x9b.etl", "c\udcff,\".etl"):
            path = self.write(name, etl.trace([(0, [etl.classic(RED, 1_000_001)])],
                                              name="s\x1b]0;\x07\u2067\ud800\n"))
            for arguments in (["dump"], ["stat"], ["stat", "--json"], ["schema"], ["dump", "--csv"],
                              ["stat", "--heap"],
                              ["stat", "--cpu-time"], ["why"], ["why", "--json"],
                              ["spans", "--slowest", "9"], ["spans", "--json"], ["spans", "--csv"],
                              ["report", "--json"], ["convert", "--to", "csv"],
                              ["convert", "--to", "chrome"], ["convert", "--to", "otlp"]):
                out, error = self.run_etwas(*arguments, path)
                self.check_text(out, "\r\n")
                self.check_text(error)
            out, _ = self.run_etwas("dump", path, path)
            self.check_text(out)
            self.check_text(self.run_etwas("dump", path + "/x", expect=FAILED)[1])

    def test_what_was_asked_for_is_repeated_without_harm(self):
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, 1_000_001)])]))
        for arguments in (["-w", "a\x1b == 'b\n'"], ["-w", "`a\x1b\u202e` == 1"], ["-w", "== \x9b"],
                          ["-c", "a\x1b[2J,b\u202e"],
                          ["--csv", "-c", "a\x1b\n,time"]):
            out, error = self.run_any("dump", *arguments, path)
            self.check_text(out, "\r\n")
            self.check_text(error)

    def test_what_steers_a_terminal_is_escaped_and_is_itself_in_json(self):
        evil = "\x1b]0;x\x07\r\n\t\x7f\x9b\u202e"
        fields = etl.tl_field(evil, UNICODE) + etl.tl_field("b", ANSI) + etl.tl_field("u", ANSI, 35)
        path = self.trace(etl.tl_event(RED, 1_000_001, evil, evil, fields,
                                       etl.utf16(evil) + b"\x1b[2J\xff\0" + evil.encode() + b"\0"),
                          etl.event_info(1_000_002, HEAP, 10, evil, evil, evil,
                                         [(evil, UINT32, 0, evil)]),
                          etl.map_info(1_000_002, HEAP, evil, [(1, evil)]),
                          etl.classic(HEAP, 1_000_003, kind=10, payload=struct.pack("<I", 1)))
        self.check(path, 4, columns="name,provider,event,fields,u")
        self.assertIn(r'\u{202e}="\x1b]0;x\x07\r\n\t', self.fields(path)[0])
        self.assertEqual(self.objects(path)[0]["fields"][evil], evil)

    def test_no_flipped_bit_of_what_describes_events_crashes_it_or_spoils_its_json(self):
        good = etl.trace([(0, [*heap_events(), etl.tl_event(
            RED, 1_000_300, "P", "E", etl.tl_field("p", STRUCT, 1)
            + etl.tl_field("list", ANSI, listed=True), b"\x02\0a\0b\0")])])
        end = good.index(b"\xff" * 64, etl.BUFFER_BYTES)
        for at in range(etl.BUFFER_BYTES + 72, end, 5):
            data = bytearray(good)
            data[at] ^= 1 << at // 5 % 8
            path = self.write("flipped.etl", bytes(data))
            self.run_json("dump", "--json", "--where", "size > 1 || list == \"a\" || !p.list", path)
            self.run_json("schema", "--json", path)


class Numbers(Reading):
    def value(self, kind, payload):
        fields = raw_field(b"f", kind, 0)
        path = self.files([etl.self_describing(RED, 1_000_001, b"P", b"E", fields, payload)],
                          "a.etl")
        out, _ = self.run_etwas("dump", "--json", path)
        return self.check_json(out)[-1]["fields"]["f"], out.rstrip("}\n").rsplit(":", 1)[1]

    def test_times_before_the_earliest_are_said_to_be(self):
        # of the log file header; 0 is the year 1601, which nanoseconds do not reach
        start_time = 104 + 264
        data = etl.trace([(0, [etl.classic(RED, 2_000_000)])], frequency=1_000_000_000)
        path = self.write("a.etl", data[:start_time] + bytes(8) + data[start_time + 8:])
        out, _ = self.run_etwas("dump", path)
        self.assertEqual({line.split(" ")[0] for line in out.splitlines()[1:]},
                         {"@before-1677-09-21"})

    def test_whole_numbers_keep_all_their_digits(self):
        for number in (0, 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1):
            self.assertEqual(self.value(UINT64, struct.pack("<Q", number))[0],
                             number if number <= 2**53 else str(number))
        for number in (-1, -2**53 - 1, -2**63, 2**63 - 1):
            self.assertEqual(self.value(INT64, struct.pack("<q", number))[0],
                             number if abs(number) <= 2**53 else str(number))

    def test_floats_are_what_they_were_in_as_few_digits_as_that_takes(self):
        for number, text in ((0.1, "0.1"), (1.5, "1.5"), (1e300, "1e+300"),
                             (5e-324, "4.94065645841247e-324"), (-0.0, "-0"),
                             (1 / 3, "0.3333333333333333"), (0.1 + 0.2, "0.30000000000000004"),
                             (100.0, "100")):
            value, written = self.value(DOUBLE, struct.pack("<d", number))
            self.assertEqual((float(value), written), (number, text))
        for number, text in ((0.1, "0.1"), (16777216.0, "16777216"), (3.4e38, "3.4e+38"),
                             (1e-45, "1.4013e-45")):
            value, written = self.value(FLOAT, struct.pack("<f", number))
            self.assertEqual((struct.pack("<f", value), written), (struct.pack("<f", number), text))

    def test_what_json_has_no_number_for_is_its_name(self):
        for number, name in ((math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity")):
            self.assertEqual(self.value(DOUBLE, struct.pack("<d", number))[0], name)
            self.assertEqual(self.value(FLOAT, struct.pack("<f", number))[0], name)


if __name__ == "__main__":
    sys.exit(main())
