#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Answers the soak program: are the files in a session's folder in order, and exactly what it
recorded?

Reads one JSON object a line; answers "ok", or what is wrong, in one line each. The files are walked
by the independent walker; writers.c says how an event names itself.
"""
import json
import re
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "walker"))
import etl_walk
import modes

TOTALS_TYPE = 2
MASK = (1 << 64) - 1


class Wrong(Exception):
    pass


def event_of(record):
    """(tag, writer, number) of an event; Wrong unless every byte is as it was written."""
    raw, payload = record["raw"], record["payload"]
    kind, writer, tag = struct.unpack_from("<BBH", raw, 4)
    if record["name"] == "INSTANCE64":
        instance, parent = record["instance"]
        number = instance & 0xFFFFFF
        good = instance >> 24 == writer and number % 2 == 1
        parents = (parent, record["parent_guid"].int != 0)
        good = good and parents == ((77, True) if number % 4 == 1 else (0, False))
    else:
        number = struct.unpack_from("<Q", raw, 32)[0]
        good = record["name"] == "FULL64" and number % 2 == 0
    word = struct.pack("<Q", ((tag << 48 | writer << 40 | number) * 0x9E3779B97F4A7C15) & MASK)
    if not good or kind != number & 0xFF or payload != (word * (len(payload) // 8 + 1))[
            :len(payload)]:
        raise Wrong(f"event {number} of writer {writer}, tag {tag} is not as written: "
                    f"{raw[:80].hex()}")
    return tag, writer, number


class File:
    def __init__(self, path):
        walker = etl_walk.walk_bytes(path.read_bytes())
        self.name, self.header, self.walker = path.name, walker.header, walker
        if walker.violations:
            raise Wrong(f"{path.name}: {walker.violations[:5]}")
        mine = [r for r in walker.records if walker.is_own(r)]
        self.records = [r for r in walker.records
                        if walker.is_event(r)]
        self.events = {}
        for record in self.records:
            event = event_of(record)
            if event in self.events:
                raise Wrong(f"{path.name}: {event} is there twice")
            self.events[event] = record
        self.set = re.sub(r" *\d+\.etl", ".etl", path.name)
        totals = [r for r in mine if r["type"] == TOTALS_TYPE]
        if len(totals) != 1:
            raise Wrong(f"{path.name}: {len(totals)} records of totals")
        (self.version, self.part, self.overwritten, _, self.lost, _, self.attempted, self.ends,
         _) = struct.unpack("<IIQQQQQII", totals[0]["payload"])


def check_times(question, file):
    """Processor times are 0 where nobody asked for them; a writer's never decrease."""
    before = {}
    for (tag, writer, number), record in sorted(file.events.items()):
        times = struct.unpack_from("<Q" if question["private"] else "<II", record["raw"], 40)
        if not question["times"] and any(times):
            raise Wrong(f"{file.name}: processor times {times} that nobody asked for")
        last = before.get((tag, writer), times)
        if any(now < then for now, then in zip(times, last)):
            raise Wrong(f"{file.name}: writer {writer}'s times go back at {number}: {last}, "
                        f"{times}")
        before[tag, writer] = times


def check_file(question, file):
    clock = question["clock"] or 1
    if file.header["clock"] != clock and not (clock == 3 and file.header["clock"] == 2):
        raise Wrong(f"{file.name}: clock {file.header['clock']}")
    if file.header["end"] == 0:
        raise Wrong(f"{file.name}: EndTime is 0")
    if file.header["lost"] != file.lost:
        raise Wrong(f"{file.name}: the header says {file.header['lost']} events lost, the totals "
                    f"{file.lost}")
    if question["one_stream"] and any(r["cpu"] != 0 for r in file.records):
        raise Wrong(f"{file.name}: more than one stream")
    for tag in {event[0] for event in file.events} - set(map(int, question["tags"])):
        raise Wrong(f"{file.name}: an event of another session, tag {tag}")
    check_times(question, file)


def check_log(question, paths):
    """The files of a session with files: together they hold what it recorded, each event once."""
    suffix, events, files = f"_{question['process']}", {}, []
    for path in paths:
        if path.name.endswith(suffix) != bool(question["private"]):
            raise Wrong(f"{path.name}: a private session's name ends with the process id, no other "
                        "does")
        files.append(File(path))
        check_file(question, files[-1])
        for event in files[-1].events:
            if event in events:
                raise Wrong(f"{event} is in {events[event]} and in {path.name}")
            events[event] = path.name
    found = {tag: 0 for tag in question["tags"]}
    for tag, _, _ in events:
        found[str(tag)] += 1
    if found != question["tags"]:
        raise Wrong(f"recorded {question['tags']}, in {[f.name for f in files]} are {found}")
    for field in ("lost", "overwritten"):
        total = sum(getattr(f, field) for f in files)
        if total != question[field]:
            raise Wrong(f"{field}: {question[field]} by the session, {total} by its files")
    attempted = sum(found.values()) + question["lost"] + question["overwritten"]
    if sum(f.attempted for f in files) != attempted:
        raise Wrong(f"attempted: {attempted} events, "
                    f"{sum(f.attempted for f in files)} by the files")
    # A circular file's were written more often, and an appended one's not all by this session.
    buffers = sum(len(file.walker.buffers) for file in files)
    if question["kind"] not in ("circular", "append") and buffers != question["buffers"]:
        raise Wrong(f"{question['buffers']} buffers written, {buffers} in the files")
    for name in {file.set for file in files} if question["parts"] else ():
        parts = sorted((f for f in files if f.set == name), key=lambda f: f.part)
        wrong = modes.check_set([f.walker for f in parts])
        if wrong:
            raise Wrong(f"{name}: {wrong}")
    for file in files:
        part = int(re.search(r"(\d+)\.etl", file.name)[1]) if question["parts"] else 0
        if file.part != part:
            raise Wrong(f"{file.name}: its totals say part {file.part}")


def check_snapshots(question, paths):
    for path in paths:
        file = File(path)
        check_file(question, file)
        if path.name.startswith("final"):
            recorded = sum(question["tags"].values())
            if len(file.events) != recorded:
                raise Wrong(f"{path.name}: {len(file.events)} events, {recorded} are recorded")


def check(question):
    paths = sorted(Path(question["folder"]).iterdir())
    if question["filtered"]:
        if paths:
            raise Wrong(f"a session that is filtered out left {[p.name for p in paths]}")
    elif question["kind"] == "buffering":
        check_snapshots(question, paths)
        if question["final"] != any(p.name.startswith("final") for p in paths):
            raise Wrong("the last snapshot is missing")
    elif not paths:
        raise Wrong("no file")
    else:
        check_log(question, paths)


def main():
    for line in sys.stdin:
        try:
            check(json.loads(line))
            answer = "ok"
        except Wrong as wrong:
            answer = str(wrong)
        except Exception as error:  # whatever the files do to the walker is a fault of theirs
            answer = f"{type(error).__name__}: {error}"
        print(answer.replace("\n", " ")[:3000], flush=True)


if __name__ == "__main__":
    main()
