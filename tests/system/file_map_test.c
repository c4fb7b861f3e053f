/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_VAMAP: each part of a file that is mapped and unmapped is recorded once, with
 * its address and size, its offset in the file, and the file's name.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "system/kernel_fixture.h"

enum {
    PIECES = 20,
    PAGE = 4096,
    LONGEST = 512,
    NAME = 0,
    RUNDOWN = 36,
    MAPPED = 37,
    UNMAPPED = 38,
    MAPPED_START = 39,
    MAPPED_END = 40,
};

static const etwas_guid file_class = {
    0x90cbdc39, 0x4a3e, 0x11d1, {0x84, 0xf4, 0x00, 0x00, 0xf8, 0x04, 0x64, 0xe3}};

static etwas_trace_handle start(void)
{
    return start_kernel(EVENT_TRACE_FLAG_VAMAP | EVENT_TRACE_FLAG_NO_SYSCONFIG);
}

/* Makes a file of 64 pages. */
static int make_file(const char *name)
{
    int file = open(folder_path(name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, 64 * PAGE), 0);
    return file;
}

static uint8_t *map(int file, size_t bytes, off_t offset)
{
    uint8_t *begin = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, offset);

    assert_ptr_not_equal(begin, MAP_FAILED);
    return begin;
}

/* How often the process's view is told so; its file. */
static uint32_t count_views(const struct events *events, uint8_t type, pid_t process,
                            const uint8_t *begin, size_t bytes, uint64_t offset, uint64_t *file)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_kernel_event(event, &file_class, type) &&
            event->record.EventHeader.ProcessId == (uint32_t)process &&
            u64_at(event, 0) == (uint64_t)(uintptr_t)begin && u64_at(event, 16) == offset &&
            u64_at(event, 24) == bytes) {
            assert_int_equal(event->record.UserDataLength, 32);
            assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 3);
            *file = u64_at(event, 8);
            assert_int_not_equal(*file, 0);
            count++;
        }
    }
    return count;
}

/* Checks that one of the two events has the file's name. */
static void expect_name(const struct events *events, uint64_t file, const char *name)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];
        char found[LONGEST];

        if ((is_kernel_event(event, &file_class, NAME) ||
             is_kernel_event(event, &file_class, RUNDOWN)) &&
            u64_at(event, 0) == file) {
            for (size_t at = 0; 2 * at < event->record.UserDataLength - sizeof file; at++) {
                assert_true(at < LONGEST);
                found[at] = (char)event->payload[sizeof file + 2 * at];
            }
            assert_string_equal(found, name);
            count++;
        }
    }
    assert_int_equal(count, 1);
}

static void each_mapping_is_recorded_once(void **state)
{
    const uint8_t *views[PIECES];
    struct events events;
    etwas_trace_handle session = start();
    int file = make_file("f");
    uint64_t key = 0;
    uint64_t other;

    (void)state;
    for (int index = 0; index < PIECES; index++) {
        views[index] = map(file, (size_t)(index + 1) * PAGE - 1, index * PAGE);
    }
    for (int index = 0; index < PIECES; index++) {
        assert_int_equal(munmap((void *)views[index], (size_t)(index + 1) * PAGE), 0);
    }
    assert_ptr_equal(mmap(NULL, 0, PROT_READ, MAP_SHARED, file, 0), MAP_FAILED);
    read_and_account(session, &events);
    for (int index = 0; index < PIECES; index++) {
        size_t bytes = (size_t)(index + 1) * PAGE;
        uint64_t offset = (uint64_t)index * PAGE;

        assert_int_equal(count_views(&events, MAPPED, getpid(), views[index], bytes, offset, &key),
                         1);
        assert_int_equal(
            count_views(&events, UNMAPPED, getpid(), views[index], bytes, offset, &other), 1);
        assert_int_equal(other, key);
    }
    expect_name(&events, key, folder_path("f"));
    free_events(&events);
    (void)close(file);
}

