#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""A disabled event is a load and a branch, and what describes events is in read-only memory.

usage: disabled_test.py COMPILER LANGUAGE STANDARD INCLUDE_FOLDER

Compiles functions that write an event, optimised, as a program and as a library is, and looks at
the shortest way through each. Skipped (77) without the compiler or objdump, and on other processors
than x86-64.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = """
#include <etwas/TraceLoggingProvider.h>
#ifdef __cplusplus
extern "C" {
#endif
TRACELOGGING_DECLARE_PROVIDER(elsewhere);
TRACELOGGING_DEFINE_PROVIDER(here, "Here", (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
uint32_t number(void);
void write_here(void);
void write_elsewhere(uint64_t first, uint32_t second);
void write_many(uint64_t first, uint32_t second);
void write_here(void)
{
    TraceLoggingWrite(here, "Event", TraceLoggingUInt32(number(), "number"));
}
void write_elsewhere(uint64_t first, uint32_t second)
{
    TraceLoggingWrite(elsewhere, "Event", TraceLoggingLevel(3), TraceLoggingKeyword(16),
                      TraceLoggingUInt64(first), TraceLoggingUInt32(second));
}
void write_many(uint64_t first, uint32_t second)
{
    ETWAS_TRACELOGGING_MANY(elsewhere, ("First", TraceLoggingUInt64(first)),
                            ("Second", TraceLoggingLevel(3), TraceLoggingUInt32(second)),
                            ("Third", TraceLoggingLevel(4), TraceLoggingKeyword(16)));
}
#ifdef __cplusplus
}
#endif
"""
# Load, compare, branch, return, and the stack pointer there and back. Not what clang saves there.
MOST_INSTRUCTIONS = 6
LINE = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*?)\s*(?:#.*|<.*)?$")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def disassemble(path, function):
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}",
                           path],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    if "elf64-x86-64" not in text:
        skip("this looks at x86-64")
    return {int(match[1], 16): match[2] for match in map(LINE.match, text.splitlines()) if match}


def shortest_way(instructions):
    """What is executed on the shortest way from the first instruction to a return."""
    addresses = sorted(instructions)
    following = dict(zip(addresses, addresses[1:]))
    ways = [[addresses[0]]]
    while ways:
        way = ways.pop(0)
        instruction = instructions[way[-1]]
        if instruction.startswith(("ret", "repz ret")):
            return [instructions[address] for address in way]
        next_ones = [] if instruction.startswith("jmp") else [following.get(way[-1])]
        if instruction.startswith("j"):
            next_ones.append(int(instruction.split()[1], 16))
        ways += [way + [address] for address in next_ones if address in instructions]
    sys.exit("there is no way to a return")


def check_function(path, function):
    way = shortest_way(disassemble(path, function))
    print(f"{function}: " + "; ".join(way))
    loads = [line for line in way if "(" in line and not line.startswith(("lea", "nop"))]
    branches = [line for line in way if re.match(r"j(?!mp)", line)]
    calls = [line for line in way if line.startswith("call")]
    others = [line for line in way if not line.startswith(("push", "pop"))]
    return (len(loads) == 1 and len(branches) == 1 and not calls
            and len(others) <= MOST_INSTRUCTIONS)


def check_constants(path):
    """The events' constants and the provider's traits are symbols of read-only data."""
    text = subprocess.run(["nm", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    kinds = re.findall(r" (\w) \S*(etwas_tracelogging_(?:event|traits))", text)
    return ({name for _, name in kinds} == {"etwas_tracelogging_event", "etwas_tracelogging_traits"}
            and {kind for kind, _ in kinds} == {"r"})


def main():
    compiler, language, standard, include = sys.argv[1:]
    for tool in (compiler, "objdump"):
        if shutil.which(tool) is None:
            skip(f"{tool} is not installed")
    sound = True
    with tempfile.TemporaryDirectory() as folder:
        for position in ("-fPIE", "-fPIC"):
            path = str(pathlib.Path(folder) / "program.o")
            subprocess.run([compiler, "-x", language, f"-std={standard}", "-O2", position,
                            f"-I{include}", "-c", "-o", path, "-"], input=PROGRAM, text=True,
                           check=True)
            sound = check_function(path, "write_here") and sound
            sound = check_function(path, "write_elsewhere") and sound
            sound = check_function(path, "write_many") and sound
            sound = check_constants(path) and sound
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
