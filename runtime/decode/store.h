/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The schemas and maps of a decoder. A description that is added again changes nothing.
 *
 * Schemas of other events are found by (provider, id) or, for classic ones, (class, type), each
 * with its versions. Schemas that are embedded in the event are found by their bytes, so that a
 * million of such events are parsed once; invalid ones are stored, too.
 *
 * Nothing is freed before the store: a schema that was replaced may still be in use.
 */
#ifndef ETWAS_DECODE_STORE_H
#define ETWAS_DECODE_STORE_H

#include "decode/hash_table.h"
#include "decode/map.h"
#include "decode/schema.h"

/* The source of a schema: of two schemas for one event, the higher rank takes precedence. */
enum etwas_rank {
    /* built in, for an unknown version: the fields common to all known versions */
    ETWAS_RANK_COMMON,
    ETWAS_RANK_BUILT_IN,
    ETWAS_RANK_METADATA, /* records beside the events */
    ETWAS_RANK_MANIFEST, /* the provider's own, in the file */
};

struct etwas_schema_store {
    uint64_t secret;
    size_t bytes;     /* bytes of all that is stored */
    bool keeps_first; /* a schema that is stored already is not replaced by one of the same rank */
    struct etwas_hash_table events;    /* struct etwas_event_kind */
    struct etwas_hash_table embedded;  /* struct etwas_embedded_schema */
    struct etwas_hash_table maps;      /* struct etwas_map_name */
    struct etwas_hash_table providers; /* struct etwas_provider_name */
    struct etwas_stored_schema *all;
    struct etwas_map *all_maps;
};

/* The key of a kind of event, from the event's header. */
struct etwas_event_key {
    etwas_guid guid; /* the provider, or the class of a classic event */
    uint16_t id;     /* the id, or the type of a classic event */
    uint16_t is_classic;
};

/* The versions of one event, highest first. */
struct etwas_event_kind {
    struct etwas_event_key key;
    struct etwas_stored_schema *versions;
    uint8_t asked[32]; /* one bit for each version: supply was called for it */
};

enum {
    /*
     * The most bytes that are stored. Each byte of a file can become 100: without this limit 40 MB
     * would become 4 GB.
     */
    ETWAS_STORE_LIMIT_BYTES = 256 << 20,
};

/*
 * Counts bytes that are to be stored. Returns false if they exceed the limit, which is reported as
 * no memory.
 */
bool etwas_store_reserve_bytes(struct etwas_schema_store *store, size_t bytes);

void etwas_store_begin(struct etwas_schema_store *store);
void etwas_store_end(struct etwas_schema_store *store);

struct etwas_event_key etwas_event_key_of(const EVENT_HEADER *header);

/* Finds or adds the kind of event of a key; NULL: no memory. */
struct etwas_event_kind *etwas_store_find_or_add_kind(struct etwas_schema_store *store,
                                                      const struct etwas_event_key *key);

/*
 * Stores a schema under its own key: class and type with DecodingSourceWbem, provider and id with
 * DecodingSourceXMLFile. `info` may be unaligned, and is copied. ERROR_INVALID_DATA: it is invalid.
 * ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_store_add(struct etwas_schema_store *store, const void *info, size_t bytes,
                         enum etwas_rank rank);

/*
 * Stores a layout of a version in the same way, as ETWAS_RANK_BUILT_IN. It holds for payloads of at
 * least `least` bytes (with 32-bit pointers, with 64-bit pointers). A version may have several
 * layouts; the longest comes first.
 */
uint32_t etwas_store_add_layout(struct etwas_schema_store *store, const void *info, size_t bytes,
                                const uint16_t least[2]);

/* Stores the map of a provider in the same way. */
uint32_t etwas_store_add_map(struct etwas_schema_store *store, const etwas_guid *provider,
                             const void *info, size_t bytes);

/*
 * The key of an embedded schema: the event's head from ProviderId to EventDescriptor, and two
 * blobs.
 */
struct etwas_embedded_schema_key {
    const void *head;
    const void *traits;
    const void *schema;
    uint16_t traits_bytes;
    uint16_t schema_bytes;
    /* where the fields begin: the blobs' bytes, if these are in the payload */
    uint16_t payload_begin;
};
enum {
    ETWAS_EMBEDDED_HEAD_BYTES = sizeof(etwas_guid) + sizeof(EVENT_DESCRIPTOR)
};

struct etwas_embedded_schema {
    struct etwas_stored_schema *stored; /* NULL: the schema is invalid */
    uint16_t traits_bytes;
    uint16_t schema_bytes;
    uint16_t payload_begin;
    uint8_t key[]; /* head, traits, schema */
};

/* Finds an embedded schema; NULL: not stored yet. *hash is for etwas_store_add_embedded. */
const struct etwas_embedded_schema *etwas_store_find_embedded(
    const struct etwas_schema_store *store, const struct etwas_embedded_schema_key *key,
    uint64_t *hash);
/*
 * Stores an embedded schema and takes ownership; NULL stands for an invalid one. Returns NULL if
 * there is no memory; the schema is freed then.
 */
const struct etwas_embedded_schema *etwas_store_add_embedded(
    struct etwas_schema_store *store, const struct etwas_embedded_schema_key *key, uint64_t hash,
    struct etwas_stored_schema *stored);

/* The name of a provider, or of the provider of a class; NULL: unknown. */
const char *etwas_store_provider(const struct etwas_schema_store *store, const etwas_guid *guid);
/* Stores the name of a provider, unless it has one already. Returns false if there is no memory. */
bool etwas_store_add_provider(struct etwas_schema_store *store, const etwas_guid *guid,
                              const char *name, size_t bytes);

/*
 * Visits every schema that events can have, by provider, event, id, opcode, version and content
 * (the largest first), until `visit` returns false. ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_store_visit(const struct etwas_schema_store *store,
                           bool (*visit)(const etwas_schema *schema, void *context), void *context);

#endif
