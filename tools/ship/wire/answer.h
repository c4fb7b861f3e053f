/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_WIRE_ANSWER_H
#define ETWAS_TOOLS_SHIP_WIRE_ANSWER_H

/*
 * Interprets a server's answer: its status, the number of its exception, and rows in TabSeparated.
 * Accepts any bytes.
 */

#include "ship/wire/send.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum etwas_ship_meaning {
    ETWAS_SHIP_MEANS_GOOD,
    ETWAS_SHIP_MEANS_PASSING, /* transient: send the same again later */
    /* Permanent errors: */
    ETWAS_SHIP_MEANS_LOGIN,    /* wrong user or password */
    ETWAS_SHIP_MEANS_RIGHTS,   /* the user may not do this */
    ETWAS_SHIP_MEANS_NO_TABLE, /* no such table or database */
    ETWAS_SHIP_MEANS_WRONG,    /* the request or the table is wrong */
    ETWAS_SHIP_MEANS_MOVED,    /* a redirect */
    ETWAS_SHIP_MEANS_STRANGER, /* the server is not ClickHouse */
};

/*
 * Returns the error code of "Code: 60, e.displayText() = …" or "Code: 60. DB::Exception: …" at the
 * beginning of the text, or 0 if there is none.
 */
uint32_t etwas_ship_answer_exception(const char *text, size_t bytes);

/* `exception` is 0 if there is none. */
enum etwas_ship_meaning etwas_ship_answer_means(uint32_t status, uint32_t exception);

/*
 * Like etwas_ship_answer_exception, but for the first line anywhere in the text that has
 * "DB::Exception", too. A server appends such a line to rows that it has begun to send.
 */
uint32_t etwas_ship_answer_late_exception(const char *text, size_t bytes);

/* Returns whether the text has rows with this number of columns, each ending with a newline. */
bool etwas_ship_answer_is_rows(const char *text, size_t bytes, uint32_t columns);

/* Passes all rows to `row`, until it returns false. Modifies the text. */
void etwas_ship_answer_rows(char *text, size_t bytes, uint32_t columns,
                            bool (*row)(void *context, const struct etwas_ship_field *fields),
                            void *context);

enum {
    ETWAS_SHIP_ANSWER_COLUMNS = 64 /* at most */
};

/*
 * Reads the number in NAME = VALUE, behind SETTINGS in the description of a table's engine. Returns
 * false if it is not there.
 */
bool etwas_ship_answer_setting(const char *engine, const char *name, uint64_t *value);

/* Returns 18016 for "18.16.1", or 0 if the text is not a version. */
uint32_t etwas_ship_answer_version(const char *text);

#endif
