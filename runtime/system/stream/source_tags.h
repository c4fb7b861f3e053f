/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Tags of a board's events: what they tell of, or whose source they are.
 */
#ifndef ETWAS_SYSTEM_STREAM_SOURCE_TAGS_H
#define ETWAS_SYSTEM_STREAM_SOURCE_TAGS_H

#include <stdint.h>

#include "system/stream/cpu_stream.h"
#include "system/stream/event_group.h"

enum {
    ETWAS_BOARD_TOPICS = 32,
    ETWAS_FIRST_SOURCE_TAG = 256, /* beyond ETWAS_FEED_OWNER and the ETWAS_SIDEBAND_* */
    ETWAS_TAGS = ETWAS_FIRST_SOURCE_TAG + ETWAS_BOARD_TOPICS * ETWAS_TOPIC_SOURCES,
};

static inline uint32_t etwas_tag_of(uint32_t topic, uint32_t source)
{
    return ETWAS_FIRST_SOURCE_TAG + topic * ETWAS_TOPIC_SOURCES + source;
}

static inline uint32_t etwas_tag_topic(uint32_t tag)
{
    return (tag - ETWAS_FIRST_SOURCE_TAG) / ETWAS_TOPIC_SOURCES;
}

static inline uint32_t etwas_tag_source(uint32_t tag)
{
    return (tag - ETWAS_FIRST_SOURCE_TAG) % ETWAS_TOPIC_SOURCES;
}

/* Which of ETWAS_SIDEBAND_* tells of it; 0: none. */
static inline uint32_t etwas_sideband_of(uint32_t type)
{
    switch (type) {
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        return ETWAS_SIDEBAND_TASKS;
    case PERF_RECORD_COMM:
        return ETWAS_SIDEBAND_NAMES;
    case PERF_RECORD_MMAP2:
        return ETWAS_SIDEBAND_IMAGES | ETWAS_SIDEBAND_FILES;
    case PERF_RECORD_SAMPLE:
        return ETWAS_SIDEBAND_PROBES;
    case PERF_RECORD_SWITCH:
        return ETWAS_SIDEBAND_SWITCHES;
    default:
        return 0;
    }
}

#endif
