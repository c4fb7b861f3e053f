/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "system/stream/record_builder.h"

#include <string.h>

#include "etl/layout.h"
#include "etl/utf16.h"

enum {
    REPLACEMENT = 0xFFFD,
    LAST_OF_ONE_UNIT = 0xFFFF,
    HIGH_SURROGATE = 0xD800,
    LOW_SURROGATE = 0xDC00,
    BEYOND_ONE_UNIT = 0x10000,
    SURROGATE_BITS = 10,
    SURROGATE_MASK = 0x3FF,
};

void etwas_record_builder_begin(struct etwas_record_builder *record, uint8_t header_type,
                                uint8_t group, uint8_t type, uint8_t version)
{
    /* PERFINFO begins like SYSTEM, and is shorter. */
    const struct etwas_etl_system_header header = {.version = version,
                                                   .header_type = header_type,
                                                   .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                                                   .type = type,
                                                   .group = group};

    record->is_cut = false;
    record->bytes = header_type == ETWAS_ETL_SYSTEM64
                        ? (uint32_t)sizeof(struct etwas_etl_system_header)
                        : (uint32_t)sizeof(struct etwas_etl_perfinfo_header);
    memcpy(record->data, &header, record->bytes);
}

void etwas_record_builder_begin_class(struct etwas_record_builder *record,
                                      const etwas_guid *class_guid, uint8_t type, uint16_t version)
{
    const struct etwas_etl_full_header header = {.header_type = ETWAS_ETL_FULL_HEADER64,
                                                 .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                                                 .type = type,
                                                 .version = version,
                                                 .guid = *class_guid};

    record->is_cut = false;
    record->bytes = sizeof header;
    memcpy(record->data, &header, sizeof header);
}

/* SYSTEM has the ids at the same place as FULL_HEADER. */
void etwas_record_builder_set_thread(struct etwas_record_builder *record, uint32_t process_id,
                                     uint32_t thread_id)
{
    struct etwas_etl_system_header *header = (void *)record->data;

    header->process_id = process_id;
    header->thread_id = thread_id;
}

static size_t left_of(const struct etwas_record_builder *record)
{
    return record->room - record->bytes;
}

void etwas_record_builder_put(struct etwas_record_builder *record, const void *bytes, size_t size)
{
    if (size > left_of(record)) {
        etwas_record_builder_put_zeros(record, size);
        return;
    }
    memcpy(record->data + record->bytes, bytes, size);
    record->bytes += (uint32_t)size;
}

void etwas_record_builder_put_zeros(struct etwas_record_builder *record, size_t size)
{
    size_t fits = size < left_of(record) ? size : left_of(record);

    memset(record->data + record->bytes, 0, fits);
    record->bytes += (uint32_t)fits;
}

void etwas_record_builder_put_u32(struct etwas_record_builder *record, uint32_t value)
{
    etwas_record_builder_put(record, &value, sizeof value);
}

void etwas_record_builder_put_u64(struct etwas_record_builder *record, uint64_t value)
{
    etwas_record_builder_put(record, &value, sizeof value);
}

/* Returns the UTF-16 units of the next character; 0: the text is at its end. */
static size_t next_units(const char **text, const char *end, uint16_t units[2])
{
    uint32_t point;
    size_t length;

    if (*text == end) {
        return 0;
    }
    length = etwas_utf8_decode((const unsigned char *)*text, (size_t)(end - *text), &point);
    if (length == 0) {
        point = REPLACEMENT;
        length = 1;
    }
    *text += length;
    if (point <= LAST_OF_ONE_UNIT) {
        units[0] = (uint16_t)point;
        return 1;
    }
    point -= BEYOND_ONE_UNIT;
    units[0] = (uint16_t)(HIGH_SURROGATE + (point >> SURROGATE_BITS));
    units[1] = (uint16_t)(LOW_SURROGATE + (point & SURROGATE_MASK));
    return 2;
}

/* Puts at most so many bytes, including the 0. They have room. */
static void put_units(struct etwas_record_builder *record, const char *text, size_t most)
{
    const char *end;
    const uint32_t begin = record->bytes;
    uint16_t units[2] = {0};
    size_t count;

    text = text == NULL ? "" : text;
    end = text + strlen(text);
    while ((count = next_units(&text, end, units)) != 0 &&
           record->bytes - begin + (count + 1) * sizeof *units <= most) {
        /* A single unit is followed by one more, where the next character or the 0 will be. */
        memcpy(record->data + record->bytes, units, sizeof units);
        record->bytes += (uint32_t)(count * sizeof *units);
    }
    etwas_record_builder_put_zeros(record, sizeof *units);
    record->is_cut |= count != 0;
}

void etwas_record_builder_put_utf16(struct etwas_record_builder *record, const char *text)
{
    put_units(record, text, left_of(record));
}

void etwas_record_builder_put_utf16_field(struct etwas_record_builder *record, const char *text,
                                          size_t units)
{
    size_t bytes = units * sizeof(uint16_t);
    size_t most = bytes < left_of(record) ? bytes : left_of(record);
    size_t end = record->bytes + bytes;

    put_units(record, text, most);
    etwas_record_builder_put_zeros(record, end - record->bytes);
}

void etwas_record_builder_put_ansi(struct etwas_record_builder *record, const char *text)
{
    size_t length = text == NULL ? 0 : strlen(text);

    if (length >= left_of(record)) {
        length = left_of(record) == 0 ? 0 : left_of(record) - 1;
    }
    if (length != 0) {
        etwas_record_builder_put(record, text, length);
    }
    etwas_record_builder_put_zeros(record, 1);
}

const void *etwas_record_builder_end(struct etwas_record_builder *record)
{
    struct etwas_etl_perfinfo_header *header = (void *)record->data;
    struct etwas_etl_full_header *full = (void *)record->data;

    if (full->header_type == ETWAS_ETL_FULL_HEADER64) {
        full->size = (uint16_t)record->bytes;
    } else {
        header->size = (uint16_t)record->bytes;
    }
    return record->data;
}
