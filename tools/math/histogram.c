/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "math/histogram.h"

#include <stdlib.h>

enum {
    CELL_BITS = 9,
};

_Static_assert(ETWAS_HISTOGRAM_CELLS == 1 << CELL_BITS, "a cell's number has so many bits");
_Static_assert(ETWAS_HISTOGRAM_OCTAVES == 64 - CELL_BITS + 1, "the last one ends with 64 bits");

/*
 * Returns the octave of a value: 0 is below 512, 1 up to 1,023, and each further one is twice as
 * large.
 */
static uint32_t octave_of(uint64_t value)
{
    return value >> CELL_BITS == 0 ? 0 : 64 - CELL_BITS - (uint32_t)__builtin_clzll(value);
}

/* Returns the right shift that leaves a value's cell in the lowest bits. */
static uint32_t shift_of(uint32_t octave)
{
    return octave > 0 ? octave - 1 : 0;
}

bool etwas_histogram_add(struct etwas_histogram *histogram, uint64_t value)
{
    uint32_t octave = octave_of(value);
    uint64_t **cells = &histogram->octaves[octave];

    if (*cells == NULL) {
        *cells = calloc(ETWAS_HISTOGRAM_CELLS, sizeof **cells);
        if (*cells == NULL) {
            return false;
        }
    }
    (*cells)[(value >> shift_of(octave)) % ETWAS_HISTOGRAM_CELLS]++;
    histogram->least = histogram->count == 0 || value < histogram->least ? value : histogram->least;
    histogram->most = value > histogram->most ? value : histogram->most;
    histogram->sum += (double)value;
    histogram->count++;
    return true;
}

/* Returns the first value of a cell. */
static uint64_t begin_of(uint32_t octave, uint32_t cell)
{
    return ((octave > 0 ? ETWAS_HISTOGRAM_CELLS : 0) + (uint64_t)cell) << shift_of(octave);
}

/* Returns the middle of a cell, limited to the values that were added. */
static struct etwas_quantile middle(const struct etwas_histogram *histogram, uint32_t octave,
                                    uint32_t cell)
{
    uint32_t shift = shift_of(octave);
    uint64_t from = begin_of(octave, cell);
    uint64_t to = from + ((UINT64_C(1) << shift) - 1);

    from = from < histogram->least ? histogram->least : from;
    to = to > histogram->most ? histogram->most : to;
    return (struct etwas_quantile){from + (to - from) / 2, (to - from + 1) / 2};
}

struct etwas_quantile etwas_histogram_quantile(const struct etwas_histogram *histogram,
                                               uint32_t per_mille)
{
    /* The number of values, rounded up, computed without overflow. */
    uint64_t wanted =
        histogram->count / 1000 * per_mille + (histogram->count % 1000 * per_mille + 999) / 1000;
    uint64_t seen = 0;

    if (wanted <= 1) {
        return (struct etwas_quantile){histogram->least, 0};
    }
    if (wanted == histogram->count) {
        return (struct etwas_quantile){histogram->most, 0};
    }
    for (uint32_t octave = 0; octave < ETWAS_HISTOGRAM_OCTAVES; octave++) {
        const uint64_t *cells = histogram->octaves[octave];

        for (uint32_t cell = 0; cells != NULL && cell < ETWAS_HISTOGRAM_CELLS; cell++) {
            seen += cells[cell];
            if (seen >= wanted) {
                return middle(histogram, octave, cell);
            }
        }
    }
    return (struct etwas_quantile){histogram->most, 0};
}

uint64_t etwas_histogram_between(const struct etwas_histogram *histogram, uint64_t from,
                                 uint64_t to)
{
    uint64_t count = 0;

    for (uint32_t octave = octave_of(from); octave <= octave_of(to - 1); octave++) {
        const uint64_t *cells = histogram->octaves[octave];

        for (uint32_t cell = 0; cells != NULL && cell < ETWAS_HISTOGRAM_CELLS; cell++) {
            uint64_t begin = begin_of(octave, cell);

            count += begin >= from && begin < to ? cells[cell] : 0;
        }
    }
    return count;
}

void etwas_histogram_free(struct etwas_histogram *histogram)
{
    for (uint32_t octave = 0; octave < ETWAS_HISTOGRAM_OCTAVES; octave++) {
        free(histogram->octaves[octave]);
    }
    *histogram = (struct etwas_histogram){0};
}
