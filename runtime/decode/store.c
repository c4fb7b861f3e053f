/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "decode/store.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "etl/utf16.h"

_Static_assert(offsetof(EVENT_HEADER, EventDescriptor) ==
                   offsetof(EVENT_HEADER, ProviderId) + sizeof(etwas_guid),
               "what a content's head is");
_Static_assert(sizeof(struct etwas_event_key) == 20, "no padding: it is hashed");

enum {
    /* The most maps of one name, since each new one is set in all fields that name it. */
    MAPS_OF_NAME = 256,
};

/* A map's name, and the fields that name it. */
struct etwas_map_name {
    etwas_guid provider;
    struct etwas_map *map; /* the newest one, or NULL */
    uint32_t maps;         /* how many had the name */
    struct etwas_map_field *fields;
    uint16_t units;
    etwas_wchar name[];
};

bool etwas_store_reserve_bytes(struct etwas_schema_store *store, size_t bytes)
{
    if (bytes > ETWAS_STORE_LIMIT_BYTES - store->bytes) {
        return false;
    }
    store->bytes += bytes;
    return true;
}

/* Allocates a zeroed entry of a table; NULL: no memory, or the store's limit is reached. */
static void *store_new_entry(struct etwas_schema_store *store, size_t bytes)
{
    return etwas_store_reserve_bytes(store, bytes + 4 * sizeof(struct etwas_hash_table_slot))
               ? calloc(1, bytes)
               : NULL;
}

void etwas_store_begin(struct etwas_schema_store *store)
{
    *store = (struct etwas_schema_store){0};
    if (getrandom(&store->secret, sizeof store->secret, GRND_NONBLOCK) < 0) {
        store->secret = (uint64_t)(uintptr_t)store;
    }
}

static void store_free_entries(struct etwas_hash_table *table)
{
    for (size_t i = 0; i < table->capacity; i++) {
        free(table->slots[i].entry);
    }
    etwas_hash_table_free(table);
}

void etwas_store_end(struct etwas_schema_store *store)
{
    store_free_entries(&store->events);
    store_free_entries(&store->embedded);
    store_free_entries(&store->maps);
    store_free_entries(&store->providers);
    while (store->all != NULL) {
        struct etwas_stored_schema *next = store->all->next;

        free(store->all);
        store->all = next;
    }
    while (store->all_maps != NULL) {
        struct etwas_map *next = store->all_maps->next;

        free(store->all_maps);
        store->all_maps = next;
    }
}

/* ---- kinds of events ------------------------------------------------------------------------- */

