/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_describe_class and etwas_describe_message: the records that come of a description, byte by
 * byte, and what is refused.
 */
#include <etwas/evntprov.h>
#include <etwas/tdh.h>
#include <pthread.h>
#include <string.h>

#include "platform/thread.h"
#include "provider/description.h"
#include "session/fixture.h"

enum {
    ROOM = 65536,
    HEADER = sizeof(struct etwas_etl_full_header),
};

static const etwas_guid class_guid = {
    0x11223344, 0x5566, 0x7788, {0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x01}};

#define GUID_BYTES                                                                                 \
    0x44, 0x33, 0x22, 0x11, 0x66, 0x55, 0x88, 0x77, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x01

static const etwas_map_entry states[] = {{.name = "on", .value = 7}};
static const etwas_map_description maps[] = {{.name = "M", .entries = states, .entry_count = 1}};
static const etwas_field_description fields[] = {
    {.name = "n", .in_type = TDH_INTYPE_UINT16},
    {.name = "v",
     .in_type = TDH_INTYPE_UINT32,
     .out_type = TDH_OUTTYPE_HEXINT32,
     .count = ETWAS_BY_FIELD_BEFORE,
     .map = "M"},
};
static const etwas_type_description types[] = {
    {.name = "T", .type = 5, .level = 4, .fields = fields, .field_count = 2}};
static const etwas_class_description whole = {.guid = &class_guid,
                                              .provider_name = "p",
                                              .name = "C",
                                              .types = types,
                                              .maps = maps,
                                              .type_count = 1,
                                              .map_count = 1,
                                              .version = 2};

static _Alignas(8) uint8_t data[ROOM];

/* What is described from the cursor on, in one piece. */
static uint32_t read_on(struct etwas_description_cursor *cursor)
{
    return etwas_descriptions_read(cursor, data, ROOM, 0x0123456789abcdef);
}

static void expect_header(uint32_t at, uint16_t size, uint8_t type, uint16_t version,
                          uint32_t data1)
{
    struct etwas_etl_full_header header;

    memcpy(&header, data + at, sizeof header);
    assert_int_equal(header.size, size);
    assert_int_equal(header.header_type, 0x14);
    assert_int_equal(header.marker_flags, 0xC0);
    assert_int_equal(header.type, type);
    assert_int_equal(header.level, 0);
    assert_int_equal(header.version, version);
    assert_int_equal(header.thread_id, etwas_thread_ids().thread_id);
    assert_int_equal(header.process_id, etwas_thread_ids().process_id);
    assert_int_equal(header.time_stamp, 0x0123456789abcdef);
    assert_int_equal(header.guid.Data1, data1);
    assert_int_equal(header.kernel_time | header.user_time, 0);
}

/* ---- records --------------------------------------------------------------------------------- */

static const uint8_t map_info[] = {
    GUID_BYTES,                                        /* of the class */
    32,         0, 0, 0, 1,   0, 0,   0, 1,   0, 0, 0, /* name at, value map, one entry */
    0,          0, 0, 0, 36,  0, 0,   0, 7,   0, 0, 0, /* numbers; "on " at, 7 */
    0,          0, 0, 0, 0,   0, 0,   0,               /* an empty entry */
    'M',        0, 0, 0, 'o', 0, 'n', 0, ' ', 0, 0, 0, /* with a blank behind the text */
};

