/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which pairs of a key and a value the fields of an event become, and what of its payload is left.
 */
#include "ship_scene.h"

#include "decode/blob.h"
#include "decode/metadata_scene.h"
#include "ship/read/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONSTANT = 0x20,
    COUNTED = 0x40,
    STRUCT = 24,
    LINE_BYTES = 4096,
};

/* ---- an event as one line -------------------------------------------------------------------- */

static char line[LINE_BYTES];

static void say(const char *format, const struct shipped_pair *pair, ...)
    __attribute__((format(printf, 1, 3)));

static void say(const char *format, const struct shipped_pair *pair, ...)
{
    size_t used = strlen(line);
    va_list arguments;

    (void)snprintf(line + used, sizeof line - used, "%s%.*s", used > 0 ? " " : "",
                   pair != NULL ? (int)pair->key_bytes : 0, pair != NULL ? pair->key : "");
    used = strlen(line);
    va_start(arguments, pair);
    (void)vsnprintf(line + used, sizeof line - used, format, arguments);
    va_end(arguments);
}

/* `i=1 r=1.5 t="x" +2`: ints, reals, texts, and how much payload is left. */
static const char *as_line(const struct shipped_event *event)
{
    line[0] = '\0';
    for (size_t i = 0; i < event->ints.count; i++) {
        int64_t value;

        memcpy(&value, event->ints.list[i].value, sizeof value);
        say("=%lld", &event->ints.list[i], (long long)value);
    }
    for (size_t i = 0; i < event->reals.count; i++) {
        double value;

        memcpy(&value, event->reals.list[i].value, sizeof value);
        say("=%g", &event->reals.list[i], value);
    }
    for (size_t i = 0; i < event->texts.count; i++) {
        say("=\"%.*s\"", &event->texts.list[i], (int)event->texts.list[i].value_bytes,
            (const char *)event->texts.list[i].value);
    }
    if (event->payload.bytes > 0) {
        say("+%zu", NULL, event->payload.bytes);
    }
    return line;
}

/* The row of an event, until the next; of all columns but these none is asked for. */
static struct shipped_event row;

static const char *line_of_record(etwas_decoder *decoder, const EVENT_RECORD *record)
{
    static struct etwas_field_paths none;
    struct etwas_ship_block block = block_open();
    struct etwas_output text = {.bytes = NULL};
    struct etwas_ship_left_over left_over;
    struct etwas_schema_texts *described;
    const etwas_schema *schema;
    struct rows rows;

    assert_int_equal(etwas_decoder_schema(decoder, record, &schema), ERROR_SUCCESS);
    described = etwas_schema_texts_make(schema, &none);
    assert_non_null(described);
    etwas_columns_begin(block.events);
    left_over = etwas_ship_values_put(block.events, described, record, &text);
    etwas_columns_string(block.events, ETWAS_SHIP_EVENT_PAYLOAD, left_over.data, left_over.bytes);
    etwas_columns_string(block.events, ETWAS_SHIP_EVENT_HOST, "", 0);
    etwas_columns_string(block.events, ETWAS_SHIP_EVENT_EVENT, "", 0);
    etwas_columns_end(block.events);
    rows_begin(&rows, block.events);
    assert_true(rows_next_event(&rows, &row));
    (void)as_line(&row);
    block_close(&block);
    etwas_output_free(&text);
    etwas_schema_texts_free(described);
    return line;
}

/* ---- self-describing events ------------------------------------------------------------------ */

struct scene {
    etwas_decoder *decoder;
    struct tl_event *event;
};

static int open_event(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);

    assert_non_null(scene);
    assert_int_equal(etwas_decoder_open(&scene->decoder), ERROR_SUCCESS);
    scene->event = tl_begin();
    *state = scene;
    return 0;
}

static int close_event(void **state)
{
    struct scene *scene = *state;

    etwas_decoder_close(scene->decoder);
    tl_end(scene->event);
    free(scene);
    return 0;
}

static const char *line_of_event(struct scene *scene)
{
    return line_of_record(scene->decoder, tl_record(scene->event));
}

