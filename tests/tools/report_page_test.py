# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The page of `etwas report`: as it is written, and as a browser shows it, of traces that have
something of everything.

usage: report_page_test.py PATH_OF_ETWAS TEST_CLASS
"""

import json
import os
import random
import struct
import subprocess
import sys
import unittest

import etl_build as etl
from browser import LAYOUT
from etl_build import READY, kernel_loss, ready, switch, thread_event
from page_case import PageTest, PlotsTest, told
from report_test import HOSTILE, ReportTest, allocation, free
from spans_test import CHECKPOINT, END, START, T, order
from tool_case import BLUE, DAMAGED, FAILED, FINE, HEAP, OUTPUT, RED, main

PRINT = [{"name": "prefers-color-scheme", "value": "dark"}]


def built_without_d3():
    result = subprocess.run([sys.argv[1], "report", "--html", "-o", "/nowhere/page.html",
                             "/nowhere/trace.etl"], check=False,
                            stderr=subprocess.PIPE)
    return b"without d3" in result.stderr


NEEDS_D3 = unittest.skipIf(built_without_d3(), "it was built without d3, which draws pages")


def requests(chance, count, ticks=10):
    """Spans of three classes in each other, with events; the fifth is slow."""
    records = []
    for i in range(1, count + 1):
        slow = 40 if i == 5 else 1
        records.append(order(START, ticks, 100 * i))
        for step in range(1, 4):
            ticks += chance.randrange(1, 30)
            records.append(order(START, ticks, 100 * i + step, guid=BLUE, parent=100 * i,
                                 parent_guid=RED))
            for _ in range(chance.randrange(3)):
                ticks += chance.randrange(1, 300) * slow
                records.append(order(CHECKPOINT, ticks, 100 * i + step, guid=BLUE))
            ticks += chance.randrange(1, 3000) * slow
            records.append(order(END, ticks, 100 * i + step, guid=BLUE))
        records.append(order(END, ticks + 5, 100 * i))
        ticks += 2000
    return records


def switches(chance, end):
    records, running, ticks = [thread_event(3, T, 20 + t % 4, 100 + t) for t in range(8)], 0, 0
    while ticks < end:
        ticks += chance.choice((100, 700, 10_000))
        new = chance.choice([t for t in (0, *range(100, 108)) if t != running])
        records += [ready(T + ticks, new)] if new and chance.random() < 0.5 else []
        records.append(switch(T + ticks, running, new, chance.choice((READY, 5))))
        running = new
    return records


def calls(chance, end):
    records, live, ticks, address = [], [], 0, 0
    while ticks < end:
        ticks += chance.randrange(1, 8000)
        if live and chance.random() < 0.4:
            records.append(free(ticks, live.pop(chance.randrange(len(live)))))
        else:
            address += 4096
            live.append(address)
            records.append(allocation(ticks, address, chance.randrange(1, 5000),
                                      0x1000 + chance.randrange(20), 0x2000, 0x3000))
    return records


def everything(chance):
    """Of each processor what is in its stream."""
    spans = requests(chance, 30)
    end = 900_000
    named = sorted((etl.tl_event(RED, T + chance.randrange(end), "Provider",
                                 f"Event{int(chance.expovariate(0.3))}") for _ in range(300)),
                   key=lambda record: record[16:24][::-1])
    losses = [kernel_loss(T + at, T + at - 5000, at // 1000) for at in (300_000, 500_000)]
    return spans, switches(chance, end), calls(chance, end), named, losses


def strings(value):
    """All in a JSON value."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in strings(one)]


