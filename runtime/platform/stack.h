/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The call stack of the calling thread, by frame pointers.
 *
 * A frame pointer is followed only upwards, and only inside a stack that is known to be mapped:
 *
 *     a thread's own stack    up to its thread-local data, which glibc puts at its end; of the main
 *                             thread the mapping of the stack the process began with
 *     its signal stack        while a handler runs on it; from there once to the thread's own
 *
 * Code without frame pointers, whose register holds anything, therefore ends a stack early or makes
 * some of its frames wrong, and never faults. On any other stack, such as a coroutine's, only the
 * caller is found.
 */
#ifndef ETWAS_PLATFORM_STACK_H
#define ETWAS_PLATFORM_STACK_H

#include <stdint.h>

enum {
    ETWAS_STACK_FRAMES = 192,
};

/*
 * Replaces the outermost frame of a stack that continues (docs/reference/file-format.md). No code
 * has that address.
 */
#define ETWAS_STACK_CUT UINT64_MAX

/*
 * Stores return addresses, the innermost first: that of the frame that has `inside` among its
 * variables, and those of its callers; the last is ETWAS_STACK_CUT if there are more. Returns their
 * number. Takes no lock, allocates nothing; makes a system call when a thread walks for the first
 * time, or is on another stack than its own. Async-signal-safe.
 */
uint32_t etwas_stack_walk(const void *inside, uint64_t frames[ETWAS_STACK_FRAMES]);

/*
 * Prepares a fork. Its child keeps the stack of the calling thread, and the child's system reports
 * that it is the first thread.
 */
void etwas_stack_before_fork(void);

#endif
