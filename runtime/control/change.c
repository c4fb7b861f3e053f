/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Changes of a running session: UPDATE, INCREMENT_FILE and CONVERT_TO_REALTIME (R96, R130–R137). */
#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <string.h>
#include <unistd.h>

#include "control/lifecycle.h"
#include "control/system_request.h"
#include "etl/utf16.h"
#include "file/session_file.h"
#include "file/snapshot.h"
#include "flush/drain.h"
#include "provider/source.h"
#include "realtime/realtime.h"
#include "session/file_name.h"
#include "shared/mapping.h"

/*
 * R130, R134: only the real-time mode may be set or cleared; the other modes may be repeated.
 * Events must still go somewhere.
 */
static uint32_t check_mode(const struct etwas_configuration *configuration,
                           const struct etwas_update *update)
{
    uint32_t mode = update->log_file_mode;

    if ((mode & ~(configuration->log_file_mode | EVENT_TRACE_REAL_TIME_MODE)) != 0) {
        return ERROR_INVALID_PARAMETER;
    }
    if (etwas_configuration_is_realtime(configuration) &&
        (mode & EVENT_TRACE_REAL_TIME_MODE) == 0 && configuration->file_name[0] == 0 &&
        update->file_name == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    return etwas_modes_check(configuration->log_file_mode | mode);
}

/* File names are case-sensitive. */
static bool is_same_file_name(const etwas_wchar *left, const etwas_wchar *right)
{
    size_t units = etwas_utf16_length(left, ETWAS_NAME_UNITS);

    return memcmp(left, right, (units + 1) * sizeof *left) == 0;
}

/* R133, R98: another name, which can be created and fits in the log file header. */
static uint32_t check_file_name(const struct etwas_session *session, const etwas_wchar *given)
{
    const struct etwas_configuration *configuration = &session->configuration;
    uint32_t process_id = (uint32_t)getpid();
    etwas_wchar made[ETWAS_NAME_UNITS + 1];
    uint32_t code;

    if (is_same_file_name(given, configuration->file_name) ||
        is_same_file_name(given, session->entry.file_name)) {
        return ERROR_BAD_PATHNAME;
    }
    /* the longest form that the name may take */
    code = etwas_file_name_make(given, configuration->log_file_mode, UINT32_MAX, process_id, made);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    return etwas_configuration_has_room_for(configuration, made) ? ERROR_SUCCESS
                                                                 : ERROR_BAD_PATHNAME;
}

static uint32_t change_check(const struct etwas_session *session, const struct etwas_update *update)
{
    const struct etwas_configuration *configuration = &session->configuration;
    uint32_t code = check_mode(configuration, update);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (update->enable_flags != configuration->enable_flags &&
        (update->enable_flags != 0 || configuration->system_logger)) {
        code = configuration->system_logger ? etwas_system_request_check_flags(update->enable_flags)
                                            : ERROR_INVALID_PARAMETER;
        if (code != ERROR_SUCCESS) {
            return code;
        }
    }
    /* R135; a block that QUERY filled repeats the present value. */
    if (etwas_configuration_is_private(configuration) && update->maximum_buffers != 0 &&
        update->maximum_buffers != configuration->maximum_buffers) {
        return ERROR_INVALID_PARAMETER;
    }
    return update->file_name != NULL ? check_file_name(session, update->file_name) : ERROR_SUCCESS;
}

static void change_store_file_name(struct etwas_session *session, const etwas_wchar *given)
{
    size_t units = etwas_utf16_length(given, ETWAS_NAME_UNITS);

    etwas_control_lock();
    memcpy(session->configuration.file_name, given, (units + 1) * sizeof *given);
    etwas_control_unlock();
}

/* R73: in buffering mode the new file is a snapshot, and nothing more goes to it. */
static uint32_t write_snapshot(struct etwas_session *session, const etwas_wchar *given)
{
    etwas_wchar made[ETWAS_NAME_UNITS + 1];
    uint32_t code = etwas_file_name_make(given, session->configuration.log_file_mode, 1,
                                         (uint32_t)getpid(), made);

    if (code == ERROR_SUCCESS) {
        etwas_kernel_source.before_snapshot(session);
        code = etwas_snapshot_write(session, made);
    }
    if (code == ERROR_SUCCESS) {
        etwas_session_set_file_name(session, made);
    }
    return code;
}

/*
 * Writes the events that were logged before the call to the present file. Events that it cannot
 * take are counted.
 */
static void write_recorded(struct etwas_session *session)
{
    (void)etwas_drain_completely(session, ETWAS_COLLECT_USED);
}

static uint32_t change_file(struct etwas_session *session, const etwas_wchar *given)
{
    uint32_t code;

    if (session->configuration.filtered_out) {
        return ERROR_SUCCESS;
    }
    if (etwas_configuration_is_buffering(&session->configuration)) {
        code = write_snapshot(session, given);
    } else {
        write_recorded(session);
        code = etwas_session_file_change(session, given);
    }
    if (code == ERROR_SUCCESS) {
        change_store_file_name(session, given);
    }
    return code;
}

/* R72: exactly the minimum in buffering mode. */
static void change_maximum(struct etwas_session *session, uint32_t maximum)
{
    struct etwas_configuration *configuration = &session->configuration;

    if (maximum == 0 || etwas_configuration_is_buffering(configuration)) {
        return;
    }
    maximum = etwas_pool_set_maximum(session->buffers.pool, maximum);
    etwas_control_lock();
    ck_pr_store_32(&configuration->maximum_buffers, maximum);
    etwas_control_unlock();
}

static void change_flush_timer(struct etwas_session *session, uint32_t flush_timer)
{
    if (flush_timer == 0) {
        return;
    }
    etwas_control_lock();
    ck_pr_store_32(&session->configuration.flush_timer, flush_timer);
    etwas_control_unlock();
    /* The flusher may sleep until the end of the old period. */
    etwas_pool_wake_flusher(session->buffers.pool);
}

static void set_mode(struct etwas_session *session, uint32_t log_file_mode)
{
    etwas_control_lock();
    ck_pr_store_32(&session->configuration.log_file_mode, log_file_mode);
    etwas_control_unlock();
}

/* R134. */
static uint32_t begin_realtime(struct etwas_session *session)
{
    uint32_t before = session->configuration.log_file_mode;
    uint32_t code;

    if (session->drain.realtime != NULL) {
        return ERROR_SUCCESS;
    }
    set_mode(session, before | EVENT_TRACE_REAL_TIME_MODE);
    code = etwas_session_realtime_begin(session);
    if (code != ERROR_SUCCESS) {
        set_mode(session, before);
    } else if (session->mapping != NULL) {
        /* Never cleared: events drained from here on may be in no file. */
        ck_pr_store_32(&session->mapping->head->log_file_mode, before | EVENT_TRACE_REAL_TIME_MODE);
    }
    /* The timed flushes may be due before the flusher wakes up. */
    etwas_pool_wake_flusher(session->buffers.pool);
    return code;
}

static void end_realtime(struct etwas_session *session)
{
    if (session->drain.realtime != NULL) {
        write_recorded(session);
        etwas_session_realtime_end(session);
    }
    set_mode(session, session->configuration.log_file_mode & ~(uint32_t)EVENT_TRACE_REAL_TIME_MODE);
}

/* R131: 0 is a valid request, too. A session that is no system logger makes none (change_check). */
static uint32_t change_enable_flags(struct etwas_session *session, uint32_t flags)
{
    struct etwas_system_settings settings;
    struct etwas_unavailability fault;
    uint32_t code;

    if (session->configuration.system_logger != ETWAS_SYSTEM_LOGGER_EVENTS ||
        (flags == session->configuration.enable_flags && flags != 0)) {
        return ERROR_SUCCESS;
    }
    settings = etwas_kernel_source.state(session)->settings;
    settings.flags = flags;
    memset(settings.groups, 0, sizeof settings.groups);
    code = etwas_kernel_source.update(session, &settings, &fault);
    etwas_kernel_refusal_store(&fault);
    return code;
}

/* Makes the changes that can fail first, and undoes them if a later one fails. */
static uint32_t change_session(struct etwas_session *session, const struct etwas_update *update)
{
    bool was_realtime = session->drain.realtime != NULL;
    bool is_realtime = (update->log_file_mode & EVENT_TRACE_REAL_TIME_MODE) != 0;
    uint32_t flags = session->configuration.enable_flags;
    uint32_t code = is_realtime ? begin_realtime(session) : ERROR_SUCCESS;

    if (code == ERROR_SUCCESS) {
        code = change_enable_flags(session, update->enable_flags);
    }
    if (code == ERROR_SUCCESS && update->file_name != NULL) {
        code = change_file(session, update->file_name);
        if (code != ERROR_SUCCESS) {
            (void)change_enable_flags(session, flags);
        }
    }
    if (code == ERROR_SUCCESS ? !is_realtime : is_realtime && !was_realtime) {
        end_realtime(session);
    }
    return code;
}

uint32_t etwas_lifecycle_update(struct etwas_session_key key, const struct etwas_update *update)
{
    struct etwas_session *session = etwas_lifecycle_acquire_role(key);
    uint32_t code;

    if (session == NULL) {
        return ERROR_WMI_INSTANCE_NOT_FOUND;
    }
    code = change_check(session, update);
    if (code == ERROR_SUCCESS) {
        code = change_session(session, update);
    }
    if (code == ERROR_SUCCESS) {
        change_maximum(session, update->maximum_buffers);
        change_flush_timer(session, update->flush_timer);
    }
    etwas_lifecycle_release_role(session);
    return code;
}

uint32_t etwas_lifecycle_next_file(struct etwas_session_key key)
{
    struct etwas_session *session = etwas_lifecycle_acquire_role(key);
    uint32_t code = ERROR_SUCCESS;

    if (session == NULL) {
        return ERROR_WMI_INSTANCE_NOT_FOUND;
    }
    if ((session->configuration.log_file_mode & EVENT_TRACE_FILE_MODE_NEWFILE) == 0) {
        code = ERROR_INVALID_PARAMETER;
    } else if (session->drain.file != NULL) {
        write_recorded(session);
        code = etwas_session_file_next(session);
    }
    etwas_lifecycle_release_role(session);
    return code;
}

uint32_t etwas_lifecycle_convert_to_realtime(struct etwas_session_key key)
{
    const uint32_t file_modes = EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_FILE_MODE_CIRCULAR |
                                EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_FILE_MODE_PREALLOCATE |
                                EVENT_TRACE_COMPRESSED_MODE;
    static const etwas_wchar no_file[] = {0};
    struct etwas_session *session = etwas_lifecycle_acquire_role(key);
    uint32_t code;

    if (session == NULL) {
        return ERROR_WMI_INSTANCE_NOT_FOUND;
    }
    code = etwas_modes_check(session->configuration.log_file_mode | EVENT_TRACE_REAL_TIME_MODE);
    /* Events logged before the call go to the file, later ones to consumers. */
    if (code == ERROR_SUCCESS && session->drain.file != NULL) {
        write_recorded(session);
    }
    if (code == ERROR_SUCCESS) {
        code = begin_realtime(session);
    }
    if (code == ERROR_SUCCESS) {
        etwas_session_file_finish(session);
        etwas_session_set_file_name(session, no_file);
        change_store_file_name(session, no_file);
        set_mode(session, session->configuration.log_file_mode & ~file_modes);
    }
    etwas_lifecycle_release_role(session);
    return code;
}
