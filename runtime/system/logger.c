/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/logger.h"

#include <ck_pr.h>
#include <errno.h>
#include <etwas/etwas.h>
#include <etwas/winerror.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "buffer/pool.h"
#include "clock/clock.h"
#include "etl/own_record.h"
#include "platform/processor.h"
#include "platform/testpoint.h"
#include "platform/thread.h"
#include "system/board.h"
#include "system/keywords.h"
#include "system/session_time.h"

enum {
    RING_BYTES = 4 << 20,
    LONGEST_WAIT_MS = 100, /* what is in a ring is no older, unless there is much of it */
    START_WAIT_MS = 1,
    PATIENCE_MS = 500,
    FIRST_OF_ALL = -20, /* nice, where it may not be ahead of all that have one */
    BYTES_PER_KB = 1024,
};

#ifdef ETWAS_TESTPOINTS
uint32_t etwas_system_logger_ring_bytes = RING_BYTES;
#else
#define etwas_system_logger_ring_bytes RING_BYTES
#endif

enum request {
    REQUEST_NONE,
    REQUEST_CHANGE,
    REQUEST_CAPTURE,
    REQUEST_TELL, /* the kernel's symbols */
    REQUEST_END,
};

struct etwas_system_logger {
    struct etwas_emitter emitter;
    struct etwas_session *session;
    pthread_t thread;
    int wake; /* an eventfd: readable when there is a request */

    /* A request is its asker's until `request` is NONE again. */
    pthread_mutex_t lock;
    pthread_cond_t answered;
    enum request request;
    struct etwas_system_settings asked; /* for */
    uint64_t captured;                  /* wants.h: what is told once more */
    bool done;
    struct etwas_fault fault;
    uint32_t
        has_run_down; /* what there was at the beginning is told, or there is nobody who would */

    uint32_t patience_ms; /* left to wait for buffers */
    struct etwas_session_time time;
    struct etwas_system_settings settings; /* in force */
    uint32_t rung;                         /* since its first answer */

    struct etwas_board board;
    struct etwas_record record;
};

/* ---- records --------------------------------------------------------------------------------- */

static bool has_buffer(const struct etwas_pool *pool)
{
    return pool->buffering || (int32_t)ck_pr_load_32(&pool->free_count) > 0 ||
           ck_pr_load_64(&pool->allocated) < ck_pr_load_32(&pool->maximum_buffers);
}

/* Without the accounts nothing of a file can be proved: the flusher is given time to empty a buffer. */
static void await_buffer(struct etwas_system_logger *logger)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    while (logger->patience_ms > 0 && !has_buffer(logger->session->pool)) {
        (void)nanosleep(&pause, NULL);
        logger->patience_ms--;
    }
}

/* A loss is counted where it happens. */
static void publish(struct etwas_emitter *emitter, uint32_t slot,
                    const struct etwas_stamped_record *record)
{
    struct etwas_system_logger *logger = (void *)emitter;
    const struct etwas_session *session = logger->session;
    uint32_t code;

    if (logger->board.accounts.is_told) {
        await_buffer(logger);
    }
    code = etwas_publish_stamped(etwas_slot_of(session->index, slot), etwas_session_gate(session),
                                 record);
    /* Others are no event of the session. */
    if (code == ERROR_SUCCESS || code == ERROR_NOT_ENOUGH_MEMORY || code == ERROR_LOG_FILE_FULL) {
        etwas_accounts_made(&logger->board.accounts, slot, record->bytes, code != ERROR_SUCCESS);
    }
}

static int64_t stamp(const struct etwas_emitter *emitter, int64_t time_ns)
{
    return etwas_session_time_of(&((const struct etwas_system_logger *)(const void *)emitter)->time,
                                 time_ns);
}

