/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Where records of kernel classes go when they are made. Who makes them knows of no session.
 */
#ifndef ETWAS_SYSTEM_STREAM_EMIT_H
#define ETWAS_SYSTEM_STREAM_EMIT_H

#include <stdint.h>

#include "buffer/publish_stamped.h"

/* The head of what the receiver keeps besides. */
struct etwas_emitter {
    void (*receive)(struct etwas_emitter *emitter, uint32_t slot,
                    const struct etwas_stamped_record *record);

    /* What the session's clock showed then; NULL: the same. */
    int64_t (*stamp)(const struct etwas_emitter *emitter, int64_t time_ns);
};

/* For times in a payload, which are the session clock's too. */
static inline int64_t etwas_emit_stamp(const struct etwas_emitter *emitter, int64_t time_ns)
{
    return emitter->stamp == NULL ? time_ns : emitter->stamp(emitter, time_ns);
}

/*
 * A whole SYSTEM64, PERFINFO64 or FULL_HEADER64 record, with its size in its header, that happened at `time_ns` of
 * CLOCK_MONOTONIC_RAW. Within a slot times do not decrease.
 */
void etwas_emit(struct etwas_emitter *emitter, uint32_t slot, const void *record, int64_t time_ns);

/* What the logger says by itself, of what there was or is: into the extra slot, now. */
void etwas_emit_now(struct etwas_emitter *emitter, const void *record);

#endif
