/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The program's call stack, frame by frame.
 *
 * On x86-64 (glibc 2.35), frames are found by call frame information, which programs contain with
 * or without frame pointers. Elsewhere, and in code without such information, such as generated
 * code, they are found by frame pointers. The result for an address is cached in a table that
 * threads share without a lock.
 *
 * Walking the stack never faults. It reads only memory of the stack, and probes each page with a
 * system call before the first read. A thread remembers the pages that it has probed. A frame that
 * does not lead upwards or is not understood ends the stack.
 *
 *   function                 may be called by
 *   heaptrace_stack          any thread, signal handlers
 *   heaptrace_stack_forget   any thread, signal handlers
 */
#ifndef ETWAS_HEAPTRACE_STACK_H
#define ETWAS_HEAPTRACE_STACK_H

#include <stdint.h>

enum {
    HEAPTRACE_MOST_FRAMES = 128
};

/* Follows the outermost frame that was recorded if the stack goes on. No frame has this address. */
#define HEAPTRACE_STACK_CUT UINT64_MAX

/*
 * Stores the return addresses, from the caller of this library outwards, at most `most` of them.
 * HEAPTRACE_STACK_CUT follows if there are more. Returns the number of values, including that one.
 * Logs the images that are new. May change errno.
 */
uint16_t heaptrace_stack(uint64_t *frames, uint16_t most);

/*
 * Clears the cache of addresses, because an image was unloaded or a new file needs the images
 * again.
 */
void heaptrace_stack_forget(void);

#endif
