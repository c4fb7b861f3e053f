/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Controllers and providers in programs of their own, as ETW's pages have them: by public calls
 * alone, each process with ETWAS_SHARED and a runtime folder of the test's.
 */
#include <ck_pr.h>
#include <errno.h>
#include <etwas/etwas.h>
#include <etwas/evntprov.h>
#include <etwas/evntrace.h>
#include <etwas/shared.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sharing/programs.h"

enum {
    EVENTS = 1000,
    PAUSE_US = 500,
    CROWD = 24,
};

/* ---- a provider's process -------------------------------------------------------------------- */

static uint64_t session; /* that enables the provider of this process */

static uint32_t classic_callback(WMIDPREQUESTCODE request, void *context, uint32_t *bytes,
                                 void *buffer)
{
    (void)context;
    (void)bytes;
    if (request == WMI_ENABLE_EVENTS) {
        etwas_trace_handle handle = GetTraceLoggerHandle(buffer);

        ck_pr_store_32(&board->level, GetTraceEnableLevel(handle));
        ck_pr_store_64(&board->keyword, GetTraceEnableFlags(handle));
        ck_pr_store_64(&session, handle);
        ck_pr_inc_32(&board->enabled);
    } else {
        /* The session takes this one, too. */
        (void)log_number(ck_pr_load_64(&session), EVENTS);
        ck_pr_inc_32(&board->disabled);
    }
    return ERROR_SUCCESS;
}

/* Registers, logs when it is enabled, and stays until it shall end. */
static int classic_provider(void)
{
    etwas_trace_handle registration;

    CHECK_IN_CHILD(RegisterTraceGuidsA(classic_callback, NULL, &control_guid, 0, NULL, NULL, NULL,
                                       &registration) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->registered);
    CHECK_IN_CHILD(comes_to(&board->enabled, 1));
    ck_pr_store_32((uint32_t *)&board->process, (uint32_t)getpid());
    for (uint32_t number = 0; number < EVENTS; number++) {
        CHECK_IN_CHILD(log_number(ck_pr_load_64(&session), number) == ERROR_SUCCESS);
        ck_pr_inc_32(&board->logged);
    }
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    return 0;
}

/* ---- the two programs ------------------------------------------------------------------------ */

static void expect_events(const char *file, uint32_t count)
{
    struct events events;

    read_events(file, 0, &events);
    assert_int_equal(events.count, count);
    /* Processors, and the stream of threads without sequences; no guest had one. */
    assert_in_range(events.header.NumberOfProcessors, 2, (uint32_t)get_nprocs_conf() + 1);
    for (uint32_t index = 0; index < count; index++) {
        assert_int_equal(number_of(&events.items[index]), index);
        assert_int_equal(events.items[index].record.EventHeader.ProcessId, board->process);
    }
    free_events(&events);
}

static int controller(void)
{
    struct block block;
    etwas_trace_handle handle;

    prepare_block(&block, folder_path("log.etl"));
    CHECK_IN_CHILD(StartTraceA(&handle, "two programs", &block.properties) == ERROR_SUCCESS);
    CHECK_IN_CHILD(EnableTrace(EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0x30, 4, &control_guid,
                               handle) == ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&board->logged, EVENTS));
    CHECK_IN_CHILD(StopTraceA(handle, NULL, &block.properties) == ERROR_SUCCESS);
    CHECK_IN_CHILD(block.properties.EventsLost == 0);
    return 0;
}

/* R190, R141: enabled where it runs, told of the end, and what it logs then is recorded, too. */
static void a_session_enables_a_provider_of_another_process(void **state)
{
    int provider = start_program(classic_provider);

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    assert_int_equal(exit_code_of(start_program(controller)), 0);
    assert_int_equal(board->level, 4);
    assert_int_equal(board->keyword, 0x30);
    assert_int_equal(board->disabled, 1);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(provider), 0);
    expect_events(folder_path("log.etl"), EVENTS + 1);
}

