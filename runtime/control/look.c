/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/look.h"

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "control/enablement.h"
#include "control/guest.h"
#include "control/host.h"
#include "control/service.h"
#include "control/sharing.h"
#include "platform/wait.h"
#include "provider/callback.h"
#include "provider/enabling.h"
#include "registry/message.h"
#include "registry/sessions.h"
#include "registry/stale.h"

#define REGISTERING_PATIENCE_NS UINT64_C(50000000)
#define PATIENCE_NS UINT64_C(500000000)
#define ANSWER_NS UINT64_C(500000000)

enum {
    ANSWERS = 64, /* of one look; who asked before them has a timeout */
};

/* Asked for since the process began, and done: a look that begins after an asking sees what that is about. */
static uint32_t looks_asked;
static uint32_t is_looking; /* a thread is on its way, or looks */

/* ---- what a look has seen ------------------------------------------------------------------------ */

struct seen {
    uint64_t guest; /* its handle */
    uint64_t number;
};

/* What is to be said when all callbacks have been called. */
struct aftermath {
    uint32_t seen_count;
    struct seen seen[ETWAS_GUEST_SESSIONS +
                     ANSWERS]; /* a session that it was told of may be looked at twice */
    uint32_t answer_count;
    struct etwas_tell answers[ANSWERS];
};

static void say(const struct aftermath *aftermath)
{
    const struct etwas_message message = {
        .op = ETWAS_MESSAGE_SEEN, .bytes = sizeof(uint64_t), .descriptor = -1};
    /* Of many who answer at once some find no room at first; who asked may also be stopped. */
    const uint64_t deadline_ns = etwas_monotonic_ns() + ANSWER_NS;

    etwas_guests_lock();
    for (uint32_t index = 0; index < aftermath->seen_count; index++) {
        const struct seen *seen = &aftermath->seen[index];
        const struct etwas_guest *guest = etwas_guest_of(seen->guest);

        if (guest != NULL && guest->state == ETWAS_GUEST_ATTACHED) {
            (void)etwas_message_send(guest->connection, &message, &seen->number, 0);
        }
    }
    etwas_guests_unlock();
    for (uint32_t index = 0; index < aftermath->answer_count; index++) {
        struct etwas_tell answer = aftermath->answers[index];
        char name[ETWAS_REGISTRY_FILE_BYTES];

        memcpy(name, answer.sender, sizeof name);
        answer.op = ETWAS_TELL_SEEN;
        answer.sender[0] = '\0';
        (void)etwas_registry_tell(name, &answer, deadline_ns);
    }
}

static void *call_and_say(void *argument)
{
    struct aftermath *aftermath = argument;

    etwas_callbacks_settle_all();
    say(aftermath);
    free(aftermath);
    return NULL;
}

/* Callbacks may do everything: not in the thread that looked. Without memory or a thread they are called here. */
static void follow(const struct aftermath *seen)
{
    struct aftermath *aftermath;

    if (!etwas_callbacks_are_due()) {
        say(seen);
        return;
    }
    aftermath = malloc(sizeof *aftermath);
    if (aftermath != NULL) {
        *aftermath = *seen;
        if (etwas_service_spawn(call_and_say, aftermath, "etwas-callback")) {
            return;
        }
        free(aftermath);
    }
    etwas_callbacks_settle_all();
    say(seen);
}

/* ---- acting by an entry: with the guests' lock held ------------------------------------------------ */

static struct etwas_guest_enablement *find_known(const struct etwas_guest *guest,
                                                 const struct etwas_registry_enablement *like)
{
    for (uint32_t index = 0; index < guest->enablement_count; index++) {
        struct etwas_guest_enablement *one = &guest->enablements[index];

        if (one->is_group == like->is_group &&
            memcmp(&one->provider, &like->provider, sizeof like->provider) == 0) {
            return one;
        }
    }
    return NULL;
}

static void ask(const struct etwas_guest *guest, const struct etwas_registry_enablement *enablement,
                uint32_t control_code)
{
    struct etwas_event_filter filter;
    struct etwas_enable_request request;

    etwas_enablement_request(enablement, etwas_guest_handle(guest), control_code, &request);
    request.filter = &filter;
    request.is_independent =
        (guest->shared.log_file_mode & EVENT_TRACE_INDEPENDENT_SESSION_MODE) != 0;
    if (etwas_enablement_filters(enablement, &request.excluded, &filter) == ERROR_SUCCESS) {
        (void)etwas_provider_ask(&request);
    }
}

