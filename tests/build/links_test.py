#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Every link of a page leads to a file, a folder, or a heading that is there; so does every page
that sources and scripts name.

usage: links_test.py SOURCE_FOLDER
"""
import os
import re
import sys
from pathlib import Path

LEFT_OUT = {".git", "build", "__pycache__"}
NAMED = re.compile(r"\bdocs/[\w./-]+\.md\b")
SOURCES = {".c", ".h", ".cmake", ".py", ".sh", ".txt", ".md", ".service", ".conf", ""}


def files_below(root):
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in LEFT_OUT]
        yield from (Path(folder) / name for name in files)


def without_code(text):
    return re.sub(r"(?m)^```.*?^```|`[^`\n]*`|^ {4}.*$", "", text, flags=re.S | re.M)


def headings(page):
    """As GitHub makes their names: lower case, without punctuation, a dash for a blank."""
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text("utf-8"))
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
            for title in re.findall(r"(?m)^#+ (.*)$", text)}


def wrong_links(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text("utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, heading = target.partition("#")
        there = page.parent / path if path else page
        if not there.exists():
            yield f"{page}: there is no {target}"
        elif heading and there.suffix == ".md" and heading not in headings(there):
            yield f"{page}: {there} has no heading #{heading}"


def wrong_names(root, path):
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        return
    for name in sorted(set(NAMED.findall(text))):
        if not (root / name).exists():
            yield f"{path}: there is no {name}"


def main():
    root = Path(sys.argv[1])
    pages, wrong = 0, []
    for path in files_below(root):
        if path.suffix == ".md":
            pages += 1
            wrong += wrong_links(path)
        if path.suffix in SOURCES and path.name != "stamped_test.py":
            wrong += wrong_names(root, path)
    print("\n".join(wrong))
    print(f"{pages} pages, {len(wrong)} faults")
    return 1 if wrong or pages < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
