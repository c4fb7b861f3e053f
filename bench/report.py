#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Runs etwas_bench, keeps Google Benchmark's JSON and prints every row beside its floor.

Each row is repeated many times, in random order with the others, so that whatever else the machine does
falls on all rows alike. A figure is the median of a row's repetitions; the spread is the 10th to
the 90th percentile. The ratio is that of two medians of the same run. Exits with 1 if a row failed.
"""

import argparse
import json
import math
import subprocess
import sys

# What a row without a clock and a payload of its own is compared with.
FLOORS = {"gate": "empty_call", "stopped/tsc/16": "empty_call"}


def floor_of(name):
    parts = name.split("/")
    if name in FLOORS:
        return FLOORS[name]
    return "/".join(["floor"] + parts[1:]) if len(parts) == 3 and parts[0] != "floor" else None


def percentile(values, share):
    """Linear between neighbours: percentile([1, 2, 3, 4], 0.5) == 2.5."""
    values = sorted(values)
    place = share * (len(values) - 1)
    low = math.floor(place)
    high = math.ceil(place)
    return values[low] + (values[high] - values[low]) * (place - low)


def measure(arguments):
    command = [
        arguments.program,
        f"--benchmark_repetitions={arguments.repetitions}",
        f"--benchmark_min_time={arguments.min_time}",
        "--benchmark_enable_random_interleaving=true",
        "--benchmark_format=json",
        f"--benchmark_out={arguments.json}",
        "--benchmark_out_format=json",
    ]
    if arguments.filter:
        command.append(f"--benchmark_filter={arguments.filter}")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(arguments.json, encoding="utf-8") as file:
        return json.load(file)


def collect(report):
    """Times in ns by row, in the order the program names them, and why a row failed."""
    times, failures = {}, {}
    runs = [run for run in report["benchmarks"] if run["run_type"] == "iteration"]
    for run in sorted(runs, key=lambda run: run["family_index"]):
        name = run["run_name"].removesuffix("/manual_time")
        times.setdefault(name, [])
        if run.get("error_occurred"):
            failures[name] = run.get("error_message", "failed")
        elif run.get("lost", 0) != 0:
            failures[name] = f"{run['lost']:.0f} events lost"
        else:
            times[name].append(run["real_time"])
    return times, failures


def print_table(times, failures):
    medians = {name: percentile(values, 0.5) for name, values in times.items() if values}
    print(f"{'row':<24}{'median ns':>10}{'p10':>9}{'p90':>9}{'floor ns':>10}{'ratio':>8}")
    for name, values in times.items():
        if name in failures:
            print(f"{name:<24}  FAILED: {failures[name]}")
            continue
        line = f"{name:<24}{medians[name]:>10.2f}"
        line += f"{percentile(values, 0.1):>9.2f}{percentile(values, 0.9):>9.2f}"
        floor = medians.get(floor_of(name))
        if floor:
            line += f"{floor:>10.2f}{medians[name] / floor:>8.2f}"
        print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the built etwas_bench")
    parser.add_argument("--repetitions", type=int, default=40)
    parser.add_argument("--min-time", type=float, default=0.02,
                        help="seconds a repetition measures; log files grow with it")
    parser.add_argument("--filter", help="regular expression: only these rows")
    parser.add_argument("--json", default="etwas_bench.json", help="where the raw results go")
    arguments = parser.parse_args()

    times, failures = collect(measure(arguments))
    if not times:
        sys.exit("no row was measured")
    print_table(times, failures)
    print(f"\n{arguments.repetitions} repetitions of {arguments.min_time} s each, interleaved; "
          f"all of them in {arguments.json}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
