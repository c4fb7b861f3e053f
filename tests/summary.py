#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Sums up a JUnit file of ctest: counts, and the name of everything that failed or was skipped.

A cmocka program may pass with some of its tests skipped; these are named too. So is what a test has
to say in a line that begins with "note: ".
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

SKIPPED_BY_CMOCKA = re.compile(r"^\[  SKIPPED \] (?!\d+ test\(s\))(\S+)$", re.MULTILINE)
NOTE = re.compile(r"^note: .*$", re.MULTILINE)


def summarise(path):
    passed, failed, skipped, notes = 0, [], [], []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = case.get("name")
        status = case.get("status")
        output = case.findtext("system-out") or ""
        inner = dict.fromkeys(SKIPPED_BY_CMOCKA.findall(output))
        skipped += [f"{name}: {test}" for test in inner]
        notes += NOTE.findall(output)
        if status == "run":
            passed += 1
        elif status == "notrun":
            skipped.append(name)
        else:
            failed.append(name)
    lines = [f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped"]
    lines += [f"    failed:  {name}" for name in failed]
    lines += [f"    skipped: {name}" for name in skipped]
    lines += [f"    {note}" for note in notes]
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: summary.py TESTS.XML")
    print(summarise(sys.argv[1]))
