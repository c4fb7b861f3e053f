/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The library where little is allowed: under a filter that kills for every system call but those
 * that docs/explanation/guarantees.md lists, and where nothing can be written but the log's folder
 * and there is no /proc, no /sys and no /dev.
 */
#include <ck_pr.h>
#include <etwas/evntprov.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "contract/sandbox_life.h"
#include "decode/builtin.h"
#include "failures/private_mounts.h"
#include "session/fixture.h"

enum {
    EVENTS = 20000, /* many buffers */
    LONG_MS = 60000,
    SKIPPED = 77,
    CALLS_MOST = 128,
    CACHESTAT = 451,
};

static char file_path[256];
static char snapshot_path[256];
static char folder[256];

static void set_paths(void)
{
    (void)snprintf(file_path, sizeof file_path, "%s", folder_path("f.etl"));
    (void)snprintf(snapshot_path, sizeof snapshot_path, "%s", folder_path("s.etl"));
    (void)snprintf(folder, sizeof folder, "%s", folder_path("."));
}

/* ---- a life ---------------------------------------------------------------------------------- */

static etwas_trace_handle recorder;
static uint32_t is_consuming; /* atomic */

static void *log_to_both(void *session)
{
    for (uint64_t number = 0; number < EVENTS; number++) {
        uint32_t code = log_number(*(etwas_trace_handle *)session, number);

        CHECK_IN_CHILD(log_number(recorder, number) == ERROR_SUCCESS);
        CHECK_IN_CHILD(code == ERROR_SUCCESS);
        if (number % 1000 == 0) {
            wait_for_room(*(etwas_trace_handle *)session);
        }
    }
    return NULL;
}

static void count_event(EVENT_RECORD *record)
{
    if (memcmp(&record->EventHeader.ProviderId, &event_class, sizeof event_class) == 0) {
        ck_pr_inc_64(record->UserContext);
    }
}

static uint64_t read_file(char *path)
{
    uint64_t events = 0;
    EVENT_TRACE_LOGFILEA log = {.LogFileName = path,
                                .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
                                .EventRecordCallback = count_event,
                                .Context = &events};
    TRACEHANDLE trace = OpenTraceA(&log);

    CHECK_IN_CHILD(trace != INVALID_PROCESSTRACE_HANDLE);
    CHECK_IN_CHILD(ProcessTrace(&trace, 1, NULL, NULL) == ERROR_SUCCESS);
    CHECK_IN_CHILD(CloseTrace(trace) == ERROR_SUCCESS);
    return events;
}

/* In real time, of the session's name, until it stops. */
static void *consume(void *events)
{
    EVENT_TRACE_LOGFILEA log = {.LoggerName = "to a file",
                                .ProcessTraceMode =
                                    PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME,
                                .EventRecordCallback = count_event,
                                .Context = events};
    TRACEHANDLE trace = OpenTraceA(&log);

    CHECK_IN_CHILD(trace != INVALID_PROCESSTRACE_HANDLE);
    ck_pr_store_32(&is_consuming, 1);
    CHECK_IN_CHILD(ProcessTrace(&trace, 1, NULL, NULL) == ERROR_SUCCESS);
    CHECK_IN_CHILD(CloseTrace(trace) == ERROR_SUCCESS);
    return NULL;
}

/* Once the session has stopped there is nothing to open. */
static void wait_for_consumer(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    while (ck_pr_load_32(&is_consuming) == 0) {
        (void)nanosleep(&pause, NULL);
    }
}

/*
 * All that a service does: a provider, a log file that is consumed too, a recorder, the files read
 * back.
 */
