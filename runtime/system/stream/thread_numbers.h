/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The two numbers of a thread. The kernel's own is in the fields of tracepoints, and filters
 * compare it. The number in the PID namespace of the logger is in the origin of every record, and
 * in the session's events. In the first namespace they are the same. In any other a sample of a
 * tracepoint has both numbers of its own thread, and a switch both of the thread that comes next
 * (cpu_stream.h); they are remembered for samples that have only the kernel's number of another
 * thread.
 */
#ifndef ETWAS_SYSTEM_STREAM_THREAD_NUMBERS_H
#define ETWAS_SYSTEM_STREAM_THREAD_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "system/stream/event_join.h"
#include "system/unavailability.h"

enum {
    ETWAS_NO_NUMBER = -1 /* as the kernel writes it for a thread that is gone */
};

struct etwas_thread_numbers {
    uint64_t namespace_id; /* the inode of the namespace; 0: not known */
    /* Numbers in the namespace by the kernel's; NULL: they are the same. */
    struct etwas_event_join *known;
};

/* Opens the table for the namespace of the calling thread. Returns false if there is no memory. */
bool etwas_thread_numbers_open(struct etwas_thread_numbers *numbers);
void etwas_thread_numbers_close(struct etwas_thread_numbers *numbers);

/* Remembers both numbers of a thread; `ours` is 0 if it is outside of the namespace. */
void etwas_thread_numbers_learn(struct etwas_thread_numbers *numbers, uint32_t kernels,
                                uint32_t ours);

/* Returns the number in the namespace; 0: the thread is outside of it, or has not been seen. */
uint32_t etwas_thread_number(const struct etwas_thread_numbers *numbers, uint32_t kernels);

/*
 * Finds the kernel's number of the calling thread. Returns false if that failed; *reason says why.
 */
bool etwas_thread_own_number(const struct etwas_thread_numbers *numbers, uint32_t *kernels,
                             struct etwas_unavailability *reason);

#endif
