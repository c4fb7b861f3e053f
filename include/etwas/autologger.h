/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_AUTOLOGGER_H
#define ETWAS_AUTOLOGGER_H

/*
 * AutoLogger sessions. A file describes such a session by the names of ETW's registry values. The
 * library starts it by itself when a program that the file names registers its first provider. ETW
 * does so when the system boots. docs/howto/autologger.md says what a file may contain.
 *
 * A NAME with a `/` in it is a path. Any other NAME stands for NAME.autologger in
 * $XDG_CONFIG_HOME/etwas (else $HOME/.config/etwas), and then in /etc/etwas. Folder and file must
 * belong to root or to the user, and other users must not be able to write them; for a path this
 * holds for the file alone. A program with another user's rights (AT_SECURE) uses only /etc/etwas
 * and trusts only root.
 */

#include <etwas/types.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

/* The result for one file. All pointers are valid until the callback returns. */
typedef struct etwas_autologger_report {
    const char *path; /* path of the file, or of a folder that is not trusted */
    /* The session's name, which is the file's name without its extension; empty for a folder. */
    const char *session;
    /* The line with the error, from 1 on; 0: the error is in no particular line. */
    uint32_t line;
    /*
     * ERROR_SUCCESS: the session starts. Any other code says why it does not; `reason` gives
     * details.
     *
     * ERROR_NOT_FOUND: the file is valid, but not for this program.
     * ERROR_FILE_NOT_FOUND: there is no such file.
     * ERROR_ACCESS_DENIED: the file is not trusted, or cannot be read.
     * ERROR_INVALID_DATA: a line is wrong.
     *
     * Other codes are those of StartTrace and EnableTraceEx2.
     */
    uint32_t code;
    const char *reason; /* part of a sentence; empty for ERROR_SUCCESS */
} etwas_autologger_report;

typedef void (*etwas_autologger_callback)(const etwas_autologger_report *report, void *context);

/*
 * Reports for each AutoLogger whether it would start in a program with this file name (a path is
 * accepted), in this process's environment. If `program` is NULL, it reports whether it could start
 * in a program that it names. `name` selects one AutoLogger; NULL selects all. The call starts
 * nothing. It tests whether the folder of the log file is there, and not whether the file can be
 * written. `callback` is called in this thread, once for each AutoLogger. The function reads files.
 * Thread-safe; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: `callback` is NULL.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 * ERROR_ALREADY_INITIALIZED: another copy of the library serves the process.
 */
uint32_t etwas_autologger_check(const char *name, const char *program,
                                etwas_autologger_callback callback, void *context)
    ETWAS_API(etwas_autologger_check);

/*
 * Starts the session of a file in this process, regardless of the programs that the file names, and
 * enables its providers. The session is shared (ETWAS_SHARING_USER), because a private one belongs
 * to the named programs. `callback`, which may be NULL, is called once with the result. On failure
 * *session is 0 and nothing runs. Thread-safe; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: an argument is NULL (the callback is not called then), or the mode is
 *   private.
 * ERROR_ALREADY_EXISTS: the session runs already.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 * ERROR_ALREADY_INITIALIZED: another copy of the library serves the process.
 *
 * Other errors are those of the report, except ERROR_NOT_FOUND.
 */
uint32_t etwas_autologger_start(const char *name, etwas_autologger_callback callback, void *context,
                                etwas_trace_handle *session) ETWAS_API(etwas_autologger_start);

ETWAS_END_DECLS

#endif
