/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The system logger as a session: which flags start it, what an update changes, and that nothing is
 * left behind.
 */
#include <ck_pr.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/processor.h"
#include "platform/testpoint.h"
#include "system/event_count.h"
#include "system/logger.h"

enum {
    FORKS = 500
};

enum {
    CONFIGURATION_CPU = 10
};

/* ---- what a system logger is not ------------------------------------------------------------- */

static void r105_no_other_thread_writes_to_it(void **state)
{
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2};
    etwas_trace_handle session;
    struct events events;

    (void)state;
    session = start_kernel(FLAGS);
    assert_int_equal(log_number(session, 1), ERROR_INVALID_HANDLE);
    assert_int_equal(EnableTraceEx2(session, &control_guid, 1, 0, 0, 0, 0, &parameters),
                     ERROR_INVALID_PARAMETER);
    read_and_account(session, &events);
    free_events(&events);
}

static void expect_code(uint32_t code, const char *name, const struct block *given)
{
    struct block block = *given;
    etwas_trace_handle session = 7;

    assert_int_equal(StartTraceA(&session, name, &block.properties), code);
    assert_int_equal(session, 0);
    assert_int_not_equal(access(folder_path("k.etl"), F_OK), 0);
}

static void r43_r51_what_cannot_be_is_refused(void **state)
{
    struct block block;

    (void)state;
    prepare_kernel_block(&block, FLAGS);
    expect_code(ERROR_INVALID_PARAMETER, "another", &block);
    block.properties.LogFileMode |= EVENT_TRACE_USE_PAGED_MEMORY;
    expect_code(ERROR_INVALID_PARAMETER, KERNEL_LOGGER_NAMEA, &block);
    prepare_kernel_block(&block, FLAGS | 0x08000000);
    expect_code(ERROR_INVALID_PARAMETER, KERNEL_LOGGER_NAMEA, &block);
    prepare_kernel_block(&block, FLAGS | EVENT_TRACE_FLAG_DEBUG_EVENTS);
    expect_code(ERROR_NOT_SUPPORTED, KERNEL_LOGGER_NAMEA, &block);
    prepare_kernel_block(&block, FLAGS);
    block.properties.LogFileMode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
    expect_code(ERROR_NOT_SUPPORTED, KERNEL_LOGGER_NAMEA, &block);
}

/* The account, and each processor's order; a switch cannot be before the session or after it. */
static void any_clock_stamps_it(void **state)
{
    (void)state;
    for (uint32_t clock = 1; clock <= 3; clock++) {
        int64_t newest[ETWAS_MOST_PROCESSORS + 1] = {0};
        struct block block;
        etwas_trace_handle session;
        struct events events;

        prepare_kernel_block(&block, FLAGS);
        block.properties.Wnode.ClientContext = clock;
        session = start_block(KERNEL_LOGGER_NAMEA, &block);
        (void)hand_over();
        read_and_account(session, &events);
        for (size_t index = 0; index < events.count; index++) {
            const struct event *event = &events.items[index];
            int64_t *before = &newest[processor_of(event)];

            assert_true(event->record.EventHeader.TimeStamp.QuadPart >= *before);
            *before = event->record.EventHeader.TimeStamp.QuadPart;
        }
        free_events(&events);
    }
}

