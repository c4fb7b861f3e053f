/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/read/partition_day.h"

#define NS_A_DAY INT64_C(86400000000000)

/*
 * Buffers of several processors overlap, so around midnight both days alternate in the file. An
 * event this close to the block's day stays in the block. Otherwise each change would start a new
 * one.
 */
#define SLACK_NS UINT64_C(60000000000)

enum {
    /*
     * The range of days around the session's start. A wall clock that is years off creates no
     * partition of its own.
     */
    DAYS_BEFORE = 1,
    DAYS_BEHIND = 366,
    /*
     * 2106-02-07. In older servers and in the names of partitions, later values of Date appear as
     * 1970-01-01.
     */
    MOST_DAY = UINT32_MAX / 86400,
};

static int64_t within(int64_t day, int64_t least, int64_t most)
{
    if (day < least) {
        return least;
    }
    return day > most ? most : day;
}

uint32_t etwas_ship_partition_day_of(const struct etwas_ship_file *file, int64_t unix_ns)
{
    int64_t start = etwas_ship_file_start_ns(file) / NS_A_DAY;
    int64_t least = within(start - DAYS_BEFORE, 0, MOST_DAY);
    int64_t most = within(start + DAYS_BEHIND, 0, MOST_DAY);

    return (uint32_t)within(unix_ns / NS_A_DAY, least, most);
}

/* ---- a block's ------------------------------------------------------------------------------- */

static int64_t begin_of_day(int64_t unix_ns)
{
    int64_t passed = unix_ns % NS_A_DAY;

    passed += passed < 0 ? NS_A_DAY : 0;
    return unix_ns < INT64_MIN + passed ? INT64_MIN : unix_ns - passed;
}

uint32_t etwas_ship_partition_day_begin(struct etwas_ship_partition_day *day,
                                        const struct etwas_ship_file *file, int64_t raw)
{
    int64_t unix_ns = 0;
    uint64_t error_ns;

    (void)etwas_ship_wall_clock(file->trace, raw, &unix_ns, &error_ns);
    day->begin_ns = begin_of_day(unix_ns);
    day->asked_raw = raw;
    return etwas_ship_partition_day_of(file, unix_ns);
}

bool etwas_ship_partition_day_is_other(struct etwas_ship_partition_day *day,
                                       const struct etwas_ship_file *file, int64_t raw)
{
    uint64_t passed = raw > day->asked_raw ? (uint64_t)raw - (uint64_t)day->asked_raw
                                           : (uint64_t)day->asked_raw - (uint64_t)raw;
    int64_t unix_ns;
    uint64_t error_ns;

    if (passed < file->information.clock_frequency ||
        !etwas_ship_wall_clock(file->trace, raw, &unix_ns, &error_ns)) {
        return false;
    }
    day->asked_raw = raw;
    return unix_ns < day->begin_ns
               ? (uint64_t)day->begin_ns - (uint64_t)unix_ns > SLACK_NS
               : (uint64_t)unix_ns - (uint64_t)day->begin_ns >= (uint64_t)NS_A_DAY + SLACK_NS;
}
