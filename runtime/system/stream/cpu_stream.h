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
 * A process that forks hands the child copies of the descriptors: the child calls etwas_feed_forget.
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
    ETWAS_FEED_EVENTS = 4096,
    ETWAS_FEED_OWNER = 0, /* tag of the first event */

    /* What an event that counts nothing tells of. Each of them tells of FORK and EXIT as well. */
    ETWAS_SIDEBAND_TASKS = 1 << 0,    /* FORK, EXIT */
    ETWAS_SIDEBAND_NAMES = 1 << 1,    /* COMM */
    ETWAS_SIDEBAND_IMAGES = 1 << 2,   /* MMAP2 of what can be executed, with build ids */
    ETWAS_SIDEBAND_FILES = 1 << 3,    /* MMAP2 of anything, with devices and inodes */
    ETWAS_SIDEBAND_SWITCHES = 1 << 5, /* SWITCH; SWITCH_CPU_WIDE behind each sched_switch */

    /* And those that tell of nothing else: samples that somebody else writes (probe.h). */
    ETWAS_SIDEBAND_ARGUMENTS = 1 << 4, /* exec_probe.h */
    ETWAS_SIDEBAND_PATHS = 1 << 6,     /* path_probe.h */
    ETWAS_SIDEBAND_LENGTHS = 1 << 7,   /* length_probe.h */
    ETWAS_SIDEBAND_PROBES =
        ETWAS_SIDEBAND_ARGUMENTS | ETWAS_SIDEBAND_PATHS | ETWAS_SIDEBAND_LENGTHS,
};

struct etwas_feed_wish {
    uint32_t tag; /* of the caller's; none of two events of a feed and thread, not 0 */
    uint32_t
        thread;    /* of this process; 0: everybody's. Such an event waits for etwas_feed_enable */
    uint32_t type; /* PERF_TYPE_* */
    uint64_t config;           /* a tracepoint's id */
    uint64_t sample_type;      /* of ETWAS_SAMPLE_KNOWN; ETWAS_SAMPLE_ALWAYS is there anyway */
    bool no_kernel_stack;      /* of PERF_SAMPLE_CALLCHAIN the user's part alone */
    uint32_t user_stack_bytes; /* of PERF_SAMPLE_STACK_USER */
    uint64_t period;
    const char *filter; /* of a tracepoint's fields; NULL: none */
    uint32_t sideband;  /* ETWAS_SIDEBAND_*; not 0: type, config and period say nothing */
};

struct etwas_feed_event {
    int descriptor; /* -1: closed */
    bool waits;     /* was not enabled yet, and has no records */
    uint16_t next;  /* of those with the same place in the table: its number from 1; 0: none */
    uint32_t tag;
    uint64_t id; /* of its records */
    uint64_t sample_type;
    uint64_t end; /* closed: its records end here in the ring */
};

struct etwas_feed_totals {
    uint64_t counted;
    uint64_t lost;
};

struct etwas_feed {
    uint32_t processor;
    uint32_t event_count;
    bool is_on;
    bool was_off;         /* the processor was, or its events were: nothing was read since */
    uint64_t closed_lost; /* by events that are closed */
    uint64_t lost_told;   /* of the ring's losses, those that topics were told of */
    int64_t
        ahead_ns; /* this process's CLOCK_MONOTONIC_RAW, of the kernel's (platform/time_namespace.h) */
    int64_t read_ns;    /* when what was read last happened; 0: nothing was */
    uint64_t full_told; /* how often the ring was full when they were told that */
    uint64_t looked_at; /* how much of the ring was written when it was last looked */
    uint16_t places[ETWAS_FEED_EVENTS]; /* by ids: the first event's number from 1; 0: none */
    struct etwas_feed_event events[ETWAS_FEED_EVENTS];
    struct etwas_ring ring;
};

/*
 * `thread`: of this process, if only its threads' events shall be there; 0: everybody's may. On failure there
 * is nothing to close.
 */
bool etwas_feed_open(struct etwas_feed *feed, uint32_t processor, uint32_t thread,
                     size_t ring_bytes, struct etwas_fault *fault);

void etwas_feed_start(struct etwas_feed *feed);

/* There will be events of the wish, too: from now on, or from the start on. */
bool etwas_feed_add(struct etwas_feed *feed, const struct etwas_feed_wish *wish,
                    struct etwas_fault *fault);

/* Threads' events of the tag are there: from now on, or from the start on. */
void etwas_feed_enable(struct etwas_feed *feed, uint32_t tag);

/* From now on with another period; everybody's, and can be sampled in periods. */
void etwas_feed_set_period(struct etwas_feed *feed, uint32_t tag, uint64_t period);

/* No more of them; what is in the ring stays. False: there is no event of the tag. */
bool etwas_feed_remove(struct etwas_feed *feed, uint32_t tag, struct etwas_feed_totals *totals);

/* No more of any of them. Totals can still be asked for, and the ring read. */
void etwas_feed_stop(struct etwas_feed *feed);

void etwas_feed_close(struct etwas_feed *feed);

/* In a fork's child: its copies of the descriptors. The parent goes on. Async-signal-safe. */
void etwas_feed_forget(struct etwas_feed *feed);

/* One of the feed's events that has its id is found by it from now on. */
void etwas_feed_enter(struct etwas_feed *feed, struct etwas_feed_event *event);

/* The event a record is of, also if it was removed and the record is older; NULL: none of ours. */
static inline const struct etwas_feed_event *etwas_feed_event_of(const struct etwas_feed *feed,
                                                                 uint64_t id)
{
    const struct etwas_feed_event *event = NULL;

    for (uint32_t number = feed->places[id % ETWAS_FEED_EVENTS]; number != 0;
         number = event->next) {
        event = &feed->events[number - 1];
        if (event->id == id) {
            return event;
        }
    }
    return NULL;
}

/* Everybody's, and on: does the kernel write nothing into it any more, since the processor was off? Interrupts it. */
bool etwas_feed_is_dead(const struct etwas_feed *feed);

/* Of one that is open. */
struct etwas_feed_totals etwas_feed_event_totals(const struct etwas_feed_event *event);

/* Of all that are open. False: there is no event of the tag. */
bool etwas_feed_totals(const struct etwas_feed *feed, uint32_t tag,
                       struct etwas_feed_totals *totals);

/* By all events that the feed ever had. */
uint64_t etwas_feed_lost(const struct etwas_feed *feed);

/* -1: there is no event of the tag. */
int etwas_feed_event_descriptor(const struct etwas_feed *feed, uint32_t tag);

/*
 * In front of a switch that is being read: whom it gives the processor to, as the namespace numbers it.
 * ETWAS_NO_NUMBER: something else follows.
 */
uint32_t etwas_feed_next_thread(const struct etwas_feed *feed);

/* To wait with poll() until a quarter of the ring is full. */
int etwas_feed_descriptor(const struct etwas_feed *feed);

#endif
