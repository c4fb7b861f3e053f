/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Clock knots through a whole session: every file has them, in every mode, with every clock, and
 * nothing else about the session changes. A session without a thread reads its clocks at each flush
 * when the interval is 0: so the tests know how many knots there are.
 */
#include <ck_pr.h>
#include <etwas/evntcons.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock/calibration.h"
#include "clock/clock.h"
#include "clock/timeline.h"
#include "file_modes.h"
#include "flush/session_clock.h"
#include "platform/wait.h"
#include "support/folder.h"
#include "support/knots.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    KB = EVENT_TRACE_USE_KBYTES_FOR_SIZE,
    FLUSHES = 100,
    EVENTS_A_FLUSH = 5,
    MS = 1000000,
    PATIENCE_MS = 30000,
};
#define HOUR INT64_C(36000000000) /* 100 ns */
#define NS_A_SECOND INT64_C(1000000000)

static struct knots knots;

static int setup(void **state)
{
    etwas_clock_knot_interval_ns = 0;
    return folder_setup(state);
}

static int teardown(void **state)
{
    etwas_clock_knot_interval_ns = ETWAS_CLOCK_KNOT_INTERVAL_NS;
    ck_pr_store_64(&etwas_clock_system_step, 0);
    ck_pr_store_64(&etwas_clock_suspended_step_ns, 0);
    return folder_teardown(state);
}

#define KNOTS_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static etwas_trace_handle start_by_hand(const char *path, uint32_t mode, uint32_t size,
                                        uint32_t clock)
{
    const struct etwas_session_options options = {
        .log_file_mode = mode,
        .clock = clock,
        .buffer_size_kb = 4,
        .minimum_buffers = 8,
        .maximum_buffers = 64,
        .maximum_file_size = size,
        .flusher = {.no_thread = true},
    };

    return (mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING) != 0
               ? start_shared_session(path, &options)
               : start_session(path, &options);
}

static struct writer *writer_of(etwas_trace_handle session)
{
    return writer_new(&(struct writer_options){.session = session, .largest_payload = 100});
}

static void log_some(struct writer *writer, uint32_t events)
{
    for (uint32_t event = 0; event < events; event++) {
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
    }
}

/* What each knot of a session with this clock says. */
static void expect_knots_of(uint32_t clock, int64_t raw_before, int64_t raw_after)
{
    assert_true(knots.has_clock);
    assert_int_equal(knots.clock.clock_type, clock);
    for (uint32_t index = 0; index < knots.count; index++) {
        const struct etwas_etl_knot *knot = &knots.list[index];

        assert_true(raw_before <= knot->raw_stamp && knot->raw_stamp <= raw_after);
        assert_int_equal(knot->suspended_ns, knots.list[0].suspended_ns);
        if (clock == ETWAS_CLOCK_KIND_QPC) {
            assert_int_equal(knot->raw_stamp, knot->qpc_ns);
            assert_int_equal(knot->qpc_error_ns, 0);
        } else {
            assert_true(knot->qpc_error_ns > (clock == ETWAS_CLOCK_KIND_SYSTEM ? 100 : 0));
        }
        if (clock == ETWAS_CLOCK_KIND_SYSTEM) {
            assert_int_equal(knot->raw_stamp, knot->filetime);
            assert_int_equal(knot->filetime_error_ns, 0);
        } else {
            assert_true(knot->filetime_error_ns > 0);
        }
    }
}

/* ---- in every mode --------------------------------------------------------------------------- */

struct mode {
    uint32_t mode;
    uint32_t size; /* KB with that bit, else MB */
    bool has_buffers;
    bool has_all; /* none was dropped, nor overwritten */
};

static const struct mode modes[] = {
    {EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, true, true},
    {EVENT_TRACE_FILE_MODE_SEQUENTIAL | KB, 4096, true, false},
    {EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, 0, true, true},
    {EVENT_TRACE_FILE_MODE_PREALLOCATE, 4, true, false},
    {EVENT_TRACE_FILE_MODE_CIRCULAR | KB, 512, true, false},
    {EVENT_TRACE_FILE_MODE_CIRCULAR | KB, 64, false, false},
    {EVENT_TRACE_FILE_MODE_CIRCULAR | KB | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, 512, true,
     false},
};

