# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas diff`: what it finds that is there, and does not find that is not.

usage: diff_test.py PATH_OF_ETWAS TEST_CLASS
"""

import json
import random
import struct

import etl_build as etl
from tool_case import BLUE, FAILED, FINE, NO, RED, ToolTest, main

T = 1_000_001
START, END = 1, 2
MS = 10_000  # ticks
GUIDS = [f"{n:08x}-0000-0000-0000-000000000000" for n in range(1, 9)]


def run_of(seed, typical, gap=40, length=20 * MS, spread=0.1):
    """Spans one after the other, class by class; a run is faster or slower as a whole, as real ones
    are."""
    made = random.Random(seed)
    records, number = [], 0
    for guid, ticks in typical.items():
        at = made.randrange(1, 100)
        pace = made.lognormvariate(0, spread)
        while at < length:
            number += 1
            took = max(int(made.lognormvariate(0, 0.3) * ticks * pace), 1)
            records.append((at, etl.instance(guid, T + at, number, kind=START)))
            records.append((at + took, etl.instance(guid, T + at + took, number, kind=END)))
            at += took + made.randrange(1, 2 * gap * 10)
    records.sort(key=lambda record: record[0])
    return [record for _, record in records]


class DiffTest(ToolTest):
    def side(self, name, seeds, typical, **options):
        paths = []
        for seed in seeds:
            records = run_of(seed, typical, **options)
            buffers = [records[at:at + 100] for at in range(0, len(records), 100)]
            paths.append(self.write(f"{name}{seed}.etl",
                                    etl.trace([(0, buffer) for buffer in buffers])))
        return paths

    def diff(self, first, second, *options, expect=FINE):
        return json.loads(self.run_etwas("diff", "--json", *options, *first, "--against", *second,
                                         expect=expect)[0])

    def verdicts(self, told):
        """What differs, in the order of the table."""
        return [(its["event_class_id"], key, its[key]["verdict"]) for its in told["classes"]
                for key in ("typical", "mean", "rate") if its[key]["verdict"]]


class Same(DiffTest):
    def test_as_often_as_promised_nothing_differs(self):
        """Sixty pairs of five runs and five of the same, eight classes each; one in twenty may say
        otherwise."""
        typical = dict.fromkeys(GUIDS, 400)
        found = 0
        for pair in range(60):
            seeds = [1000 * pair + n for n in range(10)]
            paths = self.side("s", seeds, typical, length=8 * MS)
            out, _ = self.run_any("diff", "--effect", "0", *paths[:5], "--against", *paths[5:],
                                  expect=(FINE, NO))
            found += "no difference" not in out
        self.assertLessEqual(found, 7)  # 3 are expected

    def test_nor_in_blocks_of_runs_that_are_alike(self):
        """Forty pairs of one run and another; of runs that are paced alike, since blocks know
        nothing of runs."""
        found = 0
        for pair in range(40):
            first, second = ([self.side("s", [100 * pair + side], dict.fromkeys(GUIDS[:4], 400),
                                        length=20 * MS, spread=0)[0]] for side in range(2))
            out, _ = self.run_any("diff", "--effect", "0", *first, "--against", *second,
                                  expect=(FINE, NO))
            self.assertIn(" blocks of time against ", out)
            found += "no difference" not in out
        self.assertLessEqual(found, 6)  # 2 are expected

    def test_a_file_does_not_differ_from_itself(self):
        paths = self.side("a", range(4), {RED: 400})
        told = self.diff(paths, paths, "--effect", "0")
        self.assertEqual((told["differing"], told["units"]), (0, "runs"))
        for key in ("typical", "mean", "rate"):
            its = told["classes"][0][key]
            self.assertEqual((its["ratio"], its["p"]), (1, 1))
            self.assertTrue(its["low"] <= 1 <= its["high"])


class Other(DiffTest):
    def test_what_became_slower_is_found_and_stands_first(self):
        typical = dict.fromkeys(GUIDS, 400)
        first = self.side("a", range(6), typical, spread=0.02)
        second = self.side("b", range(50, 56), {**typical, GUIDS[5]: 560}, spread=0.02)
        told = self.diff(first, second, expect=NO)
        self.assertEqual({(guid, verdict) for guid, key, verdict in self.verdicts(told)
                          if key != "rate"},
                         {(GUIDS[5], "slower")})
        its = told["classes"][0]
        self.assertEqual(its["event_class_id"], GUIDS[5])
        for key in ("typical", "mean"):
            self.assertTrue(1.25 < its[key]["low"] <= its[key]["ratio"] <= its[key]["high"] < 1.6,
                            its[key])
        told = self.diff(second, first, expect=NO)
        self.assertIn((GUIDS[5], "typical", "faster"), self.verdicts(told))
        self.assertEqual(self.diff(first, second, "--effect", "70")["differing"], 0)  # no matter
        out, _ = self.run_etwas("diff", *first, "--against", *second, expect=NO)
        self.assertRegex(
            out, r"(?m)^6 runs against 6: \d of 8 classes differ by 5 % or more \(confidence 95 "
            r"%\)$")
        self.assertRegex(out, r"(?m)^  typical .* slower$")

    def test_what_became_more_frequent_new_or_gone_is_found(self):
        first = self.side("a", range(5), {RED: 50, GUIDS[0]: 50}, gap=100, spread=0.01)
        second = self.side("b", range(50, 55), {RED: 50, BLUE: 50}, gap=50, spread=0.01)
        verdicts = self.verdicts(self.diff(first, second, expect=NO))
        self.assertEqual({guid: verdict for guid, key, verdict in verdicts if key == "rate"},
                         {RED: "more frequent", BLUE: "new", GUIDS[0]: "gone"})

    def test_so_are_other_events_by_how_often_they_come(self):
        """A call without an END, by its name or that of its class; starts of no span are none of
        these."""
        def side(name, seeds, gaps):
            paths = []
            for seed in seeds:
                made, records = random.Random(seed), []
                for (guid, kind), gap in gaps.items():
                    at = made.randrange(gap)
                    while at < 20 * MS:
                        records.append((at, etl.classic(guid, T + at, kind=kind)))
                        at += made.randrange(gap // 2, gap + gap // 2)
                records.sort(key=lambda record: record[0])
                names = [etl.event_info(T, RED, kind, "Heap", "", text, [])
                         for kind, text in ((10, "malloc"), (14, "free"))]
                buffers = [names, *([record for _, record in records[at:at + 100]]
                                    for at in range(0, len(records), 100))]
                paths.append(self.write(f"{name}{seed}.etl",
                                        etl.trace([(0, buffer) for buffer in buffers])))
            return paths

        gaps = {(RED, 10): 800, (RED, 14): 800, (BLUE, 10): 900, (BLUE, START): 900}
        first, second = side("a", range(5), gaps), side("b", range(50, 55),
                                                        {**gaps, (RED, 10): 500, (BLUE, START): 90})
        told = self.diff(first, second, expect=NO)
        self.assertEqual(self.verdicts(told), [(RED, "rate", "more frequent")])
        self.assertEqual([its["event_class"] for its in told["classes"][1:]], ["Heap/free", BLUE])
        its = told["classes"][0]
        self.assertEqual((its["event_class"], its["spans"], its["typical"]["a"], its["mean"]["b"]),
                         ("Heap/malloc", False, None, None))
        self.assertAlmostEqual(its["rate"]["ratio"], 1.6, delta=0.1)
        self.assertEqual(self.diff(first, second, "--class", "free")["differing"], 0)
        out, _ = self.run_etwas("diff", *first, "--against", *second, expect=NO)
        self.assertRegex(
            out, r"(?m)^Heap/malloc: [\d,]+ against [\d,]+\n  rate .* more frequent$")
        self.assertNotIn("typical", out)

    def test_two_runs_are_compared_by_their_blocks(self):
        first = self.side("a", [1], {RED: 400, BLUE: 400}, length=320 * MS, spread=0)
        second = self.side("b", [2], {RED: 400, BLUE: 480}, length=320 * MS, spread=0)
        told = self.diff(first, second, expect=NO)
        self.assertEqual(told["units"], "blocks")
        for side in "ab":
            self.assertTrue(8 <= told[side]["units"] <= 16)
        out, _ = self.run_etwas("diff", *first, "--against", *second, expect=NO)
        self.assertIn("\nWhat differs from run to run anyway counts here: four runs ", out)
        self.assertEqual([(guid, verdict) for guid, key, verdict in self.verdicts(told)
                          if key == "typical"],
                         [(BLUE, "slower")])
        for its in told["classes"]:
            self.assertAlmostEqual(its["typical"]["ratio"], 1.2 if its["event_class_id"] == BLUE
                                   else 1,
                                   delta=0.1)
        told = self.diff(first, second, "--class", RED)
        self.assertEqual([its["event_class_id"] for its in told["classes"]], [RED])

    def test_what_the_clocks_may_have_made_is_no_difference(self):
        """By the cycle counter, read within 20 ns or within 100 us beside the performance
        counter."""
        calibration = etl.classic(etl.OWN_CLASS, etl.FIRST_STAMP, kind=0, level=0,
                                  payload=struct.pack("<IIQQqqq", 1, 3, 1, 100, T, 0, 0))
        sides = {error_ns: [[], []] for error_ns in (20, 100_000)}
        for error_ns, paths in sides.items():
            own = [calibration, etl.totals(),
                   *[etl.clock_snapshot(T + n * 10_000_000, n * 1_000_000_000,
                          etl.START + n * 10_000_000, errors_ns=(error_ns, 120)) for n in range(3)]]
            for run in range(8):
                records = run_of(run, {RED: 400 + 200 * (run > 3)}, length=5 * MS, spread=0.01)
                buffers = [(0, records[at:at + 100]) for at in range(0, len(records), 100)]
                paths[run > 3].append(self.write(f"{error_ns}.{run}.etl",
                                                 etl.trace(buffers, clock=3, own=own)))
        told = self.diff(*sides[20], expect=NO)
        self.assertIn((RED, "mean", "slower"), self.verdicts(told))
        self.assertTrue(20 <= told["classes"][0]["duration_error_a"] < 200)
        told = self.diff(*sides[100_000], expect=NO)  # its rate does
        self.assertNotIn("slower", [verdict for _, _, verdict in self.verdicts(told)])
        self.assertLess(told["classes"][0]["mean"]["p"], 0.05)
        self.assertGreater(told["classes"][0]["duration_error_b"], 100_000)

    def test_a_window_of_each_run_is_compared(self):
        """As of files that have nothing else, seconds counted from the first event of each."""
        typical = dict.fromkeys(GUIDS[:3], 400)
        sides = [self.side("a", range(4), typical),
                 self.side("b", range(50, 54), {**typical, BLUE: 300})]
        window = ("--from", "+0.005", "--until", "-0.003")
        cut = [[self.write(f"{side}{n}.cut", b"") for n in range(4)] for side in "ab"]
        for path, made in zip(sum(sides, []), sum(cut, [])):
            self.run_etwas("convert", "--to", "etl", "--output", made, *window, path)
        told, alone = self.diff(*sides, *window, expect=NO), self.diff(*cut, expect=NO)
        self.assertNotEqual(told, self.diff(*sides, expect=NO))
        for one in (told, alone):
            self.assertEqual([len(one[side].pop("files")) for side in "ab"], [4, 4])
        self.assertEqual(told, alone)
        self.assertIn("later", self.run_etwas("diff", "--from", "+1", "--until", "+0.5", *sides[0],
                                              "--against", *sides[1], expect=FAILED)[1])

    def test_misuse_and_keys(self):
        paths = self.side("a", range(4), {RED: 400})
        for wrong in (paths, ["--against", *paths], [*paths, "--against"],
                      ["--effect", "x", *paths, "--against", *paths],
                      ["--confidence", "50", *paths, "--against", *paths]):
            self.assertIn("etwas diff", self.run_etwas("diff", *wrong, expect=FAILED)[1])
        short = self.side("short", [1], {RED: 4}, length=MS)
        self.assertIn("too short", self.run_etwas("diff", *short, "--against", *paths,
                                                  expect=FAILED)[1])
        self.run_etwas("diff", *paths, "--against", self.write("no.etl", b"no trace"),
                       expect=FAILED)
        self.assert_keys_documented("diff", self.diff(paths, paths))

    def test_what_compares_nothing_fails_and_says_of_which_side_and_why(self):
        paths = self.side("a", range(4), {RED: 400})
        empty = self.write("empty.etl", etl.trace([(0, [])]))

        def fails(*arguments):
            out, error = self.run_etwas("diff", *arguments, expect=FAILED)
            self.assertEqual(out, "", arguments)
            self.assertIn("nothing was compared", error)
            return error
        error = fails("--from", "+1000", "--json", *paths, "--against", *paths)
        self.assertEqual(error.count("note: no event is in this window"), 2 * len(paths))
        for side in "AB":
            self.assertIn(f"{paths[0]} and 3 more: nothing was compared, since side {side} has no "
                          "events in this window", error)
        for arguments, side in (((empty, "--against", *paths), "A"),
                                ((*paths, "--against", empty), "B")):
            error = fails(*arguments)
            self.assertIn(f"{empty}: nothing was compared, since side {side} has no events\n",
                          error)
            self.assertEqual(error.count("nothing was compared"), 1)
        self.assertIn("note: no class is called 'Green'",
                      fails("--class", "Green", *paths, "--against", *paths))
        self.assertIn("neither side has events as they are chosen",
                      fails("--where", "pid == 4711", *paths, "--against", *paths))
        starts = [self.write(f"s{n}.etl", etl.trace([(0, [etl.instance(RED, T + n, 1)])]))
                  for n in range(4)]
        self.assertIn("no span of either side", fails(*starts, "--against", *starts))

    def test_options_stand_anywhere(self):
        first = self.side("a", range(6), {RED: 400, BLUE: 400}, spread=0.02)
        second = self.side("b", range(50, 56), {RED: 400, BLUE: 560}, spread=0.02)
        told = self.diff(first, second, "--effect", "70", "--class", BLUE)
        for arguments in ((*first, "--against", *second, "--effect", "70", "--class", BLUE),
                          (*first, "--class", BLUE, "--against", "--effect", "70", *second),
                          ("--effect", "70", *first, "--against", *second[:3], "--class", BLUE,
                           "--", *second[3:])):
            self.assertEqual(json.loads(self.run_etwas("diff", "--json", *arguments)[0]), told)
        for wrong in (("--efect", "1"), ("--effect",), ("--where", "pid == 1", "--against")):
            _, error = self.run_etwas("diff", *first, "--against", *second, *wrong, expect=FAILED)
            self.assertIn("etwas diff", error)


if __name__ == "__main__":
    main()