/* The session is there first: a program logs from its first event on. */
static void a_provider_is_enabled_when_it_registers(void **state)
{
    struct block block;
    etwas_trace_handle handle;

    (void)state;
    prepare_block(&block, folder_path("log.etl"));
    assert_int_equal(StartTraceA(&handle, "first", &block.properties), ERROR_SUCCESS);
    assert_int_equal(EnableTraceEx2(handle, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4,
                                    0x30, 0, 0, NULL),
                     ERROR_SUCCESS);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(start_program(classic_provider)), 0);
    assert_int_equal(StopTraceA(handle, NULL, &block.properties), ERROR_SUCCESS);
    expect_events(folder_path("log.etl"), EVENTS);
}

/* ---- a host that dies ------------------------------------------------------------------------ */

static int host_until_killed(void)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .minimum_buffers = 8,
                                           .sharing = ETWAS_SHARING_USER};
    etwas_trace_handle handle;

    CHECK_IN_CHILD(etwas_start("mortal", NULL, &options, &handle) == ERROR_SUCCESS);
    CHECK_IN_CHILD(EnableTrace(EVENT_CONTROL_CODE_ENABLE_PROVIDER, 1, 4, &control_guid, handle) ==
                   ERROR_SUCCESS);
    ck_pr_inc_32(&board->steps);
    for (;;) {
        (void)pause();
    }
}

/* Logs into each session that enables it; what it is told when there is none is no crash. */
static int stubborn_provider(void)
{
    etwas_trace_handle registration;

    CHECK_IN_CHILD(RegisterTraceGuidsA(classic_callback, NULL, &control_guid, 0, NULL, NULL, NULL,
                                       &registration) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->registered);
    while (ck_pr_load_32(&board->end) == 0) {
        uint64_t handle = ck_pr_load_64(&session);

        if (handle != 0 && log_number(handle, 1) == ERROR_SUCCESS) {
            ck_pr_inc_32(&board->logged);
        }
        (void)usleep(PAUSE_US);
    }
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    return 0;
}

/* Its guests are told to stop, and go on; the next host, under the same name, has them at once. */
static void the_death_of_a_host_harms_no_guest(void **state)
{
    int provider = start_program(stubborn_provider);

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    for (uint32_t host = 1; host <= 5; host++) {
        int child = start_program(host_until_killed);
        uint32_t logged;

        assert_true(comes_to(&board->steps, host));
        assert_true(comes_to(&board->enabled, host));
        logged = ck_pr_load_32(&board->logged);
        assert_true(comes_to(&board->logged, logged + 10));
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_true(comes_to(&board->disabled, host));
    }
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(provider), 0);
}

/* ---- a host that is busy --------------------------------------------------------------------- */

static int host_until_the_end(void)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .sharing = ETWAS_SHARING_USER};
    etwas_session_counts counts;
    etwas_trace_handle handle;

    CHECK_IN_CHILD(etwas_start("busy", NULL, &options, &handle) == ERROR_SUCCESS);
    CHECK_IN_CHILD(EnableTrace(EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 4, &control_guid, handle) ==
                   ERROR_SUCCESS);
    ck_pr_inc_32(&board->registered);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    CHECK_IN_CHILD(etwas_stop(handle, &counts) == ERROR_SUCCESS);
    CHECK_IN_CHILD(counts.recorded >= EVENTS); /* one more of its callback, if it is still there */
    return 0;
}

/* It answers when the registration does not wait any more. The provider is enabled all the same. */
static void a_host_that_answers_late_is_attached_to(void **state)
{
    int host = start_program(host_until_the_end);
    int provider;

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    assert_int_equal(kill(host, SIGSTOP), 0);
    provider = start_program(logging_program);
    assert_true(comes_to(&board->registered, 2));
    assert_int_equal(kill(host, SIGCONT), 0);
    assert_true(comes_to(&board->logged, EVENTS));
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(provider), 0);
    assert_int_equal(exit_code_of(host), 0);
}

static const etwas_guid modern_guid = {0x3c5a1f20, 0x8e44, 0x4b1d, {1, 2, 3, 4, 5, 6, 7, 8}};

