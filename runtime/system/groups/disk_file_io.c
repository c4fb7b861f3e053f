/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_DISK_FILE_IO: what files are called that processes have mapped when the session begins, and when
 * it ends, as FileIo's FileRundown, by their keys (file_views.h). Disks know of no files, so events of disks do not
 * say them; hard faults do.
 */
#include <etwas/evntrace.h>

#include "system/groups/event_groups.h"
#include "system/names/file_record.h"
#include "system/names/file_views.h"
#include "system/names/proc_list.h"

struct telling {
    const struct etwas_topic_host *host;
    struct etwas_file_keys told;
};

static void tell(void *context, const struct etwas_file_view *view)
{
    struct telling *telling = context;

    if (etwas_file_keys_add(&telling->told, view->key)) {
        etwas_file_record_name(telling->host, ETWAS_FILE_NAME_RUNDOWN, view->key, view->path);
    }
}

static void tell_process(void *context, uint32_t process_id)
{
    const struct telling *telling = context;

    etwas_file_views_read(process_id, tell, context);
    etwas_pause(telling->host->pause);
}

static void run_down(void *state, const struct etwas_topic_host *host, bool is_end)
{
    struct telling telling = {.host = host};

    (void)state;
    (void)is_end;
    if (etwas_proc_is_ours() && etwas_file_keys_init(&telling.told)) {
        (void)etwas_proc_list_processes(tell_process, &telling);
        etwas_file_keys_free(&telling.told);
    }
}

const struct etwas_topic etwas_topic_disk_files = {
    .flags = EVENT_TRACE_FLAG_DISK_FILE_IO,
    .run_down = run_down,
};
