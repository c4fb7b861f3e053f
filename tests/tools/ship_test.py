# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What `etwas ship` sends of folders and sessions to a made-up server, and what it lets go.

usage: ship_test.py PATH_OF_ETWAS PATH_OF_SHIP_WORK PATH_OF_SHIP_WIRE_WORK TEST_CLASS
"""

import os
import shutil
import signal
import subprocess
import sys

import etl_build as etl
import ship_server as ways
from ship_case import BUFFER, END, GONE, TIMEOUT_S, RECOVERED, ShipTest, changed_cursor
from tool_case import FAILED, FINE, NO, OUTPUT, RED, main


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
        with subprocess.Popen([sys.argv[2], "slow", os.path.join(self.inside, "a.etl"), "3000",
                               "wait"],
                              env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as session:
            process = self.start("--follow", self.inside)
            self.wait_for(lambda: len(self.server.events) >= 2000)
            self.assertEqual(self.rows(END), [])
            session.communicate("\n", timeout=TIMEOUT_S)
        self.wait_for(lambda: self.rows(END))
        self.end(process)
        self.assert_whole(3000)

    def test_once_ends_when_all_that_is_there_has_arrived(self):
        for name in ("a", "b"):
            self.work(name, os.path.join(self.inside, f"{name}.etl"), 2000)
        for name, number in (("c.etl.0001", 1), ("d.log", 2)):
            self.work(f"{number}", os.path.join(self.inside, name), 2000)
        said = self.ship("--follow", self.inside, "--once")
        self.assertIn("note: 1 trace is in it not read, since it is not called NAME.etl: d.log\n",
                      said)
        self.assert_whole(2000, 2000, 2000)

    def test_what_a_snapshot_repeats_is_said_and_one_file_of_them_has_it_once(self):
        events = [etl.tl_event(RED, etl.FIRST_STAMP + 1 + n, "P", "E") for n in range(50)]

        def snapshot(file, first, end, **options):
            path = os.path.join(self.inside, file)
            return self.write(path, etl.trace([(0, events[n:n + 5]) for n in range(first, end, 5)],
                                              mode=0x400, ended=20_000_000 + end,
                                              own=[etl.totals(lost_events=end), etl.clock_record()],
                                              **options))
        paths = [snapshot("1.etl", 0, 20), snapshot("2.etl", 5, 30), snapshot("3.etl", 30, 40),
                 snapshot("4.etl", 10, 30, name="else")]
        advice = ("what both have queries count for each; docs/howto/fleet.md says how to send it "
                  "once")
        self.assertEqual(self.ship(*paths[:1]),
                         f"etwas ship: {paths[0]}: note: it is a snapshot: what others of its "
                         "session have "
                         "too queries count for each; docs/howto/fleet.md says how to send it "
                         "once\n")
        said = self.ship("--follow", self.inside, "--once")
        self.assertIn("note: 15 of its events are in an earlier snapshot of its session too: "
                      + advice, said)
        self.assertEqual(said.count("earlier snapshot"), 1)
        self.assertEqual(len(self.server.events), 20 + 25 + 10 + 20)
        self.assertEqual(self.ship("--follow", self.inside, "--once"), "")
        one = self.path("one.etl")
        self.run_etwas("convert", "--to", "etl", "--output", one, *paths[:3])
        self.assertEqual(self.ship(one), "")
        self.assertEqual(len(self.server.events), 75 + 40)
        self.assertEqual(max(row["lost"] for row in self.rows(END)), 40)

    def test_events_are_not_chosen_on_the_way_and_a_part_of_a_file_can_be_sent(self):
        path, part = self.path("a.etl"), self.path("part.etl")
        self.write(path, etl.trace([(0, [etl.classic(RED, 1_000_001 + n, kind=n % 2 + 1)
                                         for n in range(10)])]))
        for option in ("--where=opcode == 1", "-wx", "--from=+1", "--until=+1", "--pid=1", "-p1",
                       "--process=a", "--tid=1", "--cpu=0"):
            error = self.ship(option, path, expect=FAILED)
            self.assertIn("all events of a file are sent: --prove compares them", error)
            self.assertIn("'etwas convert --to etl --where EXPR -o PART.etl FILE'", error)
        self.run_etwas("convert", "--to", "etl", "--where", "opcode == 1", "-o", part, path)
        self.assertEqual(self.ship(part), "")
        self.assertEqual(len(self.server.events), 5)
        self.assertEqual([(row["recorded"], row["lost"]) for row in self.rows(END)], [(5, 0)])

    def test_a_folder_that_is_not_there_is_refused_and_not_made(self):
        missing = self.path("missing")
        self.assertIn("cannot be read", self.ship("--follow", missing, "--once", expect=FAILED))
        self.assertFalse(os.path.exists(missing))
        self.assertIn(missing, self.ship("--follow", self.inside, "--once", "--recover", "--pools",
                                         missing))

    def test_it_ends_when_nothing_can_be_kept_since_what_it_keeps_was_removed(self):
        self.work("a", os.path.join(self.inside, "a.etl"), 100)
        process = self.start("--follow", self.inside)
        self.wait_for(lambda: self.rows(END))
        # a file in it may be renamed meanwhile
        while os.path.exists(os.path.join(self.inside, ".ship")):
            shutil.rmtree(os.path.join(self.inside, ".ship"), ignore_errors=True)
        self.work("b", os.path.join(self.inside, "b.etl"), 100)
        said = process.communicate(timeout=TIMEOUT_S)[1]
        self.assertEqual(process.returncode, OUTPUT, said)
        self.assertIn("cannot be kept", said)
        self.assertNotIn("waiting", said)
        self.ship("--follow", self.inside, "--once")
        self.assert_whole(100, 100)

    def test_a_folder_that_goes_is_reported_once_and_looked_for_again(self):
        pools = self.path("pools")
        os.mkdir(pools)
        process = self.start("--follow", self.inside, "--state", self.path("state"), "--recover",
                             "--pools", pools)
        self.work("a", os.path.join(self.inside, "a.etl"), 100)
        self.wait_for(lambda: self.rows(END))
        os.rename(self.inside, self.path("away"))
        # each before a look at the folder: it has looked in vain twice
        self.wait_for_reads(pools, 4)
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
        for name in (".hidden.etl", "other.txt", "other.etl_", "other.etl_7a", "_7"):
            shutil.copy(outside, os.path.join(self.inside, name))
        self.work("in", os.path.join(self.inside, "a.etl"), 200)
        os.link(os.path.join(self.inside, "a.etl"), self.path("kept.etl"))
        os.rename(os.path.join(self.inside, "a.etl"),
                  os.path.join(self.inside, "\n" * 251 + ".etl"))
        before = set(os.listdir(self.inside))
        self.ship("--follow", self.inside, "--delete", "--once")
        self.assert_whole(200)
        self.assertEqual(before - set(os.listdir(self.inside)), {"\n" * 251 + ".etl"})
        self.assertTrue(os.path.exists(outside))
        self.assertTrue(os.path.exists(self.path("kept.etl")))

    def test_a_link_in_the_place_of_its_state_is_not_followed(self):
        """Others may write into the folder. One that is named is the user's will."""
        self.work("in", os.path.join(self.inside, "a.etl"), 200)
        os.mkdir(self.path("mine"), 0o700)
        os.symlink(self.path("mine"), os.path.join(self.inside, ".ship"))
        self.ship("--follow", self.inside, "--once", expect=FAILED)
        self.assertEqual(os.listdir(self.path("mine")), [])
        self.ship("--follow", self.inside, "--once", "--state", os.path.join(self.inside, ".ship"))
        self.assert_whole(200)

    def test_the_file_of_a_private_session_is_one(self):
        self.work("mine", os.path.join(self.inside, "a.etl_4711"), 300)
        self.ship("--follow", self.inside, "--once")
        self.assert_whole(300)

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
        self.assertIn("nobody writes it any more", self.ship("--follow", self.inside, "--state",
                                                             self.path("other"), "--once"))
        self.end(process)
        self.assertEqual(self.rows(END), [])

    def test_what_a_dead_session_had_in_memory_is_recovered_and_sent(self):
        self.work("dead", os.path.join(self.inside, "a.etl"), 20000, "kill", expect=-signal.SIGKILL)
        self.work("elsewhere", self.path("b.etl"), 100, "kill", expect=-signal.SIGKILL)
        pools = lambda: [name for name in os.listdir(self.path("run")) if name.endswith(".pool")]
        self.assertEqual(len(pools()), 2)
        self.ship("--follow", self.inside, "--recover", "--delete", "--once")
        self.assertEqual(self.numbers(), list(range(20000)))
        self.assertEqual(len({row["session_id"] for row in self.server.events}), 1)
        self.assertEqual(len(self.rows(RECOVERED)), 1)
        self.assertEqual(len(pools()), 1)
        self.assertEqual([name for name in os.listdir(self.inside) if name.endswith(".etl")],
                         ["a.etl"])

    def test_a_pool_of_the_same_guid_is_another_one(self):
        self.work("dead", os.path.join(self.inside, "a.etl"), 20000, "kill", expect=-signal.SIGKILL)
        pool, = [self.path("run", name) for name in os.listdir(self.path("run"))
                 if name.endswith(".pool")]
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
        self.wait_for_reads(self.inside, 2)
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
        self.assertIn("1 files", self.end(process, expect=NO))
        self.server.ways = [self.server.keep]
        self.ship("--follow", self.inside, "--once")
        self.assert_whole(300)

    def test_many_files_that_are_none_harm_nothing(self):
        for number in range(300):
            self.write(os.path.join("in", f"{number}.etl"), os.urandom(200))
        self.work("one", os.path.join(self.inside, "z.etl"), 300)
        said = self.ship("--follow", self.inside, "--once", expect=FAILED)
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
        process = self.start("--follow", self.inside, "--spool-limit", "1MB")
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
        process = self.start("--follow", self.inside, "--spool-limit", "1MB")
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
        process = self.start("--follow", self.inside, "--spool-limit", "1MB")
        self.wait_for(lambda: self.rows(END))
        self.work("two", os.path.join(self.inside, "b.etl"), 5000)
        self.wait_for(lambda: len(self.rows(END)) == 2)
        self.assertFalse(os.path.exists(os.path.join(self.inside, "a.etl")))
        self.end(process)
        self.assertEqual(self.rows(GONE), [])
        self.assert_whole(5000, 5000)

    def test_what_could_not_be_sent_does_not_go_first_and_not_silently(self):
        self.work("one", os.path.join(self.inside, "a.etl"), 500)
        process = self.start("--follow", self.inside, "--spool-limit", "1MB")
        self.wait_for(lambda: self.rows(END))
        self.write(os.path.join("in", "new.etl"), os.urandom(900000))
        self.work("two", os.path.join(self.inside, "b.etl"), 500)
        self.wait_for(lambda: len(self.rows(END)) == 2)
        self.wait_for_reads(self.inside, 4)
        self.write(os.path.join("in", "newest.etl"), os.urandom(900000))
        self.wait_for(lambda: not os.path.exists(os.path.join(self.inside, "new.etl")))
        said = self.end(process, expect=NO)
        self.assertIn("new.etl: there is more than the spool's limit: it goes, and was not sent",
                      said)
        self.assertEqual(sorted(os.listdir(self.inside)), [".ship", "newest.etl"])

    def test_what_servers_have_of_another_file_is_not_counted_for_one_that_went(self):
        first = self.work("two", self.path("in", "a.etl"), 20000, "move")
        self.ship(first)
        self.server.events[:] = self.server.events[:3000]
        self.server.buffers.clear()
        os.unlink(first)
        self.server.questions = ways.status(500, 242)
        process = self.start("--follow", self.inside, "--spool-limit", "100kB")
        self.wait_for(lambda: os.listdir(self.inside) == [".ship"])
        self.end(process, expect=NO)
        self.server.questions = None
        self.ship("--follow", self.inside, "--once")
        self.assertEqual([row["events"] for row in self.rows(GONE)], [10000])

    def test_as_many_files_as_went_are_reported(self):
        """Of more than are in memory at a time the server hears in the same run."""
        self.work("one", os.path.join(self.inside, "a.etl"), 5000)
        self.server.ways = [ways.status(500, 242)]
        process = self.start("--follow", self.inside, "--spool-limit", "100kB")
        self.wait_for(lambda: os.listdir(self.inside) == [".ship"])
        process.kill()
        process.wait()
        state = os.path.join(self.inside, ".ship")
        name, = (name for name in os.listdir(state) if name.endswith(".cursor"))
        with open(os.path.join(state, name), "rb") as file:
            cursor = file.read()
        for part in range(1, 1200):
            with open(os.path.join(state, f"{name[:34]}{part:08x}.cursor"), "wb") as file:
                file.write(changed_cursor(cursor, b"part", part))
        self.server.ways = [self.server.keep]
        self.server.inserts.clear()
        self.ship("--follow", self.inside, "--once")
        # rows of the first one come with any of them
        self.assertGreaterEqual(len(self.server.inserts), 1199)
        self.assertEqual([name for name in os.listdir(state) if name.endswith(".cursor")], [])

    def test_what_comes_back_with_more_than_was_counted_stays(self):
        file = self.work("one", os.path.join(self.inside, "a.etl"), 5000, "append")
        shutil.copy(file, self.path("more"))
        self.server.ways = [ways.status(500, 242)]
        process = self.start("--follow", self.inside, "--spool-limit", "100kB")
        self.wait_for(lambda: not os.path.exists(file))
        self.work("two", self.path("more"), 500, "append")
        process.kill()
        process.wait()
        os.rename(self.path("more"), file)
        self.server.ways = [self.server.keep]
        self.assertIn("it counts as gone", self.ship("--follow", self.inside, "--once",
                                                     expect=FAILED))
        self.assertTrue(os.path.exists(file))

    def test_the_cursor_of_another_file_lets_none_go(self):
        """While no server is there, the limit holds by what cursors say."""
        first = self.work("two", self.path("in", "a.etl"), 40000, "move")
        self.ship(first, "--state", os.path.join(self.inside, ".ship"))
        self.server.questions = ways.status(500, 242)
        process = self.start("--follow", self.inside, "--spool-limit", "100kB")
        self.wait_for(lambda: not os.path.exists(first))
        self.wait_for_reads(self.inside, 4)
        self.end(process, expect=NO)
        self.assertTrue(os.path.exists(first + ".moved.etl"))


