/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "report/axis.h"

#include "print/json.h"
#include "trace/input.h"

void etwas_report_axis_note(struct etwas_report_axis *axis, int64_t time_ns)
{
    if (axis->columns == 0) {
        axis->columns = 1;
        axis->begin_ns = time_ns;
        axis->end_ns = time_ns;
    }
    axis->begin_ns = time_ns < axis->begin_ns ? time_ns : axis->begin_ns;
    axis->end_ns = time_ns > axis->end_ns ? time_ns : axis->end_ns;
}

void etwas_report_axis_divide(struct etwas_report_axis *axis)
{
    uint64_t ns = etwas_input_passed_ns(axis->begin_ns, axis->end_ns);

    axis->column_ns = ns / ETWAS_REPORT_COLUMNS + 1;
    if (axis->columns > 0) {
        axis->columns = (uint32_t)(ns / axis->column_ns) + 1;
    }
}

uint64_t etwas_report_axis_at(const struct etwas_report_axis *axis, int64_t time_ns)
{
    return etwas_input_passed_ns(axis->begin_ns, time_ns);
}

uint32_t etwas_report_axis_column(const struct etwas_report_axis *axis, int64_t time_ns)
{
    uint64_t column = etwas_report_axis_at(axis, time_ns) / axis->column_ns;

    return column < axis->columns ? (uint32_t)column : axis->columns > 0 ? axis->columns - 1 : 0;
}

void etwas_report_axis_spread(const struct etwas_report_axis *axis,
                              struct etwas_report_series *series, int64_t from_ns, int64_t to_ns)
{
    uint64_t from = etwas_report_axis_at(axis, from_ns);
    uint64_t to = etwas_report_axis_at(axis, to_ns);

    for (uint32_t column = etwas_report_axis_column(axis, from_ns);
         column < axis->columns && from < to; column++) {
        /* The last column has all that is left. */
        uint64_t end = column + 1 < axis->columns ? (column + 1) * axis->column_ns : to;

        end = end < to ? end : to;
        series->at[column] += end - from;
        from = end;
    }
}

void etwas_report_axis_share(const struct etwas_report_axis *axis,
                             struct etwas_report_series *series, int64_t from_ns, int64_t to_ns,
                             uint64_t count)
{
    uint64_t from = etwas_report_axis_at(axis, from_ns);
    uint64_t to = etwas_report_axis_at(axis, to_ns);
    uint32_t last = etwas_report_axis_column(axis, to_ns);
    uint64_t shared = 0;

    for (uint32_t column = etwas_report_axis_column(axis, from_ns); column < last; column++) {
        uint64_t until = (column + 1) * axis->column_ns - from;
        uint64_t share = (uint64_t)((double)count * ((double)until / (double)(to - from)));

        series->at[column] += share - shared;
        shared = share;
    }
    series->at[last] += count - shared;
}

void etwas_report_print_series(struct etwas_output *output, const char *key,
                               const struct etwas_report_axis *axis,
                               const struct etwas_report_series *series)
{
    etwas_json_array(output, key);
    for (uint32_t column = 0; column < axis->columns; column++) {
        etwas_json_number(output, NULL, series->at[column]);
    }
    etwas_output_char(output, ']');
}
