/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_WHERE_WHERE_H
#define ETWAS_TOOLS_WHERE_WHERE_H

/*
 * The expressions of --where.
 *
 *     any        = all { "||" all }
 *     all        = one { "&&" one }
 *     one        = "!" one | "(" any ")" | comparison
 *     comparison = operand [ relation operand ]
 *     relation   = "==" | "!=" | "<" | "<=" | ">" | ">=" | "=~" | "contains"
 *     operand    = name [ "&" number ] | number | string
 *     name       = word { "." word }
 *     word       = letters, digits and "_", or anything between ` and `
 *     number     = "true" | "false" | [ "-" ] ( decimal [ exponent ] [ unit ] | "0x" hexadecimal )
 *
 * A name denotes a property, or else a field; with `fields.` before it always a field. A name may
 * have several values, of an array or of fields with the same name. A comparison is true if it is
 * true for any of them, and false if there are none. == on the name of an event or of its class
 * accepts the whole name and its last one or two parts; != is the opposite. A name alone is true if
 * a value is neither 0 nor empty.
 *
 * A string that is a GUID or a date is compared as such with GUIDs and times, and as text with all
 * other values. Comparing different types is an error. It may be found only at an event, since the
 * type of a field is in the event's schema. A unit of time can be used with times, and with fields
 * whose names end with a unit. A level's name, as a string or bare behind the relation, is its
 * number beside `level`.
 */

#include "event/property.h"

#include <etwas/types.h>

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How values are compared, besides by their text. */
enum etwas_where_kind {
    ETWAS_WHERE_TEXT, /* has only a text */
    ETWAS_WHERE_UNSIGNED,
    ETWAS_WHERE_SIGNED, /* a negative integer */
    ETWAS_WHERE_FLOAT,
    ETWAS_WHERE_TIME, /* `i`: nanoseconds since 1970 */
    ETWAS_WHERE_GUID,
};

struct etwas_where_number {
    enum etwas_where_kind kind;
    bool has_name; /* it is also shown as text: an enumeration, an error code or a boolean */
    union {
        uint64_t u;
        int64_t i;
        double f;
        etwas_guid guid;
    };
};

enum etwas_where_source {
    ETWAS_WHERE_OF_PROPERTY,
    ETWAS_WHERE_OF_FIELD,
    ETWAS_WHERE_CONSTANT,
};

/* One side of a comparison. */
struct etwas_where_operand {
    enum etwas_where_source source;
    enum etwas_property property;
    bool absolute;  /* a TIME counts from 1970, else from the session's start; in ns */
    uint32_t field; /* number of the requested field */
    bool masked;
    uint64_t mask;
    struct etwas_where_number number; /* the constant; for a string TEXT, TIME or GUID */
    bool has_time_unit;               /* the constant was written with a unit, and is in ns */
    const char *field_unit;           /* the field's unit that it was converted to; NULL: in ns */
    const char *text; /* the string, terminated, may contain 0; NULL: it is a number */
    size_t bytes;
    size_t at; /* offset in the expression */
    size_t length;
};

enum etwas_where_relation {
    ETWAS_WHERE_OR,
    ETWAS_WHERE_AND,
    ETWAS_WHERE_NOT,
    ETWAS_WHERE_HOLDS, /* neither 0 nor empty */
    ETWAS_WHERE_EQUAL,
    ETWAS_WHERE_UNEQUAL,
    ETWAS_WHERE_LESS,
    ETWAS_WHERE_LESS_EQUAL,
    ETWAS_WHERE_GREATER,
    ETWAS_WHERE_GREATER_EQUAL,
    ETWAS_WHERE_MATCHES,
    ETWAS_WHERE_CONTAINS,
};

struct etwas_where_node {
    enum etwas_where_relation relation;
    uint32_t left; /* numbers of nodes; NOT has only the left one */
    uint32_t right;
    struct etwas_where_operand operands[2]; /* for comparisons; HOLDS has only the first */
    regex_t pattern;                        /* for MATCHES */
};

enum {
    ETWAS_WHERE_NODES = 256,
    ETWAS_WHERE_DEPTH = 64, /* nesting of parentheses and `!` */
    ETWAS_WHERE_TEXT_BYTES = 8192,
    ETWAS_WHERE_WHOLE_BYTES = 2048,
};

struct etwas_field_paths;

struct etwas_where {
    struct etwas_where_node nodes[ETWAS_WHERE_NODES];
    uint32_t node_count;
    uint32_t root;
    bool wants_duration;
    bool wants_process;                /* needs process or thread names from earlier events */
    bool was_asked;                    /* it was evaluated for an event */
    bool has_held;                     /* it held for an event */
    bool has_process;                  /* the process of an event had a name */
    char text[ETWAS_WHERE_TEXT_BYTES]; /* strings, and while parsing names */
    size_t text_bytes;
    struct etwas_field_paths *paths;     /* requested fields, for etwas_where_read_option */
    const char *command;                 /* its command, and the text it was given */
    const char *expression;              /* text of --where; NULL: only other options were given */
    char whole[ETWAS_WHERE_WHOLE_BYTES]; /* all that was given, cut if it is longer */
    /* The error, found by parsing or at an event. */
    const char *error;       /* NULL: none */
    const char *error_meant; /* the column that a mistyped name may mean; NULL: none */
    size_t error_at;         /* in bytes */
    size_t error_length;
};

/*
 * Parses an expression, and adds the fields that it needs to `paths`. `where` must be all zeroes or
 * cleared at first. Events must satisfy this expression and those parsed into `where` before.
 * Returns false if it is not valid; then the error members are set, and `where` is cleared.
 */
bool etwas_where_parse(struct etwas_where *where, const char *text,
                       struct etwas_field_paths *paths);

/* Returns whether all events must be read in order, even if they are not selected. */
static inline bool etwas_where_wants_all(const struct etwas_where *where)
{
    return where->wants_duration || where->wants_process;
}

/* Returns whether there is an expression. */
static inline bool etwas_where_is_given(const struct etwas_where *where)
{
    return where->node_count > 0;
}

/* Returns whether a comparison uses the property. */
bool etwas_where_asks(const struct etwas_where *where, enum etwas_property property);

void etwas_where_clear(struct etwas_where *where);

/*
 * Moves an expression, whose strings are inside it. The previous contents of `to` are not cleared;
 * `from` is empty afterwards.
 */
void etwas_where_move(struct etwas_where *to, struct etwas_where *from);

/* The source of an operand's values. */
struct etwas_where_values {
    void *context;
    /* Returns the number of values. */
    uint32_t (*count)(void *context, const struct etwas_where_operand *operand);
    /* Returns a value as a number, time or GUID. */
    struct etwas_where_number (*number)(void *context, const struct etwas_where_operand *operand,
                                        uint32_t index);
    /* Returns its text, terminated. `side` is 0 or 1: the texts of both sides are used together. */
    const char *(*text)(void *context, const struct etwas_where_operand *operand, uint32_t index,
                        unsigned side, size_t *bytes);
};

/*
 * Returns whether it holds for an event. Returns false with an error set if it compares different
 * types for this event.
 */
bool etwas_where_holds(struct etwas_where *where, const struct etwas_where_values *values);

#endif
