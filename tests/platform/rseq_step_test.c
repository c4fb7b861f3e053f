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
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/rseq.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/processor.h"
#include "platform/rseq.h"

#if defined(__x86_64__)
#define PROGRAM_COUNTER(registers) ((registers).rip)
#define BREAKPOINT UINT64_C(0xcc)
#define BREAKPOINT_MASK UINT64_C(0xff)
#elif defined(__aarch64__)
#define PROGRAM_COUNTER(registers) ((registers).pc)
#define BREAKPOINT UINT64_C(0xd4200000)
#define BREAKPOINT_MASK UINT64_C(0xffffffff)
#endif

#if ETWAS_RSEQ

enum {
    OLD = 1000,
    NEW = 2000,
    FUNCTION_BYTES_MAXIMUM = 4096,
    STEPS_MAXIMUM = 1000000,
    INSTRUCTIONS_MAXIMUM = 1024
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
 * Committed after the signal: with a guard that had changed. Not committed, and the target changed:
 * half.
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
                                           .processor = etwas_processor_seen(),
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
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        be_traced(kind, known_to_kernel);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == ENDED_UNTRACED) {
        return 0;
    }
    assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    return child;
}

static int resume(pid_t child, enum __ptrace_request request, int signal_number)
{
    int status;

    assert_int_equal(ptrace(request, child, NULL, (void *)(intptr_t)signal_number), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static uint64_t program_counter(pid_t child, const uint64_t *replacement)
{
    struct user_regs_struct registers;
    struct iovec all = {.iov_base = &registers, .iov_len = sizeof registers};

    assert_int_equal(ptrace(PTRACE_GETREGSET, child, (void *)NT_PRSTATUS, &all), 0);
    if (replacement != NULL) {
        PROGRAM_COUNTER(registers) = *replacement;
        assert_int_equal(ptrace(PTRACE_SETREGSET, child, (void *)NT_PRSTATUS, &all), 0);
    }
    return PROGRAM_COUNTER(registers);
}

/*
 * The addresses of the instructions that a sequence passes, each once, in the order of the first
 * time.
 */
static uint32_t learn_instructions(uint32_t kind, uint64_t addresses[INSTRUCTIONS_MAXIMUM])
{
    const uint64_t first = (uint64_t)(uintptr_t)etwas_rseq_run;
    pid_t child = start_child(kind, false);
    uint32_t count = 0;
    int status = 0;

    if (child == 0) {
        return 0;
    }
    for (uint32_t step = 0; step < STEPS_MAXIMUM; step++) {
        uint64_t address;
        uint32_t index = 0;

        status = resume(child, PTRACE_SINGLESTEP, 0);
        if (!WIFSTOPPED(status)) {
            break;
        }
        address = program_counter(child, NULL);
        if (address < first || address >= first + FUNCTION_BYTES_MAXIMUM) {
            if (count > 0) {
                status = resume(child, PTRACE_CONT, 0);
                break;
            }
            continue;
        }
        while (index < count && addresses[index] != address) {
            index++;
        }
        if (index == count) {
            assert_true(count < INSTRUCTIONS_MAXIMUM);
            addresses[count++] = address;
        }
    }
    /* Between the steps a store-exclusive loses what its load has marked. */
    assert_true(WIFEXITED(status));
    assert_true(WEXITSTATUS(status) == ETWAS_RSEQ_COMMITTED ||
                WEXITSTATUS(status) == ETWAS_RSEQ_ABORTED);
    return count;
}

/*
 * Runs a sequence that gets a signal before it executes the instruction at `address`. NOT_PASSED:
 * it committed without coming there.
 */
static int result_with_signal_at(uint32_t kind, uint64_t address)
{
    pid_t child = start_child(kind, true);
    uint64_t code;
    int status;

    assert_true(child > 0);
    errno = 0;
    code = (uint64_t)ptrace(PTRACE_PEEKTEXT, child, (void *)(uintptr_t)address, NULL);
    assert_int_equal(errno, 0);
    assert_int_equal(ptrace(PTRACE_POKETEXT, child, (void *)(uintptr_t)address,
                            (void *)(uintptr_t)((code & ~BREAKPOINT_MASK) | BREAKPOINT)),
                     0);
    status = resume(child, PTRACE_CONT, 0);
    if (WIFEXITED(status)) {
        assert_int_equal(WEXITSTATUS(status), ETWAS_RSEQ_COMMITTED);
        return NOT_PASSED;
    }
    assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
    assert_int_equal(
        ptrace(PTRACE_POKETEXT, child, (void *)(uintptr_t)address, (void *)(uintptr_t)code), 0);
    (void)program_counter(child, &address);
    status = resume(child, PTRACE_CONT, SIGUSR1);
    assert_true(WIFEXITED(status));
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
    CPU_SET(etwas_processor_ask(), &one);
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
    static uint64_t addresses[INSTRUCTIONS_MAXIMUM];

    (void)state;
    etwas_processor_prepare();
    if (!etwas_rseq_prepare()) {
        skip();
    }
    for (uint32_t kind = 0; kind < 2; kind++) {
        uint32_t count = learn_instructions(kind, addresses);
        uint32_t seen[ENDED_WRONG] = {0};

        if (count == 0) {
            skip();
        }
        for (uint32_t index = 0; index < count; index++) {
            int result = result_with_signal_at(kind, addresses[index]);

            if (result == NOT_PASSED) {
                continue;
            }
            if (result != ETWAS_RSEQ_CHANGED && result != ETWAS_RSEQ_ABORTED &&
                result != ETWAS_RSEQ_COMMITTED) {
                fail_msg("kind %u, a signal at +0x%x: result %d", kind,
                         (unsigned)(addresses[index] - addresses[0]), result);
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
    (void)puts("built without restartable sequences");
    return 77;
}

#endif
