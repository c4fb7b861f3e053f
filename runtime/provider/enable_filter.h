/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The filters of EnableTraceEx and EnableTraceEx2: which processes are included, which events,
 * which of them get stacks; other filters are refused.
 */
#ifndef ETWAS_PROVIDER_ENABLE_FILTER_H
#define ETWAS_PROVIDER_ENABLE_FILTER_H

#include <etwas/evntprov.h>
#include <stdbool.h>
#include <stdint.h>

#include "provider/event_filter.h"

/*
 * Reads the filters: whether one of them excludes this process, and which events are wanted;
 * *excluded is set on success only, and what is added to `events`, all 0 at first, is whole then.
 * `filters` need not be aligned.
 *
 * ERROR_INVALID_PARAMETER: more than MAX_EVENT_FILTERS_COUNT, or none at the address; two of one
 * type; data missing or more than its type may have; not 1 to 8 process ids; names that are not
 * UTF-16 with a 0 at the end; what etwas_event_filter_add refuses; a type of the system's that ETW
 * does not know. ERROR_NOT_SUPPORTED: filters of payloads, packages and containers, and a
 * provider's own, since providers do not get their data.
 */
uint32_t etwas_enable_filters_read(const EVENT_FILTER_DESCRIPTOR *filters, uint32_t count,
                                   bool *excluded, struct etwas_event_filter *events);

#endif
