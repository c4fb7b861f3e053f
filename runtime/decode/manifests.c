/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "decode/manifests.h"

#include <etwas/winerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/manifest.h"
#include "decode/source.h"
#include "decode/text_writer.h"
#include "etl/own_record.h"

/* A provider writes its manifest whenever it is enabled. A repeated one is ignored. */
struct etwas_known_manifest {
    etwas_guid provider;
    struct {
        uint16_t version;
        uint64_t content; /* its hash */
    } newest[2];          /* learned, and learned ahead */
    struct etwas_manifest_skipped skipped;
};

/* Counts an element as skipped, because the result is too large. */
static void manifests_skip(struct etwas_manifests *manifests, bool is_event)
{
    if (manifests->skipped.count++ == 0) {
        snprintf(manifests->skipped.first, sizeof manifests->skipped.first, "%s",
                 is_event ? "event" : "map");
    }
}

/*
 * Stores an event, or a map of `map_provider`, that was made from a manifest, and frees it. Skips
 * an invalid one.
 */
static uint32_t manifests_store_version(etwas_decoder *decoder, uint32_t error, void *info,
                                        size_t bytes, const etwas_guid *map_provider)
{
    struct etwas_manifests *manifests = &decoder->manifests;

    if (error == ERROR_SUCCESS) {
        if (bytes > ETWAS_MANIFESTS_LIMIT_BYTES - manifests->made_bytes) {
            free(info);
            return ERROR_INVALID_DATA;
        }
        manifests->made_bytes += bytes;
        error = map_provider == NULL
                    ? etwas_store_add(&decoder->store, info, bytes, ETWAS_RANK_MANIFEST)
                    : etwas_store_add_map(&decoder->store, map_provider, info, bytes);
        free(info);
    }
    if (error == ERROR_INVALID_DATA) {
        manifests_skip(manifests, map_provider == NULL);
        error = ERROR_SUCCESS;
    }
    return error;
}

static uint32_t manifests_add_provider(etwas_decoder *decoder,
                                       const struct etwas_manifest *manifest,
                                       const struct etwas_manifest_provider *provider)
{
    uint32_t error = ERROR_SUCCESS;
    TRACE_EVENT_INFO *info = NULL;
    EVENT_MAP_INFO *map_info = NULL;
    size_t bytes = 0;

    for (const struct etwas_manifest_map *map = provider->first_map;
         map != NULL && error == ERROR_SUCCESS; map = map->next) {
        error = etwas_manifest_make_map(manifest, map, &map_info, &bytes);
        error = manifests_store_version(decoder, error, map_info, bytes, &provider->guid);
    }
    for (const struct etwas_manifest_event *event = provider->first_event;
         event != NULL && error == ERROR_SUCCESS; event = event->next) {
        error = etwas_manifest_make_schema(manifest, provider, event, &info, &bytes);
        error = manifests_store_version(decoder, error, info, bytes, NULL);
    }
    return error;
}

uint32_t etwas_manifests_add(etwas_decoder *decoder, const void *xml, size_t bytes)
{
    struct etwas_manifest manifest;
    uint32_t error = etwas_manifest_read(&manifest, xml, bytes, decoder->store.secret);

    decoder->manifests.skipped = manifest.skipped;
    for (const struct etwas_manifest_provider *provider = manifest.first;
         provider != NULL && error == ERROR_SUCCESS; provider = provider->next) {
        error = manifests_add_provider(decoder, &manifest, provider);
    }
    etwas_manifest_free(&manifest);
    return error;
}

/* Finds or adds the provider's entry; NULL: no memory. */
static struct etwas_known_manifest *manifests_find_known(etwas_decoder *decoder,
                                                         const etwas_guid *provider)
{
    uint64_t hash = etwas_hash_bytes(decoder->store.secret, provider, sizeof *provider);
    struct etwas_hash_table *table = &decoder->manifests.known;
    struct etwas_known_manifest *entry;

    for (size_t cursor = 0; (entry = etwas_hash_table_next(table, hash, &cursor)) != NULL;) {
        if (memcmp(&entry->provider, provider, sizeof *provider) == 0) {
            return entry;
        }
    }
    entry = calloc(1, sizeof *entry);
    if (entry != NULL) {
        entry->provider = *provider;
        if (!etwas_hash_table_add(table, hash, entry)) {
            free(entry);
            entry = NULL;
        }
    }
    return entry;
}

/*
 * Unpacks the record in which etwas repeats a chunk in every file, into the event as the provider
 * wrote it.
 */
static uint32_t manifests_add_document(const EVENT_RECORD *record, EVENT_RECORD *chunk)
{
    struct etwas_etl_manifest_chunk head;

    *chunk = *record;
    if ((record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) == 0 ||
        record->EventHeader.EventDescriptor.Opcode != ETWAS_ETL_MANIFEST_CHUNK_TYPE ||
        memcmp(&record->EventHeader.ProviderId, &etwas_etl_own_class, sizeof etwas_etl_own_class) !=
            0) {
        return etwas_is_manifest_chunk(record) ? ERROR_SUCCESS : ERROR_NOT_FOUND;
    }
    if (record->UserDataLength <= sizeof head) {
        return ERROR_INVALID_DATA;
    }
    memcpy(&head, record->UserData, sizeof head);
    chunk->EventHeader.ProviderId = head.provider;
    chunk->EventHeader.ProcessId = head.process_id;
    chunk->EventHeader.ThreadId = head.thread_id;
    chunk->EventHeader.EventDescriptor =
        (EVENT_DESCRIPTOR){.Id = 0xFFFE, .Task = 0xFFFE, .Opcode = 0xFE};
    chunk->UserData = (uint8_t *)record->UserData + sizeof head;
    chunk->UserDataLength -= (uint16_t)sizeof head;
    return head.version == ETWAS_ETL_MANIFEST_CHUNK_VERSION && etwas_is_manifest_chunk(chunk)
               ? ERROR_SUCCESS
               : ERROR_INVALID_DATA;
}

