#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Compares the calls that heaptrace counted in the program with those read back from its trace.

usage: account.py COUNTS STAT

COUNTS is the file of heaptrace --counts, STAT the output of etwas stat --json for the trace. Prints
the comparison. Exits 0 when recorded + lost = attempted, each recorded call is in the file, and no
function has more events than calls.
"""
import json
import sys

CALL_CLASS = "a3c81b52-0e9d-4b7e-8d46-2f5c90d7e6b4"


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        counts = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        stat = json.load(file)
    in_file = {c["opcode"]: c["events"] for c in stat["by_event"] if c["event_class_id"]
               == CALL_CLASS}
    events = sum(in_file.values())
    faults = []

    print(f"{'':15}{'attempted':>12}{'in the file':>14}")
    for name, function in counts["functions"].items():
        found = in_file.pop(function["type"], 0)
        print(f"{name:15}{function['attempted']:12}{found:14}")
        if found > function["attempted"] or (counts["lost"] == 0
                                             and found != function["attempted"]):
            faults.append(f"{name}: {function['attempted']} calls, {found} events")
    print(f"{'all':15}{counts['attempted']:12}{events:14}")
    print(f"recorded {counts['recorded']} + lost {counts['lost']} = "
          f"attempted {counts['attempted']}")
    for one in stat["by_cpu"]:
        print(f"processor {one['cpu']}: {one['events']} events")

    if counts["recorded"] + counts["lost"] != counts["attempted"] or counts["under_way"] != 0:
        faults.append("recorded + lost is not attempted")
    if events != counts["recorded"]:
        faults.append(f"recorded {counts['recorded']}, but {events} events in the file")
    if stat["lost"] != counts["lost_by_session"]:
        faults.append(f"the file says {stat['lost']} lost, not {counts['lost_by_session']}")
    if in_file:
        faults.append(f"unknown types {sorted(in_file)}")
    if stat["unfinished"] or stat["damages"]:
        faults.append("the trace is unfinished or damaged")
    if events == 0:
        faults.append("no events at all")
    for fault in faults:
        print("wrong:", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
