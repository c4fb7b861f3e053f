/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A topic is what EnableFlags switch on and off together: which events of the kernel it wants, what is
 * made of them, and what it has to say by itself when a session begins and ends.
 *
 * All of a session's events reach its topics one at a time and in one order of time over all
 * processors, so a topic may join what happened on two of them. A topic keeps what it must remember in
 * its own state, which is there from its open to its close; the table of all topics is in event_groups.c.
 */
#ifndef ETWAS_SYSTEM_STREAM_EVENT_GROUP_H
#define ETWAS_SYSTEM_STREAM_EVENT_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "system/stream/emit.h"
#include "system/stream/quiesce.h"
#include "system/stream/record_builder.h"
#include "system/stream/sample.h"
#include "system/stream/thread_numbers.h"
#include "system/stream/tracepoint_format.h"

enum {
    ETWAS_EVENT_GROUP_SOURCES = 8,
    ETWAS_SOURCE_FIELDS = 12,
    ETWAS_SOURCE_HOOKS = 16,
};

/* What every topic of a session has. */
struct etwas_event_group_host {
    struct etwas_emitter *emitter;
    struct etwas_record_builder
        *record;               /* to put records together in; nobody's between two calls */
    uint32_t flags;            /* the EnableFlags in force */
    uint32_t own_process;      /* its events alone are recorded; 0: the whole system's */
    bool rundown_only;         /* there are no feeds */
    uint32_t profile_interval; /* 100 ns; in force */
    uint32_t
        process_records; /* ETWAS_PROCESS_RECORD_* that are open: of what is wanted, all that can be had */
    struct etwas_unavailability *reason; /* while a topic opens: why it cannot, if not for memory */
    struct etwas_quiesce *quiesce;       /* for who looks at all processes */
    struct etwas_thread_numbers numbers;
};

/* A sample of one of the topic's sources. */
struct etwas_source_event {
    struct etwas_event_group_host *host;
    void *state;
    const struct etwas_sample *sample;
    const struct etwas_tracepoint_field *fields; /* in the order of the source's names */
    const struct etwas_tracepoint_field
        *thread;          /* a tracepoint's: the kernel's number of its thread */
    uint32_t next_thread; /* of a switch: who comes next, in another namespace than the first */
    uint32_t slot;        /* of the processor */
};

/* Which sessions have a source. */
enum etwas_event_source_scope {
    ETWAS_OF_SYSTEM,  /* of the whole system */
    ETWAS_OF_PROCESS, /* of their own process */
    ETWAS_OF_BOTH,
};

struct etwas_event_source {
    const char *tracepoint;    /* "sched/sched_switch"; NULL: type, config and period say it */
    const char *filter;        /* of a tracepoint's fields; NULL: none */
    const char *const *fields; /* their names, NULL behind the last; NULL: none */

    /* False: the sample does not have the fields; then it is counted lost. */
    bool (*handle)(const struct etwas_source_event *event);

    uint64_t flags; /* which of the topic's ask for it; 0: any */
    uint32_t type;
    uint32_t config;
    uint32_t period;      /* 0: the profile's interval */
    uint32_t sample_type; /* PERF_SAMPLE_* besides; of a tracepoint, RAW is there anyway */
    uint16_t hooks[ETWAS_SOURCE_HOOKS]; /* group and type of its records that may have its stack */
    uint8_t scope;                      /* enum etwas_event_source_scope */
    bool is_optional;                   /* not every machine or kernel has it */
    bool is_extra;                      /* where it is refused the rest is worth having */
    bool is_substitute;                 /* where none of those before it is there */
    bool without_own;                   /* not of the logger's own thread, which would never rest */
};

struct etwas_event_group {
    uint64_t
        flags; /* EnableFlags and what is finer (requested_events.h), any of which asks for it */
    uint32_t process_records;     /* ETWAS_PROCESS_RECORD_* (cpu_stream.h) that it wants */
    uint32_t own_process_records; /* likewise, of the own process */
    const struct etwas_event_source *sources;
    uint32_t source_count;

    /* What follows may be NULL. */

    /* Its state; NULL: the host's fault says why. */
    void *(*open)(const struct etwas_event_group_host *host);
    void (*close)(void *state);

    /* In a fork's child: the descriptors, of a state whose memory is left. Async-signal-safe. */
    void (*forget)(void *state);

    /*
     * Said with etwas_emit_now: what there is when the session begins, or when it is opened later; what there
     * is in the end. In its pauses what happens is taken, also by topics that have not run down yet.
     */
    void (*run_down)(void *state, const struct etwas_event_group_host *host, bool is_end);

    /* The profile's interval has been another until now. */
    void (*change_interval)(const struct etwas_event_group_host *host, uint32_t before);

    /* FORK and EXIT, COMM, MMAP2, execs, bytes, as `sideband` says. */
    void (*handle_process_record)(void *state, const struct etwas_event_group_host *host,
                                  uint32_t slot, const struct etwas_process_record *process_record);

    /*
     * Something of this processor was or may have been lost, before what is taken next: said where the gap
     * begins and where it ends.
     */
    void (*handle_loss)(void *state, uint32_t slot);

    /* All that happened until then was taken. */
    void (*drained)(void *state, const struct etwas_event_group_host *host, int64_t until_ns);

    /* Asked after sideband was lost, until it is true: all that happened until then was taken. May pause. */
    bool (*find_lost)(void *state, int64_t until_ns);
};

/*
 * Whether the kernel counts each of its events. Of what it samples in intervals it counts the time, and says only
 * how many samples were lost.
 */
static inline bool etwas_event_source_is_counted(const struct etwas_event_source *source)
{
    return source->tracepoint != NULL || source->period == 1;
}

/* The first so many fields as numbers. False: the sample ends before one. */
static inline bool etwas_source_event_numbers(const struct etwas_source_event *event,
                                              int64_t *values, uint32_t count)
{
    bool good = true;

    for (uint32_t index = 0; index < count; index++) {
        good = good && etwas_tracepoint_format_number(&event->fields[index], event->sample->raw,
                                                      event->sample->raw_bytes, &values[index]);
    }
    return good;
}

/*
 * Of a tracepoint's sample: its thread as the kernel numbers it, by which it can be known again; by that of
 * the origin all threads outside the namespace would be one.
 */
uint32_t etwas_source_event_thread(const struct etwas_source_event *event);

extern const struct etwas_event_group *const etwas_event_groups[];
extern const uint32_t etwas_event_group_count;

/* What there is something for, in EnableFlags and what is finer (requested_events.h). */
uint64_t etwas_event_group_flags(void);

/* Those of them that a session of the own process can have. */
uint64_t etwas_event_group_own_flags(void);

#endif
