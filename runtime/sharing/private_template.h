/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The template of a private session (registry/session_entry.h): how its host makes it, and how
 * another process makes a configuration of it.
 */
#ifndef ETWAS_SHARING_PRIVATE_TEMPLATE_H
#define ETWAS_SHARING_PRIVATE_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/session_entry.h"
#include "session/configuration.h"

/*
 * Makes the template of a complete configuration, whose file name is absolute. Freed by the caller.
 * NULL: no memory.
 */
struct etwas_registry_template *etwas_private_template_make(
    const struct etwas_configuration *configuration);

/*
 * Records a ControlTrace other than STOP in the entry's template: the values that new instances
 * begin with, and how often FLUSH and its like were asked for.
 */
void etwas_private_template_change(struct etwas_registry_entry *entry, uint32_t control_code,
                                   uint32_t flush_timer, const etwas_wchar *file_name);

/* Whether the template's filters let this process through. */
bool etwas_private_template_matches(const struct etwas_registry_template *private);

/*
 * Fills a complete configuration for an instance in this process. Errors of
 * etwas_configuration_complete; ERROR_INVALID_PARAMETER: the template, which another process has
 * written, says what cannot be.
 */
uint32_t etwas_private_template_configure(const struct etwas_registry_entry *entry,
                                          struct etwas_configuration *configuration);

#endif
