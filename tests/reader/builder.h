/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Makes trace files for the reader's tests, byte by byte as the format says, without the writer.
 * A file is built in memory, may be damaged there, and is then put on disk.
 */
#ifndef ETWAS_TESTS_READER_BUILDER_H
#define ETWAS_TESTS_READER_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "etl/layout.h"
#include "etl/own_record.h"

/* What a file says about itself; builder_defaults() is a sound 64-bit file of 4 KB buffers. */
struct builder_options {
    uint32_t buffer_bytes;
    uint32_t processors;
    uint32_t clock_type;
    int64_t frequency_hz;
    uint32_t mhz;
    uint32_t mode;
    int64_t first_raw; /* T0 */
    int64_t start_filetime;
    int64_t end_filetime;
    uint32_t timer_resolution_100ns;
    uint32_t maximum_file_size;
    bool narrow;     /* the 32-bit form */
    bool compressed; /* data buffers are compressed, buffer 0 is small */
    bool legacy;     /* buffers without the 16-bit processor index */
    const uint16_t *session_name;
    const uint16_t *file_name;
};

struct builder {
    struct builder_options options;
    uint8_t *bytes;
    size_t size;
    size_t capacity;
    size_t buffer_at; /* where the open buffer begins */
    uint32_t filled;  /* in the open buffer */
    uint32_t buffers;
    int64_t sequence;
    size_t last_buffer_at;
    size_t record_at; /* of the last record */
};

#define BUILDER_START INT64_C(133500000000000000)

struct builder_options builder_defaults(void);

/* Begins a file: buffer 0 with the log file header, open for more records. */
void builder_begin(struct builder *builder, const struct builder_options *options);

/* Ends the open buffer and begins a data buffer with the next sequence number. */
void builder_buffer(struct builder *builder, uint16_t processor);

/* Appends any bytes as a record, padded to 8. */
void builder_raw(struct builder *builder, const void *bytes, size_t size);

/* A header of `header_bytes` followed by a payload; the header's size field must be right. */
void builder_record(struct builder *builder, const void *header, size_t header_bytes,
                    const void *payload, size_t payload_bytes);

/* A FULL_HEADER64 of class `class_number`, opcode `type`, with the payload given. */
void builder_classic(struct builder *builder, int64_t stamp, uint8_t type, const void *payload,
                     size_t payload_bytes);

/* The same with a payload of one u32. */
void builder_number(struct builder *builder, int64_t stamp, uint32_t number);

/*
 * The records etwas writes for itself: a calibration that changes no clock, a clock snapshot, the
 * totals, and any other.
 */
void builder_calibration(struct builder *builder);
void builder_clock_snapshot(struct builder *builder,
                            const struct etwas_etl_clock_snapshot *snapshot);
void builder_totals(struct builder *builder, const struct etwas_etl_totals *totals);
void builder_own(struct builder *builder, uint8_t type, const void *payload, size_t bytes);

/* Ends the last buffer, fills in what is known at the end. */
void builder_end(struct builder *builder);

/* The header of buffer `number` (0 …) in memory, for damaging it. Uncompressed files only. */
struct etwas_etl_buffer_header *builder_header(struct builder *builder, uint32_t number);

/*
 * Makes a circular file of a file that is ended: data buffer k (0, 1 …) goes to place
 * 1 + k mod `places`. Finished: numbered anew from 1 in the order of time, and the header counts
 * what is left; else as a session leaves it that never ended.
 */
void builder_wrap(struct builder *builder, uint32_t places, bool finished);

/* The log file header's common start, for damaging it. */
struct etwas_etl_log_header_start *builder_log_header(struct builder *builder);

void builder_free(struct builder *builder);

/* The class of builder_classic. */
extern const etwas_guid builder_class;

/* Writes bytes to a file of its own and gives its path, valid until the next call with `slot`. */
const char *put_file(unsigned slot, const void *bytes, size_t size);

/* The same of a sound file of `events` events on two processors, ten a buffer. */
const char *put_sound_file(unsigned slot, uint32_t events, bool with_clock_snapshot);

/* Removes what put_file made. */
void remove_files(void);

#endif
