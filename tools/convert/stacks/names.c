/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The values of stacks, and the names of their functions. */

#include "convert/stacks/stacks.h"

#include <stdio.h>

static const struct etwas_stacks_value samples[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};
static const struct etwas_stacks_value heap[] = {{"alloc_objects", "count"},
                                                 {"alloc_space", "bytes"},
                                                 {"inuse_objects", "count"},
                                                 {"inuse_space", "bytes"}};
static const struct etwas_stacks_value events[] = {{"events", "count"}};

uint32_t etwas_stacks_values(const struct etwas_stacks *stacks,
                             const struct etwas_stacks_value **values)
{
    switch (stacks->kind) {
    case ETWAS_STACKS_SAMPLES:
        *values = samples;
        return stacks->has_times ? 2 : 1;
    case ETWAS_STACKS_HEAP:
        *values = heap;
        return sizeof heap / sizeof heap[0];
    default:
        *values = events;
        return 1;
    }
}

uint32_t etwas_stacks_weight(const struct etwas_stacks *stacks)
{
    return stacks->kind == ETWAS_STACKS_HEAP ||
                   (stacks->kind == ETWAS_STACKS_SAMPLES && stacks->has_times)
               ? 1
               : 0;
}

const char *etwas_stacks_function(const struct etwas_stacks *stacks, uint32_t number, char *room,
                                  size_t room_bytes)
{
    const struct etwas_hot_function *function;

    if (number == UINT32_MAX) {
        return "[others]";
    }
    function = &stacks->functions.functions[number];
    if (function->name != NULL) {
        return function->name;
    }
    if (function->image == NULL) {
        return function->is_kernel ? "[kernel]" : "[unknown]";
    }
    snprintf(room, room_bytes, "[%s]", function->image);
    return room;
}
