/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Events that records beside them describe: classic and modern ones, maps, versions, hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blob.h"
#include "decode/build.h"
#include "etl/event_metadata.h"
#include "shown.h"

static const etwas_guid guid = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

/* What one test needs: a decoder, and an EventInfo in the making. */
struct state {
    etwas_decoder *decoder;
    struct etwas_build build;
    struct blob payload;
};

static uint32_t string(struct state *s, const char *text)
{
    return etwas_build_string(&s->build, text, strlen(text));
}

static void begin(struct state *s, const char *opcode)
{
    etwas_build_begin(&s->build);
    s->build.head.ProviderGuid = guid;
    s->build.head.EventGuid = guid;
    s->build.head.EventDescriptor.Opcode = 1;
    s->build.head.DecodingSource = DecodingSourceWbem;
    s->build.head.ProviderNameOffset = string(s, "shop");
    s->build.head.TaskNameOffset = string(s, "Order ");
    s->build.head.OpcodeNameOffset = string(s, opcode);
}

static uint16_t add(struct state *s, uint16_t parent, const char *name, uint16_t in_type,
                    uint16_t out_type)
{
    return etwas_build_property(&s->build, parent,
                                &(EVENT_PROPERTY_INFO){
                                    .NameOffset = string(s, name),
                                    .nonStructType = {.InType = in_type, .OutType = out_type},
                                    .count = 1,
                                });
}

/* A field whose values the map Kinds names. */
static void add_kind(struct state *s, const char *name, uint16_t in_type)
{
    uint16_t field = add(s, ETWAS_BUILD_TOP, name, in_type, 0);

    s->build.properties[field].info.nonStructType.MapNameOffset = string(s, "Kinds");
}

static int open_decoder(void **state)
{
    struct state *s = calloc(1, sizeof *s);

    assert_non_null(s);
    assert_int_equal(etwas_decoder_open(&s->decoder), ERROR_SUCCESS);
    begin(s, "Start");
    *state = s;
    return 0;
}

static int close_decoder(void **state)
{
    struct state *s = *state;
    TRACE_EVENT_INFO *info;
    size_t bytes;

    etwas_build_end(&s->build, &info, &bytes);
    free(info);
    etwas_decoder_close(s->decoder);
    free(s);
    return 0;
}

/* A record of metadata, of bytes that end where the allocation does. */
static uint32_t learn(etwas_decoder *decoder, uint8_t type, const void *bytes, size_t count)
{
    void *exact = malloc(count + (count == 0));
    EVENT_RECORD record = {
        .EventHeader = {.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER,
                        .ProviderId = etwas_etl_metadata_class,
                        .EventDescriptor = {.Opcode = type}},
        .UserData = exact,
        .UserDataLength = (uint16_t)count,
    };
    uint32_t error;

    assert_non_null(exact);
    if (count > 0) {
        memcpy(exact, bytes, count);
    }
    error = learning(decoder, &record);
    free(exact);
    return error;
}

/* Ends what is being built, and begins the next. */
static uint32_t learn_event(struct state *s)
{
    TRACE_EVENT_INFO *info;
    size_t bytes;
    uint32_t error;

    assert_int_equal(etwas_build_end(&s->build, &info, &bytes), ERROR_SUCCESS);
    error = learn(s->decoder, ETWAS_ETL_EVENT_INFO_TYPE, info, bytes);
    free(info);
    begin(s, "Start");
    return error;
}

static uint32_t learn_map(etwas_decoder *decoder, MAP_FLAGS flag, const char *const *names,
                          const uint32_t *values, size_t count)
{
    struct etwas_build build;
    struct etwas_build_entry entries[8];
    struct blob blob = {.count = 0};
    EVENT_MAP_INFO *map;
    size_t bytes;
    uint32_t name;

    etwas_build_begin(&build);
    name = etwas_build_string(&build, "Kinds", 5);
    for (size_t i = 0; i < count; i++) {
        entries[i] = (struct etwas_build_entry){
            values[i], etwas_build_string(&build, names[i], strlen(names[i]))};
    }
    assert_int_equal(etwas_build_map_end(&build, name, flag, entries, count, &map, &bytes),
                     ERROR_SUCCESS);
    put_bytes(&blob, &guid, sizeof guid);
    put_bytes(&blob, map, bytes);
    free(map);
    return learn(decoder, ETWAS_ETL_MAP_INFO_TYPE, blob.bytes, blob.count);
}

