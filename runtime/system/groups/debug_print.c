/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_DBGPRINT: what the kernel's code, and who writes to /dev/kmsg, prints into the kernel's
 * log, as DbgPrint. The record's own thread is who prints. The kernel does not say how serious it is:
 * Component and Level are those of Windows' own DbgPrint, which has no such words either.
 */
#include <etwas/evntrace.h>
#include <string.h>

#include "etl/layout.h"
#include "system/groups/event_groups.h"

enum {
    GROUP_DEBUG_PRINT = 0x0A,
    TYPE_PRINT = 0x20,
    CLASS_VERSION = 2,
    COMPONENT_DEFAULT = 101,
    LEVEL_INFO = 3,
    LONGEST_TEXT = 4096, /* with its 0: a line of the log has about 1,000 bytes at most */
};

static const char *const names[] = {"msg", NULL};

static bool take(const struct etwas_taken *taken)
{
    const struct etwas_sample_origin *origin = &taken->sample->origin;
    struct etwas_record *record = taken->host->record;
    char text[LONGEST_TEXT];
    const uint8_t *bytes;
    size_t count;

    if (!etwas_format_bytes(&taken->fields[0], taken->sample->raw, taken->sample->raw_bytes, &bytes,
                            &count)) {
        return false;
    }
    count = count < sizeof text ? count : sizeof text - 1;
    memcpy(text, bytes, count);
    text[count] = 0;
    etwas_record_begin(record, ETWAS_ETL_SYSTEM64, GROUP_DEBUG_PRINT, TYPE_PRINT, CLASS_VERSION);
    etwas_record_set_thread(record, origin->process_id, origin->thread_id);
    etwas_record_put_u32(record, COMPONENT_DEFAULT);
    etwas_record_put_u32(record, LEVEL_INFO);
    etwas_record_put_ansi(record, text);
    etwas_emit(taken->host->emitter, taken->slot, etwas_record_end(record), origin->time_ns);
    return true;
}

static const struct etwas_source sources[] = {
    {.tracepoint = "printk/console",
     .fields = names,
     .hooks = {GROUP_DEBUG_PRINT << 8 | TYPE_PRINT},
     .take = take},
};

const struct etwas_topic etwas_topic_debug_prints = {
    .flags = EVENT_TRACE_FLAG_DBGPRINT,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
};
