#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""A page does what it says: its commands run in their order in one shell, with etwas as it is
installed, and print the lines that stand below them. Numbers and times may differ.

A block of the language `console` has commands behind `$ `, which go on behind `> `; one with
file=NAME is saved. From a comment `<!-- needs: COMMAND -->` on, blocks are skipped if COMMAND
fails; if nothing is left, the test is skipped.

usage: console_test.py PAGE SOURCE_FOLDER BUILD_FOLDER
"""
import os
import re
import signal
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(console|\w+ file=(\S+))\n(.*?)^```|^<!-- needs: (.*?) -->$", re.S | re.M)
MOST_SECONDS = 280
MARK = "-- console_test"


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
        lines = part.splitlines()
        last = next(at for at in range(1, len(lines) + 1)
                    if at == len(lines) or not lines[at].startswith("> "))
        yield "\n".join([lines[0], *(line[2:] for line in lines[1:last])]), lines[last:]


def script_of(blocks, saved):
    """Lines for a shell that says after each command how it ended, and the commands."""
    lines, commands = [], []
    for number, (_, name, text, needs) in enumerate(blocks):
        if needs:
            lines.append(f"({needs}) >/dev/null 2>&1 || {{ echo '{MARK} needs: {needs}'; exit; }}")
        elif name:
            with open(os.path.join(saved, str(number)), "w", encoding="utf-8") as file:
                file.write(text)
            lines.append(f"cp {saved}/{number} {name} || exit")
        else:
            for command, expected in commands_of(text):
                commands.append((command, expected))
                lines += [command, f"status=$?; echo; echo '{MARK} ends:' $status",
                          "[ $status = 0 ] || exit"]
    return "\n".join(lines) + "\n", commands


def run(script, folder, environment):
    """What the shell printed. What it has left running ends with it."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        shell = subprocess.Popen(["bash", "-c", script], cwd=folder, env=environment,
                                 stdin=subprocess.DEVNULL, stdout=output,
                                 stderr=subprocess.STDOUT, start_new_session=True)
        try:
            shell.wait(MOST_SECONDS)
        except subprocess.TimeoutExpired:
            print(f"the page took longer than {MOST_SECONDS} s")
        finally:
            try:
                os.killpg(shell.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            shell.wait()
        output.seek(0)
        return output.read()


def check(commands, printed):
    """How many commands did what the page says; the first that did not ends the test."""
    parts = re.split(rf"(?m)^{MARK} ends: (\d+)\n", printed)
    for number, (command, expected) in enumerate(commands):
        text = parts[2 * number]
        skipped = re.search(rf"(?m)^{MARK} needs: (.*)$", text)
        if skipped:
            print(f"skipped from here on: {skipped.group(1)} fails")
            return number
        status = parts[2 * number + 1] if 2 * number + 1 < len(parts) else "none"
        lines = {pattern(line) for line in text.splitlines()}
        missing = [line for line in expected if line.strip() and pattern(line) not in lines]
        if status != "0" or missing:
            sys.exit(f"$ {command}\nexit status {status}; missing: {missing}\n{text}")
    return len(commands)


def main():
    page, source, build = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        blocks = BLOCK.findall(file.read())
    with tempfile.TemporaryDirectory() as temporary:
        environment = installed(build, os.path.join(temporary, "prefix"))
        folder, saved = os.path.join(temporary, "work"), os.path.join(temporary, "saved")
        os.mkdir(folder)
        os.mkdir(saved)
        environment["ETWAS_RUNTIME_DIR"] = os.path.join(temporary, "run")
        os.mkdir(environment["ETWAS_RUNTIME_DIR"], 0o700)
        os.symlink(os.path.join(source, "examples"), os.path.join(folder, "examples"))
        script, commands = script_of(blocks, saved)
        count = check(commands, run(script, folder, environment))
    print(f"{count} of {len(commands)} commands")
    return 0 if count > 0 else 77 if commands else 1


if __name__ == "__main__":
    sys.exit(main())
