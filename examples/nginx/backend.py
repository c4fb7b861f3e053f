#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""One server of an upstream. It answers at once, except for the request after a SIGUSR1, whose
answer it delays.

usage: backend.py SOCKET MILLISECONDS
"""

import http.server
import signal
import socketserver
import sys
import time


class Backend(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    is_slow = False


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.server.is_slow:
            self.server.is_slow = False
            time.sleep(self.server.pause_s)
        answer = f"answer to {self.path}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with Backend(sys.argv[1], Handler) as backend:
        backend.pause_s = int(sys.argv[2]) / 1000
        signal.signal(signal.SIGUSR1, lambda *_: setattr(backend, "is_slow", True))
        backend.serve_forever(0.05)


if __name__ == "__main__":
    main()
