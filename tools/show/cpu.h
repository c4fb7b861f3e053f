/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHOW_CPU_H
#define ETWAS_TOOLS_SHOW_CPU_H

/*
 * Processor times as text, JSON and CSV. Keys and columns are part of the commands' interface.
 */

#include "analyse/cpu/cpu.h"

void etwas_cpu_text(struct etwas_output *output, const struct etwas_cpu *cpu,
                    const struct etwas_cpu_groups *groups, const struct etwas_input *input,
                    int result);

/* Writes one JSON object. Its keys are documented in docs/reference/json.md. */
void etwas_cpu_json(struct etwas_output *output, const struct etwas_cpu *cpu,
                    const struct etwas_cpu_groups *groups, const struct etwas_input *input,
                    int result);

/*
 * Write JSON objects that the caller closes: the members before the processors, a processor, and a
 * process without its threads.
 */
void etwas_cpu_json_head(struct etwas_output *output, const struct etwas_cpu *cpu,
                         const struct etwas_input *input, int result);
void etwas_cpu_json_processor(struct etwas_output *output, const struct etwas_cpu *cpu,
                              uint32_t number);
void etwas_cpu_json_group(struct etwas_output *output, const struct etwas_cpu_group *group);

/* Writes a line for each thread. The first file gets a title line. */
void etwas_cpu_csv(struct etwas_output *output, const struct etwas_cpu_groups *groups,
                   const struct etwas_input *input);

#endif
