/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writers make no system call, neither for an event nor for a buffer, unless the pool runs low.
 *
 * A child starts a session, then puts a filter on its own thread (not on the flusher's) that turns
 * every system call into a signal, and logs several buffers' worth of events. The handler notes the
 * call.
 */
#include <ck_pr.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <etwas/evntprov.h>

#include "session/fixture.h"
#include "support/inside.h"

enum {
    NOT_PERMITTED = 77,
    MINIMUM_BUFFERS = 64,
    BUFFER_KB = 64,
    BUFFERS_TO_FILL = 12
};

static REGHANDLE modern_provider;
static volatile sig_atomic_t calls;
static volatile sig_atomic_t first_call;

static void note_call(int number, siginfo_t *information, void *context)
{
    (void)number;
    (void)context;
    if (calls++ == 0) {
        first_call = information->si_syscall;
    }
}

/* Buffers claimed so far: both protocols number their claims. */
static uint64_t claims_of(const struct etwas_session *inside)
{
    return ck_pr_load_64(&inside->buffers.pool->words->ticket);
}

/* From here on this thread may only return from handlers, write its last words, and end. */
static bool forbid_system_calls(void)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof steps / sizeof steps[0], .filter = steps};
    struct sigaction action = {.sa_sigaction = note_call, .sa_flags = SA_SIGINFO};

    return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

struct instance_event {
    EVENT_INSTANCE_HEADER header;
    uint64_t data[8];
};

enum {
    BYTES_OF_ALL = 136 + 56 + 56 + 112, /* what log_all takes of a buffer */
};

/* An instance event, a plain one, a message, and a modern event with a related activity. */
static uint32_t log_all(etwas_trace_handle session, etwas_handle class_handle, uint64_t number)
{
    struct instance_event event = {.header.Size = sizeof event};
    EVENT_INSTANCE_INFO instance;
    const uint32_t flags = TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_GUID | TRACE_MESSAGE_TIMESTAMP |
                           TRACE_MESSAGE_SYSTEMINFO;
    const EVENT_DESCRIPTOR descriptor = {.Level = 5, .Keyword = 1};
    EVENT_DATA_DESCRIPTOR data;
    uint32_t code;

    EventDataDescCreate(&data, &number, sizeof number);
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    event.data[0] = number;
    code = CreateTraceInstanceId(class_handle, &instance);
    if (code == ERROR_SUCCESS) {
        code = TraceEventInstance(session, &event.header, &instance, NULL);
    }
    if (code == ERROR_SUCCESS) {
        code = log_number(session, number);
    }
    if (code == ERROR_SUCCESS) {
        code = TraceMessage(session, flags, &first_class, 1, &number, sizeof number, NULL);
    }
    return code == ERROR_SUCCESS
               ? EventWriteTransfer(modern_provider, &descriptor, NULL, &second_class, 1, &data)
               : code;
}

