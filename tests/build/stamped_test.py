#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""tests/stamped.py: which tests run again, and of which a stamp is kept."""
import contextlib
import io
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))
import stamped  # noqa: E402

# In the order in which ctest gives labels.
ALL = [("etl_a", ["deterministic", "etl", "not-tsan"]), ("etl_b", ["deterministic", "etl"]),
       ("shipped_reader_a", ["deterministic", "not-norseq", "reader", "shipped"]),
       ("storm", ["buffer"]),
       ("tool_c++", ["deterministic", "not-tsan", "tools"])]


class Stamped(unittest.TestCase):
    def setUp(self):
        self.before = os.getcwd()
        self.folder = tempfile.mkdtemp()
        os.chdir(self.folder)
        for name in ("runtime/a.c", "tests/etl/a.c", "tests/reader/a.c", "tests/tools/a.py",
                     "tools/a.c", "docs/a.md"):
            self.write(name, "first")
        shutil.copy(TESTS / "stamps.sh", "tests")
        self.write("tests/stamps", "# comment\n")
        self.write("build/default/CMakeCache.txt",
                   "CMAKE_C_COMPILER:FILEPATH=/usr/bin/cc\nETWAS_SYSTEM:BOOL=ON\n")
        stamped.targets_of_all = lambda build: []
        self.tests = ALL
        stamped.tests_of = lambda arguments: self.tests if "--preset" in arguments else [
            *self.tests, ("other", ["fuzz"])]
        stamped.digest_of_machine = lambda *groups: "machine"

    def tearDown(self):
        os.chdir(self.before)
        shutil.rmtree(self.folder)

    def write(self, name, text):
        os.makedirs(os.path.dirname(name), exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")

    def begin(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            stamped.begin("default")
        return said.getvalue().splitlines()

    def keep(self, failed=(), left_out=(), skipped=()):
        cases = "".join(
            f'<testcase name="{name}" '
            f'status="{"fail" if name in failed else "notrun" if name in skipped else "run"}"/>'
            for name, _ in ALL if name not in left_out)
        self.write("build/results.xml", f"<testsuite>{cases}</testsuite>")
        stamped.keep("default", "build/results.xml", "build/alone.xml")

    def pass_once(self):
        self.begin()
        self.keep()

    def test_nothing_stands_at_first_and_what_the_preset_leaves_out_is_counted(self):
        self.assertEqual(self.begin()[:2], ["0 whose stamp stands, 1 that this preset leaves out",
                                            "^$"])

    def test_what_passed_stands_and_what_is_not_deterministic_does_not(self):
        self.pass_once()
        self.assertEqual(self.begin()[:2], ["4 whose stamp stands, 1 that this preset leaves out",
                                            r"^(etl_a|etl_b|shipped_reader_a|tool_c\+\+)$"])

    def test_a_changed_input_has_its_folders_run_again(self):
        for name, standing in (("tools/a.c", "^(etl_a|etl_b|shipped_reader_a)$"),
                               ("docs/a.md", "^(etl_a|etl_b|shipped_reader_a)$"),
                               ("tests/etl/a.c", r"^(shipped_reader_a|tool_c\+\+)$"),
                               ("tests/etl/new.c", r"^(shipped_reader_a|tool_c\+\+)$"),
                               ("runtime/a.c", "^$"), ("runtime/new.h", "^$")):
            with self.subTest(name):
                self.pass_once()
                self.write(name, "changed: " + name)
                self.assertEqual(self.begin()[1], standing)

    def test_another_configuration_has_all_run_again(self):
        self.pass_once()
        self.write("build/default/CMakeCache.txt",
                   "CMAKE_C_COMPILER:FILEPATH=/usr/bin/clang\nETWAS_SYSTEM:BOOL=ON\n")
        self.assertEqual(self.begin()[1], "^$")

    def test_a_compilers_cache_does_not_count(self):
        self.pass_once()
        with open("build/default/CMakeCache.txt", "a", encoding="utf-8") as cache:
            cache.write("ETWAS_CCACHE:FILEPATH=/usr/bin/ccache\n")
        self.assertEqual(self.begin()[0], "4 whose stamp stands, 1 that this preset leaves out")

    def test_another_test_another_machine_and_a_request_for_all_do(self):
        self.pass_once()
        self.tests = [*ALL, ("etl_c", ["etl", "deterministic"])]
        self.assertEqual(self.begin()[1], r"^(shipped_reader_a|tool_c\+\+)$")
        self.tests = ALL
        stamped.digest_of_machine = lambda *groups: "another"
        self.assertEqual(self.begin()[1], "^$")
        stamped.digest_of_machine = lambda *groups: "machine"
        os.environ["ETWAS_SEARCH_ALL"] = "1"
        self.assertEqual(self.begin()[1], "^$")
        del os.environ["ETWAS_SEARCH_ALL"]

    def test_packages_that_no_test_needs_do_not_count(self):
        packages = {"gcc": ("1", [["cpp"], ["libc-dev", "other-libc"], ["absent"], [""]]),
                    "cpp": ("2", []), "libc6-dev": ("3", [["gcc"]]), "musl-dev": ("5", []),
                    "other-libc": ("6", []), "gdb": ("4", [["cpp"]])}
        self.assertEqual(stamped.versions_of_packages(
            ["gcc"], packages, {"libc-dev": ["libc6-dev", "musl-dev"]}),
            ["cpp 2", "gcc 1", "libc6-dev 3"])

    def test_packages_of_this_machine_are_read_with_what_they_need(self):
        packages, providers = stamped.packages_installed()
        version, needed = packages["libc6-dev"]
        self.assertRegex(version, "^[0-9]")
        self.assertIn(["libc6"], needed)
        self.assertIn("libc6-dev", providers["libc-dev"])

    def test_what_only_tests_that_do_not_run_need_is_not_built(self):
        built = os.path.abspath("build/default")
        self.write("build/default/tests/etl/CTestTestfile.cmake",
                   f'add_test([=[etl_a]=] "{built}/tests/etl/etl_a")\n'
                   f'add_test([=[etl_b]=] "{built}/tests/etl/etl_b" "of={built}/tests/etl/both")\n'
                   f'add_test([=[storm]=] "sh" "{built}/tests/etl/both" "{built}/tools/etwas")\n')
        stamped.targets_of_all = lambda build: ["tools/etwas", "tests/etl/etl_a", "tests/etl/etl_b",
                                                "tests/etl/both", "tests/etl/libsupport.a"]
        self.assertEqual(self.begin()[2].split(), [
            "tools/etwas", "tests/etl/etl_a", "tests/etl/etl_b", "tests/etl/both",
            "tests/etl/libsupport.a"])
        self.pass_once()
        self.assertEqual(self.begin()[2].split(), ["tools/etwas", "tests/etl/both",
                                                   "tests/etl/libsupport.a"])

    def test_where_one_failed_was_skipped_did_not_run_or_was_changed_there_is_no_stamp(self):
        self.begin()
        self.keep(failed=["etl_b"])
        self.assertEqual(self.begin()[1], r"^(shipped_reader_a|tool_c\+\+)$")
        self.write("tests/stamps", "# comment\n")
        self.begin()
        self.keep(left_out=["shipped_reader_a"])
        self.assertEqual(self.begin()[1], r"^(etl_a|etl_b|tool_c\+\+)$")
        self.write("tests/stamps", "# comment\n")
        self.begin()
        self.keep(skipped=["shipped_reader_a"])
        self.assertEqual(self.begin()[1], r"^(etl_a|etl_b|tool_c\+\+)$")
        self.write("tests/stamps", "# comment\n")
        self.begin()
        self.write("tools/a.c", "changed meanwhile")
        self.keep()
        self.assertEqual(self.begin()[1], "^(etl_a|etl_b|shipped_reader_a)$")

    def test_stamps_of_what_did_not_run_stay(self):
        self.pass_once()
        before = Path("tests/stamps").read_text(encoding="utf-8")
        self.begin()
        self.keep(left_out=[name for name, labels in ALL if "deterministic" in labels])
        self.assertEqual(Path("tests/stamps").read_text(encoding="utf-8"), before)


if __name__ == "__main__":
    unittest.main()
