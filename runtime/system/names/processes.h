/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What becomes of processes and their images, from process records in the order of time (FORK,
 * EXIT, COMM, MMAP2, execs) and from /proc. It is emitted as records of ETW's classes
 * (process_class.h):
 *
 *     run_down    the processes that exist, with their images: DCStart; once more on each request
 *     handle      fork: Start, and Load of its images; exec: Unload of the images, and DCStart once
 *                 the arguments are known; mapping: Load; exit of the last thread: Unload, End
 *     find_lost   after a loss: processes that exist and were not emitted, and those that have gone
 *     finish      the processes that exist at the end: DCEnd
 *
 * What processes used is emitted with their End as PerfCtr, and with their rundown as
 * PerfCtrRundown.
 *
 * Events go on while /proc is read, and are handled between two processes. So each process has the
 * time before it was scanned, which is the stamp of its rundown. Records from before that time say
 * nothing new and are ignored; only an end whose record comes after the scan is emitted behind the
 * rundown. A process that was emitted since the rundown began is not emitted again. A process that
 * is exiting when it is scanned, and was not known before, is not emitted.
 *
 * The images of the kernel are those of process 0, which has no other records.
 *
 * Numbers are those of the logger's PID namespace. Processes outside of it have number 0 and are
 * ignored. Not thread-safe.
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

/* Where facts about processes come from: the machine, or one that a test makes up. */
struct etwas_process_source {
    /* False: the processes cannot be listed. */
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
    int64_t (*now_ns)(void); /* CLOCK_MONOTONIC_RAW */
    uint64_t (*tick_of)(
        int64_t time_ns); /* the start tick of a process that was forked at this time */
};

/* This machine; it knows nothing where /proc is of another PID namespace. */
const struct etwas_process_source *etwas_process_source_here(void);

/* The same, restricted to this process. */
const struct etwas_process_source *etwas_process_source_own(void);

enum {
    /* What is emitted. */
    ETWAS_EMIT_PROCESSES = 1 << 0,
    ETWAS_EMIT_IMAGES = 1 << 1,
    ETWAS_EMIT_COUNTERS = 1 << 2,
    /* No End of processes that have gone by a scan: that another process has the number says so. */
    ETWAS_EMIT_RUNDOWN_ALONE = 1 << 3,
};

struct etwas_processes {
    const struct etwas_process_source *source;
    struct etwas_emitter *emitter;
    struct etwas_record_builder *record; /* to build records in */
    struct etwas_exits *exits;           /* the caller's; NULL: none */
    struct etwas_quiesce *quiesce; /* the caller's; called between any two processes of a scan */
    uint32_t emits;
    bool has_arguments; /* a probe reports the arguments of execs (exec_probe.h) */
    struct etwas_process_table table;
    bool has_run_down;
    int64_t rundown_ns; /* when the last rundown began */
    int64_t scanned_ns; /* when a scan looked for missing threads; 0: none is in progress */
    struct etwas_process_facts facts; /* those that were read last */
};

/* False: there is no memory, and nothing to free. */
bool etwas_processes_init(struct etwas_processes *processes,
                          const struct etwas_process_source *source, struct etwas_emitter *emitter,
                          struct etwas_record_builder *record, uint32_t emits);
void etwas_processes_free(struct etwas_processes *processes);

void etwas_processes_run_down(struct etwas_processes *processes);

/* Handles a process record; types other than the five are ignored. */
void etwas_processes_handle(struct etwas_processes *processes,
                            const struct etwas_process_record *process_record);

/*
 * Called after records were lost, until it returns true; all events up to `until_ns` have been
 * handled. The first call scans /proc; a process that is not there has ended, once all events from
 * before the scan are handled.
 */
bool etwas_processes_find_lost(struct etwas_processes *processes, int64_t until_ns);

void etwas_processes_finish(struct etwas_processes *processes);

#endif
