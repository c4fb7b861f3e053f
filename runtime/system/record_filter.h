/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which records are wanted of what system providers ask for with filters: of some processes alone, or of some
 * events. It stands between the topics and the stream: the kernel hands everything over, topics join it, and
 * what does not pass is not made a record of. What EnableFlags or another provider want of the same topic
 * without a filter passes.
 *
 * A filter's processes are those that had the numbers when it was asked for: a new one with such a number is
 * another. What is of nobody, such as the name of a file, passes.
 */
#ifndef ETWAS_SYSTEM_RECORD_FILTER_H
#define ETWAS_SYSTEM_RECORD_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "system/names/id_map.h"
#include "system/settings.h"
#include "system/stream/sample.h"
#include "system/stream/source_tags.h"

enum {
    ETWAS_FILTER_ENDED = 64
};

struct etwas_record_filter {
    /* Of each topic the providers whose filters let something through, bit by bit; 0: all passes. */
    uint32_t of_groups[ETWAS_EVENT_GROUPS_MOST];
    uint32_t of_inventory; /* likewise, where a provider wants it */
    struct etwas_system_enablement providers[ETWAS_SYSTEM_PROVIDERS];
    struct etwas_id_map threads; /* of the listed processes; without buckets before the first */
    uint32_t ended[ETWAS_FILTER_ENDED]; /* the last of these that have ended */
    uint32_t ended_count;
};

/* Whether some provider lists processes, so that their forks have to be known. */
bool etwas_settings_list_processes(const struct etwas_system_settings *settings);

/* From now on by these, which are in force. */
void etwas_record_filter_choose(struct etwas_record_filter *filter,
                                const struct etwas_system_settings *settings);

/* Of a FORK or EXIT. */
void etwas_record_filter_update_threads(struct etwas_record_filter *filter,
                                        const struct etwas_process_record *process_record);

/*
 * Whether one of the providers lets the record through. `sample`: that it was made of; NULL: none.
 * `is_own`: what the logger says by itself.
 */
bool etwas_record_filter_passes(struct etwas_record_filter *filter, uint32_t providers,
                                const struct etwas_sample *sample, const uint8_t *record,
                                bool is_own);

void etwas_record_filter_free(struct etwas_record_filter *filter);

#endif
