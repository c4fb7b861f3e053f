# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The nginx module as an operator meets it: a slow request leaves a snapshot in which it is found
by name.

usage: nginx_test.py EXAMPLE BUILD ETWAS WALKER LIBRARY SINGLY

Builds the module with LIBRARY of the folder BUILD. With SINGLY preloaded, the module writes each
event by its own call. Skipped where Debian's nginx or nginx-dev is
missing.
"""

import ctypes
import glob
import http.client
import itertools
import json
import os
import pathlib
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

BUILD = ETWAS = WALKER = LIBRARY = SINGLY = MODULE = ""
Server = wait_for = None
SLOW_MS = 150
LINES = "etwas on; etwas_folder FOLDER/snapshots; etwas_memory 4m; etwas_pause 0;"
SOME_ARE_SLOW = LINES + "etwas_slow 100ms;"
ALL_ARE_SLOW = LINES + "etwas_slow 1ms;"
PHASES = ["Content", "Send"]


class NginxTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="nginx-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, lines):
        self.server = Server(self.folder, MODULE, lines,
                             main=f"env ETWAS_RUNTIME_DIR={self.folder}/pools;")
        (self.folder / "www" / "index.html").write_text("hello\n", encoding="utf-8")
        self.backends = [self.start_backend(name) for name in ("first", "second")]
        self.server.start()
        self.addCleanup(self.server.stop)

    def start_backend(self, name):
        path = self.folder / f"{name}.sock"
        process = subprocess.Popen([sys.executable, "-B", str(EXAMPLE / "backend.py"), str(path),
                                    str(SLOW_MS)])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_for("the backend does not answer", lambda: self.answers(path))
        return process

    def answers(self, path):
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(path)) == 0

    def get(self, path, method="GET"):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        connection.request(method, path)
        status = connection.getresponse().status
        connection.close()
        return status

    def get_slow(self, path="/orders/slow"):
        """Both servers are slow for one request each: which has its turn nobody knows."""
        for backend in self.backends:
            backend.send_signal(signal.SIGUSR1)
        for _ in self.backends:
            self.assertEqual(self.get(path), 200)

    def snapshots(self, count):
        try:
            wait_for(f"{count} snapshots", lambda: self.server.log().count("is written") >= count)
        except TimeoutError as late:
            raise TimeoutError(f"{late}: {self.server.log()}") from late
        return sorted(glob.glob(str(self.folder / "snapshots" / "*.etl")))

    def events(self, snapshot):
        result = subprocess.run([ETWAS, "dump", "--json", snapshot], stdout=subprocess.PIPE,
                                check=True)
        events = [json.loads(line) for line in result.stdout.splitlines()]
        return [event for event in events if event.get("provider") == "nginx"]

    def slow_events(self, uri):
        """Of a snapshot in which this one is slow: a busy machine may have made others slow before
        it."""
        def look():
            for path in re.findall(r"etwas: (\S+) is written", self.server.log()):
                events = self.events(path)
                if any(e["fields"]["uri"] == uri for e in self.named(events, "Request/Slow")):
                    return path, events
            return None
        self.snapshots(1)
        return wait_for(f"a snapshot of {uri}: {self.server.log()}", look)

    def named(self, events, name):
        return [event for event in events if event["event"].endswith("/" + name)]

    def check_walker(self, snapshot):
        result = subprocess.run([sys.executable, "-B", WALKER, snapshot], stdout=subprocess.PIPE,
                                check=False)
        self.assertEqual(result.returncode, 0, result.stdout)

    def phases_of(self, events, request):
        """Names of the phases of a request, in their order; each begins and ends, one after the
        other."""
        mine = [e for e in events if e["instance"] == request
                and "/Request/" not in e["event"]]
        begun, ended = mine[::2], mine[1::2]
        self.assertEqual([e["event"].replace("Start", "End") for e in begun],
                         [e["event"] for e in ended])
        return [event["event"].split("/")[-2] for event in begun]


class Snapshots(NginxTest):
    def test_a_slow_request_is_found_by_name_with_the_server_that_was_slow(self):
        self.start(SOME_ARE_SLOW)
        self.get("/orders/quick")
        self.get_slow("/orders/7?kind=tea")
        snapshot, events = self.slow_events("/orders/7?kind=tea")
        self.check_walker(snapshot)
        slow = [e for e in self.named(events, "Request/Slow") if e["fields"]["uri"]
                == "/orders/7?kind=tea"][0]
        self.assertEqual(slow["fields"]["limit_us"], 100000)
        self.assertGreaterEqual(slow["fields"]["duration_us"], 100000)
        mine = {e["event"].partition("/")[2]: e["fields"] for e in events if e["instance"]
                == slow["instance"]}
        self.assertEqual(mine["Request/Start"]["method"], "GET")
        self.assertEqual(mine["Request/Start"]["client"], "127.0.0.1")
        self.assertRegex(mine["Request/Upstream"]["server"], "^unix:.*(first|second).sock$")
        self.assertEqual(mine["Request/Upstream"]["status"], 200)
        self.assertEqual(mine["Request/End"]["status"], 200)
        self.assertEqual(self.phases_of(events, slow["instance"]), PHASES)

    def test_every_request_is_there_whatever_became_of_it(self):
        self.start(SOME_ARE_SLOW)
        self.assertEqual(self.get("/index.html"), 200)
        self.assertEqual(self.get("/"), 200)  # nginx redirects it to /index.html
        self.assertEqual(self.get("/nothing", "HEAD"), 404)
        self.assertEqual(self.get("/index.html", "POST"), 405)
        with socket.create_connection(("127.0.0.1", self.server.port)) as client:
            client.sendall(b"NONSENSE\r\n\r\n")
            self.assertIn(b" 400 ", client.recv(1000))
        self.get_slow()
        _, events = self.slow_events("/orders/slow")
        starts = self.named(events, "Request/Start")
        ends = {e["instance"]: e["fields"]["status"] for e in self.named(events, "Request/End")}
        found = [(e["fields"]["method"], e["fields"]["uri"], ends[e["instance"]])
                 for e in starts[:5]]
        self.assertEqual(found[:4], [("GET", "/index.html", 200), ("GET", "/", 200),
                                     ("HEAD", "/nothing", 404),
                                     ("POST", "/index.html", 405)])
        self.assertEqual(found[4][2], 400)
        self.assertEqual(self.phases_of(events, starts[0]["instance"]), PHASES)
        self.assertEqual(self.phases_of(events, starts[1]["instance"]), PHASES)
        self.assertEqual(self.phases_of(events, starts[4]["instance"]), ["Send"])

    def test_a_request_that_was_held_back_says_so(self):
        self.start(SOME_ARE_SLOW
                   + "etwas_snapshots 1000; limit_req_zone $uri zone=all:64k rate=5r/s;"
                   "limit_req zone=all burst=9;")
        events, waited = wait_for("no request was held back", self.ask_until_one_waits)
        self.assertIn(waited["instance"],
                      [e["instance"] for e in self.named(events, "Request/Start")])
        self.assertGreater(waited["fields"]["duration_us"], 0)
        self.assertEqual(self.phases_of(events, waited["instance"]), PHASES)

    def ask_until_one_waits(self):
        """A snapshot's events, and that of such a request. On a busy machine two are too far apart
        to make one wait."""
        self.assertEqual([self.get("/"), self.get("/?late")], [200, 200])
        for path in re.findall(r"etwas: (\S+) is written", self.server.log()):
            events = self.events(path)
            ended = {event["instance"] for event in self.named(events, "Request/End")}
            for waited in self.named(events, "Request/Waited"):
                if waited["instance"] in ended:
                    return events, waited
        return None

    def test_no_more_are_written_than_the_settings_allow(self):
        self.start(SOME_ARE_SLOW.replace("etwas_pause 0", "etwas_pause 1h"))
        self.get_slow()
        self.assertEqual(len(self.snapshots(1)), 1)
        self.server.stop()
        self.assertIn("1 snapshots; slow since the last one: 1", self.server.log())

        self.server.configure(SOME_ARE_SLOW + "etwas_snapshots 2;")
        self.server.start()
        for count in (1, 2, 2):
            self.get_slow()
            self.assertLessEqual(len(self.snapshots(1 + count)), 1 + 2)
        self.server.stop()
        self.assertIn("2 snapshots; slow since the last one: ", self.server.log())

    def test_they_are_for_their_owner_alone(self):
        self.start(SOME_ARE_SLOW)
        self.get_slow()
        snapshot = pathlib.Path(self.snapshots(1)[0])
        self.assertEqual(stat.S_IMODE(snapshot.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(snapshot.parent.stat().st_mode), 0o700)


class Moments(NginxTest):
    """What happens together is written by one call, and has one time. The rest of a trace is as it
    is by single calls."""

    def requests(self, last):
        """The events of each request that was sent to a server that has just been started."""
        for path in ("/index.html", "/", "/nothing", "/orders/quick"):
            self.get(path)
        for text in (b"NONSENSE\r\n\r\n", b"GET /half"):
            with socket.create_connection(("127.0.0.1", self.server.port)) as client:
                client.sendall(text)
                client.shutdown(socket.SHUT_WR)
                while client.recv(1000):
                    pass
        self.get_slow(last)
        snapshot, events = self.slow_events(last)
        self.check_walker(snapshot)
        starts = self.named(events, "Request/Start")[:6]
        return [[e for e in events if e["instance"] == start["instance"]
                 and not e["event"].endswith(("/Slow", "/Waited"))] for start in starts]

    def content(self, request):
        """What single calls write as well: no times, and nothing else that differs between runs."""
        return [(e["event"], {name: value for name, value in e["fields"].items()
                              if name != "connection" and not name.endswith("_ms")})
                for e in request]

    def moments(self, request):
        """The names of its events, those of one time together."""
        return [[e["event"].partition("/")[2] for e in moment]
                for _, moment in itertools.groupby(request, lambda event: event["time"])]

    def instant(self, request):
        """The classes whose span begins and ends at one time."""
        times = {}
        for event in request:
            times.setdefault(event["event"].split("/")[1], []).append(event["time"])
        return {name for name, found in times.items() if found[0] == found[-1]}

    def test_a_trace_is_as_by_single_calls_but_for_the_times_that_are_one(self):
        self.start(SOME_ARE_SLOW)
        together = self.requests("/orders/together")
        self.server.stop()
        with mock.patch.dict(os.environ, {"LD_PRELOAD": str(SINGLY)}):
            self.server.start()
        singly = self.requests("/orders/singly")
        self.assertEqual([self.content(request) for request in together],
                         [self.content(request) for request in singly])
        for batched, single in zip(together, singly):
            self.assertLessEqual(self.instant(batched), self.instant(single))
        self.assertEqual(self.moments(together[0]), [["Request/Start", "Content/Start"],
                                                     ["Content/End", "Send/Start"],
                                                     ["Send/End", "Request/End"]])
        self.assertEqual(self.moments(together[4]), [["Request/Start", "Send/Start"],
                                                     ["Send/End", "Request/End"]])
        self.assertEqual(self.moments(together[5]), [["Request/Start"], ["Request/End"]])
        self.assertTrue(any(len(self.moments(request)) == len(request) for request in singly))


class Workers(NginxTest):
    def test_a_worker_that_was_killed_is_replaced_by_one_that_is_traced(self):
        self.start(SOME_ARE_SLOW)
        victim = self.server.worker_ids()[0]
        os.kill(victim, signal.SIGKILL)
        wait_for("the worker is not replaced",
                 lambda: self.server.worker_ids() not in ([], [victim]))
        self.get_slow()
        events = self.events(self.snapshots(1)[0])
        self.assertEqual({event["pid"] for event in events}, set(self.server.worker_ids()))

    def test_what_a_killed_worker_logged_is_recovered_by_name(self):
        self.start(LINES + "etwas_crash_safe on;")
        victim = self.server.worker_ids()[0]
        wanted = [f"/?number={number}" for number in range(20)]
        for uri in wanted:
            self.assertEqual(self.get(uri), 200)
        left, = (self.folder / "pools").glob("*.pool")
        os.kill(victim, signal.SIGKILL)
        wait_for("the worker is not replaced",
                 lambda: self.server.worker_ids() not in ([], [victim]))
        recovered = str(self.folder / "recovered.etl")
        self.recover(left, recovered)
        self.check_walker(recovered)
        events = self.events(recovered)
        self.assertEqual({event["pid"] for event in events}, {victim})
        starts = [e for e in self.named(events, "Request/Start") if e["fields"]["uri"] in wanted]
        self.assertEqual([e["fields"]["uri"] for e in starts], wanted)
        for start in starts[:-1]:  # the last may have been killed before it was over
            self.assertEqual(self.phases_of(events, start["instance"]), PHASES)

    def recover(self, source, output):
        """By the library: of what is told about it nothing is asked for but the session's GUID."""
        told = ctypes.create_string_buffer(16)
        code = ctypes.CDLL(str(LIBRARY)).etwas_recover_sized(str(source).encode(), 0,
                                                             output.encode(), told,
                                                             ctypes.c_size_t(len(told)))
        self.assertEqual(code, 0)

    def test_a_worker_whose_memory_cannot_be_had_serves_all_the_same(self):
        self.start(LINES + "etwas_crash_safe on;")
        self.server.stop()
        pools = self.folder / "pools"
        pools.chmod(0o755)  # what is logged is for its owner alone, so this folder is refused
        self.server.start()
        self.assertEqual(self.get("/"), 200)
        self.assertIn("etwas: this worker is not traced: ", self.server.log())
        self.assertIn(str(pools), self.server.log())

    def test_new_settings_are_in_force_after_a_reload(self):
        self.start(LINES)
        self.get_slow()
        before = self.server.worker_ids()
        self.server.configure(SOME_ARE_SLOW)
        self.server.process.send_signal(signal.SIGHUP)
        wait_for("the worker is not replaced", lambda: self.is_replaced(before))
        self.get_slow()
        self.snapshots(1)
        self.assertIn("0 lost, 0 snapshots", self.server.log())  # said by the worker of before
        self.assertNotIn("[alert]", self.server.log())

    def is_replaced(self, before):
        """From one look: between two the worker of before may get company, which is not to be
        alone."""
        now = self.server.worker_ids()
        return len(now) == 1 and now != before

    def test_a_worker_has_no_other_thread(self):
        self.start(LINES + "etwas_slow 1h;")
        self.assertEqual(self.get("/"), 200)
        self.assertEqual(len(os.listdir(f"/proc/{self.server.worker_ids()[0]}/task")), 1)

    def test_nothing_is_traced_where_it_is_off(self):
        self.start(SOME_ARE_SLOW.replace("etwas on", "etwas off"))
        self.get_slow()
        self.server.stop()
        self.assertNotIn("etwas", self.server.log().replace(str(MODULE), ""))
        self.assertFalse((self.folder / "snapshots").exists()
                         and os.listdir(self.folder / "snapshots"))


