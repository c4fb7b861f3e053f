/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sessions of the own process where perf_event_open is forbidden, as in containers: they emit
 * rundowns, and report their rung.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "provider/counted.h"
#include "system/own_fixture.h"

enum {
    RUNG = 10,
    KNOWN = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD,
    ALL = KNOWN | EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_PROFILE |
          EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS | EVENT_TRACE_FLAG_VIRTUAL_ALLOC,
};

static const etwas_guid own_class = {
    0x7be5a508, 0xdb35, 0x4ec9, {0xb6, 0x50, 0xa9, 0x72, 0x0e, 0xcb, 0x3b, 0x69}};

/* In a child: the kernel answers all its threads so, as a container's filter has it. */
static void forbid_perf_events(uint32_t error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof *code, code};

    CHECK_IN_CHILD(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK_IN_CHILD(
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0);
}

static void *do_nothing(void *argument)
{
    return argument;
}

/* 0: by the kernel itself. */
static void record_where_it_is_forbidden(uint32_t error)
{
    etwas_trace_handle session;
    char sentence[512];
    pthread_t thread;

    become_own();
    if (error != 0) {
        forbid_perf_events(error);
    }
    session = start_own(ALL, ETWAS_KERNEL_RUNG_FOUND);
    (void)etwas_kernel_refusal(sentence, sizeof sentence);
    CHECK_IN_CHILD(strstr(sentence, "perf_event") != NULL);
    update_kernel_flags(session, KNOWN, ERROR_SUCCESS);
    update_kernel_flags(session, KNOWN | EVENT_TRACE_FLAG_DISK_IO, ERROR_ACCESS_DENIED);
    CHECK_IN_CHILD(pthread_create(&thread, NULL, do_nothing, NULL) == 0);
    (void)pthread_join(thread, NULL);
    stop_own(session);
    _exit(0);
}

static void expect_rung(const struct events *events, uint32_t rung, uint32_t error)
{
    uint32_t said = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_kernel_event(event, &own_class, RUNG)) {
            assert_int_equal(event->record.UserDataLength, 16);
            assert_int_equal(u32_at(event, 0), 1);
            assert_int_equal(u32_at(event, 4), rung);
            assert_int_equal(u32_at(event, 8), own_facts->process_id);
            assert_int_equal(u32_at(event, 12), error);
            said++;
        }
    }
    assert_int_equal(said, 1);
}

/* `error`: the kernel's answer, by a filter or without. */
static void expect_what_there_is(uint32_t error, bool is_filtered)
{
    struct events events;
    int child;

    open_folder();
    child = fork_child();
    if (child == 0) {
        record_where_it_is_forbidden(is_filtered ? error : 0);
    }
    assert_int_equal(exit_code_of(child), 0);
    read_own(&events);
    expect_rung(&events, ETWAS_KERNEL_RUNG_FOUND, error);
    assert_int_equal(own_facts->counts.lost, 0);
    assert_int_equal(
        count_threads(&events, RUNDOWN_START, own_facts->process_id, own_facts->thread_id), 1);
    assert_int_equal(
        count_threads(&events, RUNDOWN_END, own_facts->process_id, own_facts->thread_id), 1);
    assert_int_equal(count_threads(&events, THREAD_START, own_facts->process_id, 0), 0);
    free_events(&events);
    assert_int_equal(unlink(folder_path("k.etl")), 0);
}

static void a_rundown_is_emitted_where_perf_events_are_forbidden(void **state)
{
    static const uint32_t errors[] = {EPERM, EACCES, ENOSYS};

    (void)state;
    for (size_t index = 0; index < sizeof errors / sizeof *errors; index++) {
        expect_what_there_is(errors[index], true);
    }
}

/* Debian's kernels are set up so. */
static void a_rundown_is_emitted_where_the_kernel_refuses(void **state)
{
    (void)state;
    if (nobody_sees_itself()) {
        (void)printf("skipped: kernel.perf_event_paranoid lets a process see itself\n");
        skip();
    }
    expect_what_there_is(EACCES, false);
}

