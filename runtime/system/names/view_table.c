/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/view_table.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_ROOM = 16
};

bool etwas_view_table_init(struct etwas_view_table *table)
{
    return etwas_id_map_init(&table->processes);
}

void etwas_view_table_free(struct etwas_view_table *table)
{
    etwas_view_table_forget(table);
    etwas_id_map_free(&table->processes);
}

static void remove_process(struct etwas_view_table *table, struct etwas_view_process *process)
{
    etwas_id_map_remove(&table->processes, &process->node);
    free(process->views);
    free(process);
}

void etwas_view_table_forget(struct etwas_view_table *table)
{
    struct etwas_view_process *process;

    while ((process = etwas_view_table_after(table, NULL)) != NULL) {
        remove_process(table, process);
    }
}

struct etwas_view_process *etwas_view_table_find(const struct etwas_view_table *table,
                                                 uint32_t process_id)
{
    return (struct etwas_view_process *)etwas_id_map_find(&table->processes, process_id);
}

struct etwas_view_process *etwas_view_table_after(const struct etwas_view_table *table,
                                                  const struct etwas_view_process *process)
{
    return (struct etwas_view_process *)etwas_id_map_after(&table->processes,
                                                           process == NULL ? NULL : &process->node);
}

void etwas_view_table_end(struct etwas_view_table *table, uint32_t process_id)
{
    struct etwas_view_process *process = etwas_view_table_find(table, process_id);

    if (process != NULL) {
        remove_process(table, process);
    }
}

struct etwas_view_process *etwas_view_table_begin(struct etwas_view_table *table,
                                                  uint32_t process_id, int64_t time_ns)
{
    struct etwas_view_process *process;

    etwas_view_table_end(table, process_id);
    process = calloc(1, sizeof *process);
    if (process != NULL) {
        process->node.id = process_id;
        process->since_ns = time_ns;
        process->scanned_ns = time_ns;
        etwas_id_map_add(&table->processes, &process->node);
    }
    return process;
}

void etwas_view_table_fork(struct etwas_view_table *table, uint32_t process_id, uint32_t parent_id,
                           int64_t time_ns)
{
    const struct etwas_view_process *parent = etwas_view_table_find(table, parent_id);
    struct etwas_view_process *process;

    if (parent == NULL) {
        etwas_view_table_end(table, process_id);
        return;
    }
    process = etwas_view_table_begin(table, process_id, time_ns);
    for (uint32_t index = 0; process != NULL && index < parent->count; index++) {
        etwas_view_add(process, &parent->views[index]);
    }
}

/* ---- views of a process ---------------------------------------------------------------------- */

static bool view_table_make_room(struct etwas_view_process *process)
{
    uint32_t room = process->room == 0 ? FIRST_ROOM : 2 * process->room;
    struct etwas_view *views;

    if (process->count < process->room) {
        return true;
    }
    if (room > ETWAS_VIEWS_MOST) {
        return false;
    }
    views = realloc(process->views, room * sizeof *views);
    if (views == NULL) {
        return false;
    }
    process->views = views;
    process->room = room;
    return true;
}

void etwas_view_add(struct etwas_view_process *process, const struct etwas_view *view)
{
    if (view->begin < view->end && view_table_make_room(process)) {
        process->views[process->count++] = *view;
    }
}

static struct etwas_view part_of(const struct etwas_view *view, uint64_t begin, uint64_t end)
{
    struct etwas_view part = *view;

    part.begin = begin > view->begin ? begin : view->begin;
    part.end = end < view->end ? end : view->end;
    part.offset = view->offset + (part.begin - view->begin);
    return part;
}

void etwas_view_remove(struct etwas_view_process *process, uint64_t begin, uint64_t end,
                       etwas_view_callback *callback, void *context)
{
    uint32_t index = 0;

    while (index < process->count) {
        const struct etwas_view view = process->views[index];
        const struct etwas_view part = part_of(&view, begin, end);
        const struct etwas_view left = part_of(&view, 0, begin);
        const struct etwas_view right = part_of(&view, end, UINT64_MAX);

        if (part.begin >= part.end) {
            index++;
            continue;
        }
        callback(context, &part);
        process->views[index] = process->views[--process->count];
        etwas_view_add(process, &left); /* neither part is affected again */
        etwas_view_add(process, &right);
    }
}
