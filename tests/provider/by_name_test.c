/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Providers that a session enables by a name or a pattern (ETWAS_FILTER_TYPE_PROVIDER_NAME).
 */
#include <etwas/etwas.h>
#include <string.h>

#include "provider/modern.h"
#include "provider/name_pattern.h"

static const etwas_guid key = {0x77777777, 7, 7, {7, 7, 7, 7, 7, 7, 7, 7}};
static const etwas_guid other_key = {0x88888888, 7, 7, {8, 8, 8, 8, 8, 8, 8, 8}};
static const etwas_guid till_guid = {0x11111111, 9, 9, {1, 1, 1, 1, 1, 1, 1, 1}};
static const etwas_guid stock_guid = {0x12121212, 9, 9, {2, 2, 2, 2, 2, 2, 2, 2}};
static const etwas_guid class_guid = {0x13131313, 9, 9, {3, 3, 3, 3, 3, 3, 3, 3}};

static uint32_t use_name(etwas_trace_handle session, const etwas_guid *provider, uint32_t code,
                         uint8_t level, const char *name)
{
    EVENT_FILTER_DESCRIPTOR filter = {.Ptr = (uint64_t)(uintptr_t)name,
                                      .Size = (uint32_t)strlen(name) + 1,
                                      .Type = ETWAS_FILTER_TYPE_PROVIDER_NAME};
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
                                          .EnableFilterDesc = &filter,
                                          .FilterDescCount = 1};

    return EnableTraceEx2(session, provider, code, level, 0, 0, INFINITELY, &parameters);
}

static void enable_name(etwas_trace_handle session, uint8_t level, const char *name)
{
    assert_int_equal(use_name(session, &key, EVENT_CONTROL_CODE_ENABLE_PROVIDER, level, name),
                     ERROR_SUCCESS);
}

static uint32_t control(etwas_trace_handle session, const etwas_guid *provider, uint32_t code,
                        uint8_t level)
{
    return EnableTraceEx2(session, provider, code, level, 0, 0, INFINITELY, NULL);
}

static void receive(const etwas_guid *source, uint32_t is_enabled, uint8_t level, uint64_t any,
                    uint64_t all, EVENT_FILTER_DESCRIPTOR *filter, void *context)
{
    struct received *received = context;

    *received =
        (struct received){received->calls + 1, *source, is_enabled, level, any, all, filter};
}

static void call_itself(REGHANDLE provider, const char *name)
{
    uint8_t traits[64] = {0};
    const uint32_t bytes = (uint32_t)strlen(name) + 3;

    traits[0] = (uint8_t)bytes;
    memcpy(traits + 2, name, strlen(name));
    assert_int_equal(EventSetInformation(provider, EventProviderSetTraits, traits, bytes),
                     ERROR_SUCCESS);
}

static REGHANDLE begin_named(const etwas_guid *guid, const char *name, struct received *received)
{
    REGHANDLE provider = 0;

    assert_int_equal(EventRegister(guid, received != NULL ? receive : NULL, received, &provider),
                     ERROR_SUCCESS);
    call_itself(provider, name);
    return provider;
}

/* ---- patterns -------------------------------------------------------------------------------- */

static bool matches(const char *pattern, const char *name)
{
    return etwas_name_pattern_matches(pattern, (uint32_t)strlen(pattern), name, true);
}

static void a_star_stands_for_any_characters_and_a_question_mark_for_one(void **state)
{
    (void)state;
    assert_true(matches("Shop.Till", "shop.TILL"));
    assert_false(matches("Shop.Till", "Shop.Til"));
    assert_false(matches("Shop.Til", "Shop.Till"));
    assert_true(matches("*", "") && matches("*", "a") && matches("**a**", "a"));
    assert_true(matches("Shop.*", "Shop.") && matches("Shop.*", "Shop.Till"));
    assert_false(matches("Shop.*", "Shop") || matches("Shop.*", "My.Shop.Till"));
    assert_true(matches("*.Till", "Shop.Till") && matches("*ab*abc", "ababxabc"));
    assert_false(matches("*.Till", "Shop.Tills"));
    assert_true(matches("S?op", "Shop") && matches("?", "\xC3\xA4") &&
                matches("a?c", "a\xE2\x82\xAC"
                               "c"));
    assert_false(matches("S?op", "Sop") || matches("?", "") || matches("??", "\xC3\xA4"));
    assert_true(matches("*?z", "\xC3\xA4yz"));
    /* Only ASCII letters have another case, and none where case counts. */
    assert_false(matches("@", "`") || etwas_name_pattern_matches("A", 1, "a", false));
    assert_false(matches("", "a"));
    assert_true(matches("", ""));
}