class Settings(NginxTest):
    def check(self, lines):
        server = Server(self.folder, MODULE, lines)
        result = subprocess.run(server.command("-t"), stderr=subprocess.PIPE, check=False)
        return result.returncode, result.stderr.decode()

    def test_a_limit_needs_a_folder(self):
        code, said = self.check("etwas on; etwas_slow 100ms;")
        self.assertNotEqual(code, 0)
        self.assertIn("etwas_slow needs etwas_folder", said)

    def test_a_location_may_have_a_limit_of_its_own(self):
        self.start(LINES + "etwas_slow 1h; server { listen unix:FOLDER/other.sock; location / { "
                   "etwas_slow 2h; } }")
        self.get_slow()
        self.server.stop()
        self.assertIn("0 snapshots; slow since the last one: 0", self.server.log())


def main():
    global BUILD, ETWAS, WALKER, LIBRARY, SINGLY, MODULE, EXAMPLE, Server, wait_for
    EXAMPLE, BUILD, ETWAS, WALKER, LIBRARY, SINGLY = map(pathlib.Path, sys.argv[1:])
    sys.path.insert(0, str(EXAMPLE))
    import server  # pylint: disable=import-outside-toplevel
    Server, wait_for = server.Server, server.wait_for
    if not os.access(server.NGINX, os.X_OK):
        print("skipped: there is no nginx (on Debian: apt-get install nginx nginx-dev)")
        sys.exit(77)
    code = subprocess.run([EXAMPLE / "build.sh", BUILD], check=False).returncode
    if code != 0:
        sys.exit(code)
    MODULE = BUILD / "examples/nginx/ngx_http_etwas_module.so"
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
