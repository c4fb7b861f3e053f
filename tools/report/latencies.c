/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How long spans took, over time. For the classes with the largest total: quantiles, and a heat map
 * of durations by end time.
 */

#include "report/report.h"

#include "print/json.h"

#include <stdlib.h>

/* Durations below 16 ns are in the first cell, those above 18 minutes in the last. */
enum {
    CELLS_AN_OCTAVE = 4,
    FIRST_OCTAVE = 4,
};

_Static_assert(FIRST_OCTAVE + ETWAS_REPORT_CELLS / CELLS_AN_OCTAVE == 40, "2^40 ns are 18 minutes");

/* Returns the lower edge of a cell of the heat map; the first one begins at 0. */
static uint64_t edge_of(uint32_t cell)
{
    uint32_t octave = FIRST_OCTAVE + cell / CELLS_AN_OCTAVE;

    return cell > 0 ? (CELLS_AN_OCTAVE + (uint64_t)(cell % CELLS_AN_OCTAVE)) << (octave - 2) : 0;
}

void etwas_report_latencies_choose(struct etwas_report *report)
{
    struct etwas_report_latencies *latencies = &report->latencies;

    latencies->sorted = etwas_spans_sorted(&report->spans, &latencies->class_count);
    latencies->maps = calloc(ETWAS_REPORT_MAPS, sizeof *latencies->maps);
    if (latencies->sorted == NULL || latencies->maps == NULL) {
        report->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < latencies->class_count && i < ETWAS_REPORT_MAPS; i++) {
        uint32_t class_index = (uint32_t)(latencies->sorted[i] - report->spans.classes);

        if (latencies->sorted[i]->durations.count > 0) {
            latencies->maps[latencies->map_count].class_index = class_index;
            latencies->numbers[class_index] = (uint8_t)++latencies->map_count;
        }
    }
}

void etwas_report_latencies_add_record(struct etwas_report *report,
                                       const struct etwas_spans_open *open, uint64_t duration_ns)
{
    struct etwas_report_latencies *latencies = &report->latencies;
    uint32_t number =
        open->class_index < ETWAS_SPAN_CLASSES ? latencies->numbers[open->class_index] : 0;

    if (number > 0 && !etwas_histogram_add(&latencies->maps[number - 1].now, duration_ns)) {
        report->out_of_memory = true;
    }
}

static void close_map(struct etwas_report_map *map, uint32_t column)
{
    map->count.at[column] = map->now.count;
    for (uint32_t i = 0; i < ETWAS_SPANS_QUANTILES; i++) {
        map->quantiles[i].at[column] =
            etwas_histogram_quantile(&map->now, etwas_spans_quantiles[i]).value;
    }
    for (uint32_t cell = 0; cell < ETWAS_REPORT_CELLS; cell++) {
        uint64_t end = cell + 1 < ETWAS_REPORT_CELLS ? edge_of(cell + 1) : UINT64_MAX;
        uint64_t count = etwas_histogram_between(&map->now, edge_of(cell), end);

        map->cells[column][cell] = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    }
    etwas_histogram_free(&map->now);
}

void etwas_report_latencies_close(struct etwas_report *report)
{
    for (uint32_t i = 0; i < report->latencies.map_count; i++) {
        if (report->latencies.maps[i].now.count > 0) {
            close_map(&report->latencies.maps[i], report->axis.now);
        }
    }
}

/*
 * Writes [], or the number of the first cell that has spans, then the counts of the cells up to the
 * last such cell.
 */
static void put_cells(struct etwas_output *output, const uint32_t cells[ETWAS_REPORT_CELLS])
{
    uint32_t first = 0;
    uint32_t end = ETWAS_REPORT_CELLS;

    while (first < end && cells[first] == 0) {
        first++;
    }
    while (end > first && cells[end - 1] == 0) {
        end--;
    }
    etwas_json_array(output, NULL);
    for (uint32_t cell = first; cell < end; cell++) {
        if (cell == first) {
            etwas_json_number(output, NULL, first);
        }
        etwas_json_number(output, NULL, cells[cell]);
    }
    etwas_output_char(output, ']');
}

static void put_map(struct etwas_output *output, const struct etwas_report *report,
                    const struct etwas_report_map *map)
{
    etwas_json_object(output, "over_time");
    etwas_json_array(output, "cells");
    for (uint32_t column = 0; column < report->axis.columns; column++) {
        put_cells(output, map->cells[column]);
    }
    etwas_output_char(output, ']');
    etwas_report_print_series(output, "count", &report->axis, &map->count);
    for (uint32_t i = 0; i < ETWAS_SPANS_QUANTILES; i++) {
        etwas_report_print_series(output, etwas_spans_quantile_names[i], &report->axis,
                                  &map->quantiles[i]);
    }
    etwas_output_char(output, '}');
}

static void put_edges(struct etwas_output *output)
{
    etwas_json_array(output, "cell_edges");
    for (uint32_t cell = 0; cell <= ETWAS_REPORT_CELLS; cell++) {
        etwas_json_number(output, NULL, edge_of(cell));
    }
    etwas_output_char(output, ']');
}

void etwas_report_latencies_json(struct etwas_output *output, const struct etwas_report *report)
{
    const struct etwas_report_latencies *latencies = &report->latencies;
    uint32_t shown = latencies->class_count < ETWAS_REPORT_CLASSES ? latencies->class_count
                                                                   : ETWAS_REPORT_CLASSES;

    etwas_json_object(output, "spans");
    etwas_json_number(output, "class_count", latencies->class_count);
    etwas_spans_json_counts(output, &report->spans);
    put_edges(output);
    etwas_json_array(output, "classes");
    for (uint32_t i = 0; i < shown; i++) {
        uint32_t number = latencies->numbers[latencies->sorted[i] - report->spans.classes];

        etwas_spans_json_class(output, &report->spans, latencies->sorted[i]);
        if (number > 0) {
            put_map(output, report, &latencies->maps[number - 1]);
        }
        etwas_output_char(output, '}');
    }
    etwas_output_text(output, "]}");
}

void etwas_report_latencies_free(struct etwas_report *report)
{
    for (uint32_t i = 0; i < report->latencies.map_count; i++) {
        etwas_histogram_free(&report->latencies.maps[i].now);
    }
    free(report->latencies.maps);
    free((void *)report->latencies.sorted);
}
