# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas convert --to ctf`: babeltrace2 reads what `etwas dump --json` shows.

usage: ctf_test.py PATH_OF_ETWAS TEST_CLASS
"""

import calendar
import json
import math
import os
import re
import shutil
import struct
import subprocess
import time
import uuid

import etl_build as etl
from tool_case import (BLUE, DAMAGED, FINE, HEAP, NO_GUID, OUTPUT, RED, ToolTest, heap_events, main,
                       windows_files)

T = 1_000_001
BINARY, SID, BOOL32, COUNTED, COUNTED_ANSI = 14, 19, 13, 22, 23
OUT_PORT, OUT_IPV4, OUT_PID, OUT_UTF8 = 22, 23, 20, 35


class Reader:
    """One value of babeltrace2's text after the other."""

    ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v",
               "0": "\0"}
    NUMBER = re.compile(r"-?(0x[0-9A-F]+|inf|nan|[0-9.]+(e[+-][0-9]+)?)")
    NAME = re.compile(r"[A-Za-z0-9_]+")

    def __init__(self, text):
        self.text, self.at = text, 0

    def takes(self, token):
        found = self.text.startswith(token, self.at)
        self.at += len(token) if found else 0
        return found

    def needs(self, token):
        assert self.takes(token), (token, self.text[self.at:self.at + 80])

    def match(self, pattern):
        found = pattern.match(self.text, self.at)
        self.at = found.end()
        return found[0]

    def string(self):
        out = ""
        while not self.takes('"'):
            if self.takes("\\x"):
                out += chr(int(self.text[self.at:self.at + 2], 16))
                self.at += 2
            elif self.takes("\\"):
                out += self.ESCAPES.get(self.text[self.at], self.text[self.at])
                self.at += 1
            else:
                out += self.text[self.at]
                self.at += 1
        return out

    def members(self):
        """A list of name and value."""
        found = []
        while not self.takes(" }"):
            self.needs(", " if found else " ")
            name = self.match(self.NAME)
            self.needs(" = ")
            found.append((name, self.value()))
        return found

    def elements(self):
        found = []
        while not self.takes(" ]"):
            self.needs(f"{', ' if found else ' '}[{len(found)}] = ")
            found.append(self.value())
        return found

    def enumeration(self):
        """A set of names, and the number."""
        names = []
        if not self.takes(" <unknown>"):
            several = self.takes(" {")
            while self.takes(", " if names else " "):
                self.needs('"')
                names.append(self.string())
                if not several:
                    break
            self.takes(" }")
        self.needs(" : container = ")
        number = self.value()
        self.needs(" )")
        return set(names), number

    def value(self):
        if self.takes('"'):
            return self.string()
        if self.takes("{"):
            return self.members()
        if self.takes("["):
            return self.elements()
        if self.takes("("):
            return self.enumeration()
        text = self.match(self.NUMBER)
        return float(text) if re.search(r"[.]|inf|nan|e[+-]", text) else int(text, 0)


HEAD = re.compile(r"timestamp = (\d+)\.(\d{9}), (?:loglevel = (\S+) \(\d+\), )?name = (.*?), "
                  r"(stream\.(?:packet|event)\.context = .*)$")
LOST = re.compile(
    r'WARNING: Tracer discarded (\d+) (\w+) between \[([\d.]+)\] and \[([\d.]+)\] in trace .* '
    r'within stream "(.*?)"')


def read_event(line):
    seconds, nanoseconds, level, name, rest = HEAD.match(line).groups()
    event = {"ns": int(seconds) * 10**9 + int(nanoseconds), "level": level, "name": name}
    reader = Reader(rest)
    while reader.at < len(rest):
        scope = reader.match(re.compile(r"(, )?[a-z.]+ = ")).strip(", ").split(" ")[0]
        event[scope] = reader.value()
    for scope in ("stream.packet.context", "stream.event.context", "event.context"):
        event.update(event.pop(scope, []))
    return event


