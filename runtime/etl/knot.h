/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The knot: one record of our own that ties the session's clock to the others exactly.
 *
 * CpuSpeedInMHz of the log file header is a whole number of MHz. At 2,994.37 MHz that is wrong by
 * 0.02 %, half a second in 40 minutes. The writer therefore puts one knot into buffer 0, a
 * FULL_HEADER64 record right after the log file header record, with the clock's frequency as a
 * ratio of two 64-bit numbers. Our reader converts clock 3 with it; other readers see a classic
 * event of a class they do not know and pass over it. A knot is neither delivered nor counted.
 */
#ifndef ETWAS_ETL_KNOT_H
#define ETWAS_ETL_KNOT_H

#include <stdbool.h>
#include <string.h>

#include "etl/layout.h"

/* 7be5a508-db35-4ec9-b650-a9720ecb3b69: the class of the records that etwas writes for itself. */
static const etwas_guid etwas_etl_own_class = {
    0x7be5a508,
    0xdb35,
    0x4ec9,
    {0xb6, 0x50, 0xa9, 0x72, 0x0e, 0xcb, 0x3b, 0x69},
};

enum {
    ETWAS_ETL_KNOT_TYPE = 0, /* Class.Type of a knot */
    ETWAS_ETL_KNOT_VERSION = 1,
};

/* The payload. `ticks` ticks of the session's clock take `nanoseconds` ns; both are between 1 and
 * ETWAS_ETL_KNOT_LARGEST, so that products with a difference of stamps fit in 128 bits. The three
 * readings were taken together: as near as the clocks can be read. */
struct etwas_etl_knot {
    uint32_t version;    /* ETWAS_ETL_KNOT_VERSION; also in Class.Version */
    uint32_t clock_type; /* of the session, ETWAS_ETL_CLOCK_* */
    uint64_t ticks;
    uint64_t nanoseconds;
    int64_t raw_stamp; /* the session's clock */
    int64_t qpc_ns;    /* the performance counter */
    int64_t filetime;  /* system time */
};
#define ETWAS_ETL_KNOT_LARGEST (UINT64_C(1) << 56)
_Static_assert(sizeof(struct etwas_etl_knot) == 48, "knot");
_Static_assert(offsetof(struct etwas_etl_knot, ticks) == 8, "ticks");
_Static_assert(offsetof(struct etwas_etl_knot, nanoseconds) == 16, "nanoseconds");
_Static_assert(offsetof(struct etwas_etl_knot, raw_stamp) == 24, "raw stamp");
_Static_assert(offsetof(struct etwas_etl_knot, qpc_ns) == 32, "QPC");
_Static_assert(offsetof(struct etwas_etl_knot, filetime) == 40, "FILETIME");

/* The whole record, 96 bytes: what the writer copies into buffer 0. header.time_stamp is that of
 * the log file header record, as for every record of buffer 0. */
struct etwas_etl_knot_record {
    struct etwas_etl_full_header header;
    struct etwas_etl_knot knot;
};
_Static_assert(sizeof(struct etwas_etl_knot_record) == 96, "knot record");

/* Is this classic record one of ours, never to be delivered or counted? */
static inline bool etwas_etl_is_own_record(const struct etwas_etl_full_header *header)
{
    return memcmp(&header->guid, &etwas_etl_own_class, sizeof header->guid) == 0;
}

#endif
