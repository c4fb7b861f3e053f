/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which sessions get a modern provider's events: up to 8, each with its own level and keywords, and
 * the combined enablement that the provider's callback receives (R190, R192, R195, C15).
 */
#include <string.h>
#include <unistd.h>

#include "provider/modern.h"

static const etwas_guid no_source;

static void expect_received(const struct received *received, uint32_t calls, uint32_t is_enabled,
                            uint8_t level, uint64_t any, uint64_t all)
{
    assert_int_equal(received->calls, calls);
    assert_int_equal(received->is_enabled, is_enabled);
    assert_int_equal(received->level, level);
    assert_true(received->any == any);
    assert_true(received->all == all);
    assert_null(received->filter);
}

static uint32_t enable_with(etwas_trace_handle session, uint32_t control_code, uint32_t property,
                            EVENT_FILTER_DESCRIPTOR *filter, const etwas_guid *source)
{
    ENABLE_TRACE_PARAMETERS parameters = {
        .Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
        .EnableProperty = property,
        .SourceId = *source,
        .EnableFilterDesc = filter,
        .FilterDescCount = filter != NULL ? 1 : 0,
    };

    return EnableTraceEx2(session, &control_guid, control_code, 5, 0, 0, INFINITELY, &parameters);
}

/* ---- what the callback is told --------------------------------------------------------------- */

static void r195_the_callback_is_told_what_all_sessions_ask_for_together(void **state)
{
    struct received received = {0};
    REGHANDLE provider = begin_modern(&received);
    etwas_trace_handle first = start_recorder();
    etwas_trace_handle second = start_recorder();
    etwas_trace_handle third = start_recorder();

    (void)state;
    assert_int_equal(received.calls, 0);
    enable_modern(first, 2, 0x0F, 0x3);
    expect_received(&received, 1, 1, 2, 0x0F, 0x3);
    enable_modern(second, 4, 0xF0, 0x6);
    expect_received(&received, 2, 1, 4, 0xFF, 0x2);
    enable_modern(third, 3, UINT64_C(1) << 63, 0xA);
    expect_received(&received, 3, 1, 4, UINT64_C(1) << 63 | 0xFF, 0x2);
    /* Enabling again replaces. */
    enable_modern(second, 1, 0x10, 0x2);
    expect_received(&received, 4, 1, 3, UINT64_C(1) << 63 | 0x1F, 0x2);
    /* Level 0 is every level, and keywords 0 all keywords. */
    enable_modern(third, 0, 0, 0);
    expect_received(&received, 5, 1, 0, UINT64_MAX, 0);
    /* It stays enabled until the last one goes, whether it disables or stops. */
    disable_modern(third);
    expect_received(&received, 6, 1, 2, 0x1F, 0x2);
    disable_modern(third);
    assert_int_equal(received.calls, 6);
    stop_session(first, NULL);
    expect_received(&received, 7, 1, 1, 0x10, 0x2);
    assert_true(EventProviderEnabled(provider, 1, 0x12));
    stop_session(second, NULL);
    expect_received(&received, 8, 0, 0, 0, 0);
    assert_false(EventProviderEnabled(provider, 0, 0));
    stop_session(third, NULL);
    assert_int_equal(received.calls, 8);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

static void r190_what_is_enabled_before_registering_applies_at_registration(void **state)
{
    const etwas_guid source = {5, 6, 7, {8}};
    etwas_trace_handle first = start_recorder();
    etwas_trace_handle second = start_recorder();
    struct received received = {.source = source};
    REGHANDLE provider;
    REGHANDLE silent;

    (void)state;
    assert_int_equal(enable_with(first, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, NULL, &source),
                     ERROR_SUCCESS);
    enable_modern(second, 3, 0x10, 0);
    provider = begin_modern(&received);
    silent = begin_modern(NULL);
    expect_received(&received, 1, 1, 5, UINT64_MAX, 0);
    /* The source of the enablement is not known any more. */
    assert_memory_equal(&received.source, &no_source, sizeof no_source);
    assert_int_equal(write_number(provider, 5, 1, 1), ERROR_SUCCESS);
    assert_int_equal(write_number(silent, 3, 0x10, 2), ERROR_SUCCESS);
    assert_int_equal(counts_of(first).recorded, 2);
    assert_int_equal(counts_of(second).recorded, 1);

    assert_int_equal(enable_with(first, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, NULL, &source),
                     ERROR_SUCCESS);
    assert_memory_equal(&received.source, &source, sizeof source);
    assert_int_equal(enable_with(first, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, NULL, &source),
                     ERROR_SUCCESS);
    expect_received(&received, 3, 2, 5, UINT64_MAX, 0);
    assert_memory_equal(&received.source, &source, sizeof source);
    stop_session(first, NULL);
    expect_received(&received, 4, 1, 3, 0x10, 0);
    assert_memory_equal(&received.source, &no_source, sizeof no_source);
    /* A session that does not enable the provider cannot request its state. */
    disable_modern(second);
    assert_int_equal(enable_with(second, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, NULL, &source),
                     ERROR_SUCCESS);
    assert_int_equal(received.calls, 5);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(silent), ERROR_SUCCESS);
    stop_session(second, NULL);
}