def time_ns(text):
    """Of dump's: with seven digits or nine."""
    whole, digits = text.rstrip("Z").split(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) * 10**9 + int(
        digits.ljust(9, "0"))


def guid_of(octets):
    return str(uuid.UUID(bytes=bytes(octets)))


class CtfTest(ToolTest):
    def setUp(self):
        if shutil.which("babeltrace2") is None:
            self.skipTest("babeltrace2 is not there")
        super().setUp()
        self.out = os.path.join(self.folder, "out")

    def trace(self, *events, name="a.etl", **options):
        return self.write(name, etl.trace([(0, list(events))], **options))

    def babeltrace(self):
        """Its events, and what was lost: how many of what from when until when in which stream."""
        told = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", "--names=all",
                               "--fields=loglevel", self.out],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              timeout=100)
        self.assertEqual(told.returncode, 0, told.stderr)
        lost = []
        for line in told.stderr.decode().splitlines():
            self.assertRegex(line, LOST)
            count, what, begin, end, stream = LOST.match(line).groups()
            lost.append((int(count), what, begin, end, os.path.relpath(stream, self.out)))
        return [read_event(line) for line in told.stdout.decode().splitlines()], lost

    def convert(self, *arguments, expect=FINE, **options):
        shutil.rmtree(self.out, ignore_errors=True)
        self.run_etwas("convert", "--to", "ctf", "-o", self.out, *arguments, expect=expect,
                       **options)
        return self.babeltrace()

    # ---- what agrees with what

    def assert_text(self, got, shown):
        """Of a value that JSON has as text."""
        if isinstance(got, list) and shown.startswith("{"):
            self.assertEqual("{" + guid_of(got) + "}", shown)
        # counted bytes in an array
        elif isinstance(got, list) and got and isinstance(got[0], tuple):
            self.assertEqual(bytes(got[1][1]).hex(), shown.lower())
        elif isinstance(got, list):
            self.assertEqual(bytes(got).hex(), shown.lower())
        elif isinstance(got, tuple):
            names, number = got
            self.assertTrue(shown.replace("\x1b", "\\x1b") in names or not names, (got, shown))
            if not names and "|" not in shown:
                self.assertEqual(number, int(shown, 0))
        elif isinstance(got, int):
            self.assertEqual(got, int(shown, 0))
        else:
            self.assertEqual(got, shown.replace("\0", "\u2400"))

    def assert_value(self, got, shown):
        if isinstance(shown, dict):
            self.assert_members(got, shown)
        elif isinstance(shown, list):
            self.assertEqual(len(got), len(shown))
            for one, other in zip(got, shown):
                self.assert_value(one, other)
        elif isinstance(got, float) and shown in ("NaN", "Infinity", "-Infinity"):
            self.assertEqual(str(got), str(float(shown)))
        elif isinstance(shown, str):
            self.assert_text(got, shown)
        elif isinstance(shown, float):
            # babeltrace2 shows six digits
            self.assertAlmostEqual(got, shown, delta=abs(shown) * 1e-5)
        else:
            self.assertEqual(got, int(shown))

    def assert_members(self, got, shown):
        """Lengths stand before what they count, and are not in JSON."""
        got = list(got)
        for key, value in shown.items():
            name, member = got.pop(0)
            if name.endswith("_length") and got and got[0][0] == name[:-len("_length")]:
                length, (name, member) = member, got.pop(0)
                self.assertEqual(length, len(member))
            plain = re.sub("[^A-Za-z0-9_]", "_", re.sub("#[0-9]+$", "", key)) or "nameless"
            self.assertRegex(name, f"^_?{plain}(_[0-9]+)?$")
            self.assert_value(member, value)
        self.assertEqual(got, [])

    def assert_event(self, got, shown, title):
        self.assertEqual(got["name"], title)
        self.assertIn(got["ns"] - time_ns(shown["time"]),
                      range(100 if shown["time"].endswith("00Z") else 1))
        self.assertEqual(got.get("cpu_id"), shown.get("cpu"))
        self.assertEqual((got["pid"], got["tid"]),
                         tuple(-1 if i is None else i
                               for i in (shown.get("pid"), shown.get("tid"))))
        self.assertEqual(got["level"] is None, shown.get("level", 0) == 0)
        self.assertEqual((got.get("instance"), got.get("parent_instance", 0)),
                         (shown.get("instance"), shown.get("parent_instance", 0)))
        self.assertEqual(guid_of(got.get("parent_class", bytes(16))),
                         shown.get("parent_class_id", NO_GUID))
        for key in ("activity", "related_activity"):
            self.assertEqual(guid_of(got[key]) if key in got else None, shown.get(key))
        self.assertEqual(got.get("sequence"), shown.get("sequence"))
        if "call_stack" in shown and not shown["event"].endswith("StackWalk/Stack"):
            stack = got["event.fields"].pop()
            self.assertEqual(stack, ("call_stack",
                                     [int(address, 0) for address in shown["call_stack"]]))
            self.assertEqual(got["event.fields"].pop(), ("call_stack_length", len(stack[1])))
        if "message" in shown:
            expected = {"text": shown["message"]}
        elif "fields" in shown and "truncated" not in shown:
            expected = dict(shown["fields"])
        else:
            fields = dict(got["event.fields"])
            self.assertEqual(fields.pop("truncated", None), shown.get("truncated"))
            self.assertEqual(list(fields), ["payload_length", "payload"])
            payload = bytes(fields["payload"]).hex()
            self.assertTrue(payload == shown["payload"] if "payload" in shown
                            else payload.endswith(shown["rest"]), payload)
            return
        if "rest" in shown:
            expected["rest#2"] = shown["rest"]  # a field may have the name too
        self.assert_members(got["event.fields"], expected)

    def assert_agrees(self, *arguments, expect=FINE):
        """Every event and field; returns what was lost, and how many events there are."""
        out, _ = self.run_etwas("dump", "--all", "--json", *arguments, expect=expect)
        shown = [json.loads(line) for line in out.splitlines()]
        out, _ = self.run_etwas("dump", "--all", "--columns", "event", *arguments, expect=expect)
        titles = [line for line in out.splitlines() if not line.startswith("#")]
        self.assertEqual(len(titles), len(shown))
        events, lost = self.convert(*arguments, expect=expect)
        wanted = [(s, t) for s, t in zip(shown, titles) if s.get("event_class_id")
                  != "68fdd900-4a3e-11d1-84f4-0000f80464e3"]
        self.assertEqual(len(events), len(wanted))
        for got, (event, title) in zip(events, wanted):
            self.assert_event(got, event, title)
        return lost, len(events)


