/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * CPU event streams against the real kernel: every event arrives, or is counted lost.
 */
#include <errno.h>
#include <etwas/winerror.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "system/cpu_stream_fixture.h"
#include "system/stream/tracepoint.h"

enum {
    CALLS_TAG = 1,
    THREADS_TAG = 2,
    CALLS = 1000,
};

static struct etwas_tracepoint entered; /* a system call */
static struct etwas_tracepoint_field call_number;

/*
 * The kernel waits for a grace period, a quarter of a second on a busy machine, when a tracepoint's
 * last event is closed. This one never is.
 */
static bool keep_in_use(void)
{
    struct perf_event_attr attributes = {.size = sizeof attributes,
                                         .type = PERF_TYPE_TRACEPOINT,
                                         .config = entered.id,
                                         .disabled = 1};

    return syscall(SYS_perf_event_open, &attributes, -1, (int)this_processor(), -1,
                   PERF_FLAG_FD_CLOEXEC) >= 0;
}

/* Our calls of getppid and of no other. */
static void add_calls(void)
{
    char filter[64];
    const struct etwas_cpu_stream_request request = {.tag = CALLS_TAG,
                                                     .type = PERF_TYPE_TRACEPOINT,
                                                     .config = entered.id,
                                                     .sample_type = PERF_SAMPLE_RAW,
                                                     .period = 1,
                                                     .filter = filter};
    struct etwas_unavailability fault;

    (void)snprintf(filter, sizeof filter, "id == %d && common_pid == %ld", SYS_getppid,
                   syscall(SYS_gettid));
    assert_true(etwas_cpu_stream_add(&stream, &request, &fault));
}

static void call(uint32_t calls)
{
    for (uint32_t count = 0; count < calls; count++) {
        (void)syscall(SYS_getppid);
    }
}

/* How many of our calls are in the ring; each is what it should be. Time goes on. */
static uint32_t drain_calls(void)
{
    const struct perf_event_header *record;
    int64_t newest = 0;
    uint32_t calls = 0;

    assert_true(etwas_ring_begin(&stream.ring));
    while ((record = etwas_ring_next(&stream.ring)) != NULL) {
        const struct etwas_cpu_stream_event *event;
        struct etwas_sample_origin origin;
        struct etwas_sample sample;
        int64_t number;

        assert_true(etwas_sample_origin(record, &origin));
        event = etwas_cpu_stream_event_of(&stream, origin.event);
        assert_non_null(event);
        if (event->tag == SIDEBAND_TAG) {
            continue;
        }
        assert_int_equal(event->tag, CALLS_TAG);
        assert_true(etwas_sample_decode(record, event->sample_type, &sample));
        assert_int_equal(sample.origin.process_id, getpid());
        assert_int_equal(sample.origin.thread_id, syscall(SYS_gettid));
        assert_int_equal(sample.origin.processor, stream.processor);
        assert_true(
            etwas_tracepoint_format_number(&call_number, sample.raw, sample.raw_bytes, &number));
        assert_int_equal(number, SYS_getppid);
        assert_true(sample.origin.time_ns >= newest);
        newest = sample.origin.time_ns;
        calls++;
    }
    assert_false(stream.ring.is_damaged);
    etwas_ring_give_back(&stream.ring);
    return calls;
}

static void every_system_call_arrives_once(void **state)
{
    struct etwas_cpu_stream_totals totals;

    (void)state;
    open_stream(RING_BYTES);
    call(10);
    add_calls();
    call(CALLS);
    assert_int_equal(drain_calls(), CALLS);
    call(5);
    etwas_cpu_stream_stop(&stream);
    call(10);
    assert_int_equal(drain_calls(), 5);
    assert_true(etwas_cpu_stream_totals(&stream, CALLS_TAG, &totals));
    assert_int_equal(totals.counted, CALLS + 5);
    assert_int_equal(totals.lost, 0);
    assert_int_equal(etwas_cpu_stream_lost(&stream), 0);
    etwas_cpu_stream_close(&stream);
}

