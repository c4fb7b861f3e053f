/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "flush/payload_watch.h"

#include <etwas/winerror.h>
#include <stdlib.h>

#include "buffer/record_walk.h"
#include "flush/sink.h"

struct etwas_watch {
    uint32_t count;
    struct watched {
        struct etwas_compiled_filter *filter;
        struct etwas_session_key recorder;
    } filters[ETWAS_WATCH_FILTERS];
};

static void watch_pull_trigger(const struct etwas_session *session,
                               struct etwas_session_key recorder, const uint8_t *record,
                               size_t bytes, struct etwas_watch_counts *counts)
{
    int64_t stamp = 0;

    etwas_record_read_stamp(record, (uint32_t)etwas_etl_round_up_8(bytes) / ETWAS_UNIT_BYTES,
                            &stamp);
    counts->matched++;
    if (etwas_trigger_pull_at(recorder, session->configuration.clock, stamp) != ERROR_SUCCESS) {
        counts->refused++;
    }
}

static void watch_test_record(const struct etwas_session *session, const uint8_t *record,
                              size_t bytes, struct etwas_watch_counts *counts)
{
    const struct etwas_watch *watch = session->drain.watch;

    for (uint32_t index = 0; index < watch->count; index++) {
        const struct watched *watched = &watch->filters[index];
        enum etwas_payload_result verdict =
            etwas_payload_filter_evaluate(watched->filter, record, bytes);

        counts->tested += verdict != ETWAS_PAYLOAD_OTHER_EVENT ? 1 : 0;
        counts->unfit += verdict == ETWAS_PAYLOAD_MALFORMED ? 1 : 0;
        if (verdict == ETWAS_PAYLOAD_MATCHES) {
            watch_pull_trigger(session, watched->recorder, record, bytes, counts);
        }
    }
}

/* Tests the records of a buffer, up to an invalid one. */
static void watch_test_buffer(const struct etwas_session *session,
                              const struct etwas_drained *buffer, struct etwas_watch_counts *counts)
{
    const uint8_t *record = buffer->data;
    size_t left = buffer->data_bytes;

    while (left >= sizeof(struct etwas_etl_full_header)) {
        uint32_t marker = etwas_record_marker(record);
        size_t bytes = (size_t)etwas_record_units(record, marker) * ETWAS_UNIT_BYTES;

        if (!etwas_marker_is_whole(marker) || bytes == 0 || bytes > left) {
            return;
        }
        if (!etwas_marker_is_kernel_event(marker) &&
            (uint16_t)marker >= sizeof(struct etwas_etl_full_header)) {
            watch_test_record(session, record, (uint16_t)marker, counts);
        }
        record += bytes;
        left -= bytes;
    }
}

static void watch_accept(struct etwas_session *session, struct etwas_batch *batch)
{
    struct etwas_watch_counts counts = {0};

    for (uint32_t index = 0; index < batch->count; index++) {
        watch_test_buffer(session, &batch->buffers[index], &counts);
    }
    (void)pthread_mutex_lock(&session->buffers.pool_lock);
    session->watch_counts.tested += counts.tested;
    session->watch_counts.matched += counts.matched;
    session->watch_counts.unfit += counts.unfit;
    session->watch_counts.refused += counts.refused;
    (void)pthread_mutex_unlock(&session->buffers.pool_lock);
}

static void watch_end(struct etwas_session *session)
{
    struct etwas_watch *watch = session->drain.watch;

    session->drain.sinks[ETWAS_SINK_WATCH] = NULL;
    session->drain.watch = NULL;
    for (uint32_t index = 0; index < watch->count; index++) {
        free(watch->filters[index].filter);
    }
    free(watch);
}

static const struct etwas_sink watch_sink = {.accept = watch_accept, .end = watch_end};

uint32_t etwas_payload_watch_add(struct etwas_session *session, struct etwas_session_key recorder,
                                 struct etwas_compiled_filter *filter)
{
    if (session->drain.watch == NULL) {
        session->drain.watch = calloc(1, sizeof *session->drain.watch);
        if (session->drain.watch == NULL) {
            return ERROR_NOT_ENOUGH_MEMORY;
        }
        session->drain.sinks[ETWAS_SINK_WATCH] = &watch_sink;
    }
    if (session->drain.watch->count == ETWAS_WATCH_FILTERS) {
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    session->drain.watch->filters[session->drain.watch->count++] =
        (struct watched){.filter = filter, .recorder = recorder};
    return ERROR_SUCCESS;
}
