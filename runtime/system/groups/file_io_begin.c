/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The beginnings of operations on files: the file, the position and the path of each. */
#include <etwas/evntrace.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "system/groups/compat.h"
#include "system/groups/file_io_internal.h"
#include "system/names/file_record.h"

enum {
    CLOSE_RANGE_LATER = 4, /* CLOSE_RANGE_CLOEXEC: closed at exec, when everything is forgotten */
};

/* A call that begins. */
struct entered {
    const struct etwas_source_event *event;
    struct etwas_file_group *group;
    const struct etwas_file_call *kind;
    struct etwas_file_call_in_progress *call;
    const struct etwas_file_path *path; /* NULL: none, or not known */
    uint64_t arguments[ETWAS_FILE_ARGUMENTS];
};

static uint64_t file_io_begin_argument(const struct entered *entered, uint8_t number)
{
    return number == 0 ? 0 : entered->arguments[number - 1];
}

/* ---- the file of a call ---------------------------------------------------------------------- */

struct etwas_open_file *etwas_file_used(struct etwas_file_group *group,
                                        const struct etwas_sample_origin *origin,
                                        uint32_t descriptor)
{
    struct etwas_open_file *file =
        etwas_open_files_find(&group->files, origin->process_id, descriptor);

    if (file != NULL) {
        return file->since_ns <= origin->time_ns ? file : NULL;
    }
    if (origin->process_id == 0 || descriptor > INT32_MAX) {
        return NULL;
    }
    return etwas_open_files_bind(&group->files, origin->process_id, descriptor,
                                 etwas_open_files_number(&group->files), origin->time_ns);
}

static struct etwas_open_file *file_io_begin_use_file(const struct entered *entered,
                                                      uint32_t descriptor)
{
    return etwas_file_used(entered->group, &entered->event->sample->origin, descriptor);
}

static struct etwas_open_file *file_io_begin_find_file(const struct entered *entered,
                                                       uint64_t descriptor)
{
    const struct etwas_sample_origin *origin = &entered->event->sample->origin;
    struct etwas_open_file *file =
        etwas_open_files_find(&entered->group->files, origin->process_id, (uint32_t)descriptor);

    return file != NULL && file->since_ns <= origin->time_ns ? file : NULL;
}

static void file_io_begin_close_from(const struct entered *entered, uint64_t first, uint64_t last)
{
    const struct etwas_sample_origin *origin = &entered->event->sample->origin;

    etwas_open_files_close(&entered->group->files, origin->process_id, (uint32_t)first,
                           (uint32_t)last, origin->time_ns);
}

/* ---- the beginning of a call ----------------------------------------------------------------- */

static bool file_io_begin_emits_beginnings(const struct etwas_source_event *event)
{
    return (event->host->flags & EVENT_TRACE_FLAG_FILE_IO_INIT) != 0;
}

static void file_io_begin_emit_begin(const struct entered *entered,
                                     struct etwas_file_operation operation)
{
    if (file_io_begin_emits_beginnings(entered->event)) {
        operation.irp = entered->call->irp;
        operation.info_class = entered->kind->info_class;
        etwas_file_record_begin(entered->event, &operation);
    }
}

static int64_t file_io_begin_move(const struct entered *entered, struct etwas_open_file *file)
{
    entered->call->moved = file->number;
    entered->call->descriptor = file->descriptor;
    return etwas_open_file_begin(file, entered->kind->type == ETWAS_FILE_WRITE);
}

static int64_t file_io_begin_offset_of(const struct entered *entered, struct etwas_open_file *file)
{
    const struct etwas_file_call *kind = entered->kind;
    int64_t offset =
        kind->offset != 0 ? (int64_t)file_io_begin_argument(entered, kind->offset) : -1;

    if (file != NULL && kind->moves != 0) {
        return file_io_begin_move(entered, file);
    }
    if (offset >= 0) {
        return offset;
    }
    if (file != NULL) {
        etwas_open_file_share(file); /* its position moves */
    }
    return ETWAS_FILE_AT_POSITION;
}

static void file_io_begin_transfer(const struct entered *entered)
{
    const struct etwas_file_call *kind = entered->kind;
    struct etwas_open_file *file = file_io_begin_use_file(
        entered, (uint32_t)file_io_begin_argument(entered, kind->descriptor));
    uint64_t bytes = file_io_begin_argument(entered, kind->bytes);
    struct etwas_file_operation operation = {
        .type = kind->type,
        .file = file == NULL ? 0 : file->number,
        .offset = file_io_begin_offset_of(entered, file),
        .bytes = bytes <= UINT32_MAX ? (uint32_t)bytes : UINT32_MAX,
    };

    file_io_begin_emit_begin(entered, operation);
    if (kind->second != 0) {
        file = file_io_begin_use_file(entered,
                                      (uint32_t)file_io_begin_argument(entered, kind->second));
        operation.type = ETWAS_FILE_WRITE;
        operation.file = file == NULL ? 0 : file->number;
        operation.offset = file_io_begin_offset_of(entered, file);
        file_io_begin_emit_begin(entered, operation);
    }
}

