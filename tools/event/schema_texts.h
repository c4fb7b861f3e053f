/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_EVENT_SCHEMA_TEXTS_H
#define ETWAS_TOOLS_EVENT_SCHEMA_TEXTS_H

/*
 * A schema with the texts that are made of it once, so that showing an event costs no more than
 * formatting its values.
 */

#include "event/field_paths.h"
#include "print/output.h"
#include "print/text.h"

#include <etwas/decode.h>

/* A text within the texts of a schema, not terminated. */
struct etwas_kept_text {
    size_t at;
    size_t bytes;
};

/* The meaning of a number that its schema alone does not show. */
enum etwas_field_kind {
    ETWAS_FIELD_PLAIN,
    ETWAS_FIELD_TIME,  /* a stamp of the session's clock */
    ETWAS_FIELD_CODE,  /* where a program, or the kernel, was or will be */
    ETWAS_FIELD_PLACE, /* in a file: -2 where it stands, -1 at its end */
};

struct etwas_schema_texts_field {
    enum etwas_field_kind kind;
    struct etwas_kept_text label; /* `size=`, harmless on a terminal */
    struct etwas_kept_text key;   /* `"size":` as JSON; the second of a name is "size#2" */
    /*
     * `point.size#2` as it is in the file, with all structs around it, of which `size#2` begins at
     * own_at.
     */
    struct etwas_kept_text full;
    size_t own_at;
    uint32_t path; /* which of the fields asked for it is, or _NONE */
};

struct etwas_schema_texts {
    const etwas_schema *schema;
    struct etwas_kept_text title; /* PROVIDER/EVENT as one word, harmless on a terminal */
    struct etwas_kept_text name;  /* the same as it is in the file */
    size_t class_bytes;           /* of it: without the part that tells events of a class apart */
    bool asked_for;               /* one of its fields is asked for */
    bool has_times;               /* fields of that kind */
    bool has_code;
    bool reported; /* that a payload contradicts it */
    char *texts;   /* of the members above */
    struct etwas_schema_texts_field fields[];
};

/*
 * Makes the texts of a schema, which must outlive them. `paths` are the fields that are asked for.
 * The caller frees the result; NULL: no memory.
 */
struct etwas_schema_texts *etwas_schema_texts_make(const etwas_schema *schema,
                                                   struct etwas_field_paths *paths);

/* Frees what etwas_schema_texts_make returned, which may be NULL. */
void etwas_schema_texts_free(struct etwas_schema_texts *schema_texts);

/*
 * Writes the whole name of an event, PROVIDER/EVENT[/OPCODE]. Returns how many bytes of it are the
 * class, if the style changes nothing.
 */
size_t etwas_schema_texts_print_title(struct etwas_output *output, enum etwas_text_style style,
                                      const etwas_schema *schema);

/*
 * Writes what distinguishes self-describing events of one name behind that name: "/Start", "/Stop",
 * "/7", and nothing for opcode 0. Names of other events have their opcode already.
 */
void etwas_schema_texts_print_opcode(struct etwas_output *output, uint8_t opcode);

enum {
    ETWAS_SCHEMA_TEXTS_PIECE = 32, /* so many bytes may be read from anywhere in the texts */
};

/*
 * Writes a text. Most are short, and copied in one piece of fixed size; what is too much is
 * overwritten by the next.
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
