/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The filters of a system-wide private session, or of an enablement: which processes it is for (R22–R27). Each process
 * asks whether that is itself.
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

/* What they let through; nothing of the caller's is kept. All 0: every process. */
struct etwas_process_filters {
    uint32_t process_count; /* 0: any process id */
    uint32_t process_ids[MAX_EVENT_FILTER_PID_COUNT];
    bool has_names;                              /* else any program */
    etwas_wchar names[ETWAS_FILTER_NAMES_UNITS]; /* `;` between them; terminated */
};

/*
 * Checks the filters and copies what they say; on failure *read is not to be used. `filters` and what they point to need
 * not be aligned.
 *
 * ERROR_INVALID_PARAMETER: more than 50, two of one type, a type other than PID and
 * EXECUTABLE_NAME, no data or more than 1,024 bytes, not 1 to 8 whole process ids, names that are
 * not whole units of UTF-16 with a 0 among them.
 */
uint32_t etwas_filters_read(const EVENT_FILTER_DESCRIPTOR *filters, uint32_t count,
                            struct etwas_process_filters *read);

/* Whether all of them let this process through. */
bool etwas_filters_match(const struct etwas_process_filters *filters);

/* The name of this program's file, without its folder. False: the system does not say. */
bool etwas_filter_program(etwas_wchar name[NAME_MAX + 1]);

/* Whether it is one of the names, which have `;` between them, without regard to case. */
bool etwas_filter_names(const etwas_wchar names[ETWAS_FILTER_NAMES_UNITS],
                        const etwas_wchar *program);

static inline bool etwas_filters_are_any(const struct etwas_process_filters *filters)
{
    return filters->process_count != 0 || filters->has_names;
}

#endif
