/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events that describe themselves: the whole grammar, cut at every byte, and what makes no sense.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blob.h"
#include "shown.h"

enum {
    CONSTANT = 0x20,
    COUNTED = 0x40,
    CUSTOM = 0x60,
    STRUCT = 24,
    SAME_NAME = 8,
};

struct state {
    etwas_decoder *decoder;
    struct tl_event *event;
};

static int open_state(void **state)
{
    struct state *opened = calloc(1, sizeof *opened);

    assert_non_null(opened);
    assert_int_equal(etwas_decoder_open(&opened->decoder), ERROR_SUCCESS);
    opened->event = tl_begin();
    *state = opened;
    return 0;
}

static int close_state(void **state)
{
    struct state *opened = *state;

    etwas_decoder_close(opened->decoder);
    tl_end(opened->event);
    free(opened);
    return 0;
}

static const char *line_of(struct state *state)
{
    return shown(state->decoder, tl_record(state->event));
}

static void numbers_of_all_widths_are_shown(void **state)
{
    struct state *s = *state;
    struct tl_event *event = s->event;

    tl_field(event, "i8", TDH_INTYPE_INT8, -1);
    put_u8(&event->payload, 0xFF);
    tl_field(event, "u8", TDH_INTYPE_UINT8, -1);
    put_u8(&event->payload, 0xFF);
    tl_field(event, "i16", TDH_INTYPE_INT16, -1);
    put_u16(&event->payload, 0x8000);
    tl_field(event, "u16", TDH_INTYPE_UINT16, -1);
    put_u16(&event->payload, 0x8000);
    tl_field(event, "i32", TDH_INTYPE_INT32, -1);
    put_u32(&event->payload, 0xFFFFFFFE);
    tl_field(event, "u32", TDH_INTYPE_UINT32, -1);
    put_u32(&event->payload, 0xFFFFFFFE);
    tl_field(event, "i64", TDH_INTYPE_INT64, -1);
    put_u64(&event->payload, UINT64_C(1) << 63);
    tl_field(event, "u64", TDH_INTYPE_UINT64, -1);
    put_u64(&event->payload, UINT64_MAX);
    tl_field(event, "x32", TDH_INTYPE_HEXINT32, -1);
    put_u32(&event->payload, 0xAB);
    tl_field(event, "x64", TDH_INTYPE_HEXINT64, -1);
    put_u64(&event->payload, 0);
    tl_field(event, "b", TDH_INTYPE_BOOLEAN, -1);
    put_u32(&event->payload, 2);
    assert_string_equal(line_of(s), "P/E i8=-1 u8=255 i16=-32768 u16=32768 i32=-2 u32=4294967294 "
                                    "i64=-9223372036854775808 u64=18446744073709551615 x32=0xAB "
                                    "x64=0x0 b=2");
}

static void strings_of_all_forms_are_shown(void **state)
{
    struct state *s = *state;
    struct tl_event *event = s->event;

    tl_field(event, "wide", TDH_INTYPE_UNICODESTRING, -1);
    put_wide(&event->payload, "Hello", true);
    tl_field(event, "bytes", TDH_INTYPE_ANSISTRING, -1);
    put_text(&event->payload, "World");
    tl_field(event, "counted", TDH_INTYPE_MANIFEST_COUNTEDSTRING, -1);
    put_u16(&event->payload, 4);
    put_wide(&event->payload, "ab", false);
    tl_field(event, "counted8", TDH_INTYPE_MANIFEST_COUNTEDANSISTRING, 35);
    put_u16(&event->payload, 3);
    put_bytes(&event->payload, "x\xC3\xA9", 3);
    tl_field(event, "characters", TDH_INTYPE_UINT16 | COUNTED, 2);
    put_u16(&event->payload, 3);
    put_wide(&event->payload, "abc", false);
    tl_field(event, "broken", TDH_INTYPE_ANSISTRING, -1);
    put_text(&event->payload, "a\xFFz");
    assert_string_equal(
        line_of(s),
        "P/E wide=\"Hello\" bytes=\"World\" counted=\"ab\" "
        "counted8=\"xé\" characters=\"abc\" broken=\"a\xEF\xBF\xBDz\"(not UTF-8: 61FF7A)");
}

