/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Events that records beside them describe: classic and modern ones, versions, maps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "etl/event_metadata.h"
#include "metadata_scene.h"

static void a_classic_event_is_found_by_class_and_type(void **state)
{
    struct state *s = *state;

    add(s, ETWAS_BUILDER_TOP, "size", TDH_INTYPE_UINT32, 0);
    add(s, ETWAS_BUILDER_TOP, "address", TDH_INTYPE_POINTER, 0);
    assert_int_equal(learn_event(s), ERROR_SUCCESS);
    put_u32(&s->payload, 37);
    put_u64(&s->payload, 0x1000);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start size=37 address=0x1000");
    assert_string_equal(line_of(s, 2, 0), "(none)");
}

static void a_modern_event_is_found_by_provider_and_id(void **state)
{
    struct state *s = *state;
    EVENT_RECORD record;

    s->builder.head.DecodingSource = DecodingSourceXMLFile;
    s->builder.head.EventDescriptor = (EVENT_DESCRIPTOR){.Id = 7, .Opcode = 0};
    add(s, ETWAS_BUILDER_TOP, "size", TDH_INTYPE_UINT32, 0);
    assert_int_equal(learn_event(s), ERROR_SUCCESS);
    put_u32(&s->payload, 37);
    record = event_of(s, 0, 0);
    record.EventHeader.Flags = EVENT_HEADER_FLAG_64_BIT_HEADER;
    record.EventHeader.EventDescriptor.Id = 7;
    /* The opcode Info is not shown. */
    assert_string_equal(shown(s->decoder, &record), "shop/Order size=37");
    record.EventHeader.EventDescriptor.Id = 8;
    assert_string_equal(shown(s->decoder, &record), "(none)");
}

static void pointers_are_as_wide_as_the_event_says(void **state)
{
    struct state *s = *state;
    EVENT_RECORD record;

    add(s, ETWAS_BUILDER_TOP, "address", TDH_INTYPE_POINTER, 0);
    add(s, ETWAS_BUILDER_TOP, "size", TDH_INTYPE_SIZET, 0);
    learn_event(s);
    put_u32(&s->payload, 0x1000);
    put_u32(&s->payload, 37);
    record = event_of(s, 1, 0);
    record.EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_32_BIT_HEADER;
    assert_string_equal(shown(s->decoder, &record), "shop/Order/Start address=0x1000 size=37");
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start address=0x2500001000 size=…0");
}

static void values_are_shown_by_their_names_whenever_the_map_comes(void **state)
{
    static const char *const names[] = {"tea ", "milk"};
    static const uint32_t values[] = {2, 1};
    static const char *const bits[] = {"Read", "Write", "None"};
    static const uint32_t masks[] = {1, 2, 0};
    struct state *s = *state;

    add_kind(s, "kind", TDH_INTYPE_UINT8);
    learn_event(s);
    put_u8(&s->payload, 2);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start kind=2");
    learn_map(s->decoder, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP, names, values, 2);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start kind=tea");
    s->payload.bytes[0] = 3;
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start kind=3");

    /* Another map of the name is that of all that name it from then on. */
    learn_map(s->decoder, EVENTMAP_INFO_FLAG_MANIFEST_BITMAP, bits, masks, 3);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start kind=Read|Write");
    add_kind(s, "access", TDH_INTYPE_UINT8);
    learn_event(s);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start access=Read|Write");
    s->payload.bytes[0] = 0x82;
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start access=Write|0x80");
    s->payload.bytes[0] = 0;
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start access=None");
}

