/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * All that a decoder knows: schemas, and maps. A description that comes again changes nothing.
 *
 * Described events are kept by (provider, id) or, of classic ones, (class, type), each with its
 * versions. Events that describe themselves are kept by the bytes that do it, so that a million of
 * them are parsed once; one that makes no sense is kept too.
 *
 * Nothing is freed before the store: a schema that was replaced may still be in use.
 */
#ifndef ETWAS_DECODE_STORE_H
#define ETWAS_DECODE_STORE_H

#include "decode/hash_table.h"
#include "decode/map.h"
#include "decode/schema.h"

/* Who described an event: of two that describe the same, the higher one is believed. */
enum etwas_rank {
    ETWAS_RANK_COMMON, /* built in, of a version that is not: what all that are have in common */
    ETWAS_RANK_BUILT_IN,
    ETWAS_RANK_METADATA, /* records beside the events */
    ETWAS_RANK_MANIFEST, /* of the provider itself, in the file */
};

struct etwas_schema_store {
    uint64_t secret;
    size_t bytes;     /* of all that is kept */
    bool keeps_first; /* of what is described twice: what was described stays as it is */
    struct etwas_hash_table events;    /* struct etwas_event_kind */
    struct etwas_hash_table embedded;  /* struct etwas_embedded_schema */
    struct etwas_hash_table maps;      /* struct etwas_map_name */
    struct etwas_hash_table providers; /* struct etwas_provider_name */
    struct etwas_stored_schema *all;
    struct etwas_map *all_maps;
};

/* An event, by what its records say. */
struct etwas_event_key {
    etwas_guid guid; /* provider, or class */
    uint16_t id;     /* or type */
    uint16_t is_classic;
};

/* The versions of one event, highest first. */
struct etwas_event_kind {
    struct etwas_event_key key;
    struct etwas_stored_schema *versions;
    uint8_t asked[32]; /* a bit for each version that what is built in was asked for */
};

enum {
    /* Of all that is kept. Each byte of a file can become 100: without it 40 MB would be 4 GB. */
    ETWAS_STORE_LIMIT_BYTES = 256 << 20,
};

/* Counts what is to be kept; false: it would be too much, for which there is no memory. */
bool etwas_store_reserve_bytes(struct etwas_schema_store *store, size_t bytes);

void etwas_store_begin(struct etwas_schema_store *store);
void etwas_store_end(struct etwas_schema_store *store);

struct etwas_event_key etwas_event_key_of(const EVENT_HEADER *header);

/* The kind of event of this key, made if need be; NULL: no memory. */
struct etwas_event_kind *etwas_store_find_or_add_kind(struct etwas_schema_store *store,
                                                      const struct etwas_event_key *key);

/*
 * Keeps a description under the key that it states: class and type of DecodingSourceWbem, provider
 * and id of DecodingSourceXMLFile. `info` may be unaligned, and is copied. ERROR_INVALID_DATA: it
 * makes no sense. ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_store_add(struct etwas_schema_store *store, const void *info, size_t bytes,
                         enum etwas_rank rank);

/*
 * Likewise, of ETWAS_RANK_BUILT_IN: the layout of a version that holds for payloads of at least so many bytes of
 * events with pointers of 32 bits, and of 64. A version may have several; the longest comes first.
 */
uint32_t etwas_store_add_layout(struct etwas_schema_store *store, const void *info, size_t bytes,
                                const uint16_t least[2]);

/* Keeps the map of a provider: likewise. */
uint32_t etwas_store_add_map(struct etwas_schema_store *store, const etwas_guid *provider,
                             const void *info, size_t bytes);

/* What an event says of itself: its head from ProviderId to EventDescriptor, and two blobs. */
struct etwas_embedded_schema_key {
    const void *head;
    const void *traits;
    const void *schema;
    uint16_t traits_bytes;
    uint16_t schema_bytes;
    uint16_t payload_begin; /* of the fields: the blobs' bytes, if these are in the payload */
};
enum {
    ETWAS_EMBEDDED_HEAD_BYTES = sizeof(etwas_guid) + sizeof(EVENT_DESCRIPTOR)
};

struct etwas_embedded_schema {
    struct etwas_stored_schema *stored; /* NULL: it makes no sense */
    uint16_t traits_bytes;
    uint16_t schema_bytes;
    uint16_t payload_begin;
    uint8_t key[]; /* head, traits, schema */
};

/* NULL: it is new. *hash is for etwas_store_add_embedded. */
const struct etwas_embedded_schema *etwas_store_find_embedded(
    const struct etwas_schema_store *store, const struct etwas_embedded_schema_key *key,
    uint64_t *hash);
/* Takes the schema, which may be NULL. NULL: no memory, and the schema is gone. */
const struct etwas_embedded_schema *etwas_store_add_embedded(
    struct etwas_schema_store *store, const struct etwas_embedded_schema_key *key, uint64_t hash,
    struct etwas_stored_schema *stored);

/* What a provider, or the provider of a class, is called; NULL: nobody said it. */
const char *etwas_store_provider(const struct etwas_schema_store *store, const etwas_guid *guid);
/* Says it, if it is the first to do so. False: no memory. */
bool etwas_store_add_provider(struct etwas_schema_store *store, const etwas_guid *guid,
                              const char *name, size_t bytes);

/*
 * Every schema that events can have, by provider, event, id and version, until `visit` says false.
 * ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_store_visit(const struct etwas_schema_store *store,
                           bool (*visit)(const etwas_schema *schema, void *context), void *context);

#endif
