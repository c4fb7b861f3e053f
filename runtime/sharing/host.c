/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/host.h"

#include <ck_pr.h>
#include <etwas/shared.h>
#include <etwas/winerror.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/cancel.h"
#include "platform/identity.h"
#include "platform/own_descriptor.h"
#include "platform/time_namespace.h"
#include "platform/wait.h"
#include "registry/connection.h"
#include "registry/host_session.h"
#include "registry/sessions.h"
#include "registry/tell.h"
#include "shared/layout.h"
#include "sharing/host_answers.h"
#include "sharing/host_consumers.h"
#include "sharing/host_entry.h"
#include "sharing/host_guests.h"
#include "sharing/host_request.h"
#include "sharing/host_unattached.h"
#include "sharing/look.h"
#include "sharing/others.h"
#include "sharing/service.h"
#include "sharing/sharing.h"
#include "sharing/template.h"

enum {
    NO_FILES_PAUSE_NS = 10000000,
    CLOSING_PATIENCE_MS = 1000, /* for the callbacks of guests */
    SETTLE_PATIENCE_NS = 1000000000,
    DYING_PAUSE_NS = 1000000,
};

#define DYING_PATIENCE_NS UINT64_C(2000000000)

/* By the session's entry of the table. Under `hosting`. */
struct host {
    bool is_open;
    uint64_t
        handle; /* of the session: its entry of the table may be another's when somebody comes with it */
    struct etwas_host_entry shown;
};

static struct host hosts[ETWAS_SESSION_ENTRIES];
static pthread_mutex_t hosting = PTHREAD_MUTEX_INITIALIZER;
static int cancelling; /* of who hosts, as it was before */

/* Under it there are points of cancellation. */
static void lock(void)
{
    int before = etwas_cancel_forbid();

    (void)pthread_mutex_lock(&hosting);
    cancelling = before;
}

static void unlock(void)
{
    int before = cancelling;

    (void)pthread_mutex_unlock(&hosting);
    etwas_cancel_allow(before);
}

/* ---- telling: under `hosting` ------------------------------------------------------------------ */

static struct etwas_tell look_at(const struct host *host)
{
    struct etwas_tell tell = {
        .op = ETWAS_TELL_LOOK,
        .number = host->shown.entry.number,
        .session = host->shown.entry.session,
    };

    (void)strcpy(tell.sender, etwas_service_name());
    return tell;
}

/* `waiter`: who waits for answers; NULL: nobody does. *told: how many processes there are. */
static void tell_all(const struct host *host, struct etwas_waiter *waiter, uint32_t *told)
{
    struct etwas_tell tell = look_at(host);

    if (waiter != NULL) {
        etwas_answers_begin((uint32_t)(host - hosts), waiter, &tell);
    } else {
        tell.sender[0] = '\0';
    }
    (void)etwas_registry_tell_all(&tell, told);
}

/* ---- a session's life -------------------------------------------------------------------------- */

/* Between watch and unwatch the spare descriptor is the handler's. */
static enum etwas_service_answer accept_for(int listener, uint64_t session,
                                            etwas_service_handler hear)
{
    const struct timespec pause = {.tv_nsec = NO_FILES_PAUSE_NS};
    int *spare = &hosts[etwas_handle_index(session) - 1].shown.registry.spare;
    struct etwas_peer peer;
    int connection;
    uint32_t code = etwas_registry_accept(listener, spare, &connection, &peer);

    if (code == ERROR_BUSY) {
        (void)nanosleep(&pause,
                        NULL); /* it says so at once again, until the program closes files */
    }
    if (code == ERROR_SUCCESS &&
        etwas_service_watch(connection, true, hear, session) != ERROR_SUCCESS) {
        etwas_own_close(connection);
    }
    return ETWAS_SERVICE_KEEP;
}

static enum etwas_service_answer accept_one(int listener, uint64_t session)
{
    return accept_for(listener, session, etwas_host_guests_hear);
}

/* Who asks a recorder of this process alone. */
static enum etwas_service_answer accept_asker(int listener, uint64_t session)
{
    return accept_for(listener, session, etwas_host_snapshots_hear);
}

static void drop_template(struct host *host)
{
    free(host->shown.entry.private);
    host->shown.entry.private = NULL;
}