static _Noreturn void log_without_system_calls(uint32_t protocol, uint32_t clock, bool recorder)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_USE_LOCAL_SEQUENCE |
                         (recorder ? EVENT_TRACE_BUFFERING_MODE : EVENT_TRACE_FILE_MODE_NONE),
        .clock = clock,
        .buffer_size_kb = BUFFER_KB,
        /* A flight recorder overwrites its oldest buffers meanwhile. */
        .minimum_buffers = recorder ? 0 : MINIMUM_BUFFERS,
        .maximum_buffers = MINIMUM_BUFFERS,
        .protocol = protocol,
    };
    const uint64_t events = (uint64_t)BUFFERS_TO_FILL * BUFFER_KB * 1024 / BYTES_OF_ALL;
    TRACE_GUID_REGISTRATION classes[] = {{.Guid = &first_class}};
    etwas_trace_handle registration;
    etwas_trace_handle session;
    const struct etwas_session *inside;
    etwas_session_counts counts;
    const etwas_provider *gate;
    uint64_t claims;
    uint32_t odd = 0;
    int64_t stamp;

    CHECK_IN_CHILD(RegisterTraceGuidsA(ignore_request, NULL, &control_guid, 1, classes, NULL, NULL,
                                       &registration) == ERROR_SUCCESS);
    CHECK_IN_CHILD(EventRegister(&control_guid, NULL, NULL, &modern_provider) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_start("quiet", recorder ? NULL : folder_path("f.etl"), &options,
                               &session) == ERROR_SUCCESS);
    CHECK_IN_CHILD(EnableTrace(1, 1, 5, &control_guid, session) == ERROR_SUCCESS);
    gate = etwas_provider_of(registration);
    /* Once a thread: it learns its ids. */
    CHECK_IN_CHILD(log_all(session, classes[0].RegHandle, 0) == ERROR_SUCCESS);
    inside = inside_of(session);
    claims = claims_of(inside);
    if (!forbid_system_calls()) {
        _exit(NOT_PERMITTED);
    }
    stamp = etwas_clock_read(clock);
    if (calls != 0) {
        /* The machine's own clock is a system call (no vDSO for it): nothing can be said here. */
        _exit(NOT_PERMITTED);
    }
    for (uint64_t number = 1; number <= events; number++) {
        bool enabled = etwas_enabled(gate, 5, 1) && EventProviderEnabled(modern_provider, 5, 1);

        odd += enabled ? log_all(session, classes[0].RegHandle, number) : 1;
    }
    odd += log_number(session + 0x100, 1) != ERROR_INVALID_HANDLE;
    if (calls != 0) {
        (void)dprintf(STDERR_FILENO, "%d system calls, the first is number %d\n", (int)calls,
                      (int)first_call);
    }
    CHECK_IN_CHILD(calls == 0);
    CHECK_IN_CHILD(odd == 0);
    CHECK_IN_CHILD(stamp != 0);
    /* Buffers were really changed meanwhile. */
    CHECK_IN_CHILD(claims_of(inside) >= claims + BUFFERS_TO_FILL / 2);
    CHECK_IN_CHILD(etwas_counts(session, &counts) == ERROR_SUCCESS);
    CHECK_IN_CHILD((protocol == ETWAS_PROTOCOL_RSEQ ? counts.committed_rseq
                                                    : counts.committed_shared) > events);
    calls = 0;
    /* The filter does its work: one call is one note. */
    (void)syscall(SYS_getppid);
    CHECK_IN_CHILD(calls == 1);
    CHECK_IN_CHILD(first_call == SYS_getppid);
    _exit(0);
}

static void expect_no_system_calls(uint32_t clock, bool recorder)
{
    pid_t child;
    int code;

    if (FIXTURE_SANITIZER) {
        print_message("skipped: not under a sanitizer, which makes system calls of its own\n");
        skip();
    }
    child = fork();
    if (child == 0) {
        log_without_system_calls(session_protocol, clock, recorder);
    }
    code = exit_code_of(child);
    if (code == NOT_PERMITTED) {
        print_message("skipped: this system does not let a process watch its own system calls\n");
        skip();
    }
    assert_int_equal(code, 0);
}

static void writers_make_no_system_calls_with_qpc(void **state)
{
    (void)state;
    expect_no_system_calls(ETWAS_CLOCK_QPC, false);
}

static void writers_make_no_system_calls_with_system_time(void **state)
{
    (void)state;
    expect_no_system_calls(ETWAS_CLOCK_SYSTEM_TIME, false);
}

static void writers_make_no_system_calls_with_the_cycle_counter(void **state)
{
    (void)state;
    expect_no_system_calls(ETWAS_CLOCK_TSC, false);
}

static void writers_make_no_system_calls_in_buffering_mode(void **state)
{
    (void)state;
    expect_no_system_calls(ETWAS_CLOCK_TSC, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(writers_make_no_system_calls_with_qpc),
        FOLDER_TEST(writers_make_no_system_calls_with_system_time),
        FOLDER_TEST(writers_make_no_system_calls_with_the_cycle_counter),
        FOLDER_TEST(writers_make_no_system_calls_in_buffering_mode),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
