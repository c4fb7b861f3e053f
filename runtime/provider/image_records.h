/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The images of the process, as records that lack only their stamp and ids. Readers use them to
 * turn the addresses of stacks into names (etl/kernel_class.h).
 *
 * The process has one table; its files and consumers continue from where they were, as with
 * descriptions. Each image has a number; the image found last has the greatest. An unloaded image
 * stays, for the stacks of events that are still in memory, until another is loaded where it was,
 * or too many newer ones are unloaded. The image loaded in its place has a greater number, and so
 * follows it in every file.
 */
#ifndef ETWAS_PROVIDER_IMAGE_RECORDS_H
#define ETWAS_PROVIDER_IMAGE_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "provider/description.h"

/*
 * Updates the table with what was loaded and unloaded since the last call. No lock is held: this
 * takes the loader's.
 */
void etwas_image_records_update(void);

/* How far the table was read; zeroed: nothing. */
struct etwas_image_cursor {
    uint64_t seen;  /* the last number that was read */
    uint64_t begun; /* the greatest number when reading began; 0: it has not begun */
};

/* Whether there may be more images. Lock-free. */
bool etwas_image_records_have_more(const struct etwas_image_cursor *cursor);

/* Moves the cursor to the end. */
void etwas_image_records_skip(struct etwas_image_cursor *cursor);

/*
 * Copies the next records that fit after the first `used` of `room` bytes, with this stamp and the
 * thread's ids: images that existed when reading began as existing, later ones as loaded. Returns
 * how many bytes are used then; `used` means that there are no more, or there is no room. Skips
 * records that fit into no buffer of that size. Takes a lock of its own.
 */
uint32_t etwas_image_records_read(struct etwas_image_cursor *cursor, void *data, uint32_t used,
                                  uint32_t room, int64_t stamp);

/*
 * Handlers of a fork: the parent's waits until no thread changes the table, the child's has all
 * images read again, because its process id is another.
 */
void etwas_image_records_before_fork(void);
void etwas_image_records_after_fork(bool in_child);

/*
 * Images of other processes that log into sessions of this one, as they reported them: the images
 * name the frames of these processes' stacks. A ring of the newest images, each with a number that
 * counts up. An image stays when its process has died, because the process's events may be in
 * memory for long; when the ring is full the oldest one goes.
 */

enum {
    ETWAS_GUEST_IMAGES = 16384,         /* the most images, a power of two */
    ETWAS_GUEST_IMAGES_BYTES = 8 << 20, /* the most bytes of their records */
};

/*
 * Adds the records of one image, and owns them from then on. Takes a lock of its own, as do all of
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
