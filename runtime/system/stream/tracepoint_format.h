/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A tracepoint's `format` file: which number it has, and where its fields lie in the raw data of its
 * samples. Kernels differ in both, so the file is asked once for each field, when a feed opens.
 *
 *     ID: 372
 *             field:char prev_comm[16];              offset:8;   size:16;  signed:0;
 *             field:__data_loc char[] filename;      offset:8;   size:4;   signed:0;
 *
 * The text is believed in nothing: what does not look like this is passed over, and no field reaches
 * beyond the 65,535 bytes a record can have. Nothing is allocated, nothing kept of the text.
 */
#ifndef ETWAS_SYSTEM_STREAM_TRACEPOINT_FORMAT_H
#define ETWAS_SYSTEM_STREAM_TRACEPOINT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum etwas_tracepoint_field_kind {
    ETWAS_FORMAT_PLAIN,    /* a number, or something that is none of what follows */
    ETWAS_FORMAT_ARRAY,    /* name[16]: the bytes are in the field */
    ETWAS_FORMAT_DATA_LOC, /* its u32 says where they are: length << 16 | offset in the raw data … */
    ETWAS_FORMAT_REL_LOC, /* … or behind the field */
};

struct etwas_tracepoint_field {
    uint16_t offset;
    uint16_t size; /* of all elements */
    bool is_signed;
    enum etwas_tracepoint_field_kind kind;
};

/* What perf_event_attr.config is for this tracepoint. False: the text does not say. */
bool etwas_tracepoint_format_id(const char *text, size_t bytes, uint32_t *id);

/* The first field of this name. False: there is none, or its line makes no sense. */
bool etwas_tracepoint_format_find(const char *text, size_t bytes, const char *name,
                                  struct etwas_tracepoint_field *field);

/* A plain field of 1, 2, 4 or 8 bytes. False: it is another, or `raw` ends before it. */
bool etwas_tracepoint_format_number(const struct etwas_tracepoint_field *field, const uint8_t *raw,
                                    size_t raw_bytes, int64_t *value);

/* The bytes of a field, within `raw`. False: `raw` ends before them. */
bool etwas_tracepoint_format_bytes(const struct etwas_tracepoint_field *field, const uint8_t *raw,
                                   size_t raw_bytes, const uint8_t **bytes, size_t *count);

#endif
