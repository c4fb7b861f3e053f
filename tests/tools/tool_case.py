# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What the tests of the command `etwas` share: running it, and reading what it shows."""

import glob
import itertools
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import uuid

import etl_build as etl

os.environ["LC_ALL"] = "C.UTF-8"  # µs, and not us

FINE, NO, FAILED, DAMAGED, OUTPUT = range(5)
RED, BLUE = "11111111-2222-3333-4444-555555555555", "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
HEAP = "a3c81b52-0e9d-4b7e-8d46-2f5c90d7e6b4"
NO_GUID = str(uuid.UUID(int=0))
EVENT = {"etwas": "0.1", "kind": "event"}  # of each object of an event
HEX_TITLE = ("# time cpu pid tid event opcode level instance parent_instance parent_class_id "
             "payload")
TITLE = "# time cpu pid tid event fields"
TIME = "2026-01-01T00:00:00.000000100Z"

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "data")
DOCS = os.path.join(DATA, os.pardir, os.pardir, "docs")
SAMPLES = os.path.join(os.environ.get("ETWAS_SHARED_DIR", "/nonexistent"), "etl-samples")


def windows_files(*left_out):
    """Paths of files with the layouts of Windows: our own, and real ones where they are beside the
    repository."""
    return [path for folder in (DATA, SAMPLES)
            for path in sorted(glob.glob(os.path.join(folder, "*.etl")))
            if os.path.basename(path) not in left_out]


def reference(command):
    """What docs/reference/json.md says of a command."""
    with open(os.path.join(DOCS, "reference", "json.md"), encoding="utf-8") as file:
        parts = re.split(r"(?m)^## ", file.read())
    return "".join(part for part in parts if re.match(rf"[^\n]*`?etwas {command}\b", part))


CALLS_A_LEAK_CHECK = 8
calls = itertools.count()


def environment_of_call(environment):
    """LeakSanitizer checks one call of eight: its check takes longer than the call."""
    options = environment.get("ASAN_OPTIONS")
    if options is None or next(calls) % CALLS_A_LEAK_CHECK == 0:
        return environment
    return {**environment, "ASAN_OPTIONS": f"{options}:detect_leaks=0"}


# What a canonical name is (docs/reference/json.md): of a key of JSON, a head of CSV or a column.
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
UNITS = re.compile(r".*_(ns|us|ms|s|sec|seconds|kb|mb)")  # spans of time are ns, sizes are bytes
RESERVED = {"all", "as", "begin", "by", "case", "class", "end", "from", "group", "having", "in",
            "index", "is", "limit", "none", "not", "offset", "on", "or", "order", "select", "table",
            "to", "union", "values", "where", "with"}  # in SQL or Python
NAMED_BY_OTHERS = {"fields", "field_times", "field_names"}  # their keys are a trace's own
LOOKED_AT = 100  # lines of an output


def name_fault(name):
    """Why it is no canonical name; None: it is one."""
    if not NAME.fullmatch(name):
        return "is not lower case with _"
    if UNITS.fullmatch(name):
        return "has a unit"
    return "means something to SQL or Python" if name in RESERVED else None


def json_faults(value, key=""):
    """What is not canonical in a value, as sentences."""
    if isinstance(value, dict):
        for name, member in value.items():
            if key not in NAMED_BY_OTHERS and name_fault(name) is not None:
                yield f"{key}.{name} {name_fault(name)}"
            if name not in NAMED_BY_OTHERS:
                yield from json_faults(member, name)
    elif isinstance(value, list):
        for member in value:
            yield from json_faults(member, key)
    elif isinstance(value, int) and abs(value) > 2**53:
        yield f"{key} is a number that a double does not hold: {value}"


def output_faults(out):
    """Of what --json wrote."""
    for line in out.splitlines()[:LOOKED_AT]:
        value = json.loads(line)
        if not isinstance(value, dict) or value.get("etwas") != "0.1" or \
                not isinstance(value.get("kind"), str):
            yield f"neither release nor kind: {line[:100]}"
        yield from json_faults(value)


