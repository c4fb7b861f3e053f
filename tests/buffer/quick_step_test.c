/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A signal before each instruction of the quick restartable sequence, wherever it is inlined; the handler logs
 * as well (I1, I7). Both events are in the file, whole and once: the handler's first as long as the interrupted
 * one has not committed, and behind it from the instruction after the commit on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <etwas/etwas.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/rseq.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/processor.h"
#include "platform/rseq.h"
#include "support/folder.h"
#include "support/start.h"
#include "support/step.h"

/* Only x86-64 has the quick way. */
#if ETWAS_RSEQ && defined(__x86_64__)

enum {
    BYTES_AROUND = 16, /* where a sequence is armed, and what follows its commit */
    PAYLOAD_WORDS = 4,
    EARLIER = 0, /* an event so that the slot has a buffer */
    INTERRUPTED = 1,
    HANDLER_S = 2
};

/* How a child ends. */
enum {
    ALONE,          /* no signal came */
    HANDLER_FIRST,  /* the interrupted one had not begun, or saw what was new in time */
    BEGUN_AGAIN,    /* it had, and was aborted; the handler's is first */
    HANDLER_SECOND, /* it had committed */
    ENDED_WRONG,
    ENDED_UNTRACED
};

static const uint64_t magic = UINT64_C(0x9f1c0de5a7e57a11);

static const etwas_guid class_guid = {
    0x8c1e94a0, 0x77d2, 0x4f36, {0x8d, 0x0a, 0x5e, 0x21, 0x9b, 0x4c, 0x63, 0x17}};

/* ---- the child ------------------------------------------------------------------------------- */

struct event {
    EVENT_INSTANCE_HEADER header;
    uint64_t payload[PAYLOAD_WORDS];
};

static uint32_t clock_to_use;
static etwas_trace_handle session;
static EVENT_INSTANCE_INFO instance;
static struct rseq unknown_area;

static uint32_t ignore_request(WMIDPREQUESTCODE code, void *context, uint32_t *reserved,
                               void *wnode)
{
    (void)code;
    (void)context;
    (void)reserved;
    (void)wnode;
    return ERROR_SUCCESS;
}

static void log_numbered(uint64_t number)
{
    struct event event = {.header.Size = sizeof event};

    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    for (uint32_t word = 0; word < PAYLOAD_WORDS; word++) {
        event.payload[word] = magic + number;
    }
    if (TraceEventInstance(session, &event.header, &instance, NULL) != ERROR_SUCCESS) {
        _exit(ENDED_WRONG);
    }
}

static void on_signal(int number)
{
    (void)number;
    log_numbered(HANDLER_S);
}

/* The numbers of the events in the file, in its order; 0xF stands for one that is torn. */
static uint32_t order_in(const char *path)
{
    static uint64_t words[65536];
    FILE *file = fopen(path, "rb");
    size_t count = fread(words, sizeof words[0], sizeof words / sizeof words[0], file);
    uint32_t order = 0;

    (void)fclose(file);
    for (size_t at = 0; at + PAYLOAD_WORDS <= count; at++) {
        uint64_t number = words[at] - magic;

        if (number > HANDLER_S) {
            continue;
        }
        for (uint32_t word = 1; word < PAYLOAD_WORDS; word++) {
            number = words[at + word] == words[at] ? number : 0xF;
        }
        order = order << 4 | (uint32_t)number;
        at += PAYLOAD_WORDS - 1;
    }
    return order;
}

static int judge(const char *path)
{
    etwas_session_counts counts;

    if (etwas_stop(session, &counts) != ERROR_SUCCESS || counts.lost != 0) {
        return ENDED_WRONG;
    }
    switch (order_in(path)) {
    case EARLIER << 4 | INTERRUPTED:
        return counts.recorded == 2 ? ALONE : ENDED_WRONG;
    case EARLIER << 8 | HANDLER_S << 4 | INTERRUPTED:
        return counts.recorded != 3   ? ENDED_WRONG
               : counts.restarts == 0 ? HANDLER_FIRST
                                      : BEGUN_AGAIN;
    case EARLIER << 8 | INTERRUPTED << 4 | HANDLER_S:
        return counts.recorded == 3 ? HANDLER_SECOND : ENDED_WRONG;
    default:
        return ENDED_WRONG;
    }
}

static _Noreturn void be_traced(const char *path, bool known_to_kernel)
{
    const etwas_session_options options = {
        .protocol = ETWAS_PROTOCOL_RSEQ, .clock = clock_to_use, .flusher.no_thread = true};
    TRACE_GUID_REGISTRATION class_registration = {.Guid = &class_guid};
    etwas_trace_handle provider;
    ptrdiff_t offset;

    session = start_session(path, &options);
    if (RegisterTraceGuidsA(ignore_request, NULL, &class_guid, 1, &class_registration, NULL, NULL,
                            &provider) != ERROR_SUCCESS ||
        CreateTraceInstanceId(class_registration.RegHandle, &instance) != ERROR_SUCCESS) {
        _exit(ENDED_WRONG);
    }
    log_numbered(EARLIER);
    offset = etwas_processor_offset;
    if (!known_to_kernel) {
        unknown_area.cpu_id = etwas_processor_seen();
        etwas_processor_offset = (const char *)&unknown_area.cpu_id - etwas_thread_pointer();
    }
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(ENDED_UNTRACED);
    }
    (void)signal(SIGUSR1, on_signal);
    (void)raise(SIGSTOP);
    log_numbered(INTERRUPTED);
    if (!known_to_kernel) {
        (void)raise(SIGSTOP);
        etwas_processor_offset = offset;
    }
    _exit(judge(path));
}

