/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/host.h"

#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control/host_answers.h"
#include "control/host_consumers.h"
#include "control/host_guests.h"
#include "control/host_request.h"
#include "control/host_unattached.h"
#include "control/look.h"
#include "control/others.h"
#include "control/service.h"
#include "control/template.h"
#include "platform/cancel.h"
#include "platform/own_descriptor.h"
#include "platform/wait.h"
#include "registry/connection.h"
#include "registry/host_session.h"
#include "registry/tell.h"
#include "shared/layout.h"

enum {
    NO_FILES_PAUSE_NS = 10000000,
    CLOSING_PATIENCE_MS = 1000, /* for the callbacks of guests */
    SETTLE_PATIENCE_NS = 100000000,
};

/* An enablement that the entry has, and the bytes that its filters are in. */
struct kept {
    struct etwas_registry_enablement enablement;
    void *bytes;
};

/* By the session's entry of the table. Under `hosting`. */
struct host {
    bool is_open;
    uint64_t
        handle; /* of the session: its entry of the table may be another's when somebody comes with it */
    struct etwas_registry_host registry;
    /* Its enablements are put together from `kept`; its template is its own. */
    struct etwas_registry_entry entry;
    struct kept *kept;
    uint32_t kept_count;
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

/* ---- the entry: under `hosting` ---------------------------------------------------------------- */

/* Replaces what others read. On failure they read what they did. */
static uint32_t publish(struct host *host)
{
    struct etwas_registry_enablement *list = NULL;
    uint32_t code;

    if (host->kept_count != 0) {
        list = malloc(host->kept_count * sizeof *list);
        if (list == NULL) {
            return ERROR_NOT_ENOUGH_MEMORY;
        }
        for (uint32_t index = 0; index < host->kept_count; index++) {
            list[index] = host->kept[index].enablement;
        }
    }
    host->entry.enablements = list;
    host->entry.enablement_count = host->kept_count;
    code = etwas_registry_host_publish(&host->registry, &host->entry);
    host->entry.enablements = NULL;
    free(list);
    return code;
}

static struct etwas_tell look_at(const struct host *host)
{
    struct etwas_tell tell = {
        .op = ETWAS_TELL_LOOK,
        .number = host->entry.number,
        .session = host->entry.session,
    };

