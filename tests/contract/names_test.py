#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Every line of a page of docs/ names tests, and there are such tests.

usage: names_test.py REPOSITORY CTEST BUILD_FOLDER PAGE

A line is a row of a table with the heading "| ... | Test |"; its last cell holds names in
backquotes, each that of a test function in tests/ or of a test of CTest's.
"""
import re
import subprocess
import sys
from pathlib import Path

FUNCTION = re.compile(r"^(?:static )?void (\w+)\(void \*\*state\)", re.MULTILINE)
LISTED = re.compile(r"Test +#\d+: (\S+)")


def rows(text):
    """The rows of tables of tests, as lists of cells."""
    wanted = False
    for line in text.splitlines():
        if not line.startswith("|"):
            wanted = False
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[-1] == "Test":
            wanted = True
        elif wanted and not set(cells[0]) <= set("- :"):
            yield cells


def main(root, ctest, build, page):
    known = {name for path in (root / "tests").rglob("*.c")
             for name in FUNCTION.findall(path.read_text("utf-8"))}
    listed = subprocess.run([ctest, "-N"], cwd=build, check=True, capture_output=True,
                            text=True).stdout
    known |= set(LISTED.findall(listed))
    # Those of tests/fuzz are in the preset asan-ubsan alone.
    known |= {f"fuzz_{path.name[:-len('_fuzz.c')]}" for path in root.glob("tests/fuzz/*_fuzz.c")}
    lines = faults = 0
    for cells in rows((root / "docs" / page).read_text("utf-8")):
        lines += 1
        names = re.findall(r"`(\w+)`", cells[-1])
        for fault in [name for name in names if name not in known] or ([] if names
                                                                       else ["no test"]):
            print(f"{cells[0]}: {fault}")
            faults += 1
    print(f"{lines} lines, {faults} faults")
    return 1 if faults or lines == 0 else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]))
