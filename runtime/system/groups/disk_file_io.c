/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_DISK_FILE_IO: the names of files that processes have mapped when the session
 * begins and ends, as FileIo's FileRundown, by their keys (file_views.h). Requests to disks do not
 * name files; hard faults do.
 */
#include <etwas/evntrace.h>

#include "system/groups/event_groups.h"
#include "system/names/file_record.h"
#include "system/names/file_views.h"
#include "system/names/proc_list.h"

struct rundown {
    const struct etwas_event_group_host *host;
    struct etwas_file_keys emitted;
};

static void disk_file_io_emit_view(void *context, const struct etwas_file_view *view)
{
    struct rundown *rundown = context;

    if (etwas_file_keys_add(&rundown->emitted, view->key)) {
        etwas_file_record_name(rundown->host, ETWAS_FILE_NAME_RUNDOWN, view->key, view->path);
    }
}

static void disk_file_io_emit_process(void *context, uint32_t process_id)
{
    const struct rundown *rundown = context;

    etwas_file_views_read(process_id, disk_file_io_emit_view, context);
    etwas_quiesce(rundown->host->quiesce);
}

static void disk_file_io_run_down(void *state, const struct etwas_event_group_host *host,
                                  bool is_end)
{
    struct rundown rundown = {.host = host};

    (void)state;
    (void)is_end;
    if (etwas_proc_is_ours() && etwas_file_keys_init(&rundown.emitted)) {
        (void)etwas_proc_list_processes(disk_file_io_emit_process, &rundown);
        etwas_file_keys_free(&rundown.emitted);
    }
}

const struct etwas_event_group etwas_event_group_disk_file_io = {
    .flags = EVENT_TRACE_FLAG_DISK_FILE_IO,
    .run_down = disk_file_io_run_down,
};
