#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The stacks of processes that log into the session of another one are named.

usage: guest_stacks_test.py PATH_OF_ETWAS PROGRAM ANOTHER_PROGRAM PLUGIN TEST_CLASS
"""

import subprocess
import sys

from steer_test import SteerTest
from tool_case import main

PROVIDER = "51b6a3d0-7c28-4e95-a10f-3d8b62e74419"


class Guests(SteerTest):
    programs = ()
    plugin = ""

    def setUp(self):
        super().setUp()
        self.require_sequences()

    def run_program(self, program):
        subprocess.run([program, self.plugin], check=True, stdout=subprocess.DEVNULL,
                       env=self.environment, timeout=100)

    def folded(self):
        out, error = self.run_etwas("convert", "--to", "folded", self.path)
        self.assertEqual(error, "")
        return [line.rpartition(" ")[0].split(";") for line in out.splitlines()]

    def assert_named(self, stacks, function, callers):
        self.assertTrue([s for s in stacks if function in s and s[s.index(function) - 1]
                         in callers], (function, stacks))

    def test_programs_that_ended_are_named_with_what_they_loaded(self):
        self.start("-o", self.path)
        self.run_etwas("enable", self.name, PROVIDER, "--property", "stack")
        for program in self.programs:
            self.run_program(program)
        self.run_etwas("stop", self.name)
        stacks = self.folded()
        for function in ("bake_bread", "forge_iron", "work_in_plugin"):
            self.assert_named(stacks, function, ("main",))
        out, _ = self.run_etwas("dump", "--where", 'event == "Work"', self.path)
        self.assertEqual(len([line for line in out.splitlines() if "/Work" in line]), 4)

    def test_programs_that_run_are_asked_when_the_session_stops(self):
        self.start("-o", self.path)
        self.run_etwas("enable", self.name, PROVIDER, "--property", "stack")
        program = subprocess.Popen([self.programs[1], self.plugin, "wait"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, env=self.environment)
        self.assertEqual(program.stdout.readline(), b"worked\n")
        self.run_etwas("stop", self.name)
        program.communicate(timeout=100)
        stacks = self.folded()
        self.assert_named(stacks, "forge_iron", ("main",))
        self.assert_named(stacks, "work_in_plugin", ("main",))


if __name__ == "__main__":
    Guests.programs, Guests.plugin = sys.argv[2:4], sys.argv[4]
    sys.exit(main())
