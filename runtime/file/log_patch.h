/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Small changes to a log file's content: sequence numbers and the mark of the last buffer. Each
 * writes a few bytes of a buffer's header, through the page cache.
 */
#ifndef ETWAS_FILE_LOG_PATCH_H
#define ETWAS_FILE_LOG_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes `length` bytes at `position`. Returns false when the system refused. */
bool etwas_log_patch(int descriptor, const void *bytes, size_t length, uint64_t position);

/* Sets the flags, or the number, of the buffer that begins there. */
bool etwas_log_patch_flags(int descriptor, uint64_t buffer_at, uint16_t flags);
bool etwas_log_patch_number(int descriptor, uint64_t buffer_at, int64_t sequence_number);

/*
 * Numbers the data buffers of a circular file, which are in the entries 1 to `count`: the oldest is
 * in entry `first` and gets number 1, the one behind it 2, and so on round the file. Returns false
 * when the system refused; the others keep their numbers. Since it goes from the oldest to the
 * newest, the reader can tell which buffers have a new number, wherever it was broken off
 * (reader/missing_buffers.c).
 */
bool etwas_log_patch_number_round(int descriptor, uint32_t buffer_bytes, uint32_t count,
                                  uint32_t first);

/*
 * Numbers them from the last entry, which gets 1, to the first. Returns false when the system
 * refused some.
 */
bool etwas_log_patch_number_backwards(int descriptor, uint32_t buffer_bytes, uint32_t count);

#endif
