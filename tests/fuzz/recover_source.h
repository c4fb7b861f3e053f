/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Recovers from bytes as from a file: what is in it is recovered, or refused; what is recovered is
 * a sound file, whatever stood in the mapping.
 */
#ifndef TESTS_FUZZ_RECOVER_SOURCE_H
#define TESTS_FUZZ_RECOVER_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file of this name for this process; until the next is asked for. */
const char *recover_path(const char *name);

/* The `index`th mapping in it. False: there are not so many, or it is refused. */
bool recover_source(const uint8_t *data, size_t size, uint32_t index);

#endif
