# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas clocks`: its command line, and what it shows of made-up reports (clocks_reports.h).

usage: clocks_test.py PATH_OF_ETWAS PATH_OF_CLOCKS_SHOW TEST_CLASS
"""

import json
import os
import pty
import re
import resource
import subprocess
import sys
import unittest

from tool_case import FAILED, OUTPUT, ToolTest, main

SHOW = sys.argv[2]
REPORTS = ("laptop", "guest", "single", "pair", "server", "nothing", "numberless")
NAMES = ("qpc", "system", "tsc", "rdtscp", "lfence+rdtsc", "monotonic", "monotonic-raw",
         "monotonic-coarse", "realtime", "realtime-coarse", "boottime", "tai", "thread-cputime")


def shown(form, report, *sources):
    result = subprocess.run([SHOW, form, report, *map(str, sources)], check=True, timeout=60,
                            stdout=subprocess.PIPE)
    return result.stdout.decode("utf-8")


def read_all(descriptor):
    """What is written to the other side of a terminal, until nobody has it."""
    parts = []
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:
            part = b""
        if not part:
            return b"".join(parts).decode("utf-8")
        parts.append(part)


def built_without_d3():
    return subprocess.run([SHOW, "html", "nothing"], check=False, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 77


NEEDS_D3 = unittest.skipIf(built_without_d3(), "it was built without d3, which draws pages")


class Command(ToolTest):
    def test_the_help_names_every_option_and_fits_80_columns(self):
        out, error = self.run_etwas("clocks", "--help")
        self.assertTrue(out.startswith("usage: etwas clocks"))
        self.assertEqual(error, "")
        self.assertLessEqual(max(len(line) for line in out.splitlines()), 80)
        for word in ("--duration", "--clocks", "--json", "--html", "--output"):
            self.assertIn(word, out)
        general, _ = self.run_etwas("--help")
        self.assertIn("  clocks  ", general)

    def test_a_wrong_call_is_reported_before_anything_is_examined(self):
        path = os.path.join(self.folder, "page.html")
        for arguments, word in ((["--duration", "0"], "'0'"), (["--duration", "0.5"], "'0.5'"),
                                (["--duration", "3601"], "'3601'"), (["--duration", "x"], "'x'"),
                                (["--duration", "-2"], "'-2'"), (["--duration", "inf"], "'inf'"),
                                (["--duration", "0x10"], "'0x10'"), (["--duration", ""], "''"),
                                (["--duration", "1.2.3"], "'1.2.3'"), (["--duration"], "duration"),
                                (["--duration", "900ms"], "'900ms'"),
                                (["--clocks", "hpet"], "'hpet'"), (["--clocks", ""], "''"),
                                (["--clocks", "qpc,"], "'qpc,'"),
                                (["--clocks", "qpc,tscx"], "'tscx'"),
                                (["--html"], "--output"), (["--force"], "--output"),
                                (["--html", "--json", "-o", path], "exclude each other"),
                                (["--html", "-o", path, "trace.etl"], "trace.etl"),
                                (["--frob"], "frob")):
            with self.subTest(arguments=arguments):
                out, error = self.run_etwas("clocks", *arguments, expect=FAILED)
                self.assertEqual(out, "")
                self.assertIn(word, error)
                self.assertIn("See 'etwas clocks --help'", error)
        self.assertFalse(os.path.exists(path))

    @unittest.skipUnless(built_without_d3(), "it was built with d3")
    def test_without_d3_a_page_is_refused_by_what_is_missing(self):
        path = os.path.join(self.folder, "page.html")
        out, error = self.run_etwas("clocks", "--html", "-o", path, expect=OUTPUT)
        self.assertEqual(out, "")
        self.assertIn("node-d3", error)
        self.assertFalse(os.path.exists(path))

    def test_an_unknown_clock_is_answered_with_those_there_are(self):
        _, error = self.run_etwas("clocks", "--clocks", "hpet", expect=FAILED)
        for name in NAMES:
            self.assertIn(name, error)

    def test_clocks_are_found_by_their_names_in_c_too_and_only_they_are_shown(self):
        out, _ = self.run_etwas("clocks", "--duration", "1s", "--clocks",
                                "Clock_Monotonic,rdtsc", "--clocks", "QPC", "--json")
        report = json.loads(out)
        self.assertEqual([clock["clock"] for clock in report["clocks"]],
                         ["qpc", "tsc", "monotonic"])
        self.assertTrue(report["clocks"][0]["available"])
        self.assertGreater(report["clocks"][0]["warm"]["p50"], 0)
        self.assertIn(report["verdict"], ("trusted", "doubtful", "unusable"))
        self.assertIn(report["recommended_clock"], NAMES[:3])
        self.assertRegex(report["examined"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(report["host"], os.uname().nodename)

    def test_the_result_goes_where_it_is_said(self):
        path = os.path.join(self.folder, "clocks.json")
        arguments = "--duration", "1", "--clocks", "qpc", "--json", "-o"
        self.assertEqual(self.run_etwas("clocks", *arguments, path)[0], "")
        out, _ = self.run_etwas("clocks", *arguments, "-")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(json.load(file).keys(), json.loads(out).keys())
        _, error = self.run_etwas("clocks", *arguments, path, expect=OUTPUT)
        self.assertIn("--force replaces it", error)

    @NEEDS_D3
    def test_the_page_replaces_what_was_in_the_file(self):
        path = os.path.join(self.folder, "page.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write("old " * 1_000_000)
        out, _ = self.run_etwas("clocks", "--duration", "1", "--clocks", "qpc,tsc", "--html", "-fo",
                                path)
        self.assertEqual(out, "")
        with open(path, encoding="utf-8") as file:
            page = file.read()
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        self.assertTrue(page.endswith("</html>\n"))
        self.assertNotIn("old old", page)

    @NEEDS_D3
    def test_a_page_that_cannot_be_written_is_reported_at_once(self):
        path = os.path.join(self.folder, "missing", "page.html")
        out, error = self.run_etwas("clocks", "--duration", "3600", "--html", "-o", path,
                                    expect=OUTPUT)
        self.assertEqual(out, "")
        self.assertIn(path, error)

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "wb") as full:
            _, error = self.run_etwas("clocks", "--duration", "1", "--clocks", "qpc", expect=OUTPUT,
                                      stdout=full)
        self.assertIn("cannot write the output", error)

    @NEEDS_D3
    def test_a_page_that_could_not_be_written_is_an_error(self):
        _, error = self.run_etwas("clocks", "--duration", "1", "--clocks", "qpc", "--html",
                                  "-o", "/dev/full", expect=OUTPUT)
        self.assertIn("'/dev/full'", error)


class Starved(ToolTest):
    """Not with sanitizers: they need far more memory."""

    @NEEDS_D3
    def test_without_memory_for_threads_nothing_is_shown_and_no_file_is_touched(self):
        new, old = (os.path.join(self.folder, name) for name in ("new.html", "old.html"))
        with open(old, "w", encoding="utf-8") as file:
            file.write("old")

        # What the program itself takes, and not much more.
        def limit(megabytes):
            return lambda: resource.setrlimit(resource.RLIMIT_AS,
                                              (megabytes << 20, megabytes << 20))

        least = next(megabytes for megabytes in range(16, 256, 2) if subprocess.run(
            [self.etwas, "--version"], check=False, preexec_fn=limit(megabytes),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0)
        for path in (new, old):
            out, error = self.run_etwas("clocks", "--duration", "1", "--html", "-fo", path,
                                        expect=FAILED, preexec_fn=limit(least + 2))
            self.assertEqual(out, "")
            self.assertIn("the clocks cannot be examined", error)
        self.assertFalse(os.path.exists(new))
        with open(old, encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")


class Text(ToolTest):
    def part(self, text, title):
        """The lines of a table, from its title to the next blank line."""
        lines = text.splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith(title))
        rest = lines[first + 1:]
        return rest[:rest.index("")] if "" in rest else rest

    def test_every_report_fits_100_columns(self):
        for report in REPORTS:
            with self.subTest(report=report):
                lines = shown("text", report).splitlines()
                self.assertLessEqual(max(len(line) for line in lines), 100)
                self.assertEqual([line for line in lines if line != line.rstrip()], [])

    def test_on_a_terminal_of_80_columns_no_table_wraps(self):
        """Columns for which there is no room follow in a table of their own."""
        for report in REPORTS:
            ours, theirs = pty.openpty()
            self.addCleanup(os.close, ours)
            with subprocess.Popen([SHOW, "text", report], stdout=theirs,
                                  env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}) as show:
                os.close(theirs)
                text = read_all(ours)
                self.assertEqual(show.wait(timeout=60), 0)
            lines = text.replace("\r", "").split("\n\n", 1)[1].splitlines()
            self.assertLessEqual(max(len(line) for line in lines), 80, report)
            alone = shown("text", report)
            for word in re.findall(r"\S+", alone[alone.index("\n\n"):]):
                self.assertIn(word, text)

    def test_the_answer_for_a_virtual_machine_names_what_to_use_if_it_is_moved(self):
        self.assertTrue(shown("text", "pair").startswith(
            "Use TSC: --clock tsc, or qpc if this virtual machine may be moved to another host.\n"))
        for report in ("laptop", "single", "guest"):  # the last: QPC is recommended anyway
            self.assertNotIn("virtual machine", shown("text", report))

    def test_the_answer_comes_first_then_the_verdict_then_what_was_measured(self):
        text = shown("text", "laptop")
        places = [text.index(words) for words in (
            "Use TSC", "heron", "Ask for ClientContext 3", "The cycle counter (TSC) is trusted\n",
            "Cost of one reading", "Resolution", "Order across processors", "Monotony", "Drift",
            "Conversion")]
        self.assertEqual(places, sorted(places))

    def test_three_lines_tell_which_clock_what_it_costs_and_how_wrong_it_can_be(self):
        for report, answer in (
                ("laptop", ("Use TSC: --clock tsc, or ClientContext 3. The cycle counter (TSC) is "
                            "trusted.",
                            "It costs 6.98 ns a stamp; QPC costs 17.8 ns, system time costs "
                            "18.5 ns.",
                            "Its stamps were in order across processors; it gains or loses at most "
                            "119 µs an hour.")),
                ("guest", ("Use QPC: --clock qpc, or ClientContext 1. The cycle counter (TSC) is "
                           "unusable.",
                           "It costs 737 ns a stamp; system time costs 765 ns, TSC costs 288 ns.",
                           "Its stamps were in order across processors; it gains or loses at most "
                           "43.2 µs an hour.")),
                ("single", ("Use TSC", "It costs", "There is one processor")),
                ("numberless", ("Use TSC", "It costs", "Its stamps were in order across "
                                "processors; its drift is not known."))):
            with self.subTest(report=report):
                lines = shown("text", report).split("\n")
                for line, words in zip(lines, answer):
                    self.assertTrue(line.startswith(words), (line, words))
                self.assertEqual(lines[3], "")
        self.assertEqual(shown("text", "nothing").split("\n")[:2],
                         ["No clock can be recommended.", ""])
        # The recommended clock is not among those that were examined.
        self.assertEqual(shown("text", "laptop", 0).split("\n")[1:3],
                         ["What it costs was not measured.",
                          "How wrong it can be was not measured."])

    def test_costs_are_those_of_the_report(self):
        rows = {line[:24].strip(): line[24:].split()
                for line in self.part(shown("text", "laptop"), "Cost of one reading")}
        self.assertEqual(rows["TSC"][:7], ["6.98", "7.45", "6.70", "7.20", "8.21", "13.2",
                                           "23,088"])
        self.assertEqual(rows["CLOCK_THREAD_CPUTIME_ID"][-2:], ["1,342", "2,013"])

    def test_the_unit_of_single_timings_and_what_a_clock_moves_by_are_reported(self):
        text = shown("text", "laptop")
        self.assertIn("single readings are timed in steps of 10.0 ns", text)
        rows = {line[:24].strip(): line[24:]
                for line in self.part(text, "Resolution")}
        self.assertRegex(rows["TSC"], r"^ +0\.41 ns +0\.41 ns +10\.0 ns ")
        self.assertNotIn("timed in steps", shown("text", "nothing"))

    def test_pairs_that_could_not_be_compared_are_reported(self):
        self.assertIn("QPC: 1 of 6 pairs could not be compared, nothing is known of them",
                      shown("text", "guest"))
        self.assertEqual(json.loads(shown("json", "guest"))["clocks"][0]["differences_left_out"], 1)
        self.assertNotIn("could not be compared", shown("text", "laptop"))

    def test_processors_are_counted_of_those_online(self):
        self.assertIn("64 of 256 online processors examined, for ", shown("text", "server"))
        self.assertIn("1 of 1 online processor examined, for ", shown("text", "single"))

    def test_a_clock_that_is_not_there_is_named_and_has_no_row(self):
        text = shown("text", "guest")
        self.assertIn("not available here: rdtscp, tai", text)
        self.assertNotRegex(text, r"(?m)^rdtscp  ")

    def test_offsets_are_above_the_diagonal_and_bounds_below_it(self):
        report = json.loads(shown("json", "laptop"))
        pairs = {(pair["cpu"], pair["other_cpu"]): pair
                 for pair in report["clocks"][2]["differences"]}
        lines = shown("text", "laptop").splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith("TSC, ns: above"))
        first += 1  # a title of two lines
        self.assertEqual(lines[first + 1].split(), ["CPU", *map(str, range(8))])
        for row in range(8):
            cells = lines[first + 2 + row].split()[1:]
            for column in range(8):
                pair = pairs.get((min(row, column), max(row, column)))
                if pair is None:
                    self.assertEqual(cells[column], "·")
                elif column > row:
                    self.assertAlmostEqual(float(cells[column]), pair["difference"], delta=0.006)
                else:
                    self.assertAlmostEqual(float(cells[column][1:]), pair["bound"], delta=0.06)

    def test_many_processors_are_summed_up_and_the_worst_pairs_named(self):
        text = shown("text", "server")
        self.assertIn("TSC: the worst of 672 pairs; not all pairs were examined", text)
        self.assertNotIn("diagonal", text)

    def test_the_worst_pair_is_the_first_of_them(self):
        report = json.loads(shown("json", "server"))
        pairs = report["clocks"][2]["differences"]
        worst = max(pairs, key=lambda pair: abs(pair["difference"]) - pair["bound"])
        lines = shown("text", "server").splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith("TSC: the worst"))
        self.assertEqual(lines[first + 2].split()[:2],
                         [str(worst["cpu"]), str(worst["other_cpu"])])

    def test_one_processor_has_no_order(self):
        self.assertEqual(self.part(shown("text", "single"), "Order across processors"),
                         ["  one processor: there is nothing to compare"])

    def test_a_clock_asked_for_by_name_is_shown_in_full_and_no_other(self):
        text = shown("text", "laptop", 10)
        self.assertIn("CLOCK_BOOTTIME, ns: above the diagonal", text)
        self.assertNotRegex(text, r"(?m)^QPC  ")

    def test_what_could_steer_the_terminal_is_escaped(self):
        text = shown("text", "guest")
        self.assertNotIn("\x1b", text)
        self.assertIn("acpi_pm \\x1b[31mred", text)
        self.assertIn("</script>\\xff", text)

    def test_figures_that_are_no_numbers_are_dashes(self):
        text = shown("text", "numberless")
        self.assertNotRegex(text, r"(?i)\b(nan|inf)\b")
        self.assertNotIn("nan", "".join(self.part(text, "Cost of one reading")))


class Json(ToolTest):
    def test_every_key_is_documented(self):
        for report in REPORTS:
            self.assert_keys_documented("clocks", json.loads(shown("json", report)))

    def test_it_is_one_object_on_one_line(self):
        for report in REPORTS:
            text = shown("json", report)
            self.assertEqual(text.count("\n"), 1)
            self.assertIsInstance(json.loads(text), dict)

    def test_values_are_those_of_the_report(self):
        report = json.loads(shown("json", "guest"))
        self.assertEqual((report["verdict"], report["recommended_clock"], report["clocksource"],
                          report["available_clocksources"], report["hypervisor"]),
                         ("unusable", "qpc", "<b>\"acpi&pm'", "acpi_pm \x1b[31mred",
                          "</script>\ufffd"))
        self.assertEqual(report["cpus"], [0, 1, 2, 3])
        self.assertIn("aborts restartable sequences", report["sequences"])
        self.assertEqual([reason["against"] for reason in report["reasons"]], [False] + [True] * 6)
        tsc = report["clocks"][2]
        self.assertEqual((tsc["backward_steps"], tsc["largest_backward"], tsc["stalls"],
                          tsc["against_raw"]["ppm"], len(tsc["differences"])),
                         (1841, 40213, 3, 512.4, 6))
        self.assertEqual(report["clocks"][3], {"clock": "rdtscp", "name": "rdtscp",
                                               "available": False})
        self.assertEqual([clock["clock"] for clock in report["clocks"]], list(NAMES))
        self.assertEqual(report["conversions"][1]["after_day"], -34.5e3 * 90000)

    def test_what_is_not_a_number_or_not_known_is_null(self):
        report = json.loads(shown("json", "numberless"), parse_constant=self.fail)
        self.assertIsNone(report["clocks"][0]["warm"]["p50"])
        self.assertIsNone(report["duration"])
        nothing = json.loads(shown("json", "nothing"))
        self.assertIsNone(nothing["hypervisor"])
        self.assertEqual(nothing["conversions"], [])


def built_without_jansson():
    result = subprocess.run([sys.argv[1], "--version"], check=True, stdout=subprocess.PIPE)
    return b"without jansson" in result.stdout


class Compare(ToolTest):
    def setUp(self):
        super().setUp()
        if built_without_jansson():
            self.skipTest("it was built without jansson, which reads JSON")

    def keep(self, name, text):
        path = os.path.join(self.folder, name + ".json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def kept(self, *reports):
        return [self.keep(report, shown("json", report)) for report in reports]

    def test_two_results_stand_beside_each_other(self):
        out, error = self.run_etwas("clocks", "--compare", *self.kept("laptop", "guest"))
        self.assertEqual(error, "")
        self.assertLessEqual(max(len(line) for line in out.splitlines()), 100)
        self.assertTrue(out.startswith("A  use tsc, 6.98 ns a stamp; "
                                       "the cycle counter is trusted."))
        self.assertIn("B  use qpc, 737 ns a stamp; the cycle counter is unusable.", out)
        self.assertIn("heron, ", out)
        self.assertIn("  only B: It was seen running backwards\n", out)
        self.assertIn("2,445,405,312 Hz in A, 2,999,103,411 Hz in B", out)
        rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()
                if line.split(" ")[0] in NAMES}
        costs = {line.split()[0]: line.split()[1:] for line in out.splitlines()
                 if line.split(" ")[0] in NAMES and len(line.split()) == 8}
        self.assertEqual(costs["tsc"], ["6.98", "288", "41.30", "113", "1,854", "8.21", "339"])
        self.assertEqual(costs["rdtscp"], ["10.3", "-", "-", "134", "-", "12.1", "-"])
        self.assertEqual(rows["tsc"][:3], ["0", "29.7", "µs"])
        self.assertNotIn("\x1b", out)

    def test_a_result_equals_itself(self):
        laptop, = self.kept("laptop")
        out, _ = self.run_etwas("clocks", "--compare", laptop, laptop)
        self.assertIn("the same speaks for and against it in both", out)
        result = json.loads(self.run_etwas("clocks", "--compare", "--json", laptop, laptop)[0])
        self.assertEqual({clock["cost_ratio"] for clock in result["clocks"]}, {1})
        self.assertEqual((result["reasons_only_a"], result["reasons_only_b"]), ([], []))

    def test_json_has_the_numbers_of_both_and_its_keys_are_documented(self):
        result = json.loads(self.run_etwas("clocks", "--compare", "--json",
                                           *self.kept("laptop", "guest"))[0])
        sides = [json.loads(shown("json", report)) for report in ("laptop", "guest")]
        self.assert_keys_documented("clocks", result)
        self.assertEqual(result["kind"], "clocks_comparison")
        for key, side in zip("ab", sides):
            for name in ("host", "system", "cpu_model", "recommended_clock", "verdict",
                         "frequency_hz", "examined"):
                self.assertEqual(result[key][name], side[name])
            for clock, whole in zip(result["clocks"], side["clocks"]):
                self.assertEqual(clock["clock"], whole["clock"])
                if not whole["available"]:
                    self.assertIsNone(clock[key])
                    continue
                self.assertEqual(clock[key]["back_to_back"], whole["back_to_back"])
                self.assertEqual(clock[key]["cold_p50"], whole["cold"]["p50"])
                self.assertEqual(clock[key]["smaller"],
                                 sum(pair["smaller"] for pair in whole["differences"]))
        texts = {reason["text"] for reason in sides[1]["reasons"]}
        self.assertLessEqual(set(result["reasons_only_b"]), texts)

    def test_what_this_machine_gives_can_be_compared(self):
        path = os.path.join(self.folder, "here.json")
        self.run_etwas("clocks", "--duration", "1", "--clocks", "qpc,tsc", "--json", "-o", path)
        out, _ = self.run_etwas("clocks", "--compare", path, *self.kept("numberless"))
        self.assertNotRegex(out, r"(?i)\b(nan|inf)\b")

    def test_what_is_no_result_is_refused_by_its_path(self):
        good, = self.kept("laptop")
        text = shown("json", "laptop")
        for name, wrong in (("empty", ""), ("cut", text[:-3]), ("list", "[]"), ("number", "3"),
                            ("kind", text.replace('"kind":"clocks"', '"kind":"stat"')),
                            ("verdict", text.replace('"verdict":"trusted"', '"verdict":"good"')),
                            ("clock", text.replace('"recommended_clock":"tsc"',
                                                   '"recommended_clock":"tai"')),
                            ("deep", "[" * 100_000)):
            with self.subTest(name=name):
                path = self.keep(name, wrong)
                for files in ((path, good), (good, path)):
                    _, error = self.run_etwas("clocks", "--compare", *files, expect=FAILED)
                    self.assertIn(path, error)
                    self.assertIn("etwas clocks --json -o FILE", error)
        _, error = self.run_etwas("clocks", "--compare", good, self.folder + "/missing",
                                  expect=FAILED)
        self.assertIn("/missing: No such file", error)

    def test_values_of_other_types_are_unknown(self):
        report = json.loads(shown("json", "laptop"))
        for clock in report["clocks"]:
            clock.update(back_to_back="fast", warm=[], cold=7, differences={"a": 1}, unit=None,
                         against_raw="no")
        report.update(cpus="many", reasons=[{"bit": -1}, {"bit": 2**62}, 5], host=9,
                      frequency_hz=-4)
        path = self.keep("odd", json.dumps(report))
        out, _ = self.run_etwas("clocks", "--compare", path, *self.kept("laptop"))
        self.assertIn("a machine without a name", out)
        self.assertIn("an unknown rate in A", out)

    def test_a_wrong_call_is_reported(self):
        good, = self.kept("laptop")
        for arguments, word in (([good], "two files"), ([], "two files"),
                                ([good, good, good], "two files"),
                                ([good, good, "--clocks", "qpc"], "--json and --output alone"),
                                ([good, good, "--html", "-o", "x"], "--json and --output alone")):
            _, error = self.run_etwas("clocks", "--compare", *arguments, expect=FAILED)
            self.assertIn(word, error)


if __name__ == "__main__":
    sys.exit(main())