class Session(ShipTest):
    def test_the_files_of_a_session_are_sent_until_it_ends(self):
        self.work("other", os.path.join(self.inside, "o.etl"), 100)
        with subprocess.Popen([sys.argv[2], "asked", os.path.join(self.inside, "p%d.etl"), "20000",
                               "share", "256"],
                              env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as session:
            if session.stdout.readline() != "ready\n":
                self.skipTest("processes share no session here")
            process = self.start("--session", "asked")
            self.wait_for(lambda: len(self.server.events) > 10000)
            session.communicate("\n", timeout=TIMEOUT_S)
        said = process.communicate(timeout=TIMEOUT_S)[1]
        self.assertEqual(process.returncode, FINE, said)
        self.assert_whole(20000)
        self.assertEqual(sum(row["ended"] for row in self.rows(END)), 1)

    def test_who_follows_its_folder_and_who_sends_it_know_of_each_other(self):
        """One at a time, and the one goes on where the other was."""
        with subprocess.Popen([sys.argv[2], "asked", os.path.join(self.inside, "a.etl"), "2000",
                               "share"],
                              env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as session:
            if session.stdout.readline() != "ready\n":
                self.skipTest("processes share no session here")
            process = self.start("--follow", self.inside)
            self.wait_for(lambda: len(self.server.events) == 2000)
            self.assertIn("another 'etwas ship' has this folder",
                          self.ship("--session", "asked", expect=FAILED))
            process.terminate()
            process.wait()
            self.server.hashes.clear()
            asked = len(self.server.asked)
            process = self.start("--session", "asked")
            self.wait_for(lambda: len(self.server.asked) > asked)
            session.communicate("\n", timeout=TIMEOUT_S)
        said = process.communicate(timeout=TIMEOUT_S)[1]
        self.assertEqual(process.returncode, FINE, said)
        self.assert_whole(2000)

    def test_one_that_does_not_run_is_refused(self):
        self.ship("--session", "none", expect=FAILED)


if __name__ == "__main__":
    main()
