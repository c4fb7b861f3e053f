/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef NGX_HTTP_ETWAS_RECORDER_H
#define NGX_HTTP_ETWAS_RECORDER_H

/*
 * The flight recorder of a worker: a session that keeps the newest events in memory, and writes
 * them to a file on request. The event loop never waits for the file: a thread writes it and then
 * ends. Otherwise the worker has only its own thread. A second one would make each of its system
 * calls on a descriptor more expensive.
 */

#include <etwas/etwas.h>
#include <ngx_config.h>
#include <ngx_core.h>

typedef struct {
    ngx_str_t folder;      /* for the snapshots */
    size_t memory_bytes;   /* buffers for the newest events */
    ngx_msec_t pause;      /* shortest time between two snapshots */
    ngx_uint_t snapshots;  /* most snapshots per worker */
    ngx_flag_t crash_safe; /* the buffers are a file, which survives a worker that is killed */
} ngx_http_etwas_recorder_settings;

/*
 * Starts the session of this worker. On failure the error log says why, the result is 0, and the
 * worker serves requests without tracing. `settings` must live as long as the cycle.
 */
etwas_trace_handle ngx_http_etwas_recorder_start(ngx_cycle_t *cycle,
                                                 const ngx_http_etwas_recorder_settings *settings);

/*
 * Writes a snapshot for a request that took `duration_us`. The request is only counted if a
 * snapshot is being written, the last one is too recent, or there are enough. The next message
 * reports that count. `log` is the request's.
 */
void ngx_http_etwas_recorder_snapshot(ngx_log_t *log, uint64_t duration_us);

/* Ends the session when the worker ends, after the end of a snapshot that was begun. */
void ngx_http_etwas_recorder_stop(ngx_cycle_t *cycle);

#endif
