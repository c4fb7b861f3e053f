/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The receiver of records of kernel classes. The code that makes records knows no session. */
#ifndef ETWAS_SYSTEM_STREAM_EMIT_H
#define ETWAS_SYSTEM_STREAM_EMIT_H

#include <stdint.h>

#include "buffer/publish.h"

/* The first member of a receiver. */
struct etwas_emitter {
    void (*receive)(struct etwas_emitter *emitter, uint32_t slot,
                    const struct etwas_stamped_record *record);

    /* Returns the stamp of the session's clock at this time; NULL: it is the same clock. */
    int64_t (*stamp)(const struct etwas_emitter *emitter, int64_t time_ns);
};

/* Converts a time in a payload to the session's clock. */
static inline int64_t etwas_emit_stamp(const struct etwas_emitter *emitter, int64_t time_ns)
{
    return emitter->stamp == NULL ? time_ns : emitter->stamp(emitter, time_ns);
}

/*
 * Emits a whole SYSTEM64, PERFINFO64 or FULL_HEADER64 record, with its size in its header, that
 * happened at `time_ns` of CLOCK_MONOTONIC_RAW. Times do not decrease within a slot.
 */
void etwas_emit(struct etwas_emitter *emitter, uint32_t slot, const void *record, int64_t time_ns);

/* Emits a record of a rundown into the extra slot, with the time of now. */
void etwas_emit_now(struct etwas_emitter *emitter, const void *record);

#endif
