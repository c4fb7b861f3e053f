#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""A folder of runtime/ includes heads of those before it in the list of docs/internals/layout.md,
of etl/ and of platform/; these two include nobody else's, and control/ includes all but those of
APART. sharing/ and autologger/ start, control and end sessions as control/ does: each includes
those heads of control/ that UPWARD names. A folder inside another one of the list also includes
those heads of the outer one that include no head of it themselves. A folder of tools/ that
commands share includes heads of those before it in their list, and of no command; so does a folder
of tools/ship/. Each folder of runtime/ with sources, tools/, tools/convert/ and tools/ship/ have a
page README.md, of at most 45 lines, that names no file that is missing, and but for tools/ itself
each file with code, or its head.

usage: rooms_test.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

EVERYBODYS = {"etl", "platform"}
# Heads of later folders that a folder includes. One that it no longer includes must be removed
# here.
UPWARD = {
    "sharing": {"control/lifecycle.h", "control/prepare.h", "control/properties.h"},
    "autologger": {"control/prepare.h", "control/properties.h"},
}
# Parts of the library, of the folders named, that the others know by a table of verbs alone, so
# that it can be built without them.
APART = {"system": {"system"}, "sharing": {"sharing", "registry"}}
PAGE_LINES = 45
INCLUDE = re.compile(r'^#include "([\w/]+)/(\w+\.h)"', re.MULTILINE)


def folders(page, part):
    return re.findall(rf"^\| `{part}/([\w/]+)/` \|", page.read_text(), re.MULTILINE)


def permitted(order, folder):
    if folder in EVERYBODYS:
        return EVERYBODYS
    if folder == "control":
        return set(order)
    return EVERYBODYS | set(order[:order.index(folder) + 1])


def edges(folder):
    """(file, folder that it includes a head of)"""
    for path in sorted(folder.rglob("*.[ch]")):
        for other in sorted(set(re.findall(r'^#include "(\w+)/', path.read_text(), re.MULTILINE))):
            yield path, other


def room_of(folder, order):
    """The folder of the list that this one is, or is in; clock/lab is clock's."""
    while folder not in order and "/" in folder:
        folder = folder.rsplit("/", 1)[0]
    return folder


def is_shared(outer, head):
    """Whether a head includes none of its own folder's, so that the folders inside that one may
    include it."""
    return all(folder.split("/")[0] != outer.name
               for folder, _ in INCLUDE.findall((outer / head).read_text()))


def runtime(source):
    root = source / "runtime"
    order = folders(source / "docs/internals/layout.md", "runtime")
    outer = {folder.split("/")[0] for folder in order if "/" in folder}
    there = sorted(path.name for path in root.iterdir() if path.is_dir())
    there += sorted(f"{name}/{path.name}" for name in outer for path in (root / name).iterdir()
                    if path.is_dir())
    wrong = [f"runtime/{name} is not in the list of docs/internals/layout.md" for name in there
             if name not in order]
    unused = {(folder, head) for folder, heads in UPWARD.items() for head in heads}
    for path in sorted(root.rglob("*.[ch]")):
        folder = room_of(str(path.parent.relative_to(root)), order)
        for other, head in sorted(set(INCLUDE.findall(path.read_text()))):
            if f"{other}/{head}" in UPWARD.get(folder, ()):
                unused.discard((folder, f"{other}/{head}"))
                continue
            other = room_of(other, order)
            if any(other.split("/")[0] in part and folder.split("/")[0] not in part
                   for part in APART.values()):
                wrong.append(f"{path} includes a head of {other}/, which is a part by itself")
                continue
            if folder not in order or other not in order or other in permitted(order, folder):
                continue
            if not (folder.startswith(other + "/") and is_shared(root / other, head)):
                wrong.append(f"{path} includes a head of {other}/")
    wrong += [f"{folder}/ no longer includes {head}: remove it from UPWARD"
              for folder, head in sorted(unused)]
    return order, wrong


def ship(source):
    """Each folder of tools/ship/ is in its list, and includes heads of those before it alone."""
    root = source / "tools" / "ship"
    order = folders(root / "README.md", "tools/ship")
    there = sorted(path.name for path in root.iterdir() if path.is_dir())
    wrong = [f"tools/ship/{name} is not in its list" for name in there if name not in order]
    for path in sorted(root.glob("*/*.[ch]")):
        later = order[order.index(path.parent.name) + 1:] if path.parent.name in order else []
        wrong += [f"{path} includes a head of ship/{other}/"
                  for other in later if f'#include "ship/{other}/' in path.read_text()]
    return order, wrong


def tools(source):
    order = folders(source / "tools" / "README.md", "tools")
    there = sorted(path.name for path in (source / "tools").iterdir() if path.is_dir())
    wrong = [f"tools/{name} is in its list, and is not there" for name in order
             if name not in there]
    loose = {path.name for path in (source / "tools").glob("*.[ch]")}
    loose -= {"main.c", "commands.c", "commands.h", "exit.h"}
    wrong += [f"tools/{name} is in no folder" for name in sorted(loose)]
    for number, folder in enumerate(order):
        wrong += [f"{path} includes a head of {other}/"
                  for path, other in edges(source / "tools" / folder)
                  if other not in order[:number + 1]]
    return order, wrong


def pages(source):
    """What is wrong with the pages. A file is what stands in backquotes with an ending or a slash
    behind it."""
    root, wrong = source / "runtime", []
    nested = [source / "tools" / name for name in ("convert", "ship")]
    for folder in [*sorted({path.parent for path in root.rglob("*.c")}), source / "tools", *nested]:
        page = folder / "README.md"
        text = page.read_text() if page.exists() else ""
        if not 0 < text.count("\n") <= PAGE_LINES:
            wrong.append(f"{page} has {len(text.splitlines())} lines; 1 to {PAGE_LINES} are right")
        for name in re.findall(r"`((?:[\w.-]+/)*[\w*-]+(?:/|\.(?:[chS*]|md|py|txt)))`", text):
            places = [folder, folder.parent, root, source, source / "include"]
            if folder in nested:
                places += [path for path in folder.iterdir() if path.is_dir()]
            if not any(any(place.glob(name)) for place in places):
                wrong.append(f"{page} names {name}, which is not there")
        if folder != source / "tools":
            wrong += [f"{page} does not name {path.name}"
                      for path in sorted(folder.glob("**/*.c" if folder in nested else "*.c"))
                      if not is_named(path, text)]
    return wrong


def is_named(path, text):
    """Whether a page names a file with code, or its head, or in backquotes both without an ending;
    `a*.c` is all that begin with a."""
    names = set(re.findall(r"[\w.*-]+\.[ch*]", text))
    return path.stem in re.findall(r"`(\w+)`", text) or any(
        path.match(name) or path.with_suffix(".h").match(name) for name in names)


def main():
    source = pathlib.Path(sys.argv[1])
    order, wrong = runtime(source)
    shared, wrong_of_tools = tools(source)
    parts_of_ship, wrong_of_ship = ship(source)
    wrong += wrong_of_tools + wrong_of_ship + pages(source)
    print("\n".join(wrong)
          or f"{len(order)} folders of runtime/ and {len(shared)} of tools/ "
          f"and {len(parts_of_ship)} of tools/ship/ keep the order")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
