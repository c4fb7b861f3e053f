/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Records that lie: whatever sizes, counts and descriptions are in them, a payload filter reads
 * nothing beyond their end, which is where memory ends here, and says that they are unfit.
 */
#include <etwas/evntcons.h>
#include <etwas/tdh.h>
#include <etwas/winerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "etl/layout.h"
#include "provider/payload_filter.h"
#include "support/start.h"

enum {
    ROOM = 4096,
    ROUNDS = 200000,
};

static const etwas_guid guid = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

/* A field of each way to be long, and at the end what is asked for. */
static const etwas_field_description told_fields[] = {
    {.name = "count", .in_type = TDH_INTYPE_UINT8},
    {.name = "parts", .in_type = TDH_INTYPE_UINT16, .count = ETWAS_BY_FIELD_BEFORE},
    {.name = "names", .in_type = TDH_INTYPE_ANSISTRING, .count = 2},
    {.name = "wide", .in_type = TDH_INTYPE_UNICODESTRING},
    {.name = "counted", .in_type = TDH_INTYPE_COUNTEDSTRING},
    {.name = "reversed", .in_type = TDH_INTYPE_REVERSEDCOUNTEDANSISTRING},
    {.name = "sid", .in_type = TDH_INTYPE_SID},
    {.name = "wbem", .in_type = TDH_INTYPE_WBEMSID},
    {.name = "length", .in_type = TDH_INTYPE_UINT32},
    {.name = "bytes", .in_type = TDH_INTYPE_BINARY, .length = ETWAS_BY_FIELD_BEFORE},
    {.name = "dump", .in_type = TDH_INTYPE_HEXDUMP},
    {.name = "code", .in_type = TDH_INTYPE_INT64},
    {.name = "rest", .in_type = TDH_INTYPE_NONNULLTERMINATEDANSISTRING},
};

static const etwas_payload_predicate predicates[] = {
    {"code", "-7", PAYLOADFIELD_EQ, 0},
    {"rest", "he end", PAYLOADFIELD_CONTAINS, 0},
};

/* ---- making records -------------------------------------------------------------------------- */

struct record {
    uint8_t bytes[ROOM];
    size_t used;
};

static void put(struct record *record, const void *data, size_t bytes)
{
    assert_true(record->used + bytes <= sizeof record->bytes);
    memcpy(record->bytes + record->used, data, bytes);
    record->used += bytes;
}

static void put_payload(struct record *record)
{
    static const uint8_t sid[] = {1, 2, 0, 0, 0, 0, 0, 16, 1, 0, 0, 0, 2, 0, 0, 0};
    const int64_t code = -7;

    put(record, "\2\1\0\2\0", 5);         /* count, parts */
    put(record, "one\0two", 8);           /* names */
    put(record, u"wide", 10);             /* wide */
    put(record, "\4\0a\0b\0", 6);         /* counted */
    put(record, "\0\3abc", 5);            /* reversed */
    put(record, sid, sizeof sid);         /* sid */
    put(record, "pointer attribute", 16); /* wbem: whatever it begins with */
    put(record, sid, sizeof sid);         /* wbem */
    put(record, "\3\0\0\0xyz", 7);        /* length, bytes */
    put(record, "\2\0\0\0\1\2", 6);       /* dump */
    put(record, &code, sizeof code);      /* code */
    put(record, "the end", 7);            /* rest */
}

static void make_classic(struct record *record)
{
    struct etwas_etl_instance_header header = {.full = {.header_type = ETWAS_ETL_INSTANCE64,
                                                        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                                                        .type = 7,
                                                        .guid = guid}};

    record->used = 0;
    put(record, &header, sizeof header);
    put_payload(record);
}

/* "rest" is a string with its 0 there. */
static void make_named(struct record *record)
{
    static const uint8_t schema[] =
        "\x4a\0\0Order\0"         /* size, tag, name */
        "count\0\x04"             /* u8 */
        "parts\0\x46"             /* u16s, counted in the payload */
        "fixed\0\xA4\x81\x01\2\0" /* two u8, with an out type and a tag */
        "both\0\x98\2"            /* a struct of two */
        "bytes\0\x0e"
        "wide\0\x01"
        "code\0\x09"
        "rest\0\x02"
        "dump\0\x0e";
    struct etwas_etl_event_header header = {.header_type = ETWAS_ETL_EVENT_HEADER64,
                                            .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                                            .flags = ETWAS_ETL_EVENT_EXTENDED_INFO,
                                            .provider_id = guid};
    struct etwas_etl_extended_item traits = {.item_bytes = 16,
                                             .type = EVENT_HEADER_EXT_TYPE_PROV_TRAITS,
                                             .linkage = ETWAS_ETL_ITEM_LINKAGE,
                                             .data_bytes = 5};
    struct etwas_etl_extended_item item = {
        .item_bytes = (uint16_t)etwas_etl_round_up_8(sizeof item + sizeof schema - 1),
        .type = EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL,
        .data_bytes = sizeof schema - 1};
    const int64_t code = -7;
    uint16_t size = sizeof schema - 1;

    record->used = 0;
    put(record, &header, sizeof header);
    put(record, &traits, sizeof traits);
    put(record, "\5\0ab\0\0\0\0", 8);
    put(record, &item, sizeof item);
    put(record, &size, sizeof size);
    put(record, schema + sizeof size, sizeof schema - 1 - sizeof size);
    put(record, "\0\0\0\0\0\0\0", item.item_bytes - sizeof item - item.data_bytes);
    put(record, "\5", 1);           /* count */
    put(record, "\2\0\1\0\2\0", 6); /* parts */
    put(record, "\1\2", 2);         /* fixed */
    put(record, "\3\0xyz", 5);      /* bytes */
    put(record, u"wide", 10);       /* wide */
    put(record, &code, sizeof code);
    put(record, "the end", 8);
    put(record, "\2\0\1\2", 4); /* dump */
    header.size = (uint16_t)record->used;
    memcpy(record->bytes, &header, sizeof header);
}

