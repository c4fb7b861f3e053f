/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "decode/manifest_reader.h"

#include <etwas/winerror.h>
#include <stdio.h>
#include <string.h>

void etwas_manifest_fail(struct etwas_manifest_reader *reader, uint32_t error)
{
    if (reader->error == ERROR_SUCCESS) {
        reader->error = error;
        XML_StopParser(reader->parser, XML_FALSE);
    }
}

void etwas_manifest_skip_element(struct etwas_manifest_reader *reader, const char *element)
{
    struct etwas_manifest_skipped *skipped = &reader->manifest->skipped;

    if (skipped->count++ == 0) {
        snprintf(skipped->first, sizeof skipped->first, "%s", element);
        skipped->line = XML_GetCurrentLineNumber(reader->parser);
    }
}

/* ---- attributes ------------------------------------------------------------------------------ */

const char *etwas_manifest_attribute(const char **attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2) {
        if (strcmp(attributes[0], name) == 0) {
            return attributes[1];
        }
    }
    return NULL;
}

const char *etwas_manifest_copy_attribute(struct etwas_manifest_reader *reader,
                                          const char **attributes, const char *name)
{
    const char *value = etwas_manifest_attribute(attributes, name);
    const char *copy = NULL;

    if (value != NULL) {
        copy = etwas_arena_copy_text(&reader->manifest->arena, value);
        if (copy == NULL) {
            etwas_manifest_fail(reader, ERROR_NOT_ENOUGH_MEMORY);
        }
    }
    return copy;
}

static int manifest_digit_of(char digit, unsigned base)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = memchr(digits, digit | (digit > '9' ? 0x20 : 0), base);

    return at == NULL ? -1 : (int)(at - digits);
}

bool etwas_manifest_parse_number(const char *text, uint64_t limit, uint64_t *number)
{
    unsigned base = text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10;

    text += base == 16 ? 2 : 0;
    *number = 0;
    if (*text == 0) {
        return false;
    }
    for (; *text != 0; text++) {
        int digit = manifest_digit_of(*text, base);

        if (digit < 0 || *number > (limit - (uint64_t)digit) / base) {
            return false;
        }
        *number = *number * base + (uint64_t)digit;
    }
    return true;
}

bool etwas_manifest_attribute_number(const char **attributes, const char *name, uint64_t limit,
                                     uint64_t *number)
{
    const char *value = etwas_manifest_attribute(attributes, name);

    return value != NULL && etwas_manifest_parse_number(value, limit, number);
}

bool etwas_manifest_attribute_guid(const char **attributes, const char *name, etwas_guid *guid)
{
    static const uint8_t order[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    const char *text = etwas_manifest_attribute(attributes, name);
    uint8_t bytes[sizeof *guid];

    if (text == NULL) {
        return false;
    }
    text += *text == '{';
    for (size_t i = 0; i < sizeof bytes; i++) {
        int high, low;

        text += (i == 4 || i == 6 || i == 8 || i == 10) && *text == '-';
        high = *text == 0 ? -1 : manifest_digit_of(*text++, 16);
        low = *text == 0 ? -1 : manifest_digit_of(*text++, 16);
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

static uint64_t manifest_name_hash(const struct etwas_manifest *manifest,
                                   enum etwas_manifest_kind kind, const void *owner,
                                   const char *name, size_t name_bytes)
{
    uint64_t key[] = {manifest->seed, kind, (uint64_t)(uintptr_t)owner};

    return etwas_hash_bytes(etwas_hash_bytes(manifest->seed, key, sizeof key), name, name_bytes);
}

const void *etwas_manifest_find(const struct etwas_manifest *manifest,
                                enum etwas_manifest_kind kind, const void *owner, const char *name,
                                size_t name_bytes)
{
    uint64_t hash = manifest_name_hash(manifest, kind, owner, name, name_bytes);
    const struct etwas_manifest_name *found;

    for (size_t cursor = 0;
         (found = etwas_hash_table_next(&manifest->names, hash, &cursor)) != NULL;) {
        if (found->kind == kind && found->owner == owner &&
            strncmp(found->name, name, name_bytes) == 0 && found->name[name_bytes] == 0) {
            return found;
        }
    }
    return NULL;
}

void *etwas_manifest_add_named(struct etwas_manifest_reader *reader, size_t bytes,
                               enum etwas_manifest_kind kind, const void *owner, const char *name)
{
    struct etwas_manifest *manifest = reader->manifest;
    struct etwas_manifest_name *named;

    if (name == NULL || etwas_manifest_find(manifest, kind, owner, name, strlen(name)) != NULL) {
        return NULL;
    }
    named = etwas_arena_allocate(&manifest->arena, bytes);
    if (named == NULL ||
        !etwas_hash_table_add(&manifest->names,
                              manifest_name_hash(manifest, kind, owner, name, strlen(name)),
                              named)) {
        etwas_manifest_fail(reader, ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    *named = (struct etwas_manifest_name){.kind = kind, .owner = owner, .name = name};
    return named;
}