static const char *file_io_begin_first_path(const struct entered *entered)
{
    return entered->path != NULL ? entered->path->first : NULL;
}

static void file_io_begin_open(const struct entered *entered)
{
    const struct etwas_file_call *kind = entered->kind;
    uint64_t flags = file_io_begin_argument(entered, kind->flags) | kind->given_flags;

    entered->call->has_flags = kind->flags != 0 || kind->given_flags != 0;
    entered->call->is_append = (flags & O_APPEND) != 0;
    entered->call->created = etwas_open_files_number(&entered->group->files);
    file_io_begin_emit_begin(
        entered, (struct etwas_file_operation){.type = ETWAS_FILE_CREATE,
                                               .file = entered->call->created,
                                               .open_flags = flags,
                                               .path = file_io_begin_first_path(entered)});
}

static void file_io_begin_emit_path(const struct etwas_source_event *event,
                                    const struct etwas_file_call *kind,
                                    struct etwas_file_call_in_progress *call, const char *path)
{
    etwas_file_record_path(event, &(struct etwas_file_operation){.type = kind->type,
                                                                 .info_class = kind->info_class,
                                                                 .irp = call->irp,
                                                                 .file = call->created,
                                                                 .path = path});
}

/* A file that gets another path is given a number, with its old path as the name. */
static void file_io_begin_name_first(const struct etwas_source_event *event,
                                     struct etwas_file_call_in_progress *call, const char *path)
{
    struct etwas_file_group *group = event->state;

    call->created = etwas_open_files_number(&group->files);
    etwas_file_record_called(event, call->created, path);
}

/* Begins an operation on a descriptor or on a path. */
static void file_io_begin_other(const struct entered *entered)
{
    const struct etwas_file_call *kind = entered->kind;
    uint8_t descriptor = kind->descriptor;
    const struct etwas_open_file *file = NULL;
    struct etwas_file_operation operation = {
        .bytes = (uint32_t)file_io_begin_argument(entered, kind->bytes),
        .extra = file_io_begin_argument(entered, kind->extra)};

    if (kind->flags != 0 && (file_io_begin_argument(entered, kind->flags) & AT_EMPTY_PATH) != 0) {
        descriptor = 1;
    }
    if (kind->effect == ETWAS_FILE_CLOSES) {
        file = file_io_begin_find_file(entered, file_io_begin_argument(entered, descriptor));
    } else if (descriptor != 0) {
        file =
            file_io_begin_use_file(entered, (uint32_t)file_io_begin_argument(entered, descriptor));
    }
    operation.file = file == NULL ? 0 : file->number;
    if (kind->type == ETWAS_FILE_CLOSE) {
        operation.type = ETWAS_FILE_CLEANUP;
        file_io_begin_emit_begin(entered, operation);
    }
    operation.type = kind->type;
    if (entered->path == NULL || !file_io_begin_emits_beginnings(entered->event)) {
        file_io_begin_emit_begin(entered, operation);
        return;
    }
    if (kind->second_path != 0) {
        file_io_begin_name_first(entered->event, entered->call, entered->path->first);
        operation.file = entered->call->created;
    }
    file_io_begin_emit_begin(entered, operation);
    file_io_begin_emit_path(entered->event, kind, entered->call,
                            kind->second_path != 0 ? entered->path->second : entered->path->first);
}

static void file_io_begin_share_file(const struct entered *entered)
{
    struct etwas_open_file *file =
        file_io_begin_find_file(entered, file_io_begin_argument(entered, 1));

    if (file != NULL) {
        etwas_open_file_share(file);
    }
}

/* Applies effects on descriptors that may take place before the call ends. */
static void file_io_begin_apply_effect(const struct entered *entered)
{
    struct etwas_open_file *file;

    switch (entered->kind->effect) {
    case ETWAS_FILE_CLOSES:
        file_io_begin_close_from(entered, file_io_begin_argument(entered, 1),
                                 file_io_begin_argument(entered, 1));
        break;
    case ETWAS_FILE_CLOSES_RANGE:
        if ((file_io_begin_argument(entered, 3) & CLOSE_RANGE_LATER) == 0) {
            file_io_begin_close_from(entered, file_io_begin_argument(entered, 1),
                                     file_io_begin_argument(entered, 2));
        }
        break;
    case ETWAS_FILE_DUPLICATES:
        file_io_begin_close_from(entered, file_io_begin_argument(entered, 2),
                                 file_io_begin_argument(entered, 2));
        file_io_begin_share_file(entered);
        break;
    case ETWAS_FILE_SHARES:
        if (entered->call->number != SYS_fcntl || file_io_begin_argument(entered, 2) == F_DUPFD ||
            file_io_begin_argument(entered, 2) == F_DUPFD_CLOEXEC) {
            file_io_begin_share_file(entered);
        }
        break;
    case ETWAS_FILE_SEEKS:
        file = file_io_begin_find_file(entered, file_io_begin_argument(entered, 1));
        if (file != NULL) {
            (void)file_io_begin_move(entered, file);
        }
        break;
    default:
        break;
    }
}

