# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""When the session lost what, for etl_walk.py: records behind the clock snapshots of buffer 0."""
import struct

LOSS, SIZE = 16, 88
CAUSES = range(1, 10)
ANYWHERE = 0xFFFFFFFF


def check(walker):
    told = 0
    for record in walker.own():
        if record["type"] != LOSS or record["size"] != SIZE:
            continue
        version, cause, processor, _, events, begin, end = struct.unpack_from("<IIIIQqq",
                                                                              record["payload"])
        walker.check(version == 1 and cause in CAUSES, "loss: version or cause")
        walker.check(processor < walker.header["processors"] or processor == ANYWHERE,
                     "loss: processor")
        walker.check(events > 0 and begin <= end, "loss: of nothing, or of no time")
        told += events
    walker.check(walker.unfinished or told <= walker.totals["lost_events"],
                 "losses: more than the file counts")
