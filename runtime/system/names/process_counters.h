/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a process has used, as ETW's PerfCtr: from /proc while it lives; after its end from what the
 * kernel reported of its threads (processes.h), which is less.
 */
#ifndef ETWAS_SYSTEM_NAMES_PROCESS_COUNTERS_H
#define ETWAS_SYSTEM_NAMES_PROCESS_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "system/stream/kernel_record.h"

struct etwas_process_counters {
    uint64_t page_faults;
    uint64_t peak_virtual_bytes;
    uint64_t peak_resident_bytes;
    uint64_t characters_read; /* by system calls */
    uint64_t characters_written;
    uint64_t bytes_read; /* from and to disks */
    uint64_t bytes_written;

    /* Known only while the process lives. */
    uint64_t virtual_bytes;
    uint64_t resident_bytes;
    uint64_t anonymous_bytes; /* of these, not of a file */
    uint64_t swapped_bytes;
    uint32_t handles;
};

/* In Reserved: the counters of some threads are missing. */
#define ETWAS_COUNTERS_INCOMPLETE 1

/*
 * Parse the texts of `stat`, `status` and `io`; values that a text does not contain are not
 * changed.
 */
void etwas_process_parse_faults(const char *text, struct etwas_process_counters *counters);
void etwas_process_parse_memory(const char *text, struct etwas_process_counters *counters);
void etwas_process_parse_io(const char *text, struct etwas_process_counters *counters);

/*
 * Reads the counters of a process. False: there is no such process. What the caller may not read is
 * 0.
 */
bool etwas_process_counters_read(uint32_t process_id, struct etwas_process_counters *counters);

/* Adds the counters of another thread. */
void etwas_process_counters_add(struct etwas_process_counters *sum,
                                const struct etwas_process_counters *counters);

/* Returns the record as etwas_record_builder_end does; its thread is not set yet. */
const void *etwas_process_counters_make(struct etwas_record_builder *record, uint8_t type,
                                        uint32_t process_id,
                                        const struct etwas_process_counters *counters,
                                        bool is_incomplete);

#endif
