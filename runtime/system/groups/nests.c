/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/groups/nests.h"

#include <stdlib.h>

static struct etwas_nest *nests_of(const struct etwas_source_event *event)
{
    return (struct etwas_nest *)event->state + event->slot;
}

void *etwas_nests_open(const struct etwas_event_group_host *host)
{
    (void)host;
    return calloc(etwas_slot_count, sizeof(struct etwas_nest));
}

void etwas_nests_take_loss(void *state, uint32_t slot)
{
    etwas_nest_forget((struct etwas_nest *)state + slot);
}

void etwas_nests_begin(const struct etwas_source_event *event, uint32_t kind, uint64_t key,
                       uint64_t routine)
{
    const struct etwas_nested nested = {
        .kind = kind, .key = key, .routine = routine, .since_ns = event->sample->origin.time_ns};

    etwas_nest_enter(nests_of(event), &nested);
}

struct etwas_nested etwas_nests_end(const struct etwas_source_event *event, uint32_t kind,
                                    uint64_t key, uint64_t routine)
{
    struct etwas_nested nested;

    if (!etwas_nest_leave(nests_of(event), kind, key, &nested)) {
        nested = (struct etwas_nested){.kind = kind,
                                       .key = key,
                                       .routine = routine,
                                       .since_ns = event->sample->origin.time_ns};
    }
    return nested;
}
