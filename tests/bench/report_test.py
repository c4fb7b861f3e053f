#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""bench/report.py with made-up parts: what they print arrives, and what goes wrong is told."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPORT = sys.argv.pop(1)


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def part(self, name, *lines, status=0):
        program = self.folder / f"etwas_bench_{name}"
        program.write_text("#!/bin/sh\ncat <<'END'\n" + "\n".join(lines)
                           + f"\nEND\nexit {status}\n", encoding="utf-8")
        program.chmod(0o755)

    def google(self, name, *benchmarks):
        """A part that Google Benchmark measures: its file has these, each with its name and
        time."""
        runs = [{"run_type": "iteration", "family_index": index, **one}
                for index, one in enumerate(benchmarks)]
        program = self.folder / f"etwas_bench_{name}"
        program.write_text("#!/bin/sh\nfor option; do case $option in --benchmark_out=*)\n"
                           f"cat >\"${{option#*=}}\" <<'END'\n{json.dumps({'benchmarks': runs})}\n"
                           "END\nesac; done\n", encoding="utf-8")
        program.chmod(0o755)

    def report(self, *options):
        command = [sys.executable, "-B", REPORT, "--quiet", "--json", str(self.folder / "json"),
                   *(options or ("--build", str(self.folder)))]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def rows(self):
        kept = json.loads((self.folder / "json").read_text(encoding="utf-8"))
        return {row["row"]: row for row in kept["rows"]}

    def test_the_rounds_of_a_row_are_joined_and_their_median_is_shown(self):
        self.part("scaling", '{"row": "scaling/x", "unit": "ns", "values": [1, 3, 20]}')
        result = self.report("--build", str(self.folder), "--rounds", "2", "--only", "scaling")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.rows()["scaling/x"]["values"], [1, 3, 20, 1, 3, 20])

    def test_a_failed_row_fails_the_run_and_shows_no_figure(self):
        self.part("drain", '{"row": "drain/a", "unit": "ns", "values": [123.4]}',
                  '{"row": "drain/a", "failed": "3 events are missing"}', status=1)
        result = self.report()
        self.assertEqual(result.returncode, 1)
        self.assertIn("FAILED: drain/a: 3 events are missing", result.stdout)
        self.assertNotIn("123.4", result.stdout)

    def test_a_skipped_row_is_reported_and_fails_nothing(self):
        self.part("peers", '{"row": "peers/a", "skipped": "it is not installed"}')
        result = self.report()
        self.assertEqual(result.returncode, 0)
        self.assertIn("skipped: peers/a: it is not installed", result.stdout)

    def test_a_part_that_is_not_built_is_reported(self):
        self.part("peers", '{"row": "peers/a", "unit": "ns", "values": [1]}')
        result = self.report()
        self.assertEqual(result.returncode, 0)
        self.assertIn("drain: not built", result.stdout)

    def test_a_part_that_dies_or_babbles_fails_the_run(self):
        self.part("drain", '{"row": "drain/a", "unit": "ns", "values": [1]}', status=139)
        self.assertEqual(self.report().returncode, 1)
        self.part("drain", "hello", "{}")
        self.assertEqual(self.report().returncode, 1)

    def test_parts_are_named_and_what_is_no_part_is_refused(self):
        self.part("drain", '{"row": "drain/a", "unit": "ns", "values": [1]}')
        self.part("peers", '{"row": "peers/a", "unit": "ns", "values": [1]}')
        self.assertEqual(self.report("--build", str(self.folder), "drain").returncode, 0)
        self.assertEqual(list(self.rows()), ["drain/a"])
        self.assertEqual(self.report("--build", str(self.folder), "drains").returncode, 2)

    def test_a_clock_has_the_laboratory_s_figure_and_the_ratio_beside_it(self):
        self.google("clocks",
                    {"run_name": "clocks/single/tsc/manual_time", "real_time": 20,
                     "laboratory": 25},
                    {"run_name": "clocks/cold/tsc/iterations:8/manual_time", "real_time": 100},
                    {"run_name": "clocks/cold/tai/iterations:8/manual_time",
                     "error_occurred": True, "error_message": "skipped: no such clock"})
        result = self.report("--build", str(self.folder), "clocks")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines()
                 if line.startswith("clocks/")}
        self.assertEqual(lines, {"clocks/single/tsc": ["20.00", "20.00", "20.00", "25.00", "1.25"],
                                 "clocks/cold/tsc": ["100.00", "100.00", "100.00"]})
        self.assertIn("skipped: clocks/cold/tai: no such clock", result.stdout)

    def test_nothing_measured_is_a_failure(self):
        self.assertEqual(self.report().returncode, 1)

    def test_of_several_runs_the_best_is_set_beside_what_is_expected(self):
        paths = []
        for index, rate in enumerate((8e6, 12e6, 9e6)):
            self.part("drain", json.dumps({"row": "drain/disk/buffered/1", "unit": "events/s",
                                           "values": [rate]}))
            self.assertEqual(self.report().returncode, 0)
            paths.append(str(self.folder / f"{index}.json"))
            (self.folder / "json").rename(paths[-1])
        line = [line for line in self.report("--read", *paths, "--expect").stdout.splitlines()
                if "new file on disk" in line][0]
        self.assertRegex(line, r"at least 10\.0 M events/s +12\.0 M +met +8\.0 M, 12\.0 M, 9\.0 M")
        line = [line for line in self.report("--read", paths[0], "--expect").stdout.splitlines()
                if "new file on disk" in line][0]
        self.assertRegex(line, r"8\.0 M +MISSED")

    def beside(self, own_programs):
        """A run beside the library old/runtime/libetwas.so.0, whose file says which it is. The part
        is as slow as its library's file says, and 10 slower if it is the old build's program."""
        build, old = self.folder / "new", self.folder / "old"
        for tree, ns in ((build, 100), (old, 50)):
            for folder in ("runtime", "bench"):
                (tree / folder).mkdir(parents=True, exist_ok=True)
            (tree / "runtime" / "libetwas.so.0").write_text(str(ns), encoding="utf-8")
        for program, more in ((build / "bench", 0), (old / "bench", 10))[:1 + own_programs]:
            part = program / "etwas_bench_scaling"
            part.write_text("#!/bin/sh\n"
                            f"library=${{LD_LIBRARY_PATH:-{build}/runtime}}/libetwas.so.0\n"
                            f"ns=$(($(cat $library) + {more}))\n"
                            'echo "{\\"row\\": \\"scaling/x\\", \\"unit\\": \\"ns\\", '
                            # a busy machine
                            '\\"values\\": [$ns, 900, 900, $ns, 900]}"\n', encoding="utf-8")
            part.chmod(0o755)
        return self.report("--build", str(build / "bench"), "--beside",
                           str(old / "runtime" / "libetwas.so.0"), "--json",
                           str(self.folder / "json"), "scaling")

    def row_beside(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        return [line.split() for line in result.stdout.splitlines()
                if line.startswith("scaling/x")]

    def test_another_library_runs_in_turn_and_each_row_says_how_many_times_as_much_it_takes(self):
        self.assertEqual(self.row_beside(self.beside(False)),
                         [["scaling/x", "50.00", "100.0", "2.000"]])

    def test_a_library_that_lies_in_its_build_is_run_by_its_own_programs(self):
        self.assertEqual(self.row_beside(self.beside(True)),
                         [["scaling/x", "60.00", "100.0", "1.667"]])

    def test_of_several_runs_beside_another_library_the_best_ratio_counts(self):
        self.beside(False)
        (self.folder / "json").rename(self.folder / "first.json")
        self.beside(True)
        result = self.report("--read", str(self.folder / "first.json"), str(self.folder / "json"),
                             "--expect")
        self.assertEqual(self.row_beside(result),
                         [["scaling/x", "60.00", "100.0", "1.667", "2.000", "1.667"]])
        self.assertIn("highest 1.667 (scaling/x)", result.stdout)


if __name__ == "__main__":
    unittest.main()
