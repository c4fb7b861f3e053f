/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Whether this process shares sessions with others. */
#ifndef ETWAS_SHARING_SHARING_H
#define ETWAS_SHARING_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#include "session/configuration.h"

/*
 * Whether this process joins by itself. It does not if ETWAS_SHARED in the environment is 0, if the
 * program has declined, or if it has another user's rights (AT_SECURE) and so should not trust that
 * user's folder.
 */
bool etwas_sharing_is_wanted(void);

/* Stores why the last attempt to join, or to share a session, failed, for etwas_sharing_state. */
void etwas_sharing_store_refusal(uint32_t code);

/*
 * Stores why files could not be restored. ERROR_SUCCESS clears that code again, unless another code
 * has been stored since. `stored` is the caller's own code, 0 at first.
 */
void etwas_sharing_store_restored(uint32_t *stored, uint32_t code);

/* Whether the process joins by itself, or has joined on its own request. */
bool etwas_sharing_takes_part(void);

/*
 * Completes a configuration as etwas_configuration_complete does. The session is shared if the
 * process takes part and its mode allows that. Otherwise only this process logs into it, and other
 * processes find it unless it is private.
 */
uint32_t etwas_sharing_complete(struct etwas_configuration *configuration);

#endif
