/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHOW_HOT_H
#define ETWAS_TOOLS_SHOW_HOT_H

/*
 * The functions that the processors ran, as text and JSON.
 */

#include "analyse/hot/hot.h"

void etwas_hot_text(struct etwas_output *output, const struct etwas_hot *hot, uint32_t limit,
                    const struct etwas_input *input);

/* Writes one JSON object. Its keys are documented in docs/reference/json.md. */
void etwas_hot_json(struct etwas_output *output, const struct etwas_hot *hot, uint32_t limit,
                    const struct etwas_input *input, int result);

#endif
