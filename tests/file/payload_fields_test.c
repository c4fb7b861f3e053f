/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Triggers from payloads: how fields are compared, where they lie in each kind of event, and what
 * does not fit.
 */
#include <etwas/TraceLoggingProvider.h>
#include <etwas/evntprov.h>

#include "file/payload_fixture.h"

enum {
    ORDER_ID = 70,
};

/* ---- comparisons ----------------------------------------------------------------------------- */

struct comparison {
    const char *field;
    uint32_t compare;
    const char *holds;
    const char *fails;
};

/* Comparisons with the fields of a usual order. */
static const struct comparison comparisons[] = {
    {"items", PAYLOADFIELD_EQ, "3", "4"},
    {"items", PAYLOADFIELD_EQ, "0x3", "-3"},
    {"items", PAYLOADFIELD_NE, "-1", "3"},
    {"items", PAYLOADFIELD_LE, "3", "2"},
    {"items", PAYLOADFIELD_LT, "18446744073709551615", "3"},
    {"items", PAYLOADFIELD_GT, "-9223372036854775808", "3"},
    {"items", PAYLOADFIELD_GE, "3", "0xFFFFFFFFFFFFFFFF"},
    {"items", PAYLOADFIELD_BETWEEN, "3,3", "4,10"},
    {"items", PAYLOADFIELD_NOTBETWEEN, "-5,2", "-5,3"},
    {"items", PAYLOADFIELD_MODULO, "3", "2"},
    {"items", PAYLOADFIELD_IS, "3", "33"},
    {"items", PAYLOADFIELD_ISNOT, "33", "3"},
    {"change", PAYLOADFIELD_EQ, "-5", "65531"},
    {"change", PAYLOADFIELD_LT, "0", "-5"},
    {"change", PAYLOADFIELD_BETWEEN, "-6,-4", "-4,6"},
    {"change", PAYLOADFIELD_MODULO, "-5", "3"},
    {"customer", PAYLOADFIELD_IS, "meier", "Meier"},
    {"customer", PAYLOADFIELD_IS, "meier", "mei"},
    {"customer", PAYLOADFIELD_ISNOT, "mei", "meier"},
    {"customer", PAYLOADFIELD_CONTAINS, "eie", "eix"},
    {"customer", PAYLOADFIELD_CONTAINS, "meier", "meier2"},
    {"customer", PAYLOADFIELD_DOESNTCONTAIN, "x", "r"},
};

static void fields_are_compared_as_they_are(void **state)
{
    const etwas_payload_filter none = order_filter(&is_slow, 1);
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = 0;

    (void)state;
    for (size_t index = 0; index < sizeof comparisons / sizeof comparisons[0]; index++) {
        const struct comparison *comparison = &comparisons[index];
        const etwas_payload_predicate two[] = {
            {comparison->field, comparison->holds, comparison->compare, 0},
            {comparison->field, comparison->fails, comparison->compare, 0}};
        etwas_payload_filter filter;

        log = start_log(ETWAS_CLOCK_QPC);
        filter = order_filter(&two[0], 1);
        watch(log, recorder, &filter); /* matches */
        filter = order_filter(&two[1], 1);
        watch(log, recorder, &filter);
        filter = order_filter(two, 2);
        watch(log, recorder, &filter);
        filter.match_any = 1;
        watch(log, recorder, &filter); /* matches */
        watch(log, recorder, &none);
        if (judge_order(log, &usual).matched != 2) {
            fail_msg("%s %u %s, %s", comparison->field, comparison->compare, comparison->holds,
                     comparison->fails);
        }
        assert_int_equal(ask_log(log).tested, 5);
        assert_int_equal(ask_log(log).unfit, 0);
        stop_session(log, NULL);
    }
    stop_session(recorder, NULL);
}

/* ---- fields behind others of any length ------------------------------------------------------ */

struct wide_order {
    uint16_t name_units;
    etwas_wchar name[3];
    uint8_t count;
    uint16_t parts[2];
    uint16_t note_bytes;
    char note[4];
    uint32_t dump_bytes;
    uint8_t dump[3];
    uint8_t code;
} __attribute__((packed));

static const etwas_field_description wide_fields[] = {
    {.name = "name_units", .in_type = TDH_INTYPE_UINT16},
    {.name = "name", .in_type = TDH_INTYPE_UNICODESTRING, .length = ETWAS_BY_FIELD_BEFORE},
    {.name = "count", .in_type = TDH_INTYPE_UINT8},
    {.name = "parts", .in_type = TDH_INTYPE_UINT16, .count = ETWAS_BY_FIELD_BEFORE},
    {.name = "note", .in_type = TDH_INTYPE_COUNTEDANSISTRING},
    {.name = "dump", .in_type = TDH_INTYPE_HEXDUMP},
    {.name = "code", .in_type = TDH_INTYPE_UINT8},
};