static void live(void)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_REAL_TIME_MODE,
                                           .clock = ETWAS_CLOCK_TSC,
                                           .flush_timer = 1,
                                           .backlog_folder = folder};
    const etwas_session_options recording = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE};
    const EVENT_DESCRIPTOR event = {.Id = 1, .Level = 4};
    etwas_trace_handle session;
    etwas_session_counts counts;
    etwas_session_memory memory;
    uint64_t consumed = 0;
    REGHANDLE provider;
    pthread_t writer;
    pthread_t consumer;

    CHECK_IN_CHILD(EventRegister(&control_guid, NULL, NULL, &provider) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_start("to a file", file_path, &options, &session) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_start("recorder", NULL, &recording, &recorder) == ERROR_SUCCESS);
    CHECK_IN_CHILD(EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0,
                                  0, LONG_MS, NULL) == ERROR_SUCCESS);
    CHECK_IN_CHILD(pthread_create(&consumer, NULL, consume, &consumed) == 0);
    CHECK_IN_CHILD(pthread_create(&writer, NULL, log_to_both, &session) == 0);
    CHECK_IN_CHILD(EventWrite(provider, &event, 0, NULL) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_flush(session) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_memory(recorder, &memory) == ERROR_SUCCESS);
    CHECK_IN_CHILD(pthread_join(writer, NULL) == 0);
    wait_for_consumer();
    CHECK_IN_CHILD(etwas_snapshot(recorder, snapshot_path) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_stop(session, &counts) == ERROR_SUCCESS);
    CHECK_IN_CHILD(counts.recorded == EVENTS + 1 && counts.lost == 0);
    CHECK_IN_CHILD(pthread_join(consumer, NULL) == 0);
    CHECK_IN_CHILD(etwas_stop(recorder, &counts) == ERROR_SUCCESS);
    CHECK_IN_CHILD(EventUnregister(provider) == ERROR_SUCCESS);
    CHECK_IN_CHILD(read_file(file_path) == EVENTS);
    CHECK_IN_CHILD(read_file(snapshot_path) > 0);
    /* This session is for exit to stop. */
    etwas_exit_wait(LONG_MS);
    CHECK_IN_CHILD(etwas_start("to a file", file_path, NULL, &session) == ERROR_SUCCESS);
    CHECK_IN_CHILD(log_number(session, 1) == ERROR_SUCCESS);
}

static void live_and_survive(void)
{
    sandbox_live();
    live();
}

/* ---- the filter ------------------------------------------------------------------------------ */

static long number_of_call(const char *name)
{
    char between[64];
    const char *found;

    if (strcmp(name, "cachestat") == 0) {
        return CACHESTAT; /* newer than the list, and of every architecture */
    }
    (void)snprintf(between, sizeof between, " %s, ", name);
    found = strstr(etwas_system_call_names, between);
    if (found == NULL) {
        return -1;
    }
    while (found > etwas_system_call_names && found[-1] != ' ') {
        found--;
    }
    return strtol(found, NULL, 10);
}

/*
 * Reads the names in backquotes of the rows of the table with the heading "| For | System calls |".
 * Some are not this architecture's. A process that shares nothing does without the last row.
 */
static size_t read_list(bool shares, long *numbers)
{
    FILE *page = fopen(ETWAS_TEST_CONTRACT, "re");
    char line[2048];
    bool inside = false;
    size_t count = 0;

    assert_non_null(page);
    while (fgets(line, sizeof line, page) != NULL) {
        inside = line[0] == '|' && (inside || strncmp(line, "| For | System calls |", 22) == 0);
        if (!inside || (!shares && strncmp(line, "| taking part", 13) == 0)) {
            continue;
        }
        (void)strtok(line, "`");
        for (char *name = strtok(NULL, "`"); name != NULL; name = strtok(NULL, "`")) {
            long number = number_of_call(name);

            if (number >= 0) {
                assert_in_range(count, 0, CALLS_MOST - 1);
                numbers[count++] = number;
            }
            (void)strtok(NULL, "`");
        }
    }
    (void)fclose(page);
    return count;
}

