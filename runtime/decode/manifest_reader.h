/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Shared by the readers of a document's elements: position, attributes, and names. Each `begin`
 * function of an element returns false if nothing inside the element is to be read.
 */
#ifndef ETWAS_DECODE_MANIFEST_READER_H
#define ETWAS_DECODE_MANIFEST_READER_H

#include <expat.h>
#include <stdbool.h>

#include "decode/manifest.h"

enum {
    ETWAS_MANIFEST_DEPTH = 16, /* of elements; a member of a struct is at depth 10 */
};

struct etwas_manifest_reader {
    XML_Parser parser;
    struct etwas_manifest *manifest;
    uint32_t error;
    uint8_t open[ETWAS_MANIFEST_DEPTH]; /* enum element, the outermost first */
    size_t depth;

    /* The elements around the one that is being read. */
    struct etwas_manifest_provider *provider;
    const struct etwas_manifest_value *task;
    struct etwas_manifest_template *template;
    uint16_t structure; /* number of the field; ETWAS_BUILDER_TOP */
    struct etwas_manifest_map *map;
    uint8_t channels;
    uint8_t culture; /* how well the language of `manifest->strings` fits */
    const void *strings;
};

/* Ends the reading with an error. */
void etwas_manifest_fail(struct etwas_manifest_reader *reader, uint32_t error);

/* Counts the element that is being read as skipped. */
void etwas_manifest_skip_element(struct etwas_manifest_reader *reader, const char *element);

/* Returns the value of an attribute; NULL: there is none. */
const char *etwas_manifest_attribute(const char **attributes, const char *name);
/* Returns a copy of the attribute's value; NULL: there is none, or no memory. */
const char *etwas_manifest_copy_attribute(struct etwas_manifest_reader *reader,
                                          const char **attributes, const char *name);
/*
 * Parses an attribute as a number, decimal or hexadecimal with 0x. Returns false if there is none,
 * or it is above the limit.
 */
bool etwas_manifest_attribute_number(const char **attributes, const char *name, uint64_t limit,
                                     uint64_t *number);
bool etwas_manifest_parse_number(const char *text, uint64_t limit, uint64_t *number);
/* Parses an attribute as a GUID, with or without braces. */
bool etwas_manifest_attribute_guid(const char **attributes, const char *name, etwas_guid *guid);

/*
 * Allocates an item of `bytes`, which begins with its name. NULL: it has no name, an item of that
 * name exists already, or there is no memory.
 */
void *etwas_manifest_add_named(struct etwas_manifest_reader *reader, size_t bytes,
                               enum etwas_manifest_kind kind, const void *owner, const char *name);

/* manifest_template.c */
bool etwas_manifest_begin_template(struct etwas_manifest_reader *reader, const char **attributes);
bool etwas_manifest_begin_user_data(struct etwas_manifest_reader *reader, const char **attributes);
bool etwas_manifest_begin_data(struct etwas_manifest_reader *reader, const char **attributes);
bool etwas_manifest_begin_struct(struct etwas_manifest_reader *reader, const char **attributes);

#endif