class Events(CtfTest):
    TYPES = [(etl.UNICODE, 0, etl.utf16('a "b"\n\\\x07 ü')), (etl.ANSI, 0, b"x\0"),
             (etl.ANSI, OUT_UTF8, "é\0".encode()),
             (etl.INT8, 0, b"\xff"), (etl.UINT8, 0, b"\xfe"), (etl.INT16, 0, struct.pack("<h", -2)),
             (etl.UINT16, 0, struct.pack("<H", 65535)), (etl.INT32, 0, struct.pack("<i", -70000)),
             (etl.UINT32, 0, struct.pack("<I", 1 << 31)),
             (etl.INT64, 0, struct.pack("<q", -1 << 40)),
             (etl.UINT64, 0, struct.pack("<Q", (1 << 64) - 1)),
             (etl.FLOAT, 0, struct.pack("<f", 1.5)),
             (etl.DOUBLE, 0, struct.pack("<d", -1e300)),
             (etl.DOUBLE, 0, struct.pack("<d", math.inf)),
             (BOOL32, 0, struct.pack("<I", 1)), (etl.UINT8, etl.OUT_BOOLEAN, b"\0"),
             (BINARY, 0, struct.pack("<H", 3) + b"\1\2\3"), (etl.GUID, 0, uuid.UUID(HEAP).bytes_le),
             (etl.POINTER, 0, struct.pack("<Q", 0x7F00)),
             (etl.FILETIME, 0, struct.pack("<Q", etl.START)),
             (etl.SYSTEMTIME, 0, struct.pack("<8H", 2026, 1, 4, 1, 2, 3, 4, 5)),
             (20, 0, struct.pack("<I", 0xAB)),
             (etl.HEX64, 0, struct.pack("<Q", 0xABC)), (SID, 0, bytes([1, 2, 0, 0, 0, 0, 0, 5])
                                                        + struct.pack("<II", 32, 544)),
             (COUNTED, 0, struct.pack("<H", 6) + "a\0b".encode("utf-16-le")),
             (COUNTED_ANSI, 0, b"\2\0hi"),
             (etl.UINT16, OUT_PORT, struct.pack(">H", 80)),
             (etl.UINT32, OUT_IPV4, bytes([127, 0, 0, 1])),
             (etl.INT32, etl.OUT_HRESULT, struct.pack("<i", -2147024891)),
             (etl.UINT32, etl.OUT_WIN32ERROR, struct.pack("<I", 5)),
             (etl.UINT16, etl.OUT_STRING, "x".encode("utf-16-le")),
             (etl.UINT32, OUT_PID, struct.pack("<I", 77))]

    def test_every_type_of_a_value_agrees_alone_in_arrays_and_in_structs(self):
        events = []
        for number, (kind, out, data) in enumerate(self.TYPES):
            one = etl.tl_field("v", kind, out)
            listed = etl.tl_field("list", kind, out, listed=True)
            events += [
                etl.tl_event(RED, T + number, "P", f"alone{number}",
                             one + etl.tl_field("n", etl.UINT8), data + b"\7"),
                etl.tl_event(RED, T + number, "P", f"two{number}",
                             etl.tl_field("two", kind, out, count=2) + one, 3 * data),
                etl.tl_event(RED, T + number, "P", f"list{number}", listed, struct.pack("<H", 0)),
                etl.tl_event(RED, T + number, "P", f"list{number}", listed, struct.pack("<H", 3)
                             + 3 * data),
                etl.tl_event(RED, T + number, "P", f"structs{number}",
                             etl.tl_field("s", etl.STRUCT, 2, listed=True) + one
                             + etl.tl_field("in", etl.STRUCT, 1) + listed, struct.pack("<H", 2)
                             + 2 * (data + struct.pack("<H", 1) + data))]
        per_buffer = [(0, events[at:at + 20]) for at in range(0, len(events), 20)]
        _, count = self.assert_agrees(self.write("a.etl", etl.trace(per_buffer)))
        self.assertEqual(count, 5 * len(self.TYPES))

    def test_described_classes_their_enumerations_and_bits_agree(self):
        fields = [("mode", etl.UINT32, 0, "Mode"), ("small", etl.UINT8, 0, "Why"),
                  ("signed", etl.INT8, 0, "Why"),
                  ("many", etl.UINT16, 0, "Why", 0x20, 2)]
        payloads = [struct.pack("<IBbHH", mode, mode & 255, -1 if mode else 1, 2, 7)
                    for mode in (0, 1, 2, 3, 9)]
        trace = self.trace(
            *heap_events(), *(etl.classic(HEAP, T + 250 + i, kind=20, payload=p)
                              for i, p in enumerate(payloads)),
            etl.event_info(T + 300, HEAP, 20, "heap", "Call", "odd", fields),
            etl.map_info(T + 301, HEAP, "Mode", [(1, "Read "), (2, 'Wr"\\ite\x1b '), (8, "More ")],
                         flag=2),
            etl.map_info(T + 302, HEAP, "Why", [(1, "asked "), (2, "twice "), (300, "too large ")]))
        self.assert_agrees(trace)
        with open(os.path.join(self.out, "metadata"), encoding="utf-8") as file:
            metadata = file.read()
        self.assertIn(r'enum : u32 { "Read" = 1, "Wr\"\\ite\\x1b" = 2, "More" = 8 } _mode;',
                      metadata)
        self.assertIn('enum : u8 { "asked" = 1, "twice" = 2 } _small;', metadata)
        self.assertIn("u64 _size;", metadata)
        self.assertIn("x64 _address;", metadata)

    def test_instances_activities_stacks_and_messages_agree(self):
        stack = etl.extended_item(6, struct.pack("<QQQ", 0, 0x1000, 0x7FFF_0000_0000), False)
        related = etl.extended_item(1, uuid.UUID(BLUE).bytes_le, False)
        trace = self.trace(
            etl.instance(RED, T, 5, kind=1), etl.instance(RED, T + 1, 6, parent=5, parent_guid=RED,
                                                          kind=2, level=0),
            etl.tl_event(RED, T + 2, "P", "E", activity=BLUE, opcode=1),
            etl.tl_event(RED, T + 3, "P", "E", activity=BLUE, items=stack),
            etl.tl_event(RED, T + 4, "P", "E", activity=BLUE, opcode=2, items=related + stack),
            etl.message(7, 0x2B, struct.pack("<I", 3) + uuid.UUID(BLUE).bytes_le
                        + struct.pack("<q", T + 5)
                        + struct.pack("<II", 20, 30), struct.pack("<I", 42)),
            etl.message(8, 0x2A, uuid.UUID(BLUE).bytes_le + struct.pack("<q", T + 6)
                        + struct.pack("<II", 20, 30), b"\1\2"),
            etl.message(7, 0x2A, uuid.UUID(BLUE).bytes_le + struct.pack("<q", T + 7)
                        + struct.pack("<II", 20, 30), bytes(6)),
            etl.message_format(T + 8, BLUE, 7, "n %u"))
        self.assert_agrees(trace)

    def test_what_a_schema_does_not_fit_or_nothing_describes_agrees(self):
        fields = etl.tl_field("a", etl.UINT32) + etl.tl_field("rest", etl.UINT8, listed=True)
        trace = self.trace(
            etl.tl_event(RED, T, "P", "E", fields, struct.pack("<IH", 7, 1) + b"\1"),
            etl.tl_event(RED, T + 1, "P", "E", fields, struct.pack("<IH", 7, 1) + b"\1\2\3"),
            etl.tl_event(RED, T + 2, "P", "E", fields, struct.pack("<IH", 7, 9) + b"\1\2\3"),
            etl.tl_event(RED, T + 3, "P", "E", fields, b""),
            etl.classic(RED, T + 4, kind=9, payload=b"abc"), etl.classic(RED, T + 5, kind=9),
            etl.described(RED, T + 6, 77, 0, b"xy"), etl.classic(RED, T + 7, process=0xFFFFFFFF,
                                                                 thread=0xFFFFFFFF))
        self.assert_agrees(trace)

    def test_names_that_are_no_names_or_the_same_agree(self):
        names = ["event", "string", "Bool", "a b", "a-b", "a_b", "ü", "", "1", "list",
                 "list_length", "struct", 'x"\\\n']
        fields = b"".join(etl.tl_field(n, etl.UINT8, listed=n == "list") for n in names)
        inner = etl.tl_field("s", etl.STRUCT, 2) + etl.tl_field("n", etl.UINT8) + etl.tl_field(
            "n", etl.UINT8)
        listed = names.index("list")
        trace = self.trace(
            etl.tl_event(RED, T, "P", "E", fields, bytes(listed) + b"\1\0\5"
                         + bytes(len(names) - listed - 1)),
            etl.tl_event(RED, T + 1, "P", "F", inner, b"\1\2"),
            etl.tl_event(RED, T + 2, 'P"\\', "</x> {é\x1b", etl.tl_field("Complex", etl.UINT8),
                         b"\1"))
        self.assert_agrees(trace)

    def test_kernel_events_and_those_of_32_bit_programs_agree(self):
        wide = etl.tl_event(RED, T + 5, "P", "E", etl.tl_field("p", etl.POINTER),
                            struct.pack("<Q", 0x123456789A))
        narrow = bytearray(etl.tl_event(RED, T + 6, "P", "E", etl.tl_field("p", etl.POINTER),
                                        struct.pack("<I", 0x1234)))
        narrow[2] = 0x12  # EVENT_HEADER32
        self.assert_agrees(self.trace(
            etl.switch(T, 0, 5), etl.ready(T + 1, 5), etl.sample(T + 2, 5, 0xFFFF800000001234),
            etl.stack_walk(T + 2, T + 2, 5, 0x10, 0x20), etl.process_event(1, T + 3, 20, b"shop"),
            wide, bytes(narrow)))

    def test_the_samples_of_windows_agree(self):
        counted = 0
        for path in windows_files():
            with self.subTest(name=os.path.basename(path)):
                lost, count = self.assert_agrees(path)
                stat, = self.stat_json(path)
                self.assertEqual(sum(one[0] for one in lost if one[1] == "events"),
                                 stat["lost"])
                counted += count
        self.assertGreater(counted, 200)

    def test_there_may_be_more_kinds_of_events_than_16_bits_count(self):
        kinds = 65_600
        events = [etl.self_describing(RED, T + i, b"P", b"%x" % i) for i in range(kinds)]
        trace = self.write("a.etl",
                           etl.trace([(0, events[at:at + 60]) for at in range(0, kinds, 60)]))
        # babeltrace2 would take half a minute
        self.run_etwas("convert", "--to", "ctf", "-o", self.out, trace)
        with open(os.path.join(self.out, "metadata"), encoding="utf-8") as file:
            declared = re.findall(r'id = (\d+);\n    name = "(.*)"', file.read())
        self.assertTrue(declared == [(str(i), f"P/{i:x}") for i in range(kinds)])
        with open(os.path.join(self.out, "processor_0"), "rb") as file:
            packets, ids = file.read(), []
        while packets:
            bits, = struct.unpack_from("<Q", packets, 48)
            ids += [struct.unpack_from("<I", packets, at)[0] for at in range(84, bits // 8, 24)]
            packets = packets[bits // 8:]
        self.assertTrue(ids == list(range(kinds)))


class Traces(CtfTest):
    def test_processors_have_streams_and_times_are_as_dump_has_them(self):
        per_buffer = [(i % 3, [etl.classic(RED, T + 100 * i + 3 * j, payload=bytes(8))
                               for j in range(50)]) for i in range(9)]
        self.assertEqual(self.assert_agrees(self.write("a.etl", etl.trace(per_buffer))), ([], 450))
        self.assertEqual(sorted(os.listdir(self.out)), ["losses", "metadata", "processor_0",
                                                        "processor_1", "processor_2"])
        self.assertEqual(self.assert_agrees(self.trace(*(etl.classic(RED, T + i) for i in range(5)),
                                                       mode=0x10000001))[1], 5)

    def test_packets_are_as_large_as_buffers_and_an_event_fits_into_one(self):
        large = [etl.classic(RED, T + i, payload=bytes([i]) * 60_000) for i in range(4)]
        data = [etl.buffer([record], i + 1, stamp=1 << 60, size=65536)
                for i, record in enumerate(large)]
        trace = self.write("a.etl", b"".join([etl.header_buffer(5, size=65536), *data]))
        self.assertEqual(self.assert_agrees(trace), ([], 4))
        self.assertGreater(os.path.getsize(os.path.join(self.out, "processor_0")), 240_000)

    def test_a_choice_of_events_is_converted(self):
        events, _ = self.convert("--where", "size > 4096", self.trace(*heap_events()))
        self.assertEqual([dict(e["event.fields"])["size"] for e in events], [5000])

    def test_several_files_are_a_folder_of_traces_in_one_order_of_time(self):
        odd, even = (self.trace(*(etl.classic(RED, T + 2 * i + which, kind=which + 1)
                                  for i in range(50)), name=f"{which}.etl")
                     for which in (0, 1))
        self.assertEqual(self.assert_agrees(odd, even, odd), ([], 100))
        self.assertEqual(sorted(os.listdir(self.out)), ["1", "2", "3"])
        self.assertIn("metadata", os.listdir(os.path.join(self.out, "3")))

    def test_what_is_known_of_the_trace_is_in_its_environment(self):
        path = self.trace(etl.classic(RED, T), name='a"\x1b.etl', events_lost=4)
        self.convert(path)
        with open(os.path.join(self.out, "metadata"), encoding="utf-8") as file:
            metadata = file.read()
        for line in ('tracer_name = "etwas";', 'session = "session";', r'a\"\\x1b.etl";',
                     "events_lost = 4;", "absolute = TRUE;"):
            self.assertIn(line, metadata)

    def test_a_file_without_events_is_a_trace_without_events(self):
        self.assertEqual(self.convert(self.write("a.etl", etl.trace([]))), ([], []))


class Losses(CtfTest):
    def moment(self, ticks):
        seconds, units = divmod(etl.START - 116444736000000000 + ticks - etl.FIRST_STAMP, 10**7)
        return f"{seconds}.{units:07}00"

    def test_what_was_lost_nobody_knows_where_is_discarded_over_the_whole_trace(self):
        path = self.trace(etl.classic(RED, T), etl.classic(RED, T + 9), events_lost=5,
                          buffers_lost=2)
        lost, _ = self.assert_agrees(path)
        self.assertEqual(lost, [(5, "events", self.moment(T), self.moment(T + 9), "losses"),
                                (2, "packets", self.moment(T), self.moment(T + 9), "losses")])

    def test_what_the_session_lost_is_discarded_when_it_was(self):
        own = [etl.totals(lost_events=20), etl.loss(T + 2, T + 4, 5, 1),
               etl.loss(T + 3, T + 8, 6, 1), etl.loss(T + 3, T + 8, 1, 1, etl.BACKLOG_FULL),
               etl.loss(T + 3, T + 8, 7, cause=etl.WRITE_ERROR)]
        lost, _ = self.assert_agrees(self.write("a.etl",
                                                etl.trace([(0, [etl.classic(RED, T),
                                                                etl.classic(RED, T + 9)])],
                                                          own=own)))
        self.assertEqual(sorted(lost), [(1, "event", self.moment(T), self.moment(T + 9), "losses"),
                                        (5, "events", self.moment(T + 2), self.moment(T + 4),
                                         "lost_on_processor_1"),
                                        (7, "events", self.moment(T + 3), self.moment(T + 8),
                                         "lost"),
                                        (7, "events", self.moment(T + 4), self.moment(T + 8),
                                         "lost_on_processor_1")])

    def test_what_the_kernel_lost_on_a_processor_is_discarded_there(self):
        records = [etl.switch(T, 0, 5), etl.switch(T + 10, 5, 0),
                   etl.kernel_loss(T + 50, T + 10, events=7), etl.switch(T + 60, 0, 5)]
        lost, _ = self.assert_agrees(self.write("a.etl",
                                                etl.trace([(0, [etl.switch(T + 1, 0, 6)]),
                                                           (1, records)])))
        self.assertEqual(lost, [(7, "events", self.moment(T + 10), self.moment(T + 50),
                                 "processor_1")])

    def test_a_damage_is_a_lost_packet_between_the_events_around_it(self):
        buffers = [(i % 2, [etl.classic(RED, T + 10 * i), etl.classic(RED, T + 10 * i + 3)])
                   for i in range(5)]
        data = bytearray(etl.trace(buffers))
        data[3 * etl.BUFFER_BYTES:4 * etl.BUFFER_BYTES] = bytes([0x5A]) * etl.BUFFER_BYTES
        path = self.write("a.etl", bytes(data))
        lost, count = self.assert_agrees(path, expect=DAMAGED)
        stat, = self.stat_json(path, expect=DAMAGED)
        self.assertEqual(count, 8)
        self.assertEqual({(one[1].rstrip("s"), one[4]) for one in lost}, {("packet", "gaps")})
        self.assertEqual(sum(one[0] for one in lost), stat["damage_count"])

    def test_time_that_turns_back_stands_still_and_its_error_grows(self):
        path = self.trace(etl.classic(RED, T), etl.classic(RED, T + 500), etl.classic(RED, T + 100))
        events, _ = self.convert(path, expect=DAMAGED)
        self.assertEqual(len(events), 3)
        self.assertEqual([(e["ns"] - events[0]["ns"], e["error_ns"] - events[0]["error_ns"])
                          for e in events],
                         [(0, 0), (50_000, 0), (50_000, 40_000)])

    def test_times_that_no_clock_has_are_those_that_readers_take(self):
        good = etl.trace([(0, [etl.classic(RED, T), etl.classic(RED, T + 5)])])
        for start in (1 << 62, 0, -1, (1 << 63) - 1):
            path = self.write("a.etl", good.replace(struct.pack("<q", etl.START),
                                                    struct.pack("<q", start)))
            self.run_any("convert", "--to", "ctf", "-o", self.out, path)
            self.assertEqual(len(self.babeltrace()[0]), 2)
            shutil.rmtree(self.out)

    def test_files_damaged_anywhere_are_traces(self):
        good = etl.trace([(i % 2, heap_events()) for i in range(3)])
        for at in [*range(0, 1024, 57), *range(etl.BUFFER_BYTES, etl.BUFFER_BYTES + 600, 31)]:
            data = bytearray(good)
            data[at] ^= 1 << at % 8
            shutil.rmtree(self.out, ignore_errors=True)
            self.run_any("convert", "--to", "ctf", "-o", self.out, self.write("a.etl", bytes(data)))
            if os.path.exists(self.out):
                self.babeltrace()


class Output(CtfTest):
    def convert_badly(self, *arguments, expect=OUTPUT, **options):
        _, error = self.run_etwas("convert", "--to", "ctf", *arguments, expect=expect, **options)
        self.assertIn("cannot", error)
        self.assertEqual(sorted(os.listdir(self.folder)), self.before)

    def test_what_cannot_be_written_leaves_nothing(self):
        import resource
        events = [etl.classic(RED, T + i, payload=bytes(100)) for i in range(1000)]
        path = self.write("b.etl",
                          etl.trace([(i % 2, events[at:at + 50])
                                     for i, at in enumerate(range(0, 1000, 50))]))
        self.before = ["b.etl"]

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        self.convert_badly("-o", self.out, path, preexec_fn=limit)
        self.convert_badly("-o", self.out, path, path, preexec_fn=limit)
        self.convert_badly("-o", os.path.join(self.folder, "no", "out"), path)

    def test_a_folder_that_has_something_is_left_as_it_is(self):
        path = self.trace(etl.classic(RED, T))
        os.mkdir(self.out)
        with open(os.path.join(self.out, "mine"), "wb"):
            pass
        self.before = ["a.etl", "out"]
        self.convert_badly("-o", self.out, path)
        self.assertEqual(os.listdir(self.out), ["mine"])


if __name__ == "__main__":
    raise SystemExit(main())
