/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The parts of files that processes have mapped. All mappings of a process in the table are known,
 * except for those beyond ETWAS_VIEWS_MOST. Not thread-safe.
 */
#ifndef ETWAS_SYSTEM_NAMES_VIEW_TABLE_H
#define ETWAS_SYSTEM_NAMES_VIEW_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "system/names/id_map.h"

enum {
    ETWAS_VIEWS_MOST = 1 << 14 /* of a process */
};

struct etwas_view {
    uint64_t begin;
    uint64_t end;
    uint64_t offset; /* in the file */
    uint64_t key;    /* of the file (file_views.h) */
};

struct etwas_view_process {
    struct etwas_id_node node;
    int64_t since_ns;   /* what happened to it before this time is known already */
    int64_t scanned_ns; /* what happened to it before this time may be known already */
    bool is_starting;   /* the kernel maps a program */
    uint32_t count;
    uint32_t room;
    struct etwas_view *views;
};

struct etwas_view_table {
    struct etwas_id_map processes;
};

typedef void etwas_view_callback(void *context, const struct etwas_view *view);

/* Returns false if there is no memory; nothing has to be freed then. */
bool etwas_view_table_init(struct etwas_view_table *table);
void etwas_view_table_free(struct etwas_view_table *table);

/* Removes all processes. */
void etwas_view_table_forget(struct etwas_view_table *table);

/* NULL: the process is not known. */
struct etwas_view_process *etwas_view_table_find(const struct etwas_view_table *table,
                                                 uint32_t process_id);

/* Adds a process without mappings, or removes those that it had. NULL: there is no memory. */
struct etwas_view_process *etwas_view_table_begin(struct etwas_view_table *table,
                                                  uint32_t process_id, int64_t time_ns);

/* Copies the parent's mappings to its child; if the parent is not known, neither is the child. */
void etwas_view_table_fork(struct etwas_view_table *table, uint32_t process_id, uint32_t parent_id,
                           int64_t time_ns);

void etwas_view_table_end(struct etwas_view_table *table, uint32_t process_id);

/*
 * Returns the process after this one, in no special order. `process` NULL: the first. NULL: there
 * is none.
 */
struct etwas_view_process *etwas_view_table_after(const struct etwas_view_table *table,
                                                  const struct etwas_view_process *process);

/* Adds a mapping; nothing else may be mapped there. */
void etwas_view_add(struct etwas_view_process *process, const struct etwas_view *view);

/*
 * Removes mappings in this range, and calls `callback` for each of them, or the part of it that is
 * removed.
 */
void etwas_view_remove(struct etwas_view_process *process, uint64_t begin, uint64_t end,
                       etwas_view_callback *callback, void *context);

#endif
