/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The file that holds the name of a session. Names are compared without regard to case. */
#ifndef ETWAS_REGISTRY_SESSION_NAME_H
#define ETWAS_REGISTRY_SESSION_NAME_H

#include <etwas/types.h>
#include <stdint.h>

#include "registry/held_file.h"

/*
 * Acquires the name for the session. `name`: 1 to ETWAS_REGISTRY_NAME_UNITS units and a 0. Errors
 * of etwas_held_acquire.
 */
uint32_t etwas_session_name_acquire(struct etwas_held_file *held, const etwas_wchar *name,
                                    const etwas_guid *session);

/*
 * Finds the session that has the name and that `is_it` accepts: a session that is about to be
 * refused its name may hold it for a moment. ERROR_NOT_FOUND; errors of etwas_held_read.
 */
uint32_t etwas_session_name_find(const etwas_wchar *name,
                                 bool (*is_it)(const etwas_guid *session, void *context),
                                 void *context);

#endif
