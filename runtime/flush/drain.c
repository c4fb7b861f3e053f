/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "flush/drain.h"

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <time.h>

#include "clock/clock.h"
#include "file/log_file.h"
#include "file/session_file.h"
#include "flush/taken_back.h"
#include "platform/wait.h"
#include "realtime/session_realtime.h"

enum {
    LOOK_AGAIN_NS = 500000
};

#ifdef ETWAS_TESTPOINTS
uint64_t etwas_drain_patience_ns = ETWAS_DRAIN_PATIENCE_NS;
#endif

struct batch {
    struct etwas_collected collected[ETWAS_LOG_FILE_BATCH];
    struct etwas_log_buffer buffers[ETWAS_LOG_FILE_BATCH];
    uint32_t count;
};

/*
 * A buffer that is written as one piece, from where it lies: all of it, and nobody writes into it
 * any more. A writer that was given up might, and one whose buffer is still current does.
 */
static uint8_t *whole_buffer(const struct etwas_pool *pool, const struct etwas_collected *collected)
{
    bool whole =
        collected->begin_units == ETWAS_FIRST_UNIT && !collected->part && !collected->abandoned;

    return whole ? etwas_pool_buffer(pool, collected->buffer) : NULL;
}

static void add_to_batch(const struct etwas_session *session, struct batch *batch,
                         const struct etwas_collected *collected, int64_t now)
{
    const struct etwas_pool *pool = session->pool;

    batch->collected[batch->count] = *collected;
    batch->buffers[batch->count] = (struct etwas_log_buffer){
        .whole = whole_buffer(pool, collected),
        .data = etwas_pool_buffer(pool, collected->buffer) +
                (size_t)collected->begin_units * ETWAS_UNIT_BYTES,
        .data_bytes = (collected->end_units - collected->begin_units) * ETWAS_UNIT_BYTES,
        .records = collected->records,
        .processor = collected->slot,
        /* System time may have been set back since; a buffer is never older than its records. */
        .time_stamp = now > collected->newest ? now : collected->newest,
        .newest = collected->newest,
    };
    batch->count++;
}

/* NEWFILE: on with the next part. False: there is none, by the mode or because it was refused. */
static bool begin_next_part(struct etwas_session *session, struct etwas_log_write *write)
{
    if ((session->configuration.log_file_mode & EVENT_TRACE_FILE_MODE_NEWFILE) == 0) {
        return false;
    }
    write->code = etwas_session_file_roll(session);
    /* The old part stays, full as it is, and each later batch tries again. */
    write->state = write->code == ERROR_SUCCESS ? ETWAS_LOG_FILE_OK : ETWAS_LOG_FILE_FAILED;
    return write->code == ERROR_SUCCESS;
}

/* Writes what fits, in as many parts as it takes. Says of all of it what etwas_log_write says. */
static struct etwas_log_write write_buffers(struct etwas_session *session,
                                            const struct etwas_log_buffer *buffers, uint32_t count)
{
    struct etwas_log_write all = {.code = ERROR_SUCCESS};

    do {
        struct etwas_log_write some =
            etwas_log_file_write(session->file, buffers + all.written, count - all.written);

        all.written += some.written;
        all.state = some.state;
        all.code = some.code;
        all.replaced += some.replaced;
        ck_pr_store_64(&session->buffers_written, session->buffers_written + some.written);
    } while (all.state == ETWAS_LOG_FILE_FULL && begin_next_part(session, &all));
    return all;
}

/* Returns how many are in the file, from the first on, and the fate of the others. */
static uint32_t write_to_file(struct etwas_session *session, const struct batch *batch,
                              enum etwas_outcome *otherwise, struct etwas_drain_result *result)
{
    struct etwas_log_write write = write_buffers(session, batch->buffers, batch->count);

    *otherwise = ETWAS_OUTCOME_WRITE_ERROR;
    if (write.state == ETWAS_LOG_FILE_FULL) {
        *otherwise = ETWAS_OUTCOME_FILE_FULL;
        result->file_full = true;
    }
    if (write.code != ERROR_SUCCESS) {
        result->code = write.code;
    }
    etwas_settle_taken_back(session->pool, ETWAS_OUTCOME_OVERWRITTEN, write.replaced);
    ck_pr_store_64(&session->buffers_lost, session->buffers_lost + batch->count - write.written);
    return write.written;
}

static void write_batch(struct etwas_session *session, struct batch *batch,
                        struct etwas_drain_result *result)
{
    enum etwas_outcome otherwise = ETWAS_OUTCOME_UNDELIVERED;
    uint32_t written = 0;

