/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Removal of files from the registry's folder: other programs may remove files of this process, and
 * this process removes files of dead ones.
 *
 * inotify on this process's sockets reports the former; the whole folder may be removed, as at the
 * end of a login. The process itself removes its sockets only when it no longer needs them. A
 * living file is never removed as a dead one, whatever other processes do at the same time.
 */
#ifndef ETWAS_REGISTRY_REMOVAL_H
#define ETWAS_REGISTRY_REMOVAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns a descriptor that becomes readable when one of the sockets was, or may have been,
 * removed. -1: the system allows no more of them (the usual limit is 128 for a user), and the
 * caller must check from time to time. One thread at a time.
 */
int etwas_removal_begin(void);

/* Watches the socket of this name from now on. Does nothing without a descriptor. Any thread. */
void etwas_removal_watch(const char *name);

/* Reads the events. */
void etwas_removal_receive(int descriptor);

/* Closes the descriptor; also in a fork's child. Async-signal-safe. */
void etwas_removal_end(void);

/*
 * Removes all files of dead processes. Returns how many; 0 also if there is no folder. It is called
 * once, when a process joins, since it reads every file. A socket that is found before the file
 * that it belongs to stays until the next time.
 */
uint32_t etwas_registry_clear_stale(void);

/* Removes a socket of that folder if its session or process is dead. Returns whether it was. */
bool etwas_registry_clear_socket(int folder, const char *name);

#endif
