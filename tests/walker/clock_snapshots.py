# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The records a writer makes for itself beside the totals, for etl_walk.py: the calibration, the
clock and the clock snapshots. What they hold, where they may be, in what order."""
import struct

from losses import LOSS, SIZE as LOSS_SIZE

CALIBRATION, CLOCK_SNAPSHOT, TOTALS, CLOCK = 0, 1, 2, 3
STARTED, OPENED, RUNNING, ENDED = range(4)
SIZES = {CALIBRATION: 96, CLOCK_SNAPSHOT: 96, TOTALS: 104, CLOCK: 144, LOSS: LOSS_SIZE}
OLDER_TOTALS = (88, 96)  # without what was attempted, without what it ends
CLOCK_SNAPSHOT_FIELDS = ("version", "reason", "raw", "qpc", "filetime", "suspended", "qpc_error",
               "filetime_error")
FILETIME_UNIT_NS = 100
# fewer places in a file, or running clock snapshots in buffer 0: no clock snapshot buffers
PLACES, LEAST = 64, 8
CIRCULAR, APPEND, BUFFERING, KBYTES, RELOGGED = 0x2, 0x4, 0x400, 0x2000, 0x10000


def read(record):
    clock_snapshot = dict(zip(CLOCK_SNAPSHOT_FIELDS,
                              struct.unpack_from("<IIqqqqII", record["payload"])))
    clock_snapshot["buffer"] = record["buffer"]
    return clock_snapshot


def all_clock_snapshots(walker):
    return [read(r) for r in walker.own() if r["type"] == CLOCK_SNAPSHOT and r["size"]
            == SIZES[CLOCK_SNAPSHOT]]


def places(walker):
    """Each kind where it belongs."""
    own = walker.own()
    at_front = [r["type"] for r in own if r["buffer"] == 0]
    once = [k for k in at_front if k not in (CLOCK_SNAPSHOT, LOSS)]
    walker.check(len(set(once)) == len(once), "records of our own: one kind twice")
    for record in own:
        walker.strict(record["name"] == "FULL64", "a record of our own: not FULL64")
        version = struct.unpack_from("<H", record["raw"], 6)[0]
        walker.strict(version == 1, "a record of our own: Class.Version")
        walker.strict(record["type"] in SIZES, "a record of our own: unknown type")
        walker.check(record["size"] == SIZES.get(record["type"], record["size"]) or
                     record["type"] == TOTALS and record["size"] in OLDER_TOTALS,
                     "a record of our own: size")
        walker.check(record["buffer"] == 0 or record["type"] == CLOCK_SNAPSHOT,
                     "a record of our own outside buffer 0")
    # What was written before there were clock snapshots may be appended to.
    order = [k for k in at_front if k != CLOCK_SNAPSHOT or CLOCK in at_front]
    while order and order[-1] == LOSS:
        order.pop()
    if at_front and not walker.header["mode"] & APPEND:
        walker.strict(order in ([CALIBRATION, TOTALS],
                                [CALIBRATION, TOTALS, CLOCK] + [CLOCK_SNAPSHOT] * (len(order) - 3)),
                      f"records of our own: in the order {at_front[:5]}")
    buffers = {}
    for record in walker.records if walker.own() else ():
        kind = ("clock snapshots" if walker.is_own(record) else
                "event" if walker.is_event(record) else "metadata")
        buffers.setdefault(record["buffer"], set()).add(kind)
    for number, ours in buffers.items():
        alone = len(ours) == 1 or walker.header["mode"] & RELOGGED and "clock snapshots" not in ours
        walker.check(number == 0 or alone, f"buffer {number}: {sorted(ours)} together")


def clock(walker):
    for record in walker.own():
        if record["type"] != CLOCK or record["size"] != SIZES[CLOCK]:
            continue
        found = struct.unpack_from("<6IQQIHBB", record["payload"])
        (version, requested, got, verdict, _, stated_by, hz, stated_hz, _, processors, rows,
         one_stream) = found
        streams = max(rows, 1) * (1 if one_stream else processors)
        walker.check(version == 1 and max(processors, streams) <= walker.header["processors"]
                     and rows <= 8 and
                     one_stream <= 1,
                     "clock: version or processors")
        walker.check(got == walker.header["clock"], "clock: not the header's")
        walker.check((requested, got) in ((1, 1), (2, 2), (3, 3), (3, 2)),
                     "clock: not as requested")
        walker.check(verdict <= 2 and stated_by <= 4, "clock: verdict or source")
        walker.check((stated_hz == 0) == (stated_by == 0), "clock: stated by nobody")
        walker.check(got != 3 or hz > 0, "clock: used and not calibrated")
        walker.check(record["payload"][78] <= 2 and record["payload"][79] <= 5, "clock: protocol")
        for at, size in ((48, 30), (80, 16)):
            walker.check(0 in record["payload"][at:at + size], "clock: text without an end")


def values(walker, clock_snapshots):
    kind, errors = walker.header["clock"], ("qpc_error", "filetime_error")
    for clock_snapshot in clock_snapshots:
        walker.check(clock_snapshot["version"] == 1 and clock_snapshot["reason"] <= ENDED,
                     "clock snapshot: version or reason")
        exact, other = {1: errors, 2: errors[::-1]}.get(kind, (None, "filetime_error"))
        walker.check(exact is None or clock_snapshot[exact] == 0,
                     f"clock snapshot: {exact} of the session's own clock")
        least = FILETIME_UNIT_NS if kind == 2 else 1
        walker.check(clock_snapshot[other] >= least, f"clock snapshot: {other} is too good")
        shown = {1: "qpc", 2: "filetime"}.get(kind)
        walker.check(shown is None or clock_snapshot["raw"] == clock_snapshot[shown],
                     "clock snapshot: raw stamp")


def sessions(walker, clock_snapshots):
    """Those of buffer 0, by session."""
    found = []
    for clock_snapshot in clock_snapshots:
        if clock_snapshot["reason"] == STARTED or not found:
            found.append([])
        found[-1].append(clock_snapshot)
    walker.check(len(found) <= 1 or walker.header["mode"] & APPEND,
                 "clock snapshots: of several sessions")
    return found


def ascend(walker, clock_snapshots, where):
    """In order, and by the session's clock too if it cannot be set back."""
    times = [k["qpc"] for k in clock_snapshots]
    walker.check(times == sorted(set(times)), f"clock snapshots: {where}: not in order")
    if walker.header["clock"] != 2:
        raw = [k["raw"] for k in clock_snapshots]
        walker.check(raw == sorted(set(raw)), f"clock snapshots: {where}: the clock goes back")


