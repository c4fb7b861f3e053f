/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_READ_PARTITION_DAY_H
#define ETWAS_TOOLS_SHIP_READ_PARTITION_DAY_H

/*
 * The days of rows, in UTC since 1970. Tables are partitioned by day, and all rows of a block have
 * the same one.
 */

#include "ship/read/file_inside.h"

/* Returns the day of a time, limited to the range of days for the file's rows. */
uint32_t etwas_ship_partition_day_of(const struct etwas_ship_file *file, int64_t unix_ns);

/* The day of the block that is being made. */
struct etwas_ship_partition_day {
    int64_t begin_ns;  /* begin of its first event's day, not limited */
    int64_t asked_raw; /* the stamp that was converted last */
};

/* Starts a block's day with its first event, whose stamp is `raw`. Returns that day. */
uint32_t etwas_ship_partition_day_begin(struct etwas_ship_partition_day *day,
                                        const struct etwas_ship_file *file, int64_t raw);

/*
 * Returns whether an event with this stamp is of another day. A stamp within a second of the last
 * converted one is not converted, and taken to be of the same day.
 */
bool etwas_ship_partition_day_is_other(struct etwas_ship_partition_day *day,
                                       const struct etwas_ship_file *file, int64_t raw);

#endif
