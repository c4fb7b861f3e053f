/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The kernel sources of a system logger: one CPU event stream for each online processor, the event
 * groups that the settings request, and the tags that say to which source of which group an event
 * belongs. Only the logger's thread uses them, except for functions that say otherwise.
 *
 * The kernel also counts the events that it delivers (cpu_stream.h); accounts.h compares the
 * counts with what arrives.
 */
#ifndef ETWAS_SYSTEM_KERNEL_SOURCES_H
#define ETWAS_SYSTEM_KERNEL_SOURCES_H

#include "provider/system_providers.h"
#include "system/names/kernel_addresses.h"
#include "system/stack_walk.h"
#include "system/stream/accounts.h"
#include "system/stream/event_group.h"
#include "system/stream/merge.h"
#include "system/stream/probe.h"

enum {
    /* An event that has a stamp is in its ring after this time. */
    ETWAS_KERNEL_SOURCES_SETTLE_NS = 1000000,

    ETWAS_KERNEL_SOURCES_PROBES = 3,

    /* In `away_since_ns`: never online since the kernel sources were opened. */
    ETWAS_PROCESSOR_NEVER_ONLINE = -1,
};

/* An event group, if it is open, and its sources. */
struct etwas_open_group {
    bool is_open;
    /* Process records were lost, and the group has not scanned yet for what they reported. */
    bool has_lost;
    void *state;
    uint32_t sources; /* the open sources, one bit each */
    uint32_t stacked; /* the open sources that have stacks, one bit each */
    uint32_t user_stack_bytes[ETWAS_EVENT_GROUP_SOURCES]; /* of the sources that have stacks */
    struct etwas_tracepoint_field fields[ETWAS_EVENT_GROUP_SOURCES][ETWAS_SOURCE_FIELDS];
    struct etwas_tracepoint_field thread[ETWAS_EVENT_GROUP_SOURCES];
};

struct etwas_kernel_sources {
    struct etwas_event_group_host host;
    struct etwas_stack_walker walker;
    struct etwas_kernel_addresses addresses;
    struct etwas_system_settings settings; /* in force; all zeros before the first change */
    uint64_t requested;                    /* what the settings request (keywords.h) */
    uint32_t own_thread;
    uint32_t own_number; /* the kernel's number of that thread; 0: not read yet */
    struct etwas_probe probes[ETWAS_KERNEL_SOURCES_PROBES];
    uint64_t lost_process_records; /* at the last check */
    uint64_t signs_of_loss; /* as of the last time that the events of process records were read */
    bool has_run_down;      /* the rundown of the session's start is emitted */
    struct etwas_accounts accounts;
    struct etwas_merge merge;
    size_t ring_bytes;     /* of each stream's ring */
    uint32_t first_stream; /* the first stream that events are added to */
    /*
     * For each slot: since when its processor is offline, or ETWAS_PROCESSOR_NEVER_ONLINE; 0: it
     * has a stream.
     */
    int64_t *away_since_ns;
    int64_t processors_ns; /* when the processors were checked last */
    /* Events lost by streams that were closed because their processors went offline. */
    uint64_t closed_lost;
    struct etwas_open_group opened[ETWAS_EVENT_GROUPS_MOST];
};

/* Which process records a group requests (ETWAS_PROCESS_RECORD_*). */
static inline uint32_t etwas_kernel_sources_process_records(
    const struct etwas_kernel_sources *kernel, const struct etwas_event_group *group)
{
    return kernel->host.own_process != 0 ? group->own_process_records : group->process_records;
}

/* Marks all probes as closed, before any is opened. */
void etwas_kernel_sources_init_probes(struct etwas_kernel_sources *kernel);

/*
 * Until etwas_kernel_sources_end_filter, records are emitted for this group and pass through its
 * filters.
 */
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
    struct etwas_quiesce *quiesce; /* called while /proc is scanned; drains the kernel sources */
    size_t ring_bytes; /* of each ring; 0: there are no streams, and only rundowns can be emitted */
    /* Record only this process, without the calling thread; 0: every process. */
    uint32_t own_process;
};

