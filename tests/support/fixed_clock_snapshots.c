/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "support/fixed_clock_snapshots.h"

#include <ck_pr.h>

#include "clock/clock.h"
#include "clock/clock_reading.h"

int clock_snapshots_setup(void **state)
{
    etwas_clock_snapshot_interval_ns = 0;
    return folder_setup(state);
}

int clock_snapshots_teardown(void **state)
{
    etwas_clock_snapshot_interval_ns = ETWAS_CLOCK_SNAPSHOT_INTERVAL_NS;
    ck_pr_store_64(&etwas_clock_system_step, 0);
    ck_pr_store_64(&etwas_clock_suspended_step_ns, 0);
    return folder_teardown(state);
}

etwas_trace_handle start_by_hand(const char *path, uint32_t mode, uint32_t size, uint32_t clock)
{
    const struct etwas_session_options options = {
        .log_file_mode = mode,
        .clock = clock,
        .buffer_size_kb = 4,
        .minimum_buffers = 8,
        .maximum_buffers = 64,
        .maximum_file_size = size,
        .flusher = {.no_thread = true},
    };

    return (mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING) != 0
               ? start_shared_session(path, &options)
               : start_session(path, &options);
}
