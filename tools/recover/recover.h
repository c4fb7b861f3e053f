/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_RECOVER_RECOVER_H
#define ETWAS_TOOLS_RECOVER_RECOVER_H

/*
 * The parts of the command `etwas recover`.
 */

#include <etwas/etwas.h>

#include "print/output.h"

enum {
    ETWAS_RECOVER_PATH_BYTES = 8192
};

/* ---- sources (source.c) ---- */

/*
 * Stores in `path` the file to pass to etwas_recover: the file itself, or an unpacked copy of a
 * compressed core. The copy is an unnamed file that stays open until the program ends. Returns
 * false after a message if the core cannot be unpacked.
 */
bool etwas_recover_open(const char *given, char path[ETWAS_RECOVER_PATH_BYTES]);

/*
 * Stores in `path` the `index`th pool, from 0, among the open files of a process. Returns false if
 * there are fewer.
 */
bool etwas_recover_of_process(uint32_t process_id, uint32_t index,
                              char path[ETWAS_RECOVER_PATH_BYTES]);

/* Returns whether the name is that of a pool file, which a crash-safe session leaves. */
bool etwas_recover_is_pool(const char *path);

/* Calls `found` with each pool file of a folder. Returns false after a message on failure. */
bool etwas_recover_each(const char *folder, void (*found)(void *context, const char *path),
                        void *context);

/* ---- output (show.c) ---- */

/* Returns why nothing could be recovered. `code` is an error of etwas_recover. */
const char *etwas_recover_error(uint32_t code);

/* Prints a message about a file on standard error, with the code if that is not 0. */
void etwas_recover_complain(const char *path, const char *reason, uint32_t code);

/*
 * Makes a file name of the session's name, which may have any characters. Cuts it between
 * characters to `room` bytes, including its NUL.
 */
void etwas_recover_file_name(const etwas_recovered *found, char *name, size_t room);

void etwas_recover_show(const char *source, const char *output, const etwas_recovered *recovered,
                        bool json);

/* Prints that a pool file was removed. `found` is NULL if it could not be read, for `reason`. */
void etwas_recover_show_removed(const char *path, const etwas_recovered *found, const char *reason,
                                bool json);

#endif
