/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Validates bytes of a mapping that a session puts into its files beside events. Written without a
 * check they could make the new file say anything: other clock snapshots, other sizes, events that
 * were never logged.
 */
#ifndef ETWAS_RECOVER_VALIDATE_H
#define ETWAS_RECOVER_VALIDATE_H

#include <stdint.h>

#include "etl/own_record.h"
#include "shared/layout.h"

enum {
    /* Size of the record of the totals in a build that did not store what ends with a file. */
    ETWAS_VALIDATE_OLDER_TOTALS =
        sizeof(struct etwas_etl_full_header) + offsetof(struct etwas_etl_totals, ends),
    /* Size of a buffer 0 without names. */
    ETWAS_VALIDATE_LEAST_FIRST =
        ETWAS_ETL_LOG_HEADER_FILE_OFFSET + sizeof(struct etwas_etl_log_header64) +
        sizeof(struct etwas_etl_calibration_record) + ETWAS_VALIDATE_OLDER_TOTALS +
        sizeof(struct etwas_etl_clock_trust_record),
};

/*
 * Checks buffer 0 without clock snapshots: the log file header's record, and the three of our own
 * behind it, as a session writes them. head->first_bytes of it can be read. Returns the size of the
 * record of the totals, which an older build makes shorter; 0: it is impossible.
 */
uint32_t etwas_validate_first_buffer(const struct etwas_shared_head *head, const uint8_t *first);

/*
 * Keeps the descriptions that a session may have made, one behind the other from the first byte on.
 * Returns how many bytes they are now; *dropped is increased by the number of others, as far as
 * they can be told apart.
 */
uint64_t etwas_validate_descriptions(uint8_t *descriptions, uint64_t bytes, uint64_t *dropped);

#endif
