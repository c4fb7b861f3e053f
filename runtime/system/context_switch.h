/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Context switches: samples of sched:sched_switch as Thread's CSwitch.
 *
 *     priority    0 idle, 1 to 15 nice 19 to -20, 16 to 31 real time; nice 0 is 8
 *     state       of who gave way: ready, waiting, terminated
 *     reason      preempted; waiting, where a signal may end it and where not; suspended
 *
 * How long the new thread had waited is not said: 0.
 */
#ifndef ETWAS_SYSTEM_CONTEXT_SWITCH_H
#define ETWAS_SYSTEM_CONTEXT_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

#include "etl/layout.h"
#include "system/sample.h"
#include "system/tracepoint.h"

/* Where the tracepoint has what is needed. */
struct etwas_switch_fields {
    struct etwas_format_field previous_thread;
    struct etwas_format_field previous_priority;
    struct etwas_format_field previous_state;
    struct etwas_format_field next_thread;
    struct etwas_format_field next_priority;
};

struct etwas_switch_record {
    struct etwas_etl_perfinfo_header header;
    uint32_t new_thread_id;
    uint32_t old_thread_id;
    int8_t new_priority;
    int8_t old_priority;
    uint8_t previous_c_state;
    int8_t spare;
    uint8_t old_wait_reason;
    int8_t old_wait_mode;
    uint8_t old_state;
    uint8_t old_ideal_processor;
    uint32_t new_wait_time;
    uint32_t old_remaining_quantum;
};
_Static_assert(sizeof(struct etwas_switch_record) == 16 + 24, "CSwitch, version 2");

/* False: this kernel's tracepoint is another. */
bool etwas_switch_fields_find(const struct etwas_tracepoint *tracepoint,
                              struct etwas_switch_fields *fields);

/* All but the stamp. False: the sample does not have the fields. */
bool etwas_switch_record_make(const struct etwas_switch_fields *fields,
                              const struct etwas_sample *sample,
                              struct etwas_switch_record *record);

#endif
