/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The pool begins with two bytes of nothing, so that no offset in it is 0; the end adds to each
 * offset what lies before the pool.
 */
#include "decode/build.h"

#include <etwas/winerror.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "decode/schema_step.h"
#include "etl/utf16.h"

enum {
    POOL_BEGIN = 2,
    INFO_HEAD_BYTES = offsetof(TRACE_EVENT_INFO, EventPropertyInfoArray),
    MAP_HEAD_BYTES = offsetof(EVENT_MAP_INFO, MapEntryArray),
};

void etwas_build_begin(struct etwas_build *build)
{
    *build = (struct etwas_build){.pool_bytes = POOL_BEGIN};
}

static void fail(struct etwas_build *build, uint32_t error)
{
    if (build->error == ERROR_SUCCESS) {
        build->error = error;
    }
}

/* `count` more bytes at the end of the pool, from an even offset on; NULL: no memory, or too many. */
static uint8_t *room_for(struct etwas_build *build, size_t count)
{
    size_t at = (build->pool_bytes + 1) & ~(size_t)1;

    if (count > ETWAS_BUILD_BYTES - at) {
        fail(build, ERROR_INVALID_DATA);
        return NULL;
    }
    if (at + count > build->pool_room) {
        size_t room = 2 * (at + count) + 256;
        uint8_t *larger = realloc(build->pool, room);

        if (larger == NULL) {
            fail(build, ERROR_NOT_ENOUGH_MEMORY);
            return NULL;
        }
        build->pool = larger;
        build->pool_room = room;
    }
    memset(build->pool + build->pool_bytes, 0, at - build->pool_bytes);
    if (build->pool_bytes == POOL_BEGIN) {
        memset(build->pool, 0, POOL_BEGIN);
    }
    build->pool_bytes = at + count;
    return build->pool + at;
}

uint32_t etwas_build_bytes(struct etwas_build *build, const void *bytes, size_t count)
{
    uint8_t *to = room_for(build, count);

    if (to == NULL) {
        return 0;
    }
    if (count > 0) {
        memcpy(to, bytes, count);
    }
    return (uint32_t)(to - build->pool);
}

static void put_unit(uint8_t *to, size_t *units, uint32_t unit)
{
    uint16_t value = (uint16_t)unit;

    memcpy(to + 2 * (*units)++, &value, sizeof value);
}

uint32_t etwas_build_string(struct etwas_build *build, const char *utf8, size_t bytes)
{
    size_t units = 0;
    uint8_t *to;

    if (bytes == 0 || bytes > ETWAS_BUILD_BYTES / 2) {
        return 0;
    }
    to = room_for(build, 2 * (bytes + 1)); /* no byte becomes more than a unit */
    if (to == NULL) {
        return 0;
    }
    for (size_t at = 0, length; at < bytes; at += length) {
        uint32_t point = 0xFFFD;

        length = etwas_utf8_decode((const unsigned char *)utf8 + at, bytes - at, &point);
        length += length == 0;
        if (point > 0xFFFF) {
            put_unit(to, &units, 0xD800 + ((point - 0x10000) >> 10));
            point = 0xDC00 + ((point - 0x10000) & 0x3FF);
        }
        put_unit(to, &units, point);
    }
    put_unit(to, &units, 0);
    build->pool_bytes = (size_t)(to - build->pool) + 2 * units;
    return (uint32_t)(to - build->pool);
}

/* Nobody says another one. */
static bool has_usual_length(const EVENT_PROPERTY_INFO *info)
{
    return info->length == 0 &&
           (info->Flags & (PropertyStruct | PropertyHasCustomSchema | PropertyParamLength |
                           PropertyParamFixedLength)) == 0;
}

