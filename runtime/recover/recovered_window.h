/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Which time the file has that is recovered of a recorder, as a snapshot says it of itself. */
#ifndef ETWAS_RECOVER_RECOVERED_WINDOW_H
#define ETWAS_RECOVER_RECOVERED_WINDOW_H

#include <stdint.h>

#include "file/log_file.h"
#include "recover/mapping_copy.h"

/*
 * Writes the window record, before the events are written. `until`: when the copying of a process
 * that lives began; INT64_MIN: it has ended, with its newest event. `records` has room for the
 * records of a buffer. Writes nothing if no time is known to be covered, since there is no event.
 */
uint32_t etwas_recovered_window_write(struct etwas_log_file *file,
                                      const struct etwas_mapping_copy *copy, int64_t until,
                                      uint8_t *records);

#endif
