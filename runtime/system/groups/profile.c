/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Where the processors are: a sample of each processor every interval, as PerfInfo's
 * SampledProfile, also of an idle one, in thread 0. The source is a timer, ETW's source 0, and not
 * a counter of cycles, which do not have a constant speed: samples are time.
 */
#include <etwas/evntrace.h>

#include "etl/layout.h"
#include "system/groups/event_groups.h"

enum {
    GROUP_PERF_INFO = 0x0F,
    TYPE_SAMPLE = 46,
    TYPE_INTERVAL_SET = 72,
    TYPE_INTERVAL_AT_BEGIN = 73,
    TYPE_INTERVAL_AT_END = 74,
    SAMPLE_VERSION = 2,
    INTERVAL_VERSION = 3,
    SOURCE_TIMER = 0,
};

struct sample_record {
    struct etwas_etl_perfinfo_header header;
    uint64_t address;
    uint32_t thread_id;
    uint16_t count;
    uint8_t flags;
    uint8_t rank;
};
_Static_assert(sizeof(struct sample_record) == 16 + 16, "SampledProfile, version 2");

static bool handle(const struct etwas_source_event *event)
{
    const struct sample_record record = {
        .header = {.version = SAMPLE_VERSION,
                   .header_type = ETWAS_ETL_PERFINFO64,
                   .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                   .size = sizeof record,
                   .type = TYPE_SAMPLE,
                   .group = GROUP_PERF_INFO},
        .address = event->sample->address,
        .thread_id = event->sample->origin.thread_id,
        .count = 1,
    };

    etwas_emit(event->host->emitter, event->slot, &record, event->sample->origin.time_ns);
    return true;
}

static void say_interval(const struct etwas_event_group_host *host, uint8_t type, uint32_t before)
{
    etwas_record_builder_begin(host->record, ETWAS_ETL_PERFINFO64, GROUP_PERF_INFO, type,
                               INTERVAL_VERSION);
    etwas_record_builder_put_u32(host->record, SOURCE_TIMER);
    etwas_record_builder_put_u32(host->record, host->profile_interval);
    etwas_record_builder_put_u32(host->record, before);
    etwas_record_builder_put_utf16(host->record, "Timer");
    etwas_emit_now(host->emitter, etwas_record_builder_end(host->record));
}

static void run_down(void *state, const struct etwas_event_group_host *host, bool is_end)
{
    (void)state;
    say_interval(host, is_end ? TYPE_INTERVAL_AT_END : TYPE_INTERVAL_AT_BEGIN,
                 host->profile_interval);
}

static void change_interval(const struct etwas_event_group_host *host, uint32_t before)
{
    say_interval(host, TYPE_INTERVAL_SET, before);
}

static const struct etwas_event_source sources[] = {
    {.type = PERF_TYPE_SOFTWARE,
     .config = PERF_COUNT_SW_CPU_CLOCK,
     .sample_type = PERF_SAMPLE_IP,
     .hooks = {GROUP_PERF_INFO << 8 | TYPE_SAMPLE},
     .scope = ETWAS_OF_BOTH,
     .handle = handle},
};

const struct etwas_event_group etwas_event_group_profile = {
    .flags = EVENT_TRACE_FLAG_PROFILE,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .run_down = run_down,
    .change_interval = change_interval,
};
