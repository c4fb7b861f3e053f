#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Measures how fast `etwas ship` gets a trace into a ClickHouse server, and its space there.

A trace of two threads, whose events have an instance and two or three fields each, is shipped to
one server on loopback. For comparison, the server's own client inserts the same rows from a file,
as the server returned them: Native, in blocks of the server's choice. Both begin with an empty
table, in turn. Rows are printed as ../README.md describes.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measuring import Failed, Skipped, attempt, emit, read_options, temporary_folder

BUILD = HERE.parent.parent
ETWAS, EVENTS, CLUSTER = BUILD / "tools/etwas", HERE / "shipping_events", HERE / "cluster.sh"
COUNT, QUICK_COUNT = 2_000_000, 100_000
TABLE, AGAIN = "etwas.event", "etwas.event_again"


def processor_seconds():
    times = os.times()
    return times.children_user + times.children_system


class Server:
    """A server with the tables, which runs until it is closed."""

    def __init__(self, folder):
        self.folder = folder / "server"
        self.name = "s1r1"

    def start(self):
        subprocess.run([CLUSTER, "start", self.folder, "--alone", "--with", str(os.getpid())],
                       check=True, stdout=subprocess.DEVNULL)
        lines = (self.folder / "cluster.env").read_text().splitlines()
        told = {name: value.strip("'") for name, value in (line.split("=", 1) for line in lines)}
        self.to = ["--server", told["FLEET_SHARD_1"], "--credentials", told["FLEET_CREDENTIALS"]]
        for statement in self.statements():
            self.ask(statement)
        self.ask(f"create table {AGAIN} as {TABLE}")

    def close(self):
        subprocess.run([CLUSTER, "stop", self.folder], check=False)

    def statements(self):
        text = subprocess.run([ETWAS, "ship", "--ddl", *self.to], check=True, capture_output=True,
                              text=True).stdout
        lines = [line for line in text.splitlines() if not line.startswith("--")]
        return [statement for statement in "\n".join(lines).split(";") if statement.strip()]

    def ask(self, statement, source=subprocess.DEVNULL, target=subprocess.PIPE):
        done = subprocess.run([CLUSTER, "ask", self.folder, self.name, statement], check=True,
                              stdin=source, stdout=target)
        return done.stdout

    def number(self, statement):
        return float(self.ask(statement))

    def empty(self):
        for table in (TABLE, TABLE + "_buffer", AGAIN):
            self.ask(f"truncate table {table}")

    def expect(self, table, events):
        came = self.number(f"select count() from {table}")
        if came != events:
            raise Failed(f"{came:.0f} of {events} events are in {table}")


def ship(server, trace, state):
    """Returns the seconds, the processor seconds of the shipper, and its peak memory in MB."""
    begin = time.monotonic()
    process = subprocess.Popen([ETWAS, "ship", *server.to, "--at-least-once", "--host", "bench",
                                "--state", state, trace],
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(f"etwas ship ended with {process.returncode}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def insert(server, rows):
    with open(rows, "rb") as source:
        begin, processor = time.monotonic(), processor_seconds()
        server.ask(f"insert into {AGAIN} format Native", source)
        return time.monotonic() - begin, processor_seconds() - processor


def keep_rows(server, rows):
    with open(rows, "wb") as target:
        server.ask(f"select * from {TABLE} format Native", target=target)


def stored(server, events):
    server.ask(f"optimize table {TABLE} final")
    database, table = TABLE.split(".")
    bytes_on_disk = server.number("select sum(bytes_on_disk) from system.parts where active "
                                  f"and database = '{database}' and table = '{table}'")
    emit("shipping/stored", unit="bytes", values=[bytes_on_disk / events], note=f"{events} events")


def speed(server, folder, trace, events, options):
    rows = folder / "rows.native"
    measured = {"ship": [], "client": [], "ship/processor": [], "client/processor": [],
                "memory": []}
    for number in range(1 + options.rounds * (1 if options.quick else 5)):
        server.empty()
        seconds, processor, memory = ship(server, trace, folder / f"state{number}")
        server.expect(TABLE, events)
        if number == 0:  # warms the server up
            keep_rows(server, rows)
            stored(server, events)
            continue
        measured["ship"].append(events / seconds)
        measured["ship/processor"].append(processor / events * 1e9)
        measured["memory"].append(memory)
        server.empty()
        seconds, processor = insert(server, rows)
        server.expect(AGAIN, events)
        measured["client"].append(events / seconds)
        measured["client/processor"].append(processor / events * 1e9)
    units = {"ship": "events/s", "client": "events/s", "memory": "MB"}
    for what, values in measured.items():
        emit(f"shipping/{what}", unit=units.get(what, "ns"), values=values)
    emit("shipping/ratio", unit="x client",
         values=[mine / theirs for mine, theirs in zip(measured["ship"], measured["client"])])


def shipping(folder, options, stack):
    if shutil.which("clickhouse-server") is None or shutil.which("clickhouse-client") is None:
        raise Skipped("clickhouse-server and clickhouse-client are not installed")
    events = QUICK_COUNT if options.quick else COUNT
    trace = folder / "events.etl"
    subprocess.run([EVENTS, trace, str(events)], check=True)
    server = Server(folder)
    stack.callback(server.close)
    server.start()
    speed(server, folder, trace, events, options)


def main():
    options = read_options(__doc__)
    # ends the server and removes the folder, too
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(temporary_folder("shipping"))
        return 0 if attempt("shipping", shipping, folder, options, stack) else 1


if __name__ == "__main__":
    sys.exit(main())
