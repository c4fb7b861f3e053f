/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Publication of a batch by one restartable sequence, from an image of its records. */
#ifndef ETWAS_BUFFER_PUBLISH_BATCH_H
#define ETWAS_BUFFER_PUBLISH_BATCH_H

#include <stdint.h>

#include "buffer/publish.h"
#include "buffer/quick_rseq.h"

#if ETWAS_RSEQ

/*
 * Publishes the image into the slot of whichever processor runs the caller, in the class row that
 * begins at slot `first`. Stores the stamp in its records, and replaces a full buffer. Returns what
 * etwas_publish_rseq returns; also ETWAS_PUBLISH_FALLBACK if the system time was set back.
 */
uint32_t etwas_publish_image(uint32_t session, uint32_t generation, uint32_t first,
                             struct etwas_batch_image *image);

#endif

/*
 * Does the same for the batch of a record. Returns ETWAS_PUBLISH_FALLBACK as well if an image has
 * no room for it.
 */
uint32_t etwas_publish_batch_rseq(uint32_t session, uint32_t generation, uint32_t first,
                                  const struct etwas_unstamped_record *record);

#endif
