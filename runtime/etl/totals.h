/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The totals of one file: a record of our own in buffer 0, right after the calibration.
 *
 * The log file header counts what was lost in 32 bits, and knows nothing of what a circular file
 * replaced, nor which part of a new-file set a file is. Zeroes until the first sync, brought up to
 * date at each one, final at the end. Of an appended file the counts are those of all its sessions.
 */
#ifndef ETWAS_ETL_TOTALS_H
#define ETWAS_ETL_TOTALS_H

#include "etl/layout.h"
#include "etl/own_record.h"

enum {
    ETWAS_ETL_TOTALS_TYPE = 2, /* Class.Type, of class etwas_etl_own_class */
    ETWAS_ETL_TOTALS_VERSION = 1,
};

struct etwas_etl_totals {
    uint32_t version;             /* ETWAS_ETL_TOTALS_VERSION; also in Class.Version */
    uint32_t part;                /* number of the file in a new-file set, from 1; 0: no set */
    uint64_t overwritten_events;  /* were in the file, and newer ones took their place */
    uint64_t overwritten_buffers; /* likewise */
    uint64_t lost_events;         /* while this file was written; never in it */
    uint64_t lost_buffers;        /* likewise: could not be written */
};
_Static_assert(sizeof(struct etwas_etl_totals) == 40, "totals");
_Static_assert(offsetof(struct etwas_etl_totals, part) == 4, "part");
_Static_assert(offsetof(struct etwas_etl_totals, overwritten_events) == 8, "overwritten events");
_Static_assert(offsetof(struct etwas_etl_totals, overwritten_buffers) == 16, "overwritten buffers");
_Static_assert(offsetof(struct etwas_etl_totals, lost_events) == 24, "lost events");
_Static_assert(offsetof(struct etwas_etl_totals, lost_buffers) == 32, "lost buffers");

/* The whole record, 88 bytes. header.time_stamp is that of the log file header record. */
struct etwas_etl_totals_record {
    struct etwas_etl_full_header header;
    struct etwas_etl_totals totals;
};
_Static_assert(sizeof(struct etwas_etl_totals_record) == 88, "totals record");

#endif
