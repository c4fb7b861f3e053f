/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads the document, element by element. An element is identified by its name and the element
 * around it. Unknown ones are skipped with everything inside. References between elements are
 * resolved later, since they may point forward.
 */
#include <etwas/winerror.h>
#include <string.h>

#include "decode/manifest_reader.h"
#include "decode/manifests.h"

enum {
    FIRST_CHANNEL = 16, /* those before are predefined */
};

enum manifest_element {
    DOCUMENT,
    UNKNOWN,
    MANIFEST,
    INSTRUMENTATION,
    ROOT_EVENTS,
    PROVIDER,
    CHANNELS,
    CHANNEL,
    LEVELS,
    LEVEL,
    KEYWORDS,
    KEYWORD,
    TASKS,
    TASK,
    TASK_OPCODES,
    TASK_OPCODE,
    OPCODES,
    OPCODE,
    MAPS,
    VALUE_MAP,
    BIT_MAP,
    MAP_ENTRY,
    TEMPLATES,
    TEMPLATE,
    DATA,
    STRUCT,
    MEMBER,
    USER_DATA,
    EVENTS,
    EVENT,
    LOCALIZATION,
    RESOURCES,
    STRING_TABLE,
    STRING,
};

static struct etwas_manifest_value *manifest_add_value(struct etwas_manifest_reader *reader,
                                                       const char **attributes,
                                                       enum etwas_manifest_kind kind,
                                                       const void *owner, const char *name,
                                                       uint64_t value)
{
    struct etwas_manifest_value *word = etwas_manifest_add_named(
        reader, sizeof *word, kind, owner, etwas_manifest_copy_attribute(reader, attributes, name));

    if (word != NULL) {
        word->value = value;
        word->message = etwas_manifest_copy_attribute(reader, attributes, "message");
    }
    return word;
}

/* ---- elements; false: the element's contents are skipped ------------------------------------- */

static bool manifest_begin_provider(struct etwas_manifest_reader *reader, const char **attributes)
{
    struct etwas_manifest *manifest = reader->manifest;
    struct etwas_manifest_provider *provider;
    etwas_guid guid;

    if (!etwas_manifest_attribute_guid(attributes, "guid", &guid)) {
        return false;
    }
    provider = etwas_arena_allocate(&manifest->arena, sizeof *provider);
    if (provider == NULL) {
        etwas_manifest_fail(reader, ERROR_NOT_ENOUGH_MEMORY);
        return false;
    }
    *provider = (struct etwas_manifest_provider){
        .guid = guid,
        .name = etwas_manifest_copy_attribute(reader, attributes, "name"),
        .message = etwas_manifest_copy_attribute(reader, attributes, "message"),
    };
    *(manifest->last == NULL ? &manifest->first : &manifest->last->next) = provider;
    manifest->last = provider;
    reader->provider = provider;
    reader->channels = FIRST_CHANNEL;
    return true;
}

/* Events name a channel by its chid, if it has one. Channels without a value are numbered. */
static bool manifest_begin_channel(struct etwas_manifest_reader *reader, const char **attributes)
{
    const char *name = etwas_manifest_attribute(attributes, "chid") == NULL ? "name" : "chid";
    struct etwas_manifest_value *channel;
    uint64_t value;

    if (!etwas_manifest_attribute_number(attributes, "value", UINT8_MAX, &value)) {
        value = reader->channels++;
    }
    channel = manifest_add_value(reader, attributes, ETWAS_MANIFEST_CHANNEL, reader->provider, name,
                                 value);
    if (channel != NULL) {
        channel->message = etwas_manifest_copy_attribute(reader, attributes, "name");
    }
    return channel != NULL;
}

static bool manifest_begin_level(struct etwas_manifest_reader *reader, const char **attributes)
{
    uint64_t value;

    return etwas_manifest_attribute_number(attributes, "value", UINT8_MAX, &value) &&
           manifest_add_value(reader, attributes, ETWAS_MANIFEST_LEVEL, reader->provider, "name",
                              value) != NULL;
}

static bool manifest_begin_keyword(struct etwas_manifest_reader *reader, const char **attributes)
{
    uint64_t mask;

    return etwas_manifest_attribute_number(attributes, "mask", UINT64_MAX, &mask) &&
           manifest_add_value(reader, attributes, ETWAS_MANIFEST_KEYWORD, reader->provider, "name",
                              mask) != NULL;
}

