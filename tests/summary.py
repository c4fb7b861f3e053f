#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Sums up JUnit files of ctest: counts, and the name of everything that failed or was skipped.

A cmocka program may pass with some of its tests skipped; these are named too. So is what a test has
to say in a line that begins with "note: ". The second file, where there is one, is of those that ran
once more, alone.
"""
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

SKIPPED_BY_CMOCKA = re.compile(r"^\[  SKIPPED \] (?!\d+ test\(s\))(\S+)$", re.MULTILINE)
NOTE = re.compile(r"^note: .*$", re.MULTILINE)

# More failures than these are not a busy machine's.
FEW = 3


def cases_of(path):
    return list(ElementTree.parse(path).getroot().iter("testcase"))


def has_failed(case):
    return case.get("status") not in ("run", "notrun")


def summarise(path, path_alone):
    again = cases_of(path_alone) if os.path.exists(path_alone) else []
    alone = {case.get("name"): case for case in again}
    passed, failed, skipped, notes, passed_alone = 0, [], [], [], []
    for case in cases_of(path):
        name = case.get("name")
        if has_failed(case) and name in alone and not has_failed(alone[name]):
            passed_alone.append(name)
            case = alone[name]
        output = case.findtext("system-out") or ""
        inner = dict.fromkeys(SKIPPED_BY_CMOCKA.findall(output))
        skipped += [f"{name}: {test}" for test in inner]
        notes += NOTE.findall(output)
        if has_failed(case):
            failed.append(name)
        elif case.get("status") == "run":
            passed += 1
        else:
            skipped.append(name)
    lines = [f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped"]
    lines += [f"    failed:  {name}" for name in failed]
    lines += [f"    passed only alone: {name}" for name in passed_alone]
    lines += [f"    skipped: {name}" for name in skipped]
    lines += [f"    {note}" for note in notes]
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--few":
        sys.exit(0 if sum(map(has_failed, cases_of(sys.argv[2]))) <= FEW else 1)
    if len(sys.argv) != 3:
        sys.exit("usage: summary.py TESTS.XML ALONE.XML, or summary.py --few TESTS.XML")
    print(summarise(*sys.argv[1:]))
