#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Every name of an invariant, rule, decision or ordering that the code mentions is defined.

usage: design_names.py [REPOSITORY]

R1 is a rule of ETW, a line of tests/rules/rules.txt. Names of other letters are defined in
docs/internals/design.md, by a row of a table that begins with the name: "| I4 | attempted = … |".
The letters I (invariants) and C (decisions on what the documents leave open) are names everywhere,
and so is each letter of which that file defines any (labels of orderings). Exits with 1 when a name
is mentioned that is not defined, or defined twice, or a label or decision is defined that nothing
mentions.
"""
import re
import sys
from pathlib import Path

FOLDERS = ["runtime", "include", "tests", "tools", "bench", "examples"]
SUFFIXES = {".c", ".h", ".S", ".cc", ".py", ".sh", ".pml", ".md", ".txt", ".cmake"}
ROW = re.compile(r"^\| ([A-Z]\d+) \|", re.MULTILINE)
RULE = re.compile(r"^(R\d+) ", re.MULTILINE)
MENTIONED_ALWAYS = "IRC"
OTHERS = {"X11"}  # the window system


def mentions(root, letters):
    """{name: the first line that mentions it}"""
    name = re.compile(rf"\b[{letters}]\d+\b")
    found = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES or path == Path(__file__).resolve():
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                for match in name.finditer(line):
                    found.setdefault(match[0], f"{path.relative_to(root)}:{number}")
    return found


def main(arguments):
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[2]
    rows = ROW.findall((root / "docs" / "internals" / "design.md").read_text(encoding="utf-8"))
    rows += RULE.findall((root / "tests" / "rules" / "rules.txt").read_text(encoding="utf-8"))
    defined = set(rows)
    letters = "".join(sorted(set(MENTIONED_ALWAYS) | {name[0] for name in defined}))
    found = mentions(root, letters)
    faults = [f"{name} is defined {rows.count(name)} times" for name in defined
              if rows.count(name) > 1]
    faults += [f"{found[name]} mentions {name}, which is defined nowhere"
               for name in found.keys() - defined - OTHERS]
    # Rules without a test, and invariants that no code names, are looked after elsewhere or true of
    # all of it.
    faults += [f"{name} is defined, and nothing mentions it" for name in defined - found.keys()
               if name[0] not in "RI"]
    for fault in sorted(faults):
        print(fault)
    print(f"{len(defined)} names of {letters}: {len(found)} mentioned, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
