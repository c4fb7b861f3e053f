/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which fields are asked for.
 */

#include "field_paths.h"

#include "output.h"
#include "text.h"

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

uint32_t etwas_field_paths_add(struct etwas_field_paths *paths, const char *text, size_t bytes)
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

void etwas_field_paths_report(const struct etwas_field_paths *paths)
{
    struct etwas_output *errors = etwas_standard_error();

    for (uint32_t i = 0; i < paths->count; i++) {
        const struct etwas_field_path *path = &paths->paths[i];
        size_t at = 0;

        if (path->met) {
            continue;
        }
        etwas_output_text(errors, "etwas: no event has a field '");
        while (at < path->bytes) {
            size_t bytes = strlen(path->text + at);

            etwas_output_text(errors, at > 0 ? "." : "");
            etwas_text_utf8(errors, ETWAS_TEXT_PLAIN, path->text + at, bytes);
            at += bytes + 1;
        }
        etwas_output_char(errors, '\'');
        if (path->alike[0] != '\0') {
            etwas_output_text(errors, ", but '");
            etwas_text_utf8(errors, ETWAS_TEXT_PLAIN, path->alike, strlen(path->alike));
            etwas_output_char(errors, '\'');
        } else if (path->is_compared_with) {
            etwas_output_text(errors, "; a string stands in quotes");
        }
        etwas_output_char(errors, '\n');
        etwas_output_flush(errors);
    }
}
