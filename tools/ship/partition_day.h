/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_PARTITION_DAY_H
#define ETWAS_TOOLS_SHIP_PARTITION_DAY_H

/*
 * The days of rows, UTC, counted from 1970: tables are partitioned by them, and a block has one.
 */

#include "ship/file_inside.h"

/* The day of a time, within what the file's rows may have. */
uint32_t etwas_ship_partition_day_of(const struct etwas_ship_file *file, int64_t unix_ns);

/* A block's. */
struct etwas_ship_partition_day {
    int64_t begin_ns;  /* of its first event, as it is */
    int64_t asked_raw; /* a stamp of that day, for which the clocks were asked last */
};

/* Begins with the block's first event, whose stamp this is, and returns the day. */
uint32_t etwas_ship_partition_day_begin(struct etwas_ship_partition_day *day,
                                        const struct etwas_ship_file *file, int64_t raw);

/* Is an event with this stamp of another one? The clocks are asked once a second. */
bool etwas_ship_partition_day_is_other(struct etwas_ship_partition_day *day,
                                       const struct etwas_ship_file *file, int64_t raw);

#endif
