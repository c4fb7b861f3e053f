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
#include "platform/time_namespace.h"
#include "platform/wait.h"
#include "provider/enabling.h"
#include "registry/connection.h"
#include "registry/host_session.h"
#include "registry/notification.h"
#include "registry/sessions.h"
#include "shared/layout.h"
#include "sharing/apply.h"
#include "sharing/host_consumers.h"
#include "sharing/host_entry.h"
#include "sharing/host_guests.h"
#include "sharing/host_unattached.h"
#include "sharing/other_processes.h"
#include "sharing/private_instance.h"
#include "sharing/reconcile.h"
#include "sharing/service.h"
#include "sharing/sharing.h"

enum {
    CLOSING_TIMEOUT_MS = 1000, /* for the guests' callbacks */
    IDLE_TIMEOUT_NS = 1000000000,
    DYING_PAUSE_NS = 1000000,
};

#define DYING_TIMEOUT_NS UINT64_C(2000000000)

/* Indexed by the session's index in the table. Guarded by `hosting`. */
struct host {
    bool is_open;
    /*
     * the session's handle; by the time a connection comes, its entry of the table may be another
     * session's
     */
    uint64_t handle;
    struct etwas_host_entry published;
    uint32_t not_restored; /* why its files could not be restored, the last time */
};

static struct host hosts[ETWAS_SESSION_ENTRIES];
static pthread_mutex_t hosting = PTHREAD_MUTEX_INITIALIZER;
/* cancellation state of the thread that holds the lock, from before it took it */
static int cancelling;

/*
 * Cancellation is disabled while the lock is held, since the code under it has cancellation points.
 */
static void host_lock(void)
{
    int before = etwas_cancel_forbid();

    (void)pthread_mutex_lock(&hosting);
    cancelling = before;
}

static void host_unlock(void)
{
    int before = cancelling;

    (void)pthread_mutex_unlock(&hosting);
    etwas_cancel_allow(before);
}

/* ---- notifying: with `hosting` held ---------------------------------------------------------- */

static struct etwas_notification host_notification(const struct host *host)
{
    struct etwas_notification notification = {
        .op = ETWAS_NOTIFY_CHANGED,
        .number = host->published.entry.number,
        .session = host->published.entry.session,
    };

    (void)strcpy(notification.sender, etwas_service_name());
    return notification;
}

/*
 * Notifies all processes. `waiter` counts their acknowledgements; NULL: none are wanted. *notified
 * is set to the number of processes.
 */
static void host_notify_all(const struct host *host, struct etwas_waiter *waiter,
                            uint32_t *notified)
{
    struct etwas_notification notification = host_notification(host);

    if (waiter != NULL) {
        etwas_answers_begin((uint32_t)(host - hosts), waiter, &notification);
    } else {
        notification.sender[0] = '\0';
    }
    (void)etwas_registry_notify_all(&notification, notified);
}

/* ---- begin, open, close, end ----------------------------------------------------------------- */

static void host_free_template(struct host *host)
{
    free(host->published.entry.private);
    host->published.entry.private = NULL;
}

static void host_fill_entry(struct etwas_registry_entry *entry, const struct etwas_session *session)
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

static bool host_is_needed(const struct etwas_session *session)
{
    return session->configuration.reach != ETWAS_REACH_PROCESS;
}

/*
 * Whether the name or GUID may become free soon. Its process may be dying, and keeps both until its
 * memory has been freed. It may also have lost its entry already, or have none yet.
 */
static bool host_name_may_become_free(const struct etwas_registry_entry *wanted)
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

/*
 * Called with `hosting` held, which is released while it waits for a dying host; no other thread
 * uses the entry.
 */
static uint32_t host_open_registry(struct etwas_host_entry *published)
{
    const struct timespec pause = {.tv_nsec = DYING_PAUSE_NS};
    const uint64_t deadline_ns = etwas_monotonic_ns() + DYING_TIMEOUT_NS;
    uint32_t code = etwas_registry_host_open(&published->registry, &published->entry);

    while (code == ERROR_ALREADY_EXISTS && etwas_monotonic_ns() < deadline_ns &&
           host_name_may_become_free(&published->entry)) {
        host_unlock();
        (void)nanosleep(&pause, NULL);
        host_lock();
        code = etwas_registry_host_open(&published->registry, &published->entry);
    }
    return code;
}

