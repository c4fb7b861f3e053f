/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Descriptions of events and images that guests send (DESCRIBE): how a guest sends them, and how
 * the host stores them with its own.
 */
#ifndef ETWAS_SHARING_DESCRIPTIONS_H
#define ETWAS_SHARING_DESCRIPTIONS_H

#include <stdint.h>

#include "sharing/guest_table.h"

/*
 * Sends the host the descriptions that it does not have yet, and if the session takes stacks the
 * images. Waits until the deadline while the host's queue is full; the next call sends the rest.
 * The caller holds the lock of guest_table.h.
 */
void etwas_guest_describe(struct etwas_guest *guest, uint64_t deadline_ns);

/*
 * Stores a subject of description.h with its records; records of the Image class are those of
 * images. It checks that they are whole records of known classes; the reader of the file checks
 * their content. Other records are left out, and all of them if there is no memory.
 */
void etwas_host_store_descriptions(const void *body, uint32_t bytes);

#endif
