/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What turns the addresses of stacks into names: the images of the process, as records that are
 * ready but for their stamp and ids. An image is a record of ETW's Image class and, where it has a
 * build id, one of its debug identifiers (docs/file-format.md).
 *
 * One table for the process; its files and consumers go on from where they were, as they do with
 * descriptions. Each image has a number, and the one that was found last the greatest. What is
 * unloaded stays, for the stacks of events that are still in memory, until something else is loaded
 * where it was, or too many newer ones are unloaded. What is loaded there has a greater number, and
 * so comes behind it in every file.
 */
#ifndef ETWAS_PROVIDER_IMAGE_RECORDS_H
#define ETWAS_PROVIDER_IMAGE_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "etl/layout.h"

/*
 * Looks what has been loaded and unloaded since the last time. With no lock held: it takes the
 * loader's.
 */
void etwas_image_records_update(void);

/* How far the table was read; zeroed: from its beginning. */
struct etwas_image_cursor {
    uint64_t seen;  /* up to this number */
    uint64_t begun; /* the greatest number when reading began; 0: it has not */
};

/* Whether there may be more. Lock-free. */
bool etwas_image_records_have_more(const struct etwas_image_cursor *cursor);

/* Goes on to the end. */
void etwas_image_records_skip(struct etwas_image_cursor *cursor);

/*
 * Copies the next records that fit behind the first `used` of `room` bytes, with this stamp and the
 * thread's ids: those of images that were there when reading began as there, later ones as loaded.
 * Returns how many bytes are used then; as many as before: there are no more, or no room. What fits
 * into no buffer of so much room is left out. Takes a lock of its own.
 */
uint32_t etwas_image_records_read(struct etwas_image_cursor *cursor, void *data, uint32_t used,
                                  uint32_t room, int64_t stamp);

/* What a record is: an image, or the build of the one before it. */
enum etwas_image_record {
    ETWAS_NO_IMAGE_RECORD,
    ETWAS_IMAGE_RECORD,
    ETWAS_IMAGE_RECORD_OF_BUILD,
};
enum etwas_image_record etwas_image_record_of(const struct etwas_etl_full_header *header);

/* A fork waits until nobody changes the table; a child looks again: it has another process id. */
void etwas_image_records_before_fork(void);
void etwas_image_records_after_fork(bool in_child);

#endif
