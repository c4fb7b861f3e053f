/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The two numbers of a thread: the kernel's own, which tracepoints have in their fields and filters compare,
 * and that of the PID namespace of who logs, which is in the origin of every record and which the
 * session's events say. In the first namespace they are one. In another a tracepoint's sample has both of
 * its own thread, and a switch both of who comes next (cpu_stream.h); that is remembered, for threads of which
 * another sample has the kernel's number alone.
 */
#ifndef ETWAS_SYSTEM_STREAM_THREAD_NUMBERS_H
#define ETWAS_SYSTEM_STREAM_THREAD_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "system/stream/join.h"
#include "system/unavailability.h"

enum {
    ETWAS_NO_NUMBER = -1 /* as the kernel writes it, of a thread that is gone */
};

struct etwas_thread_numbers {
    uint64_t namespace_id;    /* its inode; 0: not known */
    struct etwas_join *known; /* by the kernel's number; NULL: they are the same */
};

/* Of the calling thread. False: no memory. */
bool etwas_thread_numbers_open(struct etwas_thread_numbers *numbers);
void etwas_thread_numbers_close(struct etwas_thread_numbers *numbers);

/* Number 0 in the namespace: it is outside. */
void etwas_thread_numbers_learn(struct etwas_thread_numbers *numbers, uint32_t kernels,
                                uint32_t ours);

/* 0: it is outside, or has never been seen. */
uint32_t etwas_thread_number(const struct etwas_thread_numbers *numbers, uint32_t kernels);

/* The kernel's number of the calling thread. */
bool etwas_thread_own_number(const struct etwas_thread_numbers *numbers, uint32_t *kernels,
                             struct etwas_unavailability *reason);

#endif
