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

#include "blob.h"
#include "decode/build.h"
#include "decode/source.h"
#include "etl/event_metadata.h"
#include "shown.h"

static const etwas_guid guid = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

static int open_decoder(void **state)
{
    etwas_decoder *decoder;

    assert_int_equal(etwas_decoder_open(&decoder), ERROR_SUCCESS);
    *state = decoder;
    return 0;
}

static int close_decoder(void **state)
{
    etwas_decoder_close(*state);
    return 0;
}

static uint32_t learn(etwas_decoder *decoder, uint8_t type, const void *bytes, size_t count)
{
    EVENT_RECORD record = {
        .EventHeader = {.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER,
                        .ProviderId = etwas_etl_metadata_class,
                        .EventDescriptor = {.Opcode = type}},
        .UserData = (void *)(uintptr_t)bytes,
        .UserDataLength = (uint16_t)count,
    };

    return etwas_decoder_learn(decoder, &record);
}

static struct etwas_build begin(uint8_t type, uint8_t version)
{
    struct etwas_build build;

    etwas_build_begin(&build);
    build.head.EventGuid = guid;
    build.head.EventDescriptor.Opcode = type;
    build.head.EventDescriptor.Version = version;
    build.head.DecodingSource = DecodingSourceWbem;
    return build;
}

static void add(struct etwas_build *build, const char *name, uint16_t in_type, uint16_t count)
{
    etwas_build_property(build, ETWAS_BUILD_TOP,
                         &(EVENT_PROPERTY_INFO){
                             .NameOffset = etwas_build_string(build, name, strlen(name)),
                             .nonStructType.InType = in_type,
                             .count = count,
                         });
}

static uint32_t learn_event(etwas_decoder *decoder, struct etwas_build *build)
{
    TRACE_EVENT_INFO *info;
    size_t bytes;
    uint32_t error;

    assert_int_equal(etwas_build_end(build, &info, &bytes), ERROR_SUCCESS);
    error = learn(decoder, ETWAS_ETL_EVENT_INFO_TYPE, info, bytes);
    free(info);
    return error;
}

static EVENT_RECORD event(uint8_t type, uint8_t version, const void *payload, size_t bytes)
{
    return (EVENT_RECORD){
        .EventHeader = {.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER,
                        .ProviderId = guid,
                        .EventDescriptor = {.Opcode = type, .Version = version}},
        .UserData = (void *)(uintptr_t)payload,
        .UserDataLength = (uint16_t)bytes,
    };
}

/* Events of many kinds, each described, until there is no more room; what is known stays known. */
static void what_a_decoder_keeps_is_bounded(void **state)
{
    etwas_decoder *decoder = *state;
    EVENT_RECORD record = event(0, 0, "\5", 1);
    const etwas_schema *schema;
    uint32_t error = ERROR_SUCCESS;
    unsigned type = 0;

    decoder->store.bytes = ETWAS_STORE_LIMIT_BYTES - 20000;
    for (; type < 200 && error == ERROR_SUCCESS; type++) {
        struct etwas_build build = begin((uint8_t)type, 0);

        add(&build, "a", TDH_INTYPE_UINT8, 1);
        error = learn_event(decoder, &build);
    }
    assert_int_equal(error, ERROR_NOT_ENOUGH_MEMORY);
    assert_in_range(type, 20, 100);
    assert_string_equal(shown(decoder, &record), "/ a=5");
    for (type = 200; type < 256 && error != ERROR_SUCCESS; type++) {
        record.EventHeader.EventDescriptor.Opcode = (uint8_t)type;
        error = etwas_decoder_schema(decoder, &record, &schema);
        assert_true(error == ERROR_NOT_ENOUGH_MEMORY || error == ERROR_NOT_FOUND);
    }
    assert_int_equal(error, ERROR_NOT_ENOUGH_MEMORY);
    assert_true(decoder->store.bytes <= ETWAS_STORE_LIMIT_BYTES);
}

/* Those of events that describe themselves, too. */
static void schemas_of_events_themselves_are_bounded(void **state)
{
    etwas_decoder *decoder = *state;
    struct tl_event *tl = tl_begin();
    const etwas_schema *schema;
    uint32_t error = ERROR_SUCCESS;
    unsigned id = 0;

    decoder->store.bytes = ETWAS_STORE_LIMIT_BYTES - 20000;
    tl_field(tl, "a", TDH_INTYPE_UINT8, -1);
    for (; id < 200 && error == ERROR_SUCCESS; id++) {
        tl->record.EventHeader.EventDescriptor.Id = (uint16_t)id;
        error = etwas_decoder_schema(decoder, tl_record(tl), &schema);
    }
    assert_int_equal(error, ERROR_NOT_ENOUGH_MEMORY);
    assert_in_range(id, 20, 100);
    tl->record.EventHeader.EventDescriptor.Id = 0;
    assert_int_equal(etwas_decoder_schema(decoder, &tl->record, &schema), ERROR_SUCCESS);
    tl_end(tl);
}

