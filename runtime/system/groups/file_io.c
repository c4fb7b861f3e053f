/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_FILE_IO_INIT and _FILE_IO: operations on files, as ETW's FileIo, from the system
 * calls in file_calls.h. INIT records their beginnings, the other flag their ends (OperationEnd).
 *
 *     IrpPtr        a unique number of the call: of its beginning and its end
 *     FileObject    a unique number of the open file (open_files.h), from Create to Close;
 *                   0: not known
 *
 * Events are handled in order of time, so a descriptor refers to the file that it had when the call
 * began. After a loss everything is forgotten: files that are used later get other numbers.
 */
#include <etwas/evntrace.h>
#include <stdlib.h>

#include "system/groups/event_groups.h"
#include "system/groups/file_io_internal.h"
#include "system/names/file_names.h"
#include "system/names/file_record.h"
#include "system/stream/cpu_stream.h"

/* ---- the end of a call ----------------------------------------------------------------------- */

/* A call that has ended. */
struct left {
    const struct etwas_sample_origin *origin;
    struct etwas_file_group *group;
    const struct etwas_file_call *kind;
    struct etwas_file_call_in_progress *call; /* NULL: its beginning was not recorded */
    int64_t result;
};

static void file_io_end_open(const struct left *left)
{
    struct etwas_open_file *file;

    if (left->result < 0 || left->result > INT32_MAX || left->origin->process_id == 0) {
        return;
    }
    file =
        etwas_open_files_bind(&left->group->files, left->origin->process_id, (uint32_t)left->result,
                              left->call->created, left->origin->time_ns);
    if (file != NULL && left->call->has_flags) {
        file->position = 0;
        file->is_append = left->call->is_append;
    }
}

static void file_io_end_move(const struct left *left)
{
    struct etwas_open_file *file = etwas_open_files_find(
        &left->group->files, left->origin->process_id, left->call->descriptor);

    if (file == NULL || file->number != left->call->moved) {
        return;
    }
    if (left->kind->effect == ETWAS_FILE_SEEKS) {
        etwas_open_file_seek(file, left->result);
    } else {
        etwas_open_file_end(file, left->result);
    }
}

/* Whether the call has closed descriptors that only its beginning names. */
static bool file_io_has_closed_some(const struct left *left)
{
    return (left->kind->effect == ETWAS_FILE_EXECUTES && left->result == 0) ||
           (left->call == NULL && (left->kind->effect == ETWAS_FILE_CLOSES ||
                                   left->kind->effect == ETWAS_FILE_CLOSES_RANGE ||
                                   left->kind->effect == ETWAS_FILE_DUPLICATES));
}

static void file_io_end_call(const struct left *left)
{
    if (file_io_has_closed_some(left)) {
        etwas_open_files_close(&left->group->files, left->origin->process_id, 0, UINT32_MAX,
                               left->origin->time_ns);
    }
    if (left->call != NULL && left->kind->effect == ETWAS_FILE_OPENS) {
        file_io_end_open(left);
    } else if (left->call != NULL && left->call->moved != 0) {
        file_io_end_move(left);
    }
}

/* Whether the path may still be reported: the probe may run after the source. */
static bool file_io_awaits_path(const struct etwas_event_group_host *host, const struct left *left)
{
    return (host->process_records & ETWAS_PROCESS_RECORD_PATHS) != 0 && left->kind->path != 0 &&
           !left->call->has_path;
}

static const char *const exit_names[] = {"id", "ret", NULL};
enum {
    EXIT_NUMBER,
    EXIT_RESULT,
    EXIT_FIELDS,
};

static bool file_io_handle_exit(const struct etwas_source_event *event)
{
    uint32_t thread_id = etwas_source_event_thread(event);
    struct left left = {.origin = &event->sample->origin, .group = event->state};
    int64_t values[EXIT_FIELDS];

    if (!etwas_source_event_numbers(event, values, EXIT_FIELDS)) {
        return false;
    }
    left.kind = etwas_file_call_of(values[EXIT_NUMBER]);
    if (left.kind == NULL) {
        return true;
    }
    left.result = values[EXIT_RESULT];
    left.call = etwas_event_join_find(left.group->calls, thread_id, left.group->losses);
    if (left.call != NULL && (left.call->number != values[EXIT_NUMBER] || left.call->is_over)) {
        left.call = NULL;
    }
    if (left.call != NULL ? left.call->is_32_bit : event->sample->is_32_bit) {
        etwas_event_join_remove(left.group->calls, thread_id, left.group->losses);
        return true;
    }
    file_io_end_call(&left);
    if (left.kind->type != 0 && (event->host->flags & EVENT_TRACE_FLAG_FILE_IO) != 0) {
        etwas_file_record_end(event, left.call != NULL ? left.call->irp : ++left.group->last_irp,
                              left.result);
    }
    if (left.call != NULL && file_io_awaits_path(event->host, &left)) {
        left.call->is_over = true;
    } else {
        etwas_event_join_remove(left.group->calls, thread_id, left.group->losses);
    }
    return true;
}

/* ---- processes ------------------------------------------------------------------------------- */

static void file_io_handle_process_record(void *state, const struct etwas_event_group_host *host,
                                          uint32_t slot,
                                          const struct etwas_process_record *process_record)
{
    struct etwas_file_group *group = state;
    uint32_t parent_id = process_record->task.parent_process_id;

    if (process_record->type == PERF_RECORD_SAMPLE) {
        etwas_file_handle_path(group, host, slot, process_record);
    } else if (process_record->type == PERF_RECORD_FORK &&
               process_record->process_id != parent_id) {
        etwas_open_files_close(&group->files, process_record->process_id, 0, UINT32_MAX,
                               process_record->origin.time_ns);
        etwas_open_files_share(&group->files, parent_id);
    } else if (process_record->type == PERF_RECORD_EXIT &&
               process_record->process_id == process_record->thread_id) {
        etwas_open_files_close(&group->files, process_record->process_id, 0, UINT32_MAX,
                               process_record->origin.time_ns);
    }
}

