# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas convert --to folded|speedscope|pprof`: the stacks of samples, of a heap, and of events.

usage: stacks_test.py PATH_OF_ETWAS TEST_CLASS
"""

import collections
import json
import os
import struct

import etl_build as etl
from symbols_test import BASE, HERE, T, image
from tool_case import FAILED, HEAP, NO, OUTPUT, RED, ToolTest, main

TEXT = 0xFFFFFFFF81000000
INTERVAL_SET = 72
MALLOC, FREE, IMAGE = 10, 14, 20


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def message(data):
    """The fields of a message of protocol buffers: number to values."""
    fields, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            assert tag & 7 == 2, tag
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        fields[tag >> 3].append(value)
    return fields


def numbers(data):
    found, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


class StacksTest(ToolTest):
    KERNEL = [etl.kernel_symbol(T, TEXT, 0x100, "schedule"),
              etl.kernel_symbol(T, TEXT + 0x100, 0x100, "do_wait"),
              etl.kernel(etl.PERFORMANCE_GROUP, INTERVAL_SET, T, struct.pack("<II", 0, 10_000), 3)]
    A, B = image(HERE, T, "/none/a"), image(HERE, T, "/none/b", base=BASE + 0x100000)
    SAMPLES = [etl.sample(T + 1, 11, TEXT + 1),
               etl.stack_walk(T + 1, T + 1, 11, TEXT + 1, TEXT + 0x101, TEXT + 0x109,
                              TEXT + 0x9999),
               etl.stack_walk(T + 1, T + 1, 11, BASE + 5, BASE + 6, BASE + 0x100007),
               etl.sample(T + 2, 11, BASE + 9), etl.stack_walk(T + 2, T + 2, 11, BASE + 9,
                                                               BASE + 0x100008),
               etl.sample(T + 3, 12, TEXT + 2), etl.sample(T + 4, 12, TEXT + 2),
               etl.sample(T + 5, 0, TEXT)]

    def trace(self, *events, name="a.etl"):
        return self.write(name, etl.trace([(0, list(events))]))

    def folded(self, *arguments, expect=0):
        """A list of frames, outermost first, and weight."""
        out, error = self.run_etwas("convert", "--to", "folded", *arguments, expect=expect)
        lines = [line.rsplit(" ", 1) for line in out.splitlines()]
        self.assertEqual(out.splitlines(), sorted(out.splitlines(),
                                                  key=lambda line: line.rsplit(" ", 1)[0].encode()))
        self.assertEqual(len({frames for frames, _ in lines}), len(lines))
        return [(frames.split(";"), int(weight)) for frames, weight in lines], error

    def speedscope(self, *arguments):
        """Of each profile its name and unit, and likewise."""
        told = json.loads(self.run_etwas("convert", "--to", "speedscope", *arguments)[0])
        self.assertIn("speedscope", told["$schema"])
        names = [frame["name"] for frame in told["shared"]["frames"]]
        profiles = []
        for profile in told["profiles"]:
            if profile["type"] == "evented":
                profiles.append((profile["name"], profile["unit"], self.slices(profile, names)))
                continue
            self.assertEqual(len(profile["samples"]), len(profile["weights"]))
            self.assertEqual((profile["type"], profile["startValue"], profile["endValue"]),
                             ("sampled", 0, sum(profile["weights"])))
            profiles.append((profile["name"], profile["unit"], [([names[i] for i in stack], weight)
                             for stack, weight in zip(profile["samples"], profile["weights"])]))
        return profiles

    def slices(self, profile, names):
        """Name, begin, end and depth of each, which are inside of each other, as speedscope wants
        them."""
        found, opened, last = [], [], profile["startValue"]
        for event in profile["events"]:
            self.assertGreaterEqual(event["at"], last)
            last = event["at"]
            if event["type"] == "O":
                opened.append((names[event["frame"]], event["at"]))
            else:
                name, begin = opened.pop()
                self.assertEqual(names[event["frame"]], name)
                found.append((name, begin, event["at"], len(opened)))
        self.assertEqual((opened, last), ([], profile["endValue"]))
        return found

    def pprof(self, *arguments):
        """The types of values, the one that is shown, and of each sample frames, values and
        labels."""
        path = os.path.join(self.folder, "out.pb")
        self.run_etwas("convert", "--to", "pprof", "-fo", path, *arguments)
        with open(path, "rb") as file:
            profile = message(file.read())
        texts = [text.decode() for text in profile[6]]
        self.assertEqual(texts[0], "")
        functions = {f[1][0]: texts[f[2][0]] for f in map(message, profile[5])}
        self.assertTrue(all(f[3] == f[2] for f in map(message, profile[5])))
        locations = {}
        for location in map(message, profile[4]):
            line = message(location[4][0])
            locations[location[1][0]] = functions[line[1][0]]
        types = [(texts[t[1][0]], texts[t[2][0]]) for t in map(message, profile[1])]
        samples = []
        for sample in map(message, profile[2]):
            labels = {texts[label[1][0]]: label[3][0] for label in map(message, sample[3])}
            samples.append(([locations[i] for i in reversed(numbers(sample[1][0]))],
                            numbers(sample[2][0]), labels))
            self.assertEqual(len(samples[-1][1]), len(types))
        return types, texts[profile[14][0]], samples

    def merged(self, stacks):
        found = collections.Counter()
        for frames, weight in stacks:
            found[tuple(frames)] += weight
        return found

    def assert_one_thing(self, *arguments, value):
        """All formats show the same stacks, pprof's by the value of that name."""
        folded, _ = self.folded(*arguments)
        self.assertEqual(self.merged(folded), self.merged(s for p in self.speedscope(*arguments)
                                                          for s in p[2]))
        types, shown, samples = self.pprof(*arguments)
        which = [name for name, _ in types].index(value)
        self.assertEqual(shown, value)
        self.assertEqual(self.merged(folded), self.merged((frames, values[which])
                                                          for frames, values, _ in samples))
        return folded


