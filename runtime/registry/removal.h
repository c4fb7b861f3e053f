/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Watching for the removal of this process's files from the registry's folder, or of the folder, as
 * at the end of a login: by inotify on its sockets, which the process itself removes only when it
 * does not need them any more.
 */
#ifndef ETWAS_REGISTRY_REMOVAL_H
#define ETWAS_REGISTRY_REMOVAL_H

#include <stdbool.h>

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

#endif
