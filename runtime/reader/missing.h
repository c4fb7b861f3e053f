/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Which buffers of a file are missing. */
#ifndef ETWAS_READER_MISSING_H
#define ETWAS_READER_MISSING_H

#include "reader/index.h"

struct etwas_trace;

/* Reports what the sequence numbers and the header's count show to be missing or there twice.
 * `index` is by session and sequence number. */
void etwas_missing_check(struct etwas_trace *trace, const struct etwas_index *index);

#endif
