#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""AutoLoggers: sessions that programs start by themselves, since a file says so; and what `etwas
autologger` says of them.

usage: autologger_test.py PATH_OF_ETWAS PATH_OF_ETWAS_HOST PATH_OF_BRIEF_WORK PATH_OF_NAMED_WORK
                          TEST_CLASS
"""

import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys

from tool_case import FAILED, FINE, ToolTest, main

PROVIDER = "[Etwas.Tests.Brief]\nEnableLevel = 4\n"
GUID = "d8bf0699-d224-53f2-64a6-6fa2702a1434"
PRIVATE = "LogFileMode = 0x800\n"
NOBODY = 65534
NAMED = {"Till": "ca093a34", "Stock": "5a0c0001", "Plain": "5a0c0003"}  # GUIDs of named_work


class Autologger(ToolTest):
    host, brief, named = "", "", ""

    def setUp(self):
        super().setUp()
        self.files, self.out, self.run_folder = (os.path.join(self.folder, name)
                                                 for name in ("etwas", "out", "run"))
        for folder in self.files, self.out, self.run_folder:
            os.mkdir(folder, 0o700)
        self.environment = {**os.environ, "XDG_CONFIG_HOME": self.folder,
                            "ETWAS_RUNTIME_DIR": self.run_folder}
        for name in "ETWAS_SHARED", "ETWAS_AUTOLOGGER":
            self.environment.pop(name, None)

    def describe(self, text, name="brief", folder=None, mode=0o600):
        path = os.path.join(folder or self.files, f"{name}.autologger")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def private(self, programs="ExecutableName = brief_work\n", name="brief", more="", folder=None):
        return self.describe(
            f"{programs}FileName = {self.out}/{name}.etl\n{PRIVATE}{more}{PROVIDER}", name, folder)

    def log(self, count, *arguments, expect=7, **environment):
        run = subprocess.run([self.brief, str(count), *arguments], capture_output=True, check=False,
                             timeout=100, env={**self.environment, **environment})
        self.assertEqual((run.returncode, run.stdout, run.stderr), (expect, b"", b""))

    def check(self, *arguments, expect=FINE, **environment):
        return self.run_etwas("autologger", *arguments, expect=expect,
                              env={**self.environment, **environment})

    def logged(self, name):
        """How many events each file of a private session has, or the only one of a shared one; they
        are numbered."""
        counts = []
        for file in sorted(os.listdir(self.out)):
            if not file.startswith(f"{name}.etl"):
                continue
            out, _ = self.run_etwas("dump", "--hex", "--json", os.path.join(self.out, file))
            numbers = re.findall(rf'"event_class_id":"{GUID}".*"payload":"([0-9a-f]{{16}})"', out)
            self.assertEqual([struct.unpack("<Q", bytes.fromhex(number))[0] for number in numbers],
                             list(range(len(numbers))))
            counts.append(len(numbers))
        return counts

    def test_each_program_that_is_named_has_its_own_from_its_first_event_on(self):
        path = self.private("ExecutableName = other;BRIEF_work\nExecutableName = more\n")
        self.assertEqual(self.check("--process", "/usr/bin/brief_work"),
                         (f"{path}: starts 'brief'\n", ""))
        self.assertEqual(self.check("--process", "more")[0], f"{path}: starts 'brief'\n")
        not_here = f"{path}: does not start: no ExecutableName of it is this program's\n"
        self.assertEqual(self.check("--process", "brief")[0], not_here)
        self.assertEqual(self.check("--process", "brief", "brief")[0], not_here)
        self.assertEqual(self.check("--process", "brief", "brief", ETWAS_AUTOLOGGER="x:brief")[0],
                         f"{path}: starts 'brief'\n")
        for count in range(1, 11):
            self.log(count)
        self.assertEqual(sorted(self.logged("brief")), list(range(1, 11)))
        other = os.path.join(self.folder, "unnamed")
        shutil.copy(self.brief, other)
        subprocess.run([other, "5"], check=False,
                       env={**self.environment, "LD_LIBRARY_PATH": self.library_folder()})
        self.assertEqual(len(os.listdir(self.out)), 10)
        self.assertEqual(os.listdir(self.run_folder), [])  # nobody shares anything

    def library_folder(self):
        told = subprocess.run(["ldd", self.brief], check=True, capture_output=True,
                              text=True).stdout
        return os.path.dirname(re.search(r"=> (\S+/libetwas\.so\S*)", told)[1])

    def test_start_and_enabled_switch_off(self):
        path = self.private(more="Start = 0\n")
        self.assertEqual(self.check(), (f"{path}: does not start: its Start is 0\n", ""))
        self.log(3)
        self.assertEqual(self.logged("brief"), [])
        self.log(3, ETWAS_AUTOLOGGER="brief")  # a program that names it means it
        self.assertEqual(self.logged("brief"), [3])
        path = self.private(name="off")
        with open(path, "a", encoding="utf-8") as file:
            file.write("Enabled = 0\n")
        self.log(4)
        self.assertEqual(self.logged("off"), [0])

    def test_the_environment_names_those_of_one_program(self):
        path = self.private(programs="")
        self.assertEqual(self.check()[0],
                         f"{path}: does not start: it has no ExecutableName: 'etwas start' starts "
                         "it\n")
        self.log(1)
        elsewhere = os.path.join(self.folder, "elsewhere")
        os.mkdir(elsewhere)
        other = self.private(name="other", folder=elsewhere, programs="")
        self.assertEqual(self.logged("brief"), [])
        self.log(5, ETWAS_AUTOLOGGER="brief")
        self.log(6, ETWAS_AUTOLOGGER=f":{other}::brief:")
        self.assertEqual(sorted(self.logged("brief")), [5, 6])
        self.assertEqual(self.logged("other"), [6])
        self.private()
        self.log(7, ETWAS_AUTOLOGGER="brief")  # once, though it is named twice
        self.assertEqual(sorted(self.logged("brief")), [5, 6, 7])
        for nothing in "", "0":
            self.log(8, ETWAS_AUTOLOGGER=nothing)
            self.assertEqual(self.check(ETWAS_AUTOLOGGER=nothing)[1],
                             "etwas autologger: there is none\n")
        self.assertEqual(sorted(self.logged("brief")), [5, 6, 7])
        out, _ = self.check("--process", "x", ETWAS_AUTOLOGGER=f"{other}:missing:/no.autologger",
                            expect=FAILED)
        self.assertEqual(
            out, f"{other}: starts 'other'\nmissing: there is no such file in the folders of "
            "AutoLoggers\n"
            f"/no.autologger: there is no such file\n{path}: does not start: no ExecutableName of "
            "it is this program's\n")

    def test_a_section_is_for_every_provider_of_such_a_name(self):
        for name, mode in ("alone", PRIVATE), ("shared", ""):
            if name == "shared":
                self.require_shared()
            for section, found in (("[etwas.tests.*]", ["Till"] * 3 + ["Stock"] + ["Plain"] * 2),
                                   ("[Etwas.Tests.?to*]", ["Stock"]),
                                   ("[Etwas.Tests.Stock]", ["Stock"]), ("[Stock]", [])):
                self.describe(f"ExecutableName = named_work\nFileName = {self.out}/{name}.etl\n"
                              f"{mode}{section}\nEnableLevel = 4\n", name)
                subprocess.run([self.named, "1"], check=True, env=self.environment)
                file, = os.listdir(self.out)
                out, _ = self.run_etwas("dump", "--json", os.path.join(self.out, file))
                events = [json.loads(line) for line in out.splitlines()]
                self.assertEqual(sorted(event["provider_id"][:8] for event in events),
                                 sorted(NAMED[name] for name in found))
                os.unlink(os.path.join(self.out, file))
            os.unlink(os.path.join(self.files, f"{name}.autologger"))

    def require_shared(self):
        path = self.describe(
            f"ExecutableName = brief_work\nFileName = {self.out}/tried.etl\n{PROVIDER}", "tried")
        self.log(1)
        os.unlink(path)
        if self.logged("tried") != [1]:
            self.skipTest("processes share no session here")
        os.unlink(os.path.join(self.out, "tried.etl"))

    def test_a_shared_one_is_hosted_by_the_first_program(self):
        self.require_shared()
        self.describe(
            f"ExecutableName = brief_work\nFileName = {self.out}/brief.etl\n"
            f"FileMax = 3\n{PROVIDER}")
        for count in range(2, 8):
            self.log(count)
        # The oldest is replaced: 2 by 5, 3 by 6, 4 by 7.
        self.assertEqual(sorted(os.listdir(self.out)), ["brief.etl", "brief.etl.0001",
                                                        "brief.etl.0002"])
        self.assertEqual(self.logged("brief"), [5, 6, 7])
        self.log(9, ETWAS_SHARED="0")
        self.assertEqual(self.logged("brief"), [5, 6, 7])

    def start_host(self, *arguments):
        host = subprocess.Popen([self.host, "--autologger", *arguments], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, cwd=self.folder,
                                env=self.environment)
        self.addCleanup(host.wait)
        self.addCleanup(host.kill)
        return host

    def test_a_host_has_one_for_all_programs(self):
        self.require_shared()
        path = self.describe(f"FileName = {self.out}/hosted.etl\n{PROVIDER}", "hosted")
        for name in "hosted", path, "etwas/hosted.autologger":
            host = self.start_host(name)
            self.assertEqual(host.stdout.readline(),
                             f"hosted: runs in process {host.pid}, to {self.out}/hosted.etl\n")
            for count in 5, 6:
                self.log(count, ETWAS_SHARED="1")
            host.send_signal(signal.SIGTERM)
            out, error = host.communicate(timeout=100)
            self.assertEqual((error, host.returncode), ("", 0))
            recorded, lost = re.fullmatch(r"hosted: has ended, (\d+) events?, (\d+) lost\n",
                                          out).groups()
            self.assertEqual(int(recorded) + int(lost), 11)
            if lost != "0":  # by a program that a busy machine kept from the host for so long
                self.assertIn(f" {lost} of them: host not yet attached to",
                              self.run_any("stat", f"{self.out}/hosted.etl")[0])
        out, _ = self.run_etwas("start", "--autologger", "hosted", env=self.environment)
        self.assertIn("hosted: runs in process ", out)
        out, error = self.run_etwas("start", "--autologger", "hosted", env=self.environment,
                                    expect=FAILED)
        self.assertEqual((out, error),
                         ("", f"etwas start: '{path}': a session of that name or GUID exists\n"))
        self.run_etwas("stop", "hosted", env=self.environment)

    def test_a_host_says_what_is_wrong(self):
        private = self.private()
        bad = self.describe("FileName = x\n", "bad")
        for arguments, said in ((["--autologger", "missing"],
                                 "'missing': there is no such file in the folders of "
                                 "AutoLoggers\n"),
                                (["--autologger", "bad"],
                                 f"'{bad}:1': a file is named from / on, since programs run in any "
                                 "folder\n"),
                                (["--autologger", "brief"],
                                 f"'{private}': it is private (LogFileMode): programs start it, "
                                 "each for itself\n")):
            out, error = self.run_etwas("start", *arguments, env=self.environment, expect=FAILED)
            self.assertEqual((out, error), ("", f"etwas start: {said}"))
        for arguments in (["--autologger", "brief", "x"], ["--autologger", "brief", "--buffering"],
                          ["-o", "x", "--autologger", "brief"]):
            _, error = self.run_etwas("start", *arguments, env=self.environment, expect=FAILED)
            self.assertEqual(
                error, "etwas start: --autologger: its file says all, the session's name too. "
                "Leave out the rest\nSee 'etwas start --help'.\n")
        self.assertEqual(os.listdir(self.out), [])

    def test_what_is_wrong_with_a_file_is_reported_with_its_line(self):
        for text, said in ((f"FileName = /x\n{PRIVATE}\nFileName = /y\n",
                            ":4: this value has been given before"),
                           ("ExecutableName = x\n", ": it has no FileName"),
                           ("FileName = /x\nFileMax = 2\nLogFileMode = 0x800\n",
                            ": FileMax does not go with this LogFileMode"),
                           ("FileName = /x\nLogFileMode = 0x402\nMaxFileSize = 1\n", ": "),
                           ("FileName = /x\nLogFileMode = 2\n",
                            ": it has no MaxFileSize, which circular files, sets of files and "
                            "preallocation (LogFileMode) need\n"),
                           ("FileName = /no/such/x.etl\nLogFileMode = 0xC00\n",
                            ": there is no such folder as that of its FileName\n"),
                           ("FileName = /x\nLogFileMode = 0x40\n", ": "),
                           ("FileName = /x\nLogFileMode = 8\nMaxFileSize = 1\n", ": ")):
            path = self.describe(text)
            out, error = self.check(expect=FAILED)
            self.assertTrue(out.startswith(path + said), out)
            self.assertEqual((len(out.splitlines()), error), (1, ""))
            self.assertNotIn("starts", out)
        self.private(name="NT Kernel Logger")
        out, _ = self.check("NT Kernel Logger", expect=FAILED)
        self.assertNotIn("starts", out)
        os.unlink(f"{self.files}/NT Kernel Logger.autologger")
        with open(path, "wb") as file:
            file.write(b"#" * (64 << 10) + b"\n")
        self.assertEqual(self.check(expect=FAILED)[0], f"{path}: it is larger than 64 KB\n")
        self.private()
        with open(path, "ab") as file:
            file.write(b"#" * ((64 << 10) - os.path.getsize(path)))
        self.assertEqual(self.check()[0], f"{path}: starts 'brief' in the programs that it names\n")
        self.log(3)
        self.assertEqual(self.logged("brief"), [3])

    def test_what_others_could_have_written_is_not_believed(self):
        path = self.private()
        for mode in 0o620, 0o602, 0o666:
            os.chmod(path, mode)
            self.assertEqual(self.check(expect=FAILED)[0],
                             f"{path}: others than its owner may write it\n")
            self.log(3)
        os.chmod(path, 0o644)
        os.chmod(self.files, 0o770)
        self.private(name="second")
        # once, however many files it has
        said = f"{self.files}: others than its owner may write it\n"
        self.assertEqual(self.check(expect=FAILED)[0], said)
        self.assertEqual(self.check("brief", expect=FAILED)[0], said)
        self.log(3)
        os.unlink(f"{self.files}/second.autologger")
        os.chmod(self.files, 0o755)
        os.rename(path, self.files + "/kept")
        os.symlink("kept", path)  # it is what it leads to that counts
        self.assertEqual(self.check()[0], f"{path}: starts 'brief' in the programs that it names\n")
        os.unlink(path)
        os.mkfifo(path)
        self.assertEqual(self.check(expect=FAILED)[0], f"{path}: it is no regular file\n")
        self.log(3)
        os.unlink(path)
        os.mkdir(path)
        self.assertEqual(self.check(expect=FAILED)[0], f"{path}: it is no regular file\n")
        self.log(3)
        os.rmdir(path)
        self.assertEqual(os.listdir(self.out), [])
        if os.geteuid() == 0:
            path = self.private()
            os.chown(path, NOBODY, NOBODY)
            self.assertEqual(self.check(expect=FAILED)[0], f"{path}: it belongs to another user\n")
            self.log(3)
            self.assertEqual(os.listdir(self.out), [])

    def test_a_program_with_anothers_rights_believes_neither_environment_nor_user(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give a program another's rights")
        path = self.private()
        program = os.path.join(self.folder, "brief_work")
        shutil.copy(self.brief, program)
        os.chmod(self.folder, 0o755)
        for folder in self.files, self.out:
            os.chmod(folder, 0o755)
            os.chown(folder, NOBODY, NOBODY)
        os.chown(path, NOBODY, NOBODY)
        if not self.can_run_as_nobody(program):
            self.skipTest("nobody else can run the program here")
        self.assertEqual(self.logged("brief"), [5])
        shutil.rmtree(self.out)
        os.mkdir(self.out, 0o777)
        os.chmod(self.out, 0o777)
        os.chown(program, 1, 1)
        os.chmod(program, 0o4755)
        run = self.run_as_nobody(program, ETWAS_AUTOLOGGER=path)
        if b"LeakSanitizer" in run.stderr:
            self.skipTest(
                "a sanitizer looks for leaks, and cannot in a program that nobody may look into")
        self.assertEqual((run.returncode, run.stderr), (7, b""))
        self.assertEqual(os.listdir(self.out), [])

    def run_as_nobody(self, program, **environment):
        return subprocess.run([program, "5"], capture_output=True, check=False, user=NOBODY,
                              group=NOBODY, extra_groups=[],
                              env={**self.environment, **environment})

    def can_run_as_nobody(self, program):
        try:
            return self.run_as_nobody(program).returncode == 7
        except OSError:
            return False

    def test_the_systems_folder_is_behind_the_users_and_its_log_hears_of_faults(self):
        """In a mount namespace with another /etc and another /dev/log."""
        path = self.private()
        script = f"""
            mkdir {self.folder}/etc {self.folder}/dev && cp -a /etc/. {self.folder}/etc 2>/dev/null
            mount --bind {self.folder}/etc /etc && mount -t tmpfs none {self.folder}/dev || exit 99
            cp -a /dev/null {self.folder}/dev/ || exit 99
            mkdir -p /etc/etwas && chmod 755 /etc/etwas || exit 99
            mount --bind {self.folder}/dev /dev || exit 99
            printf '%s' "$1" >/etc/etwas/brief.autologger
            printf '%s' "$2" >/etc/etwas/system.autologger
            printf 'Wrong\\n' >/etc/etwas/wrong.autologger
            {self.etwas} autologger
            chmod 777 {self.files}
            {self.etwas} autologger brief --process x
            {self.etwas} autologger | grep -c /etc/etwas/brief
            chmod 755 {self.files}
            exec {sys.executable} -c 'import socket, subprocess, sys
log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.bind("/dev/log")
log.settimeout(60)
code = subprocess.run(sys.argv[1:], check=False).returncode
print(code, log.recv(10000).decode(), flush=True)' {self.brief} 5
        """
        texts = [f"{programs}FileName = {self.out}/{name}.etl\n{PRIVATE}{PROVIDER}"
                 for programs, name in (("ExecutableName = brief_work\n", "hidden"),
                                        ("ExecutableName = brief_work\n", "system"))]
        run = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", *texts],
                             capture_output=True, text=True, check=False, timeout=100,
                             env=self.environment)
        if run.returncode != 0:
            self.skip_since(run.stderr)
        *checked, ran = run.stdout.splitlines()
        self.assertEqual(checked, [f"{path}: starts 'brief' in the programs that it names",
                                   "/etc/etwas/system.autologger: starts 'system' in the programs "
                                   "that it names",
                                   "/etc/etwas/wrong.autologger:1: a line is NAME = VALUE, or "
                                   "[PROVIDER]",
                                   f"{self.files}: others than its owner may write it",
                                   "1"])  # what is not believed hides nothing
        self.assertRegex(
            ran, r"^7 <12>brief_work\[\d+\]: etwas: /etc/etwas/wrong\.autologger:1: a line is NAME "
            r"= VALUE, or \[PROVIDER\]\Z")
        self.assertEqual((self.logged("brief"), self.logged("system"), self.logged("hidden")),
                         ([5], [5], []))

    def test_the_example_that_is_shipped_is_right(self):
        example = os.path.join(os.path.dirname(__file__), "../../packaging/shop.autologger")
        path = os.path.join(self.files, "shop.autologger")
        shutil.copy(example, path)
        os.chmod(path, 0o644)
        self.assertEqual(self.check("--process", "shop")[0], f"{path}: starts 'shop'\n")


if __name__ == "__main__":
    Autologger.host, Autologger.brief, Autologger.named = sys.argv[2:5]
    del sys.argv[2:5]
    sys.exit(main())