static EVENT_RECORD event_of(struct state *s, uint8_t type, uint8_t version)
{
    return (EVENT_RECORD){
        .EventHeader = {.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER,
                        .ProviderId = guid,
                        .EventDescriptor = {.Opcode = type, .Version = version}},
        .UserData = s->payload.bytes,
        .UserDataLength = (uint16_t)s->payload.count,
    };
}

static const char *line_of(struct state *s, uint8_t type, uint8_t version)
{
    EVENT_RECORD record = event_of(s, type, version);

    return shown(s->decoder, &record);
}

static void a_classic_event_is_found_by_class_and_type(void **state)
{
    struct state *s = *state;

    add(s, ETWAS_BUILD_TOP, "size", TDH_INTYPE_UINT32, 0);
    add(s, ETWAS_BUILD_TOP, "address", TDH_INTYPE_POINTER, 0);
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

    s->build.head.DecodingSource = DecodingSourceXMLFile;
    s->build.head.EventDescriptor = (EVENT_DESCRIPTOR){.Id = 7, .Opcode = 0};
    add(s, ETWAS_BUILD_TOP, "size", TDH_INTYPE_UINT32, 0);
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

    add(s, ETWAS_BUILD_TOP, "address", TDH_INTYPE_POINTER, 0);
    add(s, ETWAS_BUILD_TOP, "size", TDH_INTYPE_SIZET, 0);
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

    s->build.head.EventDescriptor.Version = version;
    for (int i = 0; i < fields; i++) {
        add(s, ETWAS_BUILD_TOP, names[i], TDH_INTYPE_UINT8, 0);
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
    add(s, ETWAS_BUILD_TOP, field, TDH_INTYPE_UINT8, 0);
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

/* Counts and lengths by other fields, in structs in arrays, with members in any order of building. */
static void counts_and_lengths_are_those_of_earlier_fields(void **state)
{
    struct state *s = *state;
    uint16_t count = add(s, ETWAS_BUILD_TOP, "count", TDH_INTYPE_UINT8, 0);
    uint16_t list = etwas_build_property(&s->build, ETWAS_BUILD_TOP,
                                         &(EVENT_PROPERTY_INFO){
                                             .NameOffset = string(s, "list"),
                                             .Flags = PropertyStruct | PropertyParamCount,
                                             .countPropertyIndex = count,
                                         });
    uint16_t length = add(s, list, "length", TDH_INTYPE_UINT16, 0);
    uint16_t last = add(s, ETWAS_BUILD_TOP, "last", TDH_INTYPE_UNICODESTRING, 0);
    uint16_t bytes = add(s, list, "bytes", TDH_INTYPE_BINARY, 0);
    uint16_t numbers = add(s, list, "numbers", TDH_INTYPE_UINT8, 0);

    s->build.properties[last].info.length = 3;
    s->build.properties[bytes].info.Flags = PropertyParamLength;
    s->build.properties[bytes].info.lengthPropertyIndex = length;
    s->build.properties[numbers].info.Flags = PropertyParamCount;
    s->build.properties[numbers].info.countPropertyIndex = count;
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

    add(s, ETWAS_BUILD_TOP, "counted", TDH_INTYPE_COUNTEDSTRING, 0);
    put_u16(&s->payload, 2);
    put_wide(&s->payload, "a", false);
    add(s, ETWAS_BUILD_TOP, "reversed", TDH_INTYPE_REVERSEDCOUNTEDANSISTRING, 0);
    put_bytes(&s->payload, "\0\2bc", 4);
    add(s, ETWAS_BUILD_TOP, "dump", TDH_INTYPE_HEXDUMP, 0);
    put_u32(&s->payload, 1);
    put_u8(&s->payload, 0x7F);
    add(s, ETWAS_BUILD_TOP, "nobody", TDH_INTYPE_WBEMSID, 0);
    put_u32(&s->payload, 0);
    add(s, ETWAS_BUILD_TOP, "user", TDH_INTYPE_WBEMSID, 0);
    put_u64(&s->payload, 1);
    put_u64(&s->payload, 0);
    put_bytes(&s->payload, "\1\1\0\0\0\0\0\5\x12\0\0\0", 12);
    add(s, ETWAS_BUILD_TOP, "letter", TDH_INTYPE_ANSICHAR, 0);
    put_u8(&s->payload, 'x');
    name = add(s, ETWAS_BUILD_TOP, "name", TDH_INTYPE_UNICODECHAR, 0);
    s->build.properties[name].info.count = 4;
    put_wide(&s->payload, "ab", true);
    put_wide(&s->payload, "c", false);
    add(s, ETWAS_BUILD_TOP, "rest", TDH_INTYPE_NONNULLTERMINATEDANSISTRING, 0);
    put_bytes(&s->payload, "end", 3);
    learn_event(s);
    assert_string_equal(line_of(s, 1, 0),
                        "shop/Order/Start counted=\"a\" reversed=\"bc\" dump=7F nobody= "
                        "user=S-1-5-18 letter=\"x\" name=\"ab\" rest=\"end\"");
}

static void an_array_may_go_to_the_end(void **state)
{
    struct state *s = *state;
    uint16_t stack = add(s, ETWAS_BUILD_TOP, "stack", TDH_INTYPE_POINTER, 0);

    s->build.properties[stack].info.Flags = PropertyParamFixedCount;
    s->build.properties[stack].info.count = 0;
    learn_event(s);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start stack=[]");
    put_u64(&s->payload, 1);
    put_u64(&s->payload, 2);
    put_u8(&s->payload, 3);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start stack=[0x1,0x2] +1");
}

static void a_string_at_the_end_may_lack_its_0(void **state)
{
    struct state *s = *state;

    add(s, ETWAS_BUILD_TOP, "text", TDH_INTYPE_UNICODESTRING, 0);
    learn_event(s);
    put_wide(&s->payload, "ab", false);
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start text=\"ab\"");
    put_u8(&s->payload, 'c');
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start text=\"ab\" +1");
    s->payload.count = 0;
    assert_string_equal(line_of(s, 1, 0), "shop/Order/Start text=…0");
}

