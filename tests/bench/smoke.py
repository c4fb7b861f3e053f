#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Runs every benchmark for a moment: each row there should be has a value, or a reason to have
none."""

import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CLOCKS = ["tsc", "qpc", "system"]
PAYLOADS = ["0", "16", "64", "256", "4096"]
PROTOCOLS = ["rseq", "shared"]
SOURCES = ["qpc", "system", "tsc", "rdtscp", "lfence_rdtsc", "monotonic", "monotonic_raw",
           "monotonic_coarse", "realtime", "realtime_coarse", "boottime", "tai", "thread_cputime"]


def wanted_rows():
    """Those that every machine can measure, or skip with a reason."""
    for parts in itertools.product(["file", "buffering"], PROTOCOLS, CLOCKS, PAYLOADS):
        yield "/".join(["hot", *parts])
    for parts in itertools.product(CLOCKS, PAYLOADS):
        yield "/".join(["floor", *parts])
    variants = ["parent", "fields", "event", "write", "recorder/64kb/4mb", "recorder/64kb/64mb",
                "recorder/64kb/1gb", "recorder/4kb/4mb", "recorder/4kb/256mb", "file_thread",
                "times", "counted", "crash_safe", "classes", "classes_event", "classes_write",
                "stopped"]
    for variant, protocol in itertools.product(variants, PROTOCOLS):
        yield f"{variant}/{protocol}/tsc/16"
    threads = len(os.sched_getaffinity(0))
    for protocol in PROTOCOLS:
        yield f"constant/{protocol}/16"
        yield f"constant_tracelogging/{protocol}/12"
        yield f"hot/file/{protocol}/tsc/16384"
        for where in ("other", "same", "other_1mb", "buffering"):
            yield f"tails/{protocol}/{where}"
        for crowd in ("pinned/1", f"pinned/{threads}", f"unpinned/{4 * threads}"):
            yield f"scaling/{protocol}/{crowd}"
    for parts in itertools.product(["back_to_back", "single", "cold"], SOURCES):
        yield "/".join(["clocks", *parts])
    yield from ("clocks/back_to_back/nothing", "one_slot/shared/tsc/16", "getrusage", "gate",
                "empty_call", "floor/constant/16", "floor_event/tsc/16")
    yield from ("places/private", "places/memory", "places/memfd", "places/folder",
                "places/folder/syncing")
    yield from ("startup/process/with", "startup/process/without", "startup/event/first",
                "startup/StartTrace/file", "memory/idle/process", "memory/burst/region",
                "size/file", "compress/counting/bytes/compressed", "compress/counting/speed/etwas",
                "compress/random/call/compressed", "compress/flood/lost/plain",
                "compress/paced/lost/compressed", "heap/alone/8", "heap/traced/8", "heap/stacks/16",
                "heap/redis/frames", "kernel/drain/etwas", "kernel/drain/perf", "kernel/build/none",
                "kernel/build/etwas", "kernel/build/perf")
    yield from ("processes/instance/guest", "processes/write/guest", "processes/two",
                "processes/enable/unattached", "processes/looked/24",
                "processes/register/attaching", "processes/has/attaching/descriptors")


def require_laboratory(name, known, tables):
    """The laboratory's figure and the ratio are on the row's line."""
    line = next(line for line in tables.splitlines() if line.split()[:1] == [name])
    if not known or len(line.split()) != 6:
        sys.exit(f"{name} has no figure of the laboratory beside it: {line}")


def require_beside(report, build, folder):
    """The rows of another library are there, and a file that is no library fails the run."""
    other, kept = folder / "other.so", folder / "beside.json"
    shutil.copy(pathlib.Path(build).parent / "runtime" / "libetwas.so", other)
    command = [sys.executable, "-B", report, "--quick", "--quiet", "--build", build, "--beside",
               str(other), "--json", str(kept), "hot", "--rows", "stopped/shared"]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    print(result.stdout)
    rows = json.loads(kept.read_text(encoding="utf-8"))["beside"]["rows"]
    if result.returncode != 0 or [row["row"] for row in rows] != ["stopped/shared/tsc/16"]:
        sys.exit("another library was not measured beside this one")
    other.write_text("no library", encoding="utf-8")
    if subprocess.run(command, capture_output=True, check=False).returncode != 1:
        sys.exit("what ran beside the library was not the library that was named")


def main():
    report, build = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        kept = pathlib.Path(folder) / "rows.json"
        result = subprocess.run(
            [sys.executable, "-B", report, "--quick", "--quiet", "--expect", "--build", build,
             "--json", str(kept)], stdout=subprocess.PIPE, text=True, check=False)
        print(result.stdout)
        if result.returncode != 0:
            sys.exit("the run failed")
        require_beside(report, build, pathlib.Path(folder))
        rows = {row["row"]: row for row in json.loads(kept.read_text(encoding="utf-8"))["rows"]}
    skipped = tuple(name for name, row in rows.items() if "skipped" in row)
    # A row may be a family, such as tails/rseq/other with its percentiles.
    measured = {"/".join(parts[:end])
                for parts in (name.split("/") for name, row in rows.items() if row["values"])
                for end in range(1, len(parts) + 1)}
    for name in wanted_rows():
        if name not in measured and not name.startswith(skipped):
            sys.exit(f"{name} was not measured")
        if name in measured and name not in result.stdout:
            sys.exit(f"{name} is not in the tables")
        if "shared" in name.split("/") and name not in measured and "other" not in name:
            sys.exit(f"{name} was skipped, which needs nothing that could be missing")
    for name in measured:
        kind, _, source = name.partition("/")
        if kind == "clocks" and "/" in source and source != "back_to_back/nothing":
            require_laboratory(name, f"laboratory/{source}" in measured, result.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
