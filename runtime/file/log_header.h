/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The content of buffer 0: buffer header, log file header record, calibration, totals, clock, and
 * after them the clock snapshots (log_clock_snapshots.h). It is built at the start of a file, or
 * read from the file that is appended to, updated at each sync and completed at the end. Its values
 * are those with which the format's readers work best.
 */
#ifndef ETWAS_FILE_LOG_HEADER_H
#define ETWAS_FILE_LOG_HEADER_H

#include <stdint.h>

#include "clock/clock_reading.h"
#include "etl/own_record.h"

struct etwas_drained;
struct etwas_log_file_options;

struct etwas_log_header {
    uint8_t *content;            /* room for a whole buffer */
    uint32_t bytes;              /* without padding; changed by etwas_log_header_resize */
    uint32_t calibration_offset; /* 0: none, in a file of another writer */
    uint32_t totals_offset;      /* likewise */
    uint32_t totals_bytes;       /* size of its payload, which older writers made shorter */
    uint32_t clock;
    struct etwas_clock_reading started;
    struct etwas_etl_totals earlier; /* in a file appended to: totals of earlier sessions */
};

/*
 * Builds a new file's buffer 0. ERROR_NOT_ENOUGH_MEMORY; ERROR_BAD_PATHNAME: the names are too long
 * for a buffer of this size.
 */
uint32_t etwas_log_header_build(struct etwas_log_header *header,
                                const struct etwas_log_file_options *options);

/* The unit of KernelTime and UserTime in a file with these options, in 100 ns. */
uint32_t etwas_log_header_timer_resolution(const struct etwas_log_file_options *options);

/*
 * Continues a header whose content, offsets and clock are filled in: the file is in progress again,
 * with the mode and size of this session. Adds a totals record if there is none, or an older
 * writer's, and there is room. Readers use the last one.
 */
void etwas_log_header_continue(struct etwas_log_header *header,
                               const struct etwas_log_file_options *options);

/*
 * Stores the counts so far, with those of earlier sessions added. `buffers` are in the file, buffer
 * 0 included. Only the counts in the totals, and what ends with the file, are used.
 */
void etwas_log_header_count(struct etwas_log_header *header, uint32_t buffers,
                            const struct etwas_etl_totals *counts);

/*
 * Stores what is known at the end: the time, the clock's rate measured over the whole session, and
 * how many streams have buffers (0: the number stays).
 */
void etwas_log_header_end(struct etwas_log_header *header, const struct etwas_clock_reading *now,
                          uint32_t processors);

/* Sets the end of the records. */
void etwas_log_header_resize(struct etwas_log_header *header, uint32_t bytes);

/*
 * Returns the header of one of etwas's own records in buffer 0, with the ids and the stamp of the
 * first record.
 */
struct etwas_etl_full_header etwas_log_header_own(const struct etwas_log_header *header,
                                                  size_t size, uint8_t type, uint16_t version);

/* Returns the header of a data buffer in the file. Async-signal-safe. */
struct etwas_etl_buffer_header etwas_log_buffer_header(uint32_t buffer_bytes, uint16_t logger_id,
                                                       const struct etwas_drained *buffer,
                                                       int64_t sequence_number);

void etwas_log_header_free(struct etwas_log_header *header);

#endif
