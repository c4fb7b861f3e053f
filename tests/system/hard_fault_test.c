/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS and _DISK_FILE_IO: each page of a mapped file that comes from
 * the disk is recorded once, with its address and its offset in the file; the file's name is
 * recorded, too.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/kernel_fixture.h"
#include "system/known.h"

enum {
    PAGE = 4096,
    PAGES = 64,
    STRIDE = 16, /* pages between two that are touched: each comes for itself */
    LONGEST = 512,
    HARD_FAULT = 32,
    STACK = 32,
    FRAMES_AT = 16,
    NAME = 0,
    RUNDOWN = 36,
};

static const etwas_guid memory_class = {
    0x3d6fa8d3, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};
static const etwas_guid file_class = {
    0x90cbdc39, 0x4a3e, 0x11d1, {0x84, 0xf4, 0x00, 0x00, 0xf8, 0x04, 0x64, 0xe3}};

/*
 * A file of so many pages that are on the disk and not in memory, mapped. Skips where there is no
 * disk.
 */
static volatile uint8_t *map_what_is_on_disk(void)
{
    static uint8_t bytes[PAGE];
    static unsigned char there[PAGES * STRIDE];
    size_t size = (size_t)PAGES * STRIDE * PAGE;
    int file = open(folder_path("f"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    uint8_t *begin;

    for (size_t page = 0; page < (size_t)PAGES * STRIDE; page++) {
        assert_int_equal(write(file, bytes, PAGE), PAGE);
    }
    assert_int_equal(fsync(file), 0);
    assert_int_equal(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), 0);
    begin = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    assert_ptr_not_equal(begin, MAP_FAILED);
    assert_int_equal(close(file), 0);
    assert_int_equal(madvise(begin, size, MADV_RANDOM), 0);
    assert_int_equal(mincore(begin, size, there), 0);
    for (size_t page = 0; page < (size_t)PAGES * STRIDE; page++) {
        if ((there[page] & 1) != 0) {
            (void)printf("skipped: what is written stays in memory: there is no disk\n");
            skip();
        }
    }
    return begin;
}

static long hard_faults(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_majflt;
}

static void read_name(const struct event *event, char *name)
{
    size_t length = (event->record.UserDataLength - sizeof(uint64_t)) / 2;

    assert_in_range(length, 1, LONGEST);
    for (size_t index = 0; index < length; index++) {
        name[index] = (char)event->payload[sizeof(uint64_t) + 2 * index];
    }
}

/* How often the file has this name. */
static uint32_t count_names(const struct events *events, uint8_t type, uint64_t file,
                            const char *name)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        char found[LONGEST];

        if (is_kernel_event(&events->items[index], &file_class, type) &&
            u64_at(&events->items[index], 0) == file) {
            read_name(&events->items[index], found);
            assert_string_equal(found, name);
            count++;
        }
    }
    return count;
}

/* The page it is of; -1: another event. */
static int64_t page_of(const struct event *event, const volatile uint8_t *memory)
{
    uint64_t offset;

    if (!is_kernel_event(event, &memory_class, HARD_FAULT)) {
        return -1;
    }
    offset = u64_at(event, 16) - (uint64_t)(uintptr_t)memory;
    return offset < (uint64_t)PAGES * STRIDE * PAGE ? (int64_t)(offset / PAGE) : -1;
}

/* Nothing of it is known on machines that do not say which file a fault is of. */
static bool machine_says_which_file(void)
{
    return access("/sys/kernel/tracing/events/exceptions", F_OK) == 0 &&
           access("/sys/kernel/tracing/events/filemap/mm_filemap_fault", F_OK) == 0;
}

static uint64_t expect_fault(const struct event *event, int64_t page)
{
    const EVENT_HEADER *header = &event->record.EventHeader;

    assert_int_equal(event->record.UserDataLength, 40);
    assert_int_equal(header->EventDescriptor.Version, 2);
    assert_int_equal(header->ThreadId, syscall(SYS_gettid));
    assert_int_equal(u32_at(event, 32), syscall(SYS_gettid));
    assert_int_equal(u32_at(event, 36), PAGE);
    assert_int_equal(page % STRIDE, 0);
    assert_int_equal(u64_at(event, 16) % PAGE, page % 100);
    if (machine_says_which_file()) {
        assert_int_equal(u64_at(event, 8), page * PAGE);
        assert_in_range(u64_at(event, 0), 1, (uint64_t)header->TimeStamp.QuadPart - 1);
    }
    return u64_at(event, 24);
}

static void each_page_from_the_disk_is_recorded_once(void **state)
{
    volatile uint8_t *memory = map_what_is_on_disk();
    uint8_t times[PAGES] = {0};
    etwas_trace_handle session;
    struct events events;
    uint64_t file = 0;
    long before;

    (void)state;
    session = start_kernel(EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS | EVENT_TRACE_FLAG_DISK_FILE_IO |
                           EVENT_TRACE_FLAG_NO_SYSCONFIG);
    before = hard_faults();
    for (int page = 0; page < PAGES; page++) {
        (void)memory[page * STRIDE * PAGE + page * STRIDE % 100];
        (void)memory[page * STRIDE * PAGE]; /* is there by now */
    }
    assert_int_equal(hard_faults() - before, PAGES);
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        int64_t page = page_of(&events.items[index], memory);

        if (page >= 0) {
            uint64_t found = expect_fault(&events.items[index], page);

            assert_true(file == 0 || file == found);
            file = found;
            times[page / STRIDE]++;
        }
    }
    for (int page = 0; page < PAGES; page++) {
        assert_int_equal(times[page], 1);
    }
    if (machine_says_which_file()) {
        assert_int_equal(count_names(&events, NAME, file, folder_path("f")), 1);
        assert_int_equal(count_names(&events, RUNDOWN, file, folder_path("f")), 2);
    }
    free_events(&events);
    (void)munmap((void *)memory, (size_t)PAGES * STRIDE * PAGE);
}

/* Each has a stack that begins where the memory was touched. */
static void its_stack_is_where_memory_is_touched(void **state)
{
    const CLASSIC_EVENT_ID id = {.EventGuid = memory_class, .Type = HARD_FAULT};
    volatile uint8_t *memory = map_what_is_on_disk();
    etwas_trace_handle session;
    struct events events;
    uint32_t in_known = 0;

    (void)state;
    session = start_kernel(EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    assert_int_equal(
        TraceSetInformation(session, TraceStackTracingInfo, (void *)(uintptr_t)&id, sizeof id),
        ERROR_SUCCESS);
    touch_in_known(memory, PAGES, (size_t)STRIDE * PAGE);
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        in_known += is_kernel_event(&events.items[index], &StackWalkGuid, STACK) &&
                    is_in_known(u64_at(&events.items[index], FRAMES_AT));
    }
    assert_in_range(in_known, PAGES, UINT32_MAX);
    free_events(&events);
    (void)munmap((void *)memory, (size_t)PAGES * STRIDE * PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_page_from_the_disk_is_recorded_once),
        FOLDER_TEST(its_stack_is_where_memory_is_touched),
    };

    return RUN_KERNEL_TESTS("system hard fault", tests);
}
