/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Whether a session may append to a file that is there (R95), and what it has to go on with. Reads
 * the file as hostile input and changes nothing.
 */
#ifndef ETWAS_FILE_LOG_APPEND_H
#define ETWAS_FILE_LOG_APPEND_H

#include <stdint.h>

#include "file/log_header.h"

struct etwas_log_file_options;

struct etwas_log_append {
    struct etwas_log_header header; /* the file's own; the caller frees it. All of buffer 0 */
    uint32_t buffers;               /* whole ones, buffer 0 included */
    uint64_t end;                   /* of the last one */
    uint64_t last;                  /* where the last data buffer begins; 0: there is none */
    uint16_t last_flags;            /* its flags; 0: there is none */
};

/*
 * A file of which the session ended, or one that was broken off: then its length says how much
 * there is, and a buffer that is there in part, or space set aside, is not counted.
 *
 * ERROR_INVALID_PARAMETER: a trace file, but of another buffer size, clock, number of processors or
 * unit of processor times, of 32-bit pointers, compressed where the session is not, or the other way
 * round, circular, a snapshot, or part of a set.
 * ERROR_FILE_CORRUPT: no trace file, or a damaged one. ERROR_NOT_ENOUGH_MEMORY. On failure there is
 * nothing to free.
 */
uint32_t etwas_log_append_check(int descriptor, uint64_t file_bytes,
                                const struct etwas_log_file_options *options,
                                struct etwas_log_append *append);

#endif
