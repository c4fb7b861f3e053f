/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The distance between two names, computed by optimal string alignment. */

#include "cli/suggest.h"

#include <string.h>

enum {
    MOST_CHARACTERS = 63,
};

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* rows[i % 3] is the row of the i-th character of `a`. */
static size_t distance(const char *a, size_t a_count, const char *b, size_t b_count)
{
    size_t rows[3][MOST_CHARACTERS + 1];

    for (size_t j = 0; j <= b_count; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_count; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3];
        const size_t *two_above = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= b_count; j++) {
            row[j] =
                least_of(least_of(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = least_of(row[j], two_above[j - 2] + 1);
            }
        }
    }
    return rows[a_count % 3][b_count];
}

void etwas_suggest(struct etwas_suggestion *suggestion, const char *typed, const char *name)
{
    size_t typed_count = strlen(typed);
    size_t count = strlen(name);
    size_t differing;

    if (typed_count == 0 || typed_count > MOST_CHARACTERS || count > MOST_CHARACTERS) {
        return;
    }
    differing = distance(typed, typed_count, name, count);
    if (differing > count / 3 && (typed_count < 2 || strncmp(name, typed, typed_count) != 0)) {
        return;
    }
    if (suggestion->name == NULL || differing < suggestion->distance) {
        suggestion->name = name;
        suggestion->distance = differing;
    }
}