static void enable_what_is_new(struct etwas_guest *guest, const struct etwas_registry_entry *entry)
{
    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        const struct etwas_registry_enablement *enablement = &entry->enablements[index];
        const struct etwas_guest_enablement *known = find_known(guest, enablement);

        if (known == NULL || known->number != enablement->number) {
            ask(guest, enablement, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
        }
        if (known != NULL && known->captures != enablement->captures) {
            ask(guest, enablement, EVENT_CONTROL_CODE_CAPTURE_STATE);
        }
    }
}

static bool has(const struct etwas_registry_entry *entry,
                const struct etwas_guest_enablement *known)
{
    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        if (entry->enablements[index].is_group == known->is_group &&
            memcmp(&entry->enablements[index].provider, &known->provider, sizeof known->provider) ==
                0) {
            return true;
        }
    }
    return false;
}

static void disable_what_is_gone(const struct etwas_guest *guest,
                                 const struct etwas_registry_entry *entry)
{
    for (uint32_t index = 0; index < guest->enablement_count; index++) {
        const struct etwas_guest_enablement *known = &guest->enablements[index];

        if (!has(entry, known)) {
            const struct etwas_registry_enablement gone = {.provider = known->provider,
                                                           .is_group = known->is_group};

            ask(guest, &gone, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
        }
    }
}

/* Without memory it is asked again at the next look. */
static void remember(struct etwas_guest *guest, const struct etwas_registry_entry *entry)
{
    struct etwas_guest_enablement *list =
        malloc((entry->enablement_count + 1) * sizeof *guest->enablements);

    if (list == NULL) {
        return;
    }
    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        list[index] = (struct etwas_guest_enablement){
            .provider = entry->enablements[index].provider,
            .is_group = entry->enablements[index].is_group,
            .number = entry->enablements[index].number,
            .captures = entry->enablements[index].captures,
        };
    }
    free(guest->enablements);
    guest->enablements = list;
    guest->enablement_count = entry->enablement_count;
    guest->number = entry->number;
}

struct look {
    bool is_late;           /* a host did not answer in time */
    const etwas_guid *also; /* a provider that is about to be registered; NULL: none is */
    uint64_t deadline_ns;
    struct aftermath aftermath;
};

static void act_by(struct etwas_guest *guest, const struct etwas_registry_entry *entry,
                   struct look *look)
{
    struct aftermath *aftermath = &look->aftermath;

    if (guest->number == entry->number) {
        return;
    }
    etwas_guest_describe(guest, look->deadline_ns);
    disable_what_is_gone(guest, entry);
    enable_what_is_new(guest, entry);
    remember(guest, entry);
    aftermath->seen[aftermath->seen_count++] =
        (struct seen){etwas_guest_handle(guest), entry->number};
}

/* ---- looking: with the guests' lock held ----------------------------------------------------------- */

/* Whether it enables a provider that is here, of this process. */
static bool concerns_us(const struct etwas_registry_entry *entry, const struct look *look)
{
    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        const struct etwas_registry_enablement *one = &entry->enablements[index];
        bool is_also = look->also != NULL && !one->is_group &&
                       memcmp(&one->provider, look->also, sizeof one->provider) == 0;
        struct etwas_event_filter filter;
        bool excluded = true;

        if ((is_also || etwas_provider_is_here(&one->provider, one->is_group)) &&
            etwas_enablement_filters(one, &excluded, &filter) == ERROR_SUCCESS && !excluded) {
            return true;
        }
    }
    return false;
}

/* An entry with another socket is of a session behind the one that this process still has. */
static void look_at_one(const etwas_guid *session, struct look *look)
{
    struct etwas_guest *guest = etwas_guest_find(session);
    bool is_attached = guest != NULL && guest->state == ETWAS_GUEST_ATTACHED;
    struct etwas_registry_entry *entry;
    uint32_t code;

    if (etwas_host_has(session) || etwas_registry_read(session, &entry) != ERROR_SUCCESS) {
        return;
    }
    if (!is_attached && entry->kind == ETWAS_REGISTRY_SHARED &&
        entry->state == ETWAS_REGISTRY_OPEN && concerns_us(entry, look)) {
        guest = etwas_guest_attach(entry, look->deadline_ns, &code);
        is_attached = guest != NULL;
        look->is_late = look->is_late || code == ERROR_TIMEOUT;
    }
    if (is_attached && guest->socket == entry->socket) {
        act_by(guest, entry, look);
    }
    free(entry);
}