static void arrays_and_structs_nest(void **state)
{
    struct state *s = *state;
    struct tl_event *event = s->event;

    tl_field(event, "three", TDH_INTYPE_UINT8 | CONSTANT, -1);
    put_u16(&event->schema, 3);
    put_bytes(&event->payload, "\1\2\3", 3);
    tl_field(event, "list", STRUCT | COUNTED, 2);
    tl_field(event, "n", TDH_INTYPE_UINT16, -1);
    tl_field(event, "inner", STRUCT, 1);
    tl_field(event, "text", TDH_INTYPE_ANSISTRING | COUNTED, -1);
    tl_field(event, "after", TDH_INTYPE_UINT8, -1);
    put_u16(&event->payload, 2);
    put_u16(&event->payload, 7);
    put_u16(&event->payload, 2);
    put_text(&event->payload, "a");
    put_text(&event->payload, "b");
    put_u16(&event->payload, 8);
    put_u16(&event->payload, 0);
    put_u8(&event->payload, 9);
    assert_string_equal(line_of(s), "P/E three=[1,2,3] list=[{n=7 inner={text=[\"a\",\"b\"]}},"
                                    "{n=8 inner={text=[]}}] after=9");
}

static void tags_and_custom_fields_are_read(void **state)
{
    struct state *s = *state;
    struct tl_event *event = s->event;
    const etwas_schema *schema;
    const EVENT_PROPERTY_INFO *properties;

    event->schema.count = 2;
    put_bytes(&event->schema, "\x81\x82\x83\x04", 4);
    put_text(&event->schema, "Tagged");
    tl_field(event, "field", TDH_INTYPE_UINT8, 0x80);
    put_bytes(&event->schema, "\x80\x01", 2);
    put_u8(&event->payload, 5);
    tl_field(event, "custom", CUSTOM, 6);
    put_u16(&event->schema, 3);
    put_bytes(&event->schema, "abc", 3);
    put_u16(&event->payload, 2);
    put_u16(&event->payload, 0xBBAA);
    tl_field(event, "blob", TDH_INTYPE_BINARY, -1);
    put_u16(&event->payload, 1);
    put_u8(&event->payload, 0x1F);
    assert_string_equal(line_of(s), "P/Tagged field=5 custom=AABB blob=1F");
    assert_int_equal(etwas_decoder_schema(s->decoder, &event->record, &schema), ERROR_SUCCESS);
    properties = schema->info->EventPropertyInfoArray;
    assert_int_equal(schema->info->Tags, 1 << 21 | 2 << 14 | 3 << 7 | 4);
    assert_int_equal(properties[0].Tags, 1 << 14);
    assert_int_equal(properties[0].Flags, PropertyHasTags);
    assert_int_equal(properties[1].customSchemaType.OutType, 6);
    assert_memory_equal((const uint8_t *)schema->info +
                            properties[1].customSchemaType.CustomSchemaOffset,
                        "\6\0\3\0abc", 7);
}

/* The blobs of one event are parsed once, however often it comes. */
static void equal_events_have_one_schema(void **state)
{
    struct state *s = *state;
    const etwas_schema *first;
    const etwas_schema *second;

    tl_field(s->event, "u8", TDH_INTYPE_UINT8, -1);
    assert_int_equal(etwas_decoder_schema(s->decoder, tl_record(s->event), &first), ERROR_SUCCESS);
    put_u8(&s->event->payload, 1);
    assert_int_equal(etwas_decoder_schema(s->decoder, tl_record(s->event), &second), ERROR_SUCCESS);
    assert_ptr_equal(first, second);
    s->event->record.EventHeader.EventDescriptor.Level = 3;
    assert_int_equal(etwas_decoder_schema(s->decoder, tl_record(s->event), &second), ERROR_SUCCESS);
    assert_ptr_not_equal(first, second);
    assert_int_equal(second->info->EventDescriptor.Level, 3);
}

static void a_payload_cut_anywhere_shows_its_whole_fields(void **state)
{
    struct state *s = *state;
    struct tl_event *event = s->event;
    size_t bytes;

    tl_field(event, "list", STRUCT | COUNTED, 2);
    tl_field(event, "n", TDH_INTYPE_UINT16, -1);
    tl_field(event, "text", TDH_INTYPE_MANIFEST_COUNTEDANSISTRING, -1);
    put_u16(&event->payload, 1);
    put_u16(&event->payload, 7);
    put_u16(&event->payload, 2);
    put_bytes(&event->payload, "ab", 2);
    bytes = event->payload.count;
    for (event->payload.count = 0; event->payload.count < bytes; event->payload.count++) {
        size_t count = event->payload.count;
        const char *line = line_of(s);

        assert_non_null(strstr(line, "…"));
        assert_int_equal(strstr(line, "n=7") != NULL, count >= 4);
    }
    put_u8(&event->payload, 1);
    assert_string_equal(line_of(s), "P/E list=[{n=7 text=\"ab\"}] +1");
}

