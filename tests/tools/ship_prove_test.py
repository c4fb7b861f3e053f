# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The proof that all events have arrived: a real server is asked about sessions that are complete,
and about others.

usage: ship_prove_test.py PATH_OF_ETWAS PATH_OF_SHIP_BLOCK Faults
       ship_prove_test.py PATH_OF_ETWAS PATH_OF_SHIP_WORK Command
       ship_prove_test.py PATH_OF_ETWAS PATH_OF_SHIP_WIRE_WORK Replicas
"""

import datetime
import json
import os
import subprocess
import sys

from fleet_case import FleetTest
from ship_server import Server, answer
from tool_case import FAILED, FINE, NO, ToolTest, main

BUFFERS, EVENTS = 4, 10  # of a part that is whole
BUFFER, END, GONE, RECOVERED = range(4)
RECOVERED_PART = 2 ** 32 - 1


class Session:
    """Rows of a session of one host, as ship would have sent them but for what a test leaves
    out."""

    def __init__(self, number, host="web1"):
        self.key = f"'{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}', '{host}', {number}"
        self.events = set()
        self.twice = []
        self.buffers = {}
        self.ends = []

    def part(self, number=0):
        for buffer in range(1, BUFFERS + 1):
            self.events.update((number, buffer, pos) for pos in range(EVENTS))
            self.buffers[number, buffer] = EVENTS
        return self

    def end(self, part=0, recorded=BUFFERS * EVENTS, overwritten=0, lost=0, ended=1, state=END,
            events=0):
        self.ends.append((part, 0, events, state, recorded, overwritten, lost, ended))
        return self

    def insert(self, fleet):
        events = [*sorted(self.events), *self.twice]
        if events:
            fleet.ask("insert into etwas.event (day, host, session_id, part, buffer, position) "
                      "values "
                      + ",".join(
                          f"({self.key}, {part}, {buffer}, {pos})" for part, buffer, pos in events))
        rows = [(*key, events, BUFFER, 0, 0, 0, 0)
                for key, events in self.buffers.items()] + self.ends
        fleet.ask("insert into etwas.event_buffer (day, host, session_id, part, buffer, events, "
                  "state, recorded, "
                  "overwritten, lost, ended) values " + ",".join(
                      f"({self.key}, {', '.join(map(str, row))})" for row in rows))


class Faults(FleetTest):
    """What the query answers, of one session a test."""

    number = 0

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.fleet.run_statements(cls.made("ddl", "18", "event", "-", "0"))

    @staticmethod
    def made(*arguments):
        return subprocess.run([sys.argv[2], *arguments], check=True, stdout=subprocess.PIPE,
                              timeout=100).stdout.decode()

    def session(self):
        Faults.number += 1
        return Session(Faults.number)

    def proof(self, session):
        session.insert(self.fleet)
        query = self.made("prove", "etwas.event_all", "etwas.event_buffer_all",
                          "etwas.event_buffer", "2")
        rows = self.fleet.ask(query + " format TabSeparatedWithNames")
        told = dict(zip(rows[0], next(row for row in rows[1:] if row[1] == str(self.number)),
                        strict=True))
        return told["verdict"], {name: int(value) for name, value in told.items()
                                 if name not in ("host", "verdict")}

    def assert_proof(self, session, verdict, **numbers):
        found, told = self.proof(session)
        self.assertEqual((found, {name: told[name] for name in numbers}), (verdict, numbers))

    def test_all_that_was_recorded_is_there_and_what_was_lost_is_reported(self):
        self.assert_proof(self.session().part().end(lost=7, overwritten=3), "complete",
                          attempted=50, recorded=40, events=40, by_buffers=40, lost=7,
                          overwritten=3, missing_buffers=0, wrong_buffers=0)

    def test_the_events_of_a_buffer_are_missing(self):
        session = self.session().part().end()
        session.events -= {(0, 2, pos) for pos in range(EVENTS)}
        self.assert_proof(session, "incomplete", events=30, by_buffers=40, wrong_buffers=1,
                          missing_buffers=0)

    def test_the_row_of_a_buffer_is_missing(self):
        session = self.session().part().end()
        del session.buffers[0, 2]
        self.assert_proof(session, "incomplete", events=40, by_buffers=30, missing_buffers=1)

    def test_the_row_of_the_last_buffer_is_missing(self):
        session = self.session().part().end()
        del session.buffers[0, BUFFERS]
        self.assert_proof(session, "incomplete", events=40, by_buffers=30, missing_buffers=0)

    def test_the_last_buffer_is_missing_whole(self):
        session = self.session().part().end()
        del session.buffers[0, BUFFERS]
        session.events -= {(0, BUFFERS, pos) for pos in range(EVENTS)}
        self.assert_proof(session, "incomplete", events=30, by_buffers=30, recorded=40,
                          missing_buffers=0)

    def test_events_are_there_twice(self):
        session = self.session().part().end()
        session.twice = [(0, 3, pos) for pos in range(EVENTS)]
        self.assert_proof(session, "incomplete", events=50, by_buffers=40, wrong_buffers=1)

    def test_as_many_events_are_there_twice_as_are_missing(self):
        session = self.session().part().end()
        session.events -= {(0, 3, 2), (0, 3, 3)}
        session.twice = [(0, 3, 7), (0, 3, 8)]
        self.assert_proof(session, "incomplete", events=40, by_buffers=40, wrong_buffers=1)

    def test_events_are_there_twice_with_the_same_sum_of_places(self):
        session = self.session().part().end()
        session.events -= {(0, 3, 1), (0, 3, 2)}
        session.twice = [(0, 3, 0), (0, 3, 3)]
        self.assert_proof(session, "incomplete", events=40, by_buffers=40, wrong_buffers=1)

    def test_a_part_is_missing(self):
        session = self.session().part(1).end(1, ended=0).part(3).end(3)
        self.assert_proof(session, "incomplete", parts=3, parts_ended=2, recorded=80, events=80)

    def test_all_parts_are_there(self):
        session = self.session().part(1).end(1, ended=0, overwritten=2).part(2).end(2)
        self.assert_proof(session, "complete", parts=2, parts_ended=2, recorded=80, attempted=82)

    def test_a_part_counts_what_the_next_one_has(self):
        session = self.session().part(1).end(1, ended=0, recorded=2 ** 64
                                             - 5).part(2).end(2, recorded=85)
        self.assert_proof(session, "complete", recorded=80, events=80)

    def test_a_session_that_has_no_end_is_never_complete(self):
        self.assert_proof(self.session().part(), "unfinished", events=40, by_buffers=40)
        session = self.session().part(1).end(1, ended=0).part(2).end(2, ended=0)
        self.assert_proof(session, "unfinished", events=80, recorded=80)

    def test_a_buffer_on_its_way_is_no_fault(self):
        session = self.session().part()
        session.events |= {(0, BUFFERS + 1, pos) for pos in range(3)}
        self.assert_proof(session, "unfinished", events=43, by_buffers=40, wrong_buffers=0)

    def test_a_recovered_session_counts_by_what_was_recovered(self):
        session = self.session().part(1).end(1, ended=0, recorded=44).part(2).part(RECOVERED_PART)
        session.end(RECOVERED_PART, recorded=120, overwritten=5, lost=1, state=RECOVERED)
        self.assert_proof(session, "complete", recovered=1, recorded=120, events=120, attempted=126)

    def test_a_recovered_session_of_which_a_part_is_missing_is_not_complete(self):
        session = self.session().part(2).part(RECOVERED_PART)
        session.end(RECOVERED_PART, recorded=120, state=RECOVERED)
        self.assert_proof(session, "incomplete", recovered=1, recorded=120, events=80)

    def test_a_file_that_went_is_told_apart_from_what_was_never_recorded(self):
        session = self.session().part().end(state=GONE, events=25, recorded=0, ended=0)
        self.assert_proof(session, "gone", gone=25, lost=0, events=40)


class Command(FleetTest):
    """`etwas ship --prove` after `etwas ship`: of what sessions logged, and of copies of the tables
    with faults."""

    events = 30_000
    copies = 0

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.environment = dict(os.environ, ETWAS_RUNTIME_DIR=os.path.join(cls.fleet.folder, "run"),
                               ETWAS_SHARED="1",
                               XDG_STATE_HOME=os.path.join(cls.fleet.folder, "state"))
        cls.environment.pop("STATE_DIRECTORY", None)
        os.mkdir(cls.environment["ETWAS_RUNTIME_DIR"], 0o700)

    @classmethod
    def ship(cls, *arguments, expect=FINE):
        run = subprocess.run(
            [cls.etwas, "ship", "--server", cls.fleet.settings["FLEET_HTTP_s1r1"], "--credentials",
             cls.fleet.credentials, *arguments], env=cls.environment, capture_output=True,
            check=False, text=True, timeout=100)
        if run.returncode != expect:
            raise AssertionError(f"{arguments}: {run.returncode} {run.stdout} {run.stderr}")
        return run.stdout, run.stderr

    def work(self, name, end="stop", *more, expect=0):
        """A session that logs into parts of a folder of its own."""
        folder = os.path.join(self.fleet.folder, name)
        os.mkdir(folder)
        run = subprocess.run([sys.argv[2], name, os.path.join(folder, "part-%d.etl"),
                              str(self.events), end, "512"],
                             env=self.environment, check=False, timeout=100)
        self.assertEqual(run.returncode, expect)
        return folder

    def make(self, name):
        """Tables of that name, with no rows."""
        self.fleet.run_statements(self.ship("--ddl", "--table", "etwas." + name)[0])

    def send(self, name, *more):
        """What is in the folder of that name, to tables of that name."""
        self.ship("--table", "etwas." + name, "--at-least-once", *more)

    def proof(self, name, *arguments, expect):
        """What is said of the one session in tables of that name."""
        out, _ = self.ship("--prove", "--json", "--table", "etwas." + name, *arguments,
                           expect=expect)
        proof = json.loads(out)
        self.assert_keys_documented("ship", proof)
        return proof

    def copy(self, name, events="1", buffers="1"):
        """The name of tables with those rows of others that are as said."""
        Command.copies += 1
        copy = f"copy{self.copies}"
        self.make(copy)
        for suffix, which in (("", events), ("_buffer", buffers)):
            self.fleet.ask(
                f"insert into etwas.{copy}{suffix} "
                f"select * from etwas.{name}{suffix} where {which}")
        return copy

    def test_faults_are_found_in_what_was_sent(self):
        self.make("whole")
        self.send("whole", "--host", "web1", "--follow", self.work("whole"), "--once")
        proof = self.proof("whole", "--days", "2", expect=FINE)
        self.assertEqual((proof["host"], proof["verdict"]), ("web1", "complete"))
        self.assertGreater(proof["parts"], 2)
        self.assertEqual((proof["attempted"], proof["events"]), (self.events, self.events))
        self.assertEqual(self.proof(self.copy("whole"), expect=FINE), proof)
        for events, buffers, verdict, fault in (
                ("not (part = 2 and buffer = 3)", "1", "incomplete", "wrong_buffers"),
                ("1", "not (part = 2 and buffer = 3 and state = 0)", "incomplete",
                 "missing_buffers"),
                ("part != 2", "part != 2", "incomplete", None),
                ("1", "not (part = 1 and state = 1)", "incomplete", None),
                ("1", "not ended", "unfinished", None)):
            found = self.proof(self.copy("whole", events, buffers), expect=NO)
            self.assertEqual(found["verdict"], verdict, (events, buffers))
            if fault:
                self.assertEqual(found[fault], 1)

    def test_rows_that_came_twice_are_found(self):
        self.make("twice")
        self.send("twice", "--follow", self.work("twice"), "--once")
        self.fleet.ask(
            "insert into etwas.twice select * from etwas.twice where part = 1 and buffer < 10 and "
            "position < 10")
        proof = self.proof("twice", expect=NO)
        self.assertEqual(proof["verdict"], "incomplete")
        self.assertGreater(proof["wrong_buffers"], 0)
        self.assertGreater(proof["events"], proof["recorded"])

    def test_a_killed_session_is_complete_when_it_was_recovered(self):
        self.make("killed")
        folder = self.work("killed", "kill", expect=-9)
        self.send("killed", *sorted(os.path.join(folder, name) for name in os.listdir(folder)
                                    if name.endswith(".etl")))
        self.assertEqual(self.proof("killed", expect=NO)["verdict"], "unfinished")
        self.send("killed", "--follow", folder, "--once", "--recover")
        proof = self.proof("killed", expect=FINE)
        self.assertEqual((proof["verdict"], proof["recovered"]), ("complete", 1))
        self.assertEqual((proof["attempted"], proof["events"]), (self.events, self.events))

    def test_files_that_went_are_reported(self):
        self.make("gone")
        self.send("gone", "--follow", self.work("gone"), "--once", "--spool-limit", "1MB")
        proof = self.proof("gone", expect=NO)
        self.assertEqual(proof["verdict"], "gone")
        self.assertEqual(proof["gone"] + proof["events"], self.events)

    def test_there_is_nothing_to_prove_where_nothing_arrived(self):
        self.make("nobody")
        out, _ = self.ship("--prove", "--table", "etwas.nobody", expect=NO)
        self.assertIn("# 0 sessions", out)

    def test_tables_that_are_not_there_are_no_proof(self):
        out, error = self.ship("--prove", "--table", "etwas.none", expect=FAILED)
        self.assertEqual(out, "")
        self.assertIn("etwas.none", error)

    def test_what_a_table_lacks_is_added_by_what_the_server_says(self):
        self.fleet.run_statements(self.ship("--ddl", "--table", "etwas.old")[0])
        for column in ("part", "texts.values", "unix_time"):
            self.fleet.ask(f"alter table etwas.old drop column {column}")
        self.assertIn("part", self.ship("--prove", "--table", "etwas.old", expect=FAILED)[1])
        text = self.ship("--ddl", "--table", "etwas.old")[0]
        self.assertEqual([line.split(" ")[5:] for line in text.splitlines()
                          if line.startswith("alter ")],
                         [["part", "UInt32;"], ["texts.values", "Array(String);"],
                          ["unix_time", "Int64", "alias", "toInt64(time);"]])
        self.fleet.run_statements(text)
        self.assertNotIn("alter", self.ship("--ddl", "--table", "etwas.old")[0])


class Replicas(ToolTest):
    """Made-up replicas of a shard, of which each has its own word on a session."""

    def replica(self, verdict):
        server = Server(sys.argv[2])
        proof = "\t".join(["web1", "7", verdict, *["0"] * 23]) + "\n"

        def answers(connection, request):
            if b"as verdict" in request.body:
                self.asked.append(verdict)
                return answer(connection, 200, proof.encode())
            return server.reply(connection, request)

        server.questions = answers
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server.url

    def prove(self, *verdicts):
        self.asked = []
        urls = [self.replica(verdict) for verdict in verdicts]
        run = subprocess.run([self.etwas, "ship", "--prove", "--server", ",".join(urls)],
                             capture_output=True, check=False, text=True, timeout=100)
        self.assertEqual(run.stderr, "")
        return run.returncode

    def test_one_that_is_behind_is_not_the_last_word(self):
        self.assertEqual(self.prove("incomplete", "incomplete", "complete"), FINE)
        self.assertEqual(self.asked, ["incomplete", "incomplete", "complete"])

    def test_what_none_has_is_missing(self):
        self.assertEqual(self.prove("incomplete", "incomplete"), NO)
        self.assertGreater(len(self.asked), 2)

    def test_what_the_first_has_is_there(self):
        self.assertEqual(self.prove("complete", "incomplete"), FINE)
        self.assertEqual(self.asked, ["complete"])


if __name__ == "__main__":
    main()
