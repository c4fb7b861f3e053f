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

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "data"))
import etl_build as etl  # noqa: E402
import make  # noqa: E402
from tool_case import DATA, NO_GUID, RED, SAMPLES, ToolTest, main, windows_files  # noqa: E402


class Samples(ToolTest):
    # Records of the Evidence table in the description of the format, and of our own files.
    RECORDS = {"AMSITrace.etl": 21, "lxcore_kernel.etl": 4, "gcevents.etl": 71,
               "primitive-types.etl": 7, "SelfDescribingSingleEvent.etl": 23, "smallEtlFile.etl": 2,
               "HTTP_Server.etl": 2042, **{name: sum(types.values()) for name, (_, _, types)
                                           in make.RECORDS.items()}}

    DESCRIBE = {"merged.etl": 2}  # of them: what describes events, and is none

    def real(self, name):
        path = os.path.join(SAMPLES, name)
        if not os.path.exists(path):
            self.skipTest(f"{path} is not there")
        return path

    def own(self, name):
        return os.path.join(DATA, name)

    def test_the_records_of_windows_files_are_all_there_and_undamaged(self):
        for path in windows_files():
            records = self.RECORDS[os.path.basename(path)]
            with self.subTest(path=path):
                shown = records - self.DESCRIBE.get(os.path.basename(path), 0)
                out, _ = self.run_etwas("dump", "--all", "--json", path)
                self.assertEqual(len([json.loads(line) for line in out.splitlines()]), shown)
                out, _ = self.run_etwas("dump", "--all", path)
                self.assertEqual(len(out.splitlines()), shown + 1)
                stat, = self.stat_json(path)
                self.assertEqual(stat["events"] + stat["header_events"], records)
                self.assertEqual(sum(p["events"] for p in stat["by_cpu"]), stat["events"])
                self.assertEqual(sum(c["events"] for c in stat["by_event"]), stat["events"])
                self.assertEqual(stat["damages"], [])

    def test_every_record_is_the_one_an_independent_walker_finds(self):
        walker = os.path.join(HERE, os.pardir, "walker", "etl_walk.py")
        for path in windows_files():
            with self.subTest(path=path):
                walked = subprocess.run([sys.executable, "-B", walker, "--lenient", "--payloads",
                                         path],
                                        stdout=subprocess.PIPE, check=True).stdout.decode()
                *lines, report = walked.splitlines()
                out, _ = self.run_etwas("dump", "--all", "--hex", "--json", "--times=raw", path)
                events = [json.loads(line) for line in out.splitlines()]
                self.assertEqual(len(events), len(lines) + json.loads(report)["header_records"])
                events = events[len(events) - len(lines):]
                # The walker goes by processor; within one, both keep the file's order.
                events.sort(key=lambda e: e["cpu"])
                for event, line in zip(events, lines):
                    cpu, stamp, _, kind, guid, _, _, _, payload, *_ = line.split("\t")
                    self.assertEqual((event["cpu"], event["raw_time"],
                                      event.get("message_id", event.get("opcode"))),
                                     (int(cpu), int(stamp), int(kind)))
                    # a kernel event has only a group
                    if guid != NO_GUID and "component" not in event:
                        self.assertEqual(event["event_class_id"], guid)
                    # The walker leaves extended items before the payload.
                    self.assertTrue(payload.endswith(event["payload"]))

    def test_what_a_session_lost_is_reported_first(self):
        for path in [self.own("manifest.etl"), *(path for path in windows_files()
                                                 if path.endswith("AMSITrace.etl"))]:
            out, _ = self.run_etwas("stat", path)
            self.assertEqual(out.splitlines()[2].split(), ["LOST", "3", "events", "and", "0",
                                                           "buffers", "while", "recording"])

    def test_names_and_times_are_right(self):
        stat, = self.stat_json(self.own("manifest.etl"))
        self.assertEqual((stat["session"], stat["log_file"], stat["modes"]),
                         ("ManifestSession", r"C:\traces\a.etl",
                          ["circular", "independent session"]))
        out, _ = self.run_etwas("dump", "--json", self.own("tracelogging.etl"))
        event = json.loads(out.splitlines()[-1])
        self.assertEqual((event["provider"], event["event"], event["time"], event["fields"]),
                         ("Example.Maker", "Example.Maker/Made", "2021-09-09T10:05:00.000010400Z",
                          {"count": 7, "ratio": 0.5, "text": "grün", "ansi": "plain",
                           "when": "2021-09-09T10:05:00.0000000", "id": "{%s}" % make.OTHER}))

    def test_names_and_times_of_a_real_trace_are_right(self):
        stat, = self.stat_json(self.real("gcevents.etl"))
        self.assertEqual((stat["session"], stat["log_file"], stat["modes"]),
                         ("PerfViewSession", r"C:\Dev\runtime\CoreLab\PerfViewData.etl",
                          ["circular", "independent session"]))
        event = self.dump_json(self.real("primitive-types.etl"))[1]
        self.assertEqual((event["event"], event["time"]),
                         ("solar_system/PrimitiveTypesTest", "2021-09-09T14:59:35.800156700Z"))

    def test_of_a_compressed_file_it_is_said_how_much_it_was(self):
        # Buffer 0 is not compressed; of the others their headers say where their data end.
        path = self.own("merged.etl")
        stat, = self.stat_json(path)
        with open(path, "rb") as file:
            data = file.read()
        at = whole = struct.unpack_from("<I", data)[0]
        while at < len(data):
            size, = struct.unpack_from("<I", data, at)
            whole += struct.unpack_from("<I", data, at + 48)[0]
            at += size
        self.assertEqual((stat["compressed"], stat["file_bytes"], stat["uncompressed_bytes"]),
                         (True, len(data), whole))

    def test_of_a_real_compressed_file_it_is_said_too(self):
        path = self.real("SelfDescribingSingleEvent.etl")
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