/* ---- levels and keywords --------------------------------------------------------------------- */

/* The rule as the page has it. */
static bool is_wanted(uint8_t level, uint64_t keyword, uint8_t to_level, uint64_t any, uint64_t all)
{
    if (to_level != 0 && level > to_level) {
        return false;
    }
    return keyword == 0 ||
           ((keyword & (any != 0 ? any : UINT64_MAX)) != 0 && (keyword & all) == all);
}

/* C15: MatchAllKeyword applies where MatchAnyKeyword is 0, too. */
static void c15_each_session_gets_what_its_level_and_keywords_say(void **state)
{
    static const struct {
        uint8_t level;
        uint64_t any;
        uint64_t all;
    } enablements[] = {{0, 0, 0},   {1, 0, 0},   {3, 0x6, 0},        {255, 0, 0x3},
                       {4, 6, 0x4}, {2, 1, 0x8}, {5, UINT64_MAX, 0}, {3, UINT64_C(1) << 40, 0}};
    static const uint8_t levels[] = {0, 1, 2, 3, 4, 5, 255};
    static const uint64_t keywords[] = {0, 1, 2, 3, 4, 6, 7, 9, UINT64_C(1) << 40, UINT64_MAX};
    enum {
        SESSIONS = sizeof enablements / sizeof enablements[0]
    };
    etwas_trace_handle sessions[SESSIONS];
    uint64_t expected[SESSIONS] = {0};
    REGHANDLE provider = begin_modern(NULL);

    (void)state;
    for (uint32_t index = 0; index < SESSIONS; index++) {
        sessions[index] = start_recorder();
        enable_modern(sessions[index], enablements[index].level, enablements[index].any,
                      enablements[index].all);
    }
    for (size_t level = 0; level < sizeof levels; level++) {
        for (size_t keyword = 0; keyword < sizeof keywords / sizeof keywords[0]; keyword++) {
            bool anybody = false;

            for (uint32_t index = 0; index < SESSIONS; index++) {
                bool wanted = is_wanted(levels[level], keywords[keyword], enablements[index].level,
                                        enablements[index].any, enablements[index].all);

                expected[index] += wanted ? 1 : 0;
                anybody = anybody || wanted;
            }
            assert_int_equal(EventProviderEnabled(provider, levels[level], keywords[keyword]),
                             anybody);
            assert_int_equal(write_number(provider, levels[level], keywords[keyword], 1),
                             ERROR_SUCCESS);
        }
    }
    for (uint32_t index = 0; index < SESSIONS; index++) {
        assert_int_equal(counts_of(sessions[index]).recorded, expected[index]);
        stop_session(sessions[index], NULL);
    }
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

static void a_session_can_do_without_events_that_have_no_keyword(void **state)
{
    etwas_trace_handle session = start_recorder();
    REGHANDLE provider = begin_modern(NULL);

    (void)state;
    assert_int_equal(enable_with(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                                 EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0, NULL, &no_source),
                     ERROR_SUCCESS);
    assert_false(EventProviderEnabled(provider, 1, 0));
    assert_true(EventProviderEnabled(provider, 1, 1));
    assert_int_equal(write_number(provider, 1, 0, 1), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).recorded, 0);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    stop_session(session, NULL);
}

