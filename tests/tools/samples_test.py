# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Files as they come: real traces of Windows, and one of 4 GB.

usage: samples_test.py PATH_OF_ETWAS TEST_CLASS
"""

import json
import os
import resource
import struct
import subprocess
import sys

import etl_build as etl
from tool_case import NO_GUID, RED, ToolTest, main

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(os.environ.get("ETWAS_SHARED_DIR", "/nonexistent"), "etl-samples")


class Samples(ToolTest):
    # Records of the Evidence table in the description of the format.
    RECORDS = {"AMSITrace.etl": 21, "lxcore_kernel.etl": 4, "gcevents.etl": 71,
               "primitive-types.etl": 7, "SelfDescribingSingleEvent.etl": 23, "smallEtlFile.etl": 2}

    def setUp(self):
        if not os.path.isdir(SAMPLES):
            self.skipTest(f"{SAMPLES} is not there")
        super().setUp()

    def sample(self, name):
        path = os.path.join(SAMPLES, name)
        if not os.path.exists(path):
            self.skipTest(f"{path} is not there")
        return path

    def test_the_records_of_real_traces_are_all_there_and_undamaged(self):
        for name, records in self.RECORDS.items():
            with self.subTest(name=name):
                path = self.sample(name)
                out, _ = self.run_etwas("dump", "--json", path)
                self.assertEqual(len([json.loads(line) for line in out.splitlines()]), records)
                out, _ = self.run_etwas("dump", path)
                self.assertEqual(len(out.splitlines()), records + 1)
                stat, = self.stat_json(path)
                self.assertEqual(stat["events"] + stat["header_events"], records)
                self.assertEqual(sum(p["events"] for p in stat["processors"]), stat["events"])
                self.assertEqual(sum(c["events"] for c in stat["classes"]), stat["events"])
                self.assertEqual(stat["damages"], [])

    def test_every_record_is_the_one_an_independent_walker_finds(self):
        walker = os.path.join(HERE, os.pardir, "walker", "etl_walk.py")
        for name in self.RECORDS:
            with self.subTest(name=name):
                path = self.sample(name)
                walked = subprocess.run([sys.executable, "-B", walker, "--lenient", "--payloads", path],
                                        stdout=subprocess.PIPE, check=True).stdout.decode()
                *lines, report = walked.splitlines()
                out, _ = self.run_etwas("dump", "--hex", "--json", "--raw", path)
                events = [json.loads(line) for line in out.splitlines()]
                self.assertEqual(len(events), len(lines) + json.loads(report)["header_records"])
                events = events[len(events) - len(lines):]
                # The walker goes by processor; within one, both keep the file's order.
                events.sort(key=lambda e: e["processor"])
                for event, line in zip(events, lines):
                    cpu, stamp, _, kind, guid, _, _, _, payload = line.split("\t")
                    self.assertEqual((event["processor"], event["raw_time"], event["type"]),
                                     (int(cpu), int(stamp), int(kind)))
                    if guid != NO_GUID:  # a kernel event has only a group
                        self.assertEqual(event["class"], guid)
                    # The walker leaves extended items before the payload.
                    self.assertTrue(payload.endswith(event["payload"]))

    def test_what_a_real_session_lost_is_reported_first(self):
        out, _ = self.run_etwas("stat", self.sample("AMSITrace.etl"))
        self.assertEqual(out.splitlines()[2].split(),
                         ["LOST", "3", "events", "and", "0", "buffers", "while", "recording"])

    def test_names_and_times_of_a_real_trace_are_right(self):
        stat, = self.stat_json(self.sample("gcevents.etl"))
        self.assertEqual((stat["session"], stat["log_file"], stat["mode_names"]),
                         ("PerfViewSession", r"C:\Dev\runtime\CoreLab\PerfViewData.etl",
                          ["circular", "independent session"]))
        event = self.dump_json(self.sample("primitive-types.etl"))[1]
        self.assertEqual((event["name"], event["time"]),
                         ("solar_system/PrimitiveTypesTest", "2021-09-09T14:59:35.8001567Z"))


    def test_of_a_compressed_file_it_is_said_how_much_it_was(self):
        # Buffer 0 is not compressed; of the other two their headers say where their data end.
        path = self.sample("SelfDescribingSingleEvent.etl")
        stat, = self.stat_json(path)
        self.assertEqual((stat["compressed"], stat["file_bytes"], stat["uncompressed_bytes"]),
                         (True, 7403, 8432))
        out, _ = self.run_etwas("stat", path)
        self.assertIn("compressed from 8.43 kB (1.1 to 1)", out)


class Memory(ToolTest):
    def test_a_file_of_4_gb_needs_less_than_64_mb(self):
        size, count = 256 * 1024, 16384
        path = os.path.join(self.folder, "big.etl")
        with open(path, "wb") as file:  # sparse: only the beginning of each buffer is written
            file.write(etl.header_buffer(count, size=size))
            for i in range(1, count):
                records = [etl.classic(RED, 1_000_000 + i, payload=struct.pack("<Q", i))]
                file.seek(i * size)
                file.write(etl.buffer(records, i, i % 4, stamp=1_000_000 + i, size=size)[:256])
            file.truncate(count * size)
        stat, = self.stat_json(path)
        self.assertEqual((stat["file_bytes"], stat["events"]), (1 << 32, count - 1))
        self.assertEqual(len(self.dump_json(path)), count - 1)
        # The same as a circular file that nobody finished: it is looked through for tears.
        with open(path, "r+b") as file:
            file.write(etl.header_buffer(count, size=size, mode=2, finished=False))
        stat, = self.stat_json(path)
        self.assertEqual((stat["events"], stat["damaged"]), (count - 1, False))
        peak_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(peak_kb, 64 * 1024)


if __name__ == "__main__":
    sys.exit(main())
