# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Compares the figures with what is expected of a machine with two processors.

Nothing fails here: a figure that misses is a question, not an error. The best of several runs
counts, for each line by itself.
"""

import tables

AT_MOST, AT_LEAST = "at most", "at least"


def ratio(above, below):
    return lambda medians: medians[above] / medians[below]


def difference(left, right):
    return lambda medians: medians[left] - medians[right]


def alone(row):
    return lambda medians: medians[row]


def either(*rows):
    """Returns the figure of the row that exists: the library chooses one of these methods."""
    return lambda medians: max(medians[row] for row in rows if row in medians)


def oversubscribed(protocol):
    """Returns the processor time per event of four threads per processor, relative to one
    thread."""
    start, end = f"scaling/{protocol}/unpinned/", "/cpu"

    def of(medians):
        names = [name for name in medians if name.startswith(start) and name.endswith(end)]
        return medians[names[0]] / medians[f"scaling/{protocol}/pinned/1/cpu"]

    return of


def against_lttng(kind, ours, theirs, payload, ending=""):
    return ratio(f"{kind}/{ours}/{payload}/1{ending}", f"{kind}/{theirs}/{payload}/1{ending}")


def times_faster(ours, theirs, payload):
    return against_lttng("peers", theirs, ours, payload)


def of_floor(call, clock):
    row = f"{call}/rseq/{clock}/16"
    return ratio(row, tables.floor_of(row))


def larger(recorder):
    """Returns the cost of a flight recorder, relative to one of 4 MB with buffers of the same
    size."""
    small = recorder.split("/")[0] + "/4mb"
    return ratio(f"recorder/{recorder}/rseq/tsc/16", f"recorder/{small}/rseq/tsc/16")


def eight_at_once(protocol):
    return ratio(f"many/8/buffering/{protocol}/tsc/16", "floor/tsc/16")


# The name, the function of the medians, the bound, its unit.
LINES = [
    ("TraceEventInstance, 16 bytes, TSC, rseq; recorder",
     ratio("hot/buffering/rseq/tsc/16", "floor/tsc/16"), AT_MOST, 1.25, "x floor"),
    ("the same, log file", ratio("hot/file/rseq/tsc/16", "floor/tsc/16"), AT_MOST, 1.25, "x floor"),
    ("the same with a constant for the clock", ratio("constant/rseq/16", "constant/shared/16"),
     AT_MOST, 0.8, "x shared"),
    ("4 KB into a log file", ratio("hot/file/rseq/tsc/4096", "floor/tsc/4096"), AT_MOST, 2,
     "x floor"),
    ("the same beside the other protocol", ratio("hot/file/rseq/tsc/4096",
                                                 "hot/file/shared/tsc/4096"),
     AT_MOST, 1, "x shared"),
    ("EventWrite, 16 bytes, TSC, rseq; recorder", of_floor("write", "tsc"), AT_MOST, 1.25,
     "x floor"),
    ("TraceEvent, the same", of_floor("event", "tsc"), AT_MOST, 1.3, "x floor"),
    ("TraceMessage with two arguments, the same", of_floor("message", "tsc"), AT_MOST, 1.3,
     "x floor"),
    ("TraceEventInstance of two fields, the same", of_floor("fields", "tsc"), AT_MOST, 1.3,
     "x floor"),
    ("TraceEventInstance, QPC", ratio("hot/buffering/rseq/qpc/16", "floor/qpc/16"), AT_MOST, 1.2,
     "x floor"),
    ("EventWrite, QPC", of_floor("write", "qpc"), AT_MOST, 1.2, "x floor"),
    ("TraceEvent, QPC", of_floor("event", "qpc"), AT_MOST, 1.2, "x floor"),
    ("TraceMessage, QPC", of_floor("message", "qpc"), AT_MOST, 1.2, "x floor"),
    ("TraceEventInstance of two fields, QPC", of_floor("fields", "qpc"), AT_MOST, 1.2, "x floor"),
    ("TraceLoggingWrite, u64 and u32, TSC, rseq; recorder",
     ratio("tracelogging/rseq/tsc/12", "floor_tracelogging/tsc/12"), AT_MOST, 1.4, "x floor"),
    ("one of eight instances by etwas_write_many, rseq", eight_at_once("rseq"), AT_MOST, 0.4,
     "x floor"),
    ("the same, shared", eight_at_once("shared"), AT_MOST, 0.4, "x floor"),
    ("a crash-safe session", ratio("crash_safe/rseq/tsc/16", "hot/buffering/rseq/tsc/16"),
     AT_MOST, 1.05, "x another"),
    ("a session with retention classes", ratio("classes/rseq/tsc/16", "hot/buffering/rseq/tsc/16"),
     AT_MOST, 1.1, "x another"),
    ("TraceEvent to one", ratio("classes_event/rseq/tsc/16", "event/rseq/tsc/16"), AT_MOST, 1.1,
     "x another"),
    ("TraceLoggingWrite to one", ratio("classes_tracelogging/rseq/tsc/12",
                                       "tracelogging/rseq/tsc/12"),
     AT_MOST, 1.1, "x another"),
    ("EventWrite to one", ratio("classes_write/rseq/tsc/16", "write/rseq/tsc/16"), AT_MOST, 1.1,
     "x another"),
    ("EventWrite to two sessions", ratio("write_two/rseq/tsc/16", "write/rseq/tsc/16"),
     AT_MOST, 1.8, "x one"),
    ("a stack of 16 frames, more than without", difference("stack/rseq/tsc/16",
                                                           "write/rseq/tsc/16"),
     AT_MOST, 150, "ns"),
    ("TraceEventInstance with KernelTime and UserTime", alone("times/rseq/tsc/16"),
     AT_MOST, 60, "ns"),
    ("a START with its thread's counters, more than without",
     difference("counted/rseq/tsc/16", "hot/buffering/rseq/tsc/16"), AT_MOST, 800, "ns"),
    ("LTTng discard / log file, u64 and u32", times_faster("etwas_file", "lttng_discard",
                                                           "u64_u32"),
     AT_LEAST, 8, "x faster"),
    ("LTTng discard / log file, 64 bytes", times_faster("etwas_file", "lttng_discard", "blob64"),
     AT_LEAST, 8, "x faster"),
    ("LTTng overwrite / recorder, u64 and u32", times_faster("etwas", "lttng_overwrite", "u64_u32"),
     AT_LEAST, 8, "x faster"),
    ("LTTng overwrite / recorder, 64 bytes", times_faster("etwas", "lttng_overwrite", "blob64"),
     AT_LEAST, 8, "x faster"),
    ("LTTng discard / TraceLogging to a log file", times_faster("etwas_tracelogging_file",
                                                                "lttng_discard", "u64_u32"),
     AT_LEAST, 4, "x faster"),
    ("LTTng overwrite / TraceLogging, recorder", times_faster("etwas_tracelogging",
                                                              "lttng_overwrite", "u64_u32"),
     AT_LEAST, 4, "x faster"),
    ("two pinned threads", ratio("scaling/rseq/pinned/2", "scaling/rseq/pinned/1"),
     AT_LEAST, 1.9, "x one"),
    ("four threads a processor, processor time", oversubscribed("rseq"), AT_MOST, 1.1, "x one"),
    ("p99 of one call, log file",
     against_lttng("peers_tails", "etwas_file", "lttng_discard", "u64_u32", "/p99"),
     AT_MOST, 0.35, "x LTTng"),
    ("p99.9 of one call, log file",
     against_lttng("peers_tails", "etwas_file", "lttng_discard", "u64_u32", "/p99.9"),
     AT_MOST, 0.7, "x LTTng"),
    ("p99 of one call, recorder",
     against_lttng("peers_tails", "etwas", "lttng_overwrite", "u64_u32", "/p99"),
     AT_MOST, 0.35, "x LTTng"),
    ("p99.9 of one call, recorder",
     against_lttng("peers_tails", "etwas", "lttng_overwrite", "u64_u32", "/p99.9"),
     AT_MOST, 0.5, "x LTTng"),
    ("recorder of 1 GB", larger("64kb/1gb"), AT_MOST, 1.15, "x 4 MB"),
    ("recorder of 65,536 buffers", larger("4kb/256mb"), AT_MOST, 1.15, "x 4 MB"),
    ("a call that takes a new buffer, p50", alone("tails/rseq/buffering/switching/p50"),
     AT_MOST, 100, "ns"),
    ("a call that takes a new buffer, p99", alone("tails/rseq/buffering/switching/p99"),
     AT_MOST, 250, "ns"),
    ("p99.9 of a call while a recorder's 64 MB are written, rseq",
     alone("snapshot/rseq/other/ratio_p99.9"), AT_MOST, 2, "x quiet"),
    ("the same, shared", alone("snapshot/shared/other/ratio_p99.9"), AT_MOST, 2, "x quiet"),
    ("lossless, new file on disk", either("drain/disk/buffered/1", "drain/disk/direct/1"),
     AT_LEAST, 10e6, "events/s"),
    ("lossless, direct I/O into space reserved", alone("drain/disk/direct/1"),
     AT_LEAST, 25e6, "events/s"),
    ("an event that counts, in a compressed file", alone("compress/counting/bytes/compressed"),
     AT_MOST, 20, "bytes"),
    ("a random one", alone("compress/random/bytes/compressed"), AT_MOST, 28, "bytes"),
    ("compressing events that count", ratio("compress/counting/speed/etwas",
                                            "compress/counting/speed/lz4"),
     AT_LEAST, 0.7, "x lz4 -1"),
    ("compressing random ones", ratio("compress/random/speed/etwas", "compress/random/speed/lz4"),
     AT_LEAST, 0.7, "x lz4 -1"),
    ("a call while the file is compressed", ratio("compress/counting/call/compressed",
                                                  "compress/counting/call/plain"),
     AT_MOST, 1.1, "x plain"),
    ("lost of 4 million a second, compressed", alone("compress/paced/lost/compressed"), AT_MOST, 0,
     "of all"),
    ("lost of all that a thread can log, more than plain",
     difference("compress/flood/lost/compressed", "compress/flood/lost/plain"), AT_MOST, 0.1,
     "of all"),
    ("walking through a file, one processor", alone("reading/walk/ratio"), AT_LEAST, 0.5,
     "x read(2)"),
    ("etwas stat, two processors", alone("reading/stat/ratio"), AT_LEAST, 0.9, "x two walks"),
    ("its memory", alone("reading/stat/memory"), AT_MOST, 64, "MB"),
    ("events made text of by name", alone("reading/dump/ratio"), AT_LEAST, 7, "x babeltrace2"),
    ("events shipped to ClickHouse", alone("shipping/ratio"), AT_LEAST, 0.7, "x its client"),
    ("the shipper's memory", alone("shipping/memory"), AT_MOST, 64, "MB"),
    ("an event there, in 18.16", alone("shipping/stored"), AT_MOST, 25, "bytes"),
    ("the drain of a kernel event", alone("kernel/drain/etwas"), AT_MOST, 150, "ns"),
    ("its share of one processor at 200,000 a second", alone("kernel/drain/etwas/processor"),
     AT_MOST, 0.03, "processors"),
    ("a build, its kernel events recorded", ratio("kernel/build/etwas", "kernel/build/perf"),
     AT_MOST, 1.05, "x perf"),
    ("kernel events lost in it", alone("kernel/build/etwas/lost"), AT_MOST, 0, "events"),
    ("memory only, two producers", alone("scaling/rseq/pinned/2"), AT_LEAST, 130e6, "events/s"),
    ("TraceEventInstance into a shared session", alone("processes/instance/host/ratio"), AT_MOST,
     1.05, "x private"),
    ("into another process's", alone("processes/instance/guest/ratio"), AT_MOST, 1.05, "x private"),
    ("EventWrite into a shared session", alone("processes/write/host/ratio"), AT_MOST, 1.05,
     "x private"),
    ("into another process's", alone("processes/write/guest/ratio"), AT_MOST, 1.05, "x private"),
    ("writers in two processes", alone("processes/two/ratio"), AT_MOST, 1.05, "x two threads"),
    ("enabled in another process, first event", alone("processes/enable/unattached"), AT_MOST, 5000,
     "us"),
    ("disabled gate above an empty call", difference("gate", "empty_call"), AT_MOST, 0.5, "ns"),
]


def measured(of, runs):
    """Returns the line's figure in each run that has its rows."""
    figures = []
    for rows in runs:
        try:
            figures.append(of(tables.medians_of(rows)))
        except (KeyError, IndexError, ValueError, ZeroDivisionError):
            continue
    return figures


def show(runs):
    tables.heading(f"expected; best of {len(runs)} run{'s' if len(runs) > 1 else ''}", [])
    for what, of, bound, limit, unit in LINES:
        figures = measured(of, runs)
        asked = f"{bound} {tables.number(limit)} {unit}"
        if not figures:
            print(f"{what:<50}{asked:>28}{'not measured':>14}")
            continue
        best = max(figures) if bound == AT_LEAST else min(figures)
        met = best >= limit if bound == AT_LEAST else best <= limit
        others = ", ".join(tables.number(figure) for figure in figures) if len(figures) > 1 else ""
        print(f"{what:<50}{asked:>28}{tables.number(best):>14}  "
              f"{'met' if met else 'MISSED':<8}{others}")
