/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The records that etwas writes for itself: classic events (FULL_HEADER64) of one class.
 *
 *     type 0  the calibration  etl/calibration.h   buffer 0, the first of ours
 *     type 1  a knot           etl/knot.h          buffer 0 and knot buffers
 *     type 2  the totals       etl/totals.h        buffer 0
 *     type 3  the clock        etl/clock_record.h  buffer 0
 *
 * Other readers see events of a class they do not know and pass over them. Ours neither delivers
 * nor counts them.
 */
#ifndef ETWAS_ETL_OWN_RECORD_H
#define ETWAS_ETL_OWN_RECORD_H

#include <stdbool.h>
#include <string.h>

#include "etl/layout.h"

/* 7be5a508-db35-4ec9-b650-a9720ecb3b69 */
static const etwas_guid etwas_etl_own_class = {
    0x7be5a508,
    0xdb35,
    0x4ec9,
    {0xb6, 0x50, 0xa9, 0x72, 0x0e, 0xcb, 0x3b, 0x69},
};

/* Is this classic record one of ours, never to be delivered or counted? */
static inline bool etwas_etl_is_own_record(const struct etwas_etl_full_header *header)
{
    return memcmp(&header->guid, &etwas_etl_own_class, sizeof header->guid) == 0;
}

#endif
