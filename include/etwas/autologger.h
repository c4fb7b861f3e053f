/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_AUTOLOGGER_H
#define ETWAS_AUTOLOGGER_H

/*
 * AutoLogger sessions: those that a file describes, by the names of ETW's registry values, and which the library starts by
 * itself when a program that the file names registers its first provider. ETW does it when the system boots.
 * docs/autologger.md says what a file may have.
 *
 * A NAME of one is either a path, with a `/` in it, or NAME.autologger is looked for in $XDG_CONFIG_HOME/etwas (else
 * $HOME/.config/etwas), then in /etc/etwas. Folder and file must belong to root or to the user, and others may not write
 * them; of a path the file alone. A program that has another user's rights (AT_SECURE) looks into /etc/etwas alone, and
 * believes root alone.
 */

#include <etwas/types.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

/* What became of one file, or would. All that it points to is gone when the callback returns. */
typedef struct etwas_autologger_report {
    const char *path; /* of the file, or of a folder that is not to be trusted */
    const char
        *session;  /* its session's name: that of the file without its end; empty of a folder */
    uint32_t line; /* where it is wrong, from 1 on; 0: that is in no line of it */
    /*
     * ERROR_SUCCESS: the session starts. ERROR_NOT_FOUND: there is nothing wrong, but it is not for this program; `reason`
     * says why. Else why it cannot be: ERROR_FILE_NOT_FOUND; ERROR_ACCESS_DENIED, the file is not to be trusted or cannot
     * be read; ERROR_INVALID_DATA, a line is wrong; what StartTrace and EnableTraceEx2 return.
     */
    uint32_t code;
    const char *reason; /* a part of a sentence; of ERROR_SUCCESS it is empty */
} etwas_autologger_report;

typedef void (*etwas_autologger_callback)(const etwas_autologger_report *report, void *context);

/*
 * Says of each AutoLogger whether it would start in a program whose file has this name (a path will do), in this process's
 * environment; with `program` NULL, whether it could in one that it names. `name` is one of them; NULL: all that there are. Starts nothing;
 * whether its file can be written is not tried. The callback is called in this thread, once for each.
 * Thread-safe; not for signal handlers; reads files. Errors: ERROR_INVALID_PARAMETER, no callback;
 * ERROR_NOT_ENOUGH_MEMORY; ERROR_ALREADY_INITIALIZED, another copy of the library serves the process.
 */
uint32_t etwas_autologger_check(const char *name, const char *program,
                                etwas_autologger_callback callback, void *context)
    ETWAS_API(etwas_autologger_check);

/*
 * Starts the session of a file in this process, whichever programs it names, and enables its providers. It is shared
 * (ETWAS_SHARING_USER): a private one is for programs alone. `callback`, which may be NULL, is told once what became of it. On failure *session
 * is 0 and nothing runs. Thread-safe; not for signal handlers.
 *
 * Errors: ERROR_INVALID_PARAMETER for NULL (then nothing is told), or a private mode; those of the report, but for
 * ERROR_NOT_FOUND; ERROR_ALREADY_EXISTS, it runs; ERROR_NOT_ENOUGH_MEMORY; ERROR_ALREADY_INITIALIZED, another copy of the
 * library serves the process.
 */
uint32_t etwas_autologger_start(const char *name, etwas_autologger_callback callback, void *context,
                                etwas_trace_handle *session) ETWAS_API(etwas_autologger_start);

ETWAS_END_DECLS

#endif
