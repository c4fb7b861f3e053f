/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a session's clock showed when the kernel says that something happened.
 *
 * The kernel stamps with CLOCK_MONOTONIC_RAW, of the first time namespace: a feed's records are read with what this process's is
 * ahead (cpu_stream.h). Of another clock two readings are kept (clock/reading.h),
 * one from before what is converted and one from after it: the cycle counter's stamp lies on the line
 * between them; the system time, which may step, goes with the newer one.
 */
#ifndef ETWAS_SYSTEM_STREAM_SESSION_TIME_H
#define ETWAS_SYSTEM_STREAM_SESSION_TIME_H

#include <stdint.h>

#include "clock/reading.h"

struct etwas_session_time {
    uint32_t kind; /* ETWAS_CLOCK_KIND_* */
    struct etwas_clock_reading before;
    struct etwas_clock_reading after;
};

void etwas_session_time_begin(struct etwas_session_time *time, uint32_t kind);

/* What is converted next happened before now. The older reading goes when it is long past. */
void etwas_session_time_renew(struct etwas_session_time *time);

int64_t etwas_session_time_of(const struct etwas_session_time *time, int64_t raw_ns);

#endif