static const uint8_t event_info[] = {
    GUID_BYTES, GUID_BYTES, /* ProviderGuid, EventGuid */
    0,          0,          2, 0, 4,   5, 0, 0, 0,   0, 0,  0,
    0,          0,          0, 0, /* Id, Version, Channel, Level, Opcode … */
    1,          0,          0, 0, 160, 0, 0, 0, 0,   0, 0,  0,
    0,          0,          0, 0, /* Wbem, provider; level, channel */
    0,          0,          0, 0, 164, 0, 0, 0, 168, 0, 0,  0,
    0,          0,          0, 0, /* keywords, task, opcode, message */
    0,          0,          0, 0, 0,   0, 0, 0, 0,   0, 0,  0,
    0,          0,          0, 0, /* provider message, XML, event name */
    0,          0,          0, 0, 2,   0, 0, 0, 2,   0, 0,  0,
    0,          0,          0, 0, /* attributes, counts, flags */
    0,          0,          0, 0, 172, 0, 0, 0, 6,   0, 6,  0,
    0,          0,          0, 0,               /* n: UINT16, shown as such, no map, */
    1,          0,          2, 0, 0,   0, 0, 0, /* one, of 2 bytes */
    4,          0,          0, 0, 176, 0, 0, 0, 8,   0, 18, 0,
    180,        0,          0, 0,               /* v: counted, UINT32, hexadecimal, map */
    0,          0,          4, 0, 0,   0, 0, 0, /* by field 0, of 4 bytes */
    'p',        0,          0, 0, 'C', 0, 0, 0, 'T', 0, 0,  0, /* */
    'n',        0,          0, 0, 'v', 0, 0, 0, 'M', 0, 0,  0,
};

static void a_class_becomes_a_record_for_each_map_and_type(void **state)
{
    struct etwas_description_cursor cursor = {0};
    const char *fault = "";

    (void)state;
    etwas_descriptions_skip(&cursor);
    assert_false(etwas_descriptions_have_more(&cursor));
    assert_int_equal(etwas_describe_class(&whole, &fault), ERROR_SUCCESS);
    assert_null(fault);
    assert_true(etwas_descriptions_have_more(&cursor));
    assert_int_equal(read_on(&cursor), 112 + 232);
    expect_header(0, HEADER + sizeof map_info, 33, 0, 0xbbccf6c1);
    assert_memory_equal(data + HEADER, map_info, sizeof map_info);
    assert_int_equal(data[HEADER + sizeof map_info] | data[111], 0);
    expect_header(112, HEADER + sizeof event_info, 32, 0, 0xbbccf6c1);
    assert_memory_equal(data + 112 + HEADER, event_info, sizeof event_info);
    assert_false(etwas_descriptions_have_more(&cursor));
    assert_int_equal(read_on(&cursor), 0);
}

static void a_message_becomes_a_record_with_its_format(void **state)
{
    static const uint8_t expected[] = {1,    0,   0,   0,          0x34,
                                       0x12, 0,   0,   GUID_BYTES, /* version, number */
                                       'a',  ' ', '%', 'u',        0};
    struct etwas_description_cursor cursor = {0};

    (void)state;
    etwas_descriptions_skip(&cursor);
    assert_int_equal(etwas_describe_message(&class_guid, 0x1234, "a %u"), ERROR_SUCCESS);
    assert_int_equal(read_on(&cursor), 80);
    expect_header(0, HEADER + sizeof expected, 4, 1, 0x7be5a508);
    assert_memory_equal(data + HEADER, expected, sizeof expected);
}

/* A type's name is the event's where the class has none; the other way round there is no opcode. */
static void an_event_is_called_by_what_has_a_name(void **state)
{
    static const etwas_type_description named[] = {{.name = "malloc", .type = 10}};
    static const etwas_type_description nameless[] = {{.type = 10}};
    etwas_class_description description = {.guid = &(etwas_guid){.Data1 = 5},
                                           .provider_name = "heap",
                                           .types = named,
                                           .type_count = 1};
    struct etwas_description_cursor cursor = {0};
    TRACE_EVENT_INFO info;

    (void)state;
    etwas_descriptions_skip(&cursor);
    assert_int_equal(etwas_describe_class(&description, NULL), ERROR_SUCCESS);
    description.version = 1;
    description.name = "Heap";
    description.types = nameless;
    assert_int_equal(etwas_describe_class(&description, NULL), ERROR_SUCCESS);
    assert_int_not_equal(read_on(&cursor), 0);
    memcpy(&info, data + HEADER, sizeof info);
    assert_int_equal(info.OpcodeNameOffset, 0);
    assert_memory_equal(data + HEADER + info.TaskNameOffset, u"malloc", sizeof u"malloc");
    /* Without fields there is room for one all the same. */
    assert_int_equal(info.ProviderNameOffset, sizeof info);
    memcpy(&info, data + 208 + HEADER, sizeof info);
    assert_int_equal(info.OpcodeNameOffset, 0);
    assert_memory_equal(data + 208 + HEADER + info.TaskNameOffset, u"Heap", sizeof u"Heap");
}

