# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""A private nginx in a folder of its own, for demo.sh, measure.py and the test.

usage: server.py FOLDER MODULE WORKERS LINES      writes FOLDER/nginx.conf with LINES in its http
block, prints its port
"""

import os
import pathlib
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
NGINX = "/usr/sbin/nginx"
PATIENCE_S = 60


def wait_for(what, condition):
    """Returns the first true value of `condition`."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise TimeoutError(what)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """An nginx server. `http` is lines for the http block, in which FOLDER stands for the server's
    folder. Without `module`, the module is not loaded."""

    def __init__(self, folder, module=None, http="", main="", workers=1):
        self.folder = pathlib.Path(folder)
        self.module = module
        self.main = main
        self.workers = workers
        self.port = free_port()
        self.process = None
        (self.folder / "www").mkdir(parents=True, exist_ok=True)
        self.configure(http)

    def configure(self, http):
        main = ["daemon off;", self.main]
        if os.geteuid() == 0:
            main.append("user root;")
        if self.module:
            main.append(f"load_module {self.module};")
        text = (HERE / "nginx.conf.in").read_text(encoding="utf-8")
        for name, value in {"MAIN": "\n".join(main),
                            "HTTP": http.replace("FOLDER", str(self.folder)), "FOLDER": self.folder,
                            "PORT": self.port, "WORKERS": self.workers}.items():
            text = text.replace(f"@{name}@", str(value))
        (self.folder / "nginx.conf").write_text(text, encoding="utf-8")

    def command(self, *options):
        return [NGINX, "-p", str(self.folder), "-c", str(self.folder / "nginx.conf"),
                "-e", str(self.folder / "error.log"), *options]

    def start(self):
        self.process = subprocess.Popen(self.command())
        wait_for("nginx does not answer", self.is_open)
        wait_for("the workers are not there", lambda: len(self.worker_ids()) == self.workers)

    def is_open(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"nginx does not start: {self.log()}")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def log(self):
        return (self.folder / "error.log").read_text(encoding="utf-8")

    def worker_ids(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(word) for word in children.read_text(encoding="utf-8").split()]

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    folder, module, workers, lines = sys.argv[1:]
    # nginx passes to its workers only the environment variables that its configuration names.
    print(Server(folder, module, lines, "env ETWAS_RUNTIME_DIR;", workers).port)


if __name__ == "__main__":
    main()
