/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_FILE_IO_INIT and _FILE_IO: operations on files, as ETW's FileIo, from the system calls that
 * file_calls.h names. INIT tells that one begins, the other that it is over (OperationEnd).
 *
 *     IrpPtr        a number of the call, which no other has: of its beginning and its end
 *     FileObject    a number of what is open (open_files.h), from its Create to its Close; 0: not known
 *
 * Events are taken in the order of time, so a descriptor is known to be what it was when the call began.
 * When events are lost all of that is forgotten: what is used then gets another number.
 */
#include <etwas/evntrace.h>
#include <stdlib.h>

#include "system/groups/event_groups.h"
#include "system/groups/file_io_internal.h"
#include "system/names/file_names.h"
#include "system/names/file_record.h"
#include "system/stream/cpu_stream.h"

enum {
    GROUP_FILE = 0x04,
};

/* ---- the end of a call ----------------------------------------------------------------------- */

/* A call that is over. */
struct left {
    const struct etwas_sample_origin *origin;
    struct etwas_file_topic *topic;
    const struct etwas_file_call *kind;
    struct etwas_file_under_way *call; /* NULL: nobody saw it begin */
    int64_t result;
};

static void end_open(const struct left *left)
{
    struct etwas_open_file *file;

    if (left->result < 0 || left->result > INT32_MAX || left->origin->process_id == 0) {
        return;
    }
    file =
        etwas_open_files_bind(&left->topic->files, left->origin->process_id, (uint32_t)left->result,
                              left->call->created, left->origin->time_ns);
    if (file != NULL && left->call->has_flags) {
        file->position = 0;
        file->is_append = left->call->is_append;
    }
}

static void end_move(const struct left *left)
{
    struct etwas_open_file *file = etwas_open_files_find(
        &left->topic->files, left->origin->process_id, left->call->descriptor);

    if (file == NULL || file->number != left->call->moved) {
        return;
    }
    if (left->kind->effect == ETWAS_FILE_SEEKS) {
        etwas_open_file_seek(file, left->result);
    } else {
        etwas_open_file_end(file, left->result);
    }
}

/* Which descriptors it closed only its beginning says. */
static bool has_closed_some(const struct left *left)
{
    return (left->kind->effect == ETWAS_FILE_EXECUTES && left->result == 0) ||
           (left->call == NULL && (left->kind->effect == ETWAS_FILE_CLOSES ||
                                   left->kind->effect == ETWAS_FILE_CLOSES_RANGE ||
                                   left->kind->effect == ETWAS_FILE_DUPLICATES));
}

static void end_call(const struct left *left)
{
    if (has_closed_some(left)) {
        etwas_open_files_close(&left->topic->files, left->origin->process_id, 0, UINT32_MAX,
                               left->origin->time_ns);
    }
    if (left->call != NULL && left->kind->effect == ETWAS_FILE_OPENS) {
        end_open(left);
    } else if (left->call != NULL && left->call->moved != 0) {
        end_move(left);
    }
}

/* Where the probe's place is behind that of the source. */
static bool awaits_path(const struct etwas_topic_host *host, const struct left *left)
{
    return (host->sideband & ETWAS_SIDEBAND_PATHS) != 0 && left->kind->path != 0 &&
           !left->call->has_path;
}

static const char *const exit_names[] = {"id", "ret", NULL};
enum {
    EXIT_NUMBER,
    EXIT_RESULT,
    EXIT_FIELDS,
};

static bool take_exit(const struct etwas_taken *taken)
{
    uint32_t thread_id = etwas_taken_thread(taken);
    struct left left = {.origin = &taken->sample->origin, .topic = taken->state};
    int64_t values[EXIT_FIELDS];

    if (!etwas_taken_numbers(taken, values, EXIT_FIELDS)) {
        return false;
    }
    left.kind = etwas_file_call_of(values[EXIT_NUMBER]);
    if (left.kind == NULL) {
        return true;
    }
    left.result = values[EXIT_RESULT];
    left.call = etwas_join_find(left.topic->calls, thread_id, left.topic->losses);
    if (left.call != NULL && (left.call->number != values[EXIT_NUMBER] || left.call->is_over)) {
        left.call = NULL;
    }
    if (left.call != NULL ? left.call->is_32_bit : taken->sample->is_32_bit) {
        etwas_join_remove(left.topic->calls, thread_id, left.topic->losses);
        return true;
    }
    end_call(&left);
    if (left.kind->type != 0 && (taken->host->flags & EVENT_TRACE_FLAG_FILE_IO) != 0) {
        etwas_file_record_end(taken, left.call != NULL ? left.call->irp : ++left.topic->last_irp,
                              left.result);
    }
    if (left.call != NULL && awaits_path(taken->host, &left)) {
        left.call->is_over = true;
    } else {
        etwas_join_remove(left.topic->calls, thread_id, left.topic->losses);
    }
    return true;
}

/* ---- processes ------------------------------------------------------------------------------- */

