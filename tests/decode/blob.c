/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "blob.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void put_bytes(struct blob *blob, const void *bytes, size_t count)
{
    assert_true(count <= sizeof blob->bytes - blob->count);
    if (count > 0) {
        memcpy(blob->bytes + blob->count, bytes, count);
    }
    blob->count += count;
}

void put_u8(struct blob *blob, unsigned value)
{
    put_bytes(blob, &(uint8_t){(uint8_t)value}, 1);
}

void put_u16(struct blob *blob, unsigned value)
{
    put_bytes(blob, &(uint16_t){(uint16_t)value}, 2);
}

void put_u32(struct blob *blob, uint32_t value)
{
    put_bytes(blob, &value, sizeof value);
}

void put_u64(struct blob *blob, uint64_t value)
{
    put_bytes(blob, &value, sizeof value);
}

void put_text(struct blob *blob, const char *text)
{
    put_bytes(blob, text, strlen(text) + 1);
}

void put_wide(struct blob *blob, const char *ascii, bool ends)
{
    for (; *ascii != 0; ascii++) {
        put_u16(blob, (unsigned char)*ascii);
    }
    if (ends) {
        put_u16(blob, 0);
    }
}

struct tl_event *tl_begin(void)
{
    struct tl_event *event = calloc(1, sizeof *event);

    assert_non_null(event);
    put_u16(&event->traits, 0);
    put_text(&event->traits, "P");
    put_u16(&event->schema, 0);
    put_u8(&event->schema, 0);
    put_text(&event->schema, "E");
    event->record.EventHeader.Flags =
        EVENT_HEADER_FLAG_64_BIT_HEADER | EVENT_HEADER_FLAG_EXTENDED_INFO;
    return event;
}

void tl_field(struct tl_event *event, const char *name, unsigned in, int out)
{
    put_text(&event->schema, name);
    put_u8(&event->schema, out < 0 ? in : in | 0x80);
    if (out >= 0) {
        put_u8(&event->schema, (unsigned)out);
    }
}

static void *exact_copy(const struct blob *blob, void *old)
{
    void *copy = malloc(blob->count);

    free(old);
    assert_true(copy != NULL || blob->count == 0);
    memcpy(copy, blob->bytes, blob->count);
    return copy;
}

static void set_item(EVENT_HEADER_EXTENDED_DATA_ITEM *item, uint16_t type, struct blob *blob)
{
    uint16_t bytes = (uint16_t)blob->count;

    memcpy(blob->bytes, &bytes, sizeof bytes);
    item->ExtType = type;
    item->DataSize = bytes;
    item->DataPtr = (uint64_t)(uintptr_t)exact_copy(blob, (void *)(uintptr_t)item->DataPtr);
}

const EVENT_RECORD *tl_record(struct tl_event *event)
{
    set_item(&event->items[0], EVENT_HEADER_EXT_TYPE_PROV_TRAITS, &event->traits);
    set_item(&event->items[1], EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL, &event->schema);
    event->record.ExtendedDataCount = 2;
    event->record.ExtendedData = event->items;
    event->record.UserData = exact_copy(&event->payload, event->record.UserData);
    event->record.UserDataLength = (uint16_t)event->payload.count;
    return &event->record;
}

void tl_end(struct tl_event *event)
{
    free((void *)(uintptr_t)event->items[0].DataPtr);
    free((void *)(uintptr_t)event->items[1].DataPtr);
    free(event->record.UserData);
    free(event);
}
