/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * One stream on one processor, for tests of the real kernel.
 */
#ifndef ETWAS_TESTS_SYSTEM_CPU_STREAM_FIXTURE_H
#define ETWAS_TESTS_SYSTEM_CPU_STREAM_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "system/stream/cpu_stream.h"

enum {
    RING_BYTES = 1 << 20,
    SIDEBAND_TAG = 99,
};

extern struct etwas_cpu_stream stream;

uint32_t this_processor(void);

/* The rest of the test runs on one processor, and children do. */
void stay_here(void);

/* ETWAS_PROCESS_RECORD_*; the stream is open. */
void add_process_records(uint32_t process_record);

/* Opens and starts the stream, with processes, names and images. */
void open_stream(size_t ring_bytes);

/* NULL, or why a stream cannot be had. */
const char *why_no_stream(void);

#endif
