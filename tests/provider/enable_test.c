/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EnableTrace, EnableTraceEx and EnableTraceEx2: what a controller may ask for, and what a classic
 * provider gets of it (R190–R192, the documents' conflicts C14, C15 and C17).
 */
#include <etwas/evntprov.h>
#include <string.h>
#include <unistd.h>

#include "provider/control_guid.h"
#include "session/fixture.h"

#define INFINITELY 0xFFFFFFFFu

/* ---- a provider that remembers its last call ------------------------------------------------- */

struct received {
    uint32_t count;
    WMIDPREQUESTCODE request;
    etwas_trace_handle session;
    uint8_t level;
    uint32_t flags;
};

static uint32_t remember(WMIDPREQUESTCODE request, void *context, uint32_t *bytes, void *buffer)
{
    struct received *received = context;

    (void)bytes;
    received->count++;
    received->request = request;
    received->session = GetTraceLoggerHandle(buffer);
    received->level = GetTraceEnableLevel(received->session);
    received->flags = GetTraceEnableFlags(received->session);
    return ERROR_SUCCESS;
}

static etwas_trace_handle register_as(const etwas_guid *control, struct received *received)
{
    etwas_trace_handle registration;

    assert_int_equal(
        RegisterTraceGuidsA(remember, received, control, 0, NULL, NULL, NULL, &registration),
        ERROR_SUCCESS);
    return registration;
}

/* The session without the registration in it. */
static etwas_trace_handle plain(etwas_trace_handle session)
{
    return session & 0xFFFFFFFFFF;
}

static void expect_received(const struct received *received, uint32_t count,
                            WMIDPREQUESTCODE request, etwas_trace_handle session)
{
    assert_int_equal(received->count, count);
    assert_int_equal(received->request, request);
    assert_true(plain(received->session) == session);
}

/* What EnumerateTraceGuidsEx says of control_guid. */
struct known {
    TRACE_GUID_INFO head;
    TRACE_PROVIDER_INSTANCE_INFO instance;
    TRACE_ENABLE_INFO enable;
};

static struct known look_up(void)
{
    struct known known = {0};
    etwas_guid guid = control_guid;
    uint32_t bytes = 0;

    assert_int_equal(
        EnumerateTraceGuidsEx(TraceGuidQueryInfo, &guid, sizeof guid, &known, sizeof known, &bytes),
        ERROR_SUCCESS);
    return known;
}

static uint32_t enable_with(etwas_trace_handle session, ENABLE_TRACE_PARAMETERS *parameters)
{
    return EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 1, 1, 0, 0,
                          parameters);
}

/* ---- level, keywords, properties ------------------------------------------------------------- */

static void r191_a_classic_provider_gets_the_level_and_the_low_half_of_the_keywords(void **state)
{
    const etwas_guid source = {1, 2, 3, {4}};
    struct received received = {0};
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle registration = register_as(&control_guid, &received);
    struct known known;

    (void)state;
    assert_int_equal(EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 200,
                                    0x123456789ABCDEF0, 0xFEDCBA9876543210, INFINITELY, NULL),
                     ERROR_SUCCESS);
    expect_received(&received, 1, WMI_ENABLE_EVENTS, session);
    assert_int_equal(received.level, 200);
    assert_int_equal(received.flags, 0x9ABCDEF0);
    /* C15: MatchAllKeyword is taken as it is. */
    known = look_up();
    assert_true(known.enable.MatchAnyKeyword == 0x123456789ABCDEF0);
    assert_true(known.enable.MatchAllKeyword == 0xFEDCBA9876543210);

    /* 0 is passed as 0, also where only the high half is something. */
    assert_int_equal(
        EnableTraceEx(&control_guid, &source, session, 1, 0, UINT64_C(1) << 63, 0, 0, NULL),
        ERROR_SUCCESS);
    expect_received(&received, 2, WMI_ENABLE_EVENTS, session);
    assert_int_equal(received.level, 0);
    assert_int_equal(received.flags, 0);
    assert_true(etwas_enabled(etwas_provider_of(registration), 255, 1));

    /* The level is 8 bits, whatever EnableTrace is given. */
    assert_int_equal(EnableTrace(1, 0xF0F0, 0x1FF05, &control_guid, session), ERROR_SUCCESS);
    expect_received(&received, 3, WMI_ENABLE_EVENTS, session);
    assert_int_equal(received.level, 5);
    assert_int_equal(received.flags, 0xF0F0);

    assert_int_equal(EnableTraceEx(&control_guid, NULL, session, 0, 9, 9, 9, 0, NULL),
                     ERROR_SUCCESS);
    expect_received(&received, 4, WMI_DISABLE_EVENTS, session);
    assert_false(etwas_enabled(etwas_provider_of(registration), 0, 0));
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    stop_session(session, NULL);
}

