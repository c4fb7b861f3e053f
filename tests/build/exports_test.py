#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Compares what each library exports with its version script, in both directions, and sees to it
that everything the public headers label is in one of the scripts. A script may name the well-known
GUIDs by a
pattern: it stands for those that the public headers declare."""
import fnmatch
import pathlib
import re
import subprocess
import sys


def listed(map_path, labels):
    """The version's name, and the symbols in its global part: of a pattern those among the
    labels."""
    with open(map_path, encoding="ascii") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
    version = re.fullmatch(r"\s*([\w.]+)\s*\{\s*global:(.*?)local:\s*\*;\s*\};\s*", text, re.DOTALL)
    if version is None:
        sys.exit(f"{map_path}: not one version with a global part and `local: *`")
    symbols = [name.strip() for name in version.group(2).split(";") if name.strip()]
    twice = {name for name in symbols if symbols.count(name) > 1}
    if twice:
        sys.exit(f"{map_path}: listed twice {sorted(twice)}")
    return version.group(1), {name for symbol in symbols
                              for name in (fnmatch.filter(labels, symbol) if "*" in symbol
                                           else [symbol])}


def declared(include):
    """The labels that the public headers give, directly or as the name of a well-known GUID."""
    texts = [path.read_text(encoding="utf-8") for path in pathlib.Path(include).rglob("*.h")]
    labels = {name for text in texts for name in re.findall(r"\bETWAS_API\((etwas_\w+)\)", text)}
    guid = re.compile(r"^ETWAS_WELL_KNOWN_GUID\((\w+)\)", re.MULTILINE)
    guids = {name for text in texts for name in guid.findall(text)}
    return labels | {f"etwas_{name}" for name in guids}


def exported(nm, version, library):
    """The symbols a library defines for others, without the version's own, to which the nm of LLVM
    gives the version, too."""
    command = [nm, "-D", "--defined-only", "--format=posix", library]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    names = {line.split()[0] for line in output.splitlines()} - {version}
    unversioned = {name for name in names if not name.endswith(f"@@{version}")}
    if unversioned:
        sys.exit(f"{library}: exported without the version {version}: {sorted(unversioned)}")
    return {name.split("@@")[0] for name in names} - {version}


def main():
    if len(sys.argv) < 4:
        sys.exit("usage: exports_test.py NM INCLUDE_FOLDER MAP=LIBRARY...")
    nm, include, pairs = sys.argv[1], sys.argv[2], [pair.split("=") for pair in sys.argv[3:]]
    labels = declared(include)
    unlisted = set(labels)
    wrong = False
    for map_path, library in pairs:
        version, wanted = listed(map_path, labels)
        unlisted -= wanted
        found = exported(nm, version, library)
        for name in sorted(wanted - found):
            print(f"{library}: {name} is listed in {map_path} but not exported")
        for name in sorted(found - wanted):
            print(f"{library}: {name} is exported but not listed in {map_path}")
        wrong = wrong or found != wanted
        print(f"{library}: {len(found)} symbols exported, {len(wanted)} listed")
    for name in sorted(unlisted):
        print(f"{name} is declared in {include} but listed in no map")
    sys.exit(1 if wrong or unlisted else 0)


if __name__ == "__main__":
    main()
