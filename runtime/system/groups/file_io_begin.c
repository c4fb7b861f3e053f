/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How operations on files begin: whose file it is, where it reads and writes, and which path it is given.
 */
#include <etwas/evntrace.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "system/groups/compat.h"
#include "system/groups/file_io_internal.h"
#include "system/names/file_record.h"

enum {
    CLOSE_RANGE_LATER = 4, /* CLOSE_RANGE_CLOEXEC: at exec, when all is forgotten */
};

/* A call that begins. */
struct entered {
    const struct etwas_taken *taken;
    struct etwas_file_topic *topic;
    const struct etwas_file_call *kind;
    struct etwas_file_under_way *call;
    const struct etwas_file_path *path; /* NULL: it has none, or it is not known */
    uint64_t arguments[ETWAS_FILE_ARGUMENTS];
};

static uint64_t argument(const struct entered *entered, uint8_t number)
{
    return number == 0 ? 0 : entered->arguments[number - 1];
}

/* ---- whose file it is ------------------------------------------------------------------------ */

struct etwas_open_file *etwas_file_used(struct etwas_file_topic *topic,
                                        const struct etwas_sample_origin *origin,
                                        uint32_t descriptor)
{
    struct etwas_open_file *file =
        etwas_open_files_find(&topic->files, origin->process_id, descriptor);

    if (file != NULL) {
        return file->since_ns <= origin->time_ns ? file : NULL;
    }
    if (origin->process_id == 0 || descriptor > INT32_MAX) {
        return NULL;
    }
    return etwas_open_files_bind(&topic->files, origin->process_id, descriptor,
                                 etwas_open_files_number(&topic->files), origin->time_ns);
}

static struct etwas_open_file *use(const struct entered *entered, uint32_t descriptor)
{
    return etwas_file_used(entered->topic, &entered->taken->sample->origin, descriptor);
}

static struct etwas_open_file *find(const struct entered *entered, uint64_t descriptor)
{
    const struct etwas_sample_origin *origin = &entered->taken->sample->origin;
    struct etwas_open_file *file =
        etwas_open_files_find(&entered->topic->files, origin->process_id, (uint32_t)descriptor);

    return file != NULL && file->since_ns <= origin->time_ns ? file : NULL;
}

static void close_from(const struct entered *entered, uint64_t first, uint64_t last)
{
    const struct etwas_sample_origin *origin = &entered->taken->sample->origin;

    etwas_open_files_close(&entered->topic->files, origin->process_id, (uint32_t)first,
                           (uint32_t)last, origin->time_ns);
}

/* ---- the beginning of a call ----------------------------------------------------------------- */

static bool tells_beginnings(const struct etwas_taken *taken)
{
    return (taken->host->flags & EVENT_TRACE_FLAG_FILE_IO_INIT) != 0;
}

static void tell_begin(const struct entered *entered, struct etwas_file_operation operation)
{
    if (tells_beginnings(entered->taken)) {
        operation.irp = entered->call->irp;
        operation.info_class = entered->kind->info_class;
        etwas_file_record_begin(entered->taken, &operation);
    }
}

static int64_t begin_move(const struct entered *entered, struct etwas_open_file *file)
{
    entered->call->moved = file->number;
    entered->call->descriptor = file->descriptor;
    return etwas_open_file_begin(file, entered->kind->type == ETWAS_FILE_WRITE);
}

static int64_t offset_of(const struct entered *entered, struct etwas_open_file *file)
{
    const struct etwas_file_call *kind = entered->kind;
    int64_t offset = kind->offset != 0 ? (int64_t)argument(entered, kind->offset) : -1;

    if (file != NULL && kind->moves != 0) {
        return begin_move(entered, file);
    }
    if (offset >= 0) {
        return offset;
    }
    if (file != NULL) {
        etwas_open_file_share(file); /* it moves by itself */
    }
    return ETWAS_FILE_AT_POSITION;
}

static void begin_transfer(const struct entered *entered)
{
    const struct etwas_file_call *kind = entered->kind;
    struct etwas_open_file *file = use(entered, (uint32_t)argument(entered, kind->descriptor));
    uint64_t bytes = argument(entered, kind->bytes);
    struct etwas_file_operation operation = {
        .type = kind->type,
        .file = file == NULL ? 0 : file->number,
        .offset = offset_of(entered, file),
        .bytes = bytes <= UINT32_MAX ? (uint32_t)bytes : UINT32_MAX,
    };

    tell_begin(entered, operation);
    if (kind->second != 0) {
        file = use(entered, (uint32_t)argument(entered, kind->second));
        operation.type = ETWAS_FILE_WRITE;
        operation.file = file == NULL ? 0 : file->number;
        operation.offset = offset_of(entered, file);
        tell_begin(entered, operation);
    }
}