/* ---- enabling -------------------------------------------------------------------------------- */

static void providers_of_such_names_are_enabled_now_and_later_and_no_others(void **state)
{
    etwas_trace_handle session = start_recorder();
    struct received till_heard = {0};
    struct received stock_heard = {0};
    REGHANDLE till = begin_named(&till_guid, "Shop.Till", &till_heard);
    REGHANDLE other = begin_named(&control_guid, "Shopping", NULL);
    REGHANDLE stock;

    (void)state;
    enable_name(session, 3, "shop.*");
    assert_int_equal(till_heard.calls, 1);
    assert_int_equal(till_heard.level, 3);
    assert_true(EventProviderEnabled(till, 3, 1) && !EventProviderEnabled(till, 4, 1));
    assert_false(EventProviderEnabled(other, 1, 1));
    stock = begin_named(&stock_guid, "Shop.Stock", &stock_heard);
    assert_int_equal(stock_heard.calls, 1);
    assert_int_equal(stock_heard.is_enabled, 1);
    assert_int_equal(write_number(stock, 3, 1, 1), ERROR_SUCCESS);
    assert_int_equal(write_number(till, 3, 1, 1), ERROR_SUCCESS);
    assert_int_equal(write_number(other, 3, 1, 1), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).recorded, 2);
    /* Asked again, it is replaced; and it is about state, too. */
    enable_name(session, 5, "shop.t*");
    assert_int_equal(till_heard.level, 5);
    assert_int_equal(till_heard.calls, 2);
    assert_int_equal(stock_heard.is_enabled, 0);
    assert_int_equal(control(session, &key, EVENT_CONTROL_CODE_CAPTURE_STATE, 0), ERROR_SUCCESS);
    assert_int_equal(till_heard.is_enabled, EVENT_CONTROL_CODE_CAPTURE_STATE);
    assert_int_equal(stock_heard.calls, 2);
    assert_int_equal(control(session, &key, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0), ERROR_SUCCESS);
    assert_int_equal(till_heard.is_enabled, 0);
    assert_false(EventProviderEnabled(till, 1, 1));
    assert_int_equal(EventUnregister(stock), ERROR_SUCCESS);
    stock = begin_named(&stock_guid, "Shop.Stock", NULL);
    assert_false(EventProviderEnabled(stock, 1, 1));
    enable_name(session, 0, "*");
    assert_true(EventProviderEnabled(other, 1, 1) && EventProviderEnabled(stock, 1, 1));
    stop_session(session, NULL);
    assert_int_equal(till_heard.is_enabled, 0);
    assert_false(EventProviderEnabled(other, 1, 1) || EventProviderEnabled(till, 1, 1));
    assert_int_equal(EventUnregister(till), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(stock), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(other), ERROR_SUCCESS);
}

static void what_is_asked_of_the_guid_itself_counts_more_and_of_two_names_the_newer(void **state)
{
    etwas_trace_handle session = start_recorder();
    struct received heard = {0};
    REGHANDLE till = begin_named(&till_guid, "Shop.Till", &heard);

    (void)state;
    assert_int_equal(control(session, &till_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 2),
                     ERROR_SUCCESS);
    enable_name(session, 4, "Shop.*");
    assert_int_equal(heard.level, 2);
    /* Its name is still enabled. */
    assert_int_equal(control(session, &till_guid, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0),
                     ERROR_SUCCESS);
    assert_int_equal(heard.level, 4);
    assert_int_equal(use_name(session, &other_key, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, "*.Till"),
                     ERROR_SUCCESS);
    assert_int_equal(heard.level, 5);
    assert_int_equal(control(session, &other_key, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0),
                     ERROR_SUCCESS);
    assert_int_equal(heard.level, 4);
    assert_int_equal(heard.is_enabled, 1);
    assert_int_equal(control(session, &key, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0), ERROR_SUCCESS);
    assert_int_equal(heard.is_enabled, 0);
    stop_session(session, NULL);
    assert_int_equal(EventUnregister(till), ERROR_SUCCESS);
}

