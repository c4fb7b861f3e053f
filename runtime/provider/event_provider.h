/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Modern providers as their writers see them: who listens, with which level and keywords.
 *
 * One entry for each registration, read without a lock, changed under the control lock.
 *
 *     generation   of the registration; 0: none. Stored after the GUID (release); a reader loads it
 *                  before and after everything else
 *     listening    how many sessions listen: the gate
 *     version      which of two lists of listeners is in force, version mod 2. A change fills the
 *                  other list, then raises the version (release). Who reads a list and finds the
 *                  version as it was (acquire) has read one change's list and nothing else. Who
 *                  does not reads again, and somebody else has made a change: lock-free. A signal
 *                  handler that interrupts a change finds the version, and its list, at rest
 *
 *     handle       47..16 generation   15..0 index + 1, and the tag
 */
#ifndef ETWAS_PROVIDER_EVENT_PROVIDER_H
#define ETWAS_PROVIDER_EVENT_PROVIDER_H

#include <ck_pr.h>
#include <etwas/evntprov.h>
#include <stdbool.h>
#include <stdint.h>

#include "provider/control_guid.h"
#include "provider/event_filter.h"
#include "provider/guid_words.h"
#include "provider/registration.h"

enum {
    ETWAS_REGISTRATION_INDEX_BITS = 16,
    ETWAS_REGISTRATION_TAG_SHIFT = 48,
};
/* Tells a modern registration's handle from a classic one's, and from a session's. */
#define ETWAS_EVENT_PROVIDER_TAG (UINT64_C(1) << 61)

/* etwas_event_provider.options */
enum {
    ETWAS_EVENT_PROVIDER_TYPED = 1 << 0,  /* the types of data descriptors mean something */
    ETWAS_EVENT_PROVIDER_TRAITS = 1 << 1, /* the traits are set, which can be done once */
};

/* etwas_listener.flags. Above them are the properties of event_items.h that it asks for. */
enum {
    ETWAS_LISTENER_INDEPENDENT = 1 << 0,      /* R77 */
    ETWAS_LISTENER_IGNORE_KEYWORD_0 = 1 << 1, /* wants no events without keywords */
    ETWAS_LISTENER_EXCLUDE_PRIVATE = 1 << 2,  /* wants no events of EVENT_WRITE_FLAG_INPRIVATE */
    ETWAS_LISTENER_PROPERTY_SHIFT = 16,
    ETWAS_LISTENER_FILTERED = 1 << 30, /* there is a filter of events */
};

static inline uint32_t etwas_listener_properties(uint32_t flags)
{
    return (flags & ~(uint32_t)ETWAS_LISTENER_FILTERED) >> ETWAS_LISTENER_PROPERTY_SHIFT;
}

/* Whether it takes events as they are: adds nothing, and leaves none out by what it is. */
static inline bool etwas_listener_is_plain(uint32_t flags)
{
    return flags >> ETWAS_LISTENER_PROPERTY_SHIFT == 0;
}

struct etwas_listener {
    uint64_t session;           /* 0: the list ends here */
    uint64_t match_any_keyword; /* not 0 */
    uint64_t match_all_keyword;
    uint32_t level; /* the highest that is wanted */
    uint32_t flags;
};

struct etwas_event_provider {
    uint32_t generation;
    uint32_t listening;
    uint32_t version;
    uint32_t options;
    uint64_t guid[2];
    struct etwas_listener listeners[2][ETWAS_LISTENERS];
    const struct etwas_event_filter *filters[2][ETWAS_LISTENERS]; /* of each; NULL: none */
};

extern struct etwas_event_provider etwas_event_providers[ETWAS_REGISTRATIONS];

static inline uint32_t etwas_registration_index(uint64_t handle)
{
    return (uint32_t)(handle & ((1u << ETWAS_REGISTRATION_INDEX_BITS) - 1)) - 1;
}

/* ---- with the control lock held -------------------------------------------------------------- */

/* A new registration, to which nobody listens yet; and its end. */
void etwas_event_provider_open(uint32_t registration, uint32_t generation, const etwas_guid *guid);
void etwas_event_provider_close(uint32_t registration);