/* Command lines and addresses of the kernel are nobody else's to see. */
static void its_file_is_private(void **state)
{
    struct stat status;

    (void)state;
    (void)close(open(folder_path("k.etl"), O_CREAT | O_WRONLY, 0644));
    stop_session(start_kernel(FLAGS), NULL);
    assert_int_equal(stat(folder_path("k.etl"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(unlink(folder_path("k.etl")), 0);
    stop_session(start_kernel(FLAGS), NULL);
    assert_int_equal(stat(folder_path("k.etl"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
}

static void r43_the_name_brings_the_guid(void **state)
{
    struct block block;
    etwas_trace_handle session;
    struct events events;

    (void)state;
    prepare_kernel_block(&block, FLAGS);
    block.properties.Wnode.Guid = control_guid;
    session = start_block("nt KERNEL logger", &block);
    assert_memory_equal(&block.properties.Wnode.Guid, &SystemTraceControlGuid, sizeof(etwas_guid));
    assert_int_equal(block.properties.EnableFlags, FLAGS);
    read_and_account(session, &events);
    free_events(&events);
}

/* R180, R181, R182 */
static void r182_the_kernels_own_call_starts_the_kernel_logger(void **state)
{
    static const etwas_wchar name[] = KERNEL_LOGGER_NAMEW;
    etwas_trace_handle session;
    etwas_trace_handle second = 7;
    struct block block;
    struct block other;

    (void)state;
    prepare_kernel_block(&block, FLAGS);
    (void)wide_of(folder_path("k.etl"), (etwas_wchar *)(void *)block.file_name,
                  sizeof block.file_name / sizeof(etwas_wchar));
    other = block;
    assert_int_equal(StartKernelTrace(&second, &other.properties, NULL, 1),
                     ERROR_INVALID_PARAMETER);
    other.properties.EnableFlags |= EVENT_TRACE_FLAG_EXTENSION;
    assert_int_equal(StartKernelTrace(&second, &other.properties, NULL, 0), ERROR_INVALID_FLAGS);
    other.properties.Wnode.Guid = control_guid;
    assert_int_equal(StartKernelTrace(&second, &other.properties, NULL, 0),
                     ERROR_INVALID_PARAMETER);
    other = block;
    assert_int_equal(StartKernelTrace(&session, &block.properties, NULL, 0), ERROR_SUCCESS);
    assert_memory_equal(block.session_name, name, sizeof name);
    assert_int_equal(StartKernelTrace(&second, &other.properties, NULL, 0), ERROR_ALREADY_EXISTS);
    assert_int_equal(second, 0);
    stop_session(session, NULL);
}

/*
 * R131: what is opened begins then, what is closed is recorded until then; 0 closes everything; a
 * refusal changes nothing.
 */
static void r131_flags_change_while_it_runs(void **state)
{
    const uint32_t threads = EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_NO_SYSCONFIG;
    const uint32_t switches = EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_NO_SYSCONFIG;
    etwas_trace_handle session;
    struct events events;
    uint32_t first;
    uint32_t second;
    uint32_t third;
    uint32_t fourth;
    uint32_t children[3];

    (void)state;
    session = start_kernel(threads);
    children[0] = (uint32_t)run_child();
    first = hand_over();
    update_kernel_flags(session, switches, ERROR_SUCCESS);
    children[1] = (uint32_t)run_child();
    second = hand_over();
    update_kernel_flags(session, threads | EVENT_TRACE_FLAG_DEBUG_EVENTS, ERROR_NOT_SUPPORTED);
    update_kernel_flags(session, threads | 0x08000000, ERROR_INVALID_PARAMETER);
    third = hand_over();
    update_kernel_flags(session, 0, ERROR_SUCCESS);
    fourth = hand_over();
    update_kernel_flags(session, FLAGS, ERROR_SUCCESS);
    children[2] = (uint32_t)run_child();
    read_and_account(session, &events);
    /* A thread that was joined may still be on its way out. */
    assert_in_range(count_switches_to(&events, first), 0, 2);
    assert_in_range(count_switches_to(&events, second), HANDOVERS, UINT32_MAX);
    assert_in_range(count_switches_to(&events, third), HANDOVERS, UINT32_MAX);
    assert_in_range(count_switches_to(&events, fourth), 0, 2);
    assert_int_equal(count_threads(&events, THREAD_END, children[0], 0), 3);
    assert_int_equal(count_threads(&events, THREAD_END, children[1], 0), 0);
    assert_int_equal(count_threads(&events, THREAD_START, children[2], 0), 3);
    assert_int_equal(count_threads(&events, THREAD_END, children[2], 0), 3);
    free_events(&events);
}

/* ---- the inventory --------------------------------------------------------------------------- */

/*
 * R50, R185: besides what the flags ask for, also if it is stopped at once; an update says no more.
 */
static void r50_the_configuration_is_recorded_once(void **state)
{
    struct events events;
    etwas_trace_handle session;
    uint32_t processors = 0;

    (void)state;
    read_and_account(start_kernel(0), &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        if (is_kernel_event(event, &EventTraceConfigGuid, CONFIGURATION_CPU)) {
            assert_int_equal(u32_at(event, 4), sysconf(_SC_NPROCESSORS_ONLN));
            assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 2);
            processors++;
        }
    }
    assert_int_equal(processors, 1);
    assert_in_range(count_class(&events, &EventTraceConfigGuid), 2, events.count);
    free_events(&events);
    session = start_kernel(FLAGS);
    update_kernel_flags(session, FLAGS & ~EVENT_TRACE_FLAG_NO_SYSCONFIG, ERROR_SUCCESS);
    read_and_account(session, &events);
    assert_int_equal(count_class(&events, &EventTraceConfigGuid), 0);
    free_events(&events);
}

/* ---- belongings ------------------------------------------------------------------------------ */

static void it_leaves_nothing_behind(void **state)
{
    struct belongings before;

    (void)state;
    stop_session(start_kernel(FLAGS), NULL);
    before = count_belongings();
    for (int round = 0; round < 3; round++) {
        stop_session(start_kernel(FLAGS), NULL);
    }
    assert_nothing_gained(&before);
}

static uint32_t count_kernel_descriptors(void)
{
    char path[64];
    char target[64];
    uint32_t count = 0;

    for (int descriptor = 0; descriptor < 256; descriptor++) {
        ssize_t length;

        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
        length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = 0;
        count += strstr(target, "perf_event") != NULL || strstr(target, "bpf") != NULL;
    }
    return count;
}

static void a_forks_child_has_none_of_it(void **state)
{
    uint32_t here = (uint32_t)syscall(SYS_gettid);
    etwas_trace_handle session;
    struct events events;
    uint32_t inside;
    int child;

    (void)state;
    session = start_kernel(FLAGS | EVENT_TRACE_FLAG_PROCESS);
    assert_in_range(count_kernel_descriptors(), 2, 256);
    child = fork_child();
    if (child == 0) {
        CHECK_IN_CHILD(count_kernel_descriptors() == 0);
        CHECK_IN_CHILD(log_number(session, 1) == ERROR_INVALID_HANDLE);
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
    inside = (uint32_t)run_child();
    read_and_account(session, &events);
    assert_int_equal(count_threads(&events, THREAD_START, (uint32_t)child, 0), 1);
    assert_int_equal(count_threads(&events, THREAD_START, inside, 0), 3);
    assert_int_equal(count_threads(&events, RUNDOWN_END, (uint32_t)getpid(), here), 1);
    free_events(&events);
}

static uint32_t forks_go_on;

static void *start_and_stop(void *argument)
{
    while (ck_pr_load_32(&forks_go_on) != 0) {
        stop_session(start_kernel(FLAGS | EVENT_TRACE_FLAG_PROCESS), NULL);
    }
    return argument;
}

/* I7: whatever of it is being opened or freed. */
static void a_fork_while_it_stops_harms_no_child(void **state)
{
    pthread_t thread;

    (void)state;
    ck_pr_store_32(&forks_go_on, 1);
    assert_int_equal(pthread_create(&thread, NULL, start_and_stop, NULL), 0);
    for (int index = 0; index < FORKS; index++) {
        int child = fork_child();

        if (child == 0) {
            _exit(0);
        }
        assert_int_equal(exit_code_of(child), 0);
    }
    ck_pr_store_32(&forks_go_on, 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* ---- how long a start waits ------------------------------------------------------------------ */

static uint32_t holds_rundown;
static uint32_t looks_at_machine;

static void hold_rundown(enum etwas_testpoint point)
{
    ck_pr_add_32(&looks_at_machine, point == ETWAS_POINT_SYSTEM_QUIESCES);
    while (point == ETWAS_POINT_SYSTEM_QUIESCES && ck_pr_load_32(&holds_rundown) != 0) {
        (void)usleep(100);
    }
}

static void *start_held(void *session)
{
    *(etwas_trace_handle *)session = start_kernel(FLAGS | EVENT_TRACE_FLAG_PROCESS);
    return NULL;
}

/* The one that waits was ended by somebody, and its entry of the table is another's. */
static void a_start_waits_for_its_own_session_and_no_later_one(void **state)
{
    etwas_trace_handle session = 0;
    struct etwas_session_key key;
    pthread_t thread;

    (void)state;
    ck_pr_store_32(&holds_rundown, 1);
    ck_pr_store_32(&looks_at_machine, 0);
    etwas_testpoint_set(hold_rundown);
    assert_int_equal(pthread_create(&thread, NULL, start_held, &session), 0);
    while (ck_pr_load_32(&looks_at_machine) == 0) {
        (void)usleep(100);
    }
    for (key.index = 0; etwas_sessions[key.index].system_logger == NULL; key.index++) {
    }
    key.generation = etwas_sessions[key.index].entry.generation - 1;
    etwas_system_logger_await_run_down(key);
    assert_int_equal(ck_pr_load_64(&session), 0);
    ck_pr_store_32(&holds_rundown, 0);
    key.generation++;
    etwas_system_logger_await_run_down(key);
    assert_int_equal(pthread_join(thread, NULL), 0);
    etwas_testpoint_set(NULL);
    stop_session(session, NULL);
}

static int start_as_nobody(void)
{
    struct block block;
    etwas_trace_handle session = 7;
    char sentence[512];
    size_t length;
    uint32_t code;

    prepare_kernel_block(&block, FLAGS);
    if (setgid(65534) != 0 || setuid(65534) != 0) {
        return 1;
    }
    code = StartTraceA(&session, KERNEL_LOGGER_NAMEA, &block.properties);
    length = etwas_kernel_refusal(sentence, sizeof sentence);
    if (code != ERROR_ACCESS_DENIED || session != 0 || length != strlen(sentence) ||
        etwas_kernel_refusal(sentence + 400, 9) != length || strlen(sentence + 400) != 8) {
        return 2;
    }
    return strstr(sentence, "CAP_PERFMON") != NULL ? 0 : 3;
}

static int record_for_a_moment(void)
{
    struct block block;
    etwas_trace_handle session;

    prepare_kernel_block(&block, FLAGS);
    if (StartTraceA(&session, KERNEL_LOGGER_NAMEA, &block.properties) != ERROR_SUCCESS) {
        return 2;
    }
    return ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_STOP) ==
                   ERROR_SUCCESS
               ? 0
               : 3;
}

/* Starts a session with less memory for its rings, and without the other rights of root. */
static int start_with_capabilities_alone(void)
{
    const struct rlimit none = {0, 0};

    if (!become_nobody_with(monitoring_capabilities()) || setrlimit(RLIMIT_MEMLOCK, &none) != 0) {
        return 1;
    }
    return record_for_a_moment();
}

/* It does, or Debian's kernel wants more, which is said. */
static int start_with_perfmon(void)
{
    const uint64_t perfmon = UINT64_C(1) << CAP_DAC_OVERRIDE | UINT64_C(1) << CAP_PERFMON;
    bool does = monitoring_capabilities() == perfmon;
    char sentence[512];
    int code;

    if (!become_nobody_with(perfmon)) {
        return 1;
    }
    code = record_for_a_moment();
    (void)etwas_kernel_refusal(sentence, sizeof sentence);
    if (does) {
        return code;
    }
    return code == 2 && strstr(sentence, "perf_event_paranoid") != NULL &&
                   strstr(sentence, "CAP_SYS_ADMIN") != NULL
               ? 0
               : 4;
}

static void perfmon_is_enough_or_the_reason_names_what_is(void **state)
{
    (void)state;
    expect_as_nobody(start_with_perfmon);
}

static void rings_are_small_where_little_may_be_locked(void **state)
{
    (void)state;
    expect_as_nobody(start_with_capabilities_alone);
}

static int start_with_few_descriptors(void)
{
    const struct rlimit few = {16, 16};
    struct block block;
    etwas_trace_handle session;
    char sentence[512];

    prepare_kernel_block(&block, FLAGS | EVENT_TRACE_FLAG_DPC | EVENT_TRACE_FLAG_INTERRUPT);
    if (setrlimit(RLIMIT_NOFILE, &few) != 0 ||
        StartTraceA(&session, KERNEL_LOGGER_NAMEA, &block.properties) !=
            ERROR_NO_SYSTEM_RESOURCES) {
        return 1;
    }
    (void)etwas_kernel_refusal(sentence, sizeof sentence);
    return strstr(sentence, "RLIMIT_NOFILE") != NULL ? 0 : 2;
}

static void too_few_descriptors_are_the_reason(void **state)
{
    (void)state;
    expect_as_nobody(start_with_few_descriptors);
}

static void without_leave_system_wide_events_are_denied(void **state)
{
    (void)state;
    expect_as_nobody(start_as_nobody);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r105_no_other_thread_writes_to_it),
        FOLDER_TEST(r43_r51_what_cannot_be_is_refused),
        FOLDER_TEST(any_clock_stamps_it),
        FOLDER_TEST(its_file_is_private),
        FOLDER_TEST(r43_the_name_brings_the_guid),
        FOLDER_TEST(r182_the_kernels_own_call_starts_the_kernel_logger),
        FOLDER_TEST(r131_flags_change_while_it_runs),
        FOLDER_TEST(r50_the_configuration_is_recorded_once),
        FOLDER_TEST(it_leaves_nothing_behind),
        FOLDER_TEST(a_forks_child_has_none_of_it),
        FOLDER_TEST(a_fork_while_it_stops_harms_no_child),
        FOLDER_TEST(a_start_waits_for_its_own_session_and_no_later_one),
        FOLDER_TEST(rings_are_small_where_little_may_be_locked),
        FOLDER_TEST(perfmon_is_enough_or_the_reason_names_what_is),
        FOLDER_TEST(too_few_descriptors_are_the_reason),
        FOLDER_TEST(without_leave_system_wide_events_are_denied),
    };

    return RUN_KERNEL_TESTS("system logger", tests);
}