def session(walker, clock_snapshots, last):
    reasons = [k["reason"] for k in clock_snapshots]
    ascend(walker, clock_snapshots, "buffer 0")
    walker.check(reasons[0] == STARTED, "clock snapshots: no start")
    walker.check(reasons.count(STARTED) == 1 and reasons.count(OPENED) <= 1,
                 "clock snapshots: begun twice")
    finished = not last or not walker.unfinished
    if walker.header["mode"] & RELOGGED and len(clock_snapshots) == 1:
        return  # the session never ended, nor read its clocks again
    # A session that was killed may have been the one before the last of an appended file.
    walker.check(last or ENDED not in reasons[:-1], "clock snapshots: go on behind the end")
    if last:
        walker.check(reasons[1:].count(ENDED) == finished and (reasons[-1] == ENDED) == finished,
                     "clock snapshots: the end")


def moved(walker, clock_snapshots):
    """Buffers of clock snapshots, as they were written; those of a snapshot go backwards."""
    header = walker.header
    numbers = sorted({k["buffer"] for k in clock_snapshots},
                     key=lambda n: walker.buffers[n]["sequence"] *
                     (-1 if header["mode"] & BUFFERING else 1))
    parts = [[k for k in clock_snapshots if k["buffer"] == n] for n in numbers]
    for number, part in zip(numbers, parts):
        ascend(walker, part, f"buffer {number}")
        walker.strict({k["reason"] for k in part} == {RUNNING},
                      "clock snapshot buffer: not running ones")
        walker.strict(len(part) >= LEAST - 1, "clock snapshot buffer: few")
        buffer = walker.buffers[number]
        walker.strict(buffer["cpu"] == 0, "clock snapshot buffer: not of processor 0")
        stamps = {r["stamp"] for r in walker.records if r["buffer"] == number}
        walker.strict(stamps == {buffer["stamp"]}, "clock snapshot buffer: TimeStamp")
    if not header["mode"] & APPEND:
        ascend(walker, sum(parts, []), "clock snapshot buffers")
    limit = header["max_size"] * (1024 if header["mode"] & KBYTES else 1024 * 1024)
    if numbers and limit and not header["mode"] & (BUFFERING | APPEND):
        data = limit // header["size"] - 1
        walker.strict(data >= PLACES, "clock snapshot buffers in a small file")
        walker.strict(len(numbers) <= data // PLACES + 1, "clock snapshot buffers: many")


def check(walker):
    places(walker)
    clock(walker)
    found = all_clock_snapshots(walker)
    values(walker, found)
    at_front = [k for k in found if k["buffer"] == 0]
    behind = [k for k in found if k["buffer"] != 0]
    kinds = {r["type"] for r in walker.own()}
    by_session = sessions(walker, at_front)
    walker.strict(CLOCK not in kinds or by_session, "clock snapshots: none")
    for index, clock_snapshots in enumerate(by_session):
        session(walker, clock_snapshots, index == len(by_session) - 1)
    moved(walker, behind)
    # A session that was killed may have moved clock snapshots and not taken them out of buffer 0.
    twice = {k["qpc"] for k in at_front} & {k["qpc"] for k in behind}
    walker.check(not twice or walker.unfinished or walker.header["mode"] & APPEND,
                 "clock snapshots: in two places")
    if by_session and CLOCK in kinds:
        start = by_session[0][0]
        walker.check(start["raw"] == walker.records[0]["stamp"],
                     "clock snapshots: the start is not T0")
        walker.check(start["filetime"] == walker.header["start"],
                     "clock snapshots: the start is not StartTime")
    walker.clock_snapshots = found
