/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Provider groups: what is enabled for a group is enabled for each of its providers.
 */
#include <string.h>

#include "provider/modern.h"

static const etwas_guid group_guid = {0x55555555, 9, 9, {5, 5, 5, 5, 5, 5, 5, 5}};
static const etwas_guid other_guid = {0x66666666, 9, 9, {6, 6, 6, 6, 6, 6, 6, 6}};

static uint32_t use_group(etwas_trace_handle session, uint32_t control_code, uint8_t level,
                          EVENT_FILTER_DESCRIPTOR *filter)
{
    ENABLE_TRACE_PARAMETERS parameters = {
        .Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
        .EnableProperty = EVENT_ENABLE_PROPERTY_PROVIDER_GROUP,
        .EnableFilterDesc = filter,
        .FilterDescCount = filter != NULL ? 1 : 0,
    };

    return EnableTraceEx2(session, &group_guid, control_code, level, 0, 0, INFINITELY, &parameters);
}

static void join_group(REGHANDLE provider)
{
    uint8_t traits[4 + 3 + sizeof group_guid] = {
        sizeof traits, 0, 'N', 0, 3 + sizeof group_guid, 0, ETW_PROVIDER_TRAIT_TYPE_GROUP};

    memcpy(traits + 7, &group_guid, sizeof group_guid);
    assert_int_equal(EventSetInformation(provider, EventProviderSetTraits, traits, sizeof traits),
                     ERROR_SUCCESS);
}

static REGHANDLE register_other(void)
{
    REGHANDLE provider = 0;

    assert_int_equal(EventRegister(&other_guid, NULL, NULL, &provider), ERROR_SUCCESS);
    return provider;
}

static uint32_t count_groups(void)
{
    etwas_guid groups[4];
    uint32_t bytes = 0;

    assert_int_equal(
        EnumerateTraceGuidsEx(TraceGroupQueryList, NULL, 0, groups, sizeof groups, &bytes),
        ERROR_SUCCESS);
    return bytes / (uint32_t)sizeof groups[0];
}

