/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_EVENT_FIELD_PATHS_H
#define ETWAS_TOOLS_EVENT_FIELD_PATHS_H

/* The fields that --where and --columns request: `size`, or `point.x` for a member of a struct. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_FIELD_PATHS = 64,
    ETWAS_FIELD_PATH_BYTES = 256, /* per path, with its final 0 */
};
#define ETWAS_FIELD_PATH_NONE UINT32_MAX

struct etwas_field_path {
    char text[ETWAS_FIELD_PATH_BYTES]; /* its names, each terminated by a 0 */
    size_t bytes;
    bool is_wanted;        /* its values are needed; else only whether events have it */
    bool is_hidden;        /* a column has this name, and is compared instead */
    bool met;              /* an event had it */
    bool is_compared_with; /* it is compared, and may have been meant as a string */
    /*
     * The path of an event's field whose name differs only in case or in its structs; empty: there
     * is none.
     */
    char alike[ETWAS_FIELD_PATH_BYTES];
};

/* Returns the column that a mistyped path may mean; NULL if there is none. */
const char *etwas_field_path_column(const struct etwas_field_path *path);

struct etwas_field_paths {
    struct etwas_field_path paths[ETWAS_FIELD_PATHS];
    uint32_t count;
};

/*
 * Returns the number of a path, which is added if it is new. `text` is as in struct
 * etwas_field_path. Returns ETWAS_FIELD_PATH_NONE if it is too long, or there are too many.
 */
uint32_t etwas_field_paths_add(struct etwas_field_paths *paths, const char *text, size_t bytes);

/*
 * Remembers that a column of that name is compared, so that etwas_field_paths_report can check
 * whether events have a field of the same name. Does nothing if there is no room.
 */
void etwas_field_paths_watch(struct etwas_field_paths *paths, const char *text, size_t bytes);

/* Returns the number of a path that was added, or ETWAS_FIELD_PATH_NONE. */
uint32_t etwas_field_paths_find(const struct etwas_field_paths *paths, const char *text,
                                size_t bytes);

/*
 * Reports on standard error which requested fields no event had, which field may have been meant,
 * and which field a column hides. `whose` names the events, such as "no event". Returns whether a
 * field was missing.
 */
bool etwas_field_paths_report(const struct etwas_field_paths *paths, const char *command,
                              const char *whose);

#endif
