# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Kinds of events by name: `etwas stat` counts them, `etwas schema` says what they are.

usage: schema_test.py PATH_OF_ETWAS TEST_CLASS
"""

import json
import sys
import uuid

import etl_build as etl
from etl_build import INT32, STRUCT, UINT16, UINT8
from tool_case import BLUE, DAMAGED, FAILED, HEAP, RED, NamesTest, heap_events, main


class Stat(NamesTest):
    def test_events_are_counted_by_name_with_numbers_for_people(self):
        path = self.trace(*heap_events(), etl.classic(RED, 1_000_300, kind=3),
                          etl.described(BLUE, 1_000_301, 9, 0))
        out, _ = self.run_etwas("stat", self.trace(etl.message(9, 2, uuid.UUID(BLUE).bytes_le),
                                                   name="message.etl"))
        self.assertRegex(out, rf"(?m)^{BLUE}/message:9 .* 0 B$")
        out, _ = self.run_etwas("stat", path)
        table = [line.split() for line in out.split("\n\n")[2].splitlines()]
        self.assertEqual(table[1], ["heap/Call/malloc", "3", "1.50", "48", "B"])
        self.assertIn(["heap/Call/free", "1", "0.50", "12", "B"], table)
        self.assertIn([f"{RED}/3", "1", "0.50", "0", "B"], table)
        self.assertIn([f"{BLUE}/#9", "1", "0.50", "0", "B"], table)
        self.assertRegex(out, r"(?m)^  events +6 events; 3\.00 a second$")
        self.assertRegex(out, r"(?m)^  file +16\.4 kB; 8\.19 kB/s$")
        stat, = self.stat_json(path)
        self.assertEqual((stat["events"], stat["header_events"]), (6, 4))
        self.assertEqual(stat["by_event"][0],
                         {"event_class_id": HEAP, "event": "heap/Call/malloc", "opcode": 10,
                                              "events": 3, "payload_bytes": 48})

    def test_events_that_their_payload_describes_are_counted_by_name(self):
        path = self.trace(*(etl.tl_event(RED, 1_000_001 + i, "P", name, etl.tl_field("x", INT32),
                                         bytes(4), opcode=opcode, in_payload=True)
                            for i, (name, opcode) in enumerate((("E", 0), ("E", 0), ("F", 0),
                                                                ("F", 1)))))
        stat, = self.stat_json(path)
        self.assertEqual([(c["event"], c["opcode"], c["events"]) for c in stat["by_event"]], [
            ("P/E", 0, 2), ("P/F", 0, 1), ("P/F", 1, 1)])
        out, _ = self.run_etwas("stat", path)
        for name in ("P/E", "P/F", "P/F/Start"):
            self.assertIn(f"\n{name} ", out)

    def test_large_numbers_have_separators_and_units(self):
        size, count = 1 << 20, 8
        records = [etl.classic(RED, 1_000_001 + i, payload=bytes(40)) for i in range(11_000)]
        path = self.write("big.etl", etl.header_buffer(count + 1, size=size) + b"".join(
            etl.buffer(records, i + 1, i % 4, stamp=1 << 60, size=size) for i in range(count)))
        out, _ = self.run_etwas("stat", path)
        self.assertRegex(out, r"(?m)^  events +88,000 events; 44,000 a second$")
        self.assertRegex(out, r"(?m)^  payload +3\.52 MB, 40\.0 bytes an event$")
        self.assertRegex(out, r"(?m)^  file +9\.44 MB; 4\.72 MB/s$")
        self.assertRegex(out, rf"(?m)^{RED}/1  88,000 +44,000  3\.52 MB$")


class Schema(NamesTest):
    def test_every_described_event_is_listed_with_its_fields(self):
        path = self.trace(*heap_events(), etl.tl_event(
            RED, 1_000_300, "Point", "Moved", etl.tl_field("p", STRUCT, 2, count=2)
            + etl.tl_field("x", INT32)
            + etl.tl_field("y", UINT8, 3) + etl.tl_field("list", UINT16, listed=True), bytes(12)))
        out, error = self.run_etwas("schema", path)
        self.assertEqual(error, "")
        for lines in (
                [f"heap  {HEAP}"],
                ["  Call/malloc  type 10", "    size     UInt64", "    address  Pointer"],
                ["  Call/free  type 14", "    address  Pointer",
                 "    reason   UInt32  { 1 asked, 2 at exit }"],
                [f"Point  {RED}", "  Moved", "    p     struct[2]", "      x  Int32",
                 "      y  UInt8 as Boolean", "    list  UInt16[]"]):
            self.assertIn("\n" + "\n".join(lines) + "\n", out)
        self.assertTrue(out.startswith(f"{path}\n\nPoint  {RED}\n"), out)
        self.assertIn(f"\n\nheap  {HEAP}\n", out)
        self.assertNotIn("EventTrace", out)
        self.assertNotIn("Nothing", out)

    def test_the_start_and_the_stop_of_an_activity_are_told_apart(self):
        path = self.trace(*(etl.tl_event(RED, 1_000_300 + i, "Shop", "Order",
                                         etl.tl_field("x", INT32), bytes(4), opcode=i, number=7 * i)
                            for i in (0, 1, 2)))
        out, _ = self.run_etwas("schema", path)
        for line in ("  Order", "  Order/Start  id 7", "  Order/Stop  id 14"):
            self.assertIn(f"\n{line}\n    x  Int32\n", out)
        out, _ = self.run_etwas("stat", path)
        for name in ("Shop/Order", "Shop/Order/Start", "Shop/Order/Stop"):
            self.assertRegex(out, rf"(?m)^{name} .* 4 B$")

    def test_events_that_nothing_describes_are_counted(self):
        guid = uuid.UUID(BLUE).bytes_le
        described = [*heap_events(), etl.message(7, 2, guid, b""),
                     etl.message_format(1_000_300, BLUE, 7, "text")]
        for events, line in (([etl.classic(RED, 1_000_400)],
                              "Nothing describes 1 event; 'etwas stat' lists their kinds."),
                             ([etl.classic(RED, 1_000_400 + i) for i in range(9)]
                              + [etl.message(8, 2, guid, b"")],
                              "Nothing describes 10 events; 'etwas stat' lists their kinds."),
                             ([], "")):
            out, error = self.run_etwas("schema", self.trace(*described, *events))
            self.assertEqual((out.splitlines()[-1] if line else "", error), (line, ""))
            self.assertEqual("Nothing" in out, line != "")
            self.assertNotIn("Nothing", self.run_etwas("schema", "--json",
                                                       self.trace(*described, *events))[0])

    def test_formats_of_messages_are_listed_too(self):
        path = self.trace(*heap_events(), etl.message_format(1_000_301, RED, 7,
                                                             'took %d of "%s"\x1b\n'),
                          etl.message_format(1_000_302, RED, 300, "left"),
                          etl.message_format(1_000_303, BLUE, 1, ""))
        out, _ = self.run_etwas("schema", path)
        self.assertTrue(
            out.endswith(
                f'\n\n{RED}\n  message:7  "took %d of \\"%s\\"\\x1b\\n"\n  message:300  "left"\n'
                f'\n{BLUE}\n  message:1  ""\n'), out)
        out, _ = self.run_etwas("schema", "--json", path)
        messages = [o for o in map(json.loads, out.splitlines()) if o["source"] == "message"]
        self.assertEqual(messages[0], {"etwas": "0.1", "kind": "schema", "file": path,
                                       "event_class_id": RED, "source": "message",
                                       "message_id": 7, "format": 'took %d of "%s"\x1b\n'})
        self.assertEqual([m["message_id"] for m in messages], [7, 300, 1])
        self.assert_keys_documented("schema", messages[0])

    def test_the_same_is_had_as_json(self):
        path = self.trace(*heap_events())
        out, _ = self.run_etwas("schema", "--json", path)
        free, = (o for o in map(json.loads, out.splitlines()) if o["event"] == "heap/Call/free")
        self.assertEqual(free, {
            "etwas": "0.1", "kind": "schema", "file": path, "provider": "heap",
            "event": "heap/Call/free", "event_class_id": HEAP, "source": "classic", "event_id": 0,
            "opcode": 14, "level": 4, "version": 0, "keyword": "0x0",
            "fields": [
                {"name": "address", "type": "Pointer"},
                {"name": "reason", "type": "UInt32", "values": [[1, "asked"], [2, "at exit"]]}]})
        self.assert_keys_documented("schema", free)

    def test_it_is_called_as_the_others_are(self):
        for arguments, word in ((["schema"], "which file"), (["schema", "--frob"], "frob")):
            _, error = self.run_etwas(*arguments, expect=FAILED)
            self.assertIn(word, error)
            self.assertIn("etwas schema --help", error)
        self.run_etwas("schema", "/nonexistent", expect=FAILED)
        path = self.write("cut.etl", etl.trace([(0, heap_events())])[:-4])
        out, error = self.run_etwas("schema", path, expect=DAMAGED)
        self.assertIn("Call/malloc", out)
        self.assertIn("damaged at byte", error)


if __name__ == "__main__":
    sys.exit(main())
