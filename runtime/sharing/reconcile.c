/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/reconcile.h"

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/wait.h"
#include "provider/enabling.h"
#include "registry/removal.h"
#include "registry/sessions.h"
#include "sharing/apply.h"
#include "sharing/deferred_work.h"
#include "sharing/descriptions.h"
#include "sharing/guest.h"
#include "sharing/host.h"
#include "sharing/host_entry.h"
#include "sharing/other_processes.h"
#include "sharing/private_instance.h"
#include "sharing/service.h"
#include "sharing/sharing.h"

#define TIMEOUT_NS UINT64_C(50000000)

enum {
    RESTORE_PAUSE_NS = 10000000,
    RESTORE_TRIES = 50,
    FIRST_PAUSE_NS = 10000000, /* before a pass is repeated for lack of files */
    LONGEST_PAUSE_NS = 500000000,
};

/*
 * Number of passes requested since the process began. A pass that begins after a request sees the
 * change that the request is about.
 */
static uint32_t passes_requested;
/* Whether an entry that enables providers by name was seen. */
static uint32_t names_are_enabled;
static uint32_t is_running;     /* a thread has been started, or runs passes */
static uint32_t may_lack_files; /* files of this process may be missing in the folder */

/* Held by a pass: it starts sessions only by entries that it has read itself. */
static pthread_mutex_t pass_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- a pass: with the guests' lock held ------------------------------------------------------ */

/* A guest whose host has not answered yet, and the entry to apply. */
struct awaited {
    struct etwas_guest *guest;
    struct etwas_registry_entry *entry;
};

struct pass {
    const etwas_guid
        *registering_provider; /* a provider that is about to be registered; NULL: none is */
    uint64_t deadline_ns;
    bool is_in_thread; /* runs in a separate thread: instances may write files, and are stopped */
    bool has_run;
    /* why something was not read, or not requested, for lack of files; 0: nothing */
    uint32_t failed;
    struct etwas_own_unattached unattached;
    struct etwas_deferred_work deferred;
    uint32_t awaited_count;
    /* twice, as in deferred_work.h */
    struct awaited awaited[ETWAS_GUEST_SESSIONS + ETWAS_RECONCILE_ANSWERS];
    uint32_t template_count;
    /* templates with an instance in this process */
    struct etwas_registry_entry *templates[ETWAS_PRIVATE_INSTANCES];
};

static bool reconcile_entry_takes_stacks(const struct etwas_registry_entry *entry)
{
    bool any = false;

    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        any = any || (entry->enablements[index].property & EVENT_ENABLE_PROPERTY_STACK_TRACE) != 0;
    }
    return any;
}

static void reconcile_apply(struct etwas_guest *guest, const struct etwas_registry_entry *entry,
                            const struct pass *pass)
{
    if (guest->applied.number != entry->number) {
        etwas_apply_entry(&guest->applied, entry, !pass->is_in_thread);
    }
}

static void reconcile_acknowledge(struct etwas_guest *guest,
                                  const struct etwas_registry_entry *entry,
                                  struct etwas_deferred_work *deferred)
{
    guest->acknowledged = entry->number;
    deferred->acknowledgements[deferred->acknowledgement_count++] =
        (struct etwas_acknowledgement){etwas_guest_handle(guest), entry->number};
}

/* Sends descriptions before it applies the entry, so that the host has them before events. */
static void reconcile_attached(struct etwas_guest *guest, const struct etwas_registry_entry *entry,
                               struct pass *pass)
{
    guest->takes_stacks = guest->takes_stacks || reconcile_entry_takes_stacks(entry);
    etwas_guest_describe(guest, pass->deadline_ns);
    if (guest->acknowledged == entry->number) {
        return;
    }
    reconcile_apply(guest, entry, pass);
    reconcile_acknowledge(guest, entry, &pass->deferred);
}

/*
 * Whether the host still receives the messages sent to it until now. A host closes its account
 * after it has published that the session is closing, and has received everything sent before
 * (host.c). An entry that cannot be read now is read by the next pass.
 */
static bool reconcile_is_still_open(const struct etwas_registry_entry *published, struct pass *pass)
{
    struct etwas_registry_entry *entry;
    uint32_t code = etwas_registry_read(&published->session, &entry);
    bool is_open = false;

    if (code == ERROR_SUCCESS) {
        is_open = entry->state == ETWAS_REGISTRY_OPEN && entry->socket == published->socket;
        free(entry);
    } else if (code != ERROR_NOT_FOUND) {
        pass->failed = code;
    }
    return is_open;
}

