/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_EVENT_SCHEMA_TEXTS_H
#define ETWAS_TOOLS_EVENT_SCHEMA_TEXTS_H

/*
 * A schema with the texts that are made from it once, so that showing an event costs only the
 * formatting of its values.
 */

#include "event/field_paths.h"
#include "print/output.h"
#include "print/text.h"

#include <etwas/decode.h>

/* A text in the buffer of a schema's texts, not terminated. */
struct etwas_kept_text {
    size_t at;
    size_t bytes;
};

/* A meaning of a number that its schema alone does not show. */
enum etwas_field_kind {
    ETWAS_FIELD_PLAIN,
    ETWAS_FIELD_TIME,  /* a stamp of the session's clock */
    ETWAS_FIELD_CODE,  /* an address of code, in a program or the kernel */
    ETWAS_FIELD_PLACE, /* an offset in a file; -2: at the current position, -1: at the end */
};

struct etwas_schema_texts_field {
    enum etwas_field_kind kind;
    struct etwas_kept_text label; /* `size=`, safe on a terminal */
    struct etwas_kept_text key;   /* `"size":` as JSON; the second field of a name is "size_2" */
    /*
     * `point.size_2` as in the file, with all enclosing structs. The field's own part, `size_2`,
     * begins at own_at.
     */
    struct etwas_kept_text full;
    size_t own_at;
    uint32_t path; /* number of the requested field that it is, or _NONE */
};

struct etwas_schema_texts {
    const etwas_schema *schema;
    struct etwas_kept_text title; /* PROVIDER/EVENT as one word, safe on a terminal */
    struct etwas_kept_text name;  /* the same as in the file */
    size_t class_bytes;           /* length of the class in `name`, without the event's own part */
    bool asked_for;               /* one of its fields is requested */
    bool has_times;               /* it has fields of kind TIME */
    bool has_code;
    bool reported; /* it was reported that a payload contradicts it */
    char *texts;   /* the buffer that the texts above are in */
    struct etwas_schema_texts_field fields[];
};

/*
 * Makes the texts of a schema, which must outlive them. `paths` are the requested fields. The
 * caller frees the result. Returns NULL without memory.
 */
struct etwas_schema_texts *etwas_schema_texts_make(const etwas_schema *schema,
                                                   struct etwas_field_paths *paths);

/* Frees what etwas_schema_texts_make returned, which may be NULL. */
void etwas_schema_texts_free(struct etwas_schema_texts *schema_texts);

/*
 * Writes the whole name of an event, PROVIDER/EVENT[/OPCODE]. Returns the length of the class in
 * it, provided that the style escapes nothing.
 */
size_t etwas_schema_texts_print_title(struct etwas_output *output, enum etwas_text_style style,
                                      const etwas_schema *schema);

/*
 * Writes the suffix that distinguishes self-describing events of one name: "/Start", "/Stop", "/7",
 * or nothing for opcode 0. Names of other events contain their opcode already.
 */
void etwas_schema_texts_print_opcode(struct etwas_output *output, uint8_t opcode);

enum {
    ETWAS_SCHEMA_TEXTS_PIECE = 32, /* readable bytes from any position in the texts on */
};

/*
 * Writes a text. Most are short, and copied in one piece of fixed size; the next text overwrites
 * the excess.
 */
static inline void etwas_schema_texts_print(struct etwas_output *output,
                                            const struct etwas_schema_texts *schema_texts,
                                            struct etwas_kept_text kept)
{
    if (kept.bytes <= ETWAS_SCHEMA_TEXTS_PIECE) {
        memcpy(etwas_output_room(output, ETWAS_SCHEMA_TEXTS_PIECE), schema_texts->texts + kept.at,
               ETWAS_SCHEMA_TEXTS_PIECE);
        output->used_bytes += kept.bytes;
    } else {
        etwas_output_bytes(output, schema_texts->texts + kept.at, kept.bytes);
    }
}

#endif
