# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Files of every version of our own format, from the first, say what they always said: see
golden/README.md.

usage: golden_test.py PATH_OF_ETWAS TEST_CLASS
       golden_test.py PATH_OF_ETWAS --write     what they say now is what they shall say
"""

import json
import os
import re
import struct
import sys
import tarfile
import tempfile

from tool_case import DAMAGED, FAILED, FINE, ToolTest, main

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
# What stat says of a file and dump does not.
STAT = ("damaged", "lost", "buffers_lost", "overwritten", "buffers_overwritten",
        "unfinished", "part", "session", "log_file", "modes", "buffer_bytes", "buffers",
        "buffers_written", "clock", "calibrated", "machine_cpus", "start_time", "end_time",
        "events")
CLOCKS = ("requested", "clock_snapshots", "clock_snapshots_unusable", "steps")
NAMES = {"61e4c0b7": "Number", "8a40e7d1": "Request", "d29b6c55": "Step", "5b7e21c4": "Modern",
         "2c7d31e6": "Order", "00000000": None}


def generations():
    return sorted((name[:-len(".tar.xz")] for name in os.listdir(FOLDER)
                   if name.endswith(".tar.xz")), key=int)


def unpack(folder):
    """Yields generation, name and path of each file."""
    for generation in generations():
        with tarfile.open(os.path.join(FOLDER, f"{generation}.tar.xz")) as archive:
            for member in archive:
                name = member.name.removesuffix(".etl")
                path = os.path.join(folder, f"{generation}.{name}.etl")
                with open(path, "wb") as file:
                    file.write(archive.extractfile(member).read())
                yield generation, name, path


def logged(event):
    """What it is, of what, and the number or text that it carries."""
    name, kind = NAMES[event["event_class_id"][:8]], event.get("opcode")
    if "instance" in event:
        text = event["fields"]["name"] if "fields" in event else bytes.fromhex(event["payload"])[
            :-1].decode()
        return name, kind, NAMES[event.get("parent_class_id", "00000000")[:8]], text
    if "message_id" in event and "message" in event:
        return name, "message", event["message"]
    if "fields" in event:
        return name, kind, event["fields"].get("number")
    data = bytes.fromhex(event["payload"])
    number = struct.unpack_from("<I", data)[0] if data else None
    if "message_id" in event:
        return name, "message", f"number {number} of {data[4:-1].decode()}"
    return name, kind, number


def all_kinds(generation):
    """What log_all of record.c logs."""
    events = [("Number", 10, 1), ("Request", 1, None, "golden"), ("Step", 1, "Request", "golden"),
              ("Step", 2, "Request", "golden"), ("Request", 2, None, "golden")]
    if generation >= 2:
        events += [("Number", "message", "number 2 of golden"), ("Modern", 0, 3), ("Modern", 1, 3),
                   ("Modern", 2, None)]
    if generation >= 5:
        events += [("Order", 1, 4), ("Order", 2, None)]
    return events


class GoldenTest(ToolTest):
    def said(self, path):
        """All that is said of a file, as it is kept."""
        events, _ = self.run_any("dump", "--all", "--json", path, expect=(FINE, FAILED))
        stat = json.loads(self.run_any("stat", "--json", path, expect=(FINE, FAILED))[0])
        kept = {key: stat[key] for key in STAT} | {"clocks": {key: stat["clocks"][key]
                                                              for key in CLOCKS}}
        if stat["losses"]:
            kept["losses"] = stat["losses"]
        return events + json.dumps(kept) + "\n"


class Read(GoldenTest):
    def test_every_file_says_what_it_always_said(self):
        files = 0
        for generation, name, path in unpack(self.folder):
            with self.subTest(generation=generation, file=name):
                with open(os.path.join(FOLDER, generation, f"{name}.json"),
                          encoding="utf-8") as file:
                    self.assertEqual(self.said(path), file.read())
            files += 1
        self.assertEqual(files, sum(len(os.listdir(os.path.join(FOLDER, g)))
                                    for g in generations()))

    def test_what_was_logged_is_there(self):
        """By what record.c logs, not by what was once read."""
        for generation, name, path in unpack(self.folder):
            if name == "finished":
                with self.subTest(generation=generation):
                    lines = self.run_etwas("dump", "--all", "--json", path)[0].splitlines()[1:]
                    self.assertEqual([logged(json.loads(line)) for line in lines],
                                     all_kinds(int(generation)))


    def test_what_ends_a_session_says_so(self):
        """Files of before say nothing of that."""
        found = {}
        for generation, name, path in unpack(self.folder):
            out, _ = self.run_any("stat", "--prove", "--json", path, expect=range(5))
            session = json.loads(out)
            if session["ended"] or session["recovered"]:
                found[generation, name] = (session["ended"], session["recovered"],
                                           session["attempted"])
        self.assertEqual({key: told[:2] for key, told in found.items()}, {
            ("12", "finished"): (True, False), ("12", "appended"): (True, False),
            ("12", "part_2"): (True, False),
            ("12", "recovered"): (True, True)})
        self.assertGreater(found["12", "recovered"][2], 0)


class Whole(GoldenTest):
    def test_every_generation_of_the_format_has_its_files(self):
        """README.md names a commit for each, in the order in which they are."""
        with open(os.path.join(FOLDER, "README.md"), encoding="utf-8") as file:
            named = re.findall(r"^\| (\d+) \|", file.read(), re.MULTILINE)
        self.assertEqual(named, generations())
        self.assertEqual(named, [str(number + 1) for number in range(len(named))])


def write():
    test = GoldenTest()
    with tempfile.TemporaryDirectory() as folder:
        for generation, name, path in unpack(folder):
            os.makedirs(os.path.join(FOLDER, generation), exist_ok=True)
            with open(os.path.join(FOLDER, generation, f"{name}.json"), "w",
                      encoding="utf-8") as file:
                file.write(test.said(path))
    return 0


if __name__ == "__main__":
    if sys.argv[-1] == "--write":
        ToolTest.etwas = sys.argv[1]
        sys.exit(write())
    sys.exit(main())