/* Enables providers if their events can be counted; disables what a closing session disables. */
static void reconcile_counted(struct etwas_guest *guest, const struct etwas_registry_entry *entry,
                              struct pass *pass)
{
    if (etwas_guest_count(guest) &&
        (guest->applied.number == entry->number || entry->state != ETWAS_REGISTRY_OPEN ||
         reconcile_is_still_open(entry, pass))) {
        reconcile_apply(guest, entry, pass);
    }
    if (guest->state == ETWAS_GUEST_REFUSED && guest->acknowledged != entry->number) {
        reconcile_acknowledge(guest, entry, &pass->deferred);
    }
}

static bool reconcile_has_provider(const etwas_guid *provider, bool is_group,
                                   const struct pass *pass)
{
    return (pass->registering_provider != NULL && !is_group &&
            memcmp(provider, pass->registering_provider, sizeof *provider) == 0) ||
           etwas_provider_is_registered(provider, is_group);
}

/*
 * The mark is set before the names are read: a provider that gets its name later checks the mark
 * then (etwas_reconcile_named).
 */
static bool reconcile_has_name(const struct etwas_registry_enablement *enablement)
{
    const char *name = etwas_enablement_name(enablement);

    if (name == NULL) {
        return false;
    }
    ck_pr_store_32(&names_are_enabled, 1);
    return etwas_provider_is_named(name);
}

/* Whether the entry enables a provider of this process. */
static bool reconcile_concerns_us(const struct etwas_registry_entry *entry, const struct pass *pass)
{
    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        const struct etwas_registry_enablement *one = &entry->enablements[index];
        struct etwas_event_filter filter;
        bool excluded = true;

        if ((reconcile_has_name(one) ||
             reconcile_has_provider(&one->provider, one->is_group, pass)) &&
            etwas_enablement_filters(one, &excluded, &filter) == ERROR_SUCCESS && !excluded) {
            return true;
        }
    }
    return false;
}

static bool reconcile_has_template(const struct etwas_registry_entry *entry,
                                   const struct pass *pass)
{
    for (uint32_t index = 0; index < pass->template_count; index++) {
        if (pass->templates[index]->socket == entry->socket) {
            return true;
        }
    }
    return false;
}

/*
 * Whether the entry is a template that needs an instance here. R44: the GUID of a private session
 * is a provider's.
 */
static bool reconcile_needs_instance(const struct etwas_registry_entry *entry,
                                     const struct pass *pass)
{
    return entry->kind == ETWAS_REGISTRY_TEMPLATE && entry->state == ETWAS_REGISTRY_OPEN &&
           pass->template_count < ETWAS_PRIVATE_INSTANCES && !reconcile_has_template(entry, pass) &&
           (etwas_private_instance_exists(entry) ||
            (etwas_private_template_matches(entry->private) &&
             (reconcile_has_provider(&entry->session, false, pass) ||
              reconcile_concerns_us(entry, pass))));
}

/*
 * Stores an error that may pass. Other errors mean that there is nothing to read. If there is no
 * memory the pass is not repeated, so that no thread keeps its stack: the next pass tries.
 */
static void reconcile_store_failure(struct pass *pass, uint32_t code)
{
    if (code == ERROR_NO_SYSTEM_RESOURCES || code == ERROR_TIMEOUT) {
        pass->failed = code;
    }
}

/*
 * Returns the guest that the entry is to be applied to, after requesting the pool from its host.
 * Returns NULL if there is none, or the next pass has to try again.
 */
static struct etwas_guest *reconcile_bind(struct etwas_guest *guest,
                                          const struct etwas_registry_entry *entry,
                                          struct pass *pass)
{
    uint32_t code = ERROR_SUCCESS;

    if (guest != NULL && guest->state == ETWAS_GUEST_REFUSED && guest->socket == entry->socket) {
        etwas_guest_request_pool_again(guest);
    } else if ((guest == NULL || guest->state == ETWAS_GUEST_KNOWN) &&
               entry->kind == ETWAS_REGISTRY_SHARED && entry->unshared == 0 &&
               entry->state == ETWAS_REGISTRY_OPEN && reconcile_concerns_us(entry, pass)) {
        guest = etwas_guest_request_pool(entry, &code);
        reconcile_store_failure(pass, code);
        if (guest == NULL && code != ERROR_NOT_FOUND) {
            etwas_own_unattached_add(&pass->unattached, &entry->session);
        }
    }
    return guest != NULL && guest->state != ETWAS_GUEST_KNOWN && guest->socket == entry->socket
               ? guest
               : NULL;
}

