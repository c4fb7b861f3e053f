/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Whether other processes see this one, and which of its sessions they log into. */
#ifndef ETWAS_SHARING_SHARING_H
#define ETWAS_SHARING_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#include "session/configuration.h"

/* Whether the library was built with it. */
bool etwas_sharing_is_built(void);

/*
 * Whether this process takes part by itself: unless ETWAS_SHARED in the environment is 0, the program has said no, or it has
 * another user's rights (AT_SECURE), and then should not believe what lies in that user's folder.
 */
bool etwas_sharing_is_wanted(void);

/* What became of the last attempt to take part, or to share a session, for etwas_sharing_state. */
void etwas_sharing_store_refusal(uint32_t code);

/* Whether it takes part, by that or because it asked to. */
bool etwas_sharing_takes_part(void);

/*
 * etwas_configuration_complete, of a session that is shared if the process takes part and a session like this can be;
 * else this process alone logs into it, and others find it still, unless it is a private one.
 */
uint32_t etwas_sharing_complete(struct etwas_configuration *configuration);

#endif
