/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "reader/class_callback.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "reader/trace.h"
#include "reader/trace_table.h"

struct class_callback {
    etwas_guid class_guid;
    PEVENT_CALLBACK callback;
};

uint32_t etwas_class_callback_count;

/* Guarded by the table's lock. */
static struct class_callback *callbacks;
static uint32_t room;

/* The table's lock is held. */
static struct class_callback *class_callback_find(const etwas_guid *class_guid)
{
    for (uint32_t index = 0; index < etwas_class_callback_count; index++) {
        if (memcmp(&callbacks[index].class_guid, class_guid, sizeof *class_guid) == 0) {
            return &callbacks[index];
        }
    }
    return NULL;
}

PEVENT_CALLBACK etwas_class_callback_of(const etwas_guid *class_guid)
{
    const struct class_callback *found;
    PEVENT_CALLBACK callback = NULL;

    etwas_trace_table_lock();
    found = class_callback_find(class_guid);
    if (found != NULL) {
        callback = found->callback;
    }
    etwas_trace_table_unlock();
    return callback;
}

/* The table's lock is held. NULL without memory. */
static struct class_callback *class_callback_add(const etwas_guid *class_guid)
{
    if (etwas_class_callback_count == room) {
        uint32_t more = room != 0 ? 2 * room : 8;
        struct class_callback *grown = realloc(callbacks, more * sizeof *grown);

        if (grown == NULL) {
            return NULL;
        }
        callbacks = grown;
        room = more;
    }
    callbacks[etwas_class_callback_count].class_guid = *class_guid;
    ck_pr_store_32(&etwas_class_callback_count, etwas_class_callback_count + 1);
    return &callbacks[etwas_class_callback_count - 1];
}

uint32_t SetTraceCallback(const etwas_guid *class_guid, PEVENT_CALLBACK callback)
{
    struct class_callback *entry;

    if (class_guid == NULL || callback == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    etwas_trace_table_lock();
    entry = class_callback_find(class_guid);
    entry = entry != NULL ? entry : class_callback_add(class_guid);
    if (entry != NULL) {
        entry->callback = callback;
    }
    etwas_trace_table_unlock();
    return entry != NULL ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

uint32_t RemoveTraceCallback(const etwas_guid *class_guid)
{
    struct class_callback *entry;

    if (class_guid == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    etwas_trace_table_lock();
    entry = class_callback_find(class_guid);
    if (entry != NULL) {
        *entry = callbacks[etwas_class_callback_count - 1];
        ck_pr_store_32(&etwas_class_callback_count, etwas_class_callback_count - 1);
    }
    etwas_trace_table_unlock();
    return entry != NULL ? ERROR_SUCCESS : ERROR_WMI_GUID_NOT_FOUND;
}
