/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The tags of events: which process records an event reports, or which source of which group it is.
 */
#ifndef ETWAS_SYSTEM_STREAM_SOURCE_TAGS_H
#define ETWAS_SYSTEM_STREAM_SOURCE_TAGS_H

#include <stdint.h>

#include "system/stream/cpu_stream.h"
#include "system/stream/event_group.h"

enum {
    ETWAS_EVENT_GROUPS_MOST = 32,
    /* Greater than ETWAS_CPU_STREAM_OWNER and all ETWAS_PROCESS_RECORD_*. */
    ETWAS_FIRST_SOURCE_TAG = 256,
    ETWAS_TAGS = ETWAS_FIRST_SOURCE_TAG + ETWAS_EVENT_GROUPS_MOST * ETWAS_EVENT_GROUP_SOURCES,
};

static inline uint32_t etwas_tag_of(uint32_t group, uint32_t source)
{
    return ETWAS_FIRST_SOURCE_TAG + group * ETWAS_EVENT_GROUP_SOURCES + source;
}

static inline uint32_t etwas_tag_group(uint32_t tag)
{
    return (tag - ETWAS_FIRST_SOURCE_TAG) / ETWAS_EVENT_GROUP_SOURCES;
}

static inline uint32_t etwas_tag_source(uint32_t tag)
{
    return (tag - ETWAS_FIRST_SOURCE_TAG) % ETWAS_EVENT_GROUP_SOURCES;
}

/*
 * Returns the ETWAS_PROCESS_RECORD_* that a record of this type may belong to; 0: it is no process
 * record.
 */
static inline uint32_t etwas_process_record_kind(uint32_t type)
{
    switch (type) {
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        return ETWAS_PROCESS_RECORD_TASKS;
    case PERF_RECORD_COMM:
        return ETWAS_PROCESS_RECORD_NAMES;
    case PERF_RECORD_MMAP2:
        return ETWAS_PROCESS_RECORD_IMAGES | ETWAS_PROCESS_RECORD_FILES;
    case PERF_RECORD_SAMPLE:
        return ETWAS_PROCESS_RECORD_PROBES;
    case PERF_RECORD_SWITCH:
        return ETWAS_PROCESS_RECORD_SWITCHES;
    default:
        return 0;
    }
}

#endif
