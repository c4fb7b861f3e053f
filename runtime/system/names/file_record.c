/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/file_record.h"

#include <fcntl.h>

#include "etl/layout.h"

enum {
    GROUP_FILE = 0x04,
    CLASS_VERSION = 3,
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

static struct etwas_record_builder *begin_file_record(const struct etwas_source_event *event,
                                                      uint8_t type)
{
    struct etwas_record_builder *record = event->host->record;

    etwas_record_builder_begin(record, ETWAS_ETL_SYSTEM64, GROUP_FILE, type, CLASS_VERSION);
    etwas_record_builder_set_thread(record, event->sample->origin.process_id,
                                    event->sample->origin.thread_id);
    return record;
}

static void end_file_record(const struct etwas_source_event *event)
{
    etwas_emit(event->host->emitter, event->slot, etwas_record_builder_end(event->host->record),
               event->sample->origin.time_ns);
}

/* Puts what follows the file in records of each class. */
static void put_rest(struct etwas_record_builder *record,
                     const struct etwas_file_operation *operation, uint32_t thread_id)
{
    switch (operation->type) {
    case ETWAS_FILE_CREATE:
        etwas_record_builder_put_u32(record, thread_id);
        etwas_record_builder_put_u32(record, options_of(operation->open_flags));
        etwas_record_builder_put_u32(record, ATTRIBUTES_NORMAL);
        etwas_record_builder_put_u32(record, SHARE_ALL);
        etwas_record_builder_put_utf16(record, operation->path != NULL ? operation->path : "");
        break;
    case ETWAS_FILE_READ:
    case ETWAS_FILE_WRITE:
        etwas_record_builder_put_u32(record, thread_id);
        etwas_record_builder_put_u32(record, operation->bytes);
        etwas_record_builder_put_u64(record, 0); /* IoFlags, ExtraFlags */
        break;
    case ETWAS_FILE_DIR_ENUM:
        etwas_record_builder_put_u32(record, thread_id);
        etwas_record_builder_put_u32(record, operation->bytes);
        etwas_record_builder_put_u32(record, operation->info_class);
        etwas_record_builder_put_u32(record, 0); /* FileIndex */
        etwas_record_builder_put_utf16(record, "");
        break;
    case ETWAS_FILE_CLEANUP:
    case ETWAS_FILE_CLOSE:
    case ETWAS_FILE_FLUSH:
        etwas_record_builder_put_u32(record, thread_id);
        break;
    default:
        etwas_record_builder_put_u64(record, operation->extra);
        etwas_record_builder_put_u32(record, thread_id);
        etwas_record_builder_put_u32(record, operation->info_class);
    }
}

void etwas_file_record_begin(const struct etwas_source_event *event,
                             const struct etwas_file_operation *operation)
{
    struct etwas_record_builder *record = begin_file_record(event, operation->type);

    if (operation->type == ETWAS_FILE_READ || operation->type == ETWAS_FILE_WRITE) {
        etwas_record_builder_put_u64(record, (uint64_t)operation->offset);
    }
    etwas_record_builder_put_u64(record, operation->irp);
    etwas_record_builder_put_u64(record, operation->file);
    if (operation->type != ETWAS_FILE_CREATE) {
        etwas_record_builder_put_u64(record, operation->file); /* the key */
    }
    put_rest(record, operation, event->sample->origin.thread_id);
    end_file_record(event);
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
    struct etwas_record_builder *record = begin_file_record(event, path_type_of(operation->type));

    etwas_record_builder_put_u64(record, operation->irp);
    etwas_record_builder_put_u64(record, operation->file);
    etwas_record_builder_put_u64(record, operation->file); /* the key */
    put_rest(record, operation, event->sample->origin.thread_id);
    etwas_record_builder_put_utf16(record, operation->path);
    end_file_record(event);
}

void etwas_file_record_called(const struct etwas_source_event *event, uint64_t file,
                              const char *name)
{
    etwas_record_builder_begin(event->host->record, ETWAS_ETL_PERFINFO64, GROUP_FILE,
                               ETWAS_FILE_NAME, CLASS_VERSION);
    etwas_record_builder_put_u64(event->host->record, file);
    etwas_record_builder_put_utf16(event->host->record, name);
    end_file_record(event);
}

void etwas_file_record_end(const struct etwas_source_event *event, uint64_t irp, int64_t result)
{
    struct etwas_record_builder *record = begin_file_record(event, ETWAS_FILE_OPERATION_END);
    bool failed = result < 0 && result >= -LARGEST_ERROR;

    etwas_record_builder_put_u64(record, irp);
    etwas_record_builder_put_u64(record, failed ? 0 : (uint64_t)result);
    etwas_record_builder_put_u32(record, failed ? (uint32_t)result : 0);
    end_file_record(event);
}

void etwas_file_record_name(const struct etwas_event_group_host *host,
                            enum etwas_file_name_type type, uint64_t file, const char *name)
{
    etwas_record_builder_begin(host->record, ETWAS_ETL_PERFINFO64, GROUP_FILE, (uint8_t)type,
                               CLASS_VERSION);
    etwas_record_builder_put_u64(host->record, file);
    etwas_record_builder_put_utf16(host->record, name);
    etwas_emit_now(host->emitter, etwas_record_builder_end(host->record));
}
