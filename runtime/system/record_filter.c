/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/record_filter.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "etl/layout.h"
#include "etl/own_record.h"
#include "system/keywords.h"
#include "system/names/proc_list.h"
#include "system/stream/event_group.h"

#define NO_PROCESS UINT32_MAX
#define EVERY_PROVIDER ((UINT32_C(1) << ETWAS_SYSTEM_PROVIDERS) - 1)

enum {
    HOOK_GROUP_SHIFT = 8,
    IMAGE_PROCESS_AT = sizeof(struct etwas_etl_full_header) + 8, /* of DbgID_RSDS */
};

/* ---- threads --------------------------------------------------------------------------------- */

struct listed_thread {
    struct etwas_id_node node;
    uint32_t process_id;
    bool has_ended;
};

static bool lists(const struct etwas_system_enablement *provider, uint32_t process_id)
{
    bool is_there = false;

    for (uint32_t index = 0; index < provider->process_count; index++) {
        is_there = is_there || provider->processes[index] == process_id;
    }
    return is_there && process_id != NO_PROCESS;
}

static bool is_listed(const struct etwas_record_filter *filter, uint32_t providers,
                      uint32_t process_id)
{
    bool is_there = false;

    for (; !is_there && providers != 0; providers &= providers - 1) {
        is_there = lists(&filter->providers[__builtin_ctz(providers)], process_id);
    }
    return is_there;
}

static struct listed_thread *find_thread(const struct etwas_record_filter *filter,
                                         uint32_t thread_id)
{
    return filter->threads.buckets != NULL
               ? (struct listed_thread *)etwas_id_map_find(&filter->threads, thread_id)
               : NULL;
}

/* Without memory, switches to the thread are missing. */
static void add_thread(struct etwas_record_filter *filter, uint32_t process_id, uint32_t thread_id)
{
    struct listed_thread *thread = find_thread(filter, thread_id);

    if (thread == NULL) {
        if (filter->threads.buckets == NULL && !etwas_id_map_init(&filter->threads)) {
            return;
        }
        thread = calloc(1, sizeof *thread);
        if (thread == NULL) {
            return;
        }
        thread->node.id = thread_id;
        etwas_id_map_add(&filter->threads, &thread->node);
    }
    thread->process_id = process_id;
    thread->has_ended = false;
}

static void remove_thread(struct etwas_record_filter *filter, struct listed_thread *thread)
{
    if (thread != NULL) {
        etwas_id_map_remove(&filter->threads, &thread->node);
        free(thread);
    }
}

static void remove_threads(struct etwas_record_filter *filter)
{
    while (filter->threads.count != 0) {
        remove_thread(filter, (struct listed_thread *)etwas_id_map_after(&filter->threads, NULL));
    }
}

static void drop_process(struct etwas_record_filter *filter, uint32_t process_id)
{
    for (uint32_t provider = 0; provider < ETWAS_SYSTEM_PROVIDERS; provider++) {
        for (uint32_t index = 0; index < filter->providers[provider].process_count; index++) {
            uint32_t *listed = &filter->providers[provider].processes[index];

            *listed = *listed == process_id ? NO_PROCESS
                                            : *listed; /* another process has the number now */
        }
    }
}

/* A last switch of the thread may still come, so the threads that ended last are kept. */
static void record_filter_end_thread(struct etwas_record_filter *filter,
                                     struct listed_thread *thread)
{
    uint32_t *owner_field = &filter->ended[filter->ended_count % ETWAS_FILTER_ENDED];
    struct listed_thread *oldest = find_thread(filter, *owner_field);

    if (thread != NULL && !thread->has_ended) {
        thread->has_ended = true;
        *owner_field = thread->node.id;
        filter->ended_count++;
        if (oldest != NULL && oldest != thread && oldest->has_ended) {
            remove_thread(filter, oldest);
        }
    }
}

static void begin_thread(struct etwas_record_filter *filter, uint32_t process_id,
                         uint32_t thread_id)
{
    remove_thread(filter, find_thread(filter, thread_id)); /* an earlier thread with this number */
    if (is_listed(filter, EVERY_PROVIDER, process_id)) {
        if (thread_id == process_id) {
            drop_process(filter, process_id);
        } else {
            add_thread(filter, process_id, thread_id);
        }
    }
}

void etwas_record_filter_update_threads(struct etwas_record_filter *filter,
                                        const struct etwas_process_record *process_record)
{
    if (process_record->type == PERF_RECORD_EXIT) {
        record_filter_end_thread(filter, find_thread(filter, process_record->thread_id));
    } else if (process_record->type == PERF_RECORD_FORK) {
        begin_thread(filter, process_record->process_id, process_record->thread_id);
    }
}

