/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/look.h"

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/wait.h"
#include "provider/enabling.h"
#include "registry/sessions.h"
#include "registry/stale.h"
#include "sharing/enablement.h"
#include "sharing/follower.h"
#include "sharing/guest.h"
#include "sharing/host.h"
#include "sharing/host_answers.h"
#include "sharing/look_aftermath.h"
#include "sharing/others.h"
#include "sharing/service.h"
#include "sharing/sharing.h"
#include "sharing/template.h"

#define PATIENCE_NS UINT64_C(50000000)

enum {
    RESTORE_PAUSE_NS = 10000000,
    RESTORE_TRIES = 50,
    FIRST_PAUSE_NS = 10000000, /* before a look that is made again for want of files */
    LONGEST_PAUSE_NS = 500000000,
};

/* Asked for since the process began, and done: a look that begins after an asking sees what that is about. */
static uint32_t looks_asked;
static uint32_t is_looking; /* a thread is on its way, or looks */
static uint32_t is_missing; /* files of this process in the folder may be */

/* Of who looks: sessions are started by what has been read, and by nothing older. */
static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;

/* ---- looking: with the guests' lock held ----------------------------------------------------------- */

/* A session whose host has not answered yet, and its entry. */
struct awaited {
    struct etwas_guest *guest;
    struct etwas_registry_entry *entry;
};

struct look {
    const etwas_guid *also; /* a provider that is about to be registered; NULL: none is */
    uint64_t deadline_ns;
    bool is_threads; /* a thread's own: followers may write files, and are stopped */
    bool has_looked;
    uint32_t failed; /* for want of files something was not seen, or not asked for; 0: all was */
    struct etwas_look_aftermath aftermath;
    uint32_t awaited_count;
    struct awaited awaited[ETWAS_GUEST_SESSIONS + ETWAS_LOOK_ANSWERS]; /* twice, as above */
    uint32_t template_count;
    struct etwas_registry_entry *templates[ETWAS_FOLLOWERS]; /* that this process follows */
};

static bool takes_stacks(const struct etwas_registry_entry *entry)
{
    bool any = false;

    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        any = any || (entry->enablements[index].property & EVENT_ENABLE_PROPERTY_STACK_TRACE) != 0;
    }
    return any;
}

static void act_by(struct etwas_guest *guest, const struct etwas_registry_entry *entry,
                   const struct look *look)
{
    if (guest->acting.number != entry->number) {
        etwas_acting_do(&guest->acting, entry, !look->is_threads);
    }
}

static void say_seen(struct etwas_guest *guest, const struct etwas_registry_entry *entry,
                     struct etwas_look_aftermath *aftermath)
{
    guest->said = entry->number;
    aftermath->seen[aftermath->seen_count++] =
        (struct etwas_look_seen){etwas_guest_handle(guest), entry->number};
}

/* What it has described it tells before it acts. */
static void act_attached(struct etwas_guest *guest, const struct etwas_registry_entry *entry,
                         struct look *look)
{
    guest->takes_stacks = guest->takes_stacks || takes_stacks(entry);
    etwas_guest_describe(guest, look->deadline_ns);
    if (guest->said == entry->number) {
        return;
    }
    act_by(guest, entry, look);
    say_seen(guest, entry, &look->aftermath);
}

/*
 * Whether the host has yet to hear what it has been told until now: it closes its account after it has shown that the
 * session is closing, and has heard what was said before (host.c). What cannot be read now the next look reads.
 */
static bool is_open_still(const struct etwas_registry_entry *seen, struct look *look)
{
    struct etwas_registry_entry *entry;
    uint32_t code = etwas_registry_read(&seen->session, &entry);
    bool is_open = false;

    if (code == ERROR_SUCCESS) {
        is_open = entry->state == ETWAS_REGISTRY_OPEN && entry->socket == seen->socket;
        free(entry);
    } else if (code != ERROR_NOT_FOUND) {
        look->failed = code;
    }
    return is_open;
}

/* Providers are enabled where what they log can be counted; what a closing session disables is disabled. */
static void act_counted(struct etwas_guest *guest, const struct etwas_registry_entry *entry,
                        struct look *look)
{
    if (etwas_guest_count(guest) &&
        (guest->acting.number == entry->number || entry->state != ETWAS_REGISTRY_OPEN ||
         is_open_still(entry, look))) {
        act_by(guest, entry, look);
    }
    if (guest->state == ETWAS_GUEST_REFUSED && guest->said != entry->number) {
        say_seen(guest, entry, &look->aftermath);
    }
}

