# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas stat --hot`: the functions in which samples are, of files with known answers and of the
kernel's.

usage: hot_test.py PATH_OF_ETWAS PATH_OF_SPINNER WITH_LIBDW TEST_CLASS
"""

import gzip
import json
import os
import struct
import subprocess
import sys

import etl_build as etl
from symbols_test import BASE, HERE, SymbolsTest, T, image
from tool_case import FAILED, RED, main

TEXT = 0xFFFFFFFF81000000
SAMPLE, INTERVAL_SET = 46, 72


class HotTest(SymbolsTest):
    def hot(self, *records, shown=0, per_processor=None, options=()):
        """What is told, and of each function how often it was where the processor was, and on the
        stack."""
        path = self.write("a.etl", etl.trace(per_processor or [(0, list(records))]))
        out, _ = self.run_etwas("stat", "--hot", "--limit", str(shown), "--json", *options, path)
        told = json.loads(out)
        return told, {(f["function"], f["image"]): (f["samples"], f["total_samples"])
                      for f in told["functions"]}


class Counts(HotTest):
    KERNEL = [etl.kernel_symbol(T, TEXT, 0x100, "schedule"),
              etl.kernel_symbol(T, TEXT + 0x100, 0x100, "do_wait")]
    A, B = image(HERE, T, "/none/a"), image(HERE, T, "/none/b", base=BASE + 0x100000)

    def test_samples_are_counted_by_function_and_those_on_the_stack_once(self):
        records = [*self.KERNEL, self.A, self.B,
                   etl.sample(T + 1, 11, TEXT + 1),
                   etl.stack_walk(T + 1, T + 1, 11, TEXT + 1, TEXT + 0x101, TEXT + 0x109,
                                  TEXT + 0x9999),
                   etl.stack_walk(T + 1, T + 1, 11, BASE + 5, BASE + 6, BASE + 0x100007),
                   etl.sample(T + 2, 11, BASE + 9), etl.stack_walk(T + 2, T + 2, 11, BASE + 9,
                                                                   BASE + 0x100000),
                   etl.sample(T + 3, 11, TEXT + 2)]
        told, functions = self.hot(*records)
        self.assertEqual((told["samples"], told["with_stack"], told["idle"],
                          told["function_count"]), (3, 2, 0, 5))
        # Behind the call at b's first byte is a's last.
        self.assertEqual(functions, {("schedule", "vmlinux"): (2, 2),
                                     ("do_wait", "vmlinux"): (0, 1), (None, "a"): (1, 2),
                                     (None, "b"): (0, 1), (None, None): (0, 1)})
        first = told["functions"][0]
        self.assertEqual((first["function"], first["kernel"], first["changed"]),
                         ("schedule", True, False))
        self.assertAlmostEqual(first["share"], 2 / 3, 5)
        self.assertEqual(self.hot(*records, shown=2)[0]["functions"], told["functions"][:2])

    def test_stacks_that_go_on_are_cut_at_their_root_and_counted(self):
        records = [*self.KERNEL, self.A, etl.sample(T + 1, 11, TEXT),
                   etl.stack_walk(T + 1, T + 1, 11, TEXT),
                   etl.stack_walk(T + 1, T + 1, 11, BASE + 5, 2**64 - 1),
                   etl.sample(T + 2, 11, BASE + 9),
                   etl.stack_walk(T + 2, T + 2, 11, BASE + 9, 2**64 - 1),
                   etl.sample(T + 3, 11, BASE + 9), etl.stack_walk(T + 3, T + 3, 11, BASE + 9)]
        told, functions = self.hot(*records)
        self.assertEqual((told["with_stack"], told["cut"], functions[("[cut]", None)]),
                         (3, 2, (0, 2)))
        path = self.write("a.etl", etl.trace([(0, records)], name="NT Kernel Logger"))
        out, _ = self.run_etwas("stat", "--hot", path)
        self.assertIn("\n  cut           2 of the stacks, 66.7% of the samples", out)
        self.assertRegex(out, r"\n\[cut\] +user +0 +0.0% +2 +66.7%\n")
        out, _ = self.run_etwas("convert", "--to", "folded", path)
        self.assertEqual(out, "[a] 1\n[cut];[a] 1\n[cut];[a];schedule 1\n")
        out, _ = self.run_etwas("convert", "--to", "speedscope", path)
        self.assertIn('{"name":"[cut]"}', out)
        for target in ("pprof", "perfetto"):
            file = os.path.join(self.folder, target)
            self.run_etwas("convert", "--to", target, "-o", file, path)
            with open(file, "rb") as made:
                data = made.read()
            self.assertIn(b"[cut]", gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        out, _ = self.run_etwas("dump", "--symbols", path)
        self.assertEqual(out.count(" < [cut]\n"), 2)
        for options, count in ([], 2), (["--symbols"], 4):
            out, _ = self.run_etwas("dump", "--json", *options, path)
            self.assertEqual(out.count('"[cut]"'), count)

    def test_the_stack_is_that_of_the_processors_last_sample(self):
        told, functions = self.hot(per_processor=[
            (0, [*self.KERNEL, etl.sample(T + 1, 11, TEXT),
                 etl.stack_walk(T + 1, T + 1, 11, TEXT, TEXT + 0x101),
                 etl.stack_walk(T + 2, T + 2, 11, TEXT + 0x201), etl.sample(T + 3, 11, TEXT)]),
            (1, [etl.sample(T + 1, 12, TEXT + 0x101), etl.switch(T + 2, 1, 2),
                 etl.stack_walk(T + 2, T + 2, 11, TEXT), etl.stack_walk(T + 5, T + 5, 11, TEXT)])])
        self.assertEqual((told["samples"], told["with_stack"]), (3, 1))
        self.assertEqual(functions, {("schedule", "vmlinux"): (2, 2),
                                     ("do_wait", "vmlinux"): (1, 2)})

    def test_without_a_stack_the_thread_says_the_process(self):
        _, functions = self.hot(self.A, image(HERE, T, "/none/other", process=20),
                                etl.sample(T + 1, 21, BASE + 1), etl.sample(T + 2, 22, BASE + 1),
                                etl.thread_event(HERE[1], T + 3, 20, 21))
        self.assertEqual(functions, {(None, "other"): (1, 1), (None, None): (1, 1)})

    def test_samples_are_chosen_by_time_thread_and_process_with_their_stacks(self):
        other = 20
        per_processor = [
            (0, [*self.KERNEL, etl.thread_event(HERE[1], T, other, 21),
                 etl.sample(T + 10_000_000, 11, TEXT),
                 etl.stack_walk(T + 10_000_000, T + 10_000_000, 11, TEXT, TEXT + 0x101),
                 etl.sample(T + 20_000_000, 21, TEXT + 0x100),
                 etl.stack_walk(T + 20_000_000, T + 20_000_000, 21, TEXT + 0x100, TEXT + 1),
                 etl.sample(T + 30_000_000, 0, TEXT)]),
            (1, [etl.sample(T + 30_000_000, 21, TEXT)])]
        schedule, wait = ("schedule", "vmlinux"), ("do_wait", "vmlinux")
        for options, found, left_out in (
                ((), {schedule: (2, 3), wait: (1, 2)}, 0),
                (("--until", "+1.5"), {schedule: (1, 1), wait: (0, 1)}, 3),
                (("--from", "+1.5"), {schedule: (1, 2), wait: (1, 1)}, 1),
                (("--tid", "11"), {schedule: (1, 1), wait: (0, 1)}, 3),
                (("--pid", str(other)), {schedule: (1, 2), wait: (1, 1)}, 2),
                (("--cpu", "1"), {schedule: (1, 1)}, 3),
                (("--where", "fields.ThreadId == 21", "--cpu", "0"),
                 {schedule: (0, 1), wait: (1, 1)}, 3)):
            told, functions = self.hot(per_processor=per_processor, options=options)
            self.assertEqual((functions, told["left_out"]), (found, left_out), options)
        self.assertEqual(told["idle"], 0)
        path = os.path.join(self.folder, "a.etl")
        out, error = self.run_etwas("stat", "--hot", "--tid", "99", path)
        self.assertIn("\n  left out      4 more, by what was chosen\n", out)
        self.assertNotIn("There are no samples", out)
        self.assertIn("note: no event is as chosen: tid == 99", error)

    def test_idle_processors_are_left_out(self):
        told, functions = self.hot(*self.KERNEL, etl.sample(T + 1, 0, TEXT),
                                   etl.stack_walk(T + 1, T + 1, 0, TEXT),
                                   etl.sample(T + 2, 11, TEXT))
        self.assertEqual((told["samples"], told["idle"], told["with_stack"]), (1, 1, 0))
        self.assertEqual(functions, {("schedule", "vmlinux"): (1, 1)})

    def test_records_that_make_no_sense_are_passed_over(self):
        short = [etl.kernel(etl.PERFORMANCE_GROUP, SAMPLE, T, bytes(n)) for n in range(12)]
        stacks = [etl.stack_walk(T, T, 11, *[TEXT + 1] * 100), etl.kernel(0x18, 32, T, bytes(15))]
        told, functions = self.hot(*short, *stacks, *self.KERNEL, etl.sample(T, 11, TEXT),
                                   stacks[0], stacks[0],
                                   etl.kernel(etl.PERFORMANCE_GROUP, INTERVAL_SET, T, bytes(7)),
                                   etl.kernel(etl.PERFORMANCE_GROUP, INTERVAL_SET, T,
                                              struct.pack("<II", 0, 2000), 3))
        self.assertEqual((told["samples"], told["interval"]), (1, 200_000))
        self.assertEqual(functions, {("schedule", "vmlinux"): (1, 1)})

    def test_it_is_reported_in_words(self):
        path = self.write("a.etl",
                          etl.trace([(0, [*self.KERNEL, self.A, etl.sample(T + 1, 11, TEXT),
                                          etl.stack_walk(T + 1, T + 1, 11, TEXT, TEXT + 0x101)])]))
        out, _ = self.run_etwas("stat", "--hot", path)
        self.assertEqual(
            out, f"{path}\n  samples       1\n  stacks        1 of the samples have one\n\n"
                 "function             mode    self          total\n"
                 "schedule in vmlinux  kernel     1  100.0%      1  100.0%\n"
                 "do_wait in vmlinux   kernel     0    0.0%      1  100.0%\n")
        self.assert_keys_documented("stat", self.hot(*self.KERNEL, etl.sample(T, 11, TEXT))[0])
        nothing = self.write("b.etl", etl.trace([(0, [etl.classic(RED, T)])]))
        self.assertIn("There are no samples", self.run_etwas("stat", "--hot", nothing)[0])
        for wrong in (["--hot", "--limit", "x"], ["--hot", "--cpu-time"], ["--hot", "--heap"],
                      ["--hot", "--where", "event_id =="], ["--hot", "--csv"]):
            self.run_etwas("stat", *wrong, path, expect=FAILED)


class Spinning(HotTest):
    def test_a_program_that_spins_does_so_in_its_function(self):
        self.need_libdw()
        path = os.path.join(self.folder, "k.etl")
        run = subprocess.run([self.etwas, "record", "-o", path, "--stack", "profile", "--kernel",
                              "process,thread,image_load,profile,no_sysconfig", "--",
                              self.program.path, "500"],
                             stderr=subprocess.PIPE, check=False, timeout=100)
        if run.returncode == FAILED and b"cannot record" in run.stderr:
            self.skip_since(run.stderr.decode())
        told = json.loads(self.run_etwas("stat", "--hot", "-n", "0", "--json", path)[0])
        functions = {f["function"]: f for f in told["functions"] if f["image"] == "spinner"}
        inside, outside = functions["spin_inside"], functions["spin_outside"]
        # A sample a millisecond of processor time, and nearly all of them there.
        self.assertGreater(inside["samples"], 100)
        self.assertGreater(inside["samples"], 0.8 * functions["main"]["total_samples"])
        self.assertGreater(outside["total_samples"], 0.9 * inside["samples"])
        self.assertLess(outside["samples"], 0.1 * inside["samples"] + 5)
        # The kernel's functions have names, where this process may see them.
        kernel = [f for f in told["functions"] if f["kernel"]]
        with open("/proc/kallsyms", encoding="utf-8") as symbols:
            if not symbols.readline().startswith("0000000000000000 ") or os.geteuid() == 0:
                self.assertGreater(sum(f["samples"] for f in kernel if f["function"]),
                                   0.9 * sum(f["samples"] for f in kernel) - 1)


if __name__ == "__main__":
    sys.exit(main())
