/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Finds out what a log file really contains after the system refused to make it durable.
 *
 * Some storage accepts writes and drops them later: a disk with bad blocks, a remote file system,
 * one whose space is overcommitted. It reports that once, at a sync or a close, without saying what
 * it dropped. So the newest buffers are tracked until they are durable. After a refusal they are
 * searched for in the file, past the page cache. Missing buffers at the end are cut off, others are
 * replaced by an empty buffer.
 */
#ifndef ETWAS_FILE_LOG_AUDIT_H
#define ETWAS_FILE_LOG_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "file/log_file.h"

enum {
    /*
     * The most buffers that are searched for. The system wrote older ones back long ago, unless it
     * has more memory than disk.
     */
    ETWAS_LOG_AUDIT_BUFFERS = 8192
};

/* A buffer that may not be durable yet. */
struct etwas_log_audit_entry {
    int64_t time_stamp;
    uint64_t number; /* number of data buffers in the file, this one included */
    uint64_t position;
    uint32_t bytes;
    uint32_t records;
    uint32_t fingerprint; /* hash of its data */
    uint16_t processor;
    bool lost; /* already found missing */
};

/* Zeroed at the start. Buffer `n` is in entries[n % ETWAS_LOG_AUDIT_BUFFERS]. */
struct etwas_log_audit {
    struct etwas_log_audit_entry *entries; /* NULL: no memory; then nothing is tracked */
    uint64_t tracked;
    uint64_t durable; /* all buffers before this one are durable */
};

/*
 * Allocates the entries when the file is opened, so that no memory is needed while it is written.
 */
void etwas_log_audit_begin(struct etwas_log_file *file);

/*
 * Tracks a buffer that was written, before the cursor counts it. `data` is what is stored after its
 * header.
 */
void etwas_log_audit_track(struct etwas_log_file *file, const struct etwas_drained *buffer,
                           const uint8_t *data, uint32_t data_bytes);

/* Marks all tracked buffers as durable. */
void etwas_log_audit_mark_durable(struct etwas_log_file *file);

/*
 * Searches for the buffers that are not known to be durable, and returns what was lost. Writes the
 * header again, as it is in memory.
 */
struct etwas_log_lost etwas_log_audit(struct etwas_log_file *file);

void etwas_log_audit_end(struct etwas_log_file *file);

#endif
