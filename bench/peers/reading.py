#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Measures how fast recorded events become text: `etwas dump` beside babeltrace2.

One program's heap calls are recorded by heaptrace, and by LTTng with its own preload library (malloc,
free and so on with size and address) and the process and thread of each event, as heaptrace has them.
Then both are read, one after the other in each round, on one processor, to /dev/null. Rows are
printed as bench/README.md describes; `reading/ratio` is the rate of etwas by that of babeltrace2.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

import peers

WORK = "x = [str(i) * 5 for i in range({})]\ny = [a + 'x' for a in x]"
HERE = pathlib.Path(__file__).resolve().parent


def record_by_etwas(build, work, folder):
    trace = folder / "heap.etl"
    subprocess.run([build / "examples/heaptrace/heaptrace", "-o", trace, "--", *work], check=True,
                   env=dict(os.environ, PYTHONMALLOC="malloc"))
    return [build / "tools/etwas", "dump", trace]


def record_by_lttng(sessions, work, folder):
    trace = folder / "trace"
    sessions.lttng("create", "etwas_reading", f"--output={trace}")
    sessions.lttng("enable-channel", "--userspace", "--buffers-uid", "--subbuf-size=1M", "--num-subbuf=64",
                   "--discard", "channel")
    sessions.lttng("enable-event", "--userspace", "--channel=channel", "lttng_ust_libc:*")
    sessions.lttng("add-context", "--userspace", "--channel=channel", "--type=vpid", "--type=vtid")
    sessions.lttng("start")
    subprocess.run(work, check=True, env=dict(sessions.environment, PYTHONMALLOC="malloc",
                                              LD_PRELOAD="liblttng-ust-libc-wrapper.so.1"))
    sessions.lttng("stop")
    return ["babeltrace2", trace]


def events_of(command):
    """How many events the text has: a line each, but for those that begin with #."""
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    return out.count(b"\n") - out.count(b"\n#") - out.startswith(b"#")


def processor_seconds(command, processor):
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
                   preexec_fn=lambda: os.sched_setaffinity(0, {processor}))
    after = os.times()
    return (after.children_user - before.children_user) + (after.children_system - before.children_system)


def measure(options, folder, stack):
    if shutil.which("babeltrace2") is None:
        raise peers.Skipped("babeltrace2 is not installed: bench/peers/install.sh installs it")
    work = [sys.executable, "-c", WORK.format(options.strings)]
    sessions = peers.Sessions(folder)
    stack.callback(sessions.close)
    sessions.start()
    stack.callback(lambda: sessions.lttng("destroy", "etwas_reading"))
    commands = {"babeltrace2": record_by_lttng(sessions, work, folder),
                "etwas": record_by_etwas(options.build, work, folder)}
    events = {who: events_of(command) for who, command in commands.items()}
    rates = {who: [] for who in commands}
    processor = min(os.sched_getaffinity(0))
    for _ in range(options.rounds):
        for who, command in commands.items():
            rates[who].append(events[who] / processor_seconds(command, processor))
    for who, values in rates.items():
        peers.emit(f"reading/{who}", unit="events/s", values=values, note=f"{events[who]} events")
    peers.emit("reading/ratio", unit="times",
               values=[statistics.median(rates["etwas"]) / statistics.median(rates["babeltrace2"])])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent.parent / "build/release",
                        help="the build folder with the programs")
    parser.add_argument("--rounds", type=int, default=5, help="how often to read each trace")
    parser.add_argument("--strings", type=int, default=150_000, help="how many strings the program makes")
    options = parser.parse_args()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, peers.end)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="etwas_reading.", dir="/dev/shm"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        try:
            measure(options, folder, stack)
        except peers.Skipped as reason:
            peers.emit("reading", skipped=str(reason))
        except (peers.Failed, OSError, subprocess.SubprocessError) as reason:
            peers.emit("reading", failed=str(reason))
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
