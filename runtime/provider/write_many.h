/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* etwas_write_many: what its fast path (write_many.c) and its general path share. */
#ifndef ETWAS_PROVIDER_WRITE_MANY_H
#define ETWAS_PROVIDER_WRITE_MANY_H

#include <etwas/batch.h>
#include <stdint.h>

#include "provider/event_record.h"

/* The arguments of etwas_write_many, in its own frame: the stacks of its events begin above it. */
struct etwas_many_call {
    const etwas_batch_event *events;
    uint32_t count;
    uint32_t *refused;
    uint32_t *bytes;
};

static inline struct etwas_event_arguments etwas_many_arguments(const etwas_batch_event *event)
{
    return (struct etwas_event_arguments){.descriptor = event->event,
                                          .activity = event->first,
                                          .related = event->second,
                                          .data = event->data,
                                          .data_count = event->data_count};
}

/* Handles every batch, and every error with its code. */
uint32_t etwas_write_many_general(const struct etwas_many_call *call);

#endif
