/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/lifecycle.h"

#include <ck_pr.h>
#include <etwas/shared.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/system_information.h"
#include "control/system_request.h"
#include "file/session_file.h"
#include "flush/drain.h"
#include "flush/flusher.h"
#include "flush/sink.h"
#include "platform/cancel.h"
#include "platform/fork.h"
#include "platform/own_descriptor.h"
#include "provider/enabling.h"
#include "provider/image_records.h"
#include "provider/source.h"
#include "realtime/realtime.h"
#include "session/file_name.h"
#include "session/losses.h"
#include "session/sharing.h"

enum {
    BYTES_A_KB = 1024,
    COPIES_BYTES = 1 << 20,
};

/* ---- start ----------------------------------------------------------------------------------- */

static bool stop_full_session(struct etwas_session_key key);

static struct etwas_pool_options pool_options(const struct etwas_session *session)
{
    const struct etwas_configuration *configuration = &session->configuration;
    struct etwas_pool_options options = {
        .buffer_bytes = configuration->buffer_size_kb * BYTES_A_KB,
        .minimum_buffers = configuration->minimum_buffers,
        .maximum_buffers = configuration->maximum_buffers,
        .session = session->index,
        .first_slot = session->first_slot,
        .slots = session->slot_count,
        .rseq_slots = configuration->protocol == ETWAS_PROTOCOL_RSEQ
                          ? etwas_slot_count * etwas_configuration_class_rows(configuration)
                          : 0,
        .guest_slots = etwas_configuration_is_shared(configuration) ? ETWAS_GUEST_SLOTS : 0,
        .rows = etwas_configuration_class_rows(configuration),
        .row_least = etwas_configuration_row_buffers(configuration),
        .buffering = etwas_configuration_is_buffering(configuration),
        .is_shared = etwas_configuration_is_shared(configuration),
        .large_pages = (configuration->memory & ETWAS_MEMORY_HUGE) != 0,
        .memory = configuration->memory,
    };

    for (uint32_t row = 1; row < options.rows; row++) {
        options.row_percents[row] = configuration->classes[row - 1].share_percent;
    }
    return options;
}

/*
 * A fork waits between begin_change and end_change, so that its child finds both file and pool
 * where it releases them, or neither.
 */
static void begin_change(const struct etwas_session *session)
{
    if (session->configuration.crash_safe != 0) {
        etwas_fork_forbid();
    }
}

static void end_change(const struct etwas_session *session)
{
    if (session->configuration.crash_safe != 0) {
        etwas_fork_allow();
    }
}

/* Creates the session's pool. */
static struct etwas_pool *create_pool(struct etwas_session *session,
                                      struct etwas_pool_options *options)
{
    struct etwas_pool *pool;

    if (session->mapping == NULL) {
        options->capacity = etwas_pool_capacity_of(options);
    }
    begin_change(session);
    pool = etwas_pool_create(options);
    if (pool == NULL && options->capacity > options->maximum_buffers) {
        /* Address space to raise the maximum into is optional. */
        options->capacity = 0;
        pool = etwas_pool_create(options);
    }
    if (pool != NULL) {
        etwas_session_set_pool(session, pool);
    }
    end_change(session);
    return pool;
}

static void undo_pool(struct etwas_session *session, struct etwas_pool *pool)
{
    begin_change(session);
    if (pool != NULL) {
        (void)pthread_mutex_lock(&session->buffers.pool_lock);
        ck_pr_store_ptr(&session->buffers.pool, NULL);
        (void)pthread_mutex_unlock(&session->buffers.pool_lock);
        etwas_pool_destroy(pool);
    }
    etwas_crash_safe_end(session);
    end_change(session);
}

/*
 * The copies are aligned to pages, like the buffers: they are written from there. Returns false if
 * there is not enough memory.
 */
static bool make_copies(struct etwas_session *session)
{
    size_t buffer_bytes = session->configuration.buffer_size_kb * (size_t)BYTES_A_KB;
    uint32_t count = (uint32_t)(COPIES_BYTES / buffer_bytes);

    memset(&session->drain.untrusted_writers, 0, sizeof session->drain.untrusted_writers);
    if (!etwas_configuration_is_shared(&session->configuration) ||
        etwas_configuration_is_buffering(&session->configuration)) {
        return true;
    }
    count = count > ETWAS_BATCH_BUFFERS ? ETWAS_BATCH_BUFFERS : count;
    session->drain.untrusted_writers.count = count != 0 ? count : 1;
    session->drain.untrusted_writers.copies = aligned_alloc(
        etwas_memory_page_bytes(), session->drain.untrusted_writers.count * buffer_bytes);
    return session->drain.untrusted_writers.copies != NULL;
}

/*
 * The session's own files come first: sharing must leave descriptors for them, unless sharing was
 * requested.
 */
