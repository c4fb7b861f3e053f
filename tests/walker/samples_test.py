#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The walker on files of Windows: real ones, with the counts of the format's Evidence table, and
our own with their layouts."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "data"))
import etl_walk  # noqa: E402
import make  # noqa: E402

# buffers, compressed ones, and records of each header type, the whole file's
SAMPLES = {
    "HTTP_Server.etl": (36, 0, {"SYSTEM64": 1, "EVENT64": 2041}),
    "AMSITrace.etl": (6, 0, {"SYSTEM64": 2, "EVENT64": 19}),
    "SelfDescribingSingleEvent.etl": (3, 2, {"SYSTEM64": 4, "FULL64": 18, "EVENT64": 1}),
    "gcevents.etl": (5, 0, {"SYSTEM64": 2, "EVENT64": 69}),
    "lxcore_kernel.etl": (3, 0, {"SYSTEM64": 2, "EVENT64": 2}),
    "primitive-types.etl": (2, 0, {"SYSTEM64": 2, "EVENT64": 5}),
    "smallEtlFile.etl": (2, 1, {"SYSTEM32": 1, "EVENT32": 1}),
}


def faults_of(path, expected):
    with open(path, "rb") as file:
        walker = etl_walk.walk_bytes(file.read(), lenient=True)
    report = walker.report()
    types = dict(report["per_type"])
    for name, count in report["header_per_type"].items():
        types[name] = types.get(name, 0) + count
    found = (report["buffers"], report["compressed"], types)
    return [] if found == expected and not report["violations"] else [
        f"{path}: {found}, violations {report['violations']}"]


def main():
    folder = os.path.join(os.environ.get("ETWAS_SHARED_DIR", ""), "etl-samples")
    faults = []
    for name, data in make.files().items():
        path = os.path.join(make.FOLDER, name)
        with open(path, "rb") as file:
            if file.read() != data:
                faults.append(f"{path} is not what make.py makes: run it, and look at what changed")
        faults += faults_of(path, make.RECORDS[name])
    for name, expected in SAMPLES.items():
        path = os.path.join(folder, name)
        if os.path.exists(path):
            faults += faults_of(path, expected)
        else:
            print(f"skipped: {path} is not there")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
