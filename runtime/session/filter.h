/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The process filters of a system-wide private session or of an enablement (R22–R27). Each process
 * evaluates them for itself.
 */
#ifndef ETWAS_SESSION_FILTER_H
#define ETWAS_SESSION_FILTER_H

#include <etwas/evntprov.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_FILTERS_MAXIMUM = 50,
    ETWAS_FILTER_NAMES_UNITS = MAX_EVENT_FILTER_DATA_SIZE / sizeof(etwas_wchar),
};

/* Which processes pass the filters; copied from the caller's memory. All 0: every process. */
struct etwas_process_filters {
    uint32_t process_count; /* 0: any process id */
    uint32_t process_ids[MAX_EVENT_FILTER_PID_COUNT];
    bool has_names;                              /* else any program matches */
    etwas_wchar names[ETWAS_FILTER_NAMES_UNITS]; /* `;` between them; terminated */
};

/*
 * Checks the filters and copies them to *read, which is undefined on failure. `filters` and what
 * they point to need not be aligned.
 *
 * ERROR_INVALID_PARAMETER: more than 50, two of one type, a type other than PID and
 * EXECUTABLE_NAME, no data or more than 1,024 bytes, not 1 to 8 whole process ids, names that are
 * not whole units of UTF-16 with a 0 among them.
 */
uint32_t etwas_filters_read(const EVENT_FILTER_DESCRIPTOR *filters, uint32_t count,
                            struct etwas_process_filters *read);

/* Whether this process passes all filters. */
bool etwas_filters_match(const struct etwas_process_filters *filters);

/*
 * Stores the name of this program's file, without its folder. Returns false if the system does not
 * say.
 */
bool etwas_filter_program(etwas_wchar name[NAME_MAX + 1]);

/* Whether `program` is one of the names, which are separated by `;`, without regard to case. */
bool etwas_filter_names(const etwas_wchar names[ETWAS_FILTER_NAMES_UNITS],
                        const etwas_wchar *program);

static inline bool etwas_filters_are_any(const struct etwas_process_filters *filters)
{
    return filters->process_count != 0 || filters->has_names;
}

#endif