static bool leaves_room(const struct etwas_configuration *configuration)
{
    bool leaves = true;

    if (!configuration->sharing_required && configuration->reach != ETWAS_REACH_PROCESS) {
        etwas_fork_forbid();
        leaves = etwas_descriptors_leave_room();
        etwas_fork_allow();
    }
    return leaves;
}

static uint32_t make_pool(struct etwas_session *session)
{
    struct etwas_pool_options options = pool_options(session);
    struct etwas_collector_list *lists = calloc(session->slot_count, sizeof *lists);
    struct etwas_collector_buffer *entries = NULL;
    struct etwas_pool *pool = NULL;
    uint32_t code =
        lists != NULL ? etwas_crash_safe_begin(session, &options) : ERROR_NOT_ENOUGH_MEMORY;

    if (code == ERROR_SUCCESS) {
        pool = create_pool(session, &options);
        entries = pool != NULL ? calloc(pool->region_buffers, sizeof *entries) : NULL;
        code = entries == NULL || !make_copies(session) || !etwas_pool_prefault(pool)
                   ? ERROR_NOT_ENOUGH_MEMORY
                   : etwas_required_memory_check(pool, session->configuration.memory_required);
    }
    if (code == ERROR_SUCCESS && !leaves_room(&session->configuration)) {
        code = ERROR_NO_SYSTEM_RESOURCES;
    }
    if (code != ERROR_SUCCESS) {
        free(lists);
        free(entries);
        free(session->drain.untrusted_writers.copies);
        session->drain.untrusted_writers.copies = NULL;
        undo_pool(session, pool);
        return code;
    }
    session->drain.file = NULL;
    session->drain.realtime = NULL;
    session->drain.losses = NULL;
    memset(session->drain.sinks, 0, sizeof session->drain.sinks);
    session->drain.collector = (struct etwas_collector){
        .pool = pool,
        .lists = lists,
        .entries = entries,
        .slot_count = session->slot_count,
    };
    etwas_collector_reset(&session->drain.collector);
    etwas_drain_reset(session);
    return ERROR_SUCCESS;
}

/* Stores the file name for snapshots that name none. The name has been checked before. */
static void name_snapshots(struct etwas_session *session)
{
    const struct etwas_configuration *configuration = &session->configuration;
    etwas_wchar made[ETWAS_NAME_UNITS + 1];

    if (configuration->file_name[0] != 0 &&
        etwas_file_name_make(configuration->file_name, configuration->log_file_mode, 1,
                             (uint32_t)getpid(), made) == ERROR_SUCCESS) {
        etwas_session_set_file_name(session, made);
    }
}

static uint32_t make_sinks(struct etwas_session *session)
{
    uint32_t code;

    /* The flusher already runs, and reads whether there is a file. */
    (void)pthread_mutex_lock(&session->drain.role);
    etwas_session_clock_begin(session);
    code = etwas_session_realtime_begin(session);
    if (code == ERROR_SUCCESS) {
        code = etwas_session_file_open(session);
    }
    if (etwas_configuration_is_buffering(&session->configuration)) {
        etwas_losses_begin(session);
        name_snapshots(session);
    }
    (void)pthread_mutex_unlock(&session->drain.role);
    return code;
}

static uint32_t make_system_logger(struct etwas_session *session)
{
    struct etwas_system_settings settings;
    struct etwas_unavailability fault;
    uint32_t code;

    if (!session->configuration.system_logger) {
        return ERROR_SUCCESS;
    }
    etwas_system_information_first(&session->configuration, &settings);
    code = etwas_kernel_source.begin(session, &settings, &fault);
    etwas_kernel_refusal_store(&fault);
    return code;
}

static void free_configuration(struct etwas_session *session)
{
    etwas_flusher_configuration_free(&session->configuration.flusher);
}

/* Makes this process the only one that logs into the session. */
static void lifecycle_stop_sharing(struct etwas_session *session, enum etwas_reach reach,
                                   uint32_t reason)
{
    struct etwas_configuration *configuration = &session->configuration;

    if (etwas_configuration_is_shared(configuration)) {
        session->slot_count -= ETWAS_GUEST_SLOTS;
        if (configuration->crash_safe == ETWAS_CRASH_SAFE_MEMFD) {
            configuration->crash_safe = 0; /* sharing had set it */
        }
    }
    configuration->reach = reach;
    configuration->unshared = reason;
}

static void lifecycle_make_unshared(struct etwas_session *session)
{
    etwas_sharing.end_session(session);
    lifecycle_stop_sharing(session, ETWAS_REACH_PROCESS, ETWAS_UNSHARED_HIDDEN);
}

