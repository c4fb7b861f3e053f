/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What an event has besides its fields, and to which sessions it goes. */
#include <signal.h>
#include <string.h>

#include "tracelogging/recorded.h"

TRACELOGGING_DEFINE_PROVIDER(provider, "Etwas.Test",
                             (0x0d1c9b52, 0x7e44, 0x4d0a, 0x81, 0x20, 0x5f, 0x39, 0x6b, 0xc2, 0x17,
                              0xee));
TRACELOGGING_DEFINE_PROVIDER(grouped, "Etwas.Grouped",
                             (0x5a24e1c8, 0x0b73, 0x4f6e, 0x92, 0x5d, 0x11, 0x8e, 0x47, 0xd0, 0x3c,
                              0xa9),
                             TraceLoggingOptionGroup(0x01020304, 0x0506, 0x0708, 9, 10, 11, 12, 13,
                                                     14, 15, 16));

ETWAS_TRACELOGGING_PROVIDER(named, "Etwas.Test.Named");

static const etwas_guid some_id = {0xA, 0xB, 0xC, {1, 2, 3, 4, 5, 6, 7, 8}};
static const etwas_guid other_id = {0xD, 0xE, 0xF, {8, 8, 8, 8, 8, 8, 8, 8}};
static const etwas_guid no_id;
static const uint8_t traits[] = "\x0d\0Etwas.Test";

static etwas_trace_handle begin(void)
{
    etwas_trace_handle session = start_recording();

    assert_int_equal(TraceLoggingRegister(provider), 0);
    enable(session, provider, 0, 0, 0);
    return session;
}

static struct recording end(etwas_trace_handle session)
{
    TraceLoggingUnregister(provider);
    return stop_recording(session);
}

static void expect_guid(const etwas_guid *guid, const etwas_guid *expected)
{
    assert_memory_equal(guid, expected, sizeof *guid);
}

/* ---- a provider by its name alone ------------------------------------------------------------ */

static void a_provider_without_a_guid_has_that_of_its_name(void **state)
{
    etwas_trace_handle session = start_recording();
    struct recording recording;
    etwas_guid expected;
    etwas_guid id;

    (void)state;
    assert_int_equal(etwas_name_guid("Etwas.Test.Named", &expected), ERROR_SUCCESS);
    id = TraceLoggingProviderId(named);
    expect_guid(&id, &expected);
    /* Enabled by that before it is registered: nobody has seen another. */
    enable(session, named, 0, 0, 0);
    assert_int_equal(TraceLoggingRegister(named), 0);
    TraceLoggingWrite(named, "Event");
    TraceLoggingUnregister(named);
    recording = stop_recording(session);
    assert_int_equal(recording.count, 1);
    expect_guid(&recording.events[0].header.ProviderId, &expected);
}

/* ---- what an event has ----------------------------------------------------------------------- */

static void an_event_without_arguments_has_the_defaults(void **state)
{
    static const EVENT_DESCRIPTOR expected = {.Channel = 11, .Level = 5};
    etwas_trace_handle session = begin();
    etwas_guid id = TraceLoggingProviderId(provider);
    struct recording recording;

    (void)state;
    TraceLoggingWrite(provider, "Event");
    recording = end(session);
    assert_int_equal(recording.count, 1);
    assert_memory_equal(&recording.events[0].header.EventDescriptor, &expected, sizeof expected);
    expect_guid(&recording.events[0].header.ProviderId, &id);
    expect_guid(&recording.events[0].header.ActivityId, &no_id);
    assert_null(recording.events[0].related);
    expect_bytes("traits", recording.events[0].traits, traits, sizeof traits);
    expect_name(&recording.events[0], "Event");
    assert_int_equal(recording.events[0].data.count, 0);
}

