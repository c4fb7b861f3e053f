/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A system logger, as its thread (logger_thread.c) and who asks things of it (logger.c) see it.
 */
#ifndef ETWAS_SYSTEM_LOGGER_INTERNAL_H
#define ETWAS_SYSTEM_LOGGER_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"
#include "system/kernel_sources.h"
#include "system/logger.h"
#include "system/stream/emit.h"
#include "system/stream/quiesce.h"
#include "system/stream/record_builder.h"
#include "system/stream/session_time.h"

enum request {
    REQUEST_NONE,
    REQUEST_CHANGE,
    REQUEST_CAPTURE,
    REQUEST_SYMBOLS, /* the kernel's symbols */
    REQUEST_END,
};

struct etwas_system_logger {
    struct etwas_emitter emitter;
    struct etwas_quiesce quiesce;
    int64_t quiesced_ns; /* the last time */
    bool has_stopped;    /* the board; there is nothing to drain any more */
    struct etwas_session *session;
    pthread_t thread;
    int wake; /* an eventfd: readable when there is a request */

    /* A request is its asker's until `request` is NONE again. */
    pthread_mutex_t lock;
    pthread_cond_t answered;
    enum request request;
    struct etwas_system_settings asked; /* for */
    uint64_t captured;                  /* requested_events.h: what is told once more */
    bool done;
    struct etwas_unavailability reason;
    bool has_run_down; /* under the control lock: what there was is told, or nobody would tell it */

    uint32_t timeout_ms; /* left to wait for buffers */
    struct etwas_session_time time;
    struct etwas_system_settings settings; /* in force */
    uint32_t rung;                         /* since its first answer */

    struct etwas_kernel_sources kernel;
    struct etwas_record_builder record;
};

/* What the thread makes records and pauses by. */
extern const struct etwas_emitter etwas_system_logger_emitter;
void etwas_system_logger_quiesce(struct etwas_quiesce *quiesce);

/* What there was is told, or nobody will tell it. */
void etwas_system_logger_end_run_down(struct etwas_system_logger *logger);

/* Opens the board, which answers the first request, and runs until the end is asked for. */
void *etwas_system_logger_main(void *logger);

/* Whether it is of the own process and wants what that cannot have. */
bool etwas_system_logger_is_denied(const struct etwas_system_logger *logger,
                                   const struct etwas_system_settings *settings,
                                   struct etwas_unavailability *reason);

#endif
