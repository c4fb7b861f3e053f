/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/event_provider.h"

#include <etwas/evntcons.h>
#include <string.h>

#include "provider/event_items.h"
#include "session/handle.h"

enum {
    HIGHEST_LEVEL = 255
};

struct etwas_event_provider etwas_event_providers[ETWAS_REGISTRATIONS];
const struct etwas_event_filter
    *etwas_event_provider_filters[ETWAS_REGISTRATIONS][2][ETWAS_LISTENERS];

/* ---- changes: with the control lock held ----------------------------------------------------- */

static struct etwas_listener listener_of_enablement(const struct etwas_enablement *enablement)
{
    const uint32_t generation = etwas_handle_generation(enablement->session);
    const struct etwas_attachment *attachment = etwas_handle_attachment(enablement->session);
    const bool is_open = ck_pr_load_32(&attachment->slots->gate) == generation;
    struct etwas_listener listener = {
        .session = enablement->session,
        .slots = attachment->slots,
        .generation = generation,
        .kind = is_open ? etwas_slot_kind_of(attachment->slots) : 0,
        /* C15: 0 is every keyword; and level 0 is every level. */
        .match_any_keyword =
            enablement->match_any_keyword != 0 ? enablement->match_any_keyword : UINT64_MAX,
        .match_all_keyword = enablement->match_all_keyword,
        .level = enablement->level != 0 ? enablement->level : (uint32_t)HIGHEST_LEVEL,
        .flags = (enablement->property & ETWAS_ITEM_PROPERTIES) << ETWAS_LISTENER_PROPERTY_SHIFT,
    };

    if (enablement->independent) {
        listener.flags |= ETWAS_LISTENER_INDEPENDENT;
    }
    if (enablement->filter != NULL) {
        listener.flags |= ETWAS_LISTENER_FILTERED;
    }
    if ((enablement->property & ETWAS_ENABLE_PROPERTY_COUNTERS) != 0) {
        listener.flags |= ETWAS_LISTENER_COUNTED;
    }
    if ((enablement->property & EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0) != 0) {
        listener.flags |= ETWAS_LISTENER_IGNORE_KEYWORD_0;
    }
    if ((enablement->property & EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE) != 0) {
        listener.flags |= ETWAS_LISTENER_EXCLUDE_PRIVATE;
    }
    return listener;
}

static void listener_store(struct etwas_listener *stored, const struct etwas_listener *listener)
{
    ck_pr_store_64(&stored->session, listener->session);
    ck_pr_store_ptr(&stored->slots, listener->slots);
    ck_pr_store_32(&stored->generation, listener->generation);
    ck_pr_store_32(&stored->kind, listener->kind);
    ck_pr_store_64(&stored->match_any_keyword, listener->match_any_keyword);
    ck_pr_store_64(&stored->match_all_keyword, listener->match_all_keyword);
    ck_pr_store_32(&stored->level, listener->level);
    ck_pr_store_32(&stored->flags, listener->flags);
}

static uint32_t listeners_state(const struct etwas_listener *list, uint32_t count)
{
    for (uint32_t index = 0; index < count; index++) {
        if (!etwas_listener_is_plain(list[index].flags)) {
            return ETWAS_PROVIDER_OTHER_LISTENERS;
        }
    }
    if (count == 0) {
        return 0;
    }
    return count == 1 ? ETWAS_PROVIDER_ONE_LISTENER : ETWAS_PROVIDER_SEVERAL_LISTENERS;
}

void etwas_event_provider_listen(uint32_t registration, const struct etwas_control_guid *entry)
{
    struct etwas_event_provider *provider = &etwas_event_providers[registration];
    uint32_t version = (provider->state >> ETWAS_PROVIDER_STATE_BITS) + 1;
    struct etwas_listener *list = provider->listeners[version % 2];

    /*
     * A reader that sees a listener of the new list sees that the version before it is not in
     * force.
     */
    ck_pr_fence_store();
    for (uint32_t index = 0; index < ETWAS_LISTENERS; index++) {
        struct etwas_listener listener = {0};
        const struct etwas_event_filter *filter = NULL;

        if (index < entry->enablement_count) {
            listener = listener_of_enablement(&entry->enablements[index]);
            filter = entry->enablements[index].filter;
        }
        listener_store(&list[index], &listener);
        ck_pr_store_ptr(&etwas_event_provider_filters[registration][version % 2][index], filter);
    }
    ck_pr_fence_release(); /* pairs with the acquire after the state in `recipients` */
    ck_pr_store_32(&provider->state, version << ETWAS_PROVIDER_STATE_BITS |
                                         listeners_state(list, entry->enablement_count));
}

void etwas_event_provider_open(uint32_t registration, uint64_t handle, const etwas_guid *guid)
{
    struct etwas_event_provider *provider = &etwas_event_providers[registration];
    uint64_t words[2];

    memcpy(words, guid, sizeof words);
    ck_pr_store_32(&provider->options, 0);
    ck_pr_store_64(&provider->guid[0], words[0]);
    ck_pr_store_64(&provider->guid[1], words[1]);
    ck_pr_fence_release(); /* pairs with the acquire after the handle */
    ck_pr_store_64(&provider->handle, handle);
}

void etwas_event_provider_close(uint32_t registration)
{
    static const struct etwas_control_guid nobody;

    /*
     * The new state tells a reader to discard what is stored after this for another registration.
     */
    etwas_event_provider_listen(registration, &nobody);
    ck_pr_fence_store();
    ck_pr_store_64(&etwas_event_providers[registration].handle, 0);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void listeners_collect(const struct etwas_listener *list, uint8_t level, uint64_t keyword,
                              struct etwas_recipients *recipients)
{
    uint32_t count = 0;

    for (uint32_t index = 0; index < ETWAS_LISTENERS; index++) {
        uint64_t session = ck_pr_load_64(&list[index].session);
        uint32_t flags = ck_pr_load_32(&list[index].flags);

        if (session == 0) {
            break;
        }
        if (etwas_listener_wants(&list[index], level, keyword)) {
            recipients->sessions[count].session = session;
            recipients->sessions[count].flags = flags;
            count++;
        }
    }
    recipients->count = count;
}

bool etwas_event_provider_recipients(const struct etwas_event_provider *provider, uint64_t handle,
                                     uint8_t level, uint64_t keyword,
                                     struct etwas_recipients *recipients)
{
    uint32_t state = ck_pr_load_32(&provider->state);

    for (;;) {
        uint32_t now;

        ck_pr_fence_acquire();
        if (ck_pr_load_64(&provider->handle) != handle) {
            return false;
        }
        ck_pr_fence_acquire();
        listeners_collect(provider->listeners[etwas_event_provider_list_index(state)], level,
                          keyword, recipients);
        recipients->options = ck_pr_load_32(&provider->options);
        recipients->guid = etwas_pair_load(provider->guid);
        ck_pr_fence_acquire();
        now = ck_pr_load_32(&provider->state);
        if (now == state) {
            return true;
        }
        state = now;
    }
}