static void fields_have_the_sizes_of_their_types(void **state)
{
    static const etwas_field_description list[] = {
        {.name = "a", .in_type = TDH_INTYPE_POINTER, .count = 3},
        {.name = "b", .in_type = TDH_INTYPE_ANSISTRING},
        {.name = "c", .in_type = TDH_INTYPE_UNICODESTRING, .length = 12},
        {.name = "d", .in_type = TDH_INTYPE_UINT8},
        {.name = "e", .in_type = TDH_INTYPE_BINARY, .length = ETWAS_BY_FIELD_BEFORE},
        {.name = "f", .in_type = TDH_INTYPE_SIZET},
        {.name = "g", .in_type = TDH_INTYPE_NONNULLTERMINATEDANSISTRING},
    };
    static const struct {
        uint32_t flags;
        uint16_t count, length, out_type;
    } expected[] = {{0x20, 3, 8, 19}, {0, 1, 0, 1}, {0x10, 1, 12, 1}, {0, 1, 1, 4},
                    {2, 1, 3, 15},    {0, 1, 8, 0}, {0, 1, 0, 1}};
    static const etwas_type_description type = {
        .name = "T", .type = 1, .fields = list, .field_count = 7};
    const etwas_class_description description = {
        .guid = &(etwas_guid){.Data1 = 6}, .provider_name = "p", .types = &type, .type_count = 1};
    struct etwas_description_cursor cursor = {0};

    (void)state;
    etwas_descriptions_skip(&cursor);
    assert_int_equal(etwas_describe_class(&description, NULL), ERROR_SUCCESS);
    assert_int_not_equal(read_on(&cursor), 0);
    for (size_t index = 0; index < 7; index++) {
        EVENT_PROPERTY_INFO property;

        memcpy(&property, data + HEADER + 112 + index * sizeof property, sizeof property);
        assert_int_equal(property.Flags, expected[index].flags);
        assert_int_equal(property.nonStructType.InType, list[index].in_type);
        assert_int_equal(property.nonStructType.OutType, expected[index].out_type);
        assert_int_equal(property.count, expected[index].count);
        assert_int_equal(property.length, expected[index].length);
    }
}

/* ---- again ----------------------------------------------------------------------------------- */

static void what_is_described_again_as_it_is_changes_nothing(void **state)
{
    struct etwas_description_cursor cursor = {0};
    struct etwas_description_cursor all = {0};
    etwas_class_description description = whole;
    uint32_t already;

    (void)state;
    assert_int_equal(etwas_describe_class(&whole, NULL), ERROR_SUCCESS);
    already = read_on(&all) - 112 - 232;
    all = (struct etwas_description_cursor){0};
    assert_int_equal(etwas_describe_message(&class_guid, 1, "x"), ERROR_SUCCESS);
    etwas_descriptions_skip(&cursor);
    assert_int_equal(etwas_describe_class(&whole, NULL), ERROR_SUCCESS);
    assert_int_equal(etwas_describe_message(&class_guid, 1, "x"), ERROR_SUCCESS);
    assert_false(etwas_descriptions_have_more(&cursor));
    /* Otherwise, it is described anew: so is what it was. */
    description.provider_name = "q";
    assert_int_equal(etwas_describe_class(&description, NULL), ERROR_SUCCESS);
    assert_int_equal(etwas_describe_message(&class_guid, 1, "y"), ERROR_SUCCESS);
    assert_int_equal(read_on(&cursor), 112 + 232 + 80);
    assert_int_equal(etwas_describe_class(&whole, NULL), ERROR_SUCCESS);
    assert_int_equal(read_on(&cursor), 112 + 232);
    /* A reader that begins now has the last one alone. */
    assert_int_equal(read_on(&all), 112 + 232 + 80 + already);
    /* Another version, or number, is another. */
    description.version++;
    assert_int_equal(etwas_describe_class(&description, NULL), ERROR_SUCCESS);
    assert_int_equal(etwas_describe_message(&class_guid, 2, "y"), ERROR_SUCCESS);
    assert_int_equal(read_on(&cursor), 112 + 232 + 80);
}

