/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Fields that records describe: counts, lengths, types, and what of them makes no sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "etl/event_metadata.h"
#include "metadata_scene.h"

/*
 * Counts and lengths by other fields, in structs in arrays, with members in any order of building.
 */
static void counts_and_lengths_are_those_of_earlier_fields(void **state)
{
    struct state *s = *state;
    uint16_t count = add(s, ETWAS_BUILDER_TOP, "count", TDH_INTYPE_UINT8, 0);
    uint16_t list = etwas_builder_property(&s->builder, ETWAS_BUILDER_TOP,
                                           &(EVENT_PROPERTY_INFO){
                                               .NameOffset = string(s, "list"),
                                               .Flags = PropertyStruct | PropertyParamCount,
                                               .countPropertyIndex = count,
                                           });
    uint16_t length = add(s, list, "length", TDH_INTYPE_UINT16, 0);
    uint16_t last = add(s, ETWAS_BUILDER_TOP, "last", TDH_INTYPE_UNICODESTRING, 0);
    uint16_t bytes = add(s, list, "bytes", TDH_INTYPE_BINARY, 0);
    uint16_t numbers = add(s, list, "numbers", TDH_INTYPE_UINT8, 0);

    s->builder.properties[last].info.length = 3;
    s->builder.properties[bytes].info.Flags = PropertyParamLength;
    s->builder.properties[bytes].info.lengthPropertyIndex = length;
    s->builder.properties[numbers].info.Flags = PropertyParamCount;
    s->builder.properties[numbers].info.countPropertyIndex = count;
    assert_int_equal(learn_event(s), ERROR_SUCCESS);
    put_u8(&s->payload, 2);
    put_u16(&s->payload, 1);
    put_bytes(&s->payload, "\xAB\1\2", 3);
    put_u16(&s->payload, 0);
    put_bytes(&s->payload, "\3\4", 2);
    put_wide(&s->payload, "ab", true);
    assert_string_equal(line_of(s, 1, 0),
                        "shop/Order/Start count=2 list=[{length=1 bytes=AB numbers=[1,2]},"
                        "{length=0 bytes= numbers=[3,4]}] last=\"ab\"");
}

static void types_of_classic_events_are_read(void **state)
{
    struct state *s = *state;
    uint16_t name;

    add(s, ETWAS_BUILDER_TOP, "counted", TDH_INTYPE_COUNTEDSTRING, 0);
    put_u16(&s->payload, 2);
    put_wide(&s->payload, "a", false);
    add(s, ETWAS_BUILDER_TOP, "reversed", TDH_INTYPE_REVERSEDCOUNTEDANSISTRING, 0);
    put_bytes(&s->payload, "\0\2bc", 4);
    add(s, ETWAS_BUILDER_TOP, "dump", TDH_INTYPE_HEXDUMP, 0);
    put_u32(&s->payload, 1);
    put_u8(&s->payload, 0x7F);
    add(s, ETWAS_BUILDER_TOP, "nobody", TDH_INTYPE_WBEMSID, 0);
    put_u32(&s->payload, 0);
    add(s, ETWAS_BUILDER_TOP, "user", TDH_INTYPE_WBEMSID, 0);
    put_u64(&s->payload, 1);
    put_u64(&s->payload, 0);
    put_bytes(&s->payload, "\1\1\0\0\0\0\0\5\x12\0\0\0", 12);
    add(s, ETWAS_BUILDER_TOP, "letter", TDH_INTYPE_ANSICHAR, 0);
    put_u8(&s->payload, 'x');
    name = add(s, ETWAS_BUILDER_TOP, "name", TDH_INTYPE_UNICODECHAR, 0);
    s->builder.properties[name].info.count = 4;
    put_wide(&s->payload, "ab", true);
    put_wide(&s->payload, "c", false);
    add(s, ETWAS_BUILDER_TOP, "rest", TDH_INTYPE_NONNULLTERMINATEDANSISTRING, 0);
    put_bytes(&s->payload, "end", 3);
    learn_event(s);
    assert_string_equal(line_of(s, 1, 0),
                        "shop/Order/Start counted=\"a\" reversed=\"bc\" dump=7F nobody= "
                        "user=S-1-5-18 letter=\"x\" name=\"ab\"(behind its 0: 63) rest=\"end\"");
}

