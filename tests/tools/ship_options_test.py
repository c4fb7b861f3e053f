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
from tool_case import FAILED, main


class Options(WireTest):
    def misused(self, *arguments, config=None):
        if config is not None:
            arguments += ("--config", self.write("ship.conf", config.encode()))
        result = subprocess.run([sys.argv[2], "--", *arguments], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, check=False, timeout=100)
        self.assertEqual((result.returncode, result.stdout), (FAILED, ""), result.stderr)
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
                said = self.misused("--server", url, "x.etl")
                self.assert_said(said, "--server: ", words)

    def test_a_password_in_an_address_is_refused_and_not_shown(self):
        for url in ("http://me:secret@db1:8123", "https://db1,http://me:secret@db2"):
            said = self.misused("--server", url, "x.etl")
            self.assert_said(said, "no user and no password", "--credentials")
            self.assertNotIn("secret", said)

    def test_values_that_are_none_are_refused(self):
        for option, value in (("--rate", "0"), ("--rate", "fast"), ("--timeout", "0"),
                              ("--timeout", "1d"),
                              ("--table", "event"), ("--table", "a.b.c"), ("--table", "a.`b"),
                              ("--table", "a.1b"),
                              ("--table", "." ), ("--spool-limit", "20X"), ("--spool-limit", "i"),
                              ("--spool-limit", "0"),
                              ("--spool-limit", "99999999999G"), ("--days", "-1"), ("--host", ""),
                              ("--nope", "1")):
            with self.subTest((option, value)):
                self.misused("--server", "http://db1", option, value, "--follow", ".")

    def test_what_does_not_go_together_is_refused(self):
        server = "--server", "http://db1"
        for arguments in (("x.etl",), server, (*server, "--follow", ".", "x.etl"),
                          (*server, "--once", "x.etl"), (*server, "--prove", "--delete"),
                          (*server, "--days", "2", "x.etl"), ("--ddl",), ("--prove",),
                          (*server, "--ddl", "--prove"),
                          ("--ddl", *server, "--server-version", "18.16"),
                          (*server, "--cluster", "c", "x.etl"),
                          (*server, "--follow", ".", "--pools", ".")):
            with self.subTest(arguments):
                self.misused(*arguments)

    def test_a_line_of_the_file_that_is_none_is_reported_by_its_number(self):
        begin = "# ours\nserver = http://db1\n\n"
        for line, words in (("nope = 1", "there is no option --nope"),
                            ("timeot = 1", "Did you mean --timeout?"),
                            ("rate", "--rate needs a value: N"),
                            ("rate = ", "--rate: '' is not a whole number"),
                            ("rate = fast", "--rate: 'fast' is not a whole number"),
                            ("compress = perhaps", "--compress: 'perhaps' is not yes or no"),
                            ("config = x", "for the command line alone"),
                            ("--rate = 1", "there is no option ----rate"),
                            ("host = a\0b", "a byte of 0"),
                            ("server = http://me:secret@db2", "no user and no password")):
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
                          f"server={one.url}\n server = {two.url} \r\ncompress\n"
                          "at-least-once = no\nfollow = /nowhere\ndelete\n"
                          "rate = 1000000".encode())
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