/* The largest that a buffer takes. */
static uint32_t record_room(const struct etwas_session *session)
{
    uint64_t room = (uint64_t)session->configuration.buffer_size_kb * BYTES_PER_KB -
                    sizeof(struct etwas_etl_buffer_header);

    return room < ETWAS_RECORD_MOST_BYTES ? (uint32_t)room : ETWAS_RECORD_MOST_BYTES;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Before, a record would find the slots closed. */
static bool waits_for_start(const struct etwas_system_logger *logger)
{
    const struct etwas_session *session = logger->session;

    return ck_pr_load_32(&etwas_slot_of(session->index, etwas_slot_count)->gate) !=
           etwas_session_gate(session);
}

/* Until there is much to do, or some time has passed, or something is asked for. */
static void wait_for_events(const struct etwas_system_logger *logger, struct pollfd *polled,
                            int longest_ms)
{
    const struct etwas_merge *merge = &logger->board.merge;

    polled[0] = (struct pollfd){.fd = logger->wake, .events = POLLIN};
    for (uint32_t index = 0; index < merge->count; index++) {
        polled[1 + index] = (struct pollfd){.fd = etwas_feed_descriptor(merge->feeds[index].feed),
                                            .events = POLLIN};
    }
    (void)poll(polled, 1 + merge->count, longest_ms);
}

/* What is asked for: REQUEST_NONE, nothing. */
static enum request asked(struct etwas_system_logger *logger)
{
    enum request request;

    (void)pthread_mutex_lock(&logger->lock);
    request = logger->request;
    (void)pthread_mutex_unlock(&logger->lock);
    return request;
}

static void answer(struct etwas_system_logger *logger, bool done)
{
    uint64_t count;

    (void)pthread_mutex_lock(&logger->lock);
    (void)!read(logger->wake, &count, sizeof count);
    logger->done = done;
    logger->request = REQUEST_NONE;
    (void)pthread_cond_signal(&logger->answered);
    (void)pthread_mutex_unlock(&logger->lock);
}

static void drain(struct etwas_board *board)
{
    int64_t until_ns = etwas_clock_qpc() - ETWAS_BOARD_SETTLE_NS;

    etwas_board_drain(board, until_ns);
    etwas_board_find_lost(board, until_ns);
}

static void tell_rung(struct etwas_system_logger *logger)
{
    const struct etwas_etl_kernel_rung rung = {
        .version = ETWAS_ETL_KERNEL_RUNG_VERSION,
        .rung = logger->rung,
        .process_id = logger->board.host.own_process,
        .error = logger->rung == ETWAS_KERNEL_RUNG_FOUND ? (uint32_t)logger->fault.error : 0};

    etwas_record_begin_class(&logger->record, &etwas_etl_own_class, ETWAS_ETL_KERNEL_RUNG_TYPE,
                             ETWAS_ETL_KERNEL_RUNG_VERSION);
    etwas_record_put(&logger->record, &rung, sizeof rung);
    etwas_emit_now(logger->board.host.emitter, etwas_record_end(&logger->record));
}

static void run(struct etwas_system_logger *logger, struct pollfd *polled)
{
    struct etwas_board *board = &logger->board;
    enum request request = REQUEST_NONE;

    while (request != REQUEST_END && waits_for_start(logger)) {
        wait_for_events(logger, polled, START_WAIT_MS);
        request = asked(logger);
    }
    if (!waits_for_start(logger)) { /* also if its end was asked for right after */
        etwas_session_time_renew(&logger->time);
        if (board->host.own_process != 0) {
            tell_rung(logger);
        }
        etwas_board_run_down(board, false);
    }
    ck_pr_store_32(&logger->has_run_down, 1);
    while (request != REQUEST_END) {
        wait_for_events(logger, polled, LONGEST_WAIT_MS);
        ETWAS_TESTPOINT(ETWAS_POINT_SYSTEM_DRAINS);
        request = asked(logger);
        etwas_session_time_renew(&logger->time);
        if (request == REQUEST_CHANGE) {
            answer(logger, etwas_board_change(board, &logger->asked, &logger->fault));
        } else if (request == REQUEST_CAPTURE) {
            etwas_board_capture(board, logger->captured);
            answer(logger, true);
        } else if (request == REQUEST_TELL) {
            drain(board);
            etwas_board_tell_symbols(board);
            answer(logger, true);
        } else if (request == REQUEST_NONE) {
            drain(board);
            ck_pr_store_64(&logger->session->lost_in_kernel, etwas_board_lost(board));
        }
    }
    ck_pr_store_64(&logger->session->lost_in_kernel, etwas_board_stop(board));
    if (!logger->session->configuration.rundown_only) {
        etwas_board_run_down(board, true);
        etwas_board_tell_symbols(board);
    }
    etwas_board_tell_accounts(board);
}

static size_t ring_bytes(const struct etwas_session *session)
{
    return session->configuration.rundown_only ? 0 : etwas_system_logger_ring_bytes;
}

/*
 * Who is late loses events. A nice value counts among the threads of a login session or a control group
 * alone, so that others' make it wait. Where it may not come first it does as well as it can.
 */
static void come_first(void)
{
    const struct sched_param least = {.sched_priority = 1};

    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &least) != 0) {
        (void)setpriority(PRIO_PROCESS, etwas_thread_ids().thread_id, FIRST_OF_ALL);
    }
}

