/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The sessions' part of etwas.h.
 */
#include <etwas/etwas.h>
#include <stdlib.h>
#include <string.h>

#include "control/life.h"
#include "control/prepare.h"
#include "control/properties.h"
#include "platform/cancel.h"

const char *etwas_version(void)
{
#define TEXT_OF(number) #number
#define VERSION_OF(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)
    return VERSION_OF(ETWAS_VERSION_MAJOR, ETWAS_VERSION_MINOR, ETWAS_VERSION_PATCH);
}

static uint32_t read_options(const char *session_name, const char *log_file,
                             const etwas_session_options *options,
                             struct etwas_configuration *configuration)
{
    uint32_t code;

    if (session_name == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    code = etwas_copy_name(session_name, ETWAS_TEXT_A, configuration->name);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (etwas_names_equal(configuration->name, KERNEL_LOGGER_NAMEW)) {
        return ERROR_NOT_SUPPORTED;
    }
    if (log_file != NULL &&
        etwas_copy_name(log_file, ETWAS_TEXT_A, configuration->file_name) != ERROR_SUCCESS) {
        return ERROR_BAD_PATHNAME;
    }
    configuration->log_file_mode = options->log_file_mode;
    configuration->clock = options->clock;
    configuration->protocol = options->protocol;
    configuration->process_times = options->process_times;
    configuration->large_pages = options->large_pages;
    configuration->buffer_size_kb = options->buffer_size_kb;
    configuration->minimum_buffers = options->minimum_buffers;
    configuration->maximum_buffers = options->maximum_buffers;
    configuration->maximum_file_size = options->maximum_file_size;
    configuration->flush_timer = options->flush_timer;
    configuration->consumer_queue_kb = options->consumer_queue_kb;
    configuration->backlog_kb = options->backlog_kb;
    if (options->backlog_folder != NULL &&
        strlen(options->backlog_folder) >= sizeof configuration->backlog_folder) {
        return ERROR_BAD_PATHNAME;
    }
    (void)strcpy(configuration->backlog_folder,
                 options->backlog_folder != NULL ? options->backlog_folder : "");
    code = etwas_configuration_complete(configuration);
    return code == ERROR_SUCCESS
               ? etwas_flusher_configuration_set(&configuration->flusher, &options->flusher)
               : code;
}

static uint32_t start(const char *session_name, const char *log_file,
                      const etwas_session_options *options, etwas_trace_handle *handle)
{
    static const etwas_session_options defaults;
    struct etwas_configuration *configuration;
    uint32_t code;

    etwas_prepare();
    configuration = calloc(1, sizeof *configuration);
    if (configuration == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code =
        read_options(session_name, log_file, options != NULL ? options : &defaults, configuration);
    if (code == ERROR_SUCCESS) {
        code = etwas_life_start(configuration, NULL, NULL, handle);
    }
    free(configuration);
    return code;
}

uint32_t etwas_start(const char *session_name, const char *log_file,
                     const etwas_session_options *options, etwas_trace_handle *handle)
{
    int cancelling;
    uint32_t code;

    if (handle == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    *handle = 0;
    cancelling = etwas_cancel_forbid();
    code = start(session_name, log_file, options, handle);
    etwas_cancel_allow(cancelling);
    return code;
}

uint32_t etwas_counts(etwas_trace_handle handle, etwas_session_counts *counts)
{
    struct etwas_session_key key;

    etwas_prepare();
    if (counts == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    if (!etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    return etwas_session_counts_of(key, counts);
}

/* These functions know one code for "no such session". */
static uint32_t as_handle_error(uint32_t code)
{
    return code == ERROR_WMI_INSTANCE_NOT_FOUND ? ERROR_INVALID_HANDLE : code;
}

uint32_t etwas_flush(etwas_trace_handle handle)
{
    struct etwas_session_key key;

    etwas_prepare();
    if (!etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    return as_handle_error(etwas_life_flush(key));
}

uint32_t etwas_snapshot(etwas_trace_handle handle, const char *log_file)
{
    etwas_wchar file_name[ETWAS_NAME_UNITS + 1];
    struct etwas_session_key key;

    etwas_prepare();
    if (!etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    if (log_file == NULL || etwas_copy_name(log_file, ETWAS_TEXT_A, file_name) != ERROR_SUCCESS) {
        return ERROR_BAD_PATHNAME;
    }
    return as_handle_error(etwas_life_snapshot(key, file_name));
}

static void keep_counts(const struct etwas_session *session, const etwas_session_counts *counts,
                        void *context)
{
    (void)session;
    if (context != NULL) {
        *(etwas_session_counts *)context = *counts;
    }
}

uint32_t etwas_stop(etwas_trace_handle handle, etwas_session_counts *counts)
{
    struct etwas_session_key key;
    uint32_t code;

    etwas_prepare();
    if (!etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    code = as_handle_error(etwas_life_stop(key, keep_counts, counts));
    if (code != ERROR_SUCCESS && counts != NULL) {
        /* It may have ended by itself. */
        (void)etwas_session_counts_of(key, counts);
    }
    return code;
}

uint32_t etwas_session_protocol(etwas_trace_handle handle, uint32_t *protocol)
{
    struct etwas_session_key key;
    const struct etwas_session *session;

    etwas_prepare();
    if (protocol == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    if (!etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    etwas_control_lock();
    session = etwas_session_find(key);
    if (session != NULL) {
        *protocol = session->configuration.protocol;
    }
    etwas_control_unlock();
    return session != NULL ? ERROR_SUCCESS : ERROR_INVALID_HANDLE;
}

uint32_t etwas_memory(etwas_trace_handle handle, etwas_session_memory *memory)
{
    struct etwas_session_key key;
    struct etwas_session *session;
    uint32_t code = ERROR_INVALID_HANDLE;
    int cancelling;

    etwas_prepare();
    if (memory == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    if (!etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    session = &etwas_sessions[key.index];
    cancelling = etwas_cancel_forbid(); /* what is huge is read from a file */
    (void)pthread_mutex_lock(&session->life);
    etwas_control_lock();
    code = etwas_session_find(key) != NULL ? ERROR_SUCCESS : ERROR_INVALID_HANDLE;
    etwas_control_unlock();
    if (code == ERROR_SUCCESS && session->pool != NULL) {
        const struct etwas_memory *held = &session->pool->memory;

        *memory = (etwas_session_memory){
            .region_bytes = held->region_bytes,
            .region_resident_bytes = etwas_memory_resident_bytes(held),
            .region_huge_bytes = etwas_memory_huge_bytes(held),
            .region_explicit_bytes = held->explicit_bytes,
            .control_bytes = session->pool->control_bytes,
        };
        etwas_memory_arena_bytes(held, &memory->arena_mapped_bytes, &memory->arena_resident_bytes);
    } else {
        code = ERROR_INVALID_HANDLE;
    }
    (void)pthread_mutex_unlock(&session->life);
    etwas_cancel_allow(cancelling);
    return code;
}
