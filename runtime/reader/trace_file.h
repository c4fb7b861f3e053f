/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The file itself: opening, and reading at a position. */
#ifndef ETWAS_READER_TRACE_FILE_H
#define ETWAS_READER_TRACE_FILE_H

#include <stddef.h>
#include <stdint.h>

struct etwas_trace;

/* Opens a file for reading. A Win32 code. */
uint32_t etwas_trace_file_open(const char *path, int *descriptor, uint64_t *file_bytes);

/* Takes the present length of the file, to which a session may have written, also for buffer 0. */
void etwas_trace_file_measure(struct etwas_trace *trace);

/*
 * Reads up to `bytes` at `offset`. Returns how many were read: fewer only at the end of the file or
 * where the system fails.
 */
size_t etwas_trace_file_read(struct etwas_trace *trace, uint64_t offset, void *target,
                             size_t bytes);

/*
 * Returns the first offset >= `offset` that is not in a hole of the file; the file's end if there
 * is none.
 */
uint64_t etwas_trace_file_next_data(const struct etwas_trace *trace, uint64_t offset);

#endif
