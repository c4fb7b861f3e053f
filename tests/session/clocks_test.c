/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The three clocks through a whole session: what is stamped, what the file says of it, and both
 * ways to make it a time of day (R103, R150–R160).
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/fixture.h"

enum {
    EVENTS = 200
};
/*
 * 100 ns units: the clocks need not agree better than a second, which no mistake in a unit
 * survives.
 */
#define SECOND INT64_C(10000000)

struct logged {
    int64_t raw_before[EVENTS]; /* the session's own clock */
    int64_t raw_after[EVENTS];
    int64_t time_before; /* system time around all of it */
    int64_t time_after;
};

static void log_with_clock(uint32_t clock, const char *path, struct logged *logged)
{
    uint32_t effective = etwas_clock_effective(clock);
    struct block block;
    etwas_trace_handle session;

    prepare_block(&block, path);
    block.properties.Wnode.ClientContext = clock;
    logged->time_before = etwas_clock_read(ETWAS_CLOCK_SYSTEM_TIME);
    session = start_block("clock", &block);
    assert_int_equal(block.properties.Wnode.ClientContext, effective);
    for (uint32_t number = 0; number < EVENTS; number++) {
        logged->raw_before[number] = etwas_clock_read(effective);
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
        logged->raw_after[number] = etwas_clock_read(effective);
        (void)usleep(100);
    }
    stop_session(session, NULL);
    logged->time_after = etwas_clock_read(ETWAS_CLOCK_SYSTEM_TIME);
}

/* R158: what a caller with RAW_TIMESTAMP multiplies a stamp with. */
static double scale_of(const TRACE_LOGFILE_HEADER *header)
{
    switch (header->ReservedFlags) {
    case ETWAS_CLOCK_QPC:
        return 1e7 / (double)header->PerfFreq.QuadPart;
    case ETWAS_CLOCK_SYSTEM_TIME:
        return 1.0;
    default:
        return 10.0 / header->CpuSpeedInMHz;
    }
}

static void check_clock(uint32_t clock)
{
    const char *path = folder_path("clock.etl");
    uint32_t effective = etwas_clock_effective(clock);
    struct logged logged;
    struct events raw;
    struct events converted;
    double scale;
    int64_t base;

    log_with_clock(clock, path, &logged);
    read_events(path, PROCESS_TRACE_MODE_RAW_TIMESTAMP, &raw);
    read_events(path, 0, &converted);
    assert_int_equal(raw.count, EVENTS);
    assert_int_equal(converted.count, EVENTS);

    /* R156, and everything a reader divides by. */
    assert_int_equal(raw.header.ReservedFlags, effective);
    assert_int_equal(raw.information.clock, effective);
    assert_true(raw.header.PerfFreq.QuadPart > 0);
    assert_true(raw.header.CpuSpeedInMHz > 0);
    assert_true(raw.header.TimerResolution > 0);
    assert_true(raw.header.StartTime.QuadPart >= logged.time_before - SECOND);
    assert_true(raw.header.StartTime.QuadPart <= logged.time_after + SECOND);
    assert_true(raw.header.EndTime.QuadPart >= raw.header.StartTime.QuadPart);
    assert_true(raw.header.BootTime.QuadPart < raw.header.StartTime.QuadPart);

    /* R159: the first event of the file is at StartTime, also when it is not raw. */
    assert_true(converted.header_stamp == raw.header.StartTime.QuadPart);
    scale = scale_of(&raw.header);
    base = raw.header.StartTime.QuadPart - (int64_t)(scale * (double)raw.header_stamp);
    for (uint32_t number = 0; number < EVENTS; number++) {
        int64_t stamp = raw.items[number].record.EventHeader.TimeStamp.QuadPart;
        int64_t time = converted.items[number].record.EventHeader.TimeStamp.QuadPart;
        int64_t by_hand = base + (int64_t)(scale * (double)stamp);

        assert_int_equal(number_of(&raw.items[number]), number);
        assert_int_equal(number_of(&converted.items[number]), number);
        /* R150–R152: the stamp is that clock's, read inside the call. */
        assert_true(logged.raw_before[number] <= stamp && stamp <= logged.raw_after[number]);
        /* R157 and R158: both ways give a time of day; an integer of MHz is a coarse one. */
        assert_true(time >= logged.time_before - SECOND && time <= logged.time_after + SECOND);
        assert_true(by_hand - time < SECOND / 100 && time - by_hand < SECOND / 100);
        if (effective == ETWAS_CLOCK_SYSTEM_TIME) {
            assert_true(time == stamp); /* R160 */
        }
    }
    free_events(&raw);
    free_events(&converted);
}

static void r150_clock_0_is_qpc(void **state)
{
    (void)state;
    assert_int_equal(etwas_clock_effective(0), ETWAS_CLOCK_QPC);
    check_clock(0);
}

static void r151_qpc(void **state)
{
    (void)state;
    assert_int_equal(etwas_clock_effective(1), ETWAS_CLOCK_QPC);
    check_clock(ETWAS_CLOCK_QPC);
}

static void r152_and_r160_system_time(void **state)
{
    (void)state;
    assert_int_equal(etwas_clock_effective(2), ETWAS_CLOCK_SYSTEM_TIME);
    check_clock(ETWAS_CLOCK_SYSTEM_TIME);
}

static void r153_the_cycle_counter_or_system_time_in_its_place(void **state)
{
    uint32_t effective = etwas_clock_effective(3);

    (void)state;
    assert_true(effective == ETWAS_CLOCK_TSC || effective == ETWAS_CLOCK_SYSTEM_TIME);
    check_clock(ETWAS_CLOCK_TSC);
}

/* R154, and a provider that logs to several sessions by their handles (R192). */
static void r154_three_clocks_at_once_tell_the_same_time(void **state)
{
    etwas_trace_handle sessions[3];
    struct events events[3];
    char name[16];

    (void)state;
    for (uint32_t index = 0; index < 3; index++) {
        const etwas_session_options options = {.clock = index + 1};

        (void)snprintf(name, sizeof name, "%u", index);
        sessions[index] = start_session(folder_path(name), &options);
    }
    for (uint32_t number = 0; number < EVENTS; number++) {
        for (uint32_t index = 0; index < 3; index++) {
            assert_int_equal(log_number(sessions[index], number), ERROR_SUCCESS);
        }
    }
    for (uint32_t index = 0; index < 3; index++) {
        stop_session(sessions[index], NULL);
        (void)snprintf(name, sizeof name, "%u", index);
        read_events(folder_path(name), 0, &events[index]);
        assert_int_equal(events[index].count, EVENTS);
    }
    for (uint32_t number = 0; number < EVENTS; number++) {
        int64_t first = events[0].items[number].record.EventHeader.TimeStamp.QuadPart;

        for (uint32_t index = 1; index < 3; index++) {
            int64_t other = events[index].items[number].record.EventHeader.TimeStamp.QuadPart;

            assert_int_equal(number_of(&events[index].items[number]), number);
            assert_true(other - first < SECOND && first - other < SECOND);
        }
    }
    for (uint32_t index = 0; index < 3; index++) {
        free_events(&events[index]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r150_clock_0_is_qpc),
        FOLDER_TEST(r151_qpc),
        FOLDER_TEST(r152_and_r160_system_time),
        FOLDER_TEST(r153_the_cycle_counter_or_system_time_in_its_place),
        FOLDER_TEST(r154_three_clocks_at_once_tell_the_same_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
