/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a decoder is made of, for the sources that fill it. A source describes events as
 * TRACE_EVENT_INFO (decode/builder.h makes them) and gives them to the store. One of these is all it
 * needs to have:
 *
 *     learn     a record that describes other events: ERROR_SUCCESS taken, ERROR_NOT_FOUND no such
 *               record, ERROR_INVALID_DATA one that makes no sense, ERROR_NOT_ENOUGH_MEMORY
 *     supply    an event that nobody described, asked once for each version of each kind of event
 *               (provider and id, class and type): adds that version with ETWAS_RANK_BUILT_IN and all
 *               its layouts, of which each event has the one that its payload has room for, or
 *               with ETWAS_RANK_COMMON what all that it knows of have in common, or nothing.
 *               ERROR_NOT_ENOUGH_MEMORY
 *     end       frees what the source keeps in the decoder
 *
 * decoder.c has the list of them.
 */
#ifndef ETWAS_DECODE_SOURCE_H
#define ETWAS_DECODE_SOURCE_H

#include "decode/manifests.h"
#include "decode/store.h"

struct etwas_decoder {
    struct etwas_schema_store store;
    struct etwas_manifests manifests;
    struct etwas_hash_table formats; /* of messages */
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

/* known_providers.c: the name of a provider of manifest events; NULL: it is not well known. */
const char *etwas_known_provider(const etwas_guid *guid);

/*
 * The schema of an event that describes itself by its items or its flags. ERROR_NOT_FOUND: it does
 * not. Else as etwas_decoder_schema.
 */
uint32_t etwas_trace_logging_schema(etwas_decoder *decoder, const EVENT_RECORD *record,
                                    const etwas_schema **schema);

/*
 * Of one whose payload begins with what describes it, which is no more than a guess: for events
 * that nothing else describes. ERROR_NOT_FOUND, ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_trace_logging_payload_schema(etwas_decoder *decoder, const EVENT_RECORD *record,
                                            const etwas_schema **schema);

#endif