/* R74: not an event is accounted otherwise, and QUERY counts what is in the file. */
static void many_knots_move_into_buffers_in_every_mode_and_cost_no_event(void **state)
{
    (void)state;
    for (size_t row = 0; row < sizeof modes / sizeof modes[0]; row++) {
        const char *path = folder_path("trace.etl");
        etwas_trace_handle session =
            start_by_hand(path, modes[row].mode, modes[row].size, ETWAS_CLOCK_QPC);
        struct writer *writer = writer_of(session);
        etwas_session_counts counts;

        stay_on_one_processor();
        for (int flush = 0; flush < FLUSHES; flush++) {
            log_some(writer, EVENTS_A_FLUSH);
            assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
            assert_int_equal(query_session(session).BuffersWritten,
                             log_header_of(path).start.buffers_written +
                                 totals_of(path).overwritten_buffers);
        }
        leave_one_processor();
        stop_session(session, &counts);
        assert_int_equal(counts.lost, 0);
        expect_file_is_exact(session, path, &counts);
        knots_read(path, &knots);
        expect_knots_of(ETWAS_CLOCK_KIND_QPC, 0, INT64_MAX);
        assert_int_equal(knots.buffers != 0, modes[row].has_buffers);
        assert_true(knots.count >= 20 && knots.count <= FLUSHES + 2);
        if (modes[row].has_all) {
            assert_int_equal(knots.count, FLUSHES + 2);
        }
        assert_int_equal(unlink(path), 0);
    }
}

/* What the counter is worth is in each file; measured, once a session asked for it. */
static void a_session_of_each_clock_says_which_it_asked_for_and_got(void **state)
{
    static bool is_measured;

    (void)state;
    for (uint32_t asked = 0; asked <= ETWAS_CLOCK_TSC; asked++) {
        const char *path = folder_path("clock.etl");
        int64_t before[] = {0, etwas_clock_read(1), etwas_clock_read(2), etwas_clock_read(3)};
        etwas_trace_handle session = start_by_hand(path, 0, 0, asked);
        struct writer *writer = writer_of(session);
        etwas_session_counts counts;
        uint32_t clock;

        for (int flush = 0; flush < 5; flush++) {
            log_some(writer, 1);
            assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        }
        stop_session(session, &counts);
        expect_file_is_exact(session, path, &counts);
        knots_read(path, &knots);
        is_measured = is_measured || asked == ETWAS_CLOCK_TSC;
        assert_int_equal(knots.clock.frequency_hz != 0,
                         is_measured && etwas_clock_tsc_frequency_hz() != 0);
        assert_true(knots.clock.reasons != 0);
        assert_true(knots.clock.clocksource[0] != '\0');
        clock = asked == 0 ? ETWAS_CLOCK_QPC : knots.clock.clock_type;
        assert_true(clock == asked || asked == 0 || asked == ETWAS_CLOCK_TSC);
        expect_knots_of(clock, before[clock], etwas_clock_read(clock));
        assert_int_equal(knots.count, 7);
        assert_int_equal(knots.clock.requested_clock, asked != 0 ? asked : 1);
    }
    /* R153: who asks for a counter that is worth nothing gets system time. */
    {
        const char *path = folder_path("fallback.etl");
        etwas_trace_handle session;

        etwas_clock_allow_tsc(false);
        session = start_by_hand(path, 0, 0, ETWAS_CLOCK_TSC);
        stop_session(session, NULL);
        etwas_clock_allow_tsc(true);
        knots_read(path, &knots);
        assert_int_equal(knots.clock.requested_clock, ETWAS_CLOCK_TSC);
        assert_int_equal(knots.clock.clock_type, ETWAS_CLOCK_SYSTEM_TIME);
        assert_int_equal(knots.clock.verdict, ETWAS_CLOCK_VERDICT_UNUSABLE);
    }
}

static void each_part_of_a_set_has_knots_from_before_it_to_its_end(void **state)
{
    etwas_trace_handle session = start_by_hand(
        folder_path("part-%d.etl"), EVENT_TRACE_FILE_MODE_NEWFILE | KB, 40, ETWAS_CLOCK_QPC);
    struct writer *writer = writer_of(session);
    etwas_session_counts counts;
    struct parts parts;
    int64_t ended = 0;

    (void)state;
    for (int flush = 0; flush < 60; flush++) {
        log_some(writer, EVENTS_A_FLUSH);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    }
    stop_session(session, &counts);
    expect_parts_are_exact(session, "part-", &counts, &parts);
    assert_true(parts.count > 5);
    assert_int_equal(parts.buffers, counts.buffers_written);
    for (uint32_t part = 1; part <= parts.count; part++) {
        char name[32];
        int64_t opened;

        (void)snprintf(name, sizeof name, "part-%u.etl", part);
        knots_read(folder_path(name), &knots);
        assert_int_equal(knots_with(&knots, ETWAS_ETL_KNOT_SESSION_STARTED), 1);
        assert_int_equal(knots_with(&knots, ETWAS_ETL_KNOT_FILE_OPENED), part > 1);
        assert_int_equal(knots_with(&knots, ETWAS_ETL_KNOT_FILE_ENDED), 1);
        for (uint32_t index = 0; part > 1 && index < knots.count; index++) {
            if (knots.list[index].reason == ETWAS_ETL_KNOT_FILE_OPENED) {
                opened = knots.list[index].qpc_ns;
                assert_true(index > 1); /* some are from before */
                /* The old one ends when the new one is there. */
                assert_true(opened < ended);
            }
        }
        ended = knots.list[knots.count - 1].qpc_ns;
    }
}

