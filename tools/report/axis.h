/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_REPORT_AXIS_H
#define ETWAS_TOOLS_REPORT_AXIS_H

/*
 * The time of a trace in columns of equal width, as many as a plot can show, and numbers for each
 * of them. The trace was read once before, so where it begins and ends is known.
 */

#include "print/output.h"

enum {
    ETWAS_REPORT_COLUMNS = 480,
};

struct etwas_report_axis {
    int64_t begin_ns; /* of the first event, and the last; since 1970, as ProcessTrace counts */
    int64_t end_ns;
    uint64_t column_ns;
    uint32_t columns; /* 0: there is no event */
    uint32_t now;     /* the column that the second reading has come to */
};

struct etwas_report_series {
    uint64_t at[ETWAS_REPORT_COLUMNS];
};

/* An event is then, in any order. */
void etwas_report_axis_note(struct etwas_report_axis *axis, int64_t time_ns);

/* Call it when all times are noted. */
void etwas_report_axis_divide(struct etwas_report_axis *axis);

/* Returns the column of a time; the first or last one for a time outside. */
uint32_t etwas_report_axis_column(const struct etwas_report_axis *axis, int64_t time_ns);

/* Adds to each column as many nanoseconds as the interval has of it. */
void etwas_report_axis_spread(const struct etwas_report_axis *axis,
                              struct etwas_report_series *series, int64_t from_ns, int64_t to_ns);

/* The same of a count, as evenly as it goes; what lies outside is in the first or last column. */
void etwas_report_axis_share(const struct etwas_report_axis *axis,
                             struct etwas_report_series *series, int64_t from_ns, int64_t to_ns,
                             uint64_t count);

/* From the beginning, which an absurd time may be before. */
uint64_t etwas_report_axis_at(const struct etwas_report_axis *axis, int64_t time_ns);

/* A member of a JSON object: a number for each column. */
void etwas_report_print_series(struct etwas_output *output, const char *key,
                               const struct etwas_report_axis *axis,
                               const struct etwas_report_series *series);

#endif