class Told(StacksTest):
    def test_samples_are_stacks_that_weigh_the_time_between_two(self):
        path = self.trace(*self.KERNEL, self.A, self.B, *self.SAMPLES)
        folded = self.assert_one_thing(path, value="cpu")
        self.assertEqual(folded, [
            (["[b]", "[a]"], 1_000_000), (["[b]", "[a]", "[a]", "[kernel]", "do_wait", "do_wait",
                                           "schedule"], 1_000_000),
            (["schedule"], 2_000_000)])
        types, _, samples = self.pprof(path)
        self.assertEqual(types, [("samples", "count"), ("cpu", "nanoseconds")])
        self.assertEqual(samples[-1], (["schedule"], [2, 2_000_000], {"thread": 12}))
        self.assertEqual([(name, unit) for name, unit, _ in self.speedscope(path)],
                         [("process 10, thread 11", "nanoseconds"), ("thread 12", "nanoseconds")])

    def test_functions_are_as_often_as_stat_counts_them(self):
        path = self.trace(*self.KERNEL[:2], self.A, self.B, *self.SAMPLES)
        own, total = collections.Counter(), collections.Counter()
        for frames, weight in self.assert_one_thing(path, value="samples"):
            own[frames[-1]] += weight
            for name in set(frames):
                total[name] += weight
        hot = json.loads(self.run_etwas("stat", "--hot", "-n", "0", "--json", path)[0])
        def name(function):
            return function["function"] or (f"[{function['image']}]" if function["image"] else
                                            "[kernel]" if function["kernel"] else "[unknown]")
        self.assertEqual({name(f): (f["samples"], f["total_samples"]) for f in hot["functions"]},
                         {n: (own[n], total[n]) for n in total})
        self.assertEqual(sum(own.values()), hot["samples"])

    def call(self, stamp, kind, *words, frames=(), process=10):
        return etl.classic(HEAP, T + stamp, kind=kind, version=1, process=process,
                           payload=struct.pack(
                               f"<{len(words)}QH{len(frames)}Q", *words, len(frames), *frames))

    def test_a_heap_weighs_what_was_allocated(self):
        lies = etl.classic(HEAP, T, kind=IMAGE, version=1,
                           payload=struct.pack("<QQB", BASE, 0x1000, 0) + b"/none/shop\0")
        stack = (BASE + 0x10, BASE + 0x20, 0x99)
        events = [lies, self.call(1, MALLOC, 100, 0x1000, frames=stack),
                  self.call(2, MALLOC, 50, 0x2000, frames=stack),
                  self.call(3, MALLOC, 7, 0x3000, frames=stack[2:]),
                  etl.classic(HEAP, T + 4, kind=FREE, version=1, payload=struct.pack(
                                "<QQH", 0, 0x1000, 0))]
        path = self.trace(*events)
        folded = self.assert_one_thing(path, value="alloc_space")
        self.assertEqual(folded, [(["[unknown]"], 7), (["[unknown]", "[shop]", "[shop]"], 150)])
        types, _, samples = self.pprof(path)
        self.assertEqual([name for name, _ in types], ["alloc_objects", "alloc_space",
                                                       "inuse_objects", "inuse_space"])
        heap = json.loads(self.run_etwas("stat", "--heap", "-n", "0", "--json", path)[0])
        self.assertEqual(sorted(values for _, values, _ in samples), sorted(
            [s["allocations"], s["allocated_bytes"], s["live_blocks"], s["live_bytes"]]
            for s in heap["stacks"]))
        self.assertEqual(self.speedscope(path)[0][:2], ("all threads", "bytes"))
        chosen, _ = self.folded("--where", "opcode == 10 && size > 60",
                                self.write("b.etl", etl.trace([(0, [
                                    *events, etl.event_info(T + 9, HEAP, 10, "heap", "Call",
                                                            "malloc", [("size", etl.UINT64, 0)],
                                                            version=1)])])))
        self.assertEqual(chosen, [(["[unknown]", "[shop]", "[shop]"], 100)])

    def test_processes_have_heaps_of_their_own(self):
        def lies(process, path):
            return etl.classic(HEAP, T, kind=IMAGE, version=1, process=process,
                               payload=struct.pack("<QQB", BASE, 0x1000, 0) + path.encode() + b"\0")

        def free(ticks, process):
            return etl.classic(HEAP, T + ticks, kind=FREE, version=1, process=process,
                               payload=struct.pack("<QQH", 0, 0x1000, 0))
        frames = (BASE + 0x10,)
        path = self.trace(lies(20, "/none/shop"), lies(30, "/none/bank"),
                          self.call(1, MALLOC, 100, 0x1000, frames=frames, process=20),
                          self.call(2, MALLOC, 10, 0x1000, frames=frames, process=30),
                          self.call(3, MALLOC, 1, 0x2000, frames=frames, process=20), free(4, 20),
                          free(5, 30))
        self.assertEqual(self.folded(path)[0], [(["[bank]"], 10), (["[shop]"], 101)])
        heap = json.loads(self.run_etwas("stat", "--heap", "-n", "0", "--json", path)[0])
        self.assertEqual([heap[key] for key in ("live_bytes", "frees", "unknown_frees",
                                                "replaced_blocks")], [1, 2, 0, 0])

    def test_events_with_a_stack_are_counted_where_there_are_no_others(self):
        def event(stamp, *frames, process=10):
            item = etl.extended_item(6, struct.pack(f"<Q{len(frames)}Q", 0, *frames), False)
            return etl.tl_event(RED, T + stamp, "P", "E", items=item, process=process)
        events = [self.A, event(1, BASE + 1, BASE + 2), event(2, BASE + 1, BASE + 2),
                  event(3, BASE + 1, process=20), etl.tl_event(RED, T + 4, "P", "E")]
        self.assertEqual(self.assert_one_thing(self.trace(*events), value="events"),
                         [(["[a]", "[a]"], 2), (["[unknown]"], 1)])
        both = self.trace(*self.KERNEL, *events, etl.sample(T + 5, 11, TEXT))
        folded, error = self.folded(both)
        self.assertEqual(folded, [(["schedule"], 1_000_000)])
        self.assertIn("left out: 3 events", error)
        self.assertEqual(self.folded("--where", "pid == 20 && level == 5", both)[0],
                         [(["[unknown]"], 1)])

    def test_several_files_are_one_profile_each_by_its_own_addresses(self):
        one = self.trace(*self.KERNEL, etl.sample(T + 1, 11, TEXT))
        other = self.trace(etl.kernel_symbol(T, TEXT, 0x100, "other"), self.KERNEL[2],
                           etl.sample(T + 1, 11, TEXT), name="b.etl")
        self.assertEqual(self.assert_one_thing(one, other, one, value="cpu"),
                         [(["other"], 1_000_000), (["schedule"], 1_000_000)])


    def test_instances_inside_of_each_other_are_a_profile_of_their_thread(self):
        def edge(ticks, number, kind, thread=21):
            return etl.instance(RED, T + ticks, number, kind=kind, process=20, thread=thread)
        start, end = 1, 2
        path = self.trace(
            self.A, edge(0, 1, start), edge(10, 2, start), edge(20, 2, end), edge(20, 3, start),
            edge(20, 4, start), edge(20, 4, end),
            # and what is not inside of another: behind its end, and on another thread
            edge(30, 3, end), edge(40, 1, end),
            edge(50, 5, start), edge(60, 6, start), edge(70, 5, end), edge(80, 6, end),
            edge(90, 7, start), edge(95, 7, end, 22), edge(100, 8, start, 22),
            edge(101, 8, end, 22), edge(110, 9, start),
            etl.tl_event(RED, T + 120, "P", "E",
                         items=etl.extended_item(6, struct.pack("<QQ", 0, BASE + 1), False)))
        sampled, one, other = self.speedscope(path)
        self.assertEqual(sampled, ("process 10, thread 11", "none", [(["[a]"], 1)]))
        self.assertEqual(one, ("process 20, thread 21: instances", "nanoseconds", [
            (RED, 1000, 2000, 1), (RED, 2000, 2000, 2), (RED, 2000, 3000, 1), (RED, 0, 4000, 0),
            (RED, 5000, 7000, 0)]))
        self.assertEqual(other, ("process 20, thread 22: instances", "nanoseconds",
                                 [(RED, 10000, 10100, 0)]))
        _, error = self.run_etwas("convert", "--to", "speedscope", path)
        self.assertIn("2 instances are left out", error)
        self.assertEqual(self.speedscope("--where", "tid == 22 && opcode == 2", path)[0][2],
                         [(RED, 0, 100, 0)])