static void describe(struct etwas_registry_entry *entry, const struct etwas_session *session)
{
    const struct etwas_configuration *configuration = &session->configuration;

    *entry = (struct etwas_registry_entry){
        .session = configuration->guid,
        .number = 1,
        .state = ETWAS_REGISTRY_STARTING,
        .kind = ETWAS_REGISTRY_SHARED,
        .layout = ETWAS_SHARED_MAJOR,
        .log_file_mode = configuration->log_file_mode,
        .clock = configuration->clock,
        .time_offset_ns = etwas_time_offset_ns(),
    };
    memcpy(entry->name, configuration->name, sizeof configuration->name);
}

static bool is_hosted(const struct etwas_session *session)
{
    return session->configuration.is_shared || session->configuration.is_template ||
           session->configuration.is_listed || session->configuration.is_found;
}

/*
 * The process that has its name or GUID is being killed, and keeps both until its memory has been given back; or has lost
 * its entry already, or has none yet.
 */
static bool may_become_free(const struct etwas_registry_entry *wanted)
{
    struct etwas_registry_entry *entry;
    uint32_t code = etwas_registry_find(wanted->name, &entry);
    bool may = true;

    if (code == ERROR_NOT_FOUND) {
        code = etwas_registry_read(&wanted->session, &entry);
    }
    if (code == ERROR_SUCCESS) {
        may = etwas_identity_is_dying(entry->process_id, entry->process_start);
        free(entry);
    }
    return may && (code == ERROR_SUCCESS || code == ERROR_NOT_FOUND);
}

/* Under `hosting`, which others have while a dying host is waited for: the entry is of nobody else. */
static uint32_t open_registry(struct etwas_host_entry *shown)
{
    const struct timespec pause = {.tv_nsec = DYING_PAUSE_NS};
    const uint64_t deadline_ns = etwas_monotonic_ns() + DYING_PATIENCE_NS;
    uint32_t code = etwas_registry_host_open(&shown->registry, &shown->entry);

    while (code == ERROR_ALREADY_EXISTS && etwas_monotonic_ns() < deadline_ns &&
           may_become_free(&shown->entry)) {
        unlock();
        (void)nanosleep(&pause, NULL);
        lock();
        code = etwas_registry_host_open(&shown->registry, &shown->entry);
    }
    return code;
}

uint32_t etwas_host_begin(struct etwas_session *session)
{
    struct host *host = &hosts[session->index];
    uint32_t code;

    if (!is_hosted(session)) {
        return ERROR_SUCCESS;
    }
    etwas_answers_prepare();
    code = etwas_look_begin();
    if (code != ERROR_SUCCESS) {
        return code;
    }
    lock();
    host->shown.registry = ETWAS_REGISTRY_NO_HOST;
    describe(&host->shown.entry, session);
    if (session->configuration.is_template) {
        host->shown.entry.kind = ETWAS_REGISTRY_TEMPLATE;
        host->shown.entry.private = etwas_template_make(&session->configuration);
    }
    if (session->configuration.is_listed) {
        host->shown.entry.kind = ETWAS_REGISTRY_RECORDER;
    }
    code = session->configuration.is_template && host->shown.entry.private == NULL
               ? (uint32_t)ERROR_NOT_ENOUGH_MEMORY
               : open_registry(&host->shown);
    host->is_open = code == ERROR_SUCCESS;
    if (!host->is_open) {
        drop_template(host);
    }
    host->handle = etwas_session_handle(etwas_session_key(session));
    unlock();
    return code;
}

void etwas_host_open(struct etwas_session *session)
{
    struct host *host = &hosts[session->index];

    if (!is_hosted(session)) {
        return;
    }
    if (session->configuration.is_shared) {
        etwas_host_guests_begin(session);
    }
    lock();
    host->shown.entry.state = ETWAS_REGISTRY_OPEN;
    host->shown.entry.gate =
        host->shown.entry.kind == ETWAS_REGISTRY_SHARED ? session->generation : 0;
    host->shown.entry.unshared =
        session->configuration.is_found ? session->configuration.unshared : 0;
    host->shown.entry.number++;
    /* The next change publishes what could not be now. Nobody has to look at a shared session that enables nothing. */
    if (etwas_host_entry_publish(&host->shown) == ERROR_SUCCESS &&
        host->shown.entry.private != NULL) {
        tell_all(host, NULL, NULL);
    }
    (void)etwas_service_watch(host->shown.registry.listener, false,
                              session->configuration.is_listed ? accept_asker : accept_one,
                              host->handle);
    unlock();
}