/* In a thread of the library, which blocks all signals, the kernel ends the process without it. */
static void tell_call(int number, siginfo_t *information, void *context)
{
    char text[] = "a system call that is not listed:     \n";
    int call = information->si_syscall;

    (void)number;
    (void)context;
    for (size_t digit = sizeof text - 3; call != 0; call /= 10) {
        text[digit--] = (char)('0' + call % 10);
    }
    (void)write(STDERR_FILENO, text, sizeof text - 1);
    _exit(1);
}

static bool allow_only(const long *numbers, size_t count)
{
    struct sigaction action = {.sa_sigaction = tell_call, .sa_flags = SA_SIGINFO};
    struct sock_filter steps[2 * CALLS_MOST + 2];
    struct sock_fprog program = {.filter = steps};

    steps[program.len++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t index = 0; index < count; index++) {
        steps[program.len++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)numbers[index], 0, 1);
        steps[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    steps[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int status_of(int child)
{
    int status;

    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void expect_to_live_by(bool shares)
{
    long numbers[CALLS_MOST];
    size_t count = read_list(shares, numbers);
    int child;
    int status;

    set_paths();
    sandbox_prepare();
    (void)fflush(NULL);
    child = fork_child();
    if (child == 0) {
        sandbox_limit();
        CHECK_IN_CHILD(shares || etwas_share_nothing() == ERROR_SUCCESS);
        if (!allow_only(numbers, count)) {
            _exit(SKIPPED);
        }
        live_and_survive();
        exit(0);
    }
    status = status_of(child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
        print_message("skipped: no filter of system calls is granted\n");
        skip();
    }
    assert_int_equal(status, 0);
    assert_int_equal(count_events(file_path), 1);
}

static void the_listed_system_calls_are_all_that_is_needed(void **state)
{
    (void)state;
    expect_to_live_by(true);
}

static void who_shares_nothing_needs_those_of_taking_part_no_more(void **state)
{
    (void)state;
    expect_to_live_by(false);
}

/* The filter does its work. */
static void a_system_call_that_is_not_listed_kills(void **state)
{
    long numbers[CALLS_MOST];
    size_t count = read_list(true, numbers);
    int child;

    (void)state;
    (void)fflush(NULL);
    child = fork_child();
    if (child == 0) {
        _exit(allow_only(numbers, count) && getppid() != 0 ? 0 : SKIPPED);
    }
    assert_int_not_equal(status_of(child), 0);
}

/* ---- nothing there --------------------------------------------------------------------------- */

static bool hide(const char *path)
{
    return mount("tmpfs", path, "tmpfs", MS_RDONLY, "size=4k") == 0;
}

/* Everything is read-only but the test's folder, which is a mount of its own. */
static bool leave_only_the_folder(void)
{
    return enter_private_mounts() == NULL && mount(folder, folder, NULL, MS_BIND, NULL) == 0 &&
           mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) == 0 && hide("/sys") &&
           hide("/dev") && hide("/proc");
}

static void a_read_only_root_without_proc_sys_and_dev_is_enough(void **state)
{
    int child;

    (void)state;
    set_paths();
    sandbox_prepare();
    (void)fflush(NULL);
    child = fork_child();
    if (child == 0) {
        if (!leave_only_the_folder()) {
            print_message("skipped: mounts in a private namespace are not granted\n");
            _exit(SKIPPED);
        }
        CHECK_IN_CHILD(access("/proc/self", F_OK) != 0 && access("/dev/shm", F_OK) != 0);
        CHECK_IN_CHILD(chdir("/") == 0);
        live_and_survive();
        exit(0);
    }
    expect_child(child);
    assert_int_equal(count_events(file_path), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(the_listed_system_calls_are_all_that_is_needed),
        FOLDER_TEST(who_shares_nothing_needs_those_of_taking_part_no_more),
        FOLDER_TEST(a_system_call_that_is_not_listed_kills),
        FOLDER_TEST(a_read_only_root_without_proc_sys_and_dev_is_enough),
    };

    if (FIXTURE_SANITIZER) {
        print_message("skipped: a sanitizer makes system calls of its own, and reads /proc\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
