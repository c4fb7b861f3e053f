# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas dump` of events as the file has them, not decoded.

usage: dump_test.py PATH_OF_ETWAS TEST_CLASS
"""

import json
import os
import resource
import struct
import sys
import uuid

import etl_build as etl
from tool_case import BLUE, EVENT, FAILED, HEX_TITLE, RED, TIME, ToolTest, heap_events, main


class Dump(ToolTest):
    def test_an_event_is_a_line_of_columns(self):
        events = [etl.classic(RED, 1_000_001, kind=7, level=2, process=123, thread=456,
                              payload=b"\x01\xab\xff")]
        path = self.write("a.etl", etl.trace([(3, events)]))
        self.assertEqual([line.split() for line in self.dump(path)],
                         [[TIME, "3", "123", "456", f"{RED}/7", "7", "2",
                           "-", "-", "-", "01abff"]])

    def test_an_instance_event_shows_its_number_and_its_parent(self):
        events = [etl.instance(RED, 1_000_001, 5),
                  etl.instance(BLUE, 11_000_000, 4294967295, 5, RED, payload=b"x" * 9)]
        path = self.write("a.etl", etl.trace([(0, events)]))
        first, second = (line.split() for line in self.dump(path))
        self.assertEqual(first[7:], ["5", "-", "-", "-"])
        self.assertEqual(second[0], "2026-01-01T00:00:01.000000000Z")
        self.assertEqual(second[7:], ["4294967295", "5", RED, "78" * 9])
        first, second = self.dump_json(path)
        self.assertEqual(first, {
            "time": "2026-01-01T00:00:00.000000100Z", "cpu": 0, "pid": 10, "tid": 11,
            "event": f"{RED}/1", "event_class_id": RED, "opcode": 1, "level": 4, "version": 0,
            "instance": 5, "payload": "", **EVENT})
        self.assertEqual((second["parent_instance"], second["parent_class_id"]), (5, RED))

    def test_a_manifest_event_shows_id_and_opcode_and_unknown_ids_as_such(self):
        path = self.write("a.etl", etl.trace([(0, [etl.described(BLUE, 1_000_001, 65535, 200)])]))
        self.assertEqual(self.dump(path)[0].split()[2:],
                         ["-", "-", f"{BLUE}/#65535", "200", "2", "-", "-", "-", "-"])
        self.assertEqual(self.dump_json(path)[0], {
            "time": "2026-01-01T00:00:00.000000100Z", "cpu": 0, "provider_id": BLUE,
            "event": f"{BLUE}/#65535", "event_class_id": BLUE, "opcode": 200, "level": 2,
            "version": 1, "event_id": 65535, "channel": 16, "task": 7, "keyword": "0x20",
            "payload": "", **EVENT})

    def test_of_several_files_all_learn_from_all(self):
        """The file that describes the events comes last, or first, or between; each says of others'
        events."""
        colour = lambda stamp, value: etl.classic(RED, stamp, kind=5,
                                                  payload=struct.pack("<I", value))
        said = etl.trace(
            [(0, [etl.event_info(1_000_001, RED, 5, "Shop", "Order", "Pay", [("sum", 8, 0)]),
                  colour(1_000_002, 1)])])
        paths = [self.write("a.etl", etl.trace([(0, [colour(1_000_003, 2)])])),
                 self.write("b.etl", said),
                 self.write("c.etl", etl.trace([(0, [colour(1_000_004, 3)])]))]
        for order in ((0, 1, 2), (1, 0, 2), (2, 0, 1)):
            out, _ = self.run_etwas("dump", "--json", *(paths[place] for place in order))
            events = [json.loads(line) for line in out.splitlines()]
            self.assertEqual([event["fields"] for event in events if event["event_class_id"]
                              == RED],
                             [{"sum": 1}, {"sum": 2}, {"sum": 3}])
        self.assertNotIn("Shop", self.run_etwas("dump", "--json", paths[0])[0])

    def test_a_message_shows_its_number_and_what_its_flags_say(self):
        stamp = struct.pack("<q", 1_000_001)
        class_guid = uuid.UUID(RED).bytes_le
        events = [etl.message(7, 0xAB, struct.pack("<I", 41) + class_guid + stamp +
                              struct.pack("<II", 11, 10), b"\x01\xff"),
                  etl.message(65535, 0x4C, struct.pack("<I", 5) + stamp), etl.message(0, 0)]
        path = self.write("a.etl", etl.trace([(3, events)]))
        time = "2026-01-01T00:00:00.000000100Z"
        self.assertEqual([line.split() for line in self.dump(path)], [
            [time, "3", "10", "11", f"{RED}/message:7", *"-----", "01ff"],
            [time, "3", "-", "-", "component:5/message:65535", *"------"],
            [time, "3", "-", "-", "message:0", *"------"]])
        common = {"time": time, "cpu": 3, **EVENT}
        self.assertEqual(self.dump_json(path), [
            {**common, "pid": 10, "tid": 11, "event": f"{RED}/message:7", "event_class_id": RED,
             "message_id": 7, "sequence": 41, "payload": "01ff"},
            {**common, "event": "component:5/message:65535", "message_id": 65535, "component": 5,
             "payload": ""},
            {**common, "event": "message:0", "message_id": 0, "payload": ""}])

    def test_names_from_the_file_cannot_break_a_line_or_the_terminal(self):
        evil = b"a b\n\x1b[31m\"\\\xff\xe2\x80\xae\xc3\xa9"
        events = [etl.self_describing(RED, 1_000_001, evil, b"E", payload=b"\x2a", keyword=1 << 63)]
        path = self.write("a.etl", etl.trace([(0, events)]))
        line, = self.dump(path)
        self.assertEqual(line.split()[4:], [r'a\x20b\x0a\x1b[31m"\\xff\u{202e}é/E', "0", "5",
                                            "-", "-", "-", "2a"])
        event, = self.dump_json(path)
        self.assertEqual(event["event"], 'a b\n\x1b[31m"\\\ufffd\u202eé/E')
        self.assertEqual(event["keyword"], "0x8000000000000000")
        self.assertEqual([item["type"] for item in event["extended"]], [12, 11])
        self.assertIn(evil.hex(), event["extended"][0]["data"])

    def test_a_schema_or_traits_without_a_proper_name_is_no_name(self):
        data = bytearray(etl.self_describing(RED, 1_000_001, b"P", b"E"))
        traits = data.index(b"P\0")
        schema = data.index(b"E\0")
        data[traits - 2:traits + 2] = b"\x04\x00\x00\x00"  # an empty provider name
        data[schema - 3:schema + 2] = b"\x05\x00\x80\x80\x80"  # tag bytes without an end
        path = self.write("a.etl", etl.trace([(0, [bytes(data)])]))
        self.assertEqual(self.dump(path)[0].split()[4], f"{RED}/#0")
        self.assertEqual(self.dump_json(path)[0]["event"], f"{RED}/#0")

    def test_well_known_classes_are_shown_by_name(self):
        events = [etl.classic("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c", 1_000_001, kind=36)]
        path = self.write("a.etl", etl.trace([(0, events)]))
        self.assertEqual(self.dump(path)[0].split()[4:6], ["Thread/36", "36"])
        self.assertEqual(self.dump_json(path)[0]["event"], "Thread/36")

    def test_raw_times_are_shown_as_recorded(self):
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, 7_654_321)])]))
        out, _ = self.run_etwas("dump", "--all", "--hex", "--times=raw", path)
        self.assertEqual([line.split()[0] for line in out.splitlines()[1:]],
                         [str(etl.FIRST_STAMP), "7654321"])
        self.assertEqual(self.dump_json("--times=raw", path)[0]["raw_time"], 7_654_321)

    def test_an_event_is_shown_by_each_clock_with_its_error(self):
        # QPC in ns, begun at 1,000,000; the wall clock is set forward by an hour after 2 s.
        second = 1_000_000_000
        clock_snapshots = [etl.clock_snapshot(1_000_000 + n * second, 1_000_000 + n * second,
                          etl.START + n * 10_000_000 + (36_000_000_000 if n > 2 else 0),
                          errors_ns=(0, 100)) for n in range(6)]
        events = [etl.classic(RED, 1_000_000 + 500_000_000),
                  etl.classic(RED, 1_000_000 + 4_000_000_000)]
        path = self.write("a.etl", etl.trace([(0, events)], frequency=second, own=clock_snapshots))
        raw, qpc, system = ([e for e in map(json.loads, self.run_etwas(
            "dump", "--hex", "--json", "--times", clock, path)[0].splitlines())
                             if e["event_class_id"] == RED]
            for clock in ("raw", "qpc", "system"))
        self.assertEqual([e["raw_time"] for e in raw], [501_000_000, 4_001_000_000])
        self.assertEqual([(e["qpc_time"], e["time_error"]) for e in qpc],
                         [(501_000_000, 0), (4_001_000_000, 0)])
        self.assertEqual([e["system_time"] for e in system],
                         ["2026-01-01T00:00:00.500000000Z", "2026-01-01T01:00:04.000000000Z"])
        self.assertEqual([e["time"] for e in self.dump_json(path)],
                         ["2026-01-01T00:00:00.500000000Z", "2026-01-01T00:00:04.000000000Z"])
        for event in system:
            self.assertTrue(100 <= event["time_error"] <= 1000)
        lines = self.run_etwas("dump", "--all", "--hex", "--times", "system", path)[0].splitlines()
        self.assertEqual(lines[0], HEX_TITLE.replace("time", "system_time time_error"))
        self.assertEqual(lines[3].split()[:2], ["2026-01-01T01:00:04.000000000Z",
                                                str(system[1]["time_error"])])
        lines = self.run_etwas("dump", "--all", "--hex", "--times", "qpc", path)[0].splitlines()
        self.assertEqual(lines[0], HEX_TITLE.replace("time", "qpc_time time_error"))
        self.assertEqual(lines[2].split()[:2], ["501000000", "0"])

    def test_an_error_that_the_file_does_not_say_is_shown_as_unknown(self):
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, 11_000_000)])]))
        event, = self.dump_json("--times=system", path)
        self.assertEqual((event["system_time"], event["time_error"]),
                         ("2026-01-01T00:00:01.000000000Z", None))
        out, _ = self.run_etwas("dump", "--all", "--hex", "--times=system", path)
        self.assertEqual(out.splitlines()[2].split()[1], "-")
        # Of the performance counter itself the header is exact.
        event, = self.dump_json("--times=qpc", path)
        self.assertEqual((event["qpc_time"], event["time_error"]), (1_100_000_000, 0))

    def test_a_limit_shows_exactly_that_many(self):
        events = [etl.classic(RED, 1_000_001 + i) for i in range(100)]
        path = self.write("a.etl", etl.trace([(0, events), (1, events)]))
        for limit, shown in ((0, 0), (1, 1), (150, 150), (200, 200), (1000, 200)):
            out, _ = self.run_etwas("dump", "--json", "-n", str(limit), path)
            self.assertEqual(len(out.splitlines()), shown)

    def test_records_of_the_file_itself_are_shown_with_all_alone(self):
        path = self.write("a.etl", etl.trace([(0, heap_events())]))
        shown, _ = self.run_etwas("dump", "--json", "--limit", "1", path)
        self.assertEqual(json.loads(shown)["fields"]["size"], 37)
        self.assertNotIn("EventTrace/Header", self.run_etwas("dump", path)[0])
        self.assertNotIn("EventTrace/Header", self.run_etwas("convert", "--to", "ndjson", path)[0])
        every = self.run_etwas("dump", "--all", path)[0].splitlines()
        self.assertIn(" MSNT_SystemTrace/EventTrace/Header ", every[1])
        self.assertEqual([every[0], *every[2:]], self.run_etwas("dump", path)[0].splitlines())
        self.assertEqual(len(self.run_etwas("dump", "--all", "--hex", path)[0].splitlines()),
                         len(every) + 3)  # and what describes

    def test_several_files_come_in_one_time_order(self):
        paths = [self.write(name, etl.trace([(0, [etl.classic(guid, 1_000_000 + t)
                                                  for t in times])]))
                 for name, guid, times in (("a", RED, (1, 4, 5)), ("b", BLUE, (2, 3, 6)))]
        events = self.dump_json(*paths)
        self.assertEqual([e["file"] for e in events],
                         [paths[i] for i in (0, 1, 1, 0, 0, 1)])
        self.assertEqual([e["event_class_id"] == RED for e in events],
                         [e["file"] == paths[0] for e in events])
        out, _ = self.run_etwas("dump", "--all", "--hex", *paths)
        lines = out.splitlines()
        self.assertEqual(lines[0], HEX_TITLE.replace("# ", "# file "))
        self.assertEqual([line.split()[0] for line in lines[3:]],
                         [paths[i] for i in (0, 1, 1, 0, 0, 1)])
        out, _ = self.run_etwas("dump", "--where", f"file == '{paths[1]}'", "-c", "event", *paths)
        self.assertEqual(out.splitlines()[1:], [f"{BLUE}/1"] * 3)

    def test_times_that_are_no_dates_are_shown_as_numbers(self):
        far = (1 << 62) + 1_000_000
        path = self.write("a.etl", etl.trace([(0, [etl.classic(RED, far)])]))
        time, = (line.split()[0] for line in self.dump(path))
        self.assertEqual(time, f"@{etl.START + (1 << 62)}")

    def test_loss_is_reported_on_standard_error_and_is_no_damage(self):
        path = self.write("a.etl", etl.trace([(0, [])], events_lost=7, buffers_lost=2))
        _, error = self.run_etwas("dump", path)
        self.assertIn("7 events and 2 buffers were lost", error)


class Folder(ToolTest):
    """A folder is its log files, of one order of time, also more of them than ProcessTrace
    takes."""
    FILES = 100
    EVENTS = 1000
    CLOCKS = (dict(clock=1), dict(clock=1, frequency=10**9), dict(clock=2))

    def stamp(self, file, ns):
        """A moment, so long after the session's start, by the clock of a file."""
        if file % 3 == 2:
            return etl.START + ns // 100
        return etl.FIRST_STAMP + (ns if file % 3 == 1 else ns // 100)

    def moments(self):
        """When each event is, and of which file; two files' events are closer than FILETIME
        tells."""
        moments = [(1000 * k + (7 * k % 100 if k % self.FILES % 3 == 1 else 0), k % self.FILES)
                   for k in range(1, self.EVENTS)]
        return sorted([*moments, (1_000_000_050, 1), (1_000_000_020, 4)])

    def make(self):
        records = [[] for _ in range(self.FILES)]
        for number, (ns, file) in enumerate(self.moments()):
            records[file].append(etl.classic(RED, self.stamp(file, ns),
                                             payload=struct.pack("<I", number)))
        for file, events in enumerate(records):
            # That of a private session, of a FileMax, of both, and of a new-file set.
            name = f"f{file:03}.etl" + {7: "_4711", 8: ".0001", 9: ".0015_4711", 10: "7",
                                        11: "7_4711"}.get(file, "")
            self.write(name, etl.trace([(file % 4, events)], name=f"s{file}",
                                       **self.CLOCKS[file % 3]))
        os.mkdir(os.path.join(self.folder, "below"))
        for name in ("below/a.etl", ".hidden.etl", "other.txt", "f000.etl.index", "other.etl_",
                     "other_7", "other.etl.00001"):
            self.write(name, b"no trace")

    def events(self, *arguments, **options):
        out, _ = self.run_etwas(*arguments, **options)
        return [event for event in map(json.loads, out.splitlines()) if event.get("event_class_id")
                == RED]

    def test_all_of_a_hundred_files_come_in_the_order_of_time(self):
        self.make()
        events = self.events("dump", "--json", self.folder)
        files = sorted(e["file"] for e in events)
        self.assertEqual([os.path.basename(e["file"])[:4] for e in events],
                         [f"f{file:03}" for _, file in self.moments()])
        self.assertEqual(len(set(files)), self.FILES)
        self.assertEqual([e["time"] for e in events], sorted(e["time"] for e in events))
        self.assertEqual(len(events), self.EVENTS + 1)

    def test_traces_with_other_names_are_said_and_not_read(self):
        trace = etl.trace([(0, [etl.classic(RED, etl.FIRST_STAMP)])])
        self.write("a.etl", trace)
        names = ("a.etl.001", "a.etl.00001", "a.etl_", "a.log", "b.etl.old", "\x1b")
        for count, name in enumerate(names, 1):
            self.write(name, trace)
            for command in ("dump", "--json"), ("stat", "--json"):
                out, error = self.run_etwas(*command, self.folder)
                self.assertRegex(
                    error, rf"\Aetwas \w+: {self.folder}: note: {count} traces? (is|are) in it not "
                    r"read, since (it is|they are) "
                           r"not called NAME\.etl: [^\x1b]*\n\Z")
            self.assertEqual(len(self.dump(os.path.join(self.folder, name))), 1)
        self.assertTrue(error.endswith(" and 3 more\n"), error)
        self.assertEqual(len(self.stat_json(self.folder)), 1)
        os.rename(os.path.join(self.folder, "a.etl"), os.path.join(self.folder, ".etl"))
        _, error = self.run_etwas("dump", self.folder, expect=FAILED)
        self.assertIn("6 traces are in it not read", error)

    def test_traces_in_folders_below_are_said_and_not_read(self):
        trace = etl.trace([(0, [etl.classic(RED, etl.FIRST_STAMP)])])
        self.write("a.etl", trace)
        for folder in ("one", "one/two", ".hidden"):
            os.mkdir(os.path.join(self.folder, folder))
        self.write(".hidden/c.etl", trace)
        self.write("one/empty.etl", b"")
        self.assertEqual(self.run_etwas("dump", self.folder)[1], "")
        self.write("one/two/b.etl", trace)
        said = (f": {self.folder}: note: 1 trace in folders below is not read: "
                f"{self.folder}/one/two/b.etl. Give their folder to read them\n")
        for command in ("dump", "--json"), ("stat", "--json"), ("spans",):
            self.assertEqual(self.run_etwas(*command, self.folder)[1].splitlines(True)[0],
                             f"etwas {command[0]}{said}")
        self.write("one/b.etl.0001", trace)
        self.assertRegex(self.run_etwas("dump", self.folder)[1],
                         r"note: 2 traces in folders below are not read: .* and 1 more\.")

    def test_files_of_one_machine_are_on_one_line_whatever_its_wall_clock_did_between_their_starts(
            self):
        second, hour = 10**9, 3600 * 10**9
        moved = 5_000_000  # half a second, in FILETIME, while the first session ran
        for name, first, start, at, event in (("a", 1_000_000, etl.START, hour + 10_000_000, RED),
                                              ("b", hour, etl.START + hour // 100 + moved,
                                               hour + 9_000_000, BLUE)):
            own = [record[:16] + struct.pack("<q", first) + record[24:]
                   for record in (etl.totals(), etl.clock_snapshot(first, first, start,
                                                                   errors_ns=(0, 120), reason=0))]
            self.write(f"{name}.etl", etl.trace([(0, [etl.classic(event, at)])], frequency=second,
                                                own=own, start=start, first=first))
        both = [e for e in self.dump_json(self.folder) if e["event_class_id"] in (RED, BLUE)]
        self.assertEqual([e["event_class_id"] for e in both], [BLUE, RED])
        alone = self.dump_json(os.path.join(self.folder, "b.etl"))
        self.assertEqual(both[0]["time"],
                         [e for e in alone if e["event_class_id"] == BLUE][0]["time"])
        self.assertEqual([e["time"][-13:] for e in both], ["00.509000000Z", "00.510000000Z"])

    def test_fewer_descriptors_than_files_are_no_limit_unless_the_system_says_so(self):
        self.make()
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)

        def allow(now, ever):
            return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (now, ever))
        self.assertEqual(len(self.events("dump", "--json", self.folder,
                                         preexec_fn=allow(40, most))), self.EVENTS + 1)
        out, error = self.run_etwas("dump", "--json", self.folder, expect=FAILED,
                                    preexec_fn=allow(60, 60))
        self.assertIn("f099.etl: ", error)
        shown = [e for e in map(json.loads, out.splitlines()) if e.get("event_class_id") == RED]
        self.assertEqual([e["time"] for e in shown], sorted(e["time"] for e in shown))
        self.assertLess(0, len(shown))
        # Of each file a folder is made, which is open as long.
        self.run_etwas("convert", "--to", "ctf", "-o", os.path.join(self.folder, "ctf"),
                       self.folder, preexec_fn=allow(40, most))

    def test_every_command_that_reads_files_takes_a_folder(self):
        self.make()
        self.assertEqual(len(self.stat_json(self.folder)), self.FILES)
        self.assertEqual(sum(f["events"] for f in self.stat_json(self.folder)), self.EVENTS + 1)
        for command in (["schema"], ["spans"], ["report", "--json"], ["why"], ["advise"],
                        ["dump", "--from", "-0.1"],
                        ["convert", "--to", "ndjson"]):
            self.run_etwas(*command, self.folder)
        one = os.path.join(self.folder, "below", "one")
        self.run_etwas("convert", "--to", "etl", "-o", one, self.folder)
        whole = [e["payload"] for e in self.dump_json(self.folder) if e["event_class_id"] == RED]
        self.assertEqual([e["payload"] for e in self.dump_json(one) if e["event_class_id"] == RED],
                         whole)
        self.run_etwas("diff", self.folder, "--against", one, expect=FAILED)

    def test_a_folder_without_log_files_is_named(self):
        for command in ("dump", "stat", "spans"):
            out, error = self.run_etwas(command, self.folder, expect=FAILED)
            self.assertIn(f"{self.folder}: a folder without log files", error)


if __name__ == "__main__":
    sys.exit(main())
