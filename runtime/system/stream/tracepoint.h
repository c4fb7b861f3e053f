/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The format file of a tracepoint in tracefs, at most 64 KiB of it.
 */
#ifndef ETWAS_SYSTEM_STREAM_TRACEPOINT_H
#define ETWAS_SYSTEM_STREAM_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/stream/tracepoint_format.h"
#include "system/unavailability.h"

struct etwas_tracepoint {
    uint32_t id;
    size_t bytes;
    char *text;
};

/*
 * Reads the file. `name`: as "sched/sched_switch". On failure nothing has to be freed, and *reason
 * says why.
 */
bool etwas_tracepoint_read(struct etwas_tracepoint *tracepoint, const char *name,
                           struct etwas_unavailability *reason);
void etwas_tracepoint_free(struct etwas_tracepoint *tracepoint);

static inline bool etwas_tracepoint_find(const struct etwas_tracepoint *tracepoint,
                                         const char *name, struct etwas_tracepoint_field *field)
{
    return etwas_tracepoint_format_find(tracepoint->text, tracepoint->bytes, name, field);
}

#endif
