# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What `etwas ship` sends of files to a made-up server, whatever becomes of it: each event once.

usage: ship_once_test.py PATH_OF_ETWAS PATH_OF_SHIP_WORK PATH_OF_SHIP_WIRE_WORK TEST_CLASS
"""

import os
import random
import shutil
import signal
import subprocess
import threading
import time

import etl_build as etl
import ship_server as ways
from ship_case import BUFFER, END, GONE, TIMEOUT_S, ShipTest, changed_cursor
from tool_case import FAILED, FINE, NO, OUTPUT, main


class Files(ShipTest):
    def test_each_event_of_a_file_is_there_once_however_often_it_is_sent(self):
        file = self.work("one", self.path("a.etl"), 5000)
        self.ship(file)
        self.assert_whole(5000)
        end, = self.rows(END)
        self.assertEqual((end["recorded"], end["lost"], end["ended"], end["file"], end["host"]),
                         (5000, 0, 1, b"a.etl", b"here"))
        inserts = len(self.server.inserts)
        self.ship(file, file)
        os.rename(file, self.path("b.etl"))
        self.ship(self.path("b.etl"))
        self.assertEqual(len(self.server.inserts), inserts)

    def test_without_its_cursor_the_server_is_asked(self):
        file = self.work("one", self.path("a.etl"), 5000)
        self.ship(file)
        inserts = len(self.server.inserts)
        shutil.rmtree(self.path("state"))
        self.ship(file)
        self.assertEqual(len(self.server.inserts), inserts)

    def test_what_a_server_has_in_part_is_completed(self):
        """Wherever the last block ended, and whether the rows of its buffers came or not, when the
        cursor was lost."""
        file = self.work("one", self.path("a.etl"), 3000)
        self.ship(file)
        events, buffers = list(self.server.events), list(self.server.buffers)
        order = lambda row: (row["buffer"], row["position"])
        events.sort(key=order)
        for has_events, has_buffers in ((1, 0), (len(events) // 2, 0), (len(events) // 2, 7),
                                        (len(events), 3),
                                        (len(events), 0), (len(events), len(buffers) - 1)):
            with self.subTest(events=has_events, buffers=has_buffers):
                shutil.rmtree(self.path("state"))
                self.server.hashes.clear()
                self.server.events[:] = events[:has_events]
                last = events[has_events - 1]["buffer"]
                self.server.buffers[:] = [row for row in sorted(buffers,
                                                                key=lambda row: row["buffer"])
                                          if row["state"] == BUFFER
                                          and row["buffer"] < last][:has_buffers]
                self.ship(file)
                self.assert_whole(3000)
                self.assertEqual(len(self.rows(END)), 1)

    def test_an_insert_of_a_killed_shipper_is_waited_for(self):
        """Its rows come after the cursor was lost, and end elsewhere than a block would now."""
        file = self.work("one", self.path("a.etl"), 3000)
        self.ship(file)
        events = sorted(self.server.events, key=lambda row: (row["buffer"], row["position"]))
        shutil.rmtree(self.path("state"))
        self.server.hashes.clear()
        self.server.events[:], self.server.buffers[:] = [], []
        self.server.late, self.server.runs = events[:700], 3
        self.assertIn("still runs; waiting for it", self.ship(file))
        self.assertEqual(self.server.runs, 0)
        self.assert_whole(3000)
        shutil.rmtree(self.path("state"))
        self.server.hashes.clear()
        self.server.events[:], self.server.buffers[:] = [], []
        self.server.late, self.server.runs = events[:700], 3
        self.assertEqual(self.ship("--quiet", file), "")
        self.assert_whole(3000)

    def test_a_file_without_an_end_is_sent_as_far_as_it_goes_and_not_called_complete(self):
        self.work("one", self.path("a.etl"), 20000, "kill", expect=-signal.SIGKILL)
        self.assertIn("has no end", self.ship(self.path("a.etl")))
        numbers = self.numbers()
        self.assertEqual(numbers, list(range(len(numbers))))
        self.assertGreater(len(numbers), 0)
        self.assertEqual(self.rows(END), [])

    def test_what_is_no_trace_is_said_and_the_others_are_sent(self):
        file = self.work("one", self.path("a.etl"), 500)
        self.write("bad.etl", b"no trace" * 1000)
        self.assertIn("bad.etl", self.ship(self.path("bad.etl"), file, self.path("none.etl"),
                                           expect=FAILED))
        self.assert_whole(500)

    def test_an_empty_file_has_nothing_that_could_arrive(self):
        """A process that was killed while it began a file leaves one."""
        empty = self.path("in", "b.etl")
        with open(empty, "wb"):
            pass
        file = self.work("one", self.path("in", "a.etl"), 1000)
        self.assertIn(f"{empty}: it is empty", self.ship(empty, file))
        self.ship("--follow", self.inside, "--once")
        self.assert_whole(1000)

    def test_of_files_whose_buffers_have_the_same_numbers_one_is_sent(self):
        """Those of a session that got another log file while it ran."""
        first = self.work("two", self.path("in", "a.etl"), 4000, "move")
        second = first + ".moved.etl"
        said = self.ship(first, second, expect=FAILED)
        self.assertIn(f"{second}: it is not sent: its session has written 'a.etl' too", said)
        self.assertEqual(len(self.numbers()), 2000)
        self.assertIn("--table", self.ship("--delete", second, expect=FAILED))
        self.assertEqual(sorted(os.listdir(self.inside)), ["a.etl", "a.etl.moved.etl"])
        self.ship("--delete", first)  # its cursor goes, too
        self.assertIn("the end of another file", self.ship("--delete", second, expect=FAILED))
        self.assertIn("the end of another file",
                      self.ship("--delete", "--follow", self.inside, "--once", expect=FAILED))
        self.assertEqual(sorted(os.listdir(self.inside)), [".ship", "a.etl.moved.etl"])
        self.ship("--table", "etwas.moved", "--delete", second)
        self.assertEqual(len(self.numbers()), 4000)

    def test_a_file_of_the_same_name_and_session_is_another_one(self):
        """A log that is turned over: renamed, and begun again under its old name."""
        second = self.work("two", self.path("in", "a.etl"), 2000, "again")
        first = second + ".first.etl"
        self.ship(first)
        self.assertIn("its session has written", self.ship("--delete", second, expect=FAILED))
        self.ship("--delete", "--follow", self.inside, "--state",
                  self.path("state", "etwas", "ship"), "--once", expect=FAILED)
        self.assertTrue(os.path.exists(second))
        self.assertEqual(self.numbers(), list(range(1000)))

    def test_what_a_server_has_in_part_of_another_file_is_not_taken_for_this_ones(self):
        first = self.work("two", self.path("in", "a.etl"), 4000, "move")
        second = first + ".moved.etl"
        self.ship(first)
        order = lambda row: (row["buffer"], row["position"])
        events = sorted(self.server.events, key=order)[:1000]
        buffers = [row for row in self.rows(BUFFER) if row["buffer"] < events[-1]["buffer"]]
        without_events = [dict(row, events=0, first=0, last=0) for row in buffers]
        for has_events, has_buffers in (events, buffers), (events, []), ([], without_events):
            with self.subTest(events=len(has_events), buffers=len(has_buffers)):
                shutil.rmtree(self.path("state"))
                self.server.hashes.clear()
                self.server.events[:] = has_events
                self.server.buffers[:] = has_buffers
                self.assertIn("of another file", self.ship("--delete", second, expect=FAILED))
                self.assertTrue(os.path.exists(second))
                if has_events:
                    self.ship(first)
                    self.assertEqual(self.numbers(), list(range(2000)))

    def test_what_is_appended_to_a_file_that_has_been_sent_is_not_taken_for_sent(self):
        file = self.work("one", self.path("a.etl"), 500, "append")
        self.ship(file)
        self.work("two", file, 500, "append")
        said = "what was appended to it since"
        self.assertIn(said, self.ship("--delete", file, expect=FAILED))
        shutil.rmtree(self.path("state"))
        self.assertIn("before more was appended", self.ship("--delete", file, expect=FAILED))
        self.assertTrue(os.path.exists(file))
        self.ship("--table", "etwas.both", "--delete", file)
        self.assertEqual(len(self.numbers(table="`both`")), 1000)

    def test_what_went_by_the_servers_is_not_deleted_when_it_comes_back(self):
        file = self.work("one", self.path("a.etl"), 500)
        self.ship(file)
        end, = self.rows(END)
        self.server.buffers.append(dict(end, state=GONE, events=100))
        shutil.rmtree(self.path("state"))
        self.assertIn("went before", self.ship("--delete", file, expect=FAILED))
        self.assertTrue(os.path.exists(file))

    def test_a_server_that_has_more_of_a_file_than_is_there_is_not_told_its_end(self):
        file = self.work("one", self.path("a.etl"), 500)
        self.ship(file)
        end, = self.rows(END)
        self.server.buffers[:] = [*self.rows(BUFFER), dict(end, state=BUFFER, buffer=1000)]
        shutil.rmtree(self.path("state"))
        self.assertIn("not found in it", self.ship("--delete", file, expect=FAILED))
        self.assertEqual(self.rows(END), [])
        self.assertTrue(os.path.exists(file))

    def test_a_server_that_says_what_cannot_be_is_not_believed(self):
        file = self.work("one", self.path("a.etl"), 5000)
        self.ship(file)
        self.server.buffers[:] = self.rows(BUFFER)
        for lie in (("x", 0, 0, 0, 0, 0), (-1, 0, 0, 0, 0, 0), (0, 1 << 64, 0, 0, 0, 0),
                    (1, "", 0, 0, 0, 0), (1, 2), (" 5", 0), ("1e3", 0), (1, 1 << 32, 0, 0),
                    (1, 0, 0, 1 << 32)):
            with self.subTest(lie=lie):
                shutil.rmtree(self.path("state"))
                self.server.lies = {len(lie): lie}
                self.assertIn("answers what cannot be", self.ship("--delete", file, expect=FAILED))
                self.assertTrue(os.path.exists(file))
        self.server.lies = {6: (1, (1 << 64) - 1, 0, 0, 0, 0)}
        self.assertIn("not found in it", self.ship("--delete", file, expect=FAILED))
        self.server.lies = {}
        self.ship(file)
        self.assert_whole(5000)

    def test_a_server_that_refuses_ends_it_and_nothing_is_skipped(self):
        file = self.work("one", self.path("a.etl"), 5000)
        self.server.ways = [ways.status(404, 60)]
        self.ship(file, expect=FAILED)
        self.server.ways = [self.server.keep]
        self.ship(file)
        self.assert_whole(5000)

    def test_it_deletes_what_has_arrived_whole_alone(self):
        whole = self.work("one", self.path("a.etl"), 500)
        self.work("two", self.path("b.etl"), 20000, "kill", expect=-signal.SIGKILL)
        self.ship("--delete", whole, self.path("b.etl"))
        self.assertEqual([os.path.exists(self.path(name)) for name in ("a.etl", "b.etl")],
                         [False, True])


class Kept(ShipTest):
    """The folder of cursors."""

    def cursors(self):
        folder = self.path("state", "etwas", "ship")
        return [os.path.join(folder, name) for name in os.listdir(folder)
                if name.endswith(".cursor")]

    def test_one_shipper_has_it(self):
        file = self.work("one", self.path("a.etl"), 500)
        self.server.ways = [ways.silent]
        first = self.start(file)
        self.wait_for(lambda: self.server.inserts)
        self.assertIn("another 'etwas ship' has this folder", self.ship(file, expect=FAILED))
        self.server.ways = [self.server.keep]
        self.end(first, expect=NO)
        self.ship(file)
        self.assert_whole(500)

    def test_a_damaged_cursor_is_set_aside_and_the_server_asked(self):
        file = self.work("one", self.path("a.etl"), 5000)
        self.ship(file)
        inserts = len(self.server.inserts)
        cursor, = self.cursors()
        with open(cursor, "rb") as kept:
            good = kept.read()
        for bad in (b"", good[:-1], good[:200], good.replace(b"events ", b"event  "),
                    os.urandom(3000), good * 20):
            with open(cursor, "wb") as kept:
                kept.write(bad)
            self.assertIn("set aside", self.ship(file))
        self.assertEqual(len(self.server.inserts), inserts)

    def test_where_it_cannot_be_kept_nothing_is_sent(self):
        file = self.work("one", self.path("a.etl"), 500)
        self.write("plain", b"")
        self.ship("--state", self.path("plain"), file, expect=FAILED)
        os.mkdir(self.path("shared"))
        os.chmod(self.path("shared"), 0o777)
        self.assertIn("others may write", self.ship("--state", self.path("shared"), file,
                                                    expect=FAILED))
        self.assertEqual(self.server.inserts, [])
        self.environment.pop("XDG_STATE_HOME")
        self.environment["HOME"] = ""
        self.assertIn("--state", self.ship(file, expect=FAILED))

    def test_a_full_disk_stops_it_before_it_sends(self):
        file = self.work("one", self.path("a.etl"), 500)
        os.mkdir(self.path("small"))
        script = ("mount -t tmpfs -o size=64k,mode=700 none \"$1\" || exit 77; head -c 64k "
                  "/dev/zero >\"$1/full\"; "
                  "shift; exec \"$@\"")
        run = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", self.path("small"),
                              *self.command("--state", self.path("small"), file)],
                             env=self.environment, stderr=subprocess.PIPE, check=False, text=True,
                             timeout=TIMEOUT_S)
        if run.returncode in (1, 77):
            self.skipTest("no mount namespace of its own is granted")
        self.assertEqual(run.returncode, OUTPUT, run.stderr)
        self.assertIn("cannot be kept", run.stderr)
        self.assertEqual(self.server.inserts, [])


class Killed(ShipTest):
    """By SIGKILL at random moments, while the server stores, refuses for a while and breaks
    connections."""

    KILLS = int(os.environ.get("ETWAS_TEST_KILLS", "15"))

    def store_and_reset(self, connection, request):
        self.server.store(request)
        return ways.reset(connection, request)

    def misbehave(self, chance):
        self.server.ways = [chance.choice((self.server.keep, self.store_and_reset,
                                           ways.cut_within(0.5), ways.status(500, 252)))
                            for _ in range(8)] + [self.server.keep]

    def test_each_event_is_there_once_whenever_it_is_killed(self):
        seed = random.randrange(1 << 32)
        print(f"seed {seed}")
        chance = random.Random(seed)
        for name in ("one", "two"):
            self.work(name, os.path.join(self.inside, name + "%d.etl"), 8000, "stop", 256)
        files = [os.path.join(self.inside, name) for name in sorted(os.listdir(self.inside))]
        self.assertGreater(len(files), 6)
        for _ in range(self.KILLS):
            self.misbehave(chance)
            process = self.start(*files)
            inserts = len(self.server.inserts)
            end = time.monotonic() + chance.random()
            at = inserts + chance.randrange(3)
            while process.poll() is None and len(
                    self.server.inserts) <= at and time.monotonic() < end:
                time.sleep(0.002)
            process.kill()
            process.wait()
        self.server.ways = [self.server.keep]
        self.ship(*files)
        self.assert_whole(8000, 8000)
        self.assertEqual(len(self.rows(END)), len(files))
        self.assertEqual(sum(row["recorded"] for row in self.rows(END)), 16000)

    def test_a_block_in_doubt_for_long_is_asked_for_first(self):
        """Its hash may be forgotten: here it is, while its rows are there, or are not."""
        for is_there in (True, False):
            with self.subTest(is_there=is_there):
                self.server.events.clear()
                self.server.buffers.clear()
                shutil.rmtree(self.path("state"), ignore_errors=True)
                file = self.work("one", self.path("a.etl"), 3000)
                self.server.ways = [self.store_and_reset if is_there else ways.reset]
                self.server.inserts.clear()
                process = self.start(file)
                self.wait_for(lambda: len(self.server.inserts) > 1)
                process.kill()
                process.wait()
                self.server.hashes.clear()
                self.server.ways = [self.server.keep]
                self.age_cursor()
                self.ship(file)
                self.assert_whole(3000)

    def end_before_the_answer(self, number, file):
        """It is asked to end when the server has stored so many inserts, and then hears that it
        has. How it exits."""
        is_asked = threading.Event()

        def keep_and_wait(connection, request):
            self.server.store(request)
            is_asked.wait(TIMEOUT_S)
            return ways.good(connection, request)

        self.server.ways = [self.server.keep] * (number - 1) + [keep_and_wait, self.server.keep]
        process = self.start(file)
        self.wait_for(lambda: len(self.server.inserts) == number)
        # what there is to do beside has been done: only time can show that nothing more is begun
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        self.wait_until_asked_to_end(process)
        is_asked.set()
        process.communicate(timeout=TIMEOUT_S)
        return process.returncode

    def test_what_arrives_while_it_ends_is_not_sent_again(self):
        """Nor to a server that drops no doubles. A file of several sessions has a block
        of each."""
        file = self.path("a.etl")
        for _ in range(3):
            self.work("one", file, 500, "append")
        self.assertEqual(self.end_before_the_answer(2, file), NO)
        self.server.hashes.clear()
        self.ship(file)
        self.assert_whole(500, 500, 500)

    def test_what_arrives_while_it_ends_has_arrived(self):
        self.assertEqual(self.end_before_the_answer(3, self.work("one", self.path("a.etl"), 500)),
                         FINE)
        self.assertEqual(len(self.rows(END)), 1)

    def age_cursor(self):
        """The moment at which the block was sent is ten minutes earlier."""
        folder = self.path("state", "etwas", "ship")
        for name in os.listdir(folder):
            if name.endswith(".cursor"):
                with open(os.path.join(folder, name), "r+b") as file:
                    aged = changed_cursor(file.read(), b"since", -600)
                    file.seek(0)
                    file.write(aged)


if __name__ == "__main__":
    main()
