#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The manual page says what the command says of itself: every word of every --help."""
import re
import subprocess
import sys


def words_of_page(path):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    page = re.sub(r"\\f.|\\,|\\/", "", page)
    return set(re.sub(r"\\&", "", page).replace(r"\-", "-").replace(r"\e", "\\").split())


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: man_test.py ETWAS PAGE")
    etwas, page = sys.argv[1:]
    known = words_of_page(page)
    for command in ([], ["dump"], ["stat"], ["schema"], ["clocks"]):
        text = subprocess.run([etwas, *command, "--help"], check=True, capture_output=True, text=True).stdout
        # help2man makes headings of its own of these two.
        missing = set(text.split()) - known - {"usage:", "Examples:"}
        if missing:
            sys.exit(f"{page} lacks words of {' '.join(['etwas', *command])} --help: {sorted(missing)}")
    print(f"ok: {page} has {len(known)} words")


if __name__ == "__main__":
    main()
