/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_DBGPRINT: lines that the kernel, and programs that write to /dev/kmsg, print
 * into the kernel's log, as DbgPrint. The record's thread is the one that prints. The severity is
 * not known. Component and Level are those of Windows' own DbgPrint, which has no severity either.
 */
#include <etwas/evntrace.h>
#include <string.h>

#include "system/groups/event_groups.h"
#include "system/stream/kernel_record.h"

enum {
    COMPONENT_DEFAULT = 101,
    LEVEL_INFO = 3,
    LONGEST_TEXT = 4096, /* with its 0; a line of the log has some 1,000 bytes at most */
};

static const char *const names[] = {"msg", NULL};

static bool debug_print_handle(const struct etwas_source_event *event)
{
    const struct etwas_sample_origin *origin = &event->sample->origin;
    struct etwas_record_builder *record = event->host->record;
    char text[LONGEST_TEXT];
    const uint8_t *bytes;
    size_t count;

    if (!etwas_tracepoint_format_bytes(&event->fields[0], event->sample->raw,
                                       event->sample->raw_bytes, &bytes, &count)) {
        return false;
    }
    count = count < sizeof text ? count : sizeof text - 1;
    memcpy(text, bytes, count);
    text[count] = 0;
    ETWAS_RECORD_MAKE(record, DEBUG_PRINT, ETWAS_DEBUG_PRINT, .Component = COMPONENT_DEFAULT,
                      .Level = LEVEL_INFO, .Message = text);
    etwas_record_builder_set_thread(record, origin->process_id, origin->thread_id);
    etwas_emit(event->host->emitter, event->slot, etwas_record_builder_end(record),
               origin->time_ns);
    return true;
}

static const struct etwas_event_source sources[] = {
    {.tracepoint = "printk/console",
     .fields = names,
     .hooks = {ETWAS_KERNEL_HOOK(DEBUG_PRINT, ETWAS_DEBUG_PRINT)},
     .handle = debug_print_handle},
};

const struct etwas_event_group etwas_event_group_debug_prints = {
    .flags = EVENT_TRACE_FLAG_DBGPRINT,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
};
