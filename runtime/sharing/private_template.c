/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/private_instance.h"

#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "etl/utf16.h"
#include "session/filter.h"

_Static_assert(ETWAS_REGISTRY_PROCESSES == MAX_EVENT_FILTER_PID_COUNT &&
                   (size_t)ETWAS_REGISTRY_PROGRAM_UNITS == ETWAS_FILTER_NAMES_UNITS &&
                   (int)ETWAS_REGISTRY_NAME_UNITS == ETWAS_NAME_UNITS,
               "a template has room for what filters and names may be");

/* Copies a name, and clears the units after its end. */
static void template_copy_name(etwas_wchar to[ETWAS_NAME_UNITS + 1],
                               const etwas_wchar from[ETWAS_NAME_UNITS + 1])
{
    memset(to, 0, (ETWAS_NAME_UNITS + 1) * sizeof *to);
    memcpy(to, from, etwas_utf16_length(from, ETWAS_NAME_UNITS) * sizeof *to);
}

struct etwas_registry_template *etwas_private_template_make(
    const struct etwas_configuration *configuration)
{
    const struct etwas_process_filters *filters = &configuration->filters;
    struct etwas_registry_template *private = calloc(1, sizeof *private);

    if (private == NULL) {
        return NULL;
    }
    private->bytes = sizeof *private;
    private->buffer_size_kb = configuration->buffer_size_kb;
    private->minimum_buffers = configuration->minimum_buffers;
    private->maximum_buffers = configuration->maximum_buffers;
    private->maximum_file_size = configuration->maximum_file_size;
    private->flush_timer = configuration->flush_timer;
    private->large_pages = (configuration->memory & ETWAS_MEMORY_HUGE) != 0;
    private->process_count = filters->process_count;
    private->has_programs = filters->has_names;
    memcpy(private->process_ids, filters->process_ids, sizeof filters->process_ids);
    memcpy(private->programs, filters->names, sizeof filters->names);
    template_copy_name(private->file_name, configuration->file_name);
    return private;
}

void etwas_private_template_change(struct etwas_registry_entry *entry, uint32_t control_code,
                                   uint32_t flush_timer, const etwas_wchar *file_name)
{
    struct etwas_registry_template *private = entry->private;
    bool is_update = control_code == EVENT_TRACE_CONTROL_UPDATE;

    if (is_update && flush_timer != 0) {
        private->flush_timer = flush_timer;
    }
    if (control_code == EVENT_TRACE_CONTROL_INCREMENT_FILE) {
        private->next_files++;
    } else if ((entry->log_file_mode & EVENT_TRACE_BUFFERING_MODE) == 0) {
        private->flushes += !is_update;
        if (is_update && file_name[0] != 0) {
            private->new_files++;
            template_copy_name(private->file_name, file_name);
        }
    } else if (!is_update || file_name[0] != 0) {
        private->snapshots++;
        template_copy_name(private->snapshot_name, file_name);
    }
}

bool etwas_private_template_matches(const struct etwas_registry_template *private)
{
    struct etwas_process_filters filters = {
        .process_count = private->process_count,
        .has_names = private->has_programs != 0,
    };

    memcpy(filters.process_ids, private->process_ids, sizeof filters.process_ids);
    memcpy(filters.names, private->programs, sizeof filters.names);
    return etwas_filters_match(&filters);
}

uint32_t etwas_private_template_configure(const struct etwas_registry_entry *entry,
                                          struct etwas_configuration *configuration)
{
    const struct etwas_registry_template *private = entry->private;
    static const etwas_flusher_options defaults;
    uint32_t code;

    *configuration = (struct etwas_configuration){
        .guid = entry->session,
        .log_file_mode = entry->log_file_mode,
        .clock = entry->clock,
        .buffer_size_kb = private->buffer_size_kb,
        .minimum_buffers = private->minimum_buffers,
        .maximum_buffers = private->maximum_buffers,
        .maximum_file_size = private->maximum_file_size,
        .flush_timer = private->flush_timer,
        .memory = private->large_pages != 0 ? ETWAS_MEMORY_HUGE : 0,
    };
    template_copy_name(configuration->name, entry->name);
    template_copy_name(configuration->file_name, private->file_name);
    if (!etwas_configuration_is_private(configuration) ||
        etwas_configuration_is_in_process(configuration)) {
        return ERROR_INVALID_PARAMETER;
    }
    code = etwas_configuration_complete(configuration);
    return code == ERROR_SUCCESS
               ? etwas_flusher_configuration_set(&configuration->flusher, &defaults)
               : code;
}
