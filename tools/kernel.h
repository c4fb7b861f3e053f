/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_KERNEL_H
#define ETWAS_TOOLS_KERNEL_H

/*
 * The kernel's events that tell who ran where: numbers picked out of their payloads, which are those of
 * a 64-bit system.
 */

#include <etwas/evntcons.h>

#include <stdbool.h>
#include <stdint.h>

enum etwas_kernel_kind {
    ETWAS_KERNEL_SWITCH,       /* `thread` came, `old_thread` gave way */
    ETWAS_KERNEL_READY,        /* `thread` can run from now on */
    ETWAS_KERNEL_THREAD_START, /* `thread` of `process` begins */
    ETWAS_KERNEL_THREAD_END,
    ETWAS_KERNEL_THREAD_HERE, /* was there when the trace began, or ended */
};

struct etwas_kernel_event {
    enum etwas_kernel_kind kind;
    uint32_t processor;
    uint32_t thread;
    uint32_t process;
    uint32_t old_thread;
    bool old_is_ready; /* it could have run on */
    bool old_has_ended;
};

/* False: it is none of these, or too short to be one. */
bool etwas_kernel_read(const EVENT_RECORD *record, struct etwas_kernel_event *event);

/* Is it about a process, which etwas_kernel_process reads? */
bool etwas_kernel_is_process(const EVENT_RECORD *record);

#endif
