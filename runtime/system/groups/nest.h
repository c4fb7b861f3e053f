/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a processor is inside of: interrupts, what they defer, timers. What began last ends first. When an
 * event is lost, or an end does not fit what began last, all of it is forgotten: an end whose beginning
 * is not known says so, and none ever gets the beginning of another.
 */
#ifndef ETWAS_SYSTEM_GROUPS_NEST_H
#define ETWAS_SYSTEM_GROUPS_NEST_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_NEST_DEPTH = 8
};

struct etwas_nested {
    uint32_t kind;
    uint64_t key;
    uint64_t routine;
    int64_t since_ns;
};

struct etwas_nest {
    uint32_t depth;
    struct etwas_nested open[ETWAS_NEST_DEPTH];
};

/* Deeper than there is room for: all is forgotten, also this one. */
static inline void etwas_nest_enter(struct etwas_nest *nest, const struct etwas_nested *nested)
{
    if (nest->depth == ETWAS_NEST_DEPTH) {
        nest->depth = 0;
        return;
    }
    nest->open[nest->depth++] = *nested;
}

/* What now ends, of its kind and key. False: nobody saw it begin. */
static inline bool etwas_nest_leave(struct etwas_nest *nest, uint32_t kind, uint64_t key,
                                    struct etwas_nested *nested)
{
    if (nest->depth != 0) {
        *nested = nest->open[nest->depth - 1];
        if (nested->kind == kind && nested->key == key) {
            nest->depth--;
            return true;
        }
    }
    nest->depth = 0;
    return false;
}

static inline void etwas_nest_forget(struct etwas_nest *nest)
{
    nest->depth = 0;
}

#endif
