#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""A page does what it says: its commands run in their order, with etwas as it is installed, and
print the lines that stand below them. Numbers and times may differ.

A block of the language `console` has commands behind `$ `; one with file=NAME is saved.

usage: console_test.py PAGE SOURCE_FOLDER BUILD_FOLDER
"""
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(console|\w+ file=(\S+))\n(.*?)^```", re.S | re.M)


def installed(build, prefix):
    subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True,
                   stdout=subprocess.DEVNULL)
    environment = dict(os.environ, PATH=f"{prefix}/bin:{os.environ['PATH']}")
    folders = [folder for folder, _, files in os.walk(prefix) if "etwas.pc" in files]
    environment["PKG_CONFIG_PATH"] = folders[0]
    environment["LD_LIBRARY_PATH"] = os.path.dirname(folders[0])
    return environment


def pattern(line):
    """The line with any number in place of each, and any number of blanks."""
    return " ".join(re.sub(r"\d[\d,.]*", "#", line).split())


def commands_of(block):
    for part in re.split(r"(?m)^\$ ", block)[1:]:
        command, _, output = part.partition("\n")
        yield command, output.splitlines()


def run(command, expected, folder, environment):
    done = subprocess.run(["bash", "-e", "-c", command], cwd=folder, env=environment,
                          capture_output=True, text=True, check=False, timeout=100)
    printed = {pattern(line) for line in (done.stdout + done.stderr).splitlines()}
    missing = [line for line in expected if line.strip() and pattern(line) not in printed]
    if done.returncode != 0 or missing:
        sys.exit(f"$ {command}\nexit status {done.returncode}; missing: {missing}\n"
                 f"{done.stdout}{done.stderr}")


def main():
    page, source, build = sys.argv[1:]
    count = 0
    with open(page, encoding="utf-8") as file:
        blocks = BLOCK.findall(file.read())
    with tempfile.TemporaryDirectory() as temporary:
        environment = installed(build, os.path.join(temporary, "prefix"))
        folder = os.path.join(temporary, "work")
        os.mkdir(folder)
        os.symlink(os.path.join(source, "examples"), os.path.join(folder, "examples"))
        for _, name, text in blocks:
            if name:
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
                continue
            for command, expected in commands_of(text):
                run(command, expected, folder, environment)
                count += 1
    print(f"{count} commands")
    return 0 if count > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