static bool is_provider_here(const etwas_guid *provider, bool is_group, const struct look *look)
{
    return (look->also != NULL && !is_group &&
            memcmp(provider, look->also, sizeof *provider) == 0) ||
           etwas_provider_is_here(provider, is_group);
}

/* Whether it enables a provider that is here, of this process. */
static bool concerns_us(const struct etwas_registry_entry *entry, const struct look *look)
{
    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        const struct etwas_registry_enablement *one = &entry->enablements[index];
        struct etwas_event_filter filter;
        bool excluded = true;

        if (is_provider_here(&one->provider, one->is_group, look) &&
            etwas_enablement_filters(one, &excluded, &filter) == ERROR_SUCCESS && !excluded) {
            return true;
        }
    }
    return false;
}

static bool is_collected(const struct etwas_registry_entry *entry, const struct look *look)
{
    for (uint32_t index = 0; index < look->template_count; index++) {
        if (look->templates[index]->socket == entry->socket) {
            return true;
        }
    }
    return false;
}

/* R44: the GUID of a private session is that of a provider. */
static bool is_to_be_followed(const struct etwas_registry_entry *entry, const struct look *look)
{
    return entry->kind == ETWAS_REGISTRY_TEMPLATE && entry->state == ETWAS_REGISTRY_OPEN &&
           look->template_count < ETWAS_FOLLOWERS && !is_collected(entry, look) &&
           (etwas_follower_is_known(entry) ||
            (etwas_template_is_for_us(entry->private) &&
             (is_provider_here(&entry->session, false, look) || concerns_us(entry, look))));
}

/* Others have nothing that could be seen. Without memory no thread waits with its stack: the next look tries. */
static void note_failure(struct look *look, uint32_t code)
{
    if (code == ERROR_NO_SYSTEM_RESOURCES || code == ERROR_TIMEOUT) {
        look->failed = code;
    }
}

/* NULL: there is nothing to be bound to, or the next look has to try again. */
static struct etwas_guest *bind_to(struct etwas_guest *guest,
                                   const struct etwas_registry_entry *entry, struct look *look)
{
    uint32_t code = ERROR_SUCCESS;

    if (guest != NULL && guest->state == ETWAS_GUEST_REFUSED && guest->socket == entry->socket) {
        etwas_guest_ask_again(guest);
    } else if ((guest == NULL || guest->state == ETWAS_GUEST_KNOWN) &&
               entry->kind == ETWAS_REGISTRY_SHARED && entry->unshared == 0 &&
               entry->state == ETWAS_REGISTRY_OPEN && concerns_us(entry, look)) {
        guest = etwas_guest_ask(entry, &code);
        note_failure(look, code);
    }
    return guest != NULL && guest->state != ETWAS_GUEST_KNOWN && guest->socket == entry->socket
               ? guest
               : NULL;
}

/* An entry with another socket is of a session behind the one that this process still has. */
static void look_at_one(const etwas_guid *session, struct look *look)
{
    struct etwas_guest *guest = etwas_guest_find(session);
    struct etwas_registry_entry *entry;
    uint32_t code;

    if (etwas_host_has(session)) {
        return;
    }
    code = etwas_registry_read(session, &entry);
    if (code != ERROR_SUCCESS) {
        note_failure(look, code);
        return;
    }
    if (is_to_be_followed(entry, look)) {
        look->templates[look->template_count++] = entry;
        return;
    }
    guest = bind_to(guest, entry, look);
    if (guest != NULL && etwas_guest_is_counted(guest)) {
        look->awaited[look->awaited_count++] = (struct awaited){guest, entry};
        return;
    }
    if (guest != NULL && guest->state == ETWAS_GUEST_ATTACHED) {
        act_attached(guest, entry, look);
    }
    free(entry);
}

/* All hosts are asked by now, so none is waited for longer because another one stands still. */
static void await_hosts(struct look *look)
{
    etwas_guests_await(look->deadline_ns);
    for (uint32_t index = 0; index < look->awaited_count; index++) {
        struct awaited *awaited = &look->awaited[index];

        if (awaited->guest->state == ETWAS_GUEST_ATTACHED) {
            act_attached(awaited->guest, awaited->entry, look);
        } else if (etwas_guest_is_counted(awaited->guest)) {
            act_counted(awaited->guest, awaited->entry, look);
        }
        free(awaited->entry);
    }
}

/* Those that it was told of, whether or not the folder shows them: one that is just being replaced may be passed over. */
static void look_at_told(struct look *look)
{
    for (uint32_t index = 0; index < look->aftermath.answer_count; index++) {
        look_at_one(&look->aftermath.answers[index].session, look);
    }
}

