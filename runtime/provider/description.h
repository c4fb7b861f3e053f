/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Descriptions of events, made by programs. They are kept as records that lack only their stamp and
 * ids (etl/event_metadata.h, etl/own_record.h).
 *
 * They form a list that only grows and is never freed. Appending is lock-free. A description is
 * complete before it is linked (release), and a reader that follows the link sees all of it
 * (acquire), so the sinks read without a lock. The last description with a key replaces those
 * before it, which readers skip.
 */
#ifndef ETWAS_PROVIDER_DESCRIPTION_H
#define ETWAS_PROVIDER_DESCRIPTION_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "etl/layout.h"

/* What a description describes. */
enum {
    ETWAS_DESCRIBES_CLASS = 0,
    ETWAS_DESCRIBES_MESSAGE = 1,
    ETWAS_DESCRIBES_BY_MANIFEST = 2, /* a chunk of a manifest (manifest_chunk.h) */
};

/* Identifies what is described. */
struct etwas_description_key {
    etwas_guid guid; /* the GUID of a class, or of messages */
    /*
     * the class's version, the message's number, or the manifest's version and the chunk's number
     */
    uint32_t number;
    uint32_t kind; /* ETWAS_DESCRIBES_* */
};

struct etwas_description {
    struct etwas_description *next; /* stored once */
    uint32_t replaced;              /* not 0: a later one has the same key; atomic */
    struct etwas_description_key subject;
    /* the next in its bucket of the hash table; under the control lock */
    struct etwas_description *chained;
    size_t bytes;     /* of the records */
    uint8_t *records; /* each rounded up to 8 bytes */
};

/* Creates an empty description. NULL: no memory. */
struct etwas_description *etwas_description_new(const struct etwas_description_key *subject);
void etwas_description_free(struct etwas_description *description);

/*
 * Appends a record of one of the library's own classes, with a payload of `payload_bytes` zeroes.
 * Returns the payload, which may move with the next call. NULL: no memory.
 */
uint8_t *etwas_description_add_record(struct etwas_description *description,
                                      const etwas_guid *class_guid, uint8_t type, uint16_t version,
                                      size_t payload_bytes);

/* The longest payload. */
enum {
    ETWAS_DESCRIPTION_PAYLOAD_BYTES =
        ETWAS_ETL_LARGEST_RECORD_BYTES - sizeof(struct etwas_etl_full_header)
};

/* Fills the header of such a record. */
struct etwas_etl_full_header etwas_description_header(const etwas_guid *class_guid, uint8_t type,
                                                      uint16_t version, size_t payload_bytes);

/*
 * Called when a manifest chunk was added, to inform the hosts of the sessions that this process
 * logs into; NULL: there are none. Async-signal-safe. Set once.
 */
extern void *etwas_description_hook;

/* Appends it to the list, which owns it from then on. Lock-free and async-signal-safe. */
void etwas_description_append(struct etwas_description *description);

/*
 * Appends it to the list, unless the last one with this key is the same; then it is freed. Takes
 * the control lock.
 */
void etwas_description_publish(struct etwas_description *description);

/* Returns the number of descriptions so far, without reading any of them. Async-signal-safe. */
uint32_t etwas_descriptions_count(void);

/* ---- reading --------------------------------------------------------------------------------- */

/* How far the list was read; zeroed: nothing. */
struct etwas_description_cursor {
    const struct etwas_description *current; /* NULL: none yet */
    size_t at;                               /* bytes of its records that were read */
};

/* Copies a record with this stamp and the thread's ids. Returns its size, rounded up to 8 bytes. */
uint32_t etwas_description_copy_record(void *to, const uint8_t *record, int64_t stamp);

/* Whether more descriptions follow. Lock-free. */
bool etwas_descriptions_have_more(const struct etwas_description_cursor *cursor);

/* The next description that is not replaced; NULL: there is none. */
const struct etwas_description *etwas_descriptions_next(struct etwas_description_cursor *cursor);

/* Moves the cursor to the end. */
void etwas_descriptions_skip(struct etwas_description_cursor *cursor);

/*
 * Copies the next records that fit into `room` bytes, with this stamp and the thread's ids; returns
 * how many bytes they have, 0 at the end. Skips records that fit into no buffer of that size.
 */
uint32_t etwas_descriptions_read(struct etwas_description_cursor *cursor, void *data, uint32_t room,
                                 int64_t stamp);

#endif
