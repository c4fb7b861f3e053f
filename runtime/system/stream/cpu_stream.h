/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A feed: the kernel's events of one processor, all in one ring, so in the order in which they
 * happened, stamped with CLOCK_MONOTONIC_RAW.
 *
 * The first event owns the ring, and does nothing else. Others write into its ring and may come and go
 * while it runs: tracepoints, intervals, and events that count nothing, through which the kernel tells of
 * processes, threads and images (sample.h). An event's records are of its tag. What it lost, and how often it happened, the kernel counts
 * beside the ring, which makes a proof of what arrives:
 *
 *     counted = samples in the ring + lost                   for an event whose period is 1
 *
 * They are of whoever runs on the processor, or of one thread and those that it begins, and they begin,
 * in its own code alone: as many events of a tag as there are threads, which count as one.
 *
 * A process that forks hands the child copies of the descriptors: the child calls etwas_cpu_stream_forget.
 * Not thread-safe. Needs PERF_FORMAT_LOST: Linux 6.0, and some before.
 */
#ifndef ETWAS_SYSTEM_STREAM_CPU_STREAM_H
#define ETWAS_SYSTEM_STREAM_CPU_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/stream/ring.h"
#include "system/stream/sample.h"
#include "system/stream/thread_numbers.h"
#include "system/unavailability.h"

enum {
    ETWAS_CPU_STREAM_EVENTS = 4096,
    ETWAS_CPU_STREAM_OWNER = 0, /* tag of the first event */

    /* What an event that counts nothing tells of. Each of them tells of FORK and EXIT as well. */
    ETWAS_PROCESS_RECORD_TASKS = 1 << 0,    /* FORK, EXIT */
    ETWAS_PROCESS_RECORD_NAMES = 1 << 1,    /* COMM */
    ETWAS_PROCESS_RECORD_IMAGES = 1 << 2,   /* MMAP2 of what can be executed, with build ids */
    ETWAS_PROCESS_RECORD_FILES = 1 << 3,    /* MMAP2 of anything, with devices and inodes */
    ETWAS_PROCESS_RECORD_SWITCHES = 1 << 5, /* SWITCH; SWITCH_CPU_WIDE behind each sched_switch */

    /* And those that tell of nothing else: samples that somebody else writes (probe.h). */
    ETWAS_PROCESS_RECORD_ARGUMENTS = 1 << 4, /* exec_probe.h */
    ETWAS_PROCESS_RECORD_PATHS = 1 << 6,     /* path_probe.h */
    ETWAS_PROCESS_RECORD_LENGTHS = 1 << 7,   /* length_probe.h */
    ETWAS_PROCESS_RECORD_PROBES =
        ETWAS_PROCESS_RECORD_ARGUMENTS | ETWAS_PROCESS_RECORD_PATHS | ETWAS_PROCESS_RECORD_LENGTHS,
};

struct etwas_cpu_stream_request {
    uint32_t tag; /* of the caller's; none of two events of a feed and thread, not 0 */
    uint32_t
        thread; /* of this process; 0: everybody's. Such an event waits for etwas_cpu_stream_enable */
    uint32_t type;             /* PERF_TYPE_* */
    uint64_t config;           /* a tracepoint's id */
    uint64_t sample_type;      /* of ETWAS_SAMPLE_KNOWN; ETWAS_SAMPLE_ALWAYS is there anyway */
    bool no_kernel_stack;      /* of PERF_SAMPLE_CALLCHAIN the user's part alone */
    uint32_t user_stack_bytes; /* of PERF_SAMPLE_STACK_USER */
    uint64_t period;
    const char *filter; /* of a tracepoint's fields; NULL: none */
    uint32_t
        process_records; /* ETWAS_PROCESS_RECORD_*; not 0: type, config and period say nothing */
};

struct etwas_cpu_stream_event {
    int descriptor; /* -1: closed */
    bool waits;     /* was not enabled yet, and has no records */
    uint16_t next;  /* of those with the same place in the table: its number from 1; 0: none */
    uint32_t tag;
    uint64_t id; /* of its records */
    uint64_t sample_type;
    uint64_t end; /* closed: its records end here in the ring */
};

struct etwas_cpu_stream_totals {
    uint64_t counted;
    uint64_t lost;
};