/* ---- owners of a record ---------------------------------------------------------------------- */

/*
 * The processes and threads that payloads name. Records of other types belong to the thread that
 * caused them.
 */
static const struct owner_field {
    uint16_t first_hook;
    uint16_t last_hook;
    uint8_t offset;
    enum {
        OF_PROCESS, /* the payload has the process id */
        OF_THREAD,
        OF_THREADS, /* two thread ids; either of them counts */
        OF_CAUSE,   /* the thread that caused it, or the thread in the payload */
    } kind;
} owner_fields[] = {
    {0x010A, 0x010B, 48, OF_THREAD},  /* DiskIo Read, Write */
    {0x010E, 0x010E, 24, OF_THREAD},  /* Flush */
    {0x0301, 0x0304, 8, OF_PROCESS},  /* Process */
    {0x030A, 0x030A, 16, OF_PROCESS}, /* Image Load */
    {0x0320, 0x0321, 0, OF_PROCESS},  /* Process PerfCtr */
    {0x0501, 0x0504, 0, OF_PROCESS},  /* Thread */
    {0x0524, 0x0524, 0, OF_THREADS},  /* CSwitch */
    {0x0532, 0x0532, 0, OF_CAUSE},    /* ReadyThread */
    {0x060A, 0x06FF, 0, OF_PROCESS},  /* TcpIp */
    {0x080A, 0x08FF, 0, OF_PROCESS},  /* UdpIp */
    {0x1402, 0x1404, 16, OF_PROCESS}, /* Image */
};

/* Groups with types in the table. */
#define GROUPS_WITH_OWNERS                                                                         \
    (UINT64_C(1) << 0x01 | UINT64_C(1) << 0x03 | UINT64_C(1) << 0x05 | UINT64_C(1) << 0x06 |       \
     UINT64_C(1) << 0x08 | UINT64_C(1) << 0x14)

/* The processes that a record belongs to. */
struct owners {
    uint16_t hook; /* 0: none */
    bool is_nobodys;
    uint32_t processes[2];
};

static uint32_t number_at(const uint8_t *record, size_t offset)
{
    uint32_t number;

    memcpy(&number, record + offset, sizeof number);
    return number;
}

static uint32_t record_filter_process_of(const struct etwas_record_filter *filter,
                                         uint32_t thread_id)
{
    const struct listed_thread *thread = find_thread(filter, thread_id);

    return thread != NULL ? thread->process_id : NO_PROCESS;
}

static void find_in_payload(const struct etwas_record_filter *filter, const uint8_t *payload,
                            const struct owner_field *owner_field, struct owners *owners)
{
    uint32_t number = number_at(payload, owner_field->offset);

    owners->is_nobodys = false;
    switch (owner_field->kind) {
    case OF_PROCESS:
        owners->processes[0] = number;
        break;
    case OF_THREADS:
        owners->processes[1] = record_filter_process_of(filter, number_at(payload, sizeof number));
        __attribute__((fallthrough));
    case OF_THREAD:
        owners->processes[0] = record_filter_process_of(filter, number);
        break;
    case OF_CAUSE:
        owners->processes[1] = record_filter_process_of(filter, number);
        break;
    }
}

static struct owners owners_of(const struct etwas_record_filter *filter,
                               const struct etwas_sample *sample, const uint8_t *record,
                               bool is_own)
{
    struct owners owners = {.is_nobodys = true, .processes = {NO_PROCESS, NO_PROCESS}};
    /* PERFINFO begins like SYSTEM, and has the type at the same offset. */
    struct etwas_etl_system_header header;
    size_t payload_at = sizeof(struct etwas_etl_perfinfo_header);
    bool has_owner_field;

    memcpy(&header, record, payload_at);
    if (header.header_type == ETWAS_ETL_FULL_HEADER64) {
        owners.is_nobodys = memcmp(record + offsetof(struct etwas_etl_full_header, guid),
                                   &etwas_etl_own_class, sizeof etwas_etl_own_class) == 0;
        owners.processes[0] = number_at(record, IMAGE_PROCESS_AT);
        return owners;
    }
    has_owner_field = (GROUPS_WITH_OWNERS >> header.group % 64 & 1) != 0;
    owners.hook = (uint16_t)(header.group << HOOK_GROUP_SHIFT | header.type);
    if (header.header_type == ETWAS_ETL_SYSTEM64) {
        payload_at = sizeof header;
        owners.is_nobodys = false;
        owners.processes[0] =
            number_at(record, offsetof(struct etwas_etl_system_header, process_id));
    } else if (sample != NULL && !is_own) {
        owners.is_nobodys = false;
        owners.processes[0] = sample->origin.process_id;
    }
    for (size_t index = 0; has_owner_field && index < sizeof owner_fields / sizeof *owner_fields;
         index++) {
        if (owners.hook >= owner_fields[index].first_hook &&
            owners.hook <= owner_fields[index].last_hook) {
            find_in_payload(filter, record + payload_at, &owner_fields[index], &owners);
        }
    }
    return owners;
}

