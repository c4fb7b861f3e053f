/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Snapshots: what a buffering-mode session holds, written to a file of its own while logging goes
 * on. A signal handler writes one by prepared_snapshot.h.
 */
#ifndef ETWAS_FILE_SNAPSHOT_H
#define ETWAS_FILE_SNAPSHOT_H

#include <stdint.h>

#include "session/session.h"

/* The window of a snapshot, which the file records (etl/own_record.h). Raw stamps. */
struct etwas_snapshot_window {
    int64_t begin;        /* a buffer without a later record is left out */
    int64_t trigger;      /* or when the snapshot was requested */
    uint32_t number;      /* number among the session's windows, from 1; 0: not one of them */
    uint32_t triggers;    /* triggers that it contains */
    uint64_t lost_before; /* events that the session had lost at the trigger */
    uint64_t bytes;       /* receives the size of the file; 0: there is none */
};

/*
 * Writes every complete record that the session holds, newest buffers first, to the file
 * `file_name` (UTF-16, terminated). Consumes nothing. Protects one buffer at a time from being
 * overwritten, besides those that the session's recorder has pinned, which stay pinned. Role held.
 * Returns the codes of etwas_log_file_create and etwas_log_file_write, or ERROR_NOT_ENOUGH_MEMORY;
 * after an error, a file that was created is readable. A file that existed before stays as it is
 * until the new one is complete.
 */
uint32_t etwas_snapshot_write(struct etwas_session *session, const etwas_wchar *file_name);

/* Does the same for a window, which says what to leave out. */
uint32_t etwas_snapshot_write_window(struct etwas_session *session, const etwas_wchar *file_name,
                                     struct etwas_snapshot_window *window);

#endif
