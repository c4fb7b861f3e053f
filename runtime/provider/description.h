/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Descriptions of events: what programs have described, as records that are ready but for their
 * stamp and ids (etl/event_metadata.h, etl/own_record.h).
 *
 * A list that only grows, never freed. Appending is lock-free; a description is whole
 * before the list has it (release), and who goes on to it sees all of it (acquire): so the sinks read
 * without a lock. The last one of a subject replaces those before it: they are passed over.
 */
#ifndef ETWAS_PROVIDER_DESCRIPTION_H
#define ETWAS_PROVIDER_DESCRIPTION_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "etl/layout.h"

/* By what. */
enum {
    ETWAS_DESCRIBES_CLASS = 0,
    ETWAS_DESCRIBES_MESSAGE = 1,
    ETWAS_DESCRIBES_BY_MANIFEST = 2, /* a part of it (manifest_chunk.h) */
};

/* What is described. */
struct etwas_description_key {
    etwas_guid guid; /* of a class, or of messages */
    uint32_t
        number; /* the class's version, the message's number, or the manifest's version and the part's number */
    uint32_t kind; /* ETWAS_DESCRIBES_* */
};

struct etwas_description {
    struct etwas_description *next; /* stored once */
    uint32_t replaced;              /* not 0: a later one is of the same subject; atomic */
    struct etwas_description_key subject;
    struct etwas_description *chained; /* in the table by subject; under the control lock */
    size_t bytes;                      /* of the records */
    uint8_t *records;                  /* each rounded up to 8 bytes */
};

/* An empty one. NULL: no memory. */
struct etwas_description *etwas_description_new(const struct etwas_description_key *subject);
void etwas_description_free(struct etwas_description *description);

/*
 * Appends a record of a class of ours, with room for a payload of so many bytes, which is zeroed.
 * NULL: there is no memory. The payload may move with the next one.
 */
uint8_t *etwas_description_add_record(struct etwas_description *description,
                                      const etwas_guid *class_guid, uint8_t type, uint16_t version,
                                      size_t payload_bytes);

/* The longest payload. */
enum {
    ETWAS_DESCRIPTION_PAYLOAD_BYTES =
        ETWAS_ETL_LARGEST_RECORD_BYTES - sizeof(struct etwas_etl_full_header)
};

/* The header of such a record. */
struct etwas_etl_full_header etwas_description_header(const etwas_guid *class_guid, uint8_t type,
                                                      uint16_t version, size_t payload_bytes);

/*
 * Called where something is described that nobody else tells the hosts of sessions that this process logs into; NULL:
 * there are none. Async-signal-safe. Set once.
 */
extern void *etwas_description_hook;

/* Has the list take it over. Lock-free and async-signal-safe. */
void etwas_description_append(struct etwas_description *description);

/*
 * Has the list take it over, unless the last one of this subject is the same; else it is freed.
 * Takes the control lock.
 */
void etwas_description_publish(struct etwas_description *description);

/* How many there have been: asked without a look at any of them. Async-signal-safe. */
uint32_t etwas_descriptions_count(void);

/* ---- reading --------------------------------------------------------------------------------- */

/* How far the list was read; zeroed: from its beginning. */
struct etwas_description_cursor {
    const struct etwas_description *current; /* NULL: none yet */
    size_t at;                               /* so much of its records was read */
};

/* Copies a record with this stamp and the thread's ids. Returns its size, rounded up to 8 bytes. */
uint32_t etwas_description_copy_record(void *to, const uint8_t *record, int64_t stamp);

/* Whether there is more. Lock-free. */
bool etwas_descriptions_have_more(const struct etwas_description_cursor *cursor);

/* The next one that is whole, but for those that were replaced; NULL: there is none. */
const struct etwas_description *etwas_descriptions_next(struct etwas_description_cursor *cursor);

/* Goes on to the end. */
void etwas_descriptions_skip(struct etwas_description_cursor *cursor);

/*
 * Copies the next records that fit into `room` bytes, with this stamp and the thread's ids; returns
 * how many bytes they are. What fits into no buffer of so much room is left out. 0: there are no more.
 */
uint32_t etwas_descriptions_read(struct etwas_description_cursor *cursor, void *data, uint32_t room,
                                 int64_t stamp);

#endif
