/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the readers of a document's elements share: where they are, attributes, and names. Every
 * `begin` of an element says with false that nothing inside it is read.
 */
#ifndef ETWAS_DECODE_MANIFEST_READER_H
#define ETWAS_DECODE_MANIFEST_READER_H

#include <expat.h>
#include <stdbool.h>

#include "decode/manifest.h"

enum {
    ETWAS_MANIFEST_DEPTH = 16, /* of elements; a member of a struct is the tenth */
};

struct etwas_manifest_reader {
    XML_Parser parser;
    struct etwas_manifest *manifest;
    uint32_t error;
    uint8_t open[ETWAS_MANIFEST_DEPTH]; /* enum element, the outermost first */
    size_t depth;

    /* What the element that is read lies in. */
    struct etwas_manifest_provider *provider;
    const struct etwas_manifest_value *task;
    struct etwas_manifest_template *template;
    uint16_t structure; /* number of the field; ETWAS_BUILDER_TOP */
    struct etwas_manifest_map *map;
    uint8_t channels;
    uint8_t culture; /* how well the language of `manifest->strings` suits */
    const void *strings;
};

/* Ends the reading. */
void etwas_manifest_fail(struct etwas_manifest_reader *reader, uint32_t error);

/* Notes that the element that is read could not be used. */
void etwas_manifest_skip_element(struct etwas_manifest_reader *reader, const char *element);

/* An attribute; NULL: there is none. */
const char *etwas_manifest_attribute(const char **attributes, const char *name);
/* A copy of it; NULL also where memory failed. */
const char *etwas_manifest_copy_attribute(struct etwas_manifest_reader *reader,
                                          const char **attributes, const char *name);
/* As a number, decimal or behind 0x; false: there is none, or none up to the limit. */
bool etwas_manifest_attribute_number(const char **attributes, const char *name, uint64_t limit,
                                     uint64_t *number);
bool etwas_manifest_parse_number(const char *text, uint64_t limit, uint64_t *number);
/* As a GUID, in braces or without them. */
bool etwas_manifest_attribute_guid(const char **attributes, const char *name, etwas_guid *guid);

/*
 * `bytes` for a thing that begins with its name. NULL: it has none, there is one of that name
 * already, or memory failed.
 */
void *etwas_manifest_add_named(struct etwas_manifest_reader *reader, size_t bytes,
                               enum etwas_manifest_kind kind, const void *owner, const char *name);

/* manifest_template.c */
bool etwas_manifest_begin_template(struct etwas_manifest_reader *reader, const char **attributes);
bool etwas_manifest_begin_user_data(struct etwas_manifest_reader *reader, const char **attributes);
bool etwas_manifest_begin_data(struct etwas_manifest_reader *reader, const char **attributes);
bool etwas_manifest_begin_struct(struct etwas_manifest_reader *reader, const char **attributes);

#endif
