/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Callbacks for the classic events of one class (SetTraceCallback), for all traces of the process.
 */
#ifndef ETWAS_READER_CLASS_CALLBACK_H
#define ETWAS_READER_CLASS_CALLBACK_H

#include <etwas/evntrace.h>
#include <stdbool.h>

/* Whether there is any: one load. */
bool etwas_class_callbacks_exist(void);

/* The callback of a class; NULL: none. */
PEVENT_CALLBACK etwas_class_callback_of(const etwas_guid *class_guid);

#endif
