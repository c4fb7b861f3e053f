# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""One thing has one name: in --columns, --where, --json, --csv and the documents. Each test that
runs a command with --json holds its keys against the rules, too (tool_case.py).

usage: canonical_test.py PATH_OF_ETWAS TEST_CLASS
"""

import csv
import io
import json
import os
import re
import struct
import sys

import etl_build as etl
from tool_case import (BLUE, DAMAGED, DOCS, FAILED, FINE, RED, ToolTest, main, name_fault,
                       output_faults, reference, windows_files)

# Of an event's object, beside its columns: docs/reference/json.md tells of each.
BESIDE_COLUMNS = {"etwas", "kind", "field_times", "field_names", "truncated", "rest", "extended",
                  "decoded_as_version", "since_start", "qpc_time", "system_time"}


class Names(ToolTest):
    def setUp(self):
        super().setUp()
        number = etl.tl_field("n", etl.INT64)
        events = [etl.instance(RED, 1_000_100, 1, kind=1),
                  *(etl.tl_event(RED, stamp, "P", "Work", number, struct.pack("<q", 2**60),
                                 opcode=opcode, activity=BLUE, level=2, keyword=1)
                    for stamp, opcode in ((1_500_000, 1), (1_600_000, 2))),
                  etl.instance(RED, 2_000_000, 1, kind=2),
                  etl.instance(BLUE, 2_000_100, 5, 4, RED)]
        self.whole = self.write("whole.etl", etl.trace([(0, events)], events_lost=3))
        self.columns = self.run_etwas("dump", "--columns", "?")[0].split()
        self.assertEqual(self.columns.pop(), "fields.NAME")

    def test_columns_bear_canonical_names_that_the_reference_tells_of(self):
        self.assertEqual({name: name_fault(name) for name in self.columns if name_fault(name)}, {})
        with open(os.path.join(DOCS, "reference", "columns.md"), encoding="utf-8") as file:
            told = file.read()
        self.assertEqual([name for name in self.columns if f"`{name}`" not in told], [])
        help_text, _ = self.run_etwas("help", "columns")
        self.assertEqual([name for name in self.columns
                          if not re.search(rf"\b{name}\b", help_text)], [])
        self.assertEqual(self.run_etwas("tail", "--columns", "?")[0],
                         self.run_etwas("dump", "--columns=?", "no.etl")[0])

    def test_each_column_is_a_head_of_csv_and_may_be_compared_or_says_why_not(self):
        for path in (self.whole, *windows_files()):
            out, _ = self.run_any("dump", "--all", "--csv", "-n", "50", "--columns",
                                  ",".join(self.columns), path, expect=(FINE, DAMAGED))
            rows = list(csv.reader(io.StringIO(out)))
            self.assertEqual(rows[0], self.columns)
            self.assertEqual({len(row) for row in rows}, {len(self.columns)})
        for name in self.columns:
            _, error = self.run_any("dump", "--where", f"{name} == 'x'", self.whole,
                                    expect=(FINE, FAILED))
            self.assertNotIn("no event has a field", error, name)

    def test_what_a_column_shows_is_found_by_it(self):
        for path in (self.whole, *windows_files()):
            shown = ["event", "event_class", "name", "provider", "provider_id", "event_class_id",
                     "cpu", "pid", "tid", "opcode", "level", "version", "activity", "instance",
                     "event_id", "file", "time"]
            out, _ = self.run_any("dump", "--csv", "-n", "5", "--columns", ",".join(shown), path,
                                  expect=(FINE, DAMAGED))
            for row in csv.DictReader(io.StringIO(out)):
                terms = [f'{name} == {json.dumps(value) if not value.isdigit() else value}'
                         for name, value in row.items() if value != ""]
                found, _ = self.run_any("dump", "--csv", "--columns", ",".join(shown), "--where",
                                        " && ".join(terms), path, expect=(FINE, DAMAGED))
                self.assertIn(row, list(csv.DictReader(io.StringIO(found))), (path, terms))

    def test_keys_of_events_are_columns(self):
        for path in (self.whole, *windows_files()):
            for arguments in ((), ("--hex",), ("--times", "relative"), ("--times", "raw"),
                              ("--times", "qpc")):
                out, _ = self.run_any("dump", "--all", "--json", "-n", "200", *arguments, path,
                                      expect=(FINE, DAMAGED))
                for line in out.splitlines():
                    event = json.loads(line)
                    self.assertEqual(event.keys() - set(self.columns) - BESIDE_COLUMNS, set())

    def test_every_command_that_reads_answers_with_canonical_names(self):
        walked = 0
        for path in (self.whole, *windows_files()):
            for arguments in (("dump", "--all"), ("stat",), ("stat", "--hot"),
                              ("stat", "--cpu-time"), ("stat", "--heap"), ("stat", "--prove"),
                              ("schema",), ("spans",), ("report",), ("why",), ("advise",),
                              ("advise", "--history", "1s")):
                out, _ = self.run_any(*arguments, "--json", path)
                walked += out != ""
            out, _ = self.run_any("diff", "--json", path, "--against", path)
            walked += out != ""
            out, _ = self.run_any("convert", "--to", "ndjson", "-o", "-", path)
            self.assertEqual(sorted(set(output_faults(out))), [])
            for arguments in (("dump", "--all"), ("spans",), ("stat",)):
                out, _ = self.run_any(*arguments, "--csv", path)
                for name in next(csv.reader(io.StringIO(out)), []):
                    self.assertIsNone(name_fault(name), (arguments, name))
        self.assertGreater(walked, 40)

    def test_spans_have_the_same_names_in_csv_as_in_json(self):
        for arguments in ((), ("--slowest", "2")):
            told = json.loads(self.run_etwas("spans", "--json", *arguments, self.whole)[0])
            keys = set()

            def gather(value):
                for key, member in (value.items() if isinstance(value, dict) else ()):
                    keys.update({key} | {f"{key}_{name}" for name in member}
                                if isinstance(member, dict) else {key})
                    gather(member)
                for member in value if isinstance(value, list) else ():
                    gather(member)
            gather(told)
            heads = next(csv.reader(io.StringIO(
                self.run_etwas("spans", "--csv", *arguments, self.whole)[0])))
            self.assertEqual({head for head in set(heads) - keys  # what is empty has no key
                              if f"`{head}`" not in reference("spans")}, set())


class Rules(ToolTest):
    """The check finds what breaks its rules."""

    def test_each_rule_is_seen_to_be_broken(self):
        for fault in ('{"kind":"x","a":1}', '{"etwas":"0.1","a":1}', "[]",
                      '{"etwas":"0.1","kind":"x","Pid":1}',
                      '{"etwas":"0.1","kind":"x","a":[{"took_ns":1}]}',
                      '{"etwas":"0.1","kind":"x","class":1}',
                      '{"etwas":"0.1","kind":"x","a":{"b":9007199254740993}}'):
            self.assertNotEqual(list(output_faults(fault)), [], fault)
        self.assertEqual(list(output_faults(
            '{"etwas":"0.1","kind":"x","fields":{"Class":1,"t_ns":2},"a_b":[1]}')), [])


if __name__ == "__main__":
    sys.exit(main())
