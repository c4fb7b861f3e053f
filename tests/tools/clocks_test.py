# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas clocks`: its command line, and what it shows of made-up reports (clocks_reports.h).

usage: clocks_test.py PATH_OF_ETWAS PATH_OF_CLOCKS_SHOW TEST_CLASS
"""

import html.parser
import json
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import zlib

from tool_case import OPEN, OUTPUT, USAGE, ToolTest, main

SHOW = sys.argv[2]
REPORTS = ("laptop", "guest", "single", "server", "nothing", "numberless")
NAMES = ("qpc", "system", "tsc", "rdtscp", "lfence+rdtsc", "monotonic", "monotonic-raw",
         "monotonic-coarse", "realtime", "realtime-coarse", "boottime", "tai", "thread-cputime")
SVG = "http://www.w3.org/2000/svg"
# Elements of HTML that have no end, and those of SVG that the page always closes at once.
VOID = {"meta", "br", "link", "img"}


def shown(form, report, *sources):
    result = subprocess.run([SHOW, form, report, *map(str, sources)], check=True, timeout=60,
                            stdout=subprocess.PIPE)
    return result.stdout.decode("utf-8")


class Command(ToolTest):
    def test_the_help_names_every_option_and_clock_and_fits_80_columns(self):
        out, error = self.run_etwas("clocks", "--help")
        self.assertTrue(out.startswith("usage: etwas clocks"))
        self.assertEqual(error, "")
        self.assertLessEqual(max(len(line) for line in out.splitlines()), 80)
        for word in ("--seconds", "--clock", "--json", "--html", *NAMES):
            self.assertIn(word, out)
        general, _ = self.run_etwas("--help")
        self.assertIn("etwas clocks", general)

    def test_a_wrong_call_is_told_before_anything_is_examined(self):
        path = os.path.join(self.folder, "page.html")
        for arguments, word in ((["--seconds", "0"], "'0'"), (["--seconds", "0.5"], "'0.5'"),
                                (["--seconds", "3601"], "'3601'"), (["--seconds", "x"], "'x'"),
                                (["--seconds", "-2"], "'-2'"), (["--seconds", "inf"], "'inf'"),
                                (["--seconds", "0x10"], "'0x10'"), (["--seconds", ""], "''"),
                                (["--seconds", "1.2.3"], "'1.2.3'"), (["--seconds"], "seconds"),
                                (["--clock", "hpet"], "'hpet'"), (["--clock", ""], "''"),
                                (["--clock", "qpc,"], "''"), (["--clock", "qpc,tscx"], "'tscx'"),
                                (["--html"], "html"), (["--html", path, "trace.etl"], "trace.etl"),
                                (["--frob"], "frob")):
            with self.subTest(arguments=arguments):
                out, error = self.run_etwas("clocks", *arguments, expect=USAGE)
                self.assertEqual(out, "")
                self.assertIn(word, error)
                self.assertIn("See 'etwas clocks --help'", error)
        self.assertFalse(os.path.exists(path))

    def test_an_unknown_clock_is_answered_with_those_there_are(self):
        _, error = self.run_etwas("clocks", "--clock", "hpet", expect=USAGE)
        for name in NAMES:
            self.assertIn(name, error)

    def test_clocks_are_found_by_their_names_in_c_too_and_only_they_are_shown(self):
        out, _ = self.run_etwas("clocks", "-s", "1", "-c", "Clock_Monotonic,rdtsc", "-c", "QPC", "--json")
        report = json.loads(out)
        self.assertEqual([clock["clock"] for clock in report["clocks"]],
                         ["qpc", "tsc", "monotonic"])
        self.assertTrue(report["clocks"][0]["available"])
        self.assertGreater(report["clocks"][0]["warm"]["median"], 0)
        self.assertIn(report["verdict"], ("trusted", "doubtful", "unusable"))
        self.assertIn(report["recommended_clock"], (1, 2, 3))
        self.assertRegex(report["examined"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(report["host"], os.uname().nodename)

    def test_the_page_replaces_what_was_in_the_file_and_the_tables_are_shown_too(self):
        path = os.path.join(self.folder, "page.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write("old " * 1_000_000)
        out, _ = self.run_etwas("clocks", "--seconds", "1", "--clock", "qpc,tsc", "--html", path)
        self.assertIn("Cost of one reading", out)
        with open(path, encoding="utf-8") as file:
            page = file.read()
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        self.assertTrue(page.endswith("</html>\n"))
        self.assertNotIn("old old", page)

    def test_a_page_that_cannot_be_written_is_told_at_once(self):
        path = os.path.join(self.folder, "missing", "page.html")
        out, error = self.run_etwas("clocks", "--seconds", "3600", "--html", path, expect=OUTPUT)
        self.assertEqual(out, "")
        self.assertIn(path, error)

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "wb") as full:
            _, error = self.run_etwas("clocks", "-s", "1", "-c", "qpc", expect=OUTPUT, stdout=full)
        self.assertIn("cannot write the output", error)
        _, error = self.run_etwas("clocks", "-s", "1", "-c", "qpc", "--html", "/dev/full", expect=OUTPUT)
        self.assertIn("'/dev/full'", error)


class Starved(ToolTest):
    """Not with sanitizers: they need far more memory."""

    def test_without_memory_for_threads_nothing_is_shown_and_no_file_is_touched(self):
        new, old = (os.path.join(self.folder, name) for name in ("new.html", "old.html"))
        with open(old, "w", encoding="utf-8") as file:
            file.write("old")

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (32 << 20, 32 << 20))

        for path in (new, old):
            out, error = self.run_etwas("clocks", "-s", "1", "--html", path, expect=OPEN, preexec_fn=limit)
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

    def test_the_answer_comes_first_then_the_verdict_then_what_was_measured(self):
        text = shown("text", "laptop")
        places = [text.index(words) for words in (
            "heron", "Use ClientContext 3", "Ask for ClientContext 3", "(TSC) is trusted",
            "Cost of one reading", "Resolution", "Order across processors", "Monotony", "Drift",
            "Conversion")]
        self.assertEqual(places, sorted(places))

    def test_costs_are_those_of_the_report(self):
        rows = {line[2:26].strip(): line[26:].split()
                for line in self.part(shown("text", "laptop"), "Cost of one reading")}
        self.assertEqual(rows["TSC"][:7], ["6.98", "7.45", "6.70", "7.20", "8.21", "13.2", "23,088"])
        self.assertEqual(rows["CLOCK_THREAD_CPUTIME_ID"][-2:], ["1,342", "2,013"])

    def test_the_unit_of_single_timings_and_what_a_clock_moves_by_are_told(self):
        text = shown("text", "laptop")
        self.assertIn("single readings are timed in steps of 10.0 ns", text)
        rows = {line[2:26].strip(): line[26:]
                for line in self.part(text, "Resolution")}
        self.assertRegex(rows["TSC"], r"^ +0\.41 ns +0\.41 ns +10\.0 ns ")
        self.assertNotIn("timed in steps", shown("text", "nothing"))

    def test_pairs_that_could_not_be_compared_are_told(self):
        words = "QPC: 1 of 6 pairs could not be compared, nothing is known of them"
        self.assertIn(words, shown("text", "guest"))
        self.assertIn(words, shown("html", "guest"))
        self.assertEqual(json.loads(shown("json", "guest"))["clocks"][0]["offsets_left_out"], 1)
        self.assertNotIn("could not be compared", shown("text", "laptop"))

    def test_processors_are_counted_of_those_online(self):
        self.assertIn("64 of 256 online processors examined, for ", shown("text", "server"))
        self.assertIn("1 of 1 online processor examined, for ", shown("text", "single"))

    def test_a_clock_that_is_not_there_is_named_and_has_no_row(self):
        text = shown("text", "guest")
        self.assertIn("not available here: rdtscp, tai", text)
        self.assertNotRegex(text, r"(?m)^  rdtscp  ")

    def test_offsets_are_above_the_diagonal_and_bounds_below_it(self):
        report = json.loads(shown("json", "laptop"))
        pairs = {(pair["processor"], pair["other"]): pair
                 for pair in report["clocks"][2]["offsets"]}
        lines = shown("text", "laptop").splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith("  TSC, ns: above"))
        self.assertEqual(lines[first + 1].split(), ["CPU", *map(str, range(8))])
        for row in range(8):
            cells = lines[first + 2 + row].split()[1:]
            for column in range(8):
                pair = pairs.get((min(row, column), max(row, column)))
                if pair is None:
                    self.assertEqual(cells[column], "·")
                elif column > row:
                    self.assertAlmostEqual(float(cells[column]), pair["offset_ns"], delta=0.006)
                else:
                    self.assertAlmostEqual(float(cells[column][1:]), pair["bound_ns"], delta=0.06)

    def test_many_processors_are_summed_up_and_the_worst_pairs_named(self):
        text = shown("text", "server")
        self.assertIn("TSC: the worst of 672 pairs; not all pairs were examined", text)
        self.assertNotIn("diagonal", text)

    def test_the_worst_pair_is_the_first_of_them(self):
        report = json.loads(shown("json", "server"))
        pairs = report["clocks"][2]["offsets"]
        worst = max(pairs, key=lambda pair: abs(pair["offset_ns"]) - pair["bound_ns"])
        lines = shown("text", "server").splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith("  TSC: the worst"))
        self.assertEqual(lines[first + 2].split()[:2], [str(worst["processor"]), str(worst["other"])])

    def test_one_processor_has_no_order(self):
        self.assertEqual(self.part(shown("text", "single"), "Order across processors"),
                         ["  one processor: there is nothing to compare"])

    def test_a_clock_asked_for_by_name_is_shown_in_full_and_no_other(self):
        text = shown("text", "laptop", 10)
        self.assertIn("CLOCK_BOOTTIME, ns: above the diagonal", text)
        self.assertNotRegex(text, r"(?m)^  QPC  ")

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
    def keys(self, value):
        if isinstance(value, dict):
            for key, inner in value.items():
                yield key
                yield from self.keys(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from self.keys(inner)

    def test_every_key_is_in_the_help(self):
        out, _ = self.run_etwas("clocks", "--help")
        words = set(re.findall(r"\w+", out))
        for report in REPORTS:
            self.assertEqual(set(self.keys(json.loads(shown("json", report)))) - words, set())

    def test_it_is_one_object_on_one_line(self):
        for report in REPORTS:
            text = shown("json", report)
            self.assertEqual(text.count("\n"), 1)
            self.assertIsInstance(json.loads(text), dict)

    def test_values_are_those_of_the_report(self):
        report = json.loads(shown("json", "guest"))
        self.assertEqual((report["verdict"], report["recommended_clock"], report["clocksource"],
                          report["available_clocksources"], report["hypervisor"]),
                         ("unusable", 1, "<b>\"acpi&pm'", "acpi_pm \x1b[31mred", "</script>\ufffd"))
        self.assertEqual(report["processors"], [0, 1, 2, 3])
        self.assertEqual([reason["against"] for reason in report["reasons"]], [False] + [True] * 6)
        tsc = report["clocks"][2]
        self.assertEqual((tsc["backward_steps"], tsc["largest_backward_ns"], tsc["stalls"],
                          tsc["against_raw"]["ppm"], len(tsc["offsets"])),
                         (1841, 40213, 3, 512.4, 6))
        self.assertEqual(report["clocks"][3], {"clock": "rdtscp", "name": "rdtscp",
                                               "available": False})
        self.assertEqual([clock["clock"] for clock in report["clocks"]], list(NAMES))
        self.assertEqual(report["conversions"][1]["after_day_ns"], -34.5e3 * 90000)

    def test_what_is_not_a_number_or_not_known_is_null(self):
        report = json.loads(shown("json", "numberless"), parse_constant=self.fail)
        self.assertIsNone(report["clocks"][0]["warm"]["median"])
        self.assertIsNone(report["seconds"])
        nothing = json.loads(shown("json", "nothing"))
        self.assertIsNone(nothing["hypervisor"])
        self.assertEqual(nothing["conversions"], [])


class Parser(html.parser.HTMLParser):
    """Fails on what is not nested as it should be; collects elements and text."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts, self.faults = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), [name for name, _ in self.open]))
        if len(dict(attrs)) != len(attrs):
            self.faults.append(f"an attribute of {tag} twice")
        if tag not in VOID:
            self.open.append((tag, len(self.elements) - 1))

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), [name for name, _ in self.open]))
        if "svg" not in [name for name, _ in self.open]:
            self.faults.append(f"{tag} closed as in SVG")

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.faults.append(f"{tag} ends at {self.getpos()}, open: {self.open[-3:]}")
        else:
            self.open.pop()

    def handle_data(self, data):
        if data.strip():
            self.texts.append(([name for name, _ in self.open], data))