/* The caller's tables may go when the call returns. */
/*
 * As many as a generated schema may have; each is found by what it is of, however many there are.
 */
static void each_of_many_classes_is_there_once_in_its_newest_form(void **state)
{
    enum {
        CLASSES = 50000,
        ROUNDS =
            3, /* all are described, then the same again, then the odd ones with another text */
    };
    etwas_guid guid = {0, 0x4D61, 0x6E79, {0}};
    etwas_class_description description = whole;
    struct etwas_description_cursor cursor = {0};
    const uint32_t before = etwas_descriptions_count();
    const struct etwas_description *found;
    uint32_t there = 0;

    (void)state;
    etwas_descriptions_skip(&cursor);
    description.guid = &guid;
    for (int round = 0; round < ROUNDS; round++) {
        for (guid.Data1 = 0; guid.Data1 < CLASSES; guid.Data1++) {
            description.provider_name = round == 2 && guid.Data1 % 2 != 0 ? "q" : "p";
            assert_int_equal(etwas_describe_class(&description, NULL), ERROR_SUCCESS);
        }
    }
    assert_int_equal(etwas_descriptions_count() - before, CLASSES + CLASSES / 2);
    while ((found = etwas_descriptions_next(&cursor)) != NULL) {
        const uint32_t expected = there < CLASSES / 2 ? 2 * there : 2 * (there - CLASSES / 2) + 1;

        assert_int_equal(found->subject.guid.Data1, expected);
        there++;
    }
    assert_int_equal(there, CLASSES);
}

static void descriptions_are_copied(void **state)
{
    char name[] = "before";
    const etwas_type_description type = {.name = name, .type = 1};
    const etwas_class_description description = {.guid = &(etwas_guid){.Data1 = 7},
                                                 .provider_name = name,
                                                 .name = name,
                                                 .types = &type,
                                                 .type_count = 1};
    struct etwas_description_cursor cursor = {0};

    (void)state;
    etwas_descriptions_skip(&cursor);
    assert_int_equal(etwas_describe_class(&description, NULL), ERROR_SUCCESS);
    strcpy(name, "behind");
    assert_int_not_equal(read_on(&cursor), 0);
    assert_memory_equal(data + HEADER + 136, u"before", sizeof u"before");
}

/* ---- a buffer at a time ---------------------------------------------------------------------- */

static void records_are_not_divided_and_what_never_fits_is_left_out(void **state)
{
    struct etwas_description_cursor cursor = {0};
    struct etwas_description_cursor again;

    (void)state;
    etwas_descriptions_skip(&cursor);
    again = cursor;
    for (uint16_t number = 0; number < 10; number++) {
        assert_int_equal(
            etwas_describe_message(&class_guid, (uint16_t)(100 + number),
                                   number == 4 ? "a longer text, of 24 more" : "short!!"),
            ERROR_SUCCESS);
    }
    /* Nine of 80 bytes, and one of 104. */
    assert_int_equal(etwas_descriptions_read(&cursor, data, 239, 0), 160);
    assert_int_equal(etwas_descriptions_read(&cursor, data, 239, 0), 160);
    assert_int_equal(etwas_descriptions_read(&cursor, data, 1000, 0), 104 + 400);
    assert_int_equal(etwas_descriptions_read(&cursor, data, 1000, 0), 0);
    for (int record = 0; record < 9; record++) {
        assert_int_equal(etwas_descriptions_read(&again, data, 103, 0), 80);
    }
    assert_int_equal(etwas_descriptions_read(&again, data, 103, 0), 0);
}

