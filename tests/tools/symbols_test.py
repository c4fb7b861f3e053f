# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Addresses by name: stacks of made-up traces that name a real program.

usage: symbols_test.py PATH_OF_ETWAS PATH_OF_SPINNER WITH_LIBDW TEST_CLASS
"""

import json
import os
import re
import struct
import subprocess
import sys

import etl_build as etl
from tool_case import RED, ToolTest, main

T = 1_000_001  # the first event of the files here
IMAGE_GROUP, PROCESS_GROUP = 0x14, 0x03
LOAD, UNLOAD, HERE, LAST = (PROCESS_GROUP, 10), (IMAGE_GROUP, 2), (IMAGE_GROUP, 3), (IMAGE_GROUP, 4)
BASE = 0x7F0000000000
IMAGE_CLASS = "2cb15d1d-5fc1-11d2-abe1-00a0c911f518"
BUILD_CLASS = "b3e675d7-2554-4f18-830b-2762732560de"


def image(kind, stamp, path, base=BASE, size=0x100000, process=10, first=0):
    """An event of the system logger, version 3."""
    return etl.system(*kind, stamp, struct.pack("<QQIIIIQ4I", base, size, process, 0, 0, 0, first,
                                                0, 0, 0, 0) +
                      etl.utf16(path), process=process)


def own_image(kind, stamp, path, base, first, size=0x100000, process=10):
    """An image of a session that takes stacks, version 2."""
    return etl.classic(IMAGE_CLASS, stamp, kind=kind, level=2, version=2, process=process,
                       payload=struct.pack("<QQI3IQ4I", base, size, process, 0, 0, 0, first, 0, 0,
                                           0, 0) +
                       etl.utf16(path))


def build(stamp, build_id, base=BASE, process=10):
    name = f".build-id/{build_id[:2]}/{build_id[2:]}.debug"
    return etl.classic(BUILD_CLASS, stamp, kind=36, level=2, process=process,
                       payload=struct.pack("<QI", base, process) + bytes.fromhex(build_id)[:16] +
                       struct.pack("<I", 0) + name.encode() + b"\0")


class Program:
    """A program's build id, where its functions are, and where its first part is."""

    def __init__(self, path):
        told = subprocess.run(["readelf", "-nlsW", path], stdout=subprocess.PIPE,
                              check=True).stdout.decode()
        self.path = path
        self.build_id = re.search(r"Build ID: ([0-9a-f]+)", told)[1]
        self.functions = {name: (int(value, 16), int(size))
                          for value, size, name
                          in re.findall(r": ([0-9a-f]{16}) +(\d+) FUNC .* (\S+)\n", told)}
        self.parts = [tuple(int(number, 16) for number in found)
                      for found in re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", told)]
        self.first = self.parts[0][1]

    def address(self, function, offset):
        """As the symbols have it."""
        return self.functions[function][0] + offset

    def offset(self, function, offset):
        """In the file."""
        address = self.address(function, offset)
        return next(at + address - begin for at, begin, size in self.parts if 0 <= address
                    - begin < size)


class SymbolsTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.program = Program(sys.argv[2])

    def need_libdw(self):
        if sys.argv[3] != "with-libdw":
            self.skipTest("the command is built without libdw")

    def symbols(self, *records, name="a.etl"):
        """The stacks of a file, by names."""
        path = self.write(name, etl.trace([(0, list(records))]))
        out, _ = self.run_etwas("dump", "--symbols", "--json", path)
        return [event["call_stack_names"] for event in map(json.loads, out.splitlines())
                if "call_stack_names" in event]

    def at(self, offset, base=BASE, function="spin_inside"):
        return base + self.program.offset(function, offset)

    def load(self, stamp=T, kind=LOAD, build_id=None, **options):
        return [build(stamp, build_id or self.program.build_id),
                image(kind, stamp, self.program.path, **options)]


class Names(SymbolsTest):
    def test_a_frame_is_a_function_of_the_image_that_is_there(self):
        self.need_libdw()
        size = self.program.functions["spin_inside"][1]
        # The last one is behind a call that ends the function.
        stack = etl.stack_walk(T + 5, T + 5, 11, self.at(0), self.at(3, function="spin_outside"),
                               self.at(size))
        self.assertEqual(self.symbols(*self.load(), stack),
                         [["spin_inside+0x0 in spinner", "spin_outside+0x3 in spinner",
                           f"spin_inside+0x{size:X} in spinner"]])
        path = os.path.join(self.folder, "a.etl")
        self.assertIn(
            f" spin_inside+0x0 in spinner < spin_outside+0x3 in spinner < spin_inside+0x{size:X} "
            "in spinner\n", self.run_etwas("dump", "--symbols", path)[0])
        self.assertIn(',spin_inside+0x0 in spinner < ',
                      self.run_etwas("dump", "--symbols", "--csv", path)[0].replace("\r", ""))

    def test_functions_that_are_inlined_are_shown_before_the_one_around_them(self):
        self.need_libdw()
        addresses = [self.at(i, function="spin_around")
                     for i in range(self.program.functions["spin_around"][1])]
        found, = self.symbols(*self.load(), etl.stack_walk(T + 5, T + 5, 11, addresses[0],
                                                           *[a + 1 for a in addresses]))
        inlined = ["spin_innermost (inlined) in spinner", "spin_middle (inlined) in spinner"]
        at = found.index(inlined[0])
        self.assertEqual(found[at:at + 2], inlined)
        self.assertRegex(found[at + 2], r"^spin_around\+0x[0-9A-F]+ in spinner$")
        self.assertRegex(found[0], r"^spin_around\+0x0 in spinner$")  # which makes its frame
        # The first address that is of all three, as a sample: its stack, and what is where the
        # processor was.
        offset = int(found[at + 2].split("+0x")[1].split()[0], 16) - 1
        address = addresses[offset]
        records = [*self.load(), etl.sample(T + 5, 11, address),
                   etl.stack_walk(T + 5, T + 5, 11, address)]
        path = self.write("i.etl", etl.trace([(0, records)], name="NT Kernel Logger"))
        told = json.loads(self.run_etwas("stat", "--hot", "--json", path)[0])
        self.assertEqual({f["function"]: (f["samples"], f["total_samples"])
                          for f in told["functions"]},
                         {"spin_innermost": (1, 1), "spin_middle": (0, 1), "spin_around": (0, 1)})
        self.assertEqual(told["without_inlined"], 0)
        self.assertEqual(self.run_etwas("convert", "--to", "folded", path)[0],
                         "spin_around;spin_middle;spin_innermost 1\n")
        made = os.path.join(self.folder, "perfetto")
        self.run_etwas("convert", "--to", "perfetto", "-o", made, path)
        with open(made, "rb") as file:
            data = file.read()
        for name in (b"spin_around", b"spin_middle", b"spin_innermost"):
            self.assertIn(name, data)

    def test_what_is_inlined_in_an_image_without_debug_information_is_said_to_be_hidden(self):
        path = self.write("i.etl",
                          etl.trace([(0, [image(LOAD, T, "/none/a"),
                                          etl.sample(T + 5, 11, BASE + 5),
                                          etl.stack_walk(T + 5, T + 5, 11, BASE + 5)])]))
        self.assertEqual(json.loads(self.run_etwas("stat", "--hot", "--json",
                                                   path)[0])["without_inlined"], 1)
        self.assertIn("\n  inlined       1 samples of images without debug information",
                      self.run_etwas("stat", "--hot", path)[0])

    def test_an_image_whose_first_byte_is_not_mapped_says_where_it_begins(self):
        self.need_libdw()
        first = 0x1000
        stack = etl.stack_walk(T + 5, T + 5, 11, self.at(4) - first)
        self.assertEqual(self.symbols(*self.load(first=first), stack),
                         [["spin_inside+0x4 in spinner"]])

    def test_the_stacks_of_a_program_that_records_itself_have_names(self):
        self.need_libdw()
        first, base = self.program.first, BASE
        size = self.program.functions["spin_inside"][1]
        frames = [base - first + self.program.address("spin_inside", offset)
                  for offset in (4, size)]
        event = etl.tl_event(RED, T + 5, "p", "e",
                             items=etl.extended_item(6, struct.pack("<QQQ", 0, *frames), False))
        records = [own_image(3, T, self.program.path, base, first),
                   build(T, self.program.build_id, base)]
        self.assertEqual(self.symbols(*records, event),
                         [["spin_inside+0x4 in spinner", f"spin_inside+0x{size:X} in spinner"]])

    def test_why_names_the_functions_of_the_stack_that_blocked(self):
        self.need_libdw()
        kernel = [etl.switch(T, 0, 11), etl.switch(T + 100, 11, 22),
                  etl.stack_walk(T + 100, T + 100, 11, 2**63 + 1),
                  etl.stack_walk(T + 100, T + 100, 11, self.at(0), self.at(9)),
                  etl.switch(T + 300, 22, 11)]
        program = [etl.instance(RED, T + 50, 1, kind=1), etl.instance(RED, T + 400, 1, kind=2)]
        path = self.write("k.etl", etl.trace([(0, self.load() + kernel)]))
        more = self.write("p.etl", etl.trace([(0, program)]))
        told = json.loads(self.run_etwas("why", "--json", path, more)[0])
        block, = told["slowest"][0]["blocked_on"]
        self.assertEqual(block["call_stack_names"],
                         ["0x8000000000000001", "spin_inside+0x0 in spinner",
                                            "spin_inside+0x9 in spinner"])
        self.assertIn(
            "at 0x8000000000000001\n             spin_inside+0x0 in spinner\n             "
            "spin_inside+0x9 in spinner\n", self.run_etwas("why", path, more)[0])

    def test_fields_that_are_addresses_of_code_have_names_behind_them(self):
        self.need_libdw()
        kernel, code = 0xFFFFFFFF81000000, self.at(4)
        start = struct.pack("<II7QIBBBB", 12, 13, 0, 0, 0, 0, 0, code, 0, 0, 0, 0, 0, 0)
        events = [etl.kernel_symbol(T, kernel, 0x80, "tick"),
                  image(HERE, T, "/none/other", process=12), etl.thread_event(3, T, 10, 11),
                  etl.sample(T + 1, 11, code), etl.sample(T + 2, 99, code),
                  etl.sample(T + 3, 99, kernel + 0x10), etl.kernel(etl.PERFORMANCE_GROUP, 66, T + 4,
                                                                   struct.pack("<qQ", T, kernel)),
                  etl.kernel(etl.PERFORMANCE_GROUP, 68, T + 5, struct.pack("<qQ", T, 7)),
                  etl.system(etl.FAULT_GROUP, 11, T + 6, struct.pack("<QQ", code, code), version=2),
                  etl.system(etl.THREAD_GROUP, 1, T + 7, start)]
        path = self.write("a.etl", etl.trace([(0, [*self.load(), *events])]))
        name, other = "spin_inside+0x4 in spinner", f"other+0x{code - BASE:X}"
        out, _ = self.run_etwas("dump", "--symbols", "-c",
                                "event,InstructionPointer,Routine,ProgramCounter,VirtualAddress",
                                path)
        self.assertEqual([line.partition(" ")[2] for line in out.splitlines() if "PerfInfo" in line
                          or "Fault" in line],
                         [f"0x{code:X} ({name}) - - -", f"0x{code:X} - - -",
                          f"0x{kernel + 0x10:X} (tick+0x10 in vmlinux) - - -",
                          f"- 0x{kernel:X} (tick+0x0 in vmlinux) - -", "- SCHED - -",
                          f"- - 0x{code:X} ({name}) 0x{code:X}"])
        out, _ = self.run_etwas("dump", "--symbols", path)
        self.assertIn(f" InstructionPointer=0x{code:X} ({name}) ThreadId=11 ", out)
        self.assertIn(f" Win32StartAddr=0x{code:X} ({other}) ", out)
        self.assertNotIn("spin_inside", self.run_etwas("dump", path)[0])
        out, _ = self.run_etwas("dump", "--symbols", "--json", path)
        told = [event for event in map(json.loads, out.splitlines()) if "field_names" in event]
        self.assertEqual([event["field_names"] for event in told if not event["event"]
                          .endswith("Thread/DCStart")],
                         [{"InstructionPointer": name}, {"InstructionPointer": None},
                          {"InstructionPointer": "tick+0x10 in vmlinux"},
                          {"Routine": "tick+0x0 in vmlinux"}, {"Routine": None},
                          {"ProgramCounter": name},
                          {"Win32StartAddr": other}])
        self.assertEqual(next(event for event in told
                              if "Sample" in event["event"])["fields"]["InstructionPointer"], code)

    def test_an_address_without_a_function_is_one_of_its_image(self):
        stack = etl.stack_walk(T + 5, T + 5, 11, BASE + 1, BASE + 0x100000, BASE + 0x100001, 0,
                               2**63 + 5)
        self.assertEqual(self.symbols(*self.load(), stack),
                         [["spinner+0x1", "spinner+0x100000", f"0x{BASE + 0x100001:X}", "0x0",
                           "0x8000000000000005"]])


class Builds(SymbolsTest):
    def test_a_file_that_changed_since_is_reported_and_not_guessed_at(self):
        self.need_libdw()
        other = "ab" * 20
        stack = etl.stack_walk(T + 5, T + 5, 11, self.at(4))
        offset = self.program.offset("spin_inside", 4)
        self.assertEqual(self.symbols(*self.load(build_id=other), stack),
                         [[f"spinner+0x{offset:X} (changed since)"]])

    def test_a_file_whose_build_is_not_known_is_not_looked_at(self):
        stack = etl.stack_walk(T + 5, T + 5, 11, self.at(4))
        offset = self.program.offset("spin_inside", 4)
        self.assertEqual(self.symbols(image(LOAD, T, self.program.path), stack),
                         [[f"spinner+0x{offset:X}"]])

    def test_a_file_that_is_not_here_is_named(self):
        for path, shown in (("/does/not/exist", "exist"), ("/dev/zero", "zero"),
                            ("spinner", "spinner"),
                            ("\\Device\\Disk\\ntdll.dll", "ntdll.dll"), ("", "")):
            stack = etl.stack_walk(T + 5, T + 5, 11, BASE + 0x12)
            records = [build(T, self.program.build_id), image(LOAD, T, path)]
            self.assertEqual(self.symbols(*records, stack), [[f"{shown}+0x12"]])


class Times(SymbolsTest):
    """Images by their offsets: what is there at what time."""

    def test_an_image_is_there_from_its_load_to_its_unload(self):
        a, b = "/none/a", "/none/b"
        found = self.symbols(etl.stack_walk(T, T, 11, BASE + 1), image(LOAD, T + 1, a),
                             etl.stack_walk(T + 2, T, 11, BASE + 1), image(UNLOAD, T + 3, a),
                             etl.stack_walk(T + 4, T, 11, BASE + 1), image(LOAD, T + 5, b),
                             etl.stack_walk(T + 6, T, 11, BASE + 1), image(LAST, T + 7, b),
                             etl.stack_walk(T + 8, T, 11, BASE + 1))
        none = [f"0x{BASE + 1:X}"]
        self.assertEqual(found, [none, ["a+0x1"], none, ["b+0x1"], ["b+0x1"]])

    def test_what_was_there_before_the_trace_was_there_from_its_beginning(self):
        c = 0x10000000
        found = self.symbols(etl.stack_walk(T, T, 11, BASE + 1, BASE + c, BASE + 2 * c),
                             image(HERE, T + 1, "/none/here"),
                             image(UNLOAD, T + 2, "/none/gone", base=BASE + c - 1),
                             image(LAST, T + 3, "/none/last", base=BASE + 2 * c - 1),
                             etl.stack_walk(T + 4, T, 11, BASE + 1, BASE + c, BASE + 2 * c))
        self.assertEqual(found, [["here+0x1", "gone+0x1", "last+0x1"],
                                 ["here+0x1", f"0x{BASE + c:X}", "last+0x1"]])

    def test_each_process_has_images_of_its_own_and_all_have_the_kernels(self):
        kernel = 0xFFFFFFFF81000000
        found = self.symbols(image(HERE, T, "/none/other", process=12),
                             image(HERE, T, "/none/wide", size=0x40000000),
                             image(HERE, T, "/none/inside", base=BASE + 0x10000),
                             image(HERE, T, "vmlinux", base=kernel, size=0x1000000, process=0),
                             etl.stack_walk(T + 1, T, 11, kernel + 0x20, kernel + 0x30),
                             etl.stack_walk(T + 1, T, 11, BASE + 0x10005, BASE + 0x20000000))
        self.assertEqual(found, [["vmlinux+0x20", "vmlinux+0x30"],
                                 ["inside+0x5", "wide+0x20000000"]])

    def test_events_that_make_no_sense_are_passed_over(self):
        broken = [etl.system(*LOAD, T, b""), etl.system(*LOAD, T, bytes(7)),
                  image(LOAD, T, "/none/a", size=0),
                  image(LOAD, T, "/none/a", base=2**64 - 1, size=2), build(T, "ab", base=5),
                  etl.system(*LOAD, T, bytes(60)), etl.classic(BUILD_CLASS, T, kind=36, level=2,
                                                               payload=bytes(33)),
                  etl.kernel(0x18, 32, T, bytes(15)), etl.kernel(0x18, 32, T, bytes(16)),
                  etl.kernel(0x18, 32, T, bytes(23))]
        self.assertEqual(self.symbols(*broken, etl.stack_walk(T, T, 11, 1, 2**64 - 1, 0)),
                         [["0x1", "[cut]", "0x0"]])


class Kernel(SymbolsTest):
    TEXT = 0xFFFFFFFF81000000

    def kernel(self, *records, frames):
        stack = etl.stack_walk(T, T, 11, *(self.TEXT + frame for frame in frames))
        return self.symbols(stack, *records)[0]

    def test_the_kernels_functions_are_those_that_the_trace_says(self):
        symbols = [etl.kernel_symbol(T + 1, self.TEXT + 0x100, 0x80, "schedule"),
                   etl.kernel_symbol(T + 1, self.TEXT, 0x10, "a"),
                   etl.kernel_symbol(T + 1, self.TEXT + 0x1000, 0x10, "nft_do_chain", "nf_tables")]
        self.assertEqual(self.kernel(*symbols, frames=[0x100, 0x180, 0x100, 0x10, 0x1001, 0x1011]),
                         ["schedule+0x0 in vmlinux", "schedule+0x80 in vmlinux",
                          "0xFFFFFFFF81000100", "a+0x10 in vmlinux",
                          "nft_do_chain+0x1 in nf_tables", "0xFFFFFFFF81001011"])
        # Beside images their names are shown, and what is in no function is in them.
        images = [image(HERE, T, "vmlinux", base=self.TEXT, size=0x800, process=0),
                  image(HERE, T, "nf_tables.ko", base=self.TEXT + 0x1000, size=0x800, process=0)]
        self.assertEqual(self.kernel(*images, *symbols, frames=[0x100, 0x200, 0x1001, 0x1020]),
                         ["schedule+0x0 in vmlinux", "vmlinux+0x200",
                          "nft_do_chain+0x1 in nf_tables.ko", "nf_tables.ko+0x20"])

    def test_the_last_word_on_an_address_counts(self):
        symbols = [etl.kernel_symbol(T + 1, self.TEXT, 0x10, "old"),
                   etl.kernel_symbol(T + 2, self.TEXT, 0x20, "new")]
        self.assertEqual(self.kernel(*symbols, frames=[0x15]), ["new+0x15 in vmlinux"])

    def test_records_that_make_no_sense_are_passed_over(self):
        whole = etl.kernel_symbol(T, self.TEXT, 0x10, "name", "module")
        broken = [etl.classic(etl.OWN_CLASS, T, kind=9, level=0, payload=whole[48:48 + n])
                  for n in range(len(whole) - 48)]
        wrong = [etl.kernel_symbol(T, self.TEXT, 2**64 - 1, "wide"),
                 etl.kernel_symbol(T, self.TEXT, 0x10, "later", version=2),
                 etl.kernel_symbol(T, self.TEXT, 0, "empty")]
        self.assertEqual(self.kernel(*broken, *wrong, frames=[0]), ["0xFFFFFFFF81000000"])

    def test_they_are_no_events_for_stat(self):
        path = self.write("a.etl",
                          etl.trace([(0, [etl.kernel_symbol(T, self.TEXT, 0x10, "name")])]))
        told, = self.stat_json(path)
        self.assertEqual((told["events"], told["header_events"]), (0, 2))
        self.assertIn(
            'etwas/Etwas/KernelSymbol Version=1 LeftOut=0 Address=0xFFFFFFFF81000000 Bytes=16 '
            'Name="name" Module=""', self.run_etwas("dump", "--all", path)[0])


if __name__ == "__main__":
    sys.exit(main())
