# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What `etwas recover` makes of processes that died, of their core files, and of one that lives.

usage: recover_test.py PATH_OF_ETWAS PATH_OF_CRASH_WORK TEST_CLASS
"""

import gzip
import json
import os
import resource
import signal
import subprocess
import sys

from tool_case import FAILED, FINE, NO, OUTPUT, ToolTest, main

CRASH_WORK = ""
EVENTS = 1000


class Recovering(ToolTest):
    def setUp(self):
        super().setUp()
        self.path = lambda name: os.path.join(self.folder, name)
        self.runtime = self.path("run")
        os.mkdir(self.runtime, 0o700)
        self.environment = dict(os.environ, ETWAS_RUNTIME_DIR=self.runtime)

    def die(self, where="pool", end="kill", events=EVENTS, **options):
        """The number of the process that died."""
        with subprocess.Popen([CRASH_WORK, where, str(events), end], env=self.environment,
                              cwd=self.folder, **options) as child:
            self.assertLess(child.wait(60), 0)
            return child.pid

    def recover(self, *arguments, expect=FINE):
        out, err = self.run_etwas("recover", "--json", *arguments, expect=expect)
        return [json.loads(line) for line in out.splitlines()], err

    def expect_events(self, trace, count=EVENTS):
        out, _ = self.run_etwas("stat", "--json", trace)
        self.assertEqual(json.loads(out.splitlines()[0])["events"], count)


class Pools(Recovering):
    def test_what_dead_processes_left_is_listed_recovered_and_removed(self):
        processes = {self.die(), self.die()}
        there = ("--folder", self.runtime)
        listed, _ = self.recover("--list", *there)
        self.assertEqual({one["pid"] for one in listed}, processes)
        self.assertEqual([(one["session"], one["events"], one["alive"]) for one in listed],
                         2 * [("crash work", EVENTS, False)])
        far = self.path("no/such")
        out, error = self.recover("--all", "-o", far, *there, expect=OUTPUT)
        self.assertEqual(out, [])
        self.assertEqual(error.count(f"etwas recover: {far}/crash work-"), 2)
        self.assertIn("there is no folder for the file to be made", error)
        made, _ = self.recover("--all", "-o", self.path("all"), *there)
        for one in made:
            self.assertEqual(one["output"], os.path.join(
                self.path("all"), f"crash work-{one['pid']}-{one['session_id'].split('-')[0]}.etl"))
            self.expect_events(one["output"])
        self.recover("--all", "-o", self.path("all"), *there, expect=OUTPUT)  # what is there stays
        self.assertEqual(self.recover("--all", "-fo", self.path("all"), *there)[0], made)
        one, other = (pool["source"] for pool in listed)
        removed, _ = self.recover("--clean", one)
        self.assertEqual([(pool["source"], pool["removed"], pool["session"]) for pool in removed],
                         [(one, True, "crash work")])
        self.assertEqual(os.listdir(self.runtime), [os.path.basename(other)])
        out, _ = self.run_etwas("recover", "--clean", "--all", *there)
        self.assertRegex(
            out, rf"\Aremoved {other}: crash work of process \d+, {EVENTS:,} events\n\Z")
        self.assertEqual(os.listdir(self.runtime), [])
        for asked in ("--list",), ("--clean", "--all"), ("--all", "-o", self.path("all")):
            out, error = self.run_etwas("recover", *asked, *there)
            self.assertEqual((out, error),
                             ("", f"etwas recover: {self.runtime}: note: no process that has ended "
                              "left anything there\n"))

    def test_a_trace_that_is_there_stays_until_the_new_one_is_whole(self):
        self.die()
        pool = os.path.join(self.runtime, os.listdir(self.runtime)[0])
        before = b"a trace " * 100
        self.write("a.etl", before)
        os.chmod(self.path("a.etl"), 0o640)
        source = self.path("cut")
        with open(pool, "rb") as file:
            self.write("cut", file.read()[:4096])

        def check(*arguments, expect=OUTPUT, **options):
            self.run_etwas("recover", "-fo", self.path("a.etl"), *arguments, expect=expect,
                           **options)
            with open(self.path("a.etl"), "rb") as file:
                self.assertEqual(file.read(), before)
            self.assertEqual(sorted(os.listdir(self.folder)), ["a.etl", "cut", "run"])

        check(source, expect=FAILED)
        check(self.path("missing"), expect=FAILED)
        # The file cannot become so large: SIGXFSZ is ignored, as Python has it, and stays so.
        for most in (0, 4096, 20_000):
            check(pool, restore_signals=False,
                  preexec_fn=lambda most=most: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                  (most, most)))
        self.recover("-fo", self.path("a.etl"), pool)
        self.expect_events(self.path("a.etl"))
        self.assertEqual(os.stat(self.path("a.etl")).st_mode & 0o777, 0o600)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.etl", "cut", "run"])

    def test_where_the_buffers_lay_and_what_that_costs_is_said(self):
        self.die()
        kind = subprocess.run(["stat", "-f", "-c", "%T", self.runtime], capture_output=True,
                              text=True, check=True).stdout
        in_memory = kind.strip() in ("tmpfs", "ramfs")
        one, = self.recover("--list", "--folder", self.runtime)[0]
        self.assertEqual(one["place"], "memory" if in_memory else "disk")
        self.assertEqual(one["file_system"] == "tmpfs", kind.strip() == "tmpfs")
        self.assertGreaterEqual(one["touches"], one["slow_touches"])
        out, _ = self.run_etwas("recover", "--list", "--folder", self.runtime)
        self.assertIn("costs what memory does" if in_memory else "a page fault for each page", out)
        with subprocess.Popen([CRASH_WORK, "memfd", str(EVENTS), "wait"], env=self.environment,
                              stdout=subprocess.PIPE) as child:
            self.assertEqual(child.stdout.readline(), b"ready\n")
            one, = self.recover("--pid", str(child.pid))[0]
            self.assertEqual((one["place"], one["file_system"], one["touches"]),
                             ("memfd", "tmpfs", 0))
            out, _ = self.run_etwas("recover", "--pid", str(child.pid))
            self.assertIn("a memfd: costs what memory does", out)
            child.send_signal(signal.SIGKILL)

    def test_one_is_recovered_and_said_in_words(self):
        process = self.die()
        pool = os.path.join(self.runtime, os.listdir(self.runtime)[0])
        out, _ = self.run_etwas("recover", "-o", self.path("a.etl"), pool)
        self.assertIn("crash work", out)
        self.assertIn(f"{process}, which has ended", out)
        self.expect_events(self.path("a.etl"))

    def test_that_the_pool_of_one_that_lives_was_removed_is_said(self):
        for where, said in (
                ("pool", "note: somebody has removed its pool file. If its process is killed, "
                 "nothing is left to recover"),
                ("memfd", "")):
            with subprocess.Popen([CRASH_WORK, where, str(EVENTS), "wait"], env=self.environment,
                                  stdout=subprocess.PIPE) as child:
                self.assertEqual(child.stdout.readline(), b"ready\n")
                asked = ("--pid", str(child.pid))
                self.assertEqual(self.recover(*asked)[1], "")
                for name in os.listdir(self.runtime):
                    os.unlink(os.path.join(self.runtime, name))
                (one,), error = self.recover(*asked, "-fo", self.path("a.etl"))
                self.assertEqual(one["events"], EVENTS)
                self.assertIn(said, error)
                self.assertEqual(bool(error), bool(said))
                child.send_signal(signal.SIGKILL)

    def test_of_one_that_lives_everything_is_read_and_nothing_removed(self):
        with subprocess.Popen([CRASH_WORK, "pool", str(EVENTS), "wait"], env=self.environment,
                              stdout=subprocess.PIPE) as child:
            self.assertEqual(child.stdout.readline(), b"ready\n")
            told, _ = self.recover("--pid", str(child.pid), "-o", self.path("a.etl"))
            self.assertEqual([(one["events"], one["alive"]) for one in told], [(EVENTS, True)])
            self.expect_events(self.path("a.etl"))
            self.assertEqual(self.recover("--clean", "--all", "--folder", self.runtime)[0], [])
            pool = os.path.join(self.runtime, os.listdir(self.runtime)[0])
            _, error = self.recover("--clean", pool, expect=FAILED)
            self.assertIn("its process lives", error)
            self.assertEqual(len(os.listdir(self.runtime)), 1)
            self.recover("--pid", str(child.pid), "--number", "2", expect=FAILED)
            with open(pool, "r+b") as file:
                file.write(b"something else")  # what cannot be read may be in use all the same
            self.assertEqual(self.recover("--clean", "--all", "--folder", self.runtime)[0], [])
            self.assertIn("its process lives", self.recover("--clean", pool, expect=FAILED)[1])
            self.assertEqual(len(os.listdir(self.runtime)), 1)
            child.send_signal(signal.SIGKILL)

    def expect_window(self, trace, events, least_overwritten):
        """As of a snapshot: what was overwritten, and rates over the time that is all there."""
        stat = json.loads(self.run_etwas("stat", "--json", trace)[0].splitlines()[0])
        self.assertEqual(stat["events"] + stat["overwritten"], events)
        self.assertGreaterEqual(stat["overwritten"], least_overwritten)
        inside = stat["events"] - stat["events_outside"]
        if stat["rate"] is not None:
            self.assertAlmostEqual(stat["rate"], inside / (stat["duration"] / 1e9),
                                   delta=stat["rate"] / 1e6)
        out, _ = self.run_etwas("stat", trace)
        self.assertEqual("events by newer ones, as a flight recorder does\n" in out,
                         least_overwritten > 0)
        self.assertEqual("retained      all events since " in out, least_overwritten > 0)
        self.assertIn("s, of which each processor's events are all here; ", out)

    def test_a_recorder_says_since_when_all_events_are_there(self):
        for events, least_overwritten in ((EVENTS, 0), (100 * EVENTS, 50 * EVENTS)):
            self.die(events=events)
            pool, = (os.path.join(self.runtime, name) for name in os.listdir(self.runtime))
            self.recover(pool, "-fo", self.path("dead.etl"))
            self.expect_window(self.path("dead.etl"), events, least_overwritten)
            os.unlink(pool)
            with subprocess.Popen([CRASH_WORK, "memfd", str(events), "wait"],
                                  env=self.environment, stdout=subprocess.PIPE) as child:
                self.assertEqual(child.stdout.readline(), b"ready\n")
                self.recover("--pid", str(child.pid), "-fo", self.path("alive.etl"))
                self.expect_window(self.path("alive.etl"), events, least_overwritten)
                child.send_signal(signal.SIGKILL)

    def test_what_is_damaged_is_said(self):
        self.die()
        pool = os.path.join(self.runtime, os.listdir(self.runtime)[0])
        with open(pool, "r+b") as file:
            file.truncate(100_000)
        self.recover(pool, expect=FAILED)
        with open(pool, "r+b") as file:
            file.write(b"something else")
        _, err = self.recover(pool, expect=FAILED)
        self.assertIn("neither", err)
        removed, _ = self.recover("--clean", pool)
        self.assertIn("neither", removed[0]["reason"])
        self.assertEqual(os.listdir(self.runtime), [])

    def test_it_is_found_wherever_a_session_of_the_user_may_put_it(self):
        self.environment.pop("ETWAS_RUNTIME_DIR")
        # is not there: the next one is taken
        self.environment["XDG_RUNTIME_DIR"] = self.path("none")
        process = self.die()
        # What others left there may be damaged.
        out, _ = self.run_any("recover", "--list", "--json",
                              env=dict(self.environment, XDG_RUNTIME_DIR=self.folder))
        found, = [one for one in map(json.loads, out.splitlines()) if one["pid"] == process]
        self.assertFalse(os.path.exists(self.path("etwas")))
        os.unlink(found["source"])

    def test_names_that_anybody_made_steer_no_terminal_and_are_cut_between_characters(self):
        self.die()
        pool = os.path.join(self.runtime, os.listdir(self.runtime)[0])
        with open(pool, "r+b") as file:
            at = file.read(16384).index(b"crash work")
            file.seek(at)
            file.write(b"\x1b[31m\x07\x7f/" + "\u00e4".encode() * 700 + b"\0")
        out, _ = self.run_etwas("recover", pool)
        self.assertIn("session       \\x1b[31m\\x07\\x7f/\u00e4\u00e4", out)
        self.assertFalse(set("\x1b\x07\x7f") & set(out))
        self.assertEqual(self.recover(pool)[0][0]["session"], "\x1b[31m\x07\x7f/" + "\u00e4" * 508)
        os.mkdir(self.path("all"))
        self.recover("--all", "-o", self.path("all"), "--folder", self.runtime)
        made, = os.listdir(self.path("all"))
        self.assertTrue(made.startswith("_[31m___" + "\u00e4" * 28 + "-"), made)
        broken = self.path("\x1b[31m.pool")
        with open(broken, "wb") as file:
            file.write(b"none")
        _, err = self.recover(broken, expect=FAILED)
        self.assertNotIn("\x1b", err)

    def test_nothing_that_is_read_is_written_over(self):
        self.die()
        pool = os.path.join(self.runtime, os.listdir(self.runtime)[0])
        size = os.path.getsize(pool)
        for force in "-o", "-fo":
            self.recover(force, pool, pool, expect=OUTPUT)
            self.assertEqual(os.path.getsize(pool), size)
        there = self.write("a.etl", b"a trace")
        _, error = self.recover("-o", there, pool, expect=OUTPUT)
        self.assertIn("the file is there already. --force replaces it", error)
        with open(there, "rb") as file:
            self.assertEqual(file.read(), b"a trace")
        self.recover("--clean", there, expect=FAILED)
        _, error = self.recover("-o", self.path("none/a.etl"), pool, expect=OUTPUT)
        self.assertIn("there is no folder for the file to be made", error)
        self.recover("-fo", there, pool)
        self.expect_events(there)
        self.assertEqual(self.recover(pool)[0][0]["events"], EVENTS)

    def test_what_is_packed_takes_half_of_the_free_space_at_most(self):
        with gzip.open(self.path("packed"), "wb") as packed:
            packed.write(bytes(3 << 20))
        command = ("mount -t tmpfs -o size=4m none \"$1\" || exit 77; TMPDIR=$1 exec \"$2\" "
                   "recover \"$3\"")
        run = subprocess.run(["unshare", "-rm", "sh", "-c", command, "sh", self.runtime, self.etwas,
                              self.path("packed")],
                             stderr=subprocess.PIPE, check=False, text=True)
        if run.returncode in (1, 77):
            self.skipTest("no mount namespace of its own is granted")
        self.assertEqual(run.returncode, FAILED)
        self.assertIn("cannot be unpacked with gzip", run.stderr)
        _, err = self.recover(self.path("packed"), expect=FAILED)
        self.assertIn("neither", err)

    def test_what_cannot_be_asked_is_refused(self):
        for asked in ("", "--all", "a b", "--pid x", "--number 0 a", "--number 2x a",
                      "--list --clean --all", "--list --all -o a", "--list --clean a",
                      "--clean --list a", "--clean", "--clean --all a", "--all -o a b",
                      "--list -o a", "--clean -o a b", "--clean -f a", "-f a", "--list --pid 1",
                      "--list --number 1", "--all -o a --pid 1", "--all -o a --number 1",
                      "--folder a b", "--folder a --list b", "--clean --folder a b", "--pid 1 a",
                      "--pid 1x", "--pid -1", "--pid 99999999999", "-o  a", "--pid ", "--number  a",
                      "--frob"):
            with self.subTest(asked=asked):
                _, error = self.recover(*asked.split(" ") if asked else (), expect=FAILED)
                self.assertTrue(error.endswith("\nSee 'etwas recover --help'.\n"), error)
                self.assertTrue(error.startswith("etwas recover: "), error)
        self.recover("--list", self.path("none"), expect=FAILED)
        self.recover(self.path("none"), expect=FAILED)
        self.recover("--list", "--folder", self.path("none"), expect=FAILED)
        for process, said in ((os.getpid(), "it has no crash-safe session, or is another user's"),
                              (2147483647, "no such process")):
            _, error = self.recover("--pid", str(process), expect=FAILED)
            self.assertEqual(error, f"etwas recover: process {process}: {said}\n")


class Cores(Recovering):
    def core(self, *command):
        """Of crash_work, or of another command."""
        def allow():
            resource.setrlimit(resource.RLIMIT_CORE,
                               (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
        with open("/proc/sys/kernel/core_pattern", encoding="ascii") as file:
            if "/" in file.read() or resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
                self.skipTest("core files are not put into the working directory here")
        if command:
            subprocess.run(command, cwd=self.folder, check=False, preexec_fn=allow)
        else:
            self.die("memfd", "abort", preexec_fn=allow)
        cores = [name for name in os.listdir(self.folder) if name.startswith("core")]
        if not cores:
            self.skipTest("there are no core files here")
        return self.path(cores[0])

    def test_a_core_file_has_what_was_in_memory(self):
        core = self.core()
        told, _ = self.recover("-o", self.path("a.etl"), core)
        self.assertEqual([one["events"] for one in told], [EVENTS])
        self.expect_events(self.path("a.etl"))
        self.recover("--number", "2", core, expect=FAILED)
        with open(core, "rb") as file, gzip.open(core + ".gz", "wb") as packed:
            packed.write(file.read())
        told, _ = self.recover("-o", self.path("b.etl"), core + ".gz")
        self.assertEqual([one["events"] for one in told], [EVENTS])
        with open(core, "r+b") as file:
            file.truncate(os.path.getsize(core) // 4)
        self.recover(core, expect=FAILED)

    def test_a_list_of_a_core_file_without_a_session_answers_no(self):
        core = self.core("sh", "-c", "kill -ABRT $$")
        _, said = self.recover("--list", core, expect=NO)
        self.assertIn("there is no session in it that had begun", said)
        self.recover(core, expect=FAILED)


if __name__ == "__main__":
    CRASH_WORK = sys.argv[2]
    sys.exit(main())
