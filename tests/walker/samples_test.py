#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The walker on real Windows files: the counts of the format's Evidence table, and no violation."""
import os
import sys

import etl_walk

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


def main():
    folder = os.path.join(os.environ.get("ETWAS_SHARED_DIR", ""), "etl-samples")
    failed = read = 0
    for name, (buffers, compressed, types) in SAMPLES.items():
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            print(f"{name}: not there, skipped")
            continue
        read += 1
        with open(path, "rb") as file:
            walker = etl_walk.walk_bytes(file.read(), lenient=True)
        report = walker.report()
        found = (report["buffers"], report["compressed"],
                 dict(report["per_type"] + report["header_per_type"]))
        if found != (buffers, compressed, types) or report["violations"]:
            print(f"{name}: {found}, violations {report['violations']}")
            failed += 1
    return 1 if failed else 0 if read else 77


if __name__ == "__main__":
    sys.exit(main())
