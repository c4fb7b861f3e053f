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

static void poke(pid_t child, uint64_t address, uint64_t code)
{
    assert_int_equal(
        ptrace(PTRACE_POKETEXT, child, (void *)(uintptr_t)address, (void *)(uintptr_t)code), 0);
}

/* The code at `address`, which a breakpoint takes the place of. */
static uint64_t put_breakpoint(pid_t child, uint64_t address)
{
    uint64_t code;

    errno = 0;
    code = (uint64_t)ptrace(PTRACE_PEEKTEXT, child, (void *)(uintptr_t)address, NULL);
    assert_int_equal(errno, 0);
    poke(child, address, (code & ~BREAKPOINT_MASK) | BREAKPOINT);
    return code;
}

#if defined(__x86_64__)

/*
 * An instruction's first two bytes. The child is a fork of this process, which has the same code in
 * the same place.
 */
__attribute__((no_sanitize_address)) static uint32_t own_code(uint64_t address)
{
    const volatile uint8_t *code = (const volatile uint8_t *)(uintptr_t)address;

    return code[0] | (uint32_t)code[1] << 8;
}

static bool is_system_call(uint32_t code)
{
    return code == 0x050f;
}

static int step_once(pid_t child, uint64_t address, uint32_t code)
{
    (void)address;
    (void)code;
    return resume(child, PTRACE_SINGLESTEP, 0);
}

#else

/*
 * An instruction. The child is a fork of this process, which has the same code in the same place.
 */
static uint32_t own_code(uint64_t address)
{
    return *(const volatile uint32_t *)(uintptr_t)address;
}

static bool is_system_call(uint32_t code)
{
    return (code & 0xffe0001f) == 0xd4000001;
}

static bool is_exclusive_load(uint32_t code)
{
    return (code & 0x3fe00000) == 0x08400000;
}

static bool is_exclusive_store(uint32_t code)
{
    return (code & 0x3fe00000) == 0x08000000;
}

/* b.cond: where it leads; else 0. */
static uint64_t branch_target(uint64_t address, uint32_t code)
{
    int64_t offset = ((int64_t)((uint64_t)code << 40) >> 45) * 4;

    return (code & 0xff000010) == 0x54000000 ? address + (uint64_t)offset : 0;
}

/*
 * From a load to behind the store and the branch that repeats both, or to where a branch between
 * them leads: a step takes the exclusive access away, so that the store would fail for ever.
 */
static int step_pair(pid_t child, uint64_t address)
{
    enum {
        LONGEST = 16
    };
    uint64_t other = 0;
    uint64_t end = address + 4;
    uint64_t other_code;
    uint64_t end_code;
    int status;

    while (!is_exclusive_store(own_code(end))) {
        uint64_t target = branch_target(end, own_code(end));

        other = target != 0 ? target : other;
        end += 4;
        assert_true(end < address + LONGEST * 4);
    }
    end += 4;
    end += (own_code(end) & 0x7f000000) == 0x35000000 ? 4 : 0; /* cbnz */
    other = other != 0 ? other : end;
    end_code = put_breakpoint(child, end);
    other_code = put_breakpoint(child, other);
    status = resume(child, PTRACE_CONT, 0);
    if (WIFSTOPPED(status)) {
        poke(child, other, other_code);
        poke(child, end, end_code);
    }
    return status;
}

static int step_once(pid_t child, uint64_t address, uint32_t code)
{
    return is_exclusive_load(code) ? step_pair(child, address)
                                   : resume(child, PTRACE_SINGLESTEP, 0);
}

#endif

int step_each(pid_t child, bool (*look)(void *context, const struct step_moment *moment),
              void *context)
{
    struct step_moment moment = {0};

    for (;;) {
        uint64_t address = program_counter(child, NULL);
        uint32_t code = own_code(address);
        int status;

        if (!look(context, &moment)) {
            assert_int_equal(kill(child, SIGKILL), 0);
            assert_int_equal(waitpid(child, &status, 0), child);
            return status;
        }
        status = step_once(child, address, code);
        if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) {
            return status;
        }
        moment.steps++;
        moment.after_a_system_call = is_system_call(code);
    }
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
    uint64_t code = put_breakpoint(child, address);
    int status;

    status = resume(child, PTRACE_CONT, 0);
    *passed = WIFSTOPPED(status);
    if (!*passed) {
        return status;
    }
    assert_int_equal(WSTOPSIG(status), SIGTRAP);
    poke(child, address, code);
    (void)program_counter(child, &address);
    return resume(child, PTRACE_CONT, SIGUSR1);
}
