/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Triggers from payloads: which events of a session with a log file ask a flight recorder for a
 * window, of which moment, and what becomes of them.
 */
#include <string.h>
#include <unistd.h>

#include "etl/own_record.h"
#include "file/payload_fixture.h"

/* ---- what a file says of its window ---------------------------------------------------------- */

static struct etwas_etl_window window;

static void take(EVENT_RECORD *event)
{
    if (memcmp(&event->EventHeader.ProviderId, &etwas_etl_own_class, sizeof(etwas_guid)) == 0 &&
        event->EventHeader.EventDescriptor.Opcode == ETWAS_ETL_WINDOW_TYPE) {
        assert_int_equal(event->UserDataLength, sizeof window);
        memcpy(&window, event->UserData, sizeof window);
    }
}

static void read_window(const char *name)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)folder_path(name),
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        .EventRecordCallback = take,
    };
    TRACEHANDLE trace = OpenTraceA(&logfile);

    memset(&window, 0, sizeof window);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    assert_int_equal(window.version, ETWAS_ETL_WINDOW_VERSION);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void what_an_event_says_asks_for_a_window_around_its_own_time(void **state)
{
    static const uint32_t clocks[] = {ETWAS_CLOCK_QPC, ETWAS_CLOCK_TSC, ETWAS_CLOCK_SYSTEM_TIME};
    const etwas_payload_filter filter = order_filter(&is_slow, 1);

    (void)state;
    for (size_t index = 0; index < sizeof clocks / sizeof clocks[0]; index++) {
        const int64_t millisecond = 1000000;
        etwas_trace_handle recorder = start_recorder();
        etwas_trace_handle log = start_log(clocks[index]);
        int64_t begun;
        int64_t logged;

        arm(recorder, &(etwas_trigger_options){.after_ms = LONG_MS});
        watch(log, recorder, &filter);
        assert_int_equal(judge_order(log, &usual).tested, 1);
        assert_int_equal(ask_log(log).matched, 0);
        assert_int_equal(ask(recorder).asked, 0);
        begun = etwas_clock_read(ETWAS_CLOCK_QPC);
        log_order(log, &slow);
        logged = etwas_clock_read(ETWAS_CLOCK_QPC);
        (void)usleep(20000);
        assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
        assert_int_equal(ask_log(log).matched, 1);
        assert_int_equal(ask_log(log).refused, 0);
        assert_int_equal(ask(recorder).asked, 1);
        wait_until_seen(recorder);
        stop_session(log, NULL);
        stop_session(recorder, NULL);
        assert_int_equal(ask_log(log).matched, 1);
        assert_int_equal(ask(recorder).files, 1);
        read_window("window1.etl");
        if (clocks[index] == ETWAS_CLOCK_QPC) {
            assert_in_range(window.trigger_raw, begun, logged);
        } else {
            /* Clocks of different rates, 20 ms later. */
            assert_in_range(window.trigger_raw, begun - millisecond, logged + millisecond);
        }
    }
}

static void an_event_that_is_meant_otherwise_asks_nothing(void **state)
{
    const etwas_payload_filter filter = order_filter(&is_slow, 1);
    etwas_payload_filter other = filter;
    const etwas_guid other_class = {0x12, 0x22, 0x33, {1, 2, 3, 4, 5, 6, 7, 8}};
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);

    (void)state;
    arm(recorder, &(etwas_trigger_options){.after_ms = LONG_MS});
    watch(log, recorder, &filter);
    other.guid = &other_class;
    watch(log, recorder, &other);
    log_bytes(log, ORDER_TYPE + 1, ORDER_VERSION, &slow, sizeof slow);
    log_bytes(log, ORDER_TYPE, ORDER_VERSION + 1, &slow, sizeof slow);
    assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
    assert_int_equal(ask_log(log).tested, 0);
    assert_int_equal(judge_order(log, &slow).matched, 1);
    /* What ends before the field that is asked says nothing of it. */
    log_bytes(log, ORDER_TYPE, ORDER_VERSION, &slow, sizeof slow - 1);
    log_bytes(log, ORDER_TYPE, ORDER_VERSION, &slow, 0);
    stop_session(log, NULL);
    assert_int_equal(ask_log(log).tested, 3);
    assert_int_equal(ask_log(log).unfit, 2);
    assert_int_equal(ask_log(log).matched, 1);
    stop_session(recorder, NULL);
    assert_int_equal(ask(recorder).asked, 1);
}

