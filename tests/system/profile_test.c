/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_PROFILE: samples are where the time goes, as often as requested, and lost ones
 * are counted.
 */
#include <ck_pr.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/processor.h"
#include "platform/testpoint.h"
#include "system/kernel_fixture.h"
#include "system/logger.h"
#include "system/spin.h"

enum {
    SAMPLE = 46,
    INTERVAL_SET = 72,
    INTERVAL_AT_BEGIN = 73,
    INTERVAL_AT_END = 74,
    PROFILE = EVENT_TRACE_FLAG_PROFILE | EVENT_TRACE_FLAG_NO_SYSCONFIG,
    SHORT_INTERVAL = 1221,
    LONGEST = 1000000,
};

static TRACE_PROFILE_INTERVAL interval_of(etwas_trace_handle session)
{
    TRACE_PROFILE_INTERVAL interval = {.Source = 0};
    uint32_t bytes = 0;

    assert_int_equal(TraceQueryInformation(session, TraceSampledProfileIntervalInfo, &interval,
                                           sizeof interval, &bytes),
                     ERROR_SUCCESS);
    assert_int_equal(bytes, sizeof interval);
    return interval;
}

static uint32_t set_interval(etwas_trace_handle session, uint32_t source, uint32_t units)
{
    TRACE_PROFILE_INTERVAL interval = {.Source = source, .Interval = units};

    return TraceSetInformation(session, TraceSampledProfileIntervalInfo, &interval,
                               sizeof interval);
}

/*
 * When a thread that spins has come to a processor, all samples there are of it until it goes.
 * Nearly all of them are in the function that spins, and there is at most one an interval.
 */
static void samples_are_where_the_time_goes(void **state)
{
    uint32_t running[ETWAS_MOST_PROCESSORS + 1];
    uint32_t here = (uint32_t)syscall(SYS_gettid);
    etwas_trace_handle session;
    struct events events;
    struct spin spin;
    uint32_t ours = 0;
    uint32_t inside = 0;

    (void)state;
    memset(running, 0xFF, sizeof running);
    stay_on_one_processor();
    session = start_kernel(PROFILE | EVENT_TRACE_FLAG_CSWITCH);
    spin_for(&spin, 300000000);
    leave_one_processor();
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];
        int64_t time = event->record.EventHeader.TimeStamp.QuadPart;
        uint32_t *on_processor = &running[processor_of(event)];

        if (is_kernel_event(event, &thread_class, SWITCH)) {
            *on_processor = u32_at(event, 0);
        } else if (is_kernel_event(event, &PerfInfoGuid, SAMPLE)) {
            assert_int_equal(event->record.UserDataLength, 16);
            assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 2);
            assert_int_equal(u32_at(event, 12), 1);
            if (time < spin.begin_ns || time > spin.end_ns) {
                continue; /* sources begin and end one after the other */
            }
            if (*on_processor == here) {
                assert_int_equal(u32_at(event, 8), here);
            }
            if (u32_at(event, 8) == here) {
                ours++;
                inside += is_in_spin(u64_at(event, 0));
            }
        }
    }
    assert_in_range(ours, 10, (spin.end_ns - spin.begin_ns) / 1000000 + 1);
    assert_in_range(inside, ours / 2 + 1, ours);
    free_events(&events);
}

static void expect_interval(const struct event *event, uint32_t now, uint32_t before)
{
    static const etwas_wchar name[] = {'T', 'i', 'm', 'e', 'r', 0};

    assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 3);
    assert_int_equal(event->record.UserDataLength, 12 + sizeof name);
    assert_int_equal(u32_at(event, 0), 0);
    assert_int_equal(u32_at(event, 4), now);
    assert_int_equal(u32_at(event, 8), before);
    assert_memory_equal(event->payload + 12, name, sizeof name);
}

