/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The log file of a session: made from its configuration, and ended with it.
 */
#ifndef ETWAS_FLUSH_SESSION_FILE_H
#define ETWAS_FLUSH_SESSION_FILE_H

#include "flush/log_file.h"
#include "session/session.h"

/* Creates a log file for the session's events. Win32 codes of etwas_log_file_create, and
 * ERROR_BAD_PATHNAME for an ill-formed name, ERROR_DISK_FULL (R92). */
uint32_t etwas_session_file_create(const struct etwas_session *session,
                                   const etwas_wchar *file_name, struct etwas_log_file **file);

/*
 * The end of a session's buffers: after its gates are closed and its thread has ended. Drains what
 * is recorded (a session with a file), finishes the file, keeps the last counts and returns the
 * memory. A writer that does not come out of a record or of the slow path of a shared slot within
 * the patience keeps the memory: it is leaked, never pulled away. Writers in slots with sequences
 * are not waited for; if the system refuses the fence that ends their sequences, the memory is
 * leaked too.
 */
void etwas_session_shut_down(struct etwas_session *session);

#endif
