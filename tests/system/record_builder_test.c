/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Records that are built field by field: their content, what is cut, and that nothing goes beyond
 * their room.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "etl/layout.h"
#include "system/stream/emit.h"
#include "system/stream/record_builder.h"

enum {
    GROUP = 3,
    TYPE = 1,
    VERSION = 4,
    HEADER = 32,
    GUARD = 0xA5,
};

static struct etwas_record_builder record;

static void begin(uint32_t payload_room)
{
    memset(&record, GUARD, sizeof record);
    record.room = HEADER + payload_room;
    etwas_record_builder_begin(&record, ETWAS_ETL_SYSTEM64, GROUP, TYPE, VERSION);
}

/* The payload is these bytes, and nothing behind the room was written. */
static void expect_payload(const void *bytes, size_t size)
{
    struct etwas_etl_system_header header;

    memcpy(&header, etwas_record_builder_end(&record), sizeof header);
    assert_int_equal(header.size, HEADER + size);
    assert_memory_equal(record.data + HEADER, bytes, size);
    for (size_t index = record.room; index < sizeof record.data; index++) {
        assert_int_equal(record.data[index], GUARD);
    }
}

static void fields_follow_each_other(void **state)
{
    static const uint8_t expected[] = {7, 0, 0, 0, 'a', 0, 0xE9, 0,    0,    0,    'x', 'y', 0,
                                       1, 2, 3, 4, 0,   0, 0x3D, 0xD8, 0x00, 0xDE, 0,   0};
    static const uint8_t raw[] = {1, 2, 3, 4};
    struct etwas_etl_system_header header;

    (void)state;
    begin(sizeof expected);
    etwas_record_builder_put_u32(&record, 7);
    etwas_record_builder_put_utf16(&record, "a\xC3\xA9");
    etwas_record_builder_put_ansi(&record, "xy");
    etwas_record_builder_put(&record, raw, sizeof raw);
    etwas_record_builder_put_zeros(&record, 2);
    etwas_record_builder_put_utf16(&record, "\xF0\x9F\x98\x80");
    etwas_record_builder_set_thread(&record, 5, 6);
    expect_payload(expected, sizeof expected);
    memcpy(&header, record.data, sizeof header);
    assert_int_equal(header.version, VERSION);
    assert_int_equal(header.header_type, ETWAS_ETL_SYSTEM64);
    assert_int_equal(header.marker_flags, ETWAS_ETL_MARKER_FLAGS);
    assert_int_equal(header.type, TYPE);
    assert_int_equal(header.group, GROUP);
    assert_int_equal(header.process_id, 5);
    assert_int_equal(header.thread_id, 6);
    assert_int_equal(header.time_stamp, 0);
}

static void a_text_is_cut_at_a_character(void **state)
{
    (void)state;
    begin(6);
    assert_false(record.is_cut);
    etwas_record_builder_put_utf16(&record, "abcdef");
    assert_true(record.is_cut);
    expect_payload("a\0b\0\0", 6);
    begin(7);
    etwas_record_builder_put_utf16(&record, "ab\xF0\x9F\x98\x80");
    expect_payload("a\0b\0\0", 6);
    begin(3);
    etwas_record_builder_put_ansi(&record, "abcdef");
    etwas_record_builder_put_ansi(&record, "g");
    etwas_record_builder_put_u64(&record, 1);
    expect_payload("ab", 3);
    begin(4);
    etwas_record_builder_put_u64(&record, ~(uint64_t)0);
    expect_payload("\0\0\0", 4);
}

static void what_is_not_utf8_is_replaced(void **state)
{
    static const uint8_t expected[] = {0xFD, 0xFF, 'b', 0, 0xFD, 0xFF, 0, 0};

    (void)state;
    begin(64);
    etwas_record_builder_put_utf16(&record, "\xFF"
                                            "b\xC3");
    expect_payload(expected, sizeof expected);
}

static void a_field_of_characters_has_its_length(void **state)
{
    (void)state;
    begin(64);
    etwas_record_builder_put_utf16_field(&record, "ab", 4);
    etwas_record_builder_put_utf16_field(&record, "cdef", 3);
    etwas_record_builder_put(&record, "\x09", 1);
    expect_payload("a\0b\0\0\0\0\0c\0d\0\0\0\x09", 15);
}

struct seen {
    struct etwas_emitter emitter;
    uint32_t slot;
    struct etwas_stamped_record record;
};

static void see(struct etwas_emitter *emitter, uint32_t slot,
                const struct etwas_stamped_record *stamped)
{
    struct seen *seen = (void *)emitter;

    seen->slot = slot;
    seen->record = *stamped;
}

static void the_stamp_is_in_the_header(void **state)
{
    struct seen seen = {.emitter = {.receive = see}};

    (void)state;
    begin(8);
    etwas_record_builder_put_u64(&record, 1);
    etwas_emit(&seen.emitter, 3, etwas_record_builder_end(&record), 99);
    assert_int_equal(seen.slot, 3);
    assert_ptr_equal(seen.record.bytes, record.data);
    assert_int_equal(seen.record.size, HEADER + 8);
    assert_int_equal(seen.record.stamp_at, 16);
    assert_int_equal(seen.record.stamp, 99);
    etwas_record_builder_begin(&record, ETWAS_ETL_PERFINFO64, GROUP, TYPE, VERSION);
    etwas_emit(&seen.emitter, 4, etwas_record_builder_end(&record), 100);
    assert_int_equal(seen.record.size, 16);
    assert_int_equal(seen.record.stamp_at, 8);
}

static void a_class_of_its_own_has_a_full_header(void **state)
{
    static const etwas_guid class_guid = {1, 2, 3, {4}};
    struct etwas_etl_full_header header;
    struct seen seen = {.emitter = {.receive = see}};

    (void)state;
    begin(64);
    etwas_record_builder_begin_class(&record, &class_guid, TYPE, 0x102);
    etwas_record_builder_set_thread(&record, 5, 6);
    etwas_record_builder_put_u32(&record, 7);
    etwas_emit(&seen.emitter, 3, etwas_record_builder_end(&record), 99);
    assert_int_equal(seen.record.size, sizeof header + 4);
    assert_int_equal(seen.record.stamp_at, offsetof(struct etwas_etl_full_header, time_stamp));
    memcpy(&header, record.data, sizeof header);
    assert_int_equal(header.size, sizeof header + 4);
    assert_int_equal(header.header_type, ETWAS_ETL_FULL_HEADER64);
    assert_int_equal(header.marker_flags, ETWAS_ETL_MARKER_FLAGS);
    assert_int_equal(header.type, TYPE);
    assert_int_equal(header.version, 0x102);
    assert_int_equal(header.process_id, 5);
    assert_int_equal(header.thread_id, 6);
    assert_memory_equal(&header.guid, &class_guid, sizeof class_guid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_follow_each_other),
        cmocka_unit_test(a_text_is_cut_at_a_character),
        cmocka_unit_test(what_is_not_utf8_is_replaced),
        cmocka_unit_test(a_field_of_characters_has_its_length),
        cmocka_unit_test(the_stamp_is_in_the_header),
        cmocka_unit_test(a_class_of_its_own_has_a_full_header),
    };

    return cmocka_run_group_tests_name("system record", tests, NULL, NULL);
}
