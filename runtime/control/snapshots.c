/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Snapshots of flight recorders: immediate ones (lifecycle.h), and ones prepared for a signal
 * handler (etwas_snapshot_prepare, etwas_snapshot_signal_safe and etwas_snapshot_discard).
 */
#include <etwas/winerror.h>

#include "clock/clock.h"
#include "control/lifecycle.h"
#include "etl/clock_convert.h"
#include "file/prepared_snapshot.h"
#include "file/snapshot.h"
#include "flush/flusher.h"
#include "provider/image_records.h"
#include "provider/source.h"

enum {
    NS_A_SECOND = 1000000000,
};

/* `window` NULL: all recorded events. */
static uint32_t snapshots_write_window(struct etwas_session *session, const etwas_wchar *file_name,
                                       struct etwas_snapshot_window *window)
{
    if (!etwas_configuration_is_buffering(&session->configuration)) {
        return ERROR_NOT_SUPPORTED;
    }
    if (session->configuration.filtered_out) {
        return ERROR_SUCCESS;
    }
    etwas_kernel_source.before_snapshot(session);
    etwas_session_clock_read_if_due(session);
    return window != NULL ? etwas_snapshot_write_window(session, file_name, window)
                          : etwas_snapshot_write(session, file_name);
}

/* A window that begins this long before a moment. */
struct snapshot_window {
    int64_t moment;
    uint64_t before_ns;
};

/* The window is not one of the session's own triggers, so it has no number. */
static struct etwas_snapshot_window snapshots_window_around(const struct etwas_session *session,
                                                            const struct snapshot_window *around)
{
    const uint32_t clock = session->configuration.clock;
    const int64_t started = etwas_clock_reading_stamp(&session->started, clock);
    const int64_t stamp = etwas_trigger_stamp(ETWAS_CLOCK_KIND_QPC, around->moment, clock);
    const int64_t trigger = stamp > started ? stamp : started;
    const etwas_etl_wide before = (etwas_etl_wide)around->before_ns *
                                  (etwas_etl_wide)etwas_clock_frequency(clock) / NS_A_SECOND;
    etwas_session_counts counts;

    etwas_session_count(session, &counts);
    return (struct etwas_snapshot_window){
        .begin = around->before_ns != 0 ? etwas_etl_saturate(trigger - before) : INT64_MIN,
        .trigger = trigger,
        .triggers = 1,
        .lost_before = counts.lost,
    };
}

/* `snapshot_window` NULL: all recorded events. */
static uint32_t snapshots_write(struct etwas_session_key key, const etwas_wchar *file_name,
                                const struct snapshot_window *around)
{
    struct etwas_snapshot_window window;
    struct etwas_session *session;
    uint32_t code;

    etwas_lifecycle_update_images(key);
    session = etwas_lifecycle_acquire_role(key);
    if (session == NULL) {
        return ERROR_WMI_INSTANCE_NOT_FOUND;
    }
    if (around != NULL) {
        window = snapshots_window_around(session, around);
    }
    code = snapshots_write_window(session, file_name, around != NULL ? &window : NULL);
    etwas_lifecycle_release_role(session);
    return code;
}

uint32_t etwas_lifecycle_snapshot(struct etwas_session_key key, const etwas_wchar *file_name)
{
    return snapshots_write(key, file_name, NULL);
}

uint32_t etwas_lifecycle_snapshot_around(struct etwas_session_key key, const etwas_wchar *file_name,
                                         int64_t moment, uint64_t before_ns)
{
    const struct snapshot_window around = {.moment = moment, .before_ns = before_ns};

    return snapshots_write(key, file_name, &around);
}

/* ---- prepared snapshots ---------------------------------------------------------------------- */

uint32_t etwas_snapshot_prepare(etwas_trace_handle handle, int descriptor,
                                etwas_prepared_snapshot **prepared)
{
    struct etwas_session_key key;
    struct etwas_session *session;
    uint32_t code;

    if (prepared == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    *prepared = NULL;
    if (!etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    if (etwas_session_takes_stacks(&etwas_sessions[key.index])) {
        etwas_image_records_update(); /* with no lock held */
    }
    session = etwas_lifecycle_acquire_role(key);
    if (session == NULL) {
        return ERROR_INVALID_HANDLE;
    }
    code = etwas_prepared_snapshot_make(session, descriptor, prepared);
    etwas_lifecycle_release_role(session);
    return code;
}

uint32_t etwas_snapshot_signal_safe(etwas_prepared_snapshot *prepared)
{
    return prepared != NULL ? etwas_prepared_snapshot_write(prepared) : ERROR_INVALID_PARAMETER;
}

void etwas_snapshot_discard(etwas_prepared_snapshot *prepared)
{
    if (prepared != NULL) {
        etwas_prepared_snapshot_free(prepared);
    }
}
