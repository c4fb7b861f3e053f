/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PAGE_H
#define ETWAS_TOOLS_PAGE_H

/*
 * One HTML page that needs no other file and no network: data as JSON, and the scripts that draw
 * it, including d3. Its content security policy has the hashes of these scripts and its style, and
 * allows nothing else to run or load.
 */

#include "page/files.h"

#include "print/output.h"

/*
 * Returns whether pages can be written. If not, prints on standard error what `command` was built
 * without.
 */
bool etwas_page_possible(const char *command);

/*
 * Writes the page up to its data, which `scripts` draw; an entry without text ends them. The output
 * from here to the end is one value of JSON, whose strings cannot end the element.
 */
void etwas_page_begin(struct etwas_output *output, const char *title,
                      const struct etwas_page_file *scripts);
void etwas_page_end(struct etwas_output *output);

#endif
