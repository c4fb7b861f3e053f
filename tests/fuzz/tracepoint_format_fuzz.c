/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A tracepoint's format file: the text up to the first 0, and behind that the raw data of a sample,
 * of which the text's fields are read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "system/stream/tracepoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each byte is looked at, so that one outside of `raw` is noticed. */
static void read_field(const struct etwas_tracepoint_field *field, const uint8_t *raw,
                       size_t raw_bytes)
{
    const uint8_t *bytes;
    volatile uint8_t sum = 0;
    size_t count;
    int64_t number;

    (void)etwas_tracepoint_format_number(field, raw, raw_bytes, &number);
    if (etwas_tracepoint_format_bytes(field, raw, raw_bytes, &bytes, &count)) {
        for (size_t index = 0; index < count; index++) {
            sum = (uint8_t)(sum + bytes[index]);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"", "x", "common_pid", "prev_comm", "filename", "args"};
    const uint8_t *zero = size != 0 ? memchr(data, 0, size) : NULL;
    size_t text_bytes = zero != NULL ? (size_t)(zero - data) : size;
    size_t raw_bytes = size - text_bytes;
    char *text = malloc(text_bytes != 0 ? text_bytes : 1);
    uint8_t *raw = malloc(raw_bytes != 0 ? raw_bytes : 1);
    uint32_t id;

    if (text == NULL || raw == NULL) {
        abort();
    }
    if (size != 0) {
        memcpy(text, data, text_bytes);
        memcpy(raw, data + text_bytes, raw_bytes);
    }
    (void)etwas_tracepoint_format_id(text, text_bytes, &id);
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        struct etwas_tracepoint_field field;

        if (etwas_tracepoint_format_find(text, text_bytes, names[index], &field)) {
            if ((uint32_t)field.offset + field.size > UINT16_MAX) {
                abort();
            }
            read_field(&field, raw, raw_bytes);
        }
    }
    free(text);
    free(raw);
    return 0;
}
