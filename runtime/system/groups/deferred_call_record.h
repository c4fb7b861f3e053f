/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Makes PerfInfo's DPC, TimerDPC and ThreadDPC.
 */
#ifndef ETWAS_SYSTEM_GROUPS_DEFERRED_CALL_RECORD_H
#define ETWAS_SYSTEM_GROUPS_DEFERRED_CALL_RECORD_H

#include "etl/layout.h"
#include "system/stream/event_group.h"

enum etwas_deferred_call_type {
    ETWAS_DEFERRED_CALL_THREAD = 66,
    ETWAS_DEFERRED_CALL_PLAIN = 68,
    ETWAS_DEFERRED_CALL_TIMER = 69,
};

struct etwas_deferred_call_record {
    struct etwas_etl_perfinfo_header header;
    int64_t initial_time;
    uint64_t routine;
};
_Static_assert(sizeof(struct etwas_deferred_call_record) == 16 + 16, "DPC, version 2");

/* Emits a deferred call that ends with the sample. */
static inline void etwas_deferred_call_emit(const struct etwas_source_event *event,
                                            enum etwas_deferred_call_type type, int64_t since_ns,
                                            uint64_t routine)
{
    const struct etwas_deferred_call_record record = {
        .header = {.version = 2,
                   .header_type = ETWAS_ETL_PERFINFO64,
                   .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                   .size = sizeof record,
                   .type = (uint8_t)type,
                   .group = 0x0F},
        .initial_time = etwas_emit_stamp(event->host->emitter, since_ns),
        .routine = routine};

    etwas_emit(event->host->emitter, event->slot, &record, event->sample->origin.time_ns);
}

#endif
