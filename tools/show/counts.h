/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHOW_COUNTS_H
#define ETWAS_TOOLS_SHOW_COUNTS_H

/*
 * The counts of a file for `etwas stat`, as text and as JSON.
 */

#include "analyse/counts/counts.h"

/* Writes PROVIDER/EVENT. Returns false, and writes nothing, if the kind has no name. */
bool etwas_counts_print_name(struct etwas_output *output, enum etwas_text_style style,
                             const struct etwas_counts_kind *kind);

/* Writes the name of a kind, or its ids if it has no name. */
void etwas_counts_print_title(struct etwas_output *output, enum etwas_text_style style,
                              const struct etwas_counts_kind *kind);

/*
 * Write the counts of a file. `result` is what etwas_input_process returned. If `is_verbose`, the
 * text includes the header of the file, and its clocks.
 */
void etwas_counts_text(struct etwas_output *output, const struct etwas_counts *counts,
                       const struct etwas_input *input, int result, bool is_verbose);
void etwas_counts_json(struct etwas_output *output, const struct etwas_counts *counts,
                       const struct etwas_input *input, int result);

/*
 * Write JSON objects that the caller closes: the members whose size does not depend on the
 * processors and kinds, and one processor.
 */
void etwas_counts_json_head(struct etwas_output *output, const struct etwas_counts *counts,
                            const struct etwas_input *input, int result);
void etwas_counts_json_processor(struct etwas_output *output, const struct etwas_counts *counts,
                                 const struct etwas_input *input, uint32_t number);

#endif
