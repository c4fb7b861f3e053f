#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Measures how fast traces are read: walked, counted by `etwas stat`, and printed by `etwas dump`.

A trace of 88-byte events, of two threads, is in memory. One processor walks it with a callback that
does nothing, compared with read(2) of the file. `etwas stat` counts it on two processors, compared
with two walks at once. Then heaptrace records one program's heap calls. LTTng records them with its
own preload library (malloc, free and so on, with size and address), and with the process and thread
of each event, as heaptrace has them. Both traces are printed by name. Rows are printed as
../README.md describes.
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

import peers

BUILD = HERE.parent.parent
ETWAS, WALK = BUILD / "tools/etwas", HERE / "reading_walk"
EVENTS, QUICK_EVENTS = 12_000_000, 400_000
STRINGS, QUICK_STRINGS = 150_000, 5_000
WORK = "x = [str(i) * 5 for i in range({})]\ny = [a + 'x' for a in x]"


def processors():
    return sorted(os.sched_getaffinity(0))[:2]


def go_through(ways):
    """Runs several at once, each (way, file, processor). Returns [(bytes per nanosecond of
    processor time, begin, end)]."""
    running = [subprocess.Popen([WALK, way, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True,
                                preexec_fn=lambda processor=processor: os.sched_setaffinity(
                                    0, {processor}))
               for way, file, processor in ways]
    time.sleep(0.05)  # until all of them wait for the line
    for process in running:
        process.stdin.write("\n")
        process.stdin.flush()
    told = [process.communicate()[0].split() for process in running]
    if any(process.returncode for process in running):
        raise Failed("the trace cannot be read")
    return [(float(speed), int(begin), int(end)) for speed, begin, end in told]


def walk(file, options):
    pairs = []
    for _ in range(options.rounds * (1 if options.quick else 5)):
        pairs.append([go_through([(way, file, processors()[0])])[0][0] * 1e3
                      for way in ("read", "walk")])
    for way, values in zip(("read", "walk"), zip(*pairs)):
        emit(f"reading/{way}", unit="MB/s", values=values)
    emit("reading/walk/ratio", unit="x read(2)", values=[walked / read for read, walked in pairs])


def stat_once(file):
    """Returns bytes per nanosecond, and the peak memory in MB."""
    begin = time.monotonic_ns()
    process = subprocess.Popen([ETWAS, "stat", file], stdout=subprocess.DEVNULL,
                               preexec_fn=lambda: os.sched_setaffinity(0, processors()))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        raise Failed("etwas stat failed")
    return file.stat().st_size / (time.monotonic_ns() - begin), usage.ru_maxrss / 1024


def stat(file, options):
    if len(processors()) < 2:
        raise Skipped("one processor")
    walks, stats, memory = [], [], []
    for _ in range(options.rounds * (1 if options.quick else 5)):
        both = go_through([("walk", file, processor) for processor in processors()])
        took = max(end for _, _, end in both) - min(begin for _, begin, _ in both)
        walks.append(2e3 * file.stat().st_size / took)
        speed, most = stat_once(file)
        stats.append(speed * 1e3)
        memory.append(most)
    emit("reading/two_walks", unit="MB/s", values=walks)
    emit("reading/stat", unit="MB/s", values=stats)
    emit("reading/stat/ratio", unit="x two walks",
         values=[mine / theirs for mine, theirs in zip(stats, walks)])
    emit("reading/stat/memory", unit="MB", values=memory,
         note=f"{file.stat().st_size / 1e9:.1f} GB")


def record_by_etwas(work, folder):
    trace = folder / "heap.etl"
    subprocess.run([BUILD / "examples/heaptrace/heaptrace", "-o", trace, "--", *work], check=True,
                   env=dict(os.environ, PYTHONMALLOC="malloc"))
    return [ETWAS, "dump", trace]


def record_by_lttng(sessions, work, folder):
    trace = folder / "trace"
    sessions.lttng("create", "etwas_read_method", f"--output={trace}")
    sessions.lttng("enable-channel", "--userspace", "--buffers-uid", "--subbuf-size=1M",
                   "--num-subbuf=64", "--discard", "channel")
    sessions.lttng("enable-event", "--userspace", "--channel=channel", "lttng_ust_libc:*")
    sessions.lttng("add-context", "--userspace", "--channel=channel", "--type=vpid", "--type=vtid")
    sessions.lttng("start")
    subprocess.run(work, check=True, env=dict(sessions.environment, PYTHONMALLOC="malloc",
                                              LD_PRELOAD="liblttng-ust-libc-wrapper.so.1"))
    sessions.lttng("stop")
    return ["babeltrace2", trace]


def events_of(command):
    """Returns the number of events in the text: one per line, except lines that begin with #."""
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         check=True).stdout
    return out.count(b"\n") - out.count(b"\n#") - out.startswith(b"#")


def processor_seconds(command, processor):
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
                   preexec_fn=lambda: os.sched_setaffinity(0, {processor}))
    after = os.times()
    return (after.children_user - before.children_user) + (after.children_system
                                                           - before.children_system)


def text(folder, options, stack):
    if shutil.which("babeltrace2") is None:
        raise Skipped("babeltrace2 is not installed: bench/peers/install.sh installs it")
    work = [sys.executable, "-c", WORK.format(QUICK_STRINGS if options.quick else STRINGS)]
    sessions = peers.Sessions(folder)
    stack.callback(sessions.close)
    sessions.start()
    stack.callback(lambda: sessions.lttng("destroy", "etwas_read_method"))
    commands = {"babeltrace2": record_by_lttng(sessions, work, folder),
                "dump": record_by_etwas(work, folder)}
    events = {who: events_of(command) for who, command in commands.items()}
    rates = {who: [] for who in commands}
    for _ in range(options.rounds * (1 if options.quick else 3)):
        for who, command in commands.items():
            rates[who].append(events[who] / processor_seconds(command, processors()[0]))
    for who, values in rates.items():
        emit(f"reading/{who}", unit="events/s", values=values, note=f"{events[who]} events")
    emit("reading/dump/ratio", unit="x babeltrace2",
         values=[mine / theirs for mine, theirs in zip(rates["dump"], rates["babeltrace2"])])


def main():
    options = read_options(__doc__)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, peers.end)
    good = True
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(temporary_folder("reading"))
        file = folder / "events.etl"
        subprocess.run([WALK, "record", file, str(QUICK_EVENTS if options.quick else EVENTS)],
                       check=True)
        for row, measure in (("reading/walk", walk), ("reading/stat", stat)):
            good = (options.only not in row or attempt(row, measure, file, options)) and good
        file.unlink()
        if options.only in "reading/dump":
            good = attempt("reading/dump", text, folder, options, stack) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
