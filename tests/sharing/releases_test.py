#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""
Programs of several releases of the library. Where the major version of the pool's layout is equal,
events of one are in the session of another; where it differs, they are counted there as lost, and
`etwas ps` says so.

usage: releases_test.py RELEASE LATER_MINOR LATER_MAJOR ETWAS
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile

EVENTS = 10_000
SKIPPED = 77


class Program:
    """One of release.c: says a line for each thing it has done."""

    def __init__(self, program, role, what, environment):
        self.process = subprocess.Popen([program, role, str(what)], env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def line(self):
        return self.process.stdout.readline().strip()

    def end(self):
        said, _ = self.process.communicate("\n", timeout=60)
        assert self.process.returncode == 0, (self.process.returncode, said)
        return said.strip()


def enabled_by(etwas, environment):
    """The sessions that enable the one provider, as `etwas ps` shows them."""
    shown = subprocess.run([etwas, "ps", "--json"], env=environment, capture_output=True, text=True,
                           check=True).stdout
    providers = [line for line in map(json.loads, shown.splitlines()) if line.get(
        "registration") == "modern"]
    assert len(providers) == 1, shown
    return providers[0]["enabled_by"]


def says(etwas, environment):
    return subprocess.run([etwas, "ps"], env=environment, capture_output=True, text=True,
                          check=True).stdout


def check(hosting, providing, etwas, are_equal):
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "ETWAS_SHARED": "1",
                       "ETWAS_RUNTIME_DIR": os.path.join(folder, "run")}
        file = os.path.join(folder, "releases.etl")
        host = Program(hosting, "host", file, environment)
        first = host.line()
        if first == "" and host.process.wait(60) == SKIPPED:
            print("skipped: no session can be shared here")
            sys.exit(SKIPPED)
        assert first == "enabled 0", first
        provider = Program(providing, "provider", EVENTS, environment)
        assert provider.line() == ("enabled" if are_equal else "refused")
        lost = provider.line()
        assert lost.startswith("lost ") and (are_equal or lost == f"lost {EVENTS}"), lost
        (session,) = enabled_by(etwas, environment)
        assert session["session"] == "releases", session
        assert ("of_another_release" in session) == (not are_equal), session
        assert ("of another release" in says(etwas, environment)) == (not are_equal)
        provider.end()
        recorded = host.end()
        assert recorded == f"recorded {EVENTS if are_equal else 0} {lost}", (recorded, lost)
        listed = subprocess.run([etwas, "dump", "--json", file], capture_output=True, text=True,
                                check=True).stdout
        count = sum(json.loads(line).get("event_class_id") == "6f2d9b10-4c5e-4e0a-0204-060801030507"
                    for line in listed.splitlines())
        assert count == (EVENTS if are_equal else 0), count
        assert os.listdir(environment["ETWAS_RUNTIME_DIR"]) == []


def main():
    release, minor, major, etwas = sys.argv[1:]
    for hosting, providing in itertools.product((release, minor, major), repeat=2):
        check(hosting, providing, etwas, (hosting == major) == (providing == major))


main()
