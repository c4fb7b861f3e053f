/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Shared by the parts of file_io.c: the beginning of a call (file_io_begin.c), its end, and
 * requests to io_uring (file_io_uring.c).
 */
#ifndef ETWAS_SYSTEM_GROUPS_FILE_IO_INTERNAL_H
#define ETWAS_SYSTEM_GROUPS_FILE_IO_INTERNAL_H

#include "system/names/file_calls.h"
#include "system/names/file_names.h"
#include "system/names/open_files.h"
#include "system/stream/event_group.h"
#include "system/stream/event_join.h"

struct etwas_file_group {
    struct etwas_open_files files;
    struct etwas_event_join *calls;    /* by thread and number of losses */
    struct etwas_event_join *requests; /* by address and number of losses (file_io_uring.c) */
    uint64_t losses;
    uint64_t last_irp;
    struct etwas_file_paths paths;
};

/* The call that a thread is in. */
struct etwas_file_call_in_progress {
    int64_t number;
    uint64_t irp;
    uint64_t created;    /* the number of the file that it opens */
    uint64_t moved;      /* the number of the file whose position it moves */
    uint32_t descriptor; /* the descriptor of that file */
    bool is_append;
    bool has_flags;
    bool has_path; /* the path is emitted */
    /* A 32-bit call, whose number means another call; it is not emitted. */
    bool is_32_bit;
    bool is_over; /* it has ended, and its path may still be reported */
    uint64_t path_address;
};

/* Handles a sample of raw_syscalls/sys_enter. */
extern const char *const etwas_file_enter_names[];
bool etwas_file_handle_enter(const struct etwas_source_event *event);

/*
 * Returns the file of a descriptor that is used. A file that is used for the first time is added.
 * NULL: not known.
 */
struct etwas_open_file *etwas_file_used(struct etwas_file_group *group,
                                        const struct etwas_sample_origin *origin,
                                        uint32_t descriptor);

/* Handle samples of io_uring's tracepoints (file_io_uring.c). */
extern const char etwas_file_uring_filter[]; /* of the submission */
extern const char *const etwas_file_submit_names[];
extern const char *const etwas_file_found_names[];
extern const char *const etwas_file_complete_names[];
bool etwas_file_handle_submit(const struct etwas_source_event *event);
bool etwas_file_handle_found(const struct etwas_source_event *event);
bool etwas_file_handle_complete(const struct etwas_source_event *event);

/* Makes the table of requests. NULL: there is no memory. */
struct etwas_event_join *etwas_file_uring_make(void);

/* Handles a report of the path probe. */
void etwas_file_handle_path(struct etwas_file_group *group,
                            const struct etwas_event_group_host *host, uint32_t slot,
                            const struct etwas_process_record *process_record);

#endif