/* What a field may not be counted by: itself is in the payload, all else must have been read. */
static void counts_that_are_not_read_before_make_no_sense(void **state)
{
    struct state *s = *state;

    for (int wrong = 0; wrong < 5; wrong++) {
        uint16_t first = add(s, ETWAS_BUILD_TOP, "first", TDH_INTYPE_UINT8, 0);
        uint16_t list = etwas_build_property(
            &s->build, ETWAS_BUILD_TOP,
            &(EVENT_PROPERTY_INFO){.Flags = PropertyStruct, .NameOffset = string(s, "list")});
        uint16_t member = add(s, list, "member", TDH_INTYPE_UINT8, 0);
        uint16_t data = add(s, ETWAS_BUILD_TOP, "data", TDH_INTYPE_UINT8, 0);
        uint16_t later = add(s, ETWAS_BUILD_TOP, "later", TDH_INTYPE_UINT8, 0);
        uint16_t text = add(s, ETWAS_BUILD_TOP, "text", TDH_INTYPE_ANSISTRING, 0);
        const uint16_t named[] = {first, later, member, list, text};

        s->build.properties[data].info.Flags = PropertyParamCount;
        s->build.properties[data].info.countPropertyIndex = named[wrong];
        assert_int_equal(learn_event(s), wrong == 0 ? ERROR_SUCCESS : ERROR_INVALID_DATA);
    }
}