/* ---- sessions that a writer leaves out ------------------------------------------------------- */

static void a_writer_leaves_out_the_sessions_of_its_filter(void **state)
{
    const EVENT_DESCRIPTOR descriptor = {.Level = 1};
    etwas_trace_handle sessions[3];
    REGHANDLE provider = begin_modern(NULL);

    (void)state;
    for (uint32_t index = 0; index < 3; index++) {
        sessions[index] = start_recorder();
        enable_modern(sessions[index], 0, 0, 0);
    }
    for (uint32_t index = 0; index < 3; index++) {
        uint32_t logger_id = (uint32_t)(sessions[index] & 0xFF);

        assert_int_equal(EventWriteEx(provider, &descriptor, UINT64_C(1) << (logger_id - 1), 0,
                                      NULL, NULL, 0, NULL),
                         ERROR_SUCCESS);
        for (uint32_t other = 0; other < 3; other++) {
            assert_int_equal(counts_of(sessions[other]).recorded, other < index   ? index
                                                                  : other > index ? index + 1
                                                                                  : index);
        }
    }
    assert_int_equal(EventWriteEx(provider, &descriptor, UINT64_MAX, 0, NULL, NULL, 0, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(counts_of(sessions[0]).recorded, 2);

    assert_int_equal(enable_with(sessions[1], EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                                 EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE, NULL, &no_source),
                     ERROR_SUCCESS);
    assert_int_equal(EventWriteEx(provider, &descriptor, 0,
                                  EVENT_WRITE_FLAG_INPRIVATE | EVENT_WRITE_FLAG_NO_FAULTING, NULL,
                                  NULL, 0, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(counts_of(sessions[0]).recorded, 3);
    assert_int_equal(counts_of(sessions[1]).recorded, 2);
    assert_int_equal(
        EventWriteEx(provider, &descriptor, 0, EVENT_WRITE_FLAG_NO_FAULTING, NULL, NULL, 0, NULL),
        ERROR_SUCCESS);
    assert_int_equal(counts_of(sessions[1]).recorded, 3);
    for (uint32_t index = 0; index < 3; index++) {
        stop_session(sessions[index], NULL);
    }
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

static void a_filter_of_processes_keeps_this_one_out(void **state)
{
    uint32_t ids[] = {1, (uint32_t)getpid()};
    EVENT_FILTER_DESCRIPTOR filter = {(uint64_t)(uintptr_t)ids, sizeof ids[0],
                                      EVENT_FILTER_TYPE_PID};
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle other = start_recorder();
    struct received received = {0};
    REGHANDLE provider = begin_modern(&received);

    (void)state;
    enable_modern(other, 2, 1, 0);
    assert_int_equal(
        enable_with(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, &filter, &no_source),
        ERROR_SUCCESS);
    assert_int_equal(received.calls, 1);
    assert_false(EventProviderEnabled(provider, 5, 1));
    filter.Size = sizeof ids;
    assert_int_equal(
        enable_with(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, &filter, &no_source),
        ERROR_SUCCESS);
    expect_received(&received, 2, 1, 5, UINT64_MAX, 0);
    assert_true(EventProviderEnabled(provider, 5, 1));
    filter.Type = EVENT_FILTER_TYPE_EXECUTABLE_NAME;
    filter.Ptr = (uint64_t)(uintptr_t)u"somebody else";
    filter.Size = sizeof u"somebody else";
    assert_int_equal(
        enable_with(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, &filter, &no_source),
        ERROR_SUCCESS);
    expect_received(&received, 3, 1, 2, 1, 0);
    filter.Type = EVENT_FILTER_TYPE_PAYLOAD;
    assert_int_equal(
        enable_with(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, &filter, &no_source),
        ERROR_NOT_SUPPORTED);
    assert_int_equal(received.calls, 3);
    stop_session(session, NULL);
    stop_session(other, NULL);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* ---- limits, lists, both kinds --------------------------------------------------------------- */

static void eight_sessions_enable_a_provider_and_a_ninth_is_refused(void **state)
{
    etwas_trace_handle sessions[9];
    struct received received = {0};
    REGHANDLE provider = begin_modern(&received);
    struct {
        TRACE_GUID_INFO head;
        TRACE_PROVIDER_INSTANCE_INFO instance;
        TRACE_ENABLE_INFO enable[8];
    } known;
    etwas_guid guid = control_guid;
    uint32_t bytes = 0;

    (void)state;
    for (uint32_t index = 0; index < 9; index++) {
        sessions[index] = start_recorder();
    }
    for (uint32_t index = 0; index < 8; index++) {
        enable_modern(sessions[index], (uint8_t)(index + 1), index, 0);
    }
    assert_int_equal(EnableTrace(1, 1, 1, &control_guid, sessions[8]), ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(received.calls, 8);
    assert_int_equal(
        EnumerateTraceGuidsEx(TraceGuidQueryInfo, &guid, sizeof guid, &known, sizeof known, &bytes),
        ERROR_SUCCESS);
    assert_int_equal(bytes, sizeof known);
    assert_int_equal(known.head.InstanceCount, 1);
    assert_int_equal(known.instance.Flags, 0); /* not TRACE_PROVIDER_FLAG_LEGACY */
    assert_int_equal(known.instance.Pid, getpid());
    assert_int_equal(known.instance.EnableCount, 8);
    assert_int_equal(known.instance.NextOffset, 0);
    for (uint32_t index = 0; index < 8; index++) {
        assert_int_equal(known.enable[index].LoggerId, sessions[index] & 0xFF);
        assert_int_equal(known.enable[index].Level, index + 1);
        assert_true(known.enable[index].MatchAnyKeyword == index);
    }
    assert_int_equal(write_number(provider, 1, 0, 1), ERROR_SUCCESS);
    disable_modern(sessions[3]);
    enable_modern(sessions[8], 1, 0, 0);
    assert_int_equal(write_number(provider, 1, 0, 1), ERROR_SUCCESS);
    for (uint32_t index = 0; index < 9; index++) {
        assert_int_equal(counts_of(sessions[index]).recorded, index == 3 || index == 8 ? 1 : 2);
        stop_session(sessions[index], NULL);
    }
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

static uint32_t count_call(WMIDPREQUESTCODE request, void *context, uint32_t *bytes, void *buffer)
{
    uint32_t *calls = context;

    (void)bytes;
    (void)buffer;
    calls[request == WMI_ENABLE_EVENTS ? 0 : 1]++;
    return ERROR_SUCCESS;
}

/* R192 holds for the classic registration of a GUID that has a modern one, too. */
static void r192_under_one_guid_classic_and_modern_providers_go_by_their_own_rules(void **state)
{
    etwas_trace_handle first = start_recorder();
    etwas_trace_handle second = start_recorder();
    uint32_t calls[2] = {0};
    struct received received = {0};
    REGHANDLE provider = begin_modern(&received);
    etwas_trace_handle classic;

    (void)state;
    assert_int_equal(
        RegisterTraceGuidsA(count_call, calls, &control_guid, 0, NULL, NULL, NULL, &classic),
        ERROR_SUCCESS);
    assert_null(etwas_provider_of(provider));
    assert_int_equal(UnregisterTraceGuids(provider), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventUnregister(classic), ERROR_INVALID_HANDLE);
    enable_modern(first, 2, 1, 0);
    enable_modern(second, 4, 2, 0);
    assert_int_equal(calls[0], 2);
    assert_int_equal(received.calls, 2);
    /* The classic provider has the newest session, and does not miss the other. */
    disable_modern(first);
    assert_int_equal(calls[1], 0);
    expect_received(&received, 3, 1, 4, 2, 0);
    assert_true(etwas_enabled(etwas_provider_of(classic), 4, 2));
    enable_modern(first, 2, 1, 0);
    disable_modern(first);
    assert_int_equal(calls[1], 1);
    assert_false(etwas_enabled(etwas_provider_of(classic), 0, 0));
    expect_received(&received, 5, 1, 4, 2, 0);
    /* Alone, it is its last session's: the one that has gone. */
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    assert_int_equal(UnregisterTraceGuids(classic), ERROR_SUCCESS);
    assert_int_equal(
        RegisterTraceGuidsA(count_call, calls, &control_guid, 0, NULL, NULL, NULL, &classic),
        ERROR_SUCCESS);
    assert_false(etwas_enabled(etwas_provider_of(classic), 0, 0));
    assert_int_equal(UnregisterTraceGuids(classic), ERROR_SUCCESS);
    stop_session(first, NULL);
    stop_session(second, NULL);
}

static void a_handle_that_has_ended_stays_ended_when_its_place_is_taken_again(void **state)
{
    etwas_trace_handle session = start_recorder();
    REGHANDLE old = begin_modern(NULL);
    REGHANDLE provider;

    (void)state;
    assert_int_equal(EventUnregister(old), ERROR_SUCCESS);
    provider = begin_modern(NULL);
    enable_modern(session, 0, 0, 0);
    assert_true(provider != old);
    assert_int_equal(write_number(old, 0, 0, 1), ERROR_INVALID_HANDLE);
    assert_false(EventProviderEnabled(old, 0, 0));
    assert_int_equal(counts_of(session).recorded, 0);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    assert_int_equal(EventRegister(NULL, NULL, NULL, &provider), ERROR_INVALID_PARAMETER);
    assert_true(provider == 0);
    assert_int_equal(EventRegister(&control_guid, NULL, NULL, NULL), ERROR_INVALID_PARAMETER);
    stop_session(session, NULL);
}

static void a_process_registers_1024_providers_and_no_more(void **state)
{
    static REGHANDLE providers[1024];
    REGHANDLE another = 1;

    (void)state;
    for (uint32_t index = 0; index < 1024; index++) {
        etwas_guid guid = control_guid;

        guid.Data1 += index;
        assert_int_equal(EventRegister(&guid, NULL, NULL, &providers[index]), ERROR_SUCCESS);
    }
    assert_int_equal(EventRegister(&control_guid, NULL, NULL, &another), ERROR_NO_SYSTEM_RESOURCES);
    assert_true(another == 0);
    for (uint32_t index = 0; index < 1024; index++) {
        assert_int_equal(EventUnregister(providers[index]), ERROR_SUCCESS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r195_the_callback_is_told_what_all_sessions_ask_for_together),
        FOLDER_TEST(r190_what_is_enabled_before_registering_applies_at_registration),
        FOLDER_TEST(c15_each_session_gets_what_its_level_and_keywords_say),
        FOLDER_TEST(a_session_can_do_without_events_that_have_no_keyword),
        FOLDER_TEST(a_writer_leaves_out_the_sessions_of_its_filter),
        FOLDER_TEST(a_filter_of_processes_keeps_this_one_out),
        FOLDER_TEST(eight_sessions_enable_a_provider_and_a_ninth_is_refused),
        FOLDER_TEST(r192_under_one_guid_classic_and_modern_providers_go_by_their_own_rules),
        FOLDER_TEST(a_process_registers_1024_providers_and_no_more),
        FOLDER_TEST(a_handle_that_has_ended_stays_ended_when_its_place_is_taken_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