static bool manifest_begin_task(struct etwas_manifest_reader *reader, const char **attributes)
{
    struct etwas_manifest_value *task;
    uint64_t value;

    if (!etwas_manifest_attribute_number(attributes, "value", UINT16_MAX, &value)) {
        return false;
    }
    task = manifest_add_value(reader, attributes, ETWAS_MANIFEST_TASK, reader->provider, "name",
                              value);
    if (task != NULL) {
        etwas_manifest_attribute_guid(attributes, "eventGUID", &task->guid);
    }
    reader->task = task;
    return task != NULL;
}

static bool manifest_add_opcode(struct etwas_manifest_reader *reader, const char **attributes,
                                const void *owner)
{
    uint64_t value;

    return etwas_manifest_attribute_number(attributes, "value", UINT8_MAX, &value) &&
           manifest_add_value(reader, attributes, ETWAS_MANIFEST_OPCODE, owner, "name", value) !=
               NULL;
}

static bool manifest_begin_opcode(struct etwas_manifest_reader *reader, const char **attributes)
{
    return manifest_add_opcode(reader, attributes, reader->provider);
}

static bool manifest_begin_task_opcode(struct etwas_manifest_reader *reader,
                                       const char **attributes)
{
    return manifest_add_opcode(reader, attributes, reader->task);
}

static bool manifest_add_map(struct etwas_manifest_reader *reader, const char **attributes,
                             MAP_FLAGS flag)
{
    struct etwas_manifest_provider *provider = reader->provider;
    struct etwas_manifest_map *map =
        etwas_manifest_add_named(reader, sizeof *map, ETWAS_MANIFEST_MAP, provider,
                                 etwas_manifest_copy_attribute(reader, attributes, "name"));

    if (map == NULL) {
        return false;
    }
    map->flag = flag;
    *(provider->last_map == NULL ? &provider->first_map : &provider->last_map->next) = map;
    provider->last_map = map;
    reader->map = map;
    return true;
}

static bool manifest_begin_value_map(struct etwas_manifest_reader *reader, const char **attributes)
{
    return manifest_add_map(reader, attributes, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP);
}

static bool manifest_begin_bit_map(struct etwas_manifest_reader *reader, const char **attributes)
{
    return manifest_add_map(reader, attributes, EVENTMAP_INFO_FLAG_MANIFEST_BITMAP);
}

static bool manifest_begin_map_entry(struct etwas_manifest_reader *reader, const char **attributes)
{
    struct etwas_manifest_map *map = reader->map;
    struct etwas_manifest_entry *entry;
    uint64_t value;

    if (!etwas_manifest_attribute_number(attributes, "value", UINT32_MAX, &value)) {
        return false;
    }
    entry = etwas_arena_allocate(&reader->manifest->arena, sizeof *entry);
    if (entry == NULL) {
        etwas_manifest_fail(reader, ERROR_NOT_ENOUGH_MEMORY);
        return false;
    }
    entry->value = (uint32_t)value;
    entry->message = etwas_manifest_copy_attribute(reader, attributes, "message");
    *(map->last == NULL ? &map->first : &map->last->next) = entry;
    map->last = entry;
    map->count++;
    return true;
}

static bool manifest_begin_event(struct etwas_manifest_reader *reader, const char **attributes)
{
    struct etwas_manifest_provider *provider = reader->provider;
    struct etwas_manifest_event *event;
    uint64_t id, version;

    if (!etwas_manifest_attribute_number(attributes, "value", UINT16_MAX, &id)) {
        return false;
    }
    event = etwas_arena_allocate(&reader->manifest->arena, sizeof *event);
    if (event == NULL) {
        etwas_manifest_fail(reader, ERROR_NOT_ENOUGH_MEMORY);
        return false;
    }
    if (!etwas_manifest_attribute_number(attributes, "version", UINT8_MAX, &version)) {
        version = 0;
    }
    *event = (struct etwas_manifest_event){
        .id = (uint16_t)id,
        .version = (uint8_t)version,
        .name = etwas_manifest_copy_attribute(reader, attributes, "name"),
        .symbol = etwas_manifest_copy_attribute(reader, attributes, "symbol"),
        .message = etwas_manifest_copy_attribute(reader, attributes, "message"),
        .template_name = etwas_manifest_copy_attribute(reader, attributes, "template"),
        .task = etwas_manifest_copy_attribute(reader, attributes, "task"),
        .opcode = etwas_manifest_copy_attribute(reader, attributes, "opcode"),
        .level = etwas_manifest_copy_attribute(reader, attributes, "level"),
        .channel = etwas_manifest_copy_attribute(reader, attributes, "channel"),
        .keywords = etwas_manifest_copy_attribute(reader, attributes, "keywords"),
        .attributes = etwas_manifest_copy_attribute(reader, attributes, "attributes"),
    };
    *(provider->last_event == NULL ? &provider->first_event : &provider->last_event->next) = event;
    provider->last_event = event;
    return true;
}

