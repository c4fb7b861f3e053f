# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What `etwas dump` says of an odd event each target of `etwas convert` says, too, in its own way.

usage: marks_test.py PATH_OF_ETWAS FOLDER_FOR_THE_ENGINE TEST_CLASS

Each target has a class that reads its output back as a list of Said, and they all walk the same
events.
"""

import base64
import csv
import json
import os
import struct
import uuid
from dataclasses import dataclass, field, replace

import ctf_test
import otlp_test
import perfetto_test

import etl_build as etl
from tool_case import BLUE, RED, ToolTest, main

T = 1_000_001
START, END = 1, 2
UNKNOWN = 0xFFFFFFFF
ALL_VERSIONS = "all that are known"
FLAG_GUID, FLAG_TIME, FLAG_IDS = 2, 8, 32


@dataclass
class Said:
    """Of one event; what a target does not say is None."""
    pid: int = None
    tid: int = None
    fields: dict = field(default_factory=dict)
    truncated: str = None  # the field that the payload ends in
    rest: str = None       # hexadecimal digits
    payload: str = None    # likewise
    decoded_as_version: int = None
    text: str = None
    undescribed: str = None  # the field of which it is not known how it is read
    odd: str = None          # in words


def sale(stamp, payload):
    """A number and a long one, if the payload has both."""
    return etl.tl_event(BLUE, stamp, "shop", "Sale", etl.tl_field("count", 8)
                        + etl.tl_field("price", 10), payload)


def unknown_class(stamp, payload, process=10, thread=11):
    return etl.classic(RED, stamp, kind=77, process=process, thread=thread, payload=payload)


def message(number, stamp, payload):
    ids = struct.pack("<16sqII", uuid.UUID(BLUE).bytes_le, stamp, 11, 10)
    return etl.message(number, FLAG_GUID | FLAG_TIME | FLAG_IDS, ids, payload)


def of_types(stamp, types, payload):
    fields = b"".join(etl.tl_field(name, kind) for name, kind in types.items())
    return etl.tl_event(BLUE, stamp, "shop", "Odd" + "".join(types), fields, payload)


WHOLE = struct.pack("<IQ", 7, 8)
NO_TYPE, COUNTED, BOOL32 = 30, 22, 13
READ_INIT = "3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c"
DESCRIPTIONS = [etl.event_info(T, RED, 5, "shop", "Order", "Made", [("size", etl.UINT32, 0)],
                               version=1),
                etl.message_format(T, BLUE, 3, "%u sold"),
                etl.message_format(T, BLUE, 4, "%u left")]
# An event, and what is to be said of it.
CASES = [
    (sale(T, WHOLE), Said(10, 11, {"count": 7, "price": 8})),
    (sale(T + 1, WHOLE[:7]), Said(10, 11, {"count": 7}, truncated="price", rest="080000")),
    (sale(T + 2, WHOLE[:4]), Said(10, 11, {"count": 7}, truncated="price", rest="")),
    (sale(T + 3, WHOLE + b"\xab\xcd"), Said(10, 11, {"count": 7, "price": 8}, rest="abcd")),
    (etl.classic(RED, T + 4, kind=5, version=3, payload=struct.pack("<I", 9)),
     Said(10, 11, {"size": 9}, decoded_as_version=1)),
    (unknown_class(T + 5, b"\x01\x02\xff"), Said(10, 11, payload="0102ff")),
    (message(3, T + 6, struct.pack("<IB", 6, 0xEE)), Said(10, 11, text="6 sold", rest="ee")),
    (message(4, T + 7, b"\x06\0\0"), Said(10, 11, text="… left", truncated="argument 1",
                                          rest="060000")),
    (unknown_class(T + 8, b"\x01", UNKNOWN, UNKNOWN), Said(payload="01")),
    (unknown_class(T + 9, b"\x01", 0x80000001, 0xFFFFFFF0),
     Said(0x80000001, 0xFFFFFFF0, payload="01")),
    (of_types(T + 10, {"count": etl.UINT32, "later": NO_TYPE}, WHOLE[:6]),
     Said(10, 11, {"count": 7}, undescribed="later", rest="0800")),
    (of_types(T + 11, {"word": COUNTED}, b"\x03\x006\x00\x41"),
     Said(10, 11, {"word": 6}, odd="word (odd byte: 41)")),
    (etl.classic(READ_INIT, T + 12, kind=12, version=9, payload=struct.pack("<QI", 5, 6)),
     Said(10, 11, {"Irp": 5}, rest="06000000", decoded_as_version=ALL_VERSIONS)),
    (of_types(T + 13, {"flag": BOOL32, "n": etl.UINT32}, struct.pack("<II", 700, 5)),
     Said(10, 11, {"flag": 700, "n": 5})),
]


class MarksTest(ToolTest):
    target = None

    def output(self, path):
        out = os.path.join(self.folder, "out")
        self.run_etwas("convert", "--to", self.target, "--where",
                       "event_class_id != '68fdd900-4a3e-11d1-84f4-0000f80464e3'", "-o", out, path)
        return out

    def said(self, path):
        """Of each event of the file."""
        raise NotImplementedError

    def expected(self, said):
        """What the target can say of that."""
        return said

    def walk(self):
        path = self.write("a.etl", etl.trace([(0, DESCRIPTIONS + [event for event, _ in CASES])]))
        for told, (_, said) in zip(self.said(path), CASES, strict=True):
            with self.subTest(said=said):
                self.assertEqual(told, self.expected(said))


def of_json(event):
    """As dump has it."""
    odd = "; ".join(f"{odd['field']} ({odd['odd']})" for odd in event.get("odd", [])) or None
    version = event.get("decoded_as_version")
    if "decoded_as_version" in event and version is None:
        version = ALL_VERSIONS
    return Said(event.get("pid"), event.get("tid"), whole_numbers(event.get("fields", {})),
                event.get("truncated"), event.get("rest"), event.get("payload"), version,
                event.get("message"), event.get("undescribed"), odd)


def whole_numbers(values):
    """The values of all cases are numbers, however they are written."""
    return {name: int(str(value), 0) for name, value in values.items()}


class Ndjson(MarksTest):
    target = "ndjson"

    def said(self, path):
        with open(self.output(path), encoding="utf-8") as file:
            return [of_json(json.loads(line)) for line in file]

    def test_ndjson(self):
        self.walk()


class Etl(MarksTest):
    target = "etl"

    def said(self, path):
        out, _ = self.run_etwas("dump", "--json", self.output(path))
        return [of_json(e) for e in map(json.loads, out.splitlines())
                if not e.get("event", "").startswith("EventTrace/")]

    def test_etl(self):
        self.walk()


class Csv(MarksTest):
    """Its fields are dump's text."""
    target = "csv"

    def said(self, path):
        with open(self.output(path), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return [(row["pid"], row["tid"], row["fields"]) for row in rows]

    def expected(self, said):
        ids = [str(number) if number is not None else "" for number in (said.pid, said.tid)]
        parts = [f"{name}=0x{value:X}" if name == "Irp" else f"{name}={value}"
                 for name, value in said.fields.items()]
        if said.odd is not None:
            name, _, words = said.odd.partition(" ")
            parts = [f'{name}="{said.fields[name]}" {words}']
        if said.text is not None:
            parts.append(said.text)
        if said.payload is not None:
            parts.append(f"payload={said.payload}")
        if said.truncated is not None:
            parts.append(("" if said.text else f"{said.truncated}=") + "(truncated"
                         + (f": {said.rest}" if said.rest else "") + ")")
        elif said.undescribed is not None:
            parts.append(f"{said.undescribed}=(not described: {said.rest})")
        elif said.rest is not None:
            count = len(said.rest) // 2
            parts.append(f"({count} more byte{'s' if count != 1 else ''}: {said.rest})")
        if said.decoded_as_version == ALL_VERSIONS:
            parts.append("(version 9 is not known: only what all known ones have in common)")
        elif said.decoded_as_version is not None:
            parts.append(f"(version 3 decoded as {said.decoded_as_version})")
        return (*ids, " ".join(parts))

    def test_csv(self):
        self.walk()


def of_keys(pid, tid, values, prefix="etwas."):
    """Where marks stand among the fields."""
    own = {key: values.pop(prefix + key) for key in ("truncated", "rest", "payload",
                                                     "decoded_as_version", "text", "undescribed",
                                                     "odd") if prefix + key in values}
    if own.get("decoded_as_version", 0) is None:
        own["decoded_as_version"] = ALL_VERSIONS
    return Said(pid, tid, whole_numbers(values), **own)


def falling():
    """A span whose END is 6 us before its START: its clock is the system's, which may be set
    back."""
    edges = [etl.instance(RED, etl.START + ticks, 1, kind=kind, process=20, thread=21)
             for kind, ticks in ((START, 100), (END, 40))]
    return etl.trace([(0, edges)], clock=2, first=etl.START)


class Chrome(MarksTest):
    target = "chrome"

    def events(self, path):
        with open(self.output(path), encoding="utf-8") as file:
            return [e for e in json.load(file)["traceEvents"] if e["ph"] != "M"]

    def said(self, path):
        def known(number):
            return None if number == "unknown" else number
        return [of_keys(known(e["pid"]), known(e["tid"]), e["args"]) for e in self.events(path)]

    def test_chrome(self):
        self.walk()

    def test_where_stamps_fall_a_span_ends_no_earlier_than_it_begins(self):
        path = self.write("a.etl", falling())
        begin, end = self.events(path)
        self.assertEqual([begin["ph"], end["ph"]], ["b", "e"])
        self.assertEqual(begin["ts"], end["ts"])
        self.assertEqual(end["args"]["etwas.before_start_ns"], 6000)


class Otlp(MarksTest):
    target = "otlp"

    def items(self, path):
        """Of each item the resource's attributes, and itself with its attributes as a
        dictionary."""
        found = []
        with open(self.output(path), encoding="utf-8") as file:
            for line in file:
                request = json.loads(line)
                otlp_test.CHECKS["ExportRequest"](request)
                for resource in request.get("resourceLogs", []) + request.get("resourceSpans", []):
                    about = otlp_test.values_of(resource["resource"]["attributes"])
                    for scope in resource.get("scopeLogs", []) + resource.get("scopeSpans", []):
                        for item in scope.get("logRecords", []) + scope.get("spans", []):
                            item["attributes"] = otlp_test.values_of(item["attributes"])
                            found.append((about, item))
        return found

    def said(self, path):
        found = []
        for about, item in self.items(path):
            values = item["attributes"]
            tid = values.pop("thread.id", None)
            for key in ("etwas.processor", "etwas.type", "etwas.id", "etwas.level", "etwas.version",
                        "etwas.message"):
                values.pop(key, None)
            for key in ("etwas.rest", "etwas.payload"):
                if key in values:
                    values[key] = base64.b64decode(values[key]).hex()
            said = of_keys(about.get("process.pid"), tid, values)
            if said.payload is None and not said.fields:
                said.text = item["body"]["stringValue"]
            found.append(said)
        return found

    def test_otlp(self):
        self.walk()

    def test_where_stamps_fall_a_span_says_by_how_much(self):
        path = self.write("a.etl", falling())
        (_, span), = self.items(path)
        self.assertEqual(span["startTimeUnixNano"], span["endTimeUnixNano"])
        self.assertEqual(span["attributes"]["end.etwas.before_start_ns"], 6000)

    def test_a_time_before_1970_is_not_known_there_and_stands_beside(self):
        path = self.write("a.etl", etl.trace([(0, [sale(T, WHOLE)])],
                                             start=100_000_000_000_000_000))
        (_, log), = self.items(path)
        shown, _ = self.run_etwas("dump", "--json", "--where", "provider == 'shop'", path)
        self.assertEqual(log["timeUnixNano"], "0")
        self.assertEqual(log["attributes"]["etwas.time"].rstrip("Z").rstrip("0"),
                         json.loads(shown)["time"].rstrip("Z").rstrip("0"))


class Ctf(MarksTest, ctf_test.CtfTest):
    target = "ctf"
    setUp = ctf_test.CtfTest.setUp

    def said(self, path):
        found = []
        for event in self.convert(path)[0]:
            fields = {}
            for name, value in event["event.fields"]:
                if not name.endswith("_length"):
                    fields[name] = bytes(value).hex() if isinstance(value, list) else value
            fields.update({"decoded_as_version": event["decoded_as_version"]}
                          if "decoded_as_version" in event else {})
            pid, tid = (None if event[key] % (1 << 32) == UNKNOWN else event[key] % (1 << 32)
                        for key in ("pid", "tid"))
            found.append(of_keys(pid, tid, fields, prefix=""))
        return found

    def expected(self, said):
        # all of the payload: no field behind it is declared
        if (said.truncated or said.undescribed) and said.text is None:
            whole = b"".join(struct.pack("<I", value) for value in said.fields.values()).hex()
            return Said(said.pid, said.tid, truncated=said.truncated, undescribed=said.undescribed,
                        payload=whole + said.rest)
        # the event's own
        version = 9 if said.decoded_as_version == ALL_VERSIONS else said.decoded_as_version
        return replace(said, decoded_as_version=version, odd=None)

    def test_ctf(self):
        self.walk()

    def test_how_many_values_are_odd_is_said_since_the_format_cannot(self):
        odd = of_types(T, {"name": COUNTED}, struct.pack("<H", 3) + b"x\0y")
        for count, end in ((0, None), (1, " value"), (2, " values")):
            path = self.write("a.etl", etl.trace([(0, [sale(T, WHOLE), *count * [odd]])]))
            _, error = self.run_etwas("convert", "--to", "ctf", "-o",
                                      os.path.join(self.folder, f"odd{count}"), path)
            self.assertEqual(error, end
                             and f"etwas convert: note: what is odd about {count}{end} CTF cannot "
                             "say; 'etwas dump' says it\n" or "")

    def test_a_time_before_1970_has_an_error_that_is_not_known(self):
        path = self.write("a.etl", etl.trace([(0, [sale(T, WHOLE)])],
                                             start=100_000_000_000_000_000))
        event, = self.convert(path)[0]
        self.assertEqual((event["ns"], event["error_ns"]), (0, UNKNOWN))


class Perfetto(MarksTest, perfetto_test.PerfettoTest):
    target = "perfetto"

    def said(self, path):
        found = []
        for row in self.load(path).slices:
            values = {key: value for key, value in row["args"].items()
                      if not key.startswith("etw_")}
            pid, tid = (int(values.pop(key)) if key in values else None
                        for key in ("process", "thread"))
            if values.get("decoded_as_version", ALL_VERSIONS) != ALL_VERSIONS:
                values["decoded_as_version"] = int(values["decoded_as_version"])
            said = of_keys(pid if pid is not None else row["pid"], tid if tid is not None
                           else row["tid"], values, prefix="")
            found.append(said)
        return found

    def test_perfetto(self):
        self.walk()


class Stacks(MarksTest):
    """folded, speedscope and pprof have stacks alone: what has none is in none of them, and that is
    said."""

    def test_stacks(self):
        for target in ("folded", "speedscope", "pprof"):
            with self.subTest(target):
                path = self.write("a.etl", etl.trace([(0, [CASES[0][0]])]))
                out = os.path.join(self.folder, target)
                _, told = self.run_any("convert", "--to", target, "-o", out, path)
                self.assertRegex(told, "no stack")


if __name__ == "__main__":
    main()
