#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""No sentence of these pages has more than 35 words, and the README has at most 200 lines.

usage: sentences_test.py SOURCE_FOLDER PAGE...
"""
import re
import sys
from pathlib import Path

MOST_WORDS = 35
MOST_LINES = 200  # of the README


def sentences(text):
    text = re.sub(r"(?ms)^```.*?^```", "\n\n", text)
    text = re.sub(r"(?m)^( {4}.*|#.*|\|[ -|]*)$", "\n", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"`[^`]*`", "CODE", text)
    for block in re.split(r"\n\s*\n|\n(?=- |\d+\. |\|)|\|", text):
        yield from re.split(r"(?<=[.:;?!])\s", " ".join(block.split()))


def main():
    root, wrong = Path(sys.argv[1]), []
    for page in sys.argv[2:]:
        text = (root / page).read_text("utf-8")
        wrong += [f"{page}: {len(sentence.split())} words: {sentence}" for sentence
                  in sentences(text) if len(sentence.split()) > MOST_WORDS]
        if page == "README.md" and text.count("\n") > MOST_LINES:
            wrong.append(f"{page} has {text.count(chr(10))} lines")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
