# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What `etwas ship` sends of files, folders and sessions to a made-up server, whatever becomes of it: each event once.

usage: ship_test.py PATH_OF_ETWAS PATH_OF_SHIP_WORK PATH_OF_SHIP_WIRE_WORK TEST_CLASS
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

import etl_build as etl
import ship_server as ways
from ship_native import Store
from tool_case import FINE, OPEN, OUTPUT, RED, ToolTest, main

UNSENT = 7
PATIENCE_S = 60
BUFFER, END, GONE, RECOVERED = range(4)


class ShipTest(ToolTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("run"), 0o700)
        os.mkdir(self.path("in"))
        self.inside = self.path("in")
        self.environment = dict(os.environ, ETWAS_RUNTIME_DIR=self.path("run"), XDG_STATE_HOME=self.path("state"),
                                ETWAS_SHARED="1")
        self.environment.pop("STATE_DIRECTORY", None)
        self.server = self.new_server()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def new_server(self, **options):
        server = Store(sys.argv[3], **options)
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server

    def work(self, name, file, count, end="stop", *more, expect=0):
        """A session that logs so many events into the file, and has ended."""
        run = subprocess.run([sys.argv[2], name, file, str(count), end, *map(str, more)], env=self.environment,
                             check=False, timeout=PATIENCE_S)
        self.assertEqual(run.returncode, expect)
        return file

    def command(self, *arguments):
        return [self.etwas, "ship", "--to", self.server.url, "--host", "here", *arguments]

    def ship(self, *arguments, expect=FINE):
        """What it says."""
        run = subprocess.run(self.command(*arguments), env=self.environment, stderr=subprocess.PIPE, check=False,
                             text=True, timeout=PATIENCE_S)
        self.assertEqual(run.returncode, expect, run.stderr)
        return run.stderr

    def start(self, *arguments):
        """One that goes on."""
        process = subprocess.Popen(self.command(*arguments), env=self.environment, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def end(self, process, expect=FINE):
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual(process.returncode, expect, said)
        return said

    def wait_for(self, condition):
        end = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), end, "it does not come")
            time.sleep(0.05)

    def numbers(self, **wanted):
        """Of the events that are there, sorted."""
        return sorted(row["ints.v" if "ints.v" in row else "ints.values"][0]
                      for row in self.server.of(self.server.events, **wanted))

    def rows(self, state):
        return self.server.of(self.server.buffers, state=state)

    def assert_whole(self, *counts):
        """The events of so many sessions are there, each once, and so are the rows of their buffers and ends."""
        found = sorted({row["session"] for row in self.server.events})
        self.assertEqual(sorted(len(self.numbers(session=session)) for session in found), sorted(counts))
        for session in found:
            numbers = self.numbers(session=session)
            self.assertEqual(numbers, list(range(len(numbers))))
        self.assertEqual(sum(row["events"] for row in self.rows(BUFFER)), sum(counts))
        keys = [(row["session"], row["part"], row["buffer"]) for row in self.rows(BUFFER)]
        self.assertEqual(len(set(keys)), len(keys))


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
        """Wherever the last block ended, and whether the rows of its buffers came or not, when the cursor was lost."""
        file = self.work("one", self.path("a.etl"), 3000)
        self.ship(file)
        events, buffers = list(self.server.events), list(self.server.buffers)
        order = lambda row: (row["buffer"], row["pos"])
        events.sort(key=order)
        for has_events, has_buffers in ((1, 0), (len(events) // 2, 0), (len(events) // 2, 7), (len(events), 3),
                                        (len(events), 0), (len(events), len(buffers) - 1)):
            with self.subTest(events=has_events, buffers=has_buffers):
                shutil.rmtree(self.path("state"))
                self.server.hashes.clear()
                self.server.events[:] = events[:has_events]
                last = events[has_events - 1]["buffer"]
                self.server.buffers[:] = [row for row in sorted(buffers, key=lambda row: row["buffer"])
                                          if row["state"] == BUFFER and row["buffer"] < last][:has_buffers]
                self.ship(file)
                self.assert_whole(3000)
                self.assertEqual(len(self.rows(END)), 1)

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
        self.assertIn("bad.etl", self.ship(self.path("bad.etl"), file, self.path("none.etl"), expect=OPEN))
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
        said = self.ship(first, second, expect=OPEN)
        self.assertIn(f"{second}: it is not sent: its session has written 'a.etl' too", said)
        self.assertEqual(len(self.numbers()), 2000)
        self.assertIn("--table", self.ship("--delete", second, expect=OPEN))
        self.assertEqual(sorted(os.listdir(self.inside)), ["a.etl", "a.etl.moved.etl"])
        self.ship("--delete", first)  # its cursor goes, too
        self.assertIn("the end of another file", self.ship("--delete", second, expect=OPEN))
        self.assertIn("the end of another file",
                      self.ship("--delete", "--follow", self.inside, "--once", expect=OPEN))
        self.assertEqual(sorted(os.listdir(self.inside)), [".ship", "a.etl.moved.etl"])
        self.ship("--table", "etwas.moved", "--delete", second)
        self.assertEqual(len(self.numbers()), 4000)

    def test_a_file_of_the_same_name_and_session_is_another_one(self):
        """A log that is turned over: renamed, and begun again under its old name."""
        second = self.work("two", self.path("in", "a.etl"), 2000, "again")
        first = second + ".first.etl"
        self.ship(first)
        self.assertIn("its session has written", self.ship("--delete", second, expect=OPEN))
        self.ship("--delete", "--follow", self.inside, "--state", self.path("state", "etwas", "ship"), "--once",
                  expect=OPEN)
        self.assertTrue(os.path.exists(second))
        self.assertEqual(self.numbers(), list(range(1000)))

    def test_what_a_server_has_in_part_of_another_file_is_not_taken_for_this_ones(self):
        first = self.work("two", self.path("in", "a.etl"), 4000, "move")
        second = first + ".moved.etl"
        self.ship(first)
        order = lambda row: (row["buffer"], row["pos"])
        events = sorted(self.server.events, key=order)[:1000]
        buffers = [row for row in self.rows(BUFFER) if row["buffer"] < events[-1]["buffer"]]
        without_events = [dict(row, events=0, first=0, last=0) for row in buffers]
        for has_events, has_buffers in (events, buffers), (events, []), ([], without_events):
            with self.subTest(events=len(has_events), buffers=len(has_buffers)):
                shutil.rmtree(self.path("state"))
                self.server.hashes.clear()
                self.server.events[:] = has_events
                self.server.buffers[:] = has_buffers
                self.assertIn("of another file", self.ship("--delete", second, expect=OPEN))
                self.assertTrue(os.path.exists(second))
                if has_events:
                    self.ship(first)
                    self.assertEqual(self.numbers(), list(range(2000)))

    def test_what_is_appended_to_a_file_that_has_been_sent_is_not_taken_for_sent(self):
        file = self.work("one", self.path("a.etl"), 500, "append")
        self.ship(file)
        self.work("two", file, 500, "append")
        said = "what was appended to it since"
        self.assertIn(said, self.ship("--delete", file, expect=OPEN))
        shutil.rmtree(self.path("state"))
        self.assertIn("before more was appended", self.ship("--delete", file, expect=OPEN))
        self.assertTrue(os.path.exists(file))
        self.ship("--table", "etwas.both", "--delete", file)
        self.assertEqual(len(self.numbers(table="`both`")), 1000)

    def test_what_went_by_the_servers_is_not_deleted_when_it_comes_back(self):
        file = self.work("one", self.path("a.etl"), 500)
        self.ship(file)
        end, = self.rows(END)
        self.server.buffers.append(dict(end, state=GONE, events=100))
        shutil.rmtree(self.path("state"))
        self.assertIn("went before", self.ship("--delete", file, expect=OPEN))
        self.assertTrue(os.path.exists(file))

    def test_a_server_that_has_more_of_a_file_than_is_there_is_not_told_its_end(self):
        file = self.work("one", self.path("a.etl"), 500)
        self.ship(file)
        end, = self.rows(END)
        self.server.buffers[:] = [*self.rows(BUFFER), dict(end, state=BUFFER, buffer=1000)]
        shutil.rmtree(self.path("state"))
        self.assertIn("not found in it", self.ship("--delete", file, expect=OPEN))
        self.assertEqual(self.rows(END), [])
        self.assertTrue(os.path.exists(file))

    def test_a_server_that_says_what_cannot_be_is_not_believed(self):
        file = self.work("one", self.path("a.etl"), 5000)
        self.ship(file)
        self.server.buffers[:] = self.rows(BUFFER)
        for lie in ("x", 0, 0, 0, 0, 0), (-1, 0, 0, 0, 0, 0), (0, 1 << 64, 0, 0, 0, 0), (1, "", 0, 0, 0, 0), (1, 2), \
                (" 5", 0), ("1e3", 0), (1, 1 << 32, 0, 0), (1, 0, 0, 1 << 32):
            with self.subTest(lie=lie):
                shutil.rmtree(self.path("state"))
                self.server.lies = {len(lie): lie}
                self.assertIn("answers what cannot be", self.ship("--delete", file, expect=OPEN))
                self.assertTrue(os.path.exists(file))
        self.server.lies = {6: (1, (1 << 64) - 1, 0, 0, 0, 0)}
        self.assertIn("not found in it", self.ship("--delete", file, expect=OPEN))
        self.server.lies = {}
        self.ship(file)
        self.assert_whole(5000)

    def test_a_server_that_refuses_ends_it_and_nothing_is_skipped(self):
        file = self.work("one", self.path("a.etl"), 5000)
        self.server.ways = [ways.status(404, 60)]
        self.ship(file, expect=OPEN)
        self.server.ways = [self.server.keep]
        self.ship(file)
        self.assert_whole(5000)

    def test_it_deletes_what_has_arrived_whole_alone(self):
        whole = self.work("one", self.path("a.etl"), 500)
        self.work("two", self.path("b.etl"), 20000, "kill", expect=-signal.SIGKILL)
        self.ship("--delete", whole, self.path("b.etl"))
        self.assertEqual([os.path.exists(self.path(name)) for name in ("a.etl", "b.etl")], [False, True])


class Kept(ShipTest):
    """The folder of cursors."""

    def cursors(self):
        folder = self.path("state", "etwas", "ship")
        return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".cursor")]

    def test_one_shipper_has_it(self):
        file = self.work("one", self.path("a.etl"), 500)
        self.server.ways = [ways.silent]
        first = self.start(file)
        self.wait_for(lambda: self.server.inserts)
        self.assertIn("another 'etwas ship' has this folder", self.ship(file, expect=OPEN))
        self.server.ways = [self.server.keep]
        self.end(first, expect=UNSENT)
        self.ship(file)
        self.assert_whole(500)

    def test_a_damaged_cursor_is_set_aside_and_the_server_asked(self):
        file = self.work("one", self.path("a.etl"), 5000)
        self.ship(file)
        inserts = len(self.server.inserts)
        cursor, = self.cursors()
        with open(cursor, "rb") as kept:
            good = kept.read()
        for bad in (b"", good[:-1], good[:200], good.replace(b"events ", b"event  "), os.urandom(3000), good * 20):
            with open(cursor, "wb") as kept:
                kept.write(bad)
            self.assertIn("set aside", self.ship(file))
        self.assertEqual(len(self.server.inserts), inserts)

    def test_where_it_cannot_be_kept_nothing_is_sent(self):
        file = self.work("one", self.path("a.etl"), 500)
        self.write("plain", b"")
        self.ship("--state", self.path("plain"), file, expect=OPEN)
        os.mkdir(self.path("shared"))
        os.chmod(self.path("shared"), 0o777)
        self.assertIn("others may write", self.ship("--state", self.path("shared"), file, expect=OPEN))
        self.assertEqual(self.server.inserts, [])
        self.environment.pop("XDG_STATE_HOME")
        self.environment["HOME"] = ""
        self.assertIn("--state", self.ship(file, expect=OPEN))

    def test_a_full_disk_stops_it_before_it_sends(self):
        file = self.work("one", self.path("a.etl"), 500)
        os.mkdir(self.path("small"))
        script = ("mount -t tmpfs -o size=64k,mode=700 none \"$1\" || exit 77; head -c 64k /dev/zero >\"$1/full\"; "
                  "shift; exec \"$@\"")
        run = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", self.path("small"),
                              *self.command("--state", self.path("small"), file)],
                             env=self.environment, stderr=subprocess.PIPE, check=False, text=True, timeout=PATIENCE_S)
        if run.returncode in (1, 77):
            self.skipTest("no mount namespace of its own is granted")
        self.assertEqual(run.returncode, OUTPUT, run.stderr)
        self.assertIn("cannot be kept", run.stderr)
        self.assertEqual(self.server.inserts, [])


