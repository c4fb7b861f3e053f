#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The spans of the example `spans` are those that `etwas spans` shows: a query in each order.

usage: spans_tool_test.py SPANS ETWAS
"""

import os
import subprocess
import sys
import tempfile


def main():
    spans, etwas = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.etl")
        subprocess.run([spans, path, "20"], check=True)
        text = subprocess.run([etwas, "spans", "--slowest", "1", path], check=True, text=True,
                              capture_output=True).stdout
    print(text)
    lines = text.splitlines()
    assert lines[0].startswith("4,000 spans in ") and lines[0].endswith(", 4,000 ended"), lines[0]
    classes = {line.split()[0]: line.split()[1] for line in lines if " 2,000 " in line}
    assert classes == {"Shop/Order": "2,000", "Shop/Query": "2,000"}, classes
    tree = [line for line in lines if "Shop/" in line and line.endswith("|")]
    assert len(tree) == 2, tree
    assert tree[0].startswith("Shop/Order ") and tree[1].startswith("  Shop/Query "), tree


if __name__ == "__main__":
    main()
