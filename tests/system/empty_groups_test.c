/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_ALPC, _REGISTRY and _DRIVER are accepted and have no events, and the session
 * explains why.
 */
#include <etwas/etwas.h>
#include <string.h>

#include "system/kernel_fixture.h"

enum {
    SILENT = EVENT_TRACE_FLAG_ALPC | EVENT_TRACE_FLAG_REGISTRY | EVENT_TRACE_FLAG_DRIVER,
    ROOM = 512,
};

static void flags_without_events_are_explained(void **state)
{
    char sentence[ROOM] = "something";
    uint32_t flags = 7;
    etwas_trace_handle session;

    (void)state;
    session = start_kernel(FLAGS);
    assert_int_equal(etwas_kernel_silent(session, &flags, sentence, ROOM), ERROR_SUCCESS);
    assert_int_equal(flags, 0);
    assert_string_equal(sentence, "");
    update_kernel_flags(session, FLAGS | SILENT, ERROR_SUCCESS);
    assert_int_equal(etwas_kernel_silent(session, &flags, sentence, ROOM), ERROR_SUCCESS);
    assert_int_equal(flags, SILENT);
    assert_non_null(strstr(sentence, "ALPC"));
    assert_non_null(strstr(sentence, "REGISTRY"));
    assert_non_null(strstr(sentence, "DRIVER"));
    assert_in_range(strlen(sentence), 0, ROOM - 2);
    update_kernel_flags(session, SILENT & ~EVENT_TRACE_FLAG_DRIVER, ERROR_SUCCESS);
    assert_int_equal(etwas_kernel_silent(session, &flags, sentence, ROOM), ERROR_SUCCESS);
    assert_int_equal(flags, SILENT & ~EVENT_TRACE_FLAG_DRIVER);
    assert_null(strstr(sentence, "DRIVER"));
    stop_session(session, NULL);
}

/* 7be5a508-db35-4ec9-b650-a9720ecb3b69: our own. */
static const etwas_guid own_class = {
    0x7be5a508, 0xdb35, 0x4ec9, {0xb6, 0x50, 0xa9, 0x72, 0x0e, 0xcb, 0x3b, 0x69}};

static uint32_t count_emitted(const struct events *events, uint32_t flag, const char *name)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_kernel_event(event, &own_class, 8) && u32_at(event, 4) == flag) {
            assert_int_equal(u32_at(event, 0), 1);
            assert_memory_equal(event->payload + 8, name, strlen(name));
            count++;
        }
    }
    return count;
}

/* Once, when it comes. */
static void the_file_says_it(void **state)
{
    etwas_trace_handle session;
    struct events events;

    (void)state;
    session = start_kernel(FLAGS | EVENT_TRACE_FLAG_ALPC);
    update_kernel_flags(session, FLAGS | EVENT_TRACE_FLAG_ALPC | EVENT_TRACE_FLAG_DRIVER,
                        ERROR_SUCCESS);
    read_and_account(session, &events);
    assert_int_equal(count_emitted(&events, EVENT_TRACE_FLAG_ALPC, "ALPC"), 1);
    assert_int_equal(count_emitted(&events, EVENT_TRACE_FLAG_DRIVER, "DRIVER"), 1);
    assert_int_equal(count_emitted(&events, EVENT_TRACE_FLAG_REGISTRY, "REGISTRY"), 0);
    free_events(&events);
}

static void a_start_accepts_them(void **state)
{
    char little[8] = "1234567";
    uint32_t flags = 0;
    etwas_trace_handle session;

    (void)state;
    session = start_kernel(SILENT | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    assert_int_equal(etwas_kernel_silent(session, &flags, NULL, 0), ERROR_SUCCESS);
    assert_int_equal(flags, SILENT);
    assert_int_equal(etwas_kernel_silent(session, &flags, little, sizeof little), ERROR_SUCCESS);
    assert_string_equal(little, "ALPC re");
    stop_session(session, NULL);
}

static void others_are_refused(void **state)
{
    uint32_t flags = 0;
    etwas_trace_handle session;

    (void)state;
    session = start_recorder();
    assert_int_equal(etwas_kernel_silent(session, &flags, NULL, 0), ERROR_NOT_SUPPORTED);
    assert_int_equal(etwas_kernel_silent(session, NULL, NULL, 0), ERROR_INVALID_PARAMETER);
    stop_session(session, NULL);
    assert_int_equal(etwas_kernel_silent(session, &flags, NULL, 0), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_kernel_silent(0, &flags, NULL, 0), ERROR_INVALID_HANDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(flags_without_events_are_explained),
        FOLDER_TEST(the_file_says_it),
        FOLDER_TEST(a_start_accepts_them),
        FOLDER_TEST(others_are_refused),
    };

    return RUN_KERNEL_TESTS("system silent", tests);
}