static void r191_enabling_again_replaces_everything(void **state)
{
    ENABLE_TRACE_PARAMETERS parameters = {
        .Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
        .EnableProperty =
            EVENT_ENABLE_PROPERTY_SID | EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING,
        .SourceId = {9, 9, 9, {9}},
    };
    etwas_trace_handle session = start_recorder();
    struct received received = {0};
    etwas_trace_handle registration = register_as(&control_guid, &received);
    struct known known;

    (void)state;
    assert_int_equal(EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 3,
                                    0xFF, 0x0F, 0, &parameters),
                     ERROR_SUCCESS);
    known = look_up();
    assert_int_equal(known.enable.EnableProperty, parameters.EnableProperty);
    assert_int_equal(known.enable.Level, 3);
    assert_int_equal(EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4,
                                    0x10, 0, 0, NULL),
                     ERROR_SUCCESS);
    known = look_up();
    assert_int_equal(known.instance.EnableCount, 1);
    assert_int_equal(known.enable.EnableProperty, 0);
    assert_int_equal(known.enable.Level, 4);
    assert_true(known.enable.MatchAnyKeyword == 0x10 && known.enable.MatchAllKeyword == 0);
    assert_int_equal(received.count, 2);
    stop_session(session, NULL);
    assert_int_equal(received.count, 3);
    assert_int_equal(look_up().instance.EnableCount, 0);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

static void r190_and_c14_what_is_asked_before_registering_can_be_changed_and_taken_back(
    void **state)
{
    struct received received = {0};
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle registration;

    (void)state;
    assert_int_equal(EnableTrace(1, 1, 1, &control_guid, session), ERROR_SUCCESS);
    assert_int_equal(EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 7,
                                    0x70, 0, 50, NULL),
                     ERROR_SUCCESS);
    registration = register_as(&control_guid, &received);
    expect_received(&received, 1, WMI_ENABLE_EVENTS, session);
    assert_int_equal(received.level, 7);
    assert_int_equal(received.flags, 0x70);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    /* The enablement outlives the registration. */
    registration = register_as(&control_guid, &received);
    expect_received(&received, 2, WMI_ENABLE_EVENTS, session);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    assert_int_equal(EnableTrace(0, 0, 0, &control_guid, session), ERROR_SUCCESS);
    registration = register_as(&control_guid, &received);
    assert_int_equal(received.count, 2);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    /* Nor does it outlive the session. */
    assert_int_equal(EnableTrace(1, 1, 1, &control_guid, session), ERROR_SUCCESS);
    stop_session(session, NULL);
    registration = register_as(&control_guid, &received);
    assert_int_equal(received.count, 2);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

/* ---- state, and two sessions ----------------------------------------------------------------- */

static uint32_t ask_for_state(etwas_trace_handle session)
{
    return EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_CAPTURE_STATE, 9, 9, 9, 0,
                          NULL);
}

