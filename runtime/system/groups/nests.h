/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a processor is inside of: interrupts, deferred calls, timers. The one that began last ends
 * first. When an event is lost, or an end does not match the last beginning, all are forgotten. So
 * an end without a known beginning is recognised, and never matched with another beginning. The
 * nests of all processors are the state of an event group.
 */
#ifndef ETWAS_SYSTEM_GROUPS_NESTS_H
#define ETWAS_SYSTEM_GROUPS_NESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "system/stream/event_group.h"

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

/*
 * Removes the last beginning, if it has this kind and key. Returns false if the beginning is not
 * known.
 */
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

/* ---- of all processors ----------------------------------------------------------------------- */

/* The group's open and handle_loss; its close is free. */
void *etwas_nests_open(const struct etwas_event_group_host *host);
void etwas_nests_take_loss(void *state, uint32_t slot);

/* The event is a beginning. etwas_nests_end returns its `routine`. */
void etwas_nests_begin(const struct etwas_source_event *event, uint32_t kind, uint64_t key,
                       uint64_t routine);

/*
 * The event is an end. If its beginning is not known, the result begins now and has this `routine`.
 */
struct etwas_nested etwas_nests_end(const struct etwas_source_event *event, uint32_t kind,
                                    uint64_t key, uint64_t routine);

#endif
