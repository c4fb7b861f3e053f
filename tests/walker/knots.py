# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The records a writer makes for itself beside the totals, for etl_walk.py: the calibration, the
clock and the knots. What they hold, where they may be, in what order."""
import struct

from losses import LOSS, SIZE as LOSS_SIZE

CALIBRATION, KNOT, TOTALS, CLOCK = 0, 1, 2, 3
STARTED, OPENED, RUNNING, ENDED = range(4)
SIZES = {CALIBRATION: 96, KNOT: 96, TOTALS: 104, CLOCK: 144, LOSS: LOSS_SIZE}
OLDER_TOTALS = (88, 96)  # without what was attempted, without what it ends
KNOT_FIELDS = ("version", "reason", "raw", "qpc", "filetime", "suspended", "qpc_error",
               "filetime_error")
FILETIME_UNIT_NS = 100
PLACES, LEAST = 64, 8  # fewer places in a file, or running knots in buffer 0: no knot buffers
CIRCULAR, APPEND, BUFFERING, KBYTES, RELOGGED = 0x2, 0x4, 0x400, 0x2000, 0x10000


def read(record):
    knot = dict(zip(KNOT_FIELDS, struct.unpack_from("<IIqqqqII", record["payload"])))
    knot["buffer"] = record["buffer"]
    return knot


def all_knots(walker):
    return [read(r) for r in walker.own() if r["type"] == KNOT and r["size"] == SIZES[KNOT]]


def places(walker):
    """Each kind where it belongs."""
    own = walker.own()
    at_front = [r["type"] for r in own if r["buffer"] == 0]
    once = [k for k in at_front if k not in (KNOT, LOSS)]
    walker.check(len(set(once)) == len(once), "records of our own: one kind twice")
    for record in own:
        walker.strict(record["name"] == "FULL64", "a record of our own: not FULL64")
        version = struct.unpack_from("<H", record["raw"], 6)[0]
        walker.strict(version == 1, "a record of our own: Class.Version")
        walker.strict(record["type"] in SIZES, "a record of our own: unknown type")
        walker.check(record["size"] == SIZES.get(record["type"], record["size"]) or
                     record["type"] == TOTALS and record["size"] in OLDER_TOTALS,
                     "a record of our own: size")
        walker.check(record["buffer"] == 0 or record["type"] == KNOT,
                     "a record of our own outside buffer 0")
    # What was written before there were knots may be appended to.
    order = [k for k in at_front if k != KNOT or CLOCK in at_front]
    while order and order[-1] == LOSS:
        order.pop()
    if at_front and not walker.header["mode"] & APPEND:
        walker.strict(order in ([CALIBRATION, TOTALS],
                                [CALIBRATION, TOTALS, CLOCK] + [KNOT] * (len(order) - 3)),
                      f"records of our own: in the order {at_front[:5]}")
    buffers = {}
    for record in walker.records if walker.own() else ():
        kind = "knots" if walker.is_own(record) else "event" if walker.is_event(record) else "metadata"
        buffers.setdefault(record["buffer"], set()).add(kind)
    for number, ours in buffers.items():
        alone = len(ours) == 1 or walker.header["mode"] & RELOGGED and "knots" not in ours
        walker.check(number == 0 or alone, f"buffer {number}: {sorted(ours)} together")


def clock(walker):
    for record in walker.own():
        if record["type"] != CLOCK or record["size"] != SIZES[CLOCK]:
            continue
        found = struct.unpack_from("<6IQQIHBB", record["payload"])
        version, requested, got, verdict, _, stated_by, hz, stated_hz, _, processors, rows, one_stream = found
        streams = max(rows, 1) * (1 if one_stream else processors)
        walker.check(version == 1 and max(processors, streams) <= walker.header["processors"] and rows <= 8 and
                     one_stream <= 1,
                     "clock: version or processors")
        walker.check(got == walker.header["clock"], "clock: not the header's")
        walker.check((requested, got) in ((1, 1), (2, 2), (3, 3), (3, 2)), "clock: not as requested")
        walker.check(verdict <= 2 and stated_by <= 4, "clock: verdict or source")
        walker.check((stated_hz == 0) == (stated_by == 0), "clock: stated by nobody")
        walker.check(got != 3 or hz > 0, "clock: used and not calibrated")
        walker.check(record["payload"][78] <= 2 and record["payload"][79] <= 5, "clock: protocol")
        for at, size in ((48, 30), (80, 16)):
            walker.check(0 in record["payload"][at:at + size], "clock: text without an end")


def values(walker, knots):
    kind, errors = walker.header["clock"], ("qpc_error", "filetime_error")
    for knot in knots:
        walker.check(knot["version"] == 1 and knot["reason"] <= ENDED, "knot: version or reason")
        exact, other = {1: errors, 2: errors[::-1]}.get(kind, (None, "filetime_error"))
        walker.check(exact is None or knot[exact] == 0, f"knot: {exact} of the session's own clock")
        least = FILETIME_UNIT_NS if kind == 2 else 1
        walker.check(knot[other] >= least, f"knot: {other} is too good")
        shown = {1: "qpc", 2: "filetime"}.get(kind)
        walker.check(shown is None or knot["raw"] == knot[shown], "knot: raw stamp")


def sessions(walker, knots):
    """Those of buffer 0, by session."""
    found = []
    for knot in knots:
        if knot["reason"] == STARTED or not found:
            found.append([])
        found[-1].append(knot)
    walker.check(len(found) <= 1 or walker.header["mode"] & APPEND, "knots: of several sessions")
    return found


def ascend(walker, knots, where):
    """In order, and by the session's clock too if it cannot be set back."""
    times = [k["qpc"] for k in knots]
    walker.check(times == sorted(set(times)), f"knots: {where}: not in order")
    if walker.header["clock"] != 2:
        raw = [k["raw"] for k in knots]
        walker.check(raw == sorted(set(raw)), f"knots: {where}: the clock goes back")