/* Every shorter schema has a name, a field or its members cut. What is before that is kept. */
static void a_schema_cut_anywhere_keeps_what_is_before(void **state)
{
    struct state *s = *state;
    struct tl_event *event = s->event;
    size_t bytes;

    tl_field(event, "list", STRUCT | CONSTANT, 0x82);
    put_u8(&event->schema, 1);
    put_u16(&event->schema, 2);
    tl_field(event, "n", TDH_INTYPE_UINT16, -1);
    tl_field(event, "m", TDH_INTYPE_UINT16, -1);
    bytes = event->schema.count;
    put_bytes(&event->payload, "\1\0\2\0\3\0\4\0", 8);
    assert_string_equal(line_of(s), "P/E list=[{n=1 m=2},{n=3 m=4}]");
    for (size_t count = 2; count < bytes; count++) {
        event->schema.count = count;
        assert_string_equal(line_of(s), count < 5           ? "(senseless)"
                                        : count == 5        ? "P/E +8"
                                        : count < bytes - 6 ? "P/E ?=?8"
                                        : count < bytes - 3 ? "P/E list=[{?=?8}]"
                                                            : "P/E list=[{n=1 ?=?6}]");
    }
}

/* Their count is in no token of its own: it is part of what is left. */
static void characters_that_are_cut_are_left_with_their_count(void **state)
{
    struct state *s = *state;

    tl_field(s->event, "text", TDH_INTYPE_UINT8 | COUNTED, 2);
    put_bytes(&s->event->payload, "\3\0ab", 4);
    assert_string_equal(line_of(s), "P/E text=…4");
    put_bytes(&s->event->payload, "c", 1);
    assert_string_equal(line_of(s), "P/E text=\"abc\"");
}

/* An event that has one field before the one that makes no sense, and one behind it. */
static void expect_kept(struct state *s, const char *rest)
{
    char line[4096];

    tl_field(s->event, "behind", TDH_INTYPE_UINT8, -1);
    snprintf(line, sizeof line, "P/E before=1 %s", rest);
    assert_string_equal(line_of(s), line);
    s->event->schema.count = 5;
    tl_field(s->event, "before", TDH_INTYPE_UINT8, -1);
}

static void of_what_makes_no_sense_the_fields_before_are_kept(void **state)
{
    struct state *s = *state;
    struct tl_event *event = s->event;
    char deep[512] = "";

    put_bytes(&event->payload, "\1\2\3", 3);
    tl_field(event, "before", TDH_INTYPE_UINT8, -1);
    tl_field(event, "type", 26, -1);
    expect_kept(s, "type=?2");
    tl_field(event, "no members", STRUCT, 0);
    expect_kept(s, "no members=?2");
    tl_field(event, "no elements", TDH_INTYPE_UINT8 | CONSTANT, -1);
    put_u16(&event->schema, 0);
    expect_kept(s, "no elements=[] behind=2 +1");
    tl_field(event, "tag", TDH_INTYPE_UINT8, 0x80);
    put_bytes(&event->schema, "\x80\x80\x80\x80\x01", 5);
    expect_kept(s, "?=?2");
    tl_field(event, "custom", CUSTOM, 6);
    put_u16(&event->schema, 400);
    put_bytes(&event->schema, "abc", 3);
    expect_kept(s, "?=?2");
    for (int i = 0; i < 40; i++) {
        tl_field(event, "s", STRUCT, 1);
        strcat(deep, i < 32 ? "s={" : i == 32 ? "s=?2" : "");
    }
    memset(deep + strlen(deep), '}', 32);
    expect_kept(s, deep);
}

static void members_without_bytes_come_to_an_end(void **state)
{
    struct state *s = *state;
    struct tl_event *event = s->event;
    etwas_fields fields;
    etwas_value value;
    const etwas_schema *schema;
    uint32_t tokens = 0;

    for (int i = 0; i < 30; i++) {
        tl_field(event, "s", STRUCT | CONSTANT, 1);
        put_u16(&event->schema, 0xFFFF);
    }
    tl_field(event, "nothing", TDH_INTYPE_NULL, -1);
    put_u8(&event->payload, 1);
    assert_int_equal(etwas_decoder_schema(s->decoder, tl_record(event), &schema), ERROR_SUCCESS);
    etwas_fields_begin(&fields, schema, &event->record);
    while (etwas_fields_next(&fields, &value)) {
        tokens++;
    }
    assert_true(tokens < 1000);
    assert_int_equal(value.token, ETWAS_TOKEN_VALUE);
}

static void EventWriteString_is_one_string(void **state)
{
    struct state *s = *state;
    EVENT_RECORD record = {.EventHeader = {.Flags = EVENT_HEADER_FLAG_STRING_ONLY},
                           .UserData = (void *)(uintptr_t)u"text",
                           .UserDataLength = 10};

    assert_string_equal(shown(s->decoder, &record), "/ String=\"text\"");
    record.UserDataLength = 8;
    assert_string_equal(shown(s->decoder, &record), "/ String=\"text\"");
    record.UserDataLength = 0;
    assert_string_equal(shown(s->decoder, &record), "/ String=\"\"");
    /* Its traits name the provider. */
    tl_record(s->event);
    record.ExtendedData = s->event->items;
    record.ExtendedDataCount = 1;
    assert_string_equal(shown(s->decoder, &record), "P/ String=\"\"");
    record.ExtendedData->DataSize = 1;
    assert_string_equal(shown(s->decoder, &record), "/ String=\"\"");
}

