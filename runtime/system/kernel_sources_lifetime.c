/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Beginning and end of the kernel sources, and their accounts. Nothing here is done often.
 */
#include <errno.h>
#include <stdlib.h>

#include "clock/clock.h"
#include "etl/own_record.h"
#include "platform/processor.h"
#include "platform/thread.h"
#include "system/kernel_sources.h"
#include "system/kernel_sources_events.h"
#include "system/stream/source_tags.h"

enum {
    LEAST_RING_BYTES = 512 << 10, /* every user may lock this much by the kernel's default */
    LAST_PASSES = 2,
};

/* ---- accounts -------------------------------------------------------------------------------- */

void etwas_kernel_sources_record_loss(struct etwas_kernel_sources *kernel, uint32_t processor,
                                      uint64_t events, int64_t from_ns, int64_t until_ns)
{
    const struct etwas_etl_kernel_loss loss = {
        .version = ETWAS_ETL_KERNEL_LOSS_VERSION,
        .cause = events == 0 ? ETWAS_ETL_KERNEL_LOSS_OFF : ETWAS_ETL_KERNEL_LOSS_NO_ROOM,
        .events = events,
        .from_raw = from_ns == 0 ? 0 : etwas_emit_stamp(kernel->host.emitter, from_ns),
        .until_raw = etwas_emit_stamp(kernel->host.emitter, until_ns),
    };

    etwas_record_builder_begin_class(kernel->host.record, &etwas_etl_own_class,
                                     ETWAS_ETL_KERNEL_LOSS_TYPE, ETWAS_ETL_KERNEL_LOSS_VERSION);
    etwas_record_builder_put(kernel->host.record, &loss, sizeof loss);
    etwas_emit(kernel->host.emitter, processor, etwas_record_builder_end(kernel->host.record),
               until_ns);
}

/* The counts come from the rings, since reading the events would interrupt every processor. */
uint64_t etwas_kernel_sources_lost(const struct etwas_kernel_sources *kernel)
{
    uint64_t lost = kernel->closed_lost;

    for (uint32_t index = 0; index < kernel->merge.count; index++) {
        lost += kernel->merge.streams[index].stream->ring.lost;
    }
    return lost;
}

/* Returns how many lost records a scan can make up for. Lengths of transfers are not among them. */
static uint64_t lost_process_records(const struct etwas_kernel_sources *kernel)
{
    uint64_t lost = 0;

    for (uint32_t index = 0; index < kernel->merge.count; index++) {
        const struct etwas_cpu_stream *stream = kernel->merge.streams[index].stream;

        for (uint32_t kind = 1; kind < ETWAS_PROCESS_RECORD_LENGTHS; kind <<= 1) {
            struct etwas_cpu_stream_totals totals;

            lost += etwas_account_of(&kernel->accounts, stream->processor, kind)->lost;
            lost += etwas_cpu_stream_totals(stream, kind, &totals) ? totals.lost : 0;
        }
    }
    return lost;
}

/*
 * A ring reports a loss only with the next record after it has room again, which may never come. So
 * a full ring counts as a sign, too.
 */
static uint64_t signs_of_loss(const struct etwas_kernel_sources *kernel)
{
    uint64_t signs = etwas_kernel_sources_lost(kernel);

    for (uint32_t index = 0; index < kernel->merge.count; index++) {
        signs += kernel->merge.streams[index].stream->ring.times_full;
    }
    return signs;
}

void etwas_kernel_sources_find_lost(struct etwas_kernel_sources *kernel, int64_t until_ns)
{
    uint64_t signs = signs_of_loss(kernel);
    uint64_t lost = kernel->lost_process_records;
    bool is_more;

    /*
     * Reading the events interrupts every processor, so it is done only after new signs of a loss.
     */
    if (signs != kernel->signs_of_loss) {
        kernel->signs_of_loss = signs;
        lost = lost_process_records(kernel);
    }
    is_more = lost > kernel->lost_process_records;
    kernel->lost_process_records = lost;
    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        struct etwas_open_group *opened = &kernel->opened[number];

        opened->has_lost = opened->has_lost || is_more;
        /* After a new loss the group scans once more: it may have read /proc before the loss. */
        if (opened->is_open && opened->has_lost && etwas_event_groups[number]->find_lost != NULL) {
            etwas_kernel_sources_begin_filter(kernel, number);
            opened->has_lost =
                !etwas_event_groups[number]->find_lost(opened->state, until_ns) || is_more;
        }
    }
    etwas_kernel_sources_end_filter(kernel);
}

/*
 * The ring has been read, and no more records come. Losses after its last record are known only to
 * the events.
 */
void etwas_kernel_sources_add_last_counts(struct etwas_kernel_sources *kernel,
                                          const struct etwas_cpu_stream *stream)
{
    uint64_t lost = etwas_cpu_stream_lost(stream);

    for (uint32_t event = 0; event < stream->event_count; event++) {
        struct etwas_cpu_stream_totals totals;

        /* A closed event may have the tag of an open one. */
        if (stream->events[event].descriptor >= 0) {
            totals = etwas_cpu_stream_event_totals(&stream->events[event]);
            etwas_accounts_add(&kernel->accounts, stream->processor, stream->events[event].tag,
                               &totals);
        }
    }
    etwas_account_of(&kernel->accounts, stream->processor, ETWAS_CPU_STREAM_OWNER)->is_damaged |=
        stream->ring.is_damaged;
    if (lost > stream->lost_emitted) {
        etwas_kernel_sources_record_loss(kernel, stream->processor, lost - stream->lost_emitted,
                                         stream->read_ns, etwas_clock_qpc());
    }
}