def session(walker, knots, last):
    reasons = [k["reason"] for k in knots]
    ascend(walker, knots, "buffer 0")
    walker.check(reasons[0] == STARTED, "knots: no start")
    walker.check(reasons.count(STARTED) == 1 and reasons.count(OPENED) <= 1, "knots: begun twice")
    finished = not last or not walker.unfinished
    if walker.header["mode"] & RELOGGED and len(knots) == 1:
        return  # the session never ended, nor read its clocks again
    # A session that was killed may have been the one before the last of an appended file.
    walker.check(last or ENDED not in reasons[:-1], "knots: go on behind the end")
    if last:
        walker.check(reasons[1:].count(ENDED) == finished and (reasons[-1] == ENDED) == finished,
                     "knots: the end")


def moved(walker, knots):
    """Knot buffers, in the order in which they were written; a snapshot's go backwards."""
    header = walker.header
    numbers = sorted({k["buffer"] for k in knots},
                     key=lambda n: walker.buffers[n]["sequence"] *
                     (-1 if header["mode"] & BUFFERING else 1))
    parts = [[k for k in knots if k["buffer"] == n] for n in numbers]
    for number, part in zip(numbers, parts):
        ascend(walker, part, f"buffer {number}")
        walker.strict({k["reason"] for k in part} == {RUNNING}, "knot buffer: not running ones")
        walker.strict(len(part) >= LEAST - 1, "knot buffer: few")
        buffer = walker.buffers[number]
        walker.strict(buffer["cpu"] == 0, "knot buffer: not of processor 0")
        stamps = {r["stamp"] for r in walker.records if r["buffer"] == number}
        walker.strict(stamps == {buffer["stamp"]}, "knot buffer: TimeStamp")
    if not header["mode"] & APPEND:
        ascend(walker, sum(parts, []), "knot buffers")
    limit = header["max_size"] * (1024 if header["mode"] & KBYTES else 1024 * 1024)
    if numbers and limit and not header["mode"] & (BUFFERING | APPEND):
        data = limit // header["size"] - 1
        walker.strict(data >= PLACES, "knot buffers in a small file")
        walker.strict(len(numbers) <= data // PLACES + 1, "knot buffers: many")


def check(walker):
    places(walker)
    clock(walker)
    found = all_knots(walker)
    values(walker, found)
    at_front = [k for k in found if k["buffer"] == 0]
    behind = [k for k in found if k["buffer"] != 0]
    kinds = {r["type"] for r in walker.own()}
    by_session = sessions(walker, at_front)
    walker.strict(CLOCK not in kinds or by_session, "knots: none")
    for index, knots in enumerate(by_session):
        session(walker, knots, index == len(by_session) - 1)
    moved(walker, behind)
    # A session that was killed may have moved knots and not taken them out of buffer 0.
    twice = {k["qpc"] for k in at_front} & {k["qpc"] for k in behind}
    walker.check(not twice or walker.unfinished or walker.header["mode"] & APPEND,
                 "knots: in two places")
    if by_session and CLOCK in kinds:
        start = by_session[0][0]
        walker.check(start["raw"] == walker.records[0]["stamp"], "knots: the start is not T0")
        walker.check(start["filetime"] == walker.header["start"],
                     "knots: the start is not StartTime")
    walker.knots = found
