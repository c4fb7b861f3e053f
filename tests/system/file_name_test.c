/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The names of open files: those that are certain are told, and none is ever another's.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/kernel_fixture.h"

enum {
    ROUNDS = 2000,
    LONG_ROUND = 401, /* among short ones of both kinds */
    LONG_US = 250000,
    OPENS_OR_CREATES = 3 << 24,
    LONGEST = 512,
    CREATE = 64,
    WRITE = 68,
    NAME = 0,
    RUNDOWN = 36,
};

static const etwas_guid file_class = {
    0x90cbdc39, 0x4a3e, 0x11d1, {0x84, 0xf4, 0x00, 0x00, 0xf8, 0x04, 0x64, 0xe3}};

static etwas_trace_handle start(void)
{
    return start_kernel(EVENT_TRACE_FLAG_FILE_IO | EVENT_TRACE_FLAG_FILE_IO_INIT |
                        EVENT_TRACE_FLAG_NO_SYSCONFIG);
}

/* Behind its number. False: it is another event. */
static bool read_name(const struct event *event, uint8_t type, char *name)
{
    size_t length = (event->record.UserDataLength - sizeof(uint64_t)) / 2;

    if (!is_kernel_event(event, &file_class, type)) {
        return false;
    }
    assert_in_range(length, 1, LONGEST);
    for (size_t index = 0; index < length; index++) {
        name[index] = (char)event->payload[sizeof(uint64_t) + 2 * index];
    }
    assert_int_equal(name[length - 1], 0);
    return true;
}

/* How often a file of this name is told so, and its number. */
static uint32_t count_names(const struct events *events, uint8_t type, const char *name,
                            uint64_t *file)
{
    char found[LONGEST];
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        if (read_name(&events->items[index], type, found) && strcmp(found, name) == 0) {
            *file = u64_at(&events->items[index], 0);
            count++;
        }
    }
    return count;
}

/* Whether this thread has done such a thing with the file. */
static bool has_used(const struct events *events, uint8_t type, uint64_t file)
{
    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_kernel_event(event, &file_class, type) &&
            event->record.EventHeader.ThreadId == (uint32_t)syscall(SYS_gettid) &&
            u64_at(event, type == WRITE ? 16 : 8) == file) {
            return true;
        }
    }
    return false;
}

static int open_file(const char *name)
{
    int descriptor = open(folder_path(name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    assert_true(descriptor >= 0);
    return descriptor;
}

static void what_is_open_in_the_beginning_has_its_name(void **state)
{
    int before = open_file("before");
    etwas_trace_handle session = start();
    struct events events;
    uint64_t file = 0;

    (void)state;
    assert_int_equal(write(before, "x", 1), 1);
    read_and_account(session, &events);
    assert_int_equal(count_names(&events, RUNDOWN, folder_path("before"), &file), 2);
    assert_true(has_used(&events, WRITE, file));
    free_events(&events);
    (void)close(before);
}

/* Until the session ends: what was opened by then is looked up. */
static void what_stays_open_has_its_name(void **state)
{
    etwas_trace_handle session = start();
    int opened = open_file("stays");
    struct events events;
    uint64_t file = 0;

    (void)state;
    read_and_account(session, &events);
    assert_int_equal(count_names(&events, NAME, folder_path("stays"), &file), 1);
    assert_true(has_used(&events, CREATE, file));
    assert_int_equal(count_names(&events, RUNDOWN, folder_path("stays"), &file), 1);
    assert_true(has_used(&events, CREATE, file));
    free_events(&events);
    (void)close(opened);
}

static const char *name_of_round(uint32_t round)
{
    return round % 2 != 0 ? "odd" : "even";
}

/* The numbers of what this thread has opened, in order. */
static void find_created(const struct events *events, uint64_t *created)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_kernel_event(event, &file_class, CREATE) && u32_at(event, 20) == OPENS_OR_CREATES &&
            event->record.EventHeader.ThreadId == (uint32_t)syscall(SYS_gettid)) {
            assert_in_range(count, 0, ROUNDS - 1);
            created[count++] = u64_at(event, 8);
        }
    }
    assert_int_equal(count, ROUNDS);
}

/* Those of the even rounds have one name, those of the odd ones the other. Returns how many have one. */
static uint32_t expect_names(const struct events *events)
{
    static uint64_t created[ROUNDS];
    uint32_t named = 0;

    find_created(events, created);
    for (size_t index = 0; index < events->count; index++) {
        char name[LONGEST];

        if (!read_name(&events->items[index], NAME, name)) {
            continue;
        }
        for (uint32_t round = 0; round < ROUNDS; round++) {
            if (created[round] == u64_at(&events->items[index], 0)) {
                assert_string_equal(name, folder_path(name_of_round(round)));
                named++;
            }
        }
    }
    return named;
}

/* Two files take turns on one descriptor, so whenever the logger looks it may be either. */
static void no_name_is_ever_another_ones(void **state)
{
    etwas_trace_handle session = start();
    struct events events;

    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        int opened = open_file(name_of_round(round));

        if (round % LONG_ROUND == 0) {
            (void)usleep(LONG_US);
        }
        assert_int_equal(close(opened), 0);
    }
    read_and_account(session, &events);
    assert_in_range(expect_names(&events), 1, ROUNDS);
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(what_is_open_in_the_beginning_has_its_name),
        FOLDER_TEST(what_stays_open_has_its_name),
        FOLDER_TEST(no_name_is_ever_another_ones),
    };

    return RUN_KERNEL_TESTS("system file name", tests);
}
