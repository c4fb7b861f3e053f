/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a log file already has of the buffers that its writer left in memory, having died between
 * writing and recording it. The file itself is searched, byte by byte: records carry stamps, so
 * that no two buffers are the same.
 */
#ifndef ETWAS_RECOVER_LOG_TAIL_H
#define ETWAS_RECOVER_LOG_TAIL_H

#include <stdint.h>

struct etwas_log_tail;

/*
 * Opens up to two files, each an open descriptor or -1, which stay the caller's and open until the
 * close. NULL: there is no memory, or there is nothing in them.
 */
struct etwas_log_tail *etwas_log_tail_open(const int files[2], uint32_t buffer_bytes);
void etwas_log_tail_close(struct etwas_log_tail *tail);

/*
 * How many of these bytes of records of a processor are in buffers of the files, from the first on;
 * a buffer of a file is found once, and the longest first. Records, and what buffers have of them,
 * are multiples of 8 bytes. `tail` may be NULL.
 *
 * All calls together take the time of reading the files and the records, whatever is in them, times
 * a logarithm.
 */
uint32_t etwas_log_tail_has(struct etwas_log_tail *tail, uint32_t processor, const uint8_t *records,
                            uint32_t bytes);

#endif
