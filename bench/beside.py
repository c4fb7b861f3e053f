# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Compares a library of another build with this build's, both measured in turn in one run.

The programs run with that library in place of this build's. If the other library is still in its
build (BUILD/runtime), and its benchmarks too, its own programs run it: an interface between the two
may differ.
"""

import contextlib
import os
import pathlib
import tempfile

import tables


class Library:
    """Runs programs with the library at `path` in place of that of `build`. These are the programs
    of the library's own build, if they exist, otherwise those of `build`. In the environment, the
    loader finds the library under each name that either build gives its own."""

    def __init__(self, path, build, programs):
        library = path.resolve(strict=True)
        own = {program: library.parent.parent / "bench" / program.relative_to(build)
               for program in programs}
        has_own = all(program.is_file() for program in own.values())
        self.program_for = own if has_own else {program: program for program in programs}
        self.folder = tempfile.TemporaryDirectory()
        for folder in (library.parent, build.resolve().parent / "runtime"):
            for name in folder.glob("libetwas.so*"):
                with contextlib.suppress(FileExistsError):
                    (pathlib.Path(self.folder.name) / name.name).symlink_to(library)
        self.environment = dict(os.environ, LD_LIBRARY_PATH=self.folder.name)

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        self.folder.cleanup()


def lowest_of(rows):
    """Returns {row: 10th percentile}. Other activity of a machine only makes a round slower, so the
    lower end of the rounds shows what the code takes. On a shared machine medians of two equal
    libraries differ by up to a third."""
    return {row["row"]: tables.percentile(row["values"], 0.1) for row in rows
            if row["values"] and "failed" not in row}


def compare(kept):
    """Returns {row: (with the other library, with this one)} of a run that has both."""
    old, new = lowest_of(kept["beside"]["rows"]), lowest_of(kept["rows"])
    return {name: (old[name], new[name]) for name in new if old.get(name)}


def show(runs):
    """Shows, for each row by itself, the run with the lowest ratio."""
    found = [compare(kept) for kept in runs]
    best = {name: min((run[name] for run in found if name in run),
                      key=lambda pair: pair[1] / pair[0])
            for run in found for name in run}
    tables.heading(f"beside {runs[0]['beside']['library']}"[-tables.WIDTH:],
                   ["before", "now", "ratio"] + ["of each run"] * (len(runs) > 1))
    for name, (old, new) in best.items():
        ratios = [f"{run[name][1] / run[name][0]:10.3f}" for run in found if name in run]
        print(f"{name:<{tables.WIDTH}}{tables.number(old):>10}{tables.number(new):>10}"
              f"{new / old:>10.3f}{''.join(ratios) if len(runs) > 1 else ''}")
    ratios = {name: new / old for name, (old, new) in best.items()}
    if ratios:
        highest = max(ratios, key=ratios.get)
        print(f"\n{len(ratios)} rows: median of the ratios "
              f"{tables.percentile(list(ratios.values()), 0.5):.3f}, "
              f"highest {ratios[highest]:.3f} ({highest})")
