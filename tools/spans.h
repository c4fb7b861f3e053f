/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SPANS_H
#define ETWAS_TOOLS_SPANS_H

/*
 * How long instances and activities took: from the event of type START to that of type END of the
 * same instance of a class, and from opcode START to STOP of the same activity of a provider.
 */

#include <etwas/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_SPANS_OPEN = 1 << 20, /* at once; of more the duration is not known */
};

struct etwas_span_key {
    etwas_guid guid;     /* the class; the provider */
    etwas_guid activity; /* 0 of an instance */
    uint32_t instance;
    uint32_t file;
};

struct etwas_spans {
    struct etwas_span *slots; /* of capacity; a power of 2, or 0 */
    size_t capacity;
    size_t open;
};

/* Notes a start. A second start of the same replaces the first. */
void etwas_spans_start(struct etwas_spans *spans, const struct etwas_span_key *key,
                       int64_t time_ns);

/* Ends it. False: its start was not seen. */
bool etwas_spans_end(struct etwas_spans *spans, const struct etwas_span_key *key, int64_t time_ns,
                     int64_t *duration_ns);

void etwas_spans_free(struct etwas_spans *spans);

#endif
