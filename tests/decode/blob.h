/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Bytes put together by hand, and TraceLogging events of them. A blob holds an event's schema or
 * its payload; all functions append.
 */
#ifndef TESTS_DECODE_BLOB_H
#define TESTS_DECODE_BLOB_H

#include <etwas/decode.h>

struct blob {
    uint8_t bytes[65536];
    size_t count;
};

void put_bytes(struct blob *blob, const void *bytes, size_t count);
void put_u8(struct blob *blob, unsigned value);
void put_u16(struct blob *blob, unsigned value);
void put_u32(struct blob *blob, uint32_t value);
void put_u64(struct blob *blob, uint64_t value);
/* Appends the text with its 0. */
void put_text(struct blob *blob, const char *text);
/* Appends the text, ASCII alone, as UTF-16; with its 0 if `ends`. */
void put_wide(struct blob *blob, const char *ascii, bool ends);

/* A TraceLogging event: schema, payload, and the record that has both. */
struct tl_event {
    struct blob schema;
    struct blob traits;
    struct blob payload;
    EVENT_HEADER_EXTENDED_DATA_ITEM items[2];
    EVENT_RECORD record;
};

/* A new one of the provider "P" called "E". */
struct tl_event *tl_begin(void);
/* A field, with its out type unless that is -1; what follows by its bits is the caller's. */
void tl_field(struct tl_event *event, const char *name, unsigned in, int out);
/*
 * The record, with its own allocations of the exact size, so that a sanitizer sees what is beyond.
 */
const EVENT_RECORD *tl_record(struct tl_event *event);
void tl_end(struct tl_event *event);

#endif
