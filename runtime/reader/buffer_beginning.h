/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What a buffer begins with, without reading more of it. */
#ifndef ETWAS_READER_BUFFER_BEGINNING_H
#define ETWAS_READER_BUFFER_BEGINNING_H

#include "reader/index.h"

enum {
    ETWAS_BUFFER_BEGINNING_BYTES = 1024, /* more than a header: a match may go on behind it */
};

/* The first bytes of a buffer's records, as far as the file gives them. Returns how many. */
size_t etwas_buffer_beginning_read(struct etwas_trace *trace, const struct etwas_index_entry *entry,
                                   uint8_t bytes[ETWAS_BUFFER_BEGINNING_BYTES]);

/* ETWAS_BUFFER_*. */
uint32_t etwas_buffer_beginning_kind(struct etwas_trace *trace,
                                     const struct etwas_index_entry *entry);

#endif
