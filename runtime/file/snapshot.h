/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Snapshots: what a buffering-mode session holds, written to a file of its own while logging goes
 * on.
 */
#ifndef ETWAS_FILE_SNAPSHOT_H
#define ETWAS_FILE_SNAPSHOT_H

#include "session/session.h"

/*
 * Writes every whole record the session holds, newest buffers first, to the file `file_name`
 * (UTF-16, terminated). Consumes nothing; keeps one buffer at a time from being overwritten. The
 * caller holds the role. A Win32 code: those of etwas_log_file_create and etwas_log_file_write; the
 * file that exists is readable.
 */
uint32_t etwas_snapshot_write(struct etwas_session *session, const etwas_wchar *file_name);

#endif
