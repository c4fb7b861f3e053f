#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Runs the parts of the benchmarks in turn, keeps every value in one JSON file and prints tables.

A part is measured in rounds, and the rounds of all parts alternate, so that other activity of the
machine affects all rows alike. README.md describes the rows, and what a part prints.
Exits with 1 if a row failed: events were lost, or a program did not do what its row says.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing is left behind in the source tree

import beside  # noqa: E402
import expect  # noqa: E402
import tables  # noqa: E402

# The parts in the order of the tables: rounds, and whether Google Benchmark measures the part.
PARTS = {
    "hot": (8, True),
    "constant": (8, True),
    "clocks": (4, True),
    "tails": (5, False),
    "snapshot": (5, False),
    "triggers": (3, False),
    "places": (1, False),
    "scaling": (8, False),
    "startup": (3, False),
    "compress": (3, False),
    "drain": (3, False),
    "heap": (3, False),
    "kernel": (3, False),
    "peers": (3, False),
    "processes": (3, False),
    "reading": (1, False),
    "shipping": (1, False),
}

GOOGLE_REPETITIONS = 5
GOOGLE_SECONDS = 0.005  # per repetition; log files grow with it
QUICK_GOOGLE_SECONDS = 0.0002
PART_SECONDS = 900  # timeout of a program


class Run:
    """The rows of one run, by name, in the order of their first appearance."""

    def __init__(self):
        self.rows = {}

    def add(self, part, line):
        row = self.rows.setdefault(line["row"], {"row": line["row"], "part": part, "values": []})
        row["values"] += line.get("values", [])
        for key in ("unit", "note", "failed", "skipped"):
            if key in line:
                row[key] = line[key]

    def fail(self, part, reason):
        self.add(part, {"row": part, "failed": reason})

    def failed(self):
        return [row for row in self.rows.values() if "failed" in row]


def find_program(build, part):
    name = f"etwas_bench_{part}"
    for place in (build / name, build / part / name):
        if place.is_file():
            return place
    return None


def run_google(run, part, program, environment, arguments):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.json"
        command = [
            str(program),
            f"--benchmark_repetitions={1 if arguments.quick else GOOGLE_REPETITIONS}",
            f"--benchmark_min_time={QUICK_GOOGLE_SECONDS if arguments.quick else GOOGLE_SECONDS}",
            "--benchmark_enable_random_interleaving=true",
            f"--benchmark_out={out}",
            "--benchmark_out_format=json",
        ]
        if arguments.rows:
            command.append(f"--benchmark_filter={arguments.rows}")
        status = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                text=True, env=environment, timeout=PART_SECONDS, check=False)
        if status.returncode != 0 or not out.is_file():
            if "Failed to match" not in status.stderr:
                run.fail(part, f"status {status.returncode}: {status.stderr.strip()[-200:]}")
            return
        runs = json.loads(out.read_text(encoding="utf-8"))["benchmarks"]
    for one in sorted((one for one in runs if one["run_type"] == "iteration"),
                      key=lambda one: one["family_index"]):
        name = re.sub("(/iterations:[0-9]+)?/manual_time$", "", one["run_name"])
        line = {"row": name, "unit": "ns"}
        if not one.get("error_occurred"):
            line["values"] = [one["real_time"]]
        elif one["error_message"].startswith("skipped: "):
            line["skipped"] = one["error_message"].removeprefix("skipped: ")
        else:
            line["failed"] = one["error_message"]
        run.add(part, line)
        if "laboratory" in one:
            run.add(part, {"row": "laboratory/" + name.split("/", 1)[1], "unit": "ns",
                           "values": [one["laboratory"]]})


def run_lines(run, part, program, environment, arguments):
    command = [str(program), "--rounds", "1"]
    if arguments.quick:
        command.append("--quick")
    if arguments.rows:
        command += ["--only", arguments.rows]
    status = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment,
                            timeout=PART_SECONDS, check=False)
    for text in status.stdout.splitlines():
        try:
            line = json.loads(text)
            run.add(part, line)
        except (ValueError, KeyError, TypeError):
            run.fail(part, f"cannot read the line: {text[:100]}")
    if status.returncode != 0 and not any(row["part"] == part for row in run.failed()):
        run.fail(part, f"exit status {status.returncode}")


def choose_rounds(arguments):
    """Returns {part: rounds} of the parts that are built, and a sentence about each other part."""
    rounds, sentences = {}, []
    for part in arguments.parts:
        if find_program(arguments.build, part) is None:
            sentences.append(f"{part}: not built, so not measured.")
        else:
            rounds[part] = 1 if arguments.quick else arguments.rounds or PARTS[part][0]
    return rounds, sentences


def run_part(run, part, program, environment, arguments):
    start = time.monotonic()
    try:
        runner = run_google if PARTS[part][1] else run_lines
        runner(run, part, program, environment, arguments)
    except subprocess.TimeoutExpired:
        run.fail(part, f"took more than {PART_SECONDS} s")
    return f"{part}, {time.monotonic() - start:.1f} s"


