/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Modern providers as their writers see them: which sessions listen, with which level and keywords.
 *
 * One entry for each registration, read without a lock, changed under the control lock.
 *
 *     handle       of the registration; 0: none. Stored after the GUID (release)
 *     state        31..3 version   2..0 listeners: none, one session that takes events as they are,
 *                  several of them, or others
 *
 * The version selects one of two lists of listeners, version mod 2. A change fills the other list,
 * then stores the next version (release). A writer loads the state (acquire), compares the handle,
 * reads the list, and loads the state again (acquire). If it is unchanged, the list was that of one
 * change, of a registration that had not ended. Otherwise the writer reads again, because another
 * thread has made a change: lock-free. A signal handler that interrupts a change finds state and
 * list consistent.
 *
 *     A handle is
 *     63..48 tag   47..16 generation   15..0 index + 1
 */
#ifndef ETWAS_PROVIDER_EVENT_PROVIDER_H
#define ETWAS_PROVIDER_EVENT_PROVIDER_H

#include <ck_pr.h>
#include <etwas/evntprov.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/pair.h"
#include "provider/control_guid.h"
#include "provider/event_filter.h"
#include "provider/registration.h"

enum {
    ETWAS_REGISTRATION_INDEX_BITS = 16,
};

/*
 * Distinguishes the handle of a modern registration from that of a classic one, and from a
 * session's.
 */
#define ETWAS_EVENT_PROVIDER_TAG (UINT64_C(1) << 61)

/* etwas_event_provider.state: which listeners there are. The version is above these bits. */
enum {
    ETWAS_PROVIDER_ONE_LISTENER = 1 << 0,      /* one plain listener */
    ETWAS_PROVIDER_SEVERAL_LISTENERS = 1 << 1, /* several plain listeners */
    ETWAS_PROVIDER_OTHER_LISTENERS = 1 << 2,
    ETWAS_PROVIDER_ANY_LISTENER = ETWAS_PROVIDER_ONE_LISTENER | ETWAS_PROVIDER_SEVERAL_LISTENERS |
                                  ETWAS_PROVIDER_OTHER_LISTENERS,
    ETWAS_PROVIDER_STATE_BITS = 3,
};

/* etwas_event_provider.options */
enum {
    ETWAS_EVENT_PROVIDER_TYPED = 1 << 0,  /* the types of data descriptors are evaluated */
    ETWAS_EVENT_PROVIDER_TRAITS = 1 << 1, /* the traits are set, which can be done once */
};

/*
 * etwas_listener.flags. Above these are the properties of event_items.h that the session requests.
 */
enum {
    ETWAS_LISTENER_INDEPENDENT = 1 << 0,      /* R77 */
    ETWAS_LISTENER_IGNORE_KEYWORD_0 = 1 << 1, /* gets no events without keywords */
    ETWAS_LISTENER_EXCLUDE_PRIVATE = 1 << 2,  /* gets no events with EVENT_WRITE_FLAG_INPRIVATE */
    ETWAS_LISTENER_TRIGGERS = 1 << 3,         /* set for one event: it is a trigger */
    ETWAS_LISTENER_PROPERTY_SHIFT = 16,
    /* records counters beside START and STOP (counted_class.h) */
    ETWAS_LISTENER_COUNTED = 1 << 29,
    ETWAS_LISTENER_FILTERED = 1 << 30, /* has a filter of events */
};

static inline uint32_t etwas_listener_properties(uint32_t flags)
{
    return (flags & ~(uint32_t)(ETWAS_LISTENER_FILTERED | ETWAS_LISTENER_COUNTED)) >>
           ETWAS_LISTENER_PROPERTY_SHIFT;
}

/* Whether the listener takes events as they are, without items, filters or triggers. */
static inline bool etwas_listener_is_plain(uint32_t flags)
{
    return flags >> ETWAS_LISTENER_PROPERTY_SHIFT == 0;
}

struct etwas_listener {
    uint64_t match_any_keyword; /* not 0 */
    uint64_t match_all_keyword;
    uint32_t level; /* the highest level that it gets */
    uint32_t flags;
    struct etwas_slot *slots; /* of the session; NULL: no listener */
    uint32_t generation;      /* likewise */
    uint32_t kind;            /* the kind of its processors' slots; 0: they are closed */
    uint64_t session;         /* 0: the list ends here */
};

struct etwas_event_provider {
    uint64_t handle;
    uint32_t state;
    uint32_t options;
    uint64_t guid[2];
    struct etwas_listener listeners[2][ETWAS_LISTENERS];
} __attribute__((aligned(1024))); /* a power of two, so that an index is found by a shift */
_Static_assert(sizeof(struct etwas_event_provider) == 1024, "no more than it is aligned to");

extern struct etwas_event_provider etwas_event_providers[ETWAS_REGISTRATIONS];

/* The filters of the listeners in both lists of each provider; NULL: none. */
extern const struct etwas_event_filter
    *etwas_event_provider_filters[ETWAS_REGISTRATIONS][2][ETWAS_LISTENERS];

