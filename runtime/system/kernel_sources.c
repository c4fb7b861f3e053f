/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "system/kernel_sources.h"

#include <etwas/evntrace.h>
#include <time.h>
#include <unistd.h>

#include "clock/clock.h"
#include "etl/own_record.h"
#include "system/groups/length_probe.h"
#include "system/inventory/inventory.h"
#include "system/kernel_sources_events.h"
#include "system/names/bpf_probes.h"
#include "system/names/kernel_addresses.h"
#include "system/stream/source_tags.h"

/* ---- events that come in --------------------------------------------------------------------- */

static void handle_sample(struct etwas_kernel_sources *kernel, const struct etwas_merged *merged)
{
    uint32_t number = etwas_tag_group(merged->event->tag);
    uint32_t source = etwas_tag_source(merged->event->tag);
    const struct etwas_open_group *opened = &kernel->opened[number];
    const struct etwas_event_source *origin = &etwas_event_groups[number]->sources[source];
    struct etwas_source_event event = {.host = &kernel->host,
                                       .state = opened->state,
                                       .sample = &merged->sample,
                                       .fields = opened->fields[source],
                                       .thread = &opened->thread[source],
                                       .slot = merged->stream->processor};
    bool good = false;

    if (kernel->host.numbers.known != NULL && origin->tracepoint != NULL) {
        etwas_thread_numbers_learn(&kernel->host.numbers, etwas_source_event_thread(&event),
                                   merged->sample.origin.thread_id);
        event.next_thread = etwas_cpu_stream_next_thread(merged->stream);
    }
    etwas_accounts_begin(&kernel->accounts, merged->event->tag);
    kernel->walker.sample = &merged->sample;
    /* A processor may have written the sample after its group was closed. */
    if (opened->is_open) {
        etwas_kernel_sources_begin_filter(kernel, number);
        good = origin->handle(&event);
        etwas_kernel_sources_end_filter(kernel);
    }
    kernel->walker.sample = NULL;
    etwas_accounts_end(&kernel->accounts, merged->stream->processor, good);
}

/*
 * If only the own process is recorded, records of its forked children are ignored. At an exit the
 * groups are called in reverse order, so that threads and images end before their process.
 */
static void dispatch_process_record(struct etwas_kernel_sources *kernel, uint32_t kind,
                                    uint32_t slot,
                                    const struct etwas_process_record *process_record)
{
    if (kernel->host.own_process != 0 && process_record->process_id != kernel->host.own_process) {
        return;
    }
    etwas_record_filter_update_threads(&kernel->walker.filter, process_record);
    for (uint32_t index = 0; index < etwas_event_group_count; index++) {
        uint32_t number =
            process_record->type == PERF_RECORD_EXIT ? etwas_event_group_count - 1 - index : index;
        const struct etwas_event_group *group = etwas_event_groups[number];

        if (kernel->opened[number].is_open &&
            (etwas_kernel_sources_process_records(kernel, group) & kind) != 0) {
            etwas_kernel_sources_begin_filter(kernel, number);
            group->handle_process_record(kernel->opened[number].state, &kernel->host, slot,
                                         process_record);
        }
    }
    etwas_kernel_sources_end_filter(kernel);
}

static bool decode_process_record(const struct etwas_merged *merged, uint32_t kind,
                                  struct etwas_process_record *process_record)
{
    switch (kind) {
    case ETWAS_PROCESS_RECORD_ARGUMENTS:
        return etwas_exec_decode(&merged->sample, process_record);
    case ETWAS_PROCESS_RECORD_PATHS:
        return etwas_path_decode(&merged->sample, process_record);
    case ETWAS_PROCESS_RECORD_LENGTHS:
        return etwas_length_decode(&merged->sample, process_record);
    default:
        return etwas_process_record_decode(merged->record, process_record);
    }
}

/*
 * All events that report process records report FORK and EXIT, so a record is handled only if its
 * event's tag requests its kind. A record of another processor than its ring's is invalid.
 */
static void handle_process_record(struct etwas_kernel_sources *kernel,
                                  const struct etwas_merged *merged)
{
    uint32_t kind = etwas_process_record_kind(merged->record->type) & merged->event->tag;
    uint32_t slot = merged->stream->processor;
    struct etwas_process_record process_record;
    bool good;

    if (kind == 0) {
        return;
    }
    etwas_accounts_begin(&kernel->accounts, merged->event->tag);
    good = decode_process_record(merged, kind, &process_record);
    good = good && process_record.origin.processor == slot;
    if (good) {
        dispatch_process_record(kernel, kind, slot, &process_record);
    }
    etwas_accounts_end(&kernel->accounts, slot, good);
}

void etwas_kernel_sources_forget_slot(struct etwas_kernel_sources *kernel, uint32_t slot)
{
    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        if (kernel->opened[number].is_open && etwas_event_groups[number]->handle_loss != NULL) {
            etwas_event_groups[number]->handle_loss(kernel->opened[number].state, slot);
        }
    }
}

/*
 * Until the next record of the stream, events of other processors could be joined with state that
 * the lost events changed. So the groups forget at the beginning of the gap, too. A full ring
 * reports its losses only with its next record.
 */
static void forget_in_gap(struct etwas_kernel_sources *kernel, const struct etwas_merged *merged)
{
    const struct etwas_cpu_stream *stream = merged->stream;

    if (stream->ring.lost != stream->lost_emitted ||
        (merged->record == NULL && stream->ring.times_full != stream->full_seen)) {
        etwas_kernel_sources_forget_slot(kernel, stream->processor);
    }
}