/* English is preferred; else the first language is used. */
static bool manifest_begin_resources(struct etwas_manifest_reader *reader, const char **attributes)
{
    const char *culture = etwas_manifest_attribute(attributes, "culture");
    uint8_t suits = 1;

    if (culture != NULL && strncmp(culture, "en", 2) == 0) {
        suits = strcmp(culture, "en-US") == 0 ? 3 : 2;
    }
    reader->strings = etwas_arena_allocate(&reader->manifest->arena, 1);
    if (reader->strings == NULL) {
        etwas_manifest_fail(reader, ERROR_NOT_ENOUGH_MEMORY);
        return false;
    }
    if (suits > reader->culture) {
        reader->culture = suits;
        reader->manifest->strings = reader->strings;
    }
    return true;
}

static bool manifest_begin_string(struct etwas_manifest_reader *reader, const char **attributes)
{
    struct etwas_manifest_value *string =
        etwas_manifest_add_named(reader, sizeof *string, ETWAS_MANIFEST_STRING, reader->strings,
                                 etwas_manifest_copy_attribute(reader, attributes, "id"));

    if (string != NULL) {
        string->message = etwas_manifest_copy_attribute(reader, attributes, "value");
    }
    return string != NULL;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static const struct {
    uint8_t around;
    uint8_t element;
    const char *name;
    bool (*begin)(struct etwas_manifest_reader *reader, const char **attributes); /* NULL: a list */
} elements[] = {
    {DOCUMENT, MANIFEST, "instrumentationManifest", NULL},
    {DOCUMENT, MANIFEST, "assembly", NULL},
    {MANIFEST, INSTRUMENTATION, "instrumentation", NULL},
    {INSTRUMENTATION, ROOT_EVENTS, "events", NULL},
    {ROOT_EVENTS, PROVIDER, "provider", manifest_begin_provider},
    {PROVIDER, CHANNELS, "channels", NULL},
    {CHANNELS, CHANNEL, "channel", manifest_begin_channel},
    {CHANNELS, CHANNEL, "importChannel", manifest_begin_channel},
    {PROVIDER, LEVELS, "levels", NULL},
    {LEVELS, LEVEL, "level", manifest_begin_level},
    {PROVIDER, KEYWORDS, "keywords", NULL},
    {KEYWORDS, KEYWORD, "keyword", manifest_begin_keyword},
    {PROVIDER, TASKS, "tasks", NULL},
    {TASKS, TASK, "task", manifest_begin_task},
    {TASK, TASK_OPCODES, "opcodes", NULL},
    {TASK_OPCODES, TASK_OPCODE, "opcode", manifest_begin_task_opcode},
    {PROVIDER, OPCODES, "opcodes", NULL},
    {OPCODES, OPCODE, "opcode", manifest_begin_opcode},
    {PROVIDER, MAPS, "maps", NULL},
    {MAPS, VALUE_MAP, "valueMap", manifest_begin_value_map},
    {VALUE_MAP, MAP_ENTRY, "map", manifest_begin_map_entry},
    {MAPS, BIT_MAP, "bitMap", manifest_begin_bit_map},
    {BIT_MAP, MAP_ENTRY, "map", manifest_begin_map_entry},
    {PROVIDER, TEMPLATES, "templates", NULL},
    {TEMPLATES, TEMPLATE, "template", etwas_manifest_begin_template},
    {TEMPLATE, DATA, "data", etwas_manifest_begin_data},
    {TEMPLATE, STRUCT, "struct", etwas_manifest_begin_struct},
    {STRUCT, MEMBER, "data", etwas_manifest_begin_data},
    {TEMPLATE, USER_DATA, "UserData", etwas_manifest_begin_user_data},
    {PROVIDER, EVENTS, "events", NULL},
    {EVENTS, EVENT, "event", manifest_begin_event},
    {MANIFEST, LOCALIZATION, "localization", NULL},
    {LOCALIZATION, RESOURCES, "resources", manifest_begin_resources},
    {RESOURCES, STRING_TABLE, "stringTable", NULL},
    {STRING_TABLE, STRING, "string", manifest_begin_string},
};

static uint8_t manifest_begin_element(struct etwas_manifest_reader *reader, uint8_t around,
                                      const char *name, const char **attributes)
{
    const char *colon = strchr(name, ':');

    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        if (elements[i].around == around &&
            strcmp(elements[i].name, colon == NULL ? name : colon + 1) == 0) {
            if (elements[i].begin == NULL || elements[i].begin(reader, attributes)) {
                return elements[i].element;
            }
            if (elements[i].element != USER_DATA) {
                etwas_manifest_skip_element(reader, elements[i].name);
            }
            return UNKNOWN;
        }
    }
    return UNKNOWN;
}

