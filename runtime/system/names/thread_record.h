/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Makes records of ETW's Thread class: Start, End, DCStart and DCEnd. The addresses of stacks are
 * 0, since Linux does not report them.
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

/*
 * Makes a record without its stamp. `by`: the thread of the record's header: the one that began the
 * thread, or the thread that ends.
 */
struct etwas_thread_record etwas_thread_record_make(enum etwas_thread_record_type type,
                                                    uint32_t process_id, uint32_t thread_id,
                                                    uint32_t by_process_id, uint32_t by_thread_id);

#define ETWAS_THREAD_END_NOT_SEEN 1 /* a flag of End: the thread ended earlier */

typedef void etwas_listed_thread_callback(void *context, uint32_t process_id, uint32_t thread_id,
                                          bool is_leaving);

/*
 * Calls `each` for the threads of one process, or of all processes in /proc if process_id is 0; not
 * for those that have ended. False: they cannot be listed.
 */
bool etwas_threads_list(uint32_t process_id, etwas_listed_thread_callback *each, void *context);

#endif