/* Each session has its own; where there is no room it is appended all the same. */
static void appended_sessions_add_theirs_while_there_is_room(void **state)
{
    const char *path = folder_path("trace.etl");
    uint32_t sessions = 0;
    uint32_t before = 0;

    (void)state;
    knots.count = 0;
    do {
        etwas_trace_handle session =
            start_by_hand(path, EVENT_TRACE_FILE_MODE_APPEND, 0, ETWAS_CLOCK_SYSTEM_TIME);
        struct writer *writer = writer_of(session);
        struct readback result;

        sessions++;
        before = knots.count;
        for (int flush = 0; flush < 4; flush++) {
            log_some(writer, 1);
            assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        }
        stop_session(session, NULL);
        walk_back(session, path, true, &result);
        knots_read(path, &knots);
        assert_true(knots_with(&knots, ETWAS_ETL_KNOT_SESSION_STARTED) <= sessions);
    } while (knots.count > before);
    assert_true(sessions > 4);
    /* The last one had none at all, and whoever had one had both ends. */
    assert_int_equal(knots_with(&knots, ETWAS_ETL_KNOT_SESSION_STARTED), sessions - 1);
    assert_int_equal(knots_with(&knots, ETWAS_ETL_KNOT_FILE_ENDED), sessions - 1);
}

/* ---- while it runs --------------------------------------------------------------------------- */

static uint64_t content_sum(const char *path, struct stat *status)
{
    FILE *file = fopen(path, "re");
    uint64_t sum = 0;
    int byte;

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), status), 0);
    while ((byte = fgetc(file)) != EOF) {
        sum = sum * 1099511628211u + (uint64_t)byte;
    }
    (void)fclose(file);
    return sum;
}

static void an_idle_session_does_not_touch_its_file(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_by_hand(path, 0, 0, ETWAS_CLOCK_QPC);
    struct writer *writer = writer_of(session);
    etwas_session_counts counts;
    struct stat before;
    struct stat after;
    uint64_t sum;

    (void)state;
    log_some(writer, 10);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    knots_read(path, &knots);
    assert_int_equal(knots.count, 2); /* the start, and one that runs: a killed process leaves it */
    sum = content_sum(path, &before);
    for (int flush = 0; flush < 1000; flush++) {
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    }
    assert_true(content_sum(path, &after) == sum);
    assert_true(memcmp(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim) == 0);
    stop_session(session, &counts);
    expect_file_is_exact(session, path, &counts);
    knots_read(path, &knots);
    assert_int_equal(knots.buffers, 0);
    assert_true(knots.count > 2);
}

static void wait_for(bool (*done)(void *), void *context)
{
    const struct timespec pause = {.tv_nsec = MS};

    for (int waited = 0; !done(context); waited++) {
        assert_true(waited < PATIENCE_MS);
        (void)nanosleep(&pause, NULL);
    }
}

static bool has_read_often(void *session)
{
    struct etwas_session *inside = session;
    bool often;

    (void)pthread_mutex_lock(&inside->role);
    often = inside->timeline.count > 20;
    (void)pthread_mutex_unlock(&inside->role);
    return often;
}

