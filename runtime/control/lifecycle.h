/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A session from start to stop, for all public functions: start, flush, snapshot, stop, and changes
 * meanwhile (change.c). No function here is a cancellation point, except start, whose callers
 * disable cancellation.
 */
#ifndef ETWAS_CONTROL_LIFECYCLE_H
#define ETWAS_CONTROL_LIFECYCLE_H

#include <etwas/types.h>
#include <stdint.h>

#include "buffer/pool.h"
#include "session/session.h"

/*
 * Called with the session while no other thread can end it and its entry cannot be reused: before
 * it is opened, or after its last buffer. May be NULL.
 */
typedef void (*etwas_lifecycle_report)(const struct etwas_session *session,
                                       const etwas_session_counts *counts, void *context);

/*
 * Starts a session with a complete configuration. On success it runs and *handle is its handle.
 * Takes ownership of the flusher configuration's memory, also on failure.
 */
uint32_t etwas_lifecycle_start(struct etwas_configuration *configuration,
                               etwas_lifecycle_report report, void *context,
                               etwas_trace_handle *handle);

/*
 * Stops the session of a key. ERROR_WMI_INSTANCE_NOT_FOUND if it does not run,
 * ERROR_ACTIVE_CONNECTIONS while another thread stops it.
 */
uint32_t etwas_lifecycle_stop(struct etwas_session_key key, etwas_lifecycle_report report,
                              void *context);

/*
 * Acquires the role of a running session, so that other threads can neither flush nor end it until
 * it is released. Returns NULL if the session does not run; nothing is held then.
 */
struct etwas_session *etwas_lifecycle_acquire_role(struct etwas_session_key key);
void etwas_lifecycle_release_role(struct etwas_session *session);

/*
 * Writes the recorded events to the session's file, durably. ERROR_NOT_SUPPORTED in buffering mode;
 * ERROR_WRITE_FAULT or ERROR_DISK_FULL if not everything could be written or made durable.
 */
uint32_t etwas_lifecycle_flush(struct etwas_session_key key);

/*
 * Writes a snapshot of a buffering-mode session; `file_name` is UTF-16. A session that this
 * process's filters exclude has nothing to write: it makes no file and returns ERROR_SUCCESS.
 */
uint32_t etwas_lifecycle_snapshot(struct etwas_session_key key, const etwas_wchar *file_name);

/*
 * Does the same for one window, which the file describes: the events since `before_ns` nanoseconds
 * before the moment, a stamp of ETWAS_CLOCK_QPC; 0: everything.
 */
uint32_t etwas_lifecycle_snapshot_around(struct etwas_session_key key, const etwas_wchar *file_name,
                                         int64_t moment, uint64_t before_ns);

/* Updates the images, so that the next data written include all images loaded until now. */
void etwas_lifecycle_update_images(struct etwas_session_key key);

/* The changes of an UPDATE; a member that is 0 changes nothing (R132). */
struct etwas_update {
    const etwas_wchar *file_name; /* NULL: the file stays */
    uint32_t flush_timer;         /* in the session's own unit */
    uint32_t maximum_buffers;
    uint32_t log_file_mode;
    uint32_t enable_flags;
};

/*
 * Changes a running session (R130–R137). Everything is checked before anything changes, and if a
 * file cannot be begun nothing changes either. ERROR_INVALID_PARAMETER if a member may not be
 * changed, or real time would be turned off without a file; ERROR_BAD_PATHNAME for a file name that
 * is the present one or too long; and the codes of opening a log file.
 */
uint32_t etwas_lifecycle_update(struct etwas_session_key key, const struct etwas_update *update);

/*
 * Goes on with the next file of a new-file set (R96). ERROR_INVALID_PARAMETER for other sessions.
 */
uint32_t etwas_lifecycle_next_file(struct etwas_session_key key);

/*
 * Turns real time on and finishes the file, which holds everything recorded before the call.
 * ERROR_INVALID_PARAMETER for modes that cannot be real-time; otherwise the reason why there can be
 * no backlog.
 */
uint32_t etwas_lifecycle_convert_to_realtime(struct etwas_session_key key);

/* Properties of memory that a session requires. */

/*
 * Checks that a new pool has all of `required`. ERROR_ACCESS_DENIED for LOCK,
 * ERROR_NOT_ENOUGH_MEMORY for the others; an explanation is stored.
 */
uint32_t etwas_required_memory_check(const struct etwas_pool *pool, uint32_t required);

/* Starts a crash-safe session: its pool lies in a mapping, with all data that a log file needs. */

/*
 * Creates the mapping of a session that is to be crash-safe, and stores its file in the options of
 * the pool. On failure returns a code and stores an explanation (etwas_crash_safe_refusal).
 */
uint32_t etwas_crash_safe_begin(struct etwas_session *session, struct etwas_pool_options *options);

/* Makes the mapping recoverable from here on. Called before the session's gates are opened. */
void etwas_crash_safe_open(struct etwas_session *session);

/* Ends the mapping after a start that failed before there was a pool. */
void etwas_crash_safe_end(struct etwas_session *session);

#endif