    if (batch->count != 0 && session->file != NULL) {
        written = write_to_file(session, batch, &otherwise, result);
    }
    for (uint32_t index = 0; index < batch->count; index++) {
        const struct etwas_collected *collected = &batch->collected[index];
        bool in_file = index < written;
        bool delivered = session->realtime != NULL &&
                         etwas_session_realtime_deliver(session, &batch->buffers[index],
                                                        in_file ? 0 : collected->records);

        etwas_collector_settle(&session->collector, collected,
                               in_file || delivered ? ETWAS_OUTCOME_WRITTEN : otherwise);
    }
    batch->count = 0;
}

/*
 * Room for one more buffer: only real-time sessions may lack it, whose buffers wait in the pool
 * then. At the end of a session nothing can wait any more.
 */
static bool has_room(struct etwas_session *session, struct batch *batch, bool last,
                     struct etwas_drain_result *result)
{
    if (last || etwas_session_realtime_has_room(session, batch->count + 1)) {
        return true;
    }
    /* What is on its way may be smaller than it could be. */
    write_batch(session, batch, result);
    result->no_room = !etwas_session_realtime_has_room(session, 1);
    return !result->no_room;
}

/* What of a slot's list is complete, or has been waited for long enough. */
static void drain_slot(struct etwas_session *session, uint32_t slot, bool last, struct batch *batch,
                       struct etwas_drain_result *result)
{
    uint64_t now_ns = etwas_monotonic_ns();
    int64_t now = etwas_clock_now(session->configuration.clock);
    struct etwas_collected collected;

    while (has_room(session, batch, last, result) &&
           etwas_collector_take(&session->collector, slot, now_ns, etwas_drain_patience_ns,
                                &collected)) {
        result->buffers++;
        if (collected.records == 0) {
            /* Abandoned before its first record was whole, or written by flushes: nothing left. */
            etwas_collector_settle(&session->collector, &collected, ETWAS_OUTCOME_WRITTEN);
            continue;
        }
        add_to_batch(session, batch, &collected, now);
        if (batch->count == ETWAS_LOG_FILE_BATCH) {
            write_batch(session, batch, result);
        }
    }
}

/* One pass; `last` of a session that ends. */
static struct etwas_drain_result pass(struct etwas_session *session,
                                      enum etwas_collector_reach reach, bool last)
{
    struct etwas_drain_result result = {.code = ERROR_SUCCESS};
    struct batch batch;

    batch.count = 0;
    etwas_session_realtime_settle(session);
    etwas_collector_reclaim(&session->collector);
    if (!has_room(session, &batch, last, &result)) {
        result.code = ERROR_LOG_FILE_FULL;
        etwas_session_realtime_tell_room(session);
        return result;
    }
    if (reach != ETWAS_COLLECT_FULL) {
        etwas_session_realtime_begin_bound(session);
    }
    for (uint32_t slot = 0; slot < session->collector.slot_count; slot++) {
        etwas_collector_look(&session->collector, slot, reach);
    }
    for (uint32_t slot = 0; slot < session->collector.slot_count; slot++) {
        drain_slot(session, slot, last, &batch, &result);
    }
    write_batch(session, &batch, &result);
    if (result.no_room) {
        result.code = ERROR_LOG_FILE_FULL;
        session->bound_is_due = false;
    } else if (etwas_collector_has_pending(&session->collector)) {
        result.waits = true;
    } else {
        etwas_session_realtime_tell_bound(session);
    }
    etwas_session_realtime_tell_room(session);
    return result;
}

struct etwas_drain_result etwas_drain(struct etwas_session *session,
                                      enum etwas_collector_reach reach)
{
    return pass(session, reach, false);
}

struct etwas_drain_result etwas_drain_completely(struct etwas_session *session,
                                                 enum etwas_collector_reach reach)
{
    const struct timespec pause = {.tv_nsec = LOOK_AGAIN_NS};
    uint64_t end_ns = etwas_monotonic_ns() + etwas_drain_patience_ns;
    bool last = reach == ETWAS_COLLECT_SHUT;
    struct etwas_drain_result total = pass(session, reach, last);

    /*
     * Full buffers of other slots are collected meanwhile: one writer that is held costs nobody
     * else their events. What was there at the call is written or abandoned when the patience ends;
     * a slot that is shut gets nothing new, and is waited for.
     */
    while (etwas_collector_has_pending(&session->collector) && !total.no_room &&
           (last || etwas_monotonic_ns() <= end_ns + LOOK_AGAIN_NS)) {
        struct etwas_drain_result more;

        (void)nanosleep(&pause, NULL);
        more = pass(session, ETWAS_COLLECT_FULL, last);
        total.buffers += more.buffers;
        total.file_full = total.file_full || more.file_full;
        total.no_room = more.no_room;
        total.code = more.code != ERROR_SUCCESS ? more.code : total.code;
    }
    return total;
}
