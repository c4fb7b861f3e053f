# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""README.md shows examples/quickstart.c as it is: argv[1] is the README, argv[2] the program."""

import re
import sys


def main():
    readme = open(sys.argv[1], encoding="utf-8").read()
    program = open(sys.argv[2], encoding="utf-8").read()
    shown = re.search(r"<!-- examples/quickstart\.c -->\n```c\n(.*?)```", readme, re.DOTALL)
    if shown is None:
        print("README.md shows no program")
        return 1
    if not program.endswith(shown.group(1)) or "int main" not in shown.group(1):
        print("README.md and examples/quickstart.c differ")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
