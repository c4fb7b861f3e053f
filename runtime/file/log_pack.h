/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The buffers of a compressed log file. Each has a size of its own and lies right behind the one
 * before, so the file has no entries: its end is where the next one goes. Buffer 0 is as in other
 * files, as long as the session's buffers.
 *
 * No buffer becomes longer than the session's: one that does not get smaller is stored as it is. So
 * a file is full when less than that is left of its size, and until then the next buffer fits,
 * however badly it compresses.
 */
#ifndef ETWAS_FILE_LOG_PACK_H
#define ETWAS_FILE_LOG_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "file/log_file.h"

/* Zeroed: the file is not compressed. */
struct etwas_log_pack {
    uint64_t end;         /* end of the last buffer; 0: the file is not compressed */
    uint64_t last;        /* where that begins; 0: it has to be searched */
    uint64_t limit_bytes; /* size limit of the file; 0: none */
    uint8_t *packed;      /* buffers that are written together */
    uint32_t packed_bytes;
    void *memory; /* the compressor's memory */
};

/*
 * Allocates memory when the file is opened, so that none is needed while it is written. Returns
 * false when there is none.
 */
bool etwas_log_pack_begin(struct etwas_log_file *file, uint64_t limit_bytes);

/* Frees the memory; the file stays a compressed one. */
void etwas_log_pack_free(struct etwas_log_file *file);

/* Sets the end of the file, behind a buffer that begins at `last`. */
void etwas_log_pack_set_end(struct etwas_log_file *file, uint64_t end, uint64_t last);

/* Does what etwas_log_write_buffers does. */
void etwas_log_pack_write(struct etwas_log_file *file, const struct etwas_drained *buffers,
                          uint32_t count, struct etwas_log_write *result);

/* Adds to the flags of the last buffer, if there is one. Returns false when the system refused. */
bool etwas_log_pack_mark_last(struct etwas_log_file *file, uint16_t flags);

/* Does what etwas_log_patch_number_backwards does. */
bool etwas_log_pack_number_backwards(struct etwas_log_file *file);

#endif
