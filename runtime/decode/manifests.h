/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The source that learns from manifests: its state in a decoder. A provider's newest manifest takes
 * precedence, unless its version is older.
 */
#ifndef ETWAS_DECODE_MANIFESTS_H
#define ETWAS_DECODE_MANIFESTS_H

#include <etwas/decode.h>
#include <etwas/evntcons.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/hash_table.h"
#include "decode/manifest.h"

/*
 * Manifests that providers write into their own traces, as .NET's EventSource does. A document is
 * split into chunks, each the payload of an event with Id and Task 0xFFFE and Opcode 0xFE:
 *
 *     u8 format (1: XML), u8 major, u8 minor, u8 0x5B, u16 total chunks, u16 number of this chunk
 *
 * and up to 65,280 bytes of the document. The chunks of one document come from one thread. Chunks
 * of other threads may lie between them, and any may be missing: a file that wrapped has lost the
 * first ones.
 */

enum {
    ETWAS_MANIFEST_LIMIT_BYTES = 16 << 20, /* the largest document; those known have 1 MB at most */
};

struct etwas_partial_manifest;

/* All zeroes: empty. */
struct etwas_manifest_chunks {
    struct etwas_partial_manifest *newest;
    uint32_t count;
    uint8_t *document;
};

struct etwas_manifest_document {
    const uint8_t *xml; /* valid until the next call */
    size_t bytes;       /* 0: no document is complete yet */
    uint16_t version;   /* major << 8 | minor */
};

bool etwas_is_manifest_chunk(const EVENT_RECORD *record);

/*
 * Adds a record that is a chunk. The last missing chunk completes *document. ERROR_INVALID_DATA:
 * the chunk contradicts itself or the chunks before it, which are dropped. ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_manifest_chunks_add(struct etwas_manifest_chunks *chunks, const EVENT_RECORD *record,
                                   struct etwas_manifest_document *document);

void etwas_manifest_chunks_free(struct etwas_manifest_chunks *chunks);

/* ---- the source ------------------------------------------------------------------------------ */

enum {
    ETWAS_MANIFESTS_LIMIT_BYTES = 64
                                  << 20, /* the most bytes made of manifests: some 50,000 events */
};

struct etwas_manifests {
    struct etwas_manifest_chunks chunks;
    struct etwas_hash_table known; /* struct etwas_known_manifest, the newest of each provider */
    size_t made_bytes;
    struct etwas_manifest_skipped skipped; /* of the document that was read last */
};

/*
 * Learns every event and map of a document, wherever it is from; skips and counts invalid elements.
 * ERROR_INVALID_DATA: it is no manifest, or more was made of manifests than is allowed.
 * ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_manifests_add(etwas_decoder *decoder, const void *xml, size_t bytes);

#endif
