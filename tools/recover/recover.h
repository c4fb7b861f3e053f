/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_RECOVER_RECOVER_H
#define ETWAS_TOOLS_RECOVER_RECOVER_H

/*
 * The command `etwas recover`: its parts.
 */

#include <etwas/etwas.h>

#include "print/output.h"

enum {
    ETWAS_RECOVER_PATH_BYTES = 8192
};

/* ---- where a mapping is (source.c) ---- */

/*
 * What etwas_recover shall open for a file: the file, or what a compressed core holds, in a file
 * without a name that is open until the program ends. False, and said: it cannot be unpacked.
 */
bool etwas_recover_open(const char *given, char path[ETWAS_RECOVER_PATH_BYTES]);

/* The `index`th mapping among the open files of a process. False: there are not so many. */
bool etwas_recover_of_process(uint32_t process_id, uint32_t index,
                              char path[ETWAS_RECOVER_PATH_BYTES]);

/* Is it called as what a crash-safe session leaves? */
bool etwas_recover_is_pool(const char *path);

/* Calls `found` with each pool file of a folder. False, and said: it cannot be read. */
bool etwas_recover_each(const char *folder, void (*found)(void *context, const char *path),
                        void *context);

/* ---- what is said of it (show.c) ---- */

/* Why there is none. */
const char *etwas_recover_error(uint32_t code);

/* What is wrong with a file, on standard error. `code`: 0, it says nothing more. */
void etwas_recover_complain(const char *path, const char *reason, uint32_t code);

/*
 * Makes a file name of the session's name, which may be anything; cuts it between characters to
 * `room` bytes with its NUL.
 */
void etwas_recover_file_name(const etwas_recovered *found, char *name, size_t room);

void etwas_recover_show(const char *source, const char *output, const etwas_recovered *recovered,
                        bool json);

/* That a pool file was removed. `found`: NULL, it could not be read, and `reason` says why. */
void etwas_recover_show_removed(const char *path, const etwas_recovered *found, const char *reason,
                                bool json);

#endif