static void *describe_many(void *context)
{
    const etwas_guid guid = {.Data1 = (uint32_t)(uintptr_t)context};

    for (uint16_t number = 0; number < 500; number++) {
        assert_int_equal(etwas_describe_message(&guid, number, "%d"), ERROR_SUCCESS);
    }
    return NULL;
}

/* Readers are in the midst of the list meanwhile. */
static void several_threads_may_describe_at_once(void **state)
{
    enum {
        THREADS = 4
    };
    struct etwas_description_cursor cursor = {0};
    pthread_t threads[THREADS];
    uint32_t bytes = 0;

    (void)state;
    etwas_descriptions_skip(&cursor);
    for (uintptr_t thread = 0; thread < THREADS; thread++) {
        assert_int_equal(
            pthread_create(&threads[thread], NULL, describe_many, (void *)(100 + thread)), 0);
    }
    while (bytes < THREADS * 500 * 80) {
        bytes += read_on(&cursor);
    }
    for (int thread = 0; thread < THREADS; thread++) {
        assert_int_equal(pthread_join(threads[thread], NULL), 0);
    }
    assert_false(etwas_descriptions_have_more(&cursor));
}

/* ---- refused --------------------------------------------------------------------------------- */

static void refuse(const etwas_class_description *description, uint32_t code, const char *word)
{
    struct etwas_description_cursor cursor = {0};
    const char *fault = NULL;

    etwas_descriptions_skip(&cursor);
    assert_int_equal(etwas_describe_class(description, &fault), code);
    assert_int_equal(etwas_describe_class(description, NULL), code);
    assert_non_null(fault);
    if (strstr(fault, word) == NULL) {
        fail_msg("\"%s\" says nothing of \"%s\"", fault, word);
    }
    assert_false(etwas_descriptions_have_more(&cursor));
}

static void a_class_that_makes_no_sense_is_refused_with_a_sentence(void **state)
{
    static const etwas_type_description twice[] = {{.name = "a", .type = 1},
                                                   {.name = "b", .type = 1}};
    static const etwas_type_description unnamed = {.type = 1};
    static const etwas_type_description unreadable = {.name = "\xff", .type = 1};
    static const etwas_type_description no_fields = {.name = "a", .field_count = 1};
    static const etwas_map_entry empty = {.name = ""};
    static const etwas_map_description bad_maps[] = {
        {.name = NULL, .entries = states, .entry_count = 1},
        {.name = "M", .entry_count = 1},
        {.name = "M", .entries = &empty, .entry_count = 1},
    };
    static const etwas_map_description same[] = {
        {.name = "M", .entries = states, .entry_count = 1},
        {.name = "M", .entries = states, .entry_count = 1}};

    (void)state;
#define REFUSE(word, ...)                                                                          \
    do {                                                                                           \
        etwas_class_description description = whole;                                               \
        __VA_ARGS__;                                                                               \
        refuse(&description, ERROR_INVALID_PARAMETER, word);                                       \
    } while (0)
    REFUSE("GUID", description.guid = NULL);
    REFUSE("provider", description.provider_name = NULL);
    REFUSE("provider", description.provider_name = "");
    REFUSE("provider", description.provider_name = "\xc0\x80");
    REFUSE("name of the class", description.name = "\x80");
    REFUSE("255", description.version = 256);
    REFUSE("no types", description.type_count = 0);
    REFUSE("no types", description.types = NULL);
    REFUSE("same number", description.types = twice; description.type_count = 2);
    REFUSE("neither", description.types = &unnamed; description.name = NULL);
    REFUSE("name of a type", description.types = &unreadable);
    REFUSE("no fields", description.types = &no_fields);
    REFUSE("no maps", description.maps = NULL);
    REFUSE("a map has no name", description.maps = &bad_maps[0]);
    REFUSE("no entries", description.maps = &bad_maps[1]);
    REFUSE("entry", description.maps = &bad_maps[2]);
    REFUSE("same name", description.maps = same; description.map_count = 2);
#undef REFUSE
    assert_int_equal(etwas_describe_class(NULL, NULL), ERROR_INVALID_PARAMETER);
}

