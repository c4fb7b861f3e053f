/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Random payloads and random descriptions of them: every byte is in a token, or counts what is in
 * one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blob.h"
#include "shown.h"

enum {
    EVENTS = 20000,
    LAST_TYPE = 27, /* the last two are none that is known */
    STRUCT = 24,
    ARRAY_CONSTANT = 0x20,
    ARRAY_COUNTED = 0x40,
    BEHIND_NAME = 5, /* where fields of the schema begin */
};

static uint32_t state_of_random = 1;

static unsigned below(unsigned limit)
{
    state_of_random = state_of_random * 1664525 + 1013904223;
    return (state_of_random >> 8) % limit;
}

/*
 * Small numbers and zeroes mostly, so that counts, strings and lists have an end within the
 * payload.
 */
static uint8_t likely_byte(void)
{
    static const uint8_t bytes[] = {0, 0, 0, 1, 1, 2, 3, 'a', 'b', 0xC3, 0xD8, 0xFF};

    return bytes[below(sizeof bytes)];
}

static void put_random_field(struct tl_event *event, unsigned depth)
{
    static const int out_types[] = {-1, -1, -1, 1, 2, 3, 4, 8, 9, 35};
    unsigned type = below(LAST_TYPE + 1);
    unsigned arity = below(3) == 0 ? (1 + below(2)) * ARRAY_CONSTANT : 0;
    unsigned members = type == STRUCT && depth < 3 ? below(3) : 0;

    tl_field(event, "f", type | arity, type == STRUCT ? (int)members : out_types[below(10)]);
    if (arity == ARRAY_CONSTANT) {
        put_u16(&event->schema, below(4));
    }
    for (unsigned i = 0; i < members; i++) {
        put_random_field(event, depth + 1);
    }
}

static bool is_rest(const etwas_value *value)
{
    return value->token == ETWAS_TOKEN_TRUNCATED || value->token == ETWAS_TOKEN_UNDESCRIBED ||
           value->token == ETWAS_TOKEN_TRAILING;
}

/* What stands before a value is its length, in bytes, or in characters of two. */
static void account_for(const etwas_value *value, const uint8_t **at)
{
    size_t before = (size_t)((const uint8_t *)value->data - *at);
    uint16_t length = 0;

    assert_true(before == 0 || before == sizeof length);
    if (before > 0) {
        memcpy(&length, *at, sizeof length);
        assert_true(length == value->bytes + value->behind ||
                    2u * length == value->bytes + value->behind);
    }
    *at += before + value->bytes + value->behind;
}

static void walk(const etwas_schema *schema, const EVENT_RECORD *record)
{
    const uint8_t *at = record->UserData;
    const uint8_t *end = at + record->UserDataLength;
    bool is_over = false;
    etwas_fields fields;
    etwas_value value;

    etwas_fields_begin(&fields, schema, record);
    while (etwas_fields_next(&fields, &value)) {
        if (value.token == ETWAS_TOKEN_VALUE) {
            assert_false(is_over);
            account_for(&value, &at);
        } else if (value.token == ETWAS_TOKEN_ARRAY_BEGIN) {
            at += (value.field->info->Flags & PropertyParamCount) != 0 ? sizeof(uint16_t) : 0;
        } else if (is_rest(&value)) {
            assert_ptr_equal(value.data, at);
            assert_ptr_equal(at + value.bytes, end);
            at = end;
            is_over = true;
        }
    }
    assert_ptr_equal(at, end);
}

static void no_byte_of_a_payload_is_swallowed(void **state)
{
    struct tl_event *event = tl_begin();
    size_t named = event->schema.count;

    for (unsigned i = 0; i < EVENTS; i++) {
        const EVENT_RECORD *record;
        const etwas_schema *schema;

        event->schema.count = named;
        event->payload.count = 0;
        for (unsigned fields = below(4); fields > 0; fields--) {
            put_random_field(event, 0);
        }
        for (unsigned bytes = below(40); bytes > 0; bytes--) {
            put_u8(&event->payload, likely_byte());
        }
        record = tl_record(event);
        assert_int_equal(etwas_decoder_schema(*state, record, &schema), ERROR_SUCCESS);
        walk(schema, record);
    }
    tl_end(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_byte_of_a_payload_is_swallowed, open_decoder,
                                        close_decoder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
