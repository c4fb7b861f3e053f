#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""A folder of runtime/ includes heads of those before it in CONTRIBUTING's list, of etl/ and of
platform/; these two include nobody else's, and control/ includes all.

usage: rooms_test.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

EVERYBODYS = {"etl", "platform"}


def folders(source):
    return re.findall(r"^\| `runtime/(\w+)/` \|", (source / "CONTRIBUTING.md").read_text(), re.MULTILINE)


def permitted(order, folder):
    if folder in EVERYBODYS:
        return EVERYBODYS
    if folder == "control":
        return set(order)
    return EVERYBODYS | set(order[:order.index(folder) + 1])


def main():
    source = pathlib.Path(sys.argv[1])
    order = folders(source)
    there = sorted(path.name for path in (source / "runtime").iterdir() if path.is_dir())
    wrong = [f"runtime/{name} is not in CONTRIBUTING's list" for name in there if name not in order]
    for folder in set(there) & set(order):
        for path in sorted((source / "runtime" / folder).rglob("*.[ch]")):
            included = re.findall(r'^#include "(\w+)/', path.read_text(), re.MULTILINE)
            wrong += [f"{path} includes a head of {other}/" for other in sorted(set(included))
                      if other in order and other not in permitted(order, folder)]
    print("\n".join(wrong) or f"{len(order)} folders keep the order")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
