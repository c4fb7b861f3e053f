/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The board of a system logger: a feed for each processor that runs, the topics that its EnableFlags ask
 * for, and whose each event of a feed is. Not thread-safe: its logger's thread alone uses it, but for what
 * says otherwise.
 *
 * The kernel counts what happens beside what it hands over (cpu_stream.h); accounts.h has what became of it.
 */
#ifndef ETWAS_SYSTEM_KERNEL_SOURCES_H
#define ETWAS_SYSTEM_KERNEL_SOURCES_H

#include "system/names/kernel_addresses.h"
#include "system/settings.h"
#include "system/stack_walk.h"
#include "system/stream/accounts.h"
#include "system/stream/event_group.h"
#include "system/stream/merge.h"
#include "system/stream/probe.h"

enum {
    /* A processor that has stamped a record has it in its ring after so long. */
    ETWAS_KERNEL_SOURCES_SETTLE_NS = 1000000,

    ETWAS_KERNEL_SOURCES_PROBES = 3,

    ETWAS_PROCESSOR_NEVER_ONLINE = -1, /* of a processor: since the board was opened */
};

/* A topic that may be open. */
struct etwas_open_group {
    bool is_open;
    bool has_lost; /* sideband, and does not know yet what was in it */
    void *state;
    uint32_t sources;                                     /* which of them are open: bit by bit */
    uint32_t stacked;                                     /* which of these have stacks */
    uint32_t user_stack_bytes[ETWAS_EVENT_GROUP_SOURCES]; /* of these */
    struct etwas_tracepoint_field fields[ETWAS_EVENT_GROUP_SOURCES][ETWAS_SOURCE_FIELDS];
    struct etwas_tracepoint_field thread[ETWAS_EVENT_GROUP_SOURCES];
};

struct etwas_kernel_sources {
    struct etwas_event_group_host host;
    struct etwas_stack_walker walker;
    struct etwas_kernel_addresses addresses;
    struct etwas_system_settings settings; /* in force; before the first change there are none */
    uint64_t requested;                    /* by these: requested_events.h */
    uint32_t own_thread;
    uint32_t own_number; /* the kernel's of that thread; 0: not asked yet */
    struct etwas_probe probes[ETWAS_KERNEL_SOURCES_PROBES];
    uint64_t lost_process_records; /* when it was last looked */
    uint64_t signs_of_loss;        /* when the sideband's events were asked last */
    bool has_run_down;             /* what there was when the session began is told */
    struct etwas_accounts accounts;
    struct etwas_merge merge;
    size_t ring_bytes;     /* of each feed */
    uint32_t first_stream; /* of those that events are added to */
    int64_t *
        away_since_ns; /* of each slot: when its processor had gone, or ETWAS_PROCESSOR_NEVER_ONLINE; 0: it has a feed */
    int64_t processors_ns; /* when it was last looked which there are */
    uint64_t closed_lost;  /* by feeds of processors that went */
    struct etwas_open_group opened[ETWAS_EVENT_GROUPS_MOST];
};

/* What a topic wants of the sideband. */
static inline uint32_t etwas_kernel_sources_process_records(
    const struct etwas_kernel_sources *kernel, const struct etwas_event_group *group)
{
    return kernel->host.own_process != 0 ? group->own_process_records : group->process_records;
}

/* None is open. */
void etwas_kernel_sources_init_probes(struct etwas_kernel_sources *kernel);

/* What is told until it speaks freely again is this topic's, and goes through its filters. */
static inline void etwas_kernel_sources_begin_filter(struct etwas_kernel_sources *kernel,
                                                     uint32_t group)
{
    kernel->walker.filtered_by = kernel->walker.filter.of_groups[group];
}

static inline void etwas_kernel_sources_end_filter(struct etwas_kernel_sources *kernel)
{
    kernel->walker.filtered_by = 0;
}

struct etwas_kernel_sources_options {
    struct etwas_emitter *emitter;
    struct etwas_record_builder *record;
    struct etwas_quiesce *quiesce; /* called while the board looks at the machine; drains it */
    size_t ring_bytes;             /* 0: no rings, so that it can run down and nothing else */
    uint32_t own_process; /* of this process alone, without the calling thread; 0: everybody's */
};

/* Feeds with nothing in them. On failure there is nothing to close. */
bool etwas_kernel_sources_open(struct etwas_kernel_sources *kernel,
                               const struct etwas_kernel_sources_options *options,
                               struct etwas_unavailability *reason);

/*
 * Makes the settings those in force: what they ask for and was not there is opened, what they do not
 * ask for is recorded to its last event and closed. On failure all is as it was, but for what cannot be
 * opened any more: `settings` of the board says what is left.
 */
bool etwas_kernel_sources_change(struct etwas_kernel_sources *kernel,
                                 const struct etwas_system_settings *settings,
                                 struct etwas_unavailability *reason);

/* Of what is open, and wanted here, what there is, once more. */
void etwas_kernel_sources_capture(struct etwas_kernel_sources *kernel, uint64_t requested);

/* From now on things happen. From any thread, while the logger's waits. */
void etwas_kernel_sources_start(struct etwas_kernel_sources *kernel);

/* What happened until then goes to its topics, in order. */
void etwas_kernel_sources_drain(struct etwas_kernel_sources *kernel, int64_t until_ns);

/*
 * All that has happened by now, in order: what a processor is still writing is waited for. What happens
 * meanwhile is left.
 */
void etwas_kernel_sources_drain_to_now(struct etwas_kernel_sources *kernel);

/* Behind a drain until then: topics find out what was in the sideband that was lost. */
void etwas_kernel_sources_find_lost(struct etwas_kernel_sources *kernel, int64_t until_ns);

/*
 * From time to time, with what has happened drained: a processor that went off is told, and has no feed any more; one
 * that is there again, or came later, gets one (kernel_sources_processors.c).
 */
void etwas_kernel_sources_check_processors(struct etwas_kernel_sources *kernel);

#ifdef ETWAS_TESTPOINTS
extern uint64_t etwas_kernel_sources_check_ns; /* no sooner again */
#endif

/* What topics know of a processor, they cannot join with what comes: something is missing in between. */
void etwas_kernel_sources_forget_slot(struct etwas_kernel_sources *kernel, uint32_t slot);

/*
 * What its topics find there, or leave; and at the start the inventory (R50). What a topic finds that is
 * opened later is told by the change.
 */
void etwas_kernel_sources_run_down(struct etwas_kernel_sources *kernel, bool is_end);

/* What the kernel's addresses are that records named since the start. */
void etwas_kernel_sources_emit_symbols(struct etwas_kernel_sources *kernel);

/* What the kernel had no room for, as far as its rings have said by now. */
uint64_t etwas_kernel_sources_lost(const struct etwas_kernel_sources *kernel);

/* Nothing happens any more, and all that did is drained. Then the last word of what was lost. */
uint64_t etwas_kernel_sources_stop(struct etwas_kernel_sources *kernel);

/* What became of everything, behind all else that is told. */
void etwas_kernel_sources_emit_accounts(struct etwas_kernel_sources *kernel);

/* Nothing is open any more. What is closed is not there for a fork's child; the memory is. */
void etwas_kernel_sources_close(struct etwas_kernel_sources *kernel);

/* Of a board that is shut, and that no fork's child can find. */
void etwas_kernel_sources_free(struct etwas_kernel_sources *kernel);

/* In a fork's child: the descriptors. The memory is left. Async-signal-safe. */
void etwas_kernel_sources_forget(struct etwas_kernel_sources *kernel);

#endif
