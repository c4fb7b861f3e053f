/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What guests describe of their events and images (DESCRIBE): how a guest sends it, and how the
 * host stores it with what it describes itself.
 */
#ifndef ETWAS_SHARING_DESCRIPTIONS_H
#define ETWAS_SHARING_DESCRIPTIONS_H

#include <stdint.h>

#include "sharing/guest_table.h"

/*
 * Sends the host the descriptions, and if the session takes stacks the images, that it does not
 * have yet. Waits until the deadline while the host's queue is full; the rest is sent the next
 * time. The caller holds the lock of guest_table.h.
 */
void etwas_guest_describe(struct etwas_guest *guest, uint64_t deadline_ns);

/*
 * Stores a subject of description.h with its records; records of the Image class are those of
 * images. They are checked to be whole records of known classes; what they say is for the reader of
 * the file to check. Others are left out, as is everything without memory.
 */
void etwas_host_store_descriptions(const void *body, uint32_t bytes);

#endif
