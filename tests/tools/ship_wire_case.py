# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What tests share that run ship_wire_work against made-up servers."""

import os
import subprocess
import sys

from ship_server import Server
from tool_case import ToolTest

WAITS, GOES_ON = "it is tried again", "it goes on"


class WireTest(ToolTest):
    def server(self, **options):
        server = Server(sys.argv[2], **options)
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server

    def start(self, *actions, to, options=(), **more):
        to = [to] if isinstance(to, str) else to
        arguments = [word for url in to for word in ("--server", url)]
        environment = {**os.environ, **more.pop("environment", {})}
        return subprocess.Popen([sys.argv[2], *actions, "--", *arguments, *options, "x.etl"],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=environment, **more)

    def work(self, *actions, to, options=(), limit=200, **more):
        """What became of each action, and what was said."""
        process = self.start(*actions, to=to, options=options, **more)
        out, said = process.communicate(timeout=limit)
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
