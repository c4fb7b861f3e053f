/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sessions of the own process without privileges: when its threads run and wait, where they are,
 * and which memory they touch and allocate.
 */
#include <ck_pr.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "etl/own_record.h"
#include "platform/testpoint.h"
#include "system/logger.h"
#include "system/own_fixture.h"
#include "system/spin.h"

enum {
    PAGE = 4096,
    PAGES = 500,
    SLEEPS = 5,
    THREADS = 4,
    PLACES = 20,
    SAMPLE = 46,
    VIRTUAL_ALLOC = 98,
    DEMAND_ZERO = 11,
    STATE_READY = 1,
    STATE_WAITING = 5,
    SPIN_NS = 200000000,
    SHORT_INTERVAL = 1221, /* 100 ns */
};

/* ---- context switches ------------------------------------------------------------------------ */

static void sleep_often(etwas_trace_handle session)
{
    struct rusage before;
    struct rusage after;

    (void)session;
    (void)getrusage(RUSAGE_THREAD, &before);
    own_facts->begin_ns = monotonic_raw_ns();
    for (int index = 0; index < SLEEPS; index++) {
        (void)usleep(1000);
    }
    own_facts->end_ns = monotonic_raw_ns();
    (void)getrusage(RUSAGE_THREAD, &after);
    own_facts->numbers[0] = (uint64_t)(after.ru_nvcsw - before.ru_nvcsw);
    own_facts->numbers[1] = (uint64_t)(after.ru_nivcsw - before.ru_nivcsw);
    own_facts->numbers[2] = (uint64_t)own_facts->begin_ns;
    own_facts->numbers[3] = (uint64_t)own_facts->end_ns;
}

/*
 * Each sleep is a switch away and one back, and the kernel's own counts of the thread say the same.
 */
static void each_sleep_is_a_switch_out_and_in(void **state)
{
    uint64_t waits = 0;
    uint64_t preempted = 0;
    uint64_t back = 0;
    struct events events;

    (void)state;
    record_own(EVENT_TRACE_FLAG_CSWITCH, sleep_often, &events);
    own_facts->begin_ns = (int64_t)own_facts->numbers[2];
    own_facts->end_ns = (int64_t)own_facts->numbers[3];
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        if (!is_kernel_event(event, &thread_class, SWITCH)) {
            continue;
        }
        assert_int_equal(event->record.UserDataLength, 24);
        assert_true((u32_at(event, 0) == 0) != (u32_at(event, 4) == 0));
        if (is_in_work(event) && u32_at(event, 4) == own_facts->thread_id) {
            waits += event->payload[14] == STATE_WAITING;
            preempted += event->payload[14] == STATE_READY;
        }
        back += is_in_work(event) && u32_at(event, 0) == own_facts->thread_id;
    }
    assert_in_range(waits, SLEEPS, own_facts->numbers[0]);
    assert_in_range(preempted, 0, own_facts->numbers[1]);
    assert_int_equal(back, waits + preempted);
    free_events(&events);
}

/* ---- samples --------------------------------------------------------------------------------- */

static void set_interval(etwas_trace_handle session)
{
    TRACE_PROFILE_INTERVAL interval = {.Source = 0, .Interval = SHORT_INTERVAL};

    CHECK_IN_CHILD(TraceSetInformation(session, TraceSampledProfileIntervalInfo, &interval,
                                       sizeof interval) == ERROR_SUCCESS);
}

static void spin_here(etwas_trace_handle session)
{
    struct spin spin;

    (void)session;
    spin_for(&spin, SPIN_NS);
}

static void spin_with_short_interval(etwas_trace_handle session)
{
    set_interval(session);
    spin_here(session);
}

/* How many of them are of the thread and in what spins. */
static uint32_t count_samples(const struct events *events)
{
    uint32_t samples = 0;
    uint32_t inside = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_kernel_event(event, &perf_info_class, SAMPLE) &&
            u32_at(event, 8) == own_facts->thread_id) {
            samples++;
            inside += is_in_spin(u64_at(event, 0));
        }
    }
    assert_in_range(inside, samples / 2 + 1, samples);
    return samples;
}