uint32_t etwas_host_begin(struct etwas_session *session)
{
    struct host *host = &hosts[session->index];
    uint32_t code;

    if (!host_is_needed(session)) {
        return ERROR_SUCCESS;
    }
    etwas_answers_prepare();
    code = etwas_reconcile_begin();
    if (code != ERROR_SUCCESS) {
        return code;
    }
    host_lock();
    host->not_restored = ERROR_SUCCESS;
    host->published.registry = ETWAS_REGISTRY_NO_HOST;
    host_fill_entry(&host->published.entry, session);
    if (session->configuration.reach == ETWAS_REACH_TEMPLATE) {
        host->published.entry.kind = ETWAS_REGISTRY_TEMPLATE;
        host->published.entry.private = etwas_private_template_make(&session->configuration);
    }
    if (session->configuration.reach == ETWAS_REACH_SNAPSHOTS) {
        host->published.entry.kind = ETWAS_REGISTRY_RECORDER;
    }
    etwas_host_spares_begin();
    code = host->published.entry.kind == ETWAS_REGISTRY_TEMPLATE &&
                   host->published.entry.private == NULL
               ? (uint32_t)ERROR_NOT_ENOUGH_MEMORY
               : host_open_registry(&host->published);
    host->is_open = code == ERROR_SUCCESS;
    if (!host->is_open) {
        etwas_host_spares_end();
        host_free_template(host);
    }
    host->handle = etwas_session_handle(etwas_session_key(session));
    host_unlock();
    return code;
}

void etwas_host_open(struct etwas_session *session)
{
    struct host *host = &hosts[session->index];

    if (!host_is_needed(session)) {
        return;
    }
    if (etwas_configuration_is_shared(&session->configuration)) {
        etwas_host_guests_begin(session);
    }
    host_lock();
    host->published.entry.state = ETWAS_REGISTRY_OPEN;
    host->published.entry.gate =
        host->published.entry.kind == ETWAS_REGISTRY_SHARED ? session->entry.generation : 0;
    host->published.entry.unshared = session->configuration.reach == ETWAS_REACH_DISCOVERABLE
                                         ? session->configuration.unshared
                                         : 0;
    host->published.entry.number++;
    /*
     * If this cannot be published the next change publishes it. No process has to reconcile a
     * shared session that enables nothing.
     */
    if (etwas_host_entry_publish(&host->published) == ERROR_SUCCESS &&
        host->published.entry.private != NULL) {
        host_notify_all(host, NULL, NULL);
    }
    (void)etwas_service_watch(host->published.registry.listener, false,
                              session->configuration.reach == ETWAS_REACH_SNAPSHOTS
                                  ? etwas_host_accept_controller
                                  : etwas_host_accept,
                              host->handle);
    host_unlock();
}

/* Ends the instances, and waits for them. */
static void host_close_template(uint32_t index)
{
    struct host *host = &hosts[index];
    struct etwas_waiter waiter;
    uint32_t notified = 0;

    host_lock();
    host->published.entry.state = ETWAS_REGISTRY_CLOSING;
    host->published.entry.number++;
    etwas_host_entry_clear(&host->published);
    (void)etwas_host_entry_publish(&host->published);
    host_notify_all(host, &waiter, &notified);
    host_unlock();
    (void)etwas_answers_wait(index, &waiter, notified, ETWAS_ANSWER_TIMEOUT_MS);
}

