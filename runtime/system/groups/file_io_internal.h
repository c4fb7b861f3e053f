/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the parts of file_io.c share: how a call begins (file_io_begin.c), how it ends, and requests to io_uring (file_io_uring.c).
 */
#ifndef ETWAS_SYSTEM_GROUPS_FILE_IO_INTERNAL_H
#define ETWAS_SYSTEM_GROUPS_FILE_IO_INTERNAL_H

#include "system/names/file_calls.h"
#include "system/names/file_paths.h"
#include "system/names/open_files.h"
#include "system/stream/event_group.h"
#include "system/stream/join.h"

struct etwas_file_group {
    struct etwas_open_files files;
    struct etwas_join *calls;    /* by thread, since the last loss */
    struct etwas_join *requests; /* file_io_uring.c */
    uint64_t losses;
    uint64_t last_irp;
    struct etwas_file_paths paths;
};

/* What a thread is in. */
struct etwas_file_call_in_progress {
    int64_t number;
    uint64_t irp;
    uint64_t created;    /* of what it opens */
    uint64_t moved;      /* whose position it moves */
    uint32_t descriptor; /* which is that */
    bool is_append;
    bool has_flags;
    bool has_path;  /* that was told */
    bool is_32_bit; /* another one than its number says; nothing of it is told */
    bool is_over;   /* but for its path, which may come yet */
    uint64_t path_address;
};

/* A sample of raw_syscalls/sys_enter. */
extern const char *const etwas_file_enter_names[];
bool etwas_file_handle_enter(const struct etwas_source_event *event);

/* NULL: not known. What is used for the first time is known from now on. */
struct etwas_open_file *etwas_file_used(struct etwas_file_group *group,
                                        const struct etwas_sample_origin *origin,
                                        uint32_t descriptor);

/* Samples of io_uring's tracepoints (file_io_uring.c). */
extern const char etwas_file_uring_filter[]; /* of the first one */
extern const char *const etwas_file_submit_names[];
extern const char *const etwas_file_found_names[];
extern const char *const etwas_file_complete_names[];
bool etwas_file_handle_submit(const struct etwas_source_event *event);
bool etwas_file_handle_found(const struct etwas_source_event *event);
bool etwas_file_handle_complete(const struct etwas_source_event *event);

/* Requests by their address, since the last loss. NULL: no memory. */
struct etwas_join *etwas_file_uring_make(void);

/* Which paths a call is given. */
void etwas_file_handle_path(struct etwas_file_group *group,
                            const struct etwas_event_group_host *host, uint32_t slot,
                            const struct etwas_process_record *process_record);

#endif
