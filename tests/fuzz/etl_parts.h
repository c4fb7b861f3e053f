/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Finds where the buffers and records of a trace file lie, as far as they can be followed, for
 * programs that damage them on purpose. It uses nothing of the library, so that it goes into a
 * mutator of any fuzzer.
 */
#ifndef TESTS_FUZZ_ETL_PARTS_H
#define TESTS_FUZZ_ETL_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETL_BUFFERS = 64,  /* so many are followed */
    ETL_RECORDS = 512, /* likewise, in all of them together */
};

struct etl_part {
    size_t at; /* in the file */
    size_t bytes;
};

struct etl_record {
    size_t at;
    size_t bytes;         /* not rounded */
    uint32_t buffer;      /* in which it is */
    uint32_t header_type; /* 0: a message */
};

struct etl_parts {
    uint32_t buffer_count;
    uint32_t record_count;
    struct etl_part buffers[ETL_BUFFERS]; /* the last one may be cut */
    struct etl_record records[ETL_RECORDS];
};

/* A number in the bytes, little-endian. */
uint64_t etl_number(const uint8_t *at, size_t width);
void etl_put(uint8_t *at, size_t width, uint64_t number);

/* Where a buffer's records end; its bytes if it does not say. */
size_t etl_data_end(const uint8_t *bytes, const struct etl_part *buffer);

void etl_find_parts(const uint8_t *bytes, size_t size, struct etl_parts *parts);

#endif
