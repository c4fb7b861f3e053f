/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A signal before each instruction of the general restartable sequence, one after the other. The
 * range the kernel aborts must begin before the first look and end with the commit, to the
 * instruction.
 *
 * A child runs the sequence, and this process traces it: first step by step, to learn the
 * instructions, with an rseq area the kernel does not know, since a step would abort the sequence;
 * then with a breakpoint at one of them, where the child gets a signal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/rseq.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/processor.h"
#include "platform/rseq.h"
#include "support/step.h"

#if ETWAS_RSEQ

enum {
    OLD = 1000,
    NEW = 2000,
    FUNCTION_BYTES_MAXIMUM = 4096,
    TURNS = 20
};

/* How a child ends. */
enum {
    ENDED_WRONG = 100,
    ENDED_UNTRACED = 101, /* otherwise the result of the sequence */
    NOT_PASSED = 102
};

/* ---- the child ------------------------------------------------------------------------------- */

static uint64_t guard = 1;
static uint64_t target = OLD;
static uint64_t target_at_signal;
static bool signalled;
static struct rseq unknown_area;

static void on_signal(int number)
{
    (void)number;
    signalled = true;
    target_at_signal = *(volatile uint64_t *)&target;
    guard++;
}

/*
 * The result is wrong if the sequence committed after the signal, since a guard had changed then,
 * or if it did not commit and the target changed.
 */
static int judge(enum etwas_rseq_result result)
{
    if (result == ETWAS_RSEQ_COMMITTED) {
        return target == NEW && (!signalled || target_at_signal == NEW) ? (int)result : ENDED_WRONG;
    }
    return target == OLD ? (int)result : ENDED_WRONG;
}

/* Copies of these sizes pass every instruction of a copy. */
static _Noreturn void be_traced(uint32_t kind, bool known_to_kernel)
{
    static uint8_t from[300];
    static uint8_t to[300];
    const struct etwas_rseq_check check = {.word = &guard, .expected = 1};
    const struct etwas_rseq_copy copies[] = {{to, from, 300}, {to, from, 15}, {to, from, 64}};
    struct etwas_rseq_sequence sequence = {.checks = &check,
                                           .check_count = 1,
                                           .copies = copies,
                                           .copy_count = sizeof copies / sizeof copies[0],
                                           .target = &target,
                                           .expected = OLD,
                                           .value = NEW,
                                           .processor = etwas_processor_of_rseq(),
                                           .exchange = kind};
    enum etwas_rseq_result result;

    if (!known_to_kernel) {
        unknown_area.cpu_id = sequence.processor;
        etwas_processor_offset = (const char *)&unknown_area.cpu_id - etwas_thread_pointer();
    }
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(ENDED_UNTRACED);
    }
    (void)signal(SIGUSR1, on_signal);
    (void)raise(SIGSTOP);
    do {
        result = etwas_rseq_run(&sequence);
    } while (result == ETWAS_RSEQ_ABORTED && known_to_kernel && !signalled);
    _exit(judge(result));
}

/* ---- the tracer ------------------------------------------------------------------------------ */

/* The child, stopped before its sequence; 0 where tracing is forbidden. */
static pid_t start_child(uint32_t kind, bool known_to_kernel)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        be_traced(kind, known_to_kernel);
    }
    return step_await(child, ENDED_UNTRACED) ? child : 0;
}

static uint32_t learn_instructions(uint32_t kind, struct step_range *range)
{
    pid_t child = start_child(kind, false);
    int status;

    if (child == 0) {
        return 0;
    }
    status = step_learn(child, range);
    /* Between the steps a store-exclusive loses what its load has marked. */
    assert_true(WIFEXITED(status));
    assert_true(WEXITSTATUS(status) == ETWAS_RSEQ_COMMITTED ||
                WEXITSTATUS(status) == ETWAS_RSEQ_ABORTED);
    return range->count;
}

/*
 * NOT_PASSED: the sequence committed without coming to the instruction. It is run again if another
 * thread of the machine aborted it before.
 */
static int result_with_signal_at(uint32_t kind, uint64_t address)
{
    bool passed = false;
    int status;

    do {
        pid_t child = start_child(kind, true);

        assert_true(child > 0);
        status = step_signal_at(child, address, &passed);
        assert_true(WIFEXITED(status));
    } while (!passed && WEXITSTATUS(status) == ETWAS_RSEQ_ABORTED);
    if (!passed) {
        assert_int_equal(WEXITSTATUS(status), ETWAS_RSEQ_COMMITTED);
        return NOT_PASSED;
    }
    return WEXITSTATUS(status);
}

static cpu_set_t everywhere;

/* The children are made on this processor, and stay there. */
static int stay(void **state)
{
    cpu_set_t one;

    (void)state;
    if (sched_getaffinity(0, sizeof everywhere, &everywhere) != 0) {
        return -1;
    }
    CPU_ZERO(&one);
    CPU_SET(etwas_processor_query(), &one);
    return sched_setaffinity(0, sizeof one, &one);
}

static int move_freely(void **state)
{
    (void)state;
    return sched_setaffinity(0, sizeof everywhere, &everywhere);
}

/*
 * Before the sequence is armed it finds the guard changed. From there to the commit, which is the
 * last instruction of the range, it is aborted. After that it has committed.
 */
static void a_signal_at_any_instruction_aborts_what_has_begun_and_not_committed(void **state)
{
    static struct step_range range;

    (void)state;
    etwas_processor_prepare();
    if (!etwas_rseq_prepare()) {
        print_message("skipped: there are no restartable sequences\n");
        skip();
    }
    for (uint32_t kind = 0; kind < 2; kind++) {
        uint32_t seen[ENDED_WRONG] = {0};

        range = (struct step_range){.first = (uint64_t)(uintptr_t)etwas_rseq_run,
                                    .bytes = FUNCTION_BYTES_MAXIMUM};
        if (learn_instructions(kind, &range) == 0) {
            print_message("skipped: a process may not be traced\n");
            skip();
        }
        for (uint32_t index = 0; index < range.count; index++) {
            int result = result_with_signal_at(kind, range.addresses[index]);

            /*
             * Another thread of the machine aborts one that finds the guard changed, but not
             * always.
             */
            for (int again = 0; result == ETWAS_RSEQ_ABORTED && seen[result] == 0 && again < TURNS;
                 again++) {
                result = result_with_signal_at(kind, range.addresses[index]);
            }
            if (result == NOT_PASSED) {
                continue;
            }
            if (result != ETWAS_RSEQ_CHANGED && result != ETWAS_RSEQ_ABORTED &&
                result != ETWAS_RSEQ_COMMITTED) {
                fail_msg("kind %u, a signal at +0x%x: result %d", kind,
                         (unsigned)(range.addresses[index] - range.addresses[0]), result);
            }
            seen[result]++;
            assert_true(result != ETWAS_RSEQ_CHANGED || seen[ETWAS_RSEQ_ABORTED] == 0);
            assert_true(result != ETWAS_RSEQ_ABORTED || seen[ETWAS_RSEQ_COMMITTED] == 0);
        }
        assert_true(seen[ETWAS_RSEQ_CHANGED] > 0);
        assert_true(seen[ETWAS_RSEQ_ABORTED] > 40);
        assert_true(seen[ETWAS_RSEQ_COMMITTED] > 0);
    }
}

#define STEP_TEST(test) cmocka_unit_test_setup_teardown(test, stay, move_freely)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STEP_TEST(a_signal_at_any_instruction_aborts_what_has_begun_and_not_committed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    (void)puts("skipped: built without restartable sequences");
    return 77;
}

#endif
