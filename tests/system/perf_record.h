/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A record as the kernel would write it, put together piece by piece, in memory that ends with it.
 */
#ifndef ETWAS_SYSTEM_PERF_RECORD_H
#define ETWAS_SYSTEM_PERF_RECORD_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct perf_record {
    union {
        struct perf_event_header header;
        uint8_t bytes[4096] __attribute__((aligned(8)));
    };
};

void perf_record_begin(struct perf_record *record, uint32_t type, uint16_t misc);
void perf_record_put(struct perf_record *record, const void *bytes, size_t count);
void perf_record_u32(struct perf_record *record, uint32_t value);
void perf_record_u64(struct perf_record *record, uint64_t value);

/* Adds a text with its 0, filled up to a multiple of 8. */
void perf_record_text(struct perf_record *record, const char *text);

/*
 * What is behind every record that is no sample: process 10, thread 11, time 12, processor 13,
 * event 14.
 */
void perf_record_origin(struct perf_record *record);

/* Returns a copy of its first bytes, which says that it has only these. The caller frees it. */
struct perf_event_header *perf_record_cut(const struct perf_record *record, uint16_t bytes);

#endif
