/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Functions whose addresses are known, to be found in stacks.
 */
#ifndef ETWAS_TESTS_SYSTEM_KNOWN_H
#define ETWAS_TESTS_SYSTEM_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls it from a known place. */
void call_from_known(void (*action)(void *argument), void *argument);

/* The instruction that touches is a known place. */
void touch_in_known(volatile uint8_t *memory, size_t pages, size_t page_bytes);

bool is_in_known(uint64_t address);

#endif
