/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/file_record.h"

#include <fcntl.h>

#include "system/stream/kernel_record.h"

enum {
    LARGEST_ERROR = 4095,

    /*
     * CreateOptions: the options, and in the highest byte what to do if the file exists and if it
     * does not.
     */
    OPTION_DIRECTORY = 0x1,
    OPTION_WRITE_THROUGH = 0x2,
    OPTION_NO_BUFFERING = 0x8,
    MUST_EXIST = 1,
    MUST_NOT_EXIST = 2,
    OPEN_OR_CREATE = 3,
    EMPTY = 4,
    EMPTY_OR_CREATE = 5,
    DISPOSITION_SHIFT = 24,

    ATTRIBUTES_NORMAL = 0x80,
    SHARE_ALL = 7,
};

static uint32_t options_of(uint64_t flags)
{
    bool may_create = (flags & O_CREAT) != 0;
    bool empties = (flags & O_TRUNC) != 0;
    uint32_t disposition = may_create ? OPEN_OR_CREATE : MUST_EXIST;
    uint32_t options = 0;

    if (may_create && (flags & O_EXCL) != 0) {
        disposition = MUST_NOT_EXIST;
    } else if (empties) {
        disposition = may_create ? EMPTY_OR_CREATE : EMPTY;
    }
    options |= (flags & O_DIRECTORY) != 0 ? OPTION_DIRECTORY : 0;
    options |= (flags & O_DSYNC) != 0 ? OPTION_WRITE_THROUGH : 0;
    options |= (flags & O_DIRECT) != 0 ? OPTION_NO_BUFFERING : 0;
    return disposition << DISPOSITION_SHIFT | options;
}

static void emit_file_record(const struct etwas_source_event *event)
{
    const struct etwas_sample_origin *origin = &event->sample->origin;
    struct etwas_record_builder *record = event->host->record;

    etwas_record_builder_set_thread(record, origin->process_id, origin->thread_id);
    etwas_emit(event->host->emitter, event->slot, etwas_record_builder_end(record),
               origin->time_ns);
}

/* A file has its number as FileKey, too. */
#define FILE_OF(operation) .FileObject = (operation)->file, .FileKey = (operation)->file

void etwas_file_record_begin(const struct etwas_source_event *event,
                             const struct etwas_file_operation *operation)
{
    struct etwas_record_builder *record = event->host->record;
    const uint32_t thread_id = event->sample->origin.thread_id;
    const uint8_t type = operation->type;

    switch (type) {
    case ETWAS_FILE_CREATE:
        ETWAS_RECORD_MAKE(record, FILE_CREATE, type, .IrpPtr = operation->irp,
                          .FileObject = operation->file, .TTID = thread_id,
                          .CreateOptions = options_of(operation->open_flags),
                          .FileAttributes = ATTRIBUTES_NORMAL, .ShareAccess = SHARE_ALL,
                          .OpenPath = operation->path);
        break;
    case ETWAS_FILE_READ:
    case ETWAS_FILE_WRITE:
        ETWAS_RECORD_MAKE(record, FILE_TRANSFER, type, .Offset = (uint64_t)operation->offset,
                          .IrpPtr = operation->irp, FILE_OF(operation), .TTID = thread_id,
                          .IoSize = operation->bytes);
        break;
    case ETWAS_FILE_DIR_ENUM:
        ETWAS_RECORD_MAKE(record, FILE_DIRECTORY, type, .IrpPtr = operation->irp,
                          FILE_OF(operation), .TTID = thread_id, .Length = operation->bytes,
                          .InfoClass = operation->info_class);
        break;
    case ETWAS_FILE_CLEANUP:
    case ETWAS_FILE_CLOSE:
    case ETWAS_FILE_FLUSH:
        ETWAS_RECORD_MAKE(record, FILE_SIMPLE, type, .IrpPtr = operation->irp, FILE_OF(operation),
                          .TTID = thread_id);
        break;
    default:
        ETWAS_RECORD_MAKE(record, FILE_INFO, type, .IrpPtr = operation->irp, FILE_OF(operation),
                          .ExtraInfo = operation->extra, .TTID = thread_id,
                          .InfoClass = operation->info_class);
    }
    emit_file_record(event);
}

static uint8_t path_type_of(uint8_t type)
{
    switch (type) {
    case ETWAS_FILE_DELETE:
        return ETWAS_FILE_DELETE_PATH;
    case ETWAS_FILE_RENAME:
        return ETWAS_FILE_RENAME_PATH;
    default:
        return ETWAS_FILE_SET_LINK_PATH;
    }
}

void etwas_file_record_path(const struct etwas_source_event *event,
                            const struct etwas_file_operation *operation)
{
    ETWAS_RECORD_MAKE(event->host->record, FILE_PATH, path_type_of(operation->type),
                      .IrpPtr = operation->irp, FILE_OF(operation), .ExtraInfo = operation->extra,
                      .TTID = event->sample->origin.thread_id, .InfoClass = operation->info_class,
                      .FileName = operation->path);
    emit_file_record(event);
}

void etwas_file_record_called(const struct etwas_source_event *event, uint64_t file,
                              const char *name)
{
    struct etwas_record_builder *record = event->host->record;

    ETWAS_RECORD_MAKE(record, FILE_NAME, ETWAS_FILE_NAME, .FileObject = file, .FileName = name);
    etwas_emit(event->host->emitter, event->slot, etwas_record_builder_end(record),
               event->sample->origin.time_ns);
}

void etwas_file_record_end(const struct etwas_source_event *event, uint64_t irp, int64_t result)
{
    bool failed = result < 0 && result >= -LARGEST_ERROR;

    ETWAS_RECORD_MAKE(event->host->record, FILE_END, ETWAS_FILE_OPERATION_END, .IrpPtr = irp,
                      .ExtraInfo = failed ? 0 : (uint64_t)result,
                      .NtStatus = failed ? (uint32_t)result : 0);
    emit_file_record(event);
}

void etwas_file_record_name(const struct etwas_event_group_host *host, uint8_t type, uint64_t file,
                            const char *name)
{
    ETWAS_RECORD_MAKE(host->record, FILE_NAME, type, .FileObject = file, .FileName = name);
    etwas_emit_now(host->emitter, etwas_record_builder_end(host->record));
}
