# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Builds small .etl files for the tests of the tools, straight from the format."""

import socket
import struct
import uuid

BUFFER_BYTES = 8192
FIRST_STAMP = 1_000_000  # of the header event; raw
PERF_FREQUENCY = 10_000_000  # one tick is 100 ns
START = 134_116_992_000_000_000  # 2026-01-01T00:00:00Z as FILETIME
OWN_CLASS = "7be5a508-db35-4ec9-b650-a9720ecb3b69"  # records etwas writes for itself

# The types of fields that there are, in records (in-types) ...
UNICODE, ANSI, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, FLOAT, DOUBLE = range(
    1, 13)
GUID, POINTER, FILETIME, SYSTEMTIME, HEX64, STRUCT = 15, 16, 17, 18, 21, 24
# ... and how they are to be shown (out-types).
OUT_STRING, OUT_BOOLEAN, OUT_WIN32ERROR, OUT_HRESULT = 2, 3, 13, 15


def classic(guid, stamp, kind=1, level=4, process=10, thread=11, payload=b"", times=(0, 0),
            version=0):
    """A FULL_HEADER64 record."""
    return struct.pack("<HBBBBHIIq16sII", 48 + len(payload), 0x14, 0xC0, kind, level, version,
                       thread, process, stamp, uuid.UUID(guid).bytes_le, *times) + payload


def message(number, flags, fields=b"", payload=b""):
    """A MESSAGE record; `fields` are what its flags ask for."""
    return struct.pack("<HBBHH", 8 + len(fields) + len(payload), 0, 0x90, number,
                       flags) + fields + payload


def instance(guid, stamp, number, parent=0, parent_guid=str(uuid.UUID(int=0)), kind=1, level=4,
             process=10, thread=11, payload=b""):
    """An INSTANCE64 record."""
    return (struct.pack("<HBBBBHIIq16sII", 72 + len(payload), 0x15, 0xC0, kind, level, 0, thread,
                        process, stamp, uuid.UUID(guid).bytes_le, 0, 0)
            + struct.pack("<II16s", number, parent, uuid.UUID(parent_guid).bytes_le) + payload)


