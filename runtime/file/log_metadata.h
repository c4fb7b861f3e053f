/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The metadata of one file: all that was described, and where stacks are taken the images of the
 * process (provider/metadata.h), in data buffers of processor 0 with nothing else in them. They
 * stand at its beginning, and what came later further behind; they hold no events. Their stamps keep
 * the order of the stream, as those of clock snapshot buffers do.
 *
 * A circular file has them in entries that follow one another, and when the cursor comes to the first
 * of these again they are written there anew: so at each moment the file has them. What is described
 * later has all of them written behind the newest data, and the old ones become data as any other.
 *
 *     numbers of data buffers    │ metadata │ data, data … │ metadata │ data …
 *                                begun_at   └─ < limit ────┘ begun_at
 *
 * A file of limited size has them in half of its entries at most; what does not fit is left out.
 * Belongs to the log file; the same caller.
 */
#ifndef ETWAS_FILE_LOG_METADATA_H
#define ETWAS_FILE_LOG_METADATA_H

#include <stdint.h>

#include "file/log_file.h"
#include "provider/metadata.h"

/* Zeroed at the start: there is none in the file. */
struct etwas_log_metadata {
    struct etwas_metadata_cursor read; /* what of it is in the file */
    uint32_t buffers;                  /* that hold it; in a circular file since `begun_at` */
    uint64_t begun_at; /* of a circular file: data buffers written before the first of them */
};

/*
 * Writes what was described since it did so last, if there is room, with these sequence numbers and
 * those behind (0: the next ones). Returns how many buffers it took as `written`. A refusal costs no
 * event, and is tried again with the next call.
 */
struct etwas_log_write etwas_log_metadata_write(struct etwas_log_file *file,
                                                uint32_t sequence_number);

/* Of `wanted` data buffers, how many may be written before the metadata has to be renewed. */
uint32_t etwas_log_metadata_room(const struct etwas_log_file *file, uint32_t wanted);

/*
 * Writes it again if the next data buffer would take its first entry. Adds to `result` what it
 * replaced, and how many buffers it took. If that is refused the file has it no more, and the next
 * etwas_log_metadata_write writes it.
 */
void etwas_log_metadata_renew(struct etwas_log_file *file, struct etwas_log_write *result);

/* Some of the file is lost: all of it is written again by the next etwas_log_metadata_write. */
void etwas_log_metadata_forget(struct etwas_log_file *file);

#endif
