/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which processes there are, and which threads each has: one ends with its last thread. As many
 * entries as live threads and processes, as far as their ends are seen.
 */
#ifndef ETWAS_SYSTEM_NAMES_PROCESS_TABLE_H
#define ETWAS_SYSTEM_NAMES_PROCESS_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "system/names/id_map.h"
#include "system/names/image_list.h"
#include "system/names/process_counters.h"
#include "system/names/process_facts.h"

/* Shared by a process and the children that it forked. */
struct etwas_text {
    uint32_t references;
    uint32_t flags; /* ETWAS_PROCESS_COMMAND_LINE_* (process_class.h) */
    char text[];
};

struct etwas_process;

struct etwas_process_thread {
    struct etwas_id_node node; /* by thread id */
    struct etwas_process *process;
    struct etwas_process_thread *next; /* of the process */
    struct etwas_process_thread **link;
    bool is_missing; /* when it was last looked for; is it in the rings how it ended? */
};

struct etwas_process {
    struct etwas_id_node node; /* by process id */
    int64_t since_ns;          /* what happened to it before is known already */
    int64_t emitted_ns;        /* the last time it was told that it is there */
    bool is_found;             /* by looking; it is there before the kernel says so */
    int64_t starting_ns; /* since when it begins a program that is not told yet; 0: it does not */
    uint64_t key;        /* no other process has it, nor had */
    uint32_t parent_id;
    uint32_t session_id;
    uint32_t user_id;
    char name[ETWAS_PROCESS_NAME_BYTES];
    struct etwas_text *command_line; /* NULL: not known */
    struct etwas_process_thread *threads;
    struct etwas_image_list images;

    /* Of its threads that have ended. */
    struct etwas_process_counters counters;
    bool misses_exit;       /* how one of them ended is not known */
    uint32_t status_thread; /* the last one, whose status it is; 0: that is not known */
    uint32_t status;
};

struct etwas_process_table {
    struct etwas_id_map processes;
    struct etwas_id_map threads;
    struct etwas_id_map files; /* of images */
};

/* False: no memory, and nothing to free. */
bool etwas_process_table_init(struct etwas_process_table *table);
void etwas_process_table_free(struct etwas_process_table *table);

/* NULL: there is none. */
struct etwas_process *etwas_process_find(const struct etwas_process_table *table,
                                         uint32_t process_id);

/* Of which nothing is known. NULL: no memory. */
struct etwas_process *etwas_process_add(struct etwas_process_table *table, uint32_t process_id,
                                        int64_t since_ns);
void etwas_process_remove(struct etwas_process_table *table, struct etwas_process *process);

/* The one after this; NULL: the first, or there is none. */
struct etwas_process *etwas_process_after(const struct etwas_process_table *table,
                                          const struct etwas_process *process);

/* NULL: it is nobody's. */
struct etwas_process_thread *etwas_process_find_thread(const struct etwas_process_table *table,
                                                       uint32_t thread_id);

/* Whose thread this is; NULL: nobody's. */
struct etwas_process *etwas_process_of_thread(const struct etwas_process_table *table,
                                              uint32_t thread_id);

/* It is nobody's yet. Without memory the process ends with another thread. */
void etwas_process_add_thread(struct etwas_process_table *table, struct etwas_process *process,
                              uint32_t thread_id);
void etwas_process_remove_thread(struct etwas_process_table *table, uint32_t thread_id);

/* What is known of another, or of what /proc says, but for images. */
void etwas_process_inherit(struct etwas_process *process, const struct etwas_process *parent);
void etwas_process_set_name(struct etwas_process *process, const char *name);
void etwas_process_set_command_line(struct etwas_process *process, const char *text,
                                    uint32_t flags);
void etwas_process_forget_command_line(struct etwas_process *process);

/* Of a process that started so many of /proc's ticks after the system. */
uint64_t etwas_process_key(uint32_t process_id, uint64_t start_tick);
uint64_t etwas_process_start_tick(const struct etwas_process *process);

#endif
