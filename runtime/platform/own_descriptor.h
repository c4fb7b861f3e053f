/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Descriptors of the library that stay open while the program runs. Programs close descriptors that
 * they did not open (closefrom), and then open their own under the same numbers: none of these may
 * be read, written or closed by the library. So a protected descriptor has a high number, which
 * programs seldom reach, and the library notes the file or socket that it is open on: device and
 * inode, which nothing else has while it is open. Before each use the library checks that they are
 * the same.
 *
 * Between check and use another thread of the program may close the descriptor and open its own.
 * That race remains.
 *
 * All functions are async-signal-safe, unless they say otherwise. A descriptor that was not
 * protected, or whose number is above ETWAS_OWN_DESCRIPTORS, counts as the library's.
 */
#ifndef ETWAS_PLATFORM_OWN_DESCRIPTOR_H
#define ETWAS_PLATFORM_OWN_DESCRIPTOR_H

#include <stdbool.h>

enum {
    ETWAS_OWN_DESCRIPTORS = 4096,
};

/*
 * Moves a descriptor to a high number and notes what it is open on. Returns its new number, or the
 * old one where there is no higher. -1 stays.
 */
int etwas_descriptor_protect(int descriptor);

bool etwas_descriptor_is_own(int descriptor);

/*
 * Opens the same file again, for reading and writing, with a file description of its own: a process
 * that shared a description would share its locks. The new descriptor is not protected. Returns -1
 * on failure. It is not async-signal-safe.
 */
int etwas_descriptor_reopen(int descriptor);

/*
 * Whether as many descriptors are free as the files of a session need: its log file, the next one,
 * and one that is open for a moment. Called by parts that can do without descriptors, once they
 * have their own. Opens and closes descriptors to find out. It is not async-signal-safe.
 */
bool etwas_descriptors_leave_room(void);

/*
 * Replaces the file behind `descriptor` by the one behind `other`, in one step, and closes `other`.
 * Returns false with nothing changed.
 */
bool etwas_descriptor_replace(int descriptor, int other);

/* Closes the descriptor, unless its number is the program's by now. */
void etwas_descriptor_close(int descriptor);

#endif
