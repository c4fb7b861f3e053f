/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/processes.h"

#include <string.h>

#include "etl/kernel_class.h"

enum {
    EMPTY_TEXTS_BYTES = 4, /* the empty texts after the command line */
    STAMP_BYTES = 4,       /* of the build id */
};

/* ---- processes ------------------------------------------------------------------------------- */

static etwas_field_sid sid_of(uint32_t user_id)
{
    enum {
        SID_AT = 16,
        UNIX_AUTHORITY = 22,
        UNIX_USER = 1,
    };

    return (etwas_field_sid){.sid_at = SID_AT,
                             .revision = 1,
                             .count = 2,
                             .authority = {0, 0, 0, 0, 0, UNIX_AUTHORITY},
                             .numbers = {UNIX_USER, user_id}};
}

static void make_process(struct etwas_record_builder *record, const struct etwas_process *process,
                         const struct etwas_process_class_event *event, uint32_t flags)
{
    const struct etwas_text *line = process->command_line;

    etwas_record_builder_begin(record, ETWAS_PROCESS_HEADER, ETWAS_PROCESS_GROUP, event->type,
                               ETWAS_PROCESS_VERSION);
    record->room -= EMPTY_TEXTS_BYTES;
    ETWAS_RECORD_PUT(record, PROCESS_TO_COMMAND_LINE, .UniqueProcessKey = process->key,
                     .ProcessId = process->node.id, .ParentId = process->parent_id,
                     .SessionId = process->session_id, .ExitStatus = event->exit_status,
                     .Flags = flags, .UserSID = sid_of(process->user_id),
                     .ImageFileName = process->name,
                     .CommandLine = line != NULL ? line->text : NULL);
    record->room += EMPTY_TEXTS_BYTES;
    ETWAS_RECORD_PUT(record, PROCESS_PACKAGE, .PackageFullName = "");
}

const void *etwas_process_class_make(struct etwas_record_builder *record,
                                     const struct etwas_process *process,
                                     const struct etwas_process_class_event *event)
{
    const struct etwas_text *line = process->command_line;
    uint32_t flags = event->flags | (line != NULL ? line->flags : ETWAS_PROCESS_NO_COMMAND_LINE);

    make_process(record, process, event, flags);
    if (record->is_cut) {
        make_process(record, process, event, flags | ETWAS_PROCESS_COMMAND_LINE_CUT);
    }
    return etwas_record_builder_end(record);
}

/* ---- images ---------------------------------------------------------------------------------- */

/* Four bytes of the build id; 0 if it has no such bytes. */
static uint32_t build_at(const struct etwas_image_file *file, size_t at)
{
    uint32_t stamp;

    memcpy(&stamp, file->build_id + at, STAMP_BYTES);
    return stamp;
}

const void *etwas_image_record_make(struct etwas_record_builder *record, uint8_t type,
                                    uint32_t process_id, const struct etwas_file_image *image)
{
    etwas_record_builder_begin(record, ETWAS_IMAGE_HEADER,
                               type == ETWAS_IMAGE_LOAD ? ETWAS_PROCESS_GROUP : ETWAS_IMAGE_GROUP,
                               type, ETWAS_IMAGE_VERSION);
    ETWAS_RECORD_PUT(record, IMAGE, .ImageBase = image->base, .ImageSize = image->end - image->base,
                     .ProcessId = process_id, .ImageChecksum = build_at(image->file, STAMP_BYTES),
                     .TimeDateStamp = build_at(image->file, 0), .DefaultBase = image->base_offset,
                     .FileName = image->file->path);
    return etwas_record_builder_end(record);
}

enum {
    DEBUG_PATH_BYTES = sizeof ".build-id//.debug" + 2 * ETWAS_IMAGE_BUILD_ID_BYTES,
};

/* .build-id/ab/cdef….debug */
static void make_debug_path(const struct etwas_image_file *file, char name[DEBUG_PATH_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    char *at = name;

    memcpy(at, ".build-id/", strlen(".build-id/"));
    at += strlen(".build-id/");
    for (uint32_t index = 0; index < file->build_id_bytes; index++) {
        *at++ = digits[file->build_id[index] >> 4];
        *at++ = digits[file->build_id[index] & 0xF];
        if (index == 0) {
            *at++ = '/';
        }
    }
    memcpy(at, ".debug", sizeof ".debug");
}

const void *etwas_image_id_record_make(struct etwas_record_builder *record, uint32_t process_id,
                                       const struct etwas_file_image *image)
{
    char path[DEBUG_PATH_BYTES];
    etwas_guid build;

    memcpy(&build, image->file->build_id, sizeof build);
    make_debug_path(image->file, path);
    etwas_record_builder_begin_class(record, &etwas_etl_debug_id_class, ETWAS_DEBUG_ID,
                                     ETWAS_DEBUG_ID_VERSION);
    ETWAS_RECORD_PUT(record, DEBUG_ID, .ImageBase = image->base, .ProcessId = process_id,
                     .GuidSig = build, .PdbFileName = path);
    return etwas_record_builder_end(record);
}
