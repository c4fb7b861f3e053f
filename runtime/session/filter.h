/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The filters of a system-wide private session: which processes it is for (R22–R27). A session
 * lives in the process that starts it, so the question is whether it is for this one.
 */
#ifndef ETWAS_SESSION_FILTER_H
#define ETWAS_SESSION_FILTER_H

#include <etwas/evntprov.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_FILTERS_MAXIMUM = 50
};

/*
 * Checks the filters and says whether all of them match this process; *matches is set on success
 * only. `filters` and what they point to need not be aligned.
 *
 * ERROR_INVALID_PARAMETER: more than 50, two of one type, a type other than PID and
 * EXECUTABLE_NAME, no data or more than 1,024 bytes, not 1 to 8 whole process ids, names that are
 * not whole units of UTF-16 with a 0 among them.
 */
uint32_t etwas_filters_match(const EVENT_FILTER_DESCRIPTOR *filters, uint32_t count, bool *matches);

#endif
