/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Callbacks for the classic events of one class (SetTraceCallback), for all traces of the process.
 */
#ifndef ETWAS_READER_CLASS_CALLBACK_H
#define ETWAS_READER_CLASS_CALLBACK_H

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <stdbool.h>

/* Number of callbacks. Written under the lock of the trace table, and also loaded without it. */
extern uint32_t etwas_class_callback_count;

static inline bool etwas_class_callbacks_exist(void)
{
    return ck_pr_load_32(&etwas_class_callback_count) != 0;
}

/* Returns the callback of a class, or NULL. Takes the lock of the trace table. */
PEVENT_CALLBACK etwas_class_callback_of(const etwas_guid *class_guid);

#endif