/* Those that it was told of, whether or not the folder shows them: one that is just being replaced may be passed over. */
static void look_at_told(struct look *look)
{
    for (uint32_t index = 0; index < look->aftermath.answer_count; index++) {
        look_at_one(&look->aftermath.answers[index].session, look);
    }
}

/* Then lets go of the lock. */
static void look_and_unlock(struct look *look)
{
    etwas_guid *sessions;
    uint32_t count;

    etwas_guests_leave_cut();
    look_at_told(look);
    if (etwas_registry_list(&sessions, &count) == ERROR_SUCCESS) {
        for (uint32_t index = 0; index < count; index++) {
            look_at_one(&sessions[index], look);
        }
        free(sessions);
    }
    etwas_guests_unlock();
    follow(&look->aftermath);
}

/* ---- when ------------------------------------------------------------------------------------------ */

/* Who is to be told. Under a lock of its own, which is held for a moment. */
static pthread_mutex_t waiting_lock = PTHREAD_MUTEX_INITIALIZER;
static struct etwas_tell waiting[ANSWERS];
static uint32_t waiting_count;

static void *look_in_thread(void *argument)
{
    struct look *its = argument;
    uint32_t asked;

    do {
        *its = (struct look){.deadline_ns = etwas_monotonic_ns() + PATIENCE_NS};
        asked = ck_pr_load_32(&looks_asked);
        ck_pr_fence_memory();
        (void)pthread_mutex_lock(&waiting_lock);
        its->aftermath.answer_count = waiting_count;
        memcpy(its->aftermath.answers, waiting, waiting_count * sizeof waiting[0]);
        waiting_count = 0;
        (void)pthread_mutex_unlock(&waiting_lock);
        etwas_guests_lock();
        look_and_unlock(its);
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
        if (waiting_count < ANSWERS) {
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
        etwas_host_heard(tell);
        /* Answers may have filled the queue, so that a LOOK found no room. */
        etwas_look_soon(NULL);
    }
}

uint32_t etwas_look_begin(void)
{
    uint32_t code;

    if (etwas_service_runs()) {
        return ERROR_SUCCESS;
    }
    code = etwas_service_begin(hear);
    if (code == ERROR_SUCCESS) {
        (void)etwas_registry_clear_stale();
    }
    return code;
}

/* ---- registering ----------------------------------------------------------------------------------- */

static void look_for(const etwas_guid *also)
{
    struct look *its = malloc(sizeof *its);

    if (its == NULL) {
        etwas_look_soon(NULL);
        return;
    }
    *its =
        (struct look){.also = also, .deadline_ns = etwas_monotonic_ns() + REGISTERING_PATIENCE_NS};
    if (etwas_guests_lock_before(its->deadline_ns)) {
        look_and_unlock(its);
    } else {
        its->is_late = true; /* who looks now may have looked at what enables the provider before */
    }
    if (its->is_late) {
        etwas_look_soon(NULL); /* with more patience than who registers has */
    }
    free(its);
}

void etwas_look_now(void)
{
    if (etwas_service_runs()) {
        look_for(NULL);
    }
}

uint32_t etwas_look_before_registering(const etwas_guid *provider)
{
    uint32_t looks = ck_pr_load_32(&looks_asked);

    ck_pr_fence_memory();
    if (etwas_service_runs() ||
        (etwas_sharing_is_wanted() && etwas_look_begin() == ERROR_SUCCESS)) {
        look_for(provider);
    }
    return looks;
}

/* What was published before the look it has seen; what is published later it is told of. */
void etwas_look_after_registering(uint32_t looks)
{
    if (etwas_service_runs() && ck_pr_load_32(&looks_asked) != looks) {
        look_for(NULL);
    }
}

void etwas_look_described(void)
{
    if (!etwas_service_runs()) {
        return;
    }
    etwas_guests_lock();
    for (uint32_t index = 0; index < ETWAS_GUEST_SESSIONS; index++) {
        if (etwas_guests[index].state == ETWAS_GUEST_ATTACHED) {
            etwas_guest_describe(&etwas_guests[index],
                                 etwas_monotonic_ns() + REGISTERING_PATIENCE_NS);
        }
    }
    etwas_guests_unlock();
}

void etwas_look_forget(void)
{
    ck_pr_store_32(&is_looking, 0);
    waiting_count = 0;
    (void)pthread_mutex_init(&waiting_lock, NULL);
}
