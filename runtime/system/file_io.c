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
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "system/feed.h"
#include "system/file_names.h"
#include "system/file_record.h"
#include "system/join.h"
#include "system/topics.h"

enum {
    GROUP_FILE = 0x04,
    CLOSE_RANGE_LATER = 4, /* CLOSE_RANGE_CLOEXEC: at exec, when all is forgotten */
};

struct file_topic {
    struct etwas_open_files files;
    struct etwas_join *calls; /* by thread, since the last loss */
    uint64_t losses;
    uint64_t last_irp;
};

/* What a thread is in. */
struct call {
    int64_t number;
    uint64_t irp;
    uint64_t created;    /* of what it opens */
    uint64_t moved;      /* whose position it moves */
    uint32_t descriptor; /* which is that */
    bool is_append;
    bool has_flags;
};

/* A call that begins. */
struct entered {
    const struct etwas_taken *taken;
    struct file_topic *topic;
    const struct etwas_file_call *kind;
    struct call *call;
    uint64_t arguments[ETWAS_FILE_ARGUMENTS];
};

static uint64_t argument(const struct entered *entered, uint8_t number)
{
    return number == 0 ? 0 : entered->arguments[number - 1];
}

/* ---- whose file it is ------------------------------------------------------------------------ */

/* NULL: not known. What is used for the first time is known from now on. */
static struct etwas_open_file *use(const struct entered *entered, uint32_t descriptor)
{
    const struct etwas_sample_origin *origin = &entered->taken->sample->origin;
    struct etwas_open_files *files = &entered->topic->files;
    struct etwas_open_file *file = etwas_open_files_find(files, origin->process_id, descriptor);