static void file_io_begin_find_known_path(struct entered *entered, uint32_t thread_id)
{
    if (entered->kind->path != 0) {
        entered->call->path_address = file_io_begin_argument(entered, entered->kind->path);
        entered->path =
            etwas_file_paths_find(&entered->group->paths, thread_id,
                                  (uint32_t)entered->call->number, entered->call->path_address);
        entered->call->has_path = entered->path != NULL;
    }
}

/* Skips a call that is not known; neither is its effect on the process's descriptors. */
static void file_io_begin_skip_32_bit_call(const struct entered *entered, uint32_t thread_id)
{
    entered->call->is_32_bit = true;
    entered->call->has_path = true; /* no report of a path belongs to it */
    (void)etwas_file_paths_find(&entered->group->paths, thread_id, 0, 0);
    file_io_begin_close_from(entered, 0, UINT32_MAX);
}

const char *const etwas_file_enter_names[] = {"id", "args", NULL};

bool etwas_file_handle_enter(const struct etwas_source_event *event)
{
    struct entered entered = {.event = event, .group = event->state};
    uint32_t thread_id = etwas_source_event_thread(event);
    const uint8_t *arguments;
    size_t bytes;
    int64_t number;

    if (!etwas_source_event_numbers(event, &number, 1) ||
        !etwas_tracepoint_format_bytes(&event->fields[1], event->sample->raw,
                                       event->sample->raw_bytes, &arguments, &bytes) ||
        bytes != sizeof entered.arguments) {
        return false;
    }
    memcpy(entered.arguments, arguments, bytes);
    entered.kind = etwas_file_call_of(number);
    if (entered.kind == NULL) {
        return true;
    }
    entered.call = etwas_event_join_insert(entered.group->calls, thread_id, entered.group->losses);
    entered.call->number = number;
    if (etwas_call_is_32_bit(event->sample, arguments)) {
        file_io_begin_skip_32_bit_call(&entered, thread_id);
        return true;
    }
    entered.call->irp = ++entered.group->last_irp;
    file_io_begin_find_known_path(&entered, thread_id);
    if (entered.kind->type == ETWAS_FILE_READ || entered.kind->type == ETWAS_FILE_WRITE) {
        file_io_begin_transfer(&entered);
    } else if (entered.kind->type == ETWAS_FILE_CREATE) {
        file_io_begin_open(&entered);
    } else if (entered.kind->type != 0) {
        file_io_begin_other(&entered);
    }
    file_io_begin_apply_effect(&entered);
    return true;
}

/* ---- the paths of a call --------------------------------------------------------------------- */

/* Emits paths that were not known when the beginning was emitted. */
static void file_io_begin_emit_late_path(const struct etwas_source_event *event,
                                         struct etwas_file_call_in_progress *call,
                                         const struct etwas_process_record *process_record)
{
    const struct etwas_file_call *kind = etwas_file_call_of(call->number);

    call->has_path = true;
    if (!file_io_begin_emits_beginnings(event)) {
        return;
    }
    if (kind->type == ETWAS_FILE_CREATE) {
        etwas_file_record_called(event, call->created, process_record->path.first);
    } else if (kind->second_path == 0) {
        file_io_begin_emit_path(event, kind, call, process_record->path.first);
    } else if (process_record->path.second != NULL) {
        file_io_begin_name_first(event, call, process_record->path.first);
        file_io_begin_emit_path(event, kind, call, process_record->path.second);
    }
}

void etwas_file_handle_path(struct etwas_file_group *group,
                            const struct etwas_event_group_host *host, uint32_t slot,
                            const struct etwas_process_record *process_record)
{
    const struct etwas_sample sample = {.origin = process_record->origin};
    const struct etwas_source_event event = {
        .host = (struct etwas_event_group_host *)host, /* it is not changed */
        .state = group,
        .sample = &sample,
        .slot = slot};
    struct etwas_file_call_in_progress *call =
        etwas_event_join_find(group->calls, process_record->path.thread, group->losses);

    if (call != NULL && call->number == process_record->path.call && !call->has_path &&
        call->path_address == process_record->path.address &&
        (process_record->path.is_late || !call->is_over)) {
        file_io_begin_emit_late_path(&event, call, process_record);
    } else if (!process_record->path.is_late) {
        etwas_file_paths_store(&group->paths, process_record);
    }
}
