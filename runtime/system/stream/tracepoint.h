/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The format file of a tracepoint in tracefs, at most 64 KiB of it.
 */
#ifndef ETWAS_SYSTEM_STREAM_TRACEPOINT_H
#define ETWAS_SYSTEM_STREAM_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/unavailability.h"

/*
 * Parses the `format` file of a tracepoint: its id, and where its fields lie in the raw data of its
 * samples. Kernels differ in both, so every field is looked up when a source is opened.
 *
 *     ID: 372
 *             field:char prev_comm[16];              offset:8;   size:16;  signed:0;
 *             field:__data_loc char[] filename;      offset:8;   size:4;   signed:0;
 *
 * The text is not trusted: lines of another form are skipped, and no field reaches beyond the
 * 65,535 bytes that a record can have. Nothing is allocated, and no pointer into the text is kept.
 */

enum etwas_tracepoint_field_kind {
    ETWAS_FORMAT_PLAIN,    /* a number, or anything else that is not one of the following */
    ETWAS_FORMAT_ARRAY,    /* name[16]: the bytes are in the field */
    ETWAS_FORMAT_DATA_LOC, /* its u32 is length << 16 | offset in the raw data */
    ETWAS_FORMAT_REL_LOC,  /* its u32 is length << 16 | offset behind the field */
};

struct etwas_tracepoint_field {
    uint16_t offset;
    uint16_t size; /* of all elements */
    bool is_signed;
    enum etwas_tracepoint_field_kind kind;
};

/* Finds the id of the tracepoint for perf_event_attr.config. Returns false if the text has none. */
bool etwas_tracepoint_format_id(const char *text, size_t bytes, uint32_t *id);

/* Finds the first field with this name. Returns false if there is none, or its line is invalid. */
bool etwas_tracepoint_format_find(const char *text, size_t bytes, const char *name,
                                  struct etwas_tracepoint_field *field);

/*
 * Reads a plain field of 1, 2, 4 or 8 bytes. Returns false if it is of another kind or size, or
 * `raw` ends before it.
 */
bool etwas_tracepoint_format_number(const struct etwas_tracepoint_field *field, const uint8_t *raw,
                                    size_t raw_bytes, int64_t *value);

/* Finds the bytes of a field within `raw`. Returns false if `raw` ends before them. */
bool etwas_tracepoint_format_bytes(const struct etwas_tracepoint_field *field, const uint8_t *raw,
                                   size_t raw_bytes, const uint8_t **bytes, size_t *count);

/* ---- the file in tracefs --------------------------------------------------------------------- */

struct etwas_tracepoint {
    uint32_t id;
    size_t bytes;
    char *text;
};

/*
 * Reads the file. `name`: as "sched/sched_switch". On failure nothing has to be freed, and *reason
 * says why.
 */
bool etwas_tracepoint_read(struct etwas_tracepoint *tracepoint, const char *name,
                           struct etwas_unavailability *reason);
void etwas_tracepoint_free(struct etwas_tracepoint *tracepoint);

static inline bool etwas_tracepoint_find(const struct etwas_tracepoint *tracepoint,
                                         const char *name, struct etwas_tracepoint_field *field)
{
    return etwas_tracepoint_format_find(tracepoint->text, tracepoint->bytes, name, field);
}

#endif
