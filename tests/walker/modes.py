# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""What the file modes mean for the buffers of a file, and the totals a file keeps; for
etl_walk.py."""
import struct

CIRCULAR, APPEND, NEWFILE, KBYTES = 0x2, 0x4, 0x8, 0x2000
PRIVATE, BUFFERING, ONE_STREAM, RELOGGED = 0x20800, 0x400, 0x10000000, 0x10000
PROCESSOR_INDEX, LAST = 0x20, 0x01
SOMETHING_LOST = 0x06  # of what was relogged, before the buffer or in it
TOTALS = 2
TOTALS_FIELDS = ("version", "part", "overwritten_events", "overwritten_buffers", "lost_events",
                 "lost_buffers", "attempted_events", "ends")
TOTALS_FORMAT = "<IIQQQQQII"
SIZE_OF_TOTALS = struct.calcsize(TOTALS_FORMAT)
ENDS_SESSION, RECOVERED = 1, 2
REAL_TIME, COMPRESSED = 0x100, 0x04000000
PACKED = 0x40
TICK_WITH_TIMES, TICK_WITHOUT = 10000, 156250
NO_TOTALS = dict.fromkeys(TOTALS_FIELDS, 0)


def is_of_this_library(walker):
    return any(map(walker.is_own, walker.records))


def goes_round(data):
    """1, 2, 3 ... from some place on, to the last and from the first."""
    return all(b == a % len(data) + 1 for a, b in zip(data, data[1:]))


def sessions(walker):
    """Which session of an appended file each buffer is of: each numbers its own from 1 again."""
    found, session, seen = [], 0, set()
    for buffer in walker.buffers:
        again = not walker.header["mode"] & CIRCULAR and buffer["sequence"] in seen
        session, seen = (session + 1, set()) if again else (session, seen)
        seen.add(buffer["sequence"])
        found.append(session)
    return found


def numbers(walker):
    """The sequence numbers: what a file of this mode may have, in which places."""
    header, count = walker.header, len(walker.buffers)
    found = [b["sequence"] for b in walker.buffers]
    circular, wrapped = header["mode"] & CIRCULAR, False
    if walker.unfinished and circular and count > 1:
        highest = max(found)
        wrapped = highest >= count
        lowest = max(1, highest - (count - 1) + 1)
        # It may have been left while it was ended: the oldest have their number from 1 on.
        anew = next(k for k in range(count + 1) if k + 1 not in found)
        found = [0] + [s + lowest - 1 if s <= anew else s for s in found[1:]]
        walker.check(sorted(found) == [0] + list(range(lowest, highest + 1)),
                     "sequence numbers are not 0 and the highest ones, each once")
    elif circular or header["mode"] & BUFFERING:
        walker.check(sorted(found) == list(range(count)),
                     "sequence numbers are not 0..N-1, each once")
    data = found[1:]
    if wrapped:
        in_place = all(1 + (s - 1) % (count - 1) == place for place, s in enumerate(data, 1))
    elif circular:
        in_place = goes_round(data)
    elif header["mode"] & BUFFERING:
        in_place = True
    else:
        # From 1 on, or from 1 on again where several sessions appended.
        walker.check(all(n > 0 for n in data), "sequence numbers are not above 0")
        in_place = all(n == before + 1 or n == 1 and header["mode"] & APPEND
                       for before, n in zip(found, data))
    walker.strict(in_place, "sequence numbers are not in the places of this mode")
    walker.strict(data == list(range(count - 1, 0, -1)) or not header["mode"] & BUFFERING,
                  "a snapshot is not numbered from its end")


def written(walker):
    header, count = walker.header, len(walker.buffers)
    walker.check(header["written"] <= count if walker.unfinished else header["written"] == count,
                 f"BuffersWritten {header['written']}, buffers {count}")


def size_limit(header):
    return header["max_size"] * (1024 if header["mode"] & KBYTES else 1024 * 1024)


def least_size(walker, at):
    """Less than this at the end is no whole buffer."""
    if not walker.header or not walker.header["mode"] & COMPRESSED:
        return walker.header.get("size", 0)
    return struct.unpack_from("<I", walker.data, at)[0] if len(walker.data) - at >= 72 else 72


def has_size(walker, buffer):
    """All have the session's; in a compressed file as much as there is of them, and no more than
    that."""
    if not walker.header["mode"] & COMPRESSED or buffer["number"] == 0:
        return buffer["size"] == walker.header["size"]
    if buffer["flags"] & PACKED:
        return buffer["size"] < buffer["offset"] <= walker.header["size"]
    # Of one whose content the disk dropped the size is left.
    return buffer["size"] == buffer["offset"] or buffer["offset"] == 72 and buffer[
        "size"] <= walker.header["size"]


def size(walker):
    header, limit = walker.header, size_limit(walker.header)
    if limit == 0 or header["mode"] & BUFFERING:
        return
    length = len(walker.data)
    walker.strict(length <= limit, "the file is longer than MaximumFileSize")
    if header["mode"] & CIRCULAR and walker.totals["overwritten_buffers"]:
        walker.strict(length == limit // header["size"] * header["size"],
                      "buffers were overwritten before the file was full")


def flags(walker, buffer):
    """BufferFlag and the context, by the mode."""
    name, head = f"buffer {buffer['number']}", buffer["number"] == 0
    last = head or buffer["number"] == len(walker.buffers) - 1
    wanted, found = PROCESSOR_INDEX | (LAST if last else 0), buffer["flags"]
    if walker.unfinished and not head:
        wanted, found = wanted & ~LAST, found & ~LAST
    if walker.header["mode"] & COMPRESSED and not head:
        found &= ~PACKED
    if walker.header["mode"] & RELOGGED and not head:
        found &= ~SOMETHING_LOST
    walker.strict(found == wanted, f"{name}: BufferFlag")
    if walker.header["mode"] & ONE_STREAM:
        walker.check(buffer["cpu"] == 0, f"{name}: a processor is recorded")
    # Each session of an appended file has its own.
    walker.strict(buffer["logger"] == walker.buffers[0]["logger"] or walker.header["mode"] & APPEND,
                  f"{name}: LoggerId")


def read_totals(walker):
    """The totals record, zeroes if there is none."""
    totals = dict(NO_TOTALS)
    for record in walker.own():
        if record["type"] == TOTALS and record["size"] >= 88:
            payload = record["payload"].ljust(SIZE_OF_TOTALS, b"\0")
            *found, reserved = struct.unpack_from(TOTALS_FORMAT, payload)
            totals = dict(zip(TOTALS_FIELDS, found))
            walker.check(totals["version"] == 1, "totals: version")
            walker.check(totals["ends"] & ~(ENDS_SESSION | RECOVERED) == reserved == 0,
                         "totals: ends")
    return totals


def totals(walker):
    """The header says the same as the totals, as far as it can."""
    header, found = walker.header, walker.totals
    if not any(r["type"] == TOTALS for r in walker.own()):
        return
    for name, field in (("lost_events", "lost"), ("lost_buffers", "buffers_lost")):
        walker.strict(header[field] == min(found[name], 0xFFFFFFFF),
                      f"totals: {name} {found[name]}, the header says {header[field]}")
    walker.strict(header["mode"] & (CIRCULAR | APPEND | RELOGGED | BUFFERING) or
                  found["ends"] & RECOVERED or
                  found["overwritten_events"] == found["overwritten_buffers"] == 0,
                  "totals: overwritten in a file that is not circular")
    walker.strict(bool(found["part"]) == bool(header["mode"] & NEWFILE), "totals: part")


def times(walker):
    """R106: processor times are 0 where the file does not say that it has them."""
    if not is_of_this_library(walker):
        return
    tick = walker.header["timer"]
    walker.strict(tick in (TICK_WITH_TIMES, TICK_WITHOUT), "TimerResolution")
    if tick == TICK_WITHOUT:
        for record in walker.records:
            at = {"FULL64": 40, "INSTANCE64": 40, "EVENT64": 56, "SYSTEM64": 24}.get(record["name"])
            walker.strict(at is None or not any(record["raw"][at:at + 8]),
                          f"buffer {record['buffer']}: processor times nobody asked for")


def check_set(walkers):
    """Parts of one new-file set, by their numbers: complete, of one session, and in order."""
    parts = [w.totals["part"] for w in walkers]
    wrong = [] if parts == list(range(1, len(parts) + 1)) else [f"set: the parts are {parts}"]
    for field in ("session", "start", "clock", "size", "processors", "frequency"):
        if len({w.header.get(field) for w in walkers}) > 1:
            wrong.append(f"set: the parts differ in {field}")
    # R134: real time may be turned on and off between two parts.
    if len({w.header["mode"] & ~REAL_TIME for w in walkers}) > 1:
        wrong.append("set: the parts differ in mode")
    if len({w.records[0]["stamp"] for w in walkers if w.records}) > 1:
        wrong.append("set: the parts differ in T0")
    latest = {}
    for walker in walkers:
        of_part = {}
        for record in walker.records:
            if record["buffer"] == 0:
                continue
            first = record["cpu"] not in of_part
            if first and walker.header["clock"] != 2 and record["stamp"] < latest.get(
                    record["cpu"], record["stamp"]):
                wrong.append(f"part {walker.totals['part']}: processor {record['cpu']} goes back")
            of_part[record["cpu"]] = max(record["stamp"], of_part.get(record["cpu"], 0))
        latest.update(of_part)
    # A part is ended after the next one was begun: a session killed in between leaves two open.
    ended = [w for i, w in enumerate(walkers) if not w.unfinished or i < len(walkers) - 2]
    ends = [w.header.get("end") for w in ended]
    if ends != sorted(ends) or 0 in ends:
        wrong.append("set: EndTime goes back")
    return wrong