static void forget_in_gaps(struct etwas_kernel_sources *kernel)
{
    for (uint32_t index = 0; index < kernel->merge.count; index++) {
        forget_in_gap(kernel, &kernel->merge.streams[index]);
    }
}

/* Emits losses that the ring has reported before the current record. */
static void emit_loss(struct etwas_kernel_sources *kernel, const struct etwas_merged *merged)
{
    struct etwas_cpu_stream *stream = merged->stream;
    uint64_t lost = stream->ring.lost - stream->lost_emitted;

    if (stream->was_off) {
        stream->was_off = false;
        etwas_kernel_sources_record_loss(kernel, stream->processor, 0, stream->read_ns,
                                         merged->sample.origin.time_ns);
    }
    if (lost == 0) {
        return;
    }
    stream->lost_emitted = stream->ring.lost;
    etwas_kernel_sources_record_loss(kernel, stream->processor, lost, stream->read_ns,
                                     merged->sample.origin.time_ns);
    etwas_kernel_sources_forget_slot(kernel, stream->processor);
}

/*
 * While a ring still has records, the gap is behind them, even if they were written while other
 * rings were read. Until the ring has been read up to the gap, the groups forget at every drain.
 */
static void end_drain(struct etwas_kernel_sources *kernel, int64_t until_ns)
{
    forget_in_gaps(kernel);
    for (uint32_t index = 0; index < kernel->merge.count; index++) {
        const struct etwas_merged *merged = &kernel->merge.streams[index];

        if (merged->record == NULL &&
            (int64_t)(merged->stream->ring.tail - merged->stream->ring.full_at) >= 0) {
            merged->stream->full_seen = merged->stream->ring.times_full;
        }
    }
    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        if (kernel->opened[number].is_open && etwas_event_groups[number]->drained != NULL) {
            etwas_kernel_sources_begin_filter(kernel, number);
            etwas_event_groups[number]->drained(kernel->opened[number].state, &kernel->host,
                                                until_ns);
        }
    }
    etwas_kernel_sources_end_filter(kernel);
}

static void handle_merged(struct etwas_kernel_sources *kernel, const struct etwas_merged *merged)
{
    emit_loss(kernel, merged);
    merged->stream->read_ns = merged->sample.origin.time_ns;
    if (merged->event == NULL) {
        return;
    }
    if (merged->event->tag < ETWAS_FIRST_SOURCE_TAG) {
        handle_process_record(kernel, merged);
    } else if (merged->record->type == PERF_RECORD_SAMPLE) {
        handle_sample(kernel, merged);
    }
}

void etwas_kernel_sources_drain(struct etwas_kernel_sources *kernel, int64_t until_ns)
{
    /* The caller's filter; it may be at a quiescent point. */
    uint32_t filtered_by = kernel->walker.filtered_by;
    const struct etwas_merged *merged;

    etwas_merge_begin(&kernel->merge);
    forget_in_gaps(kernel);
    merged = etwas_merge_next(&kernel->merge, until_ns);
    while (merged != NULL) {
        const struct etwas_merged *taken = merged;

        handle_merged(kernel, taken);
        merged = etwas_merge_next(&kernel->merge, until_ns);
        forget_in_gap(kernel, taken);
    }
    etwas_merge_end(&kernel->merge);
    end_drain(kernel, until_ns);
    kernel->walker.filtered_by = filtered_by;
}

void etwas_kernel_sources_drain_to_now(struct etwas_kernel_sources *kernel)
{
    const struct timespec settle_time = {.tv_nsec = ETWAS_KERNEL_SOURCES_SETTLE_NS};
    int64_t until_ns = etwas_clock_qpc();

    (void)nanosleep(&settle_time, NULL);
    etwas_kernel_sources_drain(kernel, until_ns);
}

static void emit_namespace(struct etwas_kernel_sources *kernel)
{
    struct etwas_record_builder *record = kernel->host.record;

    etwas_record_builder_begin_class(record, &etwas_etl_own_class, ETWAS_ETL_NAMESPACE_TYPE,
                                     ETWAS_ETL_NAMESPACE_VERSION);
    etwas_record_builder_put_u32(record, ETWAS_ETL_NAMESPACE_VERSION);
    etwas_record_builder_put_u32(record, (uint32_t)getpid());
    etwas_record_builder_put_u64(record, kernel->host.numbers.namespace_id);
    etwas_emit_now(kernel->host.emitter, etwas_record_builder_end(record));
}

void etwas_kernel_sources_run_down(struct etwas_kernel_sources *kernel, bool is_end)
{
    if (!is_end) {
        emit_namespace(kernel);
    }
    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        if (kernel->opened[number].is_open && etwas_event_groups[number]->run_down != NULL) {
            etwas_kernel_sources_begin_filter(kernel, number);
            etwas_event_groups[number]->run_down(kernel->opened[number].state, &kernel->host,
                                                 is_end);
        }
    }
    etwas_kernel_sources_end_filter(kernel);
    if (!is_end && (kernel->settings.flags & EVENT_TRACE_FLAG_NO_SYSCONFIG) == 0) {
        etwas_inventory_emit(ETWAS_INVENTORY_HERE, ETWAS_INVENTORY_ALL, kernel->host.record,
                             kernel->host.emitter, kernel->host.quiesce);
    }
    kernel->has_run_down = true;
}

void etwas_kernel_sources_emit_symbols(struct etwas_kernel_sources *kernel)
{
    etwas_kernel_symbols_emit(&kernel->addresses, "/proc/kallsyms", kernel->host.record,
                              kernel->host.emitter);
}
