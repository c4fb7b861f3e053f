/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A CPU event stream: the kernel's events of one processor. All are in one ring, in the order in
 * which they happened, stamped with CLOCK_MONOTONIC_RAW.
 *
 * The first event owns the ring and does nothing else. Other events write into its ring and come
 * and go while it runs: tracepoints, intervals, and events that count nothing and only report
 * processes, threads and images (sample.h). The records of an event have its tag. The kernel counts
 * how often an event happened and how often it was lost beside the ring, so that what arrives can
 * be verified:
 *
 *     counted = samples in the ring + lost                   for an event whose period is 1
 *
 * A stream records every thread that runs on the processor. Or it records threads of this process,
 * in their own code alone: then a tag has one event for each thread, which the threads that it
 * starts inherit, and these events count as one.
 *
 * A fork's child inherits copies of the descriptors; it calls etwas_cpu_stream_forget. The
 * functions are not thread-safe. Needs PERF_FORMAT_LOST: Linux 6.0, and some kernels before.
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
    ETWAS_CPU_STREAM_OWNER = 0, /* the tag of the first event */

    /* What an event that counts nothing reports. Each of them reports FORK and EXIT as well. */
    ETWAS_PROCESS_RECORD_TASKS = 1 << 0,    /* FORK, EXIT */
    ETWAS_PROCESS_RECORD_NAMES = 1 << 1,    /* COMM */
    ETWAS_PROCESS_RECORD_IMAGES = 1 << 2,   /* MMAP2 of executable mappings, with build ids */
    ETWAS_PROCESS_RECORD_FILES = 1 << 3,    /* MMAP2 of all mappings, with devices and inodes */
    ETWAS_PROCESS_RECORD_SWITCHES = 1 << 5, /* SWITCH; SWITCH_CPU_WIDE after each sched_switch */

    /* Samples that BPF programs of ours write (probe.h). These report nothing else. */
    ETWAS_PROCESS_RECORD_ARGUMENTS = 1 << 4, /* bpf_probes.h */
    ETWAS_PROCESS_RECORD_PATHS = 1 << 6,     /* bpf_probes.h */
    ETWAS_PROCESS_RECORD_LENGTHS = 1 << 7,   /* length_probe.h */
    ETWAS_PROCESS_RECORD_PROBES =
        ETWAS_PROCESS_RECORD_ARGUMENTS | ETWAS_PROCESS_RECORD_PATHS | ETWAS_PROCESS_RECORD_LENGTHS,
};

struct etwas_cpu_stream_request {
    uint32_t tag; /* the caller's; not 0, and unique for each stream and thread */
    /* A thread of this process, whose event waits for etwas_cpu_stream_enable; 0: every thread. */
    uint32_t thread;
    uint32_t type;             /* PERF_TYPE_* */
    uint64_t config;           /* the id of a tracepoint */
    uint64_t sample_type;      /* of ETWAS_SAMPLE_KNOWN; ETWAS_SAMPLE_ALWAYS is added */
    bool no_kernel_stack;      /* PERF_SAMPLE_CALLCHAIN has only the user's part */
    uint32_t user_stack_bytes; /* the size of PERF_SAMPLE_STACK_USER */
    uint64_t period;
    const char *filter; /* an expression over a tracepoint's fields; NULL: none */
    /* ETWAS_PROCESS_RECORD_*; if not 0, type, config and period are not used. */
    uint32_t process_records;
};

struct etwas_cpu_stream_event {
    int descriptor; /* -1: it is closed */
    bool waits;     /* it is not enabled yet, and has no records */
    uint16_t next;  /* the next event in the same bucket, by its number from 1; 0: it is the last */
    uint32_t tag;
    uint64_t id; /* the id that its records carry */
    uint64_t sample_type;
    uint64_t end; /* of a closed event: where its records end in the ring */
};

struct etwas_cpu_stream_totals {
    uint64_t counted;
    uint64_t lost;
};

