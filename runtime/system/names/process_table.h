/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The processes that are known, and their threads. A process ends with its last thread. There are
 * as many entries as live threads and processes, as far as their ends have been recorded.
 */
#ifndef ETWAS_SYSTEM_NAMES_PROCESS_TABLE_H
#define ETWAS_SYSTEM_NAMES_PROCESS_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "system/names/id_map.h"
#include "system/names/image_list.h"
#include "system/names/process_facts.h"

/* A command line, shared by a process and its forked children. */
struct etwas_text {
    uint32_t references;
    uint32_t flags; /* ETWAS_PROCESS_COMMAND_LINE_* (processes.h) */
    char text[];
};

struct etwas_process;

struct etwas_process_thread {
    struct etwas_id_node node; /* by thread id */
    struct etwas_process *process;
    struct etwas_process_thread *next; /* the next thread of the process */
    struct etwas_process_thread **link;
    bool is_missing; /* the last scan did not find it; its EXIT may still be in the rings */
};

struct etwas_process {
    struct etwas_id_node node; /* by process id */
    int64_t since_ns;          /* what happened to it before this time is known already */
    int64_t emitted_ns;        /* when its existence was emitted last */
    bool is_found;             /* by a scan, possibly before the kernel's FORK was handled */
    /* Since when it runs a program that is not emitted yet; 0: there is none. */
    int64_t starting_ns;
    uint64_t key; /* unique among all processes, past ones too */
    uint32_t parent_id;
    uint32_t session_id;
    uint32_t user_id;
    char name[ETWAS_PROCESS_NAME_BYTES];
    struct etwas_text *command_line; /* NULL: not known */
    struct etwas_process_thread *threads;
    struct etwas_image_list images;

    /* The sum over its threads that have ended. */
    struct etwas_process_counters counters;
    bool misses_exit; /* the report of one of them is missing */
    /* The thread that ended last, and whose status is known; 0: not known. */
    uint32_t status_thread;
    uint32_t status;
};

struct etwas_process_table {
    struct etwas_id_map processes;
    struct etwas_id_map threads;
    struct etwas_id_map files; /* the files of images */
};

/* Returns false if there is no memory; nothing has to be freed then. */
bool etwas_process_table_init(struct etwas_process_table *table);
void etwas_process_table_free(struct etwas_process_table *table);

/* NULL: there is no such process. */
struct etwas_process *etwas_process_find(const struct etwas_process_table *table,
                                         uint32_t process_id);

/* Adds a process with only its number known. NULL: there is no memory. */
struct etwas_process *etwas_process_add(struct etwas_process_table *table, uint32_t process_id,
                                        int64_t since_ns);
void etwas_process_remove(struct etwas_process_table *table, struct etwas_process *process);

/* Returns the process after this one. `process` NULL: the first. NULL: there is none. */
struct etwas_process *etwas_process_after(const struct etwas_process_table *table,
                                          const struct etwas_process *process);

/* NULL: the thread is not known. */
struct etwas_process_thread *etwas_process_find_thread(const struct etwas_process_table *table,
                                                       uint32_t thread_id);

/* Returns the process of the thread; NULL: the thread is not known. */
struct etwas_process *etwas_process_of_thread(const struct etwas_process_table *table,
                                              uint32_t thread_id);

/*
 * Adds a thread that is not known yet. Without memory it is not added, and the process ends with
 * another thread.
 */
void etwas_process_add_thread(struct etwas_process_table *table, struct etwas_process *process,
                              uint32_t thread_id);
void etwas_process_remove_thread(struct etwas_process_table *table, uint32_t thread_id);

/* These set the facts of a process, except its images: from its parent, or from /proc. */
void etwas_process_inherit(struct etwas_process *process, const struct etwas_process *parent);
void etwas_process_set_name(struct etwas_process *process, const char *name);
void etwas_process_set_command_line(struct etwas_process *process, const char *text,
                                    uint32_t flags);
void etwas_process_forget_command_line(struct etwas_process *process);

/* The key of a process that started at this tick of /proc. */
uint64_t etwas_process_key(uint32_t process_id, uint64_t start_tick);
uint64_t etwas_process_start_tick(const struct etwas_process *process);

#endif
