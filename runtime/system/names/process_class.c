/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/process_class.h"

#include <string.h>

#include "etl/layout.h"

enum {
    GROUP_PROCESS = 0x03, /* also of Load of images */
    GROUP_IMAGE = 0x14,
    PROCESS_VERSION = 4,
    IMAGE_VERSION = 3,
    EMPTY_TEXTS_BYTES = 4, /* what follows a command line of any length */
    STAMP_BYTES = 4,       /* of the build id */
};

/* ---- processes ------------------------------------------------------------------------------- */

/* A TOKEN_USER, whose pointer means nothing and may not be 0, and a SID. */
static void put_user(struct etwas_record_builder *record, uint32_t user_id)
{
    enum {
        SID_AT = 16,
        UNIX_AUTHORITY = 22,
        UNIX_USER = 1,
    };
    static const uint8_t head[] = {1, 2, 0, 0, 0, 0, 0, UNIX_AUTHORITY};

    etwas_record_builder_put_u64(record, SID_AT);
    etwas_record_builder_put_u64(record, 0);
    etwas_record_builder_put(record, head, sizeof head);
    etwas_record_builder_put_u32(record, UNIX_USER);
    etwas_record_builder_put_u32(record, user_id);
}

const void *etwas_process_class_make(struct etwas_record_builder *record,
                                     const struct etwas_process *process,
                                     const struct etwas_process_class_event *event)
{
    const struct etwas_text *line = process->command_line;
    uint32_t flags = event->flags | (line != NULL ? line->flags : ETWAS_PROCESS_NO_COMMAND_LINE);
    uint32_t flags_at;

    etwas_record_builder_begin(record, ETWAS_ETL_SYSTEM64, GROUP_PROCESS, (uint8_t)event->type,
                               PROCESS_VERSION);
    etwas_record_builder_put_u64(record, process->key);
    etwas_record_builder_put_u32(record, process->node.id);
    etwas_record_builder_put_u32(record, process->parent_id);
    etwas_record_builder_put_u32(record, process->session_id);
    etwas_record_builder_put_u32(record, (uint32_t)event->exit_status);
    etwas_record_builder_put_u64(record, 0); /* DirectoryTableBase */
    flags_at = record->bytes;
    etwas_record_builder_put_u32(record, flags);
    put_user(record, process->user_id);
    etwas_record_builder_put_ansi(record, process->name);
    record->room -= EMPTY_TEXTS_BYTES;
    if (!etwas_record_builder_put_utf16(record, line != NULL ? line->text : "")) {
        flags |= ETWAS_PROCESS_COMMAND_LINE_CUT;
        memcpy(record->data + flags_at, &flags, sizeof flags);
    }
    record->room += EMPTY_TEXTS_BYTES;
    etwas_record_builder_put_utf16(record, ""); /* PackageFullName */
    etwas_record_builder_put_utf16(record, ""); /* ApplicationId */
    return etwas_record_builder_end(record);
}

/* ---- images ---------------------------------------------------------------------------------- */

/* Four bytes of the build id; 0 if it has no such bytes. */
static void put_build(struct etwas_record_builder *record, const struct etwas_image_file *file,
                      size_t at)
{
    etwas_record_builder_put(record, file->build_id + at, STAMP_BYTES);
}

const void *etwas_image_record_make(struct etwas_record_builder *record,
                                    enum etwas_image_record_type type, uint32_t process_id,
                                    const struct etwas_file_image *image)
{
    etwas_record_builder_begin(record, ETWAS_ETL_SYSTEM64,
                               type == ETWAS_IMAGE_LOAD ? GROUP_PROCESS : GROUP_IMAGE,
                               (uint8_t)type, IMAGE_VERSION);
    etwas_record_builder_put_u64(record, image->base);
    etwas_record_builder_put_u64(record, image->end - image->base);
    etwas_record_builder_put_u32(record, process_id);
    put_build(record, image->file, STAMP_BYTES); /* ImageChecksum */
    put_build(record, image->file, 0);           /* TimeDateStamp */
    etwas_record_builder_put_u32(record, 0);     /* SignatureLevel, SignatureType */
    etwas_record_builder_put_u64(record, image->base_offset);
    etwas_record_builder_put_zeros(record, 4 * sizeof(uint32_t));
    etwas_record_builder_put_utf16(record, image->file->path);
    return etwas_record_builder_end(record);
}

/* b3e675d7-2554-4f18-830b-2762732560de: the build of an image */
static const etwas_guid image_id_class = {
    0xb3e675d7, 0x2554, 0x4f18, {0x83, 0x0b, 0x27, 0x62, 0x73, 0x25, 0x60, 0xde}};

/* .build-id/ab/cdef….debug */
static void put_debug_path(struct etwas_record_builder *record, const struct etwas_image_file *file)
{
    static const char digits[] = "0123456789abcdef";
    char name[sizeof ".build-id//.debug" + 2 * ETWAS_IMAGE_BUILD_ID_BYTES] = ".build-id/";
    char *at = name + strlen(name);

    for (uint32_t index = 0; index < file->build_id_bytes; index++) {
        *at++ = digits[file->build_id[index] >> 4];
        *at++ = digits[file->build_id[index] & 0xF];
        if (index == 0) {
            *at++ = '/';
        }
    }
    memcpy(at, ".debug", sizeof ".debug");
    etwas_record_builder_put_ansi(record, name);
}

const void *etwas_image_id_record_make(struct etwas_record_builder *record, uint32_t process_id,
                                       const struct etwas_file_image *image)
{
    enum {
        TYPE_DEBUG_ID = 36,
        DEBUG_ID_VERSION = 2,
    };

    etwas_record_builder_begin_class(record, &image_id_class, TYPE_DEBUG_ID, DEBUG_ID_VERSION);
    etwas_record_builder_put_u64(record, image->base);
    etwas_record_builder_put_u32(record, process_id);
    etwas_record_builder_put(record, image->file->build_id, sizeof(etwas_guid));
    etwas_record_builder_put_u32(record, 0); /* Age */
    put_debug_path(record, image->file);
    return etwas_record_builder_end(record);
}
