#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Programs of one user that are in different runtime folders: a service that began before
/run/user/UID existed, and a shell after.

usage: folders_test.py PATH_OF_ETWAS PATH_OF_ETWAS_HOST PATH_OF_STEER_WORK Folders

The folders are those of mounts that the test alone sees.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

from steer_test import CLASS, CLASSIC, MODERN, SteerTest, await_true
from tool_case import FAILED, main

USER = f"/run/user/{os.geteuid()}"
EARLY, LATE = f"/dev/shm/etwas-{os.geteuid()}", f"{USER}/etwas"
ELSEWHERE = "/run/elsewhere"
ALONE = "ETWAS_FOLDERS_ALONE"
NOBODY = 65534
ALREADY_EXISTS = 183


class Service:
    """A process with providers, and in a runtime folder that its environment says."""

    def __init__(self, test, **environment):
        self.test = test
        self.process = subprocess.Popen([test.work], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=test.environment_of(**environment))
        test.addCleanup(self.process.communicate)
        self.pid = self.process.pid
        self.tell("log 1")  # it has registered

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        while True:
            answer = self.process.stdout.readline()
            self.test.assertNotEqual(answer, "", self.process.poll())
            if answer.startswith("= "):
                return int(answer[2:])


class Folders(SteerTest):
    def setUp(self):
        super().setUp()
        self.require_sequences()
        for folder in (EARLY, USER, ELSEWHERE):
            shutil.rmtree(folder, ignore_errors=True)
        self.environment = self.environment_of()

    def environment_of(self, **more):
        """Of a program that begins without a login, or with what is given."""
        left_out = ("ETWAS_RUNTIME_DIR", "XDG_RUNTIME_DIR", "ETWAS_SHARED")
        return {**{name: value for name, value in os.environ.items() if name not in left_out},
                **more}

    def log_in(self):
        """The shell's folder is there from here on, and the commands are those of that shell."""
        os.makedirs(USER, 0o700)
        self.environment = self.environment_of(XDG_RUNTIME_DIR=USER)

    def look(self):
        """What ps shows: sessions by name, and the providers of processes by GUID."""
        lines = [json.loads(line) for line in self.run_etwas("ps", "--json")[0].splitlines()]
        for line in lines:
            self.assert_keys_documented("ps", line)
        return ({line["session"]: line for line in lines if "session" in line},
                {(line["pid"], line["provider_id"]): line for line in lines if "provider_id" in line
                 and "pid" in line})

    def query(self, name):
        return json.loads(self.run_etwas("query", "--json", name)[0])

    def counted(self, path):
        stat, = self.stat_json(path)
        return {kind["event_class_id"]: kind["events"] for kind in stat["by_event"]
                if kind["event_class_id"] in (MODERN, CLASS)}

    def steer(self, service, folder):
        """What a shell does with a session that a service has in another folder."""
        recorder, log = f"{self.name}-memory", f"{self.name}-file"
        self.assertEqual(service.tell(f"share {recorder} -"), 0)
        self.assertEqual(service.tell(f"share {log} {self.path}"), 0)
        sessions, providers = self.look()
        self.assertEqual({name: one["folder"] for name, one in sessions.items()},
                         {recorder: folder, log: folder})
        self.assertEqual(providers[service.pid, MODERN]["folder"], folder)
        text, error = self.run_etwas("ps")
        self.assertEqual(error, "")
        self.assertRegex(text, r"(?m)^SESSION .* FILE +FOLDER\n")
        self.assertRegex(text, rf"(?m)^{re.escape(log)} .* {self.path} +{folder}$")
        self.assertRegex(text, rf"(?m)^{service.pid} steer_work +{MODERN} +modern +- +{folder}$")
        self.assertIn(f"\n  folder        {folder}\n", self.run_etwas("query", log)[0])
        self.run_etwas("enable", log, MODERN, CLASSIC)
        self.run_etwas("enable", recorder, MODERN)
        sessions, providers = self.look()
        self.assertEqual(sorted(one["session"]
                                for one in providers[service.pid, MODERN]["enabled_by"]),
                         [log, recorder])
        service.tell("log 5")
        self.run_etwas("flush", log)
        self.assertEqual(self.query(log)["recorded"], 10)
        now = os.path.join(self.folder, "now.etl")
        self.run_etwas("snapshot", "-o", now, recorder)
        self.assertEqual(self.counted(now), {MODERN: 5})
        self.assertIn(f"-{service.pid}.etl", self.run_etwas("snapshot", "--all",
                                                            cwd=self.folder)[0])
        self.run_etwas("disable", recorder, MODERN)
        service.tell("log 2")
        self.run_etwas("stop", recorder, log)
        self.assertEqual(self.counted(self.path), {MODERN: 7, CLASS: 7})
        self.assertEqual(self.look()[0], {})
        self.run_etwas("query", log, expect=FAILED)

    def await_events(self, service):
        """A host may answer a provider later than that waits for it; what is logged until then is
        counted as lost."""
        self.assertTrue(await_true(lambda: service.tell("log 1") == 0
                                   and self.query(self.name)["recorded"] > 0))
        return self.query(self.name)

    def log_into(self, service, folder, ours=LATE):
        """A session that is started in the shell's folder gets the events of a service in another
        one."""
        self.start("-fo", "a.etl", "-e", CLASSIC)
        self.run_etwas("enable", "--timeout", "5", self.name, MODERN)
        before = self.await_events(service)
        service.tell("log 20")
        sessions, providers = self.look()
        self.assertEqual([one["session"] for one in providers[service.pid, MODERN]["enabled_by"]],
                         [self.name])
        self.assertEqual((sessions[self.name]["folder"], providers[service.pid, MODERN]["folder"]),
                         (ours, folder))
        self.assertEqual((sessions[self.name]["recorded"], sessions[self.name]["lost"]),
                         (before["recorded"] + 40, before["lost"]))
        self.assertNotIn("unattached_processes", sessions[self.name])
        self.run_etwas("stop", self.name)
        self.assertEqual(sum(self.counted(self.path).values()), before["recorded"] + 40)

    def test_a_service_that_began_before_the_login_is_found_and_steered(self):
        service = Service(self)
        self.log_in()
        self.steer(service, EARLY)

    def test_a_service_that_began_before_the_login_logs_into_sessions_behind_it(self):
        service = Service(self)
        self.log_in()
        self.log_into(service, EARLY)

    def test_a_service_of_a_login_is_found_by_programs_that_know_nothing_of_it(self):
        self.log_in()
        service = Service(self, XDG_RUNTIME_DIR=USER)
        self.environment = self.environment_of()
        self.start("-fo", "a.etl", "-e", MODERN)
        self.await_events(service)
        self.assertNotIn("folder", self.look()[0][self.name])
        self.assertNotIn("FOLDER", self.run_etwas("ps")[0])
        self.run_etwas("stop", self.name)

    def test_a_service_of_a_login_is_found_from_a_folder_that_it_does_not_know(self):
        self.log_in()
        service = Service(self, XDG_RUNTIME_DIR=USER)
        self.move()
        self.steer(service, LATE)

    def move(self):
        """The commands are those of a shell whose folder its environment alone names."""
        os.mkdir(ELSEWHERE, 0o700)
        self.environment = self.environment_of(XDG_RUNTIME_DIR=ELSEWHERE)

    def test_a_service_that_knows_nothing_of_a_shells_folder_logs_into_its_sessions(self):
        service = Service(self)
        self.move()
        self.log_into(service, EARLY, f"{ELSEWHERE}/etwas")

    def test_a_service_that_begins_behind_a_session_of_such_a_folder_logs_into_it(self):
        self.move()
        self.start("-fo", "a.etl", "-e", MODERN)
        service = Service(self)
        self.await_events(service)
        sessions, providers = self.look()
        self.assertEqual([one["session"] for one in providers[service.pid, MODERN]["enabled_by"]],
                         [self.name])
        self.assertEqual(sessions[self.name]["folder"], f"{ELSEWHERE}/etwas")

    def test_a_service_in_such_a_folder_is_found_and_steered(self):
        self.move()
        service = Service(self, XDG_RUNTIME_DIR=ELSEWHERE)
        self.environment = self.environment_of()
        self.steer(service, f"{ELSEWHERE}/etwas")

    def test_such_a_folder_is_forgotten_when_it_is_gone(self):
        self.move()
        notes = os.path.join(EARLY, "folders")
        self.run_etwas("ps")
        self.assertEqual(len(os.listdir(notes)), 1)
        self.environment = self.environment_of()
        self.run_etwas("ps")
        self.assertEqual(len(os.listdir(notes)), 1)
        shutil.rmtree(ELSEWHERE)
        self.run_etwas("ps")
        self.assertEqual(os.listdir(notes), [])

    def left(self):
        return sorted(one["session"] for one in self.run_json("recover", "--list", "--json"))

    def test_what_is_left_in_any_folder_is_recovered_once(self):
        self.log_in()
        self.start("--buffering", "--mode", "0x80000000", name=f"{self.name}-1")
        self.move()
        self.start("--buffering", "--mode", "0x80000000", name=f"{self.name}-2")
        for host in self.pids_of_host():
            os.kill(host, signal.SIGKILL)
        self.assertTrue(await_true(lambda: not self.pids_of_host()))
        for more in {}, {"XDG_RUNTIME_DIR": USER}, {"XDG_RUNTIME_DIR": ELSEWHERE}:
            self.environment = self.environment_of(**more)
            # A process that the kernel ends has no command line before its locks are released.
            self.assertTrue(await_true(lambda: self.left() == [f"{self.name}-1", f"{self.name}-2"]),
                            f"{more}: {self.left()}")

    def test_a_name_in_another_folder_is_taken(self):
        service = Service(self)
        self.assertEqual(service.tell(f"share {self.name}-early {self.path}"), 0)
        self.log_in()
        _, error = self.start("--buffering", name=f"{self.name}-EARLY", expect=FAILED)
        self.assertIn("a session of this name runs already", error)
        self.start("--buffering", name=f"{self.name}-late")
        self.assertEqual(service.tell(f"share {self.name}-LATE {self.path}2"), ALREADY_EXISTS)
        self.run_etwas("stop", f"{self.name}-early", f"{self.name}-late")
        self.start("--buffering", name=f"{self.name}-early")
        self.run_etwas("stop", f"{self.name}-early")

    def test_who_is_killed_in_another_folder_is_gone(self):
        service = Service(self)
        self.assertEqual(service.tell(f"share {self.name} {self.path}"), 0)
        self.log_in()
        self.assertIn(self.name, self.look()[0])
        service.process.kill()
        service.process.wait()
        self.assertEqual(self.look(), ({}, {}))
        self.assertEqual(os.listdir(EARLY), [])
        self.start("--buffering")
        self.run_etwas("stop", self.name)

    def test_a_folder_that_is_named_is_the_only_one(self):
        service = Service(self)
        self.assertEqual(service.tell(f"share {self.name} {self.path}"), 0)
        self.log_in()
        self.environment["ETWAS_RUNTIME_DIR"] = os.path.join(self.folder, "run")
        self.assertEqual(self.look(), ({}, {}))
        self.assertEqual(self.run_etwas("ps")[1], "")

    def passed_over(self, path):
        self.assertEqual(self.look(), ({}, {}))
        _, error = self.run_etwas("ps")
        self.assertEqual(
            error, f"etwas ps: '{path}': it is passed over, with what may be in it: it is not a "
            "folder of this user alone; "
                   "'chmod 700' makes it one, if it is this user's\n")
        _, error = self.run_etwas("query", self.name, expect=FAILED)
        self.assertIn(f"etwas query: '{path}': it is passed over", error)

    def test_a_folder_that_others_may_enter_is_passed_over_and_that_is_said(self):
        service = Service(self)
        self.assertEqual(service.tell(f"share {self.name} {self.path}"), 0)
        self.log_in()
        os.chmod(EARLY, 0o755)
        self.passed_over(EARLY)
        os.chmod(EARLY, 0o700)
        self.assertIn(self.name, self.look()[0])

    def test_a_folder_of_another_user_is_passed_over_and_that_is_said(self):
        os.mkdir(EARLY, 0o700)
        try:
            os.chown(EARLY, NOBODY, NOBODY)
        except OSError as error:
            self.skipTest(f"no folder can be given to another user here: {error}")
        self.log_in()
        self.passed_over(EARLY)


def go_alone():
    """The same once more, where /run and /dev/shm are the test's own."""
    mounts = ('mount -t tmpfs -o mode=755 tmpfs /run && mount -t tmpfs -o mode=1777 tmpfs /dev/shm '
              '&& exec "$@"')
    alone = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-c",
             mounts, "sh"]
    try:
        granted = subprocess.run([*alone, "true"], capture_output=True, text=True, check=False)
        reason = granted.stderr if granted.returncode != 0 else ""
    except OSError as error:
        reason = str(error)
    if reason:
        print(f"skipped: no mounts of its own are granted: {reason.strip()}")
        sys.exit(77)
    os.environ[ALONE] = "1"
    os.execvp(alone[0], [*alone, sys.executable, "-B", *sys.argv])


if __name__ == "__main__":
    if ALONE not in os.environ:
        go_alone()
    SteerTest.host, SteerTest.work = sys.argv[2:4]
    sys.exit(main())
