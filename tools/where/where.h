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
 * A name is that of a property, or else of a field; `fields.` before it makes it a field. A name
 * may stand for several values, of an array or of fields with the same name: a comparison is true
 * if it is for any of them, and false where there is none. == on the name of an event or of its
 * class takes the whole name and its last one or two parts, and != is the opposite. A name alone is
 * true if a value is neither 0 nor empty.
 *
 * A string that is a GUID or a date is compared as such with GUIDs and times, and as text with all
 * else. To compare what is of different types is an error, which an event may show that is met
 * late: only its schema says what type a field has. A unit of time goes with times, and with fields
 * that have it at the end of their names. A string that
 * names a level is its number beside `level`, and so is the bare name behind the relation.
 */

#include "event/property.h"

#include <etwas/types.h>

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What values are compared by, beside their text. */
enum etwas_where_kind {
    ETWAS_WHERE_TEXT, /* text alone */
    ETWAS_WHERE_UNSIGNED,
    ETWAS_WHERE_SIGNED, /* below 0 */
    ETWAS_WHERE_FLOAT,
    ETWAS_WHERE_TIME, /* `i`: nanoseconds since 1970 */
    ETWAS_WHERE_GUID,
};

struct etwas_where_number {
    enum etwas_where_kind kind;
    bool has_name; /* a number that is shown as text too: of an enumeration, an error, a boolean */
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
    bool absolute;  /* of ETWAS_PROPERTY_TIME: since 1970, else since the session's start, in ns */
    uint32_t field; /* which of the fields that were asked for */
    bool masked;
    uint64_t mask;
    struct etwas_where_number number; /* the constant; of a string TEXT, TIME or GUID */
    bool has_time_unit;               /* the constant was written with one, and is in ns */
    const char *field_unit; /* and now it is in that of the field beside it; NULL: still in ns */
    const char *text;       /* the string; NULL: a number. Terminated, and may hold 0 */
    size_t bytes;
    size_t at; /* where it stands in the expression */
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
    uint32_t left; /* nodes; of NOT the left one alone */
    uint32_t right;
    struct etwas_where_operand operands[2]; /* of comparisons; of HOLDS the first alone */
    regex_t pattern;                        /* of MATCHES */
};

enum {
    ETWAS_WHERE_NODES = 256,
    ETWAS_WHERE_DEPTH = 64, /* of parentheses and `!` */
    ETWAS_WHERE_TEXT_BYTES = 8192,
    ETWAS_WHERE_WHOLE_BYTES = 2048,
};

struct etwas_field_paths;

struct etwas_where {
    struct etwas_where_node nodes[ETWAS_WHERE_NODES];
    uint32_t node_count;
    uint32_t root;
    bool wants_duration;
    bool wants_process;                /* names, or of threads, which earlier events tell */
    bool was_asked;                    /* about an event */
    bool has_held;                     /* for one */
    bool has_process;                  /* some event's process had a name */
    char text[ETWAS_WHERE_TEXT_BYTES]; /* of the strings, and of names while parsing */
    size_t text_bytes;
    struct etwas_field_paths *paths;     /* of the fields, for etwas_where_read_option */
    const char *command;                 /* of that, and what it was given */
    const char *expression;              /* of --where; NULL: others were given alone */
    char whole[ETWAS_WHERE_WHOLE_BYTES]; /* all that was given, cut where it is longer */
    /* What is wrong with it, as it was parsed or for an event. */
    const char *error;       /* NULL: nothing */
    const char *error_meant; /* the column that a mistyped name may mean; NULL: none */
    size_t error_at;         /* in bytes */
    size_t error_length;
};

/*
 * Reads an expression, and adds the fields it asks for to `paths`. `where` is all zeroes or cleared
 * at first. An event must fulfil this expression and those that were read into `where` before.
 * False: it is wrong, and the members error… say where and why; then `where` is cleared.
 */
bool etwas_where_parse(struct etwas_where *where, const char *text,
                       struct etwas_field_paths *paths);

/* Returns whether all events have to be read, in their order, to tell for which ones it holds. */
static inline bool etwas_where_wants_all(const struct etwas_where *where)
{
    return where->wants_duration || where->wants_process;
}

/* Returns whether an expression was read. */
static inline bool etwas_where_is_given(const struct etwas_where *where)
{
    return where->node_count > 0;
}

/* Returns whether a comparison asks for the property. */
bool etwas_where_asks(const struct etwas_where *where, enum etwas_property property);

void etwas_where_clear(struct etwas_where *where);

/*
 * To another place, since its strings are in it. What was there is not cleared; where it was is
 * empty then.
 */
void etwas_where_move(struct etwas_where *to, struct etwas_where *from);

/* Where the values come from. */
struct etwas_where_values {
    void *context;
    /* How many values there are. */
    uint32_t (*count)(void *context, const struct etwas_where_operand *operand);
    /* What a value is beside its text. */
    struct etwas_where_number (*number)(void *context, const struct etwas_where_operand *operand,
                                        uint32_t index);
    /* Its text, terminated. `side` is 0 or 1: the texts of two sides are asked for together. */
    const char *(*text)(void *context, const struct etwas_where_operand *operand, uint32_t index,
                        unsigned side, size_t *bytes);
};

/* Whether it holds for an event. False with an error: of that event it compares different types. */
bool etwas_where_holds(struct etwas_where *where, const struct etwas_where_values *values);

#endif
