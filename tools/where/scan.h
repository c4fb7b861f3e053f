/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_WHERE_SCAN_H
#define ETWAS_TOOLS_WHERE_SCAN_H

/*
 * The words of an expression of --where.
 */

#include "where/where.h"

enum etwas_where_word {
    ETWAS_WORD_END,
    ETWAS_WORD_NAME,   /* at `text`: each part of it with a 0 behind */
    ETWAS_WORD_STRING, /* at `text`, terminated */
    ETWAS_WORD_NUMBER, /* `number` */
    ETWAS_WORD_OPEN,
    ETWAS_WORD_CLOSE,
    ETWAS_WORD_MASK,     /* & */
    ETWAS_WORD_RELATION, /* `relation` */
    ETWAS_WORD_WRONG,    /* the expression's error says why */
};

/* Where reading is, and the word there. */
struct etwas_where_scan {
    struct etwas_where *where; /* takes texts and errors */
    const char *expression;
    size_t at; /* of the word */
    size_t length;
    enum etwas_where_word word;
    enum etwas_where_relation relation;
    struct etwas_where_number number;
    bool has_time_unit; /* the number; it is in ns */
    bool quoted;        /* a name with ` in it is no property */
    const char *text;
    size_t bytes;
};

/* Goes to the next word. */
void etwas_where_next(struct etwas_where_scan *scan);

/* Notes the first error, at these bytes of the expression. */
void etwas_where_fail(struct etwas_where_scan *scan, size_t at, size_t length, const char *error);

/* What a date without Z and without an offset is in. */
enum etwas_where_zone {
    ETWAS_WHERE_UTC,
    ETWAS_WHERE_LOCAL,
};

/*
 * A date of a string: 2026-11-21, and if more is given T or a blank, 08:19, :17, .123456789, and Z
 * or an offset such as +01:00. In nanoseconds since 1970. False: it is none.
 */
bool etwas_where_date(const char *text, enum etwas_where_zone zone, int64_t *unix_ns);

/* A time of day of a string: 08:19, :17, .123456789, in nanoseconds. False: it is none. */
bool etwas_where_time_of_day(const char *text, int64_t *ns);

#endif
