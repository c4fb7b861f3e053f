/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_NUMBER_H
#define ETWAS_TOOLS_STEER_NUMBER_H

/*
 * Numbers of options: decimal, or hexadecimal with 0x.
 */

#include <stdbool.h>
#include <stdint.h>

/* False: it is no number, something follows it, or it is out of range. */
bool etwas_steer_number(const char *text, uint64_t least, uint64_t most, uint64_t *number);

/* The same of a member of 32 bits. */
bool etwas_steer_number_32(const char *text, uint32_t least, uint32_t most, uint32_t *number);

/* A level: its number up to 255, or critical, error, warning, information, verbose, in any case. */
bool etwas_steer_level(const char *text, uint8_t *level);

#endif
