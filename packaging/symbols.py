#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The .symbols files of the Debian packages, made of the linker's version scripts. A symbol came
with the version that its version node names: ETWAS_0.1 is of 0.1.0.

usage: symbols.py             writes packaging/debian/*.symbols
       symbols.py --compare   says which of them are not what the version scripts say
"""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
LIBRARIES = {"libetwas": "etwas.map", "libetwas-plain": "etwas.map",
             "libetwas-clocks": "etwas-clocks.map", "libetwas-tdh": "etwas-tdh.map"}


def well_known_guids():
    """A version script names them by a pattern, since they are many."""
    text = (TOP / "include/etwas/evntrace_guids.h").read_text(encoding="utf-8")
    return [f"etwas_{name}" for name in re.findall(r"(?m)^ETWAS_WELL_KNOWN_GUID\((\w+)\)", text)]


def nodes_of(script):
    """(version node, its symbols) of each node of a version script."""
    text = re.sub(r"/\*.*?\*/", "", script.read_text(encoding="ascii"), flags=re.DOTALL)
    for node, inside in re.findall(r"(\w[\w.]*)\s*\{(.*?)\}", text, re.DOTALL):
        exported = inside.split("global:")[1].split("local:")[0]
        symbols = [name.strip() for name in exported.split(";") if name.strip()]
        if "etwas_*Guid" in symbols:
            symbols.remove("etwas_*Guid")
            symbols += well_known_guids()
        yield node, symbols


def version_of(node):
    """The first release with a version node: the names of nodes have two or three numbers."""
    numbers = node.rsplit("_", 1)[1].split(".")
    return ".".join(numbers + ["0"] * (3 - len(numbers)))


def symbols_file(library, script):
    nodes = list(nodes_of(script))
    abi = re.search(r"project\(etwas\s+VERSION (\d+)\.(\d+)",
                    (TOP / "CMakeLists.txt").read_text(encoding="utf-8"))
    soversion = ".".join(abi.groups()) if abi[1] == "0" else abi[1]
    lines = [f" {name}@{node} {version_of(node)}" for node, symbols in nodes
             for name in [node, *symbols]]
    return f"{library}{soversion}.symbols", "\n".join(
        [f"{library}.so.{soversion} {library}{soversion} #MINVER#",
         "* Build-Depends-Package: libetwas-dev", *sorted(lines), ""])


def main():
    is_compared = sys.argv[1:] == ["--compare"]
    if sys.argv[1:] and not is_compared:
        sys.exit(__doc__)
    different = []
    for library, script in LIBRARIES.items():
        name, text = symbols_file(library, TOP / "runtime" / script)
        path = TOP / "packaging/debian" / name
        if not is_compared:
            path.write_text(text, encoding="ascii")
        elif not path.exists() or path.read_text(encoding="ascii") != text:
            different.append(name)
    if different:
        sys.exit(f"FAILED: not what the version scripts say: {' '.join(different)}. "
                 "Run packaging/symbols.py.")
    print(f"ok: the symbols of {len(LIBRARIES)} libraries")


if __name__ == "__main__":
    main()
