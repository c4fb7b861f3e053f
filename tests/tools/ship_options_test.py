# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The options of `etwas ship` about servers, on the command line and in a file of settings.

usage: ship_options_test.py PATH_OF_ETWAS PATH_OF_SHIP_WIRE_WORK TEST_CLASS
"""

import gzip
import os
import subprocess
import sys

import ship_server as ways
from ship_wire_case import WireTest
from tool_case import main


class Options(WireTest):
    def misused(self, *arguments, config=None):
        if config is not None:
            arguments += ("--config", self.write("ship.conf", config.encode()))
        result = subprocess.run([sys.argv[2], "--", *arguments], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, check=False, timeout=100)
        self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
        self.assertIn("See 'etwas ship --help'.", result.stderr)
        return result.stderr

    def test_an_address_is_a_scheme_a_host_and_a_port(self):
        for url, words in (("db1", "http:// or https://"), ("ftp://db1", "http:// or https://"),
                           ("http://", "a host"),
                           ("http://:1", "a host"), ("http://db1:", "a number"),
                           ("http://db1:0", "a number"),
                           ("http://db1:65536", "a number"), ("http://db1:12x", "nothing behind"),
                           ("http://db1/path", "nothing behind"),
                           ("http://db1?user=x", "nothing behind"),
                           ("http://[::1", "a host"), ("http://[zz]:1", "a host"),
                           ("http://a b", "nothing behind"),
                           ("http://db1,", "http:// or https://"),
                           ("http://" + "a" * 300, "a host"),
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
        for option, value in (("--rate", "0"), ("--rate", "fast"), ("--patience", "0"),
                              ("--patience", "1s"),
                              ("--table", "event"), ("--table", "a.b.c"), ("--table", "a.`b"),
                              ("--table", "a.1b"),
                              ("--table", "." ), ("--spool-limit", "20X"), ("--spool-limit", "i"),
                              ("--spool-limit", "0"),
                              ("--spool-limit", "99999999999G"), ("--days", "-1"), ("--host", ""),
                              ("--nope", "1")):
            with self.subTest((option, value)):
                self.misused("--to", "http://db1", option, value, "--follow", ".")

    def test_what_does_not_go_together_is_refused(self):
        for arguments in (("x.etl",), ("--to", "http://db1"), ("--to", "http://db1", "--follow",
                                                               ".", "x.etl"),
                          ("--to", "http://db1", "--once", "x.etl"),
                          ("--to", "http://db1", "--prove", "--delete"),
                          ("--to", "http://db1", "--days", "2", "x.etl"), ("--ddl",), ("--prove",),
                          ("--ddl", "--to", "http://db1", "--server-version", "18.16"),
                          ("--to", "http://db1", "--cluster", "c", "x.etl"),
                          ("--to", "http://db1", "--follow", ".", "--pools", ".")):
            with self.subTest(arguments):
                self.misused(*arguments)

    def test_a_line_of_the_file_that_is_none_is_reported_by_its_number(self):
        begin = "# ours\nto = http://db1\n\n"
        for line, words in (("nope = 1", "'nope' is not an option"), ("rate", "rate wants a value"),
                            ("rate = ", "rate wants a value"),
                            ("rate = fast", "rate: takes a number"),
                            ("compress = perhaps", "compress takes yes or no"),
                            ("config = x", "for the command line alone"),
                            ("--rate = 1", "'--rate' is not an option"),
                            ("host = a\0b", "a byte of 0"),
                            ("to = http://me:secret@db2", "no user and no password")):
            with self.subTest(line):
                said = self.misused("x.etl", config=begin + line + "\n")
                self.assert_said(said, "ship.conf:4: ", words)
                self.assertNotIn("secret", said)
        self.assertIn("cannot be read", self.misused("x.etl", "--config",
                                                     os.path.join(self.folder, "none")))
        self.assertIn("cannot be read", self.misused("x.etl", "--config",
                                                     self.write("long", b"#" * 300000)))

    def test_the_file_says_what_the_command_line_does_not(self):
        one, two, three = (self.server() for _ in range(3))
        path = self.write("ship.conf",
                          f"to={one.url}\n to = {two.url} \r\ncompress\nat-least-once = no\n"
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


if __name__ == "__main__":
    sys.exit(main())
