/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_FILTERS_H
#define ETWAS_TOOLS_STEER_FILTERS_H

/*
 * Filters of EnableTraceEx2 from a command line: which processes are enabled, and which events.
 */

#include <etwas/evntcons.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_STEER_FILTERS = 3,
    ETWAS_STEER_IDS = MAX_EVENT_FILTER_EVENT_ID_COUNT,
};

/* Zeroed it has none. Its descriptors point into it. */
struct etwas_steer_filters {
    EVENT_FILTER_DESCRIPTOR descriptors[ETWAS_STEER_FILTERS];
    uint32_t count;
    uint32_t processes[MAX_EVENT_FILTER_PID_COUNT];
    etwas_wchar programs[MAX_EVENT_FILTER_DATA_SIZE / sizeof(etwas_wchar)];
    uint16_t ids[2 + ETWAS_STEER_IDS]; /* an EVENT_FILTER_EVENT_ID: two units of head */
};

bool etwas_steer_has_filter(const struct etwas_steer_filters *filters, uint32_t type);

/*
 * Numbers with commas between them. False: one is none, there are too many, or there is such a
 * filter already.
 */
bool etwas_steer_filter_processes(struct etwas_steer_filters *filters, const char *list);
bool etwas_steer_filter_ids(struct etwas_steer_filters *filters, const char *list);

/* Names of programs' files, likewise. */
bool etwas_steer_filter_programs(struct etwas_steer_filters *filters, const char *list);

#endif
