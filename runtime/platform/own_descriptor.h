/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Descriptors of the library that stay open while the program runs. Programs close descriptors that
 * they did not open (closefrom), and then open their own under the same numbers. The library must
 * not read, write or close those. So a protected descriptor has a high number, which programs
 * seldom reach. The library also notes the device and inode of its file or socket, which no other
 * file has while it is open. Before each use the library checks that they are the same.
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
 * Moves a descriptor to a high number and notes its file. Returns its new number, or the old one if
 * no higher one is free. Leaves -1 as it is.
 */
int etwas_descriptor_protect(int descriptor);

bool etwas_descriptor_is_own(int descriptor);

/*
 * Opens the same file again, for reading and writing, with a separate file description: a process
 * that shared a description would share its locks. The new descriptor is not protected. Returns -1
 * on failure. It is not async-signal-safe.
 */
int etwas_descriptor_reopen(int descriptor);

/*
 * Whether enough descriptors are free for the files of a session: its log file, the next one, and
 * one that is open for a moment. Called by parts that can do without descriptors, once they have
 * their own. Opens and closes descriptors to find out. It is not async-signal-safe.
 */
bool etwas_descriptors_leave_room(void);

/*
 * Replaces the file of `descriptor` by that of `other`, in one step, and closes `other`. Returns
 * false, and changes nothing, on failure.
 */
bool etwas_descriptor_replace(int descriptor, int other);

/* Closes the descriptor, unless the program has taken its number. */
void etwas_descriptor_close(int descriptor);

#endif
