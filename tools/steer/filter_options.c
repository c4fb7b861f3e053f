/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The options of filters. Parsing them is in filters.c, which does not need the tables of commands.
 */

#include "steer/filters.h"

#include <stdio.h>

/* A session has at most one filter of each type. */
static bool is_first(const struct etwas_option_use *use, bool was_given)
{
    if (was_given) {
        fprintf(stderr, "etwas %s: --%s: it was given before. One list, with commas, takes all\n",
                use->command, use->option->name);
    }
    return !was_given;
}

bool etwas_steer_read_processes(const struct etwas_option_use *use)
{
    struct etwas_steer_filters *filters = use->place;

    return is_first(use, filters->process_count != 0) &&
           (etwas_steer_filter_processes(filters, use->text) ||
            etwas_option_refuse(use, "a list of up to 8 process ids"));
}

bool etwas_steer_read_programs(const struct etwas_option_use *use)
{
    struct etwas_steer_filters *filters = use->place;

    return is_first(use, filters->program_bytes != 0) &&
           (etwas_steer_filter_programs(filters, use->text) ||
            etwas_option_refuse(use, "a list of programs of up to 511 characters"));
}

bool etwas_steer_read_events(const struct etwas_option_use *use)
{
    struct etwas_steer_filters *filters = use->place;

    return is_first(use, filters->id_count != 0 || filters->name_bytes != 0) &&
           (etwas_steer_filter_events(filters, use->text) ||
            etwas_option_refuse(use, "a list of names, and of up to 64 ids up to 65535"));
}
