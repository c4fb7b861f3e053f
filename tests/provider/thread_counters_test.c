/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The counters beside an instance, of threads with a known activity.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "provider/counted.h"
#include "provider/modern.h"

enum {
    PAGES = 100,
    MS = 1000000,
};

static const uint32_t everything =
    ETWAS_ETL_COUNTERS_RAN | ETWAS_ETL_COUNTERS_USED | ETWAS_ETL_COUNTERS_WAITED;

static etwas_trace_handle session;

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void spin(void)
{
    const uint64_t begin_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);

    while (now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns < 20 * MS) {
    }
}

static void sleep_well(void)
{
    const struct timespec long_time = {.tv_nsec = 30 * MS};

    assert_int_equal(nanosleep(&long_time, NULL), 0);
}

static void touch_pages(void)
{
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    volatile char *pages =
        mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(madvise((void *)(uintptr_t)pages, PAGES * page_bytes, MADV_NOHUGEPAGE), 0);
    for (size_t page = 0; page < PAGES; page++) {
        pages[page * page_bytes] = 1;
    }
    (void)munmap((void *)(uintptr_t)pages, PAGES * page_bytes);
}

static void begin(void)
{
    session = start_session(folder_path("f.etl"), NULL);
    ask(session, &control_guid, COUNTED);
}

static void end(struct readings *readings)
{
    etwas_session_counts counts;

    stop_session(session, &counts);
    expect_nothing_lost(counts);
    read_counted(folder_path("f.etl"), &counts, readings);
}

/* The stamps of the START and the END of the file's instances, in order. */
static uint64_t duration_of(const struct readings *readings, uint32_t instance)
{
    int64_t stamps[EVENT_TRACE_TYPE_END + 1] = {0};

    for (size_t index = 0; index < readings->events.count; index++) {
        const struct event *event = &readings->events.items[index];

        if (event->instance_items == 1 && event->instance.InstanceId == instance) {
            stamps[event->record.EventHeader.EventDescriptor.Opcode] =
                event->record.EventHeader.TimeStamp.QuadPart;
        }
    }
    return (uint64_t)(stamps[EVENT_TRACE_TYPE_END] - stamps[EVENT_TRACE_TYPE_START]);
}

