/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHOW_WHY_H
#define ETWAS_TOOLS_SHOW_WHY_H

/*
 * Where the time of instances went, as text and JSON. The keys are part of the commands' interface.
 */

#include "analyse/why/why.h"

/* ---- why_text.c, why_json.c ---- */

void etwas_why_text(struct etwas_output *output, const struct etwas_why *why);
void etwas_why_json(struct etwas_output *output, const struct etwas_why *why, int result);

/* ---- why_blocked_on.c ---- */

/* Writes a frame of a block's stack, as etwas_addresses_print does. */
void etwas_why_print_frame(struct etwas_output *output, enum etwas_text_style style,
                           const struct etwas_why *why, const struct etwas_why_block *block,
                           uint32_t index);

/* Writes "TCP 127.0.0.1:80->127.0.0.1:4000". */
void etwas_why_print_socket(struct etwas_output *output, const struct etwas_kernel_socket *socket);

/* Writes " in fsync on /tmp/a", as far as it is known. */
void etwas_why_print_what(struct etwas_output *output, const struct etwas_why *why,
                          const struct etwas_why_block *block);

/* Writes a line of the instance's disk requests, if there were any. */
void etwas_why_print_requests(struct etwas_output *output, const struct etwas_why_chosen *chosen);

void etwas_why_json_requests(struct etwas_output *output, const struct etwas_why_chosen *chosen);

/* Writes a line of the unrecorded events that would show what it was blocked on, if any. */
void etwas_why_print_missing(struct etwas_output *output, const struct etwas_why *why,
                             const struct etwas_why_chosen *chosen);

#endif
