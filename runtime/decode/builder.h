/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Builds a TRACE_EVENT_INFO or an EVENT_MAP_INFO from what a source read.
 *
 *     struct etwas_info_builder builder;
 *
 *     etwas_builder_begin(&builder);
 *     builder.head.ProviderGuid = …;
 *     builder.head.TaskNameOffset = etwas_builder_add_string(&builder, "Heap", 4);
 *     etwas_builder_property(&builder, ETWAS_BUILDER_TOP, &(EVENT_PROPERTY_INFO){
 *         .NameOffset = etwas_builder_add_string(&builder, "size", 4), …});
 *     error = etwas_builder_end(&builder, &info, &bytes);
 *
 * Properties may be added in any order, but a struct before its members and members in their own
 * order; etwas_builder_end puts the members of each struct together behind all top-level
 * properties, as TDH has them. Until then offsets of strings and indexes of properties are the
 * builder's own.
 *
 * A failure in between is returned by etwas_builder_end. A builder that was begun must be ended.
 *
 * ETWAS_BUILDER_NO_PROPERTY with PropertyParamCount and PropertyParamFixedCount means as many
 * elements as there is room for.
 */
#ifndef ETWAS_DECODE_BUILDER_H
#define ETWAS_DECODE_BUILDER_H

#include <etwas/tdh.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_BUILDER_TOP = 0xFFFF,             /* as a parent: the top level */
    ETWAS_BUILDER_NO_PROPERTY = 0xFFFF,     /* as a count or a length: no property states it */
    ETWAS_BUILDER_NO_TYPE = 0xFFFF,         /* an unknown in type */
    ETWAS_BUILDER_PROPERTIES = 0x7FFF,      /* at most */
    ETWAS_BUILDER_BYTES = 16 * 1024 * 1024, /* at most, of an event or a map */
};

struct etwas_builder_property {
    EVENT_PROPERTY_INFO info;
    uint16_t parent;
    uint16_t position; /* in the finished array */
};

struct etwas_info_builder {
    TRACE_EVENT_INFO head; /* filled by the caller, except counts and properties */
    struct etwas_builder_property *properties;
    size_t property_count;
    size_t property_room;
    uint8_t *pool; /* strings, and other data that offsets refer to */
    size_t pool_bytes;
    size_t pool_room;
    uint32_t error;
};

void etwas_builder_begin(struct etwas_info_builder *builder);

/* Adds a string as valid UTF-16 with a terminating 0. Returns the offset to set; 0 for NULL. */
uint32_t etwas_builder_add_string(struct etwas_info_builder *builder, const char *utf8,
                                  size_t bytes);

/* Adds bytes at an even offset, and returns it. */
uint32_t etwas_builder_add_bytes(struct etwas_info_builder *builder, const void *bytes,
                                 size_t count);

/*
 * Adds a property to the struct `parent` or to ETWAS_BUILDER_TOP. Returns its index, by which
 * counts, lengths and members refer to it. Fills StructStartIndex and NumOfStructMembers. A
 * `length` of 0 is filled if the type has a fixed length.
 */
uint16_t etwas_builder_property(struct etwas_info_builder *builder, uint16_t parent,
                                const EVENT_PROPERTY_INFO *info);

/*
 * Finishes an event; the caller frees *info. ERROR_NOT_ENOUGH_MEMORY; ERROR_INVALID_DATA: it is too
 * large, or a property refers to one that does not exist. *info is NULL then. Frees the builder.
 */
uint32_t etwas_builder_end(struct etwas_info_builder *builder, TRACE_EVENT_INFO **info,
                           size_t *bytes);

/* An entry of a map. */
struct etwas_builder_entry {
    uint32_t value;
    uint32_t text; /* offset from etwas_builder_add_string */
};

/*
 * Finishes a map in the same way. `name` and the entries' texts are offsets from
 * etwas_builder_add_string. `flag` is EVENTMAP_INFO_FLAG_…. Frees the builder.
 */
uint32_t etwas_builder_end_map(struct etwas_info_builder *builder, uint32_t name, MAP_FLAGS flag,
                               const struct etwas_builder_entry *entries, size_t entry_count,
                               EVENT_MAP_INFO **map, size_t *bytes);

#endif
