/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The pool begins with two unused bytes, so that no offset in it is 0. When the result is finished,
 * the size of what lies before the pool is added to each offset.
 */
#include "decode/builder.h"

#include <etwas/winerror.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "decode/schema.h"
#include "etl/utf16.h"

enum {
    POOL_BEGIN = 2,
    INFO_HEAD_BYTES = offsetof(TRACE_EVENT_INFO, EventPropertyInfoArray),
    MAP_HEAD_BYTES = offsetof(EVENT_MAP_INFO, MapEntryArray),
};

void etwas_builder_begin(struct etwas_info_builder *builder)
{
    *builder = (struct etwas_info_builder){.pool_bytes = POOL_BEGIN};
}

static void builder_fail(struct etwas_info_builder *builder, uint32_t error)
{
    if (builder->error == ERROR_SUCCESS) {
        builder->error = error;
    }
}

/*
 * Makes room for `count` more bytes at the end of the pool, at an even offset; NULL: no memory, or
 * too many.
 */
static uint8_t *builder_make_room(struct etwas_info_builder *builder, size_t count)
{
    size_t at = (builder->pool_bytes + 1) & ~(size_t)1;

    if (count > ETWAS_BUILDER_BYTES - at) {
        builder_fail(builder, ERROR_INVALID_DATA);
        return NULL;
    }
    if (at + count > builder->pool_room) {
        size_t room = 2 * (at + count) + 256;
        uint8_t *larger = realloc(builder->pool, room);

        if (larger == NULL) {
            builder_fail(builder, ERROR_NOT_ENOUGH_MEMORY);
            return NULL;
        }
        builder->pool = larger;
        builder->pool_room = room;
    }
    memset(builder->pool + builder->pool_bytes, 0, at - builder->pool_bytes);
    if (builder->pool_bytes == POOL_BEGIN) {
        memset(builder->pool, 0, POOL_BEGIN);
    }
    builder->pool_bytes = at + count;
    return builder->pool + at;
}

uint32_t etwas_builder_add_bytes(struct etwas_info_builder *builder, const void *bytes,
                                 size_t count)
{
    uint8_t *to = builder_make_room(builder, count);

    if (to == NULL) {
        return 0;
    }
    if (count > 0) {
        memcpy(to, bytes, count);
    }
    return (uint32_t)(to - builder->pool);
}

static void builder_write_unit(uint8_t *to, size_t *units, uint32_t unit)
{
    uint16_t value = (uint16_t)unit;

    memcpy(to + 2 * (*units)++, &value, sizeof value);
}

uint32_t etwas_builder_add_string(struct etwas_info_builder *builder, const char *utf8,
                                  size_t bytes)
{
    size_t units = 0;
    uint8_t *to;

    if (bytes == 0 || bytes > ETWAS_BUILDER_BYTES / 2) {
        return 0;
    }
    to = builder_make_room(builder, 2 * (bytes + 1)); /* no byte becomes more than a unit */
    if (to == NULL) {
        return 0;
    }
    for (size_t at = 0, length; at < bytes; at += length) {
        uint32_t point = 0xFFFD;

        length = etwas_utf8_decode((const unsigned char *)utf8 + at, bytes - at, &point);
        length += length == 0;
        if (point > 0xFFFF) {
            builder_write_unit(to, &units, 0xD800 + ((point - 0x10000) >> 10));
            point = 0xDC00 + ((point - 0x10000) & 0x3FF);
        }
        builder_write_unit(to, &units, point);
    }
    builder_write_unit(to, &units, 0);
    builder->pool_bytes = (size_t)(to - builder->pool) + 2 * units;
    return (uint32_t)(to - builder->pool);
}

/* Whether the property has the usual length of its type, that is, does not state another. */
static bool builder_has_usual_length(const EVENT_PROPERTY_INFO *info)
{
    return info->length == 0 &&
           (info->Flags & (PropertyStruct | PropertyHasCustomSchema | PropertyParamLength |
                           PropertyParamFixedLength)) == 0;
}