    if (file != NULL) {
        return file->since_ns <= origin->time_ns ? file : NULL;
    }
    if (origin->process_id == 0 || descriptor > INT32_MAX) {
        return NULL;
    }
    return etwas_open_files_bind(files, origin->process_id, descriptor,
                                 etwas_open_files_number(files), origin->time_ns);
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

static void tell_begin(const struct entered *entered, struct etwas_file_operation operation)
{
    if ((entered->taken->host->flags & EVENT_TRACE_FLAG_FILE_IO_INIT) != 0) {
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

static void begin_open(const struct entered *entered)
{
    uint64_t flags = argument(entered, entered->kind->flags);

    if (entered->call->number == SYS_openat2) {
        flags = 0; /* are not in the arguments */
    }
    entered->call->has_flags = entered->kind->flags != 0;
    entered->call->is_append = (flags & O_APPEND) != 0;
    entered->call->created = etwas_open_files_number(&entered->topic->files);
    tell_begin(entered, (struct etwas_file_operation){.type = ETWAS_FILE_CREATE,
                                                      .file = entered->call->created,
                                                      .open_flags = flags});
}

/* Of a descriptor, or of a path. */
static void begin_other(const struct entered *entered)
{
    const struct etwas_file_call *kind = entered->kind;
    uint8_t descriptor = kind->descriptor;
    const struct etwas_open_file *file = NULL;

    if (kind->flags != 0 && (argument(entered, kind->flags) & AT_EMPTY_PATH) != 0) {
        descriptor = 1;
    }
    if (kind->effect == ETWAS_FILE_CLOSES) {
        file = find(entered, argument(entered, descriptor));
    } else if (descriptor != 0) {
        file = use(entered, (uint32_t)argument(entered, descriptor));
    }
    tell_begin(entered,
               (struct etwas_file_operation){.type = kind->type,
                                             .file = file == NULL ? 0 : file->number,
                                             .bytes = (uint32_t)argument(entered, kind->bytes),
                                             .extra = argument(entered, kind->extra)});
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

static const char *const enter_names[] = {"id", "args", NULL};

static bool take_enter(const struct etwas_taken *taken)
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
    entered.call->irp = ++entered.topic->last_irp;
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

/* ---- the end of a call ----------------------------------------------------------------------- */

/* A call that is over. */
struct left {
    const struct etwas_sample_origin *origin;
    struct file_topic *topic;
    const struct etwas_file_call *kind;
    const struct call *call; /* NULL: nobody saw it begin */
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
    if (left.call != NULL && left.call->number != values[EXIT_NUMBER]) {
        left.call = NULL;
    }
    end_call(&left);
    if (left.kind->type != 0 && (taken->host->flags & EVENT_TRACE_FLAG_FILE_IO) != 0) {
        etwas_file_record_end(taken, left.call != NULL ? left.call->irp : ++left.topic->last_irp,
                              left.result);
    }
    etwas_join_remove(left.topic->calls, thread_id, left.topic->losses);
    return true;
}

/* ---- processes ------------------------------------------------------------------------------- */

static void take_sideband(void *state, const struct etwas_topic_host *host, uint32_t slot,
                          const struct etwas_sideband *sideband)
{
    struct file_topic *topic = state;
    uint32_t parent_id = sideband->task.parent_process_id;

    (void)host;
    (void)slot;
    if (sideband->type == PERF_RECORD_FORK && sideband->process_id != parent_id) {
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

static const struct etwas_source sources[] = {
    {.tracepoint = "raw_syscalls/sys_enter",
     .fields = enter_names,
     .filter = etwas_file_calls_filter,
     .hooks = {HOOK(ETWAS_FILE_CREATE), HOOK(ETWAS_FILE_CLOSE), HOOK(ETWAS_FILE_READ),
               HOOK(ETWAS_FILE_WRITE), HOOK(ETWAS_FILE_SET_INFO), HOOK(ETWAS_FILE_DELETE),
               HOOK(ETWAS_FILE_RENAME), HOOK(ETWAS_FILE_DIR_ENUM), HOOK(ETWAS_FILE_FLUSH),
               HOOK(ETWAS_FILE_QUERY_INFO)},
     .without_own = true,
     .take = take_enter},
    {.tracepoint = "raw_syscalls/sys_exit",
     .fields = exit_names,
     .filter = etwas_file_calls_filter,
     .hooks = {HOOK(ETWAS_FILE_OPERATION_END)},
     .without_own = true,
     .take = take_exit},
};

static void take_loss(void *state, uint32_t slot)
{
    struct file_topic *topic = state;

    (void)slot;
    topic->losses++;
    etwas_open_files_forget(&topic->files);
}

static void settle(void *state, const struct etwas_topic_host *host, int64_t until_ns)
{
    struct file_topic *topic = state;

    etwas_file_names_settle(&topic->files, host, until_ns);
}

static void run_down(void *state, const struct etwas_topic_host *host, bool is_end)
{
    struct file_topic *topic = state;

    if (is_end) {
        etwas_file_names_leave(&topic->files, host);
    } else {
        etwas_file_names_find(&topic->files, host);
    }
}

static void *open_topic(const struct etwas_topic_host *host)
{
    struct file_topic *topic = calloc(1, sizeof *topic);

    (void)host;
    if (topic == NULL) {
        return NULL;
    }
    etwas_file_calls_make_filter();
    topic->calls = etwas_join_make(sizeof(struct call));
    if (topic->calls == NULL || !etwas_open_files_init(&topic->files)) {
        etwas_join_free(topic->calls);
        free(topic);
        return NULL;
    }
    return topic;
}

static void close_topic(void *state)
{
    struct file_topic *topic = state;

    etwas_open_files_free(&topic->files);
    etwas_join_free(topic->calls);
    free(topic);
}

const struct etwas_topic etwas_topic_file_io = {
    .flags = EVENT_TRACE_FLAG_FILE_IO | EVENT_TRACE_FLAG_FILE_IO_INIT,
    .sideband = ETWAS_SIDEBAND_TASKS,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .open = open_topic,
    .close = close_topic,
    .run_down = run_down,
    .take_sideband = take_sideband,
    .take_loss = take_loss,
    .settle = settle,
};
