#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The BPF programs' instructions, from their sources: each NAME.bpf.c beside this file becomes
NAME.bpf.h.

usage: compile.py CLANG FOLDER     writes the tables into FOLDER
       compile.py CLANG --compare  says which of those here differ from their sources; 77: another
       clang than the one that
                                   decides
"""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
VERSION = "14"
IMMEDIATE = 0x18  # BPF_LD | BPF_IMM | BPF_DW: two instructions
NOTICE = """/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Made of {source} by compile.py: do not change it here. */
"""


class Object:
    def __init__(self, data):
        self.data = data
        start, = struct.unpack_from("<Q", data, 40)
        count, names = struct.unpack_from("<HH", data, 60)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + 64 * index)
                         for index in range(count)]
        self.named = {self.text(self.sections[names], section[0]): section
                      for section in self.sections}

    def text(self, strings, at):
        return self.data[strings[4] + at:self.data.index(b"\0", strings[4] + at)].decode()

    def given(self, program):
        """By instruction: the symbol that it loads."""
        symbols = self.named[".symtab"]
        relocations = self.named[f".rel{program}"]
        found = {}
        for at in range(0, relocations[5], 16):
            offset, info = struct.unpack_from("<QQ", self.data, relocations[4] + at)
            name, = struct.unpack_from("<I", self.data, symbols[4] + 24 * (info >> 32))
            found[offset // 8] = self.text(self.sections[symbols[6]], name)
        return found

    def programs(self):
        for name, section in self.named.items():
            if section[1] == 1 and section[2] & 4 and section[5] != 0:  # PROGBITS, EXECINSTR
                yield name, [struct.unpack_from("<BBhi", self.data, section[4] + at)
                             for at in range(0, section[5], 8)]


def table(name, instructions, given):
    lines = [f"static const struct bpf_insn {name.lstrip('.')}_program[] = {{"]
    for index, (code, registers, offset, number) in enumerate(instructions):
        to, source = registers & 15, registers >> 4
        if index in given:
            kind = "MAP" if given[index].startswith("MAP_") else "GIVEN"
            lines.append(f"    ETWAS_BPF_{kind}({to}, {given[index]}),")
        elif index - 1 not in given:  # ETWAS_BPF_MAP and _GIVEN take two
            lines.append(f"    {{0x{code:02x}, {to}, {source}, {offset}, {number}}},")
    return "\n".join([*lines, "};"])


def compiled(clang, source):
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "program.o"
        subprocess.run([clang, "-target", "bpf", "-mcpu=v3", "-O2", "-ffreestanding", "-Wall",
                        "-Werror", "-Wno-unused-const-variable", "-I", HERE.parents[1], "-c",
                        source, "-o", made], check=True)
        program = Object(made.read_bytes())
    tables = [table(name, instructions, program.given(name)) for name, instructions
              in program.programs()]
    return NOTICE.format(source=source.name) + "/* clang-format off */\n" + "\n\n".join(
        tables) + "\n/* clang-format on */\n"


def main():
    clang, target = sys.argv[1:]
    said = subprocess.run([clang, "--version"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    if target == "--compare" and not re.search(rf"version {VERSION}\.", said):
        print(f"skipped: {clang} is not version {VERSION}")
        sys.exit(77)
    wrong = 0
    for source in sorted(HERE.glob("*.bpf.c")):
        text = compiled(clang, source)
        name = source.with_suffix(".h").name
        if target != "--compare":
            (pathlib.Path(target) / name).write_text(text)
        elif text != (HERE / name).read_text():
            wrong += 1
            print(f"{name} is not what {source.name} compiles to: {HERE}/compile.py {clang} {HERE}")
    sys.exit(wrong != 0)


main()