static void a_field_that_makes_no_sense_is_refused_with_a_sentence(void **state)
{
    static const struct {
        const char *word;
        etwas_field_description before, field, behind;
    } rows[] = {
        {"no name", {0}, {.name = "", .in_type = TDH_INTYPE_INT8}, {0}},
        {"no name", {0}, {.name = NULL, .in_type = TDH_INTYPE_INT8}, {0}},
        {"in type", {0}, {.name = "f"}, {0}},
        {"in type", {0}, {.name = "f", .in_type = TDH_INTYPE_RESERVED24}, {0}},
        {"in type", {0}, {.name = "f", .in_type = 26}, {0}},
        {"in type", {0}, {.name = "f", .in_type = 299}, {0}},
        {"in type", {0}, {.name = "f", .in_type = 311}, {0}},
        {"out type", {0}, {.name = "f", .in_type = 8, .out_type = 39}, {0}},
        {"out type", {0}, {.name = "f", .in_type = 8, .out_type = 302}, {0}},
        {"does not have", {0}, {.name = "f", .in_type = 8, .map = "N"}, {0}},
        {"integers", {0}, {.name = "f", .in_type = TDH_INTYPE_UINT64, .map = "M"}, {0}},
        {"integers", {0}, {.name = "f", .in_type = TDH_INTYPE_ANSISTRING, .map = "M"}, {0}},
        {"length", {0}, {.name = "f", .in_type = TDH_INTYPE_UINT32, .length = 4}, {0}},
        {"no length", {0}, {.name = "f", .in_type = TDH_INTYPE_BINARY}, {0}},
        {"before", {0}, {.name = "f", .in_type = 8, .count = ETWAS_BY_FIELD_BEFORE}, {0}},
        {"before",
         {.name = "n", .in_type = TDH_INTYPE_INT32},
         {.name = "f", .in_type = 8, .count = ETWAS_BY_FIELD_BEFORE},
         {0}},
        {"before",
         {.name = "n", .in_type = TDH_INTYPE_UINT32, .count = 2},
         {.name = "f", .in_type = TDH_INTYPE_BINARY, .length = ETWAS_BY_FIELD_BEFORE},
         {0}},
        {"of the next",
         {.name = "n", .in_type = TDH_INTYPE_UINT32},
         {.name = "f",
          .in_type = TDH_INTYPE_ANSISTRING,
          .count = ETWAS_BY_FIELD_BEFORE,
          .length = ETWAS_BY_FIELD_BEFORE},
         {0}},
        {"last",
         {0},
         {.name = "f", .in_type = TDH_INTYPE_NONNULLTERMINATEDSTRING},
         {.name = "g", .in_type = TDH_INTYPE_UINT8}},
        {"last",
         {0},
         {.name = "f", .in_type = TDH_INTYPE_NONNULLTERMINATEDSTRING, .count = 2},
         {0}},
    };

    (void)state;
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        etwas_field_description list[3];
        etwas_type_description type = {.name = "T", .type = 1, .fields = list};
        etwas_class_description description = whole;

        if (rows[row].before.name != NULL) {
            list[type.field_count++] = rows[row].before;
        }
        list[type.field_count++] = rows[row].field;
        if (rows[row].behind.name != NULL) {
            list[type.field_count++] = rows[row].behind;
        }
        description.types = &type;
        refuse(&description, ERROR_INVALID_PARAMETER, rows[row].word);
    }
}

