# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas why`: on which files, sockets and disks instances waited, in files with known answers.

usage: why_things_test.py PATH_OF_ETWAS TEST_CLASS
"""

import re
import sys

import etl_build as etl
from etl_build import ready, switch, thread_event
from tool_case import main
from why_test import END, HERE, START, WhyTest, at, order, stamp_of


class Things(WhyTest):
    """On which files and sockets an instance waits, if that is certain."""
    def blocks(self, *kernel):
        """On what it was blocked: the call, files, socket, hard fault, how long."""
        slowest, = self.why(*self.paths(*kernel))["slowest"]
        return [(b["call"], b["files"], b.get("socket"), b["hard_fault"], b["duration"] // 100)
                for b in slowest["blocked_on"]]

    def paths(self, *kernel):
        return self.files([list(kernel)], [order(START, 50), order(END, 2000)])

    def operation(self, begin, end, number=7, file=0x8000, kind=67):
        return [etl.file_operation(at(begin), kind, number, file, 21),
                switch(at(begin + 10), 21, 22), switch(at(end - 10), 22, 21),
                etl.file_end(at(end), number, 21)]

    def call(self, begin, end, number=0, inside=()):
        return [etl.call_enter(at(begin), number), switch(at(begin + 10), 21, 22),
                switch(at(end - 10), 22, 21), *inside, etl.call_exit(at(end))]

    def test_an_operation_is_on_its_file(self):
        name = etl.file_name(at(1500), 0x8000, "/data/orders\x1b")  # told behind it
        begin = switch(at(0), 0, 21)
        self.assertEqual(self.blocks(begin, *self.operation(100, 400), name),
                         [(None, ["/data/orders\x1b"], None, False, 280)])
        self.assertEqual(self.blocks(begin, *self.operation(100, 400)),
                         [(None, [], None, False, 280)])
        # Nothing says when it was over, so what it waited for later may have been something else.
        self.assertEqual(self.blocks(begin, *self.operation(100, 400)[:-1], name),
                         [(None, [], None, False, 280)])
        self.assertEqual(self.blocks(begin, *self.operation(100, 400)[:-1],
                                     etl.file_end(at(400), 8, 21), name),
                         [(None, [], None, False, 280)])
        out, _ = self.run_etwas("why", *self.paths(begin, *self.operation(100, 400), name))
        self.assertIn("      28.0 µs on /data/orders\\x1b, 1 time\n", out)

    def test_a_call_and_its_operation_are_one_whichever_is_reported_first(self):
        name = etl.file_name(at(10), 0x8000, "/data/orders")
        enter, leave, wait = etl.call_enter(at(101),
                                            0), etl.call_exit(at(401)), self.operation(100, 400)
        later = self.call(500, 700, number=99_999)
        told = [(0, ["/data/orders"], None, False, 280), (99_999, [], None, False, 180)]
        for kernel in ([wait[0], enter, *wait[1:], leave], [enter, wait[0], *wait[1:], leave],
                       [wait[0], enter, *wait[1:3], leave]):
            self.assertEqual(self.blocks(switch(at(0), 0, 21), name,
                                         *sorted([*kernel, *later], key=stamp_of)), told)

    def test_one_that_has_two_files_is_on_both(self):
        names = [etl.file_name(at(1), 0x8000 + i, f"/data/{i}") for i in range(3)]
        both = [etl.file_operation(at(90), 68, 7, 0x8001, 21)]
        kernel = [switch(at(0), 0, 21), *names, *both, *self.operation(100, 400)]
        self.assertEqual(self.blocks(*kernel), [(None, ["/data/1", "/data/0"], None, False, 280)])
        out, _ = self.run_etwas("why", *self.paths(*kernel))
        self.assertIn(" on /data/1 and /data/0, 1 time\n", out)

    def test_a_file_that_is_told_twice_is_one(self):
        wait = self.operation(100, 400, kind=65)  # a close is a Cleanup and a Close
        wait.insert(1, etl.file_operation(at(100), 66, 7, 0x8000, 21))
        kernel = [switch(at(0), 0, 21), etl.file_name(at(1), 0x8000, "/data/a"), *wait]
        self.assertEqual(self.blocks(*kernel), [(None, ["/data/a"], None, False, 280)])

    def test_each_file_counts_for_itself(self):
        names = [etl.file_name(at(1), 0x8000 + i, f"/data/{i % 2}") for i in range(3)]
        kernel = [switch(at(0), 0, 21), *names]
        for i in range(3):  # the first and the last are one file that was opened twice
            kernel += self.operation(100 + 300 * i, 300 + 300 * i, i + 1, 0x8000 + i)
        self.assertEqual(self.blocks(*kernel), [(None, ["/data/0"], None, False, 360),
                                                (None, ["/data/1"], None, False, 180)])

    def test_a_name_counts_from_when_it_is_reported(self):
        names = [etl.file_name(at(time), 0x8000, name) for time, name in ((60, "/a"), (450, "/b"))]
        kernel = [switch(at(0), 0, 21), names[0], *self.operation(100, 400, 1), names[1],
                  *self.operation(500, 700, 2)]
        self.assertEqual(self.blocks(*kernel), [(None, ["/a"], None, False, 280),
                                                (None, ["/b"], None, False, 180)])

    def test_what_was_asked_for_is_its_name_where_none_is_reported(self):
        kernel = [switch(at(0), 0, 21), etl.file_open(at(100), 7, 0x8000, "orders", 21),
                  switch(at(110), 21, 22), switch(at(390), 22, 21), etl.file_end(at(400), 7, 21)]
        self.assertEqual(self.blocks(*kernel), [(None, ["orders"], None, False, 280)])
        name = etl.file_name(at(1500), 0x8000, "/data/orders")
        self.assertEqual(self.blocks(*kernel, name), [(None, ["/data/orders"], None, False, 280)])
        # Or it was told in a Name of its own.
        kernel[1] = etl.file_operation(at(100), 67, 7, 0x8000, 21)
        self.assertEqual(self.blocks(*kernel, etl.file_name(at(400), 0x8000, "orders"), name),
                         [(None, ["/data/orders"], None, False, 280)])

    def test_one_that_waits_often_is_on_its_file(self):
        waits = [switch(at(110 + 10 * i), 21, 22) if i % 2 == 0
                 else switch(at(110 + 10 * i), 22, 21) for i in range(40)]
        kernel = [switch(at(0), 0, 21), etl.file_name(at(1), 0x8000, "/data/a"),
                  etl.file_operation(at(100), 73, 7, 0x8000, 21), *waits, switch(at(520), 21, 22),
                  ready(at(530), 21), switch(at(530), 22, 21), etl.file_end(at(600), 7, 21)]
        self.assertEqual(self.blocks(*kernel), [(None, ["/data/a"], None, False, 200),
                                                (None, ["/data/a"], None, False, 10)])

    def test_what_is_deleted_is_named_by_its_path(self):
        kernel = [switch(at(0), 0, 21), etl.file_operation(at(100), 70, 7, 0, 21),
                  etl.file_deleted(at(100), 7, "old", 21), switch(at(110), 21, 22),
                  switch(at(390), 22, 21), etl.file_end(at(400), 7, 21)]
        self.assertEqual(self.blocks(*kernel), [(None, ["old"], None, False, 280)])

    def test_a_call_is_on_the_socket_that_it_used(self):
        begin, used = switch(at(0), 0, 21), etl.tcp_event(at(395), 20)
        self.assertEqual(self.blocks(begin, *self.call(100, 400, inside=[used])),
                         [(0, [], "TCP 127.0.0.1:80->10.0.0.1:4000", False, 280)])
        out, _ = self.run_etwas("why", *self.paths(begin, *self.call(100, 400, inside=[used])))
        self.assertIn(" on TCP 127.0.0.1:80->10.0.0.1:4000, 1 time\n", out)
        six = etl.tcp_event(at(395), 20, kind=26, local=("::1", 80), remote=("fe80::1", 4000))
        self.assertEqual(self.blocks(begin, *self.call(100, 400, inside=[six]))[0][2],
                         "TCP [::1]:80->[fe80::1]:4000")
        unknown = etl.tcp_event(at(395), 20, local=("0.0.0.0", 0), remote=("0.0.0.0", 0), group=8)
        self.assertEqual(self.blocks(begin, *self.call(100, 400, inside=[unknown]))[0][2], "UDP")

    def test_what_is_no_call_s_socket_is_not_told(self):
        begin, others = switch(at(0), 0, 21), etl.tcp_event(at(396), 20, remote=("10.0.0.2", 4000))
        used = etl.tcp_event(at(395), 20)
        threads = [thread_event(HERE, at(1), 20, 21)]
        for inside in ([used, others], [etl.tcp_event(at(395), 99)],
                       [etl.tcp_event(at(395), 20, kind=14)]):
            self.assertIsNone(self.blocks(begin, *threads,
                                          *self.call(100, 400, inside=inside))[0][2])
        # Nor one that was used outside calls, or when the kernel was in many at once.
        self.assertIsNone(self.blocks(begin, *self.call(100, 400),
                                      etl.tcp_event(at(500), 20))[0][2])
        # io_uring_enter
        self.assertIsNone(self.blocks(begin, *self.call(100, 400, number=426, inside=[used]))[0][2])

    def test_a_socket_is_of_who_is_known_to_have_used_it(self):
        begin, (*wait, leave) = switch(at(0), 0, 21), self.call(100, 200)
        used = etl.tcp_event(at(300), 20)  # by thread 22: that it came there is missing
        comes, stays = switch(at(400), 22, 21), switch(at(900), 21, 0)
        leave = etl.call_exit(at(450))
        program = [order(START, 50), order(END, 2000)]
        for kernel in ([[begin, *wait, used, comes, leave, stays]],
                       [[begin, *wait, used], [switch(at(1), 0, 33), switch(at(400), 33, 21), leave,
                                               stays]]):
            slowest, = self.why(*self.files(kernel, program))["slowest"]
            self.assertNotIn("socket", slowest["blocked_on"][0])
        moved = [[begin, *wait, used, switch(at(310), 21, 0)],
                 [switch(at(1), 0, 33), switch(at(400), 33, 21), leave, stays]]
        slowest, = self.why(*self.files(moved, program))["slowest"]
        self.assertIn("socket", slowest["blocked_on"][0])

    def test_what_was_lost_meanwhile_makes_the_end_of_a_call_uncertain(self):
        begin, lost, used = switch(at(0), 0, 21), etl.kernel_loss(at(105), at(102)), etl.tcp_event(
            at(395), 20)
        enter, *wait = self.call(100, 400, inside=[used])
        self.assertIsNone(self.blocks(begin, enter, lost, *wait)[0][2])
        # The end of an operation says which one it is.
        name, (enter, *wait) = etl.file_name(at(1), 0x8000,
                                             "/data/orders"), self.operation(100, 400)
        self.assertEqual(self.blocks(begin, name, enter, lost, *wait),
                         [(None, ["/data/orders"], None, False, 280)])

    def test_a_hard_fault_is_on_the_mapped_file(self):
        name = etl.file_name(at(1500), 0x77, "/lib/libshop.so")
        fault = [switch(at(110), 21, 22), switch(at(390), 22, 21),
                 etl.hard_fault(at(395), at(105), 21, 0x77)]
        before = [switch(at(60), 21, 22), switch(at(80), 22, 21)]
        kernel = [switch(at(0), 0, 21), *before, *fault, name]
        self.assertEqual(self.blocks(*kernel), [(None, [], None, False, 20),
                                                (None, ["/lib/libshop.so"], None, True, 280)])
        out, _ = self.run_etwas("why", *self.paths(*kernel))
        self.assertIn("      28.0 µs in a hard page fault on /lib/libshop.so, 1 time\n", out)
        # In a call whose memory is not there.
        name_2 = etl.file_name(at(1500), 0x8000, "/data/orders")
        kernel = [switch(at(0), 0, 21), etl.file_operation(at(100), 67, 7, 0x8000, 21),
                  etl.call_enter(at(101), 0), *fault, etl.file_end(at(400), 7, 21),
                  etl.call_exit(at(401)), name, name_2]
        self.assertEqual(self.blocks(*kernel), [(0, ["/lib/libshop.so"], None, True, 280)])

    def test_what_disks_did_for_it_is_reported(self):
        done = [etl.disk_request(at(time), kind, thread, ticks) for time, kind, thread, ticks in (
            (110, 10, 21, 70),  # handed over before it began
            (200, 10, 21, 50), (260, 10, 21, 200), (300, 11, 21, 40), (310, 14, 21, 30),
            (320, 11, 22, 30), (330, 11, 0, 0))]
        paths = self.paths(switch(at(0), 0, 21), *done, switch(at(2000), 21, 0))
        slowest, = self.why(*paths)["slowest"]
        self.assertEqual([tuple(kind.values()) for kind in slowest["disk_requests"]],
                         [("read", 2, 8192, 20_000), ("write", 1, 4096, 4000),
                          ("flush", 1, 0, 3000)])
        out, _ = self.run_etwas("why", *paths)
        self.assertIn(
            "  It asked disks for 2 reads of 8.19 kB (the longest took 20.0 µs), 1 write of 4.10 "
            "kB (the longest took "
            "4.00 µs), 1 flush (the longest took 3.00 µs).\n", out)

    def test_hostile_things_do_no_harm(self):
        begin = switch(at(0), 0, 21)
        short = [etl.system(etl.FILE_GROUP, kind, at(20), bytes(size), thread=21)
                 for kind in (0, 64, 67, 73, 76)
                 for size in (0, 7, 8, 23, 31)]
        short += [etl.kernel(group, kind, at(21), bytes(size), version=version)
                  for group, version in ((6, 2), (8, 2), (1, 3))
                  for kind in (11, 14, 26) for size in (0, 19, 27, 43, 51)]
        short += [etl.disk_request(at(21), kind, 21, ticks) for kind in (10, 14)
                  for ticks in (2**63, 2**64 - 1)]
        many = [part for i in range(36) for part in self.operation(100 + 40 * i, 130 + 40 * i, i,
                                                                   0x8000 + i)]
        names = [etl.file_name(at(22), 0x8000 + i, f"/{i}") for i in range(36)]
        _, program = self.paths()
        path = self.write("k.etl", etl.trace([(0, [begin, *short, *names]), (0, many)]))
        slowest, = self.why(path, program)["slowest"]
        self.assertIn("\n      24.0 µs in 24 more ways\n", self.run_etwas("why", path, program)[0])
        self.assertEqual((sum(block["duration"] for block in slowest["blocked_on"]),
                          len(slowest["blocked_on"])), (36_000, 32))

    def test_what_was_not_recorded_is_said(self):
        begin = switch(at(0), 0, 21)

        def missing(*kernel):
            out, _ = self.run_etwas("why", *self.paths(begin, *kernel))
            return "".join(re.findall(r"  Not recorded: (.*)\.\n", out))
        bare = [switch(at(110), 21, 22), switch(at(390), 22, 21)]
        self.assertEqual(missing(*bare),
                         "systemcall (which call), dispatcher (who woke it), stacks of cswitch "
                         "(where)")
        woken = [switch(at(110), 21, 22), etl.stack_walk(at(110), at(110), 21, 1),
                 ready(at(380), 21), switch(at(390), 22, 21)]
        called = [etl.call_enter(at(100), 0), *woken, etl.call_exit(at(400))]
        self.assertEqual(missing(*called),
                         "file_io and file_io_init (which file), network_tcpip (which socket)")
        self.assertEqual(missing(*called, etl.account(at(900), 0x10000)),
                         "file_io and file_io_init (which file)")
        begins, ends = etl.file_operation(at(20), 67, 7, 0x8000, 21), etl.file_end(at(30), 7, 21)
        self.assertEqual(missing(begins, ends, *called, etl.account(at(900), 0x10000)), "")
        self.assertEqual(missing(ends, *called, etl.account(at(900), 0x10000)),
                         "file_io and file_io_init (which file)")
        self.assertEqual(missing(etl.call_enter(at(20), 0), etl.call_exit(at(30)), *woken),
                         "memory_hard_faults (page faults that wait for a disk)")
        self.assertEqual(missing(), "")


if __name__ == "__main__":
    sys.exit(main())
