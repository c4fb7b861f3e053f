# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas convert --to otlp`: each line is an export request as the published protobuf schemas and
OTLP's JSON mapping have it.

usage: otlp_test.py PATH_OF_ETWAS TEST_CLASS
"""

import base64
import json
import math
import os
import re
import struct
import uuid

import etl_build as etl
from tool_case import BLUE, DAMAGED, RED, ToolTest, main

T = 1_000_001
START, END, CHECKPOINT = 1, 2, 8
MOST_LINE_BYTES = 1 << 20  # that the collector's receiver reads unless it is told to read more
WARN = 13


# ---- what the schemas allow: by message the keys and what each is --------------------------------


def text(value):
    assert isinstance(value, str), value


def hexadecimal(digits):
    def check(value):
        assert re.fullmatch(f"[0-9a-f]{{{digits}}}", value) and set(value) != {"0"}, value
    return check


def fixed64(value):
    assert isinstance(value, str) and re.fullmatch("0|[1-9][0-9]*",
                                                   value) and int(value) < 1 << 64, value


def int64(value):
    assert isinstance(value, str) and -(1 << 63) <= int(value) < 1 << 63, value


def uint32(value):
    assert type(value) is int and 0 <= value < 1 << 32, value


def double(value):
    assert type(value) in (int, float) and math.isfinite(value) or value in ("NaN", "Infinity",
                                                                             "-Infinity"), value


def boolean(value):
    assert type(value) is bool, value


def base64_text(value):
    base64.b64decode(value, validate=True)


def enumeration(*numbers):
    def check(value):
        assert type(value) is int and value in numbers, value
    return check


def many(kind):
    def check(values):
        assert isinstance(values, list), values
        for value in values:
            CHECKS[kind](value)
    return check


def message(fields, needed=()):
    def check(value):
        assert isinstance(value, dict) and set(value) <= set(fields) and set(needed) <= set(
            value), value
        for key, inside in value.items():
            (CHECKS[fields[key]] if isinstance(fields[key], str) else fields[key])(inside)
    return check


def one_of(fields):
    def check(value):
        assert len(value) == 1, value
        message(fields)(value)
    return check


def attributes(values):
    many("KeyValue")(values)
    keys = [value["key"] for value in values]
    assert len(keys) == len(set(keys)), keys


CHECKS = {
    "AnyValue": one_of({"stringValue": text, "boolValue": boolean, "intValue": int64,
                        "doubleValue": double, "arrayValue": "ArrayValue",
                        "bytesValue": base64_text}),
    "ArrayValue": message({"values": many("AnyValue")}, ["values"]),
    "KeyValue": message({"key": text, "value": "AnyValue"}, ["key", "value"]),
    "Resource": message({"attributes": attributes}),
    "InstrumentationScope": message({"name": text}),
    "Span": message({"traceId": hexadecimal(32), "spanId": hexadecimal(16),
                     "parentSpanId": hexadecimal(16), "name": text, "kind": enumeration(1),
                     "startTimeUnixNano": fixed64, "endTimeUnixNano": fixed64,
                     "attributes": attributes, "droppedAttributesCount": uint32},
                    ["traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano"]),
    "LogRecord": message({"timeUnixNano": fixed64, "observedTimeUnixNano": fixed64,
                          "severityNumber": enumeration(*range(25)), "severityText": text,
                          "body": "AnyValue", "attributes": attributes,
                          "droppedAttributesCount": uint32, "traceId": hexadecimal(32),
                          "spanId": hexadecimal(16), "eventName": text}, ["timeUnixNano", "body"]),
    "ScopeSpans": message({"scope": "InstrumentationScope", "spans": many("Span")},
                          ["scope", "spans"]),
    "ScopeLogs": message({"scope": "InstrumentationScope", "logRecords": many("LogRecord")},
                         ["scope", "logRecords"]),
    "ResourceSpans": message({"resource": "Resource", "scopeSpans": many("ScopeSpans")},
                             ["resource", "scopeSpans"]),
    "ResourceLogs": message({"resource": "Resource", "scopeLogs": many("ScopeLogs")},
                            ["resource", "scopeLogs"]),
    "ExportRequest": one_of({"resourceSpans": many("ResourceSpans"),
                             "resourceLogs": many("ResourceLogs")}),
}


def value_of(value):
    (kind, inside), = value.items()
    if kind == "arrayValue":
        return [value_of(element) for element in inside["values"]]
    return int(inside) if kind == "intValue" else inside


def values_of(attributes_):
    return {attribute["key"]: value_of(attribute["value"]) for attribute in attributes_}


def order(kind, ticks, number=1, parent=0, thread=21):
    return etl.instance(RED, T + ticks, number, parent, RED if parent else str(uuid.UUID(int=0)),
                        kind=kind, process=20, thread=thread)


def activity(kind, ticks, name, related=None):
    items = etl.extended_item(1, related.bytes_le, False) if related else b""
    return etl.tl_event(BLUE, T + ticks, "shop", "Buy",
                        opcode={START: 1, END: 2, CHECKPOINT: 0}[kind], activity=str(name),
                        items=items)


class Otlp(ToolTest):
    def convert(self, *arguments, **options):
        """The spans and the log records, each with `attributes` as a dict, `scope` and
        `resource`."""
        out, self.told = self.run_etwas("convert", "--to", "otlp", *arguments, **options)
        self.lines = out.splitlines()
        spans, logs = [], []
        for line in self.lines:
            self.assertLess(len(line.encode()), MOST_LINE_BYTES)
            request = json.loads(line)
            CHECKS["ExportRequest"](request)
            for kind, scopes, items, found in (("resourceSpans", "scopeSpans", "spans", spans),
                                               ("resourceLogs", "scopeLogs", "logRecords", logs)):
                for resource in request.get(kind, ()):
                    for scope in resource[scopes]:
                        for item in scope[items]:
                            found.append(item | {"attributes": values_of(item["attributes"]),
                                                 "scope": scope["scope"]["name"],
                                                 "resource": values_of(
                                                     resource["resource"]["attributes"])})
        return spans, logs

    def test_spans_have_their_times_names_and_parents(self):
        path = self.write("a.etl", etl.trace([(0, [
            order(START, 0), order(START, 10, 2, parent=1), order(CHECKPOINT, 15, 2),
            order(END, 20, 2, thread=99), order(END, 31)])], name="orders"))
        (inner, outer), (checkpoint,) = self.convert(path)
        self.assertEqual(inner["parentSpanId"], outer["spanId"])
        self.assertNotIn("parentSpanId", outer)
        self.assertEqual({inner["traceId"], outer["traceId"], checkpoint["traceId"]},
                         {outer["traceId"]})
        self.assertEqual(checkpoint["spanId"], inner["spanId"])
        self.assertEqual(int(outer["endTimeUnixNano"]) - int(outer["startTimeUnixNano"]), 3100)
        self.assertEqual(int(inner["startTimeUnixNano"]) - int(outer["startTimeUnixNano"]), 1000)
        self.assertEqual((inner["name"], inner["scope"]), (RED, RED))
        self.assertEqual(inner["resource"], {"service.name": "orders", "process.pid": 20})
        self.assertEqual((inner["attributes"]["thread.id"], inner["attributes"]["end.thread.id"]),
                         (21, 99))
        self.assertNotIn("end.thread.id", outer["attributes"])

    def test_ids_are_the_same_in_each_run_and_whatever_comes_with_it(self):
        one = self.write("a.etl", etl.trace([(0, [order(START, 0), order(END, 31)])]))
        other = self.write("b.etl", etl.trace([(0, [order(START, 0, 7), order(END, 31, 7)])],
                                              name="another"))
        first, = self.convert(one)[0]
        both = self.convert(other, one)[0]
        self.assertEqual(len({span["spanId"] for span in both}), 2)
        self.assertIn((first["traceId"], first["spanId"]), [(span["traceId"], span["spanId"])
                                                            for span in both])

    def test_an_activity_is_its_own_trace_which_other_machines_know_too(self):
        root, child, far = (uuid.uuid4() for _ in range(3))
        here = self.write("a.etl", etl.trace([(0, [
            activity(START, 0, root), activity(START, 10, child, root),
            activity(CHECKPOINT, 15, child), activity(END, 20, child), activity(END, 31, root)])]))
        there = self.write("b.etl",
                           etl.trace([(0, [activity(START, 0, far, child),
                                           activity(END, 9, far)])]))
        (inner, outer), (note,) = self.convert(here)
        self.assertEqual({inner["traceId"], outer["traceId"], note["traceId"]}, {root.hex})
        self.assertEqual(inner["attributes"]["etwas.related_activity"], str(root))
        self.assertEqual(inner["scope"], "shop")
        remote, = self.convert(there)[0]
        self.assertEqual(remote["traceId"], child.hex)
        self.assertNotIn("parentSpanId", remote)

    def test_a_span_that_does_not_end_says_so(self):
        path = self.write("a.etl",
                          etl.trace([(0, [order(START, 0), order(CHECKPOINT, 40, 3),
                                          order(END, 50, 9)])]))
        (span,), logs = self.convert(path)
        self.assertEqual(span["attributes"]["etwas.end"], "lost")
        self.assertEqual(int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"]), 5000)
        # one had no START
        self.assertEqual([log["attributes"]["etwas.type"] for log in logs], [CHECKPOINT, END])
        self.assertTrue(all("traceId" not in log for log in logs))

    def test_another_start_of_the_same_ends_the_first(self):
        path = self.write("a.etl",
                          etl.trace([(0, [order(START, 0), order(START, 10), order(END, 31)])]))
        first, second = self.convert(path)[0]
        self.assertEqual((first["attributes"]["etwas.end"], second["attributes"].get("etwas.end")),
                         ("lost", None))
        self.assertNotEqual(first["spanId"], second["spanId"])

    def test_where_chooses_spans_by_either_end_and_keeps_what_they_are_in(self):
        path = self.write("a.etl", etl.trace([(0, [
            order(START, 0), order(START, 10, 2, parent=1), order(END, 20, 2),
            order(CHECKPOINT, 25), order(END, 31)])]))
        spans, logs = self.convert("--where", "duration > 2us", path)
        self.assertEqual((len(spans), len(logs)), (1, 0))
        inner, = self.convert("--where", "instance == 2", path)[0]
        self.assertEqual(inner["parentSpanId"], spans[0]["spanId"])
        (log,) = self.convert("--where", f"opcode == {CHECKPOINT}", path)[1]
        self.assertEqual(log["spanId"], spans[0]["spanId"])

    def test_fields_have_their_types(self):
        fields = b"".join(etl.tl_field(name, kind) for name, kind in (
            ("small", 3), ("least", 9), ("most", 10), ("half", 12), ("none", 12), ("yes", 13),
            ("words", 2)))
        fields += etl.tl_field("list", 7, count=3)
        payload = struct.pack("<bqQddI", -7, -(1 << 63), (1 << 64) - 1, 0.5, math.nan,
                              1) + b'q"\x01\xff\0' + struct.pack(
                                  "<3i", 1, 2, 3)
        path = self.write("a.etl",
                          etl.trace([(0, [etl.self_describing(BLUE, T, b"shop", b"all", fields,
                                                              payload, level=2)])]))
        log, = self.convert(path)[1]
        got = {key: value for key, value in log["attributes"].items()
               if not key.startswith(("etwas.", "thread."))}
        self.assertEqual(got, {"small": -7, "least": -(1 << 63), "most": str((1 << 64) - 1),
                               "half": 0.5, "none": "NaN", "yes": True, "words": got["words"],
                               "list": [1, 2, 3]})
        self.assertTrue(got["words"].startswith('q"\x01'))
        self.assertEqual((log["severityNumber"], log["severityText"], log["eventName"]),
                         (17, "ERROR", "all"))

    def test_what_nothing_describes_is_there_as_bytes(self):
        path = self.write("a.etl",
                          etl.trace([(0, [etl.classic(RED, T, kind=77, payload=b"\0\1\2\xff")])]))
        log, = self.convert(path)[1]
        self.assertEqual(base64.b64decode(log["attributes"]["etwas.payload"]), b"\0\1\2\xff")

    def test_long_arrays_are_text_and_what_has_no_room_is_counted(self):
        fields = b"".join(etl.tl_field(f"words{index}", 2) for index in range(30))
        many_ = etl.tl_field("list", 4, count=30000)
        events = [etl.self_describing(BLUE, T, b"shop", b"list", many_, bytes(30000)),
                  etl.self_describing(BLUE, T + 1, b"shop", b"words", fields,
                                      (b"\x01" * 1000 + b"\0") * 30)]
        path = self.write("a.etl", etl.header_buffer(3, size=65536) + b"".join(
            etl.buffer([event], index + 1, stamp=1 << 60, size=65536)
            for index, event in enumerate(events)))
        listed, wordy = self.convert(path)[1]
        self.assertTrue(listed["attributes"]["list"].startswith("[0, 0"))
        self.assertTrue(listed["attributes"]["list"].endswith("…")
                        or listed["attributes"]["list"].endswith("]"))
        there = sum(key.startswith("words") for key in wordy["attributes"])
        self.assertEqual(there + wordy["droppedAttributesCount"], 30)
        self.assertGreater(there, 10)

    def test_lines_end_before_they_are_too_long(self):
        path = self.write("a.etl",
                          etl.trace([(0, [order(CHECKPOINT, 100 * i + j) for j in range(50)])
                                     for i in range(20)]))
        _, logs = self.convert(path)
        self.assertGreater(len(self.lines), 3)
        self.assertEqual(len(logs), 1000)

    def test_what_is_damaged_or_lost_is_reported(self):
        whole = etl.trace([(0, [order(CHECKPOINT, 10 * i, i)]) for i in range(4)], events_lost=7,
                          own=[etl.totals(lost_events=7, overwritten_events=2)])
        at = 2 * etl.BUFFER_BYTES
        path = self.write("a.etl", whole[:at] + whole[at + etl.BUFFER_BYTES:])
        _, logs = self.convert(path, expect=DAMAGED)
        own = [log for log in logs if log["scope"] == "etwas"]
        self.assertEqual([log["body"]["stringValue"] for log in own],
                         ["damaged", "events are lost, or were overwritten"])
        self.assertTrue(all(log["severityNumber"] == WARN and log["attributes"]["etwas.file"]
                            == path for log in own))
        self.assertEqual((own[1]["attributes"]["etwas.lost"],
                          own[1]["attributes"]["etwas.overwritten"]), (7, 2))
        self.assertEqual([log["scope"] == "etwas" for log in logs],
                         [False, True, False, False, True])

    def test_names_are_escaped_and_times_may_be_anything(self):
        stamps = (-(1 << 63), -1, T, (1 << 63) - 1)
        path = self.write("a.etl",
                          etl.trace([(0, [etl.self_describing(BLUE, stamp, b'P"\\\n', b'E"\xff')])
                                     for stamp in stamps]))
        _, logs = self.convert(path)
        self.assertEqual({(log["scope"], log["eventName"]) for log in logs},
                         {('P"\\\n', 'E"\ufffd')})

    def test_several_files_are_one_time_line(self):
        one = self.write("a.etl", etl.trace([(0, [order(START, 0), order(END, 31)])], name="one"))
        other = self.write("b.etl", etl.trace([(0, [order(CHECKPOINT, 5)])], name="two"))
        (span,), (log,) = self.convert(one, other)
        self.assertEqual((span["resource"]["service.name"], log["resource"]["service.name"]),
                         ("one", "two"))
        self.assertNotIn("traceId", log)  # of another session
        out = os.path.join(self.folder, "out")
        self.run_etwas("convert", "--to", "otlp", "-o", out, one, other)
        with open(out, encoding="utf-8") as file:
            self.assertEqual(file.read().splitlines(), self.lines)


if __name__ == "__main__":
    raise SystemExit(main())
