/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the commands that steer sessions make of their arguments: levels, GUIDs and names of
 * providers, filters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <etwas/etwas.h>
#include <etwas/evntrace.h>
#include <etwas/shared.h>
#include <etwas/winerror.h>

#include "steer/filters.h"
#include "steer/provider.h"

static const char *text_of(const etwas_guid *guid)
{
    static char text[40];

    (void)snprintf(text, sizeof text, "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                   guid->Data1, guid->Data2, guid->Data3, guid->Data4[0], guid->Data4[1],
                   guid->Data4[2], guid->Data4[3], guid->Data4[4], guid->Data4[5], guid->Data4[6],
                   guid->Data4[7]);
    return text;
}

/* ---- providers ------------------------------------------------------------------------------- */

static void levels_have_numbers_and_names(void **state)
{
    uint8_t level = 0;

    (void)state;
    assert_true(etwas_steer_level("Critical", &level) && level == TRACE_LEVEL_CRITICAL);
    assert_true(etwas_steer_level("verbose", &level) && level == TRACE_LEVEL_VERBOSE);
    assert_true(etwas_steer_level("255", &level) && level == 255);
    assert_false(etwas_steer_level("256", &level));
    assert_false(etwas_steer_level("loud", &level));
}

/* The documentation of TraceLogging and of EventSource prints these. */
static void a_name_has_the_guid_that_tracelogging_makes_of_it(void **state)
{
    static const char *const known[][2] = {
        {"MySource", "a61ea624-4944-55fc-c2a8-37838829438d"},
        {"mysource", "a61ea624-4944-55fc-c2a8-37838829438d"},
        {"MyProvider", "b3864c38-4273-58c5-545b-8b3608343471"},
        {"MyCompany.MyComponent.MyProvider", "d5b90669-1aad-5db8-16c9-6286a7fcfe33"},
    };
    char name[3000];
    etwas_guid guid;
    etwas_guid other;

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(etwas_name_guid(known[i][0], &guid), ERROR_SUCCESS);
        assert_string_equal(text_of(&guid), known[i][1]);
    }
    /* Upper case of every language. */
    assert_int_equal(etwas_name_guid("größe", &guid), ERROR_SUCCESS);
    assert_int_equal(etwas_name_guid("GRÖßE", &other), ERROR_SUCCESS);
    assert_memory_equal(&guid, &other, sizeof guid);
    /*
     * Lengths at which the last block of the hash begins, with names that differ at the end alone.
     */
    memset(name, 'n', sizeof name);
    for (size_t length = 1; length < 1024; length++) {
        etwas_guid longer;

        name[length] = '\0';
        assert_int_equal(etwas_name_guid(name, &guid), ERROR_SUCCESS);
        name[length] = 'n';
        name[length + 1] = '\0';
        assert_int_equal(etwas_name_guid(name, &longer), ERROR_SUCCESS);
        name[length + 1] = 'n';
        assert_memory_not_equal(&guid, &longer, sizeof guid);
    }
    name[1025] = '\0';
    assert_int_equal(etwas_name_guid(name, &guid), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_name_guid("", &guid), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_name_guid("\xC3", &guid), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_name_guid("\xED\xA0\x80", &guid),
                     ERROR_INVALID_PARAMETER); /* half a surrogate pair */
}

