/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "system/stream/emit.h"

#include <stddef.h>
#include <string.h>

#include "clock/clock.h"
#include "etl/layout.h"

void etwas_emit(struct etwas_emitter *emitter, uint32_t slot, const void *record, int64_t time_ns)
{
    struct etwas_etl_perfinfo_header header; /* SYSTEM begins in the same way */
    struct etwas_etl_full_header full;
    struct etwas_stamped_record stamped = {.bytes = record,
                                           .stamp = etwas_emit_stamp(emitter, time_ns)};

    memcpy(&header, record, sizeof header);
    stamped.size = header.size;
    if (header.header_type == ETWAS_ETL_FULL_HEADER64) {
        memcpy(&full, record, sizeof full);
        stamped.size = full.size;
        stamped.stamp_at = offsetof(struct etwas_etl_full_header, time_stamp);
    } else if (header.header_type == ETWAS_ETL_SYSTEM64) {
        stamped.stamp_at = offsetof(struct etwas_etl_system_header, time_stamp);
    } else {
        stamped.stamp_at = offsetof(struct etwas_etl_perfinfo_header, time_stamp);
    }
    emitter->receive(emitter, slot, &stamped);
}

void etwas_emit_now(struct etwas_emitter *emitter, const void *record)
{
    etwas_emit(emitter, etwas_slot_count, record, etwas_clock_qpc());
}
