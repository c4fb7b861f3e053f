/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The sessions' part of etwas.h.
 */
#include "control/properties.h"

#include <etwas/etwas.h>
#include <string.h>

#include "control/lifecycle.h"
#include "control/prepare.h"
#include "platform/cancel.h"
#include "platform/name_case.h"
#include "platform/processor.h"
#include "platform/sized_struct.h"
#include "session/sharing.h"
#include "shared/folder.h"

const char *etwas_version(void)
{
#define TEXT_OF(number) #number
#define VERSION_OF(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)
    return VERSION_OF(ETWAS_VERSION_MAJOR, ETWAS_VERSION_MINOR, ETWAS_VERSION_PATCH);
}

uint32_t etwas_session_options_read(const char *session_name, const char *log_file,
                                    const etwas_session_options *options,
                                    struct etwas_configuration *configuration)
{
    uint32_t code;

    if (session_name == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    code = etwas_copy_name(session_name, ETWAS_NAMES_UTF8, configuration->name);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (etwas_names_equal(configuration->name, KERNEL_LOGGER_NAMEW)) {
        return ERROR_NOT_SUPPORTED;
    }
    if (log_file != NULL &&
        etwas_copy_name(log_file, ETWAS_NAMES_UTF8, configuration->file_name) != ERROR_SUCCESS) {
        return ERROR_BAD_PATHNAME;
    }
    configuration->log_file_mode = options->log_file_mode;
    configuration->clock = options->clock;
    configuration->protocol = options->protocol;
    configuration->process_times = options->process_times;
    configuration->memory = options->memory | (options->large_pages ? ETWAS_MEMORY_HUGE : 0);
    configuration->memory_required = options->memory_required;
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
    configuration->crash_safe = options->crash_safe;
    if (options->crash_safe_folder != NULL &&
        strlen(options->crash_safe_folder) >= sizeof configuration->crash_safe_folder) {
        return ERROR_BAD_PATHNAME;
    }
    (void)strcpy(configuration->crash_safe_folder,
                 options->crash_safe_folder != NULL ? options->crash_safe_folder : "");
    if (options->class_count > ETWAS_RETENTION_CLASSES ||
        (options->class_count != 0 && options->classes == NULL)) {
        return ERROR_INVALID_PARAMETER;
    }
    configuration->class_count = options->class_count;
    if (options->class_count != 0) {
        memcpy(configuration->classes, options->classes,
               options->class_count * sizeof *options->classes);
    }
    if (options->sharing > ETWAS_SHARING_SNAPSHOTS) {
        return ERROR_INVALID_PARAMETER;
    }
    configuration->reach = options->sharing == ETWAS_SHARING_USER        ? ETWAS_REACH_SHARED
                           : options->sharing == ETWAS_SHARING_SNAPSHOTS ? ETWAS_REACH_SNAPSHOTS
                                                                         : ETWAS_REACH_PROCESS;
    configuration->sharing_required = configuration->reach != ETWAS_REACH_PROCESS;
    if (etwas_configuration_is_shared(configuration)) {
        etwas_rseq_set_trial_storage(&etwas_sequences_keeper);
    }
    code = etwas_configuration_complete(configuration);
    return code == ERROR_SUCCESS
               ? etwas_flusher_configuration_set(&configuration->flusher, &options->flusher)
               : code;
}

static uint32_t session_start(const char *session_name, const char *log_file,
                              const etwas_session_options *options, etwas_trace_handle *handle)
{
    struct etwas_configuration configuration = {0};
    uint32_t code = etwas_prepare_to_serve();

    if (code == ERROR_SUCCESS) {
        code = etwas_session_options_read(session_name, log_file, options, &configuration);
    }
    return code == ERROR_SUCCESS ? etwas_lifecycle_start(&configuration, NULL, NULL, handle) : code;
}

uint32_t etwas_start_sized(const char *session_name, const char *log_file,
                           const etwas_session_options *given, size_t given_bytes,
                           etwas_trace_handle *handle)
{
    etwas_session_options options;
    ETWAS_UNCANCELLED_SCOPE;

    if (handle == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    *handle = 0;
    if (!etwas_sized_read(&options, sizeof options, given, given_bytes)) {
        return ERROR_NOT_SUPPORTED;
    }
    return session_start(session_name, log_file, &options, handle);
}

/* Copies the counts of a running session, or its last ones. */
static uint32_t session_copy_counts(struct etwas_session_key key, etwas_session_counts *counts,
                                    size_t counts_bytes)
{
    etwas_session_counts known;
    uint32_t code = etwas_session_counts_of(key, &known);

    if (code == ERROR_SUCCESS) {
        etwas_sized_write(counts, counts_bytes, &known, sizeof known);
    }
    return code;
}

uint32_t etwas_counts_sized(etwas_trace_handle handle, etwas_session_counts *counts,
                            size_t counts_bytes)
{
    struct etwas_session_key key;

    if (counts == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    if (!etwas_session_key_of(handle, &key)) {
        etwas_session_counts known;
        uint32_t code = etwas_sharing.counts(handle, &known);

        if (code == ERROR_SUCCESS) {
            etwas_sized_write(counts, counts_bytes, &known, sizeof known);
        }
        return code;
    }
    return session_copy_counts(key, counts, counts_bytes);
}

/* These functions have one code for "no such session". */
static uint32_t session_handle_error(uint32_t code)
{
    return code == ERROR_WMI_INSTANCE_NOT_FOUND ? ERROR_INVALID_HANDLE : code;
}

uint32_t etwas_flush(etwas_trace_handle handle)
{
    struct etwas_session_key key;

    if (!etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    return session_handle_error(etwas_lifecycle_flush(key));
}

uint32_t etwas_snapshot(etwas_trace_handle handle, const char *log_file)
{
    etwas_wchar file_name[ETWAS_NAME_UNITS + 1];
    struct etwas_session_key key;

    if (!etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    if (log_file == NULL ||
        etwas_copy_name(log_file, ETWAS_NAMES_UTF8, file_name) != ERROR_SUCCESS) {
        return ERROR_BAD_PATHNAME;
    }
    return session_handle_error(etwas_lifecycle_snapshot(key, file_name));
}

static void session_store_counts(const struct etwas_session *session,
                                 const etwas_session_counts *counts, void *context)
{
    (void)session;
    *(etwas_session_counts *)context = *counts;
}

uint32_t etwas_stop_sized(etwas_trace_handle handle, etwas_session_counts *counts,
                          size_t counts_bytes)
{
    struct etwas_session_key key;
    etwas_session_counts last;
    uint32_t code;

    if (!etwas_session_key_of(handle, &key)) {
        code = etwas_sharing.stop(handle, &last);
        if (code == ERROR_SUCCESS && counts != NULL) {
            etwas_sized_write(counts, counts_bytes, &last, sizeof last);
        }
        return code;
    }
    code = session_handle_error(etwas_lifecycle_stop(key, session_store_counts, &last));
    if (counts == NULL) {
        return code;
    }
    if (code == ERROR_SUCCESS) {
        etwas_sized_write(counts, counts_bytes, &last, sizeof last);
    } else {
        (void)session_copy_counts(key, counts, counts_bytes); /* it may have ended by itself */
    }
    return code;
}

uint32_t etwas_session_wait(etwas_trace_handle handle, uint32_t milliseconds)
{
    const uint64_t ns_a_millisecond = 1000000;
    /* Waits are limited to a century. */
    uint64_t timeout_ns = milliseconds == UINT32_MAX ? UINT64_C(100) * 365 * 86400 * 1000000000
                                                     : milliseconds * ns_a_millisecond;
    struct etwas_session_key key;

    return etwas_session_key_of(handle, &key) ? etwas_session_await_end(key, timeout_ns)
                                              : (uint32_t)ERROR_INVALID_HANDLE;
}

uint32_t etwas_session_protocol(etwas_trace_handle handle, uint32_t *protocol)
{
    const struct etwas_session *session;

    if (protocol == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    etwas_control_lock();
    session = etwas_session_find_handle(handle);
    if (session != NULL) {
        *protocol = session->configuration.protocol;
    }
    etwas_control_unlock();
    return session != NULL ? ERROR_SUCCESS : ERROR_INVALID_HANDLE;
}

uint32_t etwas_memory_sized(etwas_trace_handle handle, etwas_session_memory *memory,
                            size_t memory_bytes)
{
    etwas_session_memory known;
    struct etwas_memory_grant grant;
    struct etwas_memory region;
    struct etwas_held_session held;
    const struct etwas_pool *pool;
    ETWAS_UNCANCELLED_SCOPE;
    uint32_t code =
        memory != NULL ? etwas_session_hold(handle, &held) : (uint32_t)ERROR_INVALID_PARAMETER;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    pool = held.session->buffers.pool;
    if (pool == NULL) {
        etwas_session_release(&held);
        return ERROR_INVALID_HANDLE;
    }
    grant = pool->grant;
    region = pool->memory;
    known = (etwas_session_memory){
        .region_bytes = region.region_bytes,
        .region_resident_bytes = etwas_memory_resident_bytes(&region),
        .region_explicit_bytes = region.explicit_bytes,
        .control_bytes = etwas_pool_control_bytes(pool),
        .asked = grant.asked,
        .memory_nodes = pool->nodes,
    };
    etwas_memory_arena_bytes(&region, &known.arena_mapped_bytes, &known.arena_resident_bytes);
    etwas_session_release(&held);
    /* The system finds it only by its address, in one of its files, which takes time. */
    known.region_huge_bytes = etwas_memory_huge_bytes(&region);
    known.granted = etwas_memory_granted(&grant, known.region_huge_bytes);
    etwas_sized_write(memory, memory_bytes, &known, sizeof known);
    return ERROR_SUCCESS;
}

uint32_t etwas_sequences(void)
{
    etwas_processor_prepare();
    return etwas_rseq_availability();
}

uint32_t etwas_sequences_try(void)
{
    etwas_processor_prepare();
    return etwas_rseq_try_now();
}
