#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Lists the rules of ETW that no test names.

usage: rules.py [--where] [TESTS-FOLDER]

A test names a rule by its number: R63 or r63_ in its name, R63 in a comment; R63-R65 and r63_to_r65
name all three. What stands before the first #include of a C file is a table of contents and names
nothing. rules.txt has one rule a line, exceptions.txt the rules that may go without a test, each
with its reason. Exits with 1 when a rule that is no exception has no test, an exception has one, or
a test names a rule that does not exist. --where prints the files that name each rule.
"""
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
NAME = re.compile(r"\bR(\d+)(?:[-–]R(\d+))?\b|(?:\b|_)r(\d+)(?:_to_r(\d+))?_")


def read_list(path):
    """{number: text} of lines such as "R63 an event is smaller than its buffer"."""
    rules = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            match = re.fullmatch(r"R(\d+) (\S.*)", line)
            if not match or int(match[1]) in rules:
                sys.exit(f"{path}:{number}: not a rule and its text, or there twice: {line}")
            rules[int(match[1])] = match[2]
    return rules


def named_in(path):
    text = path.read_text(errors="replace")
    if path.suffix == ".c":
        text = text[max(text.find("#include"), 0):]
    for match in NAME.finditer(text):
        first = int(match[1] or match[3])
        yield from range(first, int(match[2] or match[4] or first) + 1)


def named_under(tests):
    """{number: the files that name it}"""
    named = {}
    for path in sorted(tests.rglob("*")):
        if path.suffix in (".c", ".py", ".sh") and path != FOLDER / "rules.py":
            for rule in set(named_in(path)):
                named.setdefault(rule, []).append(path.relative_to(tests))
    return named


def main(arguments):
    where = "--where" in arguments
    paths = [a for a in arguments if a != "--where"]
    named = named_under(Path(paths[0]) if paths else FOLDER.parent)
    rules, exceptions = read_list(FOLDER / "rules.txt"), read_list(FOLDER / "exceptions.txt")
    faults = [f"R{n} is in exceptions.txt and no rule" for n in exceptions.keys() - rules.keys()]
    for n in sorted(named.keys() - rules.keys()):
        faults.append(f"R{n} does not exist, and is named in {', '.join(map(str, named[n]))}")
    for n, text in rules.items():
        if where:
            print(f"R{n}:", *named.get(n, ["-"]))
        if n in named and n in exceptions:
            faults.append(f"R{n} is an exception, and named in {', '.join(map(str, named[n]))}")
        elif n not in named and n not in exceptions:
            faults.append(f"R{n} has no test: {text}")
    for fault in faults:
        print(fault)
    print(f"{len(rules)} rules: {len(named.keys() & rules.keys())} named, {len(exceptions)} "
          "exceptions, "
          f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