/*
 * Reconciles one session. An entry with another socket belongs to a later session than the one that
 * this process still has.
 */
static void reconcile_session(const etwas_guid *session, struct pass *pass)
{
    struct etwas_guest *guest = etwas_guest_find(session);
    struct etwas_registry_entry *entry;
    uint32_t code;

    if (etwas_host_has(session)) {
        return;
    }
    code = etwas_registry_read(session, &entry);
    if (code != ERROR_SUCCESS) {
        reconcile_store_failure(pass, code);
        return;
    }
    if (reconcile_needs_instance(entry, pass)) {
        pass->templates[pass->template_count++] = entry;
        return;
    }
    guest = reconcile_bind(guest, entry, pass);
    if (guest != NULL && etwas_guest_is_counted(guest)) {
        pass->awaited[pass->awaited_count++] = (struct awaited){guest, entry};
        return;
    }
    if (guest != NULL && guest->state == ETWAS_GUEST_ATTACHED) {
        reconcile_attached(guest, entry, pass);
    }
    free(entry);
}

/* Waits for all hosts at once, so a stopped host does not lengthen the wait for another. */
static void reconcile_await_hosts(struct pass *pass)
{
    etwas_guests_await(pass->deadline_ns);
    for (uint32_t index = 0; index < pass->awaited_count; index++) {
        struct awaited *awaited = &pass->awaited[index];

        if (awaited->guest->state == ETWAS_GUEST_ATTACHED) {
            reconcile_attached(awaited->guest, awaited->entry, pass);
        } else if (etwas_guest_is_counted(awaited->guest)) {
            reconcile_counted(awaited->guest, awaited->entry, pass);
        } else if (reconcile_is_still_open(awaited->entry, pass)) {
            pass->failed = ERROR_NO_SYSTEM_RESOURCES; /* its host has turned this process away */
            etwas_own_unattached_add(&pass->unattached, &awaited->entry->session);
        }
        if (awaited->guest->state == ETWAS_GUEST_REFUSED) {
            etwas_own_unattached_add(&pass->unattached, &awaited->entry->session);
        }
        free(awaited->entry);
    }
}

/*
 * Reconciles the sessions named in notifications, even if the folder does not show them: an entry
 * that is just being replaced may be passed over.
 */
static void reconcile_notified(struct pass *pass)
{
    for (uint32_t index = 0; index < pass->deferred.answer_count; index++) {
        reconcile_session(&pass->deferred.answers[index].session, pass);
    }
}

/* Called without the guests' lock: sessions are started, which takes locks above it. */
static void reconcile_templates(struct pass *pass)
{
    for (uint32_t index = 0; index < pass->template_count; index++) {
        etwas_private_instance_apply(pass->templates[index], !pass->is_in_thread,
                                     pass->deadline_ns);
    }
    if (pass->is_in_thread) {
        pass->deferred.expired_count = etwas_private_instances_expired(pass->deferred.expired);
    }
}

/*
 * Writes the instances' files. Only a separate thread does that, so a registration does not wait
 * for it. Frees the entries.
 */
static void reconcile_write_templates(const struct pass *pass)
{
    for (uint32_t index = 0; index < pass->template_count; index++) {
        if (pass->is_in_thread) {
            etwas_private_instance_write(pass->templates[index]);
        }
        free(pass->templates[index]);
    }
}

/* Notifications to acknowledge. Their lock is held for moments. */
static pthread_mutex_t pending_lock = PTHREAD_MUTEX_INITIALIZER;
static struct etwas_notification pending[ETWAS_RECONCILE_ANSWERS];
static uint32_t pending_count;

/* Keeps the acknowledgements for the next pass, since this one has not read everything. */
static void reconcile_answer_later(struct etwas_deferred_work *deferred)
{
    (void)pthread_mutex_lock(&pending_lock);
    for (uint32_t index = 0;
         index < deferred->answer_count && pending_count < ETWAS_RECONCILE_ANSWERS; index++) {
        pending[pending_count++] = deferred->answers[index];
    }
    (void)pthread_mutex_unlock(&pending_lock);
    deferred->answer_count = 0;
}

