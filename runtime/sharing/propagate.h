/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A trigger that is passed on: when a window begins all other recorders are asked for the same time. By threads of its own,
 * since that takes as long as they do; the flusher, and who triggered, wait for nothing. There are few of these threads:
 * while all are busy, the windows of a session are joined, and one snapshot of the others serves them.
 */
#ifndef ETWAS_SHARING_PROPAGATE_H
#define ETWAS_SHARING_PROPAGATE_H

#include "file/recorder.h"

enum {
    ETWAS_PROPAGATE_THREADS = 8,
};

/* For etwas_recorder_options.begun. The others' files go to the folder of this one. */
void etwas_propagate(const struct etwas_session *session, const etwas_wchar *file_name,
                     const struct etwas_snapshot_window *window);

/* In a fork's child. */
void etwas_propagate_forget(void);

#endif
