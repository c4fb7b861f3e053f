/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PAGE_H
#define ETWAS_TOOLS_PAGE_H

/*
 * One HTML page that needs no other file and no network: data as JSON, and the scripts that draw
 * it, d3 among them. Its content security policy names these scripts and its style by their hashes,
 * and lets nothing else run or load.
 */

#include "page/files.h"

#include "print/output.h"

/*
 * Whether pages can be written; false after a sentence on standard error on what `command` was
 * built without.
 */
bool etwas_page_possible(const char *command);

/*
 * The page up to its data, which `scripts` draw; behind the last of them is one without text. What
 * is written from here to the end is one value of JSON; no string in it can end the element that it
 * is in.
 */
void etwas_page_begin(struct etwas_output *output, const char *title,
                      const struct etwas_page_file *scripts);
void etwas_page_end(struct etwas_output *output);

#endif