void etwas_kernel_sources_emit_accounts(struct etwas_kernel_sources *kernel)
{
    etwas_accounts_emit(&kernel->accounts, kernel->host.record, kernel->host.emitter);
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void close_streams(struct etwas_kernel_sources *kernel)
{
    for (uint32_t index = 0; index < kernel->merge.count; index++) {
        etwas_cpu_stream_close(kernel->merge.streams[index].stream);
        free(kernel->merge.streams[index].stream);
    }
    kernel->merge.count = 0;
}

/* Opens the streams of the processors that are online. */
static bool open_streams(struct etwas_kernel_sources *kernel, size_t ring_bytes,
                         struct etwas_unavailability *reason)
{
    struct etwas_merge *merge = &kernel->merge;
    uint32_t thread = kernel->host.own_process != 0 ? kernel->own_thread : 0;

    for (uint32_t processor = 0; ring_bytes != 0 && processor < etwas_slot_count; processor++) {
        struct etwas_cpu_stream *stream = malloc(sizeof *stream);

        *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_RING, ENOMEM};
        if (stream != NULL &&
            etwas_cpu_stream_open(stream, processor, thread, ring_bytes, reason)) {
            merge->streams[merge->count++].stream = stream;
            continue;
        }
        free(stream);
        if (reason->error != ENODEV) {
            return false;
        }
        kernel->away_since_ns[processor] = ETWAS_PROCESSOR_NEVER_ONLINE;
    }
    kernel->ring_bytes = ring_bytes;
    return true;
}

bool etwas_kernel_sources_open(struct etwas_kernel_sources *kernel,
                               const struct etwas_kernel_sources_options *options,
                               struct etwas_unavailability *reason)
{
    size_t ring_bytes = options->ring_bytes;

    *kernel = (struct etwas_kernel_sources){
        .host = {.emitter = &kernel->walker.emitter,
                 .record = options->record,
                 .own_process = options->own_process,
                 .rundown_only = ring_bytes == 0,
                 .quiesce = options->quiesce},
        .own_thread = etwas_thread_ids().thread_id,
    };
    etwas_kernel_sources_init_probes(kernel);
    etwas_kernel_addresses_open(&kernel->addresses, options->emitter);
    etwas_stack_walker_open(&kernel->walker, &kernel->addresses.emitter);
    kernel->merge.streams = calloc(etwas_slot_count, sizeof *kernel->merge.streams);
    kernel->away_since_ns = calloc(etwas_slot_count, sizeof *kernel->away_since_ns);
    *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_RING, ENOMEM};
    if (!etwas_accounts_open(&kernel->accounts) ||
        !etwas_thread_numbers_open(&kernel->host.numbers) || kernel->merge.streams == NULL ||
        kernel->away_since_ns == NULL) {
        return false;
    }
    kernel->accounts.is_own = options->own_process != 0;
    while (!open_streams(kernel, ring_bytes, reason)) {
        if (!etwas_unavailability_is_memory(reason) || ring_bytes <= LEAST_RING_BYTES) {
            return false;
        }
        close_streams(kernel);
        ring_bytes /= 2;
    }
    return true;
}

void etwas_kernel_sources_start(struct etwas_kernel_sources *kernel)
{
    for (uint32_t index = 0; index < kernel->merge.count; index++) {
        etwas_cpu_stream_start(kernel->merge.streams[index].stream);
    }
}

uint64_t etwas_kernel_sources_stop(struct etwas_kernel_sources *kernel)
{
    etwas_kernel_sources_drain_to_now(
        kernel); /* the results of scans become certain with the last drain */
    etwas_kernel_sources_find_offline(kernel);
    for (uint32_t index = 0; index < kernel->merge.count; index++) {
        etwas_cpu_stream_stop(kernel->merge.streams[index].stream);
    }
    etwas_kernel_sources_drain(kernel, INT64_MAX);
    /*
     * Twice, since the first scan may have been before the last loss. `finish` finds what is still
     * missing.
     */
    for (uint32_t pass = 0; pass < LAST_PASSES; pass++) {
        etwas_kernel_sources_find_lost(kernel, INT64_MAX);
    }
    for (uint32_t index = 0; index < kernel->merge.count; index++) {
        etwas_kernel_sources_add_last_counts(kernel, kernel->merge.streams[index].stream);
    }
    etwas_kernel_sources_emit_offline(kernel);
    return etwas_accounts_lost(&kernel->accounts);
}

void etwas_kernel_sources_close(struct etwas_kernel_sources *kernel)
{
    etwas_kernel_sources_close_probes(kernel);
    for (uint32_t index = 0; index < kernel->merge.count; index++) {
        etwas_cpu_stream_close(kernel->merge.streams[index].stream);
    }
}

void etwas_kernel_sources_free(struct etwas_kernel_sources *kernel)
{
    for (uint32_t index = 0; index < kernel->merge.count; index++) {
        free(kernel->merge.streams[index].stream);
    }
    free(kernel->merge.streams);
    free(kernel->away_since_ns);
    etwas_thread_numbers_close(&kernel->host.numbers);
    etwas_accounts_free(&kernel->accounts);
    etwas_kernel_addresses_free(&kernel->addresses);
    etwas_stack_walker_free(&kernel->walker);
    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        if (kernel->opened[number].is_open && etwas_event_groups[number]->close != NULL) {
            etwas_event_groups[number]->close(kernel->opened[number].state);
        }
    }
}

void etwas_kernel_sources_forget(struct etwas_kernel_sources *kernel)
{
    etwas_kernel_sources_close_probes(kernel);
    for (uint32_t index = 0; index < kernel->merge.count; index++) {
        etwas_cpu_stream_forget(kernel->merge.streams[index].stream);
    }
    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        if (kernel->opened[number].is_open && etwas_event_groups[number]->forget != NULL) {
            etwas_event_groups[number]->forget(kernel->opened[number].state);
        }
    }
}
