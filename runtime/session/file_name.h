/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Makes the name of the file to write from the given name (R14, R96, R98). */
#ifndef ETWAS_SESSION_FILE_NAME_H
#define ETWAS_SESSION_FILE_NAME_H

#include <etwas/types.h>
#include <stdint.h>

#include "session/configuration.h"

/*
 * If the mode has NEWFILE, the one field `%d` (or `%5d`, `%05d`) of `given` becomes `serial`, which
 * counts from 1. A private session's name gets `_` and the process id appended. Both are possible.
 *
 *     ("log%03d.etl", NEWFILE, 7, 42)            → "log007.etl"
 *     ("log.etl", PRIVATE_LOGGER, 1, 42)         → "log.etl_42"
 *     ("log.etl", 0, 1, 42)                      → "log.etl"
 *
 * ERROR_INVALID_NAME: NEWFILE without exactly one such field. ERROR_BAD_PATHNAME: the result is
 * longer than 1,024 characters. `made` is always terminated.
 */
uint32_t etwas_file_name_make(const etwas_wchar *given, uint32_t log_file_mode, uint32_t serial,
                              uint32_t process_id, etwas_wchar made[ETWAS_NAME_UNITS + 1]);

/*
 * Makes the name absolute, for processes with another working directory. An empty name stays empty.
 * ERROR_BAD_PATHNAME: it is too long then, or the working directory has no name.
 */
uint32_t etwas_file_name_make_absolute(etwas_wchar file_name[ETWAS_NAME_UNITS + 1]);

#endif
