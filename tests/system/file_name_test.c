/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The names of open files: those that are certain are recorded, and none is ever another file's.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/file_events.h"

enum {
    ROUNDS = 2000,
    LONG_ROUND = 401, /* among short ones of both kinds */
    LONG_US = 250000,
    OPENS_OR_CREATES = 3 << 24,
    LONGEST = 512,
};

/*
 * Reads the name, which follows the number. Returns false for another event, or for a name that is
 * longer than ours: other processes open files, too.
 */
static bool read_name(const struct event *event, uint8_t type, char *name)
{
    size_t length = (event->record.UserDataLength - sizeof(uint64_t)) / 2;

    if (!is_kernel_event(event, &file_class, type) || length > LONGEST) {
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

static int open_or_create(const char *name)
{
    return open_file(name, O_RDWR | O_CREAT | O_CLOEXEC);
}

static void what_is_open_in_the_beginning_has_its_name(void **state)
{
    int before = open_or_create("before");
    etwas_trace_handle session = start_files();
    struct events events;
    uint64_t file = 0;

    (void)state;
    assert_int_equal(write(before, "x", 1), 1);
    read_and_account(session, &events);
    assert_int_equal(count_names(&events, FILE_RUNDOWN, folder_path("before"), &file), 2);
    assert_true(has_used(&events, WRITE, file));
    free_events(&events);
    (void)close(before);
}

/* Until the session ends: what was opened by then is looked up. */
static void what_stays_open_has_its_name(void **state)
{
    etwas_trace_handle session = start_files();
    int opened = open_or_create("stays");
    struct events events;
    uint64_t file = 0;

    (void)state;
    read_and_account(session, &events);
    /* Its open may have given it the name, too (file_path_test.c). */
    assert_in_range(count_names(&events, FILE_NAMED, folder_path("stays"), &file), 1, 2);
    assert_true(has_used(&events, CREATE, file));
    assert_int_equal(count_names(&events, FILE_RUNDOWN, folder_path("stays"), &file), 1);
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

/* Checks the names: even rounds have one, odd ones the other. Returns how many events have one. */
static uint32_t expect_names(const struct events *events)
{
    static uint64_t created[ROUNDS];
    uint32_t named = 0;

    find_created(events, created);
    for (size_t index = 0; index < events->count; index++) {
        char name[LONGEST];

        if (!read_name(&events->items[index], FILE_NAMED, name)) {
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
    etwas_trace_handle session = start_files();
    struct events events;

    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        int opened = open_or_create(name_of_round(round));

        if (round % LONG_ROUND == 0) {
            (void)usleep(LONG_US);
        }
        assert_int_equal(close(opened), 0);
    }
    read_and_account(session, &events);
    assert_in_range(expect_names(&events), 1, 2 * ROUNDS); /* by its open, too */
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
