/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The fields that a command line requests. */

#include "event/field_paths.h"

#include "cli/quiet.h"
#include "cli/suggest.h"
#include "event/property.h"
#include "print/output.h"
#include "print/text.h"

#include <string.h>

uint32_t etwas_field_paths_find(const struct etwas_field_paths *paths, const char *text,
                                size_t bytes)
{
    for (uint32_t i = 0; i < paths->count; i++) {
        if (paths->paths[i].bytes == bytes && memcmp(paths->paths[i].text, text, bytes) == 0) {
            return i;
        }
    }
    return ETWAS_FIELD_PATH_NONE;
}

/* Returns the number of a path, which is added if it is new; NONE if there is no room. */
static uint32_t number_of(struct etwas_field_paths *paths, const char *text, size_t bytes)
{
    uint32_t number = etwas_field_paths_find(paths, text, bytes);

    if (number != ETWAS_FIELD_PATH_NONE || bytes > ETWAS_FIELD_PATH_BYTES ||
        paths->count == ETWAS_FIELD_PATHS) {
        return number;
    }
    memcpy(paths->paths[paths->count].text, text, bytes);
    paths->paths[paths->count].bytes = bytes;
    return paths->count++;
}

uint32_t etwas_field_paths_add(struct etwas_field_paths *paths, const char *text, size_t bytes)
{
    uint32_t number = number_of(paths, text, bytes);

    if (number != ETWAS_FIELD_PATH_NONE) {
        paths->paths[number].is_wanted = true;
    }
    return number;
}

void etwas_field_paths_watch(struct etwas_field_paths *paths, const char *text, size_t bytes)
{
    uint32_t number = number_of(paths, text, bytes);

    if (number != ETWAS_FIELD_PATH_NONE) {
        paths->paths[number].is_hidden = true;
    }
}

static void put_path(struct etwas_output *errors, const struct etwas_field_path *path)
{
    size_t at = 0;

    while (at < path->bytes) {
        size_t bytes = strlen(path->text + at);

        etwas_output_text(errors, at > 0 ? "." : "");
        etwas_text_utf8(errors, ETWAS_TEXT_PLAIN, path->text + at, bytes);
        at += bytes + 1;
    }
    etwas_output_char(errors, '\'');
}

/*
 * Reports a field that a column of the same name hides. A condition that names both is not
 * reported.
 */
static void report_hidden(struct etwas_output *errors, const struct etwas_field_path *path)
{
    etwas_output_text(errors, "the condition compares the column '");
    put_path(errors, path);
    etwas_output_text(errors, ", and events have a field that is called so: 'fields.");
    put_path(errors, path);
    etwas_output_char(errors, '\n');
}

const char *etwas_field_path_column(const struct etwas_field_path *path)
{
    struct etwas_suggestion suggestion = {0};

    for (int i = 0; strlen(path->text) + 1 == path->bytes && i < ETWAS_PROPERTY_COUNT; i++) {
        etwas_suggest(&suggestion, path->text, etwas_property_name((enum etwas_property)i));
    }
    return suggestion.distance != 0 ? suggestion.name : NULL; /* distance 0: `fields.NAME` was
                                                               * given */
}

static void report_missed(struct etwas_output *errors, const struct etwas_field_path *path,
                          const char *whose)
{
    const char *column = etwas_field_path_column(path);

    etwas_output_format(errors, "%s has a field '", whose);
    put_path(errors, path);
    if (path->alike[0] != '\0') {
        etwas_output_text(errors, ", but '");
        etwas_text_plain(errors, path->alike);
        etwas_output_char(errors, '\'');
    } else if (column != NULL) {
        etwas_output_format(errors, ", but there is a column '%s'", column);
    } else {
        etwas_output_text(errors, path->is_compared_with
                                      ? "; a string stands in quotes"
                                      : "; 'etwas schema' tells which there are");
    }
    etwas_output_char(errors, '\n');
}

bool etwas_field_paths_report(const struct etwas_field_paths *paths, const char *command,
                              const char *whose)
{
    struct etwas_output *errors = etwas_standard_error();
    bool is_missed = false;

    for (uint32_t i = 0; i < paths->count; i++) {
        const struct etwas_field_path *path = &paths->paths[i];

        if (path->met ? path->is_wanted || !path->is_hidden : !path->is_wanted) {
            continue;
        }
        if (etwas_is_quiet) {
            is_missed |= !path->met;
            continue;
        }
        etwas_output_format(errors, "etwas %s: note: ", command);
        if (path->met) {
            report_hidden(errors, path);
        } else {
            report_missed(errors, path, whose);
            is_missed = true;
        }
        etwas_output_flush(errors);
    }
    return is_missed;
}