class ToolTest(unittest.TestCase):
    maxDiff = None
    etwas = ""  # the command's path

    def setUp(self):
        # a browser may still write there
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def skip_since(self, said):
        """By the first line that a command said on standard error, and not by what else a program
        did there."""
        lines = said.splitlines()
        reason = next((line for line in lines if line.startswith("etwas")), lines[-1] if lines
                      else "nothing was said")
        self.skipTest(reason.removeprefix("skipped: "))

    def assert_keys_documented(self, command, value):
        """Each key of a JSON value, however deep, is where the reference tells of the command."""
        told = reference(command)

        def look(value):
            for key in (value if isinstance(value, dict) else {}).keys() - {"etwas", "kind"}:
                self.assertIn(f"`{key}`", told)
                look(value[key])
            for item in value if isinstance(value, list) else ():
                look(item)
        look(value)

    def run_any(self, *arguments, expect=range(5), **options):
        """What it writes, which is UTF-8 whatever the file held, with one of the exit codes
        expected."""
        options.setdefault("stdout", subprocess.PIPE)
        options["env"] = environment_of_call(options.get("env") or os.environ)
        result = subprocess.run([self.etwas, *arguments], stderr=subprocess.PIPE, check=False,
                                timeout=100, **options)
        self.assertIn(result.returncode, expect, (arguments, result.stderr))
        out = (result.stdout or b"").decode("utf-8")
        if "--json" in arguments and "--" not in arguments and result.returncode != OUTPUT:
            self.assertEqual(sorted(set(output_faults(out))), [], arguments)
        return out, result.stderr.decode("utf-8")

    def run_etwas(self, *arguments, expect=FINE, **options):
        return self.run_any(*arguments, expect=(expect,), **options)

    def run_json(self, *arguments, expect=(FINE, FAILED, DAMAGED)):
        """Of a file that may be damaged in any way: whatever is shown, is JSON."""
        out, _ = self.run_any(*arguments, expect=expect)
        return [json.loads(line) for line in out.splitlines()]

    def dump(self, *arguments, expect=FINE):
        """The lines of a dump in columns, not decoded, without the titles and the header event."""
        out, _ = self.run_etwas("dump", "--all", "--hex", *arguments, expect=expect)
        lines = out.splitlines()
        self.assertEqual(lines[0], HEX_TITLE)
        self.assertIn(" EventTrace/Header 0 0 - - - ", lines[1])
        return lines[2:]

    def dump_json(self, *arguments, expect=FINE):
        """Likewise with --json."""
        out, _ = self.run_etwas("dump", "--all", "--hex", "--json", *arguments, expect=expect)
        events = [json.loads(line) for line in out.splitlines()]
        return [e for e in events if not e["event"].endswith("EventTrace/Header")]

    def stat_json(self, *arguments, expect=FINE):
        out, _ = self.run_etwas("stat", "--json", *arguments, expect=expect)
        return [json.loads(line) for line in out.splitlines()]


def heap_events():
    """A class with two types, an enumeration, and a description that comes last."""
    fields = [("size", etl.UINT64, 0), ("address", etl.POINTER, 0)]
    calls = [etl.instance(HEAP, 1_000_001 + i, i + 1, kind=10,
                          payload=struct.pack("<QQ", size, 0x7F99DA8080))
             for i, size in enumerate((37, 4096, 5000))]
    free = etl.instance(HEAP, 1_000_100, 9, kind=14, payload=struct.pack("<QI", 0x7F99DA8080, 2))
    names = [etl.event_info(1_000_200, HEAP, 10, "heap", "Call", "malloc", fields),
             etl.event_info(1_000_201, HEAP, 14, "heap", "Call", "free",
                            [("address", etl.POINTER, 0), ("reason", etl.UINT32, 0, "Reason")]),
             etl.map_info(1_000_202, HEAP, "Reason", [(1, "asked "), (2, "at exit ")])]
    return [*calls, free, *names]


class NamesTest(ToolTest):
    def trace(self, *events, name="a.etl", **options):
        return self.write(name, etl.trace([(0, list(events))], **options))

    def lines(self, *arguments, expect=FINE):
        """What stands behind the time of each event, without the titles and the header event."""
        out, _ = self.run_etwas("dump", "--all", *arguments, expect=expect)
        lines = out.splitlines()
        self.assertTrue(lines[0].startswith("# "), lines[0])
        return [line for line in lines[1:] if "EventTrace/" not in line
                and not line.startswith("# ")]

    def fields(self, *arguments, expect=FINE):
        """The events and their fields alone."""
        return self.lines("--columns", "event,fields", *arguments, expect=expect)

    def objects(self, *arguments, expect=FINE):
        out, _ = self.run_etwas("dump", "--json", *arguments, expect=expect)
        return [o for o in map(json.loads, out.splitlines())
                if o.get("event_class_id") != "68fdd900-4a3e-11d1-84f4-0000f80464e3"]


def main():
    """Runs the class that the command line names last, with the command that it names first, and
    ends."""
    ToolTest.etwas = sys.argv[1]
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(vars(sys.modules["__main__"])[
        sys.argv[-1]])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if not result.wasSuccessful():
        sys.exit(1)
    # A class that is skipped as a whole counts as skipped once, and none of its tests as run.
    sys.exit(77 if len(result.skipped) >= result.testsRun else 0)
