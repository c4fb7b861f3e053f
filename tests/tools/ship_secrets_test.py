# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""How `etwas ship` keeps a password, and which servers get it.

usage: ship_secrets_test.py PATH_OF_ETWAS PATH_OF_SHIP_WIRE_WORK TEST_CLASS
"""

import os
import shutil
import subprocess
import sys
import time
import unittest

import ship_server as ways
from ship_wire_case import WireTest
from tool_case import main


class Secrets(WireTest):
    WORD = "Correct-Horse-7"

    def credentials(self, text=None, mode=0o600, name="credentials"):
        path = self.write(name, (text if text is not None
                                 else f"# ours\nuser = me\n password =  {self.WORD} \n").encode())
        os.chmod(path, mode)
        return path

    def guarded(self, **options):
        server = self.server(**options)
        server.login = "me", self.WORD
        return server

    def test_user_and_password_go_in_the_head_alone(self):
        server = self.guarded()
        process = self.start("send:20", "pause", to=server.url,
                             options=("--credentials", self.credentials()))
        while not server.inserts:
            time.sleep(0.01)
        for name in ("cmdline", "environ"):
            with open(f"/proc/{process.pid}/{name}", "rb") as file:
                self.assertNotIn(self.WORD.encode(), file.read())
        with open(f"/proc/{process.pid}/limits", encoding="utf-8") as file:
            self.assertRegex(file.read(), r"Max core file size +1 +1 ")
        out, said = process.communicate("\n", timeout=100)
        self.assertEqual((out.splitlines()[2:], said), (["sent"] * 2, ""))
        for request in server.asked + server.inserts:
            self.assertEqual((request.head["x-clickhouse-user"], request.head["x-clickhouse-key"]),
                             ("me", self.WORD))
            self.assertNotIn(self.WORD, request.target)

    def test_a_password_that_a_server_says_is_not_shown(self):
        for number, code in ((193, 401), (47, 500), (242, 500)):
            server = self.server()
            server.ways = [ways.status(code, number, f"the key {self.WORD} is bad"), ways.good]
            _, said = self.work("send:20", to=server.url,
                                options=("--credentials", self.credentials()))
            self.assertNotIn(self.WORD, said)
            self.assertIn("its words are not shown", said)

    def test_a_wrong_password_is_reported_by_its_file(self):
        server = self.server()
        server.login = "me", "another"
        path = self.credentials()
        told, said = self.work("send:20", to=server.url, options=("--credentials", path))
        self.assertEqual((told, server.inserts), (["refused"], []))
        self.assert_said(said, f"does not accept the user 'me' with the password in '{path}'",
                         lines=1)

    def test_a_services_credential_is_found_by_itself(self):
        server = self.guarded()
        # as systemd makes it for another user than root
        self.credentials(name="etwas-ship", mode=0o440)
        told, _ = self.work("send:20", to=server.url,
                            environment={"CREDENTIALS_DIRECTORY": self.folder})
        self.assertEqual(told, ["sent"])
        free = self.server()
        os.unlink(os.path.join(self.folder, "etwas-ship"))
        told, _ = self.work("send:20", to=free.url,
                            environment={"CREDENTIALS_DIRECTORY": self.folder})
        self.assertEqual(told, ["sent"])

    def test_a_file_that_is_not_its_owners_alone_is_refused(self):
        server = self.guarded()
        cases = [(self.credentials(mode=mode, name=f"{mode:o}"), "may be read by others")
                 for mode in (0o640, 0o604, 0o660)]
        if os.geteuid() == 0:
            path = self.credentials(name="theirs")
            os.chown(path, 12345, 12345)
            cases.append((path, "belongs to another user"))
        cases += [(self.folder, "is not a file"), (os.path.join(self.folder, "none"),
                                                   "No such file")]
        for path, words in cases:
            told, said = self.work("send:20", to=server.url, options=("--credentials", path))
            self.assertEqual(told, ["refused"])
            self.assert_said(said, path, words, lines=1)
        self.assertEqual(server.asked, [])

    def test_a_file_that_has_something_else_is_refused_and_not_shown(self):
        server = self.guarded()
        for text in ("", "password=Correct-Horse-7\n", "Correct-Horse-7\n",
                     "user=me\npassword=Correct-Horse-7\x01x\n",
                     "user=me\npassword=Correct-Horse-7\npassword=Correct-Horse-7\n",
                     "user=me\nkey=Correct-Horse-7\n", "user=me\npassword="
                     + "Correct-Horse-7" * 200, "user=me\n" + "#Correct-Horse-7\n" * 2000):
            told, said = self.work("send:20", to=server.url,
                                   options=("--credentials", self.credentials(text)))
            self.assertEqual(told, ["refused"])
            self.assert_said(said, "the file of credentials", lines=1)
            self.assertNotIn("Horse", said)
        self.assertEqual(server.asked, [])

    def test_a_password_that_all_on_the_way_can_read_is_said(self):
        path = self.credentials()
        _, said = self.work("send:20", to="http://192.0.2.1:1",
                            options=("--credentials", path, "--timeout", "1"))
        self.assertIn("gets the password as everybody on the way can read it", said)
        server = self.guarded()
        _, said = self.work("send:20", to=server.url, options=("--credentials", path))
        self.assertEqual(said, "")

    def test_the_environment_names_no_proxy_and_no_password(self):
        proxy, server = self.server(), self.guarded()
        self.credentials("machine 127.0.0.1 login x password y\n", name=".netrc")
        told, _ = self.work("send:20", to=server.url, options=("--credentials", self.credentials()),
                            environment={"http_proxy": proxy.url, "ALL_PROXY": proxy.url,
                                         "HOME": self.folder})
        self.assertEqual((told, proxy.asked + proxy.inserts), (["sent"], []))
        self.assertNotIn("authorization", server.inserts[0].head)


@unittest.skipUnless(shutil.which("openssl"), "there is no openssl")
class Certificates(WireTest):
    def certificate(self, name="localhost", addresses="IP:127.0.0.1"):
        key, path = os.path.join(self.folder, name + ".key"), os.path.join(self.folder,
                                                                           name + ".pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", path,
                        "-days", "2", "-subj", f"/CN={name}", "-addext",
                        f"subjectAltName={addresses}"], check=True, stderr=subprocess.DEVNULL,
                       timeout=100)
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
        for certificate, options in (((path, key), ()), ((path, key), ("--ca", other)),
                                     ((wrong, wrong_key), ("--ca", wrong))):
            server = self.server(certificate=certificate)
            told, said = self.work("send:20", to=server.url,
                                   options=("--credentials", credentials, *options))
            self.assertEqual((told, server.asked), (["refused"], []))
            # Where the system has no certificates, none can be checked without --ca.
            self.assert_said(said, "its certificate is not trusted" if options
                             else "its certificate ", "--ca", lines=1)

    def test_a_file_of_certificates_that_is_none_is_said(self):
        server = self.server(certificate=self.certificate())
        for path in (os.path.join(self.folder, "none"), self.write("bad", b"nothing")):
            told, said = self.work("send:20", to=server.url, options=("--ca", path))
            self.assertEqual((told, server.asked), (["refused"], []))
            self.assert_said(said, "its certificate cannot be checked", "--ca", "ca-certificates",
                             lines=1)

    def test_a_server_that_speaks_no_tls_is_waited_for(self):
        server = self.server()
        trusted, _ = self.certificate()
        told, said = self.work("send:20", to=server.url.replace("http:", "https:"),
                               options=("--timeout", "5", "--ca", trusted))
        self.assertEqual(told, ["refused"])
        # It waits for the end of a line, which a client's first bytes may have or not: then curl's
        # patience ends.
        self.assert_said(said, "does not answer", lines=2)


if __name__ == "__main__":
    sys.exit(main())
