/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Converts raw stamps to FILETIME (R151, R158).
 *
 *     filetime = anchor_filetime + floor((raw - anchor_raw) × numerator / denominator)
 *
 * The product has 128 bits: it exceeds 64 bits after a day at 10 MHz, and after four minutes at 4
 * GHz. Rounding is downwards on both sides of the anchor, so that the conversion never reverses the
 * order of two stamps. What does not fit in 64 bits saturates.
 *
 *     clock                  units of 100 ns in a tick
 *     1 performance counter  10,000,000 / PerfFreq
 *     2 system time          1, and the stamp is FILETIME already
 *     3 cycles               10 / CpuSpeedInMHz, or the ratio of a calibration
 *
 * Worked example, 3,000 MHz: 25 hours are 270,000,000,000,000 ticks, × 10 / 3,000 =
 * 900,000,000,000 units of 100 ns = 90,000 s.
 */
#ifndef ETWAS_ETL_CLOCK_CONVERT_H
#define ETWAS_ETL_CLOCK_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

#include "etl/layout.h"
#include "etl/own_record.h"

#define ETWAS_ETL_FILETIME_PER_SECOND INT64_C(10000000)

#define ETWAS_ETL_FILETIME_OF_1970 INT64_C(116444736000000000)

/*
 * Both parts of the ratio are at least 1, in lowest terms. The numerator is at most 2^56
 * (ETWAS_ETL_CALIBRATION_LARGEST), so that nanoseconds of every stamp fit in 128 bits.
 */
struct etwas_etl_clock {
    int64_t anchor_raw;
    int64_t anchor_filetime;
    uint64_t numerator;
    uint64_t denominator;
};

__extension__ typedef __int128 etwas_etl_wide;

static inline int64_t etwas_etl_saturate(etwas_etl_wide value)
{
    return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

static inline etwas_etl_wide etwas_etl_magnitude(etwas_etl_wide value)
{
    return value < 0 ? -value : value;
}

static inline void etwas_etl_clock_set_ratio(struct etwas_etl_clock *clock, uint64_t numerator,
                                             uint64_t denominator)
{
    uint64_t a = numerator;
    uint64_t b = denominator;

    while (b != 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    clock->numerator = numerator / a;
    clock->denominator = denominator / a;
}

/*
 * Sets the conversion from a log file header: `first_raw` is the stamp of the header record.
 * Returns false if the header's numbers cannot be used (an unknown clock, a frequency that is not
 * positive); then a tick counts as 100 ns, so that the order of events survives.
 */
static inline bool etwas_etl_clock_from_header(struct etwas_etl_clock *clock, uint32_t clock_type,
                                               int64_t performance_frequency_hz,
                                               uint32_t cpu_speed_mhz, int64_t first_raw,
                                               int64_t start_filetime)
{
    *clock = (struct etwas_etl_clock){first_raw, start_filetime, 1, 1};
    switch (clock_type) {
    case ETWAS_ETL_CLOCK_PERFORMANCE:
        if (performance_frequency_hz <= 0) {
            return false;
        }
        etwas_etl_clock_set_ratio(clock, (uint64_t)ETWAS_ETL_FILETIME_PER_SECOND,
                                  (uint64_t)performance_frequency_hz);
        return true;
    case ETWAS_ETL_CLOCK_SYSTEM:
        *clock = (struct etwas_etl_clock){0, 0, 1, 1};
        return true;
    case ETWAS_ETL_CLOCK_CYCLES:
        if (cpu_speed_mhz == 0) {
            return false;
        }
        etwas_etl_clock_set_ratio(clock, 10, cpu_speed_mhz);
        return true;
    default:
        return false;
    }
}

/*
 * Takes the exact ratio of a calibration; the anchor stays. Returns false, and changes nothing, if
 * it is not valid or belongs to another clock than `clock_type`.
 */
static inline bool etwas_etl_clock_use_calibration(struct etwas_etl_clock *clock,
                                                   uint32_t clock_type,
                                                   const struct etwas_etl_calibration *calibration)
{
    uint64_t ticks = calibration->ticks;
    uint64_t nanoseconds = calibration->nanoseconds;

    /* Above the limit the lowest bits are insignificant; without them products stay in 128 bits. */
    while (ticks > ETWAS_ETL_CALIBRATION_LARGEST || nanoseconds > ETWAS_ETL_CALIBRATION_LARGEST) {
        ticks >>= 1;
        nanoseconds >>= 1;
    }
    if (calibration->version != ETWAS_ETL_CALIBRATION_VERSION ||
        calibration->clock_type != clock_type || ticks == 0 || nanoseconds == 0) {
        return false;
    }
    etwas_etl_clock_set_ratio(clock, nanoseconds, ticks * 100);
    return true;
}

/*
 * Returns the time since the anchor in whole units of 100 ns, and in *rest the remainder, in parts
 * of the denominator.
 */
static inline etwas_etl_wide etwas_etl_clock_passed(const struct etwas_etl_clock *clock,
                                                    int64_t raw, uint64_t *rest)
{
    /* |difference| < 2^64 and the numerator is at most 2^56: the product fits in 120 bits. */
    etwas_etl_wide product =
        ((etwas_etl_wide)raw - clock->anchor_raw) * (etwas_etl_wide)clock->numerator;
    etwas_etl_wide units;

    if (product >= 0 && product <= INT64_MAX) {
        *rest = (uint64_t)product % clock->denominator;
        return (int64_t)((uint64_t)product / clock->denominator);
    }
    units = product >= 0 ? product / clock->denominator
                         : -((-product + clock->denominator - 1) / clock->denominator);
    *rest = (uint64_t)(product - units * clock->denominator);
    return units;
}

/*
 * Returns the moment of a stamp in nanoseconds since 1970, rounded down. The wide result has room
 * for every stamp.
 */
static inline etwas_etl_wide etwas_etl_clock_ns(const struct etwas_etl_clock *clock, int64_t raw)
{
    uint64_t rest;
    etwas_etl_wide units = etwas_etl_clock_passed(clock, raw, &rest) + clock->anchor_filetime -
                           ETWAS_ETL_FILETIME_OF_1970;

    return units * 100 + (etwas_etl_wide)rest * 100 / clock->denominator;
}

/*
 * Returns the FILETIME of nanoseconds since 1970, rounded down. Almost every time fits in 64 bits,
 * and then needs no wide division.
 */
static inline int64_t etwas_etl_filetime_of_ns(etwas_etl_wide ns)
{
    int64_t narrow = (int64_t)ns;
    etwas_etl_wide units =
        narrow == ns ? narrow / 100 - (narrow % 100 < 0) : ns / 100 - (ns % 100 < 0);

    return etwas_etl_saturate(ETWAS_ETL_FILETIME_OF_1970 + units);
}

static inline int64_t etwas_etl_clock_to_filetime(const struct etwas_etl_clock *clock, int64_t raw)
{
    return etwas_etl_filetime_of_ns(etwas_etl_clock_ns(clock, raw));
}

#endif
