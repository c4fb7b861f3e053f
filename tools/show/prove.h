/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHOW_PROVE_H
#define ETWAS_TOOLS_SHOW_PROVE_H

/*
 * The proof of a session, as text and JSON.
 */

#include "analyse/prove/prove.h"

/* Writes the table of the kernel's event sources. */
void etwas_prove_sources(struct etwas_output *output, const struct etwas_prove_session *session);

void etwas_prove_text(struct etwas_output *output, const struct etwas_prove_session *session);
void etwas_prove_json(struct etwas_output *output, const struct etwas_prove_session *session);

/* Writes an object that the caller closes, without the sources and kinds of records. */
void etwas_prove_json_head(struct etwas_output *output, const struct etwas_prove_session *session);

/* Writes the account of a source on one processor as an object. */
void etwas_prove_json_account(struct etwas_output *output,
                              const struct etwas_prove_account *account);

#endif