static void the_last_of_several_counts_and_keywords_are_joined(void **state)
{
    static const EVENT_DESCRIPTOR expected = {.Id = 0x1234,
                                              .Version = 5,
                                              .Channel = 255,
                                              .Level = 255,
                                              .Opcode = 240,
                                              .Keyword = 0x8000000000000011};
    etwas_trace_handle session = begin();
    struct recording recording;

    (void)state;
    TraceLoggingWrite(provider, "Event", TraceLoggingLevel(1), TraceLoggingChannel(12),
                      TraceLoggingOpcode(WINEVENT_OPCODE_START), TraceLoggingIdVersion(1, 1),
                      TraceLoggingKeyword(1), TraceLoggingLevel(255), TraceLoggingChannel(255),
                      TraceLoggingOpcode(WINEVENT_OPCODE_RECEIVE), TraceLoggingIdVersion(0x1234, 5),
                      TraceLoggingKeyword(0x8000000000000010));
    recording = end(session);
    assert_int_equal(recording.count, 1);
    assert_memory_equal(&recording.events[0].header.EventDescriptor, &expected, sizeof expected);
    expect_name(&recording.events[0], "Event");
}

static void tags_of_an_event_are_joined_before_its_name(void **state)
{
    static const uint8_t one[] = "\x0a\0\xff\xff\xff\x7f"
                                 "One";
    static const uint8_t two[] = "\x0d\0\x81\x80\x80\x03"
                                 "Two\0f\0\x04";
    etwas_trace_handle session = begin();
    struct recording recording;

    (void)state;
    TraceLoggingWrite(provider, "One", TraceLoggingEventTag(0x0FFFFFFF));
    TraceLoggingWrite(provider, "Two", TraceLoggingEventTag(0x00200001), TraceLoggingUInt8(1, "f"),
                      TraceLoggingEventTag(2));
    recording = end(session);
    assert_int_equal(recording.count, 2);
    expect_bytes("one tag", recording.events[0].schema, one, sizeof one);
    expect_bytes("two tags", recording.events[1].schema, two, sizeof two - 1);
}

static void an_event_has_the_activities_it_is_given(void **state)
{
    etwas_guid id = other_id;
    etwas_trace_handle session = begin();
    struct recording recording;

    (void)state;
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_SET_ID, &id), ERROR_SUCCESS);
    TraceLoggingWriteActivity(provider, "None", NULL, NULL);
    TraceLoggingWriteActivity(provider, "Own", &some_id, NULL, TraceLoggingUInt8(1, "field"));
    TraceLoggingWriteActivity(provider, "Both", &some_id, &other_id, TraceLoggingLevel(2));
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &id), ERROR_SUCCESS);
    recording = end(session);
    assert_int_equal(recording.count, 3);
    expect_guid(&recording.events[0].header.ActivityId, &other_id);
    assert_null(recording.events[0].related);
    expect_guid(&recording.events[1].header.ActivityId, &some_id);
    assert_null(recording.events[1].related);
    assert_int_equal(recording.events[1].data.count, 1);
    expect_guid(&recording.events[2].header.ActivityId, &some_id);
    assert_non_null(recording.events[2].related);
    expect_guid(recording.events[2].related, &other_id);
    assert_int_equal(recording.events[2].header.EventDescriptor.Level, 2);
    expect_name(&recording.events[2], "Both");
}

static void a_filter_keeps_an_event_out_of_sessions(void **state)
{
    etwas_trace_handle session = begin();
    struct recording recording;

    (void)state;
    TraceLoggingWriteEx(provider, "Filtered", UINT64_MAX, 0, NULL, NULL);
    TraceLoggingWriteEx(provider, "Private", 0, EVENT_WRITE_FLAG_INPRIVATE, &some_id, &other_id,
                        TraceLoggingUInt8(7, "field"));
    recording = end(session);
    assert_int_equal(recording.count, 1);
    expect_guid(&recording.events[0].header.ActivityId, &some_id);
    expect_guid(recording.events[0].related, &other_id);
    expect_bytes("data", recording.events[0].data, "\7", 1);
}