    (void)strcpy(tell.sender, etwas_service_name());
    return tell;
}

static void drop_kept(struct host *host, uint32_t index)
{
    free(host->kept[index].bytes);
    host->kept[index] = host->kept[--host->kept_count];
}

/* What it enables. */
static void drop_all(struct host *host)
{
    while (host->kept_count != 0) {
        drop_kept(host, 0);
    }
    free(host->kept);
    host->kept = NULL;
}

static void drop_template(struct host *host)
{
    free(host->entry.private);
    host->entry.private = NULL;
}

static struct kept *find_kept(struct host *host, const struct etwas_registry_enablement *like)
{
    for (uint32_t index = 0; index < host->kept_count; index++) {
        const struct etwas_registry_enablement *one = &host->kept[index].enablement;

        if (one->is_group == like->is_group &&
            memcmp(&one->provider, &like->provider, sizeof like->provider) == 0) {
            return &host->kept[index];
        }
    }
    return NULL;
}

/* A copy with filters of its own. */
static uint32_t copy(struct kept *kept, const struct etwas_registry_enablement *enablement)
{
    size_t size = 0;
    size_t used;
    uint32_t code;

    (void)etwas_registry_put_enablement(enablement, NULL, 0, &size);
    kept->bytes = malloc(size);
    if (kept->bytes == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = etwas_registry_put_enablement(enablement, kept->bytes, size, &used);
    if (code == ERROR_SUCCESS) {
        code = etwas_registry_get_enablement(kept->bytes, size, &kept->enablement, &used);
    }
    if (code != ERROR_SUCCESS) {
        free(kept->bytes);
    }
    return code;
}

/* `before`: what it replaced, with bytes that are the caller's; of one that is new it has none. */
static uint32_t keep(struct host *host, const struct etwas_registry_enablement *enablement,
                     struct kept *before)
{
    struct kept *known = find_kept(host, enablement);
    struct kept *more;
    struct kept kept;
    uint32_t code = copy(&kept, enablement);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    kept.enablement.number = host->entry.number + 1;
    kept.enablement.captured = known != NULL ? known->enablement.captured : 0;
    if (known != NULL) {
        *before = *known;
        *known = kept;
        return ERROR_SUCCESS;
    }
    more = realloc(host->kept, (host->kept_count + 1) * sizeof *more);
    if (more == NULL) {
        free(kept.bytes);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    host->kept = more;
    host->kept[host->kept_count++] = kept;
    return ERROR_SUCCESS;
}

/* An enablement that cannot be published, for it would be too much, must not keep others from it. */
static uint32_t publish_kept(struct host *host, const struct etwas_registry_enablement *enablement)
{
    struct kept before = {.bytes = NULL};
    uint32_t code = keep(host, enablement, &before);
    struct kept *known;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    host->entry.number++;
    code = publish(host);
    if (code == ERROR_SUCCESS) {
        free(before.bytes);
        return code;
    }
    known = find_kept(host, enablement);
    if (before.bytes != NULL) {
        free(known->bytes);
        *known = before;
    } else {
        drop_kept(host, (uint32_t)(known - host->kept));
    }
    return code;
}

/* What cannot be published guests still act by: then it stays, and may be disabled again. */
static uint32_t publish_without(struct host *host, struct kept *known)
{
    const struct kept gone = *known;
    uint32_t code;

    *known = host->kept[--host->kept_count];
    host->entry.number++;
    code = publish(host);
    if (code == ERROR_SUCCESS) {
        free(gone.bytes);
    } else {
        host->kept[host->kept_count++] = gone;
    }
    return code;
}

/* `known`: the enablement whose providers are asked for their state; NULL: none is, and nobody has to act. */
static uint32_t publish_capture(struct host *host, struct kept *known)
{
    uint64_t before;
    uint32_t code;

    if (known == NULL) {
        return ERROR_SUCCESS;
    }
    before = known->enablement.captured;
    known->enablement.captured = ++host->entry.number;
    code = publish(host);
    if (code != ERROR_SUCCESS) {
        known->enablement.captured = before; /* else the next change would ask for it */
    }
    return code;
}

static uint32_t change(struct host *host, uint32_t control_code,
                       const struct etwas_registry_enablement *enablement)
{
    struct kept *known;

    if (control_code == EVENT_CONTROL_CODE_ENABLE_PROVIDER) {
        return publish_kept(host, enablement);
    }
    known = find_kept(host, enablement);
    if (known != NULL && control_code == EVENT_CONTROL_CODE_DISABLE_PROVIDER) {
        return publish_without(host, known);
    }
    return publish_capture(host, known);
}

/* ---- telling ----------------------------------------------------------------------------------- */

/* `waiter`: who waits for answers; NULL: nobody does. *told: how many processes there are. Under `hosting`. */
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
    int *spare = &hosts[etwas_handle_index(session) - 1].registry.spare;
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
    };
    memcpy(entry->name, configuration->name, sizeof configuration->name);
}

static bool is_hosted(const struct etwas_session *session)
{
    return session->configuration.is_shared || session->configuration.is_template ||
           session->configuration.is_listed;
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
    host->registry = ETWAS_REGISTRY_NO_HOST;
    describe(&host->entry, session);
    if (session->configuration.is_template) {
        host->entry.kind = ETWAS_REGISTRY_TEMPLATE;
        host->entry.private = etwas_template_make(&session->configuration);
    }
    if (session->configuration.is_listed) {
        host->entry.kind = ETWAS_REGISTRY_RECORDER;
    }
    code = session->configuration.is_template && host->entry.private == NULL
               ? (uint32_t)ERROR_NOT_ENOUGH_MEMORY
               : etwas_registry_host_open(&host->registry, &host->entry);
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
    host->entry.state = ETWAS_REGISTRY_OPEN;
    host->entry.gate = session->configuration.is_shared ? session->generation : 0;
    host->entry.number++;
    /* The next change publishes what could not be now. Nobody has to look at a shared session that enables nothing. */
    if (publish(host) == ERROR_SUCCESS && host->entry.private != NULL) {
        tell_all(host, NULL, NULL);
    }
    (void)etwas_service_watch(host->registry.listener, false,
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
    host->entry.state = ETWAS_REGISTRY_CLOSING;
    host->entry.number++;
    drop_all(host);
    (void)publish(host);
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
    /* A host that stood still has not heard yet who wanted to log meanwhile. */
    etwas_service_settle(etwas_monotonic_ns() + SETTLE_PATIENCE_NS);
    lock();
    host->entry.state = ETWAS_REGISTRY_CLOSING;
    number = ++host->entry.number;
    drop_all(host);
    (void)publish(host);
    tell = look_at(host);
    unlock();
    if (etwas_host_guests_count(session) != 0) {
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
        int listener = host->registry.listener;

        /* Its handler takes no lock of ours. */
        (void)etwas_service_unwatch(listener, host->handle);
        etwas_registry_host_close(&host->registry);
        drop_all(host);
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
    uint32_t code = change(host, control_code, enablement);

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
    is_new = host->is_open && host->handle == handle && host->entry.kind == ETWAS_REGISTRY_SHARED &&
             find_kept(host, enablement) == NULL;
    session = host->entry.session;
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
    if (host->is_open && host->handle == handle && host->entry.state == ETWAS_REGISTRY_OPEN &&
        host->entry.kind != ETWAS_REGISTRY_RECORDER) {
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
    if (host->is_open && host->handle == handle && host->entry.state == ETWAS_REGISTRY_OPEN) {
        etwas_template_note(&host->entry, control_code, flush_timer, file_name);
        host->entry.number++;
        code = publish(host);
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

bool etwas_host_has(const etwas_guid *session)
{
    bool has = false;

    lock();
    for (uint32_t index = 0; index < ETWAS_SESSION_ENTRIES; index++) {
        has = has || (hosts[index].is_open &&
                      memcmp(&hosts[index].entry.session, session, sizeof *session) == 0);
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
            etwas_registry_host_forget(&hosts[index].registry);
            drop_all(&hosts[index]);
            drop_template(&hosts[index]);
            hosts[index].is_open = false;
        }
    }
    etwas_answers_after_fork(is_child);
    unlock();
}