/* From here on those listen who enable the control GUID now. */
void etwas_event_provider_listen(uint32_t registration, const struct etwas_control_guid *entry);

/* ---- without it: lock-free, async-signal-safe ------------------------------------------------ */

/* The sessions that want an event, and what else a record needs of its provider. */
struct etwas_audience {
    uint32_t count;
    uint32_t options;
    uint64_t guid[2];
    struct {
        uint64_t session;
        uint32_t flags;
    } sessions[ETWAS_LISTENERS];
};

/* The same of the only session that listens. */
struct etwas_only_listener {
    uint64_t session;
    uint32_t options;
    bool wants; /* the event */
    etwas_guid_words guid;
};

/* The entry of a handle; NULL: it is no registration's. */
static inline struct etwas_event_provider *etwas_event_provider_of(uint64_t handle)
{
    uint32_t index = etwas_registration_index(handle);
    struct etwas_event_provider *provider;

    if (__builtin_expect(index >= ETWAS_REGISTRATIONS, 0) ||
        __builtin_expect(handle >> ETWAS_REGISTRATION_TAG_SHIFT !=
                             ETWAS_EVENT_PROVIDER_TAG >> ETWAS_REGISTRATION_TAG_SHIFT,
                         0)) {
        return NULL;
    }
    provider = &etwas_event_providers[index];
    if (__builtin_expect(ck_pr_load_32(&provider->generation) !=
                             (uint32_t)(handle >> ETWAS_REGISTRATION_INDEX_BITS),
                         0) ||
        (uint32_t)(handle >> ETWAS_REGISTRATION_INDEX_BITS) == 0) {
        return NULL;
    }
    return provider;
}

static inline bool etwas_listener_wants(const struct etwas_listener *listener, uint8_t level,
                                        uint64_t keyword, uint32_t flags)
{
    uint64_t all = ck_pr_load_64(&listener->match_all_keyword);

    if (__builtin_expect(level > ck_pr_load_32(&listener->level), 0)) {
        return false;
    }
    if (__builtin_expect(keyword == 0, 0)) {
        return (flags & ETWAS_LISTENER_IGNORE_KEYWORD_0) == 0;
    }
    return (keyword & ck_pr_load_64(&listener->match_any_keyword)) != 0 && (keyword & all) == all;
}

/* Who wants an event of this level and keyword. False: the registration has ended. */
bool etwas_event_provider_audience(const struct etwas_event_provider *provider, uint64_t handle,
                                   uint8_t level, uint64_t keyword,
                                   struct etwas_audience *audience);

/*
 * The same where one session listens, and takes events as they are. False: it is otherwise, or
 * changes just now.
 */
static inline bool etwas_event_provider_only(const struct etwas_event_provider *provider,
                                             uint64_t handle, uint8_t level, uint64_t keyword,
                                             struct etwas_only_listener *only)
{
    const uint32_t version = ck_pr_load_32(&provider->version);
    const struct etwas_listener *list = provider->listeners[version % 2];
    uint64_t another;
    uint32_t flags;
    bool wanted;

    ck_pr_fence_acquire();
    another = ck_pr_load_64(&list[1].session);
    flags = ck_pr_load_32(&list[0].flags);
    wanted = etwas_listener_wants(&list[0], level, keyword, flags);
    only->session = ck_pr_load_64(&list[0].session);
    ck_pr_fence_acquire();
    if (__builtin_expect(another != 0, 0) || __builtin_expect(!etwas_listener_is_plain(flags), 0) ||
        __builtin_expect(ck_pr_load_32(&provider->version) != version, 0)) {
        return false;
    }
    only->wants = wanted;
    only->options = ck_pr_load_32(&provider->options);
    only->guid = etwas_guid_load(provider->guid);
    ck_pr_fence_acquire();
    return __builtin_expect(ck_pr_load_32(&provider->generation) ==
                                (uint32_t)(handle >> ETWAS_REGISTRATION_INDEX_BITS),
                            1);
}

#endif
