/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Damage of a file, and information about the file. */
#include "reader/damage.h"

#include <ck_pr.h>

#include "reader/trace.h"

const char *etwas_damage_name(etwas_damage_kind kind)
{
    static const char *const names[] = {
        [ETWAS_DAMAGE_NONE] = "no damage",
        [ETWAS_DAMAGE_TRUNCATED] = "the file ends inside a buffer",
        [ETWAS_DAMAGE_BUFFER_HEADER] = "a buffer header is not valid",
        [ETWAS_DAMAGE_PROCESSOR] = "a processor index is above the number of processors",
        [ETWAS_DAMAGE_COMPRESSION] = "a compressed buffer does not decompress",
        [ETWAS_DAMAGE_RECORD] = "a record is not valid",
        [ETWAS_DAMAGE_TIME_ORDER] = "time stamps go backwards inside a buffer",
        [ETWAS_DAMAGE_SEQUENCE] = "buffers are missing or appear twice",
        [ETWAS_DAMAGE_READ] = "the system could not read the file",
    };

    return (size_t)kind < sizeof names / sizeof names[0] ? names[kind] : "unknown damage";
}

bool etwas_trace_may_end_anywhere(const struct etwas_trace *trace)
{
    return trace->log.fields.start.end_filetime == 0;
}

void etwas_trace_report(struct etwas_trace *trace, etwas_damage_kind kind, uint64_t file_offset,
                        uint64_t bytes_skipped)
{
    etwas_damage damage = {kind, file_offset, bytes_skipped};

    if (trace->quiet) {
        return;
    }
    etwas_trace_count(&trace->information.damages, 1);
    etwas_trace_count(&trace->information.bytes_skipped, bytes_skipped);
    if (trace->processing == 0) {
        if (trace->open_damage_count < ETWAS_READER_OPEN_DAMAGES) {
            trace->open_damages[trace->open_damage_count++] = damage;
        }
    } else if (trace->on_damage != NULL) {
        trace->on_damage(&damage, trace->damage_context);
    }
}

void etwas_trace_begin_information(struct etwas_trace *trace)
{
    etwas_trace_information *information = &trace->information;
    uint64_t *counts[] = {&information->buffers,
                          &information->buffers_damaged,
                          &information->events,
                          &information->bytes_skipped,
                          &information->bytes_read,
                          &information->damages,
                          &information->uncompressed_bytes,
                          &information->repeated_events,
                          &information->repeated_lost_events,
                          &information->repeated_lost_buffers,
                          &information->repeated_overwritten_events,
                          &information->repeated_overwritten_buffers,
                          &information->repeated_attempted_events};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        ck_pr_store_64(counts[i], 0);
    }
    ck_pr_store_64(&information->overwritten_buffers, trace->log.totals.overwritten_buffers);
    for (size_t i = 0; i < trace->open_damage_count; i++) {
        const etwas_damage *damage = &trace->open_damages[i];

        etwas_trace_report(trace, damage->kind, damage->file_offset, damage->bytes_skipped);
    }
}
