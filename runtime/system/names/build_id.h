/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads the build id of an ELF file, from its GNU note. The file may be anybody's: its offsets and
 * sizes are not trusted, and only a little of it is read.
 */
#ifndef ETWAS_SYSTEM_NAMES_BUILD_ID_H
#define ETWAS_SYSTEM_NAMES_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_BUILD_ID_ROOM = 20
};

/*
 * Finds the build id in notes that follow each other, as the kernel shows its own. Returns its
 * bytes; 0: there is none.
 */
uint32_t etwas_build_id_of_notes(const uint8_t *notes, size_t bytes,
                                 uint8_t build_id[ETWAS_BUILD_ID_ROOM]);

/* Does the same for an open file. */
uint32_t etwas_build_id_of_file(int file, uint8_t build_id[ETWAS_BUILD_ID_ROOM]);

/*
 * Does the same for a file that is open with O_PATH, if it is a regular file. Others are not opened
 * for reading.
 */
uint32_t etwas_build_id_of_path_file(int place, uint8_t build_id[ETWAS_BUILD_ID_ROOM]);

#endif