/* Without the guests' lock: sessions are started, which takes locks that stand above it. */
static void follow_templates(struct look *look)
{
    for (uint32_t index = 0; index < look->template_count; index++) {
        etwas_follower_act(look->templates[index], !look->is_threads, look->deadline_ns);
    }
    if (look->is_threads) {
        look->aftermath.over_count = etwas_followers_over(look->aftermath.over);
    }
}

/* Who registers a provider does not wait for that. */
static void write_and_forget_templates(const struct look *look)
{
    for (uint32_t index = 0; index < look->template_count; index++) {
        if (look->is_threads) {
            etwas_follower_write(look->templates[index]);
        }
        free(look->templates[index]);
    }
}

/* The processes that are to be told. Under a lock of its own, which is held for a moment. */
static pthread_mutex_t waiting_lock = PTHREAD_MUTEX_INITIALIZER;
static struct etwas_tell waiting[ETWAS_LOOK_ANSWERS];
static uint32_t waiting_count;

/* A process that has not seen everything says nothing yet. */
static void answer_later(struct etwas_look_aftermath *aftermath)
{
    (void)pthread_mutex_lock(&waiting_lock);
    for (uint32_t index = 0; index < aftermath->answer_count && waiting_count < ETWAS_LOOK_ANSWERS;
         index++) {
        waiting[waiting_count++] = aftermath->answers[index];
    }
    (void)pthread_mutex_unlock(&waiting_lock);
    aftermath->answer_count = 0;
}

/* Takes both locks. False: somebody else has them, and the deadline has passed. */
static bool lock_before(uint64_t deadline_ns)
{
    if (!etwas_lock_before(&looking, deadline_ns)) {
        return false;
    }
    if (!etwas_guests_lock_before(deadline_ns)) {
        (void)pthread_mutex_unlock(&looking);
        return false;
    }
    return true;
}

/* Then lets go of the locks. */
static void look_and_unlock(struct look *look)
{
    etwas_guid *sessions;
    uint32_t count;
    uint32_t code;

    look->has_looked = true;
    etwas_guests_hear_cut();
    look_at_told(look);
    code = etwas_registry_list(&sessions, &count);
    note_failure(look, code);
    for (uint32_t index = 0; index < count; index++) {
        look_at_one(&sessions[index], look);
    }
    free(sessions);
    await_hosts(look);
    etwas_guests_unlock();
    follow_templates(look);
    (void)pthread_mutex_unlock(&looking);
    write_and_forget_templates(look);
    if (look->failed != ERROR_SUCCESS) {
        etwas_sharing_was_refused(look->failed);
        answer_later(&look->aftermath);
    }
    etwas_look_finish(&look->aftermath);
}

/* ---- when ------------------------------------------------------------------------------------------ */

/*
 * The folder's files may still be in removal: what has been made anew may be gone again. Publishes what others are
 * to be shown.
 */
static void restore(bool may_be_under_way)
{
    const struct timespec pause = {.tv_nsec = RESTORE_PAUSE_NS};

    for (uint32_t try = 0; try < RESTORE_TRIES; try++) {
        bool is_anew = etwas_service_restore();

        if (is_anew) {
            etwas_others_publish();
        }
        is_anew = etwas_host_restore() || is_anew;
        if (!may_be_under_way || (try != 0 && !is_anew)) {
            break;
        }
        (void)nanosleep(&pause, NULL);
    }
}

/* Nobody says when the program has closed files. */
static void await_means(struct timespec *pause)
{
    (void)nanosleep(pause, NULL);
    if (pause->tv_nsec < LONGEST_PAUSE_NS) {
        pause->tv_nsec *= 2;
    }
}

static void *look_in_thread(void *argument)
{
    struct timespec pause = {.tv_nsec = FIRST_PAUSE_NS};
    struct look *its = argument;
    uint32_t asked;

    do {
        *its = (struct look){.deadline_ns = etwas_monotonic_ns() + PATIENCE_NS, .is_threads = true};
        asked = ck_pr_load_32(&looks_asked);
        ck_pr_fence_memory();
        (void)pthread_mutex_lock(&waiting_lock);
        its->aftermath.answer_count = waiting_count;
        memcpy(its->aftermath.answers, waiting, waiting_count * sizeof waiting[0]);
        waiting_count = 0;
        (void)pthread_mutex_unlock(&waiting_lock);
        restore(ck_pr_cas_32(&is_missing, 1, 0));
        (void)pthread_mutex_lock(&looking);
        etwas_guests_lock();
        look_and_unlock(its);
        if (its->failed != ERROR_SUCCESS && etwas_service_runs()) {
            await_means(&pause);
            ck_pr_inc_32(&looks_asked);
        }
        /* Of who asks and who leaves at least one sees the other. */
        ck_pr_store_32(&is_looking, 0);
        ck_pr_fence_memory();
    } while (ck_pr_load_32(&looks_asked) != asked && ck_pr_cas_32(&is_looking, 0, 1));
    free(its);
    return NULL;
}

