/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The template of a private session (registry/session_entry.h): what its host says of it, and what a session of another
 * process is made of by it.
 */
#ifndef ETWAS_SHARING_PRIVATE_TEMPLATE_H
#define ETWAS_SHARING_PRIVATE_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/session_entry.h"
#include "session/configuration.h"

/* Of a configuration that is complete, whose file name is one from `/` on. The caller's to free. NULL: no memory. */
struct etwas_registry_template *etwas_private_template_make(
    const struct etwas_configuration *configuration);

/* A ControlTrace other than STOP: what a session that starts now begins with, and how often what was asked for. */
void etwas_private_template_change(struct etwas_registry_entry *entry, uint32_t control_code,
                                   uint32_t flush_timer, const etwas_wchar *file_name);

/* Whether it is for this process. */
bool etwas_private_template_matches(const struct etwas_registry_template *private);

/*
 * A configuration for a session of this process, complete. Errors of etwas_configuration_complete; ERROR_INVALID_PARAMETER:
 * what a template of another process says may be wrong.
 */
uint32_t etwas_private_template_configure(const struct etwas_registry_entry *entry,
                                          struct etwas_configuration *configuration);

#endif