/* Takes both locks. Returns false if another thread holds one of them until the deadline. */
static bool reconcile_lock_before(uint64_t deadline_ns)
{
    if (!etwas_mutex_lock_until(&pass_lock, deadline_ns)) {
        return false;
    }
    if (!etwas_guests_lock_before(deadline_ns)) {
        (void)pthread_mutex_unlock(&pass_lock);
        return false;
    }
    return true;
}

/* Runs a pass, and releases the locks before its deferred work. */
static void reconcile_and_unlock(struct pass *pass)
{
    etwas_guid *sessions;
    uint32_t count;
    uint32_t code;

    pass->has_run = true;
    etwas_guests_detach_cut();
    reconcile_notified(pass);
    code = etwas_registry_list(&sessions, &count);
    reconcile_store_failure(pass, code);
    for (uint32_t index = 0; index < count; index++) {
        reconcile_session(&sessions[index], pass);
    }
    free(sessions);
    reconcile_await_hosts(pass);
    etwas_guests_unlock();
    reconcile_templates(pass);
    (void)pthread_mutex_unlock(&pass_lock);
    etwas_own_unattached_publish(&pass->unattached);
    reconcile_write_templates(pass);
    if (pass->failed != ERROR_SUCCESS) {
        etwas_sharing_store_refusal(pass->failed);
        reconcile_answer_later(&pass->deferred);
    }
    etwas_deferred_work_run(&pass->deferred);
}

/* ---- scheduling passes ----------------------------------------------------------------------- */

/*
 * Restores removed files, and publishes the providers. While the folder is being removed, restored
 * files may be removed again, so this repeats until nothing is missing.
 */
static void reconcile_restore(bool may_be_under_way)
{
    const struct timespec pause = {.tv_nsec = RESTORE_PAUSE_NS};

    for (uint32_t try = 0; try < RESTORE_TRIES; try++) {
        bool is_anew = etwas_service_restore();

        if (is_anew) {
            etwas_own_providers_publish();
        }
        is_anew = etwas_host_restore() || is_anew;
        if (!may_be_under_way || (try != 0 && !is_anew)) {
            break;
        }
        (void)nanosleep(&pause, NULL);
    }
}

/* Sleeps before a pass is repeated, since no event reports that the program has closed files. */
static void reconcile_back_off(struct timespec *pause)
{
    (void)nanosleep(pause, NULL);
    if (pause->tv_nsec < LONGEST_PAUSE_NS) {
        pause->tv_nsec *= 2;
    }
}

static void *reconcile_thread(void *argument)
{
    struct timespec pause = {.tv_nsec = FIRST_PAUSE_NS};
    struct pass *pass = argument;
    uint32_t asked;

    do {
        *pass =
            (struct pass){.deadline_ns = etwas_monotonic_ns() + TIMEOUT_NS, .is_in_thread = true};
        asked = ck_pr_load_32(&passes_requested);
        ck_pr_fence_memory();
        (void)pthread_mutex_lock(&pending_lock);
        pass->deferred.answer_count = pending_count;
        memcpy(pass->deferred.answers, pending, pending_count * sizeof pending[0]);
        pending_count = 0;
        (void)pthread_mutex_unlock(&pending_lock);
        reconcile_restore(ck_pr_cas_32(&may_lack_files, 1, 0));
        (void)pthread_mutex_lock(&pass_lock);
        etwas_guests_lock();
        reconcile_and_unlock(pass);
        if (pass->failed != ERROR_SUCCESS && etwas_service_runs()) {
            reconcile_back_off(&pause);
            ck_pr_inc_32(&passes_requested);
        }
        /* At least one of a thread that requests a pass and the thread that ends sees the other. */
        ck_pr_store_32(&is_running, 0);
        ck_pr_fence_memory();
    } while (ck_pr_load_32(&passes_requested) != asked && ck_pr_cas_32(&is_running, 0, 1));
    free(pass);
    return NULL;
}

void etwas_reconcile_soon(const struct etwas_notification *answer)
{
    struct pass *pass;

    if (answer != NULL && answer->sender[0] != '\0') {
        (void)pthread_mutex_lock(&pending_lock);
        if (pending_count < ETWAS_RECONCILE_ANSWERS) {
            pending[pending_count++] = *answer;
        }
        (void)pthread_mutex_unlock(&pending_lock);
    }
    ck_pr_inc_32(&passes_requested);
    ck_pr_fence_memory();
    if (!ck_pr_cas_32(&is_running, 0, 1)) {
        return;
    }
    pass = malloc(sizeof *pass);
    if (pass == NULL || !etwas_service_spawn(reconcile_thread, pass, "etwas-look")) {
        /* The next pass does the work of this one. */
        free(pass);
        ck_pr_store_32(&is_running, 0);
    }
}

