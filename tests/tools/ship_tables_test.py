# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The tables that events are shipped to: real servers make them, take blocks, and give back what
was in them.

usage: ship_tables_test.py PATH_OF_ETWAS PATH_OF_SHIP_BLOCK TEST_CLASS
"""

import subprocess
import sys

from fleet_case import FleetTest, ServerError
from tool_case import main

GUIDS = ("5ab7a3c2-1f0e-4d7b-9a31-6e02d4cc7710", "ffffffff-ffff-ffff-ffff-ffffffffffff",
         "00000000-0000-0000-0000-000000000000")
DAYS = ("2023-11-14", "2023-11-15", "2023-11-14")
TIMES = ("1700000000123456789", "4102444800999999999", "0")
TEXTS = ("Shop/Order", "a\\tb\\0c\\\\\udcff\\n", "")
PAIRS = {"ints.keys": ("[]", "['price']", "['price','least']"),
         "ints.values": ("[]", "[7]", "[7,-9223372036854775808]"),
         "reals.keys": ("[]", "['load']", "[]"), "reals.values": ("[]", "[-0.5]", "[]"),
         "texts.keys": ("['who']", "['who']", "[]"), "texts.values": ("['me']", "['me']", "[]")}
WIDTHS = {"UInt8": 8, "UInt16": 16, "UInt32": 32, "UInt64": 64}


def made(*arguments):
    return subprocess.run([sys.argv[2], *arguments], check=True, stdout=subprocess.PIPE,
                          timeout=100).stdout


def statements(*arguments):
    return made("ddl", *arguments).decode()


def expected(name, kind, row):
    """What ship_block puts into a column: usual values, the largest, the smallest."""
    if name in PAIRS:
        return PAIRS[name][row]
    if name in ("time", "first_time", "last_time"):
        return TIMES[row]
    if kind in WIDTHS:
        return (str(11), str(2 ** WIDTHS[kind] - 1), str(0))[row]
    return {"Date": DAYS, "UUID": GUIDS, "String": TEXTS}[kind][row]


class TablesTest(FleetTest):
    def columns(self, table):
        """All that are not made of others."""
        return self.fleet.ask(
            "select name, type from system.columns where database = 'etwas' and default_kind = '' "
            f"and table = '{table}'")

    def assert_rows(self, table, source, key, name="s1r1"):
        """The three rows of a block that `table` was sent, each value of each column."""
        columns = self.columns(table)
        rows = self.fleet.ask(f"select * from etwas.{source} order by {key}", name)
        self.assertEqual(len(rows), 3)
        for row, values in zip((2, 0, 1), rows):
            for (column, kind), value in zip(columns, values, strict=True):
                self.assertEqual(value, expected(column, kind, row), (column, row))


class Alone(TablesTest):
    """One server of the oldest version."""

    def test_each_value_of_a_block_is_read_back(self):
        self.fleet.run_statements(statements("18", "event", "-", "0"))
        for kind, table, key in (("event", "event", "time"),
                                 ("buffer", "event_buffer", "first_time")):
            self.fleet.insert("etwas." + table, made(kind, "18"))
            self.assert_rows(table, table, key)
            self.assert_rows(table, table + "_all", key)
        for what in ("unix_time from etwas.event_all",
                     "first_unix_time from etwas.event_buffer_all",
                     "last_unix_time from etwas.event_buffer"):
            self.assertEqual(self.fleet.ask(f"select {what} order by {what.split()[0]}"),
                             [[TIMES[2]], [TIMES[0]], [TIMES[1]]])

    def test_making_the_tables_again_changes_nothing(self):
        for _ in range(2):
            self.fleet.run_statements(statements("18", "twice", "-", "0"))
        self.assertEqual(self.columns("twice"), self.columns("twice_all"))

    def test_columns_that_are_not_there_yet_are_added_and_none_goes(self):
        self.fleet.run_statements(statements("18", "grown", "-", "0"))
        lacks = ("part", "texts", "ints.values", "payload")
        for table in ("grown", "grown_all"):
            for column in ("unix_time", "part", "texts.keys", "texts.values", "ints.values",
                           "payload"):
                self.fleet.ask(f"alter table etwas.{table} drop column {column}")
            self.fleet.ask(f"alter table etwas.{table} add column team String")
        text = statements("18", "grown", "-", "0", "event", *lacks)
        self.assertNotRegex(text, r"\b(drop|modify|rename|detach|truncate)\b")
        self.fleet.run_statements(text)
        self.fleet.insert("etwas.grown", made("event", "18"))
        self.assertEqual(sorted(self.columns("grown")), sorted(self.columns("grown_all")))
        rows = self.fleet.ask(
            "select team, part, ints.values, payload, unix_time from etwas.grown_all order by time")
        self.assertEqual(rows[2], ["", str(2 ** 32 - 1), "[7]", TEXTS[1], TIMES[1]])

    def test_a_block_that_is_cut_anywhere_is_refused_whole(self):
        self.fleet.run_statements(statements("18", "cut", "-", "0"))
        whole = made("event", "18")
        for size in [*range(1, len(whole), 97), len(whole) - 1]:
            with self.assertRaises(ServerError):
                self.fleet.insert("etwas.cut", whole[:size])
        self.assertEqual(self.fleet.ask("select count() from etwas.cut"), [["0"]])


class Cluster(TablesTest):
    """Two replicas of one shard."""

    arguments = ("--shards", "1", "--replicas", "2")

    def test_a_cluster_has_the_tables_everywhere_and_takes_a_block_once(self):
        self.fleet.run_statements(statements("18", "event", "etwas", "0"))
        for name in ("s1r1", "s1r2", "s1r1"):
            self.fleet.insert("etwas.event", made("event", "18"), name)
            self.fleet.insert("etwas.event_buffer", made("buffer", "18"), name)
        self.fleet.run("settle")
        for name in ("s1r1", "s1r2"):
            self.assert_rows("event", "event", "time", name)
            self.assert_rows("event_buffer", "event_buffer_all", "first_time", name)

    def test_columns_that_are_not_there_yet_are_added_everywhere_and_none_goes(self):
        """This server alters no table on a cluster that has no replicas."""
        self.fleet.run_statements(statements("18", "grown", "etwas", "0"))
        for column in ("part", "payload", "unix_time"):
            self.fleet.ask(f"alter table etwas.grown on cluster etwas drop column {column}")
            for name in ("s1r1", "s1r2"):
                self.fleet.ask(f"alter table etwas.grown_all drop column {column}", name)
        self.fleet.ask("alter table etwas.grown on cluster etwas add column team String")
        text = statements("18", "grown", "etwas", "0", "event", "part", "payload")
        self.assertEqual([line.split(" ")[4] for line in text.splitlines()
                          if line.startswith("drop ")],
                         ["etwas.grown_all"])
        self.fleet.run_statements(text)
        self.fleet.insert("etwas.grown", made("event", "18"))
        self.fleet.run("settle")
        for name in ("s1r1", "s1r2"):
            rows = self.fleet.ask(
                "select team, part, payload, unix_time from etwas.grown_all order by time", name)
            self.assertEqual(rows[2], ["", str(2 ** 32 - 1), TEXTS[1], TIMES[1]])

    def test_how_long_blocks_are_remembered_is_said_explicitly(self):
        self.fleet.run_statements(statements("18", "windows", "etwas", "0"))
        for table in ("windows", "windows_buffer"):
            told = self.fleet.ask(f"show create table etwas.{table}", "s1r2")[0][0]
            self.assertIn("replicated_deduplication_window = 10000", told)
            self.assertIn("replicated_deduplication_window_seconds = 604800", told)


class Statements(TablesTest):
    """Their texts, where no server of the version is at hand. They ran on 26.7, as
    docs/explanation/fleet-scale.md says."""

    fleet = None

    @classmethod
    def setUpClass(cls):
        pass

    def test_a_modern_server_gets_modern_types_codecs_and_a_time_to_live(self):
        text = statements("26", "event", "-", "30")
        for part in ("time DateTime64(9, 'UTC') codec(Delta(8), ZSTD)",
                     "host LowCardinality(String) codec(ZSTD)",
                     "ints Map(LowCardinality(String), Int64) codec(ZSTD)",
                     "ttl day + interval 30 day", "ttl_only_drop_parts = 1",
                     "non_replicated_deduplication_window = 10000",
                     "unix_time Int64 alias toUnixTimestamp64Nano(time)"):
            self.assertIn(part, text)
        self.assertNotIn("ttl", statements("26", "event", "-", "0"))
        self.assertIn(
            "replicated_deduplication_window_seconds = 604800,\n    ttl_only_drop_parts = 1",
            statements("26", "event", "etwas", "30"))

    def test_an_old_server_gets_nothing_that_it_does_not_know(self):
        for cluster in ("-", "etwas"):
            self.assertNotRegex(statements("18", "event", cluster, "30", "event", "part"),
                                r"codec|ttl|DateTime64|Map\(|LowCardinality|index "
                                r"|non_replicated|column if not")

    def test_what_a_modern_table_lacks_is_added_with_its_type(self):
        """The times of the table that is there are plain."""
        text = statements("26", "event", "etwas", "0", "buffer", "ended", "part")
        for table in ("event_buffer", "event_buffer_all"):
            self.assertIn(
                f"alter table etwas.{table} on cluster etwas add column if not exists part UInt32 "
                "codec(ZSTD);", text)
            self.assertIn(
                f"alter table etwas.{table} on cluster etwas add column if not exists ended UInt8 "
                "codec(ZSTD);", text)
            self.assertIn(
                f"alter table etwas.{table} on cluster etwas add column if not exists "
                "last_unix_time Int64 "
                "alias toInt64(last_time);", text)
        self.assertEqual(text.count("alter"), 8)


if __name__ == "__main__":
    main()
