/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Manifests that providers write themselves, as .NET's EventSource does: in chunks, each an event
 * of the provider. A provider writes them when it is enabled, so a file that begins later, or has
 * overwritten them, would lack them. Each chunk becomes a description (description.h), and so is in
 * every part, circle and snapshot.
 */
#ifndef ETWAS_PROVIDER_MANIFEST_CHUNK_H
#define ETWAS_PROVIDER_MANIFEST_CHUNK_H

#include <etwas/evntprov.h>
#include <stdbool.h>

#include "provider/event_record.h"

enum {
    ETWAS_MANIFEST_CHUNK_ID = 0xFFFE, /* and Task */
    ETWAS_MANIFEST_CHUNK_OPCODE = 0xFE,
};

/* Whether an event may be a chunk. */
static inline bool etwas_manifest_chunk_is_possible(const EVENT_DESCRIPTOR *descriptor)
{
    return descriptor->Id == ETWAS_MANIFEST_CHUNK_ID;
}

/*
 * Stores the event as a description if it is a chunk that is not known yet. Where memory fails the
 * chunk is in the trace as an event only. Takes no lock; maps memory once for each chunk.
 * Async-signal-safe.
 */
void etwas_manifest_chunk_store(const etwas_guid *provider,
                                const struct etwas_event_arguments *event);

#endif
