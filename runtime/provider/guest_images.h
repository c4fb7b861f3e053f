/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Images of other processes that log into sessions of this one, as they reported them: the images
 * name the frames of these processes' stacks. A ring of the newest images, each with a number that
 * counts up. An image stays when its process has died, because the process's events may be in
 * memory for long; when the ring is full the oldest one goes.
 */
#ifndef ETWAS_PROVIDER_GUEST_IMAGES_H
#define ETWAS_PROVIDER_GUEST_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "provider/description.h"

enum {
    ETWAS_GUEST_IMAGES = 16384,         /* the most images, a power of two */
    ETWAS_GUEST_IMAGES_BYTES = 8 << 20, /* the most bytes of their records */
};

/*
 * Adds the records of one image, and owns them from then on. Takes a lock of its own, as all of
 * these functions except etwas_guest_images_have_more.
 */
void etwas_guest_images_add(struct etwas_description *image);

/* Whether there are images with numbers above this one. Lock-free. */
bool etwas_guest_images_have_more(uint64_t seen);

/* The number of the newest image. */
uint64_t etwas_guest_images_newest(void);

/*
 * Reads as etwas_image_records_read does; *seen becomes the number of the last image that was read.
 */
uint32_t etwas_guest_images_read(uint64_t *seen, void *data, uint32_t used, uint32_t room,
                                 int64_t stamp);

/* Handlers of a fork. Its child has no guests. */
void etwas_guest_images_before_fork(void);
void etwas_guest_images_after_fork(bool is_child);

#endif
