#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Every promise of a page of docs/ has tests, which this folder names, and there are such tests.

usage: promises_test.py REPOSITORY CTEST BUILD_FOLDER PAGE      such as explanation/guarantees

A promise is an item of a list, or in a page with tables of the heading "| Damage |" or "| Case |"
a row of these. NAME.txt has the beginning of each, in the sections of the page, and below it,
indented, functions of tests/ or tests of CTest; the longest beginning counts; "#" begins a remark.
"""
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

FUNCTION = re.compile(r"^(?:static )?void (\w+)\(void \*\*state\)", re.MULTILINE)
LISTED = re.compile(r"Test +#\d+: (\S+)")
TABLES = {"Damage", "Case"}


def sections(text):
    """(title, lines) of each section."""
    for part in re.split(r"(?m)^## ", text)[1:]:
        title, *lines = part.splitlines()
        yield title, lines


def rows(lines):
    wanted = False
    for line in lines:
        first = line.strip("|").split("|")[0].strip()
        if not line.startswith("|"):
            wanted = False
        elif first in TABLES:
            wanted = True
        elif wanted and not set(first) <= set("- :"):
            yield first


def items(lines):
    for item in re.findall(r"(?m)^- (.*(?:\n  .*)*)", "\n".join(lines)):
        yield " ".join(item.split())


def promises(page):
    """Those of each section."""
    text = page.read_text("utf-8")
    found = rows if any(f"\n| {head} |" in text for head in TABLES) else items
    return {title: list(found(lines)) for title, lines in sections(text)}


def tests(path):
    """Of each section the tests of each beginning."""
    named = defaultdict(dict)
    for title, lines in sections(path.read_text("utf-8")):
        for line in lines:
            if line and not line.startswith((" ", "#")):
                beginning = line
                named[title][beginning] = []
            elif line.strip() and not line.strip().startswith("#"):
                named[title][beginning].append(line.strip())
    return named


def known_tests(root, ctest, build):
    known = {name for path in (root / "tests").rglob("*.c")
             for name in FUNCTION.findall(path.read_text("utf-8"))}
    listed = subprocess.run([ctest, "-N"], cwd=build, check=True, capture_output=True,
                            text=True).stdout
    known |= set(LISTED.findall(listed))
    # Those of tests/fuzz are in the preset asan-ubsan alone.
    return known | {f"fuzz_{path.name[:-len('_fuzz.c')]}"
                    for path in root.glob("tests/fuzz/*_fuzz.c")}


def faults(promised, named, known):
    for title in promised.keys() | named.keys():
        lines, beginnings = promised.get(title, []), named.get(title, {})
        meant = [max(filter(line.startswith, beginnings), key=len, default=None) for line in lines]
        yield from (f"{title}: not named: {line}" for line, beginning in zip(lines, meant)
                    if beginning is None)
        for beginning, names in beginnings.items():
            if meant.count(beginning) != 1:
                yield f"{title}: the beginning of {meant.count(beginning)}: {beginning}"
            if not names:
                yield f"{title}: no test: {beginning}"
            yield from (f"{title}: there is no {name}" for name in names if name not in known)


def main(root, ctest, build, page):
    promised = promises(root / "docs" / f"{page}.md")
    named = tests(root / "tests" / "promises" / f"{Path(page).name}.txt")
    wrong = list(faults(promised, named, known_tests(root, ctest, build)))
    count = sum(map(len, promised.values()))
    print("\n".join(wrong))
    print(f"{count} promises, {len(wrong)} faults")
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
