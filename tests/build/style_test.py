#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""All C of the repository in one style, as .clang-format and .clang-tidy say.

usage: style_test.py format|tidy SOURCE-FOLDER BUILD-FOLDER

tidy looks at each source as the build compiles it (once, if it does so several times) and at the heads that it
includes. Exits with 77 where the tool is missing, or is another version than the one that decides.
"""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

VERSION = "14"
AT_A_TIME = 8  # files for one start of the tool


def require(tool):
    if shutil.which(tool) is None:
        print(f"skipped: {tool} is not installed (on Debian: apt-get install {tool})")
        sys.exit(77)
    said = subprocess.run([tool, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    if not re.search(rf"version {VERSION}\.", said):
        print(f"skipped: {tool} is not version {VERSION}: {said.strip()}")
        sys.exit(77)


def run(command, files):
    """What the tool says of the files, and whether it is content."""
    result = subprocess.run([*command, *map(str, files)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, check=False)
    said = result.stdout if "--quiet" in command else result.stderr
    return said, result.returncode == 0


def run_all(command, files):
    parts = [files[at:at + AT_A_TIME] for at in range(0, len(files), AT_A_TIME)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda part: run(command, part), parts))
    for said, content in results:
        if not content:
            print(said)
    print(f"{command[0]}: {len(files)} files")
    return all(content for _, content in results)


def check_format(source, _):
    files = [path for path in sorted(source.rglob("*.[ch]")) + sorted(source.rglob("*.cc"))
             if path.relative_to(source).parts[0] != "build"]
    return run_all(["clang-format", "--dry-run", "--Werror"], files)


def check_tidy(source, build):
    commands = {}
    for command in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = Path(command["file"])
        if path.suffix == ".c" and path.is_relative_to(source) and not path.is_relative_to(build):
            commands.setdefault(path, command)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "compile_commands.json").write_text(json.dumps(list(commands.values())),
                                                            encoding="utf-8")
        return run_all(["clang-tidy", "--quiet", "-p", folder], sorted(commands))


def main(what, source, build):
    require(f"clang-{what}")
    check = {"format": check_format, "tidy": check_tidy}[what]
    return 0 if check(Path(source).resolve(), Path(build).resolve()) else 1


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("format", "tidy"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
