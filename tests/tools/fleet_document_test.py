# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""docs/howto/ask-a-fleet.md: real servers answer each query that is in it.

usage: fleet_document_test.py PATH_OF_ETWAS PATH_OF_SHIP_BLOCK TEST_CLASS
"""

import os
import re
import subprocess
import sys

from fleet_case import CLUSTER, FleetTest
from tool_case import main

HOSTS, EVENTS = 16, 20_000
FILL = os.path.join(os.path.dirname(CLUSTER), "fill.sql")
DOCUMENT = os.path.join(os.path.dirname(CLUSTER), "..", "..", "docs", "howto", "ask-a-fleet.md")
# What stands for the words in capitals: an order that hosts 0 to 3 work on.
WORDS = {"DAY": "2026-11-26", "CALL": "Shop/Call7", "SESSION": "1003", "INSTANCE": "4711",
         "ACTIVITY": "00000000-0000-4000-8000-000000000471", "HOST": "host3",
         "MOMENT": "1795651209420000000"}


def section(title):
    with open(DOCUMENT, encoding="utf-8") as file:
        return re.search(rf"^## {title}$(.*?)(?=^## |\Z)", file.read(), re.M | re.S).group(1)


def queries(text):
    """The blocks that are queries."""
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.M)
    return [re.sub(r"^    ", "", block, flags=re.M).strip("\n") for block in blocks
            if block.lstrip("\n").startswith("    select ")]


def made(*arguments):
    return subprocess.run([sys.argv[2], *arguments], check=True, stdout=subprocess.PIPE,
                          timeout=100).stdout.decode()


class DocumentTest(FleetTest):
    cluster = "-"
    shards = 1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.fleet.run_statements(made("ddl", "18", "event", cls.cluster, "0"))
        with open(FILL, encoding="utf-8") as file:
            fill = file.read().replace("@EVENTS", str(EVENTS))
        for host in range(HOSTS):
            cls.fleet.run_statements(fill.replace("@HOST", str(host)),
                                     f"s{host % cls.shards + 1}r1")

    def ask_query(self, query):
        for word, value in WORDS.items():
            query = re.sub(rf"\b{word}\b", value, query)
        rows = self.fleet.ask(query + " format TabSeparatedWithNames")
        self.assertGreater(len(rows), 1, query)
        return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]

    def test_the_ten_queries_run_and_their_answers_are_right(self):
        found = [self.ask_query(query) for query in queries(section("Ten questions"))]
        self.assertEqual(len(found), 10)
        calls, slowest, tree, order, lost, clocks, talkers, numbers, errors, around = found
        self.assertEqual({row["call"] for row in calls}, {f"Shop/Call{i}/Start" for i in range(20)})
        self.assertEqual(len(slowest), 10)
        self.assertEqual([float(row["ms"]) for row in slowest],
                         sorted((float(row["ms"]) for row in slowest))[::-1])
        self.assertEqual([(row["instance"], row["caller"]) for row in tree],
                         [("4711", "0"), *((str(i), "4711") for i in range(4712, 4721))])
        self.assertEqual(len(order), 4 * 10 * 2)
        self.assertEqual({row["host"] for row in order}, {"host0", "host1", "host2", "host3"})
        self.assertEqual([(row["host"], row["lost"]) for row in lost],
                         [(f"host{i}", str(i)) for i in range(15, 5, -1)])
        self.assertEqual([row["host"] for row in clocks[:2]], ["host13", "host7"])
        self.assertAlmostEqual(float(clocks[0]["ahead_ms"]), -4, delta=0.3)
        self.assertEqual(len(talkers), 10)
        self.assertEqual([row["word"] for row in numbers], ["done", "failed"])
        self.assertEqual(len(errors), HOSTS if HOSTS < 10 else 10)
        self.assertEqual([row["instance"] for row in around], ["4710", "4710", "4711", "4711"])

    def test_the_proof_is_the_commands_and_finds_all_complete(self):
        proofs = queries(section("The proof"))
        self.assertEqual(proofs, [made("prove", "etwas.event_all", "etwas.event_buffer_all",
                                       "etwas.event_buffer", "2").strip()])
        rows = self.ask_query(proofs[0].replace("today() - least(2, toUInt16(today()))",
                                                "toDate('2026-11-26')"))
        self.assertEqual(len(rows), HOSTS)
        self.assertEqual({row["verdict"] for row in rows}, {"complete"})


class Alone(DocumentTest):
    """One server, whose NAME_all are Merge tables."""

    def test_a_clock_that_is_hours_off_is_found(self):
        names = [name for name, _, kind, *_ in self.fleet.ask("describe table etwas.event")
                 if kind == ""]
        late = {"host": "'late'", "time": "time + 97200000000000", "day": "day + 1"}
        self.fleet.run_statements(f"insert into etwas.event ({', '.join(names)}) select "
                                  f"{', '.join(late.get(name, name) for name in names)} from "
                                  "etwas.event where host = 'host3'")
        self.addCleanup(self.fleet.run_statements,
                        "alter table etwas.event drop partition '2026-11-27'")
        clocks, = (query for query in queries(section("Ten questions")) if "ahead_ms" in query)
        first = self.ask_query(clocks)[0]
        self.assertEqual(first["host"], "late")
        self.assertAlmostEqual(float(first["ahead_ms"]), 27 * 3_600_000, delta=10)


class Cluster(DocumentTest):
    """Two shards, whose NAME_all are Distributed."""

    arguments = ("--shards", "2", "--replicas", "1")
    cluster = "etwas"
    shards = 2


if __name__ == "__main__":
    main()
