/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * Samples what each processor runs, once in every interval, as PerfInfo's SampledProfile. An idle
 * processor is sampled in thread 0. The source is a timer (ETW's source 0), not a cycle counter,
 * whose speed varies. So each sample stands for the same time.
 */
#include <etwas/evntrace.h>

#include "system/groups/event_groups.h"
#include "system/stream/kernel_record.h"

enum {
    SOURCE_TIMER = 0,
};

ETWAS_KERNEL_RECORD(sample_record, etwas_etl_perfinfo_header, SAMPLE);

static bool profile_handle(const struct etwas_source_event *event)
{
    const struct sample_record record = {
        .header = {ETWAS_HEADER_OF(SAMPLE, ETWAS_SAMPLE_PROFILE, record)},
        .InstructionPointer = event->sample->address,
        .ThreadId = event->sample->origin.thread_id,
        .Count = 1,
    };

    etwas_emit(event->host->emitter, event->slot, &record, event->sample->origin.time_ns);
    return true;
}

static void profile_emit_interval(const struct etwas_event_group_host *host, uint8_t type,
                                  uint32_t before)
{
    ETWAS_RECORD_MAKE(host->record, INTERVAL, type, .Source = SOURCE_TIMER,
                      .NewInterval = host->profile_interval, .OldInterval = before,
                      .SourceName = "Timer");
    etwas_emit_now(host->emitter, etwas_record_builder_end(host->record));
}

static void profile_run_down(void *state, const struct etwas_event_group_host *host, bool is_end)
{
    (void)state;
    profile_emit_interval(host, is_end ? ETWAS_INTERVAL_AT_END : ETWAS_INTERVAL_AT_BEGIN,
                          host->profile_interval);
}

static void profile_change_interval(const struct etwas_event_group_host *host, uint32_t before)
{
    profile_emit_interval(host, ETWAS_INTERVAL_SET, before);
}

static const struct etwas_event_source sources[] = {
    {.type = PERF_TYPE_SOFTWARE,
     .config = PERF_COUNT_SW_CPU_CLOCK,
     .sample_type = PERF_SAMPLE_IP,
     .hooks = {ETWAS_KERNEL_HOOK(SAMPLE, ETWAS_SAMPLE_PROFILE)},
     .scope = ETWAS_OF_BOTH,
     .handle = profile_handle},
};

const struct etwas_event_group etwas_event_group_profile = {
    .flags = EVENT_TRACE_FLAG_PROFILE,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .run_down = profile_run_down,
    .change_interval = profile_change_interval,
};
