#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Shows doxygen a header whose comments are plain: each becomes documentation of what it stands
before, or, on a line with code, behind. What stands in them are words, not commands."""
import re
import sys

COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)


def escaped(text):
    """Words that doxygen would take for a command, a tag or a link; errors become a list."""
    text = re.sub(r"(?m)^( \* )(ERROR_\w+: )", r"\1- \2", text)
    parts = re.split(r"(`[^`\n]*`)", text)
    return "".join(re.sub(r"%(?=[A-Za-z])", "%%", part) if part.startswith("`")
                   else re.sub(r"([\\@<>#%&$])", r"\\\1", part) for part in parts)


def shown(text):
    has_file = False

    def replace(match):
        nonlocal has_file
        inside = match[1]
        line = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        if inside.startswith((" SPDX", " Copyright", " ----")):
            return match[0]
        if line.strip():
            return f"/**<{escaped(inside)}*/"
        if not has_file:
            has_file = True
            return f"/** @file{escaped(inside)}*/"
        return f"/**{escaped(inside)}*/"

    return COMMENT.sub(replace, text)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        sys.stdout.write(shown(header.read()))
