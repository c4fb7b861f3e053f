# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Runs an example in a folder of its own and checks what it printed and wrote.

usage: example_test.py EXAMPLE PROGRAM FOLDER_OF_WALKER
"""

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections import Counter

WALKER = ""


def require(kept, text):
    if not kept:
        sys.exit(f"FAILED: {text}")


def walk(path):
    """The records of a file, as lists of fields, and the walker's report; the file keeps every
    rule."""
    result = subprocess.run([sys.executable, "-B", WALKER, "--payloads", path],
                            stdout=subprocess.PIPE, check=False)
    *lines, report = result.stdout.decode().splitlines()
    report = json.loads(report)
    require(result.returncode == 0, f"{path}: {report['violations']}")
    require(report["events_lost"] == 0, f"{path}: events lost")
    return [line.split("\t") for line in lines], report


def check_quickstart(out, folder):
    path = os.path.join(folder, "quickstart.etl")
    records, report = walk(path)
    require(report["described"] == 1, "the class is described")
    require(out == f"{path}: 1000 events, 0 lost\n", out)
    require(len({r[5] for r in records}) == 1000, "each order is an instance of its own")
    payloads = [i.to_bytes(4, "little").hex() + b"tea\0".hex() for i in range(1000)]
    require(sorted(r[8] for r in records) == sorted(payloads), "every price is there, and the tea")


def check_tracelogging(out, folder):
    path = os.path.join(folder, "tracelogging.etl")
    records, _ = walk(path)
    require(out == f"{path}: 3000 events, 0 lost\n", out)
    # Behind the headers each record has the provider's name and its own, and the names of its
    # fields.
    tails = [bytes.fromhex(r[8]) for r in records]
    require(all(b"\0Etwas.Examples.Shop\0" in tail for tail in tails), "the provider's name")
    names = Counter(re.search(rb"\0\0([A-Z][a-z]+)\0", tail)[1].decode() for tail in tails)
    require(names == {"Order": 2000, "Taken": 1000}, str(names))
    require(sum(b"\0number\0\x08Price\0\x0cCustomer\0\x98\2Name\0\x82\x23IsNew\0\x84\3" in tail
                for tail in tails) == 1000, "the fields of an order")


def check_spans(_, folder):
    records, _ = walk(os.path.join(folder, "spans.etl"))
    require(len(records) == 8000, "each order and each query has a START and a STOP")


def check_transactions(out, folder):
    records, report = walk(os.path.join(folder, "transactions.etl"))
    require(report["described"] == 4, "both classes are described")
    tree = [re.sub(r", instance \d+$", "", line) for line in out.splitlines()]
    require(tree == ["request", "    parse", "    query", "        row", "        row",
                     "        row", "    reply", "14 events of the one, 2800 in all"], out)
    # Seven instances a request, each with a start and an end.
    events = Counter((r[4], r[5], r[6]) for r in records)
    require(len(events) == 1400 and set(events.values()) == {2}, "every start has its end")
    children = Counter(parent for _, _, parent in events)
    require(Counter(children.values()) == {200: 1, 3: 400}, "parents have their children")


def check_flight_recorder(out, folder):
    for number, line in zip((1, 2), out.splitlines()):
        path = os.path.join(folder, f"flight_recorder.etl.{number}.etl")
        records, report = walk(path)
        require(report["described"] == 1, "the class is described")
        jobs = [int.from_bytes(bytes.fromhex(r[8]), "little") for r in records]
        require(line.startswith(f"{path}: {len(jobs)} events, jobs {min(jobs)} to {max(jobs)}, "),
                line)
        require(len(set(jobs)) == len(jobs), "no job twice")
    require(len(out.splitlines()) == 2, out)


def check_crash_recorder(out, folder):
    path = os.path.join(folder, "crash_recorder.etl")
    records, report = walk(path)
    require(report["described"] == 1, "the class is described")
    jobs = sorted(int.from_bytes(bytes.fromhex(r[8]), "little") for r in records)
    require(jobs == list(range(6001 - len(jobs), 6001)), "the last jobs, the faulty one too")
    require(out == f"killed by signal 11; {path}: {len(jobs)} events, the last one of job 6000\n",
            out)


CLOCKS = {"qpc": "QPC", "system": "system time", "tsc": "TSC"}  # by name of file, in order
RECORDED = {1: "QPC", 2: "system time", 3: "TSC"}
JOBS = 20000


def order(stamps):
    """How many starts have the stamp of the one before, and how many an older one."""
    pairs = [(stamps[2 * job - 2], stamps[2 * job]) for job in range(1, JOBS)]
    return sum(a == b for a, b in pairs), sum(a > b for a, b in pairs)


def check_compare_clocks(out, folder):
    """Also the figures that follow from the files alone, and exactly: TSC needs a calibration."""
    stamps = {}
    for file, name in CLOCKS.items():
        records, report = walk(os.path.join(folder, f"compare_clocks.etl.{file}.etl"))
        stamps[file] = {int.from_bytes(bytes.fromhex(r[8]), "little"): int(r[1]) for r in records}
        require(report["described"] == 2, f"{file}: the class is described")
        require(len(records) == 2 * JOBS and sorted(stamps[file]) == list(range(2 * JOBS)),
                f"{file}: every event, once")
        require(re.search(rf"^{name} +{RECORDED[report['clock']]} ", out, re.MULTILINE),
                f"{file}: the clock of the file is {report['clock']}")
        require("%-14s%18u%18u\n" % (name, *order(stamps[file])) in out, f"{file}: the order")
    apart = sorted(abs(100 * (stamps["system"][2 * job + 1] - stamps["system"][2 * job]) -
                       stamps["qpc"][2 * job + 1] + stamps["qpc"][2 * job]) for job in range(JOBS))
    require("%-24s%9.0f ns%9.0f ns%9.0f ns\n" % ("QPC, system time", apart[JOBS // 2],
                                                 apart[JOBS * 99 // 100], apart[-1]) in out,
            "durations by QPC and by system time")


def without_counter(folder, *command):
    """Runs it where the kernel has given the cycle counter up; None where that cannot be
    feigned."""
    sources = "/sys/devices/system/clocksource/clocksource0/available_clocksource"
    feigned = os.path.join(folder, "available_clocksource")
    with open(feigned, "w", encoding="utf-8") as file:
        file.write("hpet acpi_pm\n")
    feign = ["unshare", "--mount", "--map-root-user", "sh", "-c",
             f"mount --bind {feigned} {sources} && exec \"$@\"", "sh"]
    try:
        if platform.machine() != "x86_64" or subprocess.run(
                feign + ["true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            return None
    except FileNotFoundError:
        return None
    return subprocess.run(feign + list(command), stdout=subprocess.PIPE, check=False)


def also_compare_clocks(program):
    with tempfile.TemporaryDirectory() as folder:
        result = without_counter(folder, program, os.path.join(folder, "compare_clocks.etl"))
        if result is None:
            print("the fallback to system time was not tried: no private mounts")
            return
        out = result.stdout.decode()
        print(out, end="")
        require(result.returncode == 0, f"without a counter: returned {result.returncode}")
        require("gets system time" in out and "does not have it among its clock sources" in out,
                "the fallback is told, and why")
        require(re.search("^TSC +system time ", out, re.MULTILINE), "and seen in the file")
        check_compare_clocks(out, folder)


def main():
    global WALKER
    example, program, walker_folder = sys.argv[1:]
    WALKER = os.path.join(walker_folder, "etl_walk.py")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"{example}.etl")
        result = subprocess.run([program, path], stdout=subprocess.PIPE, check=False)
        out = result.stdout.decode()
        print(out, end="")
        require(result.returncode == 0, f"{example} returned {result.returncode}")
        globals()[f"check_{example}"](out, folder)
        # In the current folder where no file is named; a failure is an exit code.
        result = subprocess.run([program], stdout=subprocess.PIPE, cwd=folder, check=False)
        require(result.returncode == 0, f"{example} without a file returned {result.returncode}")
        missing = os.path.join(folder, "missing", "x")
        result = subprocess.run([program, missing], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                check=False)
        require(result.returncode == 1, f"{example} with a bad file returned {result.returncode}")
        require(b"missing/x" in result.stderr, result.stderr)
    if example == "compare_clocks":
        also_compare_clocks(program)


if __name__ == "__main__":
    main()
