/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Follows processes and their images, by process records in the order of time (FORK, EXIT, COMM,
 * MMAP2, execs) and by /proc. Emits records of ETW's classes:
 *
 *     run_down    the processes that exist, with their images: DCStart; once more on each request
 *     handle      fork: Start, and Load of its images; exec: Unload of the images, and DCStart once
 *                 the arguments are known; mapping: Load; exit of the last thread: Unload, End
 *     find_lost   after a loss: processes that exist and were not emitted, and those that have gone
 *     finish      the processes that exist at the end: DCEnd
 *
 * The resources that processes used are emitted with their End as PerfCtr, and with their rundown
 * as PerfCtrRundown.
 *
 * Events go on while /proc is read, and are handled between two processes. So each process has the
 * time just before it was scanned, which is the stamp of its rundown. Records from before that time
 * are ignored, since they add nothing. Only an end whose record comes after the scan is emitted,
 * after the rundown. A process that was emitted since the rundown began is not emitted again. A
 * process that is exiting when it is scanned, and was not known before, is not emitted.
 *
 * The images of the kernel are those of process 0, which has no other records.
 *
 * Numbers are those of the logger's PID namespace. Processes outside of it have number 0 and are
 * ignored. Not thread-safe.
 */
#ifndef ETWAS_SYSTEM_NAMES_PROCESSES_H
#define ETWAS_SYSTEM_NAMES_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/names/image_list.h"
#include "system/names/proc_list.h"
#include "system/names/process_facts.h"
#include "system/names/process_table.h"
#include "system/stream/emit.h"
#include "system/stream/kernel_record.h"
#include "system/stream/quiesce.h"
#include "system/stream/sample.h"
#include "system/unavailability.h"

/*
 * Makes records of ETW's Process class, version 4, and of its Image class, version 3. An image with
 * a build id also gets a record of its debug identifier.
 *
 *     DCStart     a process as it is from now on: at a session's start, and when it runs another
 *                 program (exec), for which ETW has no event
 *     UserSID     S-1-22-1-USER, as in Samba
 *     ExitStatus  259 while the process lives; its exit code; the negative number of the
 *                 signal that ended it
 *
 * Flags beside ETW's mark facts that are not known, since an empty text or a 0 could be real.
 */

#define ETWAS_PROCESS_EXEC UINT32_C(0x01000000)            /* the process runs another program */
#define ETWAS_PROCESS_NO_COMMAND_LINE UINT32_C(0x02000000) /* the command line is not known */
#define ETWAS_PROCESS_NO_EXIT_STATUS UINT32_C(0x04000000)  /* the exit status is not known */
#define ETWAS_PROCESS_END_NOT_SEEN                                                                 \
    UINT32_C(0x08000000) /* the process ended earlier; its end was lost */
#define ETWAS_PROCESS_COMMAND_LINE_READ UINT32_C(0x10000000) /* from /proc, some time later */
#define ETWAS_PROCESS_COMMAND_LINE_CUT UINT32_C(0x20000000)
#define ETWAS_PROCESS_STILL_ACTIVE 259

struct etwas_process_class_event {
    uint8_t type;
    uint32_t flags; /* ETWAS_PROCESS_*, except for those of the command line */
    int32_t exit_status;
};

/* Returns the record as etwas_record_builder_end does; its thread is not set yet. */
const void *etwas_process_class_make(struct etwas_record_builder *record,
                                     const struct etwas_process *process,
                                     const struct etwas_process_class_event *event);

const void *etwas_image_record_make(struct etwas_record_builder *record, uint8_t type,
                                    uint32_t process_id, const struct etwas_file_image *image);

/* The image's file has a build id. */
const void *etwas_image_id_record_make(struct etwas_record_builder *record, uint32_t process_id,
                                       const struct etwas_file_image *image);

/*
 * How threads ended and what they used, as the kernel reports each thread that exits by netlink
 * (taskstats). It reports a thread before it writes the thread's EXIT into a ring, so when that
 * record is handled the report is in the socket, if there is one.
 *
 * Needs CAP_NET_ADMIN, in the first PID and user namespace. Reports that did not fit into the
 * socket are lost.
 */

enum {
    ETWAS_EXITS_KEPT =
        4096 /* reports that have not been removed, by the last bits of their thread ids */
};

struct etwas_exit {
    uint32_t thread_id; /* 0: no thread */
    /* In the format of waitpid; a process ends with the status of its last thread. */
    uint32_t status;
    struct etwas_process_counters counters;
};

struct etwas_exits {
    int socket;
    uint16_t family;
    struct etwas_exit kept[ETWAS_EXITS_KEPT];
};

/* Opens the socket. NULL: *reason says why that is not possible. */
struct etwas_exits *etwas_exits_open(struct etwas_unavailability *reason);
void etwas_exits_close(struct etwas_exits *exits);

/* Removes the report of a thread. Returns false if there is none, or `exits` is NULL. */
bool etwas_exits_remove(struct etwas_exits *exits, uint32_t thread_id, struct etwas_exit *exit);

/* Reads a datagram of the kernel. Attributes that are not known are skipped. */
void etwas_exits_read(struct etwas_exits *exits, const void *message, size_t bytes);

/* Converts a status to ExitStatus: the exit code, or the negative number of the signal. */
int32_t etwas_exit_status(uint32_t status);

/* ---- all processes --------------------------------------------------------------------------- */

/* The source of facts about processes: the machine, or a fake one in tests. */
struct etwas_process_source {
    /* Returns false if the processes cannot be listed. */
    bool (*list)(void (*each)(void *context, uint32_t process_id), void *context);
    void (*threads)(uint32_t process_id, etwas_thread_callback *each, void *context);
    /* Returns false if there is no such process. */
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
    /* Without End of processes that a scan finds gone; reuse of their number implies it. */
    ETWAS_EMIT_RUNDOWN_ALONE = 1 << 3,
};

struct etwas_processes {
    const struct etwas_process_source *source;
    struct etwas_emitter *emitter;
    struct etwas_record_builder *record; /* to build records in */
    struct etwas_exits *exits;           /* the caller's; NULL: none */
    struct etwas_quiesce *quiesce; /* the caller's; called between any two processes of a scan */
    uint32_t emits;
    bool has_arguments; /* a probe reports the arguments of execs (bpf_probes.h) */
    struct etwas_process_table table;
    bool has_run_down;
    int64_t rundown_ns; /* when the last rundown began */
    int64_t scanned_ns; /* when a scan looked for missing threads; 0: none is in progress */
    struct etwas_process_facts facts; /* those that were read last */
};

/* Returns false if there is no memory; nothing has to be freed then. */
bool etwas_processes_init(struct etwas_processes *processes,
                          const struct etwas_process_source *source, struct etwas_emitter *emitter,
                          struct etwas_record_builder *record, uint32_t emits);
void etwas_processes_free(struct etwas_processes *processes);

void etwas_processes_run_down(struct etwas_processes *processes);

/* Handles a process record; types other than the five above are ignored. */
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
