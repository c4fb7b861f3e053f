/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A record of a kernel class whose payload has no fixed size, put together field by field:
 *
 *     etwas_record_builder_begin(record, ETWAS_ETL_SYSTEM64, group, type, version);
 *     etwas_record_builder_put_u32(record, process_id);
 *     etwas_record_builder_put_utf16(record, path);
 *     etwas_emit(emitter, slot, etwas_record_builder_end(record), time_ns);
 *
 * A text for which there is no room is cut at a character and has its 0; any other field for which
 * there is none is 0 for its part that fits. So a record is never longer than its room, and its fields
 * stand where they should as far as it goes.
 */
#ifndef ETWAS_SYSTEM_STREAM_RECORD_BUILDER_H
#define ETWAS_SYSTEM_STREAM_RECORD_BUILDER_H

#include <etwas/evntrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_RECORD_MOST_BYTES = 65528 /* what a u16 says, in whole units */
};

struct etwas_record_builder {
    uint32_t room;  /* at most ETWAS_RECORD_MOST_BYTES; a session's buffers may hold less */
    uint32_t bytes; /* so far, with the header */
    uint8_t data[ETWAS_RECORD_MOST_BYTES] __attribute__((aligned(8)));
};

/*
 * `header_type`: ETWAS_ETL_SYSTEM64 (nobody's yet: etwas_record_builder_set_thread) or ETWAS_ETL_PERFINFO64.
 * `room` is kept, and is larger than a header.
 */
void etwas_record_builder_begin(struct etwas_record_builder *record, uint8_t header_type,
                                uint8_t group, uint8_t type, uint8_t version);

/* The same of a class that is no group of the kernel's: a FULL_HEADER64 record. */
void etwas_record_builder_begin_class(struct etwas_record_builder *record,
                                      const etwas_guid *class_guid, uint8_t type, uint16_t version);

/* Of a SYSTEM64 or FULL_HEADER64 record: the thread that logs it, so to say. */
void etwas_record_builder_set_thread(struct etwas_record_builder *record, uint32_t process_id,
                                     uint32_t thread_id);

void etwas_record_builder_put(struct etwas_record_builder *record, const void *bytes, size_t size);
void etwas_record_builder_put_zeros(struct etwas_record_builder *record, size_t size);
void etwas_record_builder_put_u8(struct etwas_record_builder *record, uint8_t value);
void etwas_record_builder_put_u16(struct etwas_record_builder *record, uint16_t value);
void etwas_record_builder_put_u32(struct etwas_record_builder *record, uint32_t value);
void etwas_record_builder_put_u64(struct etwas_record_builder *record, uint64_t value);

/* With their 0. What is not UTF-8 becomes U+FFFD, byte by byte, in UTF-16, and stays in ANSI. */
bool etwas_record_builder_put_utf16(struct etwas_record_builder *record,
                                    const char *text); /* false: it is cut */
void etwas_record_builder_put_ansi(struct etwas_record_builder *record, const char *text);

/* A field of so many characters: cut, or filled with zeros; the last is always 0. */
void etwas_record_builder_put_utf16_field(struct etwas_record_builder *record, const char *text,
                                          size_t units);

/* The record, its size in its header. It is the record's memory until the next begin. */
const void *etwas_record_builder_end(struct etwas_record_builder *record);

#endif