static void take_sideband(void *state, const struct etwas_topic_host *host, uint32_t slot,
                          const struct etwas_sideband *sideband)
{
    struct etwas_file_topic *topic = state;
    uint32_t parent_id = sideband->task.parent_process_id;

    if (sideband->type == PERF_RECORD_SAMPLE) {
        etwas_file_take_path(topic, host, slot, sideband);
    } else if (sideband->type == PERF_RECORD_FORK && sideband->process_id != parent_id) {
        etwas_open_files_close(&topic->files, sideband->process_id, 0, UINT32_MAX,
                               sideband->origin.time_ns);
        etwas_open_files_share(&topic->files, parent_id);
    } else if (sideband->type == PERF_RECORD_EXIT && sideband->process_id == sideband->thread_id) {
        etwas_open_files_close(&topic->files, sideband->process_id, 0, UINT32_MAX,
                               sideband->origin.time_ns);
    }
}

/* ---- the topic ------------------------------------------------------------------------------- */

#define HOOK(type) (GROUP_FILE << 8 | (type))

#define BEGINNINGS                                                                                 \
    .hooks = {HOOK(ETWAS_FILE_CREATE),       HOOK(ETWAS_FILE_CLEANUP),                             \
              HOOK(ETWAS_FILE_CLOSE),        HOOK(ETWAS_FILE_READ),                                \
              HOOK(ETWAS_FILE_WRITE),        HOOK(ETWAS_FILE_SET_INFO),                            \
              HOOK(ETWAS_FILE_DELETE),       HOOK(ETWAS_FILE_RENAME),                              \
              HOOK(ETWAS_FILE_DIR_ENUM),     HOOK(ETWAS_FILE_FLUSH),                               \
              HOOK(ETWAS_FILE_QUERY_INFO),   HOOK(ETWAS_FILE_FS_CONTROL),                          \
              HOOK(ETWAS_FILE_DELETE_PATH),  HOOK(ETWAS_FILE_RENAME_PATH),                         \
              HOOK(ETWAS_FILE_SET_LINK_PATH)}

static const struct etwas_source sources[] = {
    {.tracepoint = "raw_syscalls/sys_enter",
     .fields = etwas_file_enter_names,
     .sample_type = PERF_SAMPLE_REGS_USER,
     .filter = etwas_file_calls_filter,
     BEGINNINGS,
     .without_own = true,
     .take = etwas_file_take_enter},
    {.tracepoint = "raw_syscalls/sys_exit",
     .fields = exit_names,
     .sample_type = PERF_SAMPLE_REGS_USER,
     .filter = etwas_file_calls_filter,
     .hooks = {HOOK(ETWAS_FILE_OPERATION_END)},
     .without_own = true,
     .take = take_exit},
    {.tracepoint = "io_uring/io_uring_submit_req",
     .fields = etwas_file_submit_names,
     .filter = etwas_file_uring_filter,
     BEGINNINGS,
     .without_own = true,
     .is_optional = true,
     .take = etwas_file_take_submit},
    {.tracepoint = "io_uring/io_uring_submit_sqe", /* as older kernels call it */
     .fields = etwas_file_submit_names,
     .filter = etwas_file_uring_filter,
     BEGINNINGS,
     .without_own = true,
     .is_optional = true,
     .take = etwas_file_take_submit},
    {.tracepoint = "io_uring/io_uring_file_get",
     .fields = etwas_file_found_names,
     BEGINNINGS,
     .without_own = true,
     .is_optional = true,
     .take = etwas_file_take_found},
    {.tracepoint = "io_uring/io_uring_complete",
     .fields = etwas_file_complete_names,
     .hooks = {HOOK(ETWAS_FILE_OPERATION_END)},
     .without_own = true,
     .is_optional = true,
     .take = etwas_file_take_complete},
};

static void take_loss(void *state, uint32_t slot)
{
    struct etwas_file_topic *topic = state;

    (void)slot;
    topic->losses++;
    etwas_file_paths_clear(&topic->paths);
    etwas_open_files_forget(&topic->files);
}

static void settle(void *state, const struct etwas_topic_host *host, int64_t until_ns)
{
    struct etwas_file_topic *topic = state;

    etwas_file_names_settle(&topic->files, host, until_ns);
}

static void run_down(void *state, const struct etwas_topic_host *host, bool is_end)
{
    struct etwas_file_topic *topic = state;

    if (is_end) {
        etwas_file_names_leave(&topic->files, host);
    } else {
        etwas_file_names_find(&topic->files, host);
    }
}

static void *open_topic(const struct etwas_topic_host *host)
{
    struct etwas_file_topic *topic = calloc(1, sizeof *topic);

    (void)host;
    if (topic == NULL) {
        return NULL;
    }
    etwas_file_calls_make_filter();
    topic->calls = etwas_join_make(sizeof(struct etwas_file_under_way));
    topic->requests = etwas_file_uring_make();
    if (topic->calls == NULL || topic->requests == NULL || !etwas_open_files_init(&topic->files)) {
        etwas_join_free(topic->calls);
        etwas_join_free(topic->requests);
        free(topic);
        return NULL;
    }
    return topic;
}

static void close_topic(void *state)
{
    struct etwas_file_topic *topic = state;

    etwas_open_files_free(&topic->files);
    etwas_join_free(topic->calls);
    etwas_join_free(topic->requests);
    free(topic);
}

const struct etwas_topic etwas_topic_file_io = {
    .flags = EVENT_TRACE_FLAG_FILE_IO | EVENT_TRACE_FLAG_FILE_IO_INIT,
    .sideband = ETWAS_SIDEBAND_TASKS | ETWAS_SIDEBAND_PATHS,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .open = open_topic,
    .close = close_topic,
    .run_down = run_down,
    .take_sideband = take_sideband,
    .take_loss = take_loss,
    .settle = settle,
};
