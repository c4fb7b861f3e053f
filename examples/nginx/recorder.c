/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The interface is in the header. Everything except `write_snapshot` runs in the worker's event
 * loop. The loop owns `snapshot` while there is no thread; the thread owns it until it has set
 * `is_done`.
 */

#include "recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
    BUFFER_KB = 64
};

static const ngx_http_etwas_recorder_settings *settings;
static etwas_trace_handle session;

static struct {
    pthread_t thread;
    bool is_begun; /* there is a thread to join */
    atomic_bool is_done;
    ngx_log_t *log;
    char path[NGX_MAX_PATH];
} snapshot;

static ngx_msec_t begun_at; /* start of the last snapshot */
static ngx_uint_t begun;    /* number of snapshots */
static ngx_uint_t left_out; /* slow requests since then, without a snapshot */

/* ---- snapshots ---- */

/*
 * Creates the file first, with access only for its owner, because nginx clears the umask. This
 * thread writes to the error log, as nginx's own threads do.
 */
static void *write_snapshot(void *unused)
{
    int file = open(snapshot.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    int error = ngx_errno;
    uint32_t result = ERROR_ACCESS_DENIED;

    if (file >= 0) {
        (void)close(file);
        error = 0;
        result = etwas_snapshot(session, snapshot.path);
    }
    if (result == ERROR_SUCCESS) {
        ngx_log_error(NGX_LOG_NOTICE, snapshot.log, 0, "etwas: %s is written", snapshot.path);
    } else {
        ngx_log_error(NGX_LOG_ERR, snapshot.log, error, "etwas: cannot write %s: %s", snapshot.path,
                      etwas_error_text(result));
    }
    atomic_store(&snapshot.is_done, true);
    return unused;
}

static void join(void)
{
    if (snapshot.is_begun) {
        (void)pthread_join(snapshot.thread, NULL);
        snapshot.is_begun = false;
    }
}

static bool may_begin(void)
{
    return (!snapshot.is_begun || atomic_load(&snapshot.is_done)) && begun < settings->snapshots &&
           (begun == 0 || ngx_current_msec - begun_at >= settings->pause);
}

/* Blocks all signals in the thread, so that the event loop receives them. */
static int create_thread(void)
{
    sigset_t all;
    sigset_t before;
    int error;

    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&snapshot.thread, NULL, write_snapshot, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

void ngx_http_etwas_recorder_snapshot(ngx_log_t *log, uint64_t duration_us)
{
    int error;

    if (!may_begin()) {
        left_out++;
        return;
    }
    join();
    begun++;
    begun_at = ngx_current_msec;
    ngx_log_error(NGX_LOG_WARN, log, 0,
                  "etwas: slow request, %uL us, snapshot %ui; slow since the last one: %ui",
                  duration_us, begun, left_out);
    left_out = 0;
    (void)ngx_snprintf((u_char *)snapshot.path, sizeof snapshot.path - 1, "%V/%P-%T-%ui.etl%Z",
                       &settings->folder, ngx_pid, ngx_time(), begun);
    snapshot.log = ngx_cycle->log;
    atomic_store(&snapshot.is_done, false);
    error = create_thread();
    snapshot.is_begun = error == 0;
    if (error != 0) {
        ngx_log_error(NGX_LOG_ERR, log, error, "etwas: no thread for the snapshot");
    }
}

/* ---- the session ---- */

static void say_why_not(ngx_log_t *log, uint32_t error)
{
    char reason[512] = "";

    (void)etwas_crash_safe_refusal(reason, sizeof reason);
    ngx_log_error(NGX_LOG_ERR, log, 0, "etwas: this worker is not traced: %s%s%s",
                  etwas_error_text(error), reason[0] != '\0' ? ": " : "", reason);
}

static void say_where(ngx_log_t *log)
{
    char path[NGX_MAX_PATH];

    if (etwas_crash_safe_path(session, path, sizeof path) == ERROR_SUCCESS) {
        ngx_log_error(NGX_LOG_NOTICE, log, 0, "etwas: what this worker logs is in %s", path);
    }
}

etwas_trace_handle ngx_http_etwas_recorder_start(ngx_cycle_t *cycle,
                                                 const ngx_http_etwas_recorder_settings *wanted)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
        .clock = ETWAS_CLOCK_TSC,
        .buffer_size_kb = BUFFER_KB,
        .minimum_buffers = (uint32_t)(wanted->memory_bytes / ((size_t)BUFFER_KB * 1024)),
        .flusher.no_thread = true, /* there is nothing to flush */
        .crash_safe = wanted->crash_safe ? ETWAS_CRASH_SAFE_POOL_FILE : 0,
    };
    uint32_t result = etwas_start("nginx", NULL, &options, &session);

    settings = wanted;
    if (result != ERROR_SUCCESS) {
        say_why_not(cycle->log, result);
        session = 0;
        return 0;
    }
    say_where(cycle->log);
    return session;
}

void ngx_http_etwas_recorder_stop(ngx_cycle_t *cycle)
{
    etwas_session_counts counts = {0};

    join();
    (void)etwas_stop(session, &counts);
    ngx_log_error(NGX_LOG_NOTICE, cycle->log, 0,
                  "etwas: %uL events, %uL lost, %ui snapshots; slow since the last one: %ui",
                  counts.recorded + counts.overwritten + counts.lost, counts.lost, begun, left_out);
}