def parsed(report, *sources):
    page = Parser()
    page.feed(shown("html", report, *sources))
    page.close()
    return page


class Page(ToolTest):
    def test_every_page_is_well_formed(self):
        for report in REPORTS:
            with self.subTest(report=report):
                page = parsed(report)
                self.assertEqual(page.faults, [])
                self.assertEqual(page.open, [])
                ids = [attrs["id"] for _, attrs, _ in page.elements if "id" in attrs]
                self.assertEqual(len(ids), len(set(ids)))
                for _, attrs, _ in page.elements:
                    for name in attrs.get("aria-labelledby", "").split():
                        self.assertIn(name, ids)

    def test_it_needs_no_network_no_script_and_no_other_file(self):
        for report in REPORTS:
            text = shown("html", report)
            self.assertEqual(text.replace(f'xmlns="{SVG}"', "").count("http"), 0)
            for tag, attrs, _ in parsed(report).elements:
                self.assertNotIn(tag, ("script", "link", "img", "iframe", "object", "base"))
                self.assertTrue(attrs.keys().isdisjoint({"src", "href", "xlink:href", "onload"}))
            self.assertNotRegex(text, r"url\(|@import|@font-face")

    def test_what_the_machine_says_of_itself_is_text(self):
        page = parsed("guest")
        words = " ".join(text for _, text in page.texts)
        for name in ("<img src=x>&amp;", "Virtual \"CPU\" <3>", "<b>\"acpi&pm'", "</script>\\xff",
                     "a < b & \"c\"", "\\x1b[31mred"):
            self.assertIn(name, words)

    def test_every_plot_has_a_title_a_text_and_figures_inside_it(self):
        for report in REPORTS:
            page = parsed(report)
            width = height = 0
            for tag, attrs, inside in page.elements:
                if tag == "svg":
                    self.assertEqual(attrs["role"], "img")
                    self.assertEqual(len(attrs["aria-labelledby"].split()), 2)
                    width, height = map(float, attrs["viewbox"].split()[2:])
                elif "svg" in inside:
                    for name, limit in (("x", width), ("y", height), ("x1", width), ("x2", width),
                                        ("y1", height), ("y2", height), ("cx", width),
                                        ("cy", height)):
                        if name in attrs:
                            self.assertTrue(0 <= float(attrs[name]) <= limit, (report, tag, attrs))
                    points = re.findall(r"[^ ,]+", attrs.get("points", ""))
                    for i, point in enumerate(points):
                        self.assertTrue(0 <= float(point) <= (height if i % 2 else width))

    def test_every_table_has_a_caption_and_rows_as_long_as_its_head(self):
        for report in REPORTS:
            columns, count = 0, None
            page = parsed(report)
            captions = sum(tag == "caption" for tag, _, _ in page.elements)
            self.assertEqual(captions, sum(tag == "table" for tag, _, _ in page.elements))
            for tag, attrs, inside in page.elements + [("tr", {}, ["tbody"])]:
                if tag == "table":
                    self.assertIn(count, (None, columns))
                    columns, count = 0, None
                elif tag in ("th", "td") and "thead" in inside:
                    self.assertEqual(attrs["scope"], "col")
                    columns += 1
                elif tag == "tr" and "tbody" in inside:
                    self.assertIn(count, (None, columns))
                    count = 0
                elif tag in ("th", "td"):
                    count += 1

    def test_it_says_the_same_as_the_tables_on_the_terminal(self):
        words = " ".join(text for _, text in parsed("laptop").texts)
        report = json.loads(shown("json", "laptop"))
        for text in (report["recommendation"], report["verdict_text"], "trusted", "heron",
                     "2,445,405,312 Hz ± 0.420 ppm", "CLOCK_THREAD_CPUTIME_ID", "15,738"):
            self.assertIn(text, words)

    def test_a_page_of_some_clocks_shows_no_others(self):
        words = " ".join(text for path, text in parsed("laptop", 6, 10).texts if "td" in path or
                         "th" in path or "text" in path)
        self.assertIn("CLOCK_BOOTTIME", words)
        self.assertNotIn("CLOCK_TAI", words)
        self.assertNotIn("QPC", words)


