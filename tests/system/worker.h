/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Shared by the tests of system providers' filters: a process that carries out orders, and the
 * orders.
 */
#ifndef ETWAS_TESTS_SYSTEM_WORKER_H
#define ETWAS_TESTS_SYSTEM_WORKER_H

#include <etwas/evntcons.h>
#include <sys/types.h>

#include "system/kernel_fixture.h"

enum {
    CALLS = 500,
    THREADS = 3,
    DATAGRAMS = 20,
    ENTER = 51,
    EXIT = 52,
    NOTHING = EVENT_TRACE_FLAG_NO_SYSCONFIG,
};

struct worker {
    pid_t process;
    int orders[2];
    int answers[2];
};

/* It waits for an order when this returns. */
void begin_worker(struct worker *worker);

/* A worker of that number; false: the kernel does not let us choose. */
bool begin_worker_with_number(struct worker *worker, pid_t number);

/*
 * Datagrams, calls of a number that nobody else makes, and a nap; threads, and then a process, that
 * call and nap as well. When it returns it has done it.
 */
void order(const struct worker *worker);

void end_worker(const struct worker *worker);

void send_datagrams(void);

/* Calls of getpgid that a process of the number has entered, or the exits of all its calls. */
uint32_t count_calls(const struct events *events, uint8_t type, uint32_t process_id);

uint32_t enable_with(etwas_trace_handle session, const etwas_guid *provider, uint64_t keywords,
                     uint32_t property, EVENT_FILTER_DESCRIPTOR *filters, uint32_t count);

EVENT_FILTER_DESCRIPTOR filter_of(uint32_t type, const void *data, size_t bytes);

#endif
