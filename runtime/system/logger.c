/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/logger.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "platform/thread.h"
#include "platform/wait.h"
#include "system/logger_internal.h"
#include "system/names/offload.h"

enum {
    PATIENCE_MS = 500,
    BYTES_PER_KB = 1024,
};

#define LONGEST_WAIT_NS UINT64_C(3600000000000)

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

/* Says "look again" when one has run down, or ended. */
static struct ck_ec32 rundowns = CK_EC_INITIALIZER;

void etwas_system_logger_tell_run_down(struct etwas_system_logger *logger)
{
    etwas_control_lock();
    logger->has_run_down = true;
    etwas_control_unlock();
    etwas_wake(&rundowns, ck_ec32_value(&rundowns));
}

void etwas_system_logger_await_run_down(struct etwas_session_key key)
{
    bool waits;

    do {
        /* Before the look: what changes behind it ends the wait. */
        uint32_t seen = ck_ec32_value(&rundowns);
        const struct etwas_session *session;

        etwas_control_lock();
        session = etwas_session_find(key);
        waits = session != NULL && session->system_logger != NULL &&
                !session->system_logger->has_run_down;
        etwas_control_unlock();
        if (waits) {
            etwas_wait(&rundowns, seen, LONGEST_WAIT_NS); /* and looks again */
        }
    } while (waits);
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
    if (etwas_system_logger_is_denied(logger, settings, fault)) {
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

/* The largest that a buffer takes. */
static uint32_t record_room(const struct etwas_session *session)
{
    uint64_t room = (uint64_t)session->configuration.buffer_size_kb * BYTES_PER_KB -
                    sizeof(struct etwas_etl_buffer_header);

    return room < ETWAS_RECORD_MOST_BYTES ? (uint32_t)room : ETWAS_RECORD_MOST_BYTES;
}

static struct etwas_system_logger *make(struct etwas_session *session)
{
    struct etwas_system_logger *logger = calloc(1, sizeof *logger);

    if (logger != NULL) {
        logger->emitter = etwas_system_logger_emitter;
        logger->pause.take = etwas_system_logger_pause;
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
        logger->request = REQUEST_CHANGE;         /* its first one */
        etwas_board_begin_probes(&logger->board); /* shut also if never open */
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
    if (logger->wake < 0 ||
        etwas_thread_create(&logger->thread, NULL, etwas_system_logger_main, logger) != 0) {
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
    etwas_wake(&rundowns, ck_ec32_value(&rundowns));
    unmake(logger);
}

/* The child has neither the thread nor the rings; the memory is left. */
void etwas_system_logger_forget(struct etwas_session *session)
{
    struct etwas_system_logger *logger = session->system_logger;

    etwas_errands_forget();
    session->system_logger = NULL;
    if (logger != NULL) {
        etwas_board_forget(&logger->board);
        (void)close(logger->wake);
    }
}