/* Ten fields, whose names say where they stand. */
#define TEN(tens)                                                                                  \
    TraceLoggingUInt8(tens##0), TraceLoggingUInt8(tens##1), TraceLoggingUInt8(tens##2),            \
        TraceLoggingUInt8(tens##3), TraceLoggingUInt8(tens##4), TraceLoggingUInt8(tens##5),        \
        TraceLoggingUInt8(tens##6), TraceLoggingUInt8(tens##7), TraceLoggingUInt8(tens##8),        \
        TraceLoggingUInt8(tens##9)

static void an_event_has_up_to_99_fields(void **state)
{
    etwas_trace_handle session = begin();
    struct recording recording;
    uint8_t schema[2 + 1 + 5 + 99 * 5];
    size_t at = 8;

    (void)state;
    TraceLoggingWrite(provider, "Many", TEN(10), TEN(11), TEN(12), TEN(13), TEN(14), TEN(15),
                      TEN(16), TEN(17), TEN(18), TraceLoggingUInt8(190), TraceLoggingUInt8(191),
                      TraceLoggingUInt8(192), TraceLoggingUInt8(193), TraceLoggingUInt8(194),
                      TraceLoggingUInt8(195), TraceLoggingUInt8(196), TraceLoggingUInt8(197),
                      TraceLoggingUInt8(198));
    recording = end(session);
    memcpy(schema, "\xf7\1\0Many\0", 8);
    assert_int_equal(sizeof schema, 0x1f7);
    for (uint32_t number = 100; number < 199; number++) {
        schema[at++] = '1';
        schema[at++] = (uint8_t)('0' + number / 10 % 10);
        schema[at++] = (uint8_t)('0' + number % 10);
        schema[at++] = 0;
        schema[at++] = TlgInUINT8;
    }
    assert_int_equal(recording.count, 1);
    expect_bytes("schema", recording.events[0].schema, schema, sizeof schema);
    assert_int_equal(recording.events[0].data.count, 99);
    for (uint32_t index = 0; index < 99; index++) {
        assert_int_equal(recording.events[0].data.data[index], 100 + index);
    }
}

/*
 * ---- to which sessions it goes
 * -------------------------------------------------------------------------
 */

static uint32_t evaluations;

static uint32_t evaluate(void)
{
    return ++evaluations;
}

static const etwas_guid *evaluate_id(void)
{
    evaluations++;
    return NULL;
}

static void write_and_count(void)
{
    TraceLoggingWriteActivity(provider, "Event", evaluate_id(), evaluate_id(),
                              TraceLoggingUInt32(evaluate(), "number"));
}

static void arguments_are_evaluated_once_and_only_for_a_session(void **state)
{
    etwas_trace_handle session = start_recording();
    struct recording recording;

    (void)state;
    evaluations = 0;
    write_and_count();
    assert_false(TraceLoggingProviderEnabled(provider, 0, 0));
    assert_int_equal(TraceLoggingRegister(provider), 0);
    write_and_count();
    assert_false(TraceLoggingProviderEnabled(provider, 0, 0));
    assert_int_equal(evaluations, 0);
    enable(session, provider, 0, 0, 0);
    assert_true(TraceLoggingProviderEnabled(provider, 255, 1));
    write_and_count();
    assert_int_equal(evaluations, 3);
    disable(session, provider);
    assert_false(TraceLoggingProviderEnabled(provider, 0, 0));
    write_and_count();
    enable(session, provider, 4, 0, 0);
    write_and_count();
    enable(session, provider, 5, 0, 0);
    TraceLoggingUnregister(provider);
    assert_false(TraceLoggingProviderEnabled(provider, 0, 0));
    write_and_count();
    TraceLoggingUnregister(provider);
    assert_int_equal(evaluations, 3);
    assert_int_equal(TraceLoggingRegister(provider), 0);
    write_and_count();
    assert_int_equal(evaluations, 6);
    recording = end(session);
    assert_int_equal(recording.count, 2);
}

static void a_session_gets_the_levels_and_keywords_it_asked_for(void **state)
{
    etwas_trace_handle session = start_recording();
    struct recording recording;

    (void)state;
    assert_int_equal(TraceLoggingRegister(provider), 0);
    enable(session, provider, 3, 0x30, 0x10);
    assert_true(TraceLoggingProviderEnabled(provider, 3, 0x10));
    assert_true(TraceLoggingProviderEnabled(provider, 0, 0));
    assert_false(TraceLoggingProviderEnabled(provider, 4, 0x10));
    assert_false(TraceLoggingProviderEnabled(provider, 3, 0x20));
    assert_false(TraceLoggingProviderEnabled(provider, 3, 0x40));
    TraceLoggingWrite(provider, "no keyword", TraceLoggingLevel(3));
    TraceLoggingWrite(provider, "all of them", TraceLoggingLevel(0), TraceLoggingKeyword(0x70));
    TraceLoggingWrite(provider, "too high", TraceLoggingLevel(4), TraceLoggingKeyword(0x10));
    TraceLoggingWrite(provider, "not all", TraceLoggingLevel(3), TraceLoggingKeyword(0x20));
    TraceLoggingWrite(provider, "not any", TraceLoggingLevel(3), TraceLoggingKeyword(0x40));
    recording = end(session);
    assert_int_equal(recording.count, 2);
    expect_name(&recording.events[0], "no keyword");
    expect_name(&recording.events[1], "all of them");
}

/* The provider lets pass what one of the sessions wants; each gets what it wants itself. */
static void of_several_sessions_each_gets_its_own(void **state)
{
    etwas_trace_handle session = start_recording();
    etwas_trace_handle other = start_session(folder_path("other.etl"), NULL);
    etwas_session_counts counts;
    struct recording recording;

    (void)state;
    assert_int_equal(TraceLoggingRegister(provider), 0);
    enable(session, provider, 2, 1, 0);
    enable(other, provider, 4, 2, 0);
    TraceLoggingWrite(provider, "both", TraceLoggingLevel(2), TraceLoggingKeyword(3));
    TraceLoggingWrite(provider, "the other", TraceLoggingLevel(4), TraceLoggingKeyword(3));
    TraceLoggingWrite(provider, "neither", TraceLoggingLevel(4), TraceLoggingKeyword(1));
    stop_session(other, &counts);
    TraceLoggingWrite(provider, "alone", TraceLoggingLevel(2), TraceLoggingKeyword(1));
    assert_false(TraceLoggingProviderEnabled(provider, 4, 0));
    recording = end(session);
    assert_int_equal(counts.recorded, 2);
    assert_int_equal(recording.count, 2);
    expect_name(&recording.events[0], "both");
    expect_name(&recording.events[1], "alone");
}

/*
 * Its sessions' items come before its own, which then cannot be copied as the macros laid them out.
 */
static void an_event_is_described_the_same_with_items_of_its_session(void **state)
{
    static const uint8_t schema[] = "\x10\0\0Event\0first\0\x0a";
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
                                          .EnableProperty =
                                              EVENT_ENABLE_PROPERTY_PROCESS_START_KEY};
    etwas_trace_handle plain = start_session(folder_path("other.etl"), NULL);
    etwas_trace_handle session = start_recording();
    etwas_session_counts counts;
    struct recording recording;

    (void)state;
    assert_int_equal(TraceLoggingRegister(provider), 0);
    assert_int_equal(EnableTraceEx2(session, &provider->id, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0,
                                    0, 0, UINT32_MAX, &parameters),
                     ERROR_SUCCESS);
    TraceLoggingWrite(provider, "Event", TraceLoggingUInt64(0x0102030405060708, "first"));
    enable(plain, provider, 0, 0, 0);
    TraceLoggingWrite(provider, "Event", TraceLoggingUInt64(0x0102030405060708, "first"));
    stop_session(plain, &counts);
    recording = end(session);
    assert_int_equal(counts.recorded, 1);
    assert_int_equal(recording.count, 2);
    for (size_t index = 0; index < recording.count; index++) {
        expect_bytes("traits", recording.events[index].traits, traits, sizeof traits);
        expect_bytes("schema", recording.events[index].schema, schema, sizeof schema - 1);
        expect_bytes("data", recording.events[index].data, "\x08\x07\x06\x05\x04\x03\x02\x01", 8);
    }
}

static void metadata_that_contradicts_its_head_is_refused(void **state)
{
    static const uint16_t item[8] = {16, EVENT_HEADER_EXT_TYPE_PROV_TRAITS, 0, 9};
    const EVENT_DESCRIPTOR descriptor = {0};
    etwas_trace_handle session = begin();
    EVENT_DATA_DESCRIPTOR block;

    (void)state;
    EventDataDescCreate(&block, item, sizeof item);
    block.Type = EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_ITEM;
    assert_int_equal(EventWrite(provider->handle, &descriptor, 1, &block), ERROR_INVALID_PARAMETER);
    EventDataDescCreate(&block, item, sizeof item / 2 - 1);
    block.Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_ITEM;
    assert_int_equal(EventWrite(provider->handle, &descriptor, 1, &block), ERROR_INVALID_PARAMETER);
    assert_int_equal(end(session).count, 0);
}

static void what_is_too_large_is_refused_as_a_whole(void **state)
{
    static char text[0x10002];
    etwas_trace_handle session = begin();
    struct recording recording;

    (void)state;
    memset(text, 'x', sizeof text - 1);
    TraceLoggingWrite(provider, "Event", TraceLoggingString(text));
    TraceLoggingWrite(provider, "Event", TraceLoggingCountedString(text, 0x10001));
    TraceLoggingWrite(provider, "Event", TraceLoggingBinary(text, 0x100000003));
    TraceLoggingWrite(provider, "Event", TraceLoggingInt32Array((const int32_t *)NULL, SIZE_MAX));
    TraceLoggingWrite(provider, "Event", TraceLoggingPackedData(text, SIZE_MAX));
    recording = end(session);
    assert_int_equal(recording.count, 0);
}

static void write_in_handler(int number)
{
    TraceLoggingWrite(provider, "Signal", TraceLoggingInt32(number, "number"),
                      TraceLoggingString("handled", "text"));
}

static void a_signal_handler_writes_events(void **state)
{
    etwas_trace_handle session = begin();
    struct recording recording;

    (void)state;
    assert_true(signal(SIGUSR1, write_in_handler) != SIG_ERR);
    assert_int_equal(raise(SIGUSR1), 0);
    assert_true(signal(SIGUSR1, SIG_DFL) != SIG_ERR);
    recording = end(session);
    assert_int_equal(recording.count, 1);
    expect_bytes("data", recording.events[0].data, "\x0a\0\0\0handled", 12);
}

/* ---- registering ----------------------------------------------------------------------------- */

struct told {
    uint32_t calls;
    uint32_t is_enabled;
    uint8_t level;
};

static void tell(const etwas_guid *source, uint32_t is_enabled, uint8_t level, uint64_t any,
                 uint64_t all, EVENT_FILTER_DESCRIPTOR *filter, void *context)
{
    struct told *told = context;

    (void)source;
    (void)any;
    (void)all;
    (void)filter;
    told->calls++;
    told->is_enabled = is_enabled;
    told->level = level;
    TraceLoggingWrite(provider, "State", TraceLoggingLevel(1), TraceLoggingUInt32(is_enabled));
}

/* Also in the call that TraceLoggingRegisterEx makes before it returns. */
static void a_callback_is_told_and_can_write_events(void **state)
{
    etwas_trace_handle session = start_recording();
    struct told told = {0};
    struct recording recording;

    (void)state;
    enable(session, provider, 3, 0, 0);
    assert_int_equal(TraceLoggingRegisterEx(provider, tell, &told), 0);
    assert_int_equal(told.calls, 1);
    assert_int_equal(told.is_enabled, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
    assert_int_equal(told.level, 3);
    assert_int_equal(EnableTraceEx2(session, &provider->id, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0,
                                    0, UINT32_MAX, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(told.is_enabled, EVENT_CONTROL_CODE_CAPTURE_STATE);
    assert_true(TraceLoggingProviderEnabled(provider, 3, 0));
    disable(session, provider);
    assert_int_equal(told.is_enabled, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
    recording = end(session);
    assert_int_equal(told.calls, 3);
    assert_int_equal(recording.count, 2);
    expect_bytes("enabled", recording.events[0].data, "\1\0\0\0", 4);
    expect_bytes("captured", recording.events[1].data, "\2\0\0\0", 4);
}

static void a_provider_of_a_group_registers_and_says_so(void **state)
{
    static const uint8_t group_traits[] =
        "\x23\0Etwas.Grouped\0\x13\0\1\4\3\2\1\6\5\x8\7\x9\xa\xb\xc\xd"
        "\xe\xf\x10";
    etwas_trace_handle session = start_recording();
    struct recording recording;

    (void)state;
    assert_int_equal(TraceLoggingRegister(grouped), 0);
    enable(session, grouped, 0, 0, 0);
    TraceLoggingWrite(grouped, "Event");
    TraceLoggingUnregister(grouped);
    recording = stop_recording(session);
    assert_int_equal(recording.count, 1);
    expect_bytes("traits", recording.events[0].traits, group_traits, sizeof group_traits - 1);
}

static TraceLoggingHProvider local_provider(void)
{
    TRACELOGGING_DEFINE_PROVIDER_STORAGE(
        storage, "Etwas.Local",
        (0x81f0c5d3, 0x6a2b, 0x4be9, 0xa7, 0x44, 0x0e, 0x9d, 0x52, 0x31, 0xf8, 0x66));
    return &storage;
}

static void a_provider_may_have_its_storage_in_a_function(void **state)
{
    etwas_trace_handle session = start_recording();
    struct recording recording;

    (void)state;
    assert_int_equal(TraceLoggingRegister(local_provider()), 0);
    enable(session, local_provider(), 0, 0, 0);
    TraceLoggingWrite(local_provider(), "Event");
    TraceLoggingUnregister(local_provider());
    recording = stop_recording(session);
    assert_int_equal(recording.count, 1);
    expect_name(&recording.events[0], "Event");
}

static void what_fails_is_reported_as_a_result(void **state)
{
    uint8_t on = 1;

    (void)state;
    assert_int_equal((uint32_t)TraceLoggingSetInformation(provider, EventProviderUseDescriptorType,
                                                          &on, sizeof on),
                     0x80070000u | ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceLoggingRegister(provider), 0);
    assert_int_equal((uint32_t)TraceLoggingSetInformation(provider, MaxEventInfo, &on, sizeof on),
                     0x80070000u | ERROR_NOT_SUPPORTED);
    assert_int_equal(
        TraceLoggingSetInformation(provider, EventProviderUseDescriptorType, &on, sizeof on), 0);
    assert_true(SUCCEEDED(S_OK) && !FAILED(S_OK));
    assert_true(FAILED(TraceLoggingSetInformation(provider, MaxEventInfo, &on, sizeof on)) &&
                !SUCCEEDED(TraceLoggingSetInformation(provider, MaxEventInfo, &on, sizeof on)));
    TraceLoggingUnregister(provider);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_provider_without_a_guid_has_that_of_its_name),
        FOLDER_TEST(an_event_without_arguments_has_the_defaults),
        FOLDER_TEST(the_last_of_several_counts_and_keywords_are_joined),
        FOLDER_TEST(tags_of_an_event_are_joined_before_its_name),
        FOLDER_TEST(an_event_has_the_activities_it_is_given),
        FOLDER_TEST(a_filter_keeps_an_event_out_of_sessions),
        FOLDER_TEST(an_event_has_up_to_99_fields),
        FOLDER_TEST(arguments_are_evaluated_once_and_only_for_a_session),
        FOLDER_TEST(a_session_gets_the_levels_and_keywords_it_asked_for),
        FOLDER_TEST(of_several_sessions_each_gets_its_own),
        FOLDER_TEST(an_event_is_described_the_same_with_items_of_its_session),
        FOLDER_TEST(metadata_that_contradicts_its_head_is_refused),
        FOLDER_TEST(what_is_too_large_is_refused_as_a_whole),
        FOLDER_TEST(a_signal_handler_writes_events),
        FOLDER_TEST(a_callback_is_told_and_can_write_events),
        FOLDER_TEST(a_provider_of_a_group_registers_and_says_so),
        FOLDER_TEST(a_provider_may_have_its_storage_in_a_function),
        FOLDER_TEST(what_fails_is_reported_as_a_result),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
