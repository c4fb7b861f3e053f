#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""tests/summary.py: what passed, failed and was skipped, and what too often passes only alone."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SUMMARY = Path(__file__).resolve().parent.parent / "summary.py"


class Summary(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def junit(self, name, cases):
        """A file as ctest writes it, of names with their status and output."""
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write("<testsuite>" + "".join(
                f'<testcase name="{test}" status="{status}">'
                f'<system-out>{output}</system-out></testcase>'
                for test, status, output in cases) + "</testsuite>")
        return self.path(name)

    def run_with(self, *options):
        return subprocess.run([sys.executable, "-B", SUMMARY, *options],
                              env=os.environ | {"XDG_CACHE_HOME": self.path("cache")},
                              capture_output=True, text=True, check=False)

    def once(self, preset, among_others, alone=None):
        tests = self.junit("tests.xml", [("steady", "run", ""), ("shaky", among_others, "")])
        again = self.junit("alone.xml", [("shaky", alone, "")] if alone else [])
        return self.run_with("--often", preset, tests, again)

    def test_what_failed_is_named_with_what_it_printed_last(self):
        tests = self.junit("tests.xml", [("a", "run", ""), ("b", "fail", "expected 1, not 2"),
                                         ("c", "fail", "")])
        alone = self.junit("alone.xml", [("b", "fail", "expected 1, not 3"), ("c", "run", "")])
        lines = self.run_with(tests, alone).stdout.splitlines()
        self.assertEqual(lines, ["2 passed, 1 failed, 0 skipped", "    passed only alone: c",
                                 "    failed:  b", "        | expected 1, not 2"])

    def test_each_skipped_test_is_listed_by_its_reason(self):
        tests = self.junit("tests.xml", [("a", "notrun", "skipped: there is no perf"),
                                         ("b", "notrun", "")])
        aside = self.run_with("--aside", tests, self.path("none.xml")).stdout
        self.assertIn("skipped: there is no perf\n        a\n", aside)
        self.assertIn("skipped: it gave no reason\n        b\n", aside)

    def test_what_passes_only_alone_three_times_in_twenty_runs_fails(self):
        self.assertEqual(self.once("default", "fail", "run").returncode, 0)
        self.assertEqual(self.once("default", "fail", "run").returncode, 0)
        self.assertEqual(self.once("default", "fail", "fail").returncode, 1)
        third = self.once("default", "fail", "run")
        self.assertEqual(third.returncode, 1)
        self.assertIn("shaky passed only alone in 3 of the last 4 runs", third.stdout)

    def test_what_failed_and_did_not_pass_alone_is_a_failure_whatever_ran_instead(self):
        tests = self.junit("tests.xml", [("a", "fail", ""), ("b", "run", "")])
        alone = self.junit("alone.xml", [("b", "run", "")])
        self.assertEqual(self.run_with("--often", "default", tests, alone).returncode, 1)
        self.assertEqual(self.run_with("--often", "default", tests, "none.xml").returncode, 1)

    def test_what_failed_runs_again_by_its_name_unless_too_much_did(self):
        tests = self.junit("tests.xml", [("a_g++", "fail", ""), ("b", "run", ""),
                                         ("c", "fail", "")])
        few = self.run_with("--few", tests)
        self.assertEqual((few.returncode, few.stdout), (0, "^(a_g\\+\\+|c)$\n"))
        tests = self.junit("tests.xml", [(f"t{number}", "fail", "") for number in range(7)])
        self.assertEqual(self.run_with("--few", tests).returncode, 1)

    def test_each_preset_has_runs_of_its_own(self):
        for preset in ("default", "tsan", "default", "tsan"):
            self.assertEqual(self.once(preset, "fail", "run").returncode, 0)

    def test_a_run_that_is_older_than_twenty_counts_no_more(self):
        self.once("default", "fail", "run")
        self.once("default", "fail", "run")
        for _ in range(18):
            self.assertEqual(self.once("default", "run").returncode, 0)
        self.assertEqual(self.once("default", "fail", "run").returncode, 0)

    def test_a_damaged_history_begins_anew(self):
        os.makedirs(self.path("cache/etwas"))
        for text in ("{", "[]", '{"default": 7}', '{"default": [3]}'):
            with open(self.path("cache/etwas/passed-alone.json"), "w", encoding="utf-8") as file:
                file.write(text)
            self.assertEqual(self.once("default", "fail", "run").returncode, 0, text)


if __name__ == "__main__":
    unittest.main()
