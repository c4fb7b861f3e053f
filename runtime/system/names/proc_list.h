/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which processes and threads /proc shows: those of the process that mounted it and of its PID
 * namespaces' children, by their numbers there.
 */
#ifndef ETWAS_SYSTEM_NAMES_PROC_LIST_H
#define ETWAS_SYSTEM_NAMES_PROC_LIST_H

#include <stdbool.h>
#include <stdint.h>

/* Whether its numbers are those that we know ourselves by. */
bool etwas_proc_is_ours(void);

/* Those of the kernel too, and those that have ended and are not waited for. False: nobody knows. */
bool etwas_proc_list_processes(void (*each)(void *context, uint32_t process_id), void *context);

/* `is_leaving`: it is on its way out, which the kernel may have said already. */
typedef void etwas_thread_callback(void *context, uint32_t thread_id, bool is_leaving);

/* Of a process, but for those that have ended. */
void etwas_proc_list_threads(uint32_t process_id, etwas_thread_callback *each, void *context);

/* Of its maps, line by line, without new lines; who is called may change a line. Nothing where nobody answers. */
void etwas_proc_list_mappings(uint32_t process_id, void (*each)(void *context, char *line),
                              void *context);

#endif