struct etwas_cpu_stream {
    uint32_t processor;
    uint32_t event_count;
    bool is_on;
    bool was_off;          /* the processor was, or its events were: nothing was read since */
    uint64_t closed_lost;  /* by events that are closed */
    uint64_t lost_emitted; /* of the ring's losses, those that topics were told of */
    int64_t
        ahead_ns; /* this process's CLOCK_MONOTONIC_RAW, of the kernel's (platform/time_namespace.h) */
    int64_t read_ns;     /* when what was read last happened; 0: nothing was */
    uint64_t full_seen;  /* how often the ring was full when they were told that */
    uint64_t checked_at; /* how much of the ring was written when it was last looked */
    uint16_t
        buckets[ETWAS_CPU_STREAM_EVENTS]; /* by ids: the first event's number from 1; 0: none */
    struct etwas_cpu_stream_event events[ETWAS_CPU_STREAM_EVENTS];
    struct etwas_ring ring;
};

/*
 * `thread`: of this process, if only its threads' events shall be there; 0: everybody's may. On failure there
 * is nothing to close.
 */
bool etwas_cpu_stream_open(struct etwas_cpu_stream *stream, uint32_t processor, uint32_t thread,
                           size_t ring_bytes, struct etwas_unavailability *reason);

void etwas_cpu_stream_start(struct etwas_cpu_stream *stream);

/* There will be events of the wish, too: from now on, or from the start on. */
bool etwas_cpu_stream_add(struct etwas_cpu_stream *stream,
                          const struct etwas_cpu_stream_request *request,
                          struct etwas_unavailability *reason);

/* Threads' events of the tag are there: from now on, or from the start on. */
void etwas_cpu_stream_enable(struct etwas_cpu_stream *stream, uint32_t tag);

/* From now on with another period; everybody's, and can be sampled in periods. */
void etwas_cpu_stream_set_period(struct etwas_cpu_stream *stream, uint32_t tag, uint64_t period);

/* No more of them; what is in the ring stays. False: there is no event of the tag. */
bool etwas_cpu_stream_remove(struct etwas_cpu_stream *stream, uint32_t tag,
                             struct etwas_cpu_stream_totals *totals);

/* No more of any of them. Totals can still be asked for, and the ring read. */
void etwas_cpu_stream_stop(struct etwas_cpu_stream *stream);

void etwas_cpu_stream_close(struct etwas_cpu_stream *stream);

/* In a fork's child: its copies of the descriptors. The parent goes on. Async-signal-safe. */
void etwas_cpu_stream_forget(struct etwas_cpu_stream *stream);

/* One of the feed's events that has its id is found by it from now on. */
void etwas_cpu_stream_index_event(struct etwas_cpu_stream *stream,
                                  struct etwas_cpu_stream_event *event);

/* The event a record is of, also if it was removed and the record is older; NULL: none of ours. */
static inline const struct etwas_cpu_stream_event *etwas_cpu_stream_event_of(
    const struct etwas_cpu_stream *stream, uint64_t id)
{
    const struct etwas_cpu_stream_event *event = NULL;

    for (uint32_t number = stream->buckets[id % ETWAS_CPU_STREAM_EVENTS]; number != 0;
         number = event->next) {
        event = &stream->events[number - 1];
        if (event->id == id) {
            return event;
        }
    }
    return NULL;
}

/* Everybody's, and on: does the kernel write nothing into it any more, since the processor was off? Interrupts it. */
bool etwas_cpu_stream_is_dead(const struct etwas_cpu_stream *stream);

/* Of one that is open. */
struct etwas_cpu_stream_totals etwas_cpu_stream_event_totals(
    const struct etwas_cpu_stream_event *event);

/* Of all that are open. False: there is no event of the tag. */
bool etwas_cpu_stream_totals(const struct etwas_cpu_stream *stream, uint32_t tag,
                             struct etwas_cpu_stream_totals *totals);

/* By all events that the feed ever had. */
uint64_t etwas_cpu_stream_lost(const struct etwas_cpu_stream *stream);

/* -1: there is no event of the tag. */
int etwas_cpu_stream_event_descriptor(const struct etwas_cpu_stream *stream, uint32_t tag);

/*
 * In front of a switch that is being read: whom it gives the processor to, as the namespace numbers it.
 * ETWAS_NO_NUMBER: something else follows.
 */
uint32_t etwas_cpu_stream_next_thread(const struct etwas_cpu_stream *stream);

/* To wait with poll() until a quarter of the ring is full. */
int etwas_cpu_stream_descriptor(const struct etwas_cpu_stream *stream);

#endif
