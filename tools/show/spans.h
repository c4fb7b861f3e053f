/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHOW_SPANS_H
#define ETWAS_TOOLS_SHOW_SPANS_H

/*
 * Spans as text, JSON and CSV. Keys and columns are part of the commands' interface.
 */

#include "analyse/spans/spans.h"

/* The quantiles that are shown, per mille, and their names in JSON and CSV. */
extern const uint32_t etwas_spans_quantiles[ETWAS_SPANS_QUANTILES];
extern const char *const etwas_spans_quantile_names[ETWAS_SPANS_QUANTILES];

void etwas_spans_text(struct etwas_output *output, const struct etwas_spans_request *request);
void etwas_spans_json(struct etwas_output *output, const struct etwas_spans_request *request,
                      int result);
void etwas_spans_csv(struct etwas_output *output, const struct etwas_spans_request *request);

/* Writes the counts of all spans, as further members of a JSON object. */
void etwas_spans_json_counts(struct etwas_output *output,
                             const struct etwas_spans_request *request);

/* Write a class, and a tree, as objects that the caller closes. */
void etwas_spans_json_class(struct etwas_output *output, const struct etwas_spans_request *request,
                            const struct etwas_spans_class *its);
void etwas_spans_json_tree(struct etwas_output *output, const struct etwas_spans_request *request,
                           const struct etwas_spans_tree *tree);

#endif