static void r191_a_session_that_enables_a_provider_may_ask_for_its_state(void **state)
{
    struct received received = {0};
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle other = start_recorder();
    etwas_trace_handle registration;

    (void)state;
    assert_int_equal(EnableTrace(1, 0x11, 4, &control_guid, session), ERROR_SUCCESS);
    assert_int_equal(ask_for_state(session), ERROR_SUCCESS);
    registration = register_as(&control_guid, &received);
    expect_received(&received, 1, WMI_ENABLE_EVENTS, session);
    assert_int_equal(ask_for_state(session), ERROR_SUCCESS);
    expect_received(&received, 2, WMI_CAPTURE_STATE, session);
    /* Nothing else has changed. */
    assert_int_equal(received.level, 4);
    assert_int_equal(received.flags, 0x11);
    assert_int_equal(look_up().enable.Level, 4);
    assert_int_equal(EnableTrace(EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, &control_guid, session),
                     ERROR_SUCCESS);
    expect_received(&received, 3, WMI_CAPTURE_STATE, session);

    assert_int_equal(ask_for_state(other), ERROR_SUCCESS);
    assert_int_equal(received.count, 3);
    assert_int_equal(EnableTrace(0, 0, 0, &control_guid, session), ERROR_SUCCESS);
    assert_int_equal(ask_for_state(session), ERROR_SUCCESS);
    assert_int_equal(received.count, 4);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    stop_session(session, NULL);
    stop_session(other, NULL);
}