static void maps_of_positions_and_of_numbers_as_text_are_understood(void **state)
{
    static const char *const names[] = {"zero", "one", "two"};
    static const uint32_t values[] = {0, 0, 0};
    struct state *s = *state;

    add_kind(s, "kind", TDH_INTYPE_UINT8);
    learn_event(s);
    put_u8(&s->payload, 2);
    learn_map(s->decoder, EVENTMAP_INFO_FLAG_WBEM_VALUEMAP | EVENTMAP_INFO_FLAG_WBEM_NO_MAP, names,
              values, 3);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start kind=two");
    learn_map(s->decoder, EVENTMAP_INFO_FLAG_WBEM_BITMAP | EVENTMAP_INFO_FLAG_WBEM_NO_MAP, names,
              values, 3);
    add_kind(s, "again", TDH_INTYPE_UINT8);
    learn_event(s);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start again=one");
}

static void learn_version(struct state *s, uint8_t version, int fields)
{
    static const char *const names[] = {"a", "b", "c"};

    s->builder.head.EventDescriptor.Version = version;
    for (int i = 0; i < fields; i++) {
        add(s, ETWAS_BUILDER_TOP, names[i], TDH_INTYPE_UINT8, 0);
    }
    learn_event(s);
}

static void another_version_is_taken_if_there_is_no_exact_one(void **state)
{
    struct state *s = *state;

    learn_version(s, 4, 3);
    learn_version(s, 1, 1);
    learn_version(s, 2, 2);
    put_u8(&s->payload, 5);
    put_u8(&s->payload, 6);
    assert_string_equal(line_of(s, 1, 1), "shop/Order/Start a=5 +1");
    assert_string_equal(line_of(s, 1, 2), "shop/Order/Start a=5 b=6");
    assert_string_equal(line_of(s, 1, 4), "shop/Order/Start a=5 b=6 c=…0");
    /* The highest below whose fields are all there; else the lowest. */
    assert_string_equal(line_of(s, 1, 3), "shop/Order/Start~ a=5 b=6");
    assert_string_equal(line_of(s, 1, 9), "shop/Order/Start~ a=5 b=6");
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start~ a=5 +1");
    s->payload.count = 0;
    assert_string_equal(line_of(s, 1, 9), "shop/Order/Start~ a=…0");
}

static bool count_schemas(const etwas_schema *schema, void *context)
{
    (*(uint32_t *)context)++;
    return schema->field_count < 3;
}

static void what_is_described_again_replaces_what_was(void **state)
{
    struct state *s = *state;
    const etwas_schema *first;
    const etwas_schema *second;
    EVENT_RECORD record = event_of(s, 1, 2);
    uint32_t count = 0;

    learn_version(s, 2, 1);
    etwas_decoder_schema(s->decoder, &record, &first);
    learn_version(s, 2, 1);
    etwas_decoder_schema(s->decoder, &record, &second);
    assert_ptr_equal(first, second);
    learn_version(s, 2, 2);
    etwas_decoder_schema(s->decoder, &record, &second);
    assert_int_equal(second->field_count, 2);
    assert_int_equal(first->field_count, 1); /* stays as it was */
    assert_string_equal(first->fields[0].name, "a");
    etwas_decoder_schemas(s->decoder, count_schemas, &count);
    assert_int_equal(count, 1);
    learn_version(s, 1, 3);
    count = 0;
    etwas_decoder_schemas(s->decoder, count_schemas, &count);
    assert_int_equal(count, 1); /* stopped by false */
}

static uint32_t learn_fields(struct state *s, const char *field)
{
    add(s, ETWAS_BUILDER_TOP, field, TDH_INTYPE_UINT8, 0);
    return learn_event(s);
}

/* The first pass over a file, and the second, which comes by the same descriptions again. */
static void a_description_counts_from_where_it_stands_the_first_for_what_is_before_it(void **state)
{
    static const char *const names[] = {"old", "new"};
    static const uint32_t value = 5;
    struct state *s = *state;

    put_u8(&s->payload, 5);
    learning = etwas_decoder_learn_ahead;
    assert_int_equal(learn_fields(s, "a"), ERROR_SUCCESS);
    assert_int_equal(learn_fields(s, "b"), ERROR_SUCCESS);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start a=5");
    learning = etwas_decoder_learn;
    assert_int_equal(learn_fields(s, "a"), ERROR_SUCCESS);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start a=5");
    assert_int_equal(learn_fields(s, "b"), ERROR_SUCCESS);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start b=5");
    /* Maps too, though the fields stay the same. */
    add_kind(s, "c", TDH_INTYPE_UINT8);
    learn_event(s);
    learning = etwas_decoder_learn_ahead;
    learn_map(s->decoder, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP, names, &value, 1);
    learn_map(s->decoder, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP, names + 1, &value, 1);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start c=old");
    learning = etwas_decoder_learn;
    learn_map(s->decoder, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP, names + 1, &value, 1);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start c=new");
}