static void a_thread_that_spins_runs_and_one_that_sleeps_does_not(void **state)
{
    etwas_trace_handle registration = register_counted();
    struct readings readings;
    uint32_t spun;
    uint32_t slept;

    (void)state;
    begin();
    log_around(session, 0, spin);
    log_around(session, 0, sleep_well);
    end(&readings);

    assert_int_equal(readings.events.count, 8);
    assert_int_equal(readings.count, 4);
    spun = readings.list[0].counters.instance;
    slept = readings.list[2].counters.instance;
    for (size_t index = 0; index < readings.count; index++) {
        assert_int_equal(readings.list[index].counters.known, everything);
        assert_int_equal(readings.list[index].thread, syscall(SYS_gettid));
        assert_memory_equal(&readings.list[index].counters.guid, &first_class, sizeof first_class);
    }
    assert_true(SINCE_START(&readings, spun, run_ns) >= 20 * MS);
    assert_true(SINCE_START(&readings, spun, user_us) + SINCE_START(&readings, spun, kernel_us) >=
                19990);
    assert_true(SINCE_START(&readings, slept, voluntary_switches) >= 1);
    /* It was away for as long as it slept; whatever else it did is counted as that. */
    assert_true(duration_of(&readings, slept) - SINCE_START(&readings, slept, run_ns) -
                    SINCE_START(&readings, slept, wait_ns) >=
                30 * MS - 1000);
    for (uint32_t which = 0; which < 2; which++) {
        uint32_t instance = which == 0 ? spun : slept;

        /* They are read within the instance, one after the other. */
        assert_true(SINCE_START(&readings, instance, run_ns) +
                        SINCE_START(&readings, instance, wait_ns) <=
                    duration_of(&readings, instance) + 100000);
    }
    free_counted(&readings);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

static void readings_stand_behind_the_start_and_before_the_end(void **state)
{
    static const uint8_t order[] = {EVENT_TRACE_TYPE_START, ETWAS_ETL_COUNTERS_TYPE,
                                    EVENT_TRACE_TYPE_CHECKPOINT, ETWAS_ETL_COUNTERS_TYPE,
                                    EVENT_TRACE_TYPE_END};
    etwas_trace_handle registration = register_counted();
    EVENT_INSTANCE_INFO instance = new_instance(1);
    struct readings readings;

    (void)state;
    begin();
    for (size_t index = 0; index < sizeof order; index += 2) {
        assert_int_equal(log_of(session, order[index], &instance, NULL), ERROR_SUCCESS);
    }
    end(&readings);
    assert_int_equal(readings.events.count, sizeof order);
    for (size_t index = 0; index < sizeof order; index++) {
        assert_int_equal(readings.events.items[index].record.EventHeader.EventDescriptor.Opcode,
                         order[index]);
        assert_true(index == 0 ||
                    readings.events.items[index - 1].record.EventHeader.TimeStamp.QuadPart <=
                        readings.events.items[index].record.EventHeader.TimeStamp.QuadPart);
    }
    free_counted(&readings);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

static void pages_that_are_touched_are_faults(void **state)
{
    etwas_trace_handle registration = register_counted();
    struct readings readings;
    uint32_t instance;

    (void)state;
    begin();
    log_around(session, 0, touch_pages);
    end(&readings);
    instance = readings.list[0].counters.instance;
    /* A sanitizer has pages of its own beside each. */
    assert_in_range(SINCE_START(&readings, instance, minor_faults), PAGES,
                    FIXTURE_SANITIZER ? 10 * PAGES : PAGES + 40);
    free_counted(&readings);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

static EVENT_INSTANCE_INFO inner;

static void spin_inside(void)
{
    inner = new_instance(1);
    assert_int_equal(log_of(session, EVENT_TRACE_TYPE_START, &inner, NULL), ERROR_SUCCESS);
    spin();
    assert_int_equal(log_of(session, EVENT_TRACE_TYPE_END, &inner, NULL), ERROR_SUCCESS);
    touch_pages();
}

static void what_an_inner_instance_used_is_a_part_of_the_outer_one(void **state)
{
    etwas_trace_handle registration = register_counted();
    struct readings readings;
    uint32_t outer;

    (void)state;
    begin();
    log_around(session, 0, spin_inside);
    end(&readings);
    assert_int_equal(readings.count, 4);
    outer = readings.list[0].counters.instance;
    assert_int_not_equal(outer, inner.InstanceId);
    assert_true(SINCE_START(&readings, outer, run_ns) >=
                SINCE_START(&readings, inner.InstanceId, run_ns));
    assert_true(SINCE_START(&readings, outer, minor_faults) >=
                PAGES + SINCE_START(&readings, inner.InstanceId, minor_faults));
    assert_true(SINCE_START(&readings, inner.InstanceId, run_ns) >= 20 * MS);
    free_counted(&readings);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

enum {
    THREADS = 4,
    ROUNDS = 200,
};

static void *work_in_rounds(void *argument)
{
    (void)argument;
    for (int round = 0; round < ROUNDS; round++) {
        EVENT_INSTANCE_INFO instance = new_instance((uint32_t)round % 2);

        assert_int_equal(log_of(session, EVENT_TRACE_TYPE_START, &instance, NULL), ERROR_SUCCESS);
        (void)sched_yield();
        assert_int_equal(log_of(session, EVENT_TRACE_TYPE_END, &instance, NULL), ERROR_SUCCESS);
    }
    return NULL;
}

static int by_thread_and_place(const void *left, const void *right)
{
    const struct reading *first = left;
    const struct reading *second = right;

    return first->thread != second->thread ? (first->thread > second->thread ? 1 : -1)
                                           : (first->at > second->at ? 1 : -1);
}

static void threads_that_work_at_once_count_each_their_own(void **state)
{
    etwas_trace_handle registration = register_counted();
    pthread_t threads[THREADS];
    struct readings readings;

    (void)state;
    begin();
    for (int index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_create(&threads[index], NULL, work_in_rounds, NULL), 0);
    }
    for (int index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_join(threads[index], NULL), 0);
    }
    end(&readings);
    assert_int_equal(readings.count, 2 * THREADS * ROUNDS);
    assert_int_equal(readings.events.count, 4 * THREADS * ROUNDS);
    qsort(readings.list, readings.count, sizeof *readings.list, by_thread_and_place);
    for (size_t index = 1; index < readings.count; index++) {
        const struct reading *before = &readings.list[index - 1];
        const struct reading *reading = &readings.list[index];

        /* No counter of a thread goes back, and no readings of other threads come between. */
        assert_int_equal(reading->thread == before->thread, index % (size_t)(2 * ROUNDS) != 0);
        if (reading->thread == before->thread) {
            assert_true(reading->counters.run_ns >= before->counters.run_ns);
            assert_true(reading->counters.wait_ns >= before->counters.wait_ns);
            assert_true(reading->counters.involuntary_switches >=
                        before->counters.involuntary_switches);
        }
        if (index % 2 == 1) {
            assert_int_equal(before->counters.type, EVENT_TRACE_TYPE_START);
            assert_int_equal(reading->counters.type, EVENT_TRACE_TYPE_END);
            assert_int_equal(reading->counters.instance, before->counters.instance);
        }
    }
    free_counted(&readings);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

static void activities_have_readings_too(void **state)
{
    static const EVENT_DESCRIPTOR start = {.Id = 1, .Opcode = EVENT_TRACE_TYPE_START};
    static const EVENT_DESCRIPTOR info = {.Id = 2};
    static const EVENT_DESCRIPTOR stop = {.Id = 3, .Opcode = EVENT_TRACE_TYPE_END};
    static const etwas_guid activity = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
    REGHANDLE provider = begin_modern(NULL);
    struct readings readings;

    (void)state;
    begin();
    /* No activity: these begin and end nothing. */
    assert_int_equal(EventWrite(provider, &start, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(EventWriteTransfer(provider, &start, &activity, NULL, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(EventWriteTransfer(provider, &info, &activity, NULL, 0, NULL), ERROR_SUCCESS);
    spin();
    assert_int_equal(EventWriteTransfer(provider, &stop, &activity, NULL, 0, NULL), ERROR_SUCCESS);
    end(&readings);
    assert_int_equal(readings.events.count, 6);
    assert_int_equal(readings.count, 2);
    assert_int_equal(readings.list[0].at, 2);
    assert_int_equal(readings.list[1].at, 4);
    for (size_t index = 0; index < 2; index++) {
        assert_memory_equal(&readings.list[index].counters.guid, &control_guid, 16);
        assert_memory_equal(&readings.list[index].counters.activity, &activity, 16);
        assert_int_equal(readings.list[index].counters.type, index + 1);
    }
    assert_true(SINCE_START(&readings, 0, run_ns) >= 20 * MS);
    free_counted(&readings);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_thread_that_spins_runs_and_one_that_sleeps_does_not),
        FOLDER_TEST(readings_stand_behind_the_start_and_before_the_end),
        FOLDER_TEST(pages_that_are_touched_are_faults),
        FOLDER_TEST(what_an_inner_instance_used_is_a_part_of_the_outer_one),
        FOLDER_TEST(threads_that_work_at_once_count_each_their_own),
        FOLDER_TEST(activities_have_readings_too),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
