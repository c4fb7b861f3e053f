/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reading files that were made to hurt: what must hold whatever is in them. */
#ifndef ETWAS_TESTS_READER_HOSTILE_H
#define ETWAS_TESTS_READER_HOSTILE_H

#include <stddef.h>
#include <stdint.h>

/* The same sequence in every run. */
uint32_t next_random(void);

/*
 * Reads it every way there is. Whatever is missing must have been named: `events` come, the header
 * event among them, or there is damage.
 */
void read_hostile(const uint8_t *bytes, size_t size, size_t events);

#endif