/* The key may be a provider's own GUID: that of a name which nobody has registered yet. */
static void a_name_is_enabled_under_its_own_guid_and_under_another(void **state)
{
    etwas_trace_handle session = start_recorder();
    REGHANDLE own = begin_named(&key, "Shop.Till", NULL);
    REGHANDLE till = begin_named(&till_guid, "Shop.Till", NULL);
    uint16_t ids[] = {1, 1, 7};
    EVENT_FILTER_DESCRIPTOR filters[] = {
        {(uint64_t)(uintptr_t) "Shop.Till", sizeof "Shop.Till", ETWAS_FILTER_TYPE_PROVIDER_NAME},
        {(uint64_t)(uintptr_t)ids, sizeof ids, EVENT_FILTER_TYPE_EVENT_ID}};
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
                                          .EnableFilterDesc = filters,
                                          .FilterDescCount = 2};

    (void)state;
    assert_int_equal(EnableTraceEx2(session, &key, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 0, 0,
                                    INFINITELY, &parameters),
                     ERROR_SUCCESS);
    assert_int_equal(write_number(own, 1, 1, 1), ERROR_SUCCESS);
    assert_int_equal(write_number(till, 1, 1, 1), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).recorded, 2);
    /* The other filters are theirs, too. */
    ids[2] = 8;
    assert_int_equal(EnableTraceEx2(session, &key, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 0, 0,
                                    INFINITELY, &parameters),
                     ERROR_SUCCESS);
    assert_int_equal(write_number(own, 1, 1, 1), ERROR_SUCCESS);
    assert_int_equal(write_number(till, 1, 1, 1), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).recorded, 2);
    stop_session(session, NULL);
    assert_int_equal(EventUnregister(own), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(till), ERROR_SUCCESS);
}

/* ---- classic providers ----------------------------------------------------------------------- */

static uint32_t classic_calls;

static uint32_t classic_callback(WMIDPREQUESTCODE code, void *context, uint32_t *reserved,
                                 void *buffer)
{
    (void)context;
    (void)reserved;
    (void)buffer;
    classic_calls += code == WMI_ENABLE_EVENTS;
    return ERROR_SUCCESS;
}

static void a_classic_provider_has_the_name_of_its_description(void **state)
{
    const etwas_type_description type = {.name = "Start", .type = 1};
    const etwas_class_description description = {.guid = &class_guid,
                                                 .provider_name = "Shop.Classic",
                                                 .name = "Order",
                                                 .types = &type,
                                                 .type_count = 1};
    TRACE_GUID_REGISTRATION class = {.Guid = &class_guid};
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle provider;

    (void)state;
    enable_name(session, 3, "Shop.C*");
    assert_int_equal(RegisterTraceGuidsA(classic_callback, NULL, &control_guid, 1, &class, NULL,
                                         NULL, &provider),
                     ERROR_SUCCESS);
    assert_false(etwas_enabled(etwas_provider_of(provider), 1, 0));
    assert_int_equal(etwas_describe_class(&description, NULL), ERROR_SUCCESS);
    assert_int_equal(classic_calls, 1);
    assert_true(etwas_enabled(etwas_provider_of(provider), 3, 0));
    assert_int_equal(UnregisterTraceGuids(provider), ERROR_SUCCESS);
    /* Described before, it is enabled when it is registered. */
    assert_int_equal(RegisterTraceGuidsA(classic_callback, NULL, &control_guid, 1, &class, NULL,
                                         NULL, &provider),
                     ERROR_SUCCESS);
    assert_int_equal(classic_calls, 2);
    assert_true(etwas_enabled(etwas_provider_of(provider), 3, 0));
    stop_session(session, NULL);
    assert_int_equal(UnregisterTraceGuids(provider), ERROR_SUCCESS);
}