static const char *first_path(const struct entered *entered)
{
    return entered->path != NULL ? entered->path->first : NULL;
}

static void begin_open(const struct entered *entered)
{
    const struct etwas_file_call *kind = entered->kind;
    uint64_t flags = argument(entered, kind->flags) | kind->given_flags;

    entered->call->has_flags = kind->flags != 0 || kind->given_flags != 0;
    entered->call->is_append = (flags & O_APPEND) != 0;
    entered->call->created = etwas_open_files_number(&entered->topic->files);
    tell_begin(entered, (struct etwas_file_operation){.type = ETWAS_FILE_CREATE,
                                                      .file = entered->call->created,
                                                      .open_flags = flags,
                                                      .path = first_path(entered)});
}

static void tell_path(const struct etwas_taken *taken, const struct etwas_file_call *kind,
                      struct etwas_file_under_way *call, const char *path)
{
    etwas_file_record_path(taken, &(struct etwas_file_operation){.type = kind->type,
                                                                 .info_class = kind->info_class,
                                                                 .irp = call->irp,
                                                                 .file = call->created,
                                                                 .path = path});
}

/* What has another path afterwards gets a number, by which it is called so until then. */
static void name_first(const struct etwas_taken *taken, struct etwas_file_under_way *call,
                       const char *path)
{
    struct etwas_file_topic *topic = taken->state;

    call->created = etwas_open_files_number(&topic->files);
    etwas_file_record_called(taken, call->created, path);
}

/* Of a descriptor, or of a path. */
static void begin_other(const struct entered *entered)
{
    const struct etwas_file_call *kind = entered->kind;
    uint8_t descriptor = kind->descriptor;
    const struct etwas_open_file *file = NULL;
    struct etwas_file_operation operation = {.bytes = (uint32_t)argument(entered, kind->bytes),
                                             .extra = argument(entered, kind->extra)};

    if (kind->flags != 0 && (argument(entered, kind->flags) & AT_EMPTY_PATH) != 0) {
        descriptor = 1;
    }
    if (kind->effect == ETWAS_FILE_CLOSES) {
        file = find(entered, argument(entered, descriptor));
    } else if (descriptor != 0) {
        file = use(entered, (uint32_t)argument(entered, descriptor));
    }
    operation.file = file == NULL ? 0 : file->number;
    if (kind->type == ETWAS_FILE_CLOSE) {
        operation.type = ETWAS_FILE_CLEANUP;
        tell_begin(entered, operation);
    }
    operation.type = kind->type;
    if (entered->path == NULL || !tells_beginnings(entered->taken)) {
        tell_begin(entered, operation);
        return;
    }
    if (kind->second_path != 0) {
        name_first(entered->taken, entered->call, entered->path->first);
        operation.file = entered->call->created;
    }
    tell_begin(entered, operation);
    tell_path(entered->taken, kind, entered->call,
              kind->second_path != 0 ? entered->path->second : entered->path->first);
}

static void share(const struct entered *entered)
{
    struct etwas_open_file *file = find(entered, argument(entered, 1));

    if (file != NULL) {
        etwas_open_file_share(file);
    }
}

/* What it makes of descriptors may be before it is over. */
static void take_effect(const struct entered *entered)
{
    struct etwas_open_file *file;

    switch (entered->kind->effect) {
    case ETWAS_FILE_CLOSES:
        close_from(entered, argument(entered, 1), argument(entered, 1));
        break;
    case ETWAS_FILE_CLOSES_RANGE:
        if ((argument(entered, 3) & CLOSE_RANGE_LATER) == 0) {
            close_from(entered, argument(entered, 1), argument(entered, 2));
        }
        break;
    case ETWAS_FILE_DUPLICATES:
        close_from(entered, argument(entered, 2), argument(entered, 2));
        share(entered);
        break;
    case ETWAS_FILE_SHARES:
        if (entered->call->number != SYS_fcntl || argument(entered, 2) == F_DUPFD ||
            argument(entered, 2) == F_DUPFD_CLOEXEC) {
            share(entered);
        }
        break;
    case ETWAS_FILE_SEEKS:
        file = find(entered, argument(entered, 1));
        if (file != NULL) {
            (void)begin_move(entered, file);
        }
        break;
    default:
        break;
    }
}

