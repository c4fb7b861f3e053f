#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The example `consumer` computes what the example `tracelogging` has logged, and is as short as it
claims.

usage: consumer_test.py CONSUMER TRACELOGGING SOURCE_OF_CONSUMER
"""

import os
import subprocess
import sys
import tempfile

MOST_LINES = 40


def main():
    consumer, tracelogging, source = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert len(lines) <= MOST_LINES, len(lines)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.etl")
        subprocess.run([tracelogging, path], check=True, stdout=subprocess.DEVNULL)

        def ask(*arguments):
            result = subprocess.run([consumer, *arguments], capture_output=True, text=True,
                                    check=False)
            return result.returncode, result.stdout, result.stderr

        # 1,000 orders: prices of 0, 0.25 and so on. The 990th is that at 99 %.
        assert ask(path, "Order", "Price") == (0, "1000 values, p99 247.25\n", "")
        assert ask(path, "Order", "number") == (0, "1000 values, p99 989\n", "")
        for arguments in ((path, "Order", "Name"), (path, "Nothing", "Price"),
                          (path + ".missing", "Order", "Price"), (path,)):
            code, out, error = ask(*arguments)
            assert (code, out) == (1, "") and "consumer FILE EVENT FIELD: error" in error, arguments
    print("the consumer's figures are right")


if __name__ == "__main__":
    main()
