/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Noticing that somebody removes this process's files from the registry's folder, or all of that, as the end of a login
 * does: by inotify on its sockets, which it would remove itself only when it has no more use for them.
 */
#ifndef ETWAS_REGISTRY_REMOVAL_H
#define ETWAS_REGISTRY_REMOVAL_H

#include <stdbool.h>

/*
 * A descriptor, the process's own, that can be read when one of the sockets has gone, or perhaps has. -1: the system has none to
 * give (a user has 128 on most), and somebody has to look from time to time. One thread at a time.
 */
int etwas_removal_begin(void);

/* Notices when the socket of this name goes, from now on. Nothing is done without a descriptor. Any thread. */
void etwas_removal_watch(const char *name);

/* Takes what it has to say. */
void etwas_removal_receive(int descriptor);

/* Closes it; also in a fork's child. Async-signal-safe. */
void etwas_removal_end(void);

#endif
