#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Measures what it costs to record the kernel's events, with `etwas record` and with `perf record`.

drain: context switches at a steady rate; the recorder's processor time for each of them.
build: a parallel build of a part of this project, recorded with stacks, and not recorded.
Both tools record the same events of the whole machine into rings of the same size. Rows are printed
as ../README.md describes.
"""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import perf_data

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measuring import Failed, Skipped, attempt, emit, read_options, temporary_folder

BUILD = HERE.parent.parent
ETWAS = BUILD / "tools/etwas"
RATE, SECONDS, QUICK_SECONDS = 200000, 5, 0.1
SETTLE_SECONDS = 0.3  # longer than an event stays in a ring that is being drained
LOGGER = "etwas-system"  # the thread that reads the rings

# Reports that it is recorded, waits for a line, does its work, prints the processor time that it
# took, and waits for another line.
SCRIPT = 'echo ready; read word; "$@" || exit; times; echo done; read word; exit 0'

# The arguments of etwas and those of perf, for each part.
REQUESTS = {
    "drain": (["--kernel", "thread,cswitch,no_sysconfig"], ["-c", "1", "-e", "sched:sched_switch"]),
    "build": (["--kernel", "process,thread,image_load,cswitch,profile,no_sysconfig", "--stack",
               "cswitch,profile"],
              ["-c", "1", "-g", "--buildid-mmap", "-e", "sched:sched_switch", "-e",
               "cpu-clock/period=1000000/"]),
}


class Etwas:
    @staticmethod
    def command(part, path):
        return [ETWAS, "record", *REQUESTS[part][0], "-o", path, "--"]

    @staticmethod
    def account(path):
        found = json.loads(subprocess.run([ETWAS, "stat", "--json", path], stdout=subprocess.PIPE,
                                          check=True).stdout)
        return perf_data.Account(found["events"], found["lost"])


class Perf:
    @staticmethod
    def command(part, path):
        if shutil.which("perf") is None:
            raise Skipped("perf is not installed")
        # Rings as large as a system logger's; no search for build ids at the end.
        return ["perf", "record", "-q", "-a", "-B", "-N", "-m", "4M", "-k", "CLOCK_MONOTONIC_RAW",
                *REQUESTS[part][1], "-o", path, "--"]

    @staticmethod
    def account(path):
        return perf_data.account_of(path)


class Nobody:
    @staticmethod
    def command(_part, _path):
        return []

    @staticmethod
    def account(_path):
        return perf_data.Account(0, 0)


WAYS = {"none": Nobody, "etwas": Etwas, "perf": Perf}


def processor_times(process):
    """Returns {name: ns} of the process's threads so far, summed over threads of the same name."""
    times = {}
    for task in pathlib.Path(f"/proc/{process}/task").iterdir():
        name = (task / "comm").read_text(encoding="utf-8").strip()
        times[name] = times.get(name, 0) + int((task / "schedstat").read_text(encoding="utf-8")
                                               .split()[0])
    return times


def stolen_share(before, after):
    """Returns the share of the processors' time that went to other guests of the host, between two
    readings of /proc/stat."""
    spent = [late - early for early, late in zip(before, after)]
    return spent[7] / max(sum(spent[:8]), 1)


def machine_times():
    return [int(word) for word in pathlib.Path("/proc/stat").read_text(encoding="utf-8")
            .split("\n", 1)[0].split()[1:]]


def seconds_of(times):
    """Returns the user's and the system's seconds together, from the format of times: 0m1.50s
    1m0.25s"""
    parts = (word.rstrip("s").split("m") for word in times.split())
    return sum(60 * int(minutes) + float(seconds) for minutes, seconds in parts)


def lines_until(stream, last):
    """Returns the lines before `last`; all lines if it never comes."""
    lines = []
    for line in iter(stream.readline, ""):
        if line == last:
            break
        lines.append(line)
    return lines