uint16_t etwas_build_property(struct etwas_build *build, uint16_t parent,
                              const EVENT_PROPERTY_INFO *info)
{
    if (build->property_count == ETWAS_BUILD_PROPERTIES) {
        fail(build, ERROR_INVALID_DATA);
        return 0;
    }
    if (parent != ETWAS_BUILD_TOP && parent >= build->property_count) {
        fail(build, ERROR_INVALID_DATA);
    }
    if (build->property_count == build->property_room) {
        size_t room = 2 * build->property_room + 16;
        struct etwas_build_property *larger =
            realloc(build->properties, room * sizeof *build->properties);

        if (larger == NULL) {
            fail(build, ERROR_NOT_ENOUGH_MEMORY);
            return 0;
        }
        build->properties = larger;
        build->property_room = room;
    }
    build->properties[build->property_count] =
        (struct etwas_build_property){.info = *info, .parent = parent};
    if (has_usual_length(info)) {
        build->properties[build->property_count].info.length =
            etwas_type_bytes(info->nonStructType.InType);
    }
    return (uint16_t)build->property_count++;
}

/* The order of the finished array: what is to stand at each position, and the lists it is made of. */
struct order {
    uint16_t *indexes; /* by position: the builder's index */
    uint16_t *first;   /* by index: its first member; NONE */
    uint16_t *next;    /* by index: the next with the same parent; NONE */
    uint16_t *last;    /* by index: its last member */
};
enum {
    NONE = 0xFFFF
};

/*
 * Those of no struct first, then the members of each struct, in the order in which the structs
 * themselves lie. Returns how many are of no struct.
 */