/* What would be longer than a record is refused, all of the class. */
static void what_takes_more_than_a_record_is_refused(void **state)
{
    enum {
        MANY = 2800
    };
    static etwas_field_description list[MANY];
    static etwas_map_entry entries[8 * MANY];
    static char text[65001 + 1];
    etwas_type_description both[] = {types[0], {.name = "U", .type = 6, .fields = list}};
    etwas_map_description map = {.name = "M", .entries = entries};
    etwas_class_description description = whole;

    (void)state;
    for (uint32_t index = 0; index < 8 * MANY; index++) {
        entries[index] = (etwas_map_entry){.name = "x", .value = index};
        list[index % MANY] = (etwas_field_description){.name = "x", .in_type = TDH_INTYPE_UINT8};
    }
    description.types = both;
    description.type_count = 2;
    both[1].field_count = MANY;
    refuse(&description, ERROR_MORE_DATA, "record");
    both[1].field_count = 2300;
    assert_int_equal(etwas_describe_class(&description, NULL), ERROR_SUCCESS);
    description = whole;
    description.maps = &map;
    map.entry_count = 8 * MANY;
    refuse(&description, ERROR_MORE_DATA, "record");
    memset(text, 'x', sizeof text - 1);
    assert_int_equal(etwas_describe_message(&class_guid, 3, text), ERROR_MORE_DATA);
    text[65000] = '\0';
    assert_int_equal(etwas_describe_message(&class_guid, 3, text), ERROR_SUCCESS);
}

static void formats_have_conversions_for_arguments_of_messages(void **state)
{
    static const char *const good[] = {
        "",      "plain",   "100 %%", "%d%i%u%o%x%X", "%hhd %hi %lu %llx %jd %zu %td",
        "%+5d",  "%-08.3f", "%#x",    "%.2e %G %a",   "%s %ls %20s %.5s",
        "%c %p",
    };
    static const char *const bad[] = {"%",   "%n", "%*d",   "%.*s", "%hs", "%lc",
                                      "%Lf", "%y", "%lld%", "%l",   "%q",  "\xff"};

    (void)state;
    for (size_t index = 0; index < sizeof good / sizeof good[0]; index++) {
        assert_int_equal(etwas_describe_message(&class_guid, 9, good[index]), ERROR_SUCCESS);
    }
    for (size_t index = 0; index < sizeof bad / sizeof bad[0]; index++) {
        assert_int_equal(etwas_describe_message(&class_guid, 9, bad[index]),
                         ERROR_INVALID_PARAMETER);
    }
    assert_int_equal(etwas_describe_message(NULL, 9, "x"), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_describe_message(&class_guid, 9, NULL), ERROR_INVALID_PARAMETER);
}

/* A caller that knows more is served as long as it asks for nothing more. */
static void a_larger_struct_is_taken_while_the_rest_of_it_is_0(void **state)
{
    struct {
        etwas_class_description known;
        uint64_t more;
    } larger = {.known = whole};

    (void)state;
    assert_int_equal(etwas_describe_class_sized(&larger.known, sizeof larger, NULL), ERROR_SUCCESS);
    larger.more = 1;
    assert_int_equal(etwas_describe_class_sized(&larger.known, sizeof larger, NULL),
                     ERROR_NOT_SUPPORTED);
}

/* ---- the provider's name --------------------------------------------------------------------- */

static uint32_t ignore_control(WMIDPREQUESTCODE code, void *context, uint32_t *size, void *buffer)
{
    (void)code;
    (void)context;
    (void)size;
    (void)buffer;
    return ERROR_SUCCESS;
}

static TRACEHANDLE register_classic(uint32_t control, uint32_t class)
{
    const etwas_guid control_guid = {.Data1 = control};
    const etwas_guid guid = {.Data1 = class};
    TRACE_GUID_REGISTRATION classes[] = {{&(etwas_guid){.Data1 = class + 1}, NULL}, {&guid, NULL}};
    TRACEHANDLE registration;

    assert_int_equal(RegisterTraceGuids(ignore_control, NULL, &control_guid, 2, classes, NULL, NULL,
                                        &registration),
                     ERROR_SUCCESS);
    return registration;
}

static void describe_as(uint32_t class, const char *provider_name)
{
    etwas_class_description description = whole;

    description.guid = &(etwas_guid){.Data1 = class};
    description.provider_name = provider_name;
    assert_int_equal(etwas_describe_class(&description, NULL), ERROR_SUCCESS);
}

