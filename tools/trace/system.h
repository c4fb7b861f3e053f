/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_SYSTEM_H
#define ETWAS_TOOLS_TRACE_SYSTEM_H

/*
 * The system on which a trace was recorded. A file that etwas writes has a Windows version in its
 * header, since readers of Windows derive the format from it. It also counts event streams as
 * processors, since those readers need a count above the highest index. Neither is shown for such a
 * file.
 */

#include "print/output.h"
#include "trace/input.h"

/*
 * Prints "Linux" if etwas wrote the file, else the header's version, such as 10.0.19045. The file
 * must have been processed.
 */
void etwas_trace_print_system(struct etwas_output *output, const struct etwas_input *input);

/*
 * Prints, after a space and in parentheses, the system that the header event's fields do not show.
 * Prints nothing for other events, and in files of another system.
 */
void etwas_trace_print_header_words(struct etwas_output *output, const struct etwas_input *input,
                                    const EVENT_RECORD *record);

#endif