struct etwas_event_key etwas_event_key_of(const EVENT_HEADER *header)
{
    bool is_classic = (header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0;

    return (struct etwas_event_key){
        .guid = header->ProviderId,
        .id = is_classic ? header->EventDescriptor.Opcode : header->EventDescriptor.Id,
        .is_classic = is_classic,
    };
}

struct etwas_event_kind *etwas_store_find_or_add_kind(struct etwas_schema_store *store,
                                                      const struct etwas_event_key *key)
{
    uint64_t hash = etwas_hash_bytes(store->secret, key, sizeof *key);
    struct etwas_event_kind *kind;

    for (size_t cursor = 0;
         (kind = etwas_hash_table_next(&store->events, hash, &cursor)) != NULL;) {
        if (memcmp(&kind->key, key, sizeof *key) == 0) {
            return kind;
        }
    }
    kind = store_new_entry(store, sizeof *kind);
    if (kind != NULL) {
        kind->key = *key;
        if (!etwas_hash_table_add(&store->events, hash, kind)) {
            free(kind);
            kind = NULL;
        }
    }
    return kind;
}

/* ---- maps ------------------------------------------------------------------------------------ */

/* Finds or adds the entry of a map's name; NULL: no memory. */
static struct etwas_map_name *store_map_name(struct etwas_schema_store *store,
                                             const etwas_guid *provider, const void *name)
{
    size_t units = etwas_utf16_length(name, ETWAS_SCHEMA_NAME_UNITS);
    uint64_t hash = etwas_hash_bytes(store->secret, provider, sizeof *provider);
    struct etwas_map_name *entry;

    hash = etwas_hash_bytes(hash, name, units * sizeof(etwas_wchar));
    for (size_t cursor = 0; (entry = etwas_hash_table_next(&store->maps, hash, &cursor)) != NULL;) {
        if (entry->units == units && memcmp(&entry->provider, provider, sizeof *provider) == 0 &&
            memcmp(entry->name, name, units * sizeof(etwas_wchar)) == 0) {
            return entry;
        }
    }
    entry = store_new_entry(store, sizeof *entry + units * sizeof(etwas_wchar));
    if (entry != NULL) {
        entry->provider = *provider;
        entry->units = (uint16_t)units;
        memcpy(entry->name, name, units * sizeof(etwas_wchar));
        if (!etwas_hash_table_add(&store->maps, hash, entry)) {
            free(entry);
            entry = NULL;
        }
    }
    return entry;
}

static bool store_is_same_map(const struct etwas_map *map, const void *info, size_t bytes)
{
    return map->info_bytes == bytes && memcmp(&map->info, info, bytes) == 0;
}

/* Sets the map in all fields that name it. */
static void store_set_map(struct etwas_schema_store *store, struct etwas_map_name *name,
                          struct etwas_map *map)
{
    map->next = store->all_maps;
    store->all_maps = map;
    name->map = map;
    name->maps++;
    for (struct etwas_map_field *at = name->fields; at != NULL; at = at->next) {
        at->field->map = &map->info;
    }
}

uint32_t etwas_store_add_map(struct etwas_schema_store *store, const etwas_guid *provider,
                             const void *info, size_t bytes)
{
    struct etwas_map *map;
    struct etwas_map_name *name;
    uint32_t error = etwas_map_make(info, bytes, &map);

    if (error != ERROR_SUCCESS) {
        return error;
    }
    name = store_map_name(store, provider, (const uint8_t *)&map->info + map->info.NameOffset);
    if (name == NULL) {
        error = ERROR_NOT_ENOUGH_MEMORY;
    } else if (name->map != NULL &&
               (store->keeps_first || store_is_same_map(name->map, info, bytes))) {
        error = ERROR_SUCCESS;
    } else if (name->maps == MAPS_OF_NAME) {
        error = ERROR_INVALID_DATA;
    } else if (!etwas_store_reserve_bytes(store, map->bytes)) {
        error = ERROR_NOT_ENOUGH_MEMORY;
    } else {
        store_set_map(store, name, map);
        return ERROR_SUCCESS;
    }
    free(map);
    return error;
}

/*
 * Sets the map that each field names, now or when the map is added. Returns false if there is no
 * memory.
 */
static bool store_find_maps(struct etwas_schema_store *store, struct etwas_stored_schema *stored)
{
    const TRACE_EVENT_INFO *info = stored->exact.info;

    for (uint32_t i = 0; i < stored->map_field_count; i++) {
        struct etwas_map_field *at = &stored->map_fields[i];
        uint32_t offset = at->field->info->nonStructType.MapNameOffset;
        struct etwas_map_name *name =
            store_map_name(store, &info->ProviderGuid, (const uint8_t *)info + offset);

        if (name == NULL) {
            return false;
        }
        at->field->map = name->map == NULL ? NULL : &name->map->info;
        at->next = name->fields;
        name->fields = at;
    }
    return true;
}

/* ---- providers ------------------------------------------------------------------------------- */

/* The name of a provider, found by its GUID or by that of one of its classes. */
struct etwas_provider_name {
    etwas_guid guid;
    char name[];
};

static const struct etwas_provider_name *store_provider_of(const struct etwas_schema_store *store,
                                                           const etwas_guid *guid, uint64_t *hash)
{
    const struct etwas_provider_name *entry;

    *hash = etwas_hash_bytes(store->secret, guid, sizeof *guid);
    for (size_t cursor = 0;
         (entry = etwas_hash_table_next(&store->providers, *hash, &cursor)) != NULL &&
         memcmp(&entry->guid, guid, sizeof *guid) != 0;) {
    }
    return entry;
}

const char *etwas_store_provider(const struct etwas_schema_store *store, const etwas_guid *guid)
{
    uint64_t hash;
    const struct etwas_provider_name *entry = store_provider_of(store, guid, &hash);

    return entry == NULL ? NULL : entry->name;
}

bool etwas_store_add_provider(struct etwas_schema_store *store, const etwas_guid *guid,
                              const char *name, size_t bytes)
{
    struct etwas_provider_name *entry;
    uint64_t hash;

    if (bytes == 0 || store_provider_of(store, guid, &hash) != NULL) {
        return true;
    }
    entry = store_new_entry(store, sizeof *entry + bytes + 1);
    if (entry == NULL) {
        return false;
    }
    entry->guid = *guid;
    memcpy(entry->name, name, bytes);
    if (!etwas_hash_table_add(&store->providers, hash, entry)) {
        free(entry);
        return false;
    }
    return true;
}

/* ---- descriptions ---------------------------------------------------------------------------- */

static bool store_guid_is_zero(const etwas_guid *guid)
{
    return memcmp(guid, &(etwas_guid){0}, sizeof *guid) == 0;
}

/* Finds the key of a schema's event. Returns false if it has none. */
static bool store_key_of_info(const TRACE_EVENT_INFO *info, struct etwas_event_key *key)
{
    if (info->DecodingSource == DecodingSourceWbem) {
        *key = (struct etwas_event_key){
            .guid = store_guid_is_zero(&info->EventGuid) ? info->ProviderGuid : info->EventGuid,
            .id = info->EventDescriptor.Opcode,
            .is_classic = true,
        };
        return true;
    }
    *key = (struct etwas_event_key){.guid = info->ProviderGuid, .id = info->EventDescriptor.Id};
    return info->DecodingSource == DecodingSourceXMLFile;
}

/* Returns the link to the schema of this version, or to the first lower version. */
static struct etwas_stored_schema **store_link_of(struct etwas_event_kind *kind, uint8_t version)
{
    struct etwas_stored_schema **link = &kind->versions;

