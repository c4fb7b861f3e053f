#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The straight path of TraceEventInstance is as long as its source says.

usage: straight_path_test.py LIBRARY SOURCE

Disassembles the built library and walks from the function's first instruction to its return as the
commonest event does: conditional jumps are not taken, unconditional ones are. The number of
instructions must be the one the comment in SOURCE claims, with no call and no locked instruction,
and one reading of the clock. Skipped (77) without objdump, on other processors than x86-64, and for
a library that another compiler than the one the claim is about has made.
"""

import re
import shutil
import subprocess
import sys

FUNCTION = "etwas_TraceEventInstance"
CLAIM = re.compile(r"takes\s+(?:\*\s*)?(\d+)\s+(?:\*\s*)?instructions\s+(?:\*\s*)?\(([^)]*)\)")
LINE = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*?)\s*$")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def disassemble(library):
    """Instructions of the function by address, in order."""
    text = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", f"--disassemble={FUNCTION}", library],
        check=True, capture_output=True, text=True).stdout
    if "elf64-x86-64" not in text:
        skip("the claim is about x86-64")
    instructions = {}
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            instructions[int(match[1], 16)] = match[2]
    return instructions


def walk(instructions):
    """What is executed, from the first instruction to the return."""
    addresses = sorted(instructions)
    following = dict(zip(addresses, addresses[1:]))
    path = []
    address = addresses[0]
    while len(path) <= len(addresses):
        instruction = instructions[address]
        path.append(instruction)
        name = instruction.split()[0]
        if name.startswith("ret") or instruction.startswith("repz ret"):
            return path
        if name == "jmp":
            address = int(instruction.split()[1], 16)
            if address not in instructions:
                sys.exit(f"the straight path leaves {FUNCTION}: {instruction}")
        else:
            address = following[address]
    sys.exit("the straight path does not end")


def main():
    library, source = sys.argv[1:]
    if shutil.which("objdump") is None:
        skip("objdump is not installed")
    with open(source, encoding="utf-8") as file:
        claim = CLAIM.search(file.read())
    if claim is None:
        sys.exit(f"{source} claims no number of instructions")
    compiler = subprocess.run(["objdump", "-s", "-j", ".comment", library],
                              check=True, capture_output=True, text=True).stdout
    made_by = "".join(re.findall(r"  (.{16})$", compiler, re.MULTILINE))
    if claim[2].replace("gcc ", "GCC: (Debian ") not in made_by:
        skip(f"the claim is about {claim[2]}")
    path = walk(disassemble(library))
    print("\n".join(path))
    calls = [line for line in path if line.startswith("call")]
    locked = [line for line in path if line.startswith("lock") or line.startswith("xchg")]
    clocks = [line for line in path if line.startswith("rdtsc")]
    if calls or locked or len(clocks) != 1:
        sys.exit(f"calls: {calls}, locked: {locked}, readings of the clock: {len(clocks)}")
    if len(path) != int(claim[1]):
        sys.exit(f"{len(path)} instructions; {source} claims {claim[1]}")
    print(f"{len(path)} instructions, as claimed")


if __name__ == "__main__":
    main()
