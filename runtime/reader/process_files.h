/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* ProcessTrace on files: their streams are opened, merged, and delivered in one order of time. */
#ifndef ETWAS_READER_PROCESS_FILES_H
#define ETWAS_READER_PROCESS_FILES_H

#include "reader/event_step.h"

struct etwas_files_run;

/*
 * Makes a run of `count` files. If it is aligned, files of one machine are on one time line, and
 * records of several files count once. NULL without memory.
 */
struct etwas_files_run *etwas_files_run_new(uint32_t count, const struct etwas_span *span,
                                            bool is_aligned);

/*
 * Opens the files of these traces, which the caller has acquired, and delivers all events in the
 * span. Called once. Returns what ProcessTrace returns of files.
 */
uint32_t etwas_files_run_process(struct etwas_files_run *run, struct etwas_trace *const *traces);

/* Closes the files and frees the run, in the midst of it too: when a callback ends the thread. */
void etwas_files_run_free(struct etwas_files_run *run);

#endif
