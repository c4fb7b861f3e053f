#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Compares the calls that many processes counted with those read back from their shared trace.

usage: account_many.py STAT PROCESSES COUNTS-FOLDER

STAT is the output of etwas stat --json for the trace. PROCESSES has a line for each process with
events in the trace: their number and its id, as uniq -c writes them. The folder has a file of
heaptrace --counts for each program that a process ran. Prints the comparison. Exits 0 when each
call of each process is in the file or counted as lost, and nothing else is.
"""
import collections
import json
import pathlib
import sys

CALL_CLASS = "a3c81b52-0e9d-4b7e-8d46-2f5c90d7e6b4"


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    stat = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    attempted = collections.Counter()
    refused = programs = 0
    faults = []
    for path in sorted(pathlib.Path(sys.argv[3]).iterdir()):
        text = path.read_text(encoding="utf-8")
        if not text:
            continue  # the launcher created it for a program that executed another one
        counts = json.loads(text)
        programs += 1
        attempted[counts["process"]] += counts["attempted"] - counts["refused"]
        refused += counts["refused"]
        if counts["under_way"] != 0:
            faults.append(f"process {counts['process']}: {counts['under_way']} calls did not end")
    lines = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()
    in_file = {int(process): int(count) for count, process in (line.split() for line in lines)}
    events = sum(one["events"] for one in stat["by_event"] if one["event_class_id"] == CALL_CLASS)
    lost = stat["lost"]
    print(f"{programs} programs in {len(attempted)} processes attempted {attempted.total():,} "
          "events; "
          f"{events:,} are in the file, {lost:,} lost, {refused:,} refused by a session that had "
          "ended")
    if events + lost != attempted.total():
        faults.append("recorded + lost is not attempted")
    for process, count in attempted.items():
        found = in_file.get(process, 0)
        if found > count or (lost == 0 and found != count):
            faults.append(f"process {process}: {count} attempted, {found} in the file")
    if stat["unfinished"] or stat["damages"]:
        faults.append("the trace is unfinished or damaged")
    if events == 0 or programs < 2:
        faults.append("there are not even two programs")
    for fault in faults:
        print("wrong:", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
