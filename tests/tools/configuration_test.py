# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The events of the system's configuration of this machine, as the command shows them.

usage: configuration_test.py PATH_OF_ETWAS PATH_OF_CONFIGURATION TEST_CLASS
"""

import os
import re
import subprocess
import sys

from tool_case import ToolTest, main

SKIPPED = 77


class Configuration(ToolTest):
    program = ""

    def setUp(self):
        super().setUp()
        path = os.path.join(self.folder, "c.etl")
        code = subprocess.run([self.program, path], check=False, timeout=100).returncode
        if code == SKIPPED:
            self.skipTest("the kernel's events cannot be had")
        self.assertEqual(code, 0)
        self.lines = [line for line in self.run_etwas("dump", path)[0].splitlines()
                      if "/SystemConfig/" in line]

    def test_the_processors_are_shown_by_field_name(self):
        cpu, = [line for line in self.lines if "/SystemConfig/CPU " in line]
        self.assertIn(f" NumberOfProcessors={os.sysconf('SC_NPROCESSORS_ONLN')} ", cpu)
        self.assertIn(f" PageSize={os.sysconf('SC_PAGESIZE')} ", cpu)
        self.assertRegex(cpu, rf' ComputerName="?{re.escape(os.uname().nodename)}"? ')
        self.assertIn(" HyperThreadingFlag=", cpu)

    def test_what_is_written_is_what_is_read(self):
        """No event ends before its last field or behind it, and each is of a version that is
        known."""
        self.assertGreater(len(self.lines), 1)
        for line in self.lines:
            self.assertRegex(line, r"/SystemConfig/\w+ \w+=")
            self.assertNotIn("…", line)
            self.assertNotRegex(line, r" \+\d+$")


if __name__ == "__main__":
    Configuration.program = sys.argv[2]
    sys.exit(main())
