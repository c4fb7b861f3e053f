/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What becomes of processes and their images, from what the feeds tell in the order of time (FORK, EXIT,
 * COMM, MMAP2, execs) and what /proc shows, told as records of ETW's classes (process_class.h):
 *
 *     run_down    who is there, with their images: DCStart; and whenever it is asked for again
 *     take        fork: Start, and what its images are; exec: Unload of what it had, and DCStart once
 *                 its arguments are known; mapping: Load; the last thread's end: Unload, End
 *     find_lost   after a loss: who is there and was not told, and who has gone
 *     finish      who is there in the end: DCEnd
 *
 * What processes used is told with their End as PerfCtr, and with their rundown as PerfCtrRundown.
 *
 * The feeds run while /proc is read, and between two processes what they tell is taken. So each process has
 * a time before it was looked at, which its rundown is stamped with: what the feeds tell of it from before that is known, and
 * passed over; but an end that was seen too late for /proc is told when it is found, behind the rundown. Who
 * was told of since the rundown began is not told once more; of who is on its way out of the system when it is looked
 * at, and was not known, nothing is told.
 *
 * The kernel's own images are those of process 0, of which nothing else is told.
 *
 * Numbers are those of the PID namespace of who logs; who is in none of its children has number 0 there
 * and is passed over. Not thread-safe.
 */
#ifndef ETWAS_SYSTEM_NAMES_PROCESSES_H
#define ETWAS_SYSTEM_NAMES_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "system/names/exits.h"
#include "system/names/proc_list.h"
#include "system/names/process_class.h"
#include "system/names/process_facts.h"
#include "system/names/process_table.h"
#include "system/stream/emit.h"
#include "system/stream/quiesce.h"
#include "system/stream/sample.h"

/* The machine, or one that a test makes up. */
struct etwas_process_source {
    /* False: nobody knows. */
    bool (*list)(void (*each)(void *context, uint32_t process_id), void *context);
    void (*threads)(uint32_t process_id, etwas_thread_callback *each, void *context);
    /* False: there is no such process. */
    bool (*facts)(uint32_t process_id, struct etwas_process_facts *facts);
    bool (*command_line)(uint32_t process_id, struct etwas_process_facts *facts);
    void (*mappings)(uint32_t process_id,
                     void (*each)(void *context, const struct etwas_mapping *mapping),
                     void *context);
    bool (*counters)(uint32_t process_id, struct etwas_process_counters *counters);
    void (*kernel)(void (*each)(void *context, const struct etwas_mapping *mapping), void *context);
    int64_t (*now_ns)(void);              /* CLOCK_MONOTONIC_RAW */
    uint64_t (*tick_of)(int64_t time_ns); /* when a process started that was forked then */
};

/* That of this machine, which knows nothing where /proc is another PID namespace's. */
const struct etwas_process_source *etwas_process_source_here(void);

/* Likewise, which knows of this process and nothing else. */
const struct etwas_process_source *etwas_process_source_own(void);

enum {
    /* What is told. */
    ETWAS_EMIT_PROCESSES = 1 << 0,
    ETWAS_EMIT_IMAGES = 1 << 1,
    ETWAS_EMIT_COUNTERS = 1 << 2,
    /* Not who has gone while it was looked: that his number is another's by then says that. */
    ETWAS_EMIT_RUNDOWN_ALONE = 1 << 3,
};

struct etwas_processes {
    const struct etwas_process_source *source;
    struct etwas_emitter *emitter;
    struct etwas_record_builder *record; /* to put records together in */
    struct etwas_exits *exits;           /* of the caller's; NULL: none */
    struct etwas_quiesce *quiesce; /* likewise; between any two processes that are looked at */
    uint32_t emits;
    bool has_arguments; /* execs are told with them */
    struct etwas_process_table table;
    bool has_run_down;
    int64_t rundown_ns;               /* when it began the last time */
    int64_t scanned_ns;               /* when it was last looked who is missing */
    struct etwas_process_facts facts; /* read last */
};

/* False: no memory, and nothing to free. */
bool etwas_processes_init(struct etwas_processes *processes,
                          const struct etwas_process_source *source, struct etwas_emitter *emitter,
                          struct etwas_record_builder *record, uint32_t emits);
void etwas_processes_free(struct etwas_processes *processes);

void etwas_processes_run_down(struct etwas_processes *processes);

/* Of any record; others than the five say nothing. */
void etwas_processes_handle(struct etwas_processes *processes,
                            const struct etwas_process_record *process_record);

/*
 * After records were lost, until it says so: all that happened until `until_ns` has been taken. Who is not
 * in /proc when it looks there has ended, once all is taken from before that. True: there is nobody left
 * to be missed.
 */
bool etwas_processes_find_lost(struct etwas_processes *processes, int64_t until_ns);

void etwas_processes_finish(struct etwas_processes *processes);

#endif