static void r192_the_last_session_takes_the_provider_over_and_the_former_one_is_out(void **state)
{
    struct received received = {0};
    etwas_trace_handle first = start_recorder();
    etwas_trace_handle second = start_recorder();
    etwas_trace_handle registration = register_as(&control_guid, &received);
    etwas_trace_handle received_first;

    (void)state;
    assert_int_equal(EnableTraceEx2(first, &control_guid, 1, 1, 1, 0, 0, NULL), ERROR_SUCCESS);
    received_first = received.session;
    assert_int_equal(EnableTraceEx2(second, &control_guid, 1, 2, 2, 0, 0, NULL), ERROR_SUCCESS);
    expect_received(&received, 2, WMI_ENABLE_EVENTS, second);
    assert_int_equal(look_up().instance.EnableCount, 1);
    assert_int_equal(look_up().enable.LoggerId, second & 0xFF);
    SetLastError(ERROR_SUCCESS);
    assert_int_equal(GetTraceEnableFlags(received_first), 0);
    assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
    /* The former session has nothing to take back, and its end concerns nobody. */
    assert_int_equal(EnableTraceEx2(first, &control_guid, 0, 0, 0, 0, 0, NULL), ERROR_SUCCESS);
    stop_session(first, NULL);
    assert_int_equal(received.count, 2);
    assert_true(etwas_enabled(etwas_provider_of(registration), 2, 2));
    /* R141 */
    stop_session(second, NULL);
    expect_received(&received, 3, WMI_DISABLE_EVENTS, second);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void what_cannot_be_asked_is_refused_and_changes_nothing(void **state)
{
    static const etwas_guid *const of_the_system[] = {&SystemTraceControlGuid, &KernelRundownGuid,
                                                      &SystemProcessProviderGuid,
                                                      &SystemTimerProviderGuid};
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2};
    struct received received = {0};
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle registration = register_as(&control_guid, &received);
    etwas_trace_handle stopped = start_recorder();

    (void)state;
    stop_session(stopped, NULL);
    assert_int_equal(enable_with(session, &parameters), ERROR_SUCCESS);
    assert_int_equal(EnableTraceEx2(session, NULL, 1, 5, 5, 0, 0, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EnableTraceEx2(0, &control_guid, 1, 5, 5, 0, 0, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EnableTraceEx2(stopped, &control_guid, 1, 5, 5, 0, 0, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EnableTraceEx2(registration, &control_guid, 1, 5, 5, 0, 0, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EnableTraceEx2(session, &control_guid, 3, 5, 5, 0, 0, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EnableTraceEx(NULL, NULL, session, 1, 5, 5, 0, 0, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EnableTraceEx(&control_guid, NULL, session, 1, 5, 5, 0, 0x1000, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EnableTrace(1, 5, 5, NULL, session), ERROR_INVALID_PARAMETER);
    assert_int_equal(EnableTrace(1, 5, 5, &control_guid, 0), ERROR_INVALID_PARAMETER);
    for (size_t index = 0; index < sizeof of_the_system / sizeof of_the_system[0]; index++) {
        assert_int_equal(EnableTrace(1, 5, 5, of_the_system[index], session),
                         ERROR_INVALID_PARAMETER);
    }
    parameters.Version = 0;
    assert_int_equal(enable_with(session, &parameters), ERROR_INVALID_PARAMETER);
    parameters.Version = 3;
    assert_int_equal(enable_with(session, &parameters), ERROR_INVALID_PARAMETER);
    for (uint32_t version = 1; version <= 2; version++) {
        parameters = (ENABLE_TRACE_PARAMETERS){.Version = version, .ControlFlags = 1};
        assert_int_equal(enable_with(session, &parameters), ERROR_INVALID_PARAMETER);
        parameters = (ENABLE_TRACE_PARAMETERS){.Version = version, .EnableProperty = 0x40000000};
        assert_int_equal(enable_with(session, &parameters), ERROR_INVALID_PARAMETER);
    }
    assert_int_equal(received.count, 1);
    assert_int_equal(look_up().enable.Level, 1);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    stop_session(session, NULL);
}

/* ---- filters --------------------------------------------------------------------------------- */

static uint32_t enable_filtered(etwas_trace_handle session, EVENT_FILTER_DESCRIPTOR *filters,
                                uint32_t count)
{
    ENABLE_TRACE_PARAMETERS parameters = {
        .Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
        .EnableFilterDesc = filters,
        .FilterDescCount = count,
    };

    return enable_with(session, &parameters);
}

static EVENT_FILTER_DESCRIPTOR filter_of(uint32_t type, const void *data, size_t bytes)
{
    return (EVENT_FILTER_DESCRIPTOR){(uint64_t)(uintptr_t)data, (uint32_t)bytes, type};
}

static void c17_filters_have_limits_and_types_that_classic_providers_can_have(void **state)
{
    static const uint32_t unsupported[] = {EVENT_FILTER_TYPE_SCHEMATIZED,
                                           EVENT_FILTER_TYPE_SYSTEM_FLAGS,
                                           EVENT_FILTER_TYPE_TRACEHANDLE,
                                           EVENT_FILTER_TYPE_PACKAGE_ID,
                                           EVENT_FILTER_TYPE_PACKAGE_APP_ID,
                                           EVENT_FILTER_TYPE_PAYLOAD,
                                           EVENT_FILTER_TYPE_CONTAINER,
                                           1,
                                           0x7FFFFFFF};
    static const uint8_t data[MAX_EVENT_FILTER_PAYLOAD_SIZE + 1];
    EVENT_FILTER_DESCRIPTOR filters[MAX_EVENT_FILTERS_COUNT + 1] = {{0}};
    uint32_t ids[MAX_EVENT_FILTER_PID_COUNT + 1] = {(uint32_t)getpid()};
    struct received received = {0};
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle registration = register_as(&control_guid, &received);

    (void)state;
    for (size_t index = 0; index < sizeof unsupported / sizeof unsupported[0]; index++) {
        filters[0] = filter_of(unsupported[index], data, 8);
        assert_int_equal(enable_filtered(session, filters, 1), ERROR_NOT_SUPPORTED);
        filters[0].Size = 0;
        assert_int_equal(enable_filtered(session, filters, 1), ERROR_INVALID_PARAMETER);
        filters[0] = filter_of(unsupported[index], NULL, 8);
        assert_int_equal(enable_filtered(session, filters, 1), ERROR_INVALID_PARAMETER);
        filters[0] = filter_of(unsupported[index], data, sizeof data);
        assert_int_equal(enable_filtered(session, filters, 1), ERROR_INVALID_PARAMETER);
        /* What is wrong is said before what is not there. */
        filters[0].Size = 8;
        filters[1] = filter_of(EVENT_FILTER_TYPE_PID, NULL, 4);
        assert_int_equal(enable_filtered(session, filters, 2), ERROR_INVALID_PARAMETER);
    }
    filters[0] = filter_of(EVENT_FILTER_TYPE_PAYLOAD, data, sizeof data - 1);
    assert_int_equal(enable_filtered(session, filters, 1), ERROR_NOT_SUPPORTED);
    filters[0] = filter_of(EVENT_FILTER_TYPE_EVENT_ID, data, MAX_EVENT_FILTER_DATA_SIZE + 1);
    assert_int_equal(enable_filtered(session, filters, 1), ERROR_INVALID_PARAMETER);
    filters[0] = filter_of(0x80000040, data, 8);
    assert_int_equal(enable_filtered(session, filters, 1), ERROR_INVALID_PARAMETER);

    filters[0] = filter_of(EVENT_FILTER_TYPE_PID, ids, sizeof ids[0] - 1);
    assert_int_equal(enable_filtered(session, filters, 1), ERROR_INVALID_PARAMETER);
    filters[0] = filter_of(EVENT_FILTER_TYPE_PID, ids, sizeof ids);
    assert_int_equal(enable_filtered(session, filters, 1), ERROR_INVALID_PARAMETER);
    filters[0] = filter_of(EVENT_FILTER_TYPE_EXECUTABLE_NAME, u"unended", 14);
    assert_int_equal(enable_filtered(session, filters, 1), ERROR_INVALID_PARAMETER);
    filters[0] = filters[1] = filter_of(EVENT_FILTER_TYPE_PID, ids, sizeof ids[0]);
    assert_int_equal(enable_filtered(session, filters, 2), ERROR_INVALID_PARAMETER);
    assert_int_equal(enable_filtered(session, NULL, 1), ERROR_INVALID_PARAMETER);
    assert_int_equal(enable_filtered(session, filters, MAX_EVENT_FILTERS_COUNT + 1),
                     ERROR_INVALID_PARAMETER);
    filters[0] = filter_of(EVENT_FILTER_TYPE_NONE, data, 1);
    assert_int_equal(enable_filtered(session, filters, 1), ERROR_INVALID_PARAMETER);
    assert_int_equal(received.count, 0);

    /* What is not counted is not looked at. */
    assert_int_equal(enable_filtered(session, filters, 0), ERROR_SUCCESS);
    filters[0] = filter_of(EVENT_FILTER_TYPE_NONE, NULL, 0);
    assert_int_equal(enable_filtered(session, filters, 1), ERROR_SUCCESS);
    filters[1] = filter_of(EVENT_FILTER_TYPE_PID, ids, sizeof ids - sizeof ids[0]);
    assert_int_equal(enable_filtered(session, filters, 2), ERROR_SUCCESS);
    expect_received(&received, 3, WMI_ENABLE_EVENTS, session);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    stop_session(session, NULL);
}

static void a_process_that_a_filter_excludes_is_not_enabled(void **state)
{
    uint32_t own_id = (uint32_t)getpid();
    uint32_t other_ids[] = {own_id + 1, 1, 0};
    EVENT_FILTER_DESCRIPTOR own = filter_of(EVENT_FILTER_TYPE_PID, &own_id, sizeof own_id);
    EVENT_FILTER_DESCRIPTOR others = filter_of(EVENT_FILTER_TYPE_PID, other_ids, sizeof other_ids);
    EVENT_FILTER_DESCRIPTOR named =
        filter_of(EVENT_FILTER_TYPE_EXECUTABLE_NAME, u"nobody;PROVIDER_ENABLE;x",
                  sizeof u"nobody;PROVIDER_ENABLE;x");
    EVENT_FILTER_DESCRIPTOR misnamed = filter_of(EVENT_FILTER_TYPE_EXECUTABLE_NAME,
                                                 u"provider_enable2", sizeof u"provider_enable2");
    EVENT_FILTER_DESCRIPTOR both[] = {own, misnamed};
    ENABLE_TRACE_PARAMETERS one = {.Version = ENABLE_TRACE_PARAMETERS_VERSION,
                                   .EnableFilterDesc = &others,
                                   .FilterDescCount = 77};
    struct received received = {0};
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle second = start_recorder();
    etwas_trace_handle registration = register_as(&control_guid, &received);

    (void)state;
    assert_int_equal(enable_filtered(session, &others, 1), ERROR_SUCCESS);
    assert_int_equal(enable_filtered(session, &misnamed, 1), ERROR_SUCCESS);
    assert_int_equal(enable_filtered(session, both, 2), ERROR_SUCCESS);
    assert_int_equal(received.count, 0);
    assert_int_equal(look_up().instance.EnableCount, 0);
    /* A later registration is not enabled either. */
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    registration = register_as(&control_guid, &received);
    assert_int_equal(received.count, 0);

    assert_int_equal(enable_filtered(session, &named, 1), ERROR_SUCCESS);
    expect_received(&received, 1, WMI_ENABLE_EVENTS, session);
    both[1] = named;
    assert_int_equal(enable_filtered(session, both, 2), ERROR_SUCCESS);
    expect_received(&received, 2, WMI_ENABLE_EVENTS, session);
    /* Filters are replaced with everything else: now the process is excluded. */
    assert_int_equal(enable_with(session, &one), ERROR_SUCCESS);
    expect_received(&received, 3, WMI_DISABLE_EVENTS, session);
    assert_false(etwas_enabled(etwas_provider_of(registration), 1, 1));
    assert_int_equal(EnableTraceEx(&control_guid, NULL, session, 1, 1, 1, 0, 0, &own),
                     ERROR_SUCCESS);
    expect_received(&received, 4, WMI_ENABLE_EVENTS, session);
    /* What is meant for others neither takes the provider over nor asks it. */
    assert_int_equal(enable_filtered(second, &others, 1), ERROR_SUCCESS);
    one.EnableFilterDesc = &misnamed;
    assert_int_equal(
        EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0, 0, &one),
        ERROR_SUCCESS);
    assert_int_equal(received.count, 4);
    assert_true(etwas_enabled(etwas_provider_of(registration), 1, 1));
    one.EnableFilterDesc = &own;
    assert_int_equal(
        EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0, 0, &one),
        ERROR_SUCCESS);
    expect_received(&received, 5, WMI_CAPTURE_STATE, session);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    stop_session(session, NULL);
    stop_session(second, NULL);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static etwas_guid numbered(uint32_t number)
{
    etwas_guid guid = control_guid;

    guid.Data1 = number;
    return guid;
}

static void r190_1024_providers_may_be_enabled_beforehand_and_leave_room_to_register(void **state)
{
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle registrations[ETWAS_REGISTRATIONS];
    struct received received = {0};
    etwas_guid guid;

    (void)state;
    for (uint32_t index = 0; index < ETWAS_ENABLED_PROVIDERS; index++) {
        guid = numbered(index);
        assert_int_equal(EnableTrace(1, index, 1, &guid, session), ERROR_SUCCESS);
    }
    guid = numbered(ETWAS_ENABLED_PROVIDERS);
    assert_int_equal(EnableTrace(1, 1, 1, &guid, session), ERROR_NO_SYSTEM_RESOURCES);
    /* Registering has room of its own, under other GUIDs too. */
    for (uint32_t index = 0; index < ETWAS_REGISTRATIONS; index++) {
        guid = numbered(ETWAS_ENABLED_PROVIDERS / 2 + index);
        registrations[index] = register_as(&guid, &received);
    }
    assert_int_equal(received.count, ETWAS_ENABLED_PROVIDERS / 2);
    guid = numbered(7);
    assert_int_equal(EnableTrace(0, 0, 0, &guid, session), ERROR_SUCCESS);
    guid = numbered(ETWAS_ENABLED_PROVIDERS);
    assert_int_equal(EnableTrace(1, 1, 1, &guid, session), ERROR_SUCCESS);
    assert_int_equal(received.count, ETWAS_ENABLED_PROVIDERS / 2 + 1);
    stop_session(session, NULL);
    assert_int_equal(received.count, 2 * (ETWAS_ENABLED_PROVIDERS / 2 + 1));
    for (uint32_t index = 0; index < ETWAS_REGISTRATIONS; index++) {
        assert_int_equal(UnregisterTraceGuids(registrations[index]), ERROR_SUCCESS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r191_a_classic_provider_gets_the_level_and_the_low_half_of_the_keywords),
        FOLDER_TEST(r191_enabling_again_replaces_everything),
        FOLDER_TEST(r190_and_c14_what_is_asked_before_registering_can_be_changed_and_taken_back),
        FOLDER_TEST(r191_a_session_that_enables_a_provider_may_ask_for_its_state),
        FOLDER_TEST(r192_the_last_session_takes_the_provider_over_and_the_former_one_is_out),
        FOLDER_TEST(what_cannot_be_asked_is_refused_and_changes_nothing),
        FOLDER_TEST(c17_filters_have_limits_and_types_that_classic_providers_can_have),
        FOLDER_TEST(a_process_that_a_filter_excludes_is_not_enabled),
        FOLDER_TEST(r190_1024_providers_may_be_enabled_beforehand_and_leave_room_to_register),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
