/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The log files that the session itself has written: how much of a buffer that lies in its pool is
 * in them. The newest two are searched; of those before them the pool's accounts tell.
 */
#ifndef ETWAS_RECOVER_OWN_LOGS_H
#define ETWAS_RECOVER_OWN_LOGS_H

#include <stdbool.h>
#include <stdint.h>

#include "recover/mapping_copy.h"

struct etwas_log_tail;

/*
 * What a log file already has of the buffers that its writer left in memory, having died between
 * writing and recording it. The file itself is searched, byte by byte: records carry stamps, so
 * that no two buffers are the same.
 */

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

/* ---- the log files of a session -------------------------------------------------------------- */

struct etwas_own_logs {
    int files[2];                /* the newest first; -1: there is none */
    struct etwas_log_tail *tail; /* what is in them */
    bool has_accounted;          /* what flushes accounted for is in a file, searched or not */
};

/*
 * Opens the log files that a copied mapping names; a recorder has none. Both descriptors in `logs`
 * are -1 before the call. `may_lack`: the process may have been refused something since, or the
 * system may have lost what it had accepted. The caller closes them.
 */
void etwas_own_logs_open(struct etwas_own_logs *logs, const struct etwas_recover_source *source,
                         const struct etwas_mapping_copy *copy, bool may_lack);
void etwas_own_logs_close(struct etwas_own_logs *logs);

/* How many bytes of a buffer's records are in them, from the first on. */
uint32_t etwas_own_logs_have(const struct etwas_own_logs *logs,
                             const struct etwas_mapping_copy *copy,
                             const struct etwas_found_buffer *found);

#endif
