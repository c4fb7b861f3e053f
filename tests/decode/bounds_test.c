/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A small file must not cost much: what is kept, what is shown, what is gone through is bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/source.h"
#include "metadata_scene.h"

/* Events of many kinds, each described, until there is no more room; what is known stays known. */
static void what_a_decoder_keeps_is_bounded(void **state)
{
    struct state *s = *state;
    EVENT_RECORD record;
    const etwas_schema *schema;
    uint32_t error = ERROR_SUCCESS;
    unsigned type = 0;

    s->decoder->store.bytes = ETWAS_STORE_LIMIT_BYTES - 20000;
    for (; type < 200 && error == ERROR_SUCCESS; type++) {
        s->builder.head.EventDescriptor.Opcode = (uint8_t)type;
        add(s, ETWAS_BUILDER_TOP, "a", TDH_INTYPE_UINT8, 0);
        error = learn_event(s);
    }
    assert_int_equal(error, ERROR_NOT_ENOUGH_MEMORY);
    assert_in_range(type, 10, 100);
    put_u8(&s->payload, 5);
    assert_string_equal(line_of(s, 0, 0), "shop/Order/Start a=5");
    for (type = 200; type < 256 && error != ERROR_NOT_FOUND; type++) {
        record = event_of(s, (uint8_t)type, 0);
        error = etwas_decoder_schema(s->decoder, &record, &schema);
    }
    assert_int_equal(error, ERROR_NOT_FOUND); /* a kind of event needs less than a description */
    for (; type < 256 && error != ERROR_NOT_ENOUGH_MEMORY; type++) {
        record = event_of(s, (uint8_t)type, 0);
        error = etwas_decoder_schema(s->decoder, &record, &schema);
    }
    assert_int_equal(error, ERROR_NOT_ENOUGH_MEMORY);
    assert_true(s->decoder->store.bytes <= ETWAS_STORE_LIMIT_BYTES);
}

/* The schemas of events that describe themselves are bounded, too. */
static void schemas_of_events_themselves_are_bounded(void **state)
{
    struct state *s = *state;
    struct tl_event *tl = tl_begin();
    const etwas_schema *schema;
    uint32_t error = ERROR_SUCCESS;
    unsigned id = 0;

    s->decoder->store.bytes = ETWAS_STORE_LIMIT_BYTES - 20000;
    tl_field(tl, "a", TDH_INTYPE_UINT8, -1);
    for (; id < 200 && error == ERROR_SUCCESS; id++) {
        tl->record.EventHeader.EventDescriptor.Id = (uint16_t)id;
        error = etwas_decoder_schema(s->decoder, tl_record(tl), &schema);
    }
    assert_int_equal(error, ERROR_NOT_ENOUGH_MEMORY);
    assert_in_range(id, 10, 100);
    tl->record.EventHeader.EventDescriptor.Id = 0;
    assert_int_equal(etwas_decoder_schema(s->decoder, &tl->record, &schema), ERROR_SUCCESS);
    tl_end(tl);
}

/* So many fields of one name, which stands there once. */
static uint32_t learn_fields(struct state *s, unsigned count, size_t name_units)
{
    char name[300];

    memset(name, 'x', sizeof name);
    name[name_units] = 0;
    for (unsigned i = 0; i < count; i++) {
        uint16_t field = add(s, ETWAS_BUILDER_TOP, i == 0 ? name : "", TDH_INTYPE_NULL, 0);

        s->builder.properties[field].info.NameOffset = s->builder.properties[0].info.NameOffset;
    }
    return learn_event(s);
}

/* An event may have no payload, and shows them all. */
static void fields_and_their_names_are_bounded(void **state)
{
    assert_int_equal(learn_fields(*state, 1024, 0), ERROR_SUCCESS);
    assert_int_equal(learn_fields(*state, 1025, 0), ERROR_INVALID_DATA);
    assert_int_equal(learn_fields(*state, 1, 255), ERROR_SUCCESS);
    assert_int_equal(learn_fields(*state, 1, 256), ERROR_INVALID_DATA);
    assert_int_equal(learn_fields(*state, 255, 255), ERROR_SUCCESS);
    assert_int_equal(learn_fields(*state, 256, 255), ERROR_INVALID_DATA);
}

