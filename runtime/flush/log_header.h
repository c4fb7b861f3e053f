/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The content of buffer 0: buffer header, log file header record, knot. Built at the start of a
 * file and completed at its end; as safe a set of values as the format's readers ask for.
 */
#ifndef ETWAS_FLUSH_LOG_HEADER_H
#define ETWAS_FLUSH_LOG_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/calibration.h"

struct etwas_log_file_options;
struct etwas_log_file_totals;

struct etwas_log_header {
    uint8_t *content;
    uint32_t bytes; /* without padding */
    uint32_t knot_offset;
    uint32_t clock;
    struct etwas_clock_reading started;
};

/* False when memory is short. */
bool etwas_log_header_build(struct etwas_log_header *header,
                            const struct etwas_log_file_options *options);

/*
 * What is known at the end: end time, counts, and the clock's rate measured over the whole session.
 */
void etwas_log_header_end(struct etwas_log_header *header, uint32_t buffers_written,
                          const struct etwas_log_file_totals *totals);

void etwas_log_header_free(struct etwas_log_header *header);

#endif