void etwas_host_closing(struct etwas_session *session)
{
    struct host *host = &hosts[session->index];
    struct etwas_notification notification;
    uint64_t number;

    if (!host_is_needed(session)) {
        return;
    }
    if (session->configuration.reach == ETWAS_REACH_TEMPLATE) {
        host_close_template(session->index);
        return;
    }
    host_lock();
    if (!host->is_open) {
        host_unlock();
        return;
    }
    host->published.entry.state = ETWAS_REGISTRY_CLOSING;
    number = ++host->published.entry.number;
    etwas_host_entry_clear(&host->published);
    /* The account is closed below: from here on no process may find the session open. */
    if (etwas_host_entry_publish(&host->published) != ERROR_SUCCESS) {
        etwas_registry_host_withdraw(&host->published.registry);
    }
    notification = host_notification(host);
    host_unlock();
    /*
     * A host that was stopped has not yet received the reports of the processes that wanted to log
     * meanwhile. A process that reports later reads the entry afterwards, finds it closing, and
     * enables nothing (reconcile.c: reconcile_counted).
     */
    etwas_service_wait_idle(etwas_monotonic_ns() + IDLE_TIMEOUT_NS);
    if (etwas_host_guests_count(session) != 0 ||
        !etwas_host_unattached_have_acknowledged(host->handle, number)) {
        notification.sender[0] = '\0';
        (void)etwas_registry_notify_all(&notification, NULL);
        etwas_host_guests_wait(session, number, CLOSING_TIMEOUT_MS);
    }
    etwas_host_unattached_end_all(host->handle);
}

void etwas_host_end(struct etwas_session *session)
{
    struct host *host = &hosts[session->index];

    if (!host_is_needed(session)) {
        return;
    }
    host_lock();
    if (host->is_open) {
        int listener = host->published.registry.listener;

        /* Its handler takes no lock of this file. */
        (void)etwas_service_unwatch(listener, host->handle);
        etwas_registry_host_close(&host->published.registry);
        etwas_host_spares_end();
        etwas_host_entry_clear(&host->published);
        host_free_template(host);
        host->is_open = false;
        /* No pass restores its files again, so the refusal would stay for good. */
        etwas_sharing_store_restored(&host->not_restored, ERROR_SUCCESS);
        etwas_answers_end(session->index);
    }
    host_unlock();
    if (etwas_configuration_is_shared(&session->configuration)) {
        etwas_host_guests_end(session);
        etwas_host_unattached_end_all(host->handle); /* those that reported after it was closing */
    }
}

/* `waiter` and `notified` as for host_notify_all. Called with `hosting` held. */
static uint32_t host_change_and_notify(struct host *host, uint32_t control_code,
                                       const struct etwas_registry_enablement *enablement,
                                       struct etwas_waiter *waiter, uint32_t *notified)
{
    uint32_t code = etwas_host_entry_change(&host->published, control_code, enablement);

    if (code == ERROR_SUCCESS) {
        host_notify_all(host, waiter, notified);
    }
    return code;
}

bool etwas_host_may_enable(const struct etwas_enable_request *request)
{
    const uint64_t handle = request->enablement.session;
    struct etwas_session_key key;
    struct host *host;
    etwas_guid session;
    bool is_new;

    if (!etwas_session_key_of(handle, &key)) {
        return true;
    }
    host = &hosts[key.index];
    host_lock();
    is_new = host->is_open && host->handle == handle &&
             host->published.entry.kind == ETWAS_REGISTRY_SHARED &&
             !etwas_host_entry_has(&host->published, request->control, request->is_group);
    session = host->published.entry.session;
    host_unlock();
    return !is_new ||
           etwas_other_sessions_leave_room(&session, request->control, request->is_group);
}

uint32_t etwas_host_publish_enablement(const struct etwas_enable_request *request,
                                       const ENABLE_TRACE_PARAMETERS *parameters)
{
    const uint64_t handle = request->enablement.session;
    const uint32_t timeout_ms = request->timeout_ms;
    struct etwas_registry_enablement enablement;
    struct etwas_session_key key;
    struct etwas_waiter waiter;
    uint32_t notified = 0;
    uint32_t code = ERROR_SUCCESS;
    bool is_notified = false;
    struct host *host;
    ETWAS_UNCANCELLED_SCOPE;

    if (!etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_PARAMETER;
    }
    etwas_enablement_record(&enablement, request, parameters);
    host = &hosts[key.index];
    host_lock();
    if (host->is_open && host->handle == handle &&
        host->published.entry.state == ETWAS_REGISTRY_OPEN &&
        host->published.entry.kind != ETWAS_REGISTRY_RECORDER) {
        code = host_change_and_notify(host, request->control_code, &enablement,
                                      timeout_ms != 0 ? &waiter : NULL, &notified);
        is_notified = code == ERROR_SUCCESS;
    }
    host_unlock();
    if (is_notified && timeout_ms != 0) {
        code = etwas_answers_wait(key.index, &waiter, notified, timeout_ms);
    }
    return code;
}

