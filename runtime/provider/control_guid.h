/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Control GUIDs: the providers that a process knows, because they are registered, or because a
 * session has enabled them before they are (R190).
 *
 * A static table, under the control lock. An entry is in use, and keeps its index, while a provider
 * is registered under its GUID or a session enables it.
 *
 * A provider may name a group, which has a GUID, too. What is enabled under the group's GUID is
 * enabled for all its members. Groups have entries of their own here; the registrations under one
 * are its members.
 *
 * Up to 8 sessions enable a GUID. Its modern providers write to all of them; its classic providers
 * to the newest, until that one disables it (R192). If all registrations of a GUID are classic, it
 * has one session at most.
 *
 * An enablement may have a name, which is a pattern. Providers whose names match are enabled too,
 * whatever their GUIDs are: each gets a copy of the enablement (enabling.c).
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
    /*
     * One for each registration, one for its group, and one for each GUID that is enabled before it
     * is registered.
     */
    ETWAS_CONTROL_GUIDS = 2 * (int)ETWAS_REGISTRATIONS + (int)ETWAS_ENABLED_PROVIDERS,
    ETWAS_NO_CONTROL_GUID = ETWAS_CONTROL_GUIDS,
    ETWAS_LISTENERS = 8, /* sessions that enable one GUID at a time */
    ETWAS_PROVIDER_NAME_BYTES = 256,
};

/* What a session requested when it enabled a provider; enabling again replaces all of it. */
struct etwas_enablement {
    uint64_t session; /* 0: no session enables it */
    uint64_t match_any_keyword;
    uint64_t match_all_keyword;
    const struct etwas_event_filter *filter; /* released with the enablement; NULL: none */
    /* A pattern: matching providers are enabled too. Freed with the enablement. NULL: none. */
    char *name;
    uint64_t asked_ns; /* as in struct etwas_enable_request */
    uint32_t property;
    uint8_t level;
    bool independent; /* the other sessions get an event that this one cannot take (R77) */
    bool by_name;     /* a copy of what the session requests by a name that the provider has */
};

struct etwas_control_guid {
    etwas_guid guid;
    bool is_group;
    uint32_t registrations;
    uint32_t classic_registrations; /* of these, those of classic providers */
    uint32_t enablement_count;
    /*
     * UTF-8, from the provider itself or from the description of a class; NULL: not known. Freed
     * when another GUID gets the entry.
     */
    char *name;
    bool name_is_described; /* from a description (describe_class.h) */
    uint64_t newest; /* the session that enabled it last; 0: that session has disabled it again */
    uint64_t newest_asked_ns; /* when it did (struct etwas_enable_request); 0: not known */
    struct etwas_enablement enablements[ETWAS_LISTENERS];
};

extern struct etwas_control_guid etwas_control_guids[ETWAS_CONTROL_GUIDS];

/* Every entry that is or was in use lies below this index. */
uint32_t etwas_control_guids_end(void);

static inline bool etwas_control_guid_is_used(const struct etwas_control_guid *entry)
{
    return entry->registrations != 0 || entry->enablement_count != 0;
}

static inline bool etwas_control_guid_is_classic(const struct etwas_control_guid *entry)
{
    return entry->registrations != 0 && entry->registrations == entry->classic_registrations;
}

/* How many enablements have a name. */
uint32_t etwas_named_enablements(void);

/* Replaces an enablement in the table, which owns the new one's filter and name from now on. */
void etwas_enablement_set(struct etwas_enablement *enablement,
                          const struct etwas_enablement *replacement);

/* The enablement of a session; NULL: it has none. */
struct etwas_enablement *etwas_control_guid_enablement(struct etwas_control_guid *entry,
                                                       uint64_t session);

/* The enablement that its classic providers follow; its session is 0 if there is none. */
const struct etwas_enablement *etwas_control_guid_newest_enablement(
    const struct etwas_control_guid *entry);

/* Removes the enablements of all other sessions. */
void etwas_control_guid_disable_others(struct etwas_control_guid *entry, uint64_t session);

/* Removes the name from this session's enablement, if it has one. */
void etwas_control_guid_forget_name(struct etwas_control_guid *entry, uint64_t session);

/* Removes the enablement of this session. */
void etwas_control_guid_disable(struct etwas_control_guid *entry, uint64_t session);

/* The flags that a classic provider gets: the low half of the keywords. */
static inline uint32_t etwas_enablement_flags(const struct etwas_enablement *enablement)
{
    return (uint32_t)enablement->match_any_keyword;
}

/*
 * Returns the index of the entry of a provider's or group's GUID; ETWAS_NO_CONTROL_GUID: there is
 * none.
 */
uint32_t etwas_control_guid_find(const etwas_guid *guid, bool is_group);

/*
 * Returns the same, or the index of an unused entry, which gets the GUID. The caller registers or
 * enables before it releases the lock. ETWAS_NO_CONTROL_GUID: the table is full.
 */
uint32_t etwas_control_guid_find_or_add(const etwas_guid *guid, bool is_group);

/*
 * Stores the provider's name, cut to ETWAS_PROVIDER_NAME_BYTES. Keeps the old name if there is no
 * memory.
 */
void etwas_control_guid_set_name(struct etwas_control_guid *entry, const char *name);

#endif