static void an_array_may_go_to_the_end(void **state)
{
    struct state *s = *state;
    uint16_t stack = add(s, ETWAS_BUILDER_TOP, "stack", TDH_INTYPE_POINTER, 0);

    s->builder.properties[stack].info.Flags = PropertyParamFixedCount | PropertyParamCount;
    s->builder.properties[stack].info.countPropertyIndex = ETWAS_BUILDER_NO_PROPERTY;
    learn_event(s);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start stack=[]");
    put_u64(&s->payload, 1);
    put_u64(&s->payload, 2);
    put_u8(&s->payload, 3);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start stack=[0x1,0x2] +1");
}

static void a_constant_count_of_0_is_an_empty_array(void **state)
{
    static const uint16_t types[] = {TDH_INTYPE_UINT8, TDH_INTYPE_POINTER, TDH_INTYPE_ANSISTRING,
                                     TDH_INTYPE_SID, TDH_INTYPE_BINARY};
    struct state *s = *state;

    for (uint8_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        uint16_t list = add(s, ETWAS_BUILDER_TOP, "list", types[i], 0);

        s->builder.properties[list].info.Flags = PropertyParamFixedCount;
        s->builder.properties[list].info.count = 0;
        add(s, ETWAS_BUILDER_TOP, "b", TDH_INTYPE_UINT8, 0);
        s->builder.head.EventDescriptor.Version = i;
        learn_event(s);
        s->payload.count = 0;
        put_u8(&s->payload, 5);
        assert_string_equal(line_of(s, 1, i), "shop/Order/Start list=[] b=5");
    }
}

static void a_string_at_the_end_may_lack_its_0(void **state)
{
    struct state *s = *state;

    add(s, ETWAS_BUILDER_TOP, "text", TDH_INTYPE_UNICODESTRING, 0);
    learn_event(s);
    put_wide(&s->payload, "ab", false);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start text=\"ab\"");
    put_u8(&s->payload, 'c');
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start text=\"ab\" +1");
    s->payload.count = 0;
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start text=\"\"");
    put_u8(&s->payload, 'c');
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start text=\"\" +1");
}

/*
 * Several of them, in a struct too; what else is not there is missing, and so is an element that
 * was counted.
 */
static void strings_at_the_end_may_be_left_away(void **state)
{
    struct state *s = *state;
    uint16_t both, list;

    add(s, ETWAS_BUILDER_TOP, "a", TDH_INTYPE_UINT8, 0);
    both = etwas_builder_property(
        &s->builder, ETWAS_BUILDER_TOP,
        &(EVENT_PROPERTY_INFO){.Flags = PropertyStruct, .NameOffset = string(s, "both")});
    add(s, both, "x", TDH_INTYPE_UNICODESTRING, 0);
    add(s, both, "y", TDH_INTYPE_ANSISTRING, 0);
    learn_event(s);
    put_u8(&s->payload, 1);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start a=1 both={x=\"\" y=\"\"}");
    s->payload.count = 0;
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start a=…0");
    list = add(s, ETWAS_BUILDER_TOP, "list", TDH_INTYPE_ANSISTRING, 0);
    s->builder.properties[list].info.Flags = PropertyParamFixedCount;
    s->builder.properties[list].info.count = 2;
    learn_event(s);
    put_bytes(&s->payload, "a", 2);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start list=[\"a\",…0]");
}

/* What a reader of strings by their characters alone would drop. */
static void what_a_text_does_not_say_is_said_beside_it(void **state)
{
    struct state *s = *state;

    add(s, ETWAS_BUILDER_TOP, "a", TDH_INTYPE_MANIFEST_COUNTEDSTRING, 0);
    add(s, ETWAS_BUILDER_TOP, "b", TDH_INTYPE_REVERSEDCOUNTEDSTRING, 0);
    add(s, ETWAS_BUILDER_TOP, "c", TDH_INTYPE_MANIFEST_COUNTEDSTRING, 0);
    add(s, ETWAS_BUILDER_TOP, "d", TDH_INTYPE_MANIFEST_COUNTEDANSISTRING, 0);
    add(s, ETWAS_BUILDER_TOP, "e", TDH_INTYPE_SYSTEMTIME, 0);
    learn_event(s);
    put_bytes(&s->payload,
              "\3\0x\0\x41"
              "\0\1\x42"
              "\2\0\0\xD8"
              "\3\0c\xE9s"
              "\xE9\x07\x0D\0\0\0\1\0\0\0\0\0\0\0\0\0",
              5 + 3 + 4 + 5 + 16);
    assert_string_equal(line_of(s, 1, 0),
                        "shop/Order/Start a=\"x\"(odd byte: 41) b=\"\"(odd byte: 42) "
                        "c=\"\uFFFD\"(not UTF-16: 00D8) d=\"c\uFFFDs\"(not UTF-8: 63E973) "
                        "e=2025-13-01T00:00:00.000(no such date)");
}

