/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_WHERE_SCAN_H
#define ETWAS_TOOLS_WHERE_SCAN_H

/* The words of a --where expression. */

#include "where/where.h"

enum etwas_where_word {
    ETWAS_WORD_END,
    ETWAS_WORD_NAME,   /* in `text`, each part terminated by a 0 */
    ETWAS_WORD_STRING, /* in `text`, terminated */
    ETWAS_WORD_NUMBER, /* `number` */
    ETWAS_WORD_OPEN,
    ETWAS_WORD_CLOSE,
    ETWAS_WORD_MASK,     /* & */
    ETWAS_WORD_RELATION, /* `relation` */
    ETWAS_WORD_WRONG,    /* the reason is in the expression's error */
};

/* The position in the expression, and the word there. */
struct etwas_where_scan {
    struct etwas_where *where; /* receives texts and errors */
    const char *expression;
    size_t at; /* where the word begins */
    size_t length;
    enum etwas_where_word word;
    enum etwas_where_relation relation;
    struct etwas_where_number number;
    bool has_time_unit; /* the number had a unit of time, and is in ns */
    bool quoted;        /* a name quoted with ` is never a property */
    const char *text;
    size_t bytes;
};

/* Scans the next word. */
void etwas_where_next(struct etwas_where_scan *scan);

/* Stores the first error, at these bytes of the expression. */
void etwas_where_fail(struct etwas_where_scan *scan, size_t at, size_t length, const char *error);

/* The zone of a date without Z and without an offset. */
enum etwas_where_zone {
    ETWAS_WHERE_UTC,
    ETWAS_WHERE_LOCAL,
};

/*
 * Reads a date: 2026-11-21, optionally followed by T or a space, 08:19, :17, .123456789, and Z or
 * an offset such as +01:00. Sets nanoseconds since 1970. Returns false if it is not a date.
 */
bool etwas_where_date(const char *text, enum etwas_where_zone zone, int64_t *unix_ns);

/* Reads a time of day: 08:19, :17, .123456789, in nanoseconds. Returns false if it is none. */
bool etwas_where_time_of_day(const char *text, int64_t *ns);

#endif
