/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/thread_list.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/names/proc_list.h"

enum {
    FIRST_ROOM = 64
};

static bool has_room(struct etwas_thread_list *list)
{
    uint32_t room = list->room == 0 ? FIRST_ROOM : 2 * list->room;
    uint32_t *ids;

    if (list->count < list->room) {
        return true;
    }
    ids = realloc(list->ids, room * sizeof *ids);
    if (ids == NULL) {
        return false;
    }
    list->ids = ids;
    list->room = room;
    return true;
}

static void add_thread_id(void *context, uint32_t thread_id, bool is_leaving)
{
    struct etwas_thread_list *list = context;

    (void)is_leaving;
    if (thread_id == list->except) {
        return;
    }
    if (has_room(list)) {
        list->ids[list->count++] = thread_id;
    } else {
        list->is_short = true;
    }
}

bool etwas_thread_list_read(struct etwas_thread_list *list)
{
    list->count = 0;
    list->is_short = false;
    if (!etwas_proc_is_ours()) {
        return false;
    }
    etwas_proc_list_threads((uint32_t)getpid(), add_thread_id, list);
    return !list->is_short;
}

bool etwas_thread_list_equals(const struct etwas_thread_list *left,
                              const struct etwas_thread_list *right)
{
    return left->count == right->count &&
           (left->count == 0 ||
            memcmp(left->ids, right->ids, left->count * sizeof *left->ids) == 0);
}

void etwas_thread_list_free(struct etwas_thread_list *list)
{
    free(list->ids);
    list->ids = NULL;
}
