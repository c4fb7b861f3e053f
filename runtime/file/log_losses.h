/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The losses of one file (etl/own_record.h): the session's loss table (etl/loss_table.h), in buffer
 * 0 after the clock snapshots, which give up half of their room at the first loss. So losses make
 * no file larger, fit into a full one, and are not overwritten in a circular one. A file whose
 * buffer 0 has no room for ETWAS_LOSSES_LEAST has none. The object belongs to the log file and has
 * the same caller.
 */
#ifndef ETWAS_FILE_LOG_LOSSES_H
#define ETWAS_FILE_LOG_LOSSES_H

#include <stdint.h>

#include "etl/loss_table.h"
#include "file/log_file.h"

/* From here on the file contains what is in the table, whose size is limited to the file's room. */
void etwas_log_losses_attach(struct etwas_log_file *file, struct etwas_loss_table *table);

/* Writes the table, if anything was added to it, into buffer 0 in memory. */
void etwas_log_losses_update(struct etwas_log_file *file);

/* Detaches the table: the file gets no further losses. */
void etwas_log_losses_detach(struct etwas_log_file *file);

/*
 * For log_clock_snapshots.c: writes them where the clock snapshots end. Returns how many bytes they
 * take.
 */
uint32_t etwas_log_losses_write(struct etwas_log_file *file, uint32_t offset);

#endif
