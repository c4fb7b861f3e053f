/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_WIRE_ANSWER_H
#define ETWAS_TOOLS_SHIP_WIRE_ANSWER_H

/*
 * What a server's answer means: its status, the number of its exception, and rows in TabSeparated.
 * Any bytes will do.
 */

#include "ship/wire/send.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum etwas_ship_meaning {
    ETWAS_SHIP_MEANS_GOOD,
    ETWAS_SHIP_MEANS_PASSING, /* the same once more, later */
    /* What will not pass by itself: */
    ETWAS_SHIP_MEANS_LOGIN,    /* user or password are wrong */
    ETWAS_SHIP_MEANS_RIGHTS,   /* that user may not do this */
    ETWAS_SHIP_MEANS_NO_TABLE, /* there is no such table or database */
    ETWAS_SHIP_MEANS_WRONG,    /* what was sent, or the table, is not as it should be */
    ETWAS_SHIP_MEANS_MOVED,    /* look elsewhere, it says */
    ETWAS_SHIP_MEANS_STRANGER, /* no ClickHouse answers */
};

/*
 * Returns the error code of "Code: 60, e.displayText() = …" or "Code: 60. DB::Exception: …" at the
 * beginning of the text, or 0 if there is none.
 */
uint32_t etwas_ship_answer_exception(const char *text, size_t bytes);

/* `exception` is 0 where there is none. */
enum etwas_ship_meaning etwas_ship_answer_means(uint32_t status, uint32_t exception);

/*
 * The same of a line anywhere in it that says "DB::Exception", too: what comes behind rows that
 * were begun.
 */
uint32_t etwas_ship_answer_late_exception(const char *text, size_t bytes);

/* Are these rows of so many columns, each with a newline behind it? */
bool etwas_ship_answer_is_rows(const char *text, size_t bytes, uint32_t columns);

/* Gives all such rows to `row`, until it wants no more. The text is changed. */
void etwas_ship_answer_rows(char *text, size_t bytes, uint32_t columns,
                            bool (*row)(void *context, const struct etwas_ship_field *fields),
                            void *context);

enum {
    ETWAS_SHIP_ANSWER_COLUMNS = 64 /* at most */
};

/*
 * The value of NAME = VALUE, a number, behind SETTINGS in the words of a table's engine. False: it
 * is not there.
 */
bool etwas_ship_answer_setting(const char *engine, const char *name, uint64_t *value);

/* 18016 of "18.16.1". 0: it is no version. */
uint32_t etwas_ship_answer_version(const char *text);

#endif
