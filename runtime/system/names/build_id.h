/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which build an ELF file is, by its GNU note. The file is anybody's: nothing it says of offsets and
 * sizes is believed, and little of it is read.
 */
#ifndef ETWAS_SYSTEM_NAMES_BUILD_ID_H
#define ETWAS_SYSTEM_NAMES_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_BUILD_ID_ROOM = 20
};

/* How many bytes it has; 0: none is found. Notes one behind the other, as the kernel shows its own. */
uint32_t etwas_build_id_of_notes(const uint8_t *notes, size_t bytes,
                                 uint8_t build_id[ETWAS_BUILD_ID_ROOM]);

/* Of an open file. */
uint32_t etwas_build_id_of_file(int file, uint8_t build_id[ETWAS_BUILD_ID_ROOM]);

/* Of what is open to say where it is (O_PATH), if it is a regular file: no other is opened to be read. */
uint32_t etwas_build_id_of_path_file(int place, uint8_t build_id[ETWAS_BUILD_ID_ROOM]);

#endif