uint32_t etwas_host_control_instances(uint64_t handle, uint32_t control_code, uint32_t flush_timer,
                                      const etwas_wchar *file_name)
{
    const uint32_t index = etwas_handle_index(handle) - 1;
    struct host *host = &hosts[index];
    struct etwas_waiter waiter;
    uint32_t notified = 0;
    uint32_t code = ERROR_SUCCESS;
    bool is_notified = false;
    ETWAS_UNCANCELLED_SCOPE;

    host_lock();
    if (host->is_open && host->handle == handle &&
        host->published.entry.state == ETWAS_REGISTRY_OPEN) {
        etwas_private_template_change(&host->published.entry, control_code, flush_timer, file_name);
        host->published.entry.number++;
        code = etwas_host_entry_publish(&host->published);
        is_notified = code == ERROR_SUCCESS;
    }
    if (is_notified) {
        host_notify_all(host, &waiter, &notified);
    }
    host_unlock();
    if (is_notified) {
        code = etwas_answers_wait(index, &waiter, notified, ETWAS_ANSWER_TIMEOUT_MS);
    }
    return code;
}

/* Called with `hosting` held. */
static bool host_restore_one(struct host *host)
{
    uint32_t *unshared = &etwas_sessions[host - hosts].configuration.unshared;
    bool is_anew;
    uint32_t code =
        etwas_registry_host_restore(&host->published.registry, &host->published.entry, &is_anew);

    if (!is_anew) {
        return false;
    }
    if (code == ERROR_SUCCESS) {
        code = etwas_host_entry_publish(&host->published);
    }
    etwas_sharing_store_restored(&host->not_restored, code);
    /*
     * The code is stored before the session counts as hidden, so a thread that reads the second may
     * read the first. Pairs with counts_unshared_reason.
     */
    ck_pr_fence_release();
    if (host->published.entry.unshared == 0) {
        ck_pr_store_32(unshared, code == ERROR_SUCCESS ? 0 : ETWAS_UNSHARED_HIDDEN);
    }
    if (code != ERROR_SUCCESS) {
        return false;
    }
    host_notify_all(host, NULL, NULL);
    return true;
}

bool etwas_host_restore(void)
{
    bool any = false;

    for (uint32_t index = 0; index < ETWAS_SESSION_ENTRIES; index++) {
        host_lock();
        if (hosts[index].is_open && hosts[index].published.entry.state == ETWAS_REGISTRY_OPEN) {
            any = host_restore_one(&hosts[index]) || any;
        }
        host_unlock();
    }
    if (any) {
        etwas_service_refresh();
    }
    return any;
}

bool etwas_host_has(const etwas_guid *session)
{
    bool has = false;

    host_lock();
    for (uint32_t index = 0; index < ETWAS_SESSION_ENTRIES; index++) {
        has = has || (hosts[index].is_open &&
                      memcmp(&hosts[index].published.entry.session, session, sizeof *session) == 0);
    }
    host_unlock();
    return has;
}

/* ---- fork ------------------------------------------------------------------------------------ */

void etwas_host_before_fork(void)
{
    host_lock();
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
            etwas_registry_host_forget(&hosts[index].published.registry);
            etwas_host_entry_clear(&hosts[index].published);
            host_free_template(&hosts[index]);
            hosts[index].is_open = false;
        }
    }
    if (is_child) {
        etwas_host_spares_forget();
    }
    etwas_answers_after_fork(is_child);
    host_unlock();
}
