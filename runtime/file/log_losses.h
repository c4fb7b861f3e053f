/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The losses of one file (etl/own_record.h): the session's table of them (session/loss_table.h), in buffer 0
 * behind the clock snapshots. With the first loss the clock snapshots give up half of their room, so that no file is larger for
 * it, none is too full to say what was lost, and a circular one does not replace it. In a file whose buffer 0
 * has no room for ETWAS_LOSSES_LEAST nothing is said. Belongs to the log file; the same caller.
 */
#ifndef ETWAS_FILE_LOG_LOSSES_H
#define ETWAS_FILE_LOG_LOSSES_H

#include <stdint.h>

#include "file/log_file.h"
#include "session/loss_table.h"

/* From here on the file has what is in the table, which is given a limit by the file's room. */
void etwas_log_losses_attach(struct etwas_log_file *file, struct etwas_loss_table *table);

/* Something was added to the table: it is in buffer 0, in memory. */
void etwas_log_losses_update(struct etwas_log_file *file);

/* What the file has by now is all. */
void etwas_log_losses_detach(struct etwas_log_file *file);

/* For log_clock_snapshots.c: puts them where the clock snapshots end. Returns how many bytes they are. */
uint32_t etwas_log_losses_write(struct etwas_log_file *file, uint32_t offset);

#endif