static void a_guid_is_taken_as_it_is_and_a_bad_one_for_no_name(void **state)
{
    static const char *const wrong[] = {
        "",
        "{}",
        "{5ab7a3c2-1f0e-4d7b-9a31-6e02d48c7710",
        "{MySource}",
        "5ab7a3c2-1f0e-4d7b-9a31-6e02d48c771g",
        "5ab7a3c2-1f0e-4d7b-9a31--e02d48c7710",
    };
    char name[ETWAS_STEER_PROVIDER_BYTES];
    etwas_guid guid;

    (void)state;
    assert_true(etwas_steer_guid("5AB7a3c2-1f0e-4d7b-9a31-6e02d48c7710", &guid));
    assert_string_equal(text_of(&guid), "5ab7a3c2-1f0e-4d7b-9a31-6e02d48c7710");
    assert_true(etwas_steer_guid("{5ab7a3c2-1f0e-4d7b-9a31-6e02d48c7710}", &guid));
    assert_string_equal(text_of(&guid), "5ab7a3c2-1f0e-4d7b-9a31-6e02d48c7710");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(etwas_steer_guid(wrong[i], &guid));
    }
    assert_true(etwas_steer_guid("systemprocessprovider", &guid));
    assert_memory_equal(&guid, &SystemProcessProviderGuid, sizeof guid);
    assert_true(etwas_steer_provider_name(&guid, name));
    assert_string_equal(name, "SystemProcessProvider");
    assert_true(etwas_steer_guid("MySource", &guid));
    assert_false(etwas_steer_provider_name(&guid, name));
}

static void a_provider_may_have_keywords_and_a_level(void **state)
{
    static const char *const wrong[] = {
        ":", "", ":1", "MySource:x", "MySource:1:", "MySource:1:2:3", "MySource:1:loud"};
    struct etwas_steer_provider provider;

    (void)state;
    assert_true(etwas_steer_parse_provider("MySource", &provider));
    assert_true(provider.keywords == 0 && provider.level == ETWAS_STEER_ANY_LEVEL);
    assert_true(etwas_steer_parse_provider("MySource:0xF000000000000001", &provider));
    assert_true(provider.keywords == 0xF000000000000001 && provider.level == ETWAS_STEER_ANY_LEVEL);
    assert_true(etwas_steer_parse_provider("MySource::error", &provider));
    assert_true(provider.keywords == 0 && provider.level == TRACE_LEVEL_ERROR);
    assert_true(etwas_steer_parse_provider("MySource:3:4", &provider));
    assert_true(provider.keywords == 3 && provider.level == 4);
    assert_string_equal(provider.text, "MySource:3:4");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(etwas_steer_parse_provider(wrong[i], &provider));
    }
}

/* ---- filters --------------------------------------------------------------------------------- */

static void filters_are_of_processes_programs_and_events(void **state)
{
    static struct etwas_steer_filters filters;
    EVENT_FILTER_DESCRIPTOR descriptors[ETWAS_STEER_DESCRIPTORS];
    const EVENT_FILTER_EVENT_ID *ids = (const void *)filters.ids;
    const EVENT_FILTER_EVENT_NAME *names = (const void *)filters.names;

    (void)state;
    assert_int_equal(etwas_steer_filters_describe(&filters, NULL, false, descriptors), 0);
    assert_true(etwas_steer_filter_processes(&filters, "1,4711"));
    assert_true(etwas_steer_filter_programs(&filters, "shop,köln"));
    assert_true(etwas_steer_filter_events(&filters, "0,Order*,7,\"a,b\",65535"));
    assert_int_equal(etwas_steer_filters_describe(&filters, "Shop.*", false, descriptors), 5);
    assert_int_equal(descriptors[0].Type, EVENT_FILTER_TYPE_PID);
    assert_int_equal(descriptors[0].Size, 8);
    assert_int_equal(filters.processes[1], 4711);
    assert_int_equal(descriptors[1].Type, EVENT_FILTER_TYPE_EXECUTABLE_NAME);
    assert_int_equal(descriptors[1].Size, 20); /* nine characters and the 0 */
    assert_int_equal(filters.programs[4], ';');
    assert_int_equal(filters.programs[6], 0xF6);
    assert_int_equal(filters.programs[9], 0);
    assert_int_equal(descriptors[2].Type, EVENT_FILTER_TYPE_EVENT_ID);
    assert_int_equal(descriptors[2].Size, 10);
    assert_int_equal(ids->FilterIn, 1);
    assert_int_equal(ids->Count, 3);
    assert_int_equal(ids->Events[0], 0);
    assert_int_equal(filters.ids[4], 65535);
    assert_int_equal(descriptors[3].Type, ETWAS_FILTER_TYPE_EVENT_PATTERN);
    assert_int_equal(descriptors[3].Size, offsetof(EVENT_FILTER_EVENT_NAME, Names) + 11);
    assert_int_equal(names->FilterIn, 1);
    assert_int_equal(names->NameCount, 2);
    assert_memory_equal(names->Names, "Order*\0a,b", 11);
    assert_int_equal(descriptors[4].Type, ETWAS_FILTER_TYPE_PROVIDER_NAME);
    assert_int_equal(descriptors[4].Size, 7);
    /* ETW has one of each type at most. */
    assert_false(etwas_steer_filter_processes(&filters, "2"));
    assert_false(etwas_steer_filter_events(&filters, "2"));
    assert_int_equal(filters.processes[1], 4711);
}

