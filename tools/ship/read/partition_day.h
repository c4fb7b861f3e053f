/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_READ_PARTITION_DAY_H
#define ETWAS_TOOLS_SHIP_READ_PARTITION_DAY_H

/*
 * The days of rows in UTC, counted from 1970. Tables are partitioned by them, and all rows of a
 * block are of one day.
 */

#include "ship/read/file_inside.h"

/* Returns the day of a time, within the days that the file's rows may have. */
uint32_t etwas_ship_partition_day_of(const struct etwas_ship_file *file, int64_t unix_ns);

/* The day of a block that is being made. */
struct etwas_ship_partition_day {
    int64_t begin_ns;  /* of its first event, as it is */
    int64_t asked_raw; /* a stamp of that day, for which the clocks were asked last */
};

/* Begins with the block's first event, of which `raw` is the stamp, and returns its day. */
uint32_t etwas_ship_partition_day_begin(struct etwas_ship_partition_day *day,
                                        const struct etwas_ship_file *file, int64_t raw);

/*
 * Returns whether an event with this stamp is of another day. Converts a stamp only once for each
 * second.
 */
bool etwas_ship_partition_day_is_other(struct etwas_ship_partition_day *day,
                                       const struct etwas_ship_file *file, int64_t raw);

#endif
