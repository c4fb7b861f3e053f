/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Images of other processes, as those told this one that log into its sessions: they name the frames of these
 * processes' stacks. A ring of the newest ones, each with a number that counts up. An image stays when its process is
 * dead, whose events may be in memory for long; when there is no room the oldest one goes.
 */
#ifndef ETWAS_PROVIDER_GUEST_IMAGES_H
#define ETWAS_PROVIDER_GUEST_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "provider/description.h"

enum {
    ETWAS_GUEST_IMAGES = 16384,         /* so many at most, a power of two, */
    ETWAS_GUEST_IMAGES_BYTES = 8 << 20, /* with records of so many bytes */
};

/* Takes over the records of one image. Takes a lock of its own, as all of these but the first below. */
void etwas_guest_images_add(struct etwas_description *image);

/* Whether there are more than those up to this number. Lock-free. */
bool etwas_guest_images_have_more(uint64_t seen);

/* The number of the newest one. */
uint64_t etwas_guest_images_newest(void);

/* As etwas_image_records_read; *seen goes on to the number of the last image that was read. */
uint32_t etwas_guest_images_read(uint64_t *seen, void *data, uint32_t used, uint32_t room,
                                 int64_t stamp);

/* A fork's child has no guests. */
void etwas_guest_images_before_fork(void);
void etwas_guest_images_after_fork(bool is_child);

#endif