class Killed(ShipTest):
    """By SIGKILL at random moments, while the server stores, refuses for a while and breaks connections."""

    KILLS = int(os.environ.get("ETWAS_TEST_KILLS", "15"))

    def store_and_reset(self, connection, request):
        self.server.store(request)
        return ways.reset(connection, request)

    def misbehave(self, chance):
        self.server.ways = [chance.choice((self.server.keep, self.store_and_reset, ways.cut_within(0.5),
                                           ways.status(500, 252))) for _ in range(8)] + [self.server.keep]

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
            while process.poll() is None and len(self.server.inserts) <= at and time.monotonic() < end:
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
        """It is asked to end when the server has stored so many inserts, and then hears that it has. How it exits."""
        is_asked = threading.Event()

        def keep_and_wait(connection, request):
            self.server.store(request)
            is_asked.wait(PATIENCE_S)
            return ways.good(connection, request)

        self.server.ways = [self.server.keep] * (number - 1) + [keep_and_wait, self.server.keep]
        process = self.start(file)
        self.wait_for(lambda: len(self.server.inserts) == number)
        time.sleep(0.5)  # what there is to do beside has been done
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        is_asked.set()
        process.communicate(timeout=PATIENCE_S)
        return process.returncode

    def test_what_arrives_while_it_ends_is_not_sent_again(self):
        """Nor by who takes a server that drops no doubles. A file of several sessions has a block of each."""
        file = self.path("a.etl")
        for _ in range(3):
            self.work("one", file, 500, "append")
        self.assertEqual(self.end_before_the_answer(2, file), UNSENT)
        self.server.hashes.clear()
        self.ship(file)
        self.assert_whole(500, 500, 500)

    def test_what_arrives_while_it_ends_has_arrived(self):
        self.assertEqual(self.end_before_the_answer(3, self.work("one", self.path("a.etl"), 500)), FINE)
        self.assertEqual(len(self.rows(END)), 1)

    def age_cursor(self):
        """The moment at which the block was sent is ten minutes earlier."""
        folder = self.path("state", "etwas", "ship")
        for name in os.listdir(folder):
            if name.endswith(".cursor"):
                with open(os.path.join(folder, name), "r+b") as file:
                    lines = file.read().splitlines(keepends=True)
                    at = next(i for i, line in enumerate(lines) if line.startswith(b"since "))
                    lines[at] = b"since %016x\n" % (int(lines[at].split()[1], 16) - 600)
                    lines[-1] = b"sum %016x\n" % fnv(b"".join(lines[:-1]))
                    file.seek(0)
                    file.write(b"".join(lines))


