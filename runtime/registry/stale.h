/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Removing what dead processes have left in the folders. What is living is never removed, whatever
 * other processes do at the same time.
 */
#ifndef ETWAS_REGISTRY_STALE_H
#define ETWAS_REGISTRY_STALE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Removes all of it. Returns the number of files; 0 also where there is no folder. Reads each file
 * there is: called once, when a process joins. A socket that is found before the file it belongs to
 * stays until the next time.
 */
uint32_t etwas_registry_clear_stale(void);

/* Removes a socket of that folder if its session or process is dead. Returns whether it did. */
bool etwas_registry_clear_socket(int folder, const char *name);

#endif
