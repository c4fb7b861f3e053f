/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Readings of one source against a reference, each between two readings of the reference, stored
 * until a line is fitted to them (fit.h).
 *
 *     reference | source | reference      the source was read somewhere between; the middle of the
 *               narrowest of some attempts is taken
 *
 * A track holds a limited number of points. When it is full each two neighbours become one, the one
 * with the narrower bracket, and from then on each point is the narrowest of twice as many samples.
 */
#ifndef ETWAS_CLOCK_LAB_DRIFT_H
#define ETWAS_CLOCK_LAB_DRIFT_H

#include <stdint.h>

#include "clock/lab/fit.h"

struct etwas_lab_track {
    uint32_t count;
    uint32_t stride;  /* samples that make a point; 0: nothing was added yet */
    uint32_t pending; /* samples that `best` was chosen from so far */
    struct etwas_lab_point best;
    struct etwas_lab_point points[ETWAS_LAB_POINTS];
};

/* Adds a sample. A track begins zeroed. */
void etwas_lab_track_add(struct etwas_lab_track *track, const struct etwas_lab_point *point);

/* Makes a point of the samples that are pending. */
void etwas_lab_track_finish(struct etwas_lab_track *track);

#endif
