#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Changes lines of runtime/ at random, one at a time, and sees whether the tests notice.

usage: mutate.py [--seed N] [--count N] [--only TEXT] [--build FOLDER] [--jobs N]

--seed    the same number makes the same changes to the same sources; else one is drawn, and printed
--count   so many changes that compile (30)
--only    only files whose path holds TEXT
--build   keep copy and build in FOLDER, so that the next call compiles less

Works in a copy of the sources. Of each change first the tests of its folder run, and then, as long
as none has failed, all others that log. What survives is printed with its line: a test is missing,
or the line is not needed, or the change means the same, or memory is not freed, which only the
preset asan-ubsan sees. Exits with 0 whatever survives. A change takes a minute or two, and one that
survives some more; so it is run by hand.
"""
import argparse
import filecmp
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# labels: they see no behaviour
NOT_RUN = "^(bench|build|examples|faults|include|model|rules|style|walker)$"
RUN_ALSO = "^(allocator|coexist|dlopen)$"  # of build: they see regions without jemalloc
TEST_SECONDS = 120
COMPILER = "the compiler"

# What is looked for, and what it becomes.
CHANGES = [(re.compile(pattern), replacement) for pattern, replacement in (
    (r" == ", " != "), (r" != ", " == "), (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "),
    (r" >= ", " > "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ 1\b", ""), (r" - 1\b", ""), (r" \+ ", " - "),
    (r" - ", " + "),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"\bif \((?!!)(.*)\) \{$", r"if (!(\1)) {"),
    (r"(?<=[ (])!(?=\w)", ""), (r" \| ", " & "), (r" & (?=\w)", " | "), (r"\+\+", "--"))]
# A statement in one line, a call or an assignment, which is left out.
STATEMENT = re.compile(r"^(\s+)(?:\(void\))?[a-z_][\w>.\[\]*-]*(?:\(.*\)| [-+|&]?= .*);$")
NO_CODE = re.compile(r"^\s*(?:#|\*|/\*|//|_Static_assert|assert|\"|case |default:|goto |return;|$)")


def sources(only):
    for path in sorted([*(ROOT / "runtime").glob("*/*.c"),
                        *(ROOT / "runtime").glob("system/*/*.c")]):
        # compiled by hand
        if only in str(path.relative_to(ROOT)) and not path.name.endswith(".bpf.c"):
            yield path.relative_to(ROOT)


def changes_of(line):
    """Every way to change a line."""
    if NO_CODE.match(line):
        return []
    found = [line[:match.start()] + match.expand(replacement) + line[match.end():]
             for pattern, replacement in CHANGES for match in pattern.finditer(line)]
    if STATEMENT.match(line):
        found.append(STATEMENT.sub(r"\1(void)0;", line))
    return found


def draw(numbers, files):
    """A file, a line's index, and what the line becomes. Each line is as likely as any other."""
    lines = [(path, index, line) for path in files
             for index, line in enumerate((ROOT / path).read_text(encoding="utf-8").split("\n"))
             if changes_of(line)]
    while True:
        path, index, line = numbers.choice(lines)
        yield path, index, line, numbers.choice(changes_of(line))


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, errors="replace", **options)


class Workshop:
    """The copy and its build."""

    def __init__(self, folder, jobs):
        self.tree, self.jobs = folder / "tree", jobs
        for name in run(["git", "-C", str(ROOT), "ls-files", "-co",
                         "--exclude-standard"]).stdout.splitlines():
            copy = self.tree / name
            if (ROOT / name).is_file() and not (copy.is_file()
                                                and filecmp.cmp(ROOT / name, copy, False)):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, copy)
        # Beside it, as the tests look for it.
        if (ROOT.parent / "shared").exists() and not (folder / "shared").exists():
            (folder / "shared").symlink_to(ROOT.parent / "shared")
        self.build_folder = folder / "build"
        made = run(["cmake", "-S", str(self.tree), "-B", str(self.build_folder), "-G", "Ninja",
                    "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                    "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -DNDEBUG", "-DETWAS_BUILD_BENCH=OFF",
                    f"-DETWAS_TEST_LIMIT_S={TEST_SECONDS}", "-DCMAKE_COMPILE_WARNING_AS_ERROR=OFF",
                    "-DCMAKE_C_FLAGS=-w"])
        if made.returncode != 0 or not self.build():
            sys.exit(made.stdout + "\nthe sources do not build as they are")
        tests = run(["ctest", "--test-dir", str(self.build_folder), "--show-only=json-v1"])
        self.tests = json.loads(tests.stdout)["tests"]

    def build(self, programs=None):
        """All, or those of a folder's tests."""
        targets = ["--target", *programs] if programs else []
        return run(["cmake", "--build", str(self.build_folder), "-j", str(self.jobs),
                    *targets]).returncode == 0

    def programs(self, folder):
        inside = f"{self.build_folder.resolve()}/"
        return sorted({test["command"][0].removeprefix(inside) for test in self.tests
                       if any(property["name"] == "LABELS" and folder in property["value"]
                              for property in test["properties"])
                       and test["command"][0].startswith(inside)})

    def failed_test(self, *selection):
        """The first test that fails, or None."""
        result = run(["ctest", "--test-dir", str(self.build_folder), "-j", str(self.jobs + 1),
                      "--stop-on-failure", *selection])
        failed = re.findall(r"^\s+\d+ - (\S+) \((?!Skipped)", result.stdout, re.MULTILINE)
        return failed[0] if failed else None

    def judge(self, path):
        folder = path.parts[1]
        if not self.build(self.programs(folder)):
            return COMPILER
        killer = self.failed_test("-L", f"^{folder}$")
        if killer is None and not self.build():
            return COMPILER
        return (killer or self.failed_test("-R", RUN_ALSO)
                or self.failed_test("-LE", NOT_RUN.replace("^(", f"^({folder}|")))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--only", default="")
    parser.add_argument("--build", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    files = list(sources(arguments.only))
    if not files:
        parser.error(f"no file of runtime/ holds {arguments.only}")
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(arguments.build or Path(folder), arguments.jobs)
        print(f"seed {arguments.seed}", flush=True)
        judged, survivors = 0, 0
        for path, index, line, changed in draw(random.Random(arguments.seed), files):
            if judged == arguments.count:
                break
            file = workshop.tree / path
            right = file.read_text(encoding="utf-8")
            lines = right.split("\n")
            lines[index] = changed
            file.write_text("\n".join(lines), encoding="utf-8")
            killer = workshop.judge(path)
            file.write_text(right, encoding="utf-8")
            if killer == COMPILER:
                continue
            judged += 1
            survivors += killer is None
            print(f"{'SURVIVED' if killer is None else 'found by ' + killer}: {path}:{index + 1}\n"
                  f"    - {line.strip()}\n    + {changed.strip()}", flush=True)
        print(f"{judged} changes, {survivors} survived")


if __name__ == "__main__":
    main()
