/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_SUGGEST_H
#define ETWAS_TOOLS_CLI_SUGGEST_H

/* The name that a mistyped one probably means. */

#include <stddef.h>

struct etwas_suggestion {
    const char *name; /* NULL: none is similar */
    size_t distance;  /* number of missing, added, changed or swapped characters */
};

/*
 * Compares `typed` with a name, which becomes the suggestion if it is more similar than those
 * before. A name is similar if at most a third of its characters differ, or if it begins with
 * `typed`.
 */
void etwas_suggest(struct etwas_suggestion *suggestion, const char *typed, const char *name);

#endif
