# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Stacks of programs without frame pointers, unwound from what is recorded of them.

usage: unwind_test.py PATH_OF_ETWAS PATH_OF_SPINNER_BARE WITH_LIBDW TEST_CLASS
"""

import json
import os
import re
import struct
import subprocess
import sys

import etl_build as etl
from symbols_test import SymbolsTest, T
from tool_case import FAILED, RED, main

MACHINES = {62: 0xFF01FF, 183: 0x1FFFFFFFF}


def user_stack(stamp, registers, stack=b"", machine=62, mask=None, version=1):
    """What a system logger records behind an event: registers by the mask's bits, and the stack."""
    mask = MACHINES.get(machine, 0xFF01FF) if mask is None else mask
    return etl.classic(etl.OWN_CLASS, stamp, kind=11, level=0,
                       payload=struct.pack(f"<IIIIqQ{len(registers)}Q", version, machine, 10, 11,
                                           stamp, mask, *registers) +
                       stack)


class Made(SymbolsTest):
    def registers(self, pointer, counter):
        """Of x86-64: ax to ip, r8 to r15."""
        return [0, 0, 0, 0, 0, 0, 0, pointer, counter, *[0] * 8]

    def test_a_frame_is_found_by_what_the_image_says_of_it(self):
        self.need_libdw()
        # At its first instruction a function has nothing on the stack but where it returns to.
        inside = self.at(0)
        outside = self.at(1, function="spin_outside")
        stack = struct.pack("<QQ", outside, 0)
        found, = self.symbols(*self.load(), user_stack(T + 1, self.registers(0x7FFF0000, inside),
                                                       stack))
        self.assertEqual(found[0], "spin_inside+0x0 in spinner_bare")
        if os.uname().machine == "x86_64":
            self.assertEqual(found[1], "spin_outside+0x1 in spinner_bare")

    def test_without_the_image_the_stack_ends(self):
        self.need_libdw()
        for load in ([], self.load(build_id="ab" * 20)):
            for found in self.symbols(*load, user_stack(T + 1, self.registers(0x7FFF0000,
                                                                              self.at(0)),
                                                        bytes(16))):
                self.assertEqual(found[1:], ["[cut]"])

    def test_why_has_what_was_unwound_behind_the_kernels_part(self):
        self.need_libdw()
        if os.uname().machine != "x86_64":
            self.skipTest("the return address is on the stack on x86-64 alone")
        stack = struct.pack("<QQ", self.at(1, function="spin_outside"), 0)
        # The part by frame pointers is shorter, and gives way to it.
        records = [*self.load(), etl.switch(T, 0, 11), etl.instance(RED, T + 50, 1, kind=1),
                   etl.switch(T + 100, 11, 22), etl.stack_walk(T + 100, T + 100, 11, 2**63 + 1),
                   etl.stack_walk(T + 100, T + 100, 11, self.at(0)),
                   user_stack(T + 100, self.registers(0x7FFF0000, self.at(0)), stack),
                   etl.switch(T + 300, 22, 11), etl.instance(RED, T + 400, 1, kind=2)]
        path = self.write("a.etl", etl.trace([(0, records)]))
        block, = json.loads(self.run_etwas("why", "--json", path)[0])["slowest"][0]["blocked_on"]
        self.assertEqual(block["call_stack_names"][:3],
                         ["0x8000000000000001", "spin_inside+0x0 in spinner_bare",
                          "spin_outside+0x1 in spinner_bare"])

    def test_records_that_make_no_sense_have_no_stack(self):
        whole = user_stack(T, self.registers(0x7FFF0000, self.at(0)), bytes(64))[48:]
        records = [etl.classic(etl.OWN_CLASS, T, kind=11, level=0, payload=whole[:n])
                   for n in range(0, len(whole) - 64, 30)]
        records += [user_stack(T, [1] * 17, version=2), user_stack(T, [1] * 17, machine=3),
                    user_stack(T, [], mask=0), user_stack(T, [5] * 64, mask=2**64 - 1),
                    user_stack(T, [2**64 - 1] * 17, bytes(100)),
                    user_stack(T, [1] * 33, bytes(7), machine=183),
                    user_stack(T, [7] * 16, mask=0xFF01FE)]
        for found in self.symbols(*self.load(), *records):
            self.assertLess(len(found), 3)


class Recorded(SymbolsTest):
    def test_a_program_without_frame_pointers_has_its_stack_to_its_start(self):
        self.need_libdw()
        path = os.path.join(self.folder, "k.etl")
        run = subprocess.run([self.etwas, "record", "-o", path, "--stack", "profile",
                              "--dwarf=4096", "--kernel",
                              "process,thread,image_load,profile,no_sysconfig", "--",
                              self.program.path, "300"],
                             stderr=subprocess.PIPE, check=False, timeout=100)
        if run.returncode == FAILED and b"cannot record" in run.stderr:
            self.skip_since(run.stderr.decode())
        events = [json.loads(line) for line in self.run_etwas("dump", "--symbols", "--json",
                                                              path)[0].splitlines()]
        stacks = [[re.sub(r"\+0x\w+ in .*", "", frame) for frame in event["call_stack_names"]]
                  for event in events
                  if event["event"].endswith("UserStack") and "call_stack_names" in event]
        spinning = [stack for stack in stacks if stack[0] == "spin_inside"]
        self.assertGreater(len(spinning), 50)
        whole = [stack for stack in spinning if stack[1:3] == ["spin_outside", "main"] and stack[-1]
                 == "_start"]
        self.assertGreater(len(whole), 0.9 * len(spinning))
        # A sample, its stack by frame pointers if there is one, and what that stack is unwound
        # from.
        self.assertTrue(all(len(event["fields"]["Words"]) <= 512 + 17 + 16 for event in events
                            if event["event"].endswith("UserStack")))
        told = json.loads(self.run_etwas("stat", "--hot", "-n", "0", "--json", path)[0])
        functions = {f["function"]: f for f in told["functions"] if f["image"] == "spinner_bare"}
        self.assertGreater(functions["spin_outside"]["total_samples"],
                           0.9 * functions["spin_inside"]["samples"])

    def test_sizes_that_cannot_be_are_refused(self):
        for size in ("0", "7", "32776", "x", ""):
            self.run_etwas("record", f"--dwarf={size}", "true", expect=FAILED)


if __name__ == "__main__":
    sys.exit(main())