/* I4's part of the kernel: what did not fit is known, though the ring says nothing of the last. */
static void what_does_not_fit_is_counted_to_the_last(void **state)
{
    struct etwas_cpu_stream_totals totals;
    uint32_t arrived;

    (void)state;
    open_stream((size_t)sysconf(_SC_PAGESIZE));
    add_calls();
    call(CALLS);
    etwas_cpu_stream_stop(&stream);
    assert_true(etwas_cpu_stream_totals(&stream, CALLS_TAG, &totals));
    assert_int_equal(totals.counted, CALLS);
    assert_in_range(totals.lost, 1, CALLS); /* others' forks may have filled the page before */
    arrived = drain_calls();
    assert_int_equal(arrived + totals.lost, CALLS);
    assert_in_range(etwas_cpu_stream_lost(&stream), totals.lost, UINT64_MAX);
    etwas_cpu_stream_close(&stream);
}

static void nothing_is_recorded_before_the_start(void **state)
{
    struct etwas_cpu_stream_totals totals;
    struct etwas_unavailability fault;

    (void)state;
    assert_true(etwas_cpu_stream_open(&stream, this_processor(), 0, RING_BYTES, &fault));
    add_calls();
    call(CALLS);
    etwas_cpu_stream_start(&stream);
    call(3);
    assert_int_equal(drain_calls(), 3);
    assert_true(etwas_cpu_stream_totals(&stream, CALLS_TAG, &totals));
    assert_int_equal(totals.counted, 3);
    etwas_cpu_stream_close(&stream);
}

static void the_ring_reports_losses_before_its_newest_record(void **state)
{
    struct etwas_cpu_stream_totals totals;
    uint32_t arrived;

    (void)state;
    open_stream((size_t)sysconf(_SC_PAGESIZE));
    add_calls();
    call(CALLS);
    arrived = drain_calls();
    assert_int_equal(stream.ring.lost, 0);
    call(1);
    assert_int_equal(drain_calls(), 1);
    assert_true(etwas_cpu_stream_totals(&stream, CALLS_TAG, &totals));
    assert_int_equal(arrived + totals.lost, CALLS);
    /* Events of others may have been lost with ours. */
    assert_in_range(stream.ring.lost, totals.lost, etwas_cpu_stream_lost(&stream));
    etwas_cpu_stream_close(&stream);
}

static void events_come_and_go_while_a_stream_runs(void **state)
{
    struct etwas_cpu_stream_totals totals;

    (void)state;
    open_stream(RING_BYTES);
    assert_false(etwas_cpu_stream_remove(&stream, CALLS_TAG, &totals));
    assert_false(etwas_cpu_stream_remove(&stream, ETWAS_CPU_STREAM_OWNER, &totals));
    for (uint32_t round = 0; round < ETWAS_CPU_STREAM_EVENTS + 16; round++) {
        add_calls();
        call(3);
        assert_true(etwas_cpu_stream_remove(&stream, CALLS_TAG, &totals));
        call(4);
        assert_int_equal(totals.counted, 3);
        assert_false(etwas_cpu_stream_totals(&stream, CALLS_TAG, &totals));
        /* What was recorded before it went is still its own. */
        if (round % 2 == 1) {
            assert_int_equal(drain_calls(), 6);
        }
    }
    assert_in_range(stream.event_count, 2, 5);
    etwas_cpu_stream_close(&stream);
}

static void what_removed_events_lost_is_remembered(void **state)
{
    struct etwas_cpu_stream_totals totals;

    (void)state;
    open_stream((size_t)sysconf(_SC_PAGESIZE));
    add_calls();
    call(CALLS);
    assert_true(etwas_cpu_stream_remove(&stream, CALLS_TAG, &totals));
    assert_int_equal(drain_calls() + totals.lost, CALLS);
    assert_in_range(etwas_cpu_stream_lost(&stream), totals.lost, UINT64_MAX);
    etwas_cpu_stream_close(&stream);
}

