# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""heaptrace as a user meets it: exact, and the traced program does not notice.

usage: heaptrace_test.py HEAPTRACE ETWAS KNOWN WALKER TEST_CLASS
"""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from collections import Counter, defaultdict

HEAPTRACE = ETWAS = KNOWN = WALKER = ""
CALL_CLASS = "a3c81b52-0e9d-4b7e-8d46-2f5c90d7e6b4"
MALLOC, CALLOC, REALLOC, REALLOCARRAY, FREE = range(10, 15)
POSIX_MEMALIGN, ALIGNED_ALLOC, MEMALIGN, VALLOC, PVALLOC = range(15, 20)
WITH_THIRD = (REALLOC, REALLOCARRAY, POSIX_MEMALIGN, ALIGNED_ALLOC, MEMALIGN)
EXIT_FAILURE, EXIT_CANNOT_EXECUTE, EXIT_NOT_FOUND = 125, 126, 127


class HeaptraceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.trace = self.path("out.etl")
        self.counts = self.path("counts.json")

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_command(self, *command, **options):
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False, timeout=60, **options)

    def run_traced(self, *program, options=()):
        return self.run_command(HEAPTRACE, "-o", self.trace, "--counts", self.counts, *options,
                                "--", *program)

    def check_walker(self, trace):
        result = self.run_command(sys.executable, "-B", WALKER, trace)
        self.assertEqual(result.returncode, 0, result.stdout.decode())
        # The ten functions, and the image that a stack lies in.
        self.assertEqual(json.loads(result.stdout)["described"], 11)

    def check_counts(self, trace, counts):
        """What heaptrace counted is what the file holds. Returns the number of events by type."""
        with open(counts, encoding="utf-8") as file:
            counted = json.load(file)
        result = self.run_command(ETWAS, "stat", "--json", trace)
        self.assertEqual(result.returncode, 0, result.stdout.decode())
        stat = json.loads(result.stdout)
        self.assertEqual(counted["trace"], trace)
        self.assertEqual(counted["under_way"], 0)
        self.assertEqual(counted["lost"], 0)
        self.assertEqual(counted["recorded"], counted["attempted"])
        self.assertFalse(stat["unfinished"])
        attempted = {f["type"]: f["attempted"] for f in counted["functions"].values()}
        in_file = {c["opcode"]: c["events"] for c in stat["by_event"]
                   if c["event_class_id"] == CALL_CLASS}
        self.assertEqual({t: n for t, n in attempted.items() if n}, in_file)
        self.assertEqual(sum(in_file.values()), counted["recorded"])
        return in_file

    def events(self, trace):
        """The calls of a trace in the order of time: (thread, type, size, address, third)."""
        result = self.run_command(ETWAS, "dump", "--hex", "--json", trace)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        calls, instances = [], set()
        for line in result.stdout.splitlines():
            event = json.loads(line)
            if event["event_class_id"] != CALL_CLASS:
                continue
            data = bytes.fromhex(event["payload"])
            words = [int.from_bytes(data[i:i + 8], "little") for i in range(0, len(data), 8)]
            self.assertEqual(len(data), 24 if event["opcode"] in WITH_THIRD else 16)
            calls.append((event["tid"], event["opcode"], *words[:2], words[2] if words[2:] else 0))
            instances.add(event["instance"])
        self.assertEqual(len(instances), len(calls), "each call is an instance of its own")
        return calls


class Known(HeaptraceTest):
    """A program with known numbers of calls gives exactly those."""

    def expected(self, path):
        sections = []
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith("section "):
                    _, name, thread, count = line.split()
                    sections.append((name, int(thread), int(count), []))
                else:
                    sections[-1][3].append(tuple(int(word) for word in line.split()))
        for name, _, count, calls in sections:
            self.assertEqual(len(calls), count, name)
        return sections

    def check_sections(self, sections, calls):
        by_thread = defaultdict(list)
        for thread, *call in calls:
            by_thread[thread].append(tuple(call))
        for name, thread, count, expected in sections:
            starts = [i for i, call in enumerate(by_thread[thread]) if call == expected[0]]
            self.assertEqual(len(starts), 1, f"{name}: found {len(starts)} times")
            found = by_thread[thread][starts[0]:starts[0] + count]
            for number, (is_call, was_call) in enumerate(zip(found, expected)):
                self.assertEqual(is_call, was_call, f"{name}: call {number}")
            self.assertEqual(len(found), count, name)

    def check_addresses(self, calls):
        """
        What is freed was allocated before. A realloc is logged when it is done, so another thread
        may have got the old block already: addresses are counted, not kept as a set.
        """
        live = Counter()
        for thread, kind, size, address, third in calls:
            gone = address if kind == FREE else third if kind in (REALLOC, REALLOCARRAY) else 0
            if gone and (kind == FREE or address or size == 0):
                live[gone] -= 1
                self.assertGreaterEqual(live[gone], 0, f"{gone:#x} freed by {thread}, not live")
            if address and kind != FREE:
                live[address] += 1

    def run_known(self, rounds, *options):
        notes = self.path(f"notes-{rounds}")
        result = self.run_traced(KNOWN, notes, str(rounds), options=options)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return notes

    def test_every_call_is_logged_with_its_size_and_addresses(self):
        notes = self.run_known(20)
        sections = self.expected(notes)
        # The early ones are logged by the thread that starts the session.
        pid = next(thread for name, thread, *_ in sections if name == "main")
        sections = [(n, pid if "library-constructor" in n else t, *rest)
                    for n, t, *rest in sections]
        names = Counter(name for name, *_ in sections)
        self.assertEqual(names, {
            "library-constructor": 1, "thread-of-library-constructor": 1, "program-constructor": 1,
            "main": 1, "raised-signal": 1, "timer-signal": 20, "thread": 4,
            "thread-data-destructor": 4, "atexit": 1, "program-destructor": 1,
            "library-destructor": 1})
        self.check_counts(self.trace, self.counts)
        self.check_walker(self.trace)
        calls = self.events(self.trace)
        self.check_sections(sections, calls)
        self.check_addresses(calls)

    def test_more_rounds_give_exactly_as_many_more_events(self):
        totals, expected = [], []
        for rounds in (1, 300):
            notes = self.run_known(rounds)
            totals.append(Counter(self.check_counts(self.trace, self.counts)))
            expected.append(Counter(call[0] for _, _, _, calls in self.expected(notes)
                                    for call in calls))
        difference = {kind: totals[1][kind] - totals[0][kind] for kind in totals[1]}
        self.assertEqual(difference, {k: expected[1][k] - expected[0][k] for k in expected[1]})
        self.assertEqual(len(difference), 10)

    def test_each_clock_and_small_buffers_give_the_same_calls(self):
        for clock in ("qpc", "system", "tsc"):
            with self.subTest(clock):
                notes = self.run_known(50, "--clock", clock, "--buffer-size", "4")
                sections = [s for s in self.expected(notes) if "constructor" not in s[0]]
                self.check_counts(self.trace, self.counts)
                self.check_walker(self.trace)
                self.check_sections(sections, self.events(self.trace))

    def test_a_followed_child_writes_a_trace_of_its_own(self):
        notes = self.run_known(20, "--follow")
        children = glob.glob(self.trace + "_*")
        self.assertEqual(len(children), 1)
        pid = int(children[0].rsplit("_", 1)[1])
        sections = [s for s in self.expected(notes + ".child") if s[0] == "fork-child"]
        self.assertEqual([s[1] for s in sections], [pid])
        self.check_counts(self.trace, self.counts)
        self.check_counts(children[0], self.counts + f"_{pid}")
        self.check_walker(children[0])
        calls = self.events(children[0])
        self.check_sections(sections, calls)
        self.assertEqual({thread for thread, *_ in calls}, {pid})

    def test_an_unfollowed_child_writes_nothing(self):
        notes = self.run_known(1)
        self.assertTrue(os.path.exists(notes + ".child"))
        self.assertEqual(glob.glob(self.trace + "_*"), [])
        self.assertEqual(glob.glob(self.counts + "_*"), [])


class Programs(HeaptraceTest):
    """Programs that know nothing of heaptrace print and return what they do without it."""

    PYTHON = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
    PROGRAMS = {
        "ls": ["ls", "-l", "/usr"],
        "a shell with forks": ["bash", "-c",
                               "for i in 1 2 3; do (echo $i; ls / | wc -l); done; exit 7"],
        "a shell that ends with _exit": ["sh", "-c", "ls /nonexistent; exit 3"],
        "a shell that becomes another program": ["sh", "-c", "exec ls /"],
        "a shell whose exec fails": ["bash", "-c", "exec /nonexistent/program"],
        "a shell that uses descriptor 3": ["bash", "-c", "exec 3>&1; echo three >&3"],
        "environment": ["env", "-u", "_"],
        "python": [PYTHON, "-c", "import json; print(json.dumps(list(range(1000))))"],
        "threads": [PYTHON, "-c", "import threading as t\n"
                    "for i in range(20):\n"
                    "  x = t.Thread(target=lambda: [bytearray(5000) for _ in range(200)])\n"
                    "  x.start()\n"
                    "print('done')"],
        "multiprocessing": [PYTHON, "-c", "import multiprocessing as m\n"
                            "with m.get_context('fork').Pool(2) as p: print(p.map(abs, range(-9, "
                            "9)))"],
        "subprocess": [PYTHON, "-c", "import subprocess as s; print(s.check_output(['ls', '/']))"],
        "_exit": [PYTHON, "-c", "import os; os._exit(5)"],
        "sort": ["sort", "--parallel=2", "/etc/services" if os.path.exists("/etc/services")
                 else "/etc/passwd"],
    }

    def test_output_and_exit_code_are_the_same_and_every_call_is_accounted_for(self):
        for name, program in self.PROGRAMS.items():
            with self.subTest(name):
                alone = self.run_command(*program)
                traced = self.run_traced(*program)
                self.assertEqual((traced.returncode, traced.stdout, traced.stderr),
                                 (alone.returncode, alone.stdout, alone.stderr))
                if "exec fails" not in name:
                    events = self.check_counts(self.trace, self.counts)
                    self.assertGreater(sum(events.values()), 0)

    def test_followed_programs_leave_a_whole_trace_each(self):
        result = self.run_traced("bash", "-c", "for i in 1 2; do (ls / | wc -l >/dev/null); done",
                                 options=["-f"])
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"", b""))
        traces = glob.glob(self.trace + "*")
        # Each round: a subshell, two forks of it, and what the two become.
        self.assertEqual(len(traces), 1 + 2 * 5)
        for trace in traces:
            self.check_counts(trace, self.counts + trace[len(self.trace):])

    def test_the_exit_by_a_signal_stays_one_and_the_trace_can_be_read(self):
        result = self.run_traced("bash", "-c", "kill -KILL $$")
        self.assertEqual(result.returncode, -signal.SIGKILL)
        stat = self.run_command(ETWAS, "stat", "--json", self.trace)
        self.assertEqual(json.loads(stat.stdout)["damages"], [])
        self.assertTrue(json.loads(stat.stdout)["unfinished"])

    def test_a_program_that_closes_every_descriptor_loses_events_but_none_silently(self):
        code = "import os; os.closerange(3, 4096); x = [bytearray(600) for _ in range(5000)]"
        result = self.run_traced(self.PYTHON, "-c", code)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        with open(self.counts, encoding="utf-8") as file:
            counts = json.load(file)
        self.assertEqual(counts["recorded"] + counts["lost"], counts["attempted"])
        self.assertGreater(counts["lost"], 0)

    def test_a_pool_that_is_too_small_loses_events_but_none_silently(self):
        notes = self.path("notes")
        result = self.run_traced(KNOWN, notes, "400", options=["-b", "4", "-n", "4"])
        self.assertEqual(result.returncode, 0)
        with open(self.counts, encoding="utf-8") as file:
            counts = json.load(file)
        stat = json.loads(self.run_command(ETWAS, "stat", "--json", self.trace).stdout)
        self.assertEqual(counts["recorded"] + counts["lost"], counts["attempted"])
        self.assertEqual(counts["under_way"], 0)
        in_file = [c["events"] for c in stat["by_event"] if c["event_class_id"] == CALL_CLASS]
        self.assertEqual(sum(in_file), counts["recorded"])
        self.assertEqual(stat["lost"], counts["lost"])


class Launcher(HeaptraceTest):
    """Mistakes are told before the program runs."""

    def check_refused(self, result, code, text):
        self.assertEqual(result.returncode, code, result.stderr.decode())
        self.assertIn(text, result.stderr.decode())
        self.assertEqual(result.stdout, b"")

    def test_wrong_calls_are_refused_by_name(self):
        for arguments, text in (
                (["--", "echo", "ran"], "-o FILE is missing"),
                (["-o", self.trace], "the program is missing"),
                (["-o", self.trace, "-c", "sundial", "echo", "ran"], "not 'sundial'"),
                (["-o", self.trace, "-b", "3", "echo", "ran"], "from 4 to 16384"),
                (["-o", self.trace, "-n", "many", "echo", "ran"], "not 'many'"),
                (["-o", self.trace, "-t", "-1", "echo", "ran"], "not '-1'"),
                (["-o", "", "echo", "ran"], "a file name is empty"),
                (["-o", "x" * 5000, "echo", "ran"], "File name too long"),
                (["-o", self.path("none/out.etl"), "echo", "ran"], "No such file"),
                (["-o", self.folder, "echo", "ran"], "Is a directory"),
                (["--unknown"], "--help")):
            with self.subTest(arguments=arguments):
                self.check_refused(self.run_command(HEAPTRACE, *arguments), EXIT_FAILURE, text)

    def test_a_program_that_cannot_run_is_told_from_one_that_is_not_there(self):
        self.check_refused(self.run_traced("/nonexistent/program"), EXIT_NOT_FOUND, "No such file")
        self.check_refused(self.run_traced("/etc/passwd"), EXIT_CANNOT_EXECUTE, "Permission denied")

    def test_a_program_that_is_not_there_costs_no_trace(self):
        self.run_traced("true")
        with open(self.trace, "rb") as file:
            before = file.read()
        self.check_refused(self.run_traced("/nonexistent/program"), EXIT_NOT_FOUND, "No such file")
        self.check_refused(self.run_traced("no-such-program"), EXIT_NOT_FOUND, "No such file")
        with open(self.trace, "rb") as file:
            self.assertEqual(file.read(), before)

    def test_a_trace_that_is_being_written_is_left_alone(self):
        first = subprocess.Popen([HEAPTRACE, "-o", self.trace, "--", "sh", "-c",
                                  "echo up; read line"],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(first.stdout.readline(), b"up\n")
        self.check_refused(self.run_traced("echo", "ran"), EXIT_FAILURE, "another session")
        first.communicate(b"\n")
        self.assertEqual(first.returncode, 0)
        self.check_walker(self.trace)

    def test_help_and_version_are_on_the_output(self):
        for option in ("--help", "--version"):
            result = self.run_command(HEAPTRACE, option)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            self.assertIn(b"heaptrace", result.stdout)


if __name__ == "__main__":
    HEAPTRACE, ETWAS, KNOWN, WALKER = sys.argv[1:5]
    unittest.main(argv=[sys.argv[0], sys.argv[5]])
