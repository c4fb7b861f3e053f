/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Files that are removed from the registry's folder: those of this process, by somebody else, and
 * those of dead processes, by this one.
 *
 * The first are noticed by inotify on this process's sockets, which it removes itself only when it
 * does not need them any more; the folder may go as a whole, as at the end of a login. No living
 * file is removed as a dead one, whatever other processes do at the same time.
 */
#ifndef ETWAS_REGISTRY_REMOVAL_H
#define ETWAS_REGISTRY_REMOVAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A descriptor of the process that can be read when one of the sockets has, or may have, gone. -1:
 * the system has none to give (a user has 128 on most), and the caller has to check from time to
 * time. One thread at a time.
 */
int etwas_removal_begin(void);

/* Watches the socket of this name from now on. Nothing is done without a descriptor. Any thread. */
void etwas_removal_watch(const char *name);

/* Reads the events. */
void etwas_removal_receive(int descriptor);

/* Closes the descriptor; also in a fork's child. Async-signal-safe. */
void etwas_removal_end(void);

/*
 * Removes all of it. Returns the number of files; 0 also where there is no folder. Reads each file
 * there is: called once, when a process joins. A socket that is found before the file it belongs to
 * stays until the next time.
 */
uint32_t etwas_registry_clear_stale(void);

/* Removes a socket of that folder if its session or process is dead. Returns whether it did. */
bool etwas_registry_clear_socket(int folder, const char *name);

#endif
