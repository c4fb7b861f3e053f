# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""heaptrace --stacks and etwas stat --heap: bytes by call stack, allocated and never freed.

usage: heap_test.py HEAPTRACE ETWAS FOLDER TEST_CLASS

FOLDER has the programs: stacks in each of its forms, its libraries, and forge.
"""

import json
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter

HEAPTRACE = ETWAS = FOLDER = ""
MALLOC, CALLOC, REALLOC, FREE, IMAGE = 10, 11, 12, 14, 20

# The program's own frames, from the innermost outwards: bytes and blocks never freed, and
# allocated. A signal's number is in what its handler allocates.
STACKS = {
    ("allocate", "leak", "main", "_start"): (300, 3, 1000, 10),
    ("grow", "main", "_start"): (40, 1, 100, 4),
    ("allocate", *["deep"] * 20, "main", "_start"): (201, 1, 201, 1),
    ("allocate", "aligned_frame", "main", "_start"): (302, 1, 302, 1),
    ("allocate", "dynamic_frame", "main", "_start"): (403, 1, 403, 1),
    ("allocate", "large_frame", "main", "_start"): (504, 1, 504, 1),
    ("allocate", "in_thread"): (705, 1, 705, 1),
    ("call_library", "main", "_start"): (1612, 2, 1612, 2),
}
# As it is by the ABI of one processor.
OF_X86_64 = {
    # With a frame pointer that is none there is nothing to go by.
    ("wild_pointer",): (7200, 8, 7200, 8),
    ("allocate", "on_signal", "interrupted", "take_signals", "main", "_start"): (1222, 2, 1222, 2),
}
# Frame pointers end where crt1.o begins.
OUTERMOST = "_start"


class HeapTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.trace = os.path.join(self.folder, "out.etl")

    def run_command(self, *command, **options):
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False, timeout=60, **options)

    def heap(self, code=0, options=("--heap", "-n", "0")):
        result = self.run_command(ETWAS, "stat", "--json", *options, self.trace)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return json.loads(result.stdout)


class Profile(HeapTest):
    """Stacks and bytes of a program that knows them, and of programs that know nothing."""

    def run_traced(self, *program, options=("--stacks=64",)):
        counts = os.path.join(self.folder, "counts.json")
        result = self.run_command(HEAPTRACE, "-o", self.trace, "--counts", counts, *options, "--",
                                  *program)
        with open(counts, encoding="utf-8") as file:
            counted = json.load(file)
        self.assertEqual((counted["lost"], counted["under_way"]), (0, 0))
        self.assertEqual(counted["recorded"], counted["attempted"])
        return result, counted

    def run_stacks(self, name, **options):
        result, counted = self.run_traced(
            os.path.join(FOLDER, name), os.path.join(FOLDER, "libheaptrace_stacks_first.so"),
            os.path.join(FOLDER, "libheaptrace_stacks_second.so"), **options)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return counted

    def functions(self, name):
        """Addresses and names of the functions of a program that has symbols."""
        result = self.run_command("nm", "--defined-only", "-n", os.path.join(FOLDER, name))
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        lines = (line.split() for line in result.stdout.decode().splitlines())
        # A compiler's own version of a function is called deep.constprop.0.
        return [(int(words[0], 16), words[2].split(".")[0]) for words in lines if words[1] in "tT"]

    def chains(self, heap, name, with_symbols):
        """
        The program's own frames, by name, of each stack on which it or a library of its own
        allocates, and what the stack holds.
        """
        functions = self.functions(with_symbols)
        found = {}
        for stack in heap["stacks"]:
            if "heaptrace_stacks_" not in stack["frames"][0].get("image", ""):
                continue
            offsets = [frame["image_offset"] - 1 for frame in stack["frames"]
                       if frame.get("image", "").endswith("/" + name)]
            chain = tuple([at[1] for at in functions if at[0] <= offset][-1] for offset in offsets)
            amounts = tuple(stack[key] for key in
                            ("live_bytes", "live_blocks", "allocated_bytes", "allocations"))
            found[chain] = tuple(map(sum, zip(found.get(chain, (0, 0, 0, 0)), amounts)))
        return found

    def check_stacks(self, name, with_symbols, outermost=True):
        self.run_stacks(name)
        heap = self.heap()
        chains = self.chains(heap, name, with_symbols)
        expected = dict(STACKS)
        if platform.machine() == "x86_64":
            expected.update(OF_X86_64)
        for chain, amounts in expected.items():
            if not outermost and chain[-1] == OUTERMOST:
                chain = chain[:-1]
            self.assertEqual(chains.get(chain), amounts, f"{chain}: {chains}")
        for key in ("unknown_frees", "unknown_reallocs", "replaced_blocks", "malformed"):
            self.assertEqual(heap[key], 0, key)
        return heap

    def test_stacks_are_found_with_frame_pointers(self):
        self.check_stacks("heaptrace_stacks_pointers", "heaptrace_stacks_pointers",
                          platform.machine() == "x86_64")

    @unittest.skipUnless(platform.machine() == "x86_64", "by frame pointers alone")
    def test_stacks_are_found_without_frame_pointers(self):
        self.check_stacks("heaptrace_stacks_none", "heaptrace_stacks_none")

    @unittest.skipUnless(platform.machine() == "x86_64", "by frame pointers alone")
    def test_stacks_are_found_in_a_stripped_program_without_frame_pointers(self):
        stripped = self.functions_of_stripped()
        self.assertEqual(stripped, b"")
        self.check_stacks("heaptrace_stacks_stripped", "heaptrace_stacks_none")

    def functions_of_stripped(self):
        return self.run_command("nm", os.path.join(FOLDER, "heaptrace_stacks_stripped")).stdout

    @unittest.skipUnless(platform.machine() == "x86_64",
                         "nothing else has call frame information here")
    def test_stacks_are_found_by_pointers_where_there_is_no_call_frame_information(self):
        self.check_stacks("heaptrace_stacks_bare", "heaptrace_stacks_bare")

    def test_a_library_in_the_place_of_another_is_told_from_it(self):
        self.run_stacks("heaptrace_stacks_pointers")
        images = Counter()
        for stack in self.heap()["stacks"]:
            for frame in stack["frames"]:
                if "libheaptrace_stacks_" in frame.get("image", ""):
                    images[os.path.basename(frame["image"])] += stack["allocations"]
        self.assertEqual(images, {"libheaptrace_stacks_first.so": 1,
                                  "libheaptrace_stacks_second.so": 1})

    def test_frames_are_no_more_than_asked_for(self):
        self.run_stacks("heaptrace_stacks_pointers", options=("--stacks=3",))
        heap = self.heap()
        cut = [stack for stack in heap["stacks"] if len(stack["frames"]) > 3]
        for stack in heap["stacks"]:
            marked = [frame.get("function") == "[cut]" for frame in stack["frames"]]
            self.assertEqual(marked, [False] * min(len(marked), 3) + [True] * (len(marked) - 3))
            self.assertLessEqual(len(marked), 4)
        self.assertGreater(len(cut), 0)
        self.assertEqual(heap["with_cut_stack"], sum(stack["allocations"] for stack in cut))
        text = self.run_command(ETWAS, "stat", "--heap", self.trace).stdout.decode()
        self.assertIn("      [cut]\n", text)
        self.assertRegex(
            text, rf"\n  cut +{heap['with_cut_stack']:,} allocations, whose stacks go on")
        self.run_stacks("heaptrace_stacks_pointers", options=("--stacks=128",))
        self.assertEqual(self.heap()["with_cut_stack"], 0)

    def test_stacks_change_no_count_of_calls(self):
        without = self.run_stacks("heaptrace_stacks_pointers", options=())["functions"]
        with_stacks = self.run_stacks("heaptrace_stacks_pointers")["functions"]
        self.assertEqual(without.pop("image")["attempted"], 0)
        # The program itself, the C library, two libraries, and what loads them.
        self.assertGreaterEqual(with_stacks.pop("image")["attempted"], 4)
        self.assertEqual(without, with_stacks)

    def test_bytes_are_the_same_without_stacks(self):
        amounts = []
        for options in ((), ("--stacks",)):
            self.run_stacks("heaptrace_stacks_pointers", options=options)
            heap = self.heap()
            amounts.append({key: heap[key] for key in
                            ("live_bytes", "live_blocks", "allocated_bytes", "allocations",
                             "frees")})
        self.assertEqual(amounts[0], amounts[1])

    def test_programs_do_not_notice_that_their_stacks_are_taken(self):
        python = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
        for program in (["ls", "-l", "/usr"],
                        ["bash", "-c", "for i in 1 2 3; do (echo $i; ls / | wc -l); done; exit 7"],
                        [python, "-c", "import json; print(json.dumps(list(range(1000))))"],
                        [python, "-c", "import threading as t\n"
                         "for i in range(20):\n"
                         "  x = t.Thread(target=lambda: [bytearray(5000) for _ in range(200)])\n"
                         "  x.start()\n"
                         "print('done')"],
                        ["sort", "--parallel=2", "/etc/passwd"]):
            with self.subTest(program=program):
                alone = self.run_command(*program)
                traced, _ = self.run_traced(*program)
                self.assertEqual((traced.returncode, traced.stdout, traced.stderr),
                                 (alone.returncode, alone.stdout, alone.stderr))
                heap = self.heap()
                self.assertGreater(heap["frames"], heap["allocations"])
                self.assertEqual((heap["malformed"], heap["images_left_out"]), (0, 0))

    def test_a_followed_child_names_the_images_in_its_own_trace(self):
        result, _ = self.run_traced("bash", "-c", "(echo $(echo a))", options=("-f", "--stacks"))
        self.assertEqual(result.returncode, 0)
        traces = [name for name in os.listdir(self.folder) if name.startswith("out.etl")]
        self.assertGreater(len(traces), 1)
        for name in traces:
            self.trace = os.path.join(self.folder, name)
            frames = [frame for stack in self.heap()["stacks"] for frame in stack["frames"]]
            self.assertGreater(len(frames), 0)
            self.assertEqual([frame for frame in frames if "image" not in frame], [])

    def test_text_has_the_stacks_that_hold_most(self):
        self.run_stacks("heaptrace_stacks_pointers")
        result = self.run_command(ETWAS, "stat", "--heap", "-n", "2", self.trace)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        text = result.stdout.decode()
        self.assertEqual(text.count("\n  never freed") - 1, 2)
        self.assertRegex(text, r"and +[0-9]+ more stacks")
        text = self.run_command(ETWAS, "stat", "--heap", "-n", "0", self.trace).stdout.decode()
        self.assertIn("never freed 300 bytes in 3 blocks; allocated 1,000 bytes in 10 blocks\n",
                      text)

    def test_functions_have_names_where_symbols_are_read(self):
        linked = self.run_command("ldd", ETWAS).stdout.decode()
        if "libdw" not in linked:
            self.skipTest("built without libdw")
        self.run_stacks("heaptrace_stacks_pointers")
        for stack in self.heap()["stacks"]:
            names = [frame.get("function") for frame in stack["frames"]]
            if names[:2] == ["allocate", "leak"]:
                self.assertEqual(stack["live_bytes"], 300)
                self.assertTrue(stack["frames"][1]["source_file"].endswith("stacks.c"))
                break
        else:
            self.fail("no stack of allocate and leak")

    def test_functions_of_cxx_are_named_as_they_were_written(self):
        if "libstdc++" not in self.run_command("ldd", ETWAS).stdout.decode():
            self.skipTest("built without libdw")
        self.run_traced(os.path.join(FOLDER, "heaptrace_stacks_names"))
        name = "shop::order<unsigned long>::place(unsigned long, char const*)"
        stack, = [stack for stack in self.heap()["stacks"] if stack["live_bytes"] == 77]
        self.assertEqual([frame.get("function") for frame in stack["frames"]][:2], [name, "main"])
        text = self.run_command(ETWAS, "stat", "--heap", "-n", "0", self.trace).stdout.decode()
        self.assertRegex(text, re.escape(name) + r"\+0x[0-9a-f]+ in heaptrace_stacks_names")


class Forged(HeapTest):
    """Traces that heaptrace would not write: counted, and nothing breaks."""

    def words(self, *numbers):
        return b"".join(number.to_bytes(8, "little") for number in numbers)

    def frames(self, *addresses, count=None):
        count = len(addresses) if count is None else count
        return count.to_bytes(2, "little") + self.words(*addresses)

    def image(self, base, size, path, build_id=b""):
        return self.words(base, size) + bytes([len(build_id)]) + build_id + path

    def forge(self, *events):
        """Each event: thread, type, version, data."""
        lines = "".join(f"{e[0]} {e[1]} {e[2]} {e[3].hex()}\n" for e in events)
        result = self.run_command(os.path.join(FOLDER, "heaptrace_forge"), self.trace,
                                  input=lines.encode())
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return self.heap()

    def check(self, heap, **expected):
        self.assertEqual({key: heap[key] for key in expected}, expected)

    def test_frees_and_reallocs_of_unknown_blocks_are_counted(self):
        heap = self.forge((0, FREE, 0, self.words(0, 0x1000)), (0, FREE, 0, self.words(0, 0)),
                          (0, REALLOC, 0, self.words(5, 0x2000, 0x3000)),
                          (0, FREE, 0, self.words(0, 0x2000)), (0, FREE, 0, self.words(0, 0x2000)))
        self.check(heap, unknown_frees=2, unknown_reallocs=1, frees=1, live_bytes=0, allocations=1)

    def test_a_realloc_that_failed_frees_nothing_and_one_to_nothing_frees(self):
        heap = self.forge((0, MALLOC, 0, self.words(7, 0x1000)),
                          (0, MALLOC, 0, self.words(8, 0x2000)),
                          (0, REALLOC, 0, self.words(99, 0, 0x1000)),
                          (0, REALLOC, 0, self.words(0, 0, 0x2000)),
                          (0, MALLOC, 0, self.words(9, 0)))
        self.check(heap, failed=2, frees=1, live_bytes=7, live_blocks=1, allocated_bytes=15)

    def test_a_block_in_the_place_of_one_that_lives_is_counted(self):
        heap = self.forge((0, MALLOC, 0, self.words(7, 0x1000)),
                          (0, MALLOC, 0, self.words(8, 0x1000)))
        self.check(heap, replaced_blocks=1, live_bytes=8, live_blocks=1, allocated_bytes=15)

    def test_a_realloc_that_is_logged_late_frees_no_block_of_another_thread(self):
        # Thread 0 moves its block away; thread 1 gets the old place, and its event comes first.
        heap = self.forge((0, MALLOC, 0, self.words(7, 0x1000)),
                          (1, MALLOC, 0, self.words(8, 0x1000)),
                          (0, REALLOC, 0, self.words(9, 0x2000, 0x1000)))
        self.check(heap, replaced_blocks=0, unknown_reallocs=0, live_bytes=17, live_blocks=2,
                   frees=1)

    def test_events_that_are_cut_short_are_counted(self):
        heap = self.forge((0, MALLOC, 0, b""), (0, MALLOC, 0, self.words(1)),
                          (0, REALLOC, 0, self.words(1, 2)), (0, MALLOC, 1, self.words(1, 2)),
                          (0, MALLOC, 1, self.words(1, 2) + b"\x01"),
                          (0, MALLOC, 1, self.words(1, 2) + self.frames(3, count=2)),
                          (0, MALLOC, 1, self.words(1, 2) + self.frames(count=65535)),
                          (0, IMAGE, 0, b""), (0, IMAGE, 0, self.words(4096, 4096) + b"\xff"),
                          (0, IMAGE, 0, self.image(4096, 4096, b"no end")),
                          (0, IMAGE, 0, self.image(2**64 - 4096, 8192, b"/a\0")),
                          (0, IMAGE, 0, self.image(4096, 0, b"/a\0")))
        self.check(heap, malformed=12, allocations=0, stack_count=0)

    def test_sizes_that_no_memory_has_do_not_matter(self):
        heap = self.forge((0, MALLOC, 0, self.words(2**64 - 1, 0x1000)),
                          (0, MALLOC, 0, self.words(2**64 - 1, 2**64 - 1)))
        self.check(heap, allocations=2, live_blocks=2)

    def test_an_image_holds_for_stacks_before_it_and_until_another_comes(self):
        block = self.frames(0x5010)
        heap = self.forge((0, MALLOC, 1, self.words(1, 0x100) + block),
                          (0, IMAGE, 0, self.image(0x5000, 0x1000, b"/first\0")),
                          (0, IMAGE, 0, self.image(0x5000, 0x1000, b"/first\0")),
                          (0, MALLOC, 1, self.words(2, 0x200) + block),
                          (0, IMAGE, 0, self.image(0x5008, 0x100, b"/second\0")),
                          (0, MALLOC, 1, self.words(4, 0x300) + block),
                          (0, MALLOC, 1, self.words(8, 0x400) + self.frames(0, 1, 2**64 - 2)))
        found = {stack["live_bytes"]: stack["frames"] for stack in heap["stacks"]}
        self.assertEqual(found[3], [{"address": "0x5010", "image": "/first", "image_offset": 16}])
        self.assertEqual(found[4], [{"address": "0x5010", "image": "/second", "image_offset": 8}])
        self.assertEqual([sorted(frame) for frame in found[8]], [["address"]] * 3)

    def test_a_path_from_a_trace_is_neither_followed_nor_printed_as_it_is(self):
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        paths = (pipe.encode(), b"/dev/tty", b"relative", b"/\x1b[31mred", b"/etc/passwd", b"")
        events = []
        for number, path in enumerate(paths, 1):
            events.append((0, IMAGE, 0, self.image(number << 16, 4096, path + b"\0", b"12345678")))
            events.append((0, MALLOC, 1, self.words(number, number << 16) +
                           self.frames((number << 16) + 1)))
        heap = self.forge(*events)
        self.check(heap, malformed=0, stack_count=len(paths))
        text = self.run_command(ETWAS, "stat", "--heap", self.trace)
        self.assertEqual(text.returncode, 0)
        self.assertNotIn(b"\x1b", text.stdout)

    def test_more_images_than_are_kept_are_counted(self):
        heap = self.forge(*((0, IMAGE, 0, self.image(i << 16, 4096, b"/a\0"))
                            for i in range(1, 4100)))
        self.check(heap, images_left_out=3)

    def test_many_stacks_and_blocks_are_exact(self):
        events = []
        for i in range(1, 5001):
            events.append((0, MALLOC, 1, self.words(i, i << 4) + self.frames(i, i % 7)))
        freed = [*range(1, 5001, 2), *range(2, 5001, 4)]
        for i in freed:
            events.append((0, FREE, 0, self.words(0, i << 4)))
        heap = self.forge(*events)
        self.check(heap, stack_count=5000, live_bytes=sum(range(4, 5001, 4)), live_blocks=1250,
                   frees=len(freed), unknown_frees=0)
        holding = [stack["live_bytes"] for stack in heap["stacks"]]
        self.assertEqual(holding, sorted(holding, reverse=True))

    def test_a_trace_with_wrong_bytes_is_read_or_refused(self):
        self.forge((0, IMAGE, 0, self.image(0x5000, 0x1000, b"/first\0")),
                   *((0, MALLOC, 1, self.words(i, i << 4) + self.frames(0x5010, i))
                     for i in range(1, 200)))
        with open(self.trace, "rb") as file:
            whole = bytearray(file.read())
        choose = random.Random(12)
        for _ in range(60):
            data = bytearray(whole)
            for _ in range(40):
                data[choose.randrange(len(data))] = choose.randrange(256)
            with open(self.trace, "wb") as file:
                file.write(data)
            result = self.run_command(ETWAS, "stat", "--heap", self.trace)
            self.assertIn(result.returncode, (0, 2, 3), result.stderr.decode())

    def test_a_wrong_number_of_stacks_is_refused(self):
        for number in ("many", "-1", "", "4294967296"):
            result = self.run_command(ETWAS, "stat", "--heap", f"--limit={number}", "x.etl")
            self.assertEqual(result.returncode, 2)
            self.assertIn(b"is not a whole number", result.stderr)


if __name__ == "__main__":
    HEAPTRACE, ETWAS, FOLDER = sys.argv[1:4]
    unittest.main(argv=[sys.argv[0], sys.argv[4]])