    while (*link != NULL && (*link)->exact.info->EventDescriptor.Version > version) {
        link = &(*link)->older;
    }
    return link;
}

static bool store_is_same_schema(const struct etwas_stored_schema *stored, const void *info,
                                 size_t bytes)
{
    return stored->exact.info_bytes == bytes && memcmp(stored->exact.info, info, bytes) == 0;
}

static bool store_is_of_version(const struct etwas_stored_schema *stored, uint8_t version)
{
    return stored != NULL && stored->exact.info->EventDescriptor.Version == version;
}

/* A schema that is added. */
struct store_addition {
    const void *info;
    size_t bytes;
    enum etwas_rank rank;
    const uint16_t
        *least; /* the least payload sizes of a layout; NULL: the version has only one schema */
};

/*
 * Returns the link at which a schema is inserted: at the same version, or after its layouts. NULL:
 * it is not stored.
 */
static struct etwas_stored_schema **store_place_of(const struct etwas_schema_store *store,
                                                   struct etwas_event_kind *kind, uint8_t version,
                                                   const struct store_addition *addition)
{
    struct etwas_stored_schema **link = store_link_of(kind, version);

    if (store_is_of_version(*link, version) &&
        ((*link)->rank > addition->rank ||
         (addition->least == NULL && store->keeps_first && (*link)->rank == addition->rank))) {
        return NULL;
    }
    for (; store_is_of_version(*link, version); link = &(*link)->older) {
        if (store_is_same_schema(*link, addition->info, addition->bytes)) {
            return NULL;
        }
        if (addition->least == NULL || (*link)->rank < addition->rank) {
            break;
        }
    }
    return link;
}

static uint32_t store_add_version(struct etwas_schema_store *store, struct etwas_event_kind *kind,
                                  uint8_t version, const struct store_addition *addition)
{
    struct etwas_stored_schema **link = store_place_of(store, kind, version, addition);
    struct etwas_stored_schema *stored;
    uint32_t error;

    if (link == NULL) {
        return ERROR_SUCCESS;
    }
    error = etwas_schema_make(addition->info, addition->bytes, &stored);
    if (error != ERROR_SUCCESS) {
        return error;
    }
    if (!etwas_store_reserve_bytes(store, stored->bytes)) {
        free(stored);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    stored->rank = (uint8_t)addition->rank;
    if (addition->least != NULL) {
        memcpy(stored->least, addition->least, sizeof stored->least);
    }
    stored->next = store->all;
    store->all = stored;
    if (!store_find_maps(store, stored) ||
        !etwas_store_add_provider(store, &kind->key.guid, stored->exact.provider,
                                  strlen(stored->exact.provider))) {
        return ERROR_NOT_ENOUGH_MEMORY; /* stored, but unused */
    }
    stored->older = *link;
    while (store_is_of_version(stored->older, version)) { /* all its layouts */
        stored->older = stored->older->older;
    }
    *link = stored;
    return ERROR_SUCCESS;
}

static uint32_t store_add_schema(struct etwas_schema_store *store,
                                 const struct store_addition *addition)
{
    struct etwas_event_key key;
    struct etwas_event_kind *kind;
    TRACE_EVENT_INFO head = {0};

    if (addition->bytes < offsetof(TRACE_EVENT_INFO, EventPropertyInfoArray)) {
        return ERROR_INVALID_DATA;
    }
    memcpy(&head, addition->info, offsetof(TRACE_EVENT_INFO, EventPropertyInfoArray));
    if (!store_key_of_info(&head, &key)) {
        return ERROR_INVALID_DATA;
    }
    kind = etwas_store_find_or_add_kind(store, &key);
    return kind == NULL ? ERROR_NOT_ENOUGH_MEMORY
                        : store_add_version(store, kind, head.EventDescriptor.Version, addition);
}

uint32_t etwas_store_add(struct etwas_schema_store *store, const void *info, size_t bytes,
                         enum etwas_rank rank)
{
    const struct store_addition addition = {.info = info, .bytes = bytes, .rank = rank};

    return store_add_schema(store, &addition);
}

uint32_t etwas_store_add_layout(struct etwas_schema_store *store, const void *info, size_t bytes,
                                const uint16_t least[2])
{
    const struct store_addition addition = {
        .info = info, .bytes = bytes, .rank = ETWAS_RANK_BUILT_IN, .least = least};

    return store_add_schema(store, &addition);
}

/* ---- events that describe themselves --------------------------------------------------------- */

static bool store_is_embedded(const struct etwas_embedded_schema *content,
                              const struct etwas_embedded_schema_key *key)
{
    const uint8_t *bytes = content->key;

    return content->schema_bytes == key->schema_bytes &&
           content->traits_bytes == key->traits_bytes &&
           content->payload_begin == key->payload_begin &&
           memcmp(bytes, key->head, ETWAS_EMBEDDED_HEAD_BYTES) == 0 &&
           memcmp(bytes + ETWAS_EMBEDDED_HEAD_BYTES, key->traits, key->traits_bytes) == 0 &&
           memcmp(bytes + ETWAS_EMBEDDED_HEAD_BYTES + key->traits_bytes, key->schema,
                  key->schema_bytes) == 0;
}

const struct etwas_embedded_schema *etwas_store_find_embedded(
    const struct etwas_schema_store *store, const struct etwas_embedded_schema_key *key,
    uint64_t *hash)
{
    const struct etwas_embedded_schema *content;

    *hash = etwas_hash_bytes(store->secret, key->head, ETWAS_EMBEDDED_HEAD_BYTES);
    *hash = etwas_hash_bytes(*hash, key->traits, key->traits_bytes);
    *hash = etwas_hash_bytes(*hash, key->schema, key->schema_bytes);
    for (size_t cursor = 0;
         (content = etwas_hash_table_next(&store->embedded, *hash, &cursor)) != NULL;) {
        if (store_is_embedded(content, key)) {
            return content;
        }
    }
    return NULL;
}

const struct etwas_embedded_schema *etwas_store_add_embedded(
    struct etwas_schema_store *store, const struct etwas_embedded_schema_key *key, uint64_t hash,
    struct etwas_stored_schema *stored)
{
    size_t key_bytes = (size_t)ETWAS_EMBEDDED_HEAD_BYTES + key->traits_bytes + key->schema_bytes;
    struct etwas_embedded_schema *content = store_new_entry(store, sizeof *content + key_bytes);

    if (content == NULL || (stored != NULL && !etwas_store_reserve_bytes(store, stored->bytes)) ||
        !etwas_hash_table_add(&store->embedded, hash, content)) {
        free(content);
        free(stored);
        return NULL;
    }
    content->stored = stored;
    content->traits_bytes = key->traits_bytes;
    content->schema_bytes = key->schema_bytes;
    content->payload_begin = key->payload_begin;
    memcpy(content->key, key->head, ETWAS_EMBEDDED_HEAD_BYTES);
    memcpy(content->key + ETWAS_EMBEDDED_HEAD_BYTES, key->traits, key->traits_bytes);
    memcpy(content->key + ETWAS_EMBEDDED_HEAD_BYTES + key->traits_bytes, key->schema,
           key->schema_bytes);
    if (stored != NULL) {
        stored->next = store->all;
        store->all = stored;
    }
    return content;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int store_compare(const void *left, const void *right)
{
    const etwas_schema *a = *(const etwas_schema *const *)left;
    const etwas_schema *b = *(const etwas_schema *const *)right;
    int order = strcmp(a->provider, b->provider);

    order = order != 0 ? order : strcmp(a->event, b->event);
    order = order != 0 ? order : memcmp(&a->info->ProviderGuid, &b->info->ProviderGuid, 16);
    order = order != 0 ? order : a->info->EventDescriptor.Id - b->info->EventDescriptor.Id;
    order = order != 0 ? order : a->info->EventDescriptor.Opcode - b->info->EventDescriptor.Opcode;
    order =
        order != 0 ? order : a->info->EventDescriptor.Version - b->info->EventDescriptor.Version;
    /* Others with the same key differ in content; addresses change from run to run. */
    order = order != 0 ? order : (a->info_bytes < b->info_bytes) - (a->info_bytes > b->info_bytes);
    return order != 0 ? order : memcmp(a->info, b->info, a->info_bytes);
}

/* Lists the schemas that events can have in `list`, unless it is NULL; returns their number. */
static size_t store_collect(const struct etwas_schema_store *store, const etwas_schema **list)
{
    size_t count = 0;

    for (size_t i = 0; i < store->events.capacity; i++) {
        const struct etwas_event_kind *kind = store->events.slots[i].entry;
        const struct etwas_stored_schema *stored = kind != NULL ? kind->versions : NULL;

        for (; stored != NULL; stored = stored->older) {
            if (list != NULL) {
                list[count] = stored->rank == ETWAS_RANK_COMMON ? &stored->other : &stored->exact;
            }
            count++;
        }
    }
    for (size_t i = 0; i < store->embedded.capacity; i++) {
        const struct etwas_embedded_schema *content = store->embedded.slots[i].entry;

        if (content != NULL && content->stored != NULL) {
            if (list != NULL) {
                list[count] = &content->stored->exact;
            }
            count++;
        }
    }
    return count;
}

uint32_t etwas_store_visit(const struct etwas_schema_store *store,
                           bool (*visit)(const etwas_schema *schema, void *context), void *context)
{
    size_t count = store_collect(store, NULL);
    const etwas_schema **list = calloc(count + 1, sizeof *list);

    if (list == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    store_collect(store, list);
    qsort(list, count, sizeof *list, store_compare);
    for (size_t i = 0; i < count && visit(list[i], context); i++) {
    }
    free(list);
    return ERROR_SUCCESS;
}
