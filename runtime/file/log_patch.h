/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Small changes to what is in a log file already: sequence numbers and the mark of the last buffer.
 * Each is a few bytes at their place, through the page cache.
 */
#ifndef ETWAS_FILE_LOG_PATCH_H
#define ETWAS_FILE_LOG_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes `length` bytes at `position`. False when the system refused. */
bool etwas_log_patch(int descriptor, const void *bytes, size_t length, uint64_t position);

/* Numbers the buffer in a place. */
bool etwas_log_patch_number(int descriptor, uint32_t buffer_bytes, uint32_t place,
                            int64_t sequence);

/* The flags of the buffer in a place. */
bool etwas_log_patch_flags(int descriptor, uint32_t buffer_bytes, uint32_t place, uint16_t flags);

/*
 * Numbers the data buffers in places 1 to `count`: 1, 2, 3 … from place `first` on, round to the
 * place before it. The oldest comes first, and the first refusal ends it, with false: wherever it
 * is broken off, the reader sees which buffers have their new number (reader/sequence.c).
 */
bool etwas_log_patch_number_round(int descriptor, uint32_t buffer_bytes, uint32_t count,
                                  uint32_t first);

/* Numbers them from the last place to the first. */
bool etwas_log_patch_number_backwards(int descriptor, uint32_t buffer_bytes, uint32_t count);

#endif
