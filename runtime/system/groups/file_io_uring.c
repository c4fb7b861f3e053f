/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Requests to io_uring that are operations on files, recorded when the kernel begins them and when
 * they end. The kernel reports the file's descriptor when it has looked it up; for a registered
 * file, and for a request that opens or closes one, it does not report the file. It never reports
 * offset and length.
 *
 * A request is identified by its address until it ends.
 */
#include <etwas/evntrace.h>
#include <fcntl.h>
#include <linux/io_uring.h>

#include "system/groups/file_io_internal.h"
#include "system/names/file_record.h"

enum {
    OPCODE_FTRUNCATE = 55, /* not in older headers */
    REGISTERED = IOSQE_FIXED_FILE,
};

struct operation {
    uint8_t opcode;
    uint8_t type;
    bool has_file;
    uint8_t info_class;
    uint32_t flags; /* as open would have them */
};

#define OF_FILE(type_) .type = ETWAS_FILE_##type_, .has_file = true
#define OF_PATH(type_) .type = ETWAS_FILE_##type_
#define INFO(class_) .info_class = ETWAS_FILE_INFO_##class_

/* etwas_file_uring_filter contains the same opcodes. */
static const struct operation operations[] = {
    {IORING_OP_READV, OF_FILE(READ)},
    {IORING_OP_WRITEV, OF_FILE(WRITE)},
    {IORING_OP_FSYNC, OF_FILE(FLUSH)},
    {IORING_OP_READ_FIXED, OF_FILE(READ)},
    {IORING_OP_WRITE_FIXED, OF_FILE(WRITE)},
    {IORING_OP_SYNC_FILE_RANGE, OF_FILE(FLUSH)},
    {IORING_OP_FALLOCATE, OF_FILE(SET_INFO), INFO(ALLOCATION)},
    {IORING_OP_OPENAT, OF_PATH(CREATE)},
    {IORING_OP_CLOSE, OF_PATH(CLOSE)},
    {IORING_OP_STATX, OF_PATH(QUERY_INFO), INFO(ALL)},
    {IORING_OP_READ, OF_FILE(READ)},
    {IORING_OP_WRITE, OF_FILE(WRITE)},
    {IORING_OP_OPENAT2, OF_PATH(CREATE)},
    {IORING_OP_RENAMEAT, OF_PATH(RENAME), INFO(RENAME)},
    {IORING_OP_UNLINKAT, OF_PATH(DELETE), INFO(DISPOSITION)},
    {IORING_OP_MKDIRAT, OF_PATH(CREATE), .flags = O_CREAT | O_EXCL | O_DIRECTORY},
    {IORING_OP_SYMLINKAT, OF_PATH(CREATE), .flags = O_CREAT | O_EXCL},
    {IORING_OP_LINKAT, OF_PATH(SET_INFO), INFO(LINK)},
    {OPCODE_FTRUNCATE, OF_FILE(SET_INFO), INFO(END_OF_FILE)},
};

const char etwas_file_uring_filter[] =
    "(opcode >= 1 && opcode <= 5) || opcode == 8 || (opcode >= 17 && opcode <= 19) || "
    "(opcode >= 21 && opcode <= 23) || opcode == 28 || (opcode >= 35 && opcode <= 39) || "
    "opcode == 55";

/* A request in progress. */
struct etwas_file_request {
    uint64_t irp;
    uint8_t opcode;
    bool has_begun; /* its beginning is emitted */
};

struct etwas_event_join *etwas_file_uring_make(void)
{
    return etwas_event_join_make(sizeof(struct etwas_file_request));
}

/* Returns the operation; NULL: not an operation on a file. */
static const struct operation *file_io_uring_operation_of(int64_t opcode)
{
    for (uint32_t row = 0; row < sizeof operations / sizeof *operations; row++) {
        if (operations[row].opcode == opcode) {
            return &operations[row];
        }
    }
    return NULL;
}

static void file_io_uring_emit_operation(const struct etwas_source_event *event,
                                         const struct etwas_file_operation *operation)
{
    if ((event->host->flags & EVENT_TRACE_FLAG_FILE_IO_INIT) != 0) {
        etwas_file_record_begin(event, operation);
    }
}

