/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Finds how much of a buffer in the pool is already in the log files that the session itself wrote.
 * The newest two files are searched. For older files the pool's accounts are used.
 */
#ifndef ETWAS_RECOVER_OWN_LOGS_H
#define ETWAS_RECOVER_OWN_LOGS_H

#include <stdbool.h>
#include <stdint.h>

#include "recover/mapping_copy.h"

struct etwas_log_tail;

/*
 * Finds what the log files already have of a buffer in memory. The writer may have died between
 * writing a buffer and recording that it did. So the contents of the files are compared: records
 * carry stamps, so no two buffers are the same.
 */

/*
 * Lists the buffers of up to two files, each a descriptor or -1. The caller owns the descriptors
 * and keeps them open until etwas_log_tail_close. NULL: there is no memory, or there are no
 * buffers.
 */
struct etwas_log_tail *etwas_log_tail_open(const int files[2], uint32_t buffer_bytes);
void etwas_log_tail_close(struct etwas_log_tail *tail);

/*
 * Returns how many of these bytes of a processor's records, from the first on, are in buffers of
 * the files. A buffer of a file is found once; the longest that matches is taken. Lengths are
 * multiples of 8 bytes. `tail` may be NULL.
 *
 * The time of all calls together is O(n log n) in the size of the files and the records, whatever
 * they contain.
 */
uint32_t etwas_log_tail_has(struct etwas_log_tail *tail, uint32_t processor, const uint8_t *records,
                            uint32_t bytes);

/* ---- the log files of a session -------------------------------------------------------------- */

struct etwas_own_logs {
    int files[2];                /* the newest first; -1: there is none */
    struct etwas_log_tail *tail; /* the buffers in them */
    bool has_accounted; /* everything that flushes accounted is in a file, searched or not */
};

/*
 * Opens the log files that a copied mapping names; a recorder has none. Both descriptors in `logs`
 * are -1 before the call. `may_lack`: a write may have failed since the copy, or the system may
 * have lost data that it had accepted. The caller closes them.
 */
void etwas_own_logs_open(struct etwas_own_logs *logs, const struct etwas_recover_source *source,
                         const struct etwas_mapping_copy *copy, bool may_lack);
void etwas_own_logs_close(struct etwas_own_logs *logs);

/* Returns how many bytes of a buffer's records, from the first on, are in the log files. */
uint32_t etwas_own_logs_have(const struct etwas_own_logs *logs,
                             const struct etwas_mapping_copy *copy,
                             const struct etwas_found_buffer *found);

#endif