def extended_item(kind, data, last):
    size = -(-(8 + len(data)) // 8) * 8
    return struct.pack("<HHHH", size, kind, 0 if last else 1,
                       len(data)) + data.ljust(size - 8, b"\0")


def tl_field(name, kind, out=0, count=None, listed=False):
    """A field of a TraceLogging schema: `count` is a constant, `listed`: a u16 before the
    values."""
    arity = 0x20 if count is not None else 0x40 if listed else 0
    return (name.encode() + b"\0" + bytes([kind | arity | (0x80 if out else 0)])
            + (bytes([out]) if out else b"")
            + (struct.pack("<H", count) if count is not None else b""))


def self_describing(guid, stamp, provider, event, fields=b"", payload=b"", opcode=0, level=5,
                    keyword=0, activity=None, process=10, thread=11, number=0, items=b"",
                    in_payload=False):
    """
    An EVENT_HEADER64 record with provider traits and an event schema, as items or at the head of
    its payload. Names are bytes; `fields` is what tl_field gives, in a row.
    """
    traits = struct.pack("<H", 3 + len(provider)) + provider + b"\0"
    schema = struct.pack("<H", 4 + len(event) + len(fields)) + b"\0" + event + b"\0" + fields
    if in_payload:
        payload = traits + schema + payload
    else:
        items += extended_item(12, traits, False) + extended_item(11, schema, True)
    size = 80 + len(items) + len(payload)
    return struct.pack("<HBBHHIIq16sHBBBBHQII16s", size, 0x13, 0xC0, 1 if items else 0, 0, thread,
                       process, stamp, uuid.UUID(guid).bytes_le, number, 0, 11, level, opcode, 0,
                       keyword, 0, 0, uuid.UUID(activity).bytes_le if activity
                       else bytes(16)) + items + payload


def tl_event(guid, stamp, provider, event, *more, **options):
    """The same with names that are text."""
    return self_describing(guid, stamp, provider.encode(), event.encode(), *more, **options)


def message_format(stamp, guid, number, text):
    """The record in which a file of etwas says what a message means."""
    return classic(OWN_CLASS, stamp, kind=4, level=0,
                   payload=struct.pack("<IHH", 1, number, 0) + uuid.UUID(guid).bytes_le
                   + text.encode() + b"\0")


def thread_counters(stamp, guid, kind, values, number=0, activity=None, known=7, processor=0,
                    process=20, thread=21):
    """What a thread has used, beside a START (1) or END (2); values: ran and waited ns, user and
    kernel us, …"""
    payload = (struct.pack("<II", 1, known) + uuid.UUID(guid).bytes_le
               + (uuid.UUID(activity).bytes_le if activity else bytes(16))
               + struct.pack("<4I8Q", number, kind, processor, 0, *values))
    return classic(OWN_CLASS, stamp, kind=13, level=0, process=process, thread=thread,
                   payload=payload, version=1)


def kernel_rung(stamp, rung, process, error):
    """The first record of a session of the kernel's events of its own process."""
    return classic(OWN_CLASS, stamp, kind=10, level=0,
                   payload=struct.pack("<4I", 1, rung, process, error))


METADATA_CLASS = "bbccf6c1-6cd1-48c4-80ff-839482e37671"


def utf16(text):
    return (text + "\0").encode("utf-16-le", "surrogatepass")


def event_info(stamp, guid, kind, provider, task, name, fields, version=0):
    """
    A record that describes the events of a type of a class. `fields`: name, in-type, out-type, and
    if wanted the name of a map, flags, count, length.
    """
    strings, base = b"", 112 + 24 * len(fields)

    def place(text):
        nonlocal strings
        at = base + len(strings)
        strings += utf16(text)
        return at

    names = [place(text) if text else 0 for text in (provider, task, name)]
    properties = b""
    for field, in_type, out_type, *more in fields:
        defaults = (None, 0, 1, 0)
        the_map, flags, count, length = (*more, *defaults[len(more):])
        properties += struct.pack("<IIHHIHHI", flags, place(field), in_type, out_type,
                                  place(the_map) if the_map else 0, count, length, 0)
    raw = uuid.UUID(guid).bytes_le
    info = struct.pack("<16s16sHBBBBHQ13I", raw, raw, 0, version, 0, 4, kind, 0, 0, 1, names[0], 0,
                       0, 0, names[1], names[2], 0, 0, 0, 0, 0,
                       0) + struct.pack("<III", len(fields), len(fields), 0)
    assert len(info) == 112
    return classic(METADATA_CLASS, stamp, kind=32, level=0, payload=info + properties + strings)


def map_info(stamp, guid, name, entries, flag=1):
    """A record that names the values of a map."""
    texts, at = b"", 16 + 8 * (len(entries) + 1)
    name_at, texts = at, utf16(name)
    body = b""
    for value, text in entries:
        body += struct.pack("<II", at + len(texts), value)
        texts += utf16(text)
    info = struct.pack("<IIII", name_at, flag, len(entries), 0) + body + bytes(8) + texts
    return classic(METADATA_CLASS, stamp, kind=33, level=0, payload=uuid.UUID(guid).bytes_le + info)


def described(guid, stamp, number, opcode, payload=b"", flags=0):
    """An EVENT_HEADER64 record of a manifest provider, without thread and process."""
    return struct.pack("<HBBHHIIq16sHBBBBHQII16s", 80 + len(payload), 0x13, 0xC0, flags, 0,
                       0xFFFFFFFF, 0xFFFFFFFF, stamp, uuid.UUID(guid).bytes_le, number, 1, 16, 2,
                       opcode, 7, 0x20, 0, 0, bytes(16)) + payload


def kernel_symbol(stamp, address, size, name, module="", version=1, left_out=0):
    """The record in which a system logger says where a function of the kernel is."""
    return classic(OWN_CLASS, stamp, kind=9, level=0,
                   payload=struct.pack("<IIQQ", version, left_out, address, size) + name.encode()
                   + b"\0" +
                   module.encode() + b"\0")


def totals(part=0, overwritten_events=0, overwritten_buffers=0, lost_events=0, lost_buffers=0,
           attempted=0, unattached=None):
    """The record in which a file of etwas keeps its totals, for buffer 0. `unattached`: code and
    number of processes."""
    return classic(OWN_CLASS, FIRST_STAMP, kind=2, level=0,
                   payload=struct.pack("<IIQQQQQ", 1, part, overwritten_events, overwritten_buffers,
                                       lost_events, lost_buffers, attempted) +
                   (struct.pack("<IHH", 0, *unattached) if unattached else b""))


def window(stamp, covered, trigger=None, number=1):
    """What a recorder's file says of a trigger's window: `covered` are stamps after the first and
    until the second."""
    trigger = covered[1] if trigger is None else trigger
    return classic(OWN_CLASS, stamp, kind=14, level=0, version=1, payload=struct.pack(
        "<IIIIqqqqqQ", 1, number, 1, 0, trigger, covered[0], covered[1], *covered, 0))


NO_BUFFER, BACKLOG_FULL, WRITE_ERROR, ANYWHERE = 1, 2, 3, 0xFFFFFFFF


def loss(since, until, events, processor=ANYWHERE, cause=NO_BUFFER):
    """What a session of etwas lost between two moments, for buffer 0."""
    return classic(OWN_CLASS, FIRST_STAMP, kind=16, level=0,
                   payload=struct.pack("<IIIIQqq", 1, cause, processor, 0, events, since, until))


def clock_snapshot(raw, qpc_ns, filetime, suspended_ns=0, errors_ns=(20, 120), reason=2):
    """A reading of the clocks in a file of etwas."""
    return classic(OWN_CLASS, FIRST_STAMP, kind=1, level=0,
                   payload=struct.pack("<IIqqqqII", 1, reason, raw, qpc_ns, filetime, suspended_ns,
                                       *errors_ns))


def clock_record(requested=1, got=1, verdict=2, reasons=1, stated_by=0, hz=3_000_000_000,
                 stated_hz=0, error_ppb=1500, clocksource=b"tsc", hypervisor=b"", processors=0):
    """What a session of etwas noted of the cycle counter."""
    return classic(OWN_CLASS, FIRST_STAMP, kind=3, level=0,
                   payload=struct.pack("<IIIIIIQQII32s16s", 1, requested, got, verdict, reasons,
                                       stated_by, hz, stated_hz, error_ppb, processors,
                                       clocksource, hypervisor))


def buffer(records, sequence, processor=0, kind=0, stamp=0, size=BUFFER_BYTES, flags=0x20):
    body = b"".join(r.ljust(-(-len(r) // 8) * 8, b"\0") for r in records)
    used = 72 + len(body)
    assert used <= size
    header = struct.pack("<IIIiqqQHHIIHHQQ", size, used, used, 0, stamp, sequence, 0, processor, 1,
                         3, used, flags | (1 if kind == 4 else 0), kind, 0, 0)
    return (header + body).ljust(size, b"\xff")


def header_buffer(buffers, name="session", log_file="x.etl", finished=True, ended=20_000_000,
                  events_lost=0, buffers_lost=0, size=BUFFER_BYTES, processors=4, mode=1,
                  tick=156250, own=(), clock=1, frequency=PERF_FREQUENCY, start=START,
                  first=FIRST_STAMP, booted=START - 1):
    log_header = struct.pack(
        "<I4sIIqIIIIIIIIQQ172sIqqqII", size, bytes([10, 0, 1, 5]), 19045, processors,
        start + ended if finished else 0, tick, 0, mode, buffers, 1, 8, events_lost, 3000, 0, 0,
        bytes(172), 0, booted, frequency, start, clock, buffers_lost)
    names = (name + "\0").encode("utf-16-le", "surrogatepass") + utf16(log_file)
    record = struct.pack("<HBBHBBIIqII", 2, 2, 0xC0, 32 + len(log_header) + len(names), 0, 0, 11,
                         10, first, 0, 0) + log_header + names
    return buffer([record, *own], 0, kind=4, size=size)


def trace(per_buffer, flags=0x20, **options):
    """A whole file: one data buffer for each (processor, records) of `per_buffer`."""
    data = [buffer(records, i + 1, processor, stamp=1 << 60, flags=flags)
            for i, (processor, records) in enumerate(per_buffer)]
    return b"".join([header_buffer(len(data) + 1, **options)] + data)


THREAD_GROUP, PROCESS_GROUP = 0x05, 0x03
READY, TERMINATED, WAITING = 1, 4, 5  # what a thread is that gives way


def kernel(group, kind, stamp, payload, version=2):
    """A PERFINFO64 record: what the kernel logs without a thread."""
    return struct.pack("<HBBHBBq", version, 0x11, 0xC0, 16 + len(payload), kind, group,
                       stamp) + payload


def system(group, kind, stamp, payload, version=3, process=10, thread=11):
    """A SYSTEM64 record."""
    return struct.pack("<HBBHBBIIqII", version, 2, 0xC0, 32 + len(payload), kind, group, thread,
                       process, stamp, 0, 0) + payload


def switch(stamp, old, new, state=WAITING, reason=0, version=2):
    """A context switch: thread `new` comes in the place of `old`, which is then in `state`."""
    return kernel(THREAD_GROUP, 36, stamp, struct.pack("<IIbbBbBbBBII", new, old, 8, 8, 0, 0,
                                                       reason, 0, state, 0, 0, 0), version=version)


def ready(stamp, thread):
    """A thread is woken."""
    return kernel(THREAD_GROUP, 50, stamp, struct.pack("<IBbBB", thread, 0, 0, 0, 0))


def kernel_loss(stamp, since, events=1):
    """Events of the processor were lost between two moments; 0: it was off, or not recorded."""
    return classic(OWN_CLASS, stamp, kind=7, payload=struct.pack("<IIQqq", 1, events == 0, events,
                                                                 since, stamp))


def own_process(stamp, process, rung=2):
    """The session is of one process alone."""
    return classic(OWN_CLASS, stamp, kind=10, level=0,
                   payload=struct.pack("<IIII", 1, rung, process, 0))


def thread_event(kind, stamp, process, thread, by=11, version=3):
    """A thread starts (1), ends (2), was there at the beginning (3) or at the end (4)."""
    return system(THREAD_GROUP, kind, stamp, struct.pack("<II", process, thread) + bytes(64),
                  version=version, thread=by)


def thread_name(stamp, thread, name, process=20):
    """A thread is given a name."""
    return system(THREAD_GROUP, 72, stamp, struct.pack("<II", process, thread) + utf16(name),
                  version=2, thread=thread)


def process_event(kind, stamp, process, name, parent=1, by=11):
    """Likewise a process, version 2; `name` is bytes. By its own first thread: it runs another
    program."""
    return system(PROCESS_GROUP, kind, stamp, struct.pack("<QIIIiI", 0, process, parent, 0, 259, 0)
                  + name + b"\0" + utf16(""), version=2, thread=by)


PERFORMANCE_GROUP, FAULT_GROUP, STACK_GROUP, FILE_GROUP, DISK_GROUP = 0x0F, 0x02, 0x18, 0x04, 0x01


def call_enter(stamp, number):
    return kernel(PERFORMANCE_GROUP, 51, stamp, struct.pack("<Q", number))


def call_exit(stamp):
    return kernel(PERFORMANCE_GROUP, 52, stamp, bytes(4))


def sample(stamp, thread, address):
    return kernel(PERFORMANCE_GROUP, 46, stamp, struct.pack("<QIHBB", address, thread, 1, 0, 0))


def interrupt(stamp, since):
    return kernel(PERFORMANCE_GROUP, 67, stamp, struct.pack("<qQBHB", since, 0, 1, 3, 0))


def page_fault(stamp, kind=11):
    return kernel(FAULT_GROUP, kind, stamp, bytes(16))


def hard_fault(stamp, since, thread, file=0):
    return kernel(FAULT_GROUP, 32, stamp, struct.pack("<qqQQII", since, 0, 0, file, thread, 4096))


def file_operation(stamp, kind, operation, file, thread):
    """An operation on a file begins: read (67), write (68), or another one."""
    place = bytes(8) if kind in (67, 68) else b""
    return system(FILE_GROUP, kind, stamp, place + struct.pack("<QQQI", operation, file, file,
                                                               thread) + bytes(12),
                  process=20, thread=thread)


def file_open(stamp, operation, file, path, thread):
    return system(FILE_GROUP, 64, stamp, struct.pack("<QQIIII", operation, file, thread, 0, 0, 0)
                  + utf16(path), process=20, thread=thread)


def file_deleted(stamp, operation, path, thread):
    """Which path an operation deletes, which has no number."""
    return system(FILE_GROUP, 79, stamp, struct.pack("<QQQQII", operation, 0, 0, 0, thread, 13)
                  + utf16(path), process=20, thread=thread)


def file_end(stamp, operation, thread):
    return system(FILE_GROUP, 76, stamp, struct.pack("<QQI", operation, 0, 0), process=20,
                  thread=thread)


def file_name(stamp, file, name, kind=0):
    return kernel(FILE_GROUP, kind, stamp, struct.pack("<Q", file) + utf16(name), version=3)


def tcp_event(stamp, process, kind=11, local=("127.0.0.1", 80), remote=("10.0.0.1", 4000),
              group=0x06):
    """Something was received (11) or sent (10) by TCP, or UDP, group 8; of IPv6 16 more."""
    (ours, our_port), (theirs, their_port) = local, remote
    family = socket.AF_INET6 if kind >= 26 else socket.AF_INET
    return kernel(group, kind, stamp, struct.pack("<II", process, 1)
                  + socket.inet_pton(family, theirs) +
                  socket.inet_pton(family, ours) + struct.pack(">HH", their_port, our_port)
                  + bytes(12))


def disk_request(stamp, kind, thread, ticks, size=4096):
    """A read (10), write (11) or flush (14) is done that a thread handed over so long before."""
    if kind == 14:
        return kernel(DISK_GROUP, kind, stamp, struct.pack("<IIQQI", 1, 0, ticks, 7, thread),
                      version=3)
    return kernel(DISK_GROUP, kind, stamp, struct.pack("<IIIIQQQQI", 1, 0, size, 0, 0, 0, 7, ticks,
                                                       thread), version=3)


def account(stamp, flags):
    """What became of one of the kernel's sources that these flags ask for: nothing was lost."""
    return classic(OWN_CLASS, stamp, kind=5, level=0,
                   payload=struct.pack("<7I", 1, 0, 1, 1, 0, 1, flags) + bytes(52))


def stack_walk(stamp, of, thread, *frames):
    return kernel(STACK_GROUP, 32, stamp, struct.pack(f"<qII{len(frames)}Q", of, 10, thread,
                                                      *frames))