uint16_t etwas_builder_property(struct etwas_info_builder *builder, uint16_t parent,
                                const EVENT_PROPERTY_INFO *info)
{
    if (builder->property_count == ETWAS_BUILDER_PROPERTIES) {
        builder_fail(builder, ERROR_INVALID_DATA);
        return 0;
    }
    if (parent != ETWAS_BUILDER_TOP && parent >= builder->property_count) {
        builder_fail(builder, ERROR_INVALID_DATA);
    }
    if (builder->property_count == builder->property_room) {
        size_t room = 2 * builder->property_room + 16;
        struct etwas_builder_property *larger =
            realloc(builder->properties, room * sizeof *builder->properties);

        if (larger == NULL) {
            builder_fail(builder, ERROR_NOT_ENOUGH_MEMORY);
            return 0;
        }
        builder->properties = larger;
        builder->property_room = room;
    }
    builder->properties[builder->property_count] =
        (struct etwas_builder_property){.info = *info, .parent = parent};
    if (builder_has_usual_length(info)) {
        builder->properties[builder->property_count].info.length =
            etwas_in_type_bytes(info->nonStructType.InType);
    }
    return (uint16_t)builder->property_count++;
}

/* The order of the properties in the finished array, and the lists from which it is made. */
struct member_order {
    uint16_t *indexes; /* by position: the builder's index */
    uint16_t *first;   /* by index: its first member, or NONE */
    uint16_t *next;    /* by index: the next with the same parent, or NONE */
    uint16_t *last;    /* by index: its last member */
};
enum {
    NONE = 0xFFFF
};

/*
 * Orders the properties: top-level ones first, then the members of each struct, in the order of the
 * structs. Returns how many top-level properties there are.
 */
static uint16_t builder_order_members(struct etwas_info_builder *builder,
                                      struct member_order *order)
{
    uint16_t count = (uint16_t)builder->property_count;
    uint16_t placed = 0;
    uint16_t top;

    memset(order->first, 0xFF, 2 * (size_t)count * sizeof *order->first); /* next too */
    for (uint16_t i = 0; i < count; i++) {
        uint16_t parent = builder->properties[i].parent;

        if (parent == ETWAS_BUILDER_TOP) {
            builder->properties[i].position = placed;
            order->indexes[placed++] = i;
            continue;
        }
        *(order->first[parent] == NONE ? &order->first[parent]
                                       : &order->next[order->last[parent]]) = i;
        order->last[parent] = i;
    }
    top = placed;
    for (uint16_t position = 0; position < placed; position++) {
        uint16_t index = order->indexes[position];
        EVENT_PROPERTY_INFO *info = &builder->properties[index].info;

        if ((info->Flags & PropertyStruct) == 0) {
            continue;
        }
        info->structType.StructStartIndex = placed;
        for (uint16_t member = order->first[index]; member != NONE; member = order->next[member]) {
            builder->properties[member].position = placed;
            order->indexes[placed++] = member;
        }
        info->structType.NumOfStructMembers =
            (uint16_t)(placed - info->structType.StructStartIndex);
    }
    if (placed != count) {
        builder_fail(builder, ERROR_INVALID_DATA); /* some have a parent that is no struct */
    }
    return top;
}

static uint16_t builder_position_of(struct etwas_info_builder *builder, uint16_t index)
{
    if (index >= builder->property_count) {
        builder_fail(builder, ERROR_INVALID_DATA);
        return 0;
    }
    return builder->properties[index].position;
}

/* Converts an offset in the pool to an offset in the finished block. */
static void builder_move_property(uint32_t *offset, size_t by)
{
    if (*offset != 0) {
        *offset += (uint32_t)by;
    }
}

/* Returns the property as it is in the finished array. */
static EVENT_PROPERTY_INFO builder_finished(struct etwas_info_builder *builder, uint16_t index,
                                            size_t pool_at)
{
    EVENT_PROPERTY_INFO info = builder->properties[index].info;

    builder_move_property(&info.NameOffset, pool_at);
    if ((info.Flags & PropertyHasCustomSchema) != 0) {
        builder_move_property(&info.customSchemaType.CustomSchemaOffset, pool_at);
    } else if ((info.Flags & PropertyStruct) == 0) {
        builder_move_property(&info.nonStructType.MapNameOffset, pool_at);
    }
    if ((info.Flags & PropertyParamCount) != 0 &&
        info.countPropertyIndex != ETWAS_BUILDER_NO_PROPERTY) {
        info.countPropertyIndex = builder_position_of(builder, info.countPropertyIndex);
    }
    if ((info.Flags & PropertyParamLength) != 0 &&
        info.lengthPropertyIndex != ETWAS_BUILDER_NO_PROPERTY) {
        info.lengthPropertyIndex = builder_position_of(builder, info.lengthPropertyIndex);
    }
    return info;
}