static void a_group_is_enabled_and_disabled_as_one_whenever_its_providers_join(void **state)
{
    etwas_trace_handle session = start_recorder();
    struct received received = {0};
    REGHANDLE first = begin_modern(&received);
    REGHANDLE second = register_other();
    REGHANDLE outsider = begin_modern(NULL);

    (void)state;
    assert_int_equal(count_groups(), 0);
    join_group(first);
    assert_int_equal(received.calls, 0);
    assert_int_equal(use_group(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 3, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(count_groups(), 1);
    assert_int_equal(received.calls, 1);
    assert_int_equal(received.is_enabled, 1);
    assert_int_equal(received.level, 3);
    assert_true(EventProviderEnabled(first, 3, 1));
    assert_false(EventProviderEnabled(first, 4, 1));
    assert_false(EventProviderEnabled(second, 3, 1));
    join_group(second);
    assert_true(EventProviderEnabled(second, 3, 1));
    assert_false(EventProviderEnabled(outsider, 3, 1));
    assert_int_equal(write_number(first, 3, 1, 1), ERROR_SUCCESS);
    assert_int_equal(write_number(second, 3, 1, 2), ERROR_SUCCESS);
    assert_int_equal(write_number(outsider, 3, 1, 3), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).recorded, 2);

    assert_int_equal(use_group(session, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(received.calls, 2);
    assert_int_equal(received.is_enabled, 2);
    assert_int_equal(use_group(session, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(received.calls, 3);
    assert_int_equal(received.is_enabled, 0);
    assert_false(EventProviderEnabled(first, 3, 1));
    assert_false(EventProviderEnabled(second, 3, 1));

    /* A provider that joins one that is enabled hears so at once; the end of the session, too. */
    assert_int_equal(EventUnregister(first), ERROR_SUCCESS);
    assert_int_equal(use_group(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 3, NULL),
                     ERROR_SUCCESS);
    first = begin_modern(&received);
    assert_int_equal(received.calls, 3);
    join_group(first);
    assert_int_equal(received.calls, 4);
    assert_int_equal(received.is_enabled, 1);
    stop_session(session, NULL);
    assert_int_equal(received.calls, 5);
    assert_int_equal(received.is_enabled, 0);
    assert_int_equal(EventUnregister(first), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(second), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(outsider), ERROR_SUCCESS);
    assert_int_equal(count_groups(), 0);
}

static void a_session_that_enables_a_provider_itself_gets_its_events_once(void **state)
{
    uint16_t ids[] = {1, 1, 7};
    EVENT_FILTER_DESCRIPTOR filter = {(uint64_t)(uintptr_t)ids, sizeof ids,
                                      EVENT_FILTER_TYPE_EVENT_ID};
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle other = start_recorder();
    REGHANDLE provider = begin_modern(NULL);

    (void)state;
    join_group(provider);
    assert_int_equal(use_group(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(use_group(other, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, NULL), ERROR_SUCCESS);
    enable_modern(session, 2, 0, 0);
    assert_int_equal(write_number(provider, 2, 1, 1), ERROR_SUCCESS);
    assert_int_equal(write_number(provider, 5, 1, 2), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).recorded, 1);
    assert_int_equal(counts_of(other).recorded, 2);
    disable_modern(session);
    assert_int_equal(write_number(provider, 5, 1, 3), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).recorded, 2);
    /* Ids and names are a provider's own. */
    assert_int_equal(use_group(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, &filter),
                     ERROR_INVALID_PARAMETER);
    filter.Type = EVENT_FILTER_TYPE_STACKWALK;
    assert_int_equal(use_group(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, &filter),
                     ERROR_SUCCESS);
    stop_session(session, NULL);
    stop_session(other, NULL);
    assert_false(EventProviderEnabled(provider, 1, 1));
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

struct group_info {
    uint32_t enable_bytes;
    uint32_t members;
    TRACE_ENABLE_INFO enables[2];
    etwas_guid guids[2];
};

static uint32_t ask_group(void *answer, uint32_t room, uint32_t *bytes)
{
    return EnumerateTraceGuidsEx(TraceGroupQueryInfo, (void *)(uintptr_t)&group_guid,
                                 sizeof group_guid, answer, room, bytes);
}

/* Each part lies right behind the one before. */
static void query_group(struct group_info *info)
{
    uint8_t answer[sizeof *info];
    const uint8_t *at = answer + sizeof info->enable_bytes;
    uint32_t bytes;

    assert_int_equal(ask_group(answer, sizeof answer, &bytes), ERROR_SUCCESS);
    memcpy(&info->enable_bytes, answer, sizeof info->enable_bytes);
    assert_true(info->enable_bytes <= sizeof info->enables);
    memcpy(info->enables, at, info->enable_bytes);
    at += info->enable_bytes;
    memcpy(&info->members, at, sizeof info->members);
    assert_true(info->members <= 2);
    at += sizeof info->members;
    memcpy(info->guids, at, info->members * sizeof info->guids[0]);
    assert_ptr_equal(at + info->members * sizeof info->guids[0], answer + bytes);
}

static void a_group_says_who_enables_it_and_which_providers_it_has(void **state)
{
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle other = start_recorder();
    REGHANDLE first = begin_modern(NULL);
    REGHANDLE again = begin_modern(NULL);
    REGHANDLE second = register_other();
    const TRACE_ENABLE_INFO *enabled;
    struct group_info info;
    uint8_t byte = 77;
    uint32_t bytes = 77;
    uint32_t own;

    (void)state;
    assert_int_equal(ask_group(NULL, 0, &bytes), ERROR_WMI_GUID_NOT_FOUND);
    assert_int_equal(bytes, 77);
    /* A group that is enabled and has no provider; then some, of which one is registered twice. */
    assert_int_equal(use_group(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 3, NULL),
                     ERROR_SUCCESS);
    query_group(&info);
    assert_int_equal(info.members, 0);
    join_group(first);
    join_group(again);
    join_group(second);
    assert_int_equal(use_group(other, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, NULL), ERROR_SUCCESS);
    enable_modern(other, 5, 0, 0); /* of a provider, not of the group */
    query_group(&info);
    assert_int_equal(info.enable_bytes, sizeof info.enables);
    enabled = &info.enables[info.enables[0].LoggerId == (session & 0xFF) ? 0 : 1];
    assert_int_equal(enabled->IsEnabled, 1);
    assert_int_equal(enabled->LoggerId, session & 0xFF);
    assert_int_equal(enabled->Level, 3);
    assert_int_equal(enabled->EnableProperty, EVENT_ENABLE_PROPERTY_PROVIDER_GROUP);
    assert_int_equal(info.enables[0].Level + info.enables[1].Level, 7);
    assert_int_equal(info.members, 2);
    own = memcmp(&info.guids[0], &control_guid, sizeof control_guid) == 0 ? 0 : 1;
    assert_memory_equal(&info.guids[own], &control_guid, sizeof control_guid);
    assert_memory_equal(&info.guids[1 - own], &other_guid, sizeof other_guid);
    assert_int_equal(ask_group(&byte, 0, &bytes), ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(bytes, 4 + sizeof info.enables + 4 + sizeof info.guids);
    assert_int_equal(byte, 77);

    stop_session(session, NULL);
    stop_session(other, NULL);
    assert_int_equal(EventUnregister(first), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(second), ERROR_SUCCESS);
    query_group(&info);
    assert_int_equal(info.enable_bytes, 0);
    assert_int_equal(info.members, 1);
    assert_memory_equal(&info.guids[0], &control_guid, sizeof control_guid);
    assert_int_equal(EventUnregister(again), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_group_is_enabled_and_disabled_as_one_whenever_its_providers_join),
        FOLDER_TEST(a_session_that_enables_a_provider_itself_gets_its_events_once),
        FOLDER_TEST(a_group_says_who_enables_it_and_which_providers_it_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