static void numbers_are_ints_or_reals(void **state)
{
    struct scene *scene = *state;
    struct tl_event *event = scene->event;

    tl_field(event, "i8", TDH_INTYPE_INT8, -1);
    put_u8(&event->payload, 0xFF);
    tl_field(event, "u8", TDH_INTYPE_UINT8, -1);
    put_u8(&event->payload, 0xFF);
    tl_field(event, "i16", TDH_INTYPE_INT16, -1);
    put_u16(&event->payload, 0xFFFE);
    tl_field(event, "u16", TDH_INTYPE_UINT16, -1);
    put_u16(&event->payload, 0xFFFE);
    tl_field(event, "i32", TDH_INTYPE_INT32, -1);
    put_u32(&event->payload, 0xFFFFFFFD);
    tl_field(event, "u32", TDH_INTYPE_UINT32, -1);
    put_u32(&event->payload, 0xFFFFFFFD);
    tl_field(event, "i64", TDH_INTYPE_INT64, -1);
    put_u64(&event->payload, UINT64_MAX - 3);
    tl_field(event, "u64", TDH_INTYPE_UINT64, -1); /* beyond Int64 it wraps */
    put_u64(&event->payload, UINT64_MAX - 4);
    tl_field(event, "x32", TDH_INTYPE_HEXINT32, -1);
    put_u32(&event->payload, 0x10);
    tl_field(event, "x64", TDH_INTYPE_HEXINT64, -1);
    put_u64(&event->payload, 0x20);
    tl_field(event, "yes", TDH_INTYPE_BOOLEAN, -1);
    put_u32(&event->payload, 7);
    tl_field(event, "f", TDH_INTYPE_FLOAT, -1);
    put_u32(&event->payload, 0x3FC00000);
    tl_field(event, "d", TDH_INTYPE_DOUBLE, -1);
    put_u64(&event->payload, UINT64_C(0xBFE0000000000000));
    assert_string_equal(line_of_event(scene),
                        "i8=-1 u8=255 i16=-2 u16=65534 i32=-3 u32=4294967293 i64=-4 u64=-5 x32=16 "
                        "x64=32 yes=7 f=1.5 d=-0.5");
}

