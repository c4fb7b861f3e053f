# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The page of `etwas clocks`, of made-up reports (clocks_reports.h): as it is written, and as a
browser shows it.

usage: clocks_page_test.py PATH_OF_ETWAS PATH_OF_CLOCKS_SHOW TEST_CLASS
"""

import collections
import json
import re
import sys

from browser import LAYOUT
from clocks_test import NEEDS_D3, REPORTS, shown
from page_case import PageTest, PlotsTest, told
from tool_case import main

PRINT = [{"name": "prefers-color-scheme", "value": "dark"}]


@NEEDS_D3
class Page(PageTest):
    def test_its_data_is_what_json_says_and_it_loads_and_runs_nothing_else(self):
        for report in REPORTS:
            with self.subTest(report=report):
                page = shown("html", report)
                self.check_data(page, json.loads(shown("json", report)))
                self.check_elements(page)
        self.check_policy(shown("html", "guest"))

    def test_d3_is_there_with_its_license(self):
        page = shown("html", "single")
        self.assertIn("Mike Bostock", page)
        self.assertIn("Redistributions in binary form must reproduce", page)


@NEEDS_D3
class Browser(PlotsTest):
    def open(self, report, *sources, **options):
        self.browser.open(self.write("page.html", shown("html", report, *sources).encode()),
                          **options)
        self.browser.settle()

    def rows(self):
        """The tables by caption: of each row's name what stands behind it."""
        tables = self.page(
            "[...document.querySelectorAll('table')].map(table => [table.caption.textContent,"
            " [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => "
            "cell.textContent))])")
        return {caption: {row[0]: told(" ".join(row[1:])).split() for row in rows}
                for caption, rows in tables}

    def test_no_page_complains_or_has_text_over_other_text_or_cut_off_on_wide_and_narrow_windows(
            self):
        for report in REPORTS:
            for width in (1400, 400):
                with self.subTest(report=report, width=width):
                    self.open(report, width=width)
                    self.assertEqual(self.browser.complaints, [])
                    self.assertGreater(
                        self.page("document.querySelectorAll('main section').length"), 6)
                    self.assertEqual(self.page(LAYOUT), [])

    def test_its_tables_have_the_figures_of_those_on_the_terminal(self):
        captions = {"Cost of one reading in": "Cost of one reading, ns",
                    "Resolution": "Steps between readings one after the other",
                    "Order across processors": "Order across processors",
                    "Monotony": "Monotony over the examination", "Drift": "Drift, ppm",
                    "Conversion": "Error of converted stamps"}
        for report in ("laptop", "guest", "server", "numberless"):
            self.open(report)
            rows = self.rows()
            text, compared = shown("text", report), 0
            for title, caption in captions.items():
                part = text[text.index("\n" + title) + 1:].split("\n\n")[0].splitlines()
                for name, figures in rows[caption].items():
                    line, = [line for line in part if re.match(rf" *{re.escape(name)}  ", line)]
                    words = line.lstrip()[len(name):].split()
                    if title == "Resolution":
                        words = words[:-7] if "to" in words[-7:] else words[:6]
                    self.assertFalse(collections.Counter(words) - collections.Counter(figures),
                                     (report, title, line))
                    compared += 1
            self.assertGreater(compared, 40)

    def test_its_plots_hold_the_numbers_of_json(self):
        for report in ("laptop", "guest"):
            self.open(report)
            data = json.loads(shown("json", report))
            clocks = [clock for clock in data["clocks"] if clock["available"]]
            duration = lambda ns: told(self.page(f"words.duration({json.dumps(ns)})"))
            said = self.points("cost-plot")
            self.assertEqual([each.split("\n")[0] for each in said],
                             [clock["name"] for clock in clocks])
            for clock, each in zip(clocks, said):
                for key in ("p50", "mean", "p99", "max"):
                    self.assertIn(duration(clock["warm"][key]), each)
            hills = self.page("document.querySelectorAll('#cost-plot .hill').length")
            self.assertEqual(hills, sum(len([b for b in clock["warm_histogram"] if b["count"]])
                                        for clock in clocks))
            bins = [b for b in clocks[1]["steps"] if b["count"] > 0]
            said = self.points("steps-system")
            self.assertEqual([int(re.search(r": ([\d,]+) \(", each)[1].replace(",", ""))
                              for each in said],
                             [b["count"] for b in bins])
            cells = self.page("d3.selectAll('#order-qpc .ahead, #order-qpc .behind').size() - 21")
            self.assertEqual(cells, 2 * len(clocks[0]["differences"]))
            said = self.points("conversion-plot")
            self.assertEqual(len(said), 4)
            for key, each in zip(("second", "minute", "hour", "day"), said):
                for conversion in data["conversions"]:
                    self.assertIn(
                        f"{conversion['name']}: {duration(abs(conversion[f'after_{key}']))}",
                        each)

    def test_places_in_a_plot_are_those_of_the_values(self):
        self.open("laptop")
        clocks = json.loads(shown("json", "laptop"))["clocks"]
        dots = self.page(
            "[...document.querySelectorAll('#cost-plot .dot')].map(dot => +dot.getAttribute('cx'))")
        order = sorted(range(len(clocks)), key=lambda i: clocks[i]["cold"]["p50"])
        self.assertEqual(sorted(dots), [dots[i] for i in order])
        # On a logarithmic axis a ratio is a distance.
        marks = self.page("[...document.querySelectorAll('#cost-plot .tick.middle')].map("
                          "mark => [mark.textContent, +mark.getAttribute('x')])")
        self.assertEqual([told(name) for name, _ in marks[:3]], ["1 ns", "10 ns", "100 ns"])
        decade = marks[1][1] - marks[0][1]
        for clock, dot in zip(clocks, dots):
            self.assertAlmostEqual(10 ** ((dot - marks[0][1]) / decade) / clock["cold"]["p50"],
                                   1, places=6)

        # The height of a bin is the root of its share, of the first clock's as of all.
        bins = [bin["count"] for bin in clocks[0]["warm_histogram"] if bin["count"] > 0]
        heights = self.page(
            f"[...document.querySelectorAll('#cost-plot .hill')].slice(0, {len(bins)})"
            ".map(hill => +hill.getAttribute('height'))")
        for count, height in zip(bins, heights):
            self.assertAlmostEqual(height / max(heights),
                                   max((count / max(bins)) ** 0.5, 1.2 / max(heights)), places=6)

    def test_the_worst_pairs_come_first(self):
        self.open("guest")
        rows = self.rows()["TSC: all pairs, worst first"]
        smaller = [int(figures[-4].replace(",", "")) for figures in rows.values()]
        self.assertEqual(len(smaller), 6)
        self.assertEqual(smaller, sorted(smaller, reverse=True))

    def test_what_a_machine_says_of_itself_is_text(self):
        self.open("guest")
        self.assertEqual(self.page("document.title"), "Clocks of <img src=x>&amp;")
        words = self.page("document.querySelector('main').textContent")
        for name in ("<img src=x>&amp;", "Virtual \"CPU\" <3>", "<b>\"acpi&pm'", "</script>\ufffd",
                     "a < b & \"c\"", "\\x1b[31mred",
                     "QPC: 1 of 6 pairs could not be compared, nothing is known of them"):
            self.assertIn(name, words)
        self.assertEqual(
            self.page("document.querySelectorAll('main img, main script, dd *').length"), 0)

    def test_a_script_that_is_not_its_own_does_not_run(self):
        page = shown("html", "single").replace("</body>",
                                               "<script>document.title = 'other';</script></body>")
        self.browser.open(self.write("page.html", page.encode()))
        self.browser.settle()
        self.assertEqual(self.page("document.title"), "Clocks of wren")
        self.assertIn("Content Security Policy", " ".join(self.browser.complaints))

    def test_the_keyboard_reaches_every_plot_and_table_and_goes_from_point_to_point(self):
        self.open("laptop")
        wanted = set(self.page("[...document.querySelectorAll('figure > svg')].map(svg => svg.id)"))
        tables = self.page("document.querySelectorAll('.scroll').length")
        reached, regions = set(), 0
        for _ in range(len(wanted) + tables + 2):
            self.browser.key("Tab")
            at = self.page("document.activeElement.id || document.activeElement.className")
            reached.add(at)
            regions += at == "scroll"
            if at in wanted:
                self.assertEqual(self.page("document.activeElement.getAttribute('tabindex')"), "0")
                outline = self.page("getComputedStyle(document.activeElement).outlineStyle")
                self.assertNotEqual(outline, "none")
        self.assertLessEqual(wanted, reached)
        self.assertEqual(regions, tables)
        self.page("document.getElementById('cost-plot').focus()")
        tip = "document.querySelector('#cost-plot ~ .tip').textContent"
        self.browser.key("ArrowRight")
        self.assertIn("QPC", self.page(tip))
        self.browser.key("End")
        self.assertIn("CLOCK_THREAD_CPUTIME_ID", self.page(tip))
        self.browser.key("Escape")
        self.assertEqual(self.page(tip), "")

    def test_it_is_light_or_dark_as_the_reader_likes_and_legible_in_both(self):
        for dark in (False, True):
            self.open("guest", dark=dark)
            colours = self.page("""(() => {
                const style = getComputedStyle(document.documentElement);
                const series = d3.range(8).map(i => 's' + i);
                const names = ['page', 'sheet', 'ink', 'muted', 'good', 'doubt', 'bad', ...series];
                return Object.fromEntries(names.map(name => {
                    const {r, g, b} = d3.rgb(style.getPropertyValue('--' + name).trim());
                    return [name, [r, g, b]];
                }));
            })()""")
            shown_page = self.page("getComputedStyle(document.body).backgroundColor")
            self.assertEqual(shown_page, "rgb({}, {}, {})".format(*colours["page"]))
            self.assertEqual(dark, luminance(colours["page"]) < 0.05)
            for name, colour in colours.items():
                if name not in ("page", "sheet"):
                    # What WCAG asks of text.
                    self.assertGreaterEqual(contrast(colour, colours["sheet"]), 4.5, (dark, name))

    def test_on_paper_it_is_light_and_nothing_is_cut_off(self):
        self.open("laptop", width=720, dark=True)
        self.browser.call("Emulation.setEmulatedMedia", media="print", features=PRINT)
        self.browser.settle()
        self.assertEqual(self.page("getComputedStyle(document.body).backgroundColor"),
                         "rgb(255, 255, 255)")
        self.assertEqual(self.page("getComputedStyle(document.querySelector('h1')).color"),
                         "rgb(27, 31, 36)")
        self.assertEqual(self.page(LAYOUT), [])
        paper = self.browser.pdf()
        self.browser.call("Emulation.setEmulatedMedia", media="", features=[])
        self.assertTrue(paper.startswith(b"%PDF-"))
        self.assertGreater(paper.count(b"/Type /Page\n"), 2)

    def test_a_page_of_some_clocks_shows_no_others(self):
        self.open("laptop", 6, 10)
        words = self.page(
            "[...document.querySelectorAll('td, th, svg text')].map(e => e.textContent).join(' ')")
        self.assertIn("CLOCK_BOOTTIME", words)
        self.assertNotIn("CLOCK_TAI", words)
        self.assertNotIn("QPC", words)
        self.assertEqual(self.page("document.querySelectorAll('figure > svg[id^=order-]').length"),
                         2)


def luminance(colour):
    parts = [each / 255 for each in colour]
    red, green, blue = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4
                        for each in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


if __name__ == "__main__":
    sys.exit(main())