static void samples_are_where_the_time_goes(void **state)
{
    struct events events;

    (void)state;
    record_own(EVENT_TRACE_FLAG_PROFILE, spin_here, &events);
    assert_in_range(count_samples(&events), 10,
                    (own_facts->end_ns - own_facts->begin_ns) / 1000000 + 10);
    free_events(&events);
}

/* Twice as many as the first interval could give: also of the threads that were there. */
static void the_interval_changes_while_it_runs(void **state)
{
    struct events events;

    (void)state;
    record_own(EVENT_TRACE_FLAG_PROFILE, spin_with_short_interval, &events);
    assert_in_range(count_samples(&events), 2 * SPIN_NS / 1000000, UINT32_MAX);
    free_events(&events);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void touch_pages(etwas_trace_handle session)
{
    volatile uint8_t *memory =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)session;
    CHECK_IN_CHILD(memory != MAP_FAILED);
    (void)madvise((void *)memory, PAGES * PAGE, MADV_NOHUGEPAGE);
    own_facts->numbers[0] = (uint64_t)(uintptr_t)memory;
    for (size_t page = 0; page < PAGES; page++) {
        memory[page * PAGE + page] = 1;
    }
}

static void *touch_in_thread(void *argument)
{
    touch_pages(0);
    return argument;
}

static void each_page_that_is_touched_is_a_fault(void **state)
{
    uint8_t touched[PAGES] = {0};
    struct events events;

    (void)state;
    record_own(EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS, touch_pages, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];
        uint64_t offset;

        if (!is_kernel_event(event, &PageFaultGuid, DEMAND_ZERO)) {
            continue;
        }
        assert_int_equal(event->record.EventHeader.ProcessId, own_facts->process_id);
        offset = u64_at(event, 0) - own_facts->numbers[0];
        if (offset < (uint64_t)PAGES * PAGE) {
            assert_int_equal(event->record.EventHeader.ThreadId, own_facts->thread_id);
            assert_int_equal(offset % PAGE, offset / PAGE);
            touched[offset / PAGE]++;
        }
    }
    for (size_t page = 0; page < PAGES; page++) {
        assert_int_equal(touched[page], 1);
    }
    free_events(&events);
}

static void map_places(etwas_trace_handle session)
{
    (void)session;
    for (int index = 0; index < PLACES; index++) {
        void *place = mmap(NULL, (size_t)(1 + index) * PAGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        CHECK_IN_CHILD(place != MAP_FAILED);
        own_facts->numbers[index] = (uint64_t)(uintptr_t)place;
    }
}

/* The kernel says what a mapping is now, with neighbours of its kind. */
static void what_is_mapped_is_allocated(void **state)
{
    struct events events;
    uint32_t place = 0;
    uint32_t allocs = 0;

    (void)state;
    record_own(EVENT_TRACE_FLAG_VIRTUAL_ALLOC, map_places, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];
        uint64_t begin;
        uint64_t end;

        if (!is_kernel_event(event, &PageFaultGuid, VIRTUAL_ALLOC) || !is_in_work(event) ||
            event->record.EventHeader.ThreadId != own_facts->thread_id) {
            continue;
        }
        assert_int_equal(event->record.UserDataLength, 24);
        assert_int_equal(u32_at(event, 16), own_facts->process_id);
        begin = u64_at(event, 0);
        end = begin + u64_at(event, 8);
        if (place < PLACES && own_facts->numbers[place] >= begin &&
            own_facts->numbers[place] + (1 + place) * PAGE <= end) {
            place++;
        }
        allocs++;
    }
    assert_int_equal(place, PLACES);
    assert_int_equal(allocs, PLACES);
    free_events(&events);
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* While this is 1 the rings are not read. */
static uint32_t keep_rings_full;

static void wait_before_drain(enum etwas_testpoint point)
{
    while (point == ETWAS_POINT_SYSTEM_DRAINS && ck_pr_load_32(&keep_rings_full) != 0) {
        (void)usleep(1000);
    }
}

/* In a child: threads that end, too, have more faults than a ring of a page has room for. */
static void fault_without_room(void)
{
    etwas_trace_handle session;

    become_own();
    etwas_system_logger_ring_bytes = PAGE;
    ck_pr_store_32(&keep_rings_full, 1);
    etwas_testpoint_set(wait_before_drain);
    session = start_own(EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS, ETWAS_KERNEL_RUNG_PROCESS);
    for (int index = 0; index < THREADS; index++) {
        pthread_t thread;

        CHECK_IN_CHILD(pthread_create(&thread, NULL, touch_in_thread, NULL) == 0);
        (void)pthread_join(thread, NULL);
    }
    ck_pr_store_32(&keep_rings_full, 0);
    stop_own(session);
    _exit(0);
}

/* What the kernel counted, as the accounts say. */
static uint64_t attempted_in(const struct events *events)
{
    struct etwas_etl_account account;
    uint64_t attempted = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_kernel_event(event, &etwas_etl_own_class, ETWAS_ETL_ACCOUNT_TYPE)) {
            memcpy(&account, event->payload, sizeof account);
            attempted += account.attempted;
        }
    }
    return attempted;
}