/* An event may have no payload, and shows them all. */
static void fields_and_their_names_are_bounded(void **state)
{
    char name[300];
    struct etwas_build build = begin(1, 0);

    for (unsigned i = 0; i < 1024; i++) {
        add(&build, "", TDH_INTYPE_NULL, 1);
    }
    assert_int_equal(learn_event(*state, &build), ERROR_SUCCESS);
    build = begin(1, 0);
    for (unsigned i = 0; i < 1025; i++) {
        add(&build, "", TDH_INTYPE_NULL, 1);
    }
    assert_int_equal(learn_event(*state, &build), ERROR_INVALID_DATA);

    memset(name, 'x', sizeof name);
    for (size_t length = 255; length <= 256; length++) {
        name[length] = 0;
        build = begin(2, 0);
        add(&build, name, TDH_INTYPE_NULL, 1);
        assert_int_equal(learn_event(*state, &build),
                         length == 255 ? ERROR_SUCCESS : ERROR_INVALID_DATA);
        name[length] = 'x';
    }

    /* One name of many fields. */
    name[255] = 0;
    for (unsigned fields = 254; fields <= 258; fields += 4) {
        build = begin(3, 0);
        for (unsigned i = 0; i < fields; i++) {
            add(&build, i == 0 ? name : "", TDH_INTYPE_NULL, 1);
            build.properties[i].info.NameOffset = build.properties[0].info.NameOffset;
        }
        assert_int_equal(learn_event(*state, &build),
                         fields == 254 ? ERROR_SUCCESS : ERROR_INVALID_DATA);
    }
}

static uint32_t learn_map(etwas_decoder *decoder, MAP_FLAGS flag, size_t entry_count,
                          size_t name_units)
{
    static char name[2000];
    static struct etwas_build_entry entries[300];
    struct etwas_build build;
    struct blob *blob = calloc(1, sizeof *blob);
    EVENT_MAP_INFO *map;
    size_t bytes;
    uint32_t error;

    assert_non_null(blob);
    memset(name, 'x', sizeof name);
    etwas_build_begin(&build);
    for (size_t i = 0; i < entry_count; i++) {
        entries[i] = (struct etwas_build_entry){1, etwas_build_string(&build, name, name_units)};
    }
    assert_int_equal(etwas_build_map_end(&build, etwas_build_string(&build, "Kinds", 5), flag,
                                         entries, entry_count, &map, &bytes),
                     ERROR_SUCCESS);
    put_bytes(blob, &guid, sizeof guid);
    put_bytes(blob, map, bytes);
    free(map);
    error = learn(decoder, ETWAS_ETL_MAP_INFO_TYPE, blob->bytes, blob->count);
    free(blob);
    return error;
}

/* Each element of an array may be shown by a name, each bit by several. */
static void names_of_values_and_bits_are_bounded(void **state)
{
    const MAP_FLAGS values = EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP;
    const MAP_FLAGS bits = EVENTMAP_INFO_FLAG_MANIFEST_BITMAP;

    assert_int_equal(learn_map(*state, values, 1, 1024), ERROR_SUCCESS);
    assert_int_equal(learn_map(*state, values, 1, 1025), ERROR_INVALID_DATA);
    assert_int_equal(learn_map(*state, values, 300, 4), ERROR_SUCCESS);
    assert_int_equal(learn_map(*state, bits, 256, 4), ERROR_SUCCESS);
    assert_int_equal(learn_map(*state, bits, 257, 4), ERROR_INVALID_DATA);
    assert_int_equal(learn_map(*state, bits, 4, 1020), ERROR_SUCCESS);
    assert_int_equal(learn_map(*state, bits, 5, 1020), ERROR_INVALID_DATA);
}

/* Whether a version's fields are all there is seen by going through them: of some, not of 256. */
static void versions_that_are_tried_are_bounded(void **state)
{
    static uint8_t payload[60001];
    EVENT_RECORD record = event(1, 255, payload, sizeof payload);

    for (unsigned version = 1; version < 200; version++) {
        struct etwas_build build = begin(1, (uint8_t)version);

        if (version > 100) {
            add(&build, "list", TDH_INTYPE_UINT8, 60000);
            add(&build, "missing", TDH_INTYPE_UINT16, 1);
        } else {
            add(&build, version > 1 ? "fits" : "lowest", TDH_INTYPE_UINT8, 1);
        }
        assert_int_equal(learn_event(*state, &build), ERROR_SUCCESS);
    }
    assert_string_equal(shown(*state, &record), "/~ lowest=0 +60000");
    record.UserDataLength = 1;
    assert_string_equal(shown(*state, &record), "/~ fits=0");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_decoder, close_decoder)
    const struct CMUnitTest tests[] = {
        TEST(what_a_decoder_keeps_is_bounded),     TEST(schemas_of_events_themselves_are_bounded),
        TEST(fields_and_their_names_are_bounded),  TEST(names_of_values_and_bits_are_bounded),
        TEST(versions_that_are_tried_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
