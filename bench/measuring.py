# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Shared by benchmarks that run programs: their options, their folder, and the rows they print.

Rows are as README.md describes.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile


class Failed(Exception):
    """A row cannot be measured, or its figure would be wrong. The text says why."""


class Skipped(Exception):
    """A row cannot be measured on this machine. The text says why."""


def emit(row, **fields):
    print(json.dumps({"row": row, **fields}), flush=True)


def attempt(row, measure, *arguments):
    """Measures a row. Returns whether it did not fail."""
    try:
        measure(*arguments)
    except Skipped as reason:
        emit(row, skipped=str(reason))
    except (Failed, OSError, ValueError, IndexError, subprocess.SubprocessError) as reason:
        emit(row, failed=str(reason))
        return False
    return True


def read_options(description, quick="each row for a moment"):
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1, help="how often to measure each row")
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--only", default="", help="only rows whose name holds this text")
    return parser.parse_args()


@contextlib.contextmanager
def temporary_folder(name):
    """Makes a folder for the time of a block: in memory, unless ETWAS_BENCH_FOLDER says where."""
    parent = os.environ.get("ETWAS_BENCH_FOLDER")
    if not parent and os.access("/dev/shm", os.W_OK):
        parent = "/dev/shm"
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"etwas_{name}.", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
