/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_SHOW_H
#define ETWAS_TOOLS_STEER_SHOW_H

/* Prints what is running, as text and as JSON. */

#include "steer/running.h"

/*
 * Prints a line for each session, then for each provider. Returns false if memory was not
 * sufficient.
 */
void etwas_steer_show_list(struct etwas_output *output, const struct etwas_steer_found *found);

/* Prints all that is known of a session. */
void etwas_steer_show_session(struct etwas_output *output,
                              const struct etwas_steer_found_session *session);

/* Print a JSON object for a session, or for a registration of a provider. */
void etwas_steer_json_session(struct etwas_output *output,
                              const struct etwas_steer_found_session *session);
void etwas_steer_json_provider(struct etwas_output *output, const struct etwas_steer_found *found,
                               const struct etwas_steer_found_provider *provider);

#endif