static void a_SID_that_cannot_be_is_marked(void **state)
{
    struct state *s = *state;

    add(s, ETWAS_BUILDER_TOP, "user", TDH_INTYPE_SID, 0);
    learn_event(s);
    for (unsigned parts = 14; parts <= 17; parts++) {
        const char *line;

        s->payload.count = 0;
        put_bytes(&s->payload, "\1", 1);
        put_u8(&s->payload, (uint8_t)parts);
        put_bytes(&s->payload, "\0\0\0\0\0\5", 6);
        for (unsigned i = 0; i < parts; i++) {
            put_u8(&s->payload, 1);
            put_bytes(&s->payload, "\0\0\0", 3);
        }
        line = line_of(s, 1, 0);
        assert_non_null(strstr(line, "user=S-1-5-1-1-1"));
        assert_int_equal(strstr(line, " sub-authorities, 15 are allowed)") != NULL, parts > 15);
    }
    s->payload.count = 0;
    put_bytes(&s->payload, "\2\1\0\0\0\0\0\5\x12\0\0\0", 12);
    assert_string_equal(line_of(s, 1, 0),
                        "shop/Order/Start user=S-2-5-18(revision 2, only 1 is known)");
}

/*
 * What is known of a description is kept: its names, and the fields before the one that it does not
 * describe.
 */
static void a_field_that_is_not_described_has_what_is_left(void **state)
{
    static const uint16_t types[] = {TDH_INTYPE_RESERVED24, 26, 299, 311, 0xFFFF};
    struct state *s = *state;

    put_bytes(&s->payload, "\7\1\2\3", 4);
    for (uint8_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        add(s, ETWAS_BUILDER_TOP, "a", TDH_INTYPE_UINT8, 0);
        add(s, ETWAS_BUILDER_TOP, "b", types[i], 0);
        add(s, ETWAS_BUILDER_TOP, "c", TDH_INTYPE_UINT8, 0);
        s->builder.head.EventDescriptor.Version = i;
        assert_int_equal(learn_event(s), ERROR_SUCCESS);
        assert_string_equal(line_of(s, 1, i), "shop/Order/Start a=7 b=?3");
    }
}

/* What a field may not be counted by: itself is in the payload, all else must have been read. */
static void counts_that_are_not_read_before_count_nothing(void **state)
{
    struct state *s = *state;

    put_bytes(&s->payload, "\3\1\2\3", 4);
    for (uint8_t wrong = 0; wrong < 5; wrong++) {
        uint16_t first = add(s, ETWAS_BUILDER_TOP, "first", TDH_INTYPE_UINT8, 0);
        uint16_t list = etwas_builder_property(
            &s->builder, ETWAS_BUILDER_TOP,
            &(EVENT_PROPERTY_INFO){.Flags = PropertyStruct, .NameOffset = string(s, "list")});
        uint16_t member = add(s, list, "member", TDH_INTYPE_UINT8, 0);
        uint16_t data = add(s, ETWAS_BUILDER_TOP, "data", TDH_INTYPE_UINT8, 0);
        uint16_t later = add(s, ETWAS_BUILDER_TOP, "later", TDH_INTYPE_UINT8, 0);
        uint16_t text = add(s, ETWAS_BUILDER_TOP, "text", TDH_INTYPE_ANSISTRING, 0);
        const uint16_t named[] = {first, later, member, list, text};

        s->builder.properties[data].info.Flags = PropertyParamCount;
        s->builder.properties[data].info.countPropertyIndex = named[wrong];
        s->builder.head.EventDescriptor.Version = wrong;
        assert_int_equal(learn_event(s), ERROR_SUCCESS);
        assert_string_equal(line_of(s, 1, wrong),
                            wrong == 0 ? "shop/Order/Start first=3 list={member=1} data=[2,3,…0]"
                                       : "shop/Order/Start first=3 list={member=1} data=?2");
    }
}

