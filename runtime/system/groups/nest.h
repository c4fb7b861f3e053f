/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a processor is inside of: interrupts, deferred calls, timers. The one that began last ends
 * first. When an event is lost, or an end does not match the last beginning, all are forgotten. So
 * an end without a known beginning is recognised, and never matched with another beginning.
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

/* Adds a beginning. If there is no room, all are forgotten, this one too. */
static inline void etwas_nest_enter(struct etwas_nest *nest, const struct etwas_nested *nested)
{
    if (nest->depth == ETWAS_NEST_DEPTH) {
        nest->depth = 0;
        return;
    }
    nest->open[nest->depth++] = *nested;
}

/* Removes the last beginning, if it has this kind and key. False: the beginning is not known. */
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