/* ---- descriptors that the program closes ----------------------------------------------------- */

enum {
    MOST_DESCRIPTORS = 1024,
    SETTLED_LOOKS = 10,
};

/* Has one byte to read, and room for more. */
struct line {
    int number; /* that the library had */
    int other_end;
};

static void note_open(bool *are_open)
{
    for (int number = 0; number < MOST_DESCRIPTORS; number++) {
        are_open[number] = fcntl(number, F_GETFD) >= 0;
    }
}

/*
 * Notes what is open once it has stayed the same for a while: the library's thread opens a file for
 * a moment to read or publish it, and a number of that moment may be closed or written to by right.
 */
static void note_open_when_settled(bool *are_open)
{
    static bool before[MOST_DESCRIPTORS];
    uint32_t same = 0;

    note_open(are_open);
    while (same < SETTLED_LOOKS) {
        (void)usleep(10 * PAUSE_US);
        memcpy(before, are_open, sizeof before);
        note_open(are_open);
        same = memcmp(before, are_open, sizeof before) == 0 ? same + 1 : 0;
    }
}

/*
 * Puts a socket of the program under each number that is open, but those that were before. Returns
 * how many.
 */
static uint32_t take_over(const bool *were_open, struct line *lines)
{
    static bool are_open[MOST_DESCRIPTORS];
    uint32_t count = 0;

    note_open_when_settled(are_open);
    for (int number = 3; number < MOST_DESCRIPTORS; number++) {
        int ends[2];

        if (were_open[number] || !are_open[number]) {
            continue;
        }
        CHECK_IN_CHILD(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
        CHECK_IN_CHILD(send(ends[1], "x", 1, 0) == 1);
        CHECK_IN_CHILD(dup2(ends[0], number) == number);
        lines[count++] = (struct line){number, fcntl(ends[1], F_DUPFD, MOST_DESCRIPTORS)};
        (void)close(ends[0]);
        (void)close(ends[1]);
    }
    return count;
}

/* Neither written to, nor read, nor closed. */
static void expect_untouched(const struct line *lines, uint32_t count)
{
    char byte;

    for (uint32_t index = 0; index < count; index++) {
        CHECK_IN_CHILD(recv(lines[index].other_end, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
        CHECK_IN_CHILD(recv(lines[index].number, &byte, 1, MSG_DONTWAIT) == 1);
    }
}

static int closing_provider(void)
{
    static bool were_open[MOST_DESCRIPTORS];
    static struct line lines[MOST_DESCRIPTORS];
    etwas_trace_handle registration;
    REGHANDLE another;
    uint32_t count;

    note_open(were_open);
    CHECK_IN_CHILD(RegisterTraceGuidsA(classic_callback, NULL, &control_guid, 0, NULL, NULL, NULL,
                                       &registration) == ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&board->enabled, 1));
    count = take_over(were_open, lines);
    CHECK_IN_CHILD(count >= 6); /* the folder, its list, its socket, the bell, a connection */
    for (uint32_t number = 0; number < EVENTS; number++) {
        CHECK_IN_CHILD(log_number(ck_pr_load_64(&session), number) == ERROR_SUCCESS);
    }
    ck_pr_inc_32(&board->registered);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    CHECK_IN_CHILD(EventRegister(&modern_guid, NULL, NULL, &another) == ERROR_SUCCESS);
    CHECK_IN_CHILD(EventUnregister(another) == ERROR_SUCCESS);
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    expect_untouched(lines, count);
    return 0;
}

static void ignore_event(EVENT_RECORD *record)
{
    (void)record;
}

static int closing_consumer(void)
{
    static bool were_open[MOST_DESCRIPTORS];
    static struct line lines[MOST_DESCRIPTORS];
    EVENT_TRACE_LOGFILEA logfile = {
        .LoggerName = (char *)(uintptr_t) "consumed",
        .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = ignore_event,
    };
    etwas_trace_handle trace;
    uint32_t count;

    note_open(were_open);
    trace = OpenTraceA(&logfile);
    CHECK_IN_CHILD(trace != INVALID_PROCESSTRACE_HANDLE);
    count = take_over(were_open, lines);
    CHECK_IN_CHILD(count >= 6); /* as above */
    CHECK_IN_CHILD(ProcessTrace(&trace, 1, NULL, NULL) == ERROR_WMI_INSTANCE_NOT_FOUND);
    CHECK_IN_CHILD(CloseTrace(trace) == ERROR_SUCCESS);
    expect_untouched(lines, count);
    return 0;
}

static int enable_who_closes(void)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .sharing = ETWAS_SHARING_USER};
    etwas_session_counts counts;
    etwas_trace_handle handle;

    CHECK_IN_CHILD(etwas_start("closed", NULL, &options, &handle) == ERROR_SUCCESS);
    CHECK_IN_CHILD(EnableTrace(EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 4, &control_guid, handle) ==
                   ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&board->registered, 1));
    CHECK_IN_CHILD(EnableTrace(EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 4, &control_guid, handle) ==
                   ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_stop(handle, &counts) == ERROR_SUCCESS);
    CHECK_IN_CHILD(counts.recorded == EVENTS && counts.lost == 0);
    ck_pr_store_32(&board->end, 1);
    return 0;
}

