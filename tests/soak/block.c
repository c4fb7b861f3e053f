/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Properties blocks in UTF-8 and UTF-16, and the calls that take them. */
#include <string.h>

#include "soak.h"

void soak_widen(const char *text, void *target)
{
    for (size_t index = 0; index <= strlen(text); index++) {
        etwas_wchar unit = (etwas_wchar)(unsigned char)text[index];

        memcpy((char *)target + index * sizeof unit, &unit, sizeof unit);
    }
}

void soak_block_begin(struct soak_block *block, bool wide, const char *file)
{
    memset(block, 0, sizeof *block);
    block->properties.Wnode.BufferSize = sizeof *block;
    block->properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    block->properties.LoggerNameOffset = offsetof(struct soak_block, session_name);
    if (file != NULL) {
        block->properties.LogFileNameOffset = offsetof(struct soak_block, file_name);
        if (wide) {
            soak_widen(file, block->file_name);
        } else {
            memcpy(block->file_name, file, strlen(file) + 1);
        }
    }
}

void soak_block_of(const struct soak_request *request, struct soak_block *block)
{
    EVENT_TRACE_PROPERTIES *properties = &block->properties;

    soak_block_begin(block, request->wide, request->has_file ? request->file : NULL);
    properties->Wnode.ClientContext = request->clock;
    if (request->has_guid) {
        properties->Wnode.Guid = request->guid;
    }
    properties->BufferSize = request->buffer_kb;
    properties->MinimumBuffers = request->minimum_buffers;
    properties->MaximumBuffers = request->maximum_buffers;
    properties->MaximumFileSize = request->maximum_file_size;
    properties->LogFileMode = request->mode;
    properties->FlushTimer = request->flush_timer;
    properties->EnableFlags = request->enable_flags;
    if (request->versioned) {
        properties->Wnode.Flags |= WNODE_FLAG_VERSIONED_PROPERTIES;
        block->second.V2Control = request->version;
        block->second.FilterDescCount = request->filter_count;
        if (request->filter_count != 0) {
            block->second.FilterDesc = request->filter_list != NULL
                                           ? request->filter_list
                                           : (EVENT_FILTER_DESCRIPTOR *)(uintptr_t)request->filters;
        }
        block->second.LargeMdlPages = request->large_pages;
    }
}

uint32_t soak_start_block(const struct soak_request *request, struct soak_block *block,
                          etwas_trace_handle *session)
{
    etwas_wchar wide[SOAK_AREA_BYTES / sizeof(etwas_wchar)];

    if (request->wide) {
        soak_widen(request->name, wide);
        return StartTraceW(session, wide, &block->properties);
    }
    return StartTraceA(session, request->name, &block->properties);
}

uint32_t soak_start(const struct soak_request *request, etwas_trace_handle *session)
{
    const etwas_session_options options = {
        .log_file_mode = request->mode,
        .clock = request->clock,
        .buffer_size_kb = request->buffer_kb,
        .minimum_buffers = request->minimum_buffers,
        .maximum_buffers = request->maximum_buffers,
        .maximum_file_size = request->maximum_file_size,
        .flush_timer = request->flush_timer,
        .protocol = request->protocol,
        .process_times = request->process_times,
        .large_pages = request->large_pages,
        .flusher = request->flusher,
    };
    struct soak_block block;

    if (request->by_block) {
        soak_block_of(request, &block);
        return soak_start_block(request, &block, session);
    }
    return etwas_start(request->name, request->has_file ? request->file : NULL, &options, session);
}

uint32_t soak_control(etwas_trace_handle session, const char *name, bool wide,
                      struct soak_block *block, uint32_t control_code)
{
    etwas_wchar wide_name[SOAK_NAME_BYTES];

    if (!wide) {
        return ControlTraceA(session, name, &block->properties, control_code);
    }
    if (name != NULL) {
        soak_widen(name, wide_name);
    }
    return ControlTraceW(session, name != NULL ? wide_name : NULL, &block->properties,
                         control_code);
}

uint32_t soak_count_sessions(void)
{
    enum {
        MOST_SESSIONS = 80
    };
    static struct soak_block blocks[MOST_SESSIONS];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    EVENT_TRACE_PROPERTIES *properties[MOST_SESSIONS];
    uint32_t sessions = 0;
    uint32_t code;

    (void)pthread_mutex_lock(&lock);
    for (uint32_t index = 0; index < MOST_SESSIONS; index++) {
        soak_block_begin(&blocks[index], false, "");
        properties[index] = &blocks[index].properties;
    }
    code = QueryAllTracesA(properties, MOST_SESSIONS, &sessions);
    (void)pthread_mutex_unlock(&lock);
    return code == ERROR_SUCCESS ? sessions : UINT32_MAX;
}