# Finds, in a browser, what a reader would see: text outside its plot or over other text, and a page
# wider than the window.
LAYOUT = """<script>
const faults = [];
if (document.documentElement.scrollWidth > innerWidth)
    faults.push('page wider than the window: ' + document.documentElement.scrollWidth);
for (const svg of document.querySelectorAll('svg')) {
    const edge = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll('text')].map(t => [t.textContent,
        t.getBoundingClientRect()]);
    for (const [text, box] of boxes)
        if (box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top - 1 ||
            box.bottom > edge.bottom + 1)
            faults.push(text + ' is outside');
    for (let i = 0; i < boxes.length; i++)
        for (let k = 0; k < i; k++) {
            const a = boxes[i][1], b = boxes[k][1];
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            // Boxes have room above and below the letters.
            if (wide > 1 && high > 0.35 * Math.min(a.height, b.height))
                faults.push(boxes[i][0] + ' is over ' + boxes[k][0]);
        }
}
document.body.innerHTML = '<pre id="faults"></pre>';
document.getElementById('faults').textContent = JSON.stringify(faults);
</script></body>"""


class Browser(ToolTest):
    """Skipped where there is no chromium."""

    def setUp(self):
        super().setUp()
        self.chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        if self.chromium is None:
            self.skipTest("there is no chromium")

    def run_browser(self, page, *arguments, width, dark=False):
        path = os.path.join(self.folder, "page.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        result = subprocess.run(
            [self.chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--hide-scrollbars", f"--user-data-dir={self.folder}/profile",
             f"--blink-settings=preferredColorScheme={0 if dark else 1}",
             f"--window-size={width},900", *arguments, f"file://{path}"],
            check=True, timeout=100, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return result.stdout.decode("utf-8")

    def background(self, dark):
        """The colour of the page's first pixel: no filter of PNG changes that one."""
        path = os.path.join(self.folder, "page.png")
        self.run_browser(shown("html", "laptop"), f"--screenshot={path}", width=800, dark=dark)
        with open(path, "rb") as file:
            data = file.read()
        self.assertEqual(struct.unpack(">II", data[16:24]), (800, 900))
        packed, place = b"", 8
        while place < len(data):
            length, kind = struct.unpack(">I4s", data[place:place + 8])
            if kind == b"IDAT":
                packed += data[place + 8:place + 8 + length]
            place += 12 + length
        return tuple(zlib.decompress(packed)[1:4])

    def test_it_is_light_or_dark_as_the_reader_likes(self):
        self.assertGreater(min(self.background(dark=False)), 200)
        self.assertLess(max(self.background(dark=True)), 60)

    def test_no_text_is_over_another_or_cut_off_on_wide_and_narrow_windows(self):
        for report in ("laptop", "guest", "single", "server"):
            for width in (1400, 400):
                with self.subTest(report=report, width=width):
                    page = shown("html", report).replace("</body>", LAYOUT)
                    out = self.run_browser(page, "--dump-dom", width=width)
                    faults = re.search(r'<pre id="faults">(.*?)</pre>', out, re.S).group(1)
                    self.assertEqual(json.loads(faults), [])


if __name__ == "__main__":
    sys.exit(main())
