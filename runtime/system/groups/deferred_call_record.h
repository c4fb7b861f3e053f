/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Makes PerfInfo's DPC, TimerDPC and ThreadDPC.
 */
#ifndef ETWAS_SYSTEM_GROUPS_DEFERRED_CALL_RECORD_H
#define ETWAS_SYSTEM_GROUPS_DEFERRED_CALL_RECORD_H

#include "system/stream/event_group.h"
#include "system/stream/kernel_record.h"

ETWAS_KERNEL_RECORD(etwas_deferred_call_record, etwas_etl_perfinfo_header, DPC);

/*
 * Emits a deferred call that ends with the sample, as ETWAS_DPC, ETWAS_TIMER_DPC or
 * ETWAS_THREAD_DPC, which have the same fields.
 */
static inline void etwas_deferred_call_emit(const struct etwas_source_event *event, uint8_t type,
                                            int64_t since_ns, uint64_t routine)
{
    const struct etwas_deferred_call_record record = {
        .header = {ETWAS_HEADER_OF(DPC, type, record)},
        .InitialTime = etwas_emit_stamp(event->host->emitter, since_ns),
        .Routine = routine,
    };

    etwas_emit(event->host->emitter, event->slot, &record, event->sample->origin.time_ns);
}

#endif
