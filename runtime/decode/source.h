/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The decoder's state, for the sources that fill it. A source describes events as TRACE_EVENT_INFO
 * (builder.h makes them) and adds them to the store. It has some of these verbs:
 *
 *     learn     reads a record that describes other events. ERROR_SUCCESS: learned;
 *               ERROR_NOT_FOUND: no such record; ERROR_INVALID_DATA: an invalid one;
 *               ERROR_NOT_ENOUGH_MEMORY
 *     supply    called once for each version of each kind of event (provider and id, class and
 *               type) without a schema. Adds that version with all its layouts, as
 *               ETWAS_RANK_BUILT_IN; each event has the layout that its payload has room for. If
 *               the version is unknown, adds the fields common to all known versions, as
 *               ETWAS_RANK_COMMON, or nothing. ERROR_NOT_ENOUGH_MEMORY
 *     end       frees the source's state in the decoder
 *
 * decoder.c lists the sources.
 */
#ifndef ETWAS_DECODE_SOURCE_H
#define ETWAS_DECODE_SOURCE_H

#include "decode/manifests.h"
#include "decode/store.h"

struct etwas_decoder {
    struct etwas_schema_store store;
    struct etwas_manifests manifests;
    struct etwas_hash_table formats; /* message formats */
};

struct etwas_decode_source {
    uint32_t (*learn)(etwas_decoder *decoder, const EVENT_RECORD *record);
    uint32_t (*supply)(etwas_decoder *decoder, const EVENT_RECORD *record);
    void (*end)(etwas_decoder *decoder);
};

extern const struct etwas_decode_source etwas_event_metadata_source;
extern const struct etwas_decode_source etwas_manifest_source;
extern const struct etwas_decode_source etwas_builtin_source;
extern const struct etwas_decode_source etwas_message_source;
extern const struct etwas_decode_source etwas_provider_name_source;

/* The name of a well-known provider of manifest events (provider_name.c); NULL: unknown. */
const char *etwas_known_provider(const etwas_guid *guid);

/*
 * Finds the schema of an event that describes itself by its items or its flags. ERROR_NOT_FOUND: it
 * does not. Other codes as etwas_decoder_schema.
 */
uint32_t etwas_trace_logging_schema(etwas_decoder *decoder, const EVENT_RECORD *record,
                                    const etwas_schema **schema);

/*
 * Finds the schema of an event whose payload begins with its description. This is a guess, for
 * events that have no other schema. ERROR_NOT_FOUND, ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_trace_logging_payload_schema(etwas_decoder *decoder, const EVENT_RECORD *record,
                                            const etwas_schema **schema);

#endif
