/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "decode/map.h"

#include <stdlib.h>
#include <string.h>

#include "decode/text_writer.h"
#include "etl/utf16.h"

enum {
    HEAD_BYTES = offsetof(EVENT_MAP_INFO, MapEntryArray),
    NAMES_OF_INFO = 4, /* names may take up to this many times the bytes of their source */
};

/* An aligned copy of the map that is checked. */
struct map_source {
    const EVENT_MAP_INFO *info;
    size_t bytes;
};

/* Returns the number of units before the 0 of the string at `offset`; -1: it is not a string. */
static int32_t map_string_units(const struct map_source *source, uint32_t offset)
{
    const etwas_wchar *string;
    size_t most;
    size_t units;

    if (offset < HEAD_BYTES || offset % 2 != 0 || offset >= source->bytes) {
        return -1;
    }
    string = (const void *)((const uint8_t *)source->info + offset);
    most = (source->bytes - offset) / 2;
    units = etwas_utf16_length(string, most);
    return units < most ? (int32_t)units : -1;
}

/* Writes a string without the blank at the end of message strings. */
static void map_write_string(struct etwas_text_writer *text, const struct map_source *source,
                             uint32_t offset)
{
    const etwas_wchar *string = (const void *)((const uint8_t *)source->info + offset);
    size_t units = (size_t)map_string_units(source, offset);

    while (units > 0 && string[units - 1] == ' ') {
        units--;
    }
    etwas_text_put_utf16(text, string, units);
}

static EVENT_MAP_ENTRY map_entry_at(const struct map_source *source, uint32_t index)
{
    return source->info->MapEntryArray[index];
}

/* Parses the string at `offset` as a number: decimal, or hexadecimal with 0x. */
static bool map_read_number(const struct map_source *source, uint32_t offset, uint32_t *number)
{
    char digits[16];
    char *end;
    int32_t units = map_string_units(source, offset);
    const etwas_wchar *string = (const void *)((const uint8_t *)source->info + offset);

    if (units <= 0 || units >= (int32_t)sizeof digits) {
        return false;
    }
    for (int32_t i = 0; i < units; i++) {
        digits[i] = string[i] < 0x80 ? (char)string[i] : '?';
    }
    digits[units] = 0;
    *number = (uint32_t)strtoul(digits, &end, 0);
    return *end == 0;
}

/*
 * Finds the value of an entry. Returns false if the value is not a number, so the entry is ignored.
 */
static bool map_value_of(const struct map_source *source, uint32_t index, uint32_t *value)
{
    const EVENT_MAP_INFO *info = source->info;

    if ((info->Flag & EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP) != 0) {
        return false;
    }
    if ((info->Flag & EVENTMAP_INFO_FLAG_WBEM_NO_MAP) != 0) {
        bool is_bit =
            (info->Flag & (EVENTMAP_INFO_FLAG_WBEM_BITMAP | EVENTMAP_INFO_FLAG_WBEM_FLAG)) != 0;

        *value = is_bit && index < 32 ? UINT32_C(1) << index : index;
        return !is_bit || index < 32;
    }
    if (info->MapEntryValueType == EVENTMAP_ENTRY_VALUETYPE_STRING) {
        return map_read_number(source, map_entry_at(source, index).InputOffset, value);
    }
    *value = map_entry_at(source, index).Value;
    return true;
}

static bool map_is_of_bits(const EVENT_MAP_INFO *info)
{
    return (info->Flag & (EVENTMAP_INFO_FLAG_MANIFEST_BITMAP | EVENTMAP_INFO_FLAG_WBEM_BITMAP |
                          EVENTMAP_INFO_FLAG_WBEM_FLAG)) != 0;
}

/* Returns the bytes that all names need; 0: the map is invalid. */
static size_t map_measure(const struct map_source *source)
{
    size_t bytes = 1;

    if (source->info->EntryCount > (source->bytes - HEAD_BYTES) / sizeof(EVENT_MAP_ENTRY) ||
        map_string_units(source, source->info->NameOffset) < 0) {
        return 0;
    }
    for (uint32_t i = 0; i < source->info->EntryCount; i++) {
        int32_t units = map_string_units(source, map_entry_at(source, i).OutputOffset);

        /* Names that share bytes of the source must not multiply its size. */
        if (units < 0 || units > ETWAS_MAP_NAME_UNITS ||
            (bytes += 3 * (size_t)units + 1) > NAMES_OF_INFO * source->bytes) {
            return 0;
        }
    }
    return map_is_of_bits(source->info) &&
                   (source->info->EntryCount > ETWAS_MAP_BITS || bytes > 3 * ETWAS_MAP_BITS_BYTES)
               ? 0
               : bytes;
}

static int map_compare_values(const void *left, const void *right)
{
    const struct etwas_map_entry *a = left;
    const struct etwas_map_entry *b = right;

    /* Entries with one value are in the order of the map, in which their texts lie. */
    return a->value != b->value ? (a->value < b->value ? -1 : 1)
                                : (a->text > b->text) - (a->text < b->text);
}

static size_t map_aligned(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

static uint32_t map_assemble(const struct map_source *source, size_t name_bytes,
                             struct etwas_map **map)
{
    uint32_t count = source->info->EntryCount;
    size_t entries_at = map_aligned(offsetof(struct etwas_map, info) + source->bytes);
    size_t names_at = entries_at + count * sizeof(struct etwas_map_entry);
    uint8_t *block = calloc(1, names_at + name_bytes);
    struct etwas_map_entry *entries = (void *)(block + entries_at);
    char *name = (char *)block + names_at;
    const char *end = name + name_bytes;

    *map = (void *)block;
    if (block == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    memcpy(&(*map)->info, source->info, source->bytes);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t offset = map_entry_at(source, i).OutputOffset;
        struct etwas_text_writer text = etwas_text_begin(name, (size_t)(end - name));

        if (map_value_of(source, i, &entries[(*map)->count].value)) {
            entries[(*map)->count++].text = name;
            map_write_string(&text, source, offset);
            name += etwas_text_end(&text, (size_t)(end - name)) + 1;
        }
    }
    qsort(entries, (*map)->count, sizeof *entries, map_compare_values);
    (*map)->entries = entries;
    (*map)->info_bytes = (uint32_t)source->bytes;
    (*map)->bytes = names_at + name_bytes;
    (*map)->is_bits = map_is_of_bits(source->info);
    return ERROR_SUCCESS;
}

uint32_t etwas_map_make(const void *info, size_t bytes, struct etwas_map **map)
{
    struct map_source source = {.bytes = bytes};
    uint32_t error = ERROR_INVALID_DATA;
    size_t name_bytes;
    void *copy;

    *map = NULL;
    if (bytes < HEAD_BYTES || bytes > INT32_MAX) {
        return ERROR_INVALID_DATA;
    }
    copy = calloc(1, map_aligned(bytes) + sizeof(EVENT_MAP_INFO));
    if (copy == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    memcpy(copy, info, bytes);
    source.info = copy;
    name_bytes = map_measure(&source);
    if (name_bytes > 0) {
        error = map_assemble(&source, name_bytes, map);
    }
    free(copy);
    return error;
}

const struct etwas_map *etwas_map_of(const EVENT_MAP_INFO *info)
{
    return (const void *)((const uint8_t *)info - offsetof(struct etwas_map, info));
}

const char *etwas_map_name(const struct etwas_map *map, uint64_t value)
{
    uint32_t low = 0;
    uint32_t high = map->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (map->entries[middle].value < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < map->count && map->entries[low].value == value ? map->entries[low].text : NULL;
}
