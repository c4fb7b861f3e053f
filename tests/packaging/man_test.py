#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The manual page says what the command says of itself: every line of every --help, as it stands
there."""
import re
import subprocess
import sys


def lines_of_page(path):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    return set(re.sub(r"\\&", "", page).replace(r"\-", "-").replace(r"\e", "\\").splitlines())


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: man_test.py ETWAS ETWAS_HOST PAGE")
    etwas, host, page = sys.argv[1:]
    known = lines_of_page(page)
    general = subprocess.run([etwas, "--help"], check=True, capture_output=True, text=True).stdout
    # each once, in their order
    commands = dict.fromkeys(re.findall(r"(?m)^(?:usage:|      ) etwas ([a-z]+) ", general))
    if len(commands) < 20:
        sys.exit(f"etwas --help names {len(commands)} commands")
    for words in ([etwas], *([etwas, command] for command in commands), [host]):
        text = subprocess.run([*words, "--help"], check=True, capture_output=True, text=True).stdout
        # a heading
        missing = [line for line in text.splitlines() if line not in known | {"Examples:"}]
        if missing:
            sys.exit(f"{page} lacks lines of {' '.join(words)} --help: {missing}")
    print(f"ok: {page} has {len(known)} lines")


if __name__ == "__main__":
    main()