static void fields_lie_behind_others_of_any_length(void **state)
{
    static const struct wide_order order = {3, {u'k', u'ö', u'x'}, 2, {1, 2}, 4, "note",
                                            3, {9, 9, 9},          42};
    static const etwas_payload_predicate predicates[] = {
        {"code", "42", PAYLOADFIELD_EQ, 0},
        {"name", "ö", PAYLOADFIELD_CONTAINS, 0},
        {"name", "köx", PAYLOADFIELD_IS, 0},
        {"note", "note", PAYLOADFIELD_IS, 0},
    };
    etwas_payload_filter filter = order_filter(predicates, 4);
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);
    struct wide_order long_one = order;

    (void)state;
    filter.fields = wide_fields;
    filter.field_count = sizeof wide_fields / sizeof wide_fields[0];
    watch(log, recorder, &filter);
    log_bytes(log, ORDER_TYPE, ORDER_VERSION, &order, sizeof order);
    assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
    assert_int_equal(ask_log(log).matched, 1);
    /* What counts says more than there is. */
    long_one.name_units = 0xFFFF;
    log_bytes(log, ORDER_TYPE, ORDER_VERSION, &long_one, sizeof long_one);
    long_one = order;
    long_one.count = 0xFF;
    log_bytes(log, ORDER_TYPE, ORDER_VERSION, &long_one, sizeof long_one);
    long_one = order;
    long_one.note_bytes = 0xFFFF;
    log_bytes(log, ORDER_TYPE, ORDER_VERSION, &long_one, sizeof long_one);
    long_one = order;
    long_one.dump_bytes = UINT32_MAX;
    log_bytes(log, ORDER_TYPE, ORDER_VERSION, &long_one, sizeof long_one);
    stop_session(log, NULL);
    assert_int_equal(ask_log(log).unfit, 4);
    assert_int_equal(ask_log(log).matched, 1);
    stop_session(recorder, NULL);
}

/* ---- modern events --------------------------------------------------------------------------- */

static const etwas_guid modern_guid = {0x5d3c, 0x22, 0x33, {1, 2, 3, 4, 5, 6, 7, 8}};
TRACELOGGING_DEFINE_PROVIDER(shop, "Etwas.Test.PayloadTrigger",
                             (0x5d3c, 0x22, 0x33, 1, 2, 3, 4, 5, 6, 7, 8));

static void enable(etwas_trace_handle log)
{
    assert_int_equal(EnableTraceEx2(log, &modern_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 0, 0,
                                    UINT32_MAX, NULL),
                     ERROR_SUCCESS);
}

static void modern_events_are_meant_by_id_and_version(void **state)
{
    EVENT_DESCRIPTOR descriptor = {.Id = ORDER_ID, .Version = ORDER_VERSION};
    etwas_payload_filter filter = order_filter(&is_slow, 1);
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);
    EVENT_DATA_DESCRIPTOR data;
    REGHANDLE provider;

    (void)state;
    assert_int_equal(EventRegister(&modern_guid, NULL, NULL, &provider), ERROR_SUCCESS);
    enable(log);
    filter.guid = &modern_guid;
    filter.event = ORDER_ID;
    watch(log, recorder, &filter);
    EventDataDescCreate(&data, &slow, sizeof slow);
    assert_int_equal(EventWrite(provider, &descriptor, 1, &data), ERROR_SUCCESS);
    descriptor.Version++;
    assert_int_equal(EventWrite(provider, &descriptor, 1, &data), ERROR_SUCCESS);
    descriptor.Id++;
    assert_int_equal(EventWrite(provider, &descriptor, 1, &data), ERROR_SUCCESS);
    stop_session(log, NULL);
    assert_int_equal(ask_log(log).tested, 1);
    assert_int_equal(ask_log(log).matched, 1);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    stop_session(recorder, NULL);
}

static void write_shop_events(uint64_t took_us)
{
    const uint16_t parts[] = {1, 2, 3};

    TraceLoggingWrite(shop, "Order", TraceLoggingString("meier", "customer"),
                      TraceLoggingUInt16Array(parts, 3, "parts"), TraceLoggingStruct(2, "times"),
                      TraceLoggingUInt32(7, "waited_us"), TraceLoggingUInt64(took_us, "took_us"),
                      TraceLoggingCountedWideString(u"köx", 3, "note"));
    TraceLoggingWrite(shop, "Other", TraceLoggingUInt64(took_us, "took_us"));
}

static void tracelogging_events_say_their_fields_themselves(void **state)
{
    static const etwas_payload_predicate fine[] = {
        {"took_us", "500", PAYLOADFIELD_GT, 0},
        {"customer", "meier", PAYLOADFIELD_IS, 0},
        {"note", "ö", PAYLOADFIELD_CONTAINS, 0},
    };
    static const etwas_payload_predicate not_there = {"colour", "1", PAYLOADFIELD_EQ, 0};
    static const etwas_payload_predicate array = {"parts", "1", PAYLOADFIELD_EQ, 0};
    static const etwas_payload_predicate text = {"customer", "1", PAYLOADFIELD_EQ, 0};
    etwas_payload_filter filter = {.guid = &modern_guid, .event_name = "Order"};
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);

    (void)state;
    assert_int_equal(TraceLoggingRegister(shop), ERROR_SUCCESS);
    enable(log);
    filter.predicates = fine;
    filter.predicate_count = 3;
    watch(log, recorder, &filter);
    write_shop_events(500);
    write_shop_events(501);
    assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
    assert_int_equal(ask_log(log).tested, 2);
    assert_int_equal(ask_log(log).matched, 1);
    filter.predicate_count = 1;
    filter.predicates = &not_there;
    watch(log, recorder, &filter);
    filter.predicates = &array;
    watch(log, recorder, &filter);
    filter.predicates = &text;
    watch(log, recorder, &filter);
    write_shop_events(501);
    TraceLoggingUnregister(shop);
    stop_session(log, NULL);
    assert_int_equal(ask_log(log).tested, 6);
    assert_int_equal(ask_log(log).matched, 2);
    assert_int_equal(ask_log(log).unfit, 3);
    stop_session(recorder, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(fields_are_compared_as_they_are),
        FOLDER_TEST(fields_lie_behind_others_of_any_length),
        FOLDER_TEST(modern_events_are_meant_by_id_and_version),
        FOLDER_TEST(tracelogging_events_say_their_fields_themselves),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
