/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The log files of a session: created from its configuration, one after the other, as a sink of
 * what is drained (flush/sink.h). All functions need the session's role.
 *
 * A change of files opens the new one first. If that fails, the session continues with the old one,
 * and nothing has changed. Otherwise it continues with the new one, and the old one is finished
 * with what was lost since it began.
 */
#ifndef ETWAS_FILE_SESSION_FILE_H
#define ETWAS_FILE_SESSION_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "file/log_file.h"
#include "session/session.h"

/* The options that all files of the session have in common; names and sizes are not set. */
struct etwas_log_file_options etwas_session_log_options(const struct etwas_session *session);

/*
 * Creates a file for a snapshot (replaces_whole), which is the session's until it is closed: a
 * fork's child finds it there. The codes of etwas_log_file_create, and ERROR_BAD_PATHNAME for an
 * ill-formed name, ERROR_DISK_FULL (R92).
 */
uint32_t etwas_session_file_create(struct etwas_session *session, const etwas_wchar *file_name);

/*
 * Closes the session's file, which has ended and was stored. Returns false if the system refused.
 */
bool etwas_session_file_close(struct etwas_session *session);

/*
 * Opens the session's first file, if its mode has one. Called after `started` is set and before the
 * gates are open. Returns these codes and those of etwas_file_name_make.
 */
uint32_t etwas_session_file_open(struct etwas_session *session);

/*
 * NEWFILE: continues with the file of the next serial (R96), which is counted on success only. The
 * codes of etwas_session_file_open.
 */
uint32_t etwas_session_file_next(struct etwas_session *session);

/*
 * Does the same for a part that is full, without waiting for the disk. The part is complete at
 * once; the next sync makes it durable and closes it, or the end of several more parts does.
 */
uint32_t etwas_session_file_roll(struct etwas_session *session);

/* Continues with a file of another name, `given` as in StartTrace (R130). The same codes. */
uint32_t etwas_session_file_change(struct etwas_session *session, const etwas_wchar *given);

/* Ends the session's file, if it has one. Errors are counted in sync_errors. */
void etwas_session_file_finish(struct etwas_session *session);

#endif
