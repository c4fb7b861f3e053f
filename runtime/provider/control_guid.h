/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Control GUIDs: the providers a process knows, because they are registered, or because a session
 * has enabled them before they are (R190).
 *
 * A static table, under the control lock. An entry is in use while anybody is registered under its
 * GUID or a session enables it; its index stays the same as long.
 *
 * A provider may say that it belongs to a group, which has a GUID, too. What is enabled under that
 * is enabled for all of them. Groups have entries of their own here; the registered under one are
 * its members.
 *
 * Up to 8 sessions enable a GUID. Its modern providers write to all of them; its classic providers
 * to the newest, until that one disables it (R192). As long as all who are registered under it are
 * classic, it has no other.
 */
#ifndef ETWAS_PROVIDER_CONTROL_GUID_H
#define ETWAS_PROVIDER_CONTROL_GUID_H

#include <etwas/evntrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "provider/event_filter.h"
#include "provider/registration.h"

enum {
    ETWAS_ENABLED_PROVIDERS = 1024, /* GUIDs enabled at a time */
    /* Of each registration, of its group, and enabled before anybody registers. */
    ETWAS_CONTROL_GUIDS = 2 * (int)ETWAS_REGISTRATIONS + (int)ETWAS_ENABLED_PROVIDERS,
    ETWAS_NO_CONTROL_GUID = ETWAS_CONTROL_GUIDS,
    ETWAS_LISTENERS = 8, /* sessions that enable one GUID at a time */
    ETWAS_PROVIDER_NAME_BYTES = 256,
};

/* What a session that enables a provider asked for, as a whole: enabling again replaces it. */
struct etwas_enablement {
    uint64_t session; /* 0: nobody enables it */
    uint64_t match_any_keyword;
    uint64_t match_all_keyword;
    const struct etwas_event_filter *filter; /* given back when it is forgotten; NULL: none */
    uint32_t property;
    uint8_t level;
    bool independent; /* what the session cannot take costs the others nothing (R77) */
};

struct etwas_control_guid {
    etwas_guid guid;
    bool is_group;
    uint32_t registrations;
    uint32_t classic_registrations; /* of these, those of classic providers */
    uint32_t enablement_count;
    char *
        name; /* UTF-8, what the provider says itself; NULL: not known. Freed when another GUID has the entry */
    uint64_t newest; /* the session that enabled it last; 0: that one has disabled it again */
    uint64_t newest_asked_ns; /* when it did (struct etwas_enable_request); 0: that is not known */
    struct etwas_enablement enablements[ETWAS_LISTENERS];
};

extern struct etwas_control_guid etwas_control_guids[ETWAS_CONTROL_GUIDS];

/* Below this index lies every entry that is or was in use. */
uint32_t etwas_control_guids_end(void);

static inline bool etwas_control_guid_is_used(const struct etwas_control_guid *entry)
{
    return entry->registrations != 0 || entry->enablement_count != 0;
}

static inline bool etwas_control_guid_is_classic(const struct etwas_control_guid *entry)
{
    return entry->registrations != 0 && entry->registrations == entry->classic_registrations;
}

/* What a session asks of it; NULL: nothing. */
struct etwas_enablement *etwas_control_guid_enablement(struct etwas_control_guid *entry,
                                                       uint64_t session);

/* What its classic providers go by; one with session 0: nobody enables them. */
const struct etwas_enablement *etwas_control_guid_newest_enablement(
    const struct etwas_control_guid *entry);

/* Forgets all that is asked of it but by this session. */
void etwas_control_guid_disable_others(struct etwas_control_guid *entry, uint64_t session);

/* Forgets what this session asks of it. */
void etwas_control_guid_disable(struct etwas_control_guid *entry, uint64_t session);

/* A classic provider gets the low half of the keywords, 0 as 0. */
static inline uint32_t etwas_enablement_flags(const struct etwas_enablement *enablement)
{
    return (uint32_t)enablement->match_any_keyword;
}

/*
 * The index of the GUID's entry, as a provider's or as a group's; ETWAS_NO_CONTROL_GUID: nobody
 * knows it.
 */
uint32_t etwas_control_guid_find(const etwas_guid *guid, bool is_group);

/*
 * The same, or the index of an unused entry that has the GUID now: the caller registers or enables
 * before it lets go of the lock. ETWAS_NO_CONTROL_GUID: the table is full.
 */
uint32_t etwas_control_guid_find_or_add(const etwas_guid *guid, bool is_group);

/* Its provider's name, as much of it as ETWAS_PROVIDER_NAME_BYTES; without memory it stays as it was. */
void etwas_control_guid_set_name(struct etwas_control_guid *entry, const char *name);

#endif
