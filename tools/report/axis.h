/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_REPORT_AXIS_H
#define ETWAS_TOOLS_REPORT_AXIS_H

/*
 * Divides the time of a trace into columns of equal width, as many as a plot can show, with a
 * number for each. The trace was read once before, so its beginning and end are known.
 */

#include "print/output.h"

enum {
    ETWAS_REPORT_COLUMNS = 480,
};

struct etwas_report_axis {
    int64_t begin_ns; /* times of the first and last event; since 1970, from ProcessTrace */
    int64_t end_ns;
    uint64_t column_ns;
    uint32_t columns; /* 0: there are no events */
    uint32_t now;     /* the current column of the second reading */
};

struct etwas_report_series {
    uint64_t at[ETWAS_REPORT_COLUMNS];
};

/* Extends the axis to the time of an event. Times may come in any order. */
void etwas_report_axis_note(struct etwas_report_axis *axis, int64_t time_ns);

/* Divides the axis into columns. Call it after all times. */
void etwas_report_axis_divide(struct etwas_report_axis *axis);

/* Returns the column of a time; the first or last one for a time outside. */
uint32_t etwas_report_axis_column(const struct etwas_report_axis *axis, int64_t time_ns);

/* Adds to each column the nanoseconds of the interval that are in it. */
void etwas_report_axis_spread(const struct etwas_report_axis *axis,
                              struct etwas_report_series *series, int64_t from_ns, int64_t to_ns);

/*
 * Distributes a count over the interval's columns as evenly as possible. Parts outside the axis go
 * to the first or last column.
 */
void etwas_report_axis_share(const struct etwas_report_axis *axis,
                             struct etwas_report_series *series, int64_t from_ns, int64_t to_ns,
                             uint64_t count);

/*
 * Returns the time since the axis's beginning; 0 for an earlier one, which a damaged file may have.
 */
uint64_t etwas_report_axis_at(const struct etwas_report_axis *axis, int64_t time_ns);

/* Writes a member of a JSON object: an array with a number for each column. */
void etwas_report_print_series(struct etwas_output *output, const char *key,
                               const struct etwas_report_axis *axis,
                               const struct etwas_report_series *series);

#endif
