/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A system logger, shared by its thread (logger_thread.c) and by the functions that send it
 * requests (logger.c).
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
    REQUEST_SYMBOLS, /* emit the kernel's symbols */
    REQUEST_END,
};

struct etwas_system_logger {
    struct etwas_emitter emitter;
    struct etwas_quiesce quiesce;
    int64_t quiesced_ns; /* when it was quiesced last */
    bool has_stopped;    /* the streams are stopped; nothing is left to drain */
    struct etwas_session *session;
    pthread_t thread;
    int wake; /* an eventfd; readable while there is a request */

    /*
     * `asked`, `captured`, `done` and `reason` belong to the requester, except between a request
     * and its answer, when `request` is not NONE.
     */
    pthread_mutex_t lock;
    pthread_cond_t answered;
    enum request request;
    struct etwas_system_settings asked; /* the settings that are requested */
    uint64_t captured;                  /* whose rundown is emitted once more (keywords.h) */
    bool done;
    struct etwas_unavailability reason;
    bool has_run_down; /* under the control lock: the first rundown is emitted, or never will be */

    uint32_t timeout_ms; /* the time left to wait for free buffers */
    struct etwas_session_time time;
    struct etwas_source_state state; /* the rung is constant since the first answer */

    struct etwas_kernel_sources kernel;
    struct etwas_record_builder record;
};

/* How the thread publishes records, and what it does at quiescent points. */
extern const struct etwas_emitter etwas_system_logger_emitter;
void etwas_system_logger_quiesce(struct etwas_quiesce *quiesce);

/*
 * Marks the first rundown as done, also where none is emitted, and wakes the threads that wait for
 * it.
 */
void etwas_system_logger_end_run_down(struct etwas_system_logger *logger);

/*
 * The thread: opens the kernel sources, which answers the first request, and runs until the end is
 * requested.
 */
void *etwas_system_logger_main(void *logger);

/*
 * Whether the logger records the own process alone and the settings request events that exist only
 * system-wide. Then *reason names one of them.
 */
bool etwas_system_logger_is_denied(const struct etwas_system_logger *logger,
                                   const struct etwas_system_settings *settings,
                                   struct etwas_unavailability *reason);

#endif