class Forms(StacksTest):
    def test_names_lead_nowhere(self):
        names = [" a;b ", "x\x1b</script>\"\\", "\u00fc\u202e", "n" * 500]
        symbols = [etl.kernel_symbol(T, TEXT + 0x100 * i, 0x100, name)
                   for i, name in enumerate(names)]
        samples = [etl.sample(T + 1 + i, 11, TEXT + 0x100 * i) for i in range(len(names))]
        path = self.trace(*symbols, *samples)
        folded, _ = self.folded(path)
        self.assertEqual({frames[0] for frames, _ in folded}, {
            "_a:b_", 'x\\x1b</script>"\\', "\u00fc\\u{202e}", "n" * 500})
        (_, _, stacks), = self.speedscope(path)
        self.assertEqual({frames[0] for frames, _ in stacks}, set(names))
        _, _, samples = self.pprof(path)
        self.assertEqual(len(samples), len(names))

    def test_without_stacks_there_are_none_and_that_is_said(self):
        path = self.trace(etl.classic(RED, T))
        self.assertEqual(self.folded(path),
                         ([], "etwas convert: note: there are no stacks of what is asked for; "
                                                                   "'etwas record --kernel profile "
                          "--stack profile' records them\n"))
        self.assertEqual(self.speedscope(path), [])
        out = os.path.join(self.folder, "none.pb")
        self.run_etwas("convert", "--to", "pprof", "--output", out, path, expect=NO)
        self.assertFalse(os.path.exists(out))

    def test_what_cannot_be_written_or_read_leaves_nothing(self):
        path = self.trace(*self.KERNEL, *self.SAMPLES)
        for form in ("folded", "speedscope", "pprof"):
            self.run_etwas("convert", "--to", form, "-o", "/dev/full", path, expect=OUTPUT)
            out = os.path.join(self.folder, "out")
            self.run_etwas("convert", "--to", form, "-o", out, path + ".not", expect=FAILED)
            self.assertFalse(os.path.exists(out))

    def test_damaged_files_are_shown_as_far_as_they_go(self):
        good = etl.trace([(0, [*self.KERNEL, self.A, self.B, *self.SAMPLES])])
        for at in range(etl.BUFFER_BYTES, etl.BUFFER_BYTES + 900, 23):
            data = bytearray(good)
            data[at] ^= 1 << at % 8
            path = self.write("a.etl", bytes(data))
            for form in ("folded", "speedscope"):
                self.run_any("convert", "--to", form, path)


if __name__ == "__main__":
    raise SystemExit(main())