static void reconcile_receive(const struct etwas_notification *notification)
{
    if (notification->op == ETWAS_NOTIFY_CHANGED) {
        etwas_reconcile_soon(notification);
    } else if (notification->op == ETWAS_NOTIFY_ACKNOWLEDGED) {
        etwas_answers_receive(notification);
        /* Acknowledgements may have filled the queue, so that a notification found no room. */
        etwas_reconcile_soon(NULL);
    }
}

/* Called when the program has described events. The hosts are sent the descriptions soon. */
static void reconcile_defer_descriptions(void)
{
    etwas_service_defer_call(etwas_reconcile_send_descriptions);
}

static void reconcile_files_missing(void)
{
    ck_pr_store_32(&may_lack_files, 1);
    etwas_reconcile_soon(NULL);
}

uint32_t etwas_reconcile_begin(void)
{
    uint32_t code;

    if (etwas_service_runs()) {
        return ERROR_SUCCESS;
    }
    code = etwas_service_begin(reconcile_receive, reconcile_files_missing);
    etwas_sharing_store_refusal(code);
    if (code == ERROR_SUCCESS) {
        ck_pr_store_ptr(&etwas_description_hook, (void *)(uintptr_t)reconcile_defer_descriptions);
        (void)etwas_registry_clear_stale();
    }
    return code;
}

/* ---- registering ----------------------------------------------------------------------------- */

/*
 * Runs a pass in this thread. If other threads run passes until the deadline, a separate thread
 * runs one later: the other passes may have read an entry before its provider existed.
 */
static void reconcile_until(const etwas_guid *registering_provider, uint64_t deadline_ns)
{
    struct pass *pass = malloc(sizeof *pass);

    reconcile_restore(false);
    if (pass != NULL) {
        *pass =
            (struct pass){.registering_provider = registering_provider, .deadline_ns = deadline_ns};
    }
    if (pass != NULL && reconcile_lock_before(deadline_ns)) {
        reconcile_and_unlock(pass);
    }
    if (pass == NULL || !pass->has_run || pass->failed != ERROR_SUCCESS) {
        etwas_reconcile_soon(NULL);
    }
    free(pass);
}

void etwas_reconcile_now(void)
{
    if (etwas_service_runs()) {
        reconcile_until(NULL, etwas_monotonic_ns() + TIMEOUT_NS);
    }
}

bool etwas_reconcile_named(bool always)
{
    const bool is_due = always || ck_pr_load_32(&names_are_enabled) != 0;

    if (is_due) {
        etwas_reconcile_now();
    }
    return is_due;
}

struct etwas_registering etwas_reconcile_before_registering(const etwas_guid *provider)
{
    struct etwas_registering registering = {.passes = ck_pr_load_32(&passes_requested),
                                            .deadline_ns = etwas_monotonic_ns() + TIMEOUT_NS};

    ck_pr_fence_memory();
    if (etwas_service_runs() ||
        (etwas_sharing_is_wanted() && etwas_reconcile_begin() == ERROR_SUCCESS)) {
        reconcile_until(provider, registering.deadline_ns);
    }
    return registering;
}

/*
 * The first pass has applied everything published before it; this process is notified of later
 * changes.
 */
void etwas_reconcile_after_registering(struct etwas_registering registering)
{
    if (etwas_service_runs() && ck_pr_load_32(&passes_requested) != registering.passes) {
        reconcile_until(NULL, registering.deadline_ns);
    }
}

void etwas_reconcile_send_descriptions(void)
{
    const uint64_t deadline_ns = etwas_monotonic_ns() + TIMEOUT_NS;

    if (!etwas_service_runs() || !etwas_guests_lock_before(deadline_ns)) {
        return;
    }
    for (uint32_t index = 0; index < ETWAS_GUEST_SESSIONS; index++) {
        if (etwas_guests[index].state == ETWAS_GUEST_ATTACHED) {
            etwas_guest_describe(&etwas_guests[index], deadline_ns);
        }
    }
    etwas_guests_unlock();
}

void etwas_reconcile_forget(void)
{
    ck_pr_store_32(&is_running, 0);
    etwas_deferred_work_forget();
    pending_count = 0;
    (void)pthread_mutex_init(&pending_lock, NULL);
    (void)pthread_mutex_init(&pass_lock, NULL);
}