def measure(rounds, arguments, old):
    """Runs the rounds of the parts, spread evenly over one another. `old` alternates with this
    build's library, and either comes first in every other round. Returns the runs of both; `old`
    and its run may be None."""
    run, old_run = Run(), Run() if old else None
    most = max(rounds.values(), default=0)
    for step in range(most):
        for part, count in rounds.items():
            if (step + 1) * count // most == step * count // most:
                continue
            program = find_program(arguments.build, part)
            turns = [(run, program, None)]
            if old:
                turns.append((old_run, old.program_for[program], old.environment))
            for turn in turns[::-1] if step % 2 else turns:
                took = run_part(turn[0], part, *turn[1:], arguments)
                if not arguments.quiet:
                    print(f"round {step + 1} of {most}: {took}"
                          f"{' (beside)' if turn[0] is old_run else ''}", file=sys.stderr)
    return run, old_run


def read_first(path, prefix):
    """Returns what follows the colon in the first line that begins with `prefix`, or ''."""
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith(prefix):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return ""


def describe_machine():
    return {
        "processor": read_first("/proc/cpuinfo", "model name") or platform.machine(),
        "processors": len(os.sched_getaffinity(0)),
        "memory": read_first("/proc/meminfo", "MemTotal"),
        "kernel": platform.release(),
        "libc": " ".join(platform.libc_ver()),
        "hypervisor": "hypervisor" in read_first("/proc/cpuinfo", "flags").split(),
        "load": os.getloadavg()[0],
    }


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, help="the build's folder bench/")
    parser.add_argument("parts", nargs="*", metavar="PART",
                        help="these parts: " + ", ".join(PARTS) + "; else all")
    parser.add_argument("--only", help="the same, separated by commas")
    parser.add_argument("--rows", help="only rows whose name holds this")
    parser.add_argument("--rounds", type=int, help="of every part, instead of what each has")
    parser.add_argument("--quick", action="store_true",
                        help="run every row for a moment; the figures mean nothing")
    parser.add_argument("--quiet", action="store_true", help="do not say what runs")
    parser.add_argument("--json", type=pathlib.Path, default=pathlib.Path("etwas_bench.json"),
                        help="where every value goes")
    parser.add_argument("--expect", action="store_true",
                        help="also set the figures beside what is expected of them")
    parser.add_argument("--beside", type=pathlib.Path, metavar="OLD.so",
                        help="measure this libetwas.so too, in turn with the build's, and print "
                        "how "
                        "many times as much each row takes as with it")
    parser.add_argument("--read", type=pathlib.Path, nargs="+", metavar="JSON",
                        help="measure nothing: print runs kept earlier, the expectations for the "
                        "best of them")
    arguments = parser.parse_args()
    arguments.parts += arguments.only.split(",") if arguments.only else []
    arguments.parts = arguments.parts or list(PARTS)
    unknown = [part for part in arguments.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part is called {unknown[0]}; there are {', '.join(PARTS)}")
    if arguments.build is None and arguments.read is None:
        parser.error("--build or --read is needed")
    if arguments.beside and not arguments.beside.is_file():
        parser.error(f"{arguments.beside} is no file")
    return arguments


def show(kept):
    machine = kept["machine"]
    print(f"{machine['processors']} x {machine['processor']}"
          f"{', virtual' if machine['hypervisor'] else ''}, {machine['memory']}, "
          f"Linux {machine['kernel']}, {machine['libc']}; {kept['when']}")
    if machine["load"] > 0.3 * machine["processors"]:
        print(f"The machine was busy when the run began: load {machine['load']:.1f}.")
    for sentence in kept["sentences"]:
        print(sentence)
    if "beside" not in kept:
        tables.show(kept["rows"])
        return
    beside.show([kept])
    tables.show_sentences(kept["rows"])
    tables.show_sentences(kept["beside"]["rows"])


def main():
    arguments = parse()
    if arguments.read is not None:
        runs = [json.loads(path.read_text(encoding="utf-8")) for path in arguments.read]
        for kept in runs if not arguments.expect else []:
            show(kept)
        compared = [kept for kept in runs if "beside" in kept]
        if compared:
            beside.show(compared)
        else:
            expect.show([kept["rows"] for kept in runs])
        return 0
    machine = describe_machine()
    start = time.monotonic()
    rounds, sentences = choose_rounds(arguments)
    with contextlib.ExitStack() as stack:
        old = None
        if arguments.beside:
            programs = [find_program(arguments.build, part) for part in rounds]
            old = stack.enter_context(beside.Library(arguments.beside, arguments.build, programs))
        run, old_run = measure(rounds, arguments, old)
    kept = {
        "when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - start, 1),
        "quick": arguments.quick,
        "machine": machine,
        "sentences": sentences,
        "rows": list(run.rows.values()),
    }
    if old_run:
        kept["beside"] = {"library": str(arguments.beside), "rows": list(old_run.rows.values())}
    arguments.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    show(kept)
    if arguments.expect:
        expect.show([kept["rows"]])
    print(f"\n{kept['seconds']:.0f} s; every value is in {arguments.json}")
    if not run.rows:
        sys.exit("no row was measured")
    return 1 if run.failed() or old_run and old_run.failed() else 0


if __name__ == "__main__":
    sys.exit(main())
