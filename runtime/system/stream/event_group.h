/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * An event group is the unit that EnableFlags switch on and off: the events of the kernel that it
 * requests, the records that it makes of them, and the rundown that it emits when a session begins
 * and ends.
 *
 * A session's events reach its groups one at a time, in one order of time over all processors, so a
 * group may join events of two processors. A group keeps what it remembers in a state of its own,
 * from its open to its close. The table of all groups is in event_groups.c.
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
#include "system/stream/tracepoint.h"

enum {
    ETWAS_EVENT_GROUP_SOURCES = 8,
    ETWAS_SOURCE_FIELDS = 12,
    ETWAS_SOURCE_HOOKS = 16,
};

/* What all groups of a session share. */
struct etwas_event_group_host {
    struct etwas_emitter *emitter;
    struct etwas_record_builder *record; /* to build records in; free between two calls */
    uint32_t flags;                      /* the EnableFlags in force */
    uint32_t own_process; /* only the events of this process are recorded; 0: the whole system's */
    bool rundown_only;    /* there are no streams */
    uint32_t profile_interval; /* in units of 100 ns; in force */
    /* ETWAS_PROCESS_RECORD_* that are open: all requested ones that could be opened. */
    uint32_t process_records;
    /* While a group opens: receives why it cannot, unless memory is missing. */
    struct etwas_unavailability *reason;
    struct etwas_quiesce *quiesce; /* for a scan of all processes */
    struct etwas_thread_numbers numbers;
};

/* A sample of one of the group's sources. */
struct etwas_source_event {
    struct etwas_event_group_host *host;
    void *state;
    const struct etwas_sample *sample;
    const struct etwas_tracepoint_field *fields; /* in the order of the source's names */
    /* In a tracepoint's sample, the field with the kernel's number of its thread. */
    const struct etwas_tracepoint_field *thread;
    /* In a switch, the thread that comes next, if the namespace is not the first one. */
    uint32_t next_thread;
    uint32_t slot; /* of the processor */
};

/* Which sessions have a source. */
enum etwas_event_source_scope {
    ETWAS_OF_SYSTEM,  /* those of the whole system */
    ETWAS_OF_PROCESS, /* those of their own process */
    ETWAS_OF_BOTH,
};

struct etwas_event_source {
    const char
        *tracepoint;    /* "sched/sched_switch"; NULL: type, config and period define the event */
    const char *filter; /* an expression over a tracepoint's fields; NULL: none */
    const char *const *fields; /* names of the fields, with NULL at the end; NULL: none */

    /* Handles a sample. Returns false if it lacks the fields; it is then counted as lost. */
    bool (*handle)(const struct etwas_source_event *event);

    uint64_t flags; /* those of the group's that request this source; 0: any of them */
    uint32_t type;
    uint32_t config;
    uint32_t period;      /* 0: the interval of the profile */
    uint32_t sample_type; /* further PERF_SAMPLE_*; RAW is added for a tracepoint */
    /* Group and type of the records that may have the stack of its samples. */
    uint16_t hooks[ETWAS_SOURCE_HOOKS];
    uint8_t scope;      /* enum etwas_event_source_scope */
    bool is_optional;   /* not every machine or kernel has it */
    bool is_extra;      /* if it is refused, the other sources are still opened */
    bool is_substitute; /* opened only if no source before it is open */
    bool without_own;   /* leaves out the logger's own thread, which would otherwise never rest */
};

struct etwas_event_group {
    /* The bits that request the group: EnableFlags and finer ones (keywords.h). */
    uint64_t flags;
    uint32_t process_records;     /* ETWAS_PROCESS_RECORD_* (cpu_stream.h) that it requests */
    uint32_t own_process_records; /* the same for a session of the own process */
    const struct etwas_event_source *sources;
    uint32_t source_count;

    /* All functions may be NULL. */

    /* Returns the group's state; NULL: it cannot be opened, and the host's reason says why. */
    void *(*open)(const struct etwas_event_group_host *host);
    void (*close)(void *state);

    /* In a fork's child: closes descriptors of a state whose memory stays. Async-signal-safe. */
    void (*forget)(void *state);

    /*
     * Emits with etwas_emit_now what exists when the session begins, or when the group is opened
     * later, or what exists at the end. At its quiescent points events are handled, also by groups
     * whose rundown is still to come.
     */
    void (*run_down)(void *state, const struct etwas_event_group_host *host, bool is_end);

    /* The interval of the profile was `before` until now. */
    void (*change_interval)(const struct etwas_event_group_host *host, uint32_t before);

    /* Handles a process record of the requested kinds. */
    void (*handle_process_record)(void *state, const struct etwas_event_group_host *host,
                                  uint32_t slot, const struct etwas_process_record *process_record);

    /*
     * Events of this processor were lost, or may have been, before the next event. Called where the
     * gap begins and where it ends.
     */
    void (*handle_loss)(void *state, uint32_t slot);

    /* All events up to this time have been handled. */
    void (*drained)(void *state, const struct etwas_event_group_host *host, int64_t until_ns);

    /*
     * Called after process records were lost, until it returns true; all events up to this time
     * have been handled. May quiesce.
     */
    bool (*find_lost)(void *state, int64_t until_ns);
};

/*
 * Returns whether the kernel counts every event of the source. If a source is sampled in intervals,
 * the kernel counts the time, and says only how many samples were lost.
 */
static inline bool etwas_event_source_is_counted(const struct etwas_event_source *source)
{
    return source->tracepoint != NULL || source->period == 1;
}

/*
 * Reads the first `count` fields as numbers. Returns false if the sample ends before one of them.
 */
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
 * Returns the kernel's number of the thread of a tracepoint's sample. It identifies the thread. The
 * number in the namespace does not: it is 0 for all threads outside of it.
 */
uint32_t etwas_source_event_thread(const struct etwas_source_event *event);

extern const struct etwas_event_group *const etwas_event_groups[];
extern const uint32_t etwas_event_group_count;

/* Returns the bits for which there is a group: EnableFlags and finer ones (keywords.h). */
uint64_t etwas_event_group_flags(void);

/* Returns those of them that a session that records only the own process can have. */
uint64_t etwas_event_group_own_flags(void);

#endif