/* Ten times as many samples as the longest interval would give; and each interval is said. */
static void the_interval_changes_while_it_runs(void **state)
{
    uint32_t said[INTERVAL_AT_END + 1] = {0};
    uint32_t samples = 0;
    etwas_trace_handle session;
    struct events events;
    struct spin spin;
    int64_t begin_ns;
    uint64_t intervals;

    (void)state;
    assert_int_equal(interval_of(0).Interval, 10000);
    assert_int_equal(set_interval(0, 0, LONGEST), ERROR_SUCCESS);
    begin_ns = monotonic_raw_ns();
    session = start_kernel(PROFILE);
    assert_int_equal(set_interval(0, 0, 10000), ERROR_SUCCESS);
    assert_int_equal(interval_of(session).Interval, LONGEST);
    assert_int_equal(set_interval(session, 0, SHORT_INTERVAL), ERROR_SUCCESS);
    assert_int_equal(interval_of(session).Interval, SHORT_INTERVAL);
    spin_for(&spin, 50000000);
    intervals =
        etwas_processor_count() * (uint64_t)(1 + (monotonic_raw_ns() - begin_ns) / (LONGEST * 100));
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];
        uint8_t type = event->record.EventHeader.EventDescriptor.Opcode;

        if (is_kernel_event(event, &PerfInfoGuid, SAMPLE)) {
            samples++;
        } else if (is_kernel_event(event, &PerfInfoGuid, type)) {
            said[type]++;
            expect_interval(event, type == INTERVAL_AT_BEGIN ? LONGEST : SHORT_INTERVAL,
                            type == INTERVAL_AT_END ? SHORT_INTERVAL : LONGEST);
        }
    }
    assert_int_equal(said[INTERVAL_AT_BEGIN], 1);
    assert_int_equal(said[INTERVAL_SET], 1);
    assert_int_equal(said[INTERVAL_AT_END], 1);
    assert_in_range(samples, 10 * intervals, UINT32_MAX);
    free_events(&events);
}

static void what_is_no_interval_is_refused(void **state)
{
    TRACE_PROFILE_INTERVAL other = {.Source = 1, .Interval = 10000};
    etwas_trace_handle session;
    struct events events;

    (void)state;
    session = start_kernel(PROFILE);
    for (int round = 0; round < 2; round++) {
        etwas_trace_handle handle = round == 0 ? 0 : session;

        assert_int_equal(set_interval(handle, 1, 10000), ERROR_INVALID_PARAMETER);
        assert_int_equal(set_interval(handle, 0, 1220), ERROR_INVALID_PARAMETER);
        assert_int_equal(set_interval(handle, 0, 1000001), ERROR_INVALID_PARAMETER);
        assert_int_equal(TraceSetInformation(handle, TraceSampledProfileIntervalInfo, &other, 7),
                         ERROR_BAD_LENGTH);
        assert_int_equal(TraceQueryInformation(handle, TraceSampledProfileIntervalInfo, &other,
                                               sizeof other, NULL),
                         ERROR_INVALID_PARAMETER);
        assert_int_equal(
            TraceQueryInformation(handle, TraceSampledProfileIntervalInfo, &other, 7, NULL),
            ERROR_BAD_LENGTH);
        assert_int_equal(interval_of(handle).Interval, 10000);
    }
    read_and_account(session, &events);
    free_events(&events);
    assert_int_equal(set_interval(session, 0, 10000), ERROR_INVALID_PARAMETER);
}

/* While this is 1 the rings are not read. */
static uint32_t keep_rings_full;

static void wait_before_drain(enum etwas_testpoint point)
{
    while (point == ETWAS_POINT_SYSTEM_DRAINS && ck_pr_load_32(&keep_rings_full) != 0) {
        (void)usleep(1000);
    }
}

/*
 * I4: a ring of a page has room for a hundred samples. No more are recorded and lost than there
 * were intervals on all processors.
 */
static void samples_without_room_are_counted(void **state)
{
    const uint32_t ring_bytes = etwas_system_logger_ring_bytes;
    etwas_session_counts counts;
    etwas_trace_handle session;
    struct events events;
    struct spin spin;
    int64_t begin = monotonic_raw_ns();
    uint64_t most;

    (void)state;
    assert_int_equal(set_interval(0, 0, SHORT_INTERVAL), ERROR_SUCCESS);
    etwas_system_logger_ring_bytes = 4096;
    ck_pr_store_32(&keep_rings_full, 1);
    etwas_testpoint_set(wait_before_drain);
    session = start_kernel(PROFILE);
    etwas_system_logger_ring_bytes = ring_bytes;
    assert_int_equal(set_interval(0, 0, 10000), ERROR_SUCCESS);
    stay_on_one_processor();
    spin_for(&spin, 100000000);
    leave_one_processor();
    ck_pr_store_32(&keep_rings_full, 0);
    stop_session(session, &counts);
    etwas_testpoint_set(NULL);
    most = etwas_processor_count() * (uint64_t)(1 + (monotonic_raw_ns() - begin) / 122100);
    assert_in_range(counts.lost_in_kernel, 100, most);
    assert_in_range(counts.recorded + counts.lost, 200, most + 2);
    assert_int_equal(counts.lost, counts.lost_in_kernel);
    read_events(folder_path("k.etl"), 0, &events);
    assert_int_equal(events.header.EventsLost, counts.lost);
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(samples_are_where_the_time_goes),
        FOLDER_TEST(the_interval_changes_while_it_runs),
        FOLDER_TEST(what_is_no_interval_is_refused),
        FOLDER_TEST(samples_without_room_are_counted),
    };

    return RUN_KERNEL_TESTS("system profile", tests);
}