static void expect_flags(etwas_trace_handle session, uint32_t flags)
{
    struct block block;

    prepare_kernel_block(&block, 0);
    CHECK_IN_CHILD(ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_QUERY) ==
                   ERROR_SUCCESS);
    CHECK_IN_CHILD((block.properties.EnableFlags & ALL) == flags);
}

/* Samples of another interval are of another event. */
static void change_the_interval_where_it_is_forbidden(etwas_trace_handle session)
{
    TRACE_PROFILE_INTERVAL interval = {.Source = 0, .Interval = 20000};

    expect_flags(session, KNOWN | EVENT_TRACE_FLAG_PROFILE);
    forbid_perf_events(EPERM);
    CHECK_IN_CHILD(TraceSetInformation(session, TraceSampledProfileIntervalInfo, &interval,
                                       sizeof interval) == ERROR_ACCESS_DENIED);
    expect_flags(session, KNOWN);
}

static void an_interval_that_cannot_be_is_refused(void **state)
{
    struct events events;

    (void)state;
    record_own(KNOWN | EVENT_TRACE_FLAG_PROFILE, change_the_interval_where_it_is_forbidden,
               &events);
    free_events(&events);
}

static void do_no_work(etwas_trace_handle session)
{
    (void)session;
}

static void the_file_says_whose_events_it_has(void **state)
{
    struct events events;

    (void)state;
    record_own(KNOWN, do_no_work, &events);
    expect_rung(&events, ETWAS_KERNEL_RUNG_PROCESS, 0);
    free_events(&events);
}

static void nothing(void)
{
}

/*
 * In a child that is nobody: a session of the kernel's events, and one of the program's beside it.
 */
static void count_where_it_is_forbidden(void)
{
    etwas_trace_handle registration;
    etwas_session_counts counts;
    etwas_trace_handle program;
    etwas_trace_handle session;

    become_own();
    forbid_perf_events(EPERM);
    registration = register_counted();
    session = start_own(KNOWN | EVENT_TRACE_FLAG_CSWITCH, ETWAS_KERNEL_RUNG_FOUND);
    program = start_session(folder_path("p.etl"), NULL);
    ask(program, &first_class, COUNTED);
    log_around(program, 0, nothing);
    log_around(program, 1, nothing);
    CHECK_IN_CHILD(etwas_stop(program, &counts) == ERROR_SUCCESS);
    own_facts->numbers[0] = counts.recorded;
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    stop_own(session);
    _exit(0);
}

/* There the ladder goes on: threads count themselves. */
static void counters_need_neither_perf_events_nor_privileges(void **state)
{
    etwas_session_counts counts = {.recorded = 0};
    struct readings readings;
    int child;

    (void)state;
    open_folder();
    child = fork_child();
    if (child == 0) {
        count_where_it_is_forbidden();
    }
    assert_int_equal(exit_code_of(child), 0);
    counts.recorded = own_facts->numbers[0];
    read_counted(folder_path("p.etl"), &counts, &readings);
    assert_int_equal(readings.count, 2);
    for (size_t index = 0; index < readings.count; index++) {
        assert_int_equal(readings.list[index].thread, own_facts->thread_id);
        assert_int_equal(readings.list[index].counters.known, ETWAS_ETL_COUNTERS_RAN |
                                                                  ETWAS_ETL_COUNTERS_USED |
                                                                  ETWAS_ETL_COUNTERS_WAITED);
    }
    free_counted(&readings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_rundown_is_emitted_where_perf_events_are_forbidden),
        FOLDER_TEST(a_rundown_is_emitted_where_the_kernel_refuses),
        FOLDER_TEST(an_interval_that_cannot_be_is_refused),
        FOLDER_TEST(the_file_says_whose_events_it_has),
        FOLDER_TEST(counters_need_neither_perf_events_nor_privileges),
    };

    return cmocka_run_group_tests_name("system own ladder", tests, NULL, NULL);
}
