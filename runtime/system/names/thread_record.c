/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/thread_record.h"

#include "system/names/proc_list.h"

struct etwas_thread_record etwas_thread_record_make(uint8_t type, uint32_t process_id,
                                                    uint32_t thread_id, uint32_t by_process_id,
                                                    uint32_t by_thread_id)
{
    return (struct etwas_thread_record){
        .header = {ETWAS_HEADER_OF(THREAD, type, struct etwas_thread_record),
                   .thread_id = by_thread_id, .process_id = by_process_id},
        .ProcessId = process_id,
        .TThreadId = thread_id,
    };
}

struct listing {
    etwas_listed_thread_callback *each;
    void *context;
    uint32_t process_id;
};

static void list_thread(void *context, uint32_t thread_id, bool is_leaving)
{
    const struct listing *listing = context;

    listing->each(listing->context, listing->process_id, thread_id, is_leaving);
}

static void list_process(void *context, uint32_t process_id)
{
    struct listing *listing = context;

    listing->process_id = process_id;
    etwas_proc_list_threads(process_id, list_thread, listing);
}

bool etwas_threads_list(uint32_t process_id, etwas_listed_thread_callback *each, void *context)
{
    struct listing listing = {.each = each, .context = context};

    if (!etwas_proc_is_ours()) {
        return false;
    }
    if (process_id == 0) {
        return etwas_proc_list_processes(list_process, &listing);
    }
    list_process(&listing, process_id);
    return true;
}