static void expect(uint32_t count, uint32_t expected)
{
    assert_int_equal(count, expected);
}

/* In the middle of what was there before the session, and by mapping something else there. */
static void unmapped_parts_are_recorded(void **state)
{
    int file = make_file("f");
    uint8_t *begin = map(file, 64 * PAGE, 0);
    etwas_trace_handle session = start();
    struct events events;
    uint64_t key = 0;

    (void)state;
    assert_int_equal(mprotect(begin + 48 * PAGE, PAGE, PROT_NONE), 0); /* is no mapping */
    assert_int_equal(munmap(begin + 8 * PAGE, 8 * PAGE), 0);
    assert_ptr_equal(mmap(begin + 32 * PAGE, 4 * PAGE, PROT_READ,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                     begin + 32 * PAGE);
    read_and_account(session, &events);
    expect(count_views(&events, MAPPED_START, getpid(), begin, 64 * PAGE, 0, &key), 1);
    expect_name(&events, key, folder_path("f"));
    expect(count_views(&events, UNMAPPED, getpid(), begin + 8 * PAGE, 8 * PAGE, 8 * PAGE, &key), 1);
    expect(count_views(&events, UNMAPPED, getpid(), begin + 32 * PAGE, 4 * PAGE, 32 * PAGE, &key),
           1);
    expect(count_views(&events, MAPPED, getpid(), begin + 48 * PAGE, PAGE, 48 * PAGE, &key), 0);
    expect(count_views(&events, MAPPED_END, getpid(), begin, 8 * PAGE, 0, &key), 1);
    expect(
        count_views(&events, MAPPED_END, getpid(), begin + 16 * PAGE, 16 * PAGE, 16 * PAGE, &key),
        1);
    free_events(&events);
    assert_int_equal(munmap(begin, 64 * PAGE), 0);
    (void)close(file);
}

static void a_child_unmaps_what_it_has_inherited(void **state)
{
    int file = make_file("f");
    uint8_t *begin = map(file, 64 * PAGE, 0);
    etwas_trace_handle session = start();
    struct events events;
    uint64_t key = 0;
    int child = fork_child();

    (void)state;
    if (child == 0) {
        CHECK_IN_CHILD(munmap(begin, 64 * PAGE) == 0);
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
    read_and_account(session, &events);
    expect(count_views(&events, UNMAPPED, child, begin, 64 * PAGE, 0, &key), 1);
    expect(count_views(&events, UNMAPPED, getpid(), begin, 64 * PAGE, 0, &key), 0);
    free_events(&events);
    assert_int_equal(munmap(begin, 64 * PAGE), 0);
    (void)close(file);
}

/* What the kernel maps of it, as its own first line of maps says. */
static void a_program_that_begins_is_mapped(void **state)
{
    etwas_trace_handle session = start();
    char program[LONGEST] = "";
    struct events events;
    uint32_t views = 0;
    uint64_t key = 0;
    int child = fork_child();

    (void)state;
    if (child == 0) {
        (void)execl("/bin/true", "true", NULL);
        _exit(1);
    }
    assert_int_equal(exit_code_of(child), 0);
    assert_non_null(realpath("/bin/true", program));
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        if (is_kernel_event(event, &file_class, MAPPED) &&
            event->record.EventHeader.ProcessId == (uint32_t)child) {
            key = views == 0 ? u64_at(event, 8) : key; /* the first is the program's */
            views += u64_at(event, 8) == key;
        }
    }
    assert_in_range(views, 2, 10); /* to be run, and to be read */
    expect_name(&events, key, program);
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_mapping_is_recorded_once),
        FOLDER_TEST(unmapped_parts_are_recorded),
        FOLDER_TEST(a_child_unmaps_what_it_has_inherited),
        FOLDER_TEST(a_program_that_begins_is_mapped),
    };

    return RUN_KERNEL_TESTS("system file map", tests);
}