/* Nothing of a description is read beyond its bytes, whatever they say. */
static void every_description_is_checked(void **state)
{
    static const uint8_t changes[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
    struct state *s = *state;
    uint16_t list =
        etwas_builder_property(&s->builder, ETWAS_BUILDER_TOP,
                               &(EVENT_PROPERTY_INFO){.Flags = PropertyStruct | PropertyParamCount,
                                                      .NameOffset = string(s, "list")});
    uint16_t kind = add(s, list, "kind", TDH_INTYPE_UINT8, 0);
    TRACE_EVENT_INFO *info;
    size_t bytes;

    s->builder.properties[kind].info.nonStructType.MapNameOffset = string(s, "Kinds");
    s->builder.head.KeywordsNameOffset = string(s, "one");
    etwas_builder_add_bytes(&s->builder, "\0", 2);
    assert_int_equal(etwas_builder_end(&s->builder, &info, &bytes), ERROR_SUCCESS);
    begin(s, "Start");
    assert_int_equal(learn_record(s->decoder, ETWAS_ETL_EVENT_INFO_TYPE, info, bytes),
                     ERROR_SUCCESS);
    put_bytes(&s->payload, "\3\0abcdefgh", 10);
    for (size_t count = 0; count < bytes; count++) {
        assert_int_equal(learn_record(s->decoder, ETWAS_ETL_EVENT_INFO_TYPE, info, count),
                         ERROR_INVALID_DATA);
    }
    for (size_t at = 0; at < bytes; at++) {
        uint8_t *byte = (uint8_t *)info + at;
        uint8_t was = *byte;

        for (size_t i = 0; i < sizeof changes; i++) {
            *byte = changes[i];
            learn_record(s->decoder, ETWAS_ETL_EVENT_INFO_TYPE, info, bytes);
            line_of(s, 1, 0);
        }
        *byte = was;
    }
    free(info);
}

static void every_map_is_checked(void **state)
{
    static const uint8_t changes[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
    struct state *s = *state;
    struct etwas_info_builder builder;
    struct blob blob = {.count = 0};
    EVENT_MAP_INFO *map;
    size_t bytes;
    uint32_t name;

    etwas_builder_begin(&builder);
    name = etwas_builder_add_string(&builder, "Kinds", 5);
    assert_int_equal(etwas_builder_end_map(&builder, name, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP,
                                           &(struct etwas_builder_entry){.text = name}, 1, &map,
                                           &bytes),
                     ERROR_SUCCESS);
    put_bytes(&blob, &guid, sizeof guid);
    put_bytes(&blob, map, bytes);
    free(map);
    for (size_t count = 0; count < blob.count; count++) {
        assert_int_equal(learn_record(s->decoder, ETWAS_ETL_MAP_INFO_TYPE, blob.bytes, count),
                         ERROR_INVALID_DATA);
    }
    for (size_t at = sizeof guid; at < blob.count; at++) {
        uint8_t was = blob.bytes[at];

        for (size_t i = 0; i < sizeof changes; i++) {
            blob.bytes[at] = changes[i];
            learn_record(s->decoder, ETWAS_ETL_MAP_INFO_TYPE, blob.bytes, blob.count);
        }
        blob.bytes[at] = was;
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)
    const struct CMUnitTest tests[] = {
        TEST(counts_and_lengths_are_those_of_earlier_fields),
        TEST(types_of_classic_events_are_read),
        TEST(an_array_may_go_to_the_end),
        TEST(a_constant_count_of_0_is_an_empty_array),
        TEST(a_string_at_the_end_may_lack_its_0),
        TEST(strings_at_the_end_may_be_left_away),
        TEST(what_a_text_does_not_say_is_said_beside_it),
        TEST(a_SID_that_cannot_be_is_marked),
        TEST(a_field_that_is_not_described_has_what_is_left),
        TEST(counts_that_are_not_read_before_count_nothing),
        TEST(every_description_is_checked),
        TEST(every_map_is_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
