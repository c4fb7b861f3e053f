/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Checks whether a session may append to an existing file (R95), and reads what it needs to go on.
 * Treats the file as hostile input and changes nothing.
 */
#ifndef ETWAS_FILE_LOG_APPEND_H
#define ETWAS_FILE_LOG_APPEND_H

#include <stdint.h>

#include "file/log_header.h"

struct etwas_log_file_options;

struct etwas_log_append {
    struct etwas_log_header header; /* the file's own, all of buffer 0; the caller frees it */
    uint32_t buffers;               /* whole buffers, buffer 0 included */
    uint64_t end;                   /* end of the last one */
    uint64_t last;                  /* where the last data buffer begins; 0: there is none */
    uint16_t last_flags;            /* its flags; 0: there is none */
};

/*
 * Checks a file whose session ended, or one that was broken off: then its length says how much
 * there is, and a buffer that is there in part, or reserved space, is not counted.
 *
 * ERROR_INVALID_PARAMETER: a trace file, but of another buffer size, clock, number of processors or
 * unit of processor times, of 32-bit pointers, compressed where the session is not, or the other
 * way round, circular, a snapshot, or part of a set. ERROR_FILE_CORRUPT: no trace file, or a
 * damaged one. ERROR_NOT_ENOUGH_MEMORY. On failure there is nothing to free.
 */
uint32_t etwas_log_append_check(int descriptor, uint64_t file_bytes,
                                const struct etwas_log_file_options *options,
                                struct etwas_log_append *append);

#endif
