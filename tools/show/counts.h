/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHOW_COUNTS_H
#define ETWAS_TOOLS_SHOW_COUNTS_H

/*
 * What was counted of a file, as `etwas stat` shows it: in words and as JSON.
 */

#include "analyse/counts/counts.h"

/* Writes PROVIDER/EVENT; false, and nothing: it has no name. */
bool etwas_counts_print_name(struct etwas_output *output, enum etwas_text_style style,
                             const struct etwas_counts_kind *kind);

/* Writes its name, or the ids that it has in place of one. */
void etwas_counts_print_title(struct etwas_output *output, enum etwas_text_style style,
                              const struct etwas_counts_kind *kind);

/*
 * `result` is what etwas_input_process returned. `is_verbose`: also what the header says, and how
 * the clocks ran.
 */
void etwas_counts_text(struct etwas_output *output, const struct etwas_counts *counts,
                       const struct etwas_input *input, int result, bool is_verbose);
void etwas_counts_json(struct etwas_output *output, const struct etwas_counts *counts,
                       const struct etwas_input *input, int result);

/*
 * Objects that are still open: all but what grows with the processors and kinds; and a processor.
 */
void etwas_counts_json_head(struct etwas_output *output, const struct etwas_counts *counts,
                            const struct etwas_input *input, int result);
void etwas_counts_json_processor(struct etwas_output *output, const struct etwas_counts *counts,
                                 const struct etwas_input *input, uint32_t number);

#endif
