# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Every event arrives once, whatever is killed meanwhile: servers, shippers, and the processes that
log.

usage: ship_kills_test.py PATH_OF_ETWAS PATH_OF_SHIP_GENERATOR TEST_CLASS

ETWAS_TEST_KILLS: so many kills at random instead of a few. ETWAS_TEST_WHOM: of these alone, as
"server,shipper".
ETWAS_TEST_SEED: as another time.
"""

import errno
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import time

from fleet_case import FleetTest
from tool_case import FINE, NO, main

KILLS = int(os.environ.get("ETWAS_TEST_KILLS", "8"))
WHOM = os.environ.get("ETWAS_TEST_WHOM", "server,server,shipper,shipper,generator").split(",")
SEED = os.environ.get("ETWAS_TEST_SEED", str(random.randrange(10 ** 9)))
EVENTS_A_SECOND = 4000  # of a generator
TIMEOUT_S = 240
GOES_WITH_US = ["setpriv", "--pdeathsig", "KILL"]
DISK_BYTES = 128 << 20  # of which a server leaves 30 MB free


class Host:
    """A machine made up: a folder for what its programs log, the memory in which their buffers are,
    and a shipper."""

    def __init__(self, test, name):
        self.test = test
        self.name = name
        self.folder = os.path.join(test.folder, name)
        self.spool = os.path.join(self.folder, "spool")
        self.pools = os.path.join(self.folder, "pools")
        os.makedirs(self.spool)
        os.mkdir(self.pools, 0o700)
        self.generator = self.shipper = None
        self.generators = 0
        self.kills = {"generator": 0, "shipper": 0}

    def start_generator(self):
        self.generators += 1
        name = f"{self.name}-{self.generators}"
        counts = os.path.join(self.folder, f"{name}.counts")
        self.generator = subprocess.Popen(
            [*GOES_WITH_US, self.test.program, name, self.spool, counts, str(EVENTS_A_SECOND)],
            env={**os.environ, "ETWAS_RUNTIME_DIR": self.pools})
        self.test.wait_for(f"{name} logs", lambda: os.path.exists(counts) and self.logged(counts)
                           is not None)
        self.test.counts[name] = counts

    @staticmethod
    def logged(counts):
        """Of each writer how many events it has begun to log, and has logged; None before the first
        of each."""
        with open(counts, "rb") as file:
            data = file.read()
        pairs = [struct.unpack_from("<QQ", data, at) for at in range(0, len(data), 16)]
        return pairs if pairs and all(logged for _, logged in pairs) else None

    def ship(self, *more):
        return subprocess.Popen(
            [*GOES_WITH_US, *self.test.ship_command(), "--host", self.name, "--follow", self.spool,
             "--recover", "--pools", self.pools, *more], stderr=self.test.said)

    def start_shipper(self):
        self.shipper = self.ship()

    def kill(self, which):
        process = getattr(self, which)
        process.kill()
        process.wait()
        self.kills[which] += 1
        getattr(self, "start_" + which)()

    def end_generator(self):
        self.generator.terminate()
        self.test.assertEqual(self.generator.wait(TIMEOUT_S), 0)

    def end(self):
        """The generator ends by itself, the shipper when all has arrived."""
        self.end_generator()
        self.shipper.terminate()
        self.shipper.wait(TIMEOUT_S)
        self.shipper = self.ship("--once")

    def arrived(self):
        self.test.assertEqual(self.shipper.wait(TIMEOUT_S), 0, self.test.words())

    def leave(self):
        for process in self.generator, self.shipper:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()


class KillsTest(FleetTest):
    arguments = ()
    program = ""

    def setUp(self):
        super().setUp()
        self.said = open(os.path.join(self.folder, "said"), "wb")
        self.addCleanup(self.said.close)
        self.counts = {}
        self.hosts = []
        ddl, _ = self.run_etwas("ship", "--ddl", "--server-version", "18.16", "--cluster", "etwas")
        self.fleet.run_statements(ddl)

    def words(self):
        """What the shippers said."""
        with open(os.path.join(self.folder, "said"), encoding="utf-8") as file:
            return file.read()[-4000:]

    def wait_for(self, what, condition):
        end = time.monotonic() + TIMEOUT_S
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def target(self):
        return [word for name, value in self.fleet.settings.items()
                if name.startswith("FLEET_SHARD_")
                for word in ("--server", value)] + ["--credentials", self.fleet.credentials]

    def ship_command(self):
        return [self.etwas, "ship", *self.target()]

    def start_hosts(self, count):
        for number in range(count):
            host = Host(self, f"host{number}")
            self.addCleanup(host.leave)
            self.hosts.append(host)
            host.start_generator()
            host.start_shipper()

    def rows_arrived(self):
        total = 0
        for name in "s1r1", "s2r1":
            total += int(self.fleet.ask("select count() from etwas.event", name)[0][0])
        return total

    # ---- what must have arrived ----

    def finish(self):
        for host in self.hosts:
            host.end()
        for host in self.hosts:
            host.arrived()
        self.fleet.run("settle")
        total = self.check_events()
        self.check_replicas()
        self.check_proof()
        return total

    def check_events(self):
        """Of each writer every event that it says it has logged, once; of a killed one perhaps the
        one it was at."""
        rows = self.fleet.ask("""
            select texts.values[indexOf(texts.keys, 'generator')] generator,
                ints.values[indexOf(ints.keys, 'writer')] writer,
                count(), uniqExact(ints.values[indexOf(ints.keys, 'serial')] as serial),
                min(serial), max(serial),
                sum(serial), uniqExact(session_id), uniqExact(host)
            from etwas.event_all where event = 'Generator/Tick' group by generator, writer""")
        found = {(row[0], int(row[1])): [int(word) for word in row[2:]] for row in rows}
        total = 0
        for name, path in self.counts.items():
            for writer, (begun, logged) in enumerate(Host.logged(path)):
                count, distinct, least, most, in_all, sessions, hosts = found.pop((name, writer))
                self.assertIn(count, (logged, begun), name)
                self.assertEqual([distinct, least, most, in_all, sessions, hosts],
                                 [count, 1, count, count * (count + 1) // 2, 1, 1], name)
                total += count
        self.assertEqual(found, {})
        twice = self.fleet.ask(
            "select count() - uniqExact(session_id, part, buffer, position) from etwas.event_all")
        self.assertEqual(twice, [["0"]])
        return total

    def check_replicas(self):
        """All replicas of a shard have the same rows."""
        for table in "event", "event_buffer":
            for shard in "s1", "s2":
                first, second = (self.fleet.ask(
                    "select session_id, part, buffer, "
                    f"{'position' if table == 'event' else 'state'} place, count() "
                    f"from etwas.{table} group by session_id, part, buffer, place "
                    "order by session_id, part, buffer, place "
                    "format TabSeparated", shard + replica) for replica in ("r1", "r2"))
                self.assertEqual(first, second, (table, shard))

    def check_proof(self):
        out, _ = self.run_any("ship", "--prove", "--json", *self.target(), expect=(FINE, NO))
        proofs = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([proof for proof in proofs if proof["verdict"] != "complete"], [])
        self.assertEqual(len(proofs), len(self.counts))
        self.run_etwas("ship", "--prove", *self.target())


class Kills(KillsTest):
    def test_each_event_arrives_once_whoever_is_killed(self):
        chance = random.Random(SEED)
        killed = {name: 0 for name in self.fleet.settings["FLEET_SERVERS"].split()}
        self.start_hosts(4)
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.1, 1))
            whom = chance.choice(WHOM)
            if whom == "server":
                name = chance.choice(sorted(killed))
                self.fleet.run("kill", name)
                time.sleep(chance.uniform(0, 1))
                self.fleet.run("restart", name)
                killed[name] += 1
            else:
                chance.choice(self.hosts).kill(whom)
        total = self.finish()
        for host in self.hosts:
            for which, count in host.kills.items():
                killed[f"{which} of {host.name}"] = count
        print(f"seed {SEED}: {total} events of {len(self.counts)} sessions once each; kills: "
              f"{killed}", file=sys.stderr)


class Forgotten(KillsTest):
    def test_servers_are_asked_where_shippers_have_lost_what_they_knew(self):
        self.start_hosts(2)
        for _ in range(3):
            before = self.rows_arrived()
            self.wait_for("more events arrive", lambda: self.rows_arrived() > before)
            for host in self.hosts:
                known = os.path.join(host.spool, ".ship")
                self.wait_for("the shipper stores what it knows", lambda: os.path.isdir(known))
                host.shipper.kill()
                host.shipper.wait()
                shutil.rmtree(known)
                host.start_shipper()
        self.finish()


class ZooKeeper(KillsTest):
    def test_servers_that_cannot_agree_are_waited_for(self):
        self.start_hosts(2)
        self.wait_for("events arrive", self.rows_arrived)
        self.fleet.run("stop", "zookeeper")
        time.sleep(3)  # what is sent now hangs, or is refused
        self.fleet.run("restart", "zookeeper")
        before = self.rows_arrived()
        self.wait_for("more events arrive", lambda: self.rows_arrived() > before)
        self.finish()


class Full(KillsTest):
    """A server's disk is full for a while."""

    disks = (("s1r2", DISK_BYTES), ("s2r1", DISK_BYTES))

    def test_servers_without_space_are_waited_for(self):
        self.start_hosts(2)
        self.wait_for("events arrive", self.rows_arrived)
        ballast = [os.path.join(self.fleet.data(name), "ballast") for name, _ in self.disks]
        for path in ballast:
            self.fill(path)
        time.sleep(5)
        for path in ballast:
            os.remove(path)
        before = self.rows_arrived()
        self.wait_for("more events arrive", lambda: self.rows_arrived() > before)
        self.finish()

    def fill(self, path):
        with open(path, "wb", buffering=0) as file, self.assertRaises(OSError) as refused:
            for _ in range(DISK_BYTES // 65536 + 1):
                file.write(bytes(65536))
        self.assertEqual(refused.exception.errno, errno.ENOSPC)


def run():
    """Disks of its own a test mounts where nobody sees it."""
    KillsTest.program = sys.argv[2]
    if sys.argv[-1] == "Full" and "ETWAS_TEST_MAY_MOUNT" not in os.environ:
        alone = ["unshare", "--mount", "--map-root-user"]
        probe = [*alone, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        if subprocess.run(probe, capture_output=True, check=False).returncode:
            print("skipped: there may be no mounts of one's own", file=sys.stderr)
            sys.exit(77)
        os.environ["ETWAS_TEST_MAY_MOUNT"] = "1"
        os.execvp(alone[0], [*alone, sys.executable, "-B", *sys.argv])
    main()


if __name__ == "__main__":
    run()
