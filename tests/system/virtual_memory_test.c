/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_VIRTUAL_ALLOC: memory that a process allocates and frees is recorded, with its
 * address and size.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "system/kernel_count.h"
#include "system/kernel_fixture.h"

enum {
    PIECES = 20,
    PAGE = 4096,
    ALLOC = 98,
    FREE = 99,
    COMMIT_AND_RESERVE = 0x3000,
    RELEASE = 0x8000,
};

static const etwas_guid memory_class = {
    0x3d6fa8d3, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};

/* How often this process took or gave back just that. */
static uint32_t count_of(const struct events *events, uint8_t type, const void *begin, size_t bytes)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_kernel_event(event, &memory_class, type) &&
            u64_at(event, 0) == (uint64_t)(uintptr_t)begin && u64_at(event, 8) == bytes &&
            u32_at(event, 16) == (uint32_t)getpid()) {
            assert_int_equal(event->record.UserDataLength, 24);
            assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 2);
            assert_int_equal(u32_at(event, 20), type == ALLOC ? COMMIT_AND_RESERVE : RELEASE);
            count++;
        }
    }
    return count;
}

static etwas_trace_handle start(void)
{
    return start_kernel(EVENT_TRACE_FLAG_VIRTUAL_ALLOC | EVENT_TRACE_FLAG_NO_SYSCONFIG);
}

static void *map(size_t bytes)
{
    void *begin = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(begin, MAP_FAILED);
    return begin;
}

/* Whole pages, each piece of its own size though the kernel may merge it with its neighbours. */
static void each_range_is_recorded_once(void **state)
{
    void *pieces[PIECES];
    etwas_trace_handle session;
    struct events events;

    (void)state;
    session = start();
    for (size_t index = 0; index < PIECES; index++) {
        pieces[index] = map((index + 1) * PAGE - 1);
    }
    for (size_t index = 0; index < PIECES; index++) {
        assert_int_equal(munmap(pieces[index], (index + 1) * PAGE), 0);
    }
    read_and_account(session, &events);
    for (size_t index = 0; index < PIECES; index++) {
        assert_int_equal(count_of(&events, ALLOC, pieces[index], (index + 1) * PAGE), 1);
        assert_int_equal(count_of(&events, FREE, pieces[index], (index + 1) * PAGE), 1);
    }
    free_events(&events);
}

static void growing_shrinking_and_moving_are_recorded(void **state)
{
    etwas_trace_handle session;
    struct events events;
    uint8_t *place;
    uint8_t *begin;
    uint8_t *moved;

    (void)state;
    place = map(64 * PAGE);
    begin = map(64 * PAGE);
    session = start();
    assert_ptr_equal(mremap(begin, 64 * PAGE, 8 * PAGE, 0), begin);
    assert_ptr_equal(mremap(begin, 8 * PAGE, 16 * PAGE, 0), begin);
    moved = mremap(begin, 16 * PAGE, 24 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    assert_ptr_equal(moved, place);
    assert_ptr_equal(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), MAP_FAILED);
    read_and_account(session, &events);
    assert_int_equal(count_of(&events, FREE, begin + 8 * PAGE, 56 * PAGE), 1);
    assert_int_equal(count_of(&events, ALLOC, begin + 8 * PAGE, 8 * PAGE), 1);
    assert_int_equal(count_of(&events, FREE, begin, 16 * PAGE), 1);
    assert_int_equal(count_of(&events, ALLOC, moved, 24 * PAGE), 1);
    free_events(&events);
    assert_int_equal(munmap(place, 64 * PAGE), 0);
}

/* The end of data is where it was before: a first question tells where, and is no event. */
static void the_end_of_data_is_recorded(void **state)
{
    etwas_trace_handle session;
    struct events events;
    int child;

    (void)state;
    session = start();
    child = fork_child();
    if (child == 0) {
        CHECK_IN_CHILD(brk(sbrk(0)) == 0); /* the library remembers it, and would not ask */
        CHECK_IN_CHILD(sbrk(32 * PAGE) != (void *)-1);
        CHECK_IN_CHILD(sbrk(-16 * PAGE) != (void *)-1);
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
    read_and_account(session, &events);
    for (uint8_t type = ALLOC; type <= FREE; type++) {
        uint32_t count = 0;

        for (size_t index = 0; index < events.count; index++) {
            const struct event *event = &events.items[index];

            count += is_kernel_event(event, &memory_class, type) &&
                     u32_at(event, 16) == (uint32_t)child &&
                     u64_at(event, 8) == (type == ALLOC ? 32 * PAGE : 16 * PAGE);
        }
        assert_int_equal(count, 1);
    }
    free_events(&events);
}

/* As many as the kernel counts calls of this process. */
static void the_kernel_counts_as_many(void **state)
{
    static struct kernel_count counter;
    etwas_trace_handle session;
    struct events events;
    char filter[32];
    uint64_t calls;
    uint32_t frees = 0;

    (void)state;
    (void)snprintf(filter, sizeof filter, "common_pid == %d", getpid());
    session = start();
    begin_counting(&counter, "syscalls/sys_enter_munmap", filter);
    for (size_t index = 0; index < PIECES; index++) {
        assert_int_equal(munmap(map(PAGE), PAGE), 0);
    }
    calls = end_counting(&counter);
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        frees += is_kernel_event(&events.items[index], &memory_class, FREE) &&
                 u32_at(&events.items[index], 16) == (uint32_t)getpid();
    }
    assert_in_range(calls, PIECES, UINT64_MAX);
    assert_in_range(frees, calls, UINT32_MAX);
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_range_is_recorded_once),
        FOLDER_TEST(growing_shrinking_and_moving_are_recorded),
        FOLDER_TEST(the_end_of_data_is_recorded),
        FOLDER_TEST(the_kernel_counts_as_many),
    };

    return RUN_KERNEL_TESTS("system virtual memory", tests);
}
