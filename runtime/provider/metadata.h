/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Metadata: records, besides the session's events, that every file and every consumer gets. They
 * are descriptions (description.h) and, in a session that takes stacks, images (image_records.h):
 * of the process, and of the processes that log into its sessions.
 */
#ifndef ETWAS_PROVIDER_METADATA_H
#define ETWAS_PROVIDER_METADATA_H

#include "provider/description.h"
#include "provider/image_records.h"
#include "session/session.h"

/* How far the metadata was read; zeroed: nothing. */
struct etwas_metadata_cursor {
    struct etwas_description_cursor descriptions;
    struct etwas_image_cursor images;
    uint64_t guest_images; /* the last number that was read */
};

/* Whether there may be more. Lock-free. */
static inline bool etwas_metadata_has_more(const struct etwas_metadata_cursor *cursor,
                                           bool takes_stacks)
{
    return etwas_descriptions_have_more(&cursor->descriptions) ||
           (takes_stacks && (etwas_image_records_have_more(&cursor->images) ||
                             etwas_guest_images_have_more(cursor->guest_images)));
}

/* Moves the cursor to the end. */
static inline void etwas_metadata_skip(struct etwas_metadata_cursor *cursor)
{
    etwas_descriptions_skip(&cursor->descriptions);
    etwas_image_records_skip(&cursor->images);
    cursor->guest_images = etwas_guest_images_newest();
}

/* Reads as etwas_descriptions_read does. */
static inline uint32_t etwas_metadata_read(struct etwas_metadata_cursor *cursor, bool takes_stacks,
                                           void *data, uint32_t room, int64_t stamp)
{
    uint32_t used = etwas_descriptions_read(&cursor->descriptions, data, room, stamp);

    if (takes_stacks) {
        used = etwas_image_records_read(&cursor->images, data, used, room, stamp);
        used = etwas_guest_images_read(&cursor->guest_images, data, used, room, stamp);
    }
    return used;
}

/*
 * Writes descriptions into the mappings of crash-safe sessions, each before the first event that it
 * describes.
 */

/*
 * Writes the descriptions that the session's mapping lacks; the session has a mapping. The caller
 * holds the control lock.
 */
void etwas_crash_safe_write_descriptions(struct etwas_session *session);

/*
 * The same for descriptions that were added without the control lock (manifest_chunk.h), once the
 * mapping is open. Takes the control lock.
 */
void etwas_crash_safe_write_late_descriptions(struct etwas_session *session);

/* The same for all sessions with a mapping. The caller holds the control lock. */
void etwas_crash_safe_write_all_descriptions(void);

#endif