static uint16_t put_in_order(struct etwas_build *build, struct order *order)
{
    uint16_t count = (uint16_t)build->property_count;
    uint16_t placed = 0;
    uint16_t top;

    memset(order->first, 0xFF, 2 * (size_t)count * sizeof *order->first); /* next too */
    for (uint16_t i = 0; i < count; i++) {
        uint16_t parent = build->properties[i].parent;

        if (parent == ETWAS_BUILD_TOP) {
            build->properties[i].position = placed;
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
        EVENT_PROPERTY_INFO *info = &build->properties[index].info;

        if ((info->Flags & PropertyStruct) == 0) {
            continue;
        }
        info->structType.StructStartIndex = placed;
        for (uint16_t member = order->first[index]; member != NONE; member = order->next[member]) {
            build->properties[member].position = placed;
            order->indexes[placed++] = member;
        }
        info->structType.NumOfStructMembers =
            (uint16_t)(placed - info->structType.StructStartIndex);
    }
    if (placed != count) {
        fail(build, ERROR_INVALID_DATA); /* members of what is no struct */
    }
    return top;
}

static uint16_t position_of(struct etwas_build *build, uint16_t index)
{
    if (index >= build->property_count) {
        fail(build, ERROR_INVALID_DATA);
        return 0;
    }
    return build->properties[index].position;
}

/* An offset of the pool as one of the whole. */
static void move(uint32_t *offset, size_t by)
{
    if (*offset != 0) {
        *offset += (uint32_t)by;
    }
}

/* The property as it stands in the finished array. */
static EVENT_PROPERTY_INFO finished(struct etwas_build *build, uint16_t index, size_t pool_at)
{
    EVENT_PROPERTY_INFO info = build->properties[index].info;

    move(&info.NameOffset, pool_at);
    if ((info.Flags & PropertyHasCustomSchema) != 0) {
        move(&info.customSchemaType.CustomSchemaOffset, pool_at);
    } else if ((info.Flags & PropertyStruct) == 0) {
        move(&info.nonStructType.MapNameOffset, pool_at);
    }
    if ((info.Flags & PropertyParamCount) != 0 &&
        info.countPropertyIndex != ETWAS_BUILD_NO_PROPERTY) {
        info.countPropertyIndex = position_of(build, info.countPropertyIndex);
    }
    if ((info.Flags & PropertyParamLength) != 0 &&
        info.lengthPropertyIndex != ETWAS_BUILD_NO_PROPERTY) {
        info.lengthPropertyIndex = position_of(build, info.lengthPropertyIndex);
    }
    return info;
}

static void put_properties(struct etwas_build *build, TRACE_EVENT_INFO *info, size_t pool_at)
{
    size_t count = build->property_count;
    uint16_t *room = malloc(4 * (count + 1) * sizeof *room);
    struct order order = {room, room + count, room + 2 * count, room + 3 * count};

    if (room == NULL) {
        fail(build, ERROR_NOT_ENOUGH_MEMORY);
        return;
    }
    info->PropertyCount = (uint32_t)count;
    info->TopLevelPropertyCount = put_in_order(build, &order);
    for (size_t position = 0; build->error == ERROR_SUCCESS && position < count; position++) {
        const EVENT_PROPERTY_INFO property = finished(build, order.indexes[position], pool_at);

        memcpy((uint8_t *)info + INFO_HEAD_BYTES + position * sizeof property, &property,
               sizeof property);
    }
    free(room);
}

static void move_head(TRACE_EVENT_INFO *info, size_t pool_at)
{
    move(&info->ProviderNameOffset, pool_at);
    move(&info->LevelNameOffset, pool_at);
    move(&info->ChannelNameOffset, pool_at);
    move(&info->KeywordsNameOffset, pool_at);
    move(&info->TaskNameOffset, pool_at);
    move(&info->OpcodeNameOffset, pool_at);
    move(&info->EventMessageOffset, pool_at);
    move(&info->ProviderMessageOffset, pool_at);
    move(&info->EventNameOffset, pool_at);
    move(&info->EventAttributesOffset, pool_at);
}

/* A block of `head_bytes` and the pool; NULL: what failed is in build->error. */
static uint8_t *block_of(struct etwas_build *build, size_t head_bytes)
{
    uint8_t *block = NULL;

    if (build->error == ERROR_SUCCESS) {
        block = calloc(1, head_bytes + build->pool_bytes);
        if (block == NULL) {
            fail(build, ERROR_NOT_ENOUGH_MEMORY);
        } else if (build->pool != NULL) {
            memcpy(block + head_bytes, build->pool, build->pool_bytes);
        }
    }
    return block;
}

static void end(struct etwas_build *build)
{
    free(build->properties);
    free(build->pool);
    build->properties = NULL;
    build->pool = NULL;
}

uint32_t etwas_build_end(struct etwas_build *build, TRACE_EVENT_INFO **info, size_t *bytes)
{
    size_t pool_at = INFO_HEAD_BYTES + build->property_count * sizeof(EVENT_PROPERTY_INFO);

    *bytes = pool_at + build->pool_bytes;
    *info = (void *)block_of(build, pool_at);
    if (*info != NULL) {
        memcpy(*info, &build->head, INFO_HEAD_BYTES);
        move_head(*info, pool_at);
        put_properties(build, *info, pool_at);
    }
    if (build->error != ERROR_SUCCESS) {
        free(*info);
        *info = NULL;
    }
    end(build);
    return build->error;
}

uint32_t etwas_build_map_end(struct etwas_build *build, uint32_t name, MAP_FLAGS flag,
                             const struct etwas_build_entry *entries, size_t entry_count,
                             EVENT_MAP_INFO **map, size_t *bytes)
{
    size_t pool_at = MAP_HEAD_BYTES + entry_count * sizeof(EVENT_MAP_ENTRY);

    if (entry_count > ETWAS_BUILD_BYTES / sizeof(EVENT_MAP_ENTRY)) {
        fail(build, ERROR_INVALID_DATA);
    }
    *bytes = pool_at + build->pool_bytes;
    *map = (void *)block_of(build, pool_at);
    if (*map != NULL) {
        (*map)->NameOffset = name;
        (*map)->Flag = flag;
        (*map)->EntryCount = (uint32_t)entry_count;
        move(&(*map)->NameOffset, pool_at);
        for (size_t i = 0; i < entry_count; i++) {
            EVENT_MAP_ENTRY entry = {.OutputOffset = entries[i].text, .Value = entries[i].value};

            move(&entry.OutputOffset, pool_at);
            memcpy((uint8_t *)*map + MAP_HEAD_BYTES + i * sizeof entry, &entry, sizeof entry);
        }
    }
    end(build);
    return build->error;
}
