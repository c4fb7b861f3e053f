/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Instrumentation manifests: XML documents that state which events a provider writes, with which
 * fields. They come in chunks in a trace (manifests.h) or from a file; here one is a document
 * in memory.
 *
 * A document is hostile. It may not declare a document type, so it has no entities of its own. Its
 * size, the depth of its elements and the fields of a template are bounded, and so is what is made
 * of it: many events can share one large template.
 */
#ifndef ETWAS_DECODE_MANIFEST_H
#define ETWAS_DECODE_MANIFEST_H

#include <etwas/tdh.h>
#include <etwas/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/arena.h"
#include "decode/builder.h"
#include "decode/hash_table.h"

enum etwas_manifest_kind {
    ETWAS_MANIFEST_CHANNEL,
    ETWAS_MANIFEST_LEVEL,
    ETWAS_MANIFEST_KEYWORD,
    ETWAS_MANIFEST_TASK,
    ETWAS_MANIFEST_OPCODE,
    ETWAS_MANIFEST_STRING,
    ETWAS_MANIFEST_TEMPLATE,
    ETWAS_MANIFEST_MAP,
};

/* Every named item begins with this: it is found by kind, owner and name. */
struct etwas_manifest_name {
    enum etwas_manifest_kind kind;
    const void *owner; /* the provider; the task of a task's opcode; the table of a string */
    const char *name;  /* as other elements refer to it */
};

/* A channel, level, keyword, task, opcode or string. */
struct etwas_manifest_value {
    struct etwas_manifest_name name;
    uint64_t value;
    const char *message; /* NULL: none; the text of a string */
    etwas_guid guid;     /* of a task */
};

/* A struct or a data field, as the builder needs it except for offsets. */
struct etwas_manifest_field {
    struct etwas_manifest_field *next;
    const char *name;
    const char *map; /* NULL: none */
    uint16_t parent; /* ETWAS_BUILDER_TOP, or the number of a field */
    EVENT_PROPERTY_INFO info;
};

struct etwas_manifest_template {
    struct etwas_manifest_name name;
    struct etwas_manifest_field *first; /* in the order of the document */
    struct etwas_manifest_field *last;
    uint16_t count;
    uint32_t flags; /* TEMPLATE_FLAGS */
};

struct etwas_manifest_entry {
    struct etwas_manifest_entry *next;
    uint32_t value;
    const char *message;
};

struct etwas_manifest_map {
    struct etwas_manifest_name name;
    struct etwas_manifest_map *next; /* of the provider */
    MAP_FLAGS flag;
    struct etwas_manifest_entry *first;
    struct etwas_manifest_entry *last;
    size_t count;
};

/* Attributes of the element `event`; NULL where it has none. */
struct etwas_manifest_event {
    struct etwas_manifest_event *next;
    uint16_t id;
    uint8_t version;
    const char *name;
    const char *symbol;
    const char *message;
    const char *template_name;
    const char *task;
    const char *opcode;
    const char *level;
    const char *channel;
    const char *keywords; /* with blanks between them */
    const char *attributes;
};

struct etwas_manifest_provider {
    struct etwas_manifest_provider *next;
    etwas_guid guid;
    const char *name;
    const char *message;
    struct etwas_manifest_event *first_event; /* in the order of the document */
    struct etwas_manifest_event *last_event;
    struct etwas_manifest_map *first_map;
    struct etwas_manifest_map *last_map;
};

/* The unusable elements that were skipped. */
struct etwas_manifest_skipped {
    uint32_t count;
    char first[32]; /* the name of the first one, truncated */
    uint64_t line;  /* its line, from 1; 0: it was skipped when schemas were made */
};

struct etwas_manifest {
    struct etwas_arena arena;
    struct etwas_hash_table names; /* of struct etwas_manifest_name */
    uint64_t seed;
    struct etwas_manifest_provider *first;
    struct etwas_manifest_provider *last;
    const void *strings; /* the string table of messages */
    struct etwas_manifest_skipped skipped;
};

/*
 * Reads a document of at most ETWAS_MANIFEST_LIMIT_BYTES. ERROR_INVALID_DATA: it is no manifest, or
 * has no provider. ERROR_NOT_ENOUGH_MEMORY. The caller frees the manifest with etwas_manifest_free
 * in any case. `seed`: see hash_table.h.
 */
uint32_t etwas_manifest_read(struct etwas_manifest *manifest, const void *xml, size_t bytes,
                             uint64_t seed);
void etwas_manifest_free(struct etwas_manifest *manifest);

/* Finds an item by kind, owner and name; NULL: there is none. */
const void *etwas_manifest_find(const struct etwas_manifest *manifest,
                                enum etwas_manifest_kind kind, const void *owner, const char *name,
                                size_t name_bytes);

/*
 * Makes the schema of an event, as etwas_builder_end returns it. A template that does not exist,
 * and any invalid part of one, becomes a property of unknown type. ERROR_INVALID_DATA: it is too
 * large.
 */
uint32_t etwas_manifest_make_schema(const struct etwas_manifest *manifest,
                                    const struct etwas_manifest_provider *provider,
                                    const struct etwas_manifest_event *event,
                                    TRACE_EVENT_INFO **info, size_t *bytes);

/* Makes a map, as etwas_builder_end_map returns it. */
uint32_t etwas_manifest_make_map(const struct etwas_manifest *manifest,
                                 const struct etwas_manifest_map *map, EVENT_MAP_INFO **info,
                                 size_t *bytes);

/* The names of types and predefined values in manifests, with ETW's numbers. */

/* Parses the inType of an element `data`; false: unknown. */
bool etwas_manifest_in_type(const char *name, uint16_t *in_type);

/* Parses an outType, with its namespace ("xs:int"); false: unknown. */
bool etwas_manifest_out_type(const char *name, uint16_t *out_type);

/* The predefined value of a name ("win:Start"); NULL: there is none. Its message is its text. */
const struct etwas_manifest_value *etwas_manifest_predefined(enum etwas_manifest_kind kind,
                                                             const char *name, size_t name_bytes);

#endif