/*
 * What it closes is gone, and what it then has under these numbers nobody reads, writes or closes.
 */
static void a_provider_may_close_all_descriptors(void **state)
{
    int host = start_program(enable_who_closes);

    (void)state;
    assert_int_equal(exit_code_of(start_program(closing_provider)), 0);
    assert_int_equal(exit_code_of(host), 0);
}

/* Its trace is at its end then. */
static void a_consumer_may_close_all_descriptors(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_REAL_TIME_MODE,
                                           .sharing = ETWAS_SHARING_USER};
    etwas_trace_handle handle;

    (void)state;
    assert_int_equal(etwas_start("consumed", NULL, &options, &handle), ERROR_SUCCESS);
    assert_int_equal(exit_code_of(start_program(closing_consumer)), 0);
    stop_session(handle, NULL);
}

/* ---- many of them ---------------------------------------------------------------------------- */

static int bystander(void)
{
    CHECK_IN_CHILD(etwas_share() == ERROR_SUCCESS);
    ck_pr_inc_32(&board->registered);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    return 0;
}

static int enable_among_many(void)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .sharing = ETWAS_SHARING_USER};
    etwas_trace_handle handle;

    CHECK_IN_CHILD(comes_to(&board->registered, CROWD));
    CHECK_IN_CHILD(etwas_start("crowd", NULL, &options, &handle) == ERROR_SUCCESS);
    for (uint32_t time = 0; time < 10; time++) {
        CHECK_IN_CHILD(EnableTraceEx2(handle, &modern_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 3,
                                      7, 0, 60000, NULL) == ERROR_SUCCESS);
    }
    CHECK_IN_CHILD(etwas_stop(handle, NULL) == ERROR_SUCCESS);
    return 0;
}

/* More of them answer than a queue has room for, and each is waited for. */
static void a_timeout_is_enough_for_many_processes(void **state)
{
    int crowd[CROWD];

    (void)state;
    for (uint32_t index = 0; index < CROWD; index++) {
        crowd[index] = start_program(bystander);
    }
    assert_int_equal(exit_code_of(start_program(enable_among_many)), 0);
    ck_pr_store_32(&board->end, 1);
    for (uint32_t index = 0; index < CROWD; index++) {
        assert_int_equal(exit_code_of(crowd[index]), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROGRAMS_TEST(a_session_enables_a_provider_of_another_process),
        PROGRAMS_TEST(a_provider_is_enabled_when_it_registers),
        PROGRAMS_TEST(the_death_of_a_host_harms_no_guest),
        PROGRAMS_TEST(a_host_that_answers_late_is_attached_to),
        PROGRAMS_TEST(a_provider_may_close_all_descriptors),
        PROGRAMS_TEST(a_consumer_may_close_all_descriptors),
        PROGRAMS_TEST(a_timeout_is_enough_for_many_processes),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
