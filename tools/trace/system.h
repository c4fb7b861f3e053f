/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_SYSTEM_H
#define ETWAS_TOOLS_TRACE_SYSTEM_H

/*
 * The system on which a trace was recorded. The header of a file that etwas writes has a version of
 * Windows, since readers of Windows know what follows by it, and counts the streams of events as
 * processors, since they ask for more than the highest index. So neither is shown for such a file.
 */

#include "print/output.h"
#include "trace/input.h"

/*
 * "Linux" if the file says that etwas wrote it, or the header's version, as 10.0.19045. The file
 * has been processed.
 */
void etwas_trace_print_system(struct etwas_output *output, const struct etwas_input *input);

/*
 * Prints, behind a blank and in parentheses, what the fields of the header's event do not say of
 * the system. Nothing for another event, and of a file of another system.
 */
void etwas_trace_print_header_words(struct etwas_output *output, const struct etwas_input *input,
                                    const EVENT_RECORD *record);

#endif
