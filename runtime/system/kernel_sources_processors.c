/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Follows processors that go offline and come online. When a processor goes offline, the kernel
 * removes its events for good, even if it is back a moment later, as after a suspend of the
 * machine. No record reports that, and the ring stays empty. So processors whose rings are idle are
 * checked, and a stream whose events are dead is closed. An online processor without a stream gets
 * one, with every event that is open.
 *
 * What the processor did meanwhile is unknown. It is emitted as a loss without a count: once when
 * the stream is closed, and once with the first record after the processor came back.
 */
#include <ck_pr.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock/clock.h"
#include "platform/machine.h"
#include "platform/processor.h"
#include "system/kernel_sources.h"
#include "system/kernel_sources_events.h"

enum {
    /* The least time between two checks, each of which interrupts processors. */
    CHECK_NS = 1000000000,
};

#ifdef ETWAS_TESTPOINTS
uint64_t etwas_kernel_sources_check_ns = CHECK_NS;
#endif

static int64_t check_interval_ns(void)
{
#ifdef ETWAS_TESTPOINTS
    return (int64_t)ck_pr_load_64(
        &etwas_kernel_sources_check_ns); /* tests change it while the thread runs */
#else
    return CHECK_NS;
#endif
}

/* Makes the groups that scan after a loss do so. */
static void mark_lost(struct etwas_kernel_sources *kernel)
{
    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        kernel->opened[number].has_lost = kernel->opened[number].is_open;
    }
}

/* At any moment a fork's child finds a stream without descriptors, or no stream. */
static void close_stream(struct etwas_kernel_sources *kernel, uint32_t index)
{
    struct etwas_cpu_stream *stream = kernel->merge.streams[index].stream;

    etwas_cpu_stream_close(stream);
    kernel->merge.streams[index] = kernel->merge.streams[kernel->merge.count - 1];
    ck_pr_fence_store();
    kernel->merge.count--;
    free(stream);
}

/* Closes a stream whose last records have been read. */
static void close_offline_stream(struct etwas_kernel_sources *kernel, uint32_t index)
{
    struct etwas_cpu_stream *stream = kernel->merge.streams[index].stream;
    int64_t now_ns = etwas_clock_qpc();

    etwas_kernel_sources_add_last_counts(kernel, stream);
    etwas_kernel_sources_record_loss(kernel, stream->processor, 0, stream->read_ns, now_ns);
    etwas_kernel_sources_forget_slot(kernel, stream->processor);
    kernel->closed_lost += etwas_cpu_stream_lost(stream);
    kernel->away_since_ns[stream->processor] = now_ns;
    close_stream(kernel, index);
    mark_lost(kernel);
}

/* Checks the streams with idle rings, or all of them. */
static void close_dead_streams(struct etwas_kernel_sources *kernel, bool asks_all)
{
    bool is_drained = false;

    for (uint32_t index = kernel->merge.count; index-- > 0;) {
        struct etwas_cpu_stream *stream = kernel->merge.streams[index].stream;
        uint64_t written = etwas_ring_written(&stream->ring);
        bool is_idle = written == stream->checked_at;

        stream->checked_at = written;
        if (!stream->is_on || !(is_idle || asks_all) || !etwas_cpu_stream_is_dead(stream)) {
            continue;
        }
        if (!is_drained) {
            etwas_kernel_sources_drain_to_now(kernel);
            is_drained = true;
        }
        close_offline_stream(kernel, index);
    }
}

/* Returns false if the processor cannot be recorded now. */
static bool open_online_stream(struct etwas_kernel_sources *kernel, uint32_t processor)
{
    int64_t away_since_ns = kernel->away_since_ns[processor];
    struct etwas_cpu_stream *stream = malloc(sizeof *stream);
    struct etwas_unavailability ignored;
    bool good;

    if (stream == NULL ||
        !etwas_cpu_stream_open(stream, processor, 0, kernel->ring_bytes, &ignored)) {
        free(stream);
        return false;
    }
    stream->was_off = true;
    stream->read_ns = away_since_ns == ETWAS_PROCESSOR_NEVER_ONLINE ? 0 : away_since_ns;
    kernel->merge.streams[kernel->merge.count] = (struct etwas_merged){.stream = stream};
    ck_pr_fence_store();
    kernel->first_stream = kernel->merge.count++;
    good = etwas_kernel_sources_reopen(kernel);
    kernel->first_stream = 0;
    if (!good) {
        close_stream(kernel, kernel->merge.count - 1);
        return false;
    }
    kernel->away_since_ns[processor] = 0;
    etwas_cpu_stream_start(stream);
    mark_lost(kernel);
    return true;
}

static void open_new_streams(struct etwas_kernel_sources *kernel)
{
    if (sysconf(_SC_NPROCESSORS_ONLN) <= (long)kernel->merge.count) {
        return;
    }
    for (uint32_t processor = 0; processor < etwas_slot_count; processor++) {
        if (kernel->away_since_ns[processor] != 0 &&
            !etwas_processor_is_offline(&etwas_this_machine, processor)) {
            (void)open_online_stream(kernel, processor);
        }
    }
}

static bool can_check(const struct etwas_kernel_sources *kernel)
{
    return kernel->host.own_process == 0 && kernel->ring_bytes != 0;
}

void etwas_kernel_sources_check_processors(struct etwas_kernel_sources *kernel)
{
    int64_t now_ns = etwas_clock_qpc();

    if (!can_check(kernel) || now_ns - kernel->processors_ns < check_interval_ns()) {
        return;
    }
    kernel->processors_ns = now_ns;
    close_dead_streams(kernel, false);
    open_new_streams(kernel);
}

void etwas_kernel_sources_find_offline(struct etwas_kernel_sources *kernel)
{
    if (can_check(kernel)) {
        close_dead_streams(kernel, true);
    }
}

void etwas_kernel_sources_emit_offline(struct etwas_kernel_sources *kernel)
{
    int64_t now_ns = etwas_clock_qpc();

    for (uint32_t index = 0; index < kernel->merge.count; index++) {
        const struct etwas_cpu_stream *stream = kernel->merge.streams[index].stream;

        if (stream->was_off) {
            etwas_kernel_sources_record_loss(kernel, stream->processor, 0, stream->read_ns, now_ns);
        }
    }
    for (uint32_t processor = 0; can_check(kernel) && processor < etwas_slot_count; processor++) {
        if (kernel->away_since_ns[processor] > 0) {
            etwas_kernel_sources_record_loss(kernel, processor, 0, kernel->away_since_ns[processor],
                                             now_ns);
        }
    }
}