static void builder_write_properties(struct etwas_info_builder *builder, TRACE_EVENT_INFO *info,
                                     size_t pool_at)
{
    size_t count = builder->property_count;
    uint16_t *room = malloc(4 * (count + 1) * sizeof *room);
    struct member_order order = {room, room + count, room + 2 * count, room + 3 * count};

    if (room == NULL) {
        builder_fail(builder, ERROR_NOT_ENOUGH_MEMORY);
        return;
    }
    info->PropertyCount = (uint32_t)count;
    info->TopLevelPropertyCount = builder_order_members(builder, &order);
    for (size_t position = 0; builder->error == ERROR_SUCCESS && position < count; position++) {
        const EVENT_PROPERTY_INFO property =
            builder_finished(builder, order.indexes[position], pool_at);

        memcpy((uint8_t *)info + INFO_HEAD_BYTES + position * sizeof property, &property,
               sizeof property);
    }
    free(room);
}

static void builder_move_head(TRACE_EVENT_INFO *info, size_t pool_at)
{
    builder_move_property(&info->ProviderNameOffset, pool_at);
    builder_move_property(&info->LevelNameOffset, pool_at);
    builder_move_property(&info->ChannelNameOffset, pool_at);
    builder_move_property(&info->KeywordsNameOffset, pool_at);
    builder_move_property(&info->TaskNameOffset, pool_at);
    builder_move_property(&info->OpcodeNameOffset, pool_at);
    builder_move_property(&info->EventMessageOffset, pool_at);
    builder_move_property(&info->ProviderMessageOffset, pool_at);
    builder_move_property(&info->EventNameOffset, pool_at);
    builder_move_property(&info->EventAttributesOffset, pool_at);
}

/* Allocates a block of `head_bytes` and the pool. NULL: builder->error says why. */
static uint8_t *builder_block_of(struct etwas_info_builder *builder, size_t head_bytes)
{
    uint8_t *block = NULL;

    if (builder->error == ERROR_SUCCESS) {
        block = calloc(1, head_bytes + builder->pool_bytes);
        if (block == NULL) {
            builder_fail(builder, ERROR_NOT_ENOUGH_MEMORY);
        } else if (builder->pool != NULL) {
            memcpy(block + head_bytes, builder->pool, builder->pool_bytes);
        }
    }
    return block;
}

static void builder_free(struct etwas_info_builder *builder)
{
    free(builder->properties);
    free(builder->pool);
    builder->properties = NULL;
    builder->pool = NULL;
}

uint32_t etwas_builder_end(struct etwas_info_builder *builder, TRACE_EVENT_INFO **info,
                           size_t *bytes)
{
    size_t pool_at = INFO_HEAD_BYTES + builder->property_count * sizeof(EVENT_PROPERTY_INFO);

    *bytes = pool_at + builder->pool_bytes;
    *info = (void *)builder_block_of(builder, pool_at);
    if (*info != NULL) {
        memcpy(*info, &builder->head, INFO_HEAD_BYTES);
        builder_move_head(*info, pool_at);
        builder_write_properties(builder, *info, pool_at);
    }
    if (builder->error != ERROR_SUCCESS) {
        free(*info);
        *info = NULL;
    }
    builder_free(builder);
    return builder->error;
}

uint32_t etwas_builder_end_map(struct etwas_info_builder *builder, uint32_t name, MAP_FLAGS flag,
                               const struct etwas_builder_entry *entries, size_t entry_count,
                               EVENT_MAP_INFO **map, size_t *bytes)
{
    size_t pool_at = MAP_HEAD_BYTES + entry_count * sizeof(EVENT_MAP_ENTRY);

    if (entry_count > ETWAS_BUILDER_BYTES / sizeof(EVENT_MAP_ENTRY)) {
        builder_fail(builder, ERROR_INVALID_DATA);
    }
    *bytes = pool_at + builder->pool_bytes;
    *map = (void *)builder_block_of(builder, pool_at);
    if (*map != NULL) {
        (*map)->NameOffset = name;
        (*map)->Flag = flag;
        (*map)->EntryCount = (uint32_t)entry_count;
        builder_move_property(&(*map)->NameOffset, pool_at);
        for (size_t i = 0; i < entry_count; i++) {
            EVENT_MAP_ENTRY entry = {.OutputOffset = entries[i].text, .Value = entries[i].value};

            builder_move_property(&entry.OutputOffset, pool_at);
            memcpy((uint8_t *)*map + MAP_HEAD_BYTES + i * sizeof entry, &entry, sizeof entry);
        }
    }
    builder_free(builder);
    return builder->error;
}