@NEEDS_D3
class Page(ReportTest, PageTest):
    def html(self, *paths, expect=FINE):
        page = os.path.join(self.folder, "page.html")
        self.assertEqual(self.run_etwas("report", "--force", "--html", "-o", page, *paths,
                                        expect=expect)[0], "")
        with open(page, encoding="utf-8") as file:
            return file.read()

    def test_its_data_is_what_json_says_and_it_loads_and_runs_nothing_else(self):
        path = self.file(*everything(random.Random(1)))
        page = self.html(path)
        self.check_data(page, self.report(path))
        self.check_policy(page)
        self.check_elements(page)
        self.assertIn("<title>Report of r.etl</title>", page)

    def test_hostile_names_and_values_end_no_element(self):
        path = self.file(hostile(), name="h<script>&.etl", session="</script><script>x")
        page = self.html(path)
        self.check_data(page, self.report(path))
        self.check_policy(page)
        self.check_elements(page)

    def test_it_stays_small_whatever_is_in_the_trace(self):
        chance = random.Random(5)
        records, ticks = [], 0
        for i in range(9000):
            ticks += chance.randrange(1, 10_000)
            guid = f"{i % 7:08x}-0000-0000-0000-{i % 211:012x}"
            records.append(order(chance.choice((START, END)), ticks, chance.randrange(3000),
                                 guid=guid, thread=i % 99))
        path = self.file(*(records[at::70] for at in range(70)))
        page = self.html(path)
        self.check_data(page, self.report(path))

    def test_it_stays_small_whatever_names_there_are(self):
        names = [f"/{i:02d}" + "é<\\n\"" * 600 for i in range(20)]
        images = [etl.classic(HEAP, T, kind=20, version=1,
                              payload=struct.pack("<QQB", 0x100000 * (i + 1), 0x100000, 0)
                              + name.encode() + b"\0")
                  for i, name in enumerate(names)]
        calls = [allocation(i, 4096 * (i + 1), 100 + i,
                            *(0x100000 * (k + 1) + i + 1 for k in range(len(names))))
                 for i in range(40)]
        path = self.write("r.etl", etl.trace([(0, [record]) for record in images + calls]))
        whole, told = strings(self.report(path)), strings(self.data_of(self.html(path)))
        self.assertGreater(sum(map(len, whole)), 2_000_000)
        self.assertEqual(len(told), len(whole))
        cut = [(short, full) for short, full in zip(told, whole) if short != full]
        for short, full in cut:
            self.assertTrue(len(short) > 30 and short[-1] == "…" and full.startswith(short[:-1]),
                            short)
        self.assertGreater(sum(short == full and len(full) > 2000
                               for short, full in zip(told, whole)), 50)
        self.assertGreater(len(cut), 500)

    def test_a_page_that_cannot_be_written_leaves_nothing(self):
        path = self.file([order(START, 0)])
        page = os.path.join(self.folder, "missing", "page.html")
        self.assertIn("missing", self.run_etwas("report", "--html", "-o", page, path,
                                                expect=OUTPUT)[1])
        self.assertIn("/dev/full", self.run_etwas("report", "--html", "-o", "/dev/full", path,
                                                  expect=OUTPUT)[1])
        page = os.path.join(self.folder, "page.html")
        with open(page, "w", encoding="utf-8") as file:
            file.write("old")
        self.run_etwas("report", "-f", "--html", "-o", page, path + "x", expect=FAILED)
        with open(page, encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")
        self.assertEqual(sorted(os.listdir(self.folder)), ["page.html", "r.etl"])
        self.html(path)
        self.assertEqual(sorted(os.listdir(self.folder)), ["page.html", "r.etl"])


def hostile():
    records = []
    for i, name in enumerate(HOSTILE):
        for kind in (START, 0, END):
            records.append(etl.self_describing(RED, T + 3 * i + len(records), name.encode(),
                                               name.encode(), etl.tl_field(name, etl.ANSI),
                                               name.encode() + b"\0", opcode=kind, activity=RED))
    records.append(etl.self_describing(RED, T + 999, b"\xff\xfe\xed\xa0\x80", b"\xc0\xaf"))
    return records


@NEEDS_D3
class Browser(ReportTest, PlotsTest):
    def open(self, *paths, expect=FINE, **options):
        page = os.path.join(self.folder, "page.html")
        self.run_etwas("report", "--force", "--html", "-o", page, *paths, expect=expect)
        self.browser.open(page, **options)
        self.browser.settle()

    def everything(self):
        return self.file(*everything(random.Random(1)))

    def rows(self, caption):
        return self.page(
            "[...document.querySelectorAll('table')].filter(table => "
            "table.caption.textContent.startsWith("
            f"{json.dumps(caption)})).flatMap(table => [...table.tBodies[0].rows].map(row => "
            "[...row.cells].map(cell => cell.textContent)))")

    def words(self, function, value):
        return told(self.page(f"words.{function}({json.dumps(value)})"))

    def test_no_page_complains_or_has_text_over_other_text_or_cut_off_on_wide_and_narrow_windows(
            self):
        everything_there = self.everything()
        damaged = bytearray(etl.trace([(0, [etl.classic(RED, T + i) for i in range(100)])] * 2))
        damaged[etl.BUFFER_BYTES + 72:etl.BUFFER_BYTES + 74] = b"\xff\xff"
        for paths, expect in (([everything_there], FINE), ([self.file([], name="empty.etl")], FINE),
                              ([self.file([order(START, 0)], name="one.etl")], FINE),
                              ([everything_there, self.file([order(START, 9, 1), order(END, 12, 1)],
                                                            name="b.etl")], FINE),
                              ([self.write("d.etl", bytes(damaged))], DAMAGED)):
            for width in (1280, 400):
                with self.subTest(paths=paths, width=width):
                    self.open(*paths, expect=expect, width=width)
                    self.assertEqual(self.browser.complaints, [])
                    self.assertEqual(self.page(LAYOUT), [])
                    self.assertIn("Health", self.page("document.querySelector('main').textContent"))

    def test_hostile_names_are_text(self):
        self.open(self.file(hostile(), name="h<img src=x onerror=alert(1)>.etl",
                            session="<b>bold</b>"))
        self.assertEqual(self.browser.complaints, [])
        self.assertTrue(self.page("document.title").startswith("Report of h<img"))
        self.assertEqual(
            self.page("document.querySelectorAll('main script, main img, main b:not(summary "
                      "b)').length"), 0)
        self.assertEqual(self.page("document.querySelector('h1').textContent"), "<b>bold</b>")
        names = {row[0] for row in self.rows("Events by name")}
        self.assertLessEqual({f"{name}/{name}/Start" for name in (HOSTILE[0], HOSTILE[1],
                                                                  HOSTILE[3], HOSTILE[5])}, names)
        self.assertIn("\\u{2028}\\u{2029}/\\u{2028}\\u{2029}/Start", names)
        said = "\n".join(self.points("tree-0"))
        self.assertTrue(any(name in said for name in HOSTILE))

    def test_its_plots_hold_the_numbers_of_json(self):
        path = self.everything()
        data = self.report(path)
        self.open(path)
        columns, width, duration = (data["axis"][key]
                                    for key in ("columns", "column_duration", "duration"))
        moment = lambda column: self.words("duration", min(column * width, duration))
        busiest = max(range(40), key=lambda c: data["by_event"][0]["over_time"][c])
        self.page("document.getElementById('rates').focus()")
        for column, key in ((0, "Home"), *((c, "ArrowRight") for c in range(1, busiest + 1))):
            self.browser.key(key)
        tip = told(self.page("document.querySelector('#rates ~ .tip').textContent")).split("\n")
        self.assertEqual(tip[0], moment(busiest))
        for name in data["by_event"][:7]:
            self.assertIn(f"{name['event']}: {self.words('count', name['over_time'][busiest])}",
                          tip)
        others = sum(name["over_time"][busiest] for name in data["by_event"][7:]) + data[
            "other_over_time"][busiest]
        self.assertIn(f"all others: {others}", tip)
        self.assertEqual(self.page("d3.selectAll('#rates .area').size()"), 8)
        # Every cell of each heat map, in its shade.
        for number, its in enumerate(its for its in data["spans"]["classes"] if "over_time" in its):
            cells = sum(count > 0 for column in its["over_time"]["cells"] for count in column[1:])
            self.assertEqual(
                self.page(f"[...document.querySelectorAll('#heat-{number} .cell')].map(e => "
                          "e.getAttribute('d').split('M').length - 1).reduce((a, b) => a + b)"),
                cells)
            over = its["over_time"]
            first = next(c for c in range(columns) if over["count"][c])
            self.page(f"document.getElementById('quantiles-{number}').focus()")
            self.browser.key("Home")
            tip = told(self.page(
                f"document.querySelector('#quantiles-{number} ~ .tip').textContent")).split("\n")
            self.assertEqual(tip[1:], [f"{key}: {self.words('duration', over[key][first])}"
                                       for key in ("max", "p50", "p90", "p99")])
        root = data["slowest"][0]
        self.assertEqual(
            self.page("[d3.selectAll('#tree-0 .span').size(), d3.selectAll('#tree-0 "
                      ".event').size()]"),
            [len(root["spans"]), len(root["tree_events"])])
        self.page("document.getElementById('tree-0').focus()")
        self.browser.key("Home")
        tip = told(self.page("document.querySelector('#tree-0 ~ .tip').textContent"))
        self.assertIn(f"took {self.words('duration', root['spans'][0]['duration'])}", tip)

    def test_a_part_of_a_trace_says_that_it_is_one(self):
        where = "event != '</script><b>'"
        options = ("--from", "+0.06", "--until", "+0.08", "--where", where)
        path = self.everything()
        data = self.report(*options, path)
        for width in (1280, 400):
            self.open(*options, path, width=width)
            self.assertEqual((self.browser.complaints, self.page(LAYOUT)), ([], []))
        head = self.page("document.querySelector('header').textContent")
        self.assertIn(f" · {self.words('count', data['selection']['events'])} events · ", head)
        for text in (f"from {data['selection']['start_time']} ",
                     f" until {data['selection']['end_time']} ",
                     f" where {where}."):
            self.assertIn(text, head)
        self.assertEqual(self.page("document.getElementById('health').textContent"),
                         "The kernel lost 800 events")
        self.assertEqual([row[1] for row in self.rows("Events by name")][:len(data["by_event"])],
                         [self.words("count", name["events"]) for name in data["by_event"]])
        self.assertEqual(
            self.page("[...document.querySelectorAll('#losses, #busy-0, #live-0, "
                      "#rates')].map(plot => plot.id)"),
            ["losses", "rates"])

    def test_a_span_that_outlives_its_parent_is_seen_in_whole(self):
        inside = {"parent": 1, "parent_guid": RED}
        self.open(self.file([order(START, 0, 1), order(START, 10, 2, **inside), order(END, 20, 1),
                             order(START, 30, 3, parent=2, parent_guid=RED), order(END, 40, 3),
                             order(END, 80, 2)]))
        boxes = self.page(
            "[...document.querySelectorAll('#tree-0 .span')].map(box => ['x', 'width'].map(name => "
            "+box.getAttribute(name)))")
        begin, unit = boxes[0][0], boxes[0][1] / 20
        for box, (at, took) in zip(boxes, ((0, 20), (10, 70), (30, 10)), strict=True):
            self.assertAlmostEqual((box[0] - begin) / unit, at, places=3)
            self.assertAlmostEqual(box[1] / unit, took, places=3)

    def test_its_tables_have_the_numbers_of_json(self):
        path = self.everything()
        data = self.report(path)
        self.open(path)
        count = lambda value: self.words("count", value)
        self.assertEqual([(row[0], row[1]) for row in self.rows("Events by name")][:24],
                         [(name["event"], count(name["events"])) for name in data["by_event"]])
        self.assertEqual([[told(cell) for cell in row[1:3]] for row in self.rows("Processes that")],
                         [[self.words("duration", one["running_time"]),
                           self.words("duration", one["ready_time"])]
                          for one in data["cpu"][0]["processes"]])
        self.assertEqual([(row[0], row[1]) for row in self.rows("Classes of spans")],
                         [(its["event_class"], count(its["count"]))
                          for its in data["spans"]["classes"]])
        self.assertEqual([row[4] for row in self.rows("Stacks that hold most")],
                         [count(stack["allocations"]) for stack in data["heap"][0]["stacks"][:20]])
        self.assertEqual({row[2] for row in self.rows("Losses by")},
                         {count(loss["count"]) for loss in data["losses"]})
        self.assertEqual(self.page("document.getElementById('health').textContent"),
                         "The kernel lost 800 events")

    def test_of_how_many_losses_the_files_say_no_time(self):
        self.open(self.file([etl.classic(RED, T), etl.classic(RED, T + 9)],
                            own=[etl.totals(lost_events=9), etl.loss(T, T + 5, 6, 1)]))
        self.assertEqual([row[::2] for row in self.rows("Losses by")],
                         [["no free buffer, processor 1", "6"]])
        self.assertIn("When 3 events were lost the files do not say.",
                      self.page("document.body.textContent"))
        self.assertEqual(self.page("document.getElementById('health').textContent"),
                         "9 events were lost")

    def test_a_stack_is_called_by_what_allocated_also_where_only_its_callers_have_names(self):
        path = self.everything()
        self.open(path)
        address = self.report(path)["heap"][0]["stacks"][0]["frames"][0]["address"]
        page = os.path.join(self.folder, "page.html")
        with open(page, encoding="utf-8") as file:
            html = file.read()
        with open(page, "w", encoding="utf-8") as file:
            file.write(html.replace(f'[{{"address":"{address}"',
                                    f'[{{"address":"{address}","image":"/bin/a",'
                                    '"image_offset":16},'
                                    '{"address":"1","function":"main"', 1))
        self.browser.open(page)
        self.browser.settle()
        row = self.rows("Stacks that hold most")[0]
        self.assertEqual(row[0], "1. a+0x10")
        self.assertTrue(row[5].startswith("main"), row)

    def test_the_keyboard_reaches_every_plot_table_and_tree(self):
        self.open(self.everything())
        self.page("document.querySelectorAll('details.tree')"
                  ".forEach(tree => { tree.open = true; })")
        self.browser.settle()
        wanted = set(self.page("[...document.querySelectorAll('figure > svg')].map(svg => svg.id)"))
        self.assertLessEqual({"losses", "processors", "rates", "names", "heat-0", "tree-0",
                              "tree-9", "running-0", "ready-0", "busy-0", "live-0", "frames-0"},
                             wanted)
        reached = set()
        for _ in range(200):
            self.browser.key("Tab")
            reached.add(self.page("document.activeElement.id"))
            if wanted <= reached:
                break
        self.assertLessEqual(wanted, reached)
        for plot in ("busy-0", "frames-0", "names", "tree-9"):
            self.page(f"document.getElementById('{plot}').focus()")
            said = set()
            for key in ("Home", "ArrowRight", "ArrowDown", "End"):
                self.browser.key(key)
                said.add(self.page(f"document.querySelector('#{plot} ~ .tip').textContent"))
            self.assertGreaterEqual(len(said), 3, plot)
            self.browser.key("Escape")
            self.assertEqual(self.page(f"document.querySelector('#{plot} ~ .tip').textContent"), "")

    def test_on_paper_and_in_the_dark_it_is_legible(self):
        path = self.everything()
        self.open(path, width=720, dark=True)
        self.assertNotEqual(self.page("getComputedStyle(document.body).backgroundColor"),
                            "rgb(255, 255, 255)")
        self.browser.call("Emulation.setEmulatedMedia", media="print", features=PRINT)
        self.browser.settle()
        self.assertEqual(self.page("getComputedStyle(document.body).backgroundColor"),
                         "rgb(255, 255, 255)")
        self.assertEqual(self.page(LAYOUT), [])
        paper = self.browser.pdf()
        self.browser.call("Emulation.setEmulatedMedia", media="", features=[])
        self.assertGreater(paper.count(b"/Type /Page\n"), 3)


if __name__ == "__main__":
    main()
