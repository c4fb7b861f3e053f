/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/logger.h"

#include <ck_pr.h>
#include <errno.h>
#include <etwas/winerror.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "buffer/publish_stamped.h"
#include "clock/clock.h"
#include "platform/processor.h"
#include "platform/testpoint.h"
#include "platform/thread.h"
#include "system/context_switch.h"
#include "system/feed.h"
#include "system/thread_record.h"

enum {
    RING_BYTES = 4 << 20,
    LONGEST_WAIT_MS = 100, /* what is in a ring is no older, unless there is much of it */
    START_WAIT_MS = 1,
};

#ifdef ETWAS_TESTPOINTS
uint32_t etwas_system_logger_ring_bytes = RING_BYTES;
#else
#define etwas_system_logger_ring_bytes RING_BYTES
#endif

/* Tags of events. */
enum {
    TAG_SWITCH = ETWAS_FEED_SIDEBAND + 1,
};

struct etwas_system_logger {
    struct etwas_session *session;
    pthread_t thread;
    int stop; /* an eventfd: readable when the thread shall end */
    uint32_t flags;
    struct etwas_switch_fields switch_fields;
    uint64_t switches; /* that the rings had */
    uint32_t feed_count;
    struct etwas_feed *feeds[];
};

/* ---- records --------------------------------------------------------------------------------- */

/* A loss is counted where it happens. */
static void publish(const struct etwas_system_logger *logger, uint32_t slot, const void *bytes,
                    uint32_t size, uint32_t stamp_at, int64_t stamp)
{
    const struct etwas_session *session = logger->session;
    const struct etwas_stamped_record record = {bytes, size, stamp_at, stamp};

    (void)etwas_publish_stamped(etwas_slot_of(session->index, slot), etwas_session_gate(session),
                                &record);
}

static void publish_thread(const struct etwas_system_logger *logger, uint32_t slot,
                           const struct etwas_thread_record *record, int64_t stamp)
{
    publish(logger, slot, record, sizeof *record,
            offsetof(struct etwas_thread_record, header.time_stamp), stamp);
}

static void take_sample(struct etwas_system_logger *logger, const struct etwas_feed *feed,
                        const struct perf_event_header *header)
{
    struct etwas_sample_origin origin;
    struct etwas_sample sample;
    struct etwas_switch_record record;
    const struct etwas_feed_event *event =
        etwas_sample_origin(header, &origin) ? etwas_feed_event_of(feed, origin.event) : NULL;

    if (event != NULL && event->tag == TAG_SWITCH &&
        etwas_sample_decode(header, event->sample_type, &sample) &&
        etwas_switch_record_make(&logger->switch_fields, &sample, &record)) {
        logger->switches++;
        publish(logger, feed->processor, &record, sizeof record,
                offsetof(struct etwas_switch_record, header.time_stamp), sample.origin.time_ns);
    }
}

static void take_sideband(const struct etwas_system_logger *logger, const struct etwas_feed *feed,
                          const struct perf_event_header *header)
{
    struct etwas_sideband sideband;
    struct etwas_thread_record record;

    if (etwas_sideband_decode(header, &sideband) &&
        (sideband.type == PERF_RECORD_FORK || sideband.type == PERF_RECORD_EXIT)) {
        record = etwas_thread_record_make(sideband.type == PERF_RECORD_FORK ? ETWAS_THREAD_START
                                                                            : ETWAS_THREAD_END,
                                          sideband.process_id, sideband.thread_id,
                                          sideband.origin.process_id, sideband.origin.thread_id);
        publish_thread(logger, feed->processor, &record, sideband.origin.time_ns);
    }
}

static void drain(struct etwas_system_logger *logger, struct etwas_feed *feed)
{
    const struct perf_event_header *header;

    if (!etwas_ring_begin(&feed->ring)) {
        return; /* what else it had is lost: see count_loss */
    }
    while ((header = etwas_ring_next(&feed->ring)) != NULL) {
        if (header->type == PERF_RECORD_SAMPLE) {
            take_sample(logger, feed, header);
        } else {
            take_sideband(logger, feed, header);
        }
    }
    etwas_ring_give_back(&feed->ring);
}

