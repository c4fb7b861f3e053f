/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/life.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <stdlib.h>

#include "flush/drain.h"
#include "flush/flusher.h"
#include "flush/session_file.h"
#include "flush/snapshot.h"
#include "provider/registration.h"

enum {
    BYTES_A_KB = 1024
};

/* ---- start ----------------------------------------------------------------------------------- */

static bool stop_full_session(struct etwas_session_key key);

static uint32_t make_pool(struct etwas_session *session)
{
    const struct etwas_configuration *configuration = &session->configuration;
    struct etwas_pool_options options = {
        .buffer_bytes = configuration->buffer_size_kb * BYTES_A_KB,
        .minimum_buffers = configuration->minimum_buffers,
        .maximum_buffers = configuration->maximum_buffers,
        .session = session->index,
        .slots = session->slot_count,
        .sequences = configuration->protocol == ETWAS_PROTOCOL_RSEQ ? session->slot_count - 1 : 0,
        .circular = etwas_configuration_is_circular(configuration),
    };
    struct etwas_collector_list *lists = calloc(session->slot_count, sizeof *lists);
    struct etwas_pool *pool = lists != NULL ? etwas_pool_create(&options) : NULL;

    if (pool == NULL) {
        free(lists);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    (void)pthread_mutex_lock(&session->life);
    session->pool = pool;
    (void)pthread_mutex_unlock(&session->life);
    session->file = NULL;
    session->collector = (struct etwas_collector){
        .pool = pool,
        .lists = lists,
        .slot_count = session->slot_count,
    };
    etwas_collector_reset(&session->collector);
    return ERROR_SUCCESS;
}

static uint32_t make_file(struct etwas_session *session)
{
    struct etwas_log_file *file = NULL;
    uint32_t code = ERROR_SUCCESS;

    /* The flusher is there already and looks whether there is a file. */
    (void)pthread_mutex_lock(&session->role);
    session->started = etwas_clock_read_together();
    if (!etwas_configuration_is_circular(&session->configuration)) {
        code = etwas_session_file_create(session, session->configuration.file_name, &file);
    }
    if (file != NULL) {
        ck_pr_store_32(&session->buffers_written, etwas_log_file_buffers(file));
        etwas_session_set_file(session, file);
    }
    (void)pthread_mutex_unlock(&session->role);
    return code;
}

static void free_configuration(struct etwas_session *session)
{
    etwas_flusher_configuration_free(&session->configuration.flusher);
}

uint32_t etwas_life_start(struct etwas_configuration *configuration, etwas_life_look look,
                          void *context, etwas_trace_handle *handle)
{
    etwas_session_counts counts;
    uint32_t code = ERROR_SUCCESS;
    struct etwas_session *session = etwas_session_reserve(configuration, &code);

    if (session == NULL) {
        etwas_flusher_configuration_free(&configuration->flusher);
        return code;
    }
    code = make_pool(session);
    if (code == ERROR_SUCCESS) {
        /* The file comes last: a start that is refused leaves none behind. */
        code = etwas_flusher_start(session, stop_full_session);
        code = code == ERROR_SUCCESS ? make_file(session) : code;
        if (code != ERROR_SUCCESS) {
            etwas_flusher_end(session);
            etwas_session_shut_down(session);
        }
    }
    if (code != ERROR_SUCCESS) {
        free_configuration(session);
        etwas_session_free_place(session, false);
        return code;
    }
    if (look != NULL) {
        etwas_session_count(session, &counts);
        look(session, &counts, context);
    }
    *handle = etwas_session_handle(etwas_session_key(session));
    /* From here on another thread may find it by its name, and stop it. */
    etwas_session_open(session);
    return ERROR_SUCCESS;
}

/* ---- stop ------------------------------------------------------------------------------------ */

/* From RUNNING to STOPPING: who succeeds ends the session. */
static uint32_t begin_stop(struct etwas_session_key key, struct etwas_session **found)
{
    struct etwas_session *session;
    uint32_t code = ERROR_SUCCESS;

    etwas_control_lock();
    session = etwas_session_find(key);
    if (session == NULL) {
        code = ERROR_WMI_INSTANCE_NOT_FOUND;
    } else if (session->state == ETWAS_SESSION_STOPPING) {
        code = ERROR_ACTIVE_CONNECTIONS;
    } else {
        session->state = ETWAS_SESSION_STOPPING;
    }
    etwas_control_unlock();
    *found = session;
    return code;
}

static uint32_t stop(struct etwas_session_key key, bool file_is_full, etwas_life_look look,
                     void *context)
{
    struct etwas_session *session;
    uint32_t code = begin_stop(key, &session);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    /* R141: the callbacks may still log. */
    etwas_providers_disable_session(etwas_session_handle(key));
    etwas_session_close(session);
    etwas_flusher_end(session);
    etwas_session_shut_down(session);
    free_configuration(session);
    if (look != NULL) {
        look(session, &session->last_counts, context);
    }
    etwas_session_free_place(session, file_is_full);
    return ERROR_SUCCESS;
}

uint32_t etwas_life_stop(struct etwas_session_key key, etwas_life_look look, void *context)
{
    return stop(key, false, look, context);
}

/* R93. A stop under way does what is needed; a session not quite open yet has to be asked again. */
static bool stop_full_session(struct etwas_session_key key)
{
    return stop(key, true, NULL, NULL) != ERROR_WMI_INSTANCE_NOT_FOUND;
}

/* ---- flush and snapshot ---------------------------------------------------------------------- */

/* Takes the role of a session that runs. False: it does not; nothing is held. */
static bool take_role(struct etwas_session_key key)
{
    struct etwas_session *session = &etwas_sessions[key.index];
    const struct etwas_session *found;
    bool runs;

    (void)pthread_mutex_lock(&session->role);
    etwas_control_lock();
    found = etwas_session_find(key);
    /* While it stops, or when it has, there is nothing left to flush. */
    runs = found != NULL && found->state == ETWAS_SESSION_RUNNING && session->pool != NULL;
    etwas_control_unlock();
    if (!runs) {
        (void)pthread_mutex_unlock(&session->role);
    }
    return runs;
}

uint32_t etwas_life_flush(struct etwas_session_key key)
{
    struct etwas_session *session = &etwas_sessions[key.index];
    struct etwas_drain_result result = {.code = ERROR_SUCCESS};

    if (!take_role(key)) {
        return ERROR_WMI_INSTANCE_NOT_FOUND;
    }
    if (session->file == NULL) {
        result.code = ERROR_NOT_SUPPORTED;
    } else {
        result = etwas_drain_completely(session, ETWAS_COLLECT_USED);
        if (!etwas_log_file_sync(session->file) && result.code == ERROR_SUCCESS) {
            result.code = ERROR_WRITE_FAULT;
        }
    }
    (void)pthread_mutex_unlock(&session->role);
    if (result.file_full) {
        (void)stop_full_session(key);
    }
    return result.code;
}

uint32_t etwas_life_snapshot(struct etwas_session_key key, const etwas_wchar *file_name)
{
    struct etwas_session *session = &etwas_sessions[key.index];
    uint32_t code;

    if (!take_role(key)) {
        return ERROR_WMI_INSTANCE_NOT_FOUND;
    }
    code = session->file == NULL ? etwas_snapshot_write(session, file_name) : ERROR_NOT_SUPPORTED;
    (void)pthread_mutex_unlock(&session->role);
    return code;
}
