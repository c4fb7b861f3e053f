/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Instrumentation manifests: XML documents that say which events a provider writes, with which
 * fields. They come in pieces in a trace (manifest_chunks.h) or from a file; here it is one
 * document in memory.
 *
 * A document is hostile. It may not declare a document type, so it has no entities of its own. Its
 * size, the depth of its elements and the fields of a template are bounded, and so is what may be
 * made of it: many events can share one large template.
 */
#ifndef ETWAS_DECODE_MANIFEST_H
#define ETWAS_DECODE_MANIFEST_H

#include <etwas/tdh.h>
#include <etwas/types.h>

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

/* What every named thing begins with: it is found by kind, owner and name. */
struct etwas_manifest_name {
    enum etwas_manifest_kind kind;
    const void *owner; /* the provider; of a task's opcode the task; of a string its table */
    const char *name;  /* as other elements refer to it */
};

/* A channel, level, keyword, task, opcode or string. */
struct etwas_manifest_value {
    struct etwas_manifest_name name;
    uint64_t value;
    const char *message; /* NULL: none; of a string its text */
    etwas_guid guid;     /* of a task */
};

/* A struct or a piece of data, as the builder wants it but for offsets. */
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

/* Elements that could not be used. */
struct etwas_manifest_skipped {
    uint32_t count;
    char first[32]; /* the name of the first, cut */
    uint64_t line;  /* that it is in, from 1; 0: of what was made of it */
};

struct etwas_manifest {
    struct etwas_arena arena;
    struct etwas_hash_table names; /* of struct etwas_manifest_name */
    uint64_t seed;
    struct etwas_manifest_provider *first;
    struct etwas_manifest_provider *last;
    const void *strings; /* the table that messages are taken from */
    struct etwas_manifest_skipped skipped;
};

/*
 * Reads a document of at most ETWAS_MANIFEST_LIMIT_BYTES. ERROR_INVALID_DATA: it is no manifest, or
 * has no provider. ERROR_NOT_ENOUGH_MEMORY. Free it with etwas_manifest_free in any case. `seed`:
 * decode/hash_table.h.
 */
uint32_t etwas_manifest_read(struct etwas_manifest *manifest, const void *xml, size_t bytes,
                             uint64_t seed);
void etwas_manifest_free(struct etwas_manifest *manifest);

/* NULL: there is none of that name. */
const void *etwas_manifest_find(const struct etwas_manifest *manifest,
                                enum etwas_manifest_kind kind, const void *owner, const char *name,
                                size_t name_bytes);

/*
 * The schema of an event, as etwas_builder_end gives it. A template that is not there, and what in one makes
 * no sense, is a property of no known type. ERROR_INVALID_DATA: it is too large.
 */
uint32_t etwas_manifest_make_schema(const struct etwas_manifest *manifest,
                                    const struct etwas_manifest_provider *provider,
                                    const struct etwas_manifest_event *event,
                                    TRACE_EVENT_INFO **info, size_t *bytes);

/* A map, as etwas_builder_end_map gives it. */
uint32_t etwas_manifest_make_map(const struct etwas_manifest *manifest,
                                 const struct etwas_manifest_map *map, EVENT_MAP_INFO **info,
                                 size_t *bytes);

#endif