static bool lets_through(const struct etwas_system_enablement *provider,
                         const struct owners *owners)
{
    bool is_theirs = provider->process_count == 0 || owners->is_nobodys ||
                     lists(provider, owners->processes[0]) || lists(provider, owners->processes[1]);

    return is_theirs && (owners->hook == 0 || etwas_hook_passes(&provider->events, owners->hook));
}

bool etwas_record_filter_passes(struct etwas_record_filter *filter, uint32_t providers,
                                const struct etwas_sample *sample, const uint8_t *record,
                                bool is_own)
{
    struct owners owners;
    bool passes = false;

    /* Adds a thread whose FORK was lost. */
    if (sample != NULL && is_listed(filter, providers, sample->origin.process_id) &&
        find_thread(filter, sample->origin.thread_id) == NULL) {
        add_thread(filter, sample->origin.process_id, sample->origin.thread_id);
    }
    owners = owners_of(filter, sample, record, is_own);
    for (; !passes && providers != 0; providers &= providers - 1) {
        passes = lets_through(&filter->providers[__builtin_ctz(providers)], &owners);
    }
    return passes;
}

/* ---- settings -------------------------------------------------------------------------------- */

bool etwas_settings_list_processes(const struct etwas_system_settings *settings)
{
    bool list = false;

    for (uint32_t index = 0; index < ETWAS_SYSTEM_PROVIDERS; index++) {
        list = list || (settings->providers[index].is_enabled &&
                        settings->providers[index].process_count != 0);
    }
    return list;
}

/* Returns 0 if one of them has no filter. */
static uint32_t filters_for(const struct etwas_system_settings *settings, uint64_t requested)
{
    uint32_t providers = 0;

    if ((etwas_settings_masks_requested(settings) & requested) != 0) {
        return 0;
    }
    for (uint32_t index = 0; index < ETWAS_SYSTEM_PROVIDERS; index++) {
        if ((etwas_system_provider_requested(settings, index) & requested) == 0) {
            continue;
        }
        if (!etwas_system_enablement_is_filtered(&settings->providers[index])) {
            return 0;
        }
        providers |= 1U << index;
    }
    return providers;
}

struct listing {
    struct etwas_record_filter *filter;
    uint32_t process_id;
};

static void list_thread(void *context, uint32_t thread_id, bool is_leaving)
{
    const struct listing *listing = context;

    (void)is_leaving;
    add_thread(listing->filter, listing->process_id, thread_id);
}

static void list_threads(struct etwas_record_filter *filter,
                         const struct etwas_system_enablement *provider)
{
    for (uint32_t index = 0; etwas_proc_is_ours() && index < provider->process_count; index++) {
        struct listing listing = {filter, provider->processes[index]};

        if (listing.process_id != NO_PROCESS) {
            etwas_proc_list_threads(listing.process_id, list_thread, &listing);
        }
    }
}

void etwas_record_filter_choose(struct etwas_record_filter *filter,
                                const struct etwas_system_settings *settings)
{
    remove_threads(filter);
    for (uint32_t index = 0; index < ETWAS_SYSTEM_PROVIDERS; index++) {
        struct etwas_system_enablement *provider = &filter->providers[index];

        /* If the list was not set again, processes that were dropped from it stay out. */
        if (provider->turn != settings->providers[index].turn) {
            *provider = settings->providers[index];
        }
        list_threads(filter, provider);
    }
    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        filter->of_groups[number] = filters_for(settings, etwas_event_groups[number]->flags);
    }
    filter->of_inventory = filters_for(settings, ETWAS_REQUESTED_EVERY_INVENTORY);
}

void etwas_record_filter_free(struct etwas_record_filter *filter)
{
    remove_threads(filter);
    etwas_id_map_free(&filter->threads);
}