/* Opens streams without events. On failure nothing has to be closed, and *reason says why. */
bool etwas_kernel_sources_open(struct etwas_kernel_sources *kernel,
                               const struct etwas_kernel_sources_options *options,
                               struct etwas_unavailability *reason);

/*
 * Applies new settings: opens the sources that they request, and closes the others after recording
 * their last events. On failure the previous settings stay in force, except for sources that cannot
 * be opened again. `kernel->settings` is then what is in force, and *reason says why it failed.
 */
bool etwas_kernel_sources_change(struct etwas_kernel_sources *kernel,
                                 const struct etwas_system_settings *settings,
                                 struct etwas_unavailability *reason);

/* Emits once more the rundowns of all open groups that any bit of `requested` requests. */
void etwas_kernel_sources_capture(struct etwas_kernel_sources *kernel, uint64_t requested);

/* Starts all streams. Any thread may call this while the logger's thread waits. */
void etwas_kernel_sources_start(struct etwas_kernel_sources *kernel);

/* Hands all events up to this time to their groups, in order of time over all processors. */
void etwas_kernel_sources_drain(struct etwas_kernel_sources *kernel, int64_t until_ns);

/*
 * Hands all events up to now to their groups. Waits ETWAS_KERNEL_SOURCES_SETTLE_NS first, so that
 * events that a processor is still writing are included; later events stay in the rings.
 */
void etwas_kernel_sources_drain_to_now(struct etwas_kernel_sources *kernel);

/*
 * Called after a drain up to this time: lets groups find out by a scan what lost process records
 * would have reported.
 */
void etwas_kernel_sources_find_lost(struct etwas_kernel_sources *kernel, int64_t until_ns);

/*
 * Called from time to time, after a drain: closes the streams of processors that went offline and
 * emits the gap; opens streams for processors that came online (kernel_sources_processors.c).
 */
void etwas_kernel_sources_check_processors(struct etwas_kernel_sources *kernel);

extern uint64_t etwas_kernel_sources_check_ns; /* the least time between two checks */

/*
 * Reports to all groups that events of this processor are missing, so that nothing is joined across
 * the gap.
 */
void etwas_kernel_sources_forget_slot(struct etwas_kernel_sources *kernel, uint32_t slot);

/*
 * Emits the rundown of all open groups and, at the start, the inventory (R50). The rundown of a
 * group that is opened later is emitted by the change that opens it.
 */
void etwas_kernel_sources_run_down(struct etwas_kernel_sources *kernel, bool is_end);

/* Emits the functions of all kernel addresses that records have named since the start. */
void etwas_kernel_sources_emit_symbols(struct etwas_kernel_sources *kernel);

/* Returns how many events the kernel had no room for, as far as the rings have reported them. */
uint64_t etwas_kernel_sources_lost(const struct etwas_kernel_sources *kernel);

/* Stops all streams and drains them to their end. Returns the final number of lost events. */
uint64_t etwas_kernel_sources_stop(struct etwas_kernel_sources *kernel);

/* Emits the accounts of all events. No other record follows. */
void etwas_kernel_sources_emit_accounts(struct etwas_kernel_sources *kernel);

/*
 * Closes all streams and probes. A fork's child inherits none of their descriptors; the memory
 * stays.
 */
void etwas_kernel_sources_close(struct etwas_kernel_sources *kernel);

/*
 * Frees the memory, after etwas_kernel_sources_close and when no fork's child can reach it any
 * more.
 */
void etwas_kernel_sources_free(struct etwas_kernel_sources *kernel);

/*
 * In a fork's child: closes its copies of the descriptors and leaves the memory. Async-signal-safe.
 */
void etwas_kernel_sources_forget(struct etwas_kernel_sources *kernel);

#endif