static inline uint32_t etwas_registration_index(uint64_t handle)
{
    return (uint32_t)(handle & ((1u << ETWAS_REGISTRATION_INDEX_BITS) - 1)) - 1;
}

/* ---- with the control lock held -------------------------------------------------------------- */

/*
 * Opens an entry for a new registration, without listeners; closes it when the registration ends.
 */
void etwas_event_provider_open(uint32_t registration, uint64_t handle, const etwas_guid *guid);
void etwas_event_provider_close(uint32_t registration);

/* Makes the sessions that enable the control GUID now the listeners. */
void etwas_event_provider_listen(uint32_t registration, const struct etwas_control_guid *entry);

/* ---- without it: lock-free, async-signal-safe ------------------------------------------------ */

/* The sessions that get an event, and what else a record needs from its provider. */
struct etwas_recipients {
    etwas_pair guid;
    uint32_t count;
    uint32_t options;
    struct {
        uint64_t session;
        uint32_t flags;
    } sessions[ETWAS_LISTENERS];
};

/* The same for a provider with one listener. */
struct etwas_single_listener {
    struct etwas_slot *slots;
    uint32_t generation;
    uint32_t kind;
    uint32_t options;
    etwas_pair guid;
};

/*
 * Returns the entry that a handle names, which may have another handle by now. NULL: there is none.
 */
static inline struct etwas_event_provider *etwas_event_provider_at(uint64_t handle)
{
    uint32_t index = etwas_registration_index(handle);

    return __builtin_expect(index < ETWAS_REGISTRATIONS, 1) ? &etwas_event_providers[index] : NULL;
}

/* Which of the two lists is in force. */
static inline uint32_t etwas_event_provider_list_index(uint32_t state)
{
    return state >> ETWAS_PROVIDER_STATE_BITS & 1;
}

static inline bool etwas_listener_wants(const struct etwas_listener *listener, uint8_t level,
                                        uint64_t keyword)
{
    const uint64_t all = ck_pr_load_64(&listener->match_all_keyword);

    if (__builtin_expect(level > ck_pr_load_32(&listener->level), 0)) {
        return false;
    }
    if (__builtin_expect((keyword & ck_pr_load_64(&listener->match_any_keyword)) == 0, 0)) {
        return keyword == 0 &&
               (ck_pr_load_32(&listener->flags) & ETWAS_LISTENER_IGNORE_KEYWORD_0) == 0;
    }
    return __builtin_expect((keyword & all) == all, 1);
}

/*
 * Finds the sessions that get an event of this level and keyword. Returns false if the registration
 * has ended.
 */
bool etwas_event_provider_recipients(const struct etwas_event_provider *provider, uint64_t handle,
                                     uint8_t level, uint64_t keyword,
                                     struct etwas_recipients *recipients);

enum etwas_single_result {
    ETWAS_SINGLE_WANTS,
    ETWAS_SINGLE_DECLINES, /* the session does not get the event; the listener is not set */
    ETWAS_SINGLE_CHANGED,  /* a change was made meanwhile */
};

/* Reads a listener. Returns false if its session does not get the event. */
static inline __attribute__((always_inline)) bool etwas_event_provider_read_listener(
    const struct etwas_event_provider *provider, const struct etwas_listener *listener,
    uint8_t level, uint64_t keyword, struct etwas_single_listener *single)
{
    if (!etwas_listener_wants(listener, level, keyword)) {
        return false;
    }
    single->slots = ck_pr_load_ptr(&listener->slots);
    single->generation = ck_pr_load_32(&listener->generation);
    single->kind = ck_pr_load_32(&listener->kind);
    single->options = ck_pr_load_32(&provider->options);
    single->guid = etwas_pair_load(provider->guid);
    return true;
}

/*
 * Reads the only listener of a provider, which is plain. The caller has found this in `state`,
 * which it loaded before it compared the handle. The list in force is chosen by a branch and not by
 * an index: a processor that predicts it correctly does not wait for the state.
 */
static inline __attribute__((always_inline)) enum etwas_single_result etwas_event_provider_single(
    const struct etwas_event_provider *provider, uint32_t state, uint8_t level, uint64_t keyword,
    struct etwas_single_listener *single)
{
    const struct etwas_listener(*lists)[ETWAS_LISTENERS] = provider->listeners;

    ck_pr_fence_load();
    if (__builtin_expect(
            etwas_event_provider_list_index(state) == 0
                ? !etwas_event_provider_read_listener(provider, lists[0], level, keyword, single)
                : !etwas_event_provider_read_listener(provider, lists[1], level, keyword, single),
            0)) {
        ck_pr_fence_load();
        return ck_pr_load_32(&provider->state) == state ? ETWAS_SINGLE_DECLINES
                                                        : ETWAS_SINGLE_CHANGED;
    }
    ck_pr_fence_load();
    return __builtin_expect(ck_pr_load_32(&provider->state) == state, 1) ? ETWAS_SINGLE_WANTS
                                                                         : ETWAS_SINGLE_CHANGED;
}

#endif
