/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The program's call stack, frame by frame.
 *
 * Frames are found by call frame information on x86-64 (glibc 2.35), which programs have whether
 * they keep frame pointers or not; by frame pointers elsewhere, and over code without such
 * information, as code that was generated while the program runs. What is found for an address is
 * remembered in a table that threads share without a lock.
 *
 * Never a fault: only memory of the stack is read, and each page of it is asked for (a system call)
 * before the first read; what a thread has asked for it remembers. A chain that does not lead
 * upwards ends the stack, and so does anything that is not understood.
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

/* Comes after the outermost frame that is there: the stack goes on. No frame is at this address. */
#define HEAPTRACE_STACK_CUT UINT64_MAX

/*
 * Fills in the return addresses from the caller of this library outwards, at most `most` of them,
 * and behind these HEAPTRACE_STACK_CUT where there are more; returns how many there are, with it.
 * Images that were not yet seen are logged. May change errno.
 */
uint16_t heaptrace_stack(uint64_t *frames, uint16_t most);

/*
 * Forgets what was found for addresses: an image has gone, or those of a new file are to be seen.
 */
void heaptrace_stack_forget(void);

#endif