static uint32_t manifests_learn(etwas_decoder *decoder, const EVENT_RECORD *given)
{
    struct etwas_manifest_document document;
    EVENT_RECORD chunk;
    const EVENT_RECORD *record = &chunk;
    struct etwas_known_manifest *provider;
    bool is_ahead = decoder->store.keeps_first;
    uint64_t content;
    uint32_t error;

    error = manifests_add_document(given, &chunk);
    if (error != ERROR_SUCCESS) {
        return error;
    }
    error = etwas_manifest_chunks_add(&decoder->manifests.chunks, record, &document);
    if (error != ERROR_SUCCESS || document.bytes == 0) {
        return error;
    }
    provider = manifests_find_known(decoder, &record->EventHeader.ProviderId);
    if (provider == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    content = etwas_hash_bytes(decoder->store.secret, document.xml, document.bytes);
    if (content == provider->newest[is_ahead].content ||
        document.version < provider->newest[is_ahead].version) {
        return ERROR_SUCCESS;
    }
    error = etwas_manifests_add(decoder, document.xml, document.bytes);
    if (error == ERROR_SUCCESS) {
        provider->newest[is_ahead].content = content;
        provider->newest[is_ahead].version = document.version;
        provider->skipped = decoder->manifests.skipped;
    }
    return error;
}

size_t etwas_decoder_left_out(const etwas_decoder *decoder, char *text, size_t size)
{
    const struct etwas_hash_table *table = &decoder->manifests.known;
    struct etwas_text_writer out = etwas_text_begin(text, size);
    const struct etwas_manifest_skipped *first = NULL;
    uint64_t count = 0;

    for (size_t i = 0; i < table->capacity; i++) {
        const struct etwas_known_manifest *entry = table->slots[i].entry;

        if (entry != NULL && entry->skipped.count > 0) {
            first = first != NULL ? first : &entry->skipped;
            count += entry->skipped.count;
        }
    }
    if (first != NULL) {
        etwas_text_put_unsigned(&out, count);
        etwas_text_put_ascii(&out, count == 1 ? " element: <" : " elements, the first is <");
        etwas_text_put_ascii(&out, first->first);
        etwas_text_put_ascii(&out, ">");
        if (first->line > 0) {
            etwas_text_put_ascii(&out, " in line ");
            etwas_text_put_unsigned(&out, first->line);
        }
    }
    return etwas_text_end(&out, size);
}

/* Supplies a schema for chunks themselves (manifests.h), as events without another schema. */
static uint32_t manifests_supply(etwas_decoder *decoder, const EVENT_RECORD *record)
{
    static const struct {
        const char *name;
        uint16_t in_type;
    } fields[] = {
        {"Format", TDH_INTYPE_UINT8},
        {"MajorVersion", TDH_INTYPE_UINT8},
        {"MinorVersion", TDH_INTYPE_UINT8},
        {"Magic", TDH_INTYPE_UINT8},
        {"TotalChunks", TDH_INTYPE_UINT16},
        {"ChunkNumber", TDH_INTYPE_UINT16},
        {"Data", TDH_INTYPE_NONNULLTERMINATEDANSISTRING},
    };
    struct etwas_info_builder builder;
    TRACE_EVENT_INFO *info;
    size_t bytes;
    uint32_t error;

    if (!etwas_is_manifest_chunk(record)) {
        return ERROR_SUCCESS;
    }
    etwas_builder_begin(&builder);
    builder.head.ProviderGuid = record->EventHeader.ProviderId;
    builder.head.EventDescriptor = record->EventHeader.EventDescriptor;
    builder.head.EventNameOffset =
        etwas_builder_add_string(&builder, "ManifestData", strlen("ManifestData"));
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        etwas_builder_property(&builder, ETWAS_BUILDER_TOP,
                               &(EVENT_PROPERTY_INFO){
                                   .NameOffset = etwas_builder_add_string(&builder, fields[i].name,
                                                                          strlen(fields[i].name)),
                                   .nonStructType.InType = fields[i].in_type,
                                   .count = 1,
                               });
    }
    error = etwas_builder_end(&builder, &info, &bytes);
    if (error == ERROR_SUCCESS) {
        error = etwas_store_add(&decoder->store, info, bytes, ETWAS_RANK_BUILT_IN);
        free(info);
    }
    return error;
}

static void manifests_end(etwas_decoder *decoder)
{
    struct etwas_hash_table *table = &decoder->manifests.known;

    for (size_t i = 0; i < table->capacity; i++) {
        free(table->slots[i].entry);
    }
    etwas_hash_table_free(table);
    etwas_manifest_chunks_free(&decoder->manifests.chunks);
}

const struct etwas_decode_source etwas_manifest_source = {
    .learn = manifests_learn, .supply = manifests_supply, .end = manifests_end};
