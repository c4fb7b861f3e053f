#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Measures what tracing costs an nginx: without the module, with it, and with crash-safe sessions.

Rounds are short. In each round every kind runs once, in random order, on a server that has just
been started. Other activity of the machine and the memory layout of a process thus affect all kinds
alike. A ratio is the ratio of the medians over all rounds; its 95 % interval follows in
parentheses, by bootstrap over the rounds. The worker has one processor and wrk the other, if there
are two. The load is a file of 1 KB; there is an access log, as in Debian's nginx.conf.

Then perf counts the instructions of a request in user mode, with one connection, if perf is
installed and permitted. Their number hardly depends on other activity of the machine. The output is
the table of README.md.

usage: measure.py [--build FOLDER] [--rounds N] [--seconds S] [--connections N] [--json FILE]
"""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import urllib.request

from server import HERE, Server

TRACED = "etwas on; etwas_folder FOLDER/snapshots; etwas_slow 1s;"
KINDS = {"without": None, "with": TRACED, "crash-safe": TRACED + "etwas_crash_safe on;"}
COLUMNS = ("requests/s", "p50", "p99", "p99.9", "worker's time a request")
DRAWN = 2000
COUNTING_ROUNDS = 3


def processor_ns(process):
    return int(pathlib.Path(f"/proc/{process}/schedstat").read_text(encoding="utf-8").split()[0])


def stolen():
    """Returns the time that the hypervisor took since the boot, and the time of all processors."""
    words = pathlib.Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()[1:9]
    return int(words[7]), sum(map(int, words))


class Bench:
    """Starts servers of each kind, one after the other."""

    def __init__(self, folder, module):
        self.folder = pathlib.Path(folder)
        self.module = module
        self.processors = sorted(os.sched_getaffinity(0))

    @contextlib.contextmanager
    def server(self, kind):
        folder = self.folder / kind
        shutil.rmtree(folder, ignore_errors=True)
        main = "env ETWAS_RUNTIME_DIR;"
        if len(self.processors) > 1:
            main += f"worker_cpu_affinity {1 << self.processors[0]:b};"
        server = Server(folder, self.module if KINDS[kind] else None, KINDS[kind] or "", main=main)
        (server.folder / "www" / "page.html").write_bytes(b"x" * 1024)
        with server:
            # The server answers once the worker has started its session.
            urllib.request.urlopen(f"http://127.0.0.1:{server.port}/page.html").close()
            yield server

    def load(self, server, connections, seconds, *, counting=()):
        """Returns the requests, their rate and percentiles, and what the counting command
        printed."""
        wrk = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(HERE / "latency.lua"),
               f"http://127.0.0.1:{server.port}/page.html"]
        if len(self.processors) > 1:
            wrk = ["taskset", "-c", str(self.processors[1]), *wrk]
        done = subprocess.run([*counting, *wrk], capture_output=True, text=True, check=True)
        line = re.search(
            r"requests (\d+) requests/s (\d+) errors (\d+) p50 (\d+) p99 (\d+) p99.9 (\d+) us",
            done.stdout)
        requests, rate, errors, *percentiles = map(int, line.groups())
        if errors or not requests:
            sys.exit(f"{errors} errors: {done.stdout}")
        return requests, (rate, *percentiles), done.stderr

    def measure(self, kind, connections, seconds):
        with self.server(kind) as server:
            worker = server.worker_ids()[0]
            before = processor_ns(worker)
            requests, row, _ = self.load(server, connections, seconds)
            return (*row, (processor_ns(worker) - before) / 1000 / requests)

    def count_instructions(self, kind):
        """Returns the instructions per request in user mode; None if perf does not count them."""
        with self.server(kind) as server:
            perf = ["perf", "stat", "-x,", "-e", "instructions:u", "-p",
                    str(server.worker_ids()[0]), "--"]
            requests, _, said = self.load(server, 1, 1, counting=perf)
        found = re.search(r"^(\d+),", said, re.MULTILINE)
        return int(found.group(1)) / requests if found else None


def count_all(bench):
    """Returns {kind: instructions per request}; {} if perf is not available."""
    counts = {}
    if shutil.which("perf") is None:
        return counts
    for kind in KINDS:
        try:
            counted = [bench.count_instructions(kind) for _ in range(COUNTING_ROUNDS)]
        except subprocess.CalledProcessError:
            return {}
        if None in counted:
            return {}
        counts[kind] = statistics.median(counted)
    return counts


def ratio_of_medians(pairs):
    return statistics.median(pair[0] for pair in pairs) / statistics.median(pair[1] for pair
                                                                            in pairs)


def interval(pairs):
    """Returns the 95 % interval of the ratio, over rounds drawn from these with replacement."""
    drawn = sorted(ratio_of_medians(random.choices(pairs, k=len(pairs))) for _ in range(DRAWN))
    return drawn[DRAWN * 25 // 1000], drawn[DRAWN * 975 // 1000]


def show_us(value):
    return f"{value / 1000:.2f} ms" if value >= 1000 else f"{value:.0f} µs"


def show_ratio(pairs):
    low, high = interval(pairs)
    return f"{ratio_of_medians(pairs):.3f} × ({low:.3f} to {high:.3f})"


def table(results, instructions):
    lines = [["", *COLUMNS, "instructions"], ["---"] * (len(COLUMNS) + 2)]
    base = results["without"]
    for kind, rows in results.items():
        rate, *times = (statistics.median(column) for column in zip(*rows))
        lines.append([kind, f"{rate:,.0f}", *map(show_us, times),
                      f"{instructions[kind]:,.0f}" if instructions else "?"])
    for kind, rows in results.items():
        if kind != "without":
            ratios = [show_ratio(list(zip(*columns))) for columns in zip(zip(*rows), zip(*base))]
            more = f"+ {instructions[kind] - instructions['without']:,.0f}" if instructions else "?"
            lines.append([f"{kind} / without", *ratios, more])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=str(HERE.parents[1] / "build" / "default"))
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--json", help="a file for what each round measured")
    arguments = parser.parse_args()
    subprocess.run([HERE / "build.sh", arguments.build], check=True)
    module = pathlib.Path(arguments.build).resolve() / "examples/nginx/ngx_http_etwas_module.so"
    results = {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory(prefix="etwas-nginx-") as folder:
        bench = Bench(folder, module)
        before = stolen()
        for _ in range(arguments.rounds):
            for kind in random.sample(list(KINDS), len(KINDS)):
                results[kind].append(bench.measure(kind, arguments.connections, arguments.seconds))
        after = stolen()
        load = os.getloadavg()[0]
        instructions = count_all(bench)
    print(table(results, instructions))
    print(f"{arguments.rounds} rounds of {arguments.seconds} s each, {arguments.connections} "
          "connections; "
          f"{len(bench.processors)} processors, Linux {platform.release()}; the hypervisor took "
          f"{100 * (after[0] - before[0]) / (after[1] - before[1]):.1f} % of them; load {load:.1f}")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps({"rounds": results,
                                                            "instructions": instructions}),
                                                encoding="utf-8")


if __name__ == "__main__":
    main()
