/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How large buffer 0 is at least: the log file header record with its two names, the calibration,
 * the totals, the clock, and the knots of the file's two ends.
 */
#ifndef ETWAS_ETL_HEADER_BUFFER_H
#define ETWAS_ETL_HEADER_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "etl/calibration.h"
#include "etl/clock_record.h"
#include "etl/knot.h"
#include "etl/layout.h"
#include "etl/totals.h"

/* The log file header record, not rounded; names in UTF-16 units without their terminating 0. */
static inline uint32_t etwas_etl_log_header_record_bytes(size_t session_name_units,
                                                         size_t file_name_units)
{
    return (uint32_t)(sizeof(struct etwas_etl_system_header) +
                      sizeof(struct etwas_etl_log_header64) +
                      (session_name_units + 1 + file_name_units + 1) * sizeof(etwas_wchar));
}

/* Up to the first knot: 72 + 312 + 4 + 4 (rounding) + 96 + 88 + 144 = 720 with two empty names. */
static inline uint32_t etwas_etl_first_knot_offset(size_t session_name_units,
                                                   size_t file_name_units)
{
    return ETWAS_ETL_BUFFER_HEADER_BYTES +
           (uint32_t)etwas_etl_round_up_8(
               etwas_etl_log_header_record_bytes(session_name_units, file_name_units)) +
           (uint32_t)(sizeof(struct etwas_etl_calibration_record) +
                      sizeof(struct etwas_etl_totals_record) +
                      sizeof(struct etwas_etl_clock_trust_record));
}

/* With the knots of both ends: 720 + 2 × 96 = 912 with two empty names. */
static inline uint32_t etwas_etl_header_buffer_bytes(size_t session_name_units,
                                                     size_t file_name_units)
{
    return etwas_etl_first_knot_offset(session_name_units, file_name_units) +
           2 * (uint32_t)sizeof(struct etwas_etl_knot_record);
}

#endif
