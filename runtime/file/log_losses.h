/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The losses of one file (etl/own_record.h): the session's loss table (etl/loss_table.h), in buffer
 * 0 behind the clock snapshots. The clock snapshots give up half of their room when the first loss
 * comes. So no file is larger for it, none is too full to say what was lost, and a circular one
 * does not replace it. A file whose buffer 0 has no room for ETWAS_LOSSES_LEAST has none. Belongs
 * to the log file; the same caller.
 */
#ifndef ETWAS_FILE_LOG_LOSSES_H
#define ETWAS_FILE_LOG_LOSSES_H

#include <stdint.h>

#include "etl/loss_table.h"
#include "file/log_file.h"

/*
 * From here on the file contains what is in the table, which is given a limit by the file's room.
 */
void etwas_log_losses_attach(struct etwas_log_file *file, struct etwas_loss_table *table);

/* Something was added to the table: writes it into buffer 0 in memory. */
void etwas_log_losses_update(struct etwas_log_file *file);

/* Detaches the table: the file gets no further losses. */
void etwas_log_losses_detach(struct etwas_log_file *file);

/*
 * For log_clock_snapshots.c: writes them where the clock snapshots end. Returns how many bytes they
 * take.
 */
uint32_t etwas_log_losses_write(struct etwas_log_file *file, uint32_t offset);

#endif
