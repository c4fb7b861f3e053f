/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The compressor of buffers: what xpress.h decodes. */
#ifndef ETWAS_ETL_XPRESS_ENCODE_H
#define ETWAS_ETL_XPRESS_ENCODE_H

#include <stdint.h>

enum {
    /* What it needs to work with, aligned for u32. What is in it means nothing before or after. */
    ETWAS_XPRESS_MEMORY_BYTES = 16384
};

/*
 * Compresses `byte_count` bytes, 16 MiB at most. Returns how many were made in `compressed`, or 0:
 * they and 32 more do not fit into `room`, of which nothing behind is touched. The ranges do not
 * overlap.
 */
uint32_t etwas_xpress_encode(const void *bytes, uint32_t byte_count, void *compressed,
                             uint32_t room, void *memory);

#endif