class Measured:
    """One run of a program, recorded in one way."""

    def __init__(self, way, part, program, folder):
        self.path = folder / "kernel.trace"
        command = [*WAYS[way].command(part, self.path), "sh", "-c", SCRIPT, "sh", *program]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            if process.stdout.readline() != "ready\n":
                raise Skipped(f"{way} cannot record here: {process.communicate()[1].strip()}")
            machine, before, start = machine_times(), processor_times(process.pid), time.monotonic()
            process.stdin.write("go\n")
            process.stdin.flush()
            *self.output, _, times = lines_until(process.stdout, "done\n") or ["", "0m0s"]
            self.seconds = time.monotonic() - start
            self.stolen = stolen_share(machine, machine_times())
            time.sleep(SETTLE_SECONDS)
            after = processor_times(process.pid)
            said = process.communicate()[1].strip()
        if process.returncode != 0:
            raise Failed(f"{program[0]} or who records it failed: {said}")
        self.work_seconds = seconds_of(times)
        self.processor_ns = {name: ns - before.get(name, 0) for name, ns in after.items()}
        self.account = WAYS[way].account(self.path)
        self.bytes = self.path.stat().st_size if self.path.exists() else 0
        self.path.unlink(missing_ok=True)


def emit_cost(row, measured, drain_ns):
    """Emits the rows that both parts have."""
    emit(f"{row}/processor", unit="share", values=[drain_ns / 1e9 / measured.seconds])
    emit(f"{row}/events", unit="events", values=[measured.account.recorded])
    emit(f"{row}/lost", unit="events", values=[measured.account.lost])
    emit(f"{row}/bytes", unit="bytes", values=[measured.bytes])


def measure_drain(way, options, folder):
    row = f"kernel/drain/{way}"
    seconds = QUICK_SECONDS if options.quick else SECONDS
    measured = Measured(way, "drain", [HERE / "kernel_handover", str(RATE), str(seconds)], folder)
    switches = int(measured.output[0])
    if sum(measured.account) < switches:
        raise Failed(f"of {switches} switches {sum(measured.account)} were recorded or lost")
    whole_ns = sum(measured.processor_ns.values())
    drain_ns = measured.processor_ns.get(LOGGER, whole_ns)
    emit(row, unit="ns", values=[drain_ns / measured.account.recorded],
         note=f"{measured.stolen:.0%} stolen")
    emit(f"{row}/process", unit="ns", values=[whole_ns / measured.account.recorded])
    emit(f"{row}/rate", unit="events/s", values=[measured.account.recorded / measured.seconds])
    emit_cost(row, measured, drain_ns)


def run_quietly(*command):
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def prepared_build(tree):
    """Returns the command of a build, in a new tree in which nothing is built."""
    cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
    source = next(line.split("=", 1)[1] for line in cache
                  if line.startswith("CMAKE_HOME_DIRECTORY:"))
    options = [f"-DETWAS_BUILD_{part}=OFF" for part in ("TESTS", "BENCH", "EXAMPLES")]
    if not tree.exists():
        run_quietly("cmake", "-S", source, "-B", tree, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DCMAKE_C_COMPILER_LAUNCHER=", *options)
    run_quietly("cmake", "--build", tree, "--target", "clean")
    return ["sh", "-c", 'cmake --build "$0" --target etwas_tool >"$0/log"', str(tree)]


def measure_build(way, options, folder):
    row = f"kernel/build/{way}"
    program = ["cc", "-c", "-x", "c", "/dev/null", "-o", "/dev/null"]
    if not options.quick:
        program = prepared_build(folder / "tree")
    measured = Measured(way, "build", program, folder)
    emit(row, unit="s", values=[measured.seconds], note=f"{measured.stolen:.0%} stolen")
    emit(f"{row}/work", unit="s", values=[measured.work_seconds])
    if way != "none":
        drain_ns = measured.processor_ns.get(LOGGER, sum(measured.processor_ns.values()))
        emit_cost(row, measured, drain_ns)


PARTS = {"drain": (measure_drain, ("etwas", "perf")),
         "build": (measure_build, ("none", "etwas", "perf"))}


def measure_all(options, folder):
    """Measures in another order each time, so that other activity of the machine affects all
    alike."""
    good = True
    for _ in range(options.rounds):
        for part, (measure, ways) in PARTS.items():
            for way in random.sample(ways, len(ways)):
                row = f"kernel/{part}/{way}"
                if options.only in row:
                    good &= attempt(row, measure, way, options, folder)
    return good


def main():
    options = read_options(__doc__)
    if not ETWAS.exists():
        emit("kernel", skipped="the command etwas is not built")
        return 0
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # removes the folder
    os.environ["CCACHE_DISABLE"] = "1"
    with temporary_folder("kernel") as folder:
        return 0 if measure_all(options, folder) else 1


if __name__ == "__main__":
    sys.exit(main())