static void manifest_on_start(void *context, const char *name, const char **attributes)
{
    struct etwas_manifest_reader *reader = context;

    if (reader->error != ERROR_SUCCESS) {
        return;
    }
    if (reader->depth == ETWAS_MANIFEST_DEPTH) {
        etwas_manifest_fail(reader, ERROR_INVALID_DATA);
        return;
    }
    reader->open[reader->depth] = manifest_begin_element(
        reader, reader->depth == 0 ? DOCUMENT : reader->open[reader->depth - 1], name, attributes);
    reader->depth++;
}

static void manifest_on_end(void *context, const char *name)
{
    struct etwas_manifest_reader *reader = context;

    (void)name;
    if (reader->error == ERROR_SUCCESS && reader->open[--reader->depth] == STRUCT) {
        reader->structure = ETWAS_BUILDER_TOP;
    }
}

/* Rejects a document type. Only there could entities be declared, so there are none. */
static void manifest_on_document_type(void *context, const char *name, const char *system_id,
                                      const char *public_id, int has_internal_subset)
{
    (void)name;
    (void)system_id;
    (void)public_id;
    (void)has_internal_subset;
    etwas_manifest_fail(context, ERROR_INVALID_DATA);
}

static uint32_t manifest_parse(struct etwas_manifest_reader *reader, const void *xml, size_t bytes)
{
    enum XML_Status status;

    XML_SetUserData(reader->parser, reader);
    XML_SetElementHandler(reader->parser, manifest_on_start, manifest_on_end);
    XML_SetStartDoctypeDeclHandler(reader->parser, manifest_on_document_type);
    status = XML_Parse(reader->parser, xml, (int)bytes, XML_TRUE);
    if (reader->error != ERROR_SUCCESS) {
        return reader->error;
    }
    if (status != XML_STATUS_OK) {
        return XML_GetErrorCode(reader->parser) == XML_ERROR_NO_MEMORY ? ERROR_NOT_ENOUGH_MEMORY
                                                                       : ERROR_INVALID_DATA;
    }
    return reader->manifest->first == NULL ? ERROR_INVALID_DATA : ERROR_SUCCESS;
}

uint32_t etwas_manifest_read(struct etwas_manifest *manifest, const void *xml, size_t bytes,
                             uint64_t seed)
{
    struct etwas_manifest_reader reader = {.manifest = manifest};
    uint32_t error;

    *manifest = (struct etwas_manifest){.seed = seed};
    if (bytes > ETWAS_MANIFEST_LIMIT_BYTES) {
        return ERROR_INVALID_DATA;
    }
    reader.parser = XML_ParserCreate(NULL);
    if (reader.parser == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    error = manifest_parse(&reader, xml, bytes);
    XML_ParserFree(reader.parser);
    return error;
}

void etwas_manifest_free(struct etwas_manifest *manifest)
{
    etwas_hash_table_free(&manifest->names);
    etwas_arena_free(&manifest->arena);
}
