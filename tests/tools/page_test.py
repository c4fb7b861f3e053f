# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What pages are made of (tools/page), with data and scripts of the test's own, in a browser.

usage: page_test.py PATH_OF_ETWAS PATH_OF_PAGE_SHOW TEST_CLASS
"""

import base64
import hashlib
import json
import re
import subprocess
import sys

from browser import LAYOUT, BrowserTest
from tool_case import main

SHOW = sys.argv[2]
HOSTILE = ["</script><script>document.title = 'gone'</script>", "<!--<script>", "]]>",
           "\u2028\u2029", "\\u003c", "<img src=x onerror=\"document.title = 'gone'\">",
           "&lt;&amp;", "\x1b[31m", "\u202eabc", "\x00", "'\"`${1}"]

LINES = """words.draw((data, main) => charts.lines(words.section(main, 'a', 'Lines'), {
    id: 'plot', title: 'Lines', text: 'lines', x: {label: 'time', format: words.roundDuration},
    y: {label: 'events', format: words.roundCount, tell: words.count}, ...data}));"""
HEAT = """words.draw((data, main) => charts.heat(words.section(main, 'a', 'Heat'), {
    id: 'plot', title: 'Heat', text: 'cells', x: {label: 'time', format: words.roundDuration},
    y: {label: 'duration', log: true, format: words.roundDuration}, ...data}));"""
TIMELINE = """words.draw((data, main) => timeline(words.section(main, 'a', 'Time line'), {
    id: 'plot', title: 'Spans', text: 'spans', label: 'time', format: words.roundDuration,
    tell: (of) => of.at === undefined ? `${of.name}: ${of.to - of.from}` : `at ${of.at}`,
    ...data}));"""
SPANS = {"from": 0, "to": 1000, "rows": ["thread 1", "", "thread 2"],
         "events": [{"row": 1, "at": 250}], "spans": [
             {"row": 0, "from": 0, "to": 1000, "name": "whole", "look": "s0"},
             {"row": 1, "from": 200, "to": 400,
              "name": "a part with a long name, longer than its span is wide", "look": "s1"},
             {"row": 2, "from": 500, "to": 500, "name": "at once", "look": "s2"}]}


class Page(BrowserTest):
    def show(self, script, data, title="Page", width=800):
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        digest = "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        result = subprocess.run([SHOW, title, script, digest], input=text.encode(), check=False,
                                timeout=60, stdout=subprocess.PIPE)
        if result.returncode == 77:
            self.skipTest("it was built without d3")
        self.assertEqual(result.returncode, 0)
        self.browser.open(self.write("page.html", result.stdout), width=width)
        self.browser.settle()

    def page(self, expression):
        return self.browser.evaluate(expression)

    def key(self, *names):
        for name in names:
            self.browser.key(name)

    def tip(self):
        return self.page("document.querySelector('.tip').textContent").replace("\u00a0", " ")

    def numbers(self, selector, attribute):
        """All numbers in an attribute of the first element."""
        text = self.page(
            f"document.querySelector({json.dumps(selector)}).getAttribute('{attribute}')")
        return [float(each) for each in re.findall(r"-?[\d.]+", text)]

    def boxes(self, selector):
        return self.page(f"[...document.querySelectorAll({json.dumps(selector)})].map(box => "
                         "['x', 'y', 'width', 'height'].map(name => +box.getAttribute(name)))")

    def test_hostile_strings_arrive_as_text_whatever_is_in_them(self):
        script = """words.draw((data, main) => {
            words.table(words.section(main, 'a', data[0]), data[0], data, [data]);
            charts.lines(main, {id: 'plot', title: data[0], text: data[1],
                x: {label: data[0], format: () => data[0]},
                y: {label: data[1], format: () => data[1]},
                series: data.map(name => ({name, points: [[0, 1], [1, 2]]}))});
        });"""
        self.show(script, HOSTILE, title=HOSTILE[0])
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual(self.page("document.title"), HOSTILE[0])
        seen = [each.replace("\u2028\u2029", "\\u{2028}\\u{2029}").replace("\x1b", "\\x1b")
                .replace("\u202e", "\\u{202e}")
                .replace("\x00", "\\x00") for each in HOSTILE]
        self.assertEqual(
            self.page("[...document.querySelectorAll('tbody th, tbody td')]"
                      ".map(e => e.textContent)"), seen)
        self.assertEqual(
            self.page("[...document.querySelectorAll('.legend span')].map(e => e.textContent)"),
            seen)
        self.assertEqual(self.page("document.querySelectorAll('main script, main img').length"), 0)
        raw = "JSON.parse(document.getElementById('data').textContent)"
        self.assertEqual(self.page(raw), HOSTILE)

    def test_data_that_is_cut_off_is_reported(self):
        self.show(LINES, '{"series": [')
        self.assertIn("damaged", self.page("document.querySelector('main').textContent"))

    def test_lines_are_where_their_values_are_and_end_at_gaps(self):
        self.show(LINES, {"series": [{"name": "a", "points": [[0, 10], [100, 20], [200, None],
                                                              [300, 5], [400, 40]]}]})
        path = self.page("document.querySelector('.line').getAttribute('d')")
        parts = [[tuple(map(float, point.split(","))) for point in part.split("L")]
                 for part in path.split("M")[1:]]
        self.assertEqual([len(part) for part in parts], [2, 2])
        (x0, y10), (x1, y20), (x3, y5), (x4, y40) = parts[0] + parts[1]
        self.assertAlmostEqual((x1 - x0) * 3, x3 - x0, places=1)
        self.assertAlmostEqual((x1 - x0) * 4, x4 - x0, places=1)
        self.assertAlmostEqual((y10 - y40) / 30, (y10 - y20) / 10, places=1)
        self.assertAlmostEqual((y5 - y10) / 5, (y10 - y20) / 10, places=1)
        self.page("document.getElementById('plot').focus()")
        self.key("ArrowRight", "ArrowRight")
        self.assertEqual(self.tip(), "100 ns\n20")
        self.key("ArrowRight")
        self.assertEqual(self.tip(), "300 ns\n5")

    def test_a_point_between_two_gaps_is_a_dot(self):
        self.show(LINES, {"series": [{"name": "a", "points": [[0, None], [1, 7], [2, None], [3, 1],
                                                              [4, 2]]}]})
        self.assertEqual(self.page("document.querySelectorAll('.dot').length"), 1)

    def test_stacked_areas_begin_where_the_one_below_ends(self):
        self.show(LINES, {"stacked": True, "series": [{"name": "a", "points": [[0, 10], [100, 30]]},
                                                      {"name": "b", "points": [[0, 5], [100, 0]]}]})
        areas = self.page(
            "[...document.querySelectorAll('figure .area')].map(area => area.getAttribute('d'))")
        a, b = ([tuple(map(float, point.split(",")))
                 for point in re.findall(r"[\d.]+,[\d.]+", area)] for area in areas)
        self.assertEqual(a[:2], b[:1:-1])
        self.key("Tab")
        self.key("Home")
        self.assertEqual(self.tip(), "0\na: 10\nb: 5")

    def test_of_many_series_the_tip_names_the_largest(self):
        self.show(LINES, {"series": [{"name": f"n{i}", "points": [[0, i]]} for i in range(20)]})
        self.page("document.getElementById('plot').focus()")
        self.key("Home")
        told = self.tip().split("\n")
        self.assertEqual((told[1], told[12], told[13], len(told)),
                         ("n19: 19", "n8: 8", "and 7 more", 14))

    def test_cells_of_a_heat_map_say_their_counts_and_the_fullest_is_darkest(self):
        cells = [{"x0": x * 10, "x1": x * 10 + 10, "y0": 10 ** y, "y1": 10 ** (y + 1), "count": 1
                  + 9 * x * y}
                 for x in range(4) for y in range(1, 4)]
        self.show(HEAT, {"cells": cells,
                         "lines": [{"name": "p50", "points": [[0, 2], [30, 5000]]}]})
        self.assertEqual(self.browser.complaints, [])
        shades = self.page(
            "[...document.querySelectorAll('.cell')].map(e => [+e.getAttribute('fill-opacity'),"
            " e.getAttribute('d').split('M').length - 1]).filter(([, cells]) => cells > 0)")
        self.assertEqual(sum(count for _, count in shades), len(cells))
        self.assertEqual(max(shades), [1, 1])
        marks = self.page(
            "[...document.querySelectorAll('.tick.end')].filter(mark => mark.getAttribute('x') < "
            "100)"
            ".map(mark => mark.textContent)")
        # the line's, too
        self.assertEqual([mark.replace("\u00a0", " ") for mark in marks][:2], ["1 ns", "10 ns"])
        self.page("document.getElementById('plot').focus()")
        self.key("End")
        self.assertEqual(self.tip(), "30 ns to 40 ns\n1 µs to 10 µs: 82")
        (x, y, width, height), = self.boxes(".pointed")
        self.key("ArrowLeft")
        self.assertEqual(self.tip(), "20 ns to 30 ns\n1 µs to 10 µs: 55")
        (left, top, _, _), = self.boxes(".pointed")
        self.assertAlmostEqual(left + width, x, places=1)
        self.assertEqual(top, y)
        self.key("ArrowDown")
        self.assertEqual(self.tip(), "20 ns to 30 ns\n100 ns to 1 µs: 37")

    def test_a_time_line_is_zoomed_by_keys_buttons_and_wheel_and_moved_by_dragging(self):
        self.show(TIMELINE, SPANS)
        whole, part, once = self.boxes(".span")
        self.assertAlmostEqual(part[2] / whole[2], 0.2, places=2)
        self.assertAlmostEqual((part[0] - whole[0]) / whole[2], 0.2, places=2)
        self.assertGreaterEqual(once[2], 1)
        self.assertLess(whole[1], part[1])
        self.assertTrue(self.page("document.querySelectorAll('.span-name')[1].textContent")
                        .endswith("…"))
        self.page("document.getElementById('plot').focus()")
        self.key("Home", "ArrowLeft")
        self.assertIn("a part with a long name", self.tip())
        self.browser.type("+")
        self.assertIn("a part with a long name", self.tip())
        self.assertAlmostEqual(self.boxes(".span")[1][2] / part[2], 2, places=1)
        self.browser.type("0")
        self.assertAlmostEqual(self.boxes(".span")[1][2], part[2], places=1)
        self.page("document.querySelector('button[aria-label=\"zoom in\"]').click()")
        self.assertEqual(len(self.boxes(".span")), 3)
        self.assertAlmostEqual(self.boxes(".span")[1][2] / part[2], 1.5, places=1)
        self.page("document.querySelector('button[aria-label=\"show all\"]').click()")
        place = self.page("(({x, y, width, height}) => [x + width * 3 / 4, y + height / 3])("
                          "document.getElementById('plot').getBoundingClientRect())")
        self.browser.mouse("mouseWheel", *place, deltaX=0, deltaY=-400, modifiers=2)
        self.browser.settle()
        self.assertEqual(len(self.boxes(".span")), 1)
        marks = self.page(
            "[...document.querySelectorAll('.tick.middle')].map(mark => mark.textContent)")
        for kind, move in (("mousePressed", 0), ("mouseMoved", 80), ("mouseReleased", 80)):
            self.browser.mouse(kind, place[0] + move, place[1], button="left", buttons=1,
                               clickCount=1)
        self.browser.settle()
        self.assertNotEqual(
            marks, self.page(
                "[...document.querySelectorAll('.tick.middle')].map(e => e.textContent)"))

    def test_nothing_is_over_another_or_cut_off_in_wide_and_narrow_windows(self):
        series = [{"name": f"Provider/Class{i}", "points": [[x * 1e8, x * i * 1e4]
                                                            for x in range(50)]} for i in range(12)]
        for script, data in ((LINES, {"series": series}),
                             (LINES, {"series": series, "stacked": True, "steps": True}),
                             (TIMELINE, SPANS)):
            for width in (1400, 400):
                self.show(script, data, width=width)
                self.assertEqual(self.browser.complaints, [])
                self.assertEqual(self.page(LAYOUT), [])


if __name__ == "__main__":
    sys.exit(main())
