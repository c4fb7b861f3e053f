# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""A page shows a program as it is, behind a comment with its path in the repository.

usage: page_test.py PAGE PATH_OF_PROGRAM
"""

import re
import sys


def main():
    page, path = sys.argv[1:]
    text = open(page, encoding="utf-8").read()
    program = open(path, encoding="utf-8").read()
    shown = [body for name, body in
             re.findall(r"<!-- (\S+) -->\n```\w+\n(.*?)```", text, re.DOTALL)
             if path.endswith(f"/{name}")]
    if len(shown) != 1:
        print(f"{page} shows it {len(shown)} times")
        return 1
    if not program.endswith(shown[0]) or " main(" not in shown[0]:
        print(f"{page} and {path} differ")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
