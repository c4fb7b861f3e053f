#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The walker on files with event metadata: a good one passes, and each rule broken is noticed."""
import struct
import unittest

import guids
from modes_test import OWN, data, head, walk
from rules_test import T0, buffer

CLASS = b"c" * 16


def text(*texts):
    return "".join(t + "\0" for t in texts).encode("utf-16-le")


def record(kind, payload, of=guids.METADATA_CLASS.bytes_le, version=0, level=0):
    raw = struct.pack("<HBBBBHIIq16sII", 48 + len(payload), 0x14, 0xC0, kind, level, version, 11,
                      12, T0, of, 0, 0) + payload
    return raw + b"\0" * (-len(raw) % 8)


def event_info():
    """An order with a number of articles."""
    fields = struct.pack("<IIHHIHHI", 0, 178, 6, 6, 0, 1, 2, 0)
    fields += struct.pack("<IIHHIHHI", 4, 182, 8, 8, 186, 0, 4, 0)
    start = CLASS + CLASS + struct.pack("<HBBBBHQ", 0, 2, 0, 4, 1, 0, 0)
    start += struct.pack("<16I", 1, 160, 0, 0, 0, 164, 168, 0, 0, 0, 0, 0, 0, 2, 2, 0)
    return bytearray(start + fields + text("P", "C", "Type", "n", "a", "Map"))


def map_info():
    return bytearray(CLASS + struct.pack("<8I", 32, 1, 1, 0, 40, 7, 0, 0) + text("Map", "seven "))


def message_format():
    return bytearray(struct.pack("<IHH", 1, 9, 0) + CLASS + b"%d\0")


def image():
    return bytearray(struct.pack("<QQ4IQ4I", 0x1000, 0x2000, 11, *[0] * 8) + text("/bin/x"))


def build():
    return bytearray(struct.pack("<QI16sI", 0x1000, 11, bytes(range(16)), 0) +
                     b".build-id/00/" + bytes(range(1, 20)).hex().encode() + b".debug\0")


def image_records(of_image=None, of_build=None, kind=10):
    return record(kind, of_image or image(), guids.IMAGE_CLASS.bytes_le, 2) + \
        record(36, of_build or build(), guids.BUILD_CLASS.bytes_le, 2)


def file_with(records, processor=0, stamp=T0):
    described = buffer(records, stamp, 1, processor, 0x20, 0)
    return [head(3, 0), described, data(2, last=True, processor=1)]


def good_records(event=None, of_map=None, message=None):
    return record(33, of_map or map_info()) + record(32, event or event_info()) + \
        record(4, message or message_format(), OWN, 1)


class Metadata(unittest.TestCase):
    def bad(self, buffers, word):
        violations = walk(buffers).violations
        self.assertTrue(any(word in v for v in violations), (word, violations))

    def test_a_good_file_is_read(self):
        walker = walk(file_with(good_records()))
        report = walker.report()
        self.assertEqual(report["violations"], [])
        self.assertEqual((report["events"], report["described"], report["metadata_buffers"]),
                         (3, 3, 1))
        described_map, event, message = walker.described
        self.assertEqual((described_map["map"], described_map["entries"]), ("Map", [(7, "seven")]))
        self.assertEqual((event["provider"], event["task"], event["opcode"]), ("P", "C", "Type"))
        self.assertEqual([(f["name"], f["map"]) for f in event["fields"]],
                         [("n", None), ("a", "Map")])
        self.assertEqual((message["number"], message["format"]), (9, "%d"))

    def test_metadata_of_other_writers_are_events(self):
        buffers = file_with(good_records())
        first = struct.unpack_from("<H", buffers[0], 72 + 4)[0]
        foreign = buffer(bytes(buffers[0][72:72 + first + (-first % 8)]), 0, 0, 0, 0x21, 4)
        self.assertEqual(walk([foreign, buffer(record(33, b"?" * 20), T0, 1, 0, 0x21, 0)],
                              lenient=True).report()["events"], 1)

    def test_each_rule_of_an_event_is_looked_at(self):
        for at, layout, value, word in (
                (0, "<B", 7, "GUIDs"), (48, "<I", 0, "source"), (32, "<H", 1, "descriptor"),
                (40, "<Q", 1, "descriptor"), (52, "<I", 162, "provider"),
                (56, "<I", 4, "offsets"), (92, "<I", 4, "offsets"), (100, "<I", 1, "counts"),
                (108, "<I", 16, "counts"), (112, "<I", 8, "flags"), (116, "<I", 0, "name"),
                (136, "<I", 2, "who measures"), (152, "<H", 1, "who counts"),
                (156, "<I", 1, "tags"),
                (182, "<H", 0, "no text")):
            event = event_info()
            struct.pack_into(layout, event, at, value)
            with self.subTest(at=at):
                self.bad(file_with(good_records(event)), word)
        self.bad(file_with(good_records(event_info()[:100])), "short")
        self.bad(file_with(good_records(event_info() + b"x\0\0\0")), "more behind")

    def test_each_rule_of_a_map_and_a_format_is_looked_at(self):
        for at, layout, value, word in ((16, "<I", 24, "where the name is"), (20, "<I", 8, "flag"),
                                        (24, "<I", 0, "count"), (28, "<I", 1, "kind"),
                                        (40, "<I", 9, "behind the entries"),
                                        (66, "<H", 65, "blank")):
            of_map = map_info()
            struct.pack_into(layout, of_map, at, value)
            with self.subTest(at=at):
                self.bad(file_with(good_records(of_map=of_map)), word)
        for at, value in ((0, 2), (6, 1), (25, 0), (26, 65)):
            message = message_format()
            message[at] = value
            self.bad(file_with(good_records(message=message)), "message format")

    def test_each_rule_of_an_image_and_its_build_is_looked_at(self):
        walker = walk(file_with(image_records()))
        self.assertEqual((walker.report()["violations"], walker.report()["described"]), ([], 2))
        self.assertEqual(walker.described[0]["image"], "/bin/x")
        self.assertEqual(walker.described[1]["build"], bytes(range(20)).hex())
        self.bad(file_with(image_records(kind=2)), "type")
        self.bad(file_with(image_records(image()[:56])), "image: short")
        self.bad(file_with(image_records(of_build=build()[:32])), "build of an image: short")
        for at in (9, 16, 20, 40, 68):
            of_image = image()
            of_image[at] ^= of_image[at] or 1
            with self.subTest(at=at):
                self.bad(file_with(image_records(of_image)), "image: size, process or path")
        for at, value, word in ((8, 0, "process"), (12, 7, "signature"), (28, 1, "age"),
                                (40, 48, "name")):
            of_build = build()
            of_build[at] = value
            with self.subTest(at=at):
                self.bad(file_with(image_records(of_build=of_build)), word)

    def test_metadata_have_buffers_of_their_own(self):
        records = good_records()
        self.bad(file_with(records, processor=1), "processor or stamp")
        self.bad(file_with(records, stamp=T0 + 1), "processor or stamp")
        self.bad(file_with(record(34, map_info())), "event metadata: type")
        self.bad(file_with(record(33, map_info(), version=1)), "Class.Version")
        self.bad(file_with(record(33, map_info(), level=4)), "Class.Level")
        event = struct.pack("<HBBBBHIIq16sII", 48, 0x14, 0xC0, 1, 4, 0, 11, 12, T0, b"g" * 16, 0, 0)
        self.bad(file_with(records + event), "together")


if __name__ == "__main__":
    unittest.main()
