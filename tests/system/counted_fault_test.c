/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS where the kernel has no tracepoints of page faults: each page
 * that is touched for the first time is recorded all the same. On x86 they are hidden, in mounts of
 * our own.
 */
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/kernel_fixture.h"

enum {
    PAGE = 4096,
    PAGES = 500,
    DEMAND_ZERO = 11,
};

#define TRACEPOINTS "/sys/kernel/tracing/events/exceptions"

static const etwas_guid page_fault_class = {
    0x3d6fa8d3, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};

/* Reads a place of its own in each page. */
static void each_page_is_there_with_its_address(void **state)
{
    static uint8_t touched[PAGES];
    volatile uint8_t *memory =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    etwas_trace_handle session;
    struct events events;

    (void)state;
    assert_ptr_not_equal(memory, MAP_FAILED);
    (void)madvise((void *)memory, PAGES * PAGE, MADV_NOHUGEPAGE);
    session = start_kernel(EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    for (size_t page = 0; page < PAGES; page++) {
        (void)memory[page * PAGE + page];
    }
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];
        uint64_t offset;

        if (!is_kernel_event(event, &page_fault_class, DEMAND_ZERO) ||
            event->record.EventHeader.ThreadId != (uint32_t)syscall(SYS_gettid)) {
            continue;
        }
        assert_int_equal(event->record.UserDataLength, 16);
        assert_int_not_equal(u64_at(event, 8), 0);
        offset = u64_at(event, 0) - (uint64_t)(uintptr_t)memory;
        if (offset < (uint64_t)PAGES * PAGE) {
            assert_int_equal(offset % PAGE, offset / PAGE);
            touched[offset / PAGE]++;
        }
    }
    for (size_t page = 0; page < PAGES; page++) {
        assert_int_equal(touched[page], 1);
    }
    free_events(&events);
    (void)munmap((void *)memory, PAGES * PAGE);
}

/* False: they are there, and cannot be hidden. */
static bool hide_tracepoints(void)
{
    return access(TRACEPOINTS, F_OK) != 0 ||
           (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
            mount("none", TRACEPOINTS, "tmpfs", 0, NULL) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_page_is_there_with_its_address),
    };

    if (!hide_tracepoints()) {
        (void)printf("skipped: the tracepoints of page faults cannot be hidden\n");
        return 77;
    }
    return RUN_KERNEL_TESTS("system counted fault", tests);
}
