# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What the tests of `etwas ship` share: sessions whose files are sent to a made-up server, and what
is there then."""

import contextlib
import ctypes
import os
import re
import select
import signal
import struct
import subprocess
import sys
import time

from ship_native import Store
from tool_case import FINE, ToolTest

TIMEOUT_S = 60
BUFFER, END, GONE, RECOVERED = range(4)
IN_CLOSE_NOWRITE = 0x10
IN_ISDIR = 0x40000000


def fnv(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return value


def changed_cursor(cursor, name, by):
    """With so much more in the line of that name."""
    lines = cursor.splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith(name + b" "))
    lines[at] = b"%s %016x\n" % (name, int(lines[at].split()[1], 16) + by)
    lines[-1] = b"sum %016x\n" % fnv(b"".join(lines[:-1]))
    return b"".join(lines)


class ShipTest(ToolTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("run"), 0o700)
        os.mkdir(self.path("in"))
        self.inside = self.path("in")
        self.environment = dict(os.environ, ETWAS_RUNTIME_DIR=self.path("run"),
                                XDG_STATE_HOME=self.path("state"), ETWAS_SHARED="1")
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
        run = subprocess.run([sys.argv[2], name, file, str(count), end, *map(str, more)],
                             env=self.environment, check=False, timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, expect)
        return file

    def command(self, *arguments):
        return [self.etwas, "ship", "--server", self.server.url, "--host", "here", *arguments]

    def ship(self, *arguments, expect=FINE):
        """What it says."""
        run = subprocess.run(self.command(*arguments), env=self.environment, stderr=subprocess.PIPE,
                             check=False, text=True, timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, expect, run.stderr)
        return run.stderr

    def start(self, *arguments):
        """One that goes on."""
        process = subprocess.Popen(self.command(*arguments), env=self.environment,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def end(self, process, expect=FINE):
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=TIMEOUT_S)[1]
        self.assertEqual(process.returncode, expect, said)
        return said

    def wait_for(self, condition):
        end = time.monotonic() + TIMEOUT_S
        while not condition():
            self.assertLess(time.monotonic(), end, "it does not come")
            time.sleep(0.05)

    def wait_for_reads(self, folder, count):
        """Until it was read so often. Of two reads the second began after the call; with a limit a
        look has two."""
        library = ctypes.CDLL(None, use_errno=True)
        watch = library.inotify_init1(os.O_CLOEXEC)
        self.assertGreaterEqual(watch, 0, os.strerror(ctypes.get_errno()))
        try:
            self.assertGreaterEqual(library.inotify_add_watch(watch, os.fsencode(folder),
                                                              IN_CLOSE_NOWRITE), 0)
            while count > 0:
                self.assertTrue(select.select([watch], [], [], TIMEOUT_S)[0], "it is not read")
                said = os.read(watch, 65536)
                while said:  # wd, mask, cookie, length of the name
                    _, mask, _, length = struct.unpack_from("iIII", said)
                    count -= mask & IN_ISDIR != 0 and length == 0
                    said = said[16 + length:]
        finally:
            os.close(watch)

    def wait_until_asked_to_end(self, process):
        """Until its threads can hear of it: by an eventfd. The others count what is done, and
        nothing is."""
        def is_asked():
            folder = f"/proc/{process.pid}/fdinfo"
            for name in os.listdir(folder):
                with contextlib.suppress(FileNotFoundError), open(os.path.join(folder, name),
                                                                  encoding="utf-8") as file:
                    if re.search(r"^eventfd-count: +[1-9a-f]", file.read(), re.M):
                        return True
            return False
        self.wait_for(is_asked)

    def numbers(self, **wanted):
        """Of the events that are there, sorted."""
        return sorted(row["ints.v" if "ints.v" in row else "ints.values"][0]
                      for row in self.server.of(self.server.events, **wanted))

    def rows(self, state):
        return self.server.of(self.server.buffers, state=state)

    def assert_whole(self, *counts):
        """The events of so many sessions are there, each once, and so are the rows of their buffers
        and ends."""
        found = sorted({row["session_id"] for row in self.server.events})
        self.assertEqual(sorted(len(self.numbers(session_id=session)) for session in found),
                         sorted(counts))
        for session in found:
            numbers = self.numbers(session_id=session)
            self.assertEqual(numbers, list(range(len(numbers))))
        self.assertEqual(sum(row["events"] for row in self.rows(BUFFER)), sum(counts))
        keys = [(row["session_id"], row["part"], row["buffer"]) for row in self.rows(BUFFER)]
        self.assertEqual(len(set(keys)), len(keys))
