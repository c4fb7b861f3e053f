/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS: each page that is touched for the first time, and each that
 * is copied by a write.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/kernel_count.h"
#include "system/kernel_fixture.h"

enum {
    PAGE = 4096,
    PAGES = 500,
    DEMAND_ZERO = 11,
    COPY_ON_WRITE = 12,
};

static const etwas_guid page_fault_class = {
    0x3d6fa8d3, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};

struct touched {
    uint8_t demand_zero;
    uint8_t copied;
};

static void count(const struct events *events, const uint8_t *memory, struct touched *touched)
{
    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];
        uint64_t offset;

        if (memcmp(&event->record.EventHeader.ProviderId, &page_fault_class,
                   sizeof page_fault_class) != 0 ||
            event->record.EventHeader.ThreadId != (uint32_t)syscall(SYS_gettid)) {
            continue;
        }
        assert_int_equal(event->record.UserDataLength, 16);
        assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 2);
        assert_int_equal(event->record.EventHeader.ProcessId, getpid());
        memcpy(&offset, event->payload, sizeof offset);
        offset -= (uint64_t)(uintptr_t)memory;
        if (offset < (uint64_t)PAGES * PAGE) {
            assert_int_equal(offset % PAGE, offset / PAGE);
            touched[offset / PAGE].demand_zero +=
                is_kernel_event(event, &page_fault_class, DEMAND_ZERO);
            touched[offset / PAGE].copied +=
                is_kernel_event(event, &page_fault_class, COPY_ON_WRITE);
        }
    }
}

/* Elsewhere than on x86 the kernel does not say of which kind it is. */
static bool has_kinds(void)
{
    return access("/sys/kernel/tracing/events/exceptions/page_fault_user", F_OK) == 0;
}

/*
 * Reads a place of its own in each page, then writes there. Both are faults, as the kernel counts.
 */
static void each_page_is_there_with_its_address(void **state)
{
    static struct touched touched[PAGES];
    volatile uint8_t *memory =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct kernel_count counter;
    etwas_trace_handle session;
    struct events events;
    char filter[96];

    (void)state;
    assert_ptr_not_equal(memory, MAP_FAILED);
    (void)madvise((void *)memory, PAGES * PAGE, MADV_NOHUGEPAGE);
    session = start_kernel(EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    (void)snprintf(filter, sizeof filter, "address >= %p && address < %p", (void *)memory,
                   (void *)(memory + PAGES * PAGE));
    if (has_kinds()) {
        begin_counting(&counter, "exceptions/page_fault_user", filter);
    }
    for (size_t page = 0; page < PAGES; page++) {
        (void)memory[page * PAGE + page];
    }
    for (size_t page = 0; page < PAGES; page++) {
        memory[page * PAGE + page] = 1;
    }
    if (has_kinds()) {
        assert_in_range(end_counting(&counter), 2 * PAGES, 2 * PAGES + PAGES);
    }
    read_and_account(session, &events);
    count(&events, (const uint8_t *)memory, touched);
    for (size_t page = 0; page < PAGES; page++) {
        assert_int_equal(touched[page].demand_zero, has_kinds() ? 1 : 2);
        assert_int_equal(touched[page].copied, has_kinds() ? 1 : 0);
    }
    free_events(&events);
    (void)munmap((void *)memory, PAGES * PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_page_is_there_with_its_address),
    };

    return RUN_KERNEL_TESTS("system page fault", tests);
}
