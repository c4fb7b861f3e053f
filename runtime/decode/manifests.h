/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The source that learns from manifests: its state in a decoder. A provider's newest manifest takes
 * precedence, unless its version is older.
 */
#ifndef ETWAS_DECODE_MANIFESTS_H
#define ETWAS_DECODE_MANIFESTS_H

#include <etwas/decode.h>

#include "decode/hash_table.h"
#include "decode/manifest.h"
#include "decode/manifest_chunks.h"

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
