/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A copy of a mapping. It is checked so far that no index, offset or size of the head leads out of
 * the copy. The words of the pool may still have any value (pool_read.h).
 *
 * The order of copying yields a consistent picture of a live process: first the owner words, then
 * the slots, the controls, the buffers, and the owner words once more. A buffer whose claim began
 * after the first copy is skipped. If a buffer is being filled meanwhile, everything committed when
 * its slot was copied is complete.
 *
 * A hole of the file takes no memory in the copy.
 */
#ifndef ETWAS_RECOVER_MAPPING_COPY_H
#define ETWAS_RECOVER_MAPPING_COPY_H

#include <stdint.h>

#include "buffer/pool.h"
#include "buffer/pool_read.h"
#include "etl/own_record.h"
#include "recover/source.h"
#include "shared/layout.h"

enum {
    ETWAS_MAPPING_COPY_PIECES = 9
};

struct etwas_mapping_copy {
    struct etwas_shared_head head;
    uint8_t *first;   /* head.first_bytes long; NULL: not a valid buffer 0 */
    uint8_t *schemas; /* whole records, each rounded up to 8 bytes */
    uint64_t schema_bytes;
    struct etwas_clock_history history;
    struct etwas_pool pool; /* refers to the copies; for counting */
    struct etwas_pool_view view;
    uint64_t *owners;
    uint64_t *owners_after;
    uint8_t *slots;
    uint8_t *controls;
    uint8_t *region;
    uint8_t *is_absent; /* a byte for each buffer: not 0 if the source does not contain it */
    struct etwas_mapping_copy_piece {
        uint8_t *mapping;
        size_t bytes;
    } pieces[ETWAS_MAPPING_COPY_PIECES];
    uint32_t piece_count;
    bool is_accounting; /* the process died, or was read, in the middle of an accounting step */
};

/*
 * Copies and checks the head. ERROR_FILE_CORRUPT: the head is invalid, or more than buffers is
 * missing. ERROR_NOT_SUPPORTED: its layout is of another major version. ERROR_NOT_FOUND: its
 * session was not open yet. ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_mapping_copy_head(struct etwas_mapping_copy *copy,
                                 const struct etwas_recover_source *source);

/* Copies everything else, after the head. Returns the same codes. */
uint32_t etwas_mapping_copy_pool(struct etwas_mapping_copy *copy,
                                 const struct etwas_recover_source *source);

void etwas_mapping_copy_free(struct etwas_mapping_copy *copy);

/*
 * Validates bytes of a mapping that a session writes into its files beside events. Without this
 * check a crafted mapping could put anything into the new file: other clock snapshots, other sizes,
 * events that were never logged.
 */

enum {
    /* Size of the totals record in builds that have no field `ends`. */
    ETWAS_VALIDATE_OLDER_TOTALS =
        sizeof(struct etwas_etl_full_header) + offsetof(struct etwas_etl_totals, ends),
    /* Size of a buffer 0 without names. */
    ETWAS_VALIDATE_LEAST_FIRST =
        ETWAS_ETL_LOG_HEADER_FILE_OFFSET + sizeof(struct etwas_etl_log_header64) +
        sizeof(struct etwas_etl_calibration_record) + ETWAS_VALIDATE_OLDER_TOTALS +
        sizeof(struct etwas_etl_clock_trust_record),
};

/*
 * Checks buffer 0 without clock snapshots, head->first_bytes long: the log file header's record,
 * and our own three records behind it, as a session writes them. Returns the size of the totals
 * record, which is smaller in older builds; 0: the buffer is invalid.
 */
uint32_t etwas_validate_first_buffer(const struct etwas_shared_head *head, const uint8_t *first);

/*
 * Removes descriptions that no session can have made; the others move up to the first byte. Returns
 * how many bytes remain. *dropped is increased by the number of removed ones; an unreadable rest
 * counts as one.
 */
uint64_t etwas_validate_descriptions(uint8_t *descriptions, uint64_t bytes, uint64_t *dropped);

#endif