static void what_the_kernel_had_no_room_for_is_counted(void **state)
{
    struct events events;
    uint64_t faults = 0;
    int child;

    (void)state;
    open_folder();
    child = fork_child();
    if (child == 0) {
        fault_without_room();
    }
    assert_int_equal(exit_code_of(child), 0);
    read_events(folder_path("k.etl"), PROCESS_TRACE_MODE_RAW_TIMESTAMP, &events);
    for (size_t index = 0; index < events.count; index++) {
        faults += memcmp(&events.items[index].record.EventHeader.ProviderId, &PageFaultGuid,
                         sizeof PageFaultGuid) == 0;
    }
    assert_in_range(own_facts->counts.lost_in_kernel, PAGES, UINT64_MAX);
    assert_in_range(attempted_in(&events), THREADS * PAGES, UINT64_MAX);
    assert_int_equal(faults + own_facts->counts.lost_in_kernel, attempted_in(&events));
    free_events(&events);
}

/* ---- changes --------------------------------------------------------------------------------- */

static void add_switches(etwas_trace_handle session)
{
    update_kernel_flags(session, EVENT_TRACE_FLAG_CSWITCH, ERROR_SUCCESS);
    sleep_often(session);
    update_kernel_flags(session, EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS, ERROR_SUCCESS);
    touch_pages(session);
}

static void flags_change_while_it_runs(void **state)
{
    uint32_t switches = 0;
    uint32_t faults = 0;
    struct events events;

    (void)state;
    record_own(0, add_switches, &events);
    for (size_t index = 0; index < events.count; index++) {
        switches += is_kernel_event(&events.items[index], &thread_class, SWITCH);
        faults += is_kernel_event(&events.items[index], &PageFaultGuid, DEMAND_ZERO);
    }
    assert_in_range(switches, 2 * SLEEPS, UINT32_MAX);
    assert_in_range(faults, PAGES, UINT32_MAX);
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_sleep_is_a_switch_out_and_in),
        FOLDER_TEST(samples_are_where_the_time_goes),
        FOLDER_TEST(the_interval_changes_while_it_runs),
        FOLDER_TEST(each_page_that_is_touched_is_a_fault),
        FOLDER_TEST(what_is_mapped_is_allocated),
        FOLDER_TEST(what_the_kernel_had_no_room_for_is_counted),
        FOLDER_TEST(flags_change_while_it_runs),
    };

    return RUN_OWN_TESTS("system own activity", tests);
}
