#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The same run, recorded by `etwas record` and by `perf record`, gives the same counts. Skipped
without perf.

usage: beside_perf_test.py PATH_OF_ETWAS TEST_CLASS
"""

import collections
import json
import os
import platform
import re
import shutil
import subprocess
import sys

from tool_case import ToolTest, main

# By the numbers of x86-64.
CALLS = {"Create": (2, 83, 85, 88, 133, 257, 258, 259, 266, 304, 437), "Cleanup": (3,),
         "Close": (3,), "Read": (0, 17, 19), "Write": (1, 18, 20), "Rename": (82, 264, 316),
         "Delete": (84, 87, 263), "Flush": (74, 75), "DirEnum": (78, 217),
         "QueryInfo": (4, 5, 6, 21, 262, 269, 332, 439), "FSControl": (89, 267)}

WORKLOAD = """
import os, sys
os.chdir(sys.argv[1])
for index in range(200):
    with open("a", "wb", buffering=0) as file:
        file.write(b"x" * index)
        if index % 50 == 0:
            os.fsync(file.fileno())
    os.rename("a", "b")
    with open("b", "rb", buffering=0) as file:
        file.read(1 + index)
        os.pread(file.fileno(), 10, 5)
    os.stat("b")
    os.listdir(".")
    os.unlink("b")
print(os.getpid())
"""


class BesidePerf(ToolTest):
    def by_perf(self, path, process):
        """How often the process made each system call."""
        run = subprocess.run(["perf", "script", "-i", path, "-F", "pid,event,trace"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True,
                             timeout=100)
        counts = collections.Counter()
        for line in run.stdout.decode("utf-8", "replace").splitlines():
            found = re.match(r"\s*(\d+)\s+raw_syscalls:sys_enter:\s+NR (\d+) ", line)
            if found and int(found[1]) == process:
                counts[int(found[2])] += 1
        return counts

    def by_etwas(self, path, process):
        out, _ = self.run_etwas("dump", "--json", path)
        events = [json.loads(line) for line in out.splitlines()]
        return collections.Counter(event["event"].rsplit("/")[-1] for event in events
                                   if "/FileIo/" in event["event"] and event.get("pid")
                                   == process)

    def test_operations_on_files_are_as_many(self):
        if platform.machine() != "x86_64" or shutil.which("perf") is None:
            self.skipTest("no perf, or another machine's system calls")
        trace, data = os.path.join(self.folder, "k.etl"), os.path.join(self.folder, "perf.data")
        numbers = [number for numbers in CALLS.values() for number in numbers]
        run = subprocess.run(["perf", "record", "-q", "-c", "1", "-m", "4096", "-o", data,
                              "-e", "raw_syscalls:sys_enter",
                              "--filter", " || ".join(f"id == {number}" for number in numbers),
                              "--", self.etwas, "record", "--kernel",
                              "file_io_init,no_sysconfig", "-o", trace, "python3", "-c",
                              WORKLOAD, self.folder],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                             timeout=100)
        told = run.stderr.decode("utf-8", "replace")
        if (run.returncode != 0 or ", 0 lost" not in told or "LOST" in told
            or "lost" in told.replace(", 0 lost", "")):
            self.skipTest(f"one of the two cannot record all: {told}")
        process = int(run.stdout)
        by_perf, by_etwas = self.by_perf(data, process), self.by_etwas(trace, process)
        for event, numbers in CALLS.items():
            self.assertEqual(by_etwas[event], sum(by_perf[number] for number in numbers), event)
        self.assertGreaterEqual(by_etwas["Rename"], 200)


if __name__ == "__main__":
    sys.exit(main())
