/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The clock snapshots of a file, read without any of the library's own reader. */
#ifndef ETWAS_SUPPORT_CLOCK_SNAPSHOTS_H
#define ETWAS_SUPPORT_CLOCK_SNAPSHOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "etl/own_record.h"

enum {
    CLOCK_SNAPSHOTS_MOST = 8192
};

struct clock_snapshots {
    uint32_t count;
    uint32_t buffers;                                           /* clock snapshot buffers */
    uint32_t first_place;                                       /* of the first of them */
    struct etwas_etl_clock_snapshot list[CLOCK_SNAPSHOTS_MOST]; /* sorted by QPC */
    bool has_clock;
    struct etwas_etl_clock_trust clock;
};

/*
 * Reads them; the file may be in progress, of which clock snapshots that are there twice are given
 * once. Fails the test when there is something else in a clock snapshot buffer.
 */
void clock_snapshots_read(const char *path, struct clock_snapshots *clock_snapshots);

/* How many have this reason. */
uint32_t clock_snapshots_with(const struct clock_snapshots *clock_snapshots, uint32_t reason);

#endif