/* Makes a pool for this process alone if the buffers cannot be shared. */
static uint32_t make_pool_unshared(struct etwas_session *session, uint32_t code)
{
    const bool is_on_disk = code == ERROR_NOT_SUPPORTED &&
                            session->configuration.crash_safe == ETWAS_CRASH_SAFE_POOL_FILE;

    etwas_sharing.store_refusal(code);
    if (session->configuration.reach == ETWAS_REACH_TEMPLATE || code == ERROR_NO_SYSTEM_RESOURCES) {
        lifecycle_make_unshared(session); /* its registration gives way to its own files */
    } else {
        lifecycle_stop_sharing(session, ETWAS_REACH_DISCOVERABLE,
                               is_on_disk ? ETWAS_UNSHARED_DISK : ETWAS_UNSHARED_MEMORY);
    }
    return make_pool(session);
}

/*
 * Acquires name and GUID among all processes of the user. If other processes cannot find the
 * session, or the system has no shareable memory for it, only this process logs into it, unless
 * sharing was requested.
 */
static uint32_t begin_pool(struct etwas_session *session)
{
    const struct etwas_configuration *configuration = &session->configuration;
    uint32_t code = etwas_sharing.begin(session);

    if (code == ERROR_ALREADY_EXISTS) {
        return code;
    }
    if (code != ERROR_SUCCESS && !configuration->sharing_required) {
        etwas_sharing.store_refusal(code);
        lifecycle_make_unshared(session);
        code = ERROR_SUCCESS;
    }
    /* R46: the sessions of all processes count together. */
    if (code == ERROR_SUCCESS &&
        (configuration->reach == ETWAS_REACH_SHARED ||
         configuration->reach == ETWAS_REACH_DISCOVERABLE) &&
        !etwas_sharing.has_room(session)) {
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    if (configuration->reach == ETWAS_REACH_DISCOVERABLE) {
        etwas_sharing.store_refusal(ERROR_NOT_SUPPORTED);
    }
    code = code == ERROR_SUCCESS ? make_pool(session) : code;
    return code != ERROR_SUCCESS && !configuration->sharing_required &&
                   configuration->reach != ETWAS_REACH_PROCESS &&
                   (configuration->reach != ETWAS_REACH_DISCOVERABLE ||
                    code == ERROR_NO_SYSTEM_RESOURCES)
               ? make_pool_unshared(session, code)
               : code;
}

uint32_t etwas_lifecycle_start(struct etwas_configuration *configuration,
                               etwas_lifecycle_report report, void *context,
                               etwas_trace_handle *handle)
{
    etwas_session_counts counts;
    struct etwas_session_key key;
    uint32_t code = ERROR_SUCCESS;
    struct etwas_session *session = etwas_session_reserve_entry(configuration, &code);

    if (session == NULL) {
        etwas_flusher_configuration_free(&configuration->flusher);
        return code;
    }
    code = begin_pool(session);
    if (code == ERROR_SUCCESS) {
        /* The file comes last, so a refused start leaves no file behind. */
        code = etwas_flusher_start(session, stop_full_session);
        code = code == ERROR_SUCCESS ? make_system_logger(session) : code;
        code = code == ERROR_SUCCESS ? make_sinks(session) : code;
        if (code != ERROR_SUCCESS) {
            etwas_kernel_source.end(session);
            etwas_flusher_end(session);
            etwas_session_shut_down(session);
        }
    }
    if (code != ERROR_SUCCESS) {
        etwas_sharing.end_session(session);
        free_configuration(session);
        etwas_session_free_entry(session, false);
        return code;
    }
    if (report != NULL) {
        etwas_session_count(session, &counts);
        report(session, &counts, context);
    }
    etwas_crash_safe_open(session);
    key = etwas_session_key(session); /* once the session is open another thread may end it */
    *handle = etwas_session_handle(key);
    etwas_kernel_source.start(session);
    etwas_sharing.open(session);
    /* From here on another thread may find the session by its name, and stop it. */
    etwas_session_open(session);
    /* The flusher drains the rundown in the meantime. */
    etwas_kernel_source.await_run_down(key);
    return ERROR_SUCCESS;
}

/* ---- stop ------------------------------------------------------------------------------------ */

/* Changes RUNNING to STOPPING: the thread that succeeds ends the session. */
static uint32_t begin_stop(struct etwas_session_key key, struct etwas_session **found)
{
    struct etwas_session *session;
    uint32_t code = ERROR_SUCCESS;

    etwas_control_lock();
    session = etwas_session_find(key);
    if (session == NULL) {
        code = ERROR_WMI_INSTANCE_NOT_FOUND;
    } else if (session->entry.state == ETWAS_SESSION_STOPPING) {
        code = ERROR_ACTIVE_CONNECTIONS;
    } else {
        session->entry.state = ETWAS_SESSION_STOPPING;
    }
    etwas_control_unlock();
    *found = session;
    return code;
}

static bool is_forgotten(struct etwas_session_key key)
{
    bool forgotten;

    etwas_control_lock();
    forgotten = etwas_session_find(key) == NULL;
    etwas_control_unlock();
    return forgotten;
}

void etwas_lifecycle_update_images(struct etwas_session_key key)
{
    if (etwas_session_takes_stacks(&etwas_sessions[key.index])) {
        etwas_image_records_update();
    }
}

/* Ends a session that is STOPPING; no other thread does. */
static uint32_t lifecycle_end(struct etwas_session *session, bool file_is_full,
                              etwas_lifecycle_report report, void *context)
{
    struct etwas_session_key key = etwas_session_key(session);
    ETWAS_UNCANCELLED_SCOPE;

    /* R141: the callbacks may still log, also those of other processes. */
    etwas_sharing.closing(session);
    etwas_providers_disable_session(etwas_session_handle(key));
    /* A callback that forks also returns in the child, which has none of the parent's sessions. */
    if (is_forgotten(key)) {
        return ERROR_INVALID_HANDLE;
    }
    etwas_lifecycle_update_images(key);
    /* Waits for a thread that changes the session; none begins to while it stops. */
    (void)pthread_mutex_lock(&session->drain.role);
    (void)pthread_mutex_unlock(&session->drain.role);
    etwas_kernel_source.end(session);
    etwas_session_close(session);
    etwas_flusher_end(session);
    etwas_session_shut_down(session);
    etwas_sharing.end_session(session);
    free_configuration(session);
    if (report != NULL) {
        report(session, &session->buffers.last_counts, context);
    }
    etwas_session_free_entry(session, file_is_full);
    return ERROR_SUCCESS;
}

uint32_t etwas_lifecycle_stop(struct etwas_session_key key, etwas_lifecycle_report report,
                              void *context)
{
    struct etwas_session *session;
    uint32_t code = begin_stop(key, &session);

    return code == ERROR_SUCCESS ? lifecycle_end(session, false, report, context) : code;
}

/*
 * R93. Does nothing if a stop is under way; a session that is not quite open yet has to be stopped
 * again. While the role is held no thread can give the session another file between the check and
 * the stop.
 */
static bool stop_full_session(struct etwas_session_key key)
{
    struct etwas_session *session = &etwas_sessions[key.index];
    uint32_t code = ERROR_SUCCESS;
    bool full;

    (void)pthread_mutex_lock(&session->drain.role);
    full = session->drain.file != NULL && etwas_log_file_is_full(session->drain.file);
    if (full) {
        code = begin_stop(key, &session);
    }
    (void)pthread_mutex_unlock(&etwas_sessions[key.index].drain.role);
    if (full && code == ERROR_SUCCESS) {
        code = lifecycle_end(session, true, NULL, NULL);
    }
    return full && code != ERROR_WMI_INSTANCE_NOT_FOUND;
}

/* ---- flush ----------------------------------------------------------------------------------- */

struct etwas_session *etwas_lifecycle_acquire_role(struct etwas_session_key key)
{
    struct etwas_session *session = &etwas_sessions[key.index];
    const struct etwas_session *found;
    int cancelling = etwas_cancel_forbid();
    bool runs;

    (void)pthread_mutex_lock(&session->drain.role);
    session->drain.role_cancelling = cancelling;
    etwas_control_lock();
    found = etwas_session_find(key);
    /* While it stops, or after that, there is nothing left to do for it. */
    runs = found != NULL && found->entry.state == ETWAS_SESSION_RUNNING &&
           session->buffers.pool != NULL;
    etwas_control_unlock();
    if (!runs) {
        etwas_lifecycle_release_role(session);
    }
    return runs ? session : NULL;
}

void etwas_lifecycle_release_role(struct etwas_session *session)
{
    int cancelling = session->drain.role_cancelling;

    (void)pthread_mutex_unlock(&session->drain.role);
    etwas_cancel_allow(cancelling);
}

uint32_t etwas_lifecycle_flush(struct etwas_session_key key)
{
    struct etwas_drain_result result = {.code = ERROR_SUCCESS};
    struct etwas_session *session;
    uint32_t code = ERROR_SUCCESS;

    etwas_lifecycle_update_images(key);
    session = etwas_lifecycle_acquire_role(key);
    if (session == NULL) {
        return ERROR_WMI_INSTANCE_NOT_FOUND;
    }
    if (etwas_configuration_is_buffering(&session->configuration)) {
        code = ERROR_NOT_SUPPORTED;
    } else if (etwas_session_has_sink(session)) {
        result = etwas_drain_completely(session, ETWAS_COLLECT_USED);
        etwas_session_clock_read_if_due(session);
        code = etwas_sinks_sync(session);
    }
    etwas_lifecycle_release_role(session);
    if (result.is_full) {
        (void)stop_full_session(key);
    }
    return result.code != ERROR_SUCCESS ? result.code : code;
}
