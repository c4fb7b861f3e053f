# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The rows of a block in ClickHouse's Native format, and a made-up server that keeps them as a real
one does."""

import hashlib
import re
import struct

import ship_server

NUMBERS = {"UInt8": "B", "UInt16": "H", "UInt32": "I", "UInt64": "Q", "Int64": "q", "Float64": "d",
           "Date": "H"}


class Block:
    """One that is read from its beginning on."""

    def __init__(self, data):
        self.data, self.at = data, 0
        columns, self.rows = self.varint(), self.varint()
        self.columns = {}
        for _ in range(columns):
            name, kind = self.string().decode(), self.string().decode()
            self.columns[name] = self.column(kind, self.rows)
        assert self.at == len(data), "something is behind the block"

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def string(self):
        size = self.varint()
        self.at += size
        return bytes(self.data[self.at - size:self.at])

    def column(self, kind, rows):
        if kind in NUMBERS:
            layout = f"<{rows}{NUMBERS[kind]}"
            self.at += struct.calcsize(layout)
            return struct.unpack_from(layout, self.data, self.at - struct.calcsize(layout))
        if kind == "String":
            return [self.string() for _ in range(rows)]
        if kind == "UUID":
            begin, self.at = self.at, self.at + 16 * rows
            return [self.data[at:at + 16] for at in range(begin, self.at, 16)]
        inner = re.fullmatch(r"Array\((\w+)\)", kind)[1]
        ends = self.column("UInt64", rows)
        values = self.column(inner, ends[-1] if rows else 0)
        return [values[begin:end] for begin, end in zip((0, *ends), ends)]


class Store(ship_server.Server):
    """Keeps blocks, those that it has already not again, and says what it has of a file."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.hashes = set()
        self.doubles = 0
        self.events, self.buffers = [], []  # rows, as dictionaries
        self.ways = [self.keep]
        self.late = []  # rows of an insert that runs until it has been asked for so often:
        self.runs = 0
        self.lies = {}  # what it says of a file instead, by the number of columns

    def store(self, request):
        with self.lock:
            digest = hashlib.sha256(request.target.encode() + request.body).digest()
            if digest in self.hashes:
                self.doubles += 1
            else:
                self.hashes.add(digest)
                block = Block(request.body)
                table = re.search(r"(`\w+`)\s*\(", request.parameters["query"])[1]
                rows = self.buffers if table.endswith("_buffer`") else self.events
                rows += (dict(zip(block.columns, row), table=table)
                         for row in zip(*block.columns.values()))

    def keep(self, connection, request):
        self.store(request)
        return ship_server.good(connection, request)

    def of(self, rows, **wanted):
        return [row for row in rows if all(row[name] == value for name, value in wanted.items())]

    def running(self):
        """How many inserts run; the last one that is counted ends."""
        with self.lock:
            counted = self.runs
            self.runs = max(0, counted - 1)
            if self.runs == 0:
                self.events += self.late
                self.late = []
            return [[str(min(counted, 1))]]

    def rows(self, sql):
        if "system.processes" in sql:
            return self.running()
        file = re.search(r"(`\w+`) where session_id = (\d+) and part = (\d+)", sql)
        if not file:
            return super().rows(sql)
        wanted = {"table": file[1], "session_id": int(file[2]), "part": int(file[3])}
        with self.lock:
            if "countIf(state = 0)" in sql:
                rows = self.of(self.buffers, **wanted)
                numbers = [row["buffer"] for row in rows if row["state"] == 0]
                ended, _, gone = (int(time)
                                  for time in re.findall(r"last_unix_time !?= toInt64\((-?\d+)\)",
                                                         sql))
                ends = [row["last_time"] == ended for row in rows if row["state"] in (1, 3)]
                gone = [row["last_time"] == gone for row in rows if row["state"] == 2]
                answer = [len(numbers), max(numbers, default=0), ends.count(True),
                          ends.count(False), len(gone), gone.count(True)]
            elif "limit 1" in sql:
                last = max(self.of(self.events, **wanted),
                           key=lambda row: (row["buffer"], row["position"]))
                answer = [last[name] for name in ("buffer", "position", "time", "time_error")]
            else:
                rows = self.of(self.events, **wanted)
                last = int(re.search(r"buffer > (\d+)", sql)[1])
                answer = [len(rows),
                          len({(row["buffer"], row["position"]) for row in rows
                               if row["buffer"] > last})]
        return [[str(number) for number in self.lies.get(len(answer), answer)]]