static void one_that_takes_over_ends_what_was_requested_by_name_with_it(void **state)
{
    etwas_trace_handle first = start_recorder();
    etwas_trace_handle second = start_recorder();
    struct received heard = {0};
    REGHANDLE till = begin_named(&till_guid, "Shop.Till", &heard);
    etwas_trace_handle provider;

    (void)state;
    assert_int_equal(
        RegisterTraceGuidsA(classic_callback, NULL, &control_guid, 0, NULL, NULL, NULL, &provider),
        ERROR_SUCCESS);
    assert_int_equal(
        use_name(first, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 3, "Shop.Till"),
        ERROR_SUCCESS);
    assert_int_equal(heard.is_enabled, 1);
    assert_int_equal(control(second, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 3),
                     ERROR_SUCCESS);
    assert_int_equal(heard.is_enabled, 0);
    assert_int_equal(heard.calls, 2);
    stop_session(first, NULL);
    stop_session(second, NULL);
    assert_int_equal(UnregisterTraceGuids(provider), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(till), ERROR_SUCCESS);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Eight sessions at most enable a provider. */
static void one_that_cannot_be_enabled_by_its_name_is_an_error_and_the_others_are(void **state)
{
    enum {
        SESSIONS = 9
    };
    etwas_trace_handle sessions[SESSIONS];
    REGHANDLE till = begin_named(&till_guid, "Shop.Till", NULL);
    REGHANDLE stock = begin_named(&stock_guid, "Shop.Stock", NULL);

    (void)state;
    for (uint32_t index = 0; index < SESSIONS; index++) {
        const bool is_last = index == SESSIONS - 1;
        etwas_guid own_key = key;

        own_key.Data1 += index;
        sessions[index] = start_recorder();
        assert_int_equal(use_name(sessions[index], &own_key, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 3,
                                  is_last ? "Shop.*" : "Shop.Till"),
                         is_last ? ERROR_NO_SYSTEM_RESOURCES : ERROR_SUCCESS);
    }
    assert_int_equal(write_number(till, 1, 1, 1), ERROR_SUCCESS);
    assert_int_equal(write_number(stock, 1, 1, 2), ERROR_SUCCESS);
    assert_int_equal(counts_of(sessions[SESSIONS - 1]).recorded, 1);
    for (uint32_t index = 0; index < SESSIONS; index++) {
        stop_session(sessions[index], NULL);
    }
    assert_int_equal(EventUnregister(till), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(stock), ERROR_SUCCESS);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void the_guids_of_a_pattern_are_those_of_the_names_that_it_is_for(void **state)
{
    REGHANDLE till = begin_named(&till_guid, "Shop.Till", NULL);
    REGHANDLE stock = begin_named(&stock_guid, "Shop.Stock", NULL);
    etwas_guid guids[4];
    uint32_t count;

    (void)state;
    assert_int_equal(etwas_provider_guids("SHOP.*", guids, 4, &count), ERROR_SUCCESS);
    assert_int_equal(count, 2);
    assert_int_equal(etwas_provider_guids("Shop.?ill", guids, 4, &count), ERROR_SUCCESS);
    assert_int_equal(count, 1);
    expect_guid(&guids[0], &till_guid);
    assert_int_equal(etwas_provider_guids("Shop.??ll", guids, 4, &count), ERROR_SUCCESS);
    assert_int_equal(etwas_provider_guids("?hop", guids, 4, &count), ERROR_NOT_FOUND);
    assert_int_equal(EventUnregister(till), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(stock), ERROR_SUCCESS);
}

static void a_name_that_is_none_is_refused(void **state)
{
    char name[ETWAS_FILTER_PROVIDER_NAME_BYTES + 1];
    EVENT_FILTER_DESCRIPTOR filter = {(uint64_t)(uintptr_t) "ab", 2,
                                      ETWAS_FILTER_TYPE_PROVIDER_NAME};
    etwas_trace_handle session = start_recorder();

    (void)state;
    assert_int_equal(enable_asking(session, 0, &filter, 1), ERROR_INVALID_PARAMETER);
    assert_int_equal(use_name(session, &key, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, ""),
                     ERROR_INVALID_PARAMETER);
    filter.Ptr = (uint64_t)(uintptr_t) "a\0b";
    filter.Size = 4;
    assert_int_equal(enable_asking(session, 0, &filter, 1), ERROR_INVALID_PARAMETER);
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(use_name(session, &key, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, name),
                     ERROR_INVALID_PARAMETER);
    enable_name(session, 0, name + 1);
    filter.Size = 2;
    filter.Ptr = (uint64_t)(uintptr_t) "a";
    assert_int_equal(enable_asking(session, EVENT_ENABLE_PROPERTY_PROVIDER_GROUP, &filter, 1),
                     ERROR_INVALID_PARAMETER);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_star_stands_for_any_characters_and_a_question_mark_for_one),
        FOLDER_TEST(providers_of_such_names_are_enabled_now_and_later_and_no_others),
        FOLDER_TEST(what_is_asked_of_the_guid_itself_counts_more_and_of_two_names_the_newer),
        FOLDER_TEST(a_name_is_enabled_under_its_own_guid_and_under_another),
        FOLDER_TEST(a_classic_provider_has_the_name_of_its_description),
        FOLDER_TEST(one_that_takes_over_ends_what_was_requested_by_name_with_it),
        FOLDER_TEST(one_that_cannot_be_enabled_by_its_name_is_an_error_and_the_others_are),
        FOLDER_TEST(the_guids_of_a_pattern_are_those_of_the_names_that_it_is_for),
        FOLDER_TEST(a_name_that_is_none_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