/* ---- the tracer ------------------------------------------------------------------------------ */

static pid_t start_child(const char *path, bool known_to_kernel)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        be_traced(path, known_to_kernel);
    }
    return step_await(child, ENDED_UNTRACED) ? child : 0;
}

/* What the assembler keeps of each restartable sequence, in a section of their own (linux/rseq.h). */
extern const struct rseq_cs __start___rseq_cs[];
extern const struct rseq_cs __stop___rseq_cs[];

/*
 * What a signal before the instruction shall lead to; ALONE: it is in no sequence, nor close to one. The
 * kernel aborts from the first look to the commit.
 */
static int expected_at(uint64_t address)
{
    for (const struct rseq_cs *one = __start___rseq_cs; one < __stop___rseq_cs; one++) {
        const uint64_t end = one->start_ip + one->post_commit_offset;

        if (address - one->start_ip < one->post_commit_offset) {
            return BEGUN_AGAIN;
        }
        if (one->start_ip - address <= BYTES_AROUND) {
            return HANDLER_FIRST;
        }
        if (address - end < BYTES_AROUND) {
            return HANDLER_SECOND;
        }
    }
    return ALONE;
}

static cpu_set_t everywhere;

/* The children are made on this processor, and stay there. */
static int stay(void **state)
{
    cpu_set_t one;

    if (folder_setup(state) != 0 || sched_getaffinity(0, sizeof everywhere, &everywhere) != 0) {
        return -1;
    }
    CPU_ZERO(&one);
    CPU_SET(etwas_processor_ask(), &one);
    return sched_setaffinity(0, sizeof one, &one);
}

static int move_freely(void **state)
{
    return sched_setaffinity(0, sizeof everywhere, &everywhere) | folder_teardown(state);
}

/* Steps through one event: the program's instructions, those of libraries left out. */
static uint32_t learn_instructions(const char *path, struct step_range *range)
{
    extern const char __executable_start[];
    extern const char etext[];
    pid_t child = start_child(path, false);

    if (child == 0) {
        return 0;
    }
    *range = (struct step_range){.first = (uint64_t)(uintptr_t)__executable_start,
                                 .bytes = (uint64_t)(etext - __executable_start)};
    assert_int_equal(WEXITSTATUS(step_learn(child, range)), ALONE);
    return range->count;
}

/* How the child ended. It is made again if its sequence was aborted before it came to the instruction. */
static int result_at(const char *path, uint64_t address)
{
    bool passed = false;
    int status = 0;

    while (!passed) {
        status = step_signal_at(start_child(path, true), address, &passed);
        assert_true(WIFEXITED(status));
        assert_true(passed || WEXITSTATUS(status) == ALONE);
    }
    return WEXITSTATUS(status);
}

static void interrupt_each(const char *path, const struct step_range *range)
{
    uint32_t seen[ENDED_UNTRACED] = {0};

    for (uint32_t index = 0; index < range->count; index++) {
        int expected = expected_at(range->addresses[index]);
        int result;

        if (expected == ALONE) {
            continue;
        }
        result = result_at(path, range->addresses[index]);
        /* Who was not interrupted in a sequence here may have been by another thread of the machine. */
        if (result != expected && !(expected == HANDLER_FIRST && result == BEGUN_AGAIN)) {
            fail_msg("a signal at the %uth instruction: %d, not %d", index, result, expected);
        }
        seen[expected]++;
    }
    assert_true(seen[HANDLER_FIRST] > 0);
    assert_true(seen[BEGUN_AGAIN] > 30);
    assert_true(seen[HANDLER_SECOND] > 0);
}

static void a_signal_at_any_instruction_finds_the_event_committed_or_not_begun(void **state)
{
    static const uint32_t clocks[] = {ETWAS_CLOCK_TSC, ETWAS_CLOCK_QPC};
    static struct step_range range;
    const char *path = folder_path("trace.etl");

    (void)state;
    etwas_processor_prepare();
    if (!etwas_rseq_prepare()) {
        skip();
    }
    for (size_t index = 0; index < sizeof clocks / sizeof clocks[0]; index++) {
        clock_to_use = clocks[index];
        if (learn_instructions(path, &range) == 0) {
            skip();
        }
        interrupt_each(path, &range);
    }
}

#define STEP_TEST(test) cmocka_unit_test_setup_teardown(test, stay, move_freely)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STEP_TEST(a_signal_at_any_instruction_finds_the_event_committed_or_not_begun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    (void)puts("built without the quick restartable sequence");
    return 77;
}

#endif