/* Also of a flight recorder, whose thread has nothing else to do, and of one that only has consumers. */
static void the_flusher_thread_reads_the_clocks_in_every_mode(void **state)
{
    static const uint32_t wanted[] = {EVENT_TRACE_FILE_MODE_SEQUENTIAL, EVENT_TRACE_BUFFERING_MODE,
                                      EVENT_TRACE_REAL_TIME_MODE};

    (void)state;
    etwas_clock_knot_interval_ns = MS;
    for (size_t row = 0; row < sizeof wanted / sizeof wanted[0]; row++) {
        const char *path = wanted[row] == EVENT_TRACE_REAL_TIME_MODE ? NULL : folder_path("t.etl");
        const etwas_session_options options = {.log_file_mode = wanted[row]};
        etwas_trace_handle session = start_session(path, &options);

        wait_for(has_read_often, inside_of(session));
        if (wanted[row] == EVENT_TRACE_BUFFERING_MODE) {
            assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS);
        }
        stop_session(session, NULL);
        if (path != NULL) {
            knots_read(path, &knots);
            assert_true(knots_with(&knots, ETWAS_ETL_KNOT_RUNNING) >= 20);
        }
    }
}

static bool has_running_knots(void *path)
{
    struct stat status;

    if (stat(path, &status) != 0 || status.st_size < 64 << 10) {
        return false;
    }
    knots_read(path, &knots);
    return knots_with(&knots, ETWAS_ETL_KNOT_RUNNING) >= 5;
}

static void be_killed(const char *path)
{
    static const etwas_session_options options = {.clock = ETWAS_CLOCK_TSC, .maximum_buffers = 64};
    const struct timespec pause = {.tv_nsec = MS};
    etwas_trace_handle session;
    struct {
        EVENT_TRACE_HEADER header;
        uint8_t payload[200];
    } event = {.header = {.Size = sizeof event, .Flags = WNODE_FLAG_TRACED_GUID}};

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (etwas_start("killed", path, &options, &session) != ERROR_SUCCESS) {
        _exit(1);
    }
    for (uint64_t number = 0;; number++) {
        (void)TraceEvent(session, &event.header);
        if (number % 100 == 0) {
            (void)nanosleep(&pause, NULL);
        }
    }
}

static void a_killed_writer_leaves_running_knots(void **state)
{
    const char *path = folder_path("killed.etl");
    char command[1024];
    int status;
    pid_t child;

    (void)state;
    etwas_clock_knot_interval_ns = 10 * MS;
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        be_killed(path);
    }
    wait_for(has_running_knots, (void *)(uintptr_t)path);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    knots_read(path, &knots);
    assert_true(knots_with(&knots, ETWAS_ETL_KNOT_RUNNING) >= 5);
    assert_int_equal(knots_with(&knots, ETWAS_ETL_KNOT_FILE_ENDED), 0);
    (void)snprintf(command, sizeof command, "'%s' '%s' --unfinished '%s'", ETWAS_TEST_PYTHON,
                   ETWAS_TEST_WALKER, path);
    assert_int_equal(system(command), 0);
}

/* ---- snapshots ------------------------------------------------------------------------------- */

static void a_snapshot_has_the_knots_of_its_session(void **state)
{
    enum {
        READINGS = 200
    };
    const char *path = folder_path("snapshot.etl");
    etwas_trace_handle session =
        start_by_hand(path, EVENT_TRACE_BUFFERING_MODE, 0, ETWAS_CLOCK_TSC);
    struct etwas_session *inside = inside_of(session);
    struct writer *writer = writer_of(session);
    etwas_session_counts counts;
    struct readback result;

    (void)state;
    for (int reading = 1; reading < READINGS; reading++) {
        log_some(writer, 3);
        (void)pthread_mutex_lock(&inside->role);
        etwas_session_clock_look(inside);
        (void)pthread_mutex_unlock(&inside->role);
    }
    for (int times = 0; times < 2; times++) {
        assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS); /* one reading more */
        counts = counts_of(session);
        walk_back(session, path, true, &result);
        assert_int_equal(result.events, counts.recorded);
        assert_int_equal(result.wrong, 0);
        knots_read(path, &knots);
        assert_int_equal(knots.count, READINGS + 2 + times);
        /* Behind all others, which were written newest first. */
        assert_true(knots.buffers > 3);
        assert_int_equal(knots.first_place + knots.buffers, result.buffers);
        read_back(session, path, &result);
        assert_int_equal(result.events, counts.recorded);
        assert_int_equal(result.damages, 0);
    }
    stop_session(session, NULL);
}

/* ---- what happens to clocks ------------------------------------------------------------------ */

/* How far the system time of a knot is from where QPC says it should be, counted from the start. */
static int64_t off_by(uint32_t index)
{
    const struct etwas_etl_knot *start = &knots.list[0];
    const struct etwas_etl_knot *knot = &knots.list[index];

    return (knot->filetime - start->filetime) - (knot->qpc_ns - start->qpc_ns) / 100;
}

