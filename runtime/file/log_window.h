/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The window records in the file of a trigger (etl/own_record.h). Belongs to the log file. */
#ifndef ETWAS_FILE_LOG_WINDOW_H
#define ETWAS_FILE_LOG_WINDOW_H

#include <stdint.h>

#include "etl/own_record.h"
#include "file/coverage.h"
#include "file/log_file.h"

/*
 * Writes the window and its gaps in buffers of processor 0, with the stamp `stamp`, which no event
 * of the file precedes, and with numbers from `sequence_number` on.
 */
struct etwas_log_write etwas_log_window_write(struct etwas_log_file *file,
                                              const struct etwas_etl_window *window,
                                              const struct etwas_coverage_gap *gaps, int64_t stamp,
                                              uint32_t sequence_number);

#endif
