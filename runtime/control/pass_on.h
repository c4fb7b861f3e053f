/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A trigger that is passed on: when a window begins all other recorders are asked for the same time. By a thread of its own,
 * since that takes as long as they do; the flusher, and who triggered, wait for nothing.
 */
#ifndef ETWAS_CONTROL_PASS_ON_H
#define ETWAS_CONTROL_PASS_ON_H

#include "file/recorder.h"

/* For etwas_recorder_options.begun. The others' files go to the folder of this one. */
void etwas_pass_on(const struct etwas_session *session, const etwas_wchar *file_name,
                   const struct etwas_snapshot_window *window);

#endif
