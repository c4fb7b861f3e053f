/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "support/step.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#if defined(__x86_64__)
#define PROGRAM_COUNTER(registers) ((registers).rip)
#define BREAKPOINT UINT64_C(0xcc)
#define BREAKPOINT_MASK UINT64_C(0xff)
#elif defined(__aarch64__)
#define PROGRAM_COUNTER(registers) ((registers).pc)
#define BREAKPOINT UINT64_C(0xd4200000)
#define BREAKPOINT_MASK UINT64_C(0xffffffff)
#endif

enum {
    STEPS_MAXIMUM = 1000000
};

bool step_await(pid_t child, int untraced)
{
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == untraced) {
        return false;
    }
    assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    return true;
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

static void note(struct step_range *range, uint64_t address)
{
    uint32_t index = 0;

    while (index < range->count && range->addresses[index] != address) {
        index++;
    }
    if (index == range->count) {
        assert_true(range->count < STEP_INSTRUCTIONS_MAXIMUM);
        range->addresses[range->count++] = address;
    }
}

int step_learn(pid_t child, struct step_range *range)
{
    for (uint32_t step = 0; step < STEPS_MAXIMUM; step++) {
        int status = resume(child, PTRACE_SINGLESTEP, 0);
        uint64_t address;

        if (!WIFSTOPPED(status)) {
            return status;
        }
        if (WSTOPSIG(status) == SIGSTOP) {
            break;
        }
        address = program_counter(child, NULL);
        if (address - range->first < range->bytes) {
            note(range, address);
        }
    }
    return resume(child, PTRACE_CONT, 0);
}

int step_signal_at(pid_t child, uint64_t address, bool *passed)
{
    uint64_t code;
    int status;

    errno = 0;
    code = (uint64_t)ptrace(PTRACE_PEEKTEXT, child, (void *)(uintptr_t)address, NULL);
    assert_int_equal(errno, 0);
    assert_int_equal(ptrace(PTRACE_POKETEXT, child, (void *)(uintptr_t)address,
                            (void *)(uintptr_t)((code & ~BREAKPOINT_MASK) | BREAKPOINT)),
                     0);
    status = resume(child, PTRACE_CONT, 0);
    *passed = WIFSTOPPED(status);
    if (!*passed) {
        return status;
    }
    assert_int_equal(WSTOPSIG(status), SIGTRAP);
    assert_int_equal(
        ptrace(PTRACE_POKETEXT, child, (void *)(uintptr_t)address, (void *)(uintptr_t)code), 0);
    (void)program_counter(child, &address);
    return resume(child, PTRACE_CONT, SIGUSR1);
}
