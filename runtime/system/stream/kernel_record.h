/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Records of kernel classes, made of the layouts in etl/kernel_layouts.h. A field has the name that
 * the layout gives it; one that is left out is 0, a text that is left out is empty.
 *
 * A frequent record without texts is a structure with its header:
 *
 *     ETWAS_KERNEL_RECORD(switch_record, etwas_etl_perfinfo_header, CSWITCH);
 *     struct switch_record record = {.header = {ETWAS_HEADER_OF(CSWITCH, ETWAS_CSWITCH, record)},
 *                                    .NewThreadId = thread_id};
 *
 * Any record is made field by field in a builder:
 *
 *     ETWAS_RECORD_MAKE(builder, FILE_NAME, ETWAS_FILE_NAME, .FileObject = file, .FileName = path);
 *     etwas_emit_now(emitter, etwas_record_builder_end(builder));
 */
#ifndef ETWAS_SYSTEM_STREAM_KERNEL_RECORD_H
#define ETWAS_SYSTEM_STREAM_KERNEL_RECORD_H

#include <stdint.h>

#include "etl/field_types.h"
#include "etl/kernel_layouts.h"
#include "system/stream/record_builder.h"

/* ---- structures ------------------------------------------------------------------------------ */

#define ETWAS_MEMBER_LAYOUT(NAME, header, group, since, version)
#define ETWAS_MEMBER_TYPE(NAME, number, name)
#define ETWAS_MEMBER_FIELD(type, name) etwas_field_##type name;
#define ETWAS_MEMBER_MAPPED(type, map, name) etwas_field_##type name;
#define ETWAS_MEMBER_WIDE(count, name) const char *name;
#define ETWAS_MEMBER_STRING(type, name) const char *name;
#define ETWAS_MEMBER_REST(type, name)

/* The record's header and fields; a layout with a REST goes on behind them. */
#define ETWAS_KERNEL_RECORD(tag, header_tag, LAYOUT)                                               \
    struct tag {                                                                                   \
        struct header_tag header;                                                                  \
        ETWAS_LAYOUT_##LAYOUT(ETWAS_MEMBER)                                                        \
    } __attribute__((packed))

/* The members of the header of `record` for its layout, its type and its size. */
#define ETWAS_HEADER_OF(LAYOUT, record_type, record)                                               \
    .version = ETWAS_##LAYOUT##_VERSION, .header_type = ETWAS_##LAYOUT##_HEADER,                   \
    .marker_flags = ETWAS_ETL_MARKER_FLAGS, .size = sizeof(record), .type = (record_type),         \
    .group = ETWAS_##LAYOUT##_GROUP

/* ---- builders -------------------------------------------------------------------------------- */

#define ETWAS_PUT_LAYOUT(NAME, header, group, since, version)
#define ETWAS_PUT_TYPE(NAME, number, name)
#define ETWAS_PUT_FIELD(type, name)                                                                \
    put_end = (const uint8_t *)&put_values.name + sizeof put_values.name;
#define ETWAS_PUT_MAPPED(type, map, name) ETWAS_PUT_FIELD(type, name)
#define ETWAS_PUT_WIDE(count, name)                                                                \
    ETWAS_PUT_VALUES                                                                               \
    etwas_record_builder_put_utf16_field(put_to, put_values.name, count);                          \
    ETWAS_PUT_FIELD(, name) put_from = put_end;
#define ETWAS_PUT_STRING(type, name)                                                               \
    ETWAS_PUT_VALUES                                                                               \
    ETWAS_PUT_STRING_##type(put_to, put_values.name);                                              \
    ETWAS_PUT_FIELD(, name) put_from = put_end;
#define ETWAS_PUT_STRING_str etwas_record_builder_put_ansi
#define ETWAS_PUT_STRING_utf8 etwas_record_builder_put_ansi
#define ETWAS_PUT_STRING_wstr etwas_record_builder_put_utf16
#define ETWAS_PUT_REST(type, name)

/* Puts the values before a text, or the end, which lie beside each other as in the record. */
#define ETWAS_PUT_VALUES                                                                           \
    if (put_end != put_from) {                                                                     \
        etwas_record_builder_put(put_to, put_from, (size_t)(put_end - put_from));                  \
    }

/* Puts the fields of a layout, or of a part of one. */
#define ETWAS_RECORD_PUT(builder, LAYOUT, ...)                                                     \
    do {                                                                                           \
        struct etwas_record_builder *put_to = (builder);                                           \
        const struct {                                                                             \
            ETWAS_LAYOUT_##LAYOUT(ETWAS_MEMBER)                                                    \
        } __attribute__((packed)) put_values = {__VA_ARGS__};                                      \
        const uint8_t *put_from = (const uint8_t *)&put_values;                                    \
        const uint8_t *put_end = put_from;                                                         \
                                                                                                   \
        ETWAS_LAYOUT_##LAYOUT(ETWAS_PUT) ETWAS_PUT_VALUES                                          \
    } while (0)

/* Begins a record of a layout, and puts its fields. */
#define ETWAS_RECORD_MAKE(builder, LAYOUT, type, ...)                                              \
    do {                                                                                           \
        etwas_record_builder_begin(builder, ETWAS_##LAYOUT##_HEADER, ETWAS_##LAYOUT##_GROUP,       \
                                   (uint8_t)(type), ETWAS_##LAYOUT##_VERSION);                     \
        ETWAS_RECORD_PUT(builder, LAYOUT, __VA_ARGS__);                                            \
    } while (0)

#endif
