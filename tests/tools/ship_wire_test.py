# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What `etwas ship` does with servers: answers of every kind, connections that break, passwords, certificates.

usage: ship_wire_test.py PATH_OF_ETWAS PATH_OF_SHIP_WIRE_WORK PATH_OF_SHIP_BLOCK TEST_CLASS
"""

import gzip
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

import ship_server as ways
from fleet_case import FleetTest
from ship_server import Server
from tool_case import ToolTest, main

PASSING = (159, 202, 209, 210, 241, 242, 252, 285, 286, 999)
WRONG = ((404, 46), (404, 115), (400, 62), (500, 368), (500, 32), (500, 33), (500, 47))
WAITS, GOES_ON = "it is tried again", "it goes on"


class WireTest(ToolTest):
    def server(self, **options):
        server = Server(sys.argv[2], **options)
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server

    def start(self, *actions, to, options=(), **more):
        to = [to] if isinstance(to, str) else to
        arguments = [word for url in to for word in ("--to", url)]
        environment = {**os.environ, **more.pop("environment", {})}
        return subprocess.Popen([sys.argv[2], *actions, "--", *arguments, *options, "x.etl"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, **more)

    def work(self, *actions, to, options=(), **more):
        """What became of each action, and what was said."""
        process = self.start(*actions, to=to, options=options, **more)
        out, said = process.communicate(timeout=200)
        self.assertEqual(process.returncode, 0, said)
        lines = out.splitlines()
        return lines[2:] if lines[0] == "opened" else lines, said

    def assert_same(self, inserts, count):
        """They are all of one block."""
        self.assertEqual(len(inserts), count)
        whole = [request for request in inserts if len(request.body) == request.length]
        self.assertEqual({(request.target, request.length) for request in inserts},
                         {(whole[-1].target, whole[-1].length)})
        self.assertEqual({request.body for request in whole}, {whole[-1].body})

    def assert_said(self, said, *words, lines=None):
        for word in words:
            self.assertIn(word, said)
        if lines is not None:
            self.assertEqual(len(said.splitlines()), lines, said)


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
        for code, number, words in ((401, 192, "wants a user and a password"), (401, 193, "--credentials"),
                                    (401, 516, "--credentials"), (500, 164, "does not let the user 'default'"),
                                    (403, 497, "does not let the user 'default'"), (404, 60, "'etwas ship --ddl'"),
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
        server.ways = [ways.status(500, head=head, body=b"Code: 242. DB::Exception: Table is in readonly mode."),
                       ways.status(200, head=head, body=b""),
                       ways.status(200, body=b"1\n2\nCode: 241. DB::Exception: Memory limit exceeded"), ways.good]
        told, said = self.work("send:20", to=server.url)
        self.assertEqual(told, ["sent"])
        self.assert_same(server.inserts, 4)
        self.assertEqual(server.inserts[0].parameters["async_insert"], "0")
        self.assertEqual(server.inserts[0].parameters["insert_deduplication_token"], "block-0-1")
        self.assert_said(said, "Code: 242", lines=2)

    def test_an_old_server_is_told_nothing_that_it_does_not_know(self):
        server = self.server()
        self.work("send:20", "buffers:3", to=server.url)
        self.assertEqual({tuple(request.parameters) for request in server.inserts}, {("query", "wait_end_of_query")})
        events, buffers = (request.parameters["query"] for request in server.inserts)
        self.assertTrue(events.startswith("INSERT INTO `etwas`.`event` (day,time,"), events)
        self.assertIn(",ints.keys,ints.values,", events)
        self.assertTrue(events.endswith(") FORMAT Native"))
        self.assertTrue(buffers.startswith("INSERT INTO `etwas`.`event_buffer` (day,host,"), buffers)

    def test_what_stands_before_a_server_passes_or_not_by_its_status(self):
        for code, result, words in ((502, "sent", WAITS), (503, "sent", WAITS), (429, "sent", WAITS),
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
        server.ways = [ways.status(200, head=b""), ways.status(200, body=b"<html>Welcome to the hotel</html>"),
                       ways.good]
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
        for text in ("\x1b[31mred\x07 \u202e" + "long " * 100000, "\x1b[31mred\x07 \u202e\n" + "long " * 10):
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
        for name, way in {"before": ways.cut_within(0.0), "within": ways.cut_within(0.6), "after": ways.close,
                          "reset": ways.reset, "in the status": ways.say(b"HTTP/1.1 20"),
                          "in the head": ways.say(begin + b"X-Click"),
                          "in the body": ways.say(begin + ways.GOOD_HEAD + b"Content-Length: 20\r\n\r\nhalf"),
                          "in a chunk": ways.say(begin + ways.GOOD_HEAD + b"Transfer-Encoding: chunked\r\n\r\n8\r\nhalf"),
                          "bad chunk": ways.say(begin + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n"),
                          "garbage": ways.say(bytes(range(256)) * 100),
                          "endless": ways.endless(b"x" * 65536, begin + b"\r\n"),
                          "endless head": ways.endless(b"X-Y: " + b"z" * 4000 + b"\r\n", begin),
                          "endless 100": ways.endless(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)}.items():
            with self.subTest(name):
                server = self.server()
                server.ways = [way, ways.good]
                told, said = self.work("send:2000", to=server.url)
                self.assertEqual(told, ["sent"])
                self.assert_same(server.inserts, 2)
                # A connection that was kept and answers nothing at all is made anew without a word.
                self.assertEqual((said.count(WAITS), said.count(GOES_ON)), (1, 1) if said else (0, 0))

    def test_connections_that_break_anywhere_lose_nothing(self):
        seed = random.randrange(2 ** 32)
        chance = random.Random(seed)
        kinds = (lambda: ways.cut_within(chance.random()), lambda: ways.close, lambda: ways.reset,
                 lambda: ways.say(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"[:chance.randrange(40)]),
                 lambda: ways.status(500, chance.choice(PASSING)))
        first, second = self.server(), self.server()
        for server in (first, second):
            server.ways = [chance.choice(kinds)() if chance.random() < 0.4 else ways.good for _ in range(12)] + [ways.good]
        told, said = self.work(*(f"send:300:{block}" for block in range(1, 16)), to=f"{first.url},{second.url}")
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
        told, said = self.work("send:20", "send:20:2", to=",".join(server.url for server in servers))
        self.assertEqual(told, ["sent", "sent"])
        tried = sorted((request for server in servers for request in server.inserts), key=lambda request: request.time)
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
    def ended(self, way, moment):
        """What a block became of whose sender is asked to end while the server does this."""
        server = self.server()
        server.ways = [way]
        process = self.start("send:20", to=server.url)
        while not server.inserts:
            time.sleep(0.01)
        time.sleep(moment)
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
        self.assertEqual(self.ended(ways.silent, 0.1), ["stopped"])

    def test_an_answer_that_comes_in_time_counts(self):
        def late(connection, request):
            time.sleep(1)
            return ways.good(connection, request)
        self.assertEqual(self.ended(late, 0.1), ["sent"])

    def test_who_waits_for_a_server_to_be_there_at_all_can_be_ended(self):
        process = self.start("send:20", to="http://127.0.0.1:1")
        said = process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=100)
        self.assert_said(said, "http://127.0.0.1:1: does not answer", WAITS)
        self.assertEqual(out.splitlines(), ["stopped"])

    def test_patience_may_have_an_end(self):
        told, said = self.work("send:20", to="http://127.0.0.1:1", options=("--patience", "1"))
        self.assertEqual(told, ["refused"])
        self.assert_said(said, WAITS, "within 1 s", lines=2)


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
        self.refused("has no table etwas.event,", "'etwas ship --ddl'", tables=())
        self.refused("has no table etwas.event_buffer,", tables=("",))
        self.refused("has no table a.b,", tables=(), options=("--table", "a.b"))
        server = self.server()
        server.columns = [column for column in server.columns if column[1] != "pid"]
        self.refused("without the column pid", "'etwas ship --ddl --to URL'", to=server.url)
        server = self.server()
        server.columns = [[table, name, "UInt8" if name == "pid" else kind] for table, name, kind in server.columns]
        self.refused("whose column pid is UInt8", to=server.url)

    def test_a_table_that_does_not_know_a_block_that_comes_again(self):
        plain = "MergeTree PARTITION BY day ORDER BY session SETTINGS index_granularity = 8192"
        self.refused("(MergeTree) does not know a block", "--at-least-once", engine=plain)
        self.refused("(Memory) does not know", engine="Memory")
        self.refused("does not know", engine=ways.REPLICATED.replace("= 10000", "= 0"))
        self.refused("does not know", version="24.8.1", columns="modern-columns", engine=plain)
        self.accepted(options=("--at-least-once",), engine=plain)
        self.accepted(version="24.8.1", columns="modern-columns", engine=plain + ", non_replicated_deduplication_window = 1000")
        self.accepted(engine="SharedMergeTree" + ways.REPLICATED[len("ReplicatedMergeTree"):])

    def test_a_table_whose_windows_are_the_servers_is_said(self):
        self.accepted("does not say replicated_deduplication_window_seconds",
                      engine=ways.REPLICATED.replace(", replicated_deduplication_window_seconds = 604800", ""))
        self.accepted("does not say replicated_deduplication_window:",
                      engine=ways.REPLICATED.replace("replicated_deduplication_window = 10000, ", ""))

    def test_a_distributed_table(self):
        self.refused("is Distributed", "--table", engine="Distributed(etwas, etwas, event, session)")

    def test_addresses_of_one_shard_that_are_no_replicas(self):
        plain = "MergeTree PARTITION BY day ORDER BY session"
        servers = [self.server(engine=plain) for _ in range(2)]
        self.refused("is not replicated", to=",".join(s.url for s in servers), options=("--at-least-once",))
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
        self.refused("answers what ClickHouse would not", to=server.url, options=("--patience", "1"), lines=2)

    def test_answers_to_questions_are_rows_or_nothing(self):
        server = self.server()
        told, _ = self.work("ask:1:select 1", "each:1:select 1", to=server.url)
        self.assertEqual(told, ["[1]", "sent", "[1]", "sent"])
        for body in (b"1\t2\n", b"1", b"a\nCode: 241. DB::Exception: Memory limit\n"):
            pieces = [lambda c, _, body=body: ways.answer(c, 200, body), lambda c, _: ways.answer(c, 200, b"x\\ty\\N\\\\\n")]
            server = self.server()
            process = self.start("pause", "ask:1:select a", to=server.url)
            while len(server.asked) < 6:
                time.sleep(0.01)
            server.questions = lambda c, r, pieces=pieces: pieces.pop(0)(c, r) if len(pieces) > 1 else pieces[0](c, r)
            out, said = process.communicate("\n", timeout=100)
            self.assertEqual(out.splitlines()[3:], ["[x\ty\\N\\]", "sent"], said)
            self.assert_said(said, WAITS, GOES_ON, lines=2)


class Secrets(WireTest):
    WORD = "Correct-Horse-7"

    def credentials(self, text=None, mode=0o600, name="credentials"):
        path = self.write(name, (text if text is not None else f"# ours\nuser = me\n password =  {self.WORD} \n").encode())
        os.chmod(path, mode)
        return path

    def guarded(self, **options):
        server = self.server(**options)
        server.login = "me", self.WORD
        return server

    def test_user_and_password_go_in_the_head_alone(self):
        server = self.guarded()
        process = self.start("send:20", "pause", to=server.url, options=("--credentials", self.credentials()))
        while not server.inserts:
            time.sleep(0.01)
        for name in ("cmdline", "environ"):
            with open(f"/proc/{process.pid}/{name}", "rb") as file:
                self.assertNotIn(self.WORD.encode(), file.read())
        with open(f"/proc/{process.pid}/limits", encoding="utf-8") as file:
            self.assertRegex(file.read(), r"Max core file size +0 +0 ")
        out, said = process.communicate("\n", timeout=100)
        self.assertEqual((out.splitlines()[2:], said), (["sent"] * 2, ""))
        for request in server.asked + server.inserts:
            self.assertEqual((request.head["x-clickhouse-user"], request.head["x-clickhouse-key"]), ("me", self.WORD))
            self.assertNotIn(self.WORD, request.target)

    def test_a_password_that_a_server_says_is_not_shown(self):
        for number, code in ((193, 401), (47, 500), (242, 500)):
            server = self.server()
            server.ways = [ways.status(code, number, f"the key {self.WORD} is bad"), ways.good]
            _, said = self.work("send:20", to=server.url, options=("--credentials", self.credentials()))
            self.assertNotIn(self.WORD, said)
            self.assertIn("its words are not shown", said)

    def test_a_wrong_password_is_told_by_its_file(self):
        server = self.server()
        server.login = "me", "another"
        path = self.credentials()
        told, said = self.work("send:20", to=server.url, options=("--credentials", path))
        self.assertEqual((told, server.inserts), (["refused"], []))
        self.assert_said(said, f"does not accept the user 'me' with the password in '{path}'", lines=1)

    def test_a_services_credential_is_found_by_itself(self):
        server = self.guarded()
        self.credentials(name="etwas-ship", mode=0o440)  # as systemd makes it for a user who is not root
        told, _ = self.work("send:20", to=server.url, environment={"CREDENTIALS_DIRECTORY": self.folder})
        self.assertEqual(told, ["sent"])
        free = self.server()
        os.unlink(os.path.join(self.folder, "etwas-ship"))
        told, _ = self.work("send:20", to=free.url, environment={"CREDENTIALS_DIRECTORY": self.folder})
        self.assertEqual(told, ["sent"])

    def test_a_file_that_is_not_its_owners_alone_is_refused(self):
        server = self.guarded()
        cases = [(self.credentials(mode=mode, name=f"{mode:o}"), "may be read by others") for mode in (0o640, 0o604, 0o660)]
        if os.geteuid() == 0:
            path = self.credentials(name="theirs")
            os.chown(path, 12345, 12345)
            cases.append((path, "belongs to another user"))
        cases += [(self.folder, "is not a file"), (os.path.join(self.folder, "none"), "No such file")]
        for path, words in cases:
            told, said = self.work("send:20", to=server.url, options=("--credentials", path))
            self.assertEqual(told, ["refused"])
            self.assert_said(said, path, words, lines=1)
        self.assertEqual(server.asked, [])

    def test_a_file_that_has_something_else_is_refused_and_not_shown(self):
        server = self.guarded()
        for text in ("", "password=Correct-Horse-7\n", "Correct-Horse-7\n", "user=me\npassword=Correct-Horse-7\x01x\n",
                     "user=me\npassword=Correct-Horse-7\npassword=Correct-Horse-7\n", "user=me\nkey=Correct-Horse-7\n",
                     "user=me\npassword=" + "Correct-Horse-7" * 200, "user=me\n" + "#Correct-Horse-7\n" * 2000):
            told, said = self.work("send:20", to=server.url, options=("--credentials", self.credentials(text)))
            self.assertEqual(told, ["refused"])
            self.assert_said(said, "the file of credentials", lines=1)
            self.assertNotIn("Horse", said)
        self.assertEqual(server.asked, [])

    def test_a_password_that_all_on_the_way_can_read_is_said(self):
        path = self.credentials()
        _, said = self.work("send:20", to="http://192.0.2.1:1", options=("--credentials", path, "--patience", "1"))
        self.assertIn("gets the password as everybody on the way can read it", said)
        server = self.guarded()
        _, said = self.work("send:20", to=server.url, options=("--credentials", path))
        self.assertEqual(said, "")

    def test_the_environment_names_no_proxy_and_no_password(self):
        proxy, server = self.server(), self.guarded()
        self.credentials("machine 127.0.0.1 login x password y\n", name=".netrc")
        told, _ = self.work("send:20", to=server.url, options=("--credentials", self.credentials()),
                            environment={"http_proxy": proxy.url, "ALL_PROXY": proxy.url, "HOME": self.folder})
        self.assertEqual((told, proxy.asked + proxy.inserts), (["sent"], []))
        self.assertNotIn("authorization", server.inserts[0].head)


@unittest.skipUnless(shutil.which("openssl"), "there is no openssl")
class Certificates(WireTest):
    def certificate(self, name="localhost", addresses="IP:127.0.0.1"):
        key, path = os.path.join(self.folder, name + ".key"), os.path.join(self.folder, name + ".pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", key, "-out", path, "-days", "2", "-subj", f"/CN={name}", "-addext",
                        f"subjectAltName={addresses}"], check=True, stderr=subprocess.DEVNULL, timeout=100)
        return path, key

    def test_one_that_is_trusted_is_enough(self):
        path, key = self.certificate()
        server = self.server(certificate=(path, key))
        told, said = self.work("send:20000", to=server.url, options=("--ca", path))
        self.assertEqual((told, said), (["sent"], ""))

    def test_connections_that_break_are_made_anew(self):
        path, key = self.certificate()
        server = self.server(certificate=(path, key))
        server.ways = [ways.cut_within(0.1), ways.reset, ways.cut_within(0.5), ways.good]
        told, said = self.work("send:50000", to=server.url, options=("--ca", path))
        self.assertEqual(told, ["sent"])
        self.assert_same(server.inserts, 4)

    def test_one_that_is_not_trusted_gets_nothing(self):
        path, key = self.certificate()
        other, _ = self.certificate("other")
        wrong, wrong_key = self.certificate("elsewhere", "DNS:elsewhere.example")
        credentials = self.write("credentials", b"user=me\npassword=secret\n")
        os.chmod(credentials, 0o600)
        for certificate, options in (((path, key), ()), ((path, key), ("--ca", other)), ((wrong, wrong_key), ("--ca", wrong))):
            server = self.server(certificate=certificate)
            told, said = self.work("send:20", to=server.url, options=("--credentials", credentials, *options))
            self.assertEqual((told, server.asked), (["refused"], []))
            self.assert_said(said, "its certificate is not trusted", "--ca", lines=1)

    def test_a_file_of_certificates_that_is_none_is_said(self):
        server = self.server(certificate=self.certificate())
        for path in (os.path.join(self.folder, "none"), self.write("bad", b"nothing")):
            told, said = self.work("send:20", to=server.url, options=("--ca", path))
            self.assertEqual((told, server.asked), (["refused"], []))
            self.assert_said(said, "--ca", lines=1)

    def test_a_server_that_speaks_no_tls_is_waited_for(self):
        server = self.server()
        told, said = self.work("send:20", to=server.url.replace("http:", "https:"), options=("--patience", "1"))
        self.assertEqual(told, ["refused"])
        self.assert_said(said, "does not answer", "SSL", lines=2)


class Options(WireTest):
    def misused(self, *arguments, config=None):
        if config is not None:
            arguments += ("--config", self.write("ship.conf", config.encode()))
        result = subprocess.run([sys.argv[2], "--", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                check=False, timeout=100)
        self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
        self.assertIn("See 'etwas ship --help'.", result.stderr)
        return result.stderr

    def test_an_address_is_a_scheme_a_host_and_a_port(self):
        for url, words in (("db1", "http:// or https://"), ("ftp://db1", "http:// or https://"), ("http://", "a host"),
                           ("http://:1", "a host"), ("http://db1:", "a number"), ("http://db1:0", "a number"),
                           ("http://db1:65536", "a number"), ("http://db1:12x", "nothing behind"),
                           ("http://db1/path", "nothing behind"), ("http://db1?user=x", "nothing behind"),
                           ("http://[::1", "a host"), ("http://[zz]:1", "a host"), ("http://a b", "nothing behind"),
                           ("http://db1,", "http:// or https://"), ("http://" + "a" * 300, "a host"),
                           (",".join(["http://db1"] * 9), "8 replicas")):
            with self.subTest(url):
                said = self.misused("--to", url, "x.etl")
                self.assert_said(said, "--to: ", words)

    def test_a_password_in_an_address_is_refused_and_not_shown(self):
        for url in ("http://me:secret@db1:8123", "https://db1,http://me:secret@db2"):
            said = self.misused("--to", url, "x.etl")
            self.assert_said(said, "no user and no password", "--credentials")
            self.assertNotIn("secret", said)

    def test_values_that_are_none_are_refused(self):
        for option, value in (("--rate", "0"), ("--rate", "fast"), ("--patience", "0"), ("--patience", "1s"),
                              ("--table", "event"), ("--table", "a.b.c"), ("--table", "a.`b"), ("--table", "a.1b"),
                              ("--table", "." ), ("--spool-limit", "20X"), ("--spool-limit", "i"), ("--spool-limit", "0"),
                              ("--spool-limit", "99999999999G"), ("--days", "-1"), ("--host", ""), ("--nope", "1")):
            with self.subTest((option, value)):
                self.misused("--to", "http://db1", option, value, "--follow", ".")

    def test_what_does_not_go_together_is_refused(self):
        for arguments in (("x.etl",), ("--to", "http://db1"), ("--to", "http://db1", "--follow", ".", "x.etl"),
                          ("--to", "http://db1", "--once", "x.etl"), ("--to", "http://db1", "--prove", "--delete"),
                          ("--to", "http://db1", "--days", "2", "x.etl"), ("--ddl",), ("--prove",),
                          ("--ddl", "--to", "http://db1", "--server-version", "18.16"),
                          ("--to", "http://db1", "--cluster", "c", "x.etl"),
                          ("--to", "http://db1", "--follow", ".", "--pools", ".")):
            with self.subTest(arguments):
                self.misused(*arguments)

    def test_a_line_of_the_file_that_is_none_is_told_by_its_number(self):
        begin = "# ours\nto = http://db1\n\n"
        for line, words in (("nope = 1", "'nope' is not an option"), ("rate", "rate wants a value"),
                            ("rate = ", "rate wants a value"), ("rate = fast", "rate: takes a number"),
                            ("compress = perhaps", "compress takes yes or no"), ("config = x", "for the command line alone"),
                            ("--rate = 1", "'--rate' is not an option"), ("host = a\0b", "a byte of 0"),
                            ("to = http://me:secret@db2", "no user and no password")):
            with self.subTest(line):
                said = self.misused("x.etl", config=begin + line + "\n")
                self.assert_said(said, "ship.conf:4: ", words)
                self.assertNotIn("secret", said)
        self.assertIn("cannot be read", self.misused("x.etl", "--config", os.path.join(self.folder, "none")))
        self.assertIn("cannot be read", self.misused("x.etl", "--config", self.write("long", b"#" * 300000)))

    def test_the_file_says_what_the_command_line_does_not(self):
        one, two, three = (self.server() for _ in range(3))
        path = self.write("ship.conf", f"to={one.url}\n to = {two.url} \r\ncompress\nat-least-once = no\n"
                                       "follow = /nowhere\ndelete\nrate = 1000000".encode())
        told, said = self.work("all:20:1", to=[], options=("--config", path))
        self.assertEqual((told, said), (["sent"], ""))
        self.assertEqual([len(server.inserts) for server in (one, two)], [1, 1])
        self.assertEqual(one.inserts[0].head["content-encoding"], "gzip")
        told, _ = self.work("all:20:1", to=three.url, options=("--config", path))
        self.assertEqual([len(server.inserts) for server in (one, two, three)], [1, 1, 1])

    def test_a_block_as_gzip_has_it_is_the_same_block(self):
        server = self.server()
        server.ways = [ways.status(500, 242), ways.good]
        self.work("send:50000", to=server.url, options=("--compress",))
        self.assert_same(server.inserts, 2)
        self.work("send:50000", to=server.url)
        packed, plain = server.inserts[-2:]
        self.assertEqual(gzip.decompress(packed.body), plain.body)
        self.assertLess(len(packed.body), len(plain.body) / 5)

    def test_the_rate_is_of_all_shards_together(self):
        servers = [self.server() for _ in range(2)]
        self.work("all:100:5", to=[server.url for server in servers], options=("--rate", "1000"))
        times = sorted(request.time for server in servers for request in server.inserts)
        self.assertEqual(len(times), 10)
        # The first goes at once: 900 rows in no less than 0.9 s.
        self.assertGreaterEqual(times[-1] - times[0], 0.89)


class Real(FleetTest, WireTest):
    """A cluster: it stores a block once, however often and in whatever form it comes."""

    arguments = ()

    def test_a_block_that_comes_again_is_there_once(self):
        url = ",".join(self.fleet.settings["FLEET_HTTP_" + name] for name in ("s1r1", "s1r2"))
        made = subprocess.run([sys.argv[3], "ddl", "18", "event", "etwas", "0"], check=True, stdout=subprocess.PIPE,
                              timeout=100)
        self.fleet.run_statements(made.stdout.decode())
        options = ("--credentials", self.fleet.credentials)
        told, said = self.work("send:1000", "send:1000", "send:1000:2", "buffers:7", "buffers:7", to=url, options=options)
        self.assertEqual((told, said), (["sent"] * 5, ""))
        told, _ = self.work("send:1000", "each:1:select count() from etwas.event", to=url, options=(*options, "--compress"))
        self.assertEqual(told, ["sent", "[2000]", "[2000]", "sent"])
        self.assertEqual(self.fleet.ask("select count() from etwas.event_buffer"), [["7"]])
        told, said = self.work("send:10", to=url)
        self.assertEqual(told, ["refused"])
        self.assert_said(said, "Code: 19", lines=1)


if __name__ == "__main__":
    sys.exit(main())