/* Followers end, and are waited for. */
static void close_template(uint32_t index)
{
    struct host *host = &hosts[index];
    struct etwas_waiter waiter;
    uint32_t told = 0;

    lock();
    host->shown.entry.state = ETWAS_REGISTRY_CLOSING;
    host->shown.entry.number++;
    etwas_host_entry_clear(&host->shown);
    (void)etwas_host_entry_publish(&host->shown);
    tell_all(host, &waiter, &told);
    unlock();
    (void)etwas_answers_wait(index, &waiter, told, ETWAS_ANSWER_PATIENCE_MS);
}

void etwas_host_closing(struct etwas_session *session)
{
    struct host *host = &hosts[session->index];
    struct etwas_tell tell;
    uint64_t number;

    if (!is_hosted(session)) {
        return;
    }
    if (session->configuration.is_template) {
        close_template(session->index);
        return;
    }
    lock();
    host->shown.entry.state = ETWAS_REGISTRY_CLOSING;
    number = ++host->shown.entry.number;
    etwas_host_entry_clear(&host->shown);
    (void)etwas_host_entry_publish(&host->shown);
    tell = look_at(host);
    unlock();
    /*
     * A host that stood still has not heard yet which processes wanted to log meanwhile. One that says so from here on
     * reads the entry afterwards, finds it closing, and enables nothing (look.c: act_counted).
     */
    etwas_service_settle(etwas_monotonic_ns() + SETTLE_PATIENCE_NS);
    if (etwas_host_guests_count(session) != 0 ||
        !etwas_host_unattached_have_seen(host->handle, number)) {
        tell.sender[0] = '\0';
        (void)etwas_registry_tell_all(&tell, NULL);
        etwas_host_guests_wait(session, number, CLOSING_PATIENCE_MS);
    }
    etwas_host_unattached_end_all(host->handle);
}

void etwas_host_end(struct etwas_session *session)
{
    struct host *host = &hosts[session->index];

    if (!is_hosted(session)) {
        return;
    }
    lock();
    if (host->is_open) {
        int listener = host->shown.registry.listener;

        /* Its handler takes no lock of ours. */
        (void)etwas_service_unwatch(listener, host->handle);
        etwas_registry_host_close(&host->shown.registry);
        etwas_host_entry_clear(&host->shown);
        drop_template(host);
        host->is_open = false;
        etwas_answers_end(session->index);
    }
    unlock();
    if (session->configuration.is_shared) {
        etwas_host_guests_end(session);
        etwas_host_unattached_end_all(host->handle); /* who said so after it was closing */
    }
}

/* `waiter` and `told` as for tell_all. Under `hosting`. */
static uint32_t change_and_tell(struct host *host, uint32_t control_code,
                                const struct etwas_registry_enablement *enablement,
                                struct etwas_waiter *waiter, uint32_t *told)
{
    uint32_t code = etwas_host_entry_change(&host->shown, control_code, enablement);

    if (code == ERROR_SUCCESS) {
        tell_all(host, waiter, told);
    }
    return code;
}

bool etwas_host_may_enable(uint64_t handle, const struct etwas_registry_enablement *enablement)
{
    struct etwas_session_key key;
    struct host *host;
    etwas_guid session;
    bool is_new;

    if (!etwas_session_key_of(handle, &key)) {
        return true;
    }
    host = &hosts[key.index];
    lock();
    is_new = host->is_open && host->handle == handle &&
             host->shown.entry.kind == ETWAS_REGISTRY_SHARED &&
             !etwas_host_entry_has(&host->shown, enablement);
    session = host->shown.entry.session;
    unlock();
    return !is_new ||
           etwas_others_leave_room(&session, &enablement->provider, enablement->is_group);
}

