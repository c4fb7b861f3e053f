/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The first records of a buffer, without reading more of it. */
#ifndef ETWAS_READER_BUFFER_BEGINNING_H
#define ETWAS_READER_BUFFER_BEGINNING_H

#include "reader/index.h"

enum {
    /* more than a header, since a compressed match may reach beyond it */
    ETWAS_BUFFER_BEGINNING_BYTES = 1024,
};

/* Reads the first bytes of the buffer's records, decompressed. Returns how many the file has. */
size_t etwas_buffer_beginning_read(struct etwas_trace *trace, const struct etwas_index_entry *entry,
                                   uint8_t bytes[ETWAS_BUFFER_BEGINNING_BYTES]);

/* Returns the kind of the buffer, an ETWAS_BUFFER_*, by its first record. */
uint32_t etwas_buffer_beginning_kind(struct etwas_trace *trace,
                                     const struct etwas_index_entry *entry);

#endif
