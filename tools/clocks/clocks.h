/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLOCKS_H
#define ETWAS_TOOLS_CLOCKS_H

/* What `etwas clocks` shows, and its three output forms. */

#include "print/output.h"

#include <etwas/clocks.h>
#include <etwas/etwas.h>

/* Where and when the clocks were examined. A text is "" if it is not known. */
struct etwas_clocks_machine {
    char host[65];
    char system[256];   /* "Linux 6.1.0 x86_64" */
    char model[128];    /* model of the processors, from the kernel */
    char examined[32];  /* UTC, ISO 8601 to the second */
    uint32_t sequences; /* ETWAS_SEQUENCES_*, from a trial */
};

struct etwas_clocks_view {
    const etwas_clock_report *report;
    const struct etwas_clocks_machine *machine;
    uint32_t chosen; /* bit n: source n was requested */
};

void etwas_clocks_machine_read(struct etwas_clocks_machine *machine);

/* Writes tables of at most 100 columns. */
void etwas_clocks_text(struct etwas_output *output, const struct etwas_clocks_view *view);

/* Writes its first three lines: which clock to use, what it costs, how wrong it can be. */
void etwas_clocks_text_answer(struct etwas_output *output, const struct etwas_clocks_view *view);

/* Writes the part of the text about the order across processors. */
void etwas_clocks_text_order(struct etwas_output *output, const struct etwas_clocks_view *view);

/* Writes one object on one line. */
void etwas_clocks_json(struct etwas_output *output, const struct etwas_clocks_view *view);

/* Writes one page that needs no other file and no network. It needs etwas_page_possible. */
void etwas_clocks_html(struct etwas_output *output, const struct etwas_clocks_view *view);

#endif