/* ---- the group ------------------------------------------------------------------------------- */

#define HOOK(type) ETWAS_KERNEL_HOOK(FILE_CREATE, type) /* the group of all of FileIo */

#define BEGINNINGS                                                                                 \
    .hooks = {HOOK(ETWAS_FILE_CREATE),       HOOK(ETWAS_FILE_CLEANUP),                             \
              HOOK(ETWAS_FILE_CLOSE),        HOOK(ETWAS_FILE_READ),                                \
              HOOK(ETWAS_FILE_WRITE),        HOOK(ETWAS_FILE_SET_INFO),                            \
              HOOK(ETWAS_FILE_DELETE),       HOOK(ETWAS_FILE_RENAME),                              \
              HOOK(ETWAS_FILE_DIR_ENUM),     HOOK(ETWAS_FILE_FLUSH),                               \
              HOOK(ETWAS_FILE_QUERY_INFO),   HOOK(ETWAS_FILE_FS_CONTROL),                          \
              HOOK(ETWAS_FILE_DELETE_PATH),  HOOK(ETWAS_FILE_RENAME_PATH),                         \
              HOOK(ETWAS_FILE_SET_LINK_PATH)}

static const struct etwas_event_source sources[] = {
    {.tracepoint = "raw_syscalls/sys_enter",
     .fields = etwas_file_enter_names,
     .sample_type = PERF_SAMPLE_REGS_USER,
     .filter = etwas_file_calls_filter,
     BEGINNINGS,
     .without_own = true,
     .handle = etwas_file_handle_enter},
    {.tracepoint = "raw_syscalls/sys_exit",
     .fields = exit_names,
     .sample_type = PERF_SAMPLE_REGS_USER,
     .filter = etwas_file_calls_filter,
     .hooks = {HOOK(ETWAS_FILE_OPERATION_END)},
     .without_own = true,
     .handle = file_io_handle_exit},
    {.tracepoint = "io_uring/io_uring_submit_req",
     .fields = etwas_file_submit_names,
     .filter = etwas_file_uring_filter,
     BEGINNINGS,
     .without_own = true,
     .is_optional = true,
     .handle = etwas_file_handle_submit},
    {.tracepoint = "io_uring/io_uring_submit_sqe", /* the name in older kernels */
     .fields = etwas_file_submit_names,
     .filter = etwas_file_uring_filter,
     BEGINNINGS,
     .without_own = true,
     .is_optional = true,
     .handle = etwas_file_handle_submit},
    {.tracepoint = "io_uring/io_uring_file_get",
     .fields = etwas_file_found_names,
     BEGINNINGS,
     .without_own = true,
     .is_optional = true,
     .handle = etwas_file_handle_found},
    {.tracepoint = "io_uring/io_uring_complete",
     .fields = etwas_file_complete_names,
     .hooks = {HOOK(ETWAS_FILE_OPERATION_END)},
     .without_own = true,
     .is_optional = true,
     .handle = etwas_file_handle_complete},
};

static void file_io_handle_loss(void *state, uint32_t slot)
{
    struct etwas_file_group *group = state;

    (void)slot;
    group->losses++;
    etwas_file_paths_clear(&group->paths);
    etwas_open_files_forget(&group->files);
}

static void file_io_drained(void *state, const struct etwas_event_group_host *host,
                            int64_t until_ns)
{
    struct etwas_file_group *group = state;

    etwas_file_names_drained(&group->files, host, until_ns);
}

static void file_io_run_down(void *state, const struct etwas_event_group_host *host, bool is_end)
{
    struct etwas_file_group *group = state;

    if (is_end) {
        etwas_file_names_emit(&group->files, host);
    } else {
        etwas_file_names_scan(&group->files, host);
    }
}

static void *file_io_open(const struct etwas_event_group_host *host)
{
    struct etwas_file_group *group = calloc(1, sizeof *group);

    (void)host;
    if (group == NULL) {
        return NULL;
    }
    etwas_file_calls_make_filter();
    group->calls = etwas_event_join_make(sizeof(struct etwas_file_call_in_progress));
    group->requests = etwas_file_uring_make();
    if (group->calls == NULL || group->requests == NULL || !etwas_open_files_init(&group->files)) {
        etwas_event_join_free(group->calls);
        etwas_event_join_free(group->requests);
        free(group);
        return NULL;
    }
    return group;
}

static void file_io_close(void *state)
{
    struct etwas_file_group *group = state;

    etwas_open_files_free(&group->files);
    etwas_event_join_free(group->calls);
    etwas_event_join_free(group->requests);
    free(group);
}

const struct etwas_event_group etwas_event_group_file_io = {
    .flags = EVENT_TRACE_FLAG_FILE_IO | EVENT_TRACE_FLAG_FILE_IO_INIT,
    .process_records = ETWAS_PROCESS_RECORD_TASKS | ETWAS_PROCESS_RECORD_PATHS,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .open = file_io_open,
    .close = file_io_close,
    .run_down = file_io_run_down,
    .handle_process_record = file_io_handle_process_record,
    .handle_loss = file_io_handle_loss,
    .drained = file_io_drained,
};