/* Nothing of a description is read beyond its bytes, whatever they say. */
static void every_description_is_checked(void **state)
{
    static const uint8_t changes[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
    struct state *s = *state;
    uint16_t list =
        etwas_build_property(&s->build, ETWAS_BUILD_TOP,
                             &(EVENT_PROPERTY_INFO){.Flags = PropertyStruct | PropertyParamCount,
                                                    .NameOffset = string(s, "list")});
    uint16_t kind = add(s, list, "kind", TDH_INTYPE_UINT8, 0);
    TRACE_EVENT_INFO *info;
    size_t bytes;

    s->build.properties[kind].info.nonStructType.MapNameOffset = string(s, "Kinds");
    s->build.head.KeywordsNameOffset = string(s, "one");
    etwas_build_bytes(&s->build, "\0", 2);
    assert_int_equal(etwas_build_end(&s->build, &info, &bytes), ERROR_SUCCESS);
    begin(s, "Start");
    assert_int_equal(learn(s->decoder, ETWAS_ETL_EVENT_INFO_TYPE, info, bytes), ERROR_SUCCESS);
    put_bytes(&s->payload, "\3\0abcdefgh", 10);
    for (size_t count = 0; count < bytes; count++) {
        assert_int_equal(learn(s->decoder, ETWAS_ETL_EVENT_INFO_TYPE, info, count),
                         ERROR_INVALID_DATA);
    }
    for (size_t at = 0; at < bytes; at++) {
        uint8_t *byte = (uint8_t *)info + at;
        uint8_t was = *byte;

        for (size_t i = 0; i < sizeof changes; i++) {
            *byte = changes[i];
            learn(s->decoder, ETWAS_ETL_EVENT_INFO_TYPE, info, bytes);
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
    struct etwas_build build;
    struct blob blob = {.count = 0};
    EVENT_MAP_INFO *map;
    size_t bytes;
    uint32_t name;

    etwas_build_begin(&build);
    name = etwas_build_string(&build, "Kinds", 5);
    assert_int_equal(etwas_build_map_end(&build, name, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP,
                                         &(struct etwas_build_entry){.text = name}, 1, &map,
                                         &bytes),
                     ERROR_SUCCESS);
    put_bytes(&blob, &guid, sizeof guid);
    put_bytes(&blob, map, bytes);
    free(map);
    for (size_t count = 0; count < blob.count; count++) {
        assert_int_equal(learn(s->decoder, ETWAS_ETL_MAP_INFO_TYPE, blob.bytes, count),
                         ERROR_INVALID_DATA);
    }
    for (size_t at = sizeof guid; at < blob.count; at++) {
        uint8_t was = blob.bytes[at];

        for (size_t i = 0; i < sizeof changes; i++) {
            blob.bytes[at] = changes[i];
            learn(s->decoder, ETWAS_ETL_MAP_INFO_TYPE, blob.bytes, blob.count);
        }
        blob.bytes[at] = was;
    }
}

static const char *provider_of(struct state *s, const EVENT_RECORD *record)
{
    static char name[32];
    size_t length = etwas_decoder_provider(s->decoder, record, name, sizeof name);

    assert_int_equal(length, strlen(name));
    return name;
}

/* By what the file says of its other events, by the event's traits, or by what is built in. */
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
}

static void other_records_are_no_metadata(void **state)
{
    struct state *s = *state;
    EVENT_RECORD record = event_of(s, 32, 0);

    assert_int_equal(etwas_decoder_learn(s->decoder, &record), ERROR_NOT_FOUND);
    assert_int_equal(learn(s->decoder, 34, "", 0), ERROR_NOT_FOUND);
    assert_int_equal(etwas_decoder_open(NULL), ERROR_INVALID_PARAMETER);
    etwas_decoder_close(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_decoder, close_decoder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_classic_event_is_found_by_class_and_type),
        TEST(a_modern_event_is_found_by_provider_and_id),
        TEST(pointers_are_as_wide_as_the_event_says),
        TEST(values_are_shown_by_their_names_whenever_the_map_comes),
        TEST(maps_of_positions_and_of_numbers_as_text_are_understood),
        TEST(another_version_is_taken_if_there_is_no_exact_one),
        TEST(what_is_described_again_replaces_what_was),
        TEST(a_description_counts_from_where_it_stands_the_first_for_what_is_before_it),
        TEST(maps_of_one_name_are_bounded),
        TEST(counts_and_lengths_are_those_of_earlier_fields),
        TEST(types_of_classic_events_are_read),
        TEST(an_array_may_go_to_the_end),
        TEST(a_string_at_the_end_may_lack_its_0),
        TEST(counts_that_are_not_read_before_make_no_sense),
        TEST(every_description_is_checked),
        TEST(every_map_is_checked),
        TEST(an_event_without_a_schema_has_its_providers_name),
        TEST(other_records_are_no_metadata),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
