/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/logger.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "platform/thread.h"
#include "platform/wait.h"
#include "system/keywords.h"
#include "system/logger_internal.h"
#include "system/names/offload.h"

enum {
    TIMEOUT_MS = 500,
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

static void send_request(struct etwas_system_logger *logger, enum request request)
{
    const uint64_t one = 1;

    (void)pthread_mutex_lock(&logger->lock);
    logger->request = request;
    (void)!write(logger->wake, &one, sizeof one);
    (void)pthread_mutex_unlock(&logger->lock);
}

const struct etwas_source_state *etwas_system_logger_state(const struct etwas_session *session)
{
    const struct etwas_system_logger *logger = session->system_logger;

    return logger != NULL ? &logger->state : NULL;
}

/* Incremented when a logger has emitted its first rundown, or has ended. */
static struct ck_ec32 rundowns = CK_EC_INITIALIZER;

void etwas_system_logger_end_run_down(struct etwas_system_logger *logger)
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
        /* Read before the check: a change after the check ends the wait. */
        uint32_t seen = ck_ec32_value(&rundowns);
        const struct etwas_session *session;

        etwas_control_lock();
        session = etwas_session_find(key);
        waits = session != NULL && session->system_logger != NULL &&
                !session->system_logger->has_run_down;
        etwas_control_unlock();
        if (waits) {
            etwas_wait(&rundowns, seen, LONGEST_WAIT_NS); /* then checks again */
        }
    } while (waits);
}

uint32_t etwas_system_logger_change(struct etwas_session *session,
                                    const struct etwas_system_settings *settings,
                                    struct etwas_unavailability *reason)
{
    struct etwas_system_logger *logger = session->system_logger;
    uint32_t code = ERROR_SUCCESS;

    *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_NOTHING, 0};
    if (logger == NULL) {
        return ERROR_WMI_INSTANCE_NOT_FOUND;
    }
    if (etwas_system_logger_is_denied(logger, settings, reason)) {
        return etwas_unavailability_code(reason);
    }
    logger->asked = *settings;
    send_request(logger, REQUEST_CHANGE);
    if (!await_answer(logger)) {
        *reason = logger->reason;
        code = etwas_unavailability_code(reason);
    }
    etwas_control_lock();
    logger->state.settings = logger->kernel.settings;
    if (session->configuration.system_logger != ETWAS_SYSTEM_LOGGER_RUNDOWN) {
        session->configuration.enable_flags = logger->state.settings.flags;
    }
    etwas_control_unlock();
    return code;
}

void etwas_system_logger_capture(struct etwas_session *session, uint32_t provider)
{
    struct etwas_system_logger *logger = session->system_logger;

    logger->captured = etwas_system_provider_requested(&logger->state.settings, provider);
    send_request(logger, REQUEST_CAPTURE);
    (void)await_answer(logger);
}

void etwas_system_logger_emit_symbols(struct etwas_session *session)
{
    struct etwas_system_logger *logger = session->system_logger;

    if (logger != NULL) {
        send_request(logger, REQUEST_SYMBOLS);
        (void)await_answer(logger);
    }
}

/* ---- begin and end --------------------------------------------------------------------------- */

/* The largest record that fits into a buffer. */
static uint32_t record_room(const struct etwas_session *session)
{
    uint64_t room = (uint64_t)session->configuration.buffer_size_kb * BYTES_PER_KB -
                    sizeof(struct etwas_etl_buffer_header);

    return room < ETWAS_RECORD_MOST_BYTES ? (uint32_t)room : ETWAS_RECORD_MOST_BYTES;
}

static struct etwas_system_logger *make_logger(struct etwas_session *session,
                                               const struct etwas_system_settings *settings)
{
    struct etwas_system_logger *logger = calloc(1, sizeof *logger);

    if (logger != NULL) {
        logger->emitter = etwas_system_logger_emitter;
        logger->quiesce.drain = etwas_system_logger_quiesce;
        etwas_session_time_begin(&logger->time, session->configuration.clock);
        logger->session = session;
        logger->timeout_ms = TIMEOUT_MS;
        logger->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        (void)pthread_mutex_init(&logger->lock, NULL);
        (void)pthread_cond_init(&logger->answered, NULL);
        logger->state.settings = *settings;
        logger->asked = *settings;
        logger->record.room = record_room(session);
        logger->request = REQUEST_CHANGE; /* answered once it has opened the kernel sources */
        etwas_kernel_sources_init_probes(
            &logger->kernel); /* they are closed also if they were never opened */
    }
    return logger;
}

/* No fork's child can reach it any more. */
static void free_logger(struct etwas_system_logger *logger)
{
    etwas_kernel_sources_free(&logger->kernel);
    if (logger->wake >= 0) {
        (void)close(logger->wake);
    }
    (void)pthread_cond_destroy(&logger->answered);
    (void)pthread_mutex_destroy(&logger->lock);
    free(logger);
}

uint32_t etwas_system_logger_begin(struct etwas_session *session,
                                   const struct etwas_system_settings *settings,
                                   struct etwas_unavailability *reason)
{
    struct etwas_system_logger *logger = make_logger(session, settings);

    *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_NOTHING, 0};
    if (logger == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    if (logger->wake < 0 ||
        etwas_thread_create(&logger->thread, NULL, etwas_system_logger_main, logger) != 0) {
        free_logger(logger);
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    if (!await_answer(logger)) {
        *reason = logger->reason;
        (void)pthread_join(logger->thread, NULL);
        free_logger(logger);
        return etwas_unavailability_code(reason);
    }
    if (logger->state.rung == ETWAS_KERNEL_RUNG_FOUND) {
        *reason = logger->reason;
    }
    etwas_control_lock();
    session->system_logger = logger;
    etwas_control_unlock();
    return ERROR_SUCCESS;
}

void etwas_system_logger_start(struct etwas_session *session)
{
    if (session->system_logger != NULL) {
        etwas_kernel_sources_start(&session->system_logger->kernel);
    }
}

void etwas_system_logger_end(struct etwas_session *session)
{
    struct etwas_system_logger *logger = session->system_logger;

    if (logger == NULL) {
        return;
    }
    send_request(logger, REQUEST_END);
    (void)pthread_join(logger->thread, NULL);
    etwas_control_lock();
    session->system_logger = NULL;
    etwas_control_unlock();
    etwas_wake(&rundowns, ck_ec32_value(&rundowns));
    free_logger(logger);
}

/* The child has neither the thread nor the rings. The memory stays. */
void etwas_system_logger_forget(struct etwas_session *session)
{
    struct etwas_system_logger *logger = session->system_logger;

    etwas_offload_forget();
    session->system_logger = NULL;
    if (logger != NULL) {
        etwas_kernel_sources_forget(&logger->kernel);
        (void)close(logger->wake);
    }
}