uint32_t etwas_host_enabled(uint64_t handle, uint32_t control_code,
                            const struct etwas_registry_enablement *enablement, uint32_t timeout_ms)
{
    struct etwas_session_key key;
    struct etwas_waiter waiter;
    uint32_t told = 0;
    uint32_t code = ERROR_SUCCESS;
    bool is_told = false;
    struct host *host;
    int before;

    if (!etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_PARAMETER;
    }
    before = etwas_cancel_forbid();
    host = &hosts[key.index];
    lock();
    if (host->is_open && host->handle == handle && host->shown.entry.state == ETWAS_REGISTRY_OPEN &&
        host->shown.entry.kind != ETWAS_REGISTRY_RECORDER) {
        code = change_and_tell(host, control_code, enablement, timeout_ms != 0 ? &waiter : NULL,
                               &told);
        is_told = code == ERROR_SUCCESS;
    }
    unlock();
    if (is_told && timeout_ms != 0) {
        code = etwas_answers_wait(key.index, &waiter, told, timeout_ms);
    }
    etwas_cancel_allow(before);
    return code;
}

uint32_t etwas_host_pass_on(uint64_t handle, uint32_t control_code, uint32_t flush_timer,
                            const etwas_wchar *file_name)
{
    const uint32_t index = etwas_handle_index(handle) - 1;
    struct host *host = &hosts[index];
    struct etwas_waiter waiter;
    uint32_t told = 0;
    uint32_t code = ERROR_SUCCESS;
    bool is_told = false;
    int before = etwas_cancel_forbid();

    lock();
    if (host->is_open && host->handle == handle && host->shown.entry.state == ETWAS_REGISTRY_OPEN) {
        etwas_template_note(&host->shown.entry, control_code, flush_timer, file_name);
        host->shown.entry.number++;
        code = etwas_host_entry_publish(&host->shown);
        is_told = code == ERROR_SUCCESS;
    }
    if (is_told) {
        tell_all(host, &waiter, &told);
    }
    unlock();
    if (is_told) {
        code = etwas_answers_wait(index, &waiter, told, ETWAS_ANSWER_PATIENCE_MS);
    }
    etwas_cancel_allow(before);
    return code;
}

/* Under `hosting`. */
static bool restore(struct host *host)
{
    uint32_t *unshared = &etwas_sessions[host - hosts].configuration.unshared;
    bool is_anew;
    uint32_t code =
        etwas_registry_host_restore(&host->shown.registry, &host->shown.entry, &is_anew);

    if (!is_anew) {
        return false;
    }
    if (code == ERROR_SUCCESS) {
        code = etwas_host_entry_publish(&host->shown);
    }
    if (host->shown.entry.unshared == 0) {
        ck_pr_store_32(unshared, code == ERROR_SUCCESS ? 0 : ETWAS_UNSHARED_HIDDEN);
    }
    if (code != ERROR_SUCCESS) {
        etwas_sharing_was_refused(code);
        return false;
    }
    tell_all(host, NULL, NULL);
    return true;
}

bool etwas_host_restore(void)
{
    bool any = false;

    for (uint32_t index = 0; index < ETWAS_SESSION_ENTRIES; index++) {
        lock();
        if (hosts[index].is_open && hosts[index].shown.entry.state == ETWAS_REGISTRY_OPEN) {
            any = restore(&hosts[index]) || any;
        }
        unlock();
    }
    if (any) {
        etwas_service_listen_again();
    }
    return any;
}

bool etwas_host_has(const etwas_guid *session)
{
    bool has = false;

    lock();
    for (uint32_t index = 0; index < ETWAS_SESSION_ENTRIES; index++) {
        has = has || (hosts[index].is_open &&
                      memcmp(&hosts[index].shown.entry.session, session, sizeof *session) == 0);
    }
    unlock();
    return has;
}

/* ---- fork -------------------------------------------------------------------------------------- */

void etwas_host_before_fork(void)
{
    lock();
    etwas_answers_before_fork();
    etwas_host_guests_before_fork();
    etwas_host_consumers_before_fork();
}

void etwas_host_after_fork(bool is_child)
{
    etwas_host_consumers_after_fork(is_child);
    etwas_host_guests_after_fork(is_child);
    for (uint32_t index = 0; is_child && index < ETWAS_SESSION_ENTRIES; index++) {
        if (hosts[index].is_open) {
            etwas_registry_host_forget(&hosts[index].shown.registry);
            etwas_host_entry_clear(&hosts[index].shown);
            drop_template(&hosts[index]);
            hosts[index].is_open = false;
        }
    }
    etwas_answers_after_fork(is_child);
    unlock();
}
