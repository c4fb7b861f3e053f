/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The sessions of an appended file. */
#ifndef ETWAS_READER_APPENDED_H
#define ETWAS_READER_APPENDED_H

#include <stdbool.h>

#include "reader/index.h"

struct etwas_trace;

/*
 * Tells the sessions of an appended file apart. `index` is in the order of the file. False without
 * memory.
 */
bool etwas_index_find_sessions(struct etwas_trace *trace, struct etwas_index *index);

#endif
