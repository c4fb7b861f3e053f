#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Makes a trace of the kernel and a program for the fuzz targets: one event of each kind that
`etwas` follows.

usage: seeds.py FOLDER_OF_TOOLS_TESTS TARGET_FOLDER
"""

import struct
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
# pylint: disable=wrong-import-position
import etl_build as etl

T = 1_000_001
ORDER = "11111111-2222-3333-4444-555555555555"
HEAP = "a3c81b52-0e9d-4b7e-8d46-2f5c90d7e6b4"


def processor_0():
    """Thread 21 of process 20 runs, waits for a file and is woken."""
    return [
        etl.account(T, 0x10),
        etl.process_event(3, T, 20, b"shop"),
        etl.thread_event(3, T, 20, 21),
        etl.file_name(T, 7, "/var/shop.db"),
        etl.switch(T + 1, 0, 21),
        etl.sample(T + 2, 21, 0x401000),
        etl.stack_walk(T + 2, T + 2, 21, 0x401000, 0x402000),
        etl.call_enter(T + 3, 0),
        etl.file_open(T + 4, 5, 7, "/var/shop.db", 21),
        etl.file_operation(T + 5, 67, 6, 7, 21),
        etl.page_fault(T + 6),
        etl.hard_fault(T + 7, T + 6, 21, 7),
        etl.interrupt(T + 8, T + 7),
        etl.switch(T + 10, 21, 0),
        etl.disk_request(T + 20, 10, 21, 5),
        etl.ready(T + 21, 21),
        etl.switch(T + 22, 0, 21),
        etl.file_end(T + 23, 6, 21),
        etl.call_exit(T + 24),
        etl.tcp_event(T + 25, 20),
        etl.kernel_symbol(T + 26, 0x401000, 100, "run"),
        etl.thread_event(2, T + 50, 20, 21),
    ]


def processor_1():
    """Thread 22 runs for nobody."""
    return [
        etl.thread_event(3, T, 20, 22),
        etl.switch(T + 1, 0, 22),
        etl.kernel_loss(T + 5, T + 2, 3),
        etl.switch(T + 30, 22, 0, etl.READY),
        etl.switch(T + 40, 0, 22),
    ]


def program():
    """Two instances, a message, and a heap that allocates."""
    fields = [("Number", etl.UINT32, 0), ("Name", etl.UNICODE, 0)]
    return [
        etl.event_info(T, ORDER, 1, "shop", "order", "begin", fields),
        etl.instance(ORDER, T + 2, 1, kind=1, process=20, thread=21,
                     payload=struct.pack("<I", 7) + "Ada\0".encode("utf-16-le")),
        etl.instance(ORDER, T + 3, 2, parent=1, parent_guid=ORDER, kind=1, process=20, thread=22),
        etl.thread_counters(T + 3, ORDER, 1, range(8), number=1),
        etl.classic(HEAP, T + 5, kind=10, payload=struct.pack("<QQ", 64, 0x1000), process=20,
                    thread=21),
        etl.instance(ORDER, T + 28, 2, kind=2, process=20, thread=22),
        etl.thread_counters(T + 29, ORDER, 2, range(8, 16), number=1),
        etl.instance(ORDER, T + 29, 1, kind=2, process=20, thread=21),
    ]


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    kernel, more = (0, processor_0()), (1, processor_1())
    (folder / "kernel").write_bytes(etl.trace([kernel, more], processors=2))
    (folder / "kernel_and_program").write_bytes(etl.trace([kernel, more, (2, program())],
                                                          processors=3))
    (folder / "program").write_bytes(etl.trace([(0, program())], own=[etl.totals(attempted=7)]))


if __name__ == "__main__":
    main(Path(sys.argv[2]))
