/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The images of the process in the files of a session that takes stacks.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "etl/utf16.h"
#include "session/fixture.h"

/* A library of the C library's package that nobody uses. */
#define LIBRARY "libBrokenLocale.so.1"

/* Types of the Image class. */
enum {
    UNLOAD = 2,
    THERE_AT_START = 3,
    THERE_AT_END = 4,
    LOAD = 10,
    DEBUG_ID = 36,
};

static const etwas_guid debug_id_class = {
    0xb3e675d7, 0x2554, 0x4f18, {0x83, 0x0b, 0x27, 0x62, 0x73, 0x25, 0x60, 0xde}};

extern const char __ehdr_start[]; /* the program's first byte; of the linker */

static void take_stacks(etwas_trace_handle session)
{
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
                                          .EnableProperty = EVENT_ENABLE_PROPERTY_STACK_TRACE};

    assert_int_equal(EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0,
                                    0, 0, 0, &parameters),
                     ERROR_SUCCESS);
}

static bool is_of(const struct event *event, const etwas_guid *class, uint8_t type)
{
    return memcmp(&event->record.EventHeader.ProviderId, class, sizeof *class) == 0 &&
           event->record.EventHeader.EventDescriptor.Opcode == type;
}

static uint64_t u64_at(const struct event *event, size_t at)
{
    uint64_t number;

    assert_true(at + sizeof number <= event->record.UserDataLength);
    memcpy(&number, event->payload + at, sizeof number);
    return number;
}

static uint32_t u32_at(const struct event *event, size_t at)
{
    return (uint32_t)(u64_at(event, at & ~(size_t)7) >> (at % 8 * 8));
}

/* The image of this type whose path ends so; NULL: there is none. */
static const struct event *find_image(const struct events *events, uint8_t type, const char *end)
{
    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];
        size_t units = (event->record.UserDataLength - 56u) / sizeof(etwas_wchar);
        etwas_wchar wide[4096];
        char path[4096];
        size_t bytes;

        if (!is_of(event, &ImageLoadGuid, type)) {
            continue;
        }
        assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 2);
        assert_true(event->record.UserDataLength > 56);
        assert_true(units != 0 && units <= 4096);
        memcpy(wide, event->payload + 56, units * sizeof wide[0]);
        assert_int_equal(wide[units - 1], 0);
        assert_int_equal(etwas_utf16_to_utf8(wide, units - 1, path, sizeof path, &bytes),
                         ETWAS_UTF_OK);
        if (strlen(path) >= strlen(end) && strcmp(path + strlen(path) - strlen(end), end) == 0) {
            return event;
        }
    }
    return NULL;
}

static size_t count_of(const struct events *events, const etwas_guid *class, uint8_t type)
{
    size_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        count += is_of(&events->items[index], class, type) ? 1 : 0;
    }
    return count;
}

static void expect_program(const struct events *events, uint8_t type)
{
    const struct event *image = find_image(events, type, "/flush_images");

    assert_non_null(image);
    assert_true(u64_at(image, 0) == (uint64_t)(uintptr_t)__ehdr_start);
    assert_true((uint64_t)(uintptr_t)&expect_program - u64_at(image, 0) < u64_at(image, 8));
    assert_int_equal(u32_at(image, 16), getpid());
    assert_true(u64_at(image, 32) == 0 || u64_at(image, 32) == u64_at(image, 0));
}

/* The build id lies behind a debug id's signature, in its name. */
static void expect_build_ids(const struct events *events)
{
    size_t found = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];
        const char *name = (const char *)event->payload + 32;
        char digits[33];

        if (!is_of(event, &debug_id_class, DEBUG_ID)) {
            continue;
        }
        assert_int_equal(strnlen(name, event->record.UserDataLength - 32u) + 1,
                         event->record.UserDataLength - 32u);
        assert_int_equal(strncmp(name, ".build-id/", 10), 0);
        assert_string_equal(name + strlen(name) - 6, ".debug");
        (void)snprintf(digits, sizeof digits, "%02x/%02x%02x", event->payload[12],
                       event->payload[13], event->payload[14]);
        assert_int_equal(strncmp(name + 10, digits, 7), 0);
        found += u64_at(event, 0) == (uint64_t)(uintptr_t)__ehdr_start ? 1 : 0;
    }
    assert_int_equal(found % 2, 0); /* at the start and at the end, if the linker gave one */
}

static void a_session_with_stacks_has_the_images_at_its_start_at_dlopen_and_at_its_end(void **state)
{
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    struct events events;
    void *library;

    (void)state;
    take_stacks(session);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(dlclose(library), 0);
    stop_session(session, NULL);

    read_events(folder_path("f.etl"), 0, &events);
    expect_program(&events, THERE_AT_START);
    expect_program(&events, THERE_AT_END);
    assert_non_null(find_image(&events, THERE_AT_START, "libc.so.6"));
    assert_null(find_image(&events, THERE_AT_START, LIBRARY));
    assert_non_null(find_image(&events, LOAD, LIBRARY));
    assert_non_null(find_image(&events, UNLOAD, LIBRARY));
    assert_null(find_image(&events, THERE_AT_END, LIBRARY));
    assert_int_equal(count_of(&events, &ImageLoadGuid, LOAD), 1);
    assert_int_equal(count_of(&events, &ImageLoadGuid, UNLOAD), 1);
    assert_int_equal(count_of(&events, &ImageLoadGuid, THERE_AT_START),
                     count_of(&events, &ImageLoadGuid, THERE_AT_END));
    expect_build_ids(&events);
    free_events(&events);
}

static void a_snapshot_has_the_images_and_a_session_without_stacks_has_none(void **state)
{
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle plain = start_session(folder_path("f.etl"), NULL);
    struct events events;

    (void)state;
    take_stacks(recorder);
    assert_int_equal(etwas_snapshot(recorder, folder_path("s.etl")), ERROR_SUCCESS);
    assert_int_equal(etwas_flush(plain), ERROR_SUCCESS);
    stop_session(recorder, NULL);
    stop_session(plain, NULL);
    read_events(folder_path("s.etl"), 0, &events);
    expect_program(&events, THERE_AT_START);
    free_events(&events);
    read_events(folder_path("f.etl"), 0, &events);
    assert_int_equal(events.count, 0);
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_session_with_stacks_has_the_images_at_its_start_at_dlopen_and_at_its_end),
        FOLDER_TEST(a_snapshot_has_the_images_and_a_session_without_stacks_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