static void each_match_is_counted_by_what_became_of_it(void **state)
{
    const etwas_payload_filter filter = order_filter(&is_slow, 1);
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);

    (void)state;
    watch(log, recorder, &filter);
    /* The recorder is not armed yet. */
    assert_int_equal(judge_order(log, &slow).refused, 1);
    arm(recorder, &(etwas_trigger_options){.after_ms = 1, .least_gap_ms = LONG_MS});
    log_order(log, &slow);
    log_order(log, &slow);
    log_order(log, &slow);
    assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
    wait_until_seen(recorder);
    while (ask(recorder).files == 0) {
        (void)usleep(500);
    }
    /*
     * The events of one buffer come to one window, or are too soon where it is written between
     * them.
     */
    assert_int_equal(ask(recorder).windows, 1);
    assert_int_equal(ask(recorder).joined + ask(recorder).limited, 2);
    log_order(log, &slow);
    assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
    wait_until_seen(recorder);
    assert_int_equal(ask(recorder).windows, 1);
    assert_true(ask(recorder).limited >= 1);
    assert_int_equal(ask(recorder).asked, 4);
    /* The last of them from what is drained at the end; and the recorder may end before. */
    stop_session(recorder, NULL);
    log_order(log, &slow);
    stop_session(log, NULL);
    assert_int_equal(ask_log(log).matched, 6);
    assert_int_equal(ask_log(log).refused, 2);
}

/*
 * The time after is counted from the event, and not from when it was looked at; but all of it is
 * there.
 */
static void the_time_after_is_that_after_the_event(void **state)
{
    const int64_t after_ms = 40;
    const int64_t millisecond = 1000000;
    const etwas_payload_filter filter = order_filter(&is_slow, 1);
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);

    (void)state;
    arm(recorder, &(etwas_trigger_options){.after_ms = (uint32_t)after_ms});
    watch(log, recorder, &filter);
    for (uint32_t late_ms = 10; late_ms <= 60; late_ms += 50) {
        log_order(log, &slow);
        (void)usleep(late_ms * 1000);
        assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
        while (ask(recorder).files + ask(recorder).failed < (late_ms + 40) / 50) {
            (void)usleep(500);
        }
        assert_int_equal(ask(recorder).failed, 0);
        read_window(late_ms == 10 ? "window1.etl" : "window2.etl");
        assert_true(window.until_raw - window.trigger_raw >= after_ms * millisecond);
    }
    stop_session(log, NULL);
    stop_session(recorder, NULL);
}

/* The window goes back as far from the event that joined as from the trigger that began it. */
static void a_window_becomes_as_wide_as_an_earlier_event_wants_it(void **state)
{
    const int64_t millisecond = 1000000;
    const etwas_payload_filter filter = order_filter(&is_slow, 1);
    etwas_trace_handle recorder = start_recorder();
    etwas_trace_handle log = start_log(ETWAS_CLOCK_QPC);
    int64_t begun;

    (void)state;
    arm(recorder, &(etwas_trigger_options){.before_ms = 1, .after_ms = LONG_MS});
    watch(log, recorder, &filter);
    log_order(recorder, &usual);
    begun = etwas_clock_read(ETWAS_CLOCK_QPC);
    log_order(log, &slow);
    (void)usleep(20000);
    assert_int_equal(etwas_trigger(recorder), ERROR_SUCCESS);
    wait_until_seen(recorder);
    assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
    stop_session(recorder, NULL);
    assert_int_equal(ask(recorder).windows, 1);
    assert_int_equal(ask(recorder).joined, 1);
    read_window("window1.etl");
    assert_int_equal(window.triggers, 2);
    assert_true(window.trigger_raw > begun + 20 * millisecond);
    assert_true(window.from_raw <= begun);
    stop_session(log, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(what_an_event_says_asks_for_a_window_around_its_own_time),
        FOLDER_TEST(an_event_that_is_meant_otherwise_asks_nothing),
        FOLDER_TEST(each_match_is_counted_by_what_became_of_it),
        FOLDER_TEST(the_time_after_is_that_after_the_event),
        FOLDER_TEST(a_window_becomes_as_wide_as_an_earlier_event_wants_it),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
