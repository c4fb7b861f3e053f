# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas stat --prove`: files whose events are all there, and files where one is missing.

usage: prove_test.py PATH_OF_ETWAS [PATH_OF_PROVE_SESSIONS] TEST_CLASS
"""

import glob
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

import etl_build as etl
from tool_case import DAMAGED, FAILED, FINE, NO, RED, ToolTest, main

CIRCULAR, NEW_FILE, BUFFERING, KBYTES, COMPRESSED = 0x2, 0x8, 0x400, 0x2000, 0x04000000
THREAD_CLASS = "3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c"
T = 1_000_001


def without_last_record(buffer, is_wanted):
    """A buffer whose last record is gone, if it is a wanted one; else None."""
    used, at, last = struct.unpack_from("<I", buffer, 4)[0], 72, None
    while at < used:
        kind = buffer[at + 2]
        size = struct.unpack_from("<H", buffer, at + (4 if kind in (0x02, 0x11) else 0))[0]
        at, last = at + -(-size // 8) * 8, at
    if last is None or not is_wanted(buffer[last:at]):
        return None
    cut = bytearray(buffer)
    struct.pack_into("<II", cut, 4, last, last)
    struct.pack_into("<I", cut, 48, last)
    cut[last:used] = b"\xff" * (used - last)
    return bytes(cut)


class ProveTest(ToolTest):
    def prove(self, *paths, expect=FINE):
        """An object for each session."""
        out, _ = self.run_etwas("stat", "--prove", "--json", *paths, expect=expect)
        return [json.loads(line) for line in out.splitlines()]

    def assert_unproved(self, reason, *paths):
        proof, = self.prove(*paths, expect=NO)
        self.assertFalse(proof["proved"])
        self.assertTrue(any(reason in told for told in proof["reasons"]), proof["reasons"])
        text, _ = self.run_etwas("stat", "--prove", *paths, expect=NO)
        self.assertIn("NOT PROVED", text)
        self.assertIn(reason, text)
        return proof

    def assert_proved(self, *paths):
        proof, = self.prove(*paths)
        self.assertTrue(proof["proved"], proof["reasons"])
        self.assertEqual(proof["attempted"], proof["in_files"] + proof["overwritten"]
                         + proof["lost"])
        text, _ = self.run_etwas("stat", "--prove", *paths)
        self.assertIn("proved ", text)
        return proof


class Made(ProveTest):
    """Files that are made up."""

    def file(self, name="a.etl", events=3, **totals):
        options = {key: totals.pop(key) for key in ("mode", "finished", "events_lost")
                   if key in totals}
        records = [etl.classic(RED, T + i) for i in range(events)]
        return self.write(name, etl.trace([(0, records)] if events else [],
                                          own=[etl.totals(**totals)], **options))

    def test_what_is_there_lost_and_overwritten_is_what_was_attempted(self):
        self.assert_proved(self.file(attempted=3))
        self.assert_proved(self.file(attempted=10, lost_events=5, overwritten_events=2,
                                     events_lost=5, mode=CIRCULAR))
        self.assert_proved(self.file(events=0))

    def test_one_too_few_or_too_many_is_not(self):
        proof = self.assert_unproved("1 events are neither in the files nor counted",
                                     self.file(attempted=4))
        self.assertEqual(proof["in_files"], 3)
        self.assert_unproved("2 events are more than were attempted", self.file(attempted=1))
        self.assert_unproved("name all of them", self.file(attempted=1))

    def test_the_parts_of_a_set_are_proved_together(self):
        paths = [self.file(f"{part}.etl", mode=NEW_FILE, part=part, attempted=attempted)
                 for part, attempted in ((1, 4), (2, 2), (3, 3))]
        self.assert_proved(*paths)
        self.assert_unproved("parts 2 to 2 are missing", paths[0], paths[2])
        self.assert_unproved("neither", paths[0])

    def test_what_copies_of_a_file_have_counts_once(self):
        early = self.file("early.etl", events=2, attempted=2, finished=False)
        whole, copy = self.file("whole.etl", attempted=5,
                                lost_events=2), self.file("copy.etl", attempted=5, lost_events=2)
        for paths in ((whole, whole), (whole, copy), (early, whole), (copy, early, whole)):
            self.assertEqual(self.assert_proved(*paths)["in_files"], 3)
            self.assertIn(": it is not counted, since it tells of the same as ",
                          self.run_etwas("stat", "--prove", *paths)[1])
        snapshots = [self.file(f"{n}.etl", mode=BUFFERING) for n in range(2)]
        told = self.prove(*snapshots, snapshots[0], expect=NO)
        self.assertEqual([(one["in_files"], one["lost"]) for one in told], [(3, 0)])
        second = self.write("second.etl", etl.trace([(0, [etl.classic(RED, T + 9)])],
                                                    log_file="y.etl",
                                                    own=[etl.totals(attempted=1)]))
        self.assertEqual(self.assert_proved(whole, second)["in_files"], 4)

    def test_a_file_that_says_too_little_has_no_proof(self):
        self.assert_unproved("does not say how many", self.file())
        self.assert_unproved("snapshot", self.file(mode=BUFFERING, attempted=3))
        for attempted in (3, 0):
            path = self.file(finished=False, attempted=attempted)
            self.assert_unproved("did not write its end", path)
            out, _ = self.run_any("stat", "--prove", "--json", path, expect=(NO,))
            self.assertEqual([json.loads(out)[key] for key in ("attempted", "overwritten", "lost")],
                             [None] * 3)
            self.assertEqual(self.run_any("stat", "--prove", path,
                                          expect=(NO,))[0].count("  unknown\n"), 3)
        self.assert_unproved("are not whole: 0 records of 0",
                             self.write("k.etl", etl.trace([(0, [etl.classic(RED, T)])],
                                                           name="NT Kernel Logger",
                                                           own=[etl.totals(attempted=1)])))

    def test_what_describes_events_is_none(self):
        records = [etl.classic(RED, T), etl.message_format(T, RED, 1, "x"),
                   etl.event_info(T, RED, 1, "p", "t", "n", [])]
        self.assert_proved(self.write("d.etl", etl.trace([(0, records)],
                                                         own=[etl.totals(attempted=1)])))

    def test_exit_codes(self):
        good, bad = self.file(attempted=3), self.file("b.etl", attempted=4)
        data = bytearray(open(good, "rb").read())
        data[etl.BUFFER_BYTES + 72 + 2] = 0x77
        damaged = self.write("damaged.etl", data)
        self.run_etwas("stat", "--prove", damaged, expect=DAMAGED)
        self.run_etwas("stat", "--prove", self.folder + "/none.etl", good, expect=FAILED)
        self.run_etwas("stat", "--prove", bad, self.folder + "/none.etl", expect=FAILED)
        self.run_etwas("stat", "--prove", "--cpu-time", good, expect=FAILED)
        self.run_etwas("stat", "--prove", expect=FAILED)

    # ---- a system logger's

    def account(self, number, count, source=70, processor=0, attempted=0, taken=0, without=0,
                lost=(0, 0, 0), name=b"sched:sched_switch", flags=0x10):
        return etl.classic(etl.OWN_CLASS, T + 900, kind=5, level=0, payload=struct.pack(
            "<8I6Q", 1, number, count, source, processor, 1, flags, 0, attempted, taken, without,
            *lost) + name + b"\0")

    def records(self, number, count, made, refused=0, source=70, processor=0, kind=36):
        return etl.classic(etl.OWN_CLASS, T + 900, kind=6, level=0, payload=struct.pack(
            "<6I16sQQ", 1, number, count, source, processor, kind, uuid.UUID(THREAD_CLASS).bytes_le,
            made, refused))

    def loss_records(self):
        return etl.classic(etl.OWN_CLASS, T + 900, kind=6, level=0, payload=struct.pack(
            "<6I16sQQ", 1, 2, 3, 0, 0, 7, uuid.UUID(etl.OWN_CLASS).bytes_le, 1, 0))

    def kernel_file(self, switches, accounts, lost=0, attempted=None, overwritten=0):
        records = [etl.switch(T + i, 1, 2) for i in range(switches)] + accounts
        attempted = len(records) + lost + overwritten if attempted is None else attempted
        return self.write("k.etl", etl.trace(
            [(0, records)], name="NT Kernel Logger", events_lost=lost,
            own=[etl.totals(attempted=attempted, lost_events=lost,
                            overwritten_events=overwritten)]))

    def test_a_source_of_the_kernel_is_what_was_taken_and_lost(self):
        proof = self.assert_proved(self.kernel_file(5, [
            self.account(0, 2, attempted=9, taken=6, lost=(1, 1, 1)), self.records(1, 2, 6, 1)],
                                                    lost=4))
        self.assertEqual((proof["lost_in_kernel"], proof["no_buffer"]), (3, 1))
        source, = proof["sources"]
        self.assertEqual((source["attempted"], source["made"], source["lost_not_handed"]),
                         (9, 6, 1))
        self.assertEqual(proof["records"][0]["in_files"], 5)
        self.assert_unproved("9 attempted, but 5 taken and 3 lost", self.kernel_file(6, [
            self.account(0, 2, attempted=9, taken=5, lost=(1, 1, 1)), self.records(1, 2, 6)],
                                                                                     lost=3))

    def test_a_tracepoint_that_several_flags_have_is_reported_once_with_all_its_uses(self):
        path = self.kernel_file(6, [
            self.account(0, 4, attempted=4, taken=3, lost=(1, 0, 0)), self.records(1, 4, 3),
            self.account(2, 4, source=71, attempted=3, taken=3, name=b"x:y"),
            self.account(3, 4, source=72, attempted=3, taken=3, flags=0x2000082),
            self.records(4, 4, 3, source=72)], lost=1)
        out, _ = self.run_etwas("stat", "--prove", path, expect=NO)
        self.assertEqual([line.rsplit(None, 6) for line in out.splitlines()
                          if re.match(r"\w+:\w", line)],
                         [["sched:sched_switch (2 times: cswitch; thread, systemcall, file_io)",
                           "7", "6", "0", "1", "0", "0"],
                          ["x:y", "3", "3", "0", "0", "0", "0"]])
        proof, = self.prove(path, expect=NO)
        self.assertEqual([(s["attempted"], s["flags"]) for s in proof["sources"]],
                         [(4, ["cswitch"]), (3, ["cswitch"]),
                          (3, ["thread", "systemcall", "file_io"])])

    def test_a_record_more_or_less_is_found(self):
        told = [self.account(0, 2, attempted=6, taken=6), self.records(1, 2, 6)]
        self.assert_proved(self.kernel_file(6, told))
        self.assert_unproved(
            f"5 records of {THREAD_CLASS}/36 on processor 0 are in the files, but 6",
            self.kernel_file(5, told, attempted=8))
        self.assert_unproved("7 records", self.kernel_file(7, told, attempted=8))
        self.assert_unproved("6 were taken, but only 5 records were made", self.kernel_file(
            5, [self.account(0, 2, attempted=6, taken=6), self.records(1, 2, 5)]))

    def test_what_was_taken_need_not_have_a_record_of_its_own(self):
        self.assert_proved(self.kernel_file(5, [
            self.account(0, 2, attempted=6, taken=6, without=1), self.records(1, 2, 5)]))

    def test_what_was_overwritten_is_missing_from_the_records_and_no_more(self):
        told = [self.account(0, 2, attempted=6, taken=6), self.records(1, 2, 6)]
        self.assert_proved(self.kernel_file(4, told, overwritten=2))
        self.assert_unproved("by the accounts 3 events were lost or overwritten, by the session 2",
                             self.kernel_file(3, told, overwritten=2, attempted=7))

    def test_stat_says_what_was_lost_in_the_kernel(self):
        path = self.kernel_file(3, [self.account(0, 2, attempted=1009, taken=3, lost=(1001, 2, 3)),
                                    self.records(1, 2, 3)],
                                lost=1006)
        out, _ = self.run_etwas("stat", path)
        self.assertIn("LOST          1,006 events and 0 buffers while recording\n"
                      "                1,001 of them since the kernel's rings were full: ask for "
                      "fewer flags or stacks\n"
                      "                5 of them that the kernel counted and did not hand over, "
                      "most where processors idle: keep these busy\n"
                      "                1,006 of them context switches: what ran then is not "
                      "known\n", out)

    def test_stat_says_whether_context_switches_were_lost(self):
        for lost, of_switches, told in (
                ((5, 0, 0), (0, 0, 0), "none of them was counted as a context switch: "
                 "'etwas stat --cpu-time' says where one is missing"),
                ((5, 0, 0), (0, 1, 0), "1 of them a context switch: what ran then is not known")):
            path = self.kernel_file(3, [
                self.account(0, 3, attempted=3 + sum(of_switches), taken=3, lost=of_switches),
                self.account(1, 3, source=71, attempted=sum(lost), lost=lost, name=b"irq:softirq",
                             flags=0x20), self.records(2, 3, 3)], lost=sum(lost + of_switches))
            out, _ = self.run_etwas("stat", path)
            self.assertIn(f"                {told}\n", out)

    def test_what_a_processor_did_that_was_not_recorded_nobody_counted(self):
        accounts = [etl.kernel_loss(T + 800, T + 700, 0), self.account(0, 3, attempted=6, taken=6),
                    self.records(1, 3, 6), self.loss_records()]
        self.assert_unproved("processor 0 was off, or came and was not recorded yet",
                             self.kernel_file(6, accounts))

    def test_accounts_must_be_whole(self):
        self.assert_unproved("1 records of 2",
                             self.kernel_file(6, [self.account(0, 2, attempted=6, taken=6)]))

    def test_keys_are_documented(self):
        proof, = self.prove(self.kernel_file(6, [self.account(0, 2, attempted=6, taken=6),
                                                 self.records(1, 2, 6)]))
        self.assert_keys_documented("stat", proof)


class Sessions(ProveTest):
    """Files that sessions have written."""
    program = ""

    def record(self, kind, mode=0, name="s.etl"):
        path = os.path.join(self.folder, name)
        result = subprocess.run([self.program, kind, path, hex(mode)], timeout=100, check=False)
        if result.returncode == 77:
            self.skipTest("the kernel's events cannot be had")
        self.assertEqual(result.returncode, 0)
        return path

    def parts(self):
        return sorted(glob.glob(os.path.join(self.folder, "part*.etl")),
                      key=lambda p: int(p.split("part")[1][:-4]))

    def test_a_program_with_any_file(self):
        self.assertEqual(self.assert_proved(self.record("program"))["attempted"], 20000)
        proof = self.assert_proved(self.record("program", CIRCULAR | KBYTES, "c.etl"))
        self.assertEqual(proof["in_files"] + proof["overwritten"] + proof["lost"], 20000)
        self.assertGreater(proof["overwritten"], 0)
        self.assertGreater(self.assert_proved(self.record("program", KBYTES | 1,
                                                          "full.etl"))["lost"], 0)
        self.record("program", NEW_FILE | KBYTES, "part%d.etl")
        self.assertGreater(len(self.parts()), 2)
        self.assert_proved(*self.parts())
        self.assert_unproved("neither", *self.parts()[:-1])

    def test_a_snapshot_says_that_it_has_no_proof(self):
        self.assert_unproved("a snapshot", self.record("program", BUFFERING))

    # ---- that are killed

    def kill(self, mode, name, files=0):
        """Kills a session under load. Returns how many of its calls had returned, its log files,
        and what it left."""
        pools = tempfile.mkdtemp(dir=self.folder)
        path = os.path.join(pools, name)
        child = subprocess.Popen([self.program, "killed", path, hex(mode)], env=os.environ
                                 | {"ETWAS_RUNTIME_DIR": pools})
        counted, logs, end = path + ".count", path.replace("%d", "*"), time.monotonic() + 60
        try:
            while not (os.path.exists(counted) and min(self.numbers(counted)) > 5000
                       and len(glob.glob(logs)) >= files):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.001)
            time.sleep(random.random() / 20)
        finally:
            child.kill()
            child.wait()
        pool, = glob.glob(os.path.join(pools, "*.pool"))
        logs = [log for log in sorted(glob.glob(logs), key=lambda p: (len(p), p))
                if os.path.getsize(log)]  # the newest may not have been begun
        return sum(self.numbers(counted)), logs, pool

    @staticmethod
    def numbers(path):
        with open(path, "rb") as file:
            data = file.read()
        return struct.unpack(f"<{len(data) // 8}Q", data) or (0,)

    def recover(self, pool):
        after = pool + ".etl"
        out, _ = self.run_etwas("recover", "--json", "-o", after, pool)
        return after, json.loads(out)

    def assert_relogged_proves(self, *paths):
        """One file made of all, unless the log file is cut, and has the beginning of what was
        recovered."""
        made = paths[-1] + ".all"
        self.run_any("convert", "--to", "etl", "-o", made, *paths, expect=(FINE, DAMAGED))
        out, _ = self.run_any("stat", "--json", *paths, expect=(FINE, DAMAGED))
        if not any(json.loads(line)["damaged"] for line in out.splitlines()):
            self.assertEqual(self.assert_proved(made)["attempted"],
                             self.assert_proved(*paths)["attempted"])

    def test_who_is_killed_is_proved_by_what_is_recovered(self):
        for mode, name in ((0, "log.etl"), (COMPRESSED, "log.etl"),
                           (NEW_FILE | KBYTES, "part%d.etl"),
                           (NEW_FILE | KBYTES | COMPRESSED, "part%d.etl"), (BUFFERING, "none.etl")):
            for _ in range(int(os.environ.get("ETWAS_TEST_KILLS", "6"))):
                returned, logs, pool = self.kill(mode, name)
                after, recovered = self.recover(pool)
                if recovered["settling"]:
                    self.assert_unproved("booked", *logs, after)
                    continue
                proof = self.assert_proved(*logs, after)
                self.assertTrue(proof["recovered"] and proof["ended"])
                self.assertIn(proof["attempted"] - returned, range(3))
                self.assertEqual(proof["attempted"], recovered["attempted"])
                self.assert_relogged_proves(*logs, after)
                if proof["in_files"] > recovered["events"]:
                    self.assert_unproved("did not write its end", *logs)
                    self.assert_unproved("name all of them", after)
                    self.assert_proved(*logs, after, after)

    def test_a_part_that_is_missing_of_a_killed_session_is_missed(self):
        _, logs, pool = self.kill(NEW_FILE | KBYTES, "part%d.etl", files=4)
        after, _ = self.recover(pool)
        self.assert_unproved("parts 2 to 2 are missing", logs[0], *logs[2:], after)
        self.assert_unproved("are neither in the files nor counted", *logs[1:], after)

    def test_the_kernel(self):
        proof = self.assert_proved(self.record("kernel"))
        sources = [s["source"] for s in proof["sources"]]
        for name in ("sched:sched_switch", "raw_syscalls:sys_enter", "FORK, EXIT", "MMAP2",
                     "cpu-clock"):
            self.assertIn(name, sources)
        entered = sum(s["attempted"] for s in proof["sources"] if s["source"]
                      == "raw_syscalls:sys_enter")
        self.assertGreaterEqual(entered, 40000)

    def test_the_kernel_with_rings_that_are_too_small(self):
        proof = self.assert_proved(self.record("starved"))
        self.assertGreater(proof["lost_in_kernel"], 20000)
        self.assertGreater(proof["times_no_room"], 0)
        self.assertEqual(proof["events_no_room"], sum(s["lost_no_room"] for s in proof["sources"]))

    def test_the_kernel_with_other_files(self):
        proof = self.assert_proved(self.record("kernel", CIRCULAR | KBYTES))
        self.assertGreater(proof["overwritten"], 0)
        self.record("kernel", NEW_FILE | KBYTES, "part%d.etl")
        self.assertGreater(len(self.parts()), 2)
        self.assert_proved(*self.parts())
        self.assert_unproved("are not whole", *self.parts()[:-1])
        self.assert_unproved("are not whole: 0", self.record("kernel", KBYTES | 1, "full.etl"))

    def test_a_record_that_is_taken_out_is_missed(self):
        path = self.record("kernel")
        with open(path, "rb") as file:
            data = file.read()
        size = struct.unpack_from("<I", data)[0]
        buffers = [data[at:at + size] for at in range(0, len(data), size)]
        for number, buffer in enumerate(buffers[1:], 1):
            cut = without_last_record(buffer, lambda record: record[2] == 0x11)
            if cut is not None:
                buffers[number] = cut
                break
        else:
            self.fail("no buffer ends with an event of the kernel")
        proof = self.assert_unproved("1 events are neither",
                                     self.write("cut.etl", b"".join(buffers)))
        self.assertTrue(any("are in the files, but" in reason for reason in proof["reasons"]),
                        proof["reasons"])


if __name__ == "__main__":
    if len(sys.argv) == 4:
        Sessions.program = sys.argv.pop(2)
    sys.exit(main())