static const char *provider_of(struct state *s, const EVENT_RECORD *record)
{
    static char name[40];
    size_t length = etwas_decoder_provider(s->decoder, record, name, sizeof name);

    assert_int_equal(length, strlen(name));
    return name;
}

/*
 * The name comes from what the file says of its other events, from the event's traits, or from what
 * is built in.
 */
static void an_event_without_a_schema_has_its_providers_name(void **state)
{
    static const char traits[] = "\x07\0Sho\xFFp"; /* no 0 ends it */
    struct state *s = *state;
    EVENT_HEADER_EXTENDED_DATA_ITEM item = {.ExtType = EVENT_HEADER_EXT_TYPE_PROV_TRAITS};
    EVENT_RECORD record = event_of(s, 9, 0);
    EVENT_RECORD process = event_of(s, 99, 0);

    assert_string_equal(provider_of(s, &record), "");
    learn_version(s, 0, 1);
    assert_string_equal(provider_of(s, &record), "shop");
    record.ExtendedData = &item;
    record.ExtendedDataCount = 1;
    item.DataPtr = (uint64_t)(uintptr_t)traits;
    item.DataSize = 6;
    assert_string_equal(provider_of(s, &record), "Sho\xEF\xBF\xBD");
    item.DataSize = 1;
    assert_string_equal(provider_of(s, &record), "shop");
    record.EventHeader.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE;
    assert_string_equal(provider_of(s, &record), "");
    process.EventHeader.ProviderId =
        (etwas_guid){0x3d6fa8d0, 0xfe05, 0x11d0, {0x9d, 0xda, 0, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};
    assert_string_equal(provider_of(s, &process), "MSNT_SystemTrace");
    process.EventHeader.ProviderId =
        (etwas_guid){0x22fb2cd6, 0xe7b, 0x422b, {0xa0, 0xc7, 0x2f, 0xad, 0x1f, 0xd0, 0xe7, 0x16}};
    assert_string_equal(provider_of(s, &process), "");
    process.EventHeader.Flags = 0;
    assert_string_equal(provider_of(s, &process), "Microsoft-Windows-Kernel-Process");
}

static void other_records_are_no_metadata(void **state)
{
    struct state *s = *state;
    EVENT_RECORD record = event_of(s, 32, 0);

    assert_int_equal(etwas_decoder_learn(s->decoder, &record), ERROR_NOT_FOUND);
    assert_int_equal(learn_record(s->decoder, 34, "", 0), ERROR_NOT_FOUND);
    assert_int_equal(etwas_decoder_open(NULL), ERROR_INVALID_PARAMETER);
    etwas_decoder_close(NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)
    const struct CMUnitTest tests[] = {
        TEST(a_classic_event_is_found_by_class_and_type),
        TEST(a_modern_event_is_found_by_provider_and_id),
        TEST(pointers_are_as_wide_as_the_event_says),
        TEST(values_are_shown_by_their_names_whenever_the_map_comes),
        TEST(maps_of_positions_and_of_numbers_as_text_are_understood),
        TEST(another_version_is_taken_if_there_is_no_exact_one),
        TEST(what_is_described_again_replaces_what_was),
        TEST(a_description_counts_from_where_it_stands_the_first_for_what_is_before_it),
        TEST(an_event_without_a_schema_has_its_providers_name),
        TEST(other_records_are_no_metadata),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
