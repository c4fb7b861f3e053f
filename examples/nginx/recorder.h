/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef NGX_HTTP_ETWAS_RECORDER_H
#define NGX_HTTP_ETWAS_RECORDER_H

/*
 * The flight recorder of a worker: a session that keeps the newest events in memory, and what
 * writes them to a file when that is asked for. The event loop never waits for the file: a thread
 * writes it, which lives no longer than that takes. Else the worker has no thread but its own: with
 * a second one each of its system calls on a descriptor would cost more.
 */

#include <etwas/etwas.h>
#include <ngx_config.h>
#include <ngx_core.h>

typedef struct {
    ngx_str_t folder;      /* of the snapshots */
    size_t memory_bytes;   /* that hold the newest events */
    ngx_msec_t pause;      /* at least so long from one snapshot to the next */
    ngx_uint_t snapshots;  /* a worker writes at most so many */
    ngx_flag_t crash_safe; /* the memory is a file, which outlives a worker that is killed */
} ngx_http_etwas_recorder_settings;

/*
 * Starts the session of this worker. Where that fails the error log says why, the result is 0, and
 * the worker serves requests as it would without. `settings` is kept: it must live as long as the
 * cycle.
 */
etwas_trace_handle ngx_http_etwas_recorder_start(ngx_cycle_t *cycle,
                                                 const ngx_http_etwas_recorder_settings *settings);

/*
 * Has a snapshot written, for a request that took so long. If one is being written, the last is too
 * young, or there are enough, the request is counted instead, and the next message says how many
 * were. `log` is the request's.
 */
void ngx_http_etwas_recorder_snapshot(ngx_log_t *log, uint64_t duration_us);

/*
 * Ends the session, when the worker ends; a snapshot that was begun is written to its end before.
 */
void ngx_http_etwas_recorder_stop(ngx_cycle_t *cycle);

#endif
