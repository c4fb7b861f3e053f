#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Kills benchmarks while they write their files: nothing may stay behind, for these are large and
in memory.

usage: killed.py FOLDER-OF-BENCHMARKS
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

PROGRAMS = {
    "etwas_bench_hot": ["--benchmark_filter=hot/file/shared/tsc/16/", "--benchmark_min_time=0.5"],
    "etwas_bench_startup": ["--rounds", "1"],
    "compress/etwas_bench_compress": ["--rounds", "1"],
    "drain/etwas_bench_drain": ["--rounds", "1", "--only", "drain/disk/"],
}

MOST_TRIES = 20


def stop(process):
    """Whether it is stopped; else it has ended."""
    os.kill(process.pid, signal.SIGSTOP)
    return os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED
                     | os.WNOWAIT).si_code == os.CLD_STOPPED


def has_nameless_file(process, folder):
    names = map(os.readlink, pathlib.Path(f"/proc/{process.pid}/fd").iterdir())
    return any(name.startswith(folder) and name.endswith(" (deleted)") for name in names)


def kill_while_it_writes(program, arguments, folder):
    """Whether it came to that: on a busy machine it may have ended before it was looked at
    again."""
    environment = dict(os.environ, ETWAS_BENCH_FOLDER=folder, ETWAS_BENCH_DISK=folder)
    with subprocess.Popen([program, *arguments], env=environment, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        while stop(process):
            if has_nameless_file(process, folder):
                process.kill()
                return True
            os.kill(process.pid, signal.SIGCONT)
            time.sleep(0.003)
    return False


def main():
    for name, arguments in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(sys.argv[1], name)
            if not any(kill_while_it_writes(program, arguments, folder) for _ in range(MOST_TRIES)):
                sys.exit(f"{name} never had a file without a name")
            if os.listdir(folder):
                sys.exit(f"{name} left {os.listdir(folder)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
