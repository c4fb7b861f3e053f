/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_SHOW_H
#define ETWAS_TOOLS_STEER_SHOW_H

/*
 * What runs, for people and for programs.
 */

#include "steer/running.h"

/* Sessions, then providers, a line for each. False: there was not enough memory. */
void etwas_steer_show_list(struct etwas_output *output, const struct etwas_steer_found *found);

/* All about a session. */
void etwas_steer_show_session(struct etwas_output *output,
                              const struct etwas_steer_found_session *session);

/* A JSON object a session; a JSON object a registration of a provider. */
void etwas_steer_json_session(struct etwas_output *output,
                              const struct etwas_steer_found_session *session);
void etwas_steer_json_provider(struct etwas_output *output, const struct etwas_steer_found *found,
                               const struct etwas_steer_found_provider *provider);

#endif