def fnv(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return value


class Folder(ShipTest):
    def test_what_comes_and_grows_is_sent_until_it_is_asked_to_end(self):
        process = self.start("--follow", self.inside)
        self.work("parts", os.path.join(self.inside, "p%d.etl"), 20000, "stop", 256)
        self.work("one", os.path.join(self.inside, "one.etl"), 5000)
        parts = len([name for name in os.listdir(self.inside) if name.startswith("p")])
        self.assertGreater(parts, 2)
        self.wait_for(lambda: len(self.rows(END)) == parts + 1)
        self.end(process)
        self.assert_whole(20000, 5000)
        self.assertEqual(sum(row["ended"] for row in self.rows(END)), 2)
        self.assertEqual(sum(row["recorded"] for row in self.rows(END)), 25000)

    def test_a_session_that_goes_on_is_sent_while_it_does(self):
        with subprocess.Popen([sys.argv[2], "slow", os.path.join(self.inside, "a.etl"), "3000", "wait"],
                              env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as session:
            process = self.start("--follow", self.inside)
            self.wait_for(lambda: len(self.server.events) >= 2000)
            self.assertEqual(self.rows(END), [])
            session.communicate("\n", timeout=PATIENCE_S)
        self.wait_for(lambda: self.rows(END))
        self.end(process)
        self.assert_whole(3000)

    def test_once_ends_when_all_that_is_there_has_arrived(self):
        for name in ("a", "b"):
            self.work(name, os.path.join(self.inside, f"{name}.etl"), 2000)
        self.ship("--follow", self.inside, "--once")
        self.assert_whole(2000, 2000)

    def test_a_folder_that_is_not_there_is_refused_and_not_made(self):
        missing = self.path("missing")
        self.assertIn("cannot be read", self.ship("--follow", missing, "--once", expect=OPEN))
        self.assertFalse(os.path.exists(missing))
        self.assertIn(missing, self.ship("--follow", self.inside, "--once", "--recover", "--pools", missing))

    def test_a_folder_that_goes_is_told_once_and_looked_for_again(self):
        process = self.start("--follow", self.inside, "--state", self.path("state"))
        self.work("a", os.path.join(self.inside, "a.etl"), 100)
        self.wait_for(lambda: self.rows(END))
        os.rename(self.inside, self.path("away"))
        time.sleep(2.5)  # it has looked again by now
        os.rename(self.path("away"), self.inside)
        self.work("b", os.path.join(self.inside, "b.etl"), 200)
        self.wait_for(lambda: len(self.rows(END)) == 2)
        self.assertEqual(self.end(process).count("cannot be read"), 1)
        self.assert_whole(100, 200)

    def test_links_pipes_folders_hidden_and_other_files_are_passed_over(self):
        outside = self.work("out", self.path("out.etl"), 100)
        os.symlink(outside, os.path.join(self.inside, "link.etl"))
        os.mkfifo(os.path.join(self.inside, "pipe.etl"))
        os.mkdir(os.path.join(self.inside, "folder.etl"))
        for name in (".hidden.etl", "other.txt"):
            shutil.copy(outside, os.path.join(self.inside, name))
        self.work("in", os.path.join(self.inside, "a.etl"), 200)
        self.ship("--follow", self.inside, "--once")
        self.assert_whole(200)

    def test_a_file_is_known_by_what_is_in_it(self):
        """Under another name it is the same, and under the same name another one is not."""
        first = self.work("first", os.path.join(self.inside, "a.etl"), 300)
        process = self.start("--follow", self.inside)
        self.wait_for(lambda: len(self.rows(END)) == 1)
        os.rename(first, os.path.join(self.inside, "b.etl"))
        shutil.copy(os.path.join(self.inside, "b.etl"), os.path.join(self.inside, "c.etl"))
        self.work("second", self.path("x.etl"), 400)
        os.rename(self.path("x.etl"), first)
        self.wait_for(lambda: len(self.rows(END)) == 2)
        self.end(process)
        self.assert_whole(300, 400)

    def test_what_is_in_a_dead_sessions_file_is_sent_and_not_called_complete(self):
        self.work("dead", os.path.join(self.inside, "a.etl"), 20000, "kill", expect=-signal.SIGKILL)
        process = self.start("--follow", self.inside)
        self.wait_for(lambda: self.rows(BUFFER))
        self.assertIn("nobody writes it any more", self.ship("--follow", self.inside, "--state", self.path("other"),
                                                             "--once"))
        self.end(process)
        self.assertEqual(self.rows(END), [])

    def test_what_a_dead_session_had_in_memory_is_recovered_and_sent(self):
        self.work("dead", os.path.join(self.inside, "a.etl"), 20000, "kill", expect=-signal.SIGKILL)
        self.work("elsewhere", self.path("b.etl"), 100, "kill", expect=-signal.SIGKILL)
        pools = lambda: [name for name in os.listdir(self.path("run")) if name.endswith(".pool")]
        self.assertEqual(len(pools()), 2)
        self.ship("--follow", self.inside, "--recover", "--delete", "--once")
        self.assertEqual(self.numbers(), list(range(20000)))
        self.assertEqual(len({row["session"] for row in self.server.events}), 1)
        self.assertEqual(len(self.rows(RECOVERED)), 1)
        self.assertEqual(len(pools()), 1)
        self.assertEqual([name for name in os.listdir(self.inside) if name.endswith(".etl")], ["a.etl"])

    def test_a_pool_of_the_same_guid_is_another_one(self):
        self.work("dead", os.path.join(self.inside, "a.etl"), 20000, "kill", expect=-signal.SIGKILL)
        pool, = [self.path("run", name) for name in os.listdir(self.path("run")) if name.endswith(".pool")]
        shutil.copy(pool, self.path("kept"))
        recover = "--follow", self.inside, "--recover", "--once"
        self.ship(*recover)
        self.assertFalse(os.path.exists(pool))
        first, = [name for name in os.listdir(self.inside) if "recovered" in name]
        shutil.copy(self.path("kept"), pool)
        self.server.ways = [ways.status(404, 60)]
        self.ship(*recover)
        self.assertEqual(len([name for name in os.listdir(self.inside) if "recovered" in name]), 2)
        self.assertFalse(os.path.exists(pool))
        self.assertTrue(os.path.exists(os.path.join(self.inside, first)))
        self.assertEqual(len(self.rows(RECOVERED)), 1)

    def test_what_takes_the_name_of_a_file_that_is_being_sent_is_not_taken_for_it(self):
        first = self.work("first", os.path.join(self.inside, "a.etl"), 300)
        os.utime(first, (1e9, 1e9))  # nobody copies it into the folder
        second = self.work("second", self.path("x.etl"), 400)
        self.server.ways = [ways.status(500, 242)]
        process = self.start("--follow", self.inside, "--delete")
        self.wait_for(lambda: self.server.inserts)
        os.rename(second, os.path.join(self.inside, "a.etl"))
        time.sleep(2.5)  # it has looked at the folder
        self.server.ways = [self.server.keep]
        self.wait_for(lambda: len(self.rows(END)) == 2)
        self.wait_for(lambda: os.listdir(self.inside) == [".ship"])
        self.end(process)
        self.assert_whole(300, 400)

    def test_a_file_that_stays_is_not_sent_again_when_servers_have_forgotten_it(self):
        """They drop days; a cursor is kept as long as its file."""
        for name in "a.etl", "b.etl":
            self.work("stays", os.path.join(self.inside, name), 300)
        self.ship("--follow", self.inside, "--once")
        state = os.path.join(self.inside, ".ship")
        for name in os.listdir(state):
            os.utime(os.path.join(state, name), (1e9, 1e9))
        os.unlink(os.path.join(self.inside, "b.etl"))
        self.server.events.clear()
        self.server.buffers.clear()
        self.server.hashes.clear()
        for _ in range(2):
            self.ship("--follow", self.inside, "--once")
        self.assertEqual(self.server.events, [])
        self.assertEqual(len([name for name in os.listdir(state) if name.endswith(".cursor")]), 1)

    def test_it_ends_at_once_while_the_server_is_away(self):
        self.work("one", os.path.join(self.inside, "a.etl"), 300)
        self.server.ways = [ways.status(500, 242)]
        process = self.start("--follow", self.inside)
        self.wait_for(lambda: self.server.inserts)
        self.assertIn("1 files", self.end(process, expect=UNSENT))
        self.server.ways = [self.server.keep]
        self.ship("--follow", self.inside, "--once")
        self.assert_whole(300)

    def test_many_files_that_are_none_harm_nothing(self):
        for number in range(300):
            self.write(os.path.join("in", f"{number}.etl"), os.urandom(200))
        self.work("one", os.path.join(self.inside, "z.etl"), 300)
        said = self.ship("--follow", self.inside, "--once", expect=OPEN)
        self.assertEqual(len(said.splitlines()), 301)
        self.assert_whole(300)


class Spool(ShipTest):
    def sizes(self):
        with os.scandir(self.inside) as entries:
            return sum(entry.stat().st_size for entry in entries if entry.name.endswith(".etl"))

    def is_small(self):
        try:
            return self.sizes() <= 1000000
        except FileNotFoundError:  # it went just now
            return False

    def test_what_goes_before_it_has_arrived_is_counted_and_told(self):
        self.server.ways = [ways.status(500, 242)]
        process = self.start("--follow", self.inside, "--spool-limit", "1M")
        self.work("parts", os.path.join(self.inside, "p%d.etl"), 40000, "stop", 256)
        self.wait_for(self.is_small)
        process.kill()  # what is owed is kept
        process.wait()
        self.server.ways = [self.server.keep]
        self.ship("--follow", self.inside, "--once")
        gone = sum(row["events"] for row in self.rows(GONE))
        self.assertGreater(gone, 0)
        self.assertEqual(len(self.server.events) + gone, 40000)
        self.assertEqual(len(set(self.numbers())), len(self.server.events))
        self.assertEqual(sum(row["recorded"] for row in self.rows(END)), 40000)
        self.assertEqual(len({row["part"] for row in self.rows(END)}), len(self.rows(END)))

    def test_it_holds_while_no_server_was_ever_there(self):
        self.work("sent", os.path.join(self.inside, "a.etl"), 5000)
        self.ship("--follow", self.inside, "--once")
        shutil.rmtree(os.path.join(self.inside, ".ship"))  # nobody knows that all of it has arrived
        self.server.questions = ways.status(500, 242)
        process = self.start("--follow", self.inside, "--spool-limit", "1M")
        self.work("parts", os.path.join(self.inside, "p%d.etl"), 40000, "stop", 256)
        self.wait_for(self.is_small)
        process.kill()
        process.wait()
        self.server.questions = None
        self.ship("--follow", self.inside, "--once")
        gone = sum(row["events"] for row in self.rows(GONE))
        self.assertGreater(gone, 0)
        self.assertEqual(len(self.server.events) + gone, 45000)
        self.assertEqual(sum(row["recorded"] for row in self.rows(END)), 45000)
        self.assertEqual(len(self.rows(GONE)), len({row["part"] for row in self.rows(GONE)}))

    def test_what_has_arrived_goes_first(self):
        self.work("one", os.path.join(self.inside, "a.etl"), 5000)
        process = self.start("--follow", self.inside, "--spool-limit", "1M")
        self.wait_for(lambda: self.rows(END))
        self.work("two", os.path.join(self.inside, "b.etl"), 5000)
        self.wait_for(lambda: len(self.rows(END)) == 2)
        self.assertFalse(os.path.exists(os.path.join(self.inside, "a.etl")))
        self.end(process)
        self.assertEqual(self.rows(GONE), [])
        self.assert_whole(5000, 5000)

    def test_what_could_not_be_sent_does_not_go_first_and_not_silently(self):
        self.work("one", os.path.join(self.inside, "a.etl"), 500)
        process = self.start("--follow", self.inside, "--spool-limit", "1M")
        self.wait_for(lambda: self.rows(END))
        self.write(os.path.join("in", "new.etl"), os.urandom(900000))
        self.work("two", os.path.join(self.inside, "b.etl"), 500)
        self.wait_for(lambda: len(self.rows(END)) == 2)
        time.sleep(2.5)
        self.write(os.path.join("in", "newest.etl"), os.urandom(900000))
        self.wait_for(lambda: not os.path.exists(os.path.join(self.inside, "new.etl")))
        said = self.end(process, expect=UNSENT)
        self.assertIn("new.etl: there is more than the spool's limit: it goes, and was not sent", said)
        self.assertEqual(sorted(os.listdir(self.inside)), [".ship", "newest.etl"])

    def test_what_servers_have_of_another_file_is_not_counted_for_one_that_went(self):
        first = self.work("two", self.path("in", "a.etl"), 20000, "move")
        self.ship(first)
        self.server.events[:] = self.server.events[:3000]
        self.server.buffers.clear()
        os.unlink(first)
        self.server.questions = ways.status(500, 242)
        process = self.start("--follow", self.inside, "--spool-limit", "100k")
        self.wait_for(lambda: os.listdir(self.inside) == [".ship"])
        self.end(process, expect=UNSENT)
        self.server.questions = None
        self.ship("--follow", self.inside, "--once")
        self.assertEqual([row["events"] for row in self.rows(GONE)], [10000])

    def test_the_cursor_of_another_file_lets_none_go(self):
        """While no server is there, the limit holds by what cursors say."""
        first = self.work("two", self.path("in", "a.etl"), 40000, "move")
        self.ship(first, "--state", os.path.join(self.inside, ".ship"))
        self.server.questions = ways.status(500, 242)
        process = self.start("--follow", self.inside, "--spool-limit", "100k")
        self.wait_for(lambda: not os.path.exists(first))
        time.sleep(2.5)
        self.end(process, expect=UNSENT)
        self.assertTrue(os.path.exists(first + ".moved.etl"))


class Session(ShipTest):
    def test_the_files_of_a_session_are_sent_until_it_ends(self):
        self.work("other", os.path.join(self.inside, "o.etl"), 100)
        with subprocess.Popen([sys.argv[2], "asked", os.path.join(self.inside, "p%d.etl"), "20000", "share", "256"],
                              env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as session:
            if session.stdout.readline() != "ready\n":
                self.skipTest("processes share no session here")
            process = self.start("--session", "asked")
            self.wait_for(lambda: len(self.server.events) > 10000)
            session.communicate("\n", timeout=PATIENCE_S)
        said = process.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual(process.returncode, FINE, said)
        self.assert_whole(20000)
        self.assertEqual(sum(row["ended"] for row in self.rows(END)), 1)

    def test_one_that_does_not_run_is_refused(self):
        self.ship("--session", "none", expect=OPEN)


if __name__ == "__main__":
    main()
