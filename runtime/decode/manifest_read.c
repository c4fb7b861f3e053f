/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The document, element by element. An element is known by its name and the one around it; what is
 * not known is passed over with all that is in it. References between elements are looked up
 * later, for they may point forward; only fields of a template must name earlier ones.
 */
#include <etwas/winerror.h>
#include <expat.h>
#include <stdlib.h>
#include <string.h>

#include "decode/manifest.h"
#include "decode/manifest_chunks.h"
#include "decode/manifest_types.h"

enum {
    DEPTH_LIMIT = 16,   /* a member of a struct is the tenth */
    FIELDS_LIMIT = 512, /* of a template */
    FIRST_CHANNEL = 16, /* those before are predefined */
};

enum element {
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

struct reader {
    XML_Parser parser;
    struct etwas_manifest *manifest;
    uint32_t error;
    uint8_t open[DEPTH_LIMIT]; /* enum element, the outermost first */
    size_t depth;

    /* What the element that is read lies in. */
    struct etwas_manifest_provider *provider;
    const struct etwas_manifest_word *task;
    struct etwas_manifest_template *template;
    uint16_t structure; /* number of the field; ETWAS_BUILD_TOP */
    struct etwas_manifest_map *map;
    uint8_t channels;
    uint8_t culture; /* how well the language of `manifest->strings` suits */
    const void *strings;
};

static void fail(struct reader *reader, uint32_t error)
{
    if (reader->error == ERROR_SUCCESS) {
        reader->error = error;
        XML_StopParser(reader->parser, XML_FALSE);
    }
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* NULL: there is none. */
static const char *value_of(const char **attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2) {
        if (strcmp(attributes[0], name) == 0) {
            return attributes[1];
        }
    }
    return NULL;
}

/* A copy; NULL also where memory failed. */
static const char *text_of(struct reader *reader, const char **attributes, const char *name)
{
    const char *value = value_of(attributes, name);
    const char *copy = NULL;

    if (value != NULL) {
        copy = etwas_arena_text(&reader->manifest->arena, value);
        if (copy == NULL) {
            fail(reader, ERROR_NOT_ENOUGH_MEMORY);
        }
    }
    return copy;
}

static int digit_of(char digit, unsigned base)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = memchr(digits, digit | (digit > '9' ? 0x20 : 0), base);

    return at == NULL ? -1 : (int)(at - digits);
}

/* Decimal, or hexadecimal behind 0x. False: it is no number, or above the limit. */
static bool number_in(const char *text, uint64_t limit, uint64_t *number)
{
    unsigned base = text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10;

    text += base == 16 ? 2 : 0;
    *number = 0;
    if (*text == 0) {
        return false;
    }
    for (; *text != 0; text++) {
        int digit = digit_of(*text, base);

        if (digit < 0 || *number > (limit - (uint64_t)digit) / base) {
            return false;
        }
        *number = *number * base + (uint64_t)digit;
    }
    return true;
}

/* False: there is none, or it makes no sense. */
static bool number_of(const char **attributes, const char *name, uint64_t limit, uint64_t *number)
{
    const char *value = value_of(attributes, name);

    return value != NULL && number_in(value, limit, number);
}

