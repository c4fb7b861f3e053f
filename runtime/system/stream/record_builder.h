/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Builds a record whose payload has no fixed size, field by field; those of kernel classes by their
 * layouts (kernel_record.h).
 *
 *     etwas_record_builder_begin_class(record, &class_guid, type, version);
 *     etwas_record_builder_put_u32(record, process_id);
 *     etwas_record_builder_put_utf16(record, path);
 *     etwas_emit(emitter, slot, etwas_record_builder_end(record), time_ns);
 *
 * A text that does not fit is cut between characters and ends with its 0. Any other field that does
 * not fit is 0 as far as the room goes. So a record is never longer than its room, and all fields
 * in it are at their offsets.
 */
#ifndef ETWAS_SYSTEM_STREAM_RECORD_BUILDER_H
#define ETWAS_SYSTEM_STREAM_RECORD_BUILDER_H

#include <etwas/evntrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_RECORD_MOST_BYTES = 65528 /* the most that a u16 can say, in units of 8 bytes */
};

struct etwas_record_builder {
    uint32_t room;  /* at most ETWAS_RECORD_MOST_BYTES; a session's buffers may hold less */
    uint32_t bytes; /* used so far, with the header */
    bool is_cut;    /* a text did not fit */
    uint8_t data[ETWAS_RECORD_MOST_BYTES] __attribute__((aligned(8)));
};

/*
 * Begins a record. `header_type`: ETWAS_ETL_SYSTEM64 (of no thread until
 * etwas_record_builder_set_thread) or ETWAS_ETL_PERFINFO64. `room` has been set and is larger than
 * a header.
 */
void etwas_record_builder_begin(struct etwas_record_builder *record, uint8_t header_type,
                                uint8_t group, uint8_t type, uint8_t version);

/* Begins a FULL_HEADER64 record of a class that is no group of the kernel's. */
void etwas_record_builder_begin_class(struct etwas_record_builder *record,
                                      const etwas_guid *class_guid, uint8_t type, uint16_t version);

/* Sets the thread of a SYSTEM64 or FULL_HEADER64 record. */
void etwas_record_builder_set_thread(struct etwas_record_builder *record, uint32_t process_id,
                                     uint32_t thread_id);

void etwas_record_builder_put(struct etwas_record_builder *record, const void *bytes, size_t size);
void etwas_record_builder_put_zeros(struct etwas_record_builder *record, size_t size);
void etwas_record_builder_put_u32(struct etwas_record_builder *record, uint32_t value);
void etwas_record_builder_put_u64(struct etwas_record_builder *record, uint64_t value);

/*
 * Texts with their 0; NULL is empty. Bytes that are not UTF-8 become U+FFFD, one by one, in UTF-16,
 * and stay as they are in ANSI.
 */
void etwas_record_builder_put_utf16(struct etwas_record_builder *record, const char *text);
void etwas_record_builder_put_ansi(struct etwas_record_builder *record, const char *text);

/*
 * A field of so many characters: the text is cut or padded with zeros; the last character is always
 * 0.
 */
void etwas_record_builder_put_utf16_field(struct etwas_record_builder *record, const char *text,
                                          size_t units);

/* Returns the record with its size in its header. It is valid until the next begin. */
const void *etwas_record_builder_end(struct etwas_record_builder *record);

#endif