/* ---- judging --------------------------------------------------------------------------------- */

static uint8_t *page_end; /* nothing may be read from here on */

static enum etwas_payload_result judge(const struct etwas_compiled_filter *filter,
                                       const struct record *record, size_t bytes)
{
    uint8_t *place = page_end - bytes;

    memcpy(place, record->bytes, bytes);
    return etwas_payload_filter_evaluate(filter, place, bytes);
}

static struct etwas_compiled_filter *make(bool by_name)
{
    etwas_payload_filter given = {
        .guid = &guid, .predicates = predicates, .predicate_count = 2, .event = by_name ? 0 : 7};
    struct etwas_compiled_filter *filter;
    const char *fault;
    uint32_t code;

    if (by_name) {
        given.event_name = "Order";
    } else {
        given.fields = told_fields;
        given.field_count = sizeof told_fields / sizeof told_fields[0];
    }
    filter = etwas_payload_filter_compile(&given, &code, &fault);
    assert_null(fault);
    assert_int_equal(code, ERROR_SUCCESS);
    return filter;
}

static int map_pages(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages;

    (void)state;
    pages = mmap(NULL, ROOM + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + ROOM, page, PROT_NONE) != 0) {
        return -1;
    }
    page_end = pages + ROOM;
    return 0;
}

static const struct {
    bool by_name;
    void (*make)(struct record *record);
    size_t head;                            /* shorter than this it is no such record */
    size_t tail;                            /* so many bytes it may lack and still be told … */
    enum etwas_payload_result without_tail; /* … and is this then */
} kinds[] = {
    {false, make_classic, sizeof(struct etwas_etl_instance_header), 7, ETWAS_PAYLOAD_NO_MATCH},
    {true, make_named, sizeof(struct etwas_etl_event_header), 4, ETWAS_PAYLOAD_MATCHES},
};

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_record_that_ends_early_is_unfit(void **state)
{
    struct record record;

    (void)state;
    for (size_t kind = 0; kind < 2; kind++) {
        struct etwas_compiled_filter *filter = make(kinds[kind].by_name);

        kinds[kind].make(&record);
        assert_int_equal(judge(filter, &record, record.used), ETWAS_PAYLOAD_MATCHES);
        for (size_t bytes = kinds[kind].head; bytes < record.used; bytes++) {
            assert_int_equal(judge(filter, &record, bytes), bytes + kinds[kind].tail >= record.used
                                                                ? kinds[kind].without_tail
                                                                : ETWAS_PAYLOAD_MALFORMED);
        }
        for (size_t bytes = 4; bytes < kinds[kind].head; bytes++) {
            assert_int_equal(judge(filter, &record, bytes), ETWAS_PAYLOAD_OTHER_EVENT);
        }
        free(filter);
    }
}

/* Bytes are changed behind what says which event it is. */
static void no_length_or_count_leads_beyond_a_record(void **state)
{
    static const uint8_t edges[] = {0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF};
    unsigned seed = 1;
    struct record whole;

    (void)state;
    for (size_t kind = 0; kind < 2; kind++) {
        struct etwas_compiled_filter *filter = make(kinds[kind].by_name);
        uint32_t verdicts[4] = {0};

        kinds[kind].make(&whole);
        for (int round = 0; round < ROUNDS; round++) {
            struct record changed = whole;
            size_t room = whole.used - kinds[kind].head;

            for (int changes = rand_r(&seed) % 6; changes >= 0; changes--) {
                changed.bytes[kinds[kind].head + (size_t)rand_r(&seed) % room] =
                    rand_r(&seed) % 2 != 0 ? edges[(size_t)rand_r(&seed) % sizeof edges]
                                           : (uint8_t)rand_r(&seed);
            }
            verdicts[judge(filter, &changed,
                           kinds[kind].head + (size_t)rand_r(&seed) % (room + 1))]++;
        }
        assert_true(verdicts[ETWAS_PAYLOAD_MATCHES] > 0);
        assert_true(verdicts[ETWAS_PAYLOAD_NO_MATCH] > 0);
        assert_true(verdicts[ETWAS_PAYLOAD_MALFORMED] > 0);
        free(filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_that_ends_early_is_unfit),
        cmocka_unit_test(no_length_or_count_leads_beyond_a_record),
    };

    return cmocka_run_group_tests(tests, map_pages, NULL);
}
