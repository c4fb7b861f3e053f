/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "system/stream/session_time.h"

#include "clock/clock.h"

enum {
    NS_PER_FILETIME = 100,
    APART_NS = 10000000, /* readings closer to each other make a poor interpolation */
};

void etwas_session_time_begin(struct etwas_session_time *time, uint32_t kind)
{
    time->kind = kind;
    time->before = etwas_clock_read_together();
    time->after = time->before;
}

void etwas_session_time_renew(struct etwas_session_time *time)
{
    if (time->kind == ETWAS_CLOCK_KIND_QPC) {
        return;
    }
    if (time->after.qpc_ns - time->before.qpc_ns >= APART_NS) {
        time->before = time->after;
    }
    time->after = etwas_clock_read_together();
}

int64_t etwas_session_time_of(const struct etwas_session_time *time, int64_t raw_ns)
{
    const struct etwas_clock_reading *before = &time->before;
    const struct etwas_clock_reading *after = &time->after;
    double ticks_per_ns;

    if (time->kind == ETWAS_CLOCK_KIND_QPC || after->qpc_ns == before->qpc_ns) {
        return time->kind == ETWAS_CLOCK_KIND_QPC ? raw_ns
                                                  : etwas_clock_reading_stamp(after, time->kind);
    }
    if (time->kind == ETWAS_CLOCK_KIND_SYSTEM) {
        return after->filetime + (raw_ns - after->qpc_ns) / NS_PER_FILETIME;
    }
    ticks_per_ns = (double)(after->tsc - before->tsc) / (double)(after->qpc_ns - before->qpc_ns);
    return after->tsc + (int64_t)((double)(raw_ns - after->qpc_ns) * ticks_per_ns);
}