/* NULL: none. */
static void expect_name(uint32_t control, const char *expected)
{
    const etwas_guid guid = {.Data1 = control};
    etwas_guid found;
    uint32_t count;
    char name[64];

    assert_int_equal(etwas_provider_name(&guid, name, sizeof name),
                     expected != NULL ? ERROR_SUCCESS : ERROR_NOT_FOUND);
    if (expected != NULL) {
        assert_string_equal(name, expected);
        assert_int_equal(etwas_provider_guids(expected, &found, 1, &count), ERROR_SUCCESS);
        assert_memory_equal(&found, &guid, sizeof guid);
    }
}

static void a_classic_provider_is_called_as_its_class_was_described_before_or_after(void **state)
{
    TRACEHANDLE before = register_classic(0x100, 0x110);
    TRACEHANDLE after;
    TRACEHANDLE control;

    (void)state;
    expect_name(0x100, NULL);
    describe_as(0x110, "before");
    expect_name(0x100, "before");
    describe_as(0x110, "replaced");
    expect_name(0x100, "replaced");
    describe_as(0x210, "after");
    after = register_classic(0x200, 0x210);
    expect_name(0x200, "after");
    describe_as(0x300, "control");
    control = register_classic(0x300, 0x310);
    expect_name(0x300, "control");
    assert_int_equal(UnregisterTraceGuids(before), ERROR_SUCCESS);
    assert_int_equal(UnregisterTraceGuids(after), ERROR_SUCCESS);
    assert_int_equal(UnregisterTraceGuids(control), ERROR_SUCCESS);
    describe_as(0x210, "nobody's");
    expect_name(0x100, NULL);
}

/* What a provider says of itself comes first. */
static void a_description_replaces_no_name_that_a_provider_gives_itself(void **state)
{
    static const char traits[] = "\x07\0"
                                 "self";
    const etwas_guid guid = {.Data1 = 0x400};
    REGHANDLE modern;
    TRACEHANDLE classic = register_classic(0x400, 0x410);

    (void)state;
    describe_as(0x410, "described");
    expect_name(0x400, "described");
    assert_int_equal(EventRegister(&guid, NULL, NULL, &modern), ERROR_SUCCESS);
    assert_int_equal(EventSetInformation(modern, EventProviderSetTraits, (void *)(uintptr_t)traits,
                                         sizeof traits),
                     ERROR_SUCCESS);
    expect_name(0x400, "self");
    describe_as(0x410, "again");
    expect_name(0x400, "self");
    assert_int_equal(EventUnregister(modern), ERROR_SUCCESS);
    assert_int_equal(UnregisterTraceGuids(classic), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_becomes_a_record_for_each_map_and_type),
        cmocka_unit_test(a_message_becomes_a_record_with_its_format),
        cmocka_unit_test(an_event_is_called_by_what_has_a_name),
        cmocka_unit_test(fields_have_the_sizes_of_their_types),
        cmocka_unit_test(what_is_described_again_as_it_is_changes_nothing),
        cmocka_unit_test(each_of_many_classes_is_there_once_in_its_newest_form),
        cmocka_unit_test(descriptions_are_copied),
        cmocka_unit_test(records_are_not_divided_and_what_never_fits_is_left_out),
        cmocka_unit_test(several_threads_may_describe_at_once),
        cmocka_unit_test(a_class_that_makes_no_sense_is_refused_with_a_sentence),
        cmocka_unit_test(a_field_that_makes_no_sense_is_refused_with_a_sentence),
        cmocka_unit_test(what_takes_more_than_a_record_is_refused),
        cmocka_unit_test(formats_have_conversions_for_arguments_of_messages),
        cmocka_unit_test(a_larger_struct_is_taken_while_the_rest_of_it_is_0),
        cmocka_unit_test(a_classic_provider_is_called_as_its_class_was_described_before_or_after),
        cmocka_unit_test(a_description_replaces_no_name_that_a_provider_gives_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