static bool open_board(struct etwas_system_logger *logger, size_t bytes)
{
    uint32_t own = logger->session->configuration.own_process ? etwas_thread_ids().process_id : 0;

    return etwas_board_open(&logger->board, &logger->emitter, &logger->record, bytes, own,
                            &logger->fault) &&
           etwas_board_change(&logger->board, &logger->asked, &logger->fault);
}

static bool is_own_refused(const struct etwas_fault *fault)
{
    return fault->place == ETWAS_FAULT_OWN_EVENT &&
           (etwas_fault_code(fault) == ERROR_ACCESS_DENIED || fault->error == ENOSYS);
}

/* Whether it is of the own process and wants what that cannot have. */
static bool is_denied(const struct etwas_system_logger *logger,
                      const struct etwas_system_settings *settings, struct etwas_fault *fault)
{
    uint64_t others =
        etwas_settings_want(settings) & etwas_topic_flags() & ~etwas_topic_own_flags();

    if (!logger->session->configuration.own_process || others == 0) {
        return false;
    }
    *fault = (struct etwas_fault){ETWAS_FAULT_OWN, __builtin_ctzll(others)};
    return true;
}

/* Of the own process what there is can always be told. */
static bool open_rung(struct etwas_system_logger *logger)
{
    bool own = logger->session->configuration.own_process;
    struct etwas_fault refused;

    logger->rung = own ? ETWAS_KERNEL_RUNG_PROCESS : ETWAS_KERNEL_RUNG_SYSTEM;
    if (is_denied(logger, &logger->asked, &logger->fault)) {
        return false;
    }
    if (open_board(logger, ring_bytes(logger->session))) {
        return true;
    }
    if (!is_own_refused(&logger->fault)) {
        return false;
    }
    refused = logger->fault;
    etwas_board_shut(&logger->board);
    etwas_board_free(&logger->board);
    logger->rung = ETWAS_KERNEL_RUNG_FOUND;
    if (!open_board(logger, 0)) {
        return false;
    }
    logger->fault = refused;
    return true;
}