static void all_else_is_text(void **state)
{
    static const uint8_t guid_bytes[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    struct scene *scene = *state;
    struct tl_event *event = scene->event;

    tl_field(event, "narrow", TDH_INTYPE_ANSISTRING, -1);
    put_text(&event->payload, "a \"b\"");
    tl_field(event, "wide", TDH_INTYPE_UNICODESTRING, -1);
    put_wide(&event->payload, "xy", true);
    tl_field(event, "counted", TDH_INTYPE_MANIFEST_COUNTEDSTRING, -1);
    put_u16(&event->payload, 4);
    put_wide(&event->payload, "cd", false);
    tl_field(event, "guid", TDH_INTYPE_GUID, -1);
    put_bytes(&event->payload, guid_bytes, sizeof guid_bytes);
    tl_field(event, "at", TDH_INTYPE_FILETIME, -1);
    put_u64(&event->payload, UINT64_C(116444736000000000));
    tl_field(event, "address", TDH_INTYPE_UINT32, 8); /* an IPv4 address */
    put_u32(&event->payload, 0x0100007F);
    tl_field(event, "letter", TDH_INTYPE_UINT8, 2);
    put_u8(&event->payload, 'q');
    tl_field(event, "bytes", TDH_INTYPE_BINARY, -1);
    put_u16(&event->payload, 2);
    put_u16(&event->payload, 0xCDAB);
    assert_string_equal(line_of_event(scene),
                        "narrow=\"a \"b\"\" wide=\"xy\" counted=\"cd\" "
                        "guid=\"{04030201-0605-0807-090a-0b0c0d0e0f10}\" "
                        "at=\"1970-01-01T00:00:00.0000000\" address=\"127.0.0.1\" letter=\"q\" "
                        "bytes=\"ABCD\"");
}

static void names_tell_fields_apart(void **state)
{
    struct scene *scene = *state;
    struct tl_event *event = scene->event;

    tl_field(event, "a", TDH_INTYPE_UINT8, -1);
    tl_field(event, "a", TDH_INTYPE_UINT8, -1);
    tl_field(event, "point", STRUCT, 3);
    tl_field(event, "x", TDH_INTYPE_UINT8, -1);
    tl_field(event, "x", TDH_INTYPE_UINT8, -1);
    tl_field(event, "in", STRUCT, 1);
    tl_field(event, "x", TDH_INTYPE_UINT8, -1);
    tl_field(event, "point", TDH_INTYPE_UINT8, -1);
    for (unsigned i = 1; i <= 6; i++) {
        put_u8(&event->payload, i);
    }
    assert_string_equal(line_of_event(scene),
                        "a=1 a_2=2 point.x=3 point.x_2=4 point.in.x=5 point_2=6");
}

static void short_arrays_have_a_key_an_element(void **state)
{
    struct scene *scene = *state;
    struct tl_event *event = scene->event;

    tl_field(event, "list", TDH_INTYPE_UINT8 | COUNTED, -1);
    put_u16(&event->payload, 2);
    put_u16(&event->payload, 0x0807);
    tl_field(event, "none", TDH_INTYPE_UINT8 | COUNTED, -1);
    put_u16(&event->payload, 0);
    tl_field(event, "points", STRUCT | CONSTANT, 2);
    put_u16(&event->schema, 2);
    tl_field(event, "x", TDH_INTYPE_UINT8, -1);
    tl_field(event, "y", TDH_INTYPE_UINT8 | COUNTED, -1);
    put_u8(&event->payload, 1);
    put_u16(&event->payload, 0);
    put_u8(&event->payload, 2);
    put_u16(&event->payload, 1);
    put_u8(&event->payload, 3);
    tl_field(event, "last", TDH_INTYPE_UINT8, -1);
    put_u8(&event->payload, 4);
    assert_string_equal(line_of_event(scene), "list[0]=7 list[1]=8 points[0].x=1 points[1].x=2 "
                                              "points[1].y[0]=3 last=4");
}

static void long_arrays_are_one_text(void **state)
{
    struct scene *scene = *state;
    struct tl_event *event = scene->event;

    tl_field(event, "outer", STRUCT, 2);
    tl_field(event, "list", TDH_INTYPE_UINT8 | COUNTED, -1);
    put_u16(&event->payload, 17);
    for (unsigned i = 0; i < 17; i++) {
        put_u8(&event->payload, i);
    }
    tl_field(event, "x", TDH_INTYPE_UINT8, -1);
    put_u8(&event->payload, 5);
    tl_field(event, "structs", STRUCT | CONSTANT, 1);
    put_u16(&event->schema, 17);
    tl_field(event, "s", TDH_INTYPE_ANSISTRING, -1);
    for (unsigned i = 0; i < 17; i++) {
        put_text(&event->payload, "v");
    }
    assert_string_equal(
        line_of_event(scene),
        "outer.x=5 outer.list=\"[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]\" "
        "structs=\"[{s=\"v\"}, {s=\"v\"}, {s=\"v\"}, {s=\"v\"}, {s=\"v\"}, {s=\"v\"}, {s=\"v\"}, "
        "{s=\"v\"}, {s=\"v\"}, {s=\"v\"}, {s=\"v\"}, {s=\"v\"}, {s=\"v\"}, {s=\"v\"}, {s=\"v\"}, "
        "{s=\"v\"}, {s=\"v\"}]\"");
}

static void what_no_field_has_is_left(void **state)
{
    struct scene *scene = *state;
    struct tl_event *event = scene->event;

    tl_field(event, "a", TDH_INTYPE_UINT8, -1);
    put_u32(&event->payload, 1);
    assert_string_equal(line_of_event(scene), "a=1 +3");
    tl_field(event, "b", TDH_INTYPE_UINT64, -1);
    assert_string_equal(line_of_event(scene), "a=1 +3");
}

/* A row has a limit: then the payload is there whole. */
static void too_many_fields_leave_all_of_it(void **state)
{
    struct scene *scene = *state;
    struct tl_event *event = scene->event;

    for (unsigned i = 0; i < 400; i++) {
        tl_field(event, "a", TDH_INTYPE_UINT8 | CONSTANT, -1);
        put_u16(&event->schema, 16);
        for (unsigned k = 0; k < 16; k++) {
            put_u8(&event->payload, k);
        }
    }
    assert_non_null(strstr(line_of_event(scene), "a_2[15]=15"));
    assert_int_equal(row.ints.count, ETWAS_SHIP_PAIRS);
    assert_int_equal(row.payload.bytes, event->payload.count);
}

static void a_text_that_is_too_long_leaves_all_of_it(void **state)
{
    struct scene *scene = *state;
    struct tl_event *event = scene->event;
    char name[201];

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    tl_field(event, "s", STRUCT | COUNTED, 1);
    tl_field(event, name, TDH_INTYPE_UINT8, -1);
    put_u16(&event->payload, 1000);
    for (unsigned i = 0; i < 1000; i++) {
        put_u8(&event->payload, i);
    }
    assert_string_equal(line_of_event(scene), "+1002");
}

/* ---- described events ------------------------------------------------------------------------ */

static void what_a_map_names_is_a_text_too(void **state)
{
    static const char *const names[] = {"Tea", "Coffee"};
    static const uint32_t values[] = {1, 2};
    struct state *scene = *state;
    EVENT_RECORD record;

    assert_int_equal(
        learn_map(scene->decoder, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP, names, values, 2),
        ERROR_SUCCESS);
    add_kind(scene, "kind", TDH_INTYPE_UINT32);
    add(scene, ETWAS_BUILDER_TOP, "count", TDH_INTYPE_UINT16, 0);
    assert_int_equal(learn_event(scene), ERROR_SUCCESS);
    put_u32(&scene->payload, 2);
    put_u16(&scene->payload, 3);
    record = event_of(scene, 1, 0);
    assert_string_equal(line_of_record(scene->decoder, &record), "kind=2 count=3 kind=\"Coffee\"");
}

#define EVENT_TEST(test) cmocka_unit_test_setup_teardown(test, open_event, close_event)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EVENT_TEST(numbers_are_ints_or_reals),
        EVENT_TEST(all_else_is_text),
        EVENT_TEST(names_tell_fields_apart),
        EVENT_TEST(short_arrays_have_a_key_an_element),
        EVENT_TEST(long_arrays_are_one_text),
        EVENT_TEST(what_no_field_has_is_left),
        EVENT_TEST(too_many_fields_leave_all_of_it),
        EVENT_TEST(a_text_that_is_too_long_leaves_all_of_it),
        cmocka_unit_test_setup_teardown(what_a_map_names_is_a_text_too, open_scene, close_scene),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
