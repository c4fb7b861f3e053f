/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_VAMAP: parts of files that processes map and unmap, as MapFile and UnmapFile of
 * ETW's FileIo.
 *
 *     mmap      MapFile, when the call succeeded; before it UnmapFile of parts that it replaces
 *     munmap    UnmapFile of each part of a file that was there
 *     exec      the same for the parts of the program that the kernel maps: first the whole range,
 *               then its parts
 *
 * The calls say what was requested. The kernel's own records of mappings (MMAP2), one within each
 * call, say which file it is; for exec there are only these. Further ones report changed
 * protections.
 */
#include <etwas/evntrace.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock/clock.h"
#include "system/groups/event_groups.h"
#include "system/names/file_record.h"
#include "system/names/file_views.h"
#include "system/names/proc_list.h"
#include "system/names/view_table.h"
#include "system/stream/cpu_stream.h"
#include "system/stream/event_join.h"
#include "system/stream/kernel_record.h"

enum {
    LARGEST_ERROR = 4095,
};

struct map_group {
    struct etwas_view_table table;
    struct etwas_file_keys named;
    struct etwas_event_join *calls; /* by thread and number of losses */
    uint64_t losses;
    bool has_run_down;
};

/* A call until it ends. */
struct call {
    uint64_t begin;
    uint64_t bytes;
    uint64_t offset;
    uint64_t key; /* 0: not known yet */
    bool is_of_file;
};

