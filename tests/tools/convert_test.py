# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""`etwas convert`: where the output goes, and the formats that are lines or JSON.

usage: convert_test.py PATH_OF_ETWAS TEST_CLASS
"""

import json
import os
import re
import signal
import stat
import subprocess

import etl_build as etl
from tool_case import BLUE, DAMAGED, FAILED, OUTPUT, RED, ToolTest, heap_events, main

T = 1_000_001
START, END, CHECKPOINT = 1, 2, 8


def order(kind, ticks, number=1, thread=21):
    return etl.instance(RED, T + ticks, number, kind=kind, process=20, thread=thread)


class Place(ToolTest):
    def setUp(self):
        super().setUp()
        self.trace = self.write("a.etl", etl.trace([(0, heap_events())]))
        self.out = os.path.join(self.folder, "out")

    def convert(self, *arguments, **options):
        return self.run_etwas("convert", "--to", "ndjson", *arguments, **options)

    def names(self):
        return sorted(os.listdir(self.folder))

    def read(self):
        with open(self.out, encoding="utf-8") as file:
            return file.read()

    def test_a_file_is_what_standard_output_would_have_been(self):
        shown, _ = self.convert(self.trace)
        out, _ = self.convert("--output", self.out, self.trace)
        self.assertEqual(out, "")
        self.assertEqual(self.read(), shown)
        self.assertEqual(self.names(), ["a.etl", "out"])
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(stat.S_IMODE(os.stat(self.out).st_mode), 0o666 & ~mask)
        self.assertEqual(self.convert("-o", "-", self.trace), (shown, ""))

    def test_a_format_that_there_is_not_is_refused_with_those_that_there_are(self):
        _, error = self.run_etwas("convert", "--to", "jsonx", self.trace, expect=FAILED)
        told = re.search(r"--to: 'jsonx' is none of ([a-z, ]+)\n", error)
        self.assertIsNotNone(told, error)
        self.assertIn("perfetto", told[1].split(", "))
        self.assertIn("Did you mean ndjson?",
                      self.run_etwas("convert", "--to", "ndjsn", self.trace, expect=FAILED)[1])
        for form in told[1].split(", "):
            self.run_etwas("convert", "--to", form, "-o", os.path.join(self.folder, form),
                           self.trace)

    def test_no_output_may_be_read_by_more_than_may_read_every_trace(self):
        other = self.write("b.etl", etl.trace([(0, heap_events())]))
        for modes, file, folder in (((0o600, 0o644), 0o600, 0o700), ((0o640, 0o644), 0o640, 0o750),
                                    ((0o644, 0o604), 0o604, 0o705)):
            for path, mode in zip((self.trace, other), modes):
                os.chmod(path, mode)
            for arguments in (("convert", "--to", "etl"), ("convert", "--to", "ndjson"),
                              ("convert", "--to", "ctf"), ("report", "--html")):
                out = os.path.join(self.folder, "-".join(arguments) + oct(file))
                self.run_etwas(*arguments, "-o", out, self.trace, other, preexec_fn=(
                    lambda: os.umask(0o022)))
                self.assertEqual(oct(stat.S_IMODE(os.stat(out).st_mode)),
                                 oct(folder if os.path.isdir(out) else file), arguments)

    def test_what_was_there_is_replaced_only_by_what_is_whole(self):
        self.write("out", b"before")
        self.convert("-fo", self.out, os.path.join(self.folder, "missing"), expect=FAILED)
        self.assertEqual(self.read(), "before")
        self.convert("-fo", self.out, "--where", "1 ==", self.trace, expect=FAILED)
        self.assertEqual(self.read(), "before")
        self.assertEqual(self.names(), ["a.etl", "out"])
        self.convert("-fo", self.out, self.trace)
        self.assertIn("malloc", self.read())

    def test_what_is_there_stays_unless_it_is_forced(self):
        self.write("out", b"before")
        for command in (*(("convert", "--to", form, "-o")
                          for form in ("ndjson", "csv", "chrome", "perfetto", "etl", "folded",
                                       "speedscope", "pprof", "otlp")), ("report", "--html", "-o")):
            _, error = self.run_any(*command, self.out, self.trace, expect=(OUTPUT,))
            if "node-d3" not in error:
                self.assertEqual(
                    error, f"etwas {command[0]}: '{self.out}': the file is there already. --force "
                    "replaces it\n")
            self.assertEqual(self.read(), "before")
        _, error = self.run_any("clocks", "--html", "-o", self.out, expect=(OUTPUT,))
        self.assertRegex(error, "the file is there already|node-d3")
        self.assertEqual((self.read(), self.names()), ("before", ["a.etl", "out"]))
        self.write("out", b"")  # nothing is lost with it
        self.convert("-o", self.out, self.trace)
        self.assertIn("malloc", self.read())

    def test_what_is_read_is_never_replaced(self):
        with open(self.trace, "rb") as file:
            before = file.read()
        link = os.path.join(self.folder, "link")
        os.symlink("a.etl", link)
        for output in (self.trace, link):
            for form in ("ndjson", "etl"):
                _, error = self.run_etwas("convert", "--to", form, "-o", output, self.trace,
                                          expect=FAILED)
                self.assertIn("one of the files", error)
            _, error = self.run_etwas("report", "--html", "-o", output, self.trace, expect=FAILED)
            self.assertIn("one of the files", error)
        with open(self.trace, "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(self.names(), ["a.etl", "link"])

    def test_a_damaged_file_is_converted_as_far_as_it_goes(self):
        with open(self.trace, "rb") as file:
            whole = file.read()
        cut = self.write("cut.etl", whole + whole[-4096:-4000])
        self.convert("-o", self.out, cut, expect=DAMAGED)
        self.assertIn("malloc", self.read())

    def test_each_format_tells_of_damage_and_losses_as_dump_does(self):
        with open(self.trace, "rb") as file:
            whole = file.read()
        cut = self.write("cut.etl", whole + whole[-4096:-4000])
        lost = self.write("lost.etl", etl.trace([(0, heap_events())], events_lost=7, name="lost"))
        _, told = self.run_etwas("dump", cut, lost, expect=DAMAGED)
        self.assertEqual(len(told.splitlines()), 3, told)  # damage, no end where it was, and losses
        for form in ("ndjson", "csv", "chrome", "ctf", "perfetto", "etl", "folded", "speedscope",
                     "pprof", "otlp"):
            out = os.path.join(self.folder, form)
            _, error = self.run_etwas("convert", "--to", form, "-o", out, cut, lost, expect=DAMAGED)
            self.assertEqual([line for line in error.splitlines() if "no stacks" not in line],
                             told.replace("etwas dump", "etwas convert").splitlines(), form)

    def test_an_output_that_cannot_be_written_is_reported_and_leaves_nothing(self):
        for path in ("/dev/full", os.path.join(self.folder, "no", "out"), self.folder):
            _, error = self.convert("-o", path, self.trace, expect=OUTPUT)
            self.assertIn("cannot", error)
        self.assertEqual(self.names(), ["a.etl"])
        with open("/dev/full", "wb") as full:
            for form in ("ndjson", "csv", "chrome", "perfetto", "otlp"):
                _, error = self.run_etwas("convert", "--to", form, self.trace, expect=OUTPUT,
                                          stdout=full)
                self.assertEqual(len(error.splitlines()), 1, error)

    def test_a_limit_of_the_file_size_leaves_nothing(self):
        import resource
        events = [etl.classic(RED, T + i) for i in range(1000)]
        large = self.write("b.etl",
                           etl.trace([(0, events[at:at + 50]) for at in range(0, 1000, 50)]))

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        self.convert("-o", self.out, large, expect=OUTPUT, preexec_fn=limit)
        _, error = self.run_etwas("convert", "--to", "perfetto", "-o", self.out, large,
                                  expect=OUTPUT, preexec_fn=limit)
        self.assertIn("temporary file", error)
        self.assertEqual(self.names(), ["a.etl", "b.etl"])

    def test_who_is_ended_by_a_signal_leaves_nothing(self):
        missing = os.path.join(self.folder, "missing")
        reader, full = os.pipe()
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, full)
        os.set_blocking(full, False)
        with self.assertRaises(BlockingIOError):
            while True:
                os.write(full, b"x")
        os.set_blocking(full, True)
        for command in (["convert", "--to", "ndjson", "-o"], ["convert", "--to", "etl", "-o"],
                        ["convert", "--to", "perfetto", "-o"],
                        ["convert", "--to", "ctf", "-o"], ["report", "--html", "-o"]):
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                # It waits where it tells of the file that is missing.
                process = subprocess.Popen([self.etwas, *command, self.out, self.trace, missing],
                                           stderr=full)
                while self.names() == ["a.etl"] or not self.sleeps(process):
                    self.assertIsNone(process.poll())
                process.send_signal(number)
                self.assertEqual(process.wait(), -number)
                self.assertEqual(self.names(), ["a.etl"], command)

    def sleeps(self, process):
        with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] == "S"

    def test_a_pipe_is_written_to_and_stays(self):
        os.mkfifo(self.out)
        reader = os.open(self.out, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.convert("-o", self.out, self.trace)
        self.assertIn(b"malloc", os.read(reader, 65536))
        self.assertTrue(stat.S_ISFIFO(os.stat(self.out).st_mode))

    def test_what_is_asked_for_wrongly_is_reported(self):
        for arguments, word in ((["--to", "wpa"], "'wpa'"), (["--frob"], "frob"),
                                (["--format", "csv"], "no option --format. Did you mean --to?"),
                                ([], "which file")):
            out, error = self.convert(*arguments, expect=FAILED)
            self.assertEqual(out, "")
            self.assertIn(word, error)
        _, error = self.run_etwas("convert", self.trace, expect=FAILED)
        self.assertIn("--to", error)


class Lines(ToolTest):
    def test_they_are_those_of_dump(self):
        trace = self.write("a.etl", etl.trace([(0, heap_events())]))
        other = self.write("b.etl", etl.trace([(0, [order(START, 5), order(END, 900)])]))
        for form, option in (("ndjson", "--json"), ("csv", "--csv")):
            for arguments in ([trace], [trace, other], ["--where", "size > 100", trace],
                              ["--where", "duration > 1us", other],
                              ["--where", "event == 'Call/malloc'", trace],
                              ["--where", "provider =~ '^he' && name != 'free'", trace]):
                shown, _ = self.run_etwas("dump", option, *arguments)
                self.assertGreater(len(shown.splitlines()), form == "csv")
                self.assertTrue(shown)
                self.assertEqual(self.run_etwas("convert", "--to", form, *arguments)[0], shown)


class Window(ToolTest):
    """Events at 1, 2 and 4 seconds and a bit of 100 ns."""

    def setUp(self):
        super().setUp()
        at = [10_000_001, 20_000_002, 40_000_003]
        # What the session says of itself, and of events, is there before them.
        own = [etl.totals(attempted=3), etl.event_info(etl.FIRST_STAMP, RED, CHECKPOINT, "Shop",
                                                       "Order", "Checked", [])]
        self.trace = self.write("a.etl",
                                etl.trace([(0, [order(CHECKPOINT, ticks - T, i)
                                                for i, ticks in enumerate(at)])],
                                          own=own))

    def ids(self, *arguments, files=None):
        chosen = {}
        for form in ("ndjson", "chrome"):
            out, _ = self.run_etwas("convert", "--to", form, *arguments, *(files or [self.trace]))
            if form == "ndjson":
                events = [e for e in map(json.loads, out.splitlines()) if "instance" in e]
                chosen[form] = [e["instance"] for e in events]
            else:
                chosen[form] = len(json.loads(out)["traceEvents"]) - 1
        self.assertEqual(len(chosen["ndjson"]), chosen["chrome"])
        return chosen["ndjson"]

    def test_both_ends_are_inside(self):
        out, _ = self.run_etwas("dump", "--json", self.trace)
        times = [e["time"] for e in map(json.loads, out.splitlines()) if "instance" in e]
        self.assertEqual(self.ids("--from", times[1]), [1, 2])
        self.assertEqual(self.ids("--until", times[1]), [0, 1])
        self.assertEqual(self.ids("--from", times[1], "--until", times[1]), [1])
        self.assertEqual(self.ids("--from", times[1][:19]), [1, 2])
        self.assertEqual(self.ids("--until", times[1][:19]), [0])
        self.assertEqual(self.ids("--from", times[0][:10]), [0, 1, 2])
        self.assertEqual(self.ids("--from", "2200-01-01"), [])

    def test_seconds_count_from_the_first_and_the_last_event(self):
        self.assertEqual(self.ids("--from", "+1.0000002"), [2])
        self.assertEqual(self.ids("--from", "+1.0000001"), [1, 2])
        self.assertEqual(self.ids("--until", "+1.0000001"), [0, 1])
        self.assertEqual(self.ids("--until", "+1.00000009"), [0])
        self.assertEqual(self.ids("--from", "-2.0000001"), [1, 2])
        self.assertEqual(self.ids("--from", "-2"), [2])
        self.assertEqual(self.ids("--from", "+0.5s", "--until", "-500ms"), [1])
        self.assertEqual(self.ids("--until", "+9000000000"), [0, 1, 2])

    def test_they_are_the_first_and_last_of_all_files(self):
        later = self.write("b.etl", etl.trace([(0, [order(CHECKPOINT, 70_000_000, 9)])]))
        self.assertEqual(self.ids("--from", "-5", files=[self.trace, later]), [2, 9])
        self.assertEqual(self.ids("--until", "+1.5", files=[later, self.trace]), [0, 1])

    def test_what_is_no_time_is_reported(self):
        for arguments, word in ((["--from", "noon"], "'noon'"), (["--from", "+"], "'+'"),
                                (["--until", "-1x"], "'-1x'"),
                                (["--from", "+99999999999"], "'+99999999999'"),
                                (["--until", "2026-13-01"], "'2026-13-01'"),
                                (["--from", "+1.5.5"], "'+1.5.5'"),
                                (["--from", "+3", "--until", "+2"], "later")):
            out, error = self.run_etwas("convert", "--to", "ndjson", *arguments, self.trace,
                                        expect=FAILED)
            self.assertEqual(out, "")
            self.assertIn(word, error)


class Chrome(ToolTest):
    def convert(self, *arguments, **options):
        out, _ = self.run_etwas("convert", "--to", "chrome", *arguments, **options)
        told = json.loads(out)
        self.assertEqual(told["traceEvents"][0]["ph"], "M")
        return told["traceEvents"][1:], told

    def test_spans_are_asynchronous_and_find_their_ends(self):
        trace = self.write("a.etl", etl.trace([(0, [
            order(START, 0), order(START, 10, 2), order(CHECKPOINT, 15), order(END, 20),
            order(END, 31, 2, thread=99)])]))
        events, told = self.convert(trace)
        self.assertEqual([e["ph"] for e in events], ["b", "b", "i", "e", "e"])
        self.assertEqual([e.get("id") for e in events], ["0x1", "0x2", None, "0x1", "0x2"])
        self.assertEqual({(e["pid"], e["tid"], e["name"]) for e in events if "id" in e},
                         {(20, 21, RED)})
        self.assertEqual([round(1000 * (e["ts"] - events[0]["ts"])) for e in events],
                         [0, 1000, 1500, 2000, 3100])
        self.assertEqual([(f["file"], f["damaged"]) for f in told["otherData"]], [(trace, False)])

    def test_fields_are_arguments(self):
        events, _ = self.convert("--where", "size > 4096",
                                 self.write("a.etl", etl.trace([(0, heap_events())])))
        self.assertEqual([(e["name"], e["cat"], e["args"]["size"]) for e in events],
                         [("Call/malloc", "heap", 5000)])

    def test_times_may_be_as_far_apart_as_a_damaged_file_has_them(self):
        stamps = (-(1 << 63), -1, T, (1 << 63) - 1)
        trace = self.write("a.etl", etl.trace([(0, [etl.instance(RED, stamp, 1, kind=CHECKPOINT)])
                                               for stamp in stamps]))
        events, _ = self.convert(trace)
        times = [event["ts"] for event in events]
        self.assertEqual(len(times), 4)
        self.assertEqual(times, sorted(times))
        self.assertTrue(all(abs(time) < 2 ** 64 / 1000 for time in times))

    def test_names_are_escaped(self):
        trace = self.write("a.etl",
                           etl.trace([(0, [etl.self_describing(BLUE, T, b'P"\\\n\x1b</script>',
                                                               b'E"\xff')])]))
        events, _ = self.convert(trace)
        self.assertEqual((events[0]["cat"], events[0]["name"]), ('P"\\\n\x1b</script>', 'E"\ufffd'))

    def test_a_missing_buffer_is_reported_where_it_would_have_been(self):
        whole = etl.trace([(i % 2, [order(CHECKPOINT, 10 * i, i)]) for i in range(6)])
        for missing in range(1, 6):
            at = missing * etl.BUFFER_BYTES
            trace = self.write("a.etl", whole[:at] + whole[at + etl.BUFFER_BYTES:])
            events, _ = self.convert(trace, expect=DAMAGED)
            self.assertEqual([e["name"] == "damaged" for e in events],
                             [i == missing - 1 for i in range(6)])

    def test_a_damage_stands_between_its_neighbours(self):
        buffers = [(0, [order(CHECKPOINT, 10 * i)]) for i in range(3)]
        data = bytearray(etl.trace(buffers))
        at = data.index(order(CHECKPOINT, 10))
        data[at:at + 4] = b"\xff" * 4
        events, told = self.convert(self.write("a.etl", bytes(data)), expect=DAMAGED)
        self.assertEqual([(e["name"], e["args"].get("what")) for e in events if e["name"]
                          == "damaged"],
                         [("damaged", "a record is not valid")])
        self.assertEqual([e["name"] == "damaged" for e in events], [False, True, False])
        self.assertTrue(told["otherData"][0]["damaged"])

    def test_a_damage_before_all_events_is_at_the_start(self):
        whole = etl.trace([(0, [order(CHECKPOINT, 10 * i)]) for i in range(3)])
        first = etl.BUFFER_BYTES
        events, _ = self.convert(self.write("a.etl", whole[:first] + whole[2 * first:]),
                                 expect=DAMAGED)
        self.assertEqual([(e["name"] == "damaged", e["ts"] >= 0) for e in events],
                         [(True, True), (False, True), (False, True)])

    def test_buffers_that_are_missing_at_the_end_are_missed_behind_the_last_event(self):
        whole = etl.trace([(0, [order(CHECKPOINT, 10 * i)]) for i in range(3)])
        events, _ = self.convert(self.write("a.etl", whole[:-etl.BUFFER_BYTES]), expect=DAMAGED)
        self.assertEqual([e["name"] == "damaged" for e in events], [False, False, True])
        self.assertEqual(events[2]["ts"], events[1]["ts"])


if __name__ == "__main__":
    raise SystemExit(main())
