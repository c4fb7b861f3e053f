/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A knot: one moment by the session's clock, the performance counter and the system time, with the
 * bounds within which they were read together. Between knots a reader interpolates.
 *
 * Knots lie in buffer 0, behind the other records of our own, the oldest first. What does not fit
 * there any more was moved into knot buffers: data buffers whose first record is a knot, and which
 * hold nothing but knots. In a file that was appended to or is damaged they need not be in order.
 */
#ifndef ETWAS_ETL_KNOT_H
#define ETWAS_ETL_KNOT_H

#include "etl/layout.h"
#include "etl/own_record.h"

enum {
    ETWAS_ETL_KNOT_TYPE = 1, /* Class.Type, of class etwas_etl_own_class */
    ETWAS_ETL_KNOT_VERSION = 1,
};

/* Why it was taken. */
enum {
    ETWAS_ETL_KNOT_SESSION_STARTED = 0,
    ETWAS_ETL_KNOT_FILE_OPENED = 1, /* of a file that is not the session's first; of a snapshot */
    ETWAS_ETL_KNOT_RUNNING = 2,
    ETWAS_ETL_KNOT_FILE_ENDED = 3,
};

/*
 * At some moment the session's clock was `raw_stamp`, the performance counter within qpc_error_ns
 * of qpc_ns, and the system time within filetime_error_ns of `filetime`. What is 0 is exact.
 */
struct etwas_etl_knot {
    uint32_t version; /* ETWAS_ETL_KNOT_VERSION; also in Class.Version */
    uint32_t reason;  /* ETWAS_ETL_KNOT_* */
    int64_t raw_stamp;
    int64_t qpc_ns;
    int64_t filetime;
    int64_t suspended_ns;       /* since the machine booted; a jump between knots is a suspend */
    uint32_t qpc_error_ns;      /* 0 when the session's clock is QPC; system time: 100 at least */
    uint32_t filetime_error_ns; /* 0 when it is system time */
};
_Static_assert(sizeof(struct etwas_etl_knot) == 48, "knot");
_Static_assert(offsetof(struct etwas_etl_knot, reason) == 4, "reason");
_Static_assert(offsetof(struct etwas_etl_knot, raw_stamp) == 8, "raw stamp");
_Static_assert(offsetof(struct etwas_etl_knot, qpc_ns) == 16, "QPC");
_Static_assert(offsetof(struct etwas_etl_knot, filetime) == 24, "FILETIME");
_Static_assert(offsetof(struct etwas_etl_knot, suspended_ns) == 32, "suspended");
_Static_assert(offsetof(struct etwas_etl_knot, qpc_error_ns) == 40, "error of QPC");
_Static_assert(offsetof(struct etwas_etl_knot, filetime_error_ns) == 44, "error of FILETIME");

/*
 * The whole record, 96 bytes. header.time_stamp: in buffer 0 that of the log file header record; in
 * a knot buffer one that keeps the stream of its processor in order, no newer than the knots.
 */
struct etwas_etl_knot_record {
    struct etwas_etl_full_header header;
    struct etwas_etl_knot knot;
};
_Static_assert(sizeof(struct etwas_etl_knot_record) == 96, "knot record");

#endif
