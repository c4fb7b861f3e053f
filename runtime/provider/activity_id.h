/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The activity id of a thread (R196): thread-local, all 0 at first.
 */
#ifndef ETWAS_PROVIDER_ACTIVITY_ID_H
#define ETWAS_PROVIDER_ACTIVITY_ID_H

#include <etwas/types.h>

/* The calling thread's. Async-signal-safe. */
etwas_guid etwas_activity_id(void);

#endif
