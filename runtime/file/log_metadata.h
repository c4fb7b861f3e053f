/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The metadata of one file: all descriptions and, if stacks are taken, the images of the process
 * (provider/metadata.h). They lie in data buffers of processor 0 without events: at the file's
 * beginning, and later ones where they were written. Their stamps keep the order of the stream, as
 * those of clock-snapshot buffers do.
 *
 * A circular file has them in consecutive entries. When the cursor comes to the first of these
 * again, they are written there again, so that the file always has them. When something is
 * described later, all of them are written after the newest data, and the old ones are replaced
 * like any other data.
 *
 *     numbers of data buffers    │ metadata │ data, data … │ metadata │ data …
 *                                begun_at   └─ < limit ────┘ begun_at
 *
 * In a file of limited size they take half of its entries at most; what does not fit is left out.
 * The object belongs to the log file and has the same caller.
 */
#ifndef ETWAS_FILE_LOG_METADATA_H
#define ETWAS_FILE_LOG_METADATA_H

#include <stdint.h>

#include "file/log_file.h"
#include "provider/metadata.h"

/* Zeroed at the start: the file has none. */
struct etwas_log_metadata {
    struct etwas_metadata_cursor read; /* the metadata up to here is in the file */
    /* buffers that hold it; in a circular file since `begun_at` */
    uint32_t buffers;
    uint64_t begun_at; /* circular file: data buffers written before the first of them */
};

/*
 * Writes what was described since the last call, if there is room, with sequence numbers from this
 * one on (0: the next ones). Returns how many buffers it took as `written`. A refusal loses no
 * event, and the next call tries again.
 */
struct etwas_log_write etwas_log_metadata_write(struct etwas_log_file *file,
                                                uint32_t sequence_number);

/* How many of `wanted` data buffers may be written before the metadata has to be renewed. */
uint32_t etwas_log_metadata_room(const struct etwas_log_file *file, uint32_t wanted);

/*
 * Writes the metadata again if the next data buffer would replace its first entry. Adds to `result`
 * what it replaced, and how many buffers it took. After a refusal the file has lost the metadata,
 * and the next etwas_log_metadata_write writes it.
 */
void etwas_log_metadata_renew(struct etwas_log_file *file, struct etwas_log_write *result);

/*
 * Called when the file has lost a part of it: the next etwas_log_metadata_write writes all of it
 * again.
 */
void etwas_log_metadata_forget(struct etwas_log_file *file);

#endif