void etwas_look_soon(const struct etwas_tell *answer)
{
    struct look *its;

    if (answer != NULL && answer->sender[0] != '\0') {
        (void)pthread_mutex_lock(&waiting_lock);
        if (waiting_count < ETWAS_LOOK_ANSWERS) {
            waiting[waiting_count++] = *answer;
        }
        (void)pthread_mutex_unlock(&waiting_lock);
    }
    ck_pr_inc_32(&looks_asked);
    ck_pr_fence_memory();
    if (!ck_pr_cas_32(&is_looking, 0, 1)) {
        return;
    }
    its = malloc(sizeof *its);
    if (its == NULL || !etwas_service_spawn(look_in_thread, its, "etwas-look")) {
        /* The next one that is asked for finds what this one would have. */
        free(its);
        ck_pr_store_32(&is_looking, 0);
    }
}

static void hear(const struct etwas_tell *tell)
{
    if (tell->op == ETWAS_TELL_LOOK) {
        etwas_look_soon(tell);
    } else if (tell->op == ETWAS_TELL_SEEN) {
        etwas_answers_heard(tell);
        /* Answers may have filled the queue, so that a LOOK found no room. */
        etwas_look_soon(NULL);
    }
}

/* An event has described others: the hosts are told soon. */
static void tell_described(void)
{
    etwas_service_call_soon(etwas_look_described);
}

static void miss(void)
{
    ck_pr_store_32(&is_missing, 1);
    etwas_look_soon(NULL);
}

uint32_t etwas_look_begin(void)
{
    uint32_t code;

    if (etwas_service_runs()) {
        return ERROR_SUCCESS;
    }
    code =
        etwas_sharing_is_built() ? etwas_service_begin(hear, miss) : (uint32_t)ERROR_NOT_SUPPORTED;
    etwas_sharing_was_refused(code);
    if (code == ERROR_SUCCESS) {
        ck_pr_store_ptr(&etwas_description_hook, (void *)(uintptr_t)tell_described);
        (void)etwas_registry_clear_stale();
    }
    return code;
}

/* ---- registering ----------------------------------------------------------------------------------- */

/* If others look all the while, perhaps at what enables the provider before that was here, a thread does later. */
static void look_until(const etwas_guid *also, uint64_t deadline_ns)
{
    struct look *its = malloc(sizeof *its);

    restore(false);
    if (its != NULL) {
        *its = (struct look){.also = also, .deadline_ns = deadline_ns};
    }
    if (its != NULL && lock_before(deadline_ns)) {
        look_and_unlock(its);
    }
    if (its == NULL || !its->has_looked || its->failed != ERROR_SUCCESS) {
        etwas_look_soon(NULL);
    }
    free(its);
}

void etwas_look_now(void)
{
    if (etwas_service_runs()) {
        look_until(NULL, etwas_monotonic_ns() + PATIENCE_NS);
    }
}

struct etwas_registering etwas_look_before_registering(const etwas_guid *provider)
{
    struct etwas_registering registering = {.looks = ck_pr_load_32(&looks_asked),
                                            .deadline_ns = etwas_monotonic_ns() + PATIENCE_NS};

    ck_pr_fence_memory();
    if (etwas_service_runs() ||
        (etwas_sharing_is_wanted() && etwas_look_begin() == ERROR_SUCCESS)) {
        look_until(provider, registering.deadline_ns);
    }
    return registering;
}

/* What was published before the look it has seen; what is published later it is told of. */
void etwas_look_after_registering(struct etwas_registering registering)
{
    if (etwas_service_runs() && ck_pr_load_32(&looks_asked) != registering.looks) {
        look_until(NULL, registering.deadline_ns);
    }
}

void etwas_look_described(void)
{
    const uint64_t deadline_ns = etwas_monotonic_ns() + PATIENCE_NS;

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

void etwas_look_forget(void)
{
    ck_pr_store_32(&is_looking, 0);
    etwas_look_aftermath_forget();
    waiting_count = 0;
    (void)pthread_mutex_init(&waiting_lock, NULL);
    (void)pthread_mutex_init(&looking, NULL);
}
