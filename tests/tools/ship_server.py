# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""A made-up ClickHouse server that misbehaves as it is told: what it answers to inserts is a list
of ways to answer.

    with Server(work) as server:
        server.ways = [status(500, 242), cut_within(0.5), good]
        ... server.url, server.inserts

A way is a function of the connection and the request that was read, which returns whether the
connection goes on. The last way stays. Questions are answered as a server that has the tables
would.
"""

import re
import socket
import ssl
import struct
import subprocess
import threading
import time
import urllib.parse

GOOD_HEAD = b"X-ClickHouse-Server-Display-Name: fake\r\n"
REPLICATED = (
    "ReplicatedMergeTree('/etwas/1/event', '1') PARTITION BY day ORDER BY session SETTINGS "
    "index_granularity = 8192, replicated_deduplication_window = 10000, "
    "replicated_deduplication_window_seconds = 604800")


class Gone(Exception):
    """The other end, or this one, has closed the connection."""


class Request:
    """What was asked; of an insert as far as it came."""

    def __init__(self, port, target, head):
        self.port = port
        self.time = time.monotonic()
        self.target = target
        self.parameters = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(target).query))
        self.head = head
        self.body = b""
        self.length = int(head.get("content-length", "-1"))


def answer(connection, code, body=b"", head=GOOD_HEAD):
    words = {200: b"OK", 401: b"Unauthorized", 404: b"Not Found", 500: b"Internal Server Error"}
    connection.sendall(b"HTTP/1.1 %d %s\r\n%sContent-Length: %d\r\n\r\n%s"
                       % (code, words.get(code, b"Word"), head, len(body), body))
    return True


def error(number, text="something"):
    return (f"Code: {number}, e.displayText() = DB::Exception: {text}, "
            "e.what() = DB::Exception\n").encode()


def good(connection, _):
    return answer(connection, 200)


def status(code, number=0, text="something", head=GOOD_HEAD, body=None):
    """As 18.16 tells an error, or, with a body, as it says."""
    said = body if body is not None else error(number, text) if number else b""
    return lambda connection, _: answer(connection, code, said, head)


def close(_connection, _request):
    return False


def reset(connection, _):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return False


def cut_within(part):
    """It reads so much of the body, and is gone."""
    def way(connection, request):
        return reset(connection, request)
    way.reads = part
    return way


def say(*pieces, pause=0.0):
    """These bytes, as they are, and is gone."""
    def way(connection, _):
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(pause)
        return False
    return way


def endless(piece, begin=b""):
    def way(connection, _):
        connection.sendall(begin)
        while True:
            connection.sendall(piece)
    return way


def silent(connection, _):
    """Until the other end is gone."""
    while connection.recv(65536):
        pass
    return False


def continues(connection, request):
    connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 3)
    return good(connection, request)


def closes(connection, request):
    """Keeps the connection, it says, and closes it."""
    answer(connection, 200, head=GOOD_HEAD
           + b"Connection: Keep-Alive\r\nKeep-Alive: timeout=10\r\n")
    return close(connection, request)


class Server:
    def __init__(self, work, version="18.16.1", engine=REPLICATED, tables=("", "_buffer"),
                 columns="columns", certificate=None):
        listed = subprocess.run([work, columns], check=True, stdout=subprocess.PIPE, text=True,
                                timeout=100).stdout
        self.columns = [line.split("\t") for line in listed.splitlines()]
        self.version, self.engine, self.tables = version, engine, tables
        self.readonly = "0"
        self.login = None     # user and password that are the right ones
        self.hides = None      # what questions may not have in them
        self.questions = None  # a way to answer these, too
        self.ways = [good]
        self.inserts, self.asked = [], []
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.port}"
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*certificate)
        self.ends = False
        self.thread = threading.Thread(target=self.accept, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends = True
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except OSError:
            pass
        self.thread.join()

    def accept(self):
        while not self.ends:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()
        self.listener.close()

    def serve(self, connection):
        try:
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            while self.serve_one(connection):
                pass
        except (OSError, Gone):
            pass
        finally:
            connection.close()

    def serve_one(self, connection):
        request = self.read_head(connection)
        if "query" in request.parameters:
            with self.lock:
                way = self.ways.pop(0) if len(self.ways) > 1 else self.ways[0]
                self.inserts.append(request)
            self.read_body(connection, request, getattr(way, "reads", 1.0))
            return way(connection, request)
        self.read_body(connection, request, 1.0)
        self.asked.append(request)
        if self.questions:
            return self.questions(connection, request)
        return self.reply(connection, request)

    @staticmethod
    def read_head(connection):
        text = b""
        while b"\r\n\r\n" not in text:
            more = connection.recv(1)
            if not more:
                raise Gone
            text += more
        first, *lines = text.decode("latin-1").rstrip("\r\n").split("\r\n")
        head = {name.lower(): value.strip() for name, value in (line.split(":", 1)
                                                                for line in lines)}
        return Request(connection.getsockname()[1], first.split(" ")[1], head)

    @staticmethod
    def read_body(connection, request, part):
        wanted = int(request.length * part)
        while len(request.body) < wanted:
            more = connection.recv(min(65536, wanted - len(request.body)))
            if not more:
                raise Gone
            request.body += more

    def reply(self, connection, request):
        given = request.head.get("x-clickhouse-user",
                                 "default"), request.head.get("x-clickhouse-key", "")
        if self.login and given != self.login:
            return answer(connection, 401, error(193, f"Wrong password for user {given[0]}"))
        if self.hides and self.hides in request.body.decode():
            return answer(connection, 403, error(497, "Not enough privileges"))
        return answer(connection, 200, "".join("\t".join(row) + "\n"
                                               for row in self.rows(request.body.decode()))
                      .encode())

    def rows(self, sql):
        """The answer to what is asked before anything is sent."""
        name = re.search(r"in \('(\w+)', '\w+_buffer'\)", sql)
        if "version()" in sql:
            return [[self.version]]
        if "system.columns" in sql:
            return [[name[1] + table, column, kind] for table, column, kind in self.columns
                    if table in self.tables]
        if "system.tables" in sql:
            return [[name[1] + table, self.engine.replace("'", "\\'")] for table in self.tables]
        if "readonly" in sql:
            return [[self.readonly]]
        if "merge_tree_settings" in sql:
            return []
        return [["1"]]