/* `file` NULL: not known. */
static void file_io_uring_begin_request(const struct etwas_source_event *event,
                                        struct etwas_file_request *request,
                                        struct etwas_open_file *file)
{
    struct etwas_file_group *group = event->state;
    const struct operation *kind = file_io_uring_operation_of(request->opcode);
    struct etwas_file_operation operation = {.type = kind->type,
                                             .info_class = kind->info_class,
                                             .irp = request->irp,
                                             .offset = ETWAS_FILE_AT_POSITION,
                                             .open_flags = kind->flags};

    request->has_begun = true;
    if (file != NULL) {
        operation.file = file->number;
        etwas_open_file_share(file); /* its position may move */
    } else if (kind->type == ETWAS_FILE_CREATE) {
        operation.file = etwas_open_files_number(&group->files);
    }
    if (kind->type == ETWAS_FILE_CLOSE) {
        etwas_open_files_close(&group->files, event->sample->origin.process_id, 0, UINT32_MAX,
                               event->sample->origin.time_ns); /* one of them is closed */
        operation.type = ETWAS_FILE_CLEANUP;
        file_io_uring_emit_operation(event, &operation);
        operation.type = ETWAS_FILE_CLOSE;
    }
    file_io_uring_emit_operation(event, &operation);
}

/* ---- io_uring:io_uring_submit_req, in older kernels io_uring_submit_sqe ---------------------- */

const char *const etwas_file_submit_names[] = {"req", "opcode", "flags", NULL};

bool etwas_file_handle_submit(const struct etwas_source_event *event)
{
    struct etwas_file_group *group = event->state;
    struct etwas_file_request *request;
    const struct operation *kind;
    int64_t values[3];

    if (!etwas_source_event_numbers(event, values, 3)) {
        return false;
    }
    kind = file_io_uring_operation_of(values[1]);
    if (kind == NULL) {
        return true;
    }
    request = etwas_event_join_insert(group->requests, (uint64_t)values[0], group->losses);
    request->irp = ++group->last_irp;
    request->opcode = (uint8_t)values[1];
    if (!kind->has_file || (values[2] & REGISTERED) != 0) {
        file_io_uring_begin_request(event, request, NULL);
    }
    return true;
}

/* ---- io_uring:io_uring_file_get -------------------------------------------------------------- */

const char *const etwas_file_found_names[] = {"req", "fd", NULL};

bool etwas_file_handle_found(const struct etwas_source_event *event)
{
    const struct etwas_sample_origin *origin = &event->sample->origin;
    struct etwas_file_group *group = event->state;
    struct etwas_file_request *request;
    int64_t values[2];

    if (!etwas_source_event_numbers(event, values, 2)) {
        return false;
    }
    request = etwas_event_join_find(group->requests, (uint64_t)values[0], group->losses);
    if (request != NULL && !request->has_begun) {
        file_io_uring_begin_request(event, request,
                                    etwas_file_used(group, origin, (uint32_t)values[1]));
    }
    return true;
}

/* ---- io_uring:io_uring_complete -------------------------------------------------------------- */

const char *const etwas_file_complete_names[] = {"req", "res", NULL};

bool etwas_file_handle_complete(const struct etwas_source_event *event)
{
    struct etwas_file_group *group = event->state;
    struct etwas_file_request *request;
    int64_t values[2];

    if (!etwas_source_event_numbers(event, values, 2)) {
        return false;
    }
    request = etwas_event_join_find(group->requests, (uint64_t)values[0], group->losses);
    if (request == NULL) {
        return true;
    }
    if (!request->has_begun) {
        file_io_uring_begin_request(event, request,
                                    NULL); /* it failed before its file was looked up */
    }
    if ((event->host->flags & EVENT_TRACE_FLAG_FILE_IO) != 0) {
        etwas_file_record_end(event, request->irp, values[1]);
    }
    etwas_event_join_remove(group->requests, (uint64_t)values[0], group->losses);
    return true;
}
