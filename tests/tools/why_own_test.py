# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas why`: a process that recorded itself alone, in a file with known answers and by
examples/why_late.c.

usage: why_own_test.py PATH_OF_ETWAS [PATH_OF_WHY_LATE] TEST_CLASS
"""

import os
import subprocess
import sys

import etl_build as etl
from etl_build import READY, switch, thread_event
from tool_case import main
from why_test import END, START, WhyTest, at, order


class Made(WhyTest):
    def test_who_was_woken_is_blocked_until_it_runs(self):
        kernel = [[etl.own_process(at(0), 20), switch(at(10), 0, 21), switch(at(100), 21, 0),
                   switch(at(400), 0, 21), switch(at(500), 21, 0, READY), switch(at(520), 0, 22),
                   switch(at(600), 22, 0), switch(at(700), 0, 21), switch(at(900), 21, 0)],
                  [etl.classic(etl.OWN_CLASS, at(1), kind=1)]]
        paths = self.files(kernel, [order(START, 50), order(END, 800)])
        told = self.why(*paths)
        slowest, = told["slowest"]
        self.assertEqual((told["kernel_access"], told["ready_known"], self.times(slowest)),
                         (2, False, (750, 250, 200, 300, 0)))
        self.assertEqual([(h["tid"], h["duration"] // 100) for h in slowest["cpu_had"]],
                         [(22, 80)])
        self.assertEqual(slowest["nobody_had_time"], 12_000)
        out, _ = self.run_etwas("why", *paths)
        self.assertIn(
            "it was blocked, or had been woken and had no processor: of one process nothing tells "
            "these apart:\n"
            "      30.0 µs, 1 time\n", out)
        self.assertIn("      12.0 µs while other processes ran, or nobody\n", out)
        self.assertNotIn("Not recorded", out)

    def test_a_thread_that_ends_leaves_its_processor(self):
        kernel = [[etl.own_process(at(0), 20), switch(at(10), 0, 22),
                   thread_event(2, at(60), 20, 22), switch(at(100), 0, 21), switch(at(300), 21, 0),
                   switch(at(500), 0, 21), switch(at(900), 21, 0)]]
        slowest, = self.why(*self.files(kernel, [order(START, 150), order(END, 800)]))["slowest"]
        self.assertEqual(self.times(slowest), (650, 450, 0, 200, 0))


class Late(WhyTest):
    """As the user nobody: it may see nothing of the system."""
    example = ""

    def test_the_faults_of_a_process_by_itself_are_found(self):
        os.chmod(self.folder, 0o777)
        become = ["setpriv", "--reuid=65534", "--regid=65534",
                  "--clear-groups"] if os.geteuid() == 0 else []
        try:
            run = subprocess.run([*become, self.example, self.folder], stdout=subprocess.PIPE,
                                 check=False, timeout=300)
        except FileNotFoundError:
            self.skipTest("there is no setpriv")
        said = run.stdout.decode()
        print(said)
        if "of the kernel its own alone" not in said or " 0 lost\n" not in said:
            self.skipTest("nobody sees the system, or events are lost")
        self.assertEqual(run.returncode, 0)
        files = [f"{self.folder}/why_late{part}.etl" for part in ("", ".kernel")]
        told = {name: self.why("--class", name, *files) for name in ("Transfer", "Load", "Render",
                                                                     "Fetch")}
        if not told["Load"]["kernel_events"]:
            self.skipTest("the kernel refuses perf events, too")
        for its in told.values():
            self.assertEqual((its["kernel_access"], its["slowest"][0]["unknown_time"]), (2, 0))
        for name in ("Transfer", "Fetch"):
            self.assertTrue(all(s["blocked_time"] > s["duration"] // 2
                                for s in told[name]["slowest"]))
        self.assertGreaterEqual(min(s["page_faults"] for s in told["Load"]["slowest"]), 4000)
        self.assertTrue(any(s["ready_time"] > s["duration"] // 4
                            for s in told["Render"]["slowest"]))


if __name__ == "__main__":
    if len(sys.argv) > 3:
        Late.example = sys.argv[2]
    sys.exit(main())
