/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "session/session.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "buffer/retention_class.h"
#include "etl/utf16.h"
#include "platform/name_case.h"
#include "platform/processor.h"
#include "platform/testpoint.h"
#include "platform/wait.h"
#include "shared/join.h"
#include "shared/mapping.h"

struct etwas_session etwas_sessions[ETWAS_SESSION_ENTRIES];

static pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER;
static uint64_t entries_freed;                             /* under the control lock */
static struct ck_ec32 entries_changed = CK_EC_INITIALIZER; /* wakes waiters when one is freed */

void etwas_control_lock(void)
{
    (void)pthread_mutex_lock(&control);
    ETWAS_FILES_FORBIDDEN(true);
}

void etwas_control_unlock(void)
{
    ETWAS_FILES_FORBIDDEN(false);
    (void)pthread_mutex_unlock(&control);
}

void etwas_sessions_prepare(void)
{
    for (uint32_t index = 0; index < ETWAS_SESSION_ENTRIES; index++) {
        etwas_sessions[index].index = index;
        (void)pthread_mutex_init(&etwas_sessions[index].buffers.pool_lock, NULL);
        (void)pthread_mutex_init(&etwas_sessions[index].drain.role, NULL);
    }
}

/*
 * Of a shared session: The generation is random, because its gate also has to distinguish it from
 * sessions of other processes. A guest's writer may sleep until its process has left that session
 * and joined another in the same entry (pool_join.h).
 */
