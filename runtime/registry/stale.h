/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Removing what dead processes left in the folders. What is living is never removed, whoever does this at the same
 * time.
 */
#ifndef ETWAS_REGISTRY_STALE_H
#define ETWAS_REGISTRY_STALE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Removes all of it. Returns how many files that were; 0 also where there is no folder. Costs a look at each file
 * there is: once, when a process begins to take part. A socket that is met before what it belongs to stays until the
 * next time.
 */
uint32_t etwas_registry_clear_stale(void);

/* Removes a socket of that folder, if it is one whose session or process is dead. Whether it did. */
bool etwas_registry_clear_socket(int folder, const char *name);

#endif
