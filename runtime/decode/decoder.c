/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A decoder: calls its sources in turn, and chooses among the versions of an event. */
#include <etwas/decode.h>

#include <stdlib.h>

#include "decode/source.h"

static const struct etwas_decode_source *const sources[] = {
    &etwas_manifest_source, &etwas_event_metadata_source, &etwas_builtin_source,
    &etwas_message_source,  &etwas_provider_name_source,
};
enum {
    SOURCES = sizeof sources / sizeof sources[0]
};

uint32_t etwas_decoder_open(etwas_decoder **decoder)
{
    if (decoder == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    *decoder = calloc(1, sizeof **decoder);
    if (*decoder == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    etwas_store_begin(&(*decoder)->store);
    return ERROR_SUCCESS;
}

void etwas_decoder_close(etwas_decoder *decoder)
{
    if (decoder != NULL) {
        for (size_t i = 0; i < SOURCES; i++) {
            if (sources[i]->end != NULL) {
                sources[i]->end(decoder);
            }
        }
        etwas_store_end(&decoder->store);
        free(decoder);
    }
}

uint32_t etwas_decoder_learn(etwas_decoder *decoder, const EVENT_RECORD *record)
{
    uint32_t error = ERROR_NOT_FOUND;

    for (size_t i = 0; i < SOURCES && error == ERROR_NOT_FOUND; i++) {
        if (sources[i]->learn != NULL) {
            error = sources[i]->learn(decoder, record);
        }
    }
    return error;
}

uint32_t etwas_decoder_learn_ahead(etwas_decoder *decoder, const EVENT_RECORD *record)
{
    uint32_t error;

    decoder->store.keeps_first = true;
    error = etwas_decoder_learn(decoder, record);
    decoder->store.keeps_first = false;
    return error;
}

/* Whether the file itself, or the user, has described a version of the event. */
static bool decoder_has_schema(const struct etwas_event_kind *kind)
{
    const struct etwas_stored_schema *at = kind->versions;

    while (at != NULL && at->rank <= ETWAS_RANK_BUILT_IN) {
        at = at->older;
    }
    return at != NULL;
}

/*
 * Calls supply once for each version, so that no search is repeated for each of a million events
 * without a schema.
 */
static uint32_t decoder_supply_built_in(etwas_decoder *decoder, const EVENT_RECORD *record,
                                        struct etwas_event_kind *kind)
{
    uint8_t version = record->EventHeader.EventDescriptor.Version;
    uint8_t bit = (uint8_t)(1u << version % 8);
    uint32_t error = ERROR_SUCCESS;

    if ((kind->asked[version / 8] & bit) != 0) {
        return ERROR_SUCCESS;
    }
    kind->asked[version / 8] |= bit;
    for (size_t i = 0; i < SOURCES && error == ERROR_SUCCESS && !decoder_has_schema(kind); i++) {
        if (sources[i]->supply != NULL) {
            error = sources[i]->supply(decoder, record);
        }
    }
    return error;
}

enum {
    /* The limit for all versions of an event together, each of which may read the whole payload. */
    TOKENS_TO_CHOOSE = 1 << 16,
};

/* *tokens is how many tokens may still be read. */
static bool decoder_payload_fits(const etwas_schema *schema, const EVENT_RECORD *record,
                                 uint32_t *tokens)
{
    etwas_fields fields;
    etwas_value value;

    etwas_fields_begin(&fields, schema, record);
    while (etwas_fields_next(&fields, &value)) {
        if (value.token == ETWAS_TOKEN_TRUNCATED || value.token == ETWAS_TOKEN_UNDESCRIBED ||
            *tokens == 0) {
            return false;
        }
        (*tokens)--;
    }
    return true;
}

/* Whether the payload has room for one of the layouts of a version. */
static bool decoder_payload_has_room(const struct etwas_stored_schema *stored,
                                     const EVENT_RECORD *record)
{
    bool is_wide = (record->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER) == 0;

    return record->UserDataLength >= stored->least[is_wide];
}

/*
 * Chooses the event's own version, by the longest layout that its payload has room for, else by the
 * shortest. Without that version: of the schemas from the file itself or from the user, the highest
 * version below it whose fields are all in the payload, or the lowest; else the built-in fields
 * common to all versions.
 */
static const etwas_schema *decoder_choose_schema(const struct etwas_stored_schema *versions,
                                                 const EVENT_RECORD *record)
{
    uint8_t wanted = record->EventHeader.EventDescriptor.Version;
    uint32_t tokens = TOKENS_TO_CHOOSE;
    const etwas_schema *common = NULL;
    const etwas_schema *lowest = NULL;
    const etwas_schema *shortest = NULL;

    for (const struct etwas_stored_schema *at = versions; at != NULL; at = at->older) {
        uint8_t version = at->exact.info->EventDescriptor.Version;

        if (version == wanted && at->rank != ETWAS_RANK_COMMON) {
            if (decoder_payload_has_room(at, record)) {
                return &at->exact;
            }
            shortest = &at->exact;
        } else if (at->rank > ETWAS_RANK_BUILT_IN) {
            if (version < wanted && decoder_payload_fits(&at->other, record, &tokens)) {
                return &at->other;
            }
            lowest = &at->other;
        } else if (version == wanted) {
            common = &at->other;
        }
    }
    if (shortest != NULL) {
        return shortest;
    }
    return lowest != NULL ? lowest : common;
}

uint32_t etwas_decoder_schema(etwas_decoder *decoder, const EVENT_RECORD *record,
                              const etwas_schema **schema)
{
    struct etwas_event_key key;
    struct etwas_event_kind *kind;
    uint32_t error;

    *schema = NULL;
    if ((record->EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) != 0) {
        return ERROR_NOT_FOUND;
    }
    error = etwas_trace_logging_schema(decoder, record, schema);
    if (error != ERROR_NOT_FOUND) {
        return error;
    }
    key = etwas_event_key_of(&record->EventHeader);
    kind = etwas_store_find_or_add_kind(&decoder->store, &key);
    if (kind == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    error = decoder_supply_built_in(decoder, record, kind);
    if (error == ERROR_NOT_ENOUGH_MEMORY) {
        return error;
    }
    *schema = decoder_choose_schema(kind->versions, record);
    return *schema == NULL ? etwas_trace_logging_payload_schema(decoder, record, schema)
                           : ERROR_SUCCESS;
}

uint32_t etwas_decoder_schemas(etwas_decoder *decoder,
                               bool (*visit)(const etwas_schema *schema, void *context),
                               void *context)
{
    return etwas_store_visit(&decoder->store, visit, context);
}
