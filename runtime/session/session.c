/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "session/session.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

struct etwas_session etwas_sessions[ETWAS_SESSIONS];

static pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER;
static uint64_t places_freed; /* under the control lock */

void etwas_control_lock(void)
{
    (void)pthread_mutex_lock(&control);
}

void etwas_control_unlock(void)
{
    (void)pthread_mutex_unlock(&control);
}

void etwas_sessions_prepare(void)
{
    for (uint32_t index = 0; index < ETWAS_SESSIONS; index++) {
        etwas_sessions[index].index = index;
        (void)pthread_mutex_init(&etwas_sessions[index].life, NULL);
        (void)pthread_mutex_init(&etwas_sessions[index].role, NULL);
    }
}

/* 0 is a closed gate; after 4 billion sessions in a place the count begins again. */
static uint32_t next_generation(uint32_t generation)
{
    return generation == UINT32_MAX ? 1 : generation + 1;
}

void etwas_sessions_forget(void)
{
    for (uint32_t index = 0; index < ETWAS_SESSIONS; index++) {
        struct etwas_session *session = &etwas_sessions[index];

        /* The kernel has wiped the gates; where it could not, they are closed here. */
        if (session->state != ETWAS_SESSION_FREE) {
            etwas_session_close(session);
            session->state = ETWAS_SESSION_FREE;
        }
        session->pool = NULL;
        session->file = NULL;
        /* The parent's handles name nothing here, not even last counts. */
        session->generation = next_generation(session->generation);
        /* Their owners were the parent's threads. */
        (void)pthread_mutex_init(&session->life, NULL);
        (void)pthread_mutex_init(&session->role, NULL);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

struct etwas_session_key etwas_session_key(const struct etwas_session *session)
{
    return (struct etwas_session_key){session->index, session->generation};
}

static bool is_active(const struct etwas_session *session)
{
    return session->state == ETWAS_SESSION_RUNNING || session->state == ETWAS_SESSION_STOPPING;
}

bool etwas_session_is_remembered(struct etwas_session_key key)
{
    return etwas_sessions[key.index].generation == key.generation;
}

struct etwas_session *etwas_session_find(struct etwas_session_key key)
{
    struct etwas_session *session = &etwas_sessions[key.index];

    return session->generation == key.generation && is_active(session) ? session : NULL;
}

struct etwas_session *etwas_session_find_name(const etwas_wchar *name)
{
    for (uint32_t index = 0; index < ETWAS_SESSIONS; index++) {
        struct etwas_session *session = &etwas_sessions[index];

        if (is_active(session) && etwas_names_equal(session->configuration.name, name)) {
            return session;
        }
    }
    return NULL;
}

static bool is_taken(const struct etwas_configuration *configuration)
{
    for (uint32_t index = 0; index < ETWAS_SESSIONS; index++) {
        const struct etwas_session *session = &etwas_sessions[index];

        if (session->state != ETWAS_SESSION_FREE &&
            (etwas_names_equal(session->configuration.name, configuration->name) ||
             memcmp(&session->configuration.guid, &configuration->guid,
                    sizeof configuration->guid) == 0)) {
            return true;
        }
    }
    return false;
}

static struct etwas_session *longest_free(void)
{
    struct etwas_session *found = NULL;

    for (uint32_t index = 0; index < ETWAS_SESSIONS; index++) {
        struct etwas_session *session = &etwas_sessions[index];

        if (session->state == ETWAS_SESSION_FREE &&
            (found == NULL || session->freed_at < found->freed_at)) {
            found = session;
        }
    }
    return found;
}

static struct etwas_session *reserve_locked(const struct etwas_configuration *configuration,
                                            uint32_t *code)
{
    struct etwas_session *session;

    if (!etwas_slots_prepare()) {
        *code = ERROR_NOT_ENOUGH_MEMORY;
        return NULL;
    }
    if (is_taken(configuration)) {
        *code = ERROR_ALREADY_EXISTS;
        return NULL;
    }
    session = longest_free();
    if (session == NULL) {
        *code = ERROR_NO_SYSTEM_RESOURCES;
        return NULL;
    }
    session->state = ETWAS_SESSION_STARTING;
    session->generation = next_generation(session->generation);
    session->ended_by_full_file = false;
    session->configuration = *configuration;
    session->slot_count =
        etwas_slot_count + (configuration->protocol == ETWAS_PROTOCOL_RSEQ ? 1 : 0);
    return session;
}

struct etwas_session *etwas_session_reserve(const struct etwas_configuration *configuration,
                                            uint32_t *code)
{
    struct etwas_session *session;

    etwas_control_lock();
    session = reserve_locked(configuration, code);
    etwas_control_unlock();
    if (session == NULL) {
        return NULL;
    }
    (void)pthread_mutex_lock(&session->life);
    /* A pool leaked by the place's last session is forgotten with that session's counts. */
    session->pool = NULL;
    session->last_counts = (etwas_session_counts){0};
    (void)pthread_mutex_unlock(&session->life);
    ck_pr_store_32(&session->buffers_written, 0);
    ck_pr_store_32(&session->buffers_lost, 0);
    ck_pr_store_32(&session->quit, 0);
    ck_pr_store_32(&session->thread_id, 0);
    /* The flusher looks at the slots before they are opened: a zeroed word would name buffer 0. */
    for (uint32_t index = 0; index < session->slot_count; index++) {
        struct etwas_slot *slot = etwas_slot_of(session->index, index);

        ck_pr_store_64(&slot->word, etwas_word_empty(ck_pr_load_64(&slot->word)));
    }
    return session;
}

void etwas_session_set_file(struct etwas_session *session, struct etwas_log_file *file)
{
    etwas_control_lock();
    session->file = file;
    etwas_control_unlock();
}

void etwas_session_free_place(struct etwas_session *session, bool ended_by_full_file)
{
    etwas_control_lock();
    session->ended_by_full_file = ended_by_full_file;
    session->freed_at = ++places_freed;
    session->state = ETWAS_SESSION_FREE;
    etwas_control_unlock();
}

/* ---- the gates ------------------------------------------------------------------------------- */

void etwas_session_open(struct etwas_session *session)
{
    struct etwas_pool *pool = session->pool;

    for (uint32_t index = 0; index < session->slot_count; index++) {
        struct etwas_slot *slot = etwas_slot_of(session->index, index);
        bool sequences = etwas_pool_has_sequences(pool, index);
        uint64_t word = sequences ? 0 : ck_pr_load_64(&slot->word);

        ck_pr_store_32(&slot->kind,
                       etwas_slot_kind(session->configuration.clock,
                                       sequences ? ETWAS_PROTOCOL_RSEQ : ETWAS_PROTOCOL_SHARED));
        ck_pr_store_32(&slot->spare, 0);
        ck_pr_store_32(&slot->limit_units, pool->buffer_bytes / ETWAS_UNIT_BYTES);
        ck_pr_store_ptr(&slot->region, pool->memory.region);
        ck_pr_store_ptr(&slot->buffers, pool->buffers);
        ck_pr_store_ptr(&slot->pool, pool);
        ck_pr_store_64(&slot->newest, (uint64_t)etwas_clock_reading_stamp(
                                          &session->started, session->configuration.clock));
        ck_pr_store_32(&slot->index, index);
        ck_pr_store_64(&slot->word, etwas_word_empty(word));
        /*
         * Everything above is seen by who sees the gate open, or the word. Pairs with L1 and the
         * gate.
         */
        ck_pr_fence_release();
        ck_pr_store_32(&slot->gate, session->generation);
    }
    etwas_control_lock();
    session->state = ETWAS_SESSION_RUNNING;
    etwas_control_unlock();
}

void etwas_session_close(struct etwas_session *session)
{
    for (uint32_t index = 0; index < session->slot_count; index++) {
        ck_pr_store_32(&etwas_slot_of(session->index, index)->gate, 0);
    }
    /* Before the visitors are counted: pairs with V1. */
    ck_pr_fence_memory();
}

bool etwas_session_has_no_visitors(const struct etwas_session *session)
{
    for (uint32_t index = 0; index < session->slot_count; index++) {
        /*
         * Below 0: a child that was forked in the slow path, by a signal handler, came out of it
         * after its slots were wiped.
         */
        if ((int32_t)ck_pr_load_32(&etwas_slot_of(session->index, index)->visitors) > 0) {
            return false;
        }
    }
    ck_pr_fence_acquire(); /* pairs with V2 */
    return true;
}
