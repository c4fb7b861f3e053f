# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What tests share that need ClickHouse: servers of their own on loopback, in a folder that goes
with them."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request

from tool_case import ToolTest

CLUSTER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "fleet",
                       "cluster.sh")


class ServerError(Exception):
    """What a server answers that refuses something."""


class Fleet:
    """Servers as cluster.sh starts them. They end with this process, too. `disks`: a server's, of
    so many bytes."""

    def __init__(self, *arguments, disks=()):
        self.folder = tempfile.mkdtemp(prefix="etwas-fleet-")
        self.disks = [self.mount(name, size) for name, size in disks]
        self.run("start", *arguments, "--with", str(os.getpid()))
        with open(os.path.join(self.folder, "cluster.env"), encoding="utf-8") as file:
            self.settings = dict(re.findall(r"^(\w+)='(.*)'$", file.read(), re.M))
        self.credentials = self.settings["FLEET_CREDENTIALS"]
        with open(self.credentials, encoding="utf-8") as file:
            told = dict(line.rstrip("\n").split("=", 1) for line in file)
        self.headers = {"X-ClickHouse-User": told["user"], "X-ClickHouse-Key": told["password"]}

    def run(self, command, *arguments):
        subprocess.run([CLUSTER, command, self.folder, *arguments], check=True,
                       stdin=subprocess.DEVNULL, timeout=280)

    def data(self, name):
        """Where a server has its tables."""
        return os.path.join(self.folder, name, "data")

    def mount(self, name, size):
        os.makedirs(self.data(name))
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", self.data(name)],
                       check=True)
        return self.data(name)

    def close(self):
        self.run("stop")
        for disk in self.disks:
            subprocess.run(["umount", disk], check=True)
        shutil.rmtree(self.folder)

    def post(self, body, name="s1r1", **parameters):
        """The answer's bytes."""
        address = self.settings["FLEET_HTTP_" + name] + "/?" + urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(urllib.request.Request(address, body, self.headers),
                                        timeout=100) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            raise ServerError(error.read().decode("utf-8", "replace")) from None

    def ask(self, sql, name="s1r1", **parameters):
        """The rows of the answer, as texts. What is no UTF-8 stays as Python has it, in
        surrogates."""
        answer = self.post(sql.encode(), name, wait_end_of_query="1", **parameters)
        return [line.split("\t") for line in answer.decode("utf-8", "surrogateescape")
                .split("\n")[:-1]]

    def insert(self, table, block, name="s1r1"):
        self.post(block, name, query=f"insert into {table} format Native")

    def run_statements(self, text, name="s1r1"):
        """Statements with semicolons at their ends, as a file for clickhouse-client has them."""
        for statement in re.split(r";\n", text):
            if statement.strip():
                self.ask(statement, name)


@unittest.skipUnless(shutil.which("clickhouse-server"), "there is no clickhouse-server")
class FleetTest(ToolTest):
    """A test whose class has servers of its own."""

    arguments = ("--alone",)
    disks = ()

    @classmethod
    def setUpClass(cls):
        if "--alone" not in cls.arguments and not shutil.which("java"):
            raise unittest.SkipTest("there is no Java for ZooKeeper")
        cls.fleet = Fleet(*cls.arguments, disks=cls.disks)
        cls.addClassCleanup(cls.fleet.close)
