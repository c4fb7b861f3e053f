/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A log file being written: buffer 0 with the log file header, whole data buffers after it, and
 * what is rewritten at the end. At every moment the file is readable up to its last whole buffer.
 *
 * Not thread-safe: the owner of the session's flusher role calls.
 */
#ifndef ETWAS_FLUSH_LOG_FILE_H
#define ETWAS_FLUSH_LOG_FILE_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock/calibration.h"

struct etwas_log_file;

struct etwas_log_file_options {
    const char *path;
    const etwas_wchar *session_name; /* terminated, as recorded in the header */
    const etwas_wchar *file_name;    /* likewise */
    uint32_t buffer_bytes;
    uint32_t processors;
    uint32_t clock; /* ETWAS_CLOCK_KIND_* */
    uint32_t log_file_mode;
    uint64_t maximum_bytes;     /* 0: no limit */
    uint32_t maximum_file_size; /* the same as recorded: MB, or KB by the mode */
    uint16_t logger_id;
    struct etwas_clock_reading started; /* when the session started */
};

/*
 * Creates the file and writes buffer 0. A Win32 code: those of etwas_file_create, ERROR_DISK_FULL,
 * ERROR_WRITE_FAULT, ERROR_NOT_ENOUGH_MEMORY; on failure nothing is left open, and a file that had
 * to be created for this is removed.
 */
uint32_t etwas_log_file_create(const struct etwas_log_file_options *options,
                               struct etwas_log_file **file);

/*
 * One data buffer to write: `data` are its records, already padded to 8 bytes each.
 *
 * `whole` is given where nobody else reads or writes the buffer they lie in any more: its start, on
 * a page's boundary and buffer_bytes long, with the data at ETWAS_ETL_BUFFER_HEADER_BYTES. It is
 * written as one piece, so its head and what is behind the data are overwritten; on return the head
 * is as in the file, and zeroes are behind the data. NULL: the data are copied.
 */
struct etwas_log_buffer {
    uint8_t *whole;
    const void *data;
    uint32_t data_bytes;
    uint32_t processor;
    int64_t time_stamp; /* raw, not less than any record's */
    uint32_t sequence;  /* 0: the next; else its place in the order of time, from 1 */
};

enum {
    ETWAS_LOG_FILE_BATCH = 64
};

enum etwas_log_file_state {
    ETWAS_LOG_FILE_OK,
    ETWAS_LOG_FILE_FULL,
    ETWAS_LOG_FILE_FAILED
};

/*
 * Writes up to ETWAS_LOG_FILE_BATCH buffers and returns how many are in the file, from the first
 * on. *state says why not all: the file has reached its maximum size, or the system refused (then
 * *code is ERROR_DISK_FULL or ERROR_WRITE_FAULT). Sequence numbers are given here, without gaps,
 * unless the buffers bring their own.
 */
uint32_t etwas_log_file_write(struct etwas_log_file *file, const struct etwas_log_buffer *buffers,
                              uint32_t count, enum etwas_log_file_state *state, uint32_t *code);

/* Makes everything written durable, and the count of buffers in the header true. */
bool etwas_log_file_sync(struct etwas_log_file *file);

/*
 * Numbers the data buffers from the last one in the file to the first: for a file that was written
 * newest buffer first. False when the system refused.
 */
bool etwas_log_file_number_backwards(struct etwas_log_file *file);

/* Buffers in the file, buffer 0 included. */
uint32_t etwas_log_file_buffers(const struct etwas_log_file *file);

struct etwas_log_file_totals {
    uint64_t events_lost;
    uint64_t buffers_lost;
};

/*
 * Ends the file: length, last buffer's mark, header; makes it durable and closes it. Frees `file`.
 * False when the system reported an error on the way; the file is readable all the same if it can
 * be read at all.
 */
bool etwas_log_file_finish(struct etwas_log_file *file, const struct etwas_log_file_totals *totals);

/* In a fork's child: closes this copy of the descriptor and leaves the file to the parent. */
void etwas_log_file_forget(struct etwas_log_file *file);

#endif