static void *logger_main(void *argument)
{
    struct etwas_system_logger *logger = argument;
    struct pollfd polled[1 + ETWAS_MOST_PROCESSORS];
    struct etwas_board *board = &logger->board;
    bool good;

    (void)pthread_setname_np(pthread_self(), "etwas-system");
    come_first();
    good = open_rung(logger);
    answer(logger, good);
    if (good) {
        run(logger, polled);
    }
    etwas_board_shut(board);
    return NULL;
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool await_answer(struct etwas_system_logger *logger)
{
    bool done;

    (void)pthread_mutex_lock(&logger->lock);
    while (logger->request != REQUEST_NONE) {
        (void)pthread_cond_wait(&logger->answered, &logger->lock);
    }
    done = logger->done;
    (void)pthread_mutex_unlock(&logger->lock);
    return done;
}

static void ask(struct etwas_system_logger *logger, enum request request)
{
    const uint64_t one = 1;

    (void)pthread_mutex_lock(&logger->lock);
    logger->request = request;
    (void)!write(logger->wake, &one, sizeof one);
    (void)pthread_mutex_unlock(&logger->lock);
}

const struct etwas_system_settings *etwas_system_logger_settings(
    const struct etwas_session *session)
{
    return &session->system_logger->settings;
}

uint32_t etwas_system_logger_rung(const struct etwas_session *session)
{
    return session->system_logger->rung;
}

bool etwas_system_logger_has_run_down(const struct etwas_session *session)
{
    bool has = true;

    etwas_control_lock();
    if (session->system_logger != NULL) {
        has = ck_pr_load_32(&session->system_logger->has_run_down) != 0;
    }
    etwas_control_unlock();
    return has;
}

uint32_t etwas_system_logger_change(struct etwas_session *session,
                                    const struct etwas_system_settings *settings,
                                    struct etwas_fault *fault)
{
    struct etwas_system_logger *logger = session->system_logger;
    uint32_t code = ERROR_SUCCESS;

    *fault = (struct etwas_fault){ETWAS_FAULT_NOWHERE, 0};
    if (logger == NULL) {
        return ERROR_WMI_INSTANCE_NOT_FOUND;
    }
    if (is_denied(logger, settings, fault)) {
        return etwas_fault_code(fault);
    }
    logger->asked = *settings;
    ask(logger, REQUEST_CHANGE);
    if (!await_answer(logger)) {
        *fault = logger->fault;
        code = etwas_fault_code(fault);
    }
    etwas_control_lock();
    logger->settings = logger->board.settings;
    if (!session->configuration.rundown_only) {
        session->configuration.enable_flags = logger->settings.flags;
    }
    etwas_control_unlock();
    return code;
}

void etwas_system_logger_capture(struct etwas_session *session, uint64_t wants)
{
    struct etwas_system_logger *logger = session->system_logger;

    logger->captured = wants;
    ask(logger, REQUEST_CAPTURE);
    (void)await_answer(logger);
}

const struct etwas_system_enablement *etwas_system_logger_enablement(
    const struct etwas_session *session, uint32_t provider)
{
    const struct etwas_system_logger *logger = session->system_logger;

    return logger != NULL && logger->settings.providers[provider].is_enabled
               ? &logger->settings.providers[provider]
               : NULL;
}

void etwas_system_logger_tell_symbols(struct etwas_session *session)
{
    struct etwas_system_logger *logger = session->system_logger;

    if (logger != NULL) {
        ask(logger, REQUEST_TELL);
        (void)await_answer(logger);
    }
}

/* ---- begin and end --------------------------------------------------------------------------- */

/* R188: what there is is told whatever the flags are. */
static uint32_t first_flags(const struct etwas_configuration *configuration)
{
    const uint32_t there =
        EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD;

    return configuration->enable_flags | (configuration->rundown_only ? there : 0);
}

uint32_t etwas_system_logger_first_interval(uint32_t interval)
{
    static uint32_t first = ETWAS_PROFILE_INTERVAL;

    if (interval != 0) {
        ck_pr_store_32(&first, interval);
    }
    return ck_pr_load_32(&first);
}

static struct etwas_system_logger *make(struct etwas_session *session)
{
    struct etwas_system_logger *logger = calloc(1, sizeof *logger);

    if (logger != NULL) {
        logger->emitter = (struct etwas_emitter){publish, stamp};
        etwas_session_time_begin(&logger->time, session->configuration.clock);
        logger->session = session;
        logger->patience_ms = PATIENCE_MS;
        logger->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        (void)pthread_mutex_init(&logger->lock, NULL);
        (void)pthread_cond_init(&logger->answered, NULL);
        logger->settings.flags = first_flags(&session->configuration);
        logger->settings.profile_interval = etwas_system_logger_first_interval(0);
        logger->settings.no_kernel_stacks = session->configuration.no_kernel_stacks;
        logger->asked = logger->settings;
        logger->record.room = record_room(session);
        logger->request = REQUEST_CHANGE;                             /* its first one */
        logger->board.exec_probe = (struct etwas_exec_probe){-1, -1}; /* shut also if never open */
    }
    return logger;
}

/* Once no fork's child can find it. */
static void unmake(struct etwas_system_logger *logger)
{
    etwas_board_free(&logger->board);
    if (logger->wake >= 0) {
        (void)close(logger->wake);
    }
    (void)pthread_cond_destroy(&logger->answered);
    (void)pthread_mutex_destroy(&logger->lock);
    free(logger);
}

uint32_t etwas_system_logger_begin(struct etwas_session *session, struct etwas_fault *fault)
{
    struct etwas_system_logger *logger = make(session);

    *fault = (struct etwas_fault){ETWAS_FAULT_NOWHERE, 0};
    if (logger == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    if (logger->wake < 0 || etwas_thread_create(&logger->thread, NULL, logger_main, logger) != 0) {
        unmake(logger);
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    if (!await_answer(logger)) {
        *fault = logger->fault;
        (void)pthread_join(logger->thread, NULL);
        unmake(logger);
        return etwas_fault_code(fault);
    }
    if (logger->rung == ETWAS_KERNEL_RUNG_FOUND) {
        *fault = logger->fault;
    }
    etwas_control_lock();
    session->system_logger = logger;
    etwas_control_unlock();
    return ERROR_SUCCESS;
}

void etwas_system_logger_start(struct etwas_session *session)
{
    if (session->system_logger != NULL) {
        etwas_board_start(&session->system_logger->board);
    }
}

void etwas_system_logger_end(struct etwas_session *session)
{
    struct etwas_system_logger *logger = session->system_logger;

    if (logger == NULL) {
        return;
    }
    ask(logger, REQUEST_END);
    (void)pthread_join(logger->thread, NULL);
    etwas_control_lock();
    session->system_logger = NULL;
    etwas_control_unlock();
    unmake(logger);
}

/* The child has neither the thread nor the rings; the memory is left. */
void etwas_system_logger_forget(struct etwas_session *session)
{
    struct etwas_system_logger *logger = session->system_logger;

    session->system_logger = NULL;
    if (logger != NULL) {
        etwas_board_forget(&logger->board);
        (void)close(logger->wake);
    }
}
