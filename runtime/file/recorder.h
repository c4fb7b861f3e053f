/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The recorder: what the flusher of a buffering-mode session does for triggers.
 *
 *     WAITING ──a trigger──▶ OPEN ──its time is over, or the session ends──▶ the file ──▶ WAITING
 *
 *     WAITING   a trigger that comes too soon after the last, or beyond the cap, is only counted
 *     OPEN      each buffer of the window is pinned as soon as it is full, until only the reserve
 *               is left to the writers. Triggers that come are joined to the window
 *     the file  is written in one pass of the flusher; then nothing is pinned any more. A trigger
 *               that comes meanwhile begins the next window
 *
 * Writers do not wait: they skip pinned buffers, and overwrite the next. So that they always find
 * one, what each slot needs to continue is never pinned (recorder_least_reserve).
 *
 * All of it needs the flusher's role.
 */
#ifndef ETWAS_FILE_RECORDER_H
#define ETWAS_FILE_RECORDER_H

#include <stdint.h>

#include "session/session.h"

struct etwas_snapshot_window;

struct etwas_recorder_options {
    etwas_wchar file_name[ETWAS_NAME_UNITS + 1]; /* with one %d; checked */
    int64_t before_ticks; /* ticks of the session's clock; INT64_MAX: everything */
    uint64_t after_ns;
    uint64_t least_gap_ns;  /* between the beginnings of two windows */
    uint32_t spare_buffers; /* buffers left to writers; 0: half of all */
    uint32_t maximum_files; /* 0: no limit */
    uint64_t maximum_bytes; /* size of all files; 0: no limit */

    /* Called before a file is written, to record what else belongs in it. NULL: nothing. */
    void (*prepare)(struct etwas_session *session);
    /*
     * Called when a window has begun, with the name that its file will have. Must not wait. May be
     * NULL.
     */
    void (*begun)(const struct etwas_session *session, const etwas_wchar *file_name,
                  const struct etwas_snapshot_window *window);
};

/*
 * Arms the triggers of a session that runs. Role held. A pool with too few buffers for a window
 * grows, if its region has room for that. ERROR_ALREADY_EXISTS: they are armed;
 * ERROR_NOT_SUPPORTED: it is no recorder, is not for this process, or has no flusher thread;
 * ERROR_INVALID_PARAMETER: with this many spare buffers, or so few in all, none can be pinned, and
 * *needed is how many buffers would be needed (0 for all other results); ERROR_DISK_FULL and
 * ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_recorder_arm(struct etwas_session *session,
                            const struct etwas_recorder_options *options, uint32_t *needed);

#endif
