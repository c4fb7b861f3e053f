/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Manifests that providers write themselves, as .NET's EventSource does: in chunks, each an event of the provider. It writes
 * them when it is enabled, so a file that begins later, or has replaced them, would not have them. Each chunk becomes a
 * description (description.h), and so is in every part, circle and snapshot.
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
 * Keeps what the event says if it is a chunk, unless that is known. Where there is no memory it is in the trace as an
 * event alone. Takes no lock; asks the system for memory, once for each chunk. Async-signal-safe.
 */
void etwas_manifest_chunk_store(const etwas_guid *provider,
                                const struct etwas_event_arguments *event);

#endif