struct times {
    LONGLONG least;
    LONGLONG most;
    LONGLONG last;
    uint32_t events;
    bool backwards;
};

static VOID WINAPI note_time(PEVENT_RECORD record)
{
    struct times *times = record->UserContext;
    LONGLONG time = record->EventHeader.TimeStamp.QuadPart;

    if (record->EventHeader.ProviderId.Data1 == 0x68FDD900) {
        return; /* the header's */
    }
    times->backwards = times->backwards || (times->events != 0 && time < times->last);
    times->least = times->events == 0 || time < times->least ? time : times->least;
    times->most = times->events == 0 || time > times->most ? time : times->most;
    times->last = time;
    times->events++;
}

static struct times times_of(const char *path)
{
    struct times times = {0};
    EVENT_TRACE_LOGFILEA file = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = note_time,
        .Context = &times,
    };
    TRACEHANDLE trace = OpenTraceA(&file);

    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    (void)CloseTrace(trace);
    return times;
}

static void the_wall_clock_is_set_and_the_other_clocks_do_not_notice(void **state)
{
    static const int64_t steps[] = {0, HOUR, HOUR, -2 * HOUR, -2 * HOUR + 12345678, 0};

    (void)state;
    for (uint32_t clock = ETWAS_CLOCK_QPC; clock <= ETWAS_CLOCK_TSC; clock += 2) {
        const char *path = folder_path("steps.etl");
        etwas_trace_handle session = start_by_hand(path, 0, 0, clock);
        struct writer *writer = writer_of(session);
        int64_t before = etwas_clock_system();
        etwas_session_counts counts;
        struct times times;
        int64_t after;

        if (etwas_clock_effective(clock) != clock) {
            stop_session(session, NULL);
            continue;
        }
        stay_on_one_processor();
        for (size_t step = 0; step < sizeof steps / sizeof steps[0]; step++) {
            ck_pr_store_64(&etwas_clock_system_step, (uint64_t)steps[step]);
            log_some(writer, 10);
            assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        }
        leave_one_processor();
        after = etwas_clock_system();
        stop_session(session, &counts);
        expect_file_is_exact(session, path, &counts);
        knots_read(path, &knots);
        assert_int_equal(knots.count, 8);
        for (uint32_t index = 1; index < 7; index++) {
            /* A second for what real clocks do meanwhile. */
            assert_true(llabs(off_by(index) - steps[index - 1]) < NS_A_SECOND / 100);
        }
        times = times_of(path);
        assert_int_equal(times.events, 60);
        assert_false(times.backwards);
        assert_true(times.least > before - NS_A_SECOND / 100);
        assert_true(times.most < after + NS_A_SECOND / 100);
    }
}

static void a_suspend_is_seen_as_a_jump_of_the_time_suspended(void **state)
{
    static const uint64_t suspends_ns[] = {0, 0, 3600000000000, 3600000000000, 3600000000001};
    const char *path = folder_path("suspend.etl");
    etwas_trace_handle session = start_by_hand(path, 0, 0, ETWAS_CLOCK_QPC);
    struct writer *writer = writer_of(session);

    (void)state;
    for (size_t index = 0; index < sizeof suspends_ns / sizeof suspends_ns[0]; index++) {
        ck_pr_store_64(&etwas_clock_suspended_step_ns, suspends_ns[index]);
        log_some(writer, 1);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    }
    stop_session(session, NULL);
    knots_read(path, &knots);
    assert_int_equal(knots.count, 7);
    for (uint32_t index = 1; index < 6; index++) {
        assert_int_equal(knots.list[index].suspended_ns - knots.list[0].suspended_ns,
                         suspends_ns[index - 1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KNOTS_TEST(many_knots_move_into_buffers_in_every_mode_and_cost_no_event),
        KNOTS_TEST(a_session_of_each_clock_says_which_it_asked_for_and_got),
        KNOTS_TEST(each_part_of_a_set_has_knots_from_before_it_to_its_end),
        KNOTS_TEST(appended_sessions_add_theirs_while_there_is_room),
        KNOTS_TEST(an_idle_session_does_not_touch_its_file),
        KNOTS_TEST(the_flusher_thread_reads_the_clocks_in_every_mode),
        KNOTS_TEST(a_killed_writer_leaves_running_knots),
        KNOTS_TEST(a_snapshot_has_the_knots_of_its_session),
        KNOTS_TEST(the_wall_clock_is_set_and_the_other_clocks_do_not_notice),
        KNOTS_TEST(a_suspend_is_seen_as_a_jump_of_the_time_suspended),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