static uint32_t learn_names(struct state *s, MAP_FLAGS flag, size_t count, size_t name_units)
{
    static char name[2000];
    static const char *names[300];
    static uint32_t values[300];

    memset(name, 'x', sizeof name);
    name[name_units] = 0;
    for (size_t i = 0; i < count; i++) {
        names[i] = name;
        values[i] = 1;
    }
    return learn_map(s->decoder, flag, names, values, count);
}

/* Each element of an array may be shown by a name, each bit by several. */
static void names_of_values_and_bits_are_bounded(void **state)
{
    const MAP_FLAGS values = EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP;
    const MAP_FLAGS bits = EVENTMAP_INFO_FLAG_MANIFEST_BITMAP;

    assert_int_equal(learn_names(*state, values, 1, 1024), ERROR_SUCCESS);
    assert_int_equal(learn_names(*state, values, 1, 1025), ERROR_INVALID_DATA);
    assert_int_equal(learn_names(*state, values, 300, 4), ERROR_SUCCESS);
    assert_int_equal(learn_names(*state, bits, 256, 4), ERROR_SUCCESS);
    assert_int_equal(learn_names(*state, bits, 257, 4), ERROR_INVALID_DATA);
    assert_int_equal(learn_names(*state, bits, 4, 1020), ERROR_SUCCESS);
    assert_int_equal(learn_names(*state, bits, 5, 1020), ERROR_INVALID_DATA);
}

/* Each goes to all fields that name it, so there must not be too many. */
static void maps_of_one_name_are_bounded(void **state)
{
    static const char *const names[] = {"x"};
    struct state *s = *state;
    uint32_t value = 0;

    add_kind(s, "c", TDH_INTYPE_UINT32);
    learn_event(s);
    for (; value < 256; value++) {
        assert_int_equal(
            learn_map(s->decoder, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP, names, &value, 1),
            ERROR_SUCCESS);
    }
    assert_int_equal(learn_map(s->decoder, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP, names, &value, 1),
                     ERROR_INVALID_DATA);
    put_u32(&s->payload, 255);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start c=x");
}

/* Whether a version's fields are all there is seen by going through them: of some, not of 256. */
static void versions_that_are_tried_are_bounded(void **state)
{
    struct state *s = *state;

    for (unsigned version = 1; version < 200; version++) {
        s->builder.head.EventDescriptor.Version = (uint8_t)version;
        if (version > 100) {
            uint16_t list = add(s, ETWAS_BUILDER_TOP, "list", TDH_INTYPE_UINT8, 0);

            s->builder.properties[list].info.count = 60000;
            add(s, ETWAS_BUILDER_TOP, "missing", TDH_INTYPE_UINT16, 0);
        } else {
            add(s, ETWAS_BUILDER_TOP, version > 1 ? "fits" : "lowest", TDH_INTYPE_UINT8, 0);
        }
        assert_int_equal(learn_event(s), ERROR_SUCCESS);
    }
    s->payload.count = 60001;
    assert_string_equal(line_of(s, 1, 255), "shop/Order/Start~ lowest=0 +60000");
    s->payload.count = 1;
    assert_string_equal(line_of(s, 1, 255), "shop/Order/Start~ fits=0");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)
    const struct CMUnitTest tests[] = {
        TEST(what_a_decoder_keeps_is_bounded),    TEST(schemas_of_events_themselves_are_bounded),
        TEST(fields_and_their_names_are_bounded), TEST(names_of_values_and_bits_are_bounded),
        TEST(maps_of_one_name_are_bounded),       TEST(versions_that_are_tried_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
