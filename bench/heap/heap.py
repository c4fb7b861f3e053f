#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Measures what heaptrace costs an allocation, with and without its stack, and the stacks it finds.

A program that only allocates and frees runs by itself, under heaptrace, and under heaptrace
--stacks, at two depths. Debian's redis-server runs under a short load under heaptrace --stacks. The
trace gives the number of frames found. Rows are printed as ../README.md describes.
"""

import collections
import json
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
HEAPTRACE, ETWAS = BUILD / "examples/heaptrace/heaptrace", BUILD / "tools/etwas"
DEPTHS = (8, 16)
WAYS = {"alone": None, "traced": [], "stacks": ["--stacks=128"]}
REDIS_LOAD = "set,get,incr,lpush,lpop,sadd,hset,zadd"


def heaptrace(folder, options):
    """Returns the beginning of a command that traces the program behind it."""
    return [HEAPTRACE, "-c", "tsc", "-o", folder / "heap.etl", "--counts", folder / "counts",
            *options, "--"]


def heap_of(folder):
    """Returns what the trace says of the heap. Fails if a call is missing in it."""
    counts = json.loads((folder / "counts").read_text(encoding="utf-8"))
    if counts["lost"] or counts["recorded"] != counts["attempted"]:
        raise Failed(f"{counts['lost']} of {counts['attempted']} calls are missing")
    result = subprocess.run([ETWAS, "stat", "--json", "--heap", "-n", "0", folder / "heap.etl"],
                            stdout=subprocess.PIPE, check=True)
    return json.loads(result.stdout)


def frames_of(heap):
    return heap["frames"] / (heap["allocations"] - heap["without_stack"])


def whole_share(heap):
    """
    Returns the share of allocations whose stack goes back to where the program or a thread began:
    it ends in an address that lies within no stack.
    """
    ends, within = collections.Counter(), set()
    for stack in heap["stacks"]:
        addresses = [frame["address"] for frame in stack["frames"]]
        if addresses:
            ends[addresses[-1]] += stack["allocations"]
            within.update(addresses[:-1])
    whole = sum(allocations for address, allocations in ends.items() if address not in within)
    return whole / (heap["allocations"] - heap["without_stack"])


def measure_pairs(way, depth, options, folder):
    command = [HERE / "heap_pairs", str(depth), "5" if options.quick else "400"]
    if WAYS[way] is not None:
        command = heaptrace(folder, WAYS[way]) + command
    result = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    note = {}
    if WAYS[way] is not None:
        heap = heap_of(folder)
        if WAYS[way]:
            note["note"] = f"{frames_of(heap):.1f} frames"
    emit(f"heap/{way}/{depth}", unit="ns", values=[float(result.stdout)], **note)


def load_redis(socket, requests, seconds=30):
    """Waits for the server, loads it and ends it."""
    client = ["redis-cli", "-s", socket]
    end = time.monotonic() + seconds
    while subprocess.run([*client, "ping"], capture_output=True, check=False).stdout != b"PONG\n":
        if time.monotonic() > end:
            raise Failed("redis-server does not answer")
        time.sleep(0.05)
    subprocess.run(["redis-benchmark", "-s", socket, "-n", str(requests), "-c", "50", "-P", "16",
                    "-d", "256", "-r", "10000", "-t", REDIS_LOAD, "-q"], stdout=subprocess.DEVNULL,
                   check=True)
    subprocess.run([*client, "shutdown", "nosave"], stdout=subprocess.DEVNULL, check=True)


def measure_redis(options, folder):
    for program in ("redis-server", "redis-cli", "redis-benchmark"):
        if shutil.which(program) is None:
            raise Skipped(f"{program} is not installed")
    socket = folder / "redis.sock"
    command = heaptrace(folder, WAYS["stacks"]) + [
        "redis-server", "--port", "0", "--unixsocket", socket, "--dir", folder, "--save", "",
        "--appendonly", "no"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            load_redis(socket, 500 if options.quick else 50000)
            server.wait(30)
        finally:
            server.kill()
    heap = heap_of(folder)
    emit("heap/redis/frames", unit="frames", values=[frames_of(heap)],
         note=f"{heap['allocations']} stacks")
    emit("heap/redis/whole", unit="share", values=[whole_share(heap)])


def measure_all(options, folder):
    if not HEAPTRACE.exists() or not ETWAS.exists():
        emit("heap", skipped="heaptrace or the command etwas is not built")
        return True
    good = True
    for _ in range(options.rounds):
        for depth in DEPTHS:
            for way in WAYS:
                row = f"heap/{way}/{depth}"
                if options.only in row:
                    good &= attempt(row, measure_pairs, way, depth, options, folder)
    if any(options.only in row for row in ("heap/redis/frames", "heap/redis/whole")):
        good &= attempt("heap/redis", measure_redis, options, folder)
    return good


def main():
    options = read_options(__doc__)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # removes the folder
    with temporary_folder("heap") as folder:
        return 0 if measure_all(options, folder) else 1


if __name__ == "__main__":
    sys.exit(main())