struct rundown {
    const struct etwas_system_logger *logger;
    enum etwas_thread_record_type type;
};

static void run_down_thread(void *context, uint32_t process_id, uint32_t thread_id)
{
    const struct rundown *rundown = context;
    const struct etwas_thread_record record =
        etwas_thread_record_make(rundown->type, process_id, thread_id, process_id, thread_id);

    publish_thread(rundown->logger, etwas_slot_count, &record, etwas_clock_qpc());
}

static void run_down(const struct etwas_system_logger *logger, enum etwas_thread_record_type type)
{
    struct rundown rundown = {logger, type};

    if ((logger->flags & EVENT_TRACE_FLAG_THREAD) != 0) {
        etwas_threads_list(run_down_thread, &rundown);
    }
}

/* ---- accounts -------------------------------------------------------------------------------- */

/* What the kernel had no room for, so far. */
static void count_loss(const struct etwas_system_logger *logger)
{
    uint64_t lost = 0;

    for (uint32_t index = 0; index < logger->feed_count; index++) {
        lost += etwas_feed_lost(logger->feeds[index]);
    }
    ck_pr_store_64(&logger->session->lost_in_kernel, lost);
}

/*
 * The last word, with all events off and all rings read: of switches what the kernel counted and the
 * rings did not have, which is right also for a ring that was damaged.
 */
