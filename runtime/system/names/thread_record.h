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

#include "system/stream/kernel_record.h"

ETWAS_KERNEL_RECORD(etwas_thread_record, etwas_etl_system_header, THREAD);

/*
 * Makes a record without its stamp. `by`: the thread of the record's header: the one that began the
 * thread, or the thread that ends.
 */
struct etwas_thread_record etwas_thread_record_make(uint8_t type, uint32_t process_id,
                                                    uint32_t thread_id, uint32_t by_process_id,
                                                    uint32_t by_thread_id);

#define ETWAS_THREAD_END_NOT_SEEN 1 /* a flag of End: the thread ended earlier */

typedef void etwas_listed_thread_callback(void *context, uint32_t process_id, uint32_t thread_id,
                                          bool is_leaving);

/*
 * Calls `each` for the threads of one process, or of all processes in /proc if process_id is 0; not
 * for those that have ended. False: they cannot be listed.
 */
bool etwas_threads_list(uint32_t process_id, etwas_listed_thread_callback *each, void *context);

#endif