/* The event as systems write it that know of no items: cut behind so many bytes. */
static const char *line_of_payload(struct state *s, size_t bytes, uint8_t channel)
{
    const struct tl_event *event = s->event;
    EVENT_RECORD record = *tl_record(s->event);
    struct blob whole = {.count = 0};
    void *exact;
    const char *line;

    put_bytes(&whole, event->traits.bytes, event->traits.count);
    put_bytes(&whole, event->schema.bytes, event->schema.count);
    put_bytes(&whole, event->payload.bytes, event->payload.count);
    bytes = bytes < whole.count ? bytes : whole.count;
    exact = malloc(bytes + 1);
    assert_non_null(exact);
    record.UserData = (uint8_t *)exact + 1;
    memcpy(record.UserData, whole.bytes, bytes);
    record.UserDataLength = (uint16_t)bytes;
    record.ExtendedDataCount = 0;
    record.EventHeader.EventDescriptor.Channel = channel;
    line = shown(s->decoder, &record);
    free(exact);
    return line;
}

static void without_items_a_payload_begins_with_what_describes_it(void **state)
{
    struct state *s = *state;
    struct tl_event *event = s->event;
    size_t begin;

    tl_field(event, "n", TDH_INTYPE_UINT16, -1);
    tl_field(event, "text", TDH_INTYPE_ANSISTRING, -1);
    put_u16(&event->payload, 7);
    put_text(&event->payload, "abc");
    begin = event->traits.count + event->schema.count;
    assert_string_equal(line_of_payload(s, SIZE_MAX, 11), "P/E n=7 text=\"abc\"");
    assert_string_equal(line_of_payload(s, begin + 1, 11), "P/E n=…1");
    assert_string_equal(line_of_payload(s, SIZE_MAX, 0), "(none)");
    for (size_t bytes = 0; bytes < begin; bytes++) {
        assert_string_equal(line_of_payload(s, bytes, 11), "(none)");
    }
    /* The same bytes as items are another event's. */
    event->record.EventHeader.EventDescriptor.Channel = 11;
    assert_string_equal(line_of(s), "P/E n=7 text=\"abc\"");
}

/* Only a guess is made of it. */
static void what_only_looks_like_a_description_is_none(void **state)
{
    struct state *s = *state;

    tl_field(s->event, "type", 26, -1);
    assert_string_equal(line_of_payload(s, SIZE_MAX, 11), "(none)");
}

static bool append_field(const etwas_schema *schema, void *context)
{
    (void)strcat(context, schema->fields[0].name);
    return true;
}

/* The store's hashes are of another secret in each decoder. */
static void events_of_one_name_are_listed_in_one_order_whichever_came_first(void **state)
{
    struct tl_event *event = ((struct state *)*state)->event;
    const size_t begun = event->schema.count;

    for (int first = 0; first < SAME_NAME; first++) {
        char listed[SAME_NAME + 1] = "";
        etwas_decoder *decoder;

        assert_int_equal(etwas_decoder_open(&decoder), ERROR_SUCCESS);
        for (int index = 0; index < SAME_NAME; index++) {
            const char field[] = {(char)('a' + (first + index) % SAME_NAME), '\0'};
            const etwas_schema *schema;

            event->schema.count = begun;
            tl_field(event, field, TDH_INTYPE_UINT8, -1);
            assert_int_equal(etwas_decoder_schema(decoder, tl_record(event), &schema),
                             ERROR_SUCCESS);
        }
        assert_int_equal(etwas_decoder_schemas(decoder, append_field, listed), ERROR_SUCCESS);
        etwas_decoder_close(decoder);
        assert_string_equal(listed, "abcdefgh");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_state, close_state)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(numbers_of_all_widths_are_shown),
        TEST(strings_of_all_forms_are_shown),
        TEST(arrays_and_structs_nest),
        TEST(tags_and_custom_fields_are_read),
        TEST(equal_events_have_one_schema),
        TEST(a_payload_cut_anywhere_shows_its_whole_fields),
        TEST(a_schema_cut_anywhere_keeps_what_is_before),
        TEST(characters_that_are_cut_are_left_with_their_count),
        TEST(of_what_makes_no_sense_the_fields_before_are_kept),
        TEST(members_without_bytes_come_to_an_end),
        TEST(EventWriteString_is_one_string),
        TEST(without_items_a_payload_begins_with_what_describes_it),
        TEST(what_only_looks_like_a_description_is_none),
        TEST(events_of_one_name_are_listed_in_one_order_whichever_came_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
