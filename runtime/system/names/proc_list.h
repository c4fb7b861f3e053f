/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The processes and threads in /proc: those of the PID namespace of the process that mounted it and
 * of the namespaces below it, with their numbers there.
 */
#ifndef ETWAS_SYSTEM_NAMES_PROC_LIST_H
#define ETWAS_SYSTEM_NAMES_PROC_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether /proc shows the PID namespace of this process. */
bool etwas_proc_is_ours(void);

/*
 * Calls `each` for all processes, also for threads of the kernel and for processes that have ended
 * and are not waited for. Returns false if /proc cannot be read.
 */
bool etwas_proc_list_processes(void (*each)(void *context, uint32_t process_id), void *context);

/* `is_leaving`: the thread is exiting; the kernel may have reported that already. */
typedef void etwas_thread_callback(void *context, uint32_t thread_id, bool is_leaving);

/* Calls `each` for the threads of a process, except for those that have ended. */
void etwas_proc_list_threads(uint32_t process_id, etwas_thread_callback *each, void *context);

typedef void etwas_listed_thread_callback(void *context, uint32_t process_id, uint32_t thread_id,
                                          bool is_leaving);

/*
 * Calls `each` for the threads of one process, or of all processes in /proc if process_id is 0; not
 * for those that have ended. Returns false if they cannot be listed.
 */
bool etwas_proc_list_all_threads(uint32_t process_id, etwas_listed_thread_callback *each,
                                 void *context);

/*
 * Calls `each` for every line of the process's maps, without its new line; `each` may change the
 * line. Does nothing if the file cannot be read in time (offload.h).
 */
void etwas_proc_list_mappings(uint32_t process_id, void (*each)(void *context, char *line),
                              void *context);

/* ---- the threads of this process, except one ------------------------------------------------- */

struct etwas_thread_list {
    uint32_t except;
    uint32_t count;
    uint32_t room;
    uint32_t *ids; /* in the order of /proc: by age */
    bool is_short; /* there was no memory for all of them */
};

/* Reads the list again. Returns false if /proc is of another namespace, or there is no memory. */
bool etwas_thread_list_read(struct etwas_thread_list *list);

bool etwas_thread_list_equals(const struct etwas_thread_list *left,
                              const struct etwas_thread_list *right);

void etwas_thread_list_free(struct etwas_thread_list *list);

/*
 * Files of a process in /proc that the kernel can only write with access to the process's memory or
 * mappings: cmdline, maps, io. Reading them may block for ever (offload.h).
 */

struct etwas_process_text {
    char *text; /* ends with a 0, and belongs to the caller; NULL: there is none */
    size_t bytes;
    enum etwas_process_text_state {
        ETWAS_TEXT_READ,
        ETWAS_TEXT_GONE,      /* there is no such process, or the file may not be read */
        ETWAS_TEXT_NO_ANSWER, /* the file could not be read in time */
    } state;
};

/* Reads at most the first `most` bytes. */
struct etwas_process_text etwas_process_text_read(uint32_t process_id, const char *name,
                                                  size_t most);

#endif