static uint64_t file_map_whole_pages(uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    return (bytes + page - 1) / page * page;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Where and when a mapping is emitted. */
struct view_origin {
    const struct etwas_event_group_host *host;
    uint8_t type;
    bool is_quiet;
    bool is_now;
    uint32_t slot;
    uint32_t process_id;
    uint32_t thread_id;
    int64_t time_ns;
};

static void file_map_emit_view(void *context, const struct etwas_view *view)
{
    const struct view_origin *view_origin = context;
    struct etwas_record_builder *record = view_origin->host->record;

    if (view_origin->is_quiet) {
        return;
    }
    ETWAS_RECORD_MAKE(record, FILE_MAP, view_origin->type, .ViewBase = view->begin,
                      .FileKey = view->key, .MiscInfo = view->offset,
                      .ViewSize = view->end - view->begin);
    etwas_record_builder_set_thread(record, view_origin->process_id, view_origin->thread_id);
    if (view_origin->is_now) {
        etwas_emit_now(view_origin->host->emitter, etwas_record_builder_end(record));
    } else {
        etwas_emit(view_origin->host->emitter, view_origin->slot, etwas_record_builder_end(record),
                   view_origin->time_ns);
    }
}

static struct view_origin file_map_view_origin_of(const struct etwas_event_group_host *host,
                                                  uint32_t slot,
                                                  const struct etwas_sample_origin *origin,
                                                  uint8_t type)
{
    return (struct view_origin){.host = host,
                                .type = type,
                                .slot = slot,
                                .process_id = origin->process_id,
                                .thread_id = origin->thread_id,
                                .time_ns = origin->time_ns};
}

static void file_map_emit_name(struct map_group *group, const struct etwas_event_group_host *host,
                               uint8_t type, uint64_t key, const char *path)
{
    if (etwas_file_keys_add(&group->named, key)) {
        etwas_file_record_name(host, type, key, path);
    }
}

/* Returns the process; NULL: it was not known at this time. */
static struct etwas_view_process *file_map_process_at(const struct map_group *group,
                                                      uint32_t process_id, int64_t time_ns)
{
    struct etwas_view_process *process = etwas_view_table_find(&group->table, process_id);

    return process != NULL && process->since_ns <= time_ns ? process : NULL;
}

/* ---- the beginning of a call ----------------------------------------------------------------- */

static struct call *file_map_begin_call(const struct etwas_source_event *event)
{
    struct map_group *group = event->state;

    return etwas_event_join_insert(group->calls, event->sample->origin.thread_id, group->losses);
}

static const char *const map_names[] = {"len", "flags", "off", NULL};
enum {
    MAP_BYTES,
    MAP_FLAGS,
    MAP_OFFSET,
    MAP_FIELDS,
};

static bool file_map_handle_map(const struct etwas_source_event *event)
{
    int64_t values[MAP_FIELDS];
    struct call *call;

    if (!etwas_source_event_numbers(event, values, MAP_FIELDS)) {
        return false;
    }
    call = file_map_begin_call(event);
    call->bytes = file_map_whole_pages((uint64_t)values[MAP_BYTES]);
    call->offset = (uint64_t)values[MAP_OFFSET];
    call->is_of_file = (values[MAP_FLAGS] & MAP_ANONYMOUS) == 0;
    return true;
}

static const char *const unmap_names[] = {"addr", "len", NULL};

static bool file_map_handle_unmap(const struct etwas_source_event *event)
{
    int64_t values[2];
    struct call *call;

    if (!etwas_source_event_numbers(event, values, 2)) {
        return false;
    }
    call = file_map_begin_call(event);
    call->begin = (uint64_t)values[0];
    call->bytes = file_map_whole_pages((uint64_t)values[1]);
    return true;
}

/* ---- the end of a call ----------------------------------------------------------------------- */

static const char *const result_names[] = {"ret", NULL};

/*
 * Returns false if the sample is too short. *is_good: the call was seen to begin and succeeded, and
 * its thread has a number in the namespace; all others have number 0, and their calls would be
 * confused.
 */
static bool file_map_end_call(const struct etwas_source_event *event, struct call *call,
                              bool *is_good, int64_t *result)
{
    struct map_group *group = event->state;
    uint32_t thread_id = event->sample->origin.thread_id;
    const struct call *found = etwas_event_join_find(group->calls, thread_id, group->losses);

    if (!etwas_source_event_numbers(event, result, 1)) {
        return false;
    }
    *is_good = found != NULL && thread_id != 0 && !(*result < 0 && *result >= -LARGEST_ERROR);
    if (found != NULL) {
        *call = *found;
        etwas_event_join_remove(group->calls, thread_id, group->losses);
    }
    return true;
}

/* A mapping that a scan has found may have been unmapped already. */
static void file_map_unmap(const struct etwas_source_event *event, uint64_t begin, uint64_t bytes)
{
    const struct etwas_sample_origin *origin = &event->sample->origin;
    struct etwas_view_process *process =
        file_map_process_at(event->state, origin->process_id, origin->time_ns);
    struct view_origin view_origin =
        file_map_view_origin_of(event->host, event->slot, origin, ETWAS_FILE_UNMAP);

    if (process != NULL && begin + bytes >= begin) {
        view_origin.is_quiet = origin->time_ns < process->scanned_ns;
        etwas_view_remove(process, begin, begin + bytes, file_map_emit_view, &view_origin);
    }
}

static bool file_map_handle_unmap_end(const struct etwas_source_event *event)
{
    struct call call;
    int64_t result;
    bool is_good;

    if (!file_map_end_call(event, &call, &is_good, &result)) {
        return false;
    }
    if (is_good) {
        file_map_unmap(event, call.begin, call.bytes);
    }
    return true;
}

static bool file_map_handle_map_end(const struct etwas_source_event *event)
{
    const struct etwas_sample_origin *origin = &event->sample->origin;
    struct view_origin view_origin =
        file_map_view_origin_of(event->host, event->slot, origin, ETWAS_FILE_MAP);
    struct etwas_view_process *process;
    struct call call;
    int64_t result;
    bool is_good;

    if (!file_map_end_call(event, &call, &is_good, &result)) {
        return false;
    }
    if (!is_good) {
        return true;
    }
    file_map_unmap(event, (uint64_t)result, call.bytes);
    if (call.is_of_file) {
        struct etwas_view view = {(uint64_t)result, (uint64_t)result + call.bytes, call.offset,
                                  call.key};

        file_map_emit_view(&view_origin, &view);
        process = file_map_process_at(event->state, origin->process_id, origin->time_ns);
        if (process != NULL) {
            etwas_view_add(process, &view);
        }
    }
    return true;
}

/* The new program has its initial mappings now. */
static bool file_map_handle_exec_end(const struct etwas_source_event *event)
{
    struct map_group *group = event->state;
    struct etwas_view_process *process =
        etwas_view_table_find(&group->table, event->sample->origin.process_id);

    if (process != NULL) {
        process->is_starting = false;
    }
    return true;
}

/* ---- the kernel's own records ---------------------------------------------------------------- */

/* What the kernel's name begins with if it had no room for the real one. */
#define NO_NAME "//"

static void file_map_handle_mapping(struct map_group *group,
                                    const struct etwas_event_group_host *host, uint32_t slot,
                                    const struct etwas_process_record *process_record)
{
    const struct etwas_sample_origin *origin = &process_record->origin;
    struct view_origin view_origin = file_map_view_origin_of(host, slot, origin, ETWAS_FILE_MAP);
    struct call *call = etwas_event_join_find(group->calls, origin->thread_id, group->losses);
    struct etwas_view_process *process =
        file_map_process_at(group, process_record->process_id, origin->time_ns);
    const struct etwas_view view = {
        .begin = process_record->image.address,
        .end = process_record->image.address + process_record->image.bytes,
        .offset = process_record->image.file_offset,
        .key = etwas_file_key(process_record->image.device, process_record->image.inode)};

    if (process_record->image.inode != 0 &&
        strncmp(process_record->image.path, NO_NAME, strlen(NO_NAME)) != 0) {
        file_map_emit_name(group, host, ETWAS_FILE_NAME, view.key, process_record->image.path);
    }
    if (call != NULL && call->is_of_file) {
        call->key = view.key;
    } else if (process != NULL && process->is_starting) {
        view_origin.type = ETWAS_FILE_UNMAP;
        etwas_view_remove(process, view.begin, view.end, file_map_emit_view, &view_origin);
        if (process_record->image.inode != 0) {
            view_origin.type = ETWAS_FILE_MAP;
            file_map_emit_view(&view_origin, &view);
            etwas_view_add(process, &view);
        }
    }
}

static void file_map_begin_program(struct map_group *group, uint32_t process_id, int64_t time_ns)
{
    struct etwas_view_process *process = etwas_view_table_begin(&group->table, process_id, time_ns);

    if (process != NULL) {
        process->is_starting = true;
    }
}

static void file_map_handle_process_record(void *state, const struct etwas_event_group_host *host,
                                           uint32_t slot,
                                           const struct etwas_process_record *process_record)
{
    struct map_group *group = state;
    int64_t time_ns = process_record->origin.time_ns;
    const struct etwas_view_process *known =
        etwas_view_table_find(&group->table, process_record->process_id);

    if (process_record->type == PERF_RECORD_MMAP2) {
        file_map_handle_mapping(group, host, slot, process_record);
    } else if (known != NULL && known->since_ns > time_ns) {
        return;
    } else if (process_record->type == PERF_RECORD_COMM && process_record->comm.is_exec) {
        file_map_begin_program(group, process_record->process_id, time_ns);
    } else if (process_record->type == PERF_RECORD_FORK &&
               process_record->process_id != process_record->task.parent_process_id) {
        etwas_view_table_fork(&group->table, process_record->process_id,
                              process_record->task.parent_process_id, time_ns);
    } else if (process_record->type == PERF_RECORD_EXIT &&
               process_record->process_id == process_record->thread_id) {
        etwas_view_table_end(&group->table, process_record->process_id);
    }
}

static void file_map_forget_views(struct map_group *group)
{
    group->losses++;
    etwas_view_table_forget(&group->table);
}

static void file_map_handle_loss(void *state, uint32_t slot)
{
    (void)slot;
    file_map_forget_views(state);
}

/* ---- what exists ----------------------------------------------------------------------------- */

struct finding {
    struct map_group *group;
    struct etwas_view_process *process;
    struct view_origin view_origin;
};

static void file_map_find_view(void *context, const struct etwas_file_view *found)
{
    struct finding *finding = context;
    const struct etwas_view view = {found->begin, found->begin + found->bytes, found->offset,
                                    found->key};

    file_map_emit_name(finding->group, finding->view_origin.host, ETWAS_FILE_NAME_RUNDOWN,
                       found->key, found->path);
    etwas_view_add(finding->process, &view);
    file_map_emit_view(&finding->view_origin, &view);
}

static void file_map_find_views(void *context, uint32_t process_id)
{
    struct finding *finding = context;

    if (etwas_view_table_find(&finding->group->table, process_id) != NULL) {
        return;
    }
    finding->view_origin.process_id = process_id;
    finding->view_origin.thread_id = process_id;
    finding->process =
        etwas_view_table_begin(&finding->group->table, process_id, etwas_clock_qpc());
    if (finding->process != NULL) {
        etwas_file_views_read(process_id, file_map_find_view, finding);
        finding->process->scanned_ns = etwas_clock_qpc();
    }
    etwas_quiesce(finding->view_origin.host->quiesce);
}

static void file_map_emit_known(const struct map_group *group, struct view_origin *view_origin)
{
    for (const struct etwas_view_process *process = etwas_view_table_after(&group->table, NULL);
         process != NULL; process = etwas_view_table_after(&group->table, process)) {
        view_origin->process_id = process->node.id;
        view_origin->thread_id = process->node.id;
        for (uint32_t index = 0; index < process->count; index++) {
            file_map_emit_view(view_origin, &process->views[index]);
        }
    }
}

/* Emits what is known, and at the beginning scans for the rest. */
static void file_map_run_down(void *state, const struct etwas_event_group_host *host, bool is_end)
{
    struct view_origin view_origin = {.host = host,
                                      .type = is_end ? ETWAS_FILE_MAP_RUNDOWN_END
                                                     : ETWAS_FILE_MAP_RUNDOWN_START,
                                      .is_now = true};
    struct map_group *group = state;
    struct finding finding = {.group = group, .view_origin = view_origin};

    if (is_end || group->has_run_down) {
        file_map_emit_known(group, &view_origin);
    }
    group->has_run_down = true;
    if (!is_end && etwas_proc_is_ours()) {
        (void)etwas_proc_list_processes(file_map_find_views, &finding);
    }
}

/* ---- the group ------------------------------------------------------------------------------- */

static const struct etwas_event_source sources[] = {
    {.tracepoint = "syscalls/sys_enter_mmap",
     .fields = map_names,
     .without_own = true,
     .handle = file_map_handle_map},
    {.tracepoint = "syscalls/sys_exit_mmap",
     .fields = result_names,
     .without_own = true,
     .handle = file_map_handle_map_end},
    {.tracepoint = "syscalls/sys_enter_munmap",
     .fields = unmap_names,
     .without_own = true,
     .handle = file_map_handle_unmap},
    {.tracepoint = "syscalls/sys_exit_munmap",
     .fields = result_names,
     .without_own = true,
     .handle = file_map_handle_unmap_end},
    {.tracepoint = "syscalls/sys_exit_execve",
     .without_own = true,
     .handle = file_map_handle_exec_end},
    {.tracepoint = "syscalls/sys_exit_execveat",
     .without_own = true,
     .handle = file_map_handle_exec_end},
};

static void *file_map_open(const struct etwas_event_group_host *host)
{
    struct map_group *group = calloc(1, sizeof *group);

    (void)host;
    if (group == NULL) {
        return NULL;
    }
    group->calls = etwas_event_join_make(sizeof(struct call));
    if (group->calls != NULL && etwas_view_table_init(&group->table)) {
        if (etwas_file_keys_init(&group->named)) {
            return group;
        }
        etwas_view_table_free(&group->table);
    }
    etwas_event_join_free(group->calls);
    free(group);
    return NULL;
}

static void file_map_close(void *state)
{
    struct map_group *group = state;

    etwas_file_keys_free(&group->named);
    etwas_view_table_free(&group->table);
    etwas_event_join_free(group->calls);
    free(group);
}

const struct etwas_event_group etwas_event_group_file_maps = {
    .flags = EVENT_TRACE_FLAG_VAMAP,
    .process_records =
        ETWAS_PROCESS_RECORD_TASKS | ETWAS_PROCESS_RECORD_NAMES | ETWAS_PROCESS_RECORD_FILES,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .open = file_map_open,
    .close = file_map_close,
    .run_down = file_map_run_down,
    .handle_process_record = file_map_handle_process_record,
    .handle_loss = file_map_handle_loss,
};