static void change_a_threads(uint32_t rounds, bool is_enabled)
{
    const struct etwas_cpu_stream_request request = {.tag = THREADS_TAG,
                                                     .thread = (uint32_t)syscall(SYS_gettid),
                                                     .process_records = ETWAS_PROCESS_RECORD_TASKS};
    struct etwas_cpu_stream_totals totals;
    struct etwas_unavailability fault;

    while (rounds-- > 0) {
        assert_true(etwas_cpu_stream_add(&stream, &request, &fault));
        if (is_enabled) {
            etwas_cpu_stream_enable(&stream, THREADS_TAG);
        }
        assert_true(etwas_cpu_stream_remove(&stream, THREADS_TAG, &totals));
    }
}

/* The ring is not read meanwhile. */
static void an_event_that_never_began_frees_its_entry(void **state)
{
    uint32_t before;

    (void)state;
    open_stream(RING_BYTES);
    add_calls();
    call(1);
    before = stream.event_count;
    change_a_threads(3, false);
    assert_int_equal(stream.event_count, before + 1);
    change_a_threads(3, true);
    assert_int_equal(stream.event_count, before + 3);
    etwas_cpu_stream_close(&stream);
}

static void allow_descriptors(rlim_t count)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max < count) {
        print_message("skipped: the limit of open files is too low\n");
        skip();
    }
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void a_stream_has_a_bounded_number_of_events(void **state)
{
    struct etwas_cpu_stream_request request = {.type = PERF_TYPE_SOFTWARE,
                                               .config = PERF_COUNT_SW_DUMMY};
    struct etwas_unavailability fault;

    (void)state;
    allow_descriptors(ETWAS_CPU_STREAM_EVENTS + 100);
    open_stream(RING_BYTES);
    for (request.tag = 1; request.tag < ETWAS_CPU_STREAM_EVENTS - 1; request.tag++) {
        assert_true(etwas_cpu_stream_add(&stream, &request, &fault));
    }
    /* The ring's owner and process records are two of them. */
    assert_false(etwas_cpu_stream_add(&stream, &request, &fault));
    assert_int_equal(etwas_unavailability_code(&fault), ERROR_NO_SYSTEM_RESOURCES);
    etwas_cpu_stream_close(&stream);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void processors_that_are_not_there_are_not_found(void **state)
{
    struct etwas_unavailability fault;

    (void)state;
    assert_false(etwas_cpu_stream_open(&stream, 1u << 20, 0, RING_BYTES, &fault));
    assert_int_equal(fault.cause, ETWAS_UNAVAILABLE_EVENT);
    assert_true(etwas_unavailability_code(&fault) == ERROR_NOT_SUPPORTED ||
                etwas_unavailability_code(&fault) == ERROR_NOT_FOUND);
}

static void rings_of_odd_sizes_are_refused(void **state)
{
    struct etwas_unavailability fault;

    (void)state;
    assert_false(etwas_cpu_stream_open(&stream, this_processor(), 0, 3 * 4096, &fault));
    assert_int_equal(fault.cause, ETWAS_UNAVAILABLE_RING);
    assert_int_equal(fault.error, EINVAL);
}

static void tracepoints_that_do_not_exist_are_not_supported(void **state)
{
    struct etwas_tracepoint tracepoint;
    struct etwas_unavailability fault;
    char long_name[300];

    (void)state;
    assert_false(etwas_tracepoint_read(&tracepoint, "sched/no_such_event", &fault));
    assert_int_equal(fault.cause, ETWAS_UNAVAILABLE_TRACEPOINT);
    assert_int_equal(etwas_unavailability_code(&fault), ERROR_NOT_SUPPORTED);
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    assert_false(etwas_tracepoint_read(&tracepoint, long_name, &fault));
}

/* In a child that is nobody, what is missing has a name. */
static int be_nobody(void)
{
    struct etwas_tracepoint tracepoint;
    struct etwas_unavailability fault;
    char text[256];

    if (setgid(65534) != 0 || setuid(65534) != 0) {
        return 1;
    }
    if (etwas_cpu_stream_open(&stream, this_processor(), 0, RING_BYTES, &fault) ||
        etwas_unavailability_code(&fault) != ERROR_ACCESS_DENIED) {
        return 2;
    }
    etwas_unavailability_explain(&fault, text, sizeof text);
    if (strstr(text, "CAP_PERFMON") == NULL || strstr(text, "perf_event_paranoid") == NULL) {
        return 3;
    }
    if (etwas_tracepoint_read(&tracepoint, "sched/sched_switch", &fault)) {
        return 0; /* mounted so that all may read */
    }
    etwas_unavailability_explain(&fault, text, sizeof text);
    return etwas_unavailability_code(&fault) == ERROR_ACCESS_DENIED &&
                   strstr(text, "tracefs") != NULL
               ? 0
               : 4;
}

static void a_refusal_names_what_is_missing(void **state)
{
    pid_t child;
    int status;

    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can become another user\n");
        skip();
    }
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(be_nobody());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* A child has copies of the descriptors; when it lets them go, the parent's go on. */
static void a_fork_ends_nothing(void **state)
{
    pid_t child;
    int status;

    (void)state;
    open_stream(RING_BYTES);
    add_calls();
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        etwas_cpu_stream_forget(&stream);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    call(7);
    assert_int_equal(drain_calls(), 7);
    etwas_cpu_stream_close(&stream);
}

static void a_quarter_of_the_ring_wakes_the_reader(void **state)
{
    struct pollfd wait;

    (void)state;
    open_stream((size_t)sysconf(_SC_PAGESIZE));
    add_calls();
    wait = (struct pollfd){.fd = etwas_cpu_stream_descriptor(&stream), .events = POLLIN};
    call(CALLS);
    assert_int_equal(poll(&wait, 1, -1), 1);
    assert_int_not_equal(wait.revents & POLLIN, 0);
    etwas_cpu_stream_close(&stream);
}

/* NULL, or why there is nothing to test. */
static const char *why_not(void)
{
    static char text[256];
    struct etwas_unavailability fault;

    if (why_no_stream() != NULL) {
        return why_no_stream();
    }
    if (!etwas_tracepoint_read(&entered, "raw_syscalls/sys_enter", &fault)) {
        etwas_unavailability_explain(&fault, text, sizeof text);
        return text;
    }
    return etwas_tracepoint_find(&entered, "id", &call_number) && keep_in_use()
               ? NULL
               : "raw_syscalls:sys_enter cannot be had";
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_system_call_arrives_once),
        cmocka_unit_test(what_does_not_fit_is_counted_to_the_last),
        cmocka_unit_test(nothing_is_recorded_before_the_start),
        cmocka_unit_test(the_ring_reports_losses_before_its_newest_record),
        cmocka_unit_test(events_come_and_go_while_a_stream_runs),
        cmocka_unit_test(what_removed_events_lost_is_remembered),
        cmocka_unit_test(an_event_that_never_began_frees_its_entry),
        cmocka_unit_test(a_stream_has_a_bounded_number_of_events),
        cmocka_unit_test(processors_that_are_not_there_are_not_found),
        cmocka_unit_test(rings_of_odd_sizes_are_refused),
        cmocka_unit_test(tracepoints_that_do_not_exist_are_not_supported),
        cmocka_unit_test(a_refusal_names_what_is_missing),
        cmocka_unit_test(a_fork_ends_nothing),
        cmocka_unit_test(a_quarter_of_the_ring_wakes_the_reader),
    };
    const char *reason;
    int failed;

    stay_here();
    reason = why_not();
    if (reason != NULL) {
        (void)printf("skipped: %s\n", reason);
        return 77;
    }
    failed = cmocka_run_group_tests_name("cpu stream", tests, NULL, NULL);
    etwas_tracepoint_free(&entered);
    return failed;
}
