/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Descriptors that stay open while the program does what it likes. Programs close what they did not open (closefrom), and
 * then open their own under the same numbers: none of these may be read, written or closed by us. So a descriptor that is
 * kept has a high number, which programs seldom get to, and it is noted what it is open on: a file or a socket of its own, whose
 * number in its file system nothing else has while it is open. Who is about to use it asks whether it is still that.
 *
 * Between the asking and the use a program may do both, closing and opening, in another thread. That moment is left.
 *
 * All functions are async-signal-safe, unless they say otherwise. A descriptor that was not kept, or whose number is above
 * ETWAS_OWN_DESCRIPTORS, is taken for ours.
 */
#ifndef ETWAS_PLATFORM_OWN_DESCRIPTOR_H
#define ETWAS_PLATFORM_OWN_DESCRIPTOR_H

#include <stdbool.h>

enum {
    ETWAS_OWN_DESCRIPTORS = 4096,
};

/* Returns its new number, or the old one where there is no higher. -1 stays. */
int etwas_descriptor_protect(int descriptor);

bool etwas_descriptor_is_own(int descriptor);

/*
 * A descriptor of the same file, for reading and writing, by a description of its own: a process that shares one has every lock
 * of it, too. It is not kept. -1: it cannot be opened. Not async-signal-safe.
 */
int etwas_descriptor_reopen(int descriptor);

/*
 * Whether as many descriptors are left as the files of a session need: its log file, the next one, and one that is open
 * for a moment. Asked by what can do without descriptors, once it has its own. Not async-signal-safe; what it opens to
 * know it is closed again.
 */
bool etwas_descriptors_leave_room(void);

/* Its number is of what `other` is open on from here on, in one step, and `other` is closed. False: as it was. */
bool etwas_descriptor_replace(int descriptor, int other);

/* Closes it, unless it is the program's by now. */
void etwas_descriptor_close(int descriptor);

#endif
