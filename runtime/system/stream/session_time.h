/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Converts the kernel's times to the clock of a session.
 *
 * The kernel stamps with CLOCK_MONOTONIC_RAW of the first time namespace; streams correct that to
 * this process's namespace when records are read (cpu_stream.h). For another clock two readings are
 * kept (clock/clock_reading.h), one from before the times that are converted and one from after
 * them: a cycle counter is interpolated between them; the system time, which may step, follows the
 * newer one.
 */
#ifndef ETWAS_SYSTEM_STREAM_SESSION_TIME_H
#define ETWAS_SYSTEM_STREAM_SESSION_TIME_H

#include <stdint.h>

#include "clock/clock_reading.h"

struct etwas_session_time {
    uint32_t kind; /* ETWAS_CLOCK_KIND_* */
    struct etwas_clock_reading before;
    struct etwas_clock_reading after;
};

void etwas_session_time_begin(struct etwas_session_time *time, uint32_t kind);

/*
 * Takes a new reading: the times that are converted next happened before now. Drops the older
 * reading when it is long past.
 */
void etwas_session_time_renew(struct etwas_session_time *time);

int64_t etwas_session_time_of(const struct etwas_session_time *time, int64_t raw_ns);

#endif