struct etwas_cpu_stream {
    uint32_t processor;
    uint32_t event_count;
    bool is_on;
    bool was_off; /* the processor or the events were off, and nothing has been read since */
    uint64_t closed_lost;  /* lost by events that are closed */
    uint64_t lost_emitted; /* of the losses in the ring, those that have been emitted */
    /* This process's CLOCK_MONOTONIC_RAW minus the kernel's (platform/time_namespace.h). */
    int64_t ahead_ns;
    int64_t read_ns;     /* time of the last record that was read; 0: none was */
    uint64_t full_seen;  /* the ring's `times_full` that was last reported to the groups */
    uint64_t checked_at; /* how far the ring was written at the last check */
    /* Events by their ids: the number of the first one from 1; 0: none. */
    uint16_t buckets[ETWAS_CPU_STREAM_EVENTS];
    struct etwas_cpu_stream_event events[ETWAS_CPU_STREAM_EVENTS];
    struct etwas_ring ring;
};

/*
 * Opens the ring of a processor. `thread`: a thread of this process, if the stream is only for
 * events of its threads; 0: every thread. On failure nothing has to be closed, and *reason says
 * why.
 */
bool etwas_cpu_stream_open(struct etwas_cpu_stream *stream, uint32_t processor, uint32_t thread,
                           size_t ring_bytes, struct etwas_unavailability *reason);

void etwas_cpu_stream_start(struct etwas_cpu_stream *stream);

/*
 * Adds an event, which counts at once or from the start of the stream on. On failure *reason says
 * why.
 */
bool etwas_cpu_stream_add(struct etwas_cpu_stream *stream,
                          const struct etwas_cpu_stream_request *request,
                          struct etwas_unavailability *reason);

/* Enables the events of threads with this tag, at once or from the start of the stream on. */
void etwas_cpu_stream_enable(struct etwas_cpu_stream *stream, uint32_t tag);

/* Changes the period of a system-wide event that is sampled in periods. */
void etwas_cpu_stream_set_period(struct etwas_cpu_stream *stream, uint32_t tag, uint64_t period);

/* Closes the events of the tag; their records stay in the ring. Returns false if there is none. */
bool etwas_cpu_stream_remove(struct etwas_cpu_stream *stream, uint32_t tag,
                             struct etwas_cpu_stream_totals *totals);

/* Stops all events. Their totals can still be read, and so can the ring. */
void etwas_cpu_stream_stop(struct etwas_cpu_stream *stream);

void etwas_cpu_stream_close(struct etwas_cpu_stream *stream);

/*
 * In a fork's child: closes its copies of the descriptors. The parent goes on. Async-signal-safe.
 */
void etwas_cpu_stream_forget(struct etwas_cpu_stream *stream);

/* Adds an event that has its id to the buckets. */
void etwas_cpu_stream_index_event(struct etwas_cpu_stream *stream,
                                  struct etwas_cpu_stream_event *event);

/*
 * Returns the event that a record belongs to, also if it was removed after the record; NULL: it is
 * none of this stream.
 */
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

/*
 * Whether the kernel writes nothing into a system-wide stream any more because its processor was
 * offline. Interrupts the processor. The stream is on.
 */
bool etwas_cpu_stream_is_dead(const struct etwas_cpu_stream *stream);

/* Returns the totals of an open event. */
struct etwas_cpu_stream_totals etwas_cpu_stream_event_totals(
    const struct etwas_cpu_stream_event *event);

/* Returns the totals of all open events of the tag. Returns false if there is none. */
bool etwas_cpu_stream_totals(const struct etwas_cpu_stream *stream, uint32_t tag,
                             struct etwas_cpu_stream_totals *totals);

/* Returns how many records were lost by all events that the stream ever had. */
uint64_t etwas_cpu_stream_lost(const struct etwas_cpu_stream *stream);

/* Returns the descriptor of an open event; -1: there is none of the tag. */
int etwas_cpu_stream_event_descriptor(const struct etwas_cpu_stream *stream, uint32_t tag);

/*
 * While a switch is being read: returns the thread that gets the processor, by its number in the
 * namespace. ETWAS_NO_NUMBER: the next record does not say so.
 */
uint32_t etwas_cpu_stream_next_thread(const struct etwas_cpu_stream *stream);

/* Returns a descriptor for poll(), readable when a quarter of the ring is full. */
int etwas_cpu_stream_descriptor(const struct etwas_cpu_stream *stream);

#endif