static bool draw_generation(uint32_t *generation)
{
    uint32_t drawn;

    do {
        if (getrandom(&drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn) {
            return false;
        }
    } while (drawn == 0 || drawn == *generation);
    *generation = drawn;
    return true;
}

/* 0 is a closed gate; after 4 billion sessions in an entry the count wraps. */
static uint32_t next_generation(uint32_t generation)
{
    return generation == UINT32_MAX ? 1 : generation + 1;
}

void etwas_sessions_forget(void)
{
    etwas_slots_forget();
    etwas_shared_guests_forget();
    for (uint32_t index = 0; index < ETWAS_SESSION_ENTRIES; index++) {
        struct etwas_session *session = &etwas_sessions[index];

        session->entry.state = ETWAS_SESSION_FREE;
        if (session->buffers.pool != NULL) {
            /* Slots that the parent shares with this process must not be changed. */
            etwas_pool_forget(session->buffers.pool);
            /* For a thread that forked in a signal handler while it was inside a slot. */
            etwas_session_close(session);
        }
        if (session->mapping != NULL) {
            etwas_shared_forget(session->mapping);
        }
        if (session->unfinished_mapping != NULL) {
            etwas_shared_forget(session->unfinished_mapping);
        }
        session->mapping = NULL;
        session->unfinished_mapping = NULL;
        session->buffers.pool = NULL;
        session->drain.file = NULL;
        session->drain.realtime = NULL;
        etwas_trigger_reset(&session->trigger);
        ck_pr_store_32(&session->handlers_inside, 0);
        /* The parent's handles name nothing here, not even last counts. */
        session->entry.generation = next_generation(session->entry.generation);
        /* The locks' owners were threads of the parent. */
        (void)pthread_mutex_init(&session->buffers.pool_lock, NULL);
        (void)pthread_mutex_init(&session->drain.role, NULL);
    }
    etwas_sequence_numbers_forget();
}

/* ---- the table ------------------------------------------------------------------------------- */

struct etwas_session_key etwas_session_key(const struct etwas_session *session)
{
    return (struct etwas_session_key){session->index, session->entry.generation};
}

static bool session_is_active(const struct etwas_session *session)
{
    return session->entry.state == ETWAS_SESSION_RUNNING ||
           session->entry.state == ETWAS_SESSION_STOPPING;
}

bool etwas_session_is_remembered(struct etwas_session_key key)
{
    return etwas_sessions[key.index].entry.generation == key.generation;
}

struct etwas_session *etwas_session_find(struct etwas_session_key key)
{
    struct etwas_session *session = &etwas_sessions[key.index];

    return session->entry.generation == key.generation && session_is_active(session) ? session
                                                                                     : NULL;
}

struct etwas_session *etwas_session_find_handle(uint64_t handle)
{
    struct etwas_session_key key;

    return etwas_session_key_of(handle, &key) ? etwas_session_find(key) : NULL;
}

struct etwas_session *etwas_session_find_name(const etwas_wchar *name)
{
    for (uint32_t index = 0; index < ETWAS_SESSION_ENTRIES; index++) {
        struct etwas_session *session = &etwas_sessions[index];

        if (session_is_active(session) && etwas_names_equal(session->configuration.name, name)) {
            return session;
        }
    }
    return NULL;
}

static bool entry_name_is_taken(const struct etwas_configuration *configuration)
{
    for (uint32_t index = 0; index < ETWAS_SESSION_ENTRIES; index++) {
        const struct etwas_session *session = &etwas_sessions[index];

        if (session->entry.state != ETWAS_SESSION_FREE &&
            (etwas_names_equal(session->configuration.name, configuration->name) ||
             memcmp(&session->configuration.guid, &configuration->guid,
                    sizeof configuration->guid) == 0)) {
            return true;
        }
    }
    return false;
}

/* R46, R47: private sessions have entries of their own and do not count against the others. */
static struct etwas_session *entry_longest_free(const struct etwas_configuration *configuration)
{
    bool private = etwas_configuration_is_private(configuration);
    uint32_t first = private ? ETWAS_SESSIONS : 0;
    uint32_t end = private ? ETWAS_SESSION_ENTRIES : ETWAS_SESSIONS;
    struct etwas_session *found = NULL;

    for (uint32_t index = first; index < end; index++) {
        struct etwas_session *session = &etwas_sessions[index];

        if (session->entry.state == ETWAS_SESSION_FREE &&
            (found == NULL || session->entry.freed_at < found->entry.freed_at)) {
            found = session;
        }
    }
    return found;
}

/* R47: limits the private sessions with PRIVATE_IN_PROC. */
static bool too_many_in_process(const struct etwas_configuration *configuration)
{
    uint32_t count = 0;

    if (!etwas_configuration_is_in_process(configuration)) {
        return false;
    }
    for (uint32_t index = ETWAS_SESSIONS; index < ETWAS_SESSION_ENTRIES; index++) {
        const struct etwas_session *session = &etwas_sessions[index];

        count += session->entry.state != ETWAS_SESSION_FREE &&
                 etwas_configuration_is_in_process(&session->configuration);
    }
    return count >= ETWAS_IN_PROCESS_SESSIONS;
}

/* R46: those that only run down count, too. */
static bool too_many_system_loggers(const struct etwas_configuration *configuration)
{
    uint32_t count = 0;

    for (uint32_t index = 0; configuration->system_logger && index < ETWAS_SESSIONS; index++) {
        count += etwas_sessions[index].entry.state != ETWAS_SESSION_FREE &&
                 etwas_sessions[index].configuration.system_logger;
    }
    return count >= ETWAS_SYSTEM_LOGGERS;
}

static struct etwas_slot *session_slot(const struct etwas_session *session, uint32_t index)
{
    return etwas_pool_slot(session->buffers.pool, index);
}

static struct etwas_session *entry_reserve_locked(const struct etwas_configuration *configuration,
                                                  uint32_t *code)
{
    struct etwas_session *session;

    if (!etwas_slots_prepare()) {
        *code = ERROR_NOT_ENOUGH_MEMORY;
        return NULL;
    }
    if (entry_name_is_taken(configuration)) {
        *code = ERROR_ALREADY_EXISTS;
        return NULL;
    }
    session = entry_longest_free(configuration);
    if (session == NULL || too_many_in_process(configuration) ||
        too_many_system_loggers(configuration)) {
        *code = ERROR_NO_SYSTEM_RESOURCES;
        return NULL;
    }
    if (configuration->class_count != 0 && !etwas_class_table_prepare(session->index)) {
        *code = ERROR_NOT_ENOUGH_MEMORY;
        return NULL;
    }
    if (!etwas_configuration_is_shared(configuration) &&
        configuration->reach != ETWAS_REACH_DISCOVERABLE) {
        session->entry.generation = next_generation(session->entry.generation);
    } else if (!draw_generation(&session->entry.generation)) {
        *code = ERROR_NO_SYSTEM_RESOURCES;
        return NULL;
    }
    session->entry.state = ETWAS_SESSION_STARTING;
    session->entry.ended_by_full_file = false;
    session->entry.file_name[0] = 0;
    session->configuration = *configuration;
    session->drain.clock_history.count = 0;
    if (etwas_configuration_has_one_slot(configuration)) {
        session->first_slot = etwas_slot_count;
        session->slot_count = etwas_configuration_class_rows(configuration);
    } else {
        bool has_extra =
            configuration->protocol == ETWAS_PROTOCOL_RSEQ || configuration->system_logger;

        session->first_slot = 0;
        session->slot_count =
            etwas_configuration_class_rows(configuration) *
                (etwas_slot_count + (has_extra ? 1 : 0)) +
            (etwas_configuration_is_shared(configuration) ? ETWAS_GUEST_SLOTS : 0);
    }
    return session;
}

/*
 * Returns the slot's last word. A slot with rseq keeps no epoch. A later shared slot continues
 * where the entry's shared slots ended, so that no writer of these that still sleeps finds its word
 * again.
 */
static uint64_t slot_last_word(struct etwas_session *session, const struct etwas_slot *slot)
{
    uint64_t word = ck_pr_load_64(&slot->word);

    /*
     * A sleeping writer of a guest may know a word of another process's session, so the epoch is as
     * random as the gate.
     */
    if (etwas_configuration_is_shared(&session->configuration)) {
        return etwas_slot_word(session->entry.generation, ETWAS_NO_BUFFER, ETWAS_NO_ROOM);
    }
    if ((word & ETWAS_WORD_SHARED) == 0) {
        return etwas_slot_word(session->entry.epoch, ETWAS_NO_BUFFER, ETWAS_NO_ROOM);
    }
    if (etwas_word_count(word) > session->entry.epoch) {
        session->entry.epoch = etwas_word_count(word);
    }
    return word;
}

struct etwas_session *etwas_session_reserve_entry(const struct etwas_configuration *configuration,
                                                  uint32_t *code)
{
    struct etwas_session *session;

    (void)etwas_processor_count(); /* reads a file, the first time */
    etwas_control_lock();
    session = entry_reserve_locked(configuration, code);
    etwas_control_unlock();
    if (session == NULL) {
        return NULL;
    }
    (void)pthread_mutex_lock(&session->buffers.pool_lock);
    /* A pool leaked by the entry's last session is forgotten with that session's counts. */
    session->buffers.pool = NULL;
    session->buffers.last_counts = (etwas_session_counts){0};
    memset(session->buffers.last_class_rows, 0, sizeof session->buffers.last_class_rows);
    etwas_trigger_reset(&session->trigger);
    session->drain.recorder = NULL;
    session->drain.watch = NULL;
    session->watch_counts = (struct etwas_watch_counts){0};
    (void)pthread_mutex_unlock(&session->buffers.pool_lock);
    ck_pr_store_64(&session->totals.buffers_written, 0);
    ck_pr_store_64(&session->totals.buffers_lost, 0);
    ck_pr_store_64(&session->totals.sync_errors, 0);
    ck_pr_store_64(&session->totals.realtime_buffers_lost, 0);
    ck_pr_store_64(&session->totals.lost_in_kernel, 0);
    ck_pr_store_64(&session->totals.lost_unattached, 0);
    ck_pr_store_32(&session->totals.unattached_processes, 0);
    ck_pr_store_32(&session->totals.unattached_code, 0);
    ck_pr_store_32(&session->totals.unattached_total, 0);
    ck_pr_store_32(&session->takes_stacks, 0);
    ck_pr_store_32(&session->guests, ETWAS_GUESTS_MAY_BE_THERE);
    ck_pr_store_32(&session->flusher.quit, 0);
    ck_pr_store_32(&session->flusher.thread_id, 0);
    return session;
}

void etwas_session_set_pool(struct etwas_session *session, struct etwas_pool *pool)
{
    (void)pthread_mutex_lock(&session->buffers.pool_lock);
    session->buffers.pool = pool;
    (void)pthread_mutex_unlock(&session->buffers.pool_lock);
    /* The flusher reads the slots before they are opened, and a zeroed word would name buffer 0. */
    for (uint32_t index = 0; index < session->slot_count; index++) {
        struct etwas_slot *slot = session_slot(session, index);

        ck_pr_store_64(&slot->word, etwas_word_empty(slot_last_word(session, slot)));
        for (uint32_t cause = 0; cause < ETWAS_SLOT_LOSSES; cause++) {
            ck_pr_store_64(&slot->counters.lost[cause], 0);
        }
        ck_pr_store_64(&slot->counters.restarts, 0);
        ck_pr_store_64(&slot->counters.shut_stored, 0);
        ck_pr_store_64(&slot->counters.shut_overwritten, 0);
    }
}

void etwas_session_set_file(struct etwas_session *session, struct etwas_log_file *file)
{
    etwas_control_lock();
    session->drain.file = file;
    etwas_control_unlock();
}

/*
 * Makes a path for a process that reads it after this one, and its working directory, are gone.
 * Empty: there is none.
 */
static void file_path_of(const etwas_wchar *file_name,
                         char path[ETWAS_PATH_BYTES + ETWAS_SHARED_NAME_BYTES])
{
    char *name = path;

    path[0] = 0;
    if (file_name[0] != '/' && file_name[0] != 0 && getcwd(path, ETWAS_SHARED_NAME_BYTES) != NULL) {
        name += strlen(path);
        *name++ = '/';
    }
    if (etwas_configuration_path(file_name, name) != ERROR_SUCCESS) {
        path[0] = 0;
    }
}

void etwas_session_set_file_name(struct etwas_session *session, const etwas_wchar *file_name)
{
    size_t units = etwas_utf16_length(file_name, ETWAS_NAME_UNITS);
    char path[ETWAS_PATH_BYTES + ETWAS_SHARED_NAME_BYTES] = "";

    if (session->mapping != NULL) {
        file_path_of(file_name, path); /* calls the system, and so precedes the lock */
    }
    etwas_control_lock();
    memcpy(session->entry.file_name, file_name, (units + 1) * sizeof *file_name);
    if (session->mapping != NULL) {
        etwas_shared_set_file(session->mapping, path);
    }
    etwas_control_unlock();
}

void etwas_session_free_entry(struct etwas_session *session, bool ended_by_full_file)
{
    etwas_control_lock();
    session->entry.ended_by_full_file = ended_by_full_file;
    session->entry.freed_at = ++entries_freed;
    session->entry.state = ETWAS_SESSION_FREE;
    etwas_control_unlock();
    etwas_wake(&entries_changed, ck_ec32_value(&entries_changed));
}

uint32_t etwas_session_await_end(struct etwas_session_key key, uint64_t timeout_ns)
{
    uint64_t begun_ns = etwas_monotonic_ns();
    bool is_known = false;

    for (;;) {
        /* Before the look: an entry that is freed after this ends the wait. */
        uint32_t seen = ck_ec32_value(&entries_changed);
        uint64_t passed_ns = etwas_monotonic_ns() - begun_ns;
        bool runs;

        etwas_control_lock();
        is_known = is_known || etwas_session_is_remembered(key);
        runs = etwas_session_find(key) != NULL;
        etwas_control_unlock();
        if (!runs) {
            return is_known ? ERROR_SUCCESS : ERROR_INVALID_HANDLE;
        }
        if (passed_ns >= timeout_ns) {
            return ERROR_TIMEOUT;
        }
        etwas_wait(&entries_changed, seen, timeout_ns - passed_ns);
    }
}

/* ---- the gates ------------------------------------------------------------------------------- */

static uint32_t session_slot_kind(const struct etwas_session *session, bool is_rseq)
{
    const struct etwas_configuration *configuration = &session->configuration;
    uint32_t kind = etwas_slot_kind(configuration->clock,
                                    is_rseq ? ETWAS_PROTOCOL_RSEQ : ETWAS_PROTOCOL_SHARED);

    if (configuration->process_times) {
        kind |= etwas_configuration_is_private(configuration) ? ETWAS_KIND_PROCESSOR_TIME
                                                              : ETWAS_KIND_TIMES;
    }
    if (configuration->class_count != 0) {
        kind |= configuration->class_count << ETWAS_KIND_CLASSES_SHIFT |
                (session->index + 1) << ETWAS_KIND_TABLE_SHIFT;
    }
    return etwas_configuration_has_one_slot(configuration) ? kind | ETWAS_KIND_ONE_SLOT : kind;
}

void etwas_session_open(struct etwas_session *session)
{
    struct etwas_pool *pool = session->buffers.pool;
    /* A session that is not for this process runs with closed gates. */
    uint32_t gate = session->configuration.filtered_out ? 0 : etwas_session_gate(session);

    etwas_sequence_numbers_begin(&session->sequence_numbers, session->entry.generation,
                                 session->configuration.log_file_mode);
    if (session->configuration.class_count != 0) {
        etwas_class_table_fill(session->index, session->configuration.classes,
                               session->configuration.class_count);
    }

    for (uint32_t index = 0; index < session->slot_count; index++) {
        struct etwas_slot *slot = session_slot(session, index);
        bool is_rseq = etwas_pool_is_rseq_slot(pool, index);
        uint32_t kind = session_slot_kind(session, is_rseq);

        etwas_pool_set_slot_local(pool, index, kind);
        ck_pr_store_32(&slot->kind, kind);
        ck_pr_store_32(&slot->next_buffer, 0);
        ck_pr_store_64(&slot->newest, (uint64_t)etwas_clock_reading_stamp(
                                          &session->started, session->configuration.clock));
        ck_pr_store_32(&slot->processor, is_rseq ? index % etwas_slot_count : etwas_slot_count);
        ck_pr_store_64(&slot->word,
                       is_rseq ? etwas_word_none() : etwas_word_empty(ck_pr_load_64(&slot->word)));
        /*
         * A thread that sees the gate open, or the word, sees everything above. Pairs with L1 and
         * the gate.
         */
        ck_pr_fence_release();
        ck_pr_store_32(&slot->gate, gate);
    }
    etwas_control_lock();
    session->entry.state = ETWAS_SESSION_RUNNING;
    etwas_control_unlock();
}

void etwas_session_close(struct etwas_session *session)
{
    for (uint32_t index = 0; index < session->slot_count; index++) {
        ck_pr_store_32(&session_slot(session, index)->gate, 0);
    }
    /* Pairs with V1: it comes before the load of the slow-path writers. */
    ck_pr_fence_memory();
}

bool etwas_session_has_no_slow_writers(const struct etwas_session *session, uint32_t slots)
{
    for (uint32_t index = 0; index < slots; index++) {
        if (ck_pr_load_32(&session_slot(session, index)->slow_writers) != 0) {
            return false;
        }
    }
    ck_pr_fence_acquire(); /* pairs with V2 */
    return true;
}
