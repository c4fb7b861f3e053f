/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The calibration: one record of our own that says the rate of the session's clock exactly.
 *
 * CpuSpeedInMHz of the log file header is a whole number of MHz. At 2,994.37 MHz that is wrong by
 * 0.02 %, half a second in 40 minutes. The writer therefore puts one calibration into buffer 0, a
 * FULL_HEADER64 record right after the log file header record, with the clock's frequency as a
 * ratio of two 64-bit numbers. Our reader converts clock 3 with it.
 */
#ifndef ETWAS_ETL_CALIBRATION_H
#define ETWAS_ETL_CALIBRATION_H

#include "etl/layout.h"
#include "etl/own_record.h"

enum {
    ETWAS_ETL_CALIBRATION_TYPE = 0, /* Class.Type, of class etwas_etl_own_class */
    ETWAS_ETL_CALIBRATION_VERSION = 1,
};

/* The payload. `ticks` ticks of the session's clock take `nanoseconds` ns; both are between 1 and
 * ETWAS_ETL_CALIBRATION_LARGEST, so that products with a difference of stamps fit in 128 bits. The
 * three readings were taken together: as near as the clocks can be read. */
struct etwas_etl_calibration {
    uint32_t version;    /* ETWAS_ETL_CALIBRATION_VERSION; also in Class.Version */
    uint32_t clock_type; /* of the session, ETWAS_ETL_CLOCK_* */
    uint64_t ticks;
    uint64_t nanoseconds;
    int64_t raw_stamp; /* the session's clock */
    int64_t qpc_ns;    /* the performance counter */
    int64_t filetime;  /* system time */
};
#define ETWAS_ETL_CALIBRATION_LARGEST (UINT64_C(1) << 56)
_Static_assert(sizeof(struct etwas_etl_calibration) == 48, "calibration");
_Static_assert(offsetof(struct etwas_etl_calibration, ticks) == 8, "ticks");
_Static_assert(offsetof(struct etwas_etl_calibration, nanoseconds) == 16, "nanoseconds");
_Static_assert(offsetof(struct etwas_etl_calibration, raw_stamp) == 24, "raw stamp");
_Static_assert(offsetof(struct etwas_etl_calibration, qpc_ns) == 32, "QPC");
_Static_assert(offsetof(struct etwas_etl_calibration, filetime) == 40, "FILETIME");

/* The whole record, 96 bytes: what the writer copies into buffer 0. header.time_stamp is that of
 * the log file header record, as for every record of buffer 0. */
struct etwas_etl_calibration_record {
    struct etwas_etl_full_header header;
    struct etwas_etl_calibration calibration;
};
_Static_assert(sizeof(struct etwas_etl_calibration_record) == 96, "calibration record");

#endif
