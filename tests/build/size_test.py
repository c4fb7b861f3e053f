#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""How much of a shared library is our own: text, constants and unwind tables of our objects, by the
linker's map. The system logger and the counters of threads, the recovery of what a dead process
left, relogging, what other processes' sessions need, providers by their names and AutoLogger files,
which a program that only logs by itself never touches, have limits of their own. Fails beyond a
limit, naming the rooms and the largest objects."""
import collections
import re
import sys

COUNTED = re.compile(r"\.(text|rodata|data\.rel\.ro|eh_frame)\b")
# A long section name stands on a line of its own.
PIECE = re.compile(r"^ (\.\S+)?\s+0x[0-9a-f]+\s+0x([0-9a-f]+)\s+\S*\.dir/(\S+?)\.o$")
NAME = re.compile(r"^ (\.\S+)$")

ROOMS = {
    "system logger, counters": re.compile(
        r"system/|provider/(counted_classes|system_providers|thread_counters)"),
    "recovery": re.compile(
        r"recover/|buffer/pool_read|file/(prepare_snapshot|signal_snapshot)|"
        r"shared/(?!join|listed_folders)"),
    "relogging": re.compile(r"relog/"),
    "names and files": re.compile(
        r"autologger/|control/provider_names|provider/(name_guid|described_name)"),
    "sharing": re.compile(
        r"registry/|shared/(join|listed_folders)|platform/(own_descriptor|visit)|"
        r"buffer/(pool_join|reap)|"
        r"sharing/|provider/other_providers"),
}


def sizes(map_text):
    """{object, as file/log_open.c: bytes}"""
    found = collections.Counter()
    name = ""
    for line in map_text.split("Linker script and memory map", 1)[1].splitlines():
        piece = PIECE.match(line)
        if piece and COUNTED.match(piece[1] or name):
            found[piece[3]] += int(piece[2], 16)
        alone = NAME.match(line)
        name = alone[1] if alone else ""
    return found


def judge(what, found, limit):
    """Whether it is within the limit; says so."""
    total = sum(found.values())
    rooms = collections.Counter()
    for name, size in found.items():
        rooms[name.split("/")[0]] += size
    print(f"{what}: {total} bytes of {limit}: " + ", ".join(f"{room} {size}"
                                                            for room, size in rooms.most_common()))
    if total > limit:
        for name, size in found.most_common(20):
            print(f"{size:8} {name}")
        print(f"{total - limit} bytes more than {limit}")
    return total <= limit


def main():
    if len(sys.argv) != len(ROOMS) + 3:
        sys.exit(f"usage: size_test.py MAP LIMIT_BYTES, and those of {', '.join(ROOMS)}")
    with open(sys.argv[1], encoding="ascii") as file:
        found = sizes(file.read())
    if len(found) < 50:
        sys.exit(f"{sys.argv[1]} names {len(found)} objects of ours only")
    apart = {what: collections.Counter({name: size for name, size in found.items()
                                        if its.match(name)})
             for what, its in ROOMS.items()}
    good = [judge("engine", found - sum(apart.values(), collections.Counter()), int(sys.argv[2]))]
    good += [judge(what, its, int(limit)) for (what, its), limit
             in zip(apart.items(), sys.argv[3:])]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
