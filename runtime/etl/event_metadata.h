/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Event metadata: records with the names of events and their fields. They are classic events of one
 * class, with the structures of <etwas/tdh.h>, as merged traces of Windows have them:
 *
 *     EventInfo    TRACE_EVENT_INFO; its offsets count from there
 *     MapInfo      the GUID of the class, then EVENT_MAP_INFO, from which its offsets count
 *
 * Readers deliver them like any event.
 */
#ifndef ETWAS_ETL_EVENT_METADATA_H
#define ETWAS_ETL_EVENT_METADATA_H

#include <etwas/types.h>

/* bbccf6c1-6cd1-48c4-80ff-839482e37671 */
static const etwas_guid etwas_etl_metadata_class = {
    0xbbccf6c1,
    0x6cd1,
    0x48c4,
    {0x80, 0xff, 0x83, 0x94, 0x82, 0xe3, 0x76, 0x71},
};

/* Class.Type; Class.Version and Class.Level are 0. */
enum {
    ETWAS_ETL_EVENT_INFO_TYPE = 32,
    ETWAS_ETL_MAP_INFO_TYPE = 33,
};

#endif
