# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""A page shows an example as it is: argv[1] is the page, argv[2] the program."""

import os
import re
import sys


def main():
    page, name = sys.argv[1], os.path.basename(sys.argv[2])
    text = open(page, encoding="utf-8").read()
    program = open(sys.argv[2], encoding="utf-8").read()
    shown = re.search(rf"<!-- examples/{re.escape(name)} -->\n```c\n(.*?)```", text, re.DOTALL)
    if shown is None:
        print(f"{page} shows no program")
        return 1
    if not program.endswith(shown.group(1)) or "int main" not in shown.group(1):
        print(f"{page} and examples/{name} differ")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