/* Sixteen digits of a GUID in braces or without them; false: it is none. */
static bool guid_of(const char **attributes, const char *name, etwas_guid *guid)
{
    static const uint8_t order[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    const char *text = value_of(attributes, name);
    uint8_t bytes[sizeof *guid];

    if (text == NULL) {
        return false;
    }
    text += *text == '{';
    for (size_t i = 0; i < sizeof bytes; i++) {
        int high, low;

        text += (i == 4 || i == 6 || i == 8 || i == 10) && *text == '-';
        high = *text == 0 ? -1 : digit_of(*text++, 16);
        low = *text == 0 ? -1 : digit_of(*text++, 16);
        if (high < 0 || low < 0) {
            return false;
        }
        bytes[order[i]] = (uint8_t)(high << 4 | low);
    }
    text += *text == '}';
    memcpy(guid, bytes, sizeof *guid);
    return *text == 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint64_t hash_of(const struct etwas_manifest *manifest, enum etwas_manifest_kind kind,
                        const void *owner, const char *name, size_t name_bytes)
{
    uint64_t key[] = {manifest->seed, kind, (uint64_t)(uintptr_t)owner};

    return etwas_hash(etwas_hash(manifest->seed, key, sizeof key), name, name_bytes);
}

const void *etwas_manifest_find(const struct etwas_manifest *manifest,
                                enum etwas_manifest_kind kind, const void *owner, const char *name,
                                size_t name_bytes)
{
    uint64_t hash = hash_of(manifest, kind, owner, name, name_bytes);
    const struct etwas_manifest_name *found;

    for (size_t cursor = 0; (found = etwas_table_next(&manifest->names, hash, &cursor)) != NULL;) {
        if (found->kind == kind && found->owner == owner &&
            strncmp(found->name, name, name_bytes) == 0 && found->name[name_bytes] == 0) {
            return found;
        }
    }
    return NULL;
}

/*
 * `bytes` for a thing that begins with its name. NULL: it has none, there is one of that name
 * already, or memory failed.
 */
static void *add_named(struct reader *reader, size_t bytes, enum etwas_manifest_kind kind,
                       const void *owner, const char *name)
{
    struct etwas_manifest *manifest = reader->manifest;
    struct etwas_manifest_name *named;

    if (name == NULL || etwas_manifest_find(manifest, kind, owner, name, strlen(name)) != NULL) {
        return NULL;
    }
    named = etwas_arena_take(&manifest->arena, bytes);
    if (named == NULL ||
        !etwas_table_add(&manifest->names, hash_of(manifest, kind, owner, name, strlen(name)),
                         named)) {
        fail(reader, ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    *named = (struct etwas_manifest_name){.kind = kind, .owner = owner, .name = name};
    return named;
}

static struct etwas_manifest_word *add_word(struct reader *reader, const char **attributes,
                                            enum etwas_manifest_kind kind, const void *owner,
                                            const char *name, uint64_t value)
{
    struct etwas_manifest_word *word =
        add_named(reader, sizeof *word, kind, owner, text_of(reader, attributes, name));

    if (word != NULL) {
        word->value = value;
        word->message = text_of(reader, attributes, "message");
    }
    return word;
}

/* ---- elements: false: nothing of it is read -------------------------------------------------- */

static bool begin_provider(struct reader *reader, const char **attributes)
{
    struct etwas_manifest *manifest = reader->manifest;
    struct etwas_manifest_provider *provider;
    etwas_guid guid;

    if (!guid_of(attributes, "guid", &guid)) {
        return false;
    }
    provider = etwas_arena_take(&manifest->arena, sizeof *provider);
    if (provider == NULL) {
        fail(reader, ERROR_NOT_ENOUGH_MEMORY);
        return false;
    }
    *provider = (struct etwas_manifest_provider){
        .guid = guid,
        .name = text_of(reader, attributes, "name"),
        .message = text_of(reader, attributes, "message"),
    };
    *(manifest->last == NULL ? &manifest->first : &manifest->last->next) = provider;
    manifest->last = provider;
    reader->provider = provider;
    reader->channels = FIRST_CHANNEL;
    return true;
}

/* Events name a channel by its chid, where it has one. Without a value they are counted. */
static bool begin_channel(struct reader *reader, const char **attributes)
{
    const char *name = value_of(attributes, "chid") == NULL ? "name" : "chid";
    struct etwas_manifest_word *channel;
    uint64_t value;

    if (!number_of(attributes, "value", UINT8_MAX, &value)) {
        value = reader->channels++;
    }
    channel = add_word(reader, attributes, ETWAS_MANIFEST_CHANNEL, reader->provider, name, value);
    if (channel != NULL) {
        channel->message = text_of(reader, attributes, "name");
    }
    return true;
}

static bool begin_level(struct reader *reader, const char **attributes)
{
    uint64_t value;

    if (number_of(attributes, "value", UINT8_MAX, &value)) {
        add_word(reader, attributes, ETWAS_MANIFEST_LEVEL, reader->provider, "name", value);
    }
    return true;
}

static bool begin_keyword(struct reader *reader, const char **attributes)
{
    uint64_t mask;

    if (number_of(attributes, "mask", UINT64_MAX, &mask)) {
        add_word(reader, attributes, ETWAS_MANIFEST_KEYWORD, reader->provider, "name", mask);
    }
    return true;
}

static bool begin_task(struct reader *reader, const char **attributes)
{
    struct etwas_manifest_word *task;
    uint64_t value;

    if (!number_of(attributes, "value", UINT16_MAX, &value)) {
        return false;
    }
    task = add_word(reader, attributes, ETWAS_MANIFEST_TASK, reader->provider, "name", value);
    if (task != NULL) {
        guid_of(attributes, "eventGUID", &task->guid);
    }
    reader->task = task;
    return task != NULL;
}

static bool add_opcode(struct reader *reader, const char **attributes, const void *owner)
{
    uint64_t value;

    if (number_of(attributes, "value", UINT8_MAX, &value)) {
        add_word(reader, attributes, ETWAS_MANIFEST_OPCODE, owner, "name", value);
    }
    return true;
}

static bool begin_opcode(struct reader *reader, const char **attributes)
{
    return add_opcode(reader, attributes, reader->provider);
}

static bool begin_task_opcode(struct reader *reader, const char **attributes)
{
    return add_opcode(reader, attributes, reader->task);
}

static bool add_map(struct reader *reader, const char **attributes, MAP_FLAGS flag)
{
    struct etwas_manifest_provider *provider = reader->provider;
    struct etwas_manifest_map *map = add_named(reader, sizeof *map, ETWAS_MANIFEST_MAP, provider,
                                               text_of(reader, attributes, "name"));

    if (map == NULL) {
        return false;
    }
    map->flag = flag;
    *(provider->last_map == NULL ? &provider->first_map : &provider->last_map->next) = map;
    provider->last_map = map;
    reader->map = map;
    return true;
}

static bool begin_value_map(struct reader *reader, const char **attributes)
{
    return add_map(reader, attributes, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP);
}

static bool begin_bit_map(struct reader *reader, const char **attributes)
{
    return add_map(reader, attributes, EVENTMAP_INFO_FLAG_MANIFEST_BITMAP);
}

static bool begin_map_entry(struct reader *reader, const char **attributes)
{
    struct etwas_manifest_map *map = reader->map;
    struct etwas_manifest_entry *entry;
    uint64_t value;

    if (!number_of(attributes, "value", UINT32_MAX, &value)) {
        return false;
    }
    entry = etwas_arena_take(&reader->manifest->arena, sizeof *entry);
    if (entry == NULL) {
        fail(reader, ERROR_NOT_ENOUGH_MEMORY);
        return false;
    }
    entry->value = (uint32_t)value;
    entry->message = text_of(reader, attributes, "message");
    *(map->last == NULL ? &map->first : &map->last->next) = entry;
    map->last = entry;
    map->count++;
    return true;
}

static bool begin_template(struct reader *reader, const char **attributes)
{
    struct etwas_manifest_template *template =
        add_named(reader, sizeof *template, ETWAS_MANIFEST_TEMPLATE, reader->provider,
                  text_of(reader, attributes, "tid"));

    if (template != NULL) {
        template->flags = TEMPLATE_EVENT_DATA;
    }
    reader->template = template;
    reader->structure = ETWAS_BUILD_TOP;
    return template != NULL;
}

/* It only says how the fields are shown. */
static bool begin_user_data(struct reader *reader, const char **attributes)
{
    (void)attributes;
    reader->template->flags |= TEMPLATE_USER_DATA;
    return false;
}

/*
 * The number of the field that `name` means inside `parent`: one of the same struct, or one of none.
 * FIELDS_LIMIT: there is none before it.
 */
static uint16_t earlier_field(const struct etwas_manifest_template *template, uint16_t parent,
                              const char *name)
{
    const struct etwas_manifest_field *field = template->first;
    uint16_t found = FIELDS_LIMIT;
    uint16_t found_parent = ETWAS_BUILD_TOP;

    for (uint16_t i = 0; field != NULL; field = field->next, i++) {
        bool reached = field->parent == parent || field->parent == ETWAS_BUILD_TOP;

        if (reached && field->name != NULL && strcmp(field->name, name) == 0 &&
            (field->parent == parent || found_parent == ETWAS_BUILD_TOP)) {
            found = i;
            found_parent = field->parent;
        }
    }
    return found;
}

/* `count` or `length`: a number, or the name of a field. False: it is neither. */
static bool measure_of(const struct reader *reader, const char **attributes, const char *name,
                       struct etwas_manifest_field *field, uint16_t *measure, uint32_t fixed_flag,
                       uint32_t field_flag)
{
    const char *value = value_of(attributes, name);
    uint64_t number;

    if (value == NULL) {
        return true;
    }
    if (number_in(value, UINT16_MAX, &number)) {
        *measure = (uint16_t)number;
        field->info.Flags |= fixed_flag;
        return true;
    }
    *measure = earlier_field(reader->template, field->parent, value);
    field->info.Flags |= field_flag;
    return *measure < FIELDS_LIMIT;
}

/* Adds a field; NULL: memory failed. */
static struct etwas_manifest_field *add_field(struct reader *reader, const char **attributes)
{
    struct etwas_manifest_template *template = reader->template;
    struct etwas_manifest_field *field = etwas_arena_take(&reader->manifest->arena, sizeof *field);

    if (field == NULL) {
        fail(reader, ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    field->name = text_of(reader, attributes, "name");
    field->parent = reader->structure;
    field->info.count = 1;
    if (template->count == FIELDS_LIMIT ||
        !measure_of(reader, attributes, "count", field, &field->info.count, PropertyParamFixedCount,
                    PropertyParamCount)) {
        template->senseless = true;
        return field;
    }
    *(template->last == NULL ? &template->first : &template->last->next) = field;
    template->last = field;
    template->count++;
    return field;
}

static bool begin_data(struct reader *reader, const char **attributes)
{
    struct etwas_manifest_field *field = add_field(reader, attributes);
    const char *in_type = value_of(attributes, "inType");
    const char *out_type = value_of(attributes, "outType");

    if (field == NULL) {
        return false;
    }
    field->map = text_of(reader, attributes, "map");
    if (in_type == NULL || !etwas_manifest_in_type(in_type, &field->info.nonStructType.InType) ||
        !measure_of(reader, attributes, "length", field, &field->info.length,
                    PropertyParamFixedLength, PropertyParamLength)) {
        reader->template->senseless = true;
    }
    if (out_type != NULL) {
        etwas_manifest_out_type(out_type, &field->info.nonStructType.OutType);
    }
    return true;
}

static bool begin_struct(struct reader *reader, const char **attributes)
{
    struct etwas_manifest_field *field = add_field(reader, attributes);

    if (field == NULL) {
        return false;
    }
    field->info.Flags |= PropertyStruct;
    reader->structure = (uint16_t)(reader->template->count - 1);
    return true;
}

static bool begin_event(struct reader *reader, const char **attributes)
{
    struct etwas_manifest_provider *provider = reader->provider;
    struct etwas_manifest_event *event;
    uint64_t id, version;

    if (!number_of(attributes, "value", UINT16_MAX, &id)) {
        return false;
    }
    event = etwas_arena_take(&reader->manifest->arena, sizeof *event);
    if (event == NULL) {
        fail(reader, ERROR_NOT_ENOUGH_MEMORY);
        return false;
    }
    if (!number_of(attributes, "version", UINT8_MAX, &version)) {
        version = 0;
    }
    *event = (struct etwas_manifest_event){
        .id = (uint16_t)id,
        .version = (uint8_t)version,
        .name = text_of(reader, attributes, "name"),
        .symbol = text_of(reader, attributes, "symbol"),
        .message = text_of(reader, attributes, "message"),
        .template_name = text_of(reader, attributes, "template"),
        .task = text_of(reader, attributes, "task"),
        .opcode = text_of(reader, attributes, "opcode"),
        .level = text_of(reader, attributes, "level"),
        .channel = text_of(reader, attributes, "channel"),
        .keywords = text_of(reader, attributes, "keywords"),
    };
    *(provider->last_event == NULL ? &provider->first_event : &provider->last_event->next) = event;
    provider->last_event = event;
    return true;
}

/* English is what nobody asked for and most can read; else the first. */
static bool begin_resources(struct reader *reader, const char **attributes)
{
    const char *culture = value_of(attributes, "culture");
    uint8_t suits = 1;

    if (culture != NULL && strncmp(culture, "en", 2) == 0) {
        suits = strcmp(culture, "en-US") == 0 ? 3 : 2;
    }
    reader->strings = etwas_arena_take(&reader->manifest->arena, 1);
    if (reader->strings == NULL) {
        fail(reader, ERROR_NOT_ENOUGH_MEMORY);
        return false;
    }
    if (suits > reader->culture) {
        reader->culture = suits;
        reader->manifest->strings = reader->strings;
    }
    return true;
}

static bool begin_string(struct reader *reader, const char **attributes)
{
    struct etwas_manifest_word *string =
        add_named(reader, sizeof *string, ETWAS_MANIFEST_STRING, reader->strings,
                  text_of(reader, attributes, "id"));

    if (string != NULL) {
        string->message = text_of(reader, attributes, "value");
    }
    return true;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static const struct {
    uint8_t around;
    uint8_t element;
    const char *name;
    bool (*begin)(struct reader *reader, const char **attributes); /* NULL: a list */
} elements[] = {
    {DOCUMENT, MANIFEST, "instrumentationManifest", NULL},
    {DOCUMENT, MANIFEST, "assembly", NULL},
    {MANIFEST, INSTRUMENTATION, "instrumentation", NULL},
    {INSTRUMENTATION, ROOT_EVENTS, "events", NULL},
    {ROOT_EVENTS, PROVIDER, "provider", begin_provider},
    {PROVIDER, CHANNELS, "channels", NULL},
    {CHANNELS, CHANNEL, "channel", begin_channel},
    {CHANNELS, CHANNEL, "importChannel", begin_channel},
    {PROVIDER, LEVELS, "levels", NULL},
    {LEVELS, LEVEL, "level", begin_level},
    {PROVIDER, KEYWORDS, "keywords", NULL},
    {KEYWORDS, KEYWORD, "keyword", begin_keyword},
    {PROVIDER, TASKS, "tasks", NULL},
    {TASKS, TASK, "task", begin_task},
    {TASK, TASK_OPCODES, "opcodes", NULL},
    {TASK_OPCODES, TASK_OPCODE, "opcode", begin_task_opcode},
    {PROVIDER, OPCODES, "opcodes", NULL},
    {OPCODES, OPCODE, "opcode", begin_opcode},
    {PROVIDER, MAPS, "maps", NULL},
    {MAPS, VALUE_MAP, "valueMap", begin_value_map},
    {VALUE_MAP, MAP_ENTRY, "map", begin_map_entry},
    {MAPS, BIT_MAP, "bitMap", begin_bit_map},
    {BIT_MAP, MAP_ENTRY, "map", begin_map_entry},
    {PROVIDER, TEMPLATES, "templates", NULL},
    {TEMPLATES, TEMPLATE, "template", begin_template},
    {TEMPLATE, DATA, "data", begin_data},
    {TEMPLATE, STRUCT, "struct", begin_struct},
    {STRUCT, MEMBER, "data", begin_data},
    {TEMPLATE, USER_DATA, "UserData", begin_user_data},
    {PROVIDER, EVENTS, "events", NULL},
    {EVENTS, EVENT, "event", begin_event},
    {MANIFEST, LOCALIZATION, "localization", NULL},
    {LOCALIZATION, RESOURCES, "resources", begin_resources},
    {RESOURCES, STRING_TABLE, "stringTable", NULL},
    {STRING_TABLE, STRING, "string", begin_string},
};

static uint8_t begin_element(struct reader *reader, uint8_t around, const char *name,
                             const char **attributes)
{
    const char *colon = strchr(name, ':');

    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        if (elements[i].around == around &&
            strcmp(elements[i].name, colon == NULL ? name : colon + 1) == 0) {
            return elements[i].begin == NULL || elements[i].begin(reader, attributes)
                       ? elements[i].element
                       : UNKNOWN;
        }
    }
    return UNKNOWN;
}

static void on_start(void *context, const char *name, const char **attributes)
{
    struct reader *reader = context;

    if (reader->error != ERROR_SUCCESS) {
        return;
    }
    if (reader->depth == DEPTH_LIMIT) {
        fail(reader, ERROR_INVALID_DATA);
        return;
    }
    reader->open[reader->depth] = begin_element(
        reader, reader->depth == 0 ? DOCUMENT : reader->open[reader->depth - 1], name, attributes);
    reader->depth++;
}

static void on_end(void *context, const char *name)
{
    struct reader *reader = context;

    (void)name;
    if (reader->error == ERROR_SUCCESS && reader->open[--reader->depth] == STRUCT) {
        reader->structure = ETWAS_BUILD_TOP;
    }
}

/* Entities can be declared only here, so there are none. */
static void on_document_type(void *context, const char *name, const char *system_id,
                             const char *public_id, int has_internal_subset)
{
    (void)name;
    (void)system_id;
    (void)public_id;
    (void)has_internal_subset;
    fail(context, ERROR_INVALID_DATA);
}

static uint32_t parse(struct reader *reader, const void *xml, size_t bytes)
{
    enum XML_Status status;

    XML_SetUserData(reader->parser, reader);
    XML_SetElementHandler(reader->parser, on_start, on_end);
    XML_SetStartDoctypeDeclHandler(reader->parser, on_document_type);
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
    struct reader reader = {.manifest = manifest};
    uint32_t error;

    *manifest = (struct etwas_manifest){.seed = seed};
    if (bytes > ETWAS_MANIFEST_LIMIT_BYTES) {
        return ERROR_INVALID_DATA;
    }
    reader.parser = XML_ParserCreate(NULL);
    if (reader.parser == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    error = parse(&reader, xml, bytes);
    XML_ParserFree(reader.parser);
    return error;
}

void etwas_manifest_free(struct etwas_manifest *manifest)
{
    etwas_table_free(&manifest->names);
    etwas_arena_free(&manifest->arena);
}
