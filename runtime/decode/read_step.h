/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Makes the steps by which the bytes of properties are read (schema.h). */
#ifndef ETWAS_DECODE_READ_STEP_H
#define ETWAS_DECODE_READ_STEP_H

#include "decode/schema.h"

/*
 * Fills a step for each property. Returns false if one is ETWAS_READ_UNKNOWN, because its type is
 * unknown, its members are not its own, its count or length is not read before it, or a bound is
 * exceeded.
 */
bool etwas_read_steps_make(const TRACE_EVENT_INFO *info, struct etwas_read_step *steps);

/*
 * The size of the type's values, where pointers have 8 bytes; 0: sizes differ, or there is no such
 * type.
 */
uint16_t etwas_in_type_bytes(uint16_t in_type);

#endif
