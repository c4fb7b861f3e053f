# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What `etwas ship` does with servers: answers of every kind, connections that break, tables that
will not do.

usage: ship_wire_test.py PATH_OF_ETWAS PATH_OF_SHIP_WIRE_WORK TEST_CLASS
"""

import random
import signal
import socket
import sys
import threading
import time

import ship_server as ways
from fleet_case import FleetTest
from ship_wire_case import GOES_ON, WAITS, WireTest
from tool_case import main

PASSING = (159, 202, 209, 210, 241, 242, 243, 252, 285, 286, 319, 999)
WRONG = ((404, 46), (404, 115), (400, 62), (500, 368), (500, 32), (500, 33), (500, 47))


class Answers(WireTest):
    def test_what_passes_is_sent_again_until_it_has_passed(self):
        for number in PASSING:
            with self.subTest(number):
                server = self.server()
                server.ways = [ways.status(500, number)] * 2 + [ways.good]
                told, said = self.work("send:20", to=server.url)
                self.assertEqual(told, ["sent"])
                self.assert_same(server.inserts, 3)
                self.assert_said(said, f"Code: {number}", WAITS, GOES_ON, lines=2)

    def test_what_does_not_pass_is_said_and_ends_it(self):
        for code, number in WRONG:
            with self.subTest(number):
                server = self.server()
                server.ways = [ways.status(code, number)]
                told, said = self.work("send:20", to=server.url)
                self.assertEqual((told, len(server.inserts)), (["refused"], 1))
                self.assert_said(said, f"Code: {number}", "nothing is skipped", lines=1)

    def test_a_wrong_user_or_password_a_right_and_a_table_have_sentences_of_their_own(self):
        for code, number, words in ((401, 192, "wants a user and a password"),
                                    (401, 193, "--credentials"),
                                    (401, 516, "--credentials"),
                                    (500, 164, "does not let the user 'default'"),
                                    (403, 497, "does not let the user 'default'"),
                                    (404, 60, "'etwas ship --ddl'"),
                                    (404, 81, "'etwas ship --ddl'")):
            with self.subTest(number):
                server = self.server()
                server.ways = [ways.status(code, number)]
                told, said = self.work("send:20", to=server.url)
                self.assertEqual((told, len(server.inserts)), (["refused"], 1))
                self.assert_said(said, words, lines=1)

    def test_a_modern_server_says_the_number_in_the_head_and_whatever_the_status_is(self):
        head = ways.GOOD_HEAD + b"X-ClickHouse-Exception-Code: 242\r\n"
        server = self.server(version="24.8.2.3", columns="modern-columns")
        server.ways = [ways.status(500, head=head,
                                   body=b"Code: 242. DB::Exception: Table is in readonly mode."),
                       ways.status(200, head=head, body=b""),
                       ways.status(200, body=b"1\n2\nCode: 241. DB::Exception: Memory limit "
                                   b"exceeded"), ways.good]
        told, said = self.work("send:20", to=server.url)
        self.assertEqual(told, ["sent"])
        self.assert_same(server.inserts, 4)
        self.assertEqual(server.inserts[0].parameters["async_insert"], "0")
        self.assertEqual(server.inserts[0].parameters["insert_deduplication_token"], "block-0-1")
        self.assert_said(said, "Code: 242", lines=2)

    def test_an_old_server_is_told_nothing_that_it_does_not_know(self):
        server = self.server()
        self.work("send:20", "buffers:3", to=server.url)
        self.assertEqual({tuple(request.parameters) for request in server.inserts},
                         {("query", "wait_end_of_query", "query_id")})
        events, buffers = (request.parameters["query"] for request in server.inserts)
        self.assertTrue(events.startswith("INSERT INTO `etwas`.`event` (day,time,"), events)
        self.assertIn(",ints.keys,ints.values,", events)
        self.assertTrue(events.endswith(") FORMAT Native"))
        self.assertTrue(buffers.startswith("INSERT INTO `etwas`.`event_buffer` (day,host,"),
                        buffers)

    def test_what_stands_before_a_server_passes_or_not_by_its_status(self):
        for code, result, words in ((502, "sent", WAITS), (503, "sent", WAITS),
                                    (429, "sent", WAITS),
                                    (403, "refused", "not as ClickHouse does"),
                                    (405, "refused", "not as ClickHouse does")):
            with self.subTest(code):
                server = self.server()
                server.ways = [ways.status(code, head=b"", body=b"<html>no</html>"), ways.good]
                told, said = self.work("send:20", to=server.url)
                self.assertEqual(told, [result])
                self.assert_said(said, words)

    def test_only_the_empty_answer_of_a_server_means_that_it_is_there(self):
        server = self.server()
        server.ways = [ways.status(200, head=b""),
                       ways.status(200, body=b"<html>Welcome to the hotel</html>"), ways.good]
        told, said = self.work("send:20", to=server.url)
        self.assertEqual(told, ["sent"])
        self.assert_same(server.inserts, 3)
        self.assert_said(said, "answers what ClickHouse would not", lines=2)

    def test_no_redirect_is_followed(self):
        elsewhere = self.server()
        for code in (301, 302, 307, 308):
            server = self.server()
            server.ways = [ways.status(code, head=f"Location: {elsewhere.url}/\r\n".encode())]
            told, said = self.work("send:20", to=server.url)
            self.assertEqual(told, ["refused"])
            self.assert_said(said, f"HTTP {code}, to look elsewhere", lines=1)
        self.assertEqual(elsewhere.asked + elsewhere.inserts, [])

    def test_a_servers_words_are_escaped_and_short(self):
        for text in ("\x1b[31mred\x07 \u202e" + "long " * 100000, "\x1b[31mred\x07 \u202e\n"
                     + "long " * 10):
            server = self.server()
            server.ways = [ways.status(500, 47, text)]
            told, said = self.work("send:20", to=server.url)
            self.assertEqual(told, ["refused"])
            self.assertIn("\\x1b[31mred\\x07 \\u{202e}", said)
            self.assertLess(len(said), 1200)
            self.assertEqual(len(said.splitlines()), 1)


class Breaks(WireTest):
    def test_after_any_doubt_the_same_bytes_come_again(self):
        begin = b"HTTP/1.1 200 OK\r\n"
        for name, way in {"before": ways.cut_within(0.0), "within": ways.cut_within(0.6),
                          "after": ways.close, "reset": ways.reset,
                          "in the status": ways.say(b"HTTP/1.1 20"),
                          "in the head": ways.say(begin + b"X-Click"),
                          "in the body": ways.say(begin + ways.GOOD_HEAD
                                                  + b"Content-Length: 20\r\n\r\nhalf"),
                          "in a chunk": ways.say(begin + ways.GOOD_HEAD
                                                 + b"Transfer-Encoding: chunked\r\n\r\n8\r\nhalf"),
                          "bad chunk": ways.say(
                                  begin + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n"),
                          "garbage": ways.say(bytes(range(256)) * 100),
                          "endless": ways.endless(b"x" * 65536, begin + b"\r\n"),
                          "endless head": ways.endless(b"X-Y: " + b"z" * 4000 + b"\r\n", begin),
                          "endless 100": ways.endless(b"HTTP/1.1 100 Continue\r\n\r\n"
                                                      * 100)}.items():
            with self.subTest(name):
                server = self.server()
                server.ways = [way, ways.good]
                told, said = self.work("send:2000", to=server.url)
                self.assertEqual(told, ["sent"])
                self.assert_same(server.inserts, 2)
                # A connection that was kept and answers nothing at all is made anew without a word.
                self.assertEqual((said.count(WAITS), said.count(GOES_ON)), (1, 1) if said
                                 else (0, 0))

    def test_connections_that_break_anywhere_lose_nothing(self):
        seed = random.randrange(2 ** 32)
        chance = random.Random(seed)
        kinds = (lambda: ways.cut_within(chance.random()), lambda: ways.close, lambda: ways.reset,
                 lambda: ways.say(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"[
                     :chance.randrange(40)]),
                 lambda: ways.status(500, chance.choice(PASSING)))
        first, second = self.server(), self.server()
        for server in (first, second):
            server.ways = [chance.choice(kinds)() if chance.random() < 0.4 else ways.good
                           for _ in range(12)] + [ways.good]
        told, said = self.work(*(f"send:300:{block}" for block in range(1, 16)),
                               to=f"{first.url},{second.url}")
        with self.subTest(seed=seed):
            self.assertEqual(told, ["sent"] * 15)
            whole = {request.body for server in (first, second) for request in server.inserts
                     if len(request.body) == request.length}
            self.assertEqual(len(whole), 15)
            self.assertEqual(said.count(WAITS), said.count(GOES_ON))

    def test_a_slow_answer_is_waited_for(self):
        server = self.server()
        reply = b"HTTP/1.1 200 OK\r\n" + ways.GOOD_HEAD + b"Content-Length: 0\r\n\r\n"
        server.ways = [ways.say(*(reply[i:i + 1] for i in range(len(reply))), pause=0.01)]
        told, said = self.work("send:20", to=server.url)
        self.assertEqual((told, said, len(server.inserts)), (["sent"], "", 1))

    def test_100_continue_comes_before_the_answer(self):
        server = self.server()
        server.ways = [ways.continues]
        told, said = self.work("send:20000", to=server.url)
        self.assertEqual((told, said, len(server.inserts)), (["sent"], "", 1))
        self.assertNotIn("expect", server.inserts[0].head)

    def test_a_kept_connection_that_is_closed_is_no_trouble(self):
        server = self.server()
        server.ways = [ways.closes]
        told, said = self.work("send:20:1", "pause", "send:20:2", to=server.url)
        self.assertEqual((told, said), (["sent"] * 3, ""))
        self.assertEqual(len(server.inserts), 2)

    def test_replicas_are_tried_in_turn(self):
        servers = [self.server() for _ in range(3)]
        for server in servers:
            server.ways = [ways.status(500, 242)]
        servers[1].ways = [ways.status(500, 242), ways.good]
        told, said = self.work("send:20", "send:20:2",
                               to=",".join(server.url for server in servers))
        self.assertEqual(told, ["sent", "sent"])
        tried = sorted((request for server in servers for request in server.inserts),
                       key=lambda request: request.time)
        ports = [server.port for server in servers]
        # And it stays with the one that took it.
        self.assertEqual([ports.index(request.port) for request in tried], [0, 1, 2, 0, 1, 1])
        self.assert_same(tried[:-1], 5)
        self.assert_said(said, lines=2)

    def test_waits_are_never_shorter_than_half_of_what_has_doubled(self):
        server = self.server()
        server.ways = [ways.status(500, 242)] * 5 + [ways.good]
        self.work("send:20", to=server.url)
        times = [request.time for request in server.inserts]
        for index, (before, after) in enumerate(zip(times, times[1:])):
            self.assertGreaterEqual(after - before, 0.05 * 2 ** index - 0.001)


class Ends(WireTest):
    def ended(self, way):
        """What a block became of whose sender is asked to end while the server does this."""
        is_there = threading.Event()

        def whole(connection, request):
            is_there.set()
            return way(connection, request)

        server = self.server()
        server.ways = [whole]
        process = self.start("send:20", to=server.url)
        self.assertTrue(is_there.wait(100))
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=100)
        return out.splitlines()[2:]

    def test_a_wait_ends_at_once(self):
        server = self.server()
        server.ways = [ways.status(500, 242)]
        process = self.start("send:20", to=server.url)
        while len(server.inserts) < 6:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=100)
        self.assertEqual(out.splitlines()[2:], ["stopped"])
        self.assertLessEqual(len(server.inserts), 7)

    def test_a_request_that_is_on_its_way_is_given_up_after_a_while(self):
        self.assertEqual(self.ended(ways.silent), ["stopped"])

    def test_an_answer_that_comes_in_time_counts(self):
        def late(connection, request):
            time.sleep(1)
            return ways.good(connection, request)
        self.assertEqual(self.ended(late), ["sent"])

    def test_who_waits_for_a_server_to_be_there_at_all_can_be_ended(self):
        process = self.start("send:20", to="http://127.0.0.1:1")
        said = process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=100)
        self.assert_said(said, "http://127.0.0.1:1: does not answer", WAITS)
        self.assertEqual(out.splitlines(), ["stopped"])

    def test_patience_may_have_an_end(self):
        told, said = self.work("send:20", to="http://127.0.0.1:1", options=("--timeout", "1"))
        self.assertEqual(told, ["refused"])
        self.assert_said(said, WAITS, "within 1 s", lines=2)

    def test_patience_is_of_all_attempts_and_of_what_hangs_too(self):
        """Of questions and rows; one request alone may take 60 s otherwise."""
        drips = ways.say(*[b"x"] * 300, pause=0.3)
        for way, asks in (ways.silent, True), (drips, False):
            server = self.server()
            server.ways = [way]
            server.questions = way if asks else None
            told, said = self.work("send:20", to=server.url, options=("--timeout", "2"), limit=45)
            self.assertEqual(told, ["refused"])
            self.assert_said(said, "within 2 s (--timeout)")
        # takes connections, and no word of TLS
        with socket.create_server(("127.0.0.1", 0)) as listening:
            told, said = self.work("send:20", to=f"https://127.0.0.1:{listening.getsockname()[1]}",
                                   options=("--timeout", "1"), limit=45)
        self.assertEqual(told, ["refused"])

    def test_a_replica_that_hangs_leaves_the_others_their_part_of_the_patience(self):
        first, second = self.server(), self.server()
        first.questions = ways.silent
        told, said = self.work("send:20", to=f"{first.url},{second.url}",
                               options=("--timeout", "8"))
        self.assertEqual((told, len(second.inserts)), (["sent"], 1), said)


class Servers(WireTest):
    """What is looked at before anything is sent."""

    def refused(self, *words, to=None, options=(), lines=1, **server):
        made = self.server(**server) if to is None else None
        told, said = self.work("send:20", to=to or made.url, options=options)
        self.assertEqual(told, ["refused"], said)
        self.assert_said(said, *words, lines=lines)
        if made:
            self.assertEqual(made.inserts, [])

    def accepted(self, said="", options=(), **server):
        made = self.server(**server)
        told, errors = self.work("send:20", to=made.url, options=options)
        self.assertEqual((told, len(made.inserts)), (["sent"], 1), errors)
        self.assert_said(errors, said, lines=None if said else 0)

    def test_an_old_server(self):
        self.refused("is ClickHouse 1.1; 18.16 is the oldest", version="1.1.54385")

    def test_a_table_that_is_not_there_or_another_one(self):
        self.refused("has no table etwas.event, one with none of its columns,",
                     "'etwas ship --ddl'", tables=())
        self.refused("has no table etwas.event_buffer,", tables=("",))
        self.refused("has no table a.b,", tables=(), options=("--table", "a.b"))
        server = self.server()
        server.columns = [column for column in server.columns if column[1] != "pid"]
        self.refused("without the column pid", "'etwas ship --ddl --server URL'", to=server.url)
        server = self.server()
        server.columns = [[table, name, "UInt8" if name == "pid" else kind]
                          for table, name, kind in server.columns]
        self.refused("whose column pid is UInt8", to=server.url)

    def test_a_table_that_does_not_know_a_block_that_comes_again(self):
        plain = "MergeTree PARTITION BY day ORDER BY session SETTINGS index_granularity = 8192"
        self.refused("(MergeTree) does not know a block", "--at-least-once", engine=plain)
        self.refused("(Memory) does not know", engine="Memory")
        self.refused("does not know", "its replicated_deduplication_window is 0",
                     engine=ways.REPLICATED.replace("= 10000", "= 0"))
        self.refused("does not know",
                     "'alter table etwas.event modify setting non_replicated_deduplication_window "
                     "= ", version="24.8.1", columns="modern-columns", engine=plain)
        self.accepted(options=("--at-least-once",), engine=plain)
        self.accepted(version="24.8.1", columns="modern-columns", engine=plain
                      + ", non_replicated_deduplication_window = 1000")
        self.accepted(engine="SharedMergeTree" + ways.REPLICATED[len("ReplicatedMergeTree"):])

    def test_a_table_whose_windows_are_the_servers_is_said(self):
        self.accepted("does not say replicated_deduplication_window_seconds",
                      engine=ways.REPLICATED.replace(
                          ", replicated_deduplication_window_seconds = 604800", ""))
        self.accepted("does not say replicated_deduplication_window:",
                      engine=ways.REPLICATED.replace("replicated_deduplication_window = 10000, ",
                                                     ""))

    def test_a_distributed_table(self):
        self.refused("is Distributed", "--table",
                     engine="Distributed(etwas, etwas, event, session)")

    def test_addresses_of_one_shard_that_are_no_replicas(self):
        plain = "MergeTree PARTITION BY day ORDER BY session"
        servers = [self.server(engine=plain) for _ in range(2)]
        self.refused("is not replicated", to=",".join(s.url for s in servers),
                     options=("--at-least-once",))
        told, _ = self.work("all:20:1", to=[s.url for s in servers], options=("--at-least-once",))
        self.assertEqual((told, [len(s.inserts) for s in servers]), (["sent"], [1, 1]))

    def test_a_user_who_may_only_read(self):
        server = self.server()
        server.readonly = "1"
        self.refused("the user 'default' only read", to=server.url)

    def test_a_user_who_may_not_read_settings_may_insert(self):
        server = self.server()
        server.hides = "merge_tree_settings"
        told, said = self.work("send:20", to=server.url)
        self.assertEqual((told, said), (["sent"], ""))
        server = self.server()
        server.hides = "system.columns"
        self.refused("does not let the user 'default' do this", to=server.url)

    def test_shards_whose_tables_differ(self):
        old = self.server()
        new = self.server(version="24.8.1", columns="modern-columns")
        self.refused("other types", to=[old.url, new.url])

    def test_a_shard_that_is_away_keeps_the_others_from_nothing(self):
        here = self.server()
        process = self.start("send:20", to=[here.url, "http://127.0.0.1:1"])
        out, said = process.communicate(timeout=100)
        self.assertEqual(out.splitlines()[2:], ["sent"])
        self.assert_said(said, "http://127.0.0.1:1: does not answer", lines=1)

    def test_who_is_no_clickhouse(self):
        server = self.server()
        server.questions = ways.status(404, head=b"", body=b"<html>nothing here</html>")
        self.refused("HTTP 404, and not as ClickHouse does", to=server.url)
        server.questions = ways.status(200, head=b"", body=b"<html>Welcome</html>\n")
        self.refused("answers what ClickHouse would not", to=server.url,
                     options=("--timeout", "1"), lines=2)

    def test_answers_to_questions_are_rows_or_nothing(self):
        server = self.server()
        told, _ = self.work("ask:1:select 1", "each:1:select 1", to=server.url)
        self.assertEqual(told, ["[1]", "sent", "[1]", "sent"])
        for body in (b"1\t2\n", b"1", b"a\nCode: 241. DB::Exception: Memory limit\n"):
            pieces = [lambda c, _, body=body: ways.answer(c, 200, body), lambda c,
                      _: ways.answer(c, 200, b"x\\ty\\N\\\\\n")]
            server = self.server()
            process = self.start("pause", "ask:1:select a", to=server.url)
            while len(server.asked) < 6:
                time.sleep(0.01)
            server.questions = lambda c, r, pieces=pieces: pieces.pop(0)(c, r) if len(
                pieces) > 1 else pieces[0](c, r)
            out, said = process.communicate("\n", timeout=100)
            self.assertEqual(out.splitlines()[3:], ["[x\ty\\N\\]", "sent"], said)
            self.assert_said(said, WAITS, GOES_ON, lines=2)


class Real(FleetTest, WireTest):
    """A cluster: it stores a block once, however often and in whatever form it comes."""

    arguments = ()

    def test_a_block_that_comes_again_is_there_once(self):
        url = ",".join(self.fleet.settings["FLEET_HTTP_" + name] for name in ("s1r1", "s1r2"))
        made, _ = self.run_etwas("ship", "--ddl", "--server-version", "18.16", "--cluster", "etwas")
        self.fleet.run_statements(made)
        options = ("--credentials", self.fleet.credentials)
        told, said = self.work("send:1000", "send:1000", "send:1000:2", "buffers:7", "buffers:7",
                               to=url, options=options)
        self.assertEqual((told, said), (["sent"] * 5, ""))
        told, _ = self.work("send:1000", "each:1:select count() from etwas.event", to=url,
                            options=(*options, "--compress"))
        self.assertEqual(told, ["sent", "[2000]", "[2000]", "sent"])
        self.assertEqual(self.fleet.ask("select count() from etwas.event_buffer"), [["7"]])
        told, said = self.work("send:10", to=url)
        self.assertEqual(told, ["refused"])
        self.assert_said(said, "Code: 19", lines=1)


if __name__ == "__main__":
    sys.exit(main())
