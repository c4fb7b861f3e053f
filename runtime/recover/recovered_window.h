/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes which time span a file recovered from a flight recorder covers, as snapshots do. */
#ifndef ETWAS_RECOVER_RECOVERED_WINDOW_H
#define ETWAS_RECOVER_RECOVERED_WINDOW_H

#include <stdint.h>

#include "file/log_file.h"
#include "recover/mapping_copy.h"

/*
 * Writes the window record, before the events are written. `until`: when copying began, if the
 * process is alive; INT64_MIN: it has ended, and its newest event is the end. `records` has room
 * for the records of a buffer. Without any event no time is covered, and nothing is written.
 */
uint32_t etwas_recovered_window_write(struct etwas_log_file *file,
                                      const struct etwas_mapping_copy *copy, int64_t until,
                                      uint8_t *records);

#endif
