#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Sums up JUnit files of ctest: counts, and every failure with the end of what it printed.

With --aside it says what is no failure: everything that was skipped, by the reason that it gave,
and what a test has to say in a line that begins with "note: ". A test gives its reason in a line
"skipped: REASON". A cmocka program, or a Python test, may pass with some of its tests skipped;
these are named too. The second file, where there is one, is of those that ran once more, alone.

With --often it adds the run to the last ones of its preset on this machine, and names what passed
only alone in several of them: a busy machine does not choose the same test so often. Exit code 1:
there is one, or one that failed and did not pass alone. With --few it prints a regular expression
for the names of those that failed. Exit code 1: they are more than a busy machine's.
"""
import json
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

SKIPPED_BY_CMOCKA = re.compile(
    r"^\[ RUN      \] (\S+)$((?:\n(?!\[ RUN ).*)*?)\n\[  SKIPPED \] \1$", re.MULTILINE)
SKIPPED_BY_PYTHON = re.compile(r"^(\w+) \(.*\)(?:\n.*)?? \.\.\. skipped (['\"])(.*)\2$",
                               re.MULTILINE)
REASON = re.compile(r"\bskipped[:,] (.+)$", re.MULTILINE)
NO_REASON = "it gave no reason"
NOTE = re.compile(r"^note: .*$", re.MULTILINE)

# More failures than these are not a busy machine's.
FEW = 6

# A test that passed only alone in so many of the last runs is taken for one that fails.
OFTEN, RUNS = 3, 20

# Of what a failed test printed.
LAST_LINES = 25


def cases_of(path):
    return list(ElementTree.parse(path).getroot().iter("testcase"))


def has_failed(case):
    return case.get("status") not in ("run", "notrun")


def settled(path, path_alone):
    """Every test as it ended: what passed alone takes the place of what failed among others."""
    again = cases_of(path_alone) if os.path.exists(path_alone) else []
    alone = {case.get("name"): case for case in again if not has_failed(case)}
    cases, passed_alone = cases_of(path), []
    for place, case in enumerate(cases):
        name = case.get("name")
        if has_failed(case) and name in alone:
            cases[place] = alone[name]
            passed_alone.append(name)
    return cases, passed_alone


def output_of(case):
    return case.findtext("system-out") or ""


def reason_in(text):
    reasons = REASON.findall(text)
    return reasons[-1] if reasons else NO_REASON


def skipped_in(case):
    """Name and reason of each test in it that was skipped."""
    name, output = case.get("name"), output_of(case)
    inner = {test: reason_in(text) for test, text in SKIPPED_BY_CMOCKA.findall(output)}
    inner.update((test, reason) for test, _, reason in SKIPPED_BY_PYTHON.findall(output))
    reasons = set(inner.values()) or {reason_in(output)}
    if case.get("status") == "notrun" and len(reasons) == 1:  # as a whole
        return [(name, reasons.pop())]
    return [(f"{name}: {test}", reason) for test, reason in inner.items()]


def aside(path, path_alone):
    reasons, notes = {}, []
    for case in settled(path, path_alone)[0]:
        for name, reason in skipped_in(case):
            reasons.setdefault(reason, []).append(name)
        notes += [f"    {note}" for note in NOTE.findall(output_of(case))]
    lines = []
    for reason, names in sorted(reasons.items()):
        lines += [f"    skipped: {reason}", *(f"        {name}" for name in names)]
    return "\n".join(lines + notes)


def summarise(path, path_alone):
    cases, passed_alone = settled(path, path_alone)
    failed = [case for case in cases if has_failed(case)]
    passed = sum(case.get("status") == "run" for case in cases)
    skipped = sum(len(skipped_in(case)) for case in cases)
    lines = [f"{passed} passed, {len(failed)} failed, {skipped} skipped"]
    lines += [f"    passed only alone: {name}" for name in passed_alone]
    for case in failed:
        lines.append(f"    failed:  {case.get('name')}")
        lines += [f"        | {line}" for line in output_of(case).splitlines()[-LAST_LINES:]]
    return "\n".join(lines)


def history_file():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(cache, "etwas", "passed-alone.json")


def kept_runs(place):
    """The last runs of each preset: what passed only alone. What is no such file begins anew."""
    try:
        with open(place, encoding="utf-8") as file:
            return {preset: [list(run) for run in runs] for preset, runs in json.load(file).items()}
    except (AttributeError, OSError, TypeError, ValueError):
        return {}


def often_alone(preset, path, path_alone):
    """Adds this run, and returns a line for each test that needed to be alone too often."""
    place, passed_alone = history_file(), settled(path, path_alone)[1]
    runs = kept_runs(place)
    runs[preset] = (runs.get(preset, []) + [passed_alone])[-RUNS:]
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "w", encoding="utf-8") as file:
        json.dump(runs, file)
    times = {name: sum(name in run for run in runs[preset]) for name in passed_alone}
    return [f"    failed:  {name} passed only alone in {count} of the last "
            f"{len(runs[preset])} runs ({place})"
            for name, count in times.items() if count >= OFTEN]


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--few":
        failed = [re.escape(case.get("name")) for case in cases_of(sys.argv[2]) if has_failed(case)]
        print(f"^({'|'.join(failed)})$")
        sys.exit(0 if len(failed) <= FEW else 1)
    if len(sys.argv) == 5 and sys.argv[1] == "--often":
        often = often_alone(*sys.argv[2:])
        print("".join(f"{line}\n" for line in often), end="")
        sys.exit(1 if often or any(map(has_failed, settled(*sys.argv[3:])[0])) else 0)
    if len(sys.argv) == 4 and sys.argv[1] == "--aside":
        print(aside(*sys.argv[2:]))
    elif len(sys.argv) == 3:
        print(summarise(*sys.argv[1:]))
    else:
        sys.exit("usage: summary.py [--aside | --often PRESET] TESTS.XML ALONE.XML, "
                 "or summary.py --few TESTS.XML")
