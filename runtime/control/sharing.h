/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Whether other processes see this one, and which of its sessions they log into. */
#ifndef ETWAS_CONTROL_SHARING_H
#define ETWAS_CONTROL_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#include "session/configuration.h"

/*
 * Whether this process takes part by itself: ETWAS_SHARED in the environment, which a program that has another user's
 * rights does not ask.
 */
bool etwas_sharing_is_wanted(void);

/* Whether it takes part, by that or because it asked to. */
bool etwas_sharing_takes_part(void);

/*
 * etwas_configuration_complete, of a session that is shared if the process takes part and a session like this can be;
 * else it is of this process alone.
 */
uint32_t etwas_sharing_complete(struct etwas_configuration *configuration);

#endif
