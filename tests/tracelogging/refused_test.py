#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What the macros of TraceLogging refuse, the compiler refuses with a sentence that says why.

usage: refused_test.py COMPILER LANGUAGE STANDARD INCLUDE_FOLDER

Skipped (77) where the compiler is not installed.
"""
import shutil
import subprocess
import sys

PROGRAM = """
#include <etwas/TraceLoggingProvider.h>
TRACELOGGING_DECLARE_PROVIDER(provider);
void write(const wchar_t *wide, int number, const char *text, const uint64_t *numbers,
           void *const *fixed);
void write(const wchar_t *wide, int number, const char *text, const uint64_t *numbers,
           void *const *fixed)
{
    void *addresses[2] = {NULL, NULL};
    const void *constants[2] = {NULL, NULL};
    (void)wide, (void)number, (void)text, (void)numbers, (void)fixed, (void)addresses;
    (void)constants;
    TraceLoggingWrite(provider, %s);
}
"""
MANY = PROGRAM.replace("TraceLoggingWrite", "ETWAS_TRACELOGGING_MANY")
MANY_ACTIVITY = PROGRAM.replace("TraceLoggingWrite", "ETWAS_TRACELOGGING_MANY_ACTIVITY")
PROVIDER = """
#include <etwas/TraceLoggingProvider.h>
TRACELOGGING_DEFINE_PROVIDER(provider, %s, (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
"""
MEMBERS = """
#include <etwas/TraceLoggingActivity.h>
TRACELOGGING_DECLARE_PROVIDER(provider);
class Derived : public TraceLoggingActivity<provider> {};
struct Owner {
    TraceLoggingThreadActivity<provider, 1, 2> activity;
};
"""


SPANS = """
#include <etwas/TraceLoggingActivity.h>
TRACELOGGING_DECLARE_PROVIDER(provider);
void write(int number);
void write(int number)
{
    %s
    (void)number;
}
"""
ONLY_CPP = "this is C++; in C it is TraceLoggingSpanStart"


def fields(field, count):
    return '"E", ' + ", ".join([field] * count)


BARE = "an argument is a bare value"
FRACTION = "would lose its fraction"
CROWD = "at most 16 events, each in parentheses"
# What is refused by a static assertion alone, as a user without -Werror and -Wall compiles it.
ONE_ERROR = (BARE, FRACTION, CROWD)

# Arguments of TraceLoggingWrite, and what is said of them in C and in C++; None: anything.
REFUSED = [
    ('"E", TraceLoggingWideString(L"text")', "is UTF-16", "is UTF-16"),
    ('"E", TraceLoggingWideString(wide)', "is UTF-16", "is UTF-16"),
    ('"E", TraceLoggingCountedWideString(wide, 3)', "is UTF-16", "is UTF-16"),
    ('"E", TraceLoggingValue(wide)', "not compatible with any", "wchar_t has 4 bytes here"),
    ('"E", TraceLoggingValue(numbers)', "not compatible with any", "does not know this type"),
    (fields('TraceLoggingCountedString(text, 3, "v")', 64), "at most 126 blocks",
     "at most 126 blocks"),
    (fields('TraceLoggingSocketAddress(text, 16, "v")', 43), "at most 126 blocks",
     "at most 126 blocks"),
    (fields("TraceLoggingUInt8(1)", 100), None, None),
    ('text, TraceLoggingUInt8(1)', None, None),
    ('"a\\0b", TraceLoggingUInt8(1)', "without NUL", "without NUL"),
    ('"E", TraceLoggingUInt8(1, text)', None, None),
    ('"E", TraceLoggingUInt8(1, "a\\0b")', "without NUL", "without NUL"),
    ('"E", TraceLoggingUInt8(1, "v", "", 0x10000000)', "a tag has 28 bits", "a tag has 28 bits"),
    ('"E", TraceLoggingEventTag(0x10000000)', "a tag has 28 bits", "a tag has 28 bits"),
    ('"E", TraceLoggingLevel(256)', "a level has 8 bits", "a level has 8 bits"),
    ('"E", TraceLoggingOpcode(-1)', "an opcode has 8 bits", "an opcode has 8 bits"),
    ('"E", TraceLoggingChannel(256)', "a channel has 8 bits", "a channel has 8 bits"),
    ('"E", TraceLoggingIdVersion(0x10000, 0)', "an id has 16 bits", "an id has 16 bits"),
    ('"E", TraceLoggingIdVersion(0, 256)', "a version has 8 bits", "a version has 8 bits"),
    ('"E", TraceLoggingLevel(number)', "constant", "constant"),
    ('"E", TraceLoggingKeyword(number)', "constant", "constant"),
    ('"E", TraceLoggingStruct(0, "s")', "1 to 127 fields", "1 to 127 fields"),
    ('"E", TraceLoggingStruct(128, "s")', "1 to 127 fields", "1 to 127 fields"),
    ('"E", TraceLoggingUInt64FixedArray(numbers, 0)', "1 to 65,535 elements",
     "1 to 65,535 elements"),
    ('"E", TraceLoggingUInt64FixedArray(numbers, 65536)', "1 to 65,535 elements",
     "1 to 65,535 elements"),
    ('"E", TraceLoggingUInt64FixedArray(numbers, number)', "constant", "constant"),
    ('"E", TraceLoggingCustom(text, 3, 7, (1, 2), 3)', "the number of bytes",
     "the number of bytes"),
    ('"E", TraceLoggingCustom(text, 3, 32, (1, 2), 2)', "a number below 32", "a number below 32"),
    ('"E", number', BARE, BARE),
    ('"E", TraceLoggingUInt8(1), number', BARE, BARE),
    ('"E", number, TraceLoggingUInt8(1)', BARE, BARE),
    ('"E", (number)', BARE, BARE),
    ('"E", (number) + 1, TraceLoggingUInt8(1)', BARE, BARE),
    ('"E", "text"', BARE, BARE),
    ('"E", -1, ', BARE, BARE),
    ('"E", 1.5, "text"', BARE, BARE),
    ('"E", *text', BARE, BARE),
    (fields("number", 99), BARE, BARE),
    ('"E", TraceLoggingUInt32(1.5)', FRACTION, FRACTION),
    ('"E", TraceLoggingInt64(number * 1.5f)', FRACTION, FRACTION),
    ('"E", TraceLoggingBoolean(number / 2.0L, "half")', FRACTION, FRACTION),
    ('"E", TraceLoggingInt32(text)', None, None),
    ('"E", TraceLoggingString(numbers)', None, None),
    ('"E", TraceLoggingInt32Array(numbers, 2)', None, None),
    ('"E", TraceLoggingFixedArray(numbers, 2)', None, None),
    ('"E", TraceLoggingPointerArray(numbers, 2)', None, None),
    ('"E", TraceLoggingUInt64Array(addresses, 2)', None, None),
]
# Programs with batches, and what is said of them in both languages.
REFUSED_MANY = [
    (MANY, ", ".join(['("E")'] * 17), CROWD),
    (MANY, ", ".join(['("E", TraceLoggingUInt8(1))'] * 32), CROWD),
    (MANY, '"E", TraceLoggingUInt8(1)', CROWD),
    (MANY, '("E"), text', CROWD),
    (MANY, '("E", number)', BARE),
    (MANY, '("A"), ("B", TraceLoggingUInt8(1), "text"), ("C")', BARE),
    (MANY, '("A"), ("E", TraceLoggingUInt32(1.5))', FRACTION),
    (MANY, '("A"), ("E", TraceLoggingWideString(wide))', "is UTF-16"),
    (MANY, '("A"), ("E", TraceLoggingLevel(256))', "a level has 8 bits"),
    (MANY, '("A"), (' + fields('TraceLoggingCountedString(text, 3, "v")', 64) + ")",
     "at most 126 blocks"),
    (MANY_ACTIVITY, '("E", NULL, NULL, number)', BARE),
    (MANY_ACTIVITY, ", ".join(['("E", NULL, NULL)'] * 17), CROWD),
]
ACCEPTED_MANY = [
    (MANY, '("E")'),
    (MANY, '("E", TraceLoggingUInt8(1), ), ("F", )'),
    (MANY, ", ".join(['("E", TraceLoggingString(text), TraceLoggingInt32(number))'] * 16)),
    (MANY, "(" + fields("TraceLoggingUInt8(1)", 99) + '), ("E")'),
    (MANY, ", ".join(["(" + fields('TraceLoggingCountedString(text, 3, "v")', 62) + ")"] * 3)),
    (MANY_ACTIVITY, '("E", NULL, NULL), ("F", NULL, NULL, TraceLoggingInt32(number), )'),
]
# In C, what begins a span, and what is said of it; None: nothing, it is accepted.
IN_C = [
    ('TraceLoggingSpanStart(a, provider, "A", TraceLoggingInt32(number)); '
     'TraceLoggingSpanStartChild(b, provider, &a.id, "B", ); TraceLoggingSpanStop(b, "B"); '
     'TraceLoggingSpanStop(a, "A", TraceLoggingInt32(number), );', None),
    ('TraceLoggingSpanStart(a, provider, "A", number);', BARE),
    ('TraceLoggingSpanStart(a, provider, "A"); TraceLoggingSpanStop(a, "A", number);', BARE),
    ("TraceLoggingActivity<provider> a;", ONLY_CPP),
    ("TraceLoggingThreadActivity<provider, 1> a;", ONLY_CPP),
    ('TraceLoggingWriteStart(number, "A");', ONLY_CPP),
    ('TraceLoggingWriteTagged(number, "A");', ONLY_CPP),
    ('TraceLoggingWriteStop(number, "A");', ONLY_CPP),
]
ACCEPTED = [
    '"E"',
    fields('TraceLoggingCountedString(text, 3, "v")', 63),
    fields('TraceLoggingSocketAddress(text, 16, "v")', 42),
    fields("TraceLoggingUInt8(1)", 99),
    '"E", TraceLoggingLevel(4u), TraceLoggingChannel(11u), TraceLoggingOpcode(1u), '
    'TraceLoggingKeyword(1), '
    'TraceLoggingIdVersion(1u, 1u), TraceLoggingEventTag(1u), TraceLoggingStruct(1u, "s", "", 1u), '
    'TraceLoggingUInt64FixedArray(numbers, 2u), TraceLoggingCustom(text, 3u, 7u, (1u), 1u, "v", '
    '"", 1u)',
    '"E", TraceLoggingLevel(255), TraceLoggingEventTag(0x0FFFFFFF), TraceLoggingStruct(127, "s")',
    '"E", ',
    '"E", TraceLoggingFloat32(1.5f), TraceLoggingFloat64(1.5), TraceLoggingFloat64(number), '
    'TraceLoggingUInt32((uint32_t)1.5)',
    '"E", TraceLoggingInt32(number++, "n")',
    '"E", TraceLoggingUInt8(1), TraceLoggingLevel(4), ',
    '"E", TraceLoggingString(NULL, "a"), TraceLoggingWideString(NULL, "b"), '
    'TraceLoggingCountedWideString(NULL, 0, "c")',
    '"E", TraceLoggingPointerArray(addresses, 2, "a"), TraceLoggingPointerFixedArray(fixed, 2, '
    '"b"), '
    'TraceLoggingCodePointerArray(constants, 2, "c"), TraceLoggingPointerArray(NULL, 0, "d")',
]


def compile_text(command, text):
    result = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, check=False)
    return result.returncode == 0, result.stdout


def main():
    compiler, language, standard, include = sys.argv[1:]
    if shutil.which(compiler) is None:
        print(f"skipped: {compiler} is not installed")
        return 77
    command = [compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic",
               "-Wconversion", "-Werror", f"-I{include}", "-fsyntax-only", "-"]
    plain = [compiler, "-x", language, f"-std={standard}", "-isystem", include, "-fsyntax-only",
             "-"]
    faults = 0
    for program, arguments in [(PROGRAM, arguments) for arguments in ACCEPTED] + ACCEPTED_MANY:
        passed, said = compile_text(command, program % arguments)
        if not passed:
            print(f"refused: {arguments[:100]}\n{said[:2000]}")
            faults += 1
    # What a program may do, and a library that hides what is its own.
    for options in (["-fPIE"], ["-fno-pie"],
                    ["-fPIC", "-fvisibility=hidden"]) if language == "c++" else ():
        passed, said = compile_text([*command, *options], MEMBERS)
        if not passed:
            print(f"refused with {options}: classes that have activities\n{said[:2000]}")
            faults += 1
    # An older language is told at once, before the many errors that come of it.
    older, sentence = ("c++14", "needs C++17") if language == "c++" else ("c99", "needs C of 2011")
    passed, said = compile_text([*command, f"-std={older}"], PROGRAM % '"E"')
    if passed or sentence not in said.partition("error: ")[2].partition("\n")[0]:
        print(f"{older} is not refused with a reason\n{said[:2000]}")
        faults += 1
    for text, sentence in IN_C if language == "c" else ():
        passed, said = compile_text(command, SPANS % text)
        first = said.partition("error: ")[2].partition("\n")[0]
        if passed != (sentence is None) or (sentence or "") not in first:
            print(f"{'accepted' if passed else 'refused'}: {text}\n{said[:2000]}")
            faults += 1
    programs = [(PROGRAM % row[0], row[0], row[1 + (language == "c++")]) for row in REFUSED]
    programs += [(program % what, what, sentence) for program, what, sentence in REFUSED_MANY]
    programs += [(PROVIDER % name, name, sentence)
                 for name, sentence in [('"a\\0b"', "without NUL"), ("name", None)]]
    for program, what, sentence in programs:
        passed, said = compile_text(command, program)
        if sentence in ONE_ERROR and not passed:
            # Also where a user asks for no warnings, and the headers are the system's.
            passed, said = compile_text(plain, program)
            passed = passed or said.count("error: ") != 1
        if passed or (sentence is not None and sentence not in said):
            print(f"{'accepted' if passed else 'refused without a reason'}: {what[:100]}\n"
                  f"{said[:2000]}")
            faults += 1
    print(f"{len(programs)} programs refused, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
