/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Decides which records pass the filters of system providers: filters by process and by event. The
 * filter is applied between the groups and the session: the kernel delivers every event, groups
 * join them, and records that do not pass are dropped. If EnableFlags, or a provider without a
 * filter, also request a group, all of its records pass.
 *
 * A filter lists processes that had these numbers when it was set; a later process with the same
 * number is another one. Records that belong to no process, such as the name of a file, pass.
 */
#ifndef ETWAS_SYSTEM_RECORD_FILTER_H
#define ETWAS_SYSTEM_RECORD_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "provider/system_providers.h"
#include "system/names/id_map.h"
#include "system/stream/sample.h"
#include "system/stream/source_tags.h"

enum {
    ETWAS_FILTER_ENDED = 64
};

struct etwas_record_filter {
    /* for each group, the providers whose filters apply, one bit each; 0: every record passes */
    uint32_t of_groups[ETWAS_EVENT_GROUPS_MOST];
    uint32_t of_inventory; /* the same for events of the inventory */
    struct etwas_system_enablement providers[ETWAS_SYSTEM_PROVIDERS];
    struct etwas_id_map threads; /* of the listed processes; without buckets until the first one */
    uint32_t ended[ETWAS_FILTER_ENDED]; /* the listed threads that ended last */
    uint32_t ended_count;
};

/* Whether some provider lists processes. Then forks have to be recorded. */
bool etwas_settings_list_processes(const struct etwas_system_settings *settings);

/*
 * Applies the filters of these settings from now on. Reads the threads of listed processes from
 * /proc.
 */
void etwas_record_filter_choose(struct etwas_record_filter *filter,
                                const struct etwas_system_settings *settings);

/* Keeps the listed threads up to date; called for each FORK and EXIT. */
void etwas_record_filter_update_threads(struct etwas_record_filter *filter,
                                        const struct etwas_process_record *process_record);

/*
 * Whether a filter of one of these providers passes the record. `sample`: the sample that it was
 * made of; NULL: none. `is_own`: the logger emits it by itself, in a rundown.
 */
bool etwas_record_filter_passes(struct etwas_record_filter *filter, uint32_t providers,
                                const struct etwas_sample *sample, const uint8_t *record,
                                bool is_own);

void etwas_record_filter_free(struct etwas_record_filter *filter);

/*
 * What the filters of a system provider's enablement pass (provider/system_providers.h).
 */

/* Whether the filter passes events with this hook. */
static inline bool etwas_hook_passes(const struct etwas_id_filter *filter, uint16_t hook)
{
    bool is_there = false;

    for (uint32_t index = 0; index < filter->count; index++) {
        is_there = is_there || filter->ids[index] == hook;
    }
    return filter->count == 0 || is_there == (filter->in != 0);
}

/* Whether a filter keeps some of the events that the keywords request from being recorded. */
static inline bool etwas_system_enablement_is_filtered(
    const struct etwas_system_enablement *enablement)
{
    return enablement->process_count != 0 || enablement->events.count != 0;
}

#endif
