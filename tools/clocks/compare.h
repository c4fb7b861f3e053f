/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLOCKS_COMPARE_H
#define ETWAS_TOOLS_CLOCKS_COMPARE_H

/* `etwas clocks --compare A B`: shows two results of `etwas clocks --json` side by side. */

#include "clocks/format.h"

/*
 * One of the two. What a comparison does not show is 0. What the file lacks is NAN, or 0 for a
 * count. A clock that the file lacks is not available.
 */
struct etwas_clocks_side {
    const char *path;
    struct etwas_clocks_machine machine;
    etwas_clock_report report;
    struct etwas_clocks_order order[ETWAS_CLOCK_SOURCES];
};

/* Returns whether the command is built with a JSON reader. If not, prints a message. */
bool etwas_clocks_can_read(void);

/* Reads a result. Returns NULL, or what is wrong with the file as a static text. */
const char *etwas_clocks_read(struct etwas_clocks_side *side, const char *path);

/* Reads a result from a text in the same way. */
const char *etwas_clocks_read_text(struct etwas_clocks_side *side, const char *text, size_t bytes);

void etwas_clocks_compare_text(struct etwas_output *output, const struct etwas_clocks_side *a,
                               const struct etwas_clocks_side *b);

/* Writes one object on one line. */
void etwas_clocks_compare_json(struct etwas_output *output, const struct etwas_clocks_side *a,
                               const struct etwas_clocks_side *b);

#endif