static void count_last_loss(const struct etwas_system_logger *logger)
{
    uint64_t lost = 0;
    uint64_t switches = 0;

    for (uint32_t index = 0; index < logger->feed_count; index++) {
        struct etwas_feed_totals totals = {0};

        (void)etwas_feed_totals(logger->feeds[index], ETWAS_FEED_SIDEBAND, &totals);
        lost += totals.lost;
        totals = (struct etwas_feed_totals){0};
        (void)etwas_feed_totals(logger->feeds[index], TAG_SWITCH, &totals);
        switches += totals.counted;
    }
    ck_pr_store_64(&logger->session->lost_in_kernel, lost + switches - logger->switches);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static bool waits_for_start(const struct etwas_system_logger *logger)
{
    bool waits;

    etwas_control_lock();
    waits = logger->session->state == ETWAS_SESSION_STARTING;
    etwas_control_unlock();
    return waits;
}

/* Until there is much to do, or some time has passed. False: the end was asked for. */
static bool wait_for_events(const struct etwas_system_logger *logger, struct pollfd *polled,
                            int longest_ms)
{
    polled[0] = (struct pollfd){.fd = logger->stop, .events = POLLIN};
    for (uint32_t index = 0; index < logger->feed_count; index++) {
        polled[1 + index] =
            (struct pollfd){.fd = etwas_feed_descriptor(logger->feeds[index]), .events = POLLIN};
    }
    (void)poll(polled, 1 + logger->feed_count, longest_ms);
    return (polled[0].revents & POLLIN) == 0;
}

static void run(struct etwas_system_logger *logger, struct pollfd *polled)
{
    bool goes_on = true;

    while (goes_on && waits_for_start(logger)) {
        goes_on = wait_for_events(logger, polled, START_WAIT_MS);
    }
    run_down(logger, ETWAS_THREAD_RUNDOWN_START);
    while (goes_on) {
        goes_on = wait_for_events(logger, polled, LONGEST_WAIT_MS);
        ETWAS_TESTPOINT(ETWAS_POINT_SYSTEM_DRAINS);
        for (uint32_t index = 0; goes_on && index < logger->feed_count; index++) {
            drain(logger, logger->feeds[index]);
        }
        count_loss(logger);
    }
    for (uint32_t index = 0; index < logger->feed_count; index++) {
        etwas_feed_stop(logger->feeds[index]);
        drain(logger, logger->feeds[index]);
    }
    count_last_loss(logger);
    run_down(logger, ETWAS_THREAD_RUNDOWN_END);
}

static void *logger_main(void *argument)
{
    struct etwas_system_logger *logger = argument;
    struct pollfd polled[1 + ETWAS_MOST_PROCESSORS];

    (void)pthread_setname_np(pthread_self(), "etwas-system");
    run(logger, polled);
    return NULL;
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void close_all(struct etwas_system_logger *logger)
{
    for (uint32_t index = 0; index < logger->feed_count; index++) {
        etwas_feed_close(logger->feeds[index]);
        free(logger->feeds[index]);
    }
    if (logger->stop >= 0) {
        (void)close(logger->stop);
    }
    free(logger);
}

static bool add_switches(struct etwas_system_logger *logger, struct etwas_fault *fault)
{
    struct etwas_tracepoint tracepoint;
    struct etwas_feed_wish wish = {.tag = TAG_SWITCH,
                                   .type = PERF_TYPE_TRACEPOINT,
                                   .sample_type = PERF_SAMPLE_RAW,
                                   .period = 1};
    bool good;

    if ((logger->flags & EVENT_TRACE_FLAG_CSWITCH) == 0) {
        return true;
    }
    if (!etwas_tracepoint_read(&tracepoint, "sched/sched_switch", fault)) {
        return false;
    }
    wish.config = tracepoint.id;
    good = etwas_switch_fields_find(&tracepoint, &logger->switch_fields);
    etwas_tracepoint_free(&tracepoint);
    if (!good) {
        *fault = (struct etwas_fault){ETWAS_FAULT_TRACEPOINT, ENOENT};
    }
    for (uint32_t index = 0; good && index < logger->feed_count; index++) {
        good = etwas_feed_add(logger->feeds[index], &wish, fault);
    }
    return good;
}

/* Of the processors that run. */
static bool open_feeds(struct etwas_system_logger *logger, struct etwas_fault *fault)
{
    bool tasks = (logger->flags & EVENT_TRACE_FLAG_THREAD) != 0;

    for (uint32_t processor = 0; processor < etwas_slot_count; processor++) {
        struct etwas_feed *feed = malloc(sizeof *feed);

        *fault = (struct etwas_fault){ETWAS_FAULT_RING, ENOMEM};
        if (feed != NULL && etwas_feed_open(feed, processor, etwas_system_logger_ring_bytes,
                                            tasks ? ETWAS_SIDEBAND_TASKS : 0, fault)) {
            logger->feeds[logger->feed_count++] = feed;
            continue;
        }
        free(feed);
        if (fault->error != ENODEV) {
            return false;
        }
    }
    return add_switches(logger, fault);
}

uint32_t etwas_system_logger_begin(struct etwas_session *session, struct etwas_fault *fault)
{
    struct etwas_system_logger *logger =
        calloc(1, sizeof *logger + etwas_slot_count * sizeof(struct etwas_feed *));

    if (logger == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    logger->session = session;
    logger->flags = session->configuration.enable_flags;
    logger->stop = eventfd(0, EFD_CLOEXEC);
    if (logger->stop < 0 || !open_feeds(logger, fault)) {
        uint32_t code = logger->stop < 0 ? ERROR_NO_SYSTEM_RESOURCES : etwas_fault_code(fault);

        close_all(logger);
        return code;
    }
    if (etwas_thread_create(&logger->thread, NULL, logger_main, logger) != 0) {
        close_all(logger);
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    etwas_control_lock();
    session->system_logger = logger;
    etwas_control_unlock();
    return ERROR_SUCCESS;
}

void etwas_system_logger_start(struct etwas_session *session)
{
    struct etwas_system_logger *logger = session->system_logger;

    for (uint32_t index = 0; logger != NULL && index < logger->feed_count; index++) {
        etwas_feed_start(logger->feeds[index]);
    }
}

void etwas_system_logger_end(struct etwas_session *session)
{
    struct etwas_system_logger *logger = session->system_logger;
    const uint64_t one = 1;

    if (logger == NULL) {
        return;
    }
    (void)!write(logger->stop, &one, sizeof one);
    (void)pthread_join(logger->thread, NULL);
    etwas_control_lock();
    session->system_logger = NULL;
    etwas_control_unlock();
    close_all(logger);
}

/* The child has neither the thread nor the rings; the memory is left. */
void etwas_system_logger_forget(struct etwas_session *session)
{
    struct etwas_system_logger *logger = session->system_logger;

    session->system_logger = NULL;
    if (logger == NULL) {
        return;
    }
    for (uint32_t index = 0; index < logger->feed_count; index++) {
        etwas_feed_forget(logger->feeds[index]);
    }
    (void)close(logger->stop);
}
