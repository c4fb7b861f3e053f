/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Triggers from payloads: which filters are refused, and what is said of them.
 */
#include <string.h>

#include "file/payload_fixture.h"

static void expect_fault(etwas_trace_handle log, etwas_trace_handle recorder,
                         const etwas_payload_filter *filter, const char *expected)
{
    const char *fault = NULL;

    assert_int_equal(etwas_trigger_on_payload(log, recorder, filter, &fault),
                     ERROR_INVALID_PARAMETER);
    assert_non_null(fault);
    assert_string_equal(fault, expected);
}

struct wrong {
    etwas_payload_predicate predicate;
    const char *fault;
};

static const char no_comparison[] =
    "a field of this type is not compared so, or not with this value";

static const struct wrong wrongs[] = {
    {{NULL, "1", PAYLOADFIELD_EQ, 0}, "a predicate names no field"},
    {{"items", NULL, PAYLOADFIELD_EQ, 0}, "a predicate has no value"},
    {{"items", "1", PAYLOADFIELD_EQ, 1}, "a reserved member is not 0"},
    {{"colour", "1", PAYLOADFIELD_EQ, 0}, "a predicate names a field that there is not"},
    {{"items", "1", PAYLOADFIELD_INVALID, 0},
     "a comparison is unknown: it is none of PAYLOAD_OPERATOR"},
    {{"items", "1", 9, 0}, "a comparison is unknown: it is none of PAYLOAD_OPERATOR"},
    {{"items", "", PAYLOADFIELD_EQ, 0}, "the value is no integer of 64 bits"},
    {{"items", "-", PAYLOADFIELD_EQ, 0}, "the value is no integer of 64 bits"},
    {{"items", "0x", PAYLOADFIELD_EQ, 0}, "the value is no integer of 64 bits"},
    {{"items", "3 ", PAYLOADFIELD_EQ, 0}, "the value is no integer of 64 bits"},
    {{"items", "3,4", PAYLOADFIELD_EQ, 0}, "the value is no integer of 64 bits"},
    {{"items", "18446744073709551616", PAYLOADFIELD_EQ, 0}, "the value is no integer of 64 bits"},
    {{"items", "-9223372036854775809", PAYLOADFIELD_EQ, 0}, "the value is no integer of 64 bits"},
    {{"items", "3", PAYLOADFIELD_BETWEEN, 0},
     "the value is not two integers with a comma between them"},
    {{"items", "4,3", PAYLOADFIELD_BETWEEN, 0}, "the lower bound is above the upper one"},
    {{"items", "0", PAYLOADFIELD_MODULO, 0}, "nothing is a multiple of 0"},
    {{"items", "text", PAYLOADFIELD_IS, 0}, no_comparison},
    {{"items", "3", PAYLOADFIELD_CONTAINS, 0}, no_comparison},
    {{"customer", "3", PAYLOADFIELD_EQ, 0}, no_comparison},
    {{"customer", "\xff", PAYLOADFIELD_IS, 0}, "a value is no UTF-8"},
    {{"customer", "", PAYLOADFIELD_CONTAINS, 0}, "a value is empty: every text contains it"},
};

static void wrong_predicates_are_refused_by_name(void **state)
{
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);

    (void)state;
    for (size_t index = 0; index < sizeof wrongs / sizeof wrongs[0]; index++) {
        const etwas_payload_filter filter = order_filter(&wrongs[index].predicate, 1);

        expect_fault(log, recorder, &filter, wrongs[index].fault);
    }
    assert_int_equal(judge_order(log, &slow).tested, 0);
    stop_session(log, NULL);
    stop_session(recorder, NULL);
}

static void wrong_filters_are_refused_by_name(void **state)
{
    static const etwas_field_description alone = {
        .name = "items", .in_type = TDH_INTYPE_UINT32, .count = 2};
    static const etwas_field_description unknown = {.name = "items", .in_type = 999};
    const etwas_payload_predicate first = {"items", "3", PAYLOADFIELD_EQ, 0};
    const etwas_payload_predicate many[9] = {first};
    const etwas_payload_filter fine = order_filter(&first, 1);
    etwas_payload_filter filter = fine;
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);
    char long_name[300];

    (void)state;
    filter.guid = NULL;
    expect_fault(log, recorder, &filter, "the filter has no GUID");
    filter = fine;
    filter.event_name = "Order";
    expect_fault(log, recorder, &filter,
                 "an event has a name and says its fields itself, or has fields and no name");
    filter = fine;
    filter.field_count = 0;
    expect_fault(log, recorder, &filter, "there are fields, and their count is 0");
    filter = fine;
    filter.predicate_count = 0;
    expect_fault(log, recorder, &filter, "there are not 1 to 8 predicates");
    filter.predicates = many;
    filter.predicate_count = 9;
    expect_fault(log, recorder, &filter, "there are not 1 to 8 predicates");
    filter = fine;
    filter.version = 0x10000;
    expect_fault(log, recorder, &filter, "the event or its version is above 65,535");
    filter = fine;
    filter.reserved = 1;
    expect_fault(log, recorder, &filter, "a reserved member is not 0");
    filter = fine;
    filter.fields = &alone;
    filter.field_count = 1;
    expect_fault(log, recorder, &filter, "a predicate names an array");
    filter.fields = &unknown;
    expect_fault(log, recorder, &filter,
                 "the in type of a field is unknown, or not for classic events");
    filter = fine;
    memset(long_name, 'a', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    filter.fields = NULL;
    filter.event_name = "Event";
    expect_fault(log, recorder, &filter, "there are no fields, and their count is not 0");
    filter.field_count = 0;
    filter.event_name = long_name;
    expect_fault(log, recorder, &filter, "a name is longer than 255 bytes");
    stop_session(log, NULL);
    stop_session(recorder, NULL);
}

static void only_files_are_looked_at_and_only_recorders_are_asked(void **state)
{
    const etwas_payload_filter filter = order_filter(&is_slow, 1);
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);
    etwas_payload_counts counts;

    (void)state;
    assert_int_equal(etwas_trigger_on_payload(recorder, recorder, &filter, NULL),
                     ERROR_NOT_SUPPORTED);
    assert_int_equal(etwas_trigger_on_payload(log, log, &filter, NULL), ERROR_NOT_SUPPORTED);
    assert_int_equal(etwas_trigger_on_payload(0, recorder, &filter, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_trigger_on_payload(log, 0, &filter, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_trigger_on_payload(log, recorder, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_payload_query(log, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_payload_query(0, &counts), ERROR_INVALID_HANDLE);
    for (int index = 0; index < 64; index++) {
        watch(log, recorder, &filter);
    }
    assert_int_equal(etwas_trigger_on_payload(log, recorder, &filter, NULL),
                     ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(judge_order(log, &slow).matched, 64);
    stop_session(log, NULL);
    stop_session(recorder, NULL);
    assert_int_equal(etwas_trigger_on_payload(log, recorder, &filter, NULL), ERROR_INVALID_HANDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(wrong_predicates_are_refused_by_name),
        FOLDER_TEST(wrong_filters_are_refused_by_name),
        FOLDER_TEST(only_files_are_looked_at_and_only_recorders_are_asked),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
