/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* How the bytes of each property are read: decode/schema.h says what a step is. */
#ifndef ETWAS_DECODE_READ_STEP_H
#define ETWAS_DECODE_READ_STEP_H

#include "decode/schema.h"

/*
 * Fills a step for each property. False: one is ETWAS_READ_UNKNOWN, for its type is unknown, its members are
 * not its own, its count or length is not read before, or there is too much of one of them.
 */
bool etwas_read_steps_make(const TRACE_EVENT_INFO *info, struct etwas_read_step *steps);

/* The bytes of every value of the type, where pointers have 8; 0: values differ, or no such type. */
uint16_t etwas_in_type_bytes(uint16_t in_type);

#endif
