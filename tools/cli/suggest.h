/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_SUGGEST_H
#define ETWAS_TOOLS_CLI_SUGGEST_H

/*
 * The name that a mistyped one may mean.
 */

#include <stddef.h>

struct etwas_suggestion {
    const char *name; /* NULL: none is near */
    size_t distance;  /* how many characters were missed, added, changed or swapped */
};

/*
 * Compares `typed` with another name, which becomes the suggestion if it is nearer than those
 * before. A name is near if a third of its characters differ at most, or if it begins with `typed`.
 */
void etwas_suggest(struct etwas_suggestion *suggestion, const char *typed, const char *name);

#endif
