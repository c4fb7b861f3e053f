/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Interrupting a child before each of its instructions in turn: this process traces it, first step
 * by step, to learn the instructions, then with a breakpoint at one of them, where the child gets
 * SIGUSR1.
 *
 * A child calls PTRACE_TRACEME and raises SIGSTOP before what is looked at. While it is stepped
 * through, its rseq area must be one that the kernel does not know, since a step aborts a sequence;
 * afterwards it may raise SIGSTOP once more and is left to run.
 */
#ifndef ETWAS_TEST_SUPPORT_STEP_H
#define ETWAS_TEST_SUPPORT_STEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    STEP_INSTRUCTIONS_MAXIMUM = 4096
};

/* Code, and its instructions that were passed, each once, in the order of the first time. */
struct step_range {
    uint64_t first;
    uint64_t bytes;
    uint64_t addresses[STEP_INSTRUCTIONS_MAXIMUM];
    uint32_t count;
};

/* Waits for the child's SIGSTOP. False: it ended with `untraced`, since tracing is forbidden. */
bool step_await(pid_t child, int untraced);

/*
 * Steps through the child until it raises SIGSTOP again, or ends; returns its status. Before each
 * instruction, and once at the end, `look` is called; what it returns as false is enough: the child
 * is killed there. Where the architecture stores by pairs of exclusive instructions, which a step
 * would part, such a pair is one instruction.
 */
struct step_moment {
    uint64_t steps;           /* so many instructions have been executed */
    bool after_a_system_call; /* what they did is seen elsewhere, too */
};
int step_each(pid_t child, bool (*look)(void *context, const struct step_moment *moment),
              void *context);

/* Steps through the child. Returns its status at its end. */
int step_learn(pid_t child, struct step_range *range);

/*
 * Sends SIGUSR1 to the child before it executes the instruction at `address`, which it comes to or
 * not. Returns its status at its end.
 */
int step_signal_at(pid_t child, uint64_t address, bool *passed);

#endif