static void take_known_path(struct entered *entered, uint32_t thread_id)
{
    if (entered->kind->path != 0) {
        entered->call->path_address = argument(entered, entered->kind->path);
        entered->path =
            etwas_file_paths_take(&entered->topic->paths, thread_id,
                                  (uint32_t)entered->call->number, entered->call->path_address);
        entered->call->has_path = entered->path != NULL;
    }
}

/* Whichever call it is. What it does to the descriptors of its process nobody knows. */
static void pass_over(const struct entered *entered, uint32_t thread_id)
{
    entered->call->is_32_bit = true;
    entered->call->has_path = true; /* none of these */
    (void)etwas_file_paths_take(&entered->topic->paths, thread_id, 0, 0);
    close_from(entered, 0, UINT32_MAX);
}

const char *const etwas_file_enter_names[] = {"id", "args", NULL};

bool etwas_file_take_enter(const struct etwas_taken *taken)
{
    struct entered entered = {.taken = taken, .topic = taken->state};
    uint32_t thread_id = etwas_taken_thread(taken);
    const uint8_t *arguments;
    size_t bytes;
    int64_t number;

    if (!etwas_taken_numbers(taken, &number, 1) ||
        !etwas_format_bytes(&taken->fields[1], taken->sample->raw, taken->sample->raw_bytes,
                            &arguments, &bytes) ||
        bytes != sizeof entered.arguments) {
        return false;
    }
    memcpy(entered.arguments, arguments, bytes);
    entered.kind = etwas_file_call_of(number);
    if (entered.kind == NULL) {
        return true;
    }
    entered.call = etwas_join_put(entered.topic->calls, thread_id, entered.topic->losses);
    entered.call->number = number;
    if (etwas_call_is_32_bit(taken->sample, arguments)) {
        pass_over(&entered, thread_id);
        return true;
    }
    entered.call->irp = ++entered.topic->last_irp;
    take_known_path(&entered, thread_id);
    if (entered.kind->type == ETWAS_FILE_READ || entered.kind->type == ETWAS_FILE_WRITE) {
        begin_transfer(&entered);
    } else if (entered.kind->type == ETWAS_FILE_CREATE) {
        begin_open(&entered);
    } else if (entered.kind->type != 0) {
        begin_other(&entered);
    }
    take_effect(&entered);
    return true;
}

/* ---- its paths ------------------------------------------------------------------------------- */

/* That were not known when it was told. */
static void tell_late_path(const struct etwas_taken *taken, struct etwas_file_under_way *call,
                           const struct etwas_sideband *sideband)
{
    const struct etwas_file_call *kind = etwas_file_call_of(call->number);

    call->has_path = true;
    if (!tells_beginnings(taken)) {
        return;
    }
    if (kind->type == ETWAS_FILE_CREATE) {
        etwas_file_record_called(taken, call->created, sideband->path.first);
    } else if (kind->second_path == 0) {
        tell_path(taken, kind, call, sideband->path.first);
    } else if (sideband->path.second != NULL) {
        name_first(taken, call, sideband->path.first);
        tell_path(taken, kind, call, sideband->path.second);
    }
}

void etwas_file_take_path(struct etwas_file_topic *topic, const struct etwas_topic_host *host,
                          uint32_t slot, const struct etwas_sideband *sideband)
{
    const struct etwas_sample sample = {.origin = sideband->origin};
    const struct etwas_taken taken = {.host = (struct etwas_topic_host *)host, /* is only read */
                                      .state = topic,
                                      .sample = &sample,
                                      .slot = slot};
    struct etwas_file_under_way *call =
        etwas_join_find(topic->calls, sideband->path.thread, topic->losses);

    if (call != NULL && call->number == sideband->path.call && !call->has_path &&
        call->path_address == sideband->path.address &&
        (sideband->path.is_late || !call->is_over)) {
        tell_late_path(&taken, call, sideband);
    } else if (!sideband->path.is_late) {
        etwas_file_paths_put(&topic->paths, sideband);
    }
}