/* Events that have names have no ids that they could be chosen by. */
static void ids_alone_leave_out_what_has_a_name(void **state)
{
    static struct etwas_steer_filters filters;
    EVENT_FILTER_DESCRIPTOR descriptors[ETWAS_STEER_DESCRIPTORS];
    const EVENT_FILTER_EVENT_NAME *names;

    (void)state;
    assert_true(etwas_steer_filter_events(&filters, "7"));
    assert_int_equal(etwas_steer_filters_describe(&filters, NULL, true, descriptors), 1);
    assert_int_equal(etwas_steer_filters_describe(&filters, NULL, false, descriptors), 2);
    assert_int_equal(descriptors[1].Type, ETWAS_FILTER_TYPE_EVENT_PATTERN);
    names = (const void *)(uintptr_t)descriptors[1].Ptr;
    assert_int_equal(descriptors[1].Size, offsetof(EVENT_FILTER_EVENT_NAME, Names) + 1);
    assert_true(names->FilterIn == 1 && names->NameCount == 1 && names->Names[0] == 0);
}

static void what_is_too_much_for_a_filter_is_refused(void **state)
{
    static const char *const wrong[] = {"",
                                        ",",
                                        "1,",
                                        ",1",
                                        "1,,2",
                                        "1,2,3,4,5,6,7,8,9",
                                        "0",
                                        "-1",
                                        "2147483648",
                                        "shop",
                                        "00000000000000000000000000000001"};
    static struct etwas_steer_filters filters;
    static struct etwas_steer_filters other;
    static char long_name[MAX_EVENT_FILTER_EVENT_NAME_SIZE];
    char names[600];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(etwas_steer_filter_processes(&filters, wrong[i]));
    }
    assert_false(etwas_steer_filter_events(&filters, "65536"));
    assert_false(etwas_steer_filter_events(&filters, ""));
    assert_false(etwas_steer_filter_events(&filters, ",a"));
    memset(long_name, 'n', sizeof long_name - 1);
    assert_false(etwas_steer_filter_events(&other, long_name));
    memset(names, 'n', sizeof names);
    names[512] = '\0';
    assert_false(etwas_steer_filter_programs(&filters, names));
    assert_false(etwas_steer_filter_programs(&filters, ""));
    assert_false(etwas_steer_filter_programs(&filters, "shop,,till"));
    assert_false(etwas_steer_filter_programs(&filters, "shop,"));
    assert_false(etwas_steer_filter_programs(&filters, "shop;till")); /* ETW would have two */
    assert_false(etwas_steer_filters_are_any(&filters));
    names[511] = '\0';
    assert_true(etwas_steer_filter_programs(&filters, names));
    assert_int_equal(filters.program_bytes, MAX_EVENT_FILTER_DATA_SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_have_numbers_and_names),
        cmocka_unit_test(a_name_has_the_guid_that_tracelogging_makes_of_it),
        cmocka_unit_test(a_guid_is_taken_as_it_is_and_a_bad_one_for_no_name),
        cmocka_unit_test(a_provider_may_have_keywords_and_a_level),
        cmocka_unit_test(filters_are_of_processes_programs_and_events),
        cmocka_unit_test(ids_alone_leave_out_what_has_a_name),
        cmocka_unit_test(what_is_too_much_for_a_filter_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
