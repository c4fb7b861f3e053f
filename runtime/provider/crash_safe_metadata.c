/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "provider/metadata.h"

#include "shared/mapping.h"

enum {
    AT_ONCE = 1 << 16, /* room for any record */
};

/*
 * How much of the metadata each session's mapping has, by the session's index. Reset for each
 * session.
 */
static struct etwas_metadata_cursor cursors[ETWAS_SESSION_ENTRIES];

void etwas_crash_safe_write_descriptions(struct etwas_session *session)
{
    struct etwas_metadata_cursor *cursor = &cursors[session->index];
    bool takes_stacks = etwas_session_takes_stacks(session);
    int64_t stamp = etwas_clock_reading_stamp(&session->started, session->configuration.clock);
    void *end;
    uint32_t room;

    if (session->mapping->schema_bytes == 0) {
        *cursor = (struct etwas_metadata_cursor){0};
    }
    while (etwas_metadata_has_more(cursor, takes_stacks)) {
        uint32_t bytes;

        end = etwas_shared_schema_room(session->mapping, &room);
        if (takes_stacks && room < session->mapping->schema_bytes &&
            etwas_guest_images_have_more(cursor->guest_images)) {
            /*
             * The images of guests are unbounded, because guests come and go. Half of the room is
             * reserved for other metadata.
             */
            cursor->guest_images = etwas_guest_images_newest();
            etwas_shared_leave_schema_out(session->mapping);
            continue;
        }
        bytes =
            etwas_metadata_read(cursor, takes_stacks, end, room < AT_ONCE ? room : AT_ONCE, stamp);
        if (bytes == 0) {
            etwas_metadata_skip(cursor);
            etwas_shared_leave_schema_out(session->mapping);
            return;
        }
        etwas_shared_add_schemas(session->mapping, bytes);
    }
}

void etwas_crash_safe_write_late_descriptions(struct etwas_session *session)
{
    etwas_control_lock();
    if (session->mapping->is_open) {
        etwas_crash_safe_write_descriptions(session);
    }
    etwas_control_unlock();
}

void etwas_crash_safe_write_all_descriptions(void)
{
    for (uint32_t index = 0; index < ETWAS_SESSION_ENTRIES; index++) {
        struct etwas_session *session = &etwas_sessions[index];

        /* A mapping that is not open yet gets all descriptions when it is opened. */
        if (session->mapping != NULL && session->mapping->is_open) {
            etwas_crash_safe_write_descriptions(session);
        }
    }
}
