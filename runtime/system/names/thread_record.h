/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Threads that come and go, and those that are there, as Thread's Start, End, DCStart and DCEnd.
 * Linux says of a thread neither stacks nor addresses: 0.
 */
#ifndef ETWAS_SYSTEM_NAMES_THREAD_RECORD_H
#define ETWAS_SYSTEM_NAMES_THREAD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "etl/layout.h"

enum etwas_thread_record_type {
    ETWAS_THREAD_START = 1,
    ETWAS_THREAD_END = 2,
    ETWAS_THREAD_RUNDOWN_START = 3,
    ETWAS_THREAD_RUNDOWN_END = 4,
};

struct etwas_thread_record {
    struct etwas_etl_system_header header;
    uint32_t process_id;
    uint32_t thread_id;
    uint64_t addresses[7]; /* StackBase to TebBase */
    uint32_t sub_process_tag;
    uint8_t priorities[3]; /* BasePriority, PagePriority, IoPriority */
    uint8_t flags;         /* ThreadFlags */
};
_Static_assert(sizeof(struct etwas_thread_record) == 32 + 72, "Thread, version 3");

/* All but the stamp. `by`: the thread that logs, so to say: who began another, or ends. */
struct etwas_thread_record etwas_thread_record_make(enum etwas_thread_record_type type,
                                                    uint32_t process_id, uint32_t thread_id,
                                                    uint32_t by_process_id, uint32_t by_thread_id);

#define ETWAS_THREAD_END_NOT_SEEN 1 /* in the flags of an End: it ended earlier */

typedef void etwas_listed_thread_callback(void *context, uint32_t process_id, uint32_t thread_id,
                                          bool is_leaving);

/*
 * Calls `each` for the threads of all processes that /proc shows, those of the kernel too, but for
 * threads that have ended; of one process if it is not 0. False: nobody knows.
 */
bool etwas_threads_list(uint32_t process_id, etwas_listed_thread_callback *each, void *context);

#endif
